"""Parse descriptions of a resource on a web page: schema.org data in JSON-LD, alone or in HTML.

Pages of endpoints carry it in `<script type="application/ld+json">`. No context is fetched: the
terms of schema.org are built in, with its http and its https namespace.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape, unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from askgraph.errors import SetupError
from askgraph.sparql import vocabulary as v

_SPACES = (v.SCHEMA, v.SCHEMA_HTTPS, "schema:", "sdo:")
_TYPES = ("Dataset", "DataCatalog", "WebAPI", "SoftwareApplication", "WebSite", "WebPage")
_MAX_DEPTH = 20
_PROPERTIES_BY_FIELD: Mapping[str, Sequence[str]] = json.loads(
    Path(__file__).with_name("descriptions.json").read_text("utf-8")
)
"""The schema.org properties of each field, the usual one first."""


@dataclass(frozen=True)
class DatasetDescription:
    """A publisher's description of a resource; unknown fields are empty."""

    kind: str  # type, such as "Dataset"
    name: str = ""
    description: str = ""  # text without markup
    keywords: tuple[str, ...] = ()
    publisher: str = ""  # name of the publisher
    license: str = ""  # name or URL of the licence
    url: str = ""  # address of the page
    endpoint: str = ""  # address of the SPARQL endpoint
    version: str = ""
    modified: str = ""  # date of the last change


def parse_descriptions(text: str) -> tuple[DatasetDescription, ...]:
    """Return the descriptions in JSON-LD or HTML, datasets first; raise `SetupError` for others."""
    if text.lstrip()[:1] in ("{", "["):
        blocks = [text]
    else:
        page = _ScriptCollector()
        page.feed(text)
        page.close()
        blocks = [block for block in page.blocks if block.strip()]
        if not blocks and "<" not in text:
            raise SetupError("the document is neither JSON-LD nor an HTML page")
    descriptions: dict[DatasetDescription, None] = {}
    for block in blocks:
        try:
            content = json.loads(block)
        except ValueError as error:
            raise SetupError(f"the JSON-LD of the page is invalid: {error}") from error
        descriptions |= dict.fromkeys(filter(None, map(_parse_node, _iterate_nodes(content, 0))))
    return tuple(sorted(descriptions, key=lambda description: _TYPES.index(description.kind)))


def _parse_node(node: Mapping[str, Any]) -> DatasetDescription | None:
    properties = {_strip_namespace(key): value for key, value in node.items()}
    kinds = [_strip_namespace(kind) for kind in _to_texts(properties.get("@type"))]
    kind = next((type_name for type_name in _TYPES if type_name in kinds), None)
    texts = {field: _get_first(properties, *keys) for field, keys in _PROPERTIES_BY_FIELD.items()}
    raw_description = texts["description"]
    texts["description"] = " ".join(
        unescape(re.sub(r"<[^<>]{1,500}>", " ", raw_description)).split()
    )
    if kind is None or not (texts["name"] or raw_description):
        return None
    words = (
        word.strip() for text in _to_texts(properties.get("keywords")) for word in text.split(",")
    )
    keywords = tuple(filter(None, dict.fromkeys(words)))
    return DatasetDescription(kind, keywords=keywords, endpoint=_find_endpoint(properties), **texts)


def format_json_ld(descriptions: Iterable[DatasetDescription]) -> str:
    """Format descriptions as a JSON-LD document that parses to the same descriptions."""
    nodes = []
    for description in descriptions:
        properties: dict[str, Any] = {
            keys[0]: getattr(description, field) for field, keys in _PROPERTIES_BY_FIELD.items()
        }
        properties["description"] = escape(description.description, quote=False)
        properties |= {"keywords": list(description.keywords), "endpointUrl": description.endpoint}
        nodes.append(
            {"@type": description.kind} | {key: value for key, value in properties.items() if value}
        )
    content = {"@context": v.SCHEMA_HTTPS, "@graph": nodes}
    return json.dumps(content, ensure_ascii=False, indent=2) + "\n"


class _ScriptCollector(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.blocks: list[str] = []
        self._inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        kind = dict(attrs).get("type") or ""
        self._inside = tag == "script" and kind.partition(";")[0].strip() == "application/ld+json"
        if self._inside:
            self.blocks.append("")

    def handle_endtag(self, tag: str) -> None:
        self._inside = self._inside and tag != "script"

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.blocks[-1] += data


def _iterate_nodes(content: Any, depth: int) -> Iterator[Mapping[str, Any]]:
    """Yield all objects of a document, outer ones first."""
    if depth > _MAX_DEPTH:
        return
    if isinstance(content, list):
        for item in content:
            yield from _iterate_nodes(item, depth + 1)
    elif isinstance(content, dict):
        yield content
        for value in content.values():
            yield from _iterate_nodes(value, depth + 1)


def _strip_namespace(name: str) -> str:
    for space in _SPACES:
        if name.startswith(space):
            return name[len(space) :]
    return name


def _find_endpoint(properties: Mapping[str, Any]) -> str:
    """Return the address of the SPARQL endpoint, which pages give in several ways."""
    if address := _get_first(
        properties, "endpointUrl", "endpointURL", "sparqlEndpoint", "contentUrl"
    ):
        return address
    for key in ("distribution", "potentialAction", "documentation", "target"):
        for part in _iterate_nodes(properties.get(key), 0):
            texts = [text for value in part.values() for text in _to_texts(value)]
            context = " ".join(texts).casefold()
            for text in texts:
                if text.startswith(("http://", "https://")) and "sparql" in context:
                    return text
    return ""


def _get_first(properties: Mapping[str, Any], *keys: str) -> str:
    return next((text for key in keys for text in _to_texts(properties.get(key))), "")


def _to_texts(value: Any) -> list[str]:
    """Return a value as texts; for an object its value, else its name, else its address."""
    if isinstance(value, str):
        return [value.strip()] if value.strip() else []
    if isinstance(value, list):
        return [text for item in value for text in _to_texts(item)]
    if isinstance(value, dict):
        properties = {_strip_namespace(key): item for key, item in value.items()}
        for key in ("@value", "name", "url", "@id"):
            if texts := _to_texts(properties.get(key)):
                return texts[:1]
    return [str(value)] if isinstance(value, int | float) else []
