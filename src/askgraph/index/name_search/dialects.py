"""Name searches of products: parts of a query, and services over HTTP."""

import asyncio
import re
import tomllib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

import httpx2

from askgraph.errors import ServiceError, SetupError
from askgraph.index import name_search
from askgraph.index._server import fetch_json
from askgraph.index.names import split_tokens
from askgraph.sparql.vocabulary import WIKIBASE

_MAX_WIKIBASE_COUNT = 50  # maximum number of hits from a Wikibase
_LUCENE_SAIL_NAMESPACE = "http://www.openrdf.org/contrib/lucenesail#"
_GRAPHDB_PREDICATE = "http://www.ontotext.com/fts"
_LUCENE_CONNECTOR_NAMESPACE = "http://www.ontotext.com/connectors/lucene"
_MEDIAWIKI_API_NAMESPACE = "https://www.mediawiki.org/ontology#API/"
_PARAMETER_PREDICATE = "<http://www.bigdata.com/rdf#serviceParam>"
_MAX_REQUESTS_COUNT = 4
_REQUEST_HEADERS = {"User-Agent": "askgraph (questions over SPARQL)", "Accept": "application/json"}
_MARKUP_PATTERN = re.compile(r"</?[A-Za-z]+>")  # matches are wrapped in <B>


_PATTERNS = tomllib.loads(Path(__file__).with_name("patterns.toml").read_text("utf-8"))


class _PatternNames(name_search.SparqlNameSearch):
    """A search with one pattern; `patterns.toml` has it by the name of the class."""

    def build_pattern(self, words: Sequence[str], options: name_search.PatternOptions) -> str:
        """Return the pattern for the labels that the words find."""
        texts = {
            "words": " ".join(words).lower(),
            "quoted": " AND ".join(f'"{word}"' for word in words),
        }
        pattern: str = _PATTERNS[type(self).__name__].format(
            **{key: name_search.format_string(text) for key, text in texts.items()},
            lucene=name_search.build_lucene_query(words),
            limit=options.limit,
            predicate="".join(self.settings.predicates[:1]),
            names=self.build_name_pattern(),
        )
        return pattern


class PlainNames(_PatternNames):
    """Exact labels; within a class, which bounds the number of labels, also prefixes of labels."""

    def build_pattern(self, words: Sequence[str], options: name_search.PatternOptions) -> str:
        """Return the pattern for labels of a class that begin with the words."""
        return super().build_pattern(words, options) if options.within else ""


class VirtuosoNames(_PatternNames):
    """Labels that contain all words; the server needs an index rule for their predicate."""

    servers: ClassVar = ("virtuoso",)


class QleverNames(_PatternNames):
    """Labels that contain all words; the index needs the words of literals in its text part."""

    servers: ClassVar = ("qlever",)


class JenaNames(_PatternNames):
    """Items with all words in their first naming property, which the index must contain."""

    servers: ClassVar = ("fuseki",)


class Rdf4jNames(name_search.SparqlNameSearch):
    """Items with all words in one text; if there is one naming property, only in that."""

    servers: ClassVar = ("rdf4j", "graphdb")  # older replies have the same form

    def build_pattern(self, words: Sequence[str], options: name_search.PatternOptions) -> str:
        """Return the pattern for items whose texts contain all of these words."""
        names = self.settings.predicates
        within = f" ; <{_LUCENE_SAIL_NAMESPACE}property> <{names[0]}>" if len(names) == 1 else ""
        return (
            f"?s <{_LUCENE_SAIL_NAMESPACE}matches> [ <{_LUCENE_SAIL_NAMESPACE}query> "
            f"{name_search.build_lucene_query(words)}{within} ] . {self.build_name_pattern()}"
        )


class StardogNames(_PatternNames):
    """Labels that contain all words; the database needs `search.enabled`."""

    servers: ClassVar = ("stardog", "generic")


class GraphdbNames(name_search.SparqlNameSearch):
    """Labels in `onto:fts`; `graphdb:NAME` searches the items of the connector of that name."""

    servers: ClassVar = ("graphdb",)

    def __init__(self, settings: name_search.NameSettings) -> None:
        super().__init__(settings)
        if settings.location and not name_search.split_plain_words(settings.location) == [
            *settings.location.split("_")
        ]:
            raise SetupError(f"{settings.location!r} cannot be the name of a Lucene connector")

    def build_pattern(self, words: Sequence[str], options: name_search.PatternOptions) -> str:
        """Return the pattern for labels, or for the items of a connector and their labels."""
        if not self.settings.location:
            query = name_search.build_lucene_query(words)
            pattern = self.build_name_pattern()
            return f'?name <{_GRAPHDB_PREDICATE}> ({query} "*") . {pattern}'
        return (
            f"?q a <{_LUCENE_CONNECTOR_NAMESPACE}/instance#{self.settings.location}> ; <"
            f"{_LUCENE_CONNECTOR_NAMESPACE}#query> {name_search.build_lucene_query(words)} ; "
            f"<{_LUCENE_CONNECTOR_NAMESPACE}#entities> ?s . {self.build_name_pattern()}"
        )


class WikibaseNames(name_search.SparqlNameSearch):
    """Items by label or alias, the best known first; `wikibase:HOST` names the wiki.

    The query service calls the wiki itself, by a SERVICE that reaches no other server.
    """

    servers: ClassVar = ("blazegraph",)
    services: ClassVar = frozenset({f"{WIKIBASE}mwapi"})
    needs_host: ClassVar = True

    def __init__(self, settings: name_search.NameSettings) -> None:
        super().__init__(settings)
        if not settings.location:
            raise SetupError(
                "the search 'wikibase' needs the name of its wiki: write wikibase:HOST"
            )

    def build_pattern(self, words: Sequence[str], options: name_search.PatternOptions) -> str:
        """Return the pattern for the items that the wiki finds, with their names."""
        tags = options.languages or ("en",)
        parameters = {
            f"{WIKIBASE}api": "EntitySearch",
            f"{WIKIBASE}endpoint": self.settings.location,
            f"{_MEDIAWIKI_API_NAMESPACE}search": " ".join(words),
            f"{_MEDIAWIKI_API_NAMESPACE}language": tags[0],
            f"{_MEDIAWIKI_API_NAMESPACE}limit": str(min(_MAX_WIKIBASE_COUNT, options.limit)),
        }
        parameter_triples = " ".join(
            f"{_PARAMETER_PREDICATE} <{key}> {name_search.format_string(value)} ."
            for key, value in parameters.items()
        )
        language_list = ", ".join(
            name_search.format_string(tag) for tag in dict.fromkeys((*tags, "mul"))
        )
        return (
            f"SERVICE <{WIKIBASE}mwapi> "
            f"{{ {parameter_triples} "
            f"?s <{WIKIBASE}apiOutputItem> <{_MEDIAWIKI_API_NAMESPACE}item> . }} "
            f"{self.build_name_pattern()} FILTER(LANG(?name) IN ({language_list}))"
        )


class HttpNameSearch(ABC):
    """A search at an address, which follows the name of the search: `NAME:URL`."""

    def __init__(self, settings: name_search.NameSettings) -> None:
        self.settings = settings
        if not settings.location.startswith(("http://", "https://")):
            raise SetupError("this search needs an address: write NAME:https://…")

    async def is_available(self, endpoint: name_search.SelectEndpoint, text: str) -> bool:
        """Return whether the search finds an existing name by its text."""
        try:
            (items,) = await self.search(endpoint, [text])
        except ServiceError:
            return False
        text_tokens = {*split_tokens(text)}
        return any(text_tokens <= {*split_tokens(name)} for item in items for name, _ in item.names)

    async def search(
        self,
        endpoint: name_search.SelectEndpoint,
        texts: Sequence[str],
        *,
        languages: Sequence[str] = (),
        within: Sequence[str] = (),
        limit: int = 20,
    ) -> Sequence[Sequence[name_search.NamedItem]]:
        """Return the items that each text may name; at most four requests run at a time."""
        tags = name_search.select_tags((*languages, *self.settings.languages)) or ("en",)
        slots = asyncio.Semaphore(_MAX_REQUESTS_COUNT)
        async with httpx2.AsyncClient(
            timeout=name_search.TIMEOUT_SECONDS, headers=_REQUEST_HEADERS
        ) as client:

            async def search_text(text: str) -> list[name_search.NamedItem]:
                if not name_search.split_plain_words(text):
                    return []
                async with slots:
                    parameters = self.build_parameters(text, tags[0], limit)
                    location = self.settings.location
                    content = await fetch_json(
                        location,
                        client.get(location, params=dict(parameters)),
                        timeout=name_search.TIMEOUT_SECONDS,
                    )
                items = list(self.parse_items(content, tags[0]))
                allowed = (item for item in items if not within or {*within} & {*item.classes})
                return list(allowed)[:limit]

            return await asyncio.gather(*map(search_text, texts))

    @abstractmethod
    def build_parameters(self, text: str, language: str, limit: int) -> Mapping[str, str]:
        """Return the request parameters for a text."""

    @abstractmethod
    def parse_items(self, content: object, language: str) -> Iterable[name_search.NamedItem]:
        """Return the items of a reply, which may be any JSON."""


def get_objects(content: object, key: str) -> list[Mapping[str, object]]:
    """Return the objects in a list of a reply; an empty list if the reply is malformed."""
    value = content.get(key) if isinstance(content, dict) else None
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


class LookupNames(HttpNameSearch):
    """Items by label and redirect, with their classes, weighted by the number of references.

    The address is that of the service's `api/search`.
    """

    def build_parameters(self, text: str, language: str, limit: int) -> Mapping[str, str]:
        """Return the request parameters for a text."""
        return {"query": text, "format": "JSON", "maxResults": str(limit)}

    def parse_items(self, content: object, language: str) -> Iterator[name_search.NamedItem]:
        """Yield the items of a reply."""
        for item in get_objects(content, "docs"):
            names = (*_read_texts(item, "label"), *_read_texts(item, "redirectlabel"))
            weight = next((text for text in _read_texts(item, "refCount") if text.isdigit()), "0")
            for iri in _read_texts(item, "resource")[:1]:
                if names:
                    tagged = tuple((name, "") for name in dict.fromkeys(names))
                    yield name_search.NamedItem(
                        iri, tagged, tuple(_read_texts(item, "type")), float(weight)
                    )


def _read_texts(item: Mapping[str, object], key: str) -> list[str]:
    value = item.get(key)
    texts = value if isinstance(value, list) else [value]
    return [_MARKUP_PATTERN.sub("", text) for text in texts if isinstance(text, str)]


class WikibaseApi(HttpNameSearch):
    """Items whose label or alias begins with the text, the best known first.

    The address is that of the wiki's `api.php`.
    """

    def build_parameters(self, text: str, language: str, limit: int) -> Mapping[str, str]:
        """Return the request parameters for a text."""
        return {
            "action": "wbsearchentities",
            "format": "json",
            "type": "item",
            "search": text,
            "language": language,
            "uselang": language,
            "limit": str(min(_MAX_WIKIBASE_COUNT, limit)),
        }

    def parse_items(self, content: object, language: str) -> Iterator[name_search.NamedItem]:
        """Yield the items of a reply by the names that matched, and by their labels."""
        items = get_objects(content, "search")
        for rank, item in enumerate(items):
            match = item.get("match")
            texts = [item.get("label")]
            if isinstance(match, dict):
                texts.insert(0, match.get("text"))
            names = dict.fromkeys((text, language) for text in texts if isinstance(text, str))
            iri = item.get("concepturi")
            if isinstance(iri, str) and names:
                yield name_search.NamedItem(iri, tuple(names), weight=float(len(items) - rank))
