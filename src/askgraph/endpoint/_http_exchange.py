"""Exchanges over HTTP up to a reply's beginning: retries, redirects, every failure by name."""

import asyncio
import base64
import itertools
import os
import random
import time
from collections import defaultdict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from importlib.metadata import version

import httpx2

from askgraph.deadline import parse_retry_after
from askgraph.endpoint._dialects import problem_in, readable
from askgraph.endpoint.public_only import Guard, own_origin
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


@dataclass(frozen=True)
class Credentials:
    """The header that authenticates, and the secrets that must never be shown."""

    headers: dict[str, str] = field(default_factory=dict, repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)

    @classmethod
    def of(
        cls,
        auth: str,
        user_env: str | None,
        password_env: str | None,
        token_env: str | None,
        header: str | None,
        header_env: str | None,
    ) -> "Credentials":
        """Read the variables that `auth` (none, basic, bearer, header) needs; else `SetupError`."""
        match auth:
            case "none":
                return cls()
            case "basic":
                user = _variable("user_env", user_env)
                password = _variable("password_env", password_env)
                token = base64.b64encode(f"{user}:{password}".encode()).decode()
                return cls({"Authorization": f"Basic {token}"}, (password, token))
            case "bearer":
                token = _variable("token_env", token_env)
                return cls({"Authorization": f"Bearer {token}"}, (token,))
            case "header":
                if not header:
                    raise SetupError("auth 'header' needs the setting `header`, the header's name")
                value = _variable("header_env", header_env)
                return cls({header: value}, (value,))
            case _:
                raise SetupError(f"auth is {auth!r}; it may be none, basic, bearer or header")

    def scrubbed(self, text: str) -> str:
        """Return a text without the secrets, as a server may send them back in an error."""
        for secret in filter(None, self.secrets):
            text = text.replace(secret, "***")
        return text


def _variable(setting: str, name: str | None) -> str:
    if not name:
        raise SetupError(f"the setting `{setting}` must name an environment variable")
    value = os.environ.get(name)
    if not value:
        raise SetupError(f"the environment variable {name} (setting `{setting}`) is not set")
    if "\n" in value or "\r" in value:
        raise SetupError(f"the environment variable {name} holds a line break")
    return value


USER_AGENT = f"askgraph/{version('askgraph')} (questions over SPARQL)"
GET_LENGTH = 2_000  # a longer address goes into the body of a POST
ERROR_LENGTH = 64 * 1024  # so much of an error page is read
REDIRECTS = 5
FIRST_DELAY, LONGEST_DELAY = 0.5, 8.0  # seconds

_BUSY = (429, 502, 503, 504)
_MINUTE = 60.0


@dataclass(frozen=True)
class _Failure:
    """An error, how often to try again after it, and when at the earliest."""

    error: AskgraphError
    retries: int = 0
    wait: float | None = None


def checked_url(url: str) -> httpx2.URL:
    """Return the URL of an endpoint; `SetupError` if it is none or holds a password."""
    try:
        parsed = httpx2.URL(url)
    except httpx2.InvalidURL as problem:
        raise SetupError(f"{url!r} is no URL: {problem}") from problem
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise SetupError(f"{url!r} is no http or https URL")
    if parsed.userinfo:
        raise SetupError(
            f"the URL of {parsed.host} holds a user name or password: take it out and name"
            " environment variables with auth = 'basic', user_env and password_env"
        )
    return parsed


class Exchange:
    """Sends queries to one address; usable from one event loop after the other."""

    def __init__(
        self,
        url: httpx2.URL,
        credentials: Credentials,
        times: httpx2.Timeout,
        retries: int,
        guard: Guard | None,
        a_minute: int,
    ) -> None:
        self.url = url
        self.address = str(url.copy_with(query=None, fragment=None))
        self._credentials = credentials
        self._times = times
        self._retries = retries
        self._guard = guard
        self._a_minute = a_minute
        self._sent: deque[float] = deque()  # when requests of the last minute were
        self._not_before = 0.0  # the server asked to be left alone until then
        self._client: httpx2.AsyncClient | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    @asynccontextmanager
    async def reply(
        self, parameters: list[tuple[str, str]], accept: str, *, deadline: float
    ) -> AsyncIterator[httpx2.Response]:
        """Yield the reply once it has begun and its status is good; its body is not yet read.

        `deadline` (monotonic seconds) only decides whether another try is worth waiting for.
        """
        response = await self._persistently(parameters, accept, deadline)
        try:
            yield response
        except httpx2.TimeoutException as problem:
            raise TimedOut(f"{self.address} stopped sending in the middle of a reply") from problem
        except httpx2.HTTPError as problem:
            raise MalformedReply(
                f"the reply of {self.address} is cut off: {self._told(problem)}"
            ) from problem
        finally:
            await response.aclose()

    async def close(self) -> None:
        """Close the connections that belong to the running event loop."""
        client, self._client = self._client, None
        if client and self._loop is asyncio.get_running_loop():
            await client.aclose()

    def scrubbed(self, text: str) -> str:
        """Return a server's text without the secrets it may repeat."""
        return self._credentials.scrubbed(text)

    async def _persistently(
        self, parameters: list[tuple[str, str]], accept: str, deadline: float
    ) -> httpx2.Response:
        for attempt in itertools.count():
            # Wait until a request may be sent: the server's wish and the budget of a minute hold.
            while (now := time.monotonic()) < (free := max(self._not_before, self._budgeted(now))):
                if free >= deadline:
                    wished = free == self._not_before
                    why = "it asked to wait" if wished else f"{self._a_minute} requests a minute"
                    raise Overloaded(
                        f"{self.address} is to be left alone for {free - now:.0f} seconds ({why}),"
                        f" longer than the {max(0.0, deadline - now):.0f} left",
                        retry_after=free - now,
                    )
                await asyncio.sleep(free - now)
            if self._a_minute:
                self._sent.append(now)
            try:
                response = await self._send(parameters, accept)
            except httpx2.HTTPError as problem:
                failure = self._no_reply(problem)
            else:
                if response.is_success:
                    return response
                try:
                    failure = await self._refusal(response)
                finally:
                    await response.aclose()
            if attempt >= failure.retries:
                raise failure.error
            backoff = min(LONGEST_DELAY, FIRST_DELAY * 2**attempt) * random.uniform(0.5, 1.0)
            delay = failure.wait if failure.wait is not None else backoff
            left = deadline - time.monotonic()
            if delay < left:
                await asyncio.sleep(delay)
                continue
            if failure.wait is not None and isinstance(failure.error, Overloaded):
                raise Overloaded(
                    f"{failure.error}; it asks to wait {failure.wait:.0f} seconds,"
                    f" longer than the {max(0.0, left):.0f} left",
                    retry_after=failure.wait,
                )
            raise failure.error
        raise AssertionError

    def _budgeted(self, now: float) -> float:
        """Return when the next request may be sent, as far as the budget goes."""
        while self._sent and self._sent[0] <= now - _MINUTE:
            self._sent.popleft()
        full = self._a_minute and len(self._sent) >= self._a_minute
        return self._sent[-self._a_minute] + _MINUTE if full else now

    async def _send(self, parameters: list[tuple[str, str]], accept: str) -> httpx2.Response:
        url, method, data = self.url, "POST", defaultdict[str, list[str]](list)
        for name, value in parameters:
            data[name].append(value)
        if sum(len(value) for _, value in parameters) <= GET_LENGTH:
            given = httpx2.QueryParams([*url.params.multi_items(), *parameters])
            if len(str(short := url.copy_merge_params(given))) <= GET_LENGTH:
                url, method = short, "GET"
        headers = {"Accept": accept, **self._credentials.headers}
        for _ in range(REDIRECTS):
            client, form = self._connected(), data if method == "POST" else None
            request = client.build_request(method, url, data=form, headers=headers)
            response = await client.send(request, stream=True)
            if not response.has_redirect_location:
                return response
            await response.aclose()
            target = url.join(response.headers["location"])
            self._check_redirect(url, target)
            url = target
            if response.status_code == 303:
                method = "GET"
        raise ErrorReply(f"{self.address} redirects in a circle")

    def _connected(self) -> httpx2.AsyncClient:
        """Return the client of the running event loop."""
        loop = asyncio.get_running_loop()
        if self._client is None or self._loop is not loop:
            self._client = httpx2.AsyncClient(
                headers={"User-Agent": USER_AGENT},
                timeout=self._times,
                transport=self._guard.transport() if self._guard else None,
            )
            self._loop = loop
        return self._client

    def _check_redirect(self, source: httpx2.URL, target: httpx2.URL) -> None:
        if own_origin(source, target):
            return
        there = f"{self.address} redirects to {target.scheme}://{target.netloc.decode()}"
        if self._credentials.headers:
            raise ErrorReply(
                f"{there}, where the credentials are not sent: if that is right, make it the"
                " graph's url"
            )
        if self._guard:
            raise NotPublic(f"{there}, and is not followed there: name that address instead")

    def _no_reply(self, problem: httpx2.HTTPError) -> _Failure:
        told = self._told(problem)
        match problem:
            case httpx2.ConnectTimeout() | httpx2.PoolTimeout():
                return _Failure(Unreachable(f"no connection to {self.address} in time"))
            case httpx2.TimeoutException():
                return _Failure(TimedOut(f"{self.address} sent nothing in time"))
            case httpx2.ConnectError() | httpx2.UnsupportedProtocol() | httpx2.ProxyError():
                return _Failure(Unreachable(f"{self.address} cannot be reached: {told}"))
            case httpx2.NetworkError() | httpx2.RemoteProtocolError():
                error = Unreachable(f"{self.address} closed the connection without a reply: {told}")
                return _Failure(error, self._retries)
            case _:
                return _Failure(MalformedReply(f"the reply of {self.address} is broken: {told}"))

    async def _refusal(self, response: httpx2.Response) -> _Failure:
        """Return the failure that a reply with a bad status stands for."""
        status = response.status_code
        text = await some_text(response.aiter_bytes())
        kind = problem_in(text)
        said = self.scrubbed(readable(text))
        told = f"{self.address} answered with status {status}" + (f": {said}" if said else "")
        if status in (401, 403):
            return _Failure(Unauthorised(f"{told}; {self._about_credentials()}"))
        if kind == "timeout" or status == 408:
            return _Failure(TimedOut(f"the server's own time limit was reached: {told}"))
        if status in _BUSY:
            wait = parse_retry_after(response.headers.get("retry-after", ""))
            self._not_before = max(self._not_before, time.monotonic() + (wait or 0.0))
            return _Failure(Overloaded(told, retry_after=wait), self._retries, wait)
        if kind == "syntax":
            return _Failure(QuerySyntaxError(f"the endpoint does not understand the query: {said}"))
        return _Failure(ErrorReply(told), min(1, self._retries) if status == 500 else 0)

    def _about_credentials(self) -> str:
        if self._credentials.headers:
            return "it does not take the credentials of the graph's settings"
        return "it wants credentials: set `auth` and the variables it needs in the graph's settings"

    def _told(self, problem: BaseException) -> str:
        reset = isinstance(problem, httpx2.NetworkError)
        unsaid = "it was reset" if reset else type(problem).__name__
        return self.scrubbed(str(problem)) or unsaid


async def some_text(parts: AsyncIterator[bytes], start: bytes = b"") -> str:
    """Return the beginning of a reply's body as text, whatever it is."""
    taken, size = [start], len(start)
    try:
        async for part in parts:
            taken.append(part)
            size += len(part)
            if size >= ERROR_LENGTH:
                break
    except httpx2.HTTPError:
        pass  # what came is all there is to show
    return b"".join(taken)[:ERROR_LENGTH].decode("utf-8", "replace")


def page_problem(address: str, text: str) -> ServiceError:
    """Return the error for a reply with status 200 that holds no results."""
    said = readable(text)
    if not text.strip():
        return MalformedReply(f"{address} sent an empty reply")
    if "<html" in text[:2000].lower() or "<!doctype html" in text[:2000].lower():
        return MalformedReply(
            f"{address} sent a web page, not results; is it the SPARQL endpoint? {said}"
        )
    if problem_in(text) == "timeout":
        return TimedOut(f"the server's own time limit was reached: {said}")
    if text.lstrip().startswith("<"):
        return MalformedReply(f"{address} sent XML, though JSON was asked for: {said}")
    return ErrorReply(f"{address} sent an error message instead of results: {said}")
