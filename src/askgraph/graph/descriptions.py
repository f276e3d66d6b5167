"""Descriptions of a resource on a web page: schema.org data in JSON-LD, alone or inside HTML.

Pages of endpoints carry it in `<script type="application/ld+json">`. It is read without fetching
any context: names of schema.org are known by heart, in its http and its https namespace.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from html import escape, unescape
from html.parser import HTMLParser
from typing import Any

from askgraph.errors import SetupError
from askgraph.sparql import vocabulary as v

_SPACES = (v.SCHEMA, v.SCHEMA_HTTPS, "schema:", "sdo:")
_KINDS = ("Dataset", "DataCatalog", "WebAPI", "SoftwareApplication", "WebSite", "WebPage")
_DEEPEST = 20
_KEYS = {
    "name": ("name", "headline", "title"),
    "description": ("description",),
    "publisher": ("publisher", "provider", "creator"),
    "license": ("license",),
    "url": ("url",),
    "version": ("version",),
    "modified": ("dateModified",),
}
"""The names that schema.org has for a field, the usual one first."""


@dataclass(frozen=True)
class Description:
    """A resource in the words of its publisher; what is not said is empty.

    `kind` is its type, as "Dataset". `endpoint` is the address of its SPARQL endpoint.
    """

    kind: str
    name: str = ""
    description: str = ""
    keywords: tuple[str, ...] = ()
    publisher: str = ""
    license: str = ""
    url: str = ""
    endpoint: str = ""
    version: str = ""
    modified: str = ""


def descriptions_in(text: str) -> tuple[Description, ...]:
    """Return the descriptions of a JSON-LD document or an HTML page; data sets first.

    Raises `SetupError` if it is neither, or its JSON is broken.
    """
    if text.lstrip()[:1] in ("{", "["):
        blocks = [text]
    else:
        page = _Scripts()
        page.feed(text)
        page.close()
        blocks = [block for block in page.blocks if block.strip()]
        if not blocks and "<" not in text:
            raise SetupError("this is neither JSON-LD nor an HTML page")
    found: dict[Description, None] = {}
    for block in blocks:
        try:
            content = json.loads(block)
        except ValueError as error:
            raise SetupError(f"the JSON-LD of the page is broken: {error}") from error
        found |= dict.fromkeys(filter(None, map(_read, _nodes(content, 0))))
    return tuple(sorted(found, key=lambda one: _KINDS.index(one.kind)))


def _read(node: Mapping[str, Any]) -> Description | None:
    plain = {_local(key): value for key, value in node.items()}
    kinds = [_local(kind) for kind in _texts(plain.get("@type"))]
    kind = next((known for known in _KINDS if known in kinds), None)
    texts = {field: _first(plain, *keys) for field, keys in _KEYS.items()}
    texts["description"] = _plain(described := texts["description"])
    if kind is None or not (texts["name"] or described):
        return None
    listed = (word.strip() for text in _texts(plain.get("keywords")) for word in text.split(","))
    keywords = tuple(filter(None, dict.fromkeys(listed)))
    return Description(kind, keywords=keywords, endpoint=_endpoint(plain), **texts)


def json_ld_of(descriptions: Iterable[Description]) -> str:
    """Return descriptions as a JSON-LD document, which reads as the same descriptions."""
    nodes = []
    for one in descriptions:
        told: dict[str, Any] = {keys[0]: getattr(one, field) for field, keys in _KEYS.items()}
        told["description"] = escape(one.description, quote=False)
        told |= {"keywords": list(one.keywords), "endpointUrl": one.endpoint}
        nodes.append({"@type": one.kind} | {key: value for key, value in told.items() if value})
    content = {"@context": v.SCHEMA_HTTPS, "@graph": nodes}
    return json.dumps(content, ensure_ascii=False, indent=2) + "\n"


class _Scripts(HTMLParser):
    """Collects the JSON-LD of a page."""

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


def _nodes(content: Any, depth: int) -> Iterator[Mapping[str, Any]]:
    """Yield all objects of a document, outer ones first."""
    if depth > _DEEPEST:
        return
    if isinstance(content, list):
        for item in content:
            yield from _nodes(item, depth + 1)
    elif isinstance(content, dict):
        yield content
        for value in content.values():
            yield from _nodes(value, depth + 1)


def _local(name: str) -> str:
    for space in _SPACES:
        if name.startswith(space):
            return name[len(space) :]
    return name


def _endpoint(plain: Mapping[str, Any]) -> str:
    """Return the address at which SPARQL is spoken, said in one of several ways."""
    if found := _first(plain, "endpointUrl", "endpointURL", "sparqlEndpoint", "contentUrl"):
        return found
    for key in ("distribution", "potentialAction", "documentation", "target"):
        for part in _nodes(plain.get(key), 0):
            texts = [text for value in part.values() for text in _texts(value)]
            about = " ".join(texts).casefold()
            for text in texts:
                if text.startswith(("http://", "https://")) and "sparql" in about:
                    return text
    return ""


def _first(plain: Mapping[str, Any], *keys: str) -> str:
    return next((text for key in keys for text in _texts(plain.get(key))), "")


def _texts(value: Any) -> list[str]:
    """A value as texts: of an object its value, else its name, else its address."""
    if isinstance(value, str):
        return [value.strip()] if value.strip() else []
    if isinstance(value, list):
        return [text for item in value for text in _texts(item)]
    if isinstance(value, dict):
        plain = {_local(key): item for key, item in value.items()}
        for key in ("@value", "name", "url", "@id"):
            if found := _texts(plain.get(key)):
                return found[:1]
    return [str(value)] if isinstance(value, int | float) else []


def _plain(text: str) -> str:
    """A text without markup, on one line."""
    return " ".join(unescape(re.sub(r"<[^<>]{1,500}>", " ", text)).split())
