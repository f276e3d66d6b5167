"""The searches for names, by product: those that are part of a query, and services over HTTP."""

import asyncio
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import ClassVar

import httpx2

from askgraph.errors import (
    ErrorReply,
    MalformedReply,
    Overloaded,
    ServiceError,
    SetupError,
    TimedOut,
    Unreachable,
)
from askgraph.index.name_search import (
    SECONDS,
    Asked,
    Naming,
    SparqlNameSearch,
    Thing,
    Wanted,
    all_of,
    known_tags,
    text_term,
    words_of,
)
from askgraph.index.names import tokens
from askgraph.sparql.vocabulary import WIKIBASE

_MOST = 50  # things that a Wikibase gives
_TEXT = "http://qlever.cs.uni-freiburg.de/builtin-functions/"
_JENA = "http://jena.apache.org/text#query"
_SAIL = "http://www.openrdf.org/contrib/lucenesail#"
_MATCH = "tag:stardog:api:property:textMatch"
_FULL_TEXT = "http://www.ontotext.com/fts"
_LUCENE = "http://www.ontotext.com/connectors/lucene"
_API = "https://www.mediawiki.org/ontology#API/"
_GIVEN = "<http://www.bigdata.com/rdf#serviceParam>"
_AT_ONCE = 4
_BUSY = frozenset({429, 502, 503, 504})
_AGENT = {"User-Agent": "askgraph (questions over SPARQL)", "Accept": "application/json"}
_MARKED = re.compile(r"</?[A-Za-z]+>")  # what matched stands in <B>


class PlainNames(SparqlNameSearch):
    """Exact labels; within a class, which bounds what has to be read, also their beginnings."""

    def pattern(self, words: Sequence[str], wanted: Wanted) -> str:
        """Return the pattern for labels of a class that begin with the words."""
        beginning = text_term(" ".join(words).lower())
        test = f"FILTER(STRSTARTS(LCASE(STR(?name)), {beginning}))"
        return f"{self.named()} {test}" if wanted.within else ""


class VirtuosoNames(SparqlNameSearch):
    """Labels that hold all words; the server needs a rule that indexes their predicate."""

    servers: ClassVar = ("virtuoso",)

    def pattern(self, words: Sequence[str], wanted: Wanted) -> str:
        """Return the pattern for labels with all of these words, in any order."""
        expression = " AND ".join(f'"{word}"' for word in words)
        return f"{self.named()} ?name <bif:contains> {text_term(expression)} ."


class QleverNames(SparqlNameSearch):
    """Labels that hold all words; the index needs the words of literals in its text part."""

    servers: ClassVar = ("qlever",)

    def pattern(self, words: Sequence[str], wanted: Wanted) -> str:
        """Return the pattern for labels with all of these words, in any order."""
        words_said = text_term(" ".join(word.lower() for word in words))
        return (
            f"?t <{_TEXT}contains-word> {words_said} . ?t <{_TEXT}contains-entity> ?name . "
            f"{self.named()}"
        )


class JenaNames(SparqlNameSearch):
    """Things whose first naming property, which the index must have, holds all words."""

    servers: ClassVar = ("fuseki",)

    def pattern(self, words: Sequence[str], wanted: Wanted) -> str:
        """Return the pattern for things whose label holds all of these words."""
        label = self.naming.predicates[0]
        asked = f"(<{label}> {all_of(words)} {wanted.limit})"
        return f"(?s ?score) <{_JENA}> {asked} . {self.named()}"


class Rdf4jNames(SparqlNameSearch):
    """Things with all words in one text, by their labels; with one label, only in that."""

    servers: ClassVar = ("graphdb",)  # their replies are alike

    def pattern(self, words: Sequence[str], wanted: Wanted) -> str:
        """Return the pattern for things whose texts hold all of these words."""
        names = self.naming.predicates
        within = f" ; <{_SAIL}property> <{names[0]}>" if len(names) == 1 else ""
        return f"?s <{_SAIL}matches> [ <{_SAIL}query> {all_of(words)}{within} ] . {self.named()}"


class StardogNames(SparqlNameSearch):
    """Labels that hold all words; the database needs `search.enabled`."""

    servers: ClassVar = ("generic",)

    def pattern(self, words: Sequence[str], wanted: Wanted) -> str:
        """Return the pattern for labels with all of these words."""
        return f"(?name ?score) <{_MATCH}> ({all_of(words)} {wanted.limit}) . {self.named()}"


class GraphdbNames(SparqlNameSearch):
    """Labels in `onto:fts`; `graphdb:NAME` asks the connector of that name for things."""

    servers: ClassVar = ("graphdb",)

    def __init__(self, naming: Naming) -> None:
        super().__init__(naming)
        if naming.place and not words_of(naming.place) == [*naming.place.split("_")]:
            raise SetupError(f"{naming.place!r} cannot be the name of a Lucene connector")

    def pattern(self, words: Sequence[str], wanted: Wanted) -> str:
        """Return the pattern for labels, or for the things of a connector and their labels."""
        if not self.naming.place:
            return f'?name <{_FULL_TEXT}> ({all_of(words)} "*") . {self.named()}'
        return (
            f"?q a <{_LUCENE}/instance#{self.naming.place}> ; <{_LUCENE}#query> {all_of(words)} ; "
            f"<{_LUCENE}#entities> ?s . {self.named()}"
        )


class WikibaseNames(SparqlNameSearch):
    """Things by label or alias, the best known first; `wikibase:HOST` says of which wiki.

    The query service asks the wiki itself, by a SERVICE that leads to no other server.
    """

    servers: ClassVar = ("blazegraph",)
    services: ClassVar = frozenset({f"{WIKIBASE}mwapi"})
    wants_host: ClassVar = True

    def __init__(self, naming: Naming) -> None:
        super().__init__(naming)
        if not naming.place:
            raise SetupError("the search 'wikibase' has to know its wiki: write wikibase:HOST")

    def pattern(self, words: Sequence[str], wanted: Wanted) -> str:
        """Return the pattern for the things that the wiki finds, with their names."""
        tags = wanted.languages or ("en",)
        given = {
            f"{WIKIBASE}api": "EntitySearch",
            f"{WIKIBASE}endpoint": self.naming.place,
            f"{_API}search": " ".join(words),
            f"{_API}language": tags[0],
            f"{_API}limit": str(min(_MOST, wanted.limit)),
        }
        asked = " ".join(f"{_GIVEN} <{key}> {text_term(value)} ." for key, value in given.items())
        listed = ", ".join(text_term(tag) for tag in dict.fromkeys((*tags, "mul")))
        return (
            f"SERVICE <{WIKIBASE}mwapi> {{ {asked} ?s <{WIKIBASE}apiOutputItem> <{_API}item> . }} "
            f"{self.named()} FILTER(LANG(?name) IN ({listed}))"
        )


class HttpNameSearch(ABC):
    """A search behind an address, which the name of the search is followed by: `NAME:URL`."""

    def __init__(self, naming: Naming) -> None:
        self.naming = naming
        if not naming.place.startswith(("http://", "https://")):
            raise SetupError("this search has to know its address: write NAME:https://…")

    async def works(self, endpoint: Asked, text: str) -> bool:
        """Return whether the search finds names that hold a text which some name is."""
        try:
            (found,) = await self.search(endpoint, [text])
        except ServiceError:
            return False
        said = {*tokens(text)}
        return any(said <= {*tokens(name)} for thing in found for name, _ in thing.names)

    async def search(
        self,
        endpoint: Asked,
        texts: Sequence[str],
        *,
        languages: Sequence[str] = (),
        within: Sequence[str] = (),
        limit: int = 20,
    ) -> Sequence[Sequence[Thing]]:
        """Return the things that each text may name; four texts are asked for at a time."""
        tags = known_tags((*languages, *self.naming.languages)) or ("en",)
        slots = asyncio.Semaphore(_AT_ONCE)
        async with httpx2.AsyncClient(timeout=SECONDS, headers=_AGENT) as client:

            async def found(text: str) -> list[Thing]:
                if not words_of(text):
                    return []
                async with slots:
                    parameters = self.parameters(text, tags[0], limit)
                    place = self.naming.place
                    try:
                        reply = await client.get(place, params=dict(parameters))
                    except httpx2.TimeoutException as error:
                        raise TimedOut(f"{place} did not reply within {SECONDS:g} s") from error
                    except httpx2.HTTPError as error:
                        raise Unreachable(f"{place} cannot be reached: {error}") from error
                    said = f"{place} replied with status {reply.status_code}"
                    if reply.status_code in _BUSY:
                        raise Overloaded(said)
                    if reply.status_code != 200:
                        raise ErrorReply(said)
                    try:
                        content: object = reply.json()
                    except ValueError as error:
                        raise MalformedReply(f"{place} replied with no JSON") from error
                things = list(self.things(content, tags[0]))
                kept = (one for one in things if not within or {*within} & {*one.classes})
                return list(kept)[:limit]

            return await asyncio.gather(*map(found, texts))

    @abstractmethod
    def parameters(self, text: str, language: str, limit: int) -> Mapping[str, str]:
        """Return the parameters of the request for a text."""

    @abstractmethod
    def things(self, content: object, language: str) -> Iterable[Thing]:
        """Return the things of a reply, which may hold anything that is JSON."""


def listed(content: object, key: str) -> list[Mapping[str, object]]:
    """Return the objects in a list of a reply; none if it is not as it should be."""
    found = content.get(key) if isinstance(content, dict) else None
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


class LookupNames(HttpNameSearch):
    """Things by label and redirect, with their classes; the weight is how many refer to them.

    The address is that of the service's `api/search`.
    """

    def parameters(self, text: str, language: str, limit: int) -> Mapping[str, str]:
        """Return the parameters of the request for a text."""
        return {"query": text, "format": "JSON", "maxResults": str(limit)}

    def things(self, content: object, language: str) -> Iterator[Thing]:
        """Yield the things of a reply."""
        for one in listed(content, "docs"):
            names = (*_texts(one, "label"), *_texts(one, "redirectlabel"))
            weight = next((text for text in _texts(one, "refCount") if text.isdigit()), "0")
            for iri in _texts(one, "resource")[:1]:
                if names:
                    tagged = tuple((name, "") for name in dict.fromkeys(names))
                    yield Thing(iri, tagged, tuple(_texts(one, "type")), float(weight))


def _texts(one: Mapping[str, object], key: str) -> list[str]:
    found = one.get(key)
    texts = found if isinstance(found, list) else [found]
    return [_MARKED.sub("", text) for text in texts if isinstance(text, str)]


class WikibaseApi(HttpNameSearch):
    """Things whose label or alias begins with the text, the best known first.

    The address is that of the wiki's `api.php`.
    """

    def parameters(self, text: str, language: str, limit: int) -> Mapping[str, str]:
        """Return the parameters of the request for a text."""
        return {
            "action": "wbsearchentities",
            "format": "json",
            "type": "item",
            "search": text,
            "language": language,
            "uselang": language,
            "limit": str(min(_MOST, limit)),
        }

    def things(self, content: object, language: str) -> Iterator[Thing]:
        """Yield the things of a reply by the names that matched, and by their labels."""
        found = listed(content, "search")
        for place, one in enumerate(found):
            match = one.get("match")
            texts = [one.get("label")]
            if isinstance(match, dict):
                texts.insert(0, match.get("text"))
            names = dict.fromkeys((text, language) for text in texts if isinstance(text, str))
            iri = one.get("concepturi")
            if isinstance(iri, str) and names:
                yield Thing(iri, tuple(names), weight=float(len(found) - place))
