"""Name search by an endpoint: take texts, return items with their labels.

A graph that is too large for reading all names page by page is searched for the names that a
question may contain. Each plugin of the kind `name_search` uses the text search of one product;
`plain` works on any endpoint and finds labels that equal the text.
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
from askgraph.index.names import split_tokens
from askgraph.sparql import vocabulary as v
from askgraph.sparql.results import SelectResult

_WORD_PATTERN = re.compile(r"[^\W_]+")
_LANGUAGE_TAG_PATTERN = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*")
TIMEOUT_SECONDS = 10.0
_MAX_LANGUAGES_COUNT = 3
_PROBE_ROWS, _PROBE_SECONDS = 5, 5.0  # rows and seconds of a probe
_SAMPLE_ROWS, _MAX_SAMPLE_WORDS = 50, 4


class SelectEndpoint(Protocol):
    """The SELECT of an endpoint, for a name search."""

    async def select(
        self, query: str, *, timeout: float | None = None, limit: int | None = None
    ) -> SelectResult:
        """Run a SELECT query."""


@dataclass(frozen=True)
class NameSettings:
    """How a graph names its items.

    Attributes:
        predicates: the predicates of names, the most usual first.
        languages: the languages of names, the most usual first.
        place: a further setting of a plugin: the address of a service, or the name of an index.
    """

    predicates: tuple[str, ...] = (v.RDFS_LABEL,)
    languages: tuple[str, ...] = ()
    location: str = ""


@dataclass(frozen=True)
class NamedItem:
    """An item that a name search found."""

    iri: str
    names: tuple[tuple[str, str], ...]  # its names as (text, language)
    classes: tuple[str, ...] = ()  # its classes, if the reply contains them
    weight: float = 0.0  # how much it is used; higher values first among items of the same name


class NameSearch(Protocol):
    """Finds items by name; every plugin of the kind `name_search` implements it."""

    settings: NameSettings

    def __init__(self, settings: NameSettings) -> None: ...

    async def is_available(self, endpoint: SelectEndpoint, text: str) -> bool:
        """Return whether the search finds an existing name by its text."""

    async def search(
        self,
        endpoint: SelectEndpoint,
        texts: Sequence[str],
        *,
        languages: Sequence[str] = (),
        within: Sequence[str] = (),
        limit: int = 20,
    ) -> Sequence[Sequence[NamedItem]]:
        """Return the items that each text may name, best first, at most `limit` each.

        All texts are searched at once. Names may contain more words than the text.

        Args:
            languages: the user's languages; names in other languages may be found, too.
            within: classes that restrict the items, if the source knows the classes.
            limit: the maximum number of items for each text.

        Raises:
            QueryError: the endpoint has no such search.
            ServiceError: the endpoint fails.
        """


@dataclass(frozen=True)
class PatternOptions:
    """Options of a search pattern."""

    limit: int  # the maximum number of items
    languages: tuple[str, ...] = ()  # the languages of the names
    within: bool = False  # whether `?s` is already bound to the instances of a class


NONE, PLAIN = "none", "plain"
"""The name of no search at all, and of the search that any endpoint can do."""


def create_name_search(setting: str, settings: NameSettings) -> NameSearch | None:
    """Return a search by `NAME` or `NAME:LOCATION`; None for `none` and for an empty name.

    Raises:
        SetupError: there is no such search.
    """
    name, _, location = setting.partition(":")
    if name in ("", NONE):
        return None
    search: NameSearch = plugins.load("name_search", name)(replace(settings, location=location))
    return search


def load_sparql_plugin(name: str) -> "type[SparqlNameSearch] | None":
    """Return the plugin of a name if its search is part of a query, else None."""
    plugin = plugins.load("name_search", name)
    if isinstance(plugin, type) and issubclass(plugin, SparqlNameSearch):
        return plugin
    return None


async def detect_name_search(
    endpoint: SelectEndpoint, settings: NameSettings, *, dialect: str = ""
) -> str:
    """Return the name of an endpoint's own search, or `plain` if it has none."""
    # The function samples some names, then searches for one of them with each search that servers
    # of the dialect have; with all searches if the dialect is `generic`.
    label = next(iter(settings.predicates), v.RDFS_LABEL)
    query = f"SELECT (0 AS ?at) ?s ?name {{ ?s <{label}> ?name }} LIMIT {_SAMPLE_ROWS}"
    try:
        sample = await endpoint.select(query, timeout=_PROBE_SECONDS)
    except (QueryError, ServiceError):
        return PLAIN
    candidates = [
        (name, iri) for _, iri, (name, _) in _parse_rows(sample) if split_plain_words(name)
    ]
    text, iri = max(
        candidates,
        key=lambda candidate: len(split_plain_words(candidate[0])) < _MAX_SAMPLE_WORDS,
        default=("", ""),
    )
    for name in plugins.list_names("name_search") if text else ():
        plugin = load_sparql_plugin(name)
        if plugin and plugin.servers and dialect in ("", "generic", *plugin.servers):
            host = urlsplit(iri).netloc if plugin.needs_host else ""
            search = plugin(replace(settings, location=host))
            if (not plugin.needs_host or host) and await search.is_available(endpoint, text):
                return f"{name}:{host}" if host else name
    return PLAIN


class SparqlNameSearch(ABC):
    """A search that is part of a SPARQL query: one query for all texts.

    Labels that equal a text in any case are always included, as an unranked search may miss them.

    Attributes:
        servers: the dialects of servers with this search; empty if it is never detected.
        services: the addresses that it calls by SERVICE.
        wants_host: whether its location is the host of the items' IRIs.
    """

    servers: ClassVar[tuple[str, ...]] = ()
    services: ClassVar[frozenset[str]] = frozenset()
    needs_host: ClassVar[bool] = False

    def __init__(self, settings: NameSettings) -> None:
        self.settings = settings

    async def search(
        self,
        endpoint: SelectEndpoint,
        texts: Sequence[str],
        *,
        languages: Sequence[str] = (),
        within: Sequence[str] = (),
        limit: int = 20,
    ) -> Sequence[Sequence[NamedItem]]:
        """Return the items that each text may name."""
        query = self.build_query(texts, languages=languages, within=within, limit=limit)
        rows = await endpoint.select(query, timeout=TIMEOUT_SECONDS) if query else None
        return group_items(rows, texts, limit) if rows else [[] for _ in texts]

    async def is_available(self, endpoint: SelectEndpoint, text: str) -> bool:
        """Return whether the search finds an existing name by its text."""
        body = self.build_pattern(
            split_plain_words(text), PatternOptions(_PROBE_ROWS, self.settings.languages)
        )
        if not body:
            return False
        query = f"SELECT (0 AS ?at) ?s ?name {{ {body} }} LIMIT {_PROBE_ROWS}"
        try:
            rows = await endpoint.select(query, timeout=_PROBE_SECONDS)
        except (QueryError, ServiceError):
            return False
        names = [name for _, _, (name, _) in _parse_rows(rows)]
        text_tokens = {*split_tokens(text)}
        return bool(names) and all(text_tokens <= {*split_tokens(name)} for name in names)

    def build_query(
        self,
        texts: Sequence[str],
        *,
        languages: Sequence[str] = (),
        within: Sequence[str] = (),
        limit: int = 20,
    ) -> str:
        """Return the query for some texts; empty if no text has a word."""
        tags = select_tags((*languages, *self.settings.languages))
        options = PatternOptions(2 * limit, tags, bool(within))
        class_pattern = f"VALUES ?c {{ {format_iris(within)} }} ?s a ?c . " if within else ""
        parts = [
            f"{{ SELECT ({number} AS ?at) ?s ?name {{ {class_pattern}{body} }} "
            f"LIMIT {options.limit} }}"
            for number, text in enumerate(texts)
            if (words := split_plain_words(text)) and (body := self.build_pattern(words, options))
        ]
        valid_texts = (text for text in texts if split_plain_words(text))
        spellings_of_texts = dict.fromkeys(
            spelling for text in valid_texts for spelling in vary_capitals(text)
        )
        terms = (
            str(Literal(spelling, language=tag) if tag else Literal(spelling))
            for spelling in spellings_of_texts
            for tag in ("", *tags)
        )
        exact = (
            f"VALUES ?name {{ {' '.join(terms)} }} {self.build_name_pattern()}"
            if spellings_of_texts
            else ""
        )
        if exact and self.settings.predicates:
            parts.append(f"{{ {class_pattern}{exact} }}")
        return f"SELECT ?at ?s ?name {{ {' UNION '.join(parts)} }}" if parts else ""

    @abstractmethod
    def build_pattern(self, words: Sequence[str], options: PatternOptions) -> str:
        """Return the pattern that binds `?s` and `?name` to items of these words; may be empty.

        A word has letters and digits only, so that no text escapes from a string or an expression.
        """

    def build_name_pattern(self) -> str:
        """Return the pattern that binds `?name` to the names of `?s`."""
        predicates = self.settings.predicates
        if len(predicates) == 1:
            return f"?s <{predicates[0]}> ?name ."
        return f"?s ?p ?name . FILTER(?p IN ({', '.join(f'<{iri}>' for iri in predicates)}))"


def vary_capitals(text: str) -> tuple[str, ...]:
    """Return a text and its variants in other capitals: labels are compared exactly."""
    plain = " ".join(text.split())
    titled = " ".join(word[:1].upper() + word[1:] for word in plain.split())
    return tuple(dict.fromkeys((plain, plain[:1].upper() + plain[1:], titled, plain.lower())))


def select_tags(languages: Iterable[str]) -> tuple[str, ...]:
    """Return the first few language tags that are valid."""
    return tuple(tag for tag in dict.fromkeys(languages) if _LANGUAGE_TAG_PATTERN.fullmatch(tag))[
        :_MAX_LANGUAGES_COUNT
    ]


def build_lucene_query(words: Iterable[str]) -> str:
    """Return the Lucene expression for texts that contain all words."""
    return format_string(" AND ".join(word.lower() for word in words))


def split_plain_words(text: str) -> list[str]:
    """Return the words of a text, without punctuation or symbols."""
    return _WORD_PATTERN.findall(text)


def format_iris(iris: Iterable[str]) -> str:
    """Return IRIs in the syntax of a query."""
    return " ".join(f"<{iri}>" for iri in iris)


def format_string(text: str) -> str:
    """Return a text as a string of a query."""
    return str(Literal(text))


def group_items(result: SelectResult, texts: Sequence[str], limit: int) -> list[list[NamedItem]]:
    """Return the items of the rows `?at ?s ?name`, grouped by the number of their text.

    A row without a number belongs to the texts with the same tokens.
    """
    names_by_item: list[dict[str, list[tuple[str, str]]]] = [{} for _ in texts]
    numbers_by_tokens: dict[tuple[str, ...], list[int]] = {}
    for number, text in enumerate(texts):
        numbers_by_tokens.setdefault(split_tokens(text), []).append(number)
    for row_number, item, name in _parse_rows(result):
        numbers = (
            numbers_by_tokens.get(split_tokens(name[0]), []) if row_number is None else [row_number]
        )
        for number in numbers:
            if number < len(names_by_item):
                names_by_item[number].setdefault(item, []).append(name)
    return [
        _sort_items(texts[row_number], item_names)[:limit]
        for row_number, item_names in enumerate(names_by_item)
    ]


def _parse_rows(result: SelectResult) -> Iterator[tuple[int | None, str, tuple[str, str]]]:
    columns = [result.get_column(column_name) for column_name in ("at", "s", "name")]
    for index, item, name in zip(*columns, strict=True):
        if isinstance(item, NamedNode) and isinstance(name, Literal):
            number = (
                int(index.value) if isinstance(index, Literal) and index.value.isdigit() else None
            )
            yield number, item.value, (name.value, name.language or "")


def _sort_items(text: str, item_names: dict[str, list[tuple[str, str]]]) -> list[NamedItem]:
    """Return the items that a text may name: exact names first, then in their order."""
    text_tokens = split_tokens(text)
    items = [NamedItem(iri, tuple(dict.fromkeys(names))) for iri, names in item_names.items()]
    return sorted(
        items, key=lambda item: all(split_tokens(name) != text_tokens for name, _ in item.names)
    )
