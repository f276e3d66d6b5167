"""An entity linker behind HTTP, as ReFinED is put on a server.

It is sent `{"text": "…", "language": "en"}` and replies with a list, or an object that holds one as
`spans`, of objects: `start` and `end` (or `start` and `length`) in characters, `id` (or `iri`) and,
if it likes, `score`. Ids that are no IRIs get what stands behind a `#` in the address before them:

    https://linker.example/annotate#http://www.wikidata.org/entity/
"""

from collections.abc import Iterator, Sequence

import httpx2

from askgraph.errors import (
    ErrorReply,
    MalformedReply,
    Overloaded,
    SetupError,
    TimedOut,
    Unauthorised,
    Unreachable,
)
from askgraph.index.linkers import Span

__all__ = ["HttpLinker"]

_BUSY = frozenset({429, 502, 503, 504})
_MOST = 200  # spans of a reply that are read


class HttpLinker:
    """Asks the server at an address for each text; `timeout` is in seconds."""

    def __init__(self, address: str, *, timeout: float = 30.0) -> None:
        self._address, _, self._space = address.partition("#")
        self._timeout = timeout
        try:
            url = httpx2.URL(self._address)
        except httpx2.InvalidURL as problem:
            raise SetupError(f"the linker's address {address!r} is no URL: {problem}") from problem
        if url.scheme not in ("http", "https") or not url.host:
            raise SetupError(f"the linker's address {address!r} is no http or https URL")

    async def spans(self, text: str, language: str | None) -> Sequence[Span]:
        """Return the server's spans, in the order of the text; see `EntityLinker.spans`."""
        asked = {"text": text, "language": language}
        try:
            async with httpx2.AsyncClient(timeout=self._timeout) as client:
                reply = await client.post(self._address, json=asked)
        except httpx2.TimeoutException as error:
            raise TimedOut(
                f"the linker {self._address} did not reply within {self._timeout:g} s"
            ) from error
        except httpx2.HTTPError as error:
            raise Unreachable(f"the linker {self._address} cannot be reached: {error}") from error
        self._check(reply)
        try:
            content: object = reply.json()
        except ValueError as error:
            raise MalformedReply(f"the linker {self._address} replied with no JSON") from error
        found = [one for one in self._read(content) if 0 <= one.start < one.end <= len(text)]
        return sorted(found, key=lambda one: (one.start, -one.score))

    def _check(self, reply: httpx2.Response) -> None:
        said = f"the linker {self._address} replied with status {reply.status_code}"
        if reply.status_code in (401, 403):
            raise Unauthorised(said)
        if reply.status_code in _BUSY:
            raise Overloaded(said)
        if reply.status_code != 200:
            raise ErrorReply(said)

    def _read(self, content: object) -> Iterator[Span]:
        """Yield the spans of a reply that have an id: of unknown things linkers give none."""
        listed = content.get("spans") if isinstance(content, dict) else content
        if not isinstance(listed, list):
            raise MalformedReply(f"the linker {self._address} replied with no list of spans")
        for one in listed[:_MOST]:
            if not isinstance(one, dict):
                raise MalformedReply(f"the linker {self._address}: a span is no object: {one!r}")
            iri = one.get("iri") or one.get("id")
            if isinstance(iri, str):
                yield self._span(one, iri)

    def _span(self, one: dict[str, object], iri: str) -> Span:
        start, end, length = (one.get(name) for name in ("start", "end", "length"))
        if isinstance(start, int) and end is None and isinstance(length, int):
            end = start + length
        score = one.get("score", 1.0)
        if not (isinstance(start, int) and isinstance(end, int) and isinstance(score, int | float)):
            raise MalformedReply(f"the linker {self._address}: a span without its place: {one!r}")
        full = iri if ":" in iri else f"{self._space}{iri}"
        return Span(start, end, full, min(1.0, max(0.0, float(score))))
