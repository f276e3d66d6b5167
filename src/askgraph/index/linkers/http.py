"""An entity linker behind HTTP: one of our own form, ReFinED's, or Falcon 2.0.

All are sent `{"text": "…", "language": "en"}`. What they reply with:

- our own form: a list, or an object that holds one as `spans`, of objects with `start` and `end`
  (or `start` and `length`) in characters, `id` (or `iri`) and, if it likes, `score`;
- `refined`: such a list of the spans of ReFinED's `process_text`, its attributes as JSON: `start`,
  `ln`, `predicted_entity` with a `wikidata_entity_id`, `entity_linking_model_confidence_score`;
- `falcon`: an object with `entities_wikidata`, `relations_wikidata`, `entities_dbpedia` …, lists of
  objects with `URI` and `surface form`, or of both in a list. It says no places and no scores.

Ids that are no IRIs get what stands behind a `#` in the address before them; those of ReFinED are
Wikidata's otherwise:

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
_WIKIDATA = "http://www.wikidata.org/entity/"
_WITHOUT = "entities=linked does without a linker"


class HttpLinker:
    """Asks the server at an address for each text, in a `form`; `timeout` is in seconds."""

    def __init__(self, address: str, *, form: str = "", timeout: float = 30.0) -> None:
        self._address, _, space = address.partition("#")
        self._space = space or (_WIKIDATA if form == "refined" else "")
        self._form = form
        self._timeout = timeout
        try:
            url = httpx2.URL(self._address)
        except httpx2.InvalidURL as problem:
            raise SetupError(f"the linker's address {address!r} is no URL: {problem}") from problem
        if url.scheme not in ("http", "https") or not url.host:
            raise SetupError(
                f"the linker's address {address!r} is no http or https URL: say where it listens "
                "with the setting 'linker_address'"
            )

    async def spans(self, text: str, language: str | None) -> Sequence[Span]:
        """Return the server's spans, in the order of the text; see `EntityLinker.spans`."""
        asked = {"text": text, "language": language}
        try:
            async with httpx2.AsyncClient(timeout=self._timeout) as client:
                reply = await client.post(self._address, json=asked)
        except httpx2.TimeoutException as error:
            raise TimedOut(
                f"the linker {self._address} did not reply within {self._timeout:g} s; {_WITHOUT}"
            ) from error
        except httpx2.HTTPError as error:
            raise Unreachable(
                f"the linker {self._address} cannot be reached: {error}; {_WITHOUT}"
            ) from error
        said = f"the linker {self._address} replied with status {reply.status_code}"
        if reply.status_code in (401, 403):
            raise Unauthorised(said)
        if reply.status_code in _BUSY:
            raise Overloaded(f"{said}; {_WITHOUT}")
        if reply.status_code != 200:
            raise ErrorReply(said)
        try:
            content: object = reply.json()
        except ValueError as error:
            raise MalformedReply(f"the linker {self._address} replied with no JSON") from error
        read = self._falcon(content, text) if self._form == "falcon" else self._read(content)
        found = [one for one in read if 0 <= one.start <= one.end <= len(text)]
        return sorted(found, key=lambda one: (one.start, -one.score))

    def _read(self, content: object) -> Iterator[Span]:
        """Yield the spans of a reply that have an id: of unknown things linkers give none."""
        listed = content.get("spans") if isinstance(content, dict) else content
        if not isinstance(listed, list):
            raise MalformedReply(f"the linker {self._address} replied with no list of spans")
        for one in listed[:_MOST]:
            if not isinstance(one, dict):
                raise MalformedReply(f"the linker {self._address}: a span is no object: {one!r}")
            span = _from_refined(one) if self._form == "refined" else one
            iri = span.get("iri") or span.get("id")
            if isinstance(iri, str):
                yield self._span(span, iri)

    def _span(self, one: dict[str, object], iri: str) -> Span:
        start, end, length = (one.get(name) for name in ("start", "end", "length"))
        if isinstance(start, int) and end is None and isinstance(length, int):
            end = start + length
        score = one.get("score", 1.0)
        if not (isinstance(start, int) and isinstance(end, int) and isinstance(score, int | float)):
            raise MalformedReply(f"the linker {self._address}: a span without its place: {one!r}")
        return Span(start, end, self._iri(iri), min(1.0, max(0.0, float(score))))

    def _falcon(self, content: object, text: str) -> Iterator[Span]:
        """Yield what Falcon found, each where its surface form stands first."""
        if not isinstance(content, dict) or not any(_is_falcons(key) for key in content):
            raise MalformedReply(
                f"the linker {self._address} replied with no entities_wikidata: it is no Falcon 2.0"
            )
        for key, listed in content.items():
            for one in listed[:_MOST] if _is_falcons(key) and isinstance(listed, list) else ():
                iri, surface = _named(one)
                if not iri:
                    raise MalformedReply(f"the linker {self._address}: {one!r} has no URI")
                start = max(0, text.casefold().find(surface.casefold())) if surface else 0
                there = text.casefold().startswith(surface.casefold(), start)
                end = start + len(surface) if there else start
                yield Span(start, end, self._iri(iri), relation=key.startswith("relations"))

    def _iri(self, text: str) -> str:
        return text if ":" in text else f"{self._space}{text}"


def _from_refined(one: dict[str, object]) -> dict[str, object]:
    """Return a span of ReFinED in our own form."""
    meant = one.get("predicted_entity")
    score = one.get("entity_linking_model_confidence_score")
    return {
        "start": one.get("start"),
        "length": one.get("ln"),
        "id": meant.get("wikidata_entity_id") if isinstance(meant, dict) else None,
        "score": 1.0 if score is None else score,
    }


def _is_falcons(key: object) -> bool:
    return isinstance(key, str) and key.partition("_")[0] in ("entities", "relations")


def _named(one: object) -> tuple[str, str]:
    """The IRI and the surface form of one of Falcon's, empty if it has none."""
    if isinstance(one, dict):
        texts = [one.get("URI"), one.get("surface form")]
    else:  # older servers: both in a list, in either order
        texts = sorted(one, key=lambda each: "://" not in str(each)) if type(one) is list else []
    iri, surface = (str(each or "") for each in (*texts, "", "")[:2])
    return (iri.strip("<>"), surface) if "://" in iri else ("", "")
