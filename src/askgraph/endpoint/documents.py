"""Documents on the web: an endpoint's description, its VoID, its home page, RDF files."""

import asyncio
import re
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

import httpx2

from askgraph import errors
from askgraph.endpoint._http_exchange import USER_AGENT, parse_url
from askgraph.endpoint.public_only import AddressGuard, has_same_origin
from askgraph.sparql import rdf_files

_MAX_REDIRECTS_COUNT = 5
_MAX_DOCUMENT_BYTES = 64 * 2**20


@dataclass(frozen=True)
class WebDocument:
    """A document from the web.

    Attributes:
        url: its final URL, after redirects.
        kind: its media type without parameters.
    """

    url: str
    media_type: str
    content: bytes


def build_well_known_url(url: str, name: str) -> str:
    """Return the well-known address (RFC 8615) of a name on the host of a URL."""
    return str(parse_url(url).copy_with(raw_path=f"/.well-known/{name}".encode(), fragment=None))


async def fetch_document(
    url: str,
    *,
    accept: Sequence[str],
    timeout: float = 20.0,
    max_bytes: int = _MAX_DOCUMENT_BYTES,
    guard: AddressGuard | None = None,
) -> WebDocument:
    """Download a document of one of the media types, in order of preference.

    Redirects are followed within http and https. With a `guard` only public addresses are reached,
    and redirects must stay on their host. `timeout` is in seconds.

    Raises:
        ServiceError: the document is not complete within the timeout, or has more than `max_bytes`.
        SetupError: the URL is invalid.
    """
    address = str(parse_url(url))
    accepted = ", ".join(
        f"{media_type};q={1 - position / 10:.1f}" if position else media_type
        for position, media_type in enumerate(accept[:9])
    )
    try:
        async with (
            asyncio.timeout(timeout),
            httpx2.AsyncClient(
                timeout=timeout,
                follow_redirects=True,
                max_redirects=_MAX_REDIRECTS_COUNT,
                headers={"User-Agent": USER_AGENT, "Accept": accepted},
                transport=guard.create_transport() if guard else None,
                event_hooks={"response": [_check_redirect] if guard else []},
            ) as client,
            client.stream("GET", address) as response,
        ):
            status = response.status_code
            if status in (401, 403):
                raise errors.Unauthorised(f"{address} requires credentials (status {status})")
            if not response.is_success:
                raise errors.ErrorReply(f"{address} answered with status {status}")
            content = bytearray()
            async with aclosing(response.aiter_bytes()) as parts:
                async for part in parts:
                    content += part
                    if len(content) > max_bytes:
                        raise errors.MalformedReply(
                            f"{response.url} is larger than {max_bytes:,} bytes"
                        )
            media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
            return WebDocument(str(response.url), media_type, bytes(content))
    except (TimeoutError, httpx2.TimeoutException) as error:
        raise errors.TimedOut(f"{address} did not answer within {timeout:g} seconds") from error
    except httpx2.TooManyRedirects as error:
        raise errors.ErrorReply(f"{address} redirects in a loop") from error
    except httpx2.HTTPError as error:
        raise errors.Unreachable(f"{address} cannot be reached: {error}") from error


_MAX_FILE_BYTES, _FILE_TIMEOUT_SECONDS = 2**30, 600.0
_SERVICE_VOCABULARY = b"sparql-service-description#"


async def fetch_rdf_file(url: str, guard: AddressGuard | None = None) -> tuple[str, bytes] | None:
    """Download an RDF file; return its name and content, or None if it is no RDF.

    The suffix of the URL decides its format, else the media type of the reply. The description
    of an endpoint is no file. With a `guard`, files are limited to 64 MiB, uncompressed.

    Raises:
        ServiceError: the file cannot be downloaded.
        SetupError: it is compressed, and there is a guard.
    """
    name = re.sub(r"[^\w.-]+", "-", unquote(urlsplit(url).path).rpartition("/")[2]).strip(".-")
    if guard and name.lower().endswith((*rdf_files.DECOMPRESSOR_BY_SUFFIX, ".zip")):
        raise errors.SetupError(
            f"{url} is compressed: download it yourself, and send it as an upload"
        )
    document = await fetch_document(
        url,
        accept=tuple(rdf_files.FORMAT_BY_MEDIA_TYPE),
        timeout=_FILE_TIMEOUT_SECONDS,
        max_bytes=_MAX_DOCUMENT_BYTES if guard else _MAX_FILE_BYTES,
        guard=guard,
    )
    if rdf_files.is_rdf_url(url):
        return name, document.content
    kind = rdf_files.FORMAT_BY_MEDIA_TYPE.get(document.media_type)
    if kind is None or _SERVICE_VOCABULARY in document.content:
        return None
    suffix = next(key for key, format in rdf_files.FORMAT_BY_SUFFIX.items() if format == kind)
    return f"{name or 'graph'}{suffix}", document.content


async def _check_redirect(response: httpx2.Response) -> None:
    """Raise `NotPublic` for a redirect to another host."""
    if not response.has_redirect_location:
        return
    target = response.url.join(response.headers["location"])
    if not has_same_origin(response.url, target):
        raise errors.NotPublic(
            f"{response.url} redirects to {target.host}, which is not followed: name that "
            "address instead"
        )
