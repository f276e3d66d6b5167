"""Build the answers of all methods: a query and its result as columns, words and evidence.

builder = AnswerBuilder(graph, ["en"])
query, labels = await builder.format_query(query)
result = await graph.endpoint.select(query)
answer = await builder.build_answer(
    query, result, columns=["moon"], confidence=0.9, ordered=False, labels=labels
)

Contents: this builder, `verbalize` (a query in plain words), `headline` (a result in a sentence),
`evidence`, `validation` (checks of a query), `suggestions`, and questions that may come next.
May import: `search` and the rooms below it. Start reading at `AnswerBuilder`.
"""

import asyncio
import contextlib
import re
import unicodedata
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TypeVar

from pyoxigraph import Literal, NamedNode

from askgraph.answers.evidence import EvidenceTriples, fetch_evidence
from askgraph.answers.headline import (
    Headline,
    find_deciding_values,
    find_query_units,
    is_shown_owner,
    make_deciding_query,
    name_units,
)
from askgraph.answers.verbalize import (
    MAX_LABELS,
    describe_definitions,
    detect_label_language,
    distinguish_labels,
    drop_shown_names,
    fetch_term_labels,
    list_iris,
    list_query_iris,
    verbalize_query_for_graph,
)
from askgraph.answers.verbalize.labels import collect_facts
from askgraph.answers.verbalize.scope import fold_names
from askgraph.errors import QueryError, QuerySyntaxError, ServiceError
from askgraph.graph import KnowledgeGraph
from askgraph.graph.arrays import GraphArrays
from askgraph.graph.measures import Unit
from askgraph.search.glossary import load_definitions
from askgraph.sparql import Call, Query, QueryText, group_patterns_by_subject, rename_iris
from askgraph.sparql.comparison import select_columns
from askgraph.sparql.judge import admit_query
from askgraph.sparql.prefixes import split_local_name
from askgraph.sparql.results import GraphResult, Result, Row, SelectResult, Term, get_term_sort_key
from askgraph.sparql.rewrite.virtual import fold_terms
from askgraph.sparql.serializer import format_tree, to_text, to_tree
from askgraph.sparql.vocabulary import DATE_DATATYPES, NUMERIC_DATATYPES
from askgraph.trace import Answer, Clarification, Option

_Readable = TypeVar("_Readable", str, Query)

_MAX_REMOTE_LABELS = 2_000  # things of a remote graph whose labels an answer fetches
_MAX_ARRANGED_ROWS = 2_000  # rows that are sorted for people
_EVIDENCE_SECONDS = 5.0  # seconds for the evidence of a chosen reading
_MAX_SENTENCE_QUERY_CHARACTERS = 10_000  # characters of a query that is read for its sentence


def build_plain_answer(
    query: str,
    graph: str,
    raw_result: SelectResult | bool,
    *,
    columns: Sequence[str] | None = None,
    words: str = "",
    confidence: float = 0.0,
    labels: Mapping[str, str] | None = None,
) -> Answer:
    """Build an answer without evidence or requests; `columns` None means all of the result."""
    boolean = raw_result if isinstance(raw_result, bool) else None
    result = raw_result if isinstance(raw_result, SelectResult) else SelectResult((), ())
    return Answer(
        query=query,
        graph=graph,
        result=result,
        answer_columns=result.variables if columns is None else tuple(columns),
        words=words,
        confidence=confidence,
        boolean=boolean,
        labels=dict(labels or {}),
    )


@dataclass(frozen=True)
class AnswerBuilder:
    """Builds answers over one graph; all requests go to its endpoint.

    Attributes:
        evidence_seconds: limit for evidence; the answer omits evidence that is late or fails. None:
            no limit, and failures are raised.
        explain_empty: finds the reason for an empty result; None uses `why_empty`.
    """

    graph: KnowledgeGraph
    languages: Sequence[str]  # labels come in the first of these languages that has one
    timeout: float | None = None  # seconds for the labels of a remote graph
    evidence_rows: int = 3  # number of first rows that get evidence
    evidence_seconds: float | None = None
    explain_empty: Callable[[str], Awaitable[str | None]] | None = None
    fetched_part: GraphArrays | None = None  # of a remote graph; its names need no request

    async def format_query(self, query: str | Query) -> tuple[str, dict[str, str]]:
        """Return the formatted query and the labels of its IRIs."""
        own_types = dict(self.graph.profile.types)
        if isinstance(query, Query):
            renamed_query = rename_iris(query, own_types) if own_types else query
            labels = await self.load_labels(list_iris(renamed_query))
            labels = await self.disambiguate_labels(labels)
            query_text = format_tree(renamed_query, self.graph.prefixes, labels)
            return QueryText.from_tree(query, query_text) if own_types else query_text, labels
        from askgraph.sparql.rewrite import lay_out_query  # only external texts need the layout

        labels = await self.load_labels(list_query_iris(query))
        text = lay_out_query(query, self.graph.prefixes, labels)
        try:
            tree = group_patterns_by_subject(to_tree(query))
            if own_types:
                tree = rename_iris(tree, {standard: iri for iri, standard in own_types.items()})
            return QueryText.from_tree(tree, text), labels
        except QuerySyntaxError:
            return text, labels

    async def answer(
        self,
        query: str,
        result: SelectResult | bool,
        *,
        columns: Sequence[str],
        confidence: float,
        ordered: bool,
        labels: Mapping[str, str],
    ) -> Answer:
        """Build the answer of a formatted query, with words, labels and evidence.

        Unless `ordered`, rows are sorted by `arrange_rows`.

        Raises:
            QueryError: the evidence query failed.
            ServiceError: the endpoint failed.
        """
        tree: Query | None = None  # also if it is invalid or too long for a sentence
        with contextlib.suppress(QueryError):
            if isinstance(query, QueryText):
                tree = query.tree
            elif len(query) <= _MAX_SENTENCE_QUERY_CHARACTERS:
                tree = await asyncio.to_thread(to_tree, query)
        known_labels = dict(labels)
        if isinstance(result, SelectResult):
            result = result if ordered else result.sort_rows()
            if self.graph.arrays is not None:  # local lookups come before the evidence
                known_labels = await self.load_labels(list_resources(result.rows), known_labels)
                result = result if ordered else arrange_rows(result, tree, known_labels)
        spoken = result
        if tree is not None and isinstance(result, SelectResult):
            tree = drop_shown_names(tree, self.graph, result)
            spoken = select_columns(result, [name.value for name, _ in tree.columns])
        (behind, why_empty), decided = await asyncio.gather(
            self._fetch_evidence(query, result, labels), self._fetch_deciding_values(tree, spoken)
        )
        if isinstance(result, SelectResult):
            classes = self._find_column_classes(result.variables)
            iris = [*behind.iris, *list_resources(result.rows), *classes]
            known_labels = await self.load_labels(iris, known_labels)
            known_labels = await self.disambiguate_labels(known_labels)
        answer = await self.build_worded_answer(query, result, columns=columns, labels=known_labels)
        units = find_query_units(tree, self.graph, self.fetched_part) if tree is not None else {}
        context = _build_context(tree, result, spoken, decided)
        shown = {*answer.result.variables, *context.variables}
        return replace(
            answer,
            confidence=round(confidence, 4),
            ordered=ordered,
            evidence=behind.describe(known_labels),
            why_empty=why_empty,
            context=context,
            units={
                name: sign
                for name, sign in name_units(units, self.languages[0]).items()
                if name in shown
            },
            sentence=self.render_sentence(tree, spoken, answer.labels, decided, units),
        )

    def render_sentence(
        self,
        tree: Query | None,
        result: SelectResult | bool,
        labels: Mapping[str, str],
        decided: SelectResult | None,
        units: Mapping[str, Unit],
    ) -> str:
        """Return the result as a sentence; empty for a query that cannot be parsed."""
        if tree is None:
            return ""
        language = self.languages[0]
        tree, names = self._fold(tree)
        labels = {**labels, **names}
        nouns = detect_label_language(self.graph, language)
        facts = collect_facts(list_iris(tree), self.graph, language, self.fetched_part)
        return Headline(tree, result, labels, language, nouns, units, decided, facts).write()

    async def build_worded_answer(
        self,
        query: str,
        result: SelectResult | bool,
        *,
        columns: Sequence[str],
        labels: Mapping[str, str],
    ) -> Answer:
        """Build the answer of a formatted query with its words, without any request."""
        language = self.languages[0]

        def read() -> str:
            spoken, names = self._fold(query)
            reading = verbalize_query_for_graph(
                spoken, {**labels, **names}, self.graph, language, near=self.fetched_part
            )
            return " ".join((reading, *describe_definitions(self.graph, names, language)))

        # A text may be long, so parse it in a thread.
        words = read() if isinstance(query, QueryText) else await asyncio.to_thread(read)
        return build_plain_answer(
            query, self.graph.name, result, columns=columns, words=words, labels=labels
        )

    def _fold(self, query: _Readable) -> tuple[_Readable | Query, dict[str, str]]:
        """Return a query with the terms that the glossary defines, and names in place of things."""
        glossary = self.graph.glossary
        try:
            tree, iri_names = fold_names(to_tree(query), self.graph)
        except QueryError:
            return query, {}
        if not glossary or not glossary.definitions:
            return tree if iri_names else query, iri_names
        definitions = load_definitions(self.graph)
        folded, iris = fold_terms(tree, definitions.terms.values() if definitions else ())
        names = {
            entry.iri: entry.get_name(self.languages[0])
            for entry in glossary.definitions
            if entry.iri in iris
        }
        return folded if names or iri_names else query, {**names, **iri_names}

    async def build_user_answer(
        self, query: str, result: Result, *, columns: Sequence[str] = ()
    ) -> Answer:
        """Build the answer of a query that a person wrote; its confidence is 1.

        Triples become rows of three columns. `columns` that the result lacks are ignored; without
        any valid column, all columns answer. Raises like `build_answer`.
        """
        if isinstance(result, GraphResult):
            result = result.table
        variables = result.variables if isinstance(result, SelectResult) else ()
        return await self.answer(
            query,
            result,
            columns=[name for name in columns if name in variables] or variables,
            confidence=1.0,
            ordered=is_ordered(query),
            labels=await self.load_labels(await asyncio.to_thread(list_query_iris, query)),
        )

    async def _fetch_deciding_values(
        self, tree: Query | None, result: SelectResult | bool
    ) -> SelectResult | None:
        """Fetch the values that determined the rows; None if the result has them or it fails."""
        values_query = make_deciding_query(tree, result) if tree is not None else None
        if values_query is not None:
            with contextlib.suppress(QueryError, ServiceError, TimeoutError):
                async with asyncio.timeout(self.evidence_seconds):
                    return await self.graph.endpoint.select(to_text(values_query))
        return None

    async def _fetch_evidence(
        self, query: str, result: SelectResult | bool, labels: Mapping[str, str]
    ) -> tuple[EvidenceTriples, str | None]:
        endpoint, empty = self.graph.endpoint, EvidenceTriples()
        if isinstance(result, bool):
            return empty, None
        if not result.rows and self.explain_empty:
            return empty, await self.explain_empty(query)
        try:
            async with asyncio.timeout(self.evidence_seconds):
                if not result.rows:
                    from askgraph.answers.why_empty import explain_empty_result  # few are empty

                    return empty, await explain_empty_result(
                        query, endpoint, labels=labels, language=self.languages[0]
                    )
                if number := self.evidence_rows:
                    return await fetch_evidence(query, result, endpoint, rows=number), None
        except (QueryError, ServiceError, TimeoutError):
            if self.evidence_seconds is None:
                raise
        return empty, None  # the result is complete without its evidence

    async def disambiguate_labels(self, labels: Mapping[str, str]) -> dict[str, str]:
        """Add a distinguishing detail to labels that several resources share."""
        return await distinguish_labels(
            labels, self.graph, self.languages, timeout=self.timeout, near=self.fetched_part
        )

    def _find_column_classes(self, variables: Iterable[str]) -> Iterator[str]:
        """Yield classes with the name of a column, unless the language is English."""
        names = tuple(f"{sign}{variable}".lower() for variable in variables for sign in "/#")
        if self.languages[0] != "en":
            yield from (c.iri for c in self.graph.profile.classes if c.iri.lower().endswith(names))

    async def load_labels(
        self, iris: Iterable[str], known_labels: Mapping[str, str] | None = None
    ) -> dict[str, str]:
        """Fetch missing labels in batches; from a remote graph none after a batch without any."""
        labels = dict(known_labels or {})
        missing = [iri for iri in dict.fromkeys(iris) if iri not in labels]
        count = len(missing) if self.graph.arrays else min(len(missing), _MAX_REMOTE_LABELS)
        for start in range(0, count, MAX_LABELS):
            batch, near = missing[start : start + MAX_LABELS], self.fetched_part
            batch_labels = await fetch_term_labels(
                batch, self.graph, self.languages, timeout=self.timeout, near=near
            )
            labels |= batch_labels
            if not batch_labels and self.graph.arrays is None:
                break
        return labels


async def answer_option(
    option: Option,
    clarification: Clarification,
    graph: KnowledgeGraph,
    *,
    languages: Sequence[str] = (),
    timeout: float | None = None,
    limit: int | None = None,
) -> Answer:
    """Run the interpretation that the user picked; its confidence is 1.

    The best attempt of the clarification already has its result and is not run again.

    Args:
        timeout: seconds for the query.
        limit: maximum number of rows.

    Raises:
        QueryError: the query failed.
        ServiceError: the endpoint failed.
    """
    best = clarification.best
    if best and best.query == option.query:
        return replace(best, confidence=1.0, chosen=True)
    checked_query = admit_query(option.query, prefixes=graph.prefixes.namespaces)
    result: SelectResult | bool
    if checked_query.form == "ASK":
        result = await graph.endpoint.ask(checked_query.text, timeout=timeout)
    else:
        result = await graph.endpoint.select(checked_query.text, timeout=timeout, limit=limit)
    builder = AnswerBuilder(graph, languages or ["en"], timeout, evidence_seconds=_EVIDENCE_SECONDS)
    answer = await builder.build_user_answer(checked_query.text, result)
    return replace(answer, query=option.query, words=option.words, chosen=True)


def _build_context(
    tree: Query | None,
    result: SelectResult | bool,
    spoken: SelectResult | bool,
    decided: SelectResult | None,
) -> SelectResult:
    """Return the values that decided on the things of each row, a row for each row."""
    if tree is None or isinstance(result, bool) or isinstance(spoken, bool):
        return SelectResult((), ())
    columns = {
        name: values
        for name, values in find_deciding_values(tree, spoken, decided).items()
        if values and name not in result.variables
        if tree.group_by or is_shown_owner(tree, spoken, name)
    }
    rows = (tuple(values.get(row) for values in columns.values()) for row in spoken.rows)
    return SelectResult(tuple(columns), tuple(rows) if columns else ())


def arrange_rows(
    result: SelectResult, tree: Query | None, labels: Mapping[str, str]
) -> SelectResult:
    """Sort rows for a reader: resources by label, values by size.

    Digits within labels sort as numbers, so Apollo 2 comes before Apollo 11. Groups sort by
    their aggregate, largest first, unless the first column holds numbers or dates.
    """
    rows = result.rows
    if len(rows) > _MAX_ARRANGED_ROWS:
        return result
    sort_key = cache(lambda term: _get_sort_key(term, labels))
    sorted_rows = sorted(rows, key=lambda row: tuple(map(sort_key, row)))
    column = _find_aggregate_column(result, tree)
    if column is not None:
        sorted_rows.sort(key=lambda row: get_term_sort_key(row[column]), reverse=True)
    return replace(result, rows=tuple(sorted_rows))


def _get_sort_key(term: Term | None, labels: Mapping[str, str]) -> tuple[object, ...]:
    """Return the sort key of a term: numbers and dates first, then resources and texts by words."""
    if term is None:
        return (3,)
    if isinstance(term, Literal) and term.datatype.value in NUMERIC_DATATYPES | DATE_DATATYPES:
        return 0, get_term_sort_key(term)
    if not isinstance(term, Literal | NamedNode):
        return 2, str(term)
    text = term.value
    if isinstance(term, NamedNode):
        text = labels.get(text) or split_local_name(text)
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    words = "".join(character for character in decomposed if not unicodedata.combining(character))
    parts = tuple(
        (0, int(part), "") if part.isdecimal() else (1, 0, part)
        for part in re.split(r"(\d+)", words)
        if part
    )
    return 1, parts, str(term)


def _find_aggregate_column(result: SelectResult, tree: Query | None) -> int | None:
    if tree is None or not tree.group_by or not result.rows:
        return None
    first = result.rows[0][0]
    if isinstance(first, Literal) and first.datatype.value in NUMERIC_DATATYPES | DATE_DATATYPES:
        return None
    for name, value in tree.columns:
        if isinstance(value, Call) and value.is_aggregate and name.value in result.variables:
            return result.variables.index(name.value)
    return None


def list_resources(rows: Iterable[Row]) -> list[str]:
    """Return the IRIs in some rows."""
    return [term.value for row in rows for term in row if isinstance(term, NamedNode)]


def is_ordered(query: str) -> bool:
    """Return whether a query text orders its rows; False if it cannot be parsed."""
    try:
        return bool(to_tree(query).order)
    except QueryError:
        return False
