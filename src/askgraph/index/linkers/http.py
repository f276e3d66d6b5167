"""An entity linker over HTTP, in our own format, ReFinED's, or Falcon 2.0's.

All receive `{"text": "…", "language": "en"}`. Their replies are:

- our own format: a list, or an object with such a list as `spans`, of objects with `start` and
`end`
  (or `start` and `length`) in characters, `id` (or `iri`) and an optional `score`;
- `refined`: such a list of the spans of ReFinED's `process_text`, its attributes as JSON: `start`,
  `ln`, `predicted_entity` with a `wikidata_entity_id`, `entity_linking_model_confidence_score`;
- `falcon`: an object with `entities_wikidata`, `relations_wikidata`, `entities_dbpedia` …, lists of
  objects with `URI` and `surface form`, or of lists of both. It has no positions and no scores.

The part of the address after a `#` is prepended to ids that are not IRIs; the default for ReFinED
is
Wikidata's namespace:

    https://linker.example/annotate#http://www.wikidata.org/entity/
"""

from collections.abc import Iterator, Sequence

import httpx2

from askgraph.errors import MalformedReply, SetupError
from askgraph.index._server import fetch_json
from askgraph.index.linkers import EntitySpan

__all__ = ["HttpLinker"]

_MAX_SPANS_COUNT = 200  # spans of a reply that are read
_WIKIDATA_NAMESPACE = "http://www.wikidata.org/entity/"
_HINT = "; entities=linked needs no linker"


class HttpLinker:
    """Sends each text to the server at an address, in a format; `timeout` is in seconds."""

    def __init__(self, address: str, *, form: str = "", timeout: float = 30.0) -> None:
        self._address, _, space = address.partition("#")
        self._space = space or (_WIKIDATA_NAMESPACE if form == "refined" else "")
        self._form = form
        self._timeout = timeout
        try:
            url = httpx2.URL(self._address)
        except httpx2.InvalidURL as problem:
            raise SetupError(
                f"the linker's address {address!r} is not a URL: {problem}"
            ) from problem
        if url.scheme not in ("http", "https") or not url.host:
            raise SetupError(
                f"the linker's address {address!r} is not an http or https URL: set it "
                "with the setting 'linker_address'"
            )

    async def find_spans(self, text: str, language: str | None) -> Sequence[EntitySpan]:
        """Return the server's spans, in the order of the text; see `EntityLinker.find_spans`."""
        body = {"text": text, "language": language}
        async with httpx2.AsyncClient(timeout=self._timeout) as client:
            request = client.post(self._address, json=body)
            service = f"the linker {self._address}"
            content = await fetch_json(service, request, timeout=self._timeout, hint=_HINT)
        parsed = (
            self._parse_falcon(content, text)
            if self._form == "falcon"
            else self._parse_spans(content)
        )
        valid = [span for span in parsed if 0 <= span.start <= span.end <= len(text)]
        return sorted(valid, key=lambda span: (span.start, -span.score))

    def _parse_spans(self, content: object) -> Iterator[EntitySpan]:
        """Yield the spans of a reply that have an id: linkers omit it for unknown things."""
        items = content.get("spans") if isinstance(content, dict) else content
        if not isinstance(items, list):
            raise MalformedReply(f"the linker {self._address} did not reply with a list of spans")
        for item in items[:_MAX_SPANS_COUNT]:
            if not isinstance(item, dict):
                raise MalformedReply(
                    f"the linker {self._address}: a span is not an object: {item!r}"
                )
            if self._form == "refined":
                entity = item.get("predicted_entity")
                score = item.get("entity_linking_model_confidence_score")
                span = {
                    "start": item.get("start"),
                    "length": item.get("ln"),
                    "id": entity.get("wikidata_entity_id") if isinstance(entity, dict) else None,
                    "score": 1.0 if score is None else score,
                }
            else:
                span = item
            iri = span.get("iri") or span.get("id")
            if isinstance(iri, str):
                yield self._build_span(span, iri)

    def _build_span(self, item: dict[str, object], iri: str) -> EntitySpan:
        start, end, length = (item.get(name) for name in ("start", "end", "length"))
        if isinstance(start, int) and end is None and isinstance(length, int):
            end = start + length
        score = item.get("score", 1.0)
        if not (isinstance(start, int) and isinstance(end, int) and isinstance(score, int | float)):
            raise MalformedReply(f"the linker {self._address}: a span has no position: {item!r}")
        return EntitySpan(start, end, self._expand_iri(iri), min(1.0, max(0.0, float(score))))

    def _parse_falcon(self, content: object, text: str) -> Iterator[EntitySpan]:
        """Yield the spans of Falcon, each at the first occurrence of its surface form."""
        if not isinstance(content, dict) or not any(_is_falcon_key(key) for key in content):
            raise MalformedReply(
                f"the linker {self._address} replied without entities_wikidata: it is not "
                "Falcon 2.0"
            )
        for key, items in content.items():
            for item in (
                items[:_MAX_SPANS_COUNT] if _is_falcon_key(key) and isinstance(items, list) else ()
            ):
                iri, surface = _parse_falcon_item(item)
                if not iri:
                    raise MalformedReply(f"the linker {self._address}: {item!r} has no URI")
                start = max(0, text.casefold().find(surface.casefold())) if surface else 0
                is_at_start = text.casefold().startswith(surface.casefold(), start)
                end = start + len(surface) if is_at_start else start
                yield EntitySpan(
                    start, end, self._expand_iri(iri), relation=key.startswith("relations")
                )

    def _expand_iri(self, text: str) -> str:
        return text if ":" in text else f"{self._space}{text}"


def _is_falcon_key(key: object) -> bool:
    return isinstance(key, str) and key.partition("_")[0] in ("entities", "relations")


def _parse_falcon_item(item: object) -> tuple[str, str]:
    """Return the IRI and the surface form of a Falcon item, empty if missing."""
    if isinstance(item, dict):
        texts = [item.get("URI"), item.get("surface form")]
    else:  # older servers: both in a list, in either order
        texts = sorted(item, key=lambda text: "://" not in str(text)) if type(item) is list else []
    iri, surface = (str(text or "") for text in (*texts, "", "")[:2])
    return (iri.strip("<>"), surface) if "://" in iri else ("", "")
