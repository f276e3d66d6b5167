"""HTTP exchanges up to the beginning of a reply: retries, redirects, an error for each failure."""

import asyncio
import base64
import itertools
import os
import random
import re
import ssl
import time
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from importlib.metadata import version

import httpx2

from askgraph.deadline import parse_retry_after
from askgraph.endpoint._dialects import classify_error, extract_message
from askgraph.endpoint.public_only import AddressGuard, has_same_origin
from askgraph.errors import (
    AskgraphError,
    ErrorReply,
    MalformedReply,
    NotPublic,
    Overloaded,
    QuerySyntaxError,
    ServiceError,
    SetupError,
    TimedOut,
    Unauthorised,
    Unreachable,
)

AUTH_KINDS = ("none", "basic", "digest", "bearer", "header")


@dataclass(frozen=True)
class EndpointCredentials:
    """The header or digest that authenticates, and the secrets, which no message may contain."""

    headers: dict[str, str] = field(default_factory=dict, repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)
    digest: httpx2.DigestAuth | None = field(default=None, repr=False)

    def __bool__(self) -> bool:
        return bool(self.headers or self.digest)

    @classmethod
    def from_settings(
        cls,
        auth: str,
        user_env: str | None,
        password_env: str | None,
        token_env: str | None,
        header: str | None,
        header_env: str | None,
    ) -> "EndpointCredentials":
        """Read the environment variables that `auth` (one of `AUTH_KINDS`) needs.

        Raises:
            SetupError: a setting or variable is missing.
        """
        match auth:
            case "none":
                return cls()
            case "basic" | "digest":
                user = _read_variable("user_env", user_env)
                password = _read_variable("password_env", password_env)
                if auth == "digest":
                    return cls(secrets=(password,), digest=httpx2.DigestAuth(user, password))
                token = base64.b64encode(f"{user}:{password}".encode()).decode()
                return cls({"Authorization": f"Basic {token}"}, (password, token))
            case "bearer":
                token = _read_variable("token_env", token_env)
                return cls({"Authorization": f"Bearer {token}"}, (token,))
            case "header":
                if not header:
                    raise SetupError("auth 'header' needs the setting `header`, the header's name")
                value = _read_variable("header_env", header_env)
                return cls({header: value}, (value,))
            case _:
                raise SetupError(f"auth must be one of {', '.join(AUTH_KINDS)}, not {auth!r}")

    def redact(self, text: str) -> str:
        """Return a text without the secrets, which a server may repeat in an error."""
        for secret in filter(None, self.secrets):
            text = text.replace(secret, "***")
        return text


def _read_variable(setting: str, name: str | None) -> str:
    if not name:
        raise SetupError(f"the setting `{setting}` must name an environment variable")
    value = os.environ.get(name)
    if not value:
        raise SetupError(f"the environment variable {name} (setting `{setting}`) is not set")
    if "\n" in value or "\r" in value:
        raise SetupError(f"the environment variable {name} contains a line break: remove it")
    return value


USER_AGENT = f"askgraph/{version('askgraph')} (questions over SPARQL)"
MAX_GET_LENGTH = 2_000  # a longer address goes into the body of a POST
MAX_ERROR_BYTES = 64 * 1024  # so much of an error page is read
MAX_REDIRECTS_COUNT = 5
FIRST_DELAY_SECONDS, MAX_DELAY_SECONDS = 0.5, 8.0  # seconds

_BUSY_STATUSES = (429, 502, 503, 504)
_WRONG_WAY_STATUSES = (405, 411, 413, 414, 415, 501)
_WAYS = ("GET", "form", "body")  # how to send a query, best first: the last two are a POST
_FURTHER_ACCEPT = (
    ", application/sparql-results+xml;q=0.6, text/tab-separated-values;q=0.5, text/csv;q=0.4,"
    " */*;q=0.1"
)  # only for a server that has no format which is asked for first
_MINUTE_SECONDS = 60.0


@dataclass(frozen=True)
class _ExchangeFailure:
    """A failed attempt."""

    error: AskgraphError
    retries: int = 0  # the number of retries that it allows
    wait: float | None = None  # the minimum seconds before a retry, if the server requests it


def parse_url(url: str) -> httpx2.URL:
    """Return the URL of an endpoint; raise `SetupError` if it is invalid or contains a password."""
    try:
        parsed = httpx2.URL(url)
    except httpx2.InvalidURL as problem:
        raise SetupError(f"{url!r} is not a URL: {problem}") from problem
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise SetupError(f"{url!r} is not an http or https URL")
    if parsed.userinfo:
        raise SetupError(
            f"the URL of {parsed.host} contains a user name or password: remove it and "
            "name environment variables with auth = 'basic', user_env and password_env"
        )
    return parsed


def _create_ssl_context(ca_file: str) -> ssl.SSLContext:
    """Return a context that trusts the certificates in a file beside the usual ones."""
    context = ssl.create_default_context()
    try:
        context.load_verify_locations(ca_file)
    except OSError as problem:
        raise SetupError(
            f"the certificates {ca_file!r} (setting `ca_file`) cannot be read: {problem}"
        ) from problem
    return context


class HttpExchange:
    """Sends queries to one address; usable from several event loops in turn."""

    def __init__(
        self,
        url: httpx2.URL,
        credentials: EndpointCredentials,
        timeouts: httpx2.Timeout,
        retries: int,
        guard: AddressGuard | None,
        requests_per_minute: int,
        ca_file: str | None = None,
    ) -> None:
        self.url = url
        self.address = str(url.copy_with(query=None, fragment=None))
        self._credentials = credentials
        self._timeouts = timeouts
        self._retries = retries
        self._guard = guard
        self._requests_per_minute = requests_per_minute
        self._verify = _create_ssl_context(ca_file) if ca_file else True
        self._refused_ways: set[str] = set()  # remembered, so that each costs one request
        self._further_accept = ""
        self._request_times: deque[float] = deque()  # when requests of the last minute were
        self._earliest_time = 0.0  # no request before this time, as the server asked
        self._client: httpx2.AsyncClient | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    @asynccontextmanager
    async def open_reply(
        self, parameters: list[tuple[str, str]], accept: str, *, deadline: float
    ) -> AsyncIterator[httpx2.Response]:
        """Yield a successful reply once it has begun; its body is still unread.

        `deadline` (monotonic seconds) only decides whether to wait for another attempt.
        """
        response = await self._send_with_retries(parameters, accept, deadline)
        try:
            yield response
        except httpx2.TimeoutException as problem:
            raise TimedOut(f"{self.address} stopped sending in the middle of a reply") from problem
        except httpx2.HTTPError as problem:
            raise MalformedReply(
                f"the reply of {self.address} is cut off: {self._describe_error(problem)}"
            ) from problem
        finally:
            await response.aclose()

    async def close(self) -> None:
        """Close the connections of the running event loop."""
        client, self._client = self._client, None
        if client and self._loop is asyncio.get_running_loop():
            await client.aclose()

    def redact(self, text: str) -> str:
        """Return a server's text without the secrets that it may repeat."""
        return self._credentials.redact(text)

    async def _send_with_retries(
        self, parameters: list[tuple[str, str]], accept: str, deadline: float
    ) -> httpx2.Response:
        for attempt in itertools.count():
            # Wait until both the server and the budget per minute allow a request.
            while (now := time.monotonic()) < (
                send_time := max(self._earliest_time, self._compute_send_time(now))
            ):
                if send_time >= deadline:
                    reason = (
                        "it asked to wait"
                        if send_time == self._earliest_time
                        else f"{self._requests_per_minute} requests a minute"
                    )
                    raise Overloaded(
                        f"the next request to {self.address} must wait {send_time - now:.0f} "
                        f"seconds ({reason}), longer than the {max(0.0, deadline - now):.0f} left",
                        retry_after=send_time - now,
                    )
                await asyncio.sleep(send_time - now)
            if self._requests_per_minute:
                self._request_times.append(now)
            try:
                response = await self._send(parameters, accept)
            except httpx2.HTTPError as problem:
                failure = self._build_transport_failure(problem)
            else:
                if response.is_success:
                    return response
                try:
                    failure = await self._build_status_failure(response)
                finally:
                    await response.aclose()
            if attempt >= failure.retries:
                raise failure.error
            backoff = min(MAX_DELAY_SECONDS, FIRST_DELAY_SECONDS * 2**attempt) * random.uniform(
                0.5, 1.0
            )
            delay = failure.wait if failure.wait is not None else backoff
            seconds_left = deadline - time.monotonic()
            if delay < seconds_left:
                await asyncio.sleep(delay)
                continue
            if failure.wait is not None and isinstance(failure.error, Overloaded):
                raise Overloaded(
                    f"{failure.error}; it asks for a wait of {failure.wait:.0f} seconds, "
                    f"longer than the {max(0.0, seconds_left):.0f} left",
                    retry_after=failure.wait,
                )
            raise failure.error
        raise AssertionError

    def _compute_send_time(self, now: float) -> float:
        """Return when the budget of requests allows the next one, in monotonic seconds."""
        while self._request_times and self._request_times[0] <= now - _MINUTE_SECONDS:
            self._request_times.popleft()
        is_exhausted = (
            self._requests_per_minute and len(self._request_times) >= self._requests_per_minute
        )
        return (
            self._request_times[-self._requests_per_minute] + _MINUTE_SECONDS
            if is_exhausted
            else now
        )

    async def _send(self, parameters: list[tuple[str, str]], accept: str) -> httpx2.Response:
        """Send a query in the ways that the server takes; return the last reply."""
        ways = list(_WAYS)
        if (
            sum(len(value) for _, value in parameters) > MAX_GET_LENGTH
            or len(str(self._build_get_url(parameters))) > MAX_GET_LENGTH
        ):
            ways = ["form", "body", "GET"]
        ways = [way for way in ways if way not in self._refused_ways] or ways
        while True:
            response = await self._send_as(ways[0], parameters, accept)
            if response.status_code in _WRONG_WAY_STATUSES and len(ways) > 1:
                if response.status_code not in (413, 414):  # a shorter query may pass
                    self._refused_ways.add(ways[0])
                del ways[0]
            elif response.status_code == 406 and not self._further_accept:
                self._further_accept = _FURTHER_ACCEPT
            else:
                return response
            await response.aclose()

    def _build_get_url(self, parameters: Sequence[tuple[str, str]]) -> httpx2.URL:
        all_parameters = httpx2.QueryParams([*self.url.params.multi_items(), *parameters])
        return self.url.copy_merge_params(all_parameters)

    async def _send_as(
        self, way: str, parameters: list[tuple[str, str]], accept: str
    ) -> httpx2.Response:
        url, method, form, body = self.url, "POST", None, None
        headers = {"Accept": accept + self._further_accept, **self._credentials.headers}
        if way == "GET":
            url, method = self._build_get_url(parameters), "GET"
        elif way == "form":
            form = defaultdict[str, list[str]](list)
            for name, value in parameters:
                form[name].append(value)
        else:
            body = dict(parameters)["query"].encode()
            headers["Content-Type"] = "application/sparql-query"
            url = self._build_get_url([item for item in parameters if item[0] != "query"])
        for _ in range(MAX_REDIRECTS_COUNT):
            loop = asyncio.get_running_loop()
            if self._client is None or self._loop is not loop:
                self._client = httpx2.AsyncClient(
                    headers={"User-Agent": USER_AGENT},
                    timeout=self._timeouts,
                    verify=self._verify,
                    transport=self._guard.create_transport(self._verify) if self._guard else None,
                )
                self._loop = loop
            request = self._client.build_request(
                method, url, data=form, content=body, headers=headers
            )
            response = await self._client.send(request, auth=self._credentials.digest, stream=True)
            if not response.has_redirect_location:
                return response
            await response.aclose()
            target = url.join(response.headers["location"])
            self._check_redirect(url, target)
            url = target
            if response.status_code == 303:
                method, form, body = "GET", None, None
        raise ErrorReply(f"{self.address} redirects in a loop")

    def _check_redirect(self, source: httpx2.URL, target: httpx2.URL) -> None:
        if has_same_origin(source, target):
            return
        message = f"{self.address} redirects to {target.scheme}://{target.netloc.decode()}"
        if self._credentials:
            raise ErrorReply(
                f"{message}, where credentials are not sent: if the new address is right, "
                "set it as the graph's url"
            )
        if self._guard:
            raise NotPublic(f"{message}, which is not followed: name that address instead")

    def _build_transport_failure(self, problem: httpx2.HTTPError) -> _ExchangeFailure:
        details = self._describe_error(problem)
        match problem:
            case httpx2.ConnectTimeout() | httpx2.PoolTimeout():
                return _ExchangeFailure(Unreachable(f"no connection to {self.address} in time"))
            case httpx2.TimeoutException():
                return _ExchangeFailure(TimedOut(f"{self.address} sent nothing in time"))
            case httpx2.ConnectError() | httpx2.UnsupportedProtocol() | httpx2.ProxyError():
                hint = "; is the address right, and does the server run?"
                if "CERTIFICATE_VERIFY_FAILED" in details:
                    hint = (
                        "; if you trust its certificate, name a PEM file with it (or with the"
                        " authority that signed it) in the graph's setting `ca_file`"
                        " (--ca-file), or for all servers in the variable SSL_CERT_FILE"
                    )
                return _ExchangeFailure(
                    Unreachable(f"{self.address} cannot be reached: {details}{hint}")
                )
            case httpx2.NetworkError() | httpx2.RemoteProtocolError():
                error = Unreachable(
                    f"{self.address} closed the connection without a reply: {details}"
                )
                return _ExchangeFailure(error, self._retries)
            case _:
                return _ExchangeFailure(
                    MalformedReply(f"the reply of {self.address} is broken: {details}")
                )

    async def _build_status_failure(self, response: httpx2.Response) -> _ExchangeFailure:
        """Return the failure for a reply with an error status."""
        text = await read_error_text(response.aiter_bytes())
        failure = self._classify_status(response, text)
        failure.error.reply = self.redact(text.strip())
        return failure

    def _classify_status(self, response: httpx2.Response, text: str) -> _ExchangeFailure:
        status = response.status_code
        kind = classify_error(text)
        details = self.redact(extract_message(text))
        message = f"{self.address} answered with status {status}" + (
            f": {details}" if details else ""
        )
        if status in (401, 403):
            challenge = response.headers.get("www-authenticate", "").partition(" ")[0].lower()
            hint = self._describe_credentials(challenge if challenge in AUTH_KINDS else "")
            return _ExchangeFailure(Unauthorised(f"{message}; {hint}"))
        if kind == "timeout" or status == 408:
            return _ExchangeFailure(TimedOut(f"the server's own time limit was reached: {message}"))
        if status in _BUSY_STATUSES:
            wait = parse_retry_after(response.headers.get("retry-after", ""))
            self._earliest_time = max(self._earliest_time, time.monotonic() + (wait or 0.0))
            return _ExchangeFailure(Overloaded(message, retry_after=wait), self._retries, wait)
        if kind == "syntax":
            return _ExchangeFailure(QuerySyntaxError(f"the endpoint rejected the query: {details}"))
        return _ExchangeFailure(ErrorReply(message), min(1, self._retries) if status == 500 else 0)

    def _describe_credentials(self, kind: str) -> str:
        asks = f" (it asks for auth = {kind!r})" if kind else ""
        if self._credentials:
            return f"it rejects the credentials in the graph's settings{asks}"
        is_bearer = kind == "bearer"
        variables = "--token-env TOKEN" if is_bearer else "--user-env USER --password-env PASSWORD"
        return (
            f"it requires credentials{asks}: add the graph with --auth {kind or 'basic'} "
            f"{variables}, the names of the variables that hold them"
        )

    def _describe_error(self, problem: BaseException) -> str:
        is_reset = isinstance(problem, httpx2.NetworkError)
        return self.redact(str(problem)) or ("it was reset" if is_reset else type(problem).__name__)


async def read_error_text(parts: AsyncIterator[bytes], start: bytes = b"") -> str:
    """Return the beginning of a reply's body as text, whatever it contains."""
    received, size = [start], len(start)
    try:
        async for part in parts:
            received.append(part)
            size += len(part)
            if size >= MAX_ERROR_BYTES:
                break
    except httpx2.HTTPError:
        pass  # show the part that arrived
    return b"".join(received)[:MAX_ERROR_BYTES].decode("utf-8", "replace")


def build_page_error(address: str, text: str) -> ServiceError:
    """Return the error for a reply with status 200 but without results.

    It quotes the reply only if that may explain a failure, never data.
    """
    start = text[:2000].lower()
    message = extract_message(text, _MAX_QUOTED_CHARACTERS)
    if not text.strip():
        return MalformedReply(f"{address} sent an empty reply")
    if "<html" in start or "<!doctype html" in start:
        return MalformedReply(
            f"{address} sent a web page, not results; is it the SPARQL endpoint? "
            f"It begins: {message}"
        )
    if classify_error(text) == "timeout":
        return TimedOut(f"the server's own time limit was reached: {message}")
    if _RDF_START_PATTERN.match(start):
        return MalformedReply(
            f"{address} sent RDF, not results: it is a file or a document, not a SPARQL "
            "endpoint; download it and add the file"
        )
    if start.lstrip().startswith("<"):
        return MalformedReply(f"{address} sent XML that is no SPARQL result")
    return ErrorReply(f"{address} sent an error message instead of results: {message}")


_MAX_QUOTED_CHARACTERS = 200  # of a reply that is not understood
_RDF_START_PATTERN = re.compile(
    r"\s*(?:#[^\n]*\s+)*(?:@prefix|@base|prefix\s|base\s|<rdf:rdf|<\?xml[^>]*>\s*(?:<!.*?>\s*)*<rdf:rdf"
    r"|(?:<[^>\s]+>|_:\S+)\s+<[^>\s]+>\s+[<\"_])",
    re.DOTALL,
)
