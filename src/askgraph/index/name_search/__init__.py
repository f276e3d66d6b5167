"""Search for names by the endpoint that holds them: texts in, things with their labels out.

Graphs of more things than names can be read page by page are asked for the names that a question
may hold. Each plugin of the kind `name_search` asks one product's own text search; `plain` asks any
endpoint for labels that are the text itself.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Protocol
from urllib.parse import urlsplit

from pyoxigraph import Literal, NamedNode

from askgraph import plugins
from askgraph.errors import QueryError, ServiceError
from askgraph.index.names import tokens
from askgraph.sparql import vocabulary as v
from askgraph.sparql.results import SelectResult

_WORD = re.compile(r"[^\W_]+")
_TAG = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*")
SECONDS = 10.0
_MOST_LANGUAGES = 3
_PROBED, _PROBING = 5, 5.0  # rows and seconds of a probe
_SAMPLED, _SHORT = 50, 4


class Asked(Protocol):
    """What a search asks: the SELECT of an endpoint."""

    async def select(
        self, query: str, *, timeout: float | None = None, limit: int | None = None
    ) -> SelectResult:
        """Run a SELECT query."""
        ...


@dataclass(frozen=True)
class Naming:
    """The predicates that carry a graph's names and the languages of these, the usual ones first.

    `place` is what a plugin has to be told besides: the address of a service, an index's name.
    """

    predicates: tuple[str, ...] = (v.RDFS_LABEL,)
    languages: tuple[str, ...] = ()
    place: str = ""


@dataclass(frozen=True)
class Thing:
    """A thing found: its names as (text, language), classes if they came with it, and its use.

    Of two things that are named alike, the one of the higher `weight` is used more.
    """

    iri: str
    names: tuple[tuple[str, str], ...]
    classes: tuple[str, ...] = ()
    weight: float = 0.0


class NameSearch(Protocol):
    """Finds things by their names: what each plugin of the kind `name_search` is."""

    naming: Naming

    def __init__(self, naming: Naming) -> None: ...

    async def works(self, endpoint: Asked, text: str) -> bool:
        """Return whether the search finds names that hold a text which some name is."""
        ...

    async def search(
        self,
        endpoint: Asked,
        texts: Sequence[str],
        *,
        languages: Sequence[str] = (),
        within: Sequence[str] = (),
        limit: int = 20,
    ) -> Sequence[Sequence[Thing]]:
        """Return the things that each text may name, best first, at most `limit` each.

        All texts are asked for at once. Names may hold more words than the text. `languages` are
        those of the asker; names in others may come, too. With `within`, only instances of these
        classes come, if the source can tell. Raises `QueryError` if the endpoint has no such
        search and `ServiceError` if it fails.
        """
        ...


@dataclass(frozen=True)
class Wanted:
    """What a text's things are to be: at most `limit`, in which languages, and if of a class.

    With `within`, `?s` is bound to the instances of a class before.
    """

    limit: int
    languages: tuple[str, ...] = ()
    within: bool = False


NONE, PLAIN = "none", "plain"
"""The name of no search at all, and of the search that any endpoint can do."""


def name_search(named: str, naming: Naming) -> NameSearch | None:
    """Return a search by its name, or by `NAME:PLACE`; None for `none` and for no name.

    Raises `SetupError` if there is no such search.
    """
    name, _, place = named.partition(":")
    if name in ("", NONE):
        return None
    search: NameSearch = plugins.load("name_search", name)(replace(naming, place=place))
    return search


def in_sparql(name: str) -> "type[SparqlNameSearch] | None":
    """Return the plugin of a name if its search is part of a query, else None."""
    plugin = plugins.load("name_search", name)
    if isinstance(plugin, type) and issubclass(plugin, SparqlNameSearch):
        return plugin
    return None


async def detected(endpoint: Asked, naming: Naming, *, dialect: str = "") -> str:
    """Return the name of the search that an endpoint has: `plain` if it has none of its own.

    It is asked for some names, and then for one of these by each search that servers of its
    dialect have; by all of them if the dialect is `generic`.
    """
    label = next(iter(naming.predicates), v.RDFS_LABEL)
    query = f"SELECT (0 AS ?at) ?s ?name {{ ?s <{label}> ?name }} LIMIT {_SAMPLED}"
    try:
        some = await endpoint.select(query, timeout=_PROBING)
    except (QueryError, ServiceError):
        return PLAIN
    named = [(name, iri) for _, iri, (name, _) in _rows(some) if words_of(name)]
    text, iri = max(named, key=lambda one: len(words_of(one[0])) < _SHORT, default=("", ""))
    for name in plugins.list_names("name_search") if text else ():
        plugin = in_sparql(name)
        if plugin and plugin.servers and dialect in ("", "generic", *plugin.servers):
            host = urlsplit(iri).netloc if plugin.wants_host else ""
            if not plugin.wants_host or host:
                search = plugin(replace(naming, place=host))
                if await search.works(endpoint, text):
                    return f"{name}:{host}" if host else name
    return PLAIN


class SparqlNameSearch(ABC):
    """A search that is part of a SPARQL query: one query for all texts.

    Labels that are a text itself come in any case: a search that ranks nothing may leave them out.
    `servers` are the dialects of those that have it, none if it is not looked for; `services` what
    it calls by SERVICE. With `wants_host` its place is the host that its things' IRIs name.
    """

    servers: ClassVar[tuple[str, ...]] = ()
    services: ClassVar[frozenset[str]] = frozenset()
    wants_host: ClassVar[bool] = False

    def __init__(self, naming: Naming) -> None:
        self.naming = naming

    async def search(
        self,
        endpoint: Asked,
        texts: Sequence[str],
        *,
        languages: Sequence[str] = (),
        within: Sequence[str] = (),
        limit: int = 20,
    ) -> Sequence[Sequence[Thing]]:
        """Return the things that each text may name."""
        query = self.query(texts, languages=languages, within=within, limit=limit)
        rows = await endpoint.select(query, timeout=SECONDS) if query else None
        return grouped(rows, texts, limit) if rows else [[] for _ in texts]

    async def works(self, endpoint: Asked, text: str) -> bool:
        """Return whether the search finds names that hold a text which some name is."""
        body = self.pattern(words_of(text), Wanted(_PROBED, self.naming.languages))
        if not body:
            return False
        query = f"SELECT (0 AS ?at) ?s ?name {{ {body} }} LIMIT {_PROBED}"
        try:
            rows = await endpoint.select(query, timeout=_PROBING)
        except (QueryError, ServiceError):
            return False
        names = [name for _, _, (name, _) in _rows(rows)]
        said = {*tokens(text)}
        return bool(names) and all(said <= {*tokens(name)} for name in names)

    def query(
        self,
        texts: Sequence[str],
        *,
        languages: Sequence[str] = (),
        within: Sequence[str] = (),
        limit: int = 20,
    ) -> str:
        """Return the query for some texts; empty if no text has a word."""
        known = known_tags((*languages, *self.naming.languages))
        wanted = Wanted(2 * limit, known, bool(within))
        kept = f"VALUES ?c {{ {iris(within)} }} ?s a ?c . " if within else ""
        parts = [
            f"{{ SELECT ({at} AS ?at) ?s ?name {{ {kept}{body} }} LIMIT {wanted.limit} }}"
            for at, text in enumerate(texts)
            if (words := words_of(text)) and (body := self.pattern(words, wanted))
        ]
        spelt = (text for text in texts if words_of(text))
        exact = self.exact(spelt, known)
        if exact and self.naming.predicates:
            parts.append(f"{{ {kept}{exact} }}")
        return f"SELECT ?at ?s ?name {{ {' UNION '.join(parts)} }}" if parts else ""

    @abstractmethod
    def pattern(self, words: Sequence[str], wanted: Wanted) -> str:
        """Return the pattern that binds `?s` and `?name` to what these words name, or nothing.

        A word is letters and digits only, so that no text gets out of a string or an expression.
        """

    def exact(self, texts: Iterable[str], languages: Sequence[str]) -> str:
        """Return the pattern for labels that are one of the texts, in some languages or in none."""
        spelt = dict.fromkeys(spelling for text in texts for spelling in spellings(text))
        terms = (
            str(Literal(one, language=tag) if tag else Literal(one))
            for one in spelt
            for tag in ("", *languages)
        )
        return f"VALUES ?name {{ {' '.join(terms)} }} {self.named()}" if spelt else ""

    def named(self) -> str:
        """Return the pattern by which `?s` is called `?name`."""
        predicates = self.naming.predicates
        if len(predicates) == 1:
            return f"?s <{predicates[0]}> ?name ."
        return f"?s ?p ?name . FILTER(?p IN ({', '.join(f'<{iri}>' for iri in predicates)}))"


def spellings(text: str) -> tuple[str, ...]:
    """Return a text as it is, and with other capitals: labels are compared to the letter."""
    plain = " ".join(text.split())
    titled = " ".join(word[:1].upper() + word[1:] for word in plain.split())
    forms = (plain, plain[:1].upper() + plain[1:], titled, plain.lower())
    return tuple(dict.fromkeys(forms))


def known_tags(languages: Iterable[str]) -> tuple[str, ...]:
    """Return the first few tags of languages, without what is none."""
    return tuple(tag for tag in dict.fromkeys(languages) if _TAG.fullmatch(tag))[:_MOST_LANGUAGES]


def all_of(words: Iterable[str]) -> str:
    """Return the expression of Lucene for texts that hold all words."""
    return text_term(" AND ".join(word.lower() for word in words))


def words_of(text: str) -> list[str]:
    """Return the words of a text as they are written, without any sign."""
    return _WORD.findall(text)


def iris(some: Iterable[str]) -> str:
    """Return IRIs as they stand in a query."""
    return " ".join(f"<{iri}>" for iri in some)


def text_term(text: str) -> str:
    """Return a text as a string of a query."""
    return str(Literal(text))


def grouped(found: SelectResult, texts: Sequence[str], limit: int) -> list[list[Thing]]:
    """Return the things of the rows `?at ?s ?name`, by the number of their text.

    A row without a number belongs to the texts that it spells.
    """
    kept: list[dict[str, list[tuple[str, str]]]] = [{} for _ in texts]
    spelt: dict[tuple[str, ...], list[int]] = {}
    for place, text in enumerate(texts):
        spelt.setdefault(tokens(text), []).append(place)
    for at, thing, name in _rows(found):
        places = spelt.get(tokens(name[0]), []) if at is None else [at]
        for place in places:
            if place < len(kept):
                kept[place].setdefault(thing, []).append(name)
    return [_things(texts[at], named)[:limit] for at, named in enumerate(kept)]


def _rows(found: SelectResult) -> Iterator[tuple[int | None, str, tuple[str, str]]]:
    columns = [found.get_column(one) for one in ("at", "s", "name")]
    for at, thing, name in zip(*columns, strict=True):
        if isinstance(thing, NamedNode) and isinstance(name, Literal):
            number = int(at.value) if isinstance(at, Literal) and at.value.isdigit() else None
            yield number, thing.value, (name.value, name.language or "")


def _things(text: str, named: dict[str, list[tuple[str, str]]]) -> list[Thing]:
    """The things that a text may name: those called exactly so first, then as they came."""
    said = tokens(text)
    things = [Thing(iri, tuple(dict.fromkeys(names))) for iri, names in named.items()]
    return sorted(things, key=lambda one: all(tokens(name) != said for name, _ in one.names))
