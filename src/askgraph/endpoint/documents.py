"""Documents that are published beside an endpoint: its description, its VoID, its home page."""

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass

import httpx2

from askgraph.endpoint._http_exchange import USER_AGENT, checked_url
from askgraph.endpoint.public_only import Guard, own_origin
from askgraph.errors import (
    ErrorReply,
    MalformedReply,
    NotPublic,
    TimedOut,
    Unauthorised,
    Unreachable,
)

_REDIRECTS = 5
_LARGEST = 64 * 2**20


@dataclass(frozen=True)
class Document:
    """A document as it came: `kind` is its media type without parameters, `url` where it was."""

    url: str
    kind: str
    content: bytes


def well_known(url: str, name: str) -> str:
    """Return the well-known address (RFC 8615) of a name on the host of a URL."""
    return str(checked_url(url).copy_with(raw_path=f"/.well-known/{name}".encode(), fragment=None))


async def fetched(
    url: str,
    *,
    accept: Sequence[str],
    timeout: float = 20.0,
    largest: int = _LARGEST,
    guard: Guard | None = None,
) -> Document:
    """Get a document of one of the media types, which are sent in order of preference.

    Redirects are followed within http and https; with a `guard` only public addresses are reached,
    and redirects stay on their host. Raises `ServiceError` if it does not come
    whole within the timeout (seconds) or is larger than `largest` bytes, `SetupError` for a URL
    that is none.
    """
    address = str(checked_url(url))
    wanted = ", ".join(
        f"{kind};q={1 - at / 10:.1f}" if at else kind for at, kind in enumerate(accept[:9])
    )
    try:
        async with (
            asyncio.timeout(timeout),
            httpx2.AsyncClient(
                timeout=timeout,
                follow_redirects=True,
                max_redirects=_REDIRECTS,
                headers={"User-Agent": USER_AGENT, "Accept": wanted},
                transport=guard.transport() if guard else None,
                event_hooks={"response": [_stays] if guard else []},
            ) as client,
            client.stream("GET", address) as response,
        ):
            status = response.status_code
            if status in (401, 403):
                raise Unauthorised(f"{address} is not open to everybody (status {status})")
            if not response.is_success:
                raise ErrorReply(f"{address} answered with status {status}")
            content = await _content(response, largest)
            kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
            return Document(str(response.url), kind, content)
    except (TimeoutError, httpx2.TimeoutException) as error:
        raise TimedOut(f"{address} did not come within {timeout:g} seconds") from error
    except httpx2.TooManyRedirects as error:
        raise ErrorReply(f"{address} redirects in a circle") from error
    except httpx2.HTTPError as error:
        raise Unreachable(f"{address} cannot be reached: {error}") from error


async def _stays(response: httpx2.Response) -> None:
    """Refuse a redirect that leaves its host."""
    if not response.has_redirect_location:
        return
    target = response.url.join(response.headers["location"])
    if not own_origin(response.url, target):
        raise NotPublic(
            f"{response.url} redirects to {target.host}, and is not followed there: name that"
            " address instead"
        )


async def _content(response: httpx2.Response, largest: int) -> bytes:
    content = bytearray()
    async with aclosing(response.aiter_bytes()) as parts:
        async for part in parts:
            content += part
            if len(content) > largest:
                raise MalformedReply(f"{response.url} is larger than {largest:,} bytes")
    return bytes(content)
