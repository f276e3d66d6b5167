"""Answers: a query and its result as columns, words, evidence and confidence, for every method.

builder = AnswerBuilder(graph, ["en"])
query, labels = await builder.layout(query)
result = await graph.endpoint.select(query)
answer = await builder.answer(query, result, columns=["moon"], confidence=0.9, labels=labels)

What lives here: this builder, `verbalize` (a query in plain words), `headline` (a result in a
sentence), `evidence`, `validation` (checks of a query), `suggestions`, and what may come next.
May import: `search` and the rooms below it. Start reading at `AnswerBuilder`.
"""

import asyncio
import contextlib
import re
import unicodedata
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from pyoxigraph import Literal, NamedNode

from askgraph.answers.evidence import Behind, evidence
from askgraph.answers.headline import Headline, deciding, units_of
from askgraph.answers.verbalize import (
    in_words,
    iris_in,
    iris_of,
    labels_of,
    language_of_labels,
    told_apart,
)
from askgraph.errors import QueryError, QuerySyntaxError, ServiceError
from askgraph.graph import KnowledgeGraph
from askgraph.graph.arrays import GraphArrays
from askgraph.sparql import Call, Query, QueryText, by_subject, renamed
from askgraph.sparql.judge import admitted
from askgraph.sparql.prefixes import words_of_local_name
from askgraph.sparql.results import GraphResult, Result, SelectResult, Term, order_of_term
from askgraph.sparql.serializer import laid_out, text_of, tree_of
from askgraph.sparql.vocabulary import DATE_DATATYPES, NUMERIC_DATATYPES
from askgraph.trace import Answer, Clarification, Option

_LABELLED = 200  # rows whose resources are named
_ARRANGED = 2_000  # rows that are put into an order for people
_COURTESY = 5.0  # seconds for what is behind a reading that was chosen
_READ = 10_000  # characters of a query that is read for its sentence


def bare_answer(
    query: str,
    graph: str,
    given: SelectResult | bool,
    *,
    columns: Sequence[str] | None = None,
    words: str = "",
    confidence: float = 0.0,
    labels: Mapping[str, str] | None = None,
) -> Answer:
    """Return an answer from what is known already: nothing is asked for its sake.

    Without `columns`, all of the result answer.
    """
    boolean = given if isinstance(given, bool) else None
    result = given if isinstance(given, SelectResult) else SelectResult((), ())
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
    """Builds answers over one graph, to whose endpoint all requests go.

    Labels come in the first of the `languages` that has one; a remote graph has `timeout` seconds
    for them. Evidence is fetched for the first `evidence_rows` rows, or the reason why there is no
    row, which `reason` looks for. With `evidence_seconds`, the answer does without what takes
    longer or fails. Names that stand in `near`, a part of a remote graph, are not asked for.
    """

    graph: KnowledgeGraph
    languages: Sequence[str]
    timeout: float | None = None
    evidence_rows: int = 3
    evidence_seconds: float | None = None
    reason: Callable[[str], Awaitable[str | None]] | None = None
    near: GraphArrays | None = None

    async def layout(self, query: str | Query) -> tuple[str, dict[str, str]]:
        """Return a query as a careful person writes it, and the labels of its IRIs."""
        own = dict(self.graph.profile.types)
        if isinstance(query, Query):
            shown = renamed(query, own) if own else query
            labels = await self.apart(await self._labels(iris_in(shown)))
            written = laid_out(shown, self.graph.prefixes, labels)
            return QueryText.of(query, written) if own else written, labels
        from askgraph.sparql.rewrite import formatted  # for a text that came, none of ours

        labels = await self._labels(iris_of(query))
        text = formatted(query, self.graph.prefixes, labels)
        try:
            tree = by_subject(tree_of(query))
            known = {said: iri for iri, said in own.items()}
            return QueryText.of(renamed(tree, known) if own else tree, text), labels
        except QuerySyntaxError:
            return text, labels

    async def answer(
        self,
        query: str,
        given: SelectResult | bool,
        *,
        columns: Sequence[str],
        confidence: float,
        ordered: bool,
        labels: Mapping[str, str],
    ) -> Answer:
        """Return the answer of a query that is laid out, with words, labels and evidence.

        Rows come as `arranged` puts them unless they are `ordered`. Raises `ServiceError`, and
        `QueryError`, if the evidence is not to be had.
        """
        tree = await _tree(query)
        known = dict(labels)
        if isinstance(given, SelectResult):
            given = given if ordered else given.sorted()
            if self.graph.arrays is not None:  # what is asked nobody comes before the evidence
                known |= await self._new_labels(_resources(given), known)
                given = given if ordered else arranged(given, tree, known)
        (behind, why_empty), decided = await asyncio.gather(
            self._behind(query, given), self._decided(tree, given)
        )
        if isinstance(given, SelectResult):
            named = [*_resources(given), *behind.iris, *self._called(given.variables)]
            known = await self.apart(known | await self._new_labels(named, known))
        answer = await self.reading(query, given, columns=columns, labels=known)
        return replace(
            answer,
            confidence=round(confidence, 4),
            ordered=ordered,
            evidence=behind.told(known),
            why_empty=why_empty,
            sentence=self.sentence(tree, given, known, decided),
        )

    def sentence(
        self,
        tree: Query | None,
        given: SelectResult | bool,
        labels: Mapping[str, str],
        decided: SelectResult | None = None,
    ) -> str:
        """Return a result as a sentence; empty for a query that cannot be read."""
        if tree is None:
            return ""
        language = self.languages[0]
        nouns = language_of_labels(self.graph, language)
        units = units_of(tree, self.graph, self.near)
        return Headline(tree, given, labels, language, nouns, units, decided).text()

    async def reading(
        self,
        query: str,
        given: SelectResult | bool,
        *,
        columns: Sequence[str],
        labels: Mapping[str, str],
    ) -> Answer:
        """Return the answer of a query that is laid out, with words and nothing that is asked."""
        language = self.languages[0]
        nouns = language_of_labels(self.graph, language)
        if isinstance(query, QueryText):
            words = in_words(query, labels, language=language, nouns=nouns)
        else:  # in a thread, since a text may be long
            words = await asyncio.to_thread(in_words, query, labels, language=language, nouns=nouns)
        return bare_answer(
            query, self.graph.name, given, columns=columns, words=words, labels=labels
        )

    async def written(self, query: str, given: Result, *, columns: Sequence[str] = ()) -> Answer:
        """Return the answer of a query that a person wrote, who is the surest judge of it.

        Triples are rows of three columns. Of the `columns`, those that the result does not have are
        passed over; if none is left, all answer. Raises as `answer` does.
        """
        if isinstance(given, GraphResult):
            given = given.table
        there = given.variables if isinstance(given, SelectResult) else ()
        return await self.answer(
            query,
            given,
            columns=[name for name in columns if name in there] or there,
            confidence=1.0,
            ordered=is_ordered(query),
            labels=await self._labels(await asyncio.to_thread(iris_of, query)),
        )

    async def _decided(self, tree: Query | None, given: SelectResult | bool) -> SelectResult | None:
        """Return what decided on the rows of a result; None if it shows that, or it is not had."""
        wanted = deciding(tree, given) if tree is not None else None
        if wanted is None:
            return None
        with contextlib.suppress(QueryError, ServiceError, TimeoutError):
            async with asyncio.timeout(self.evidence_seconds):
                return await self.graph.endpoint.select(text_of(wanted))
        return None

    async def _behind(self, query: str, given: SelectResult | bool) -> tuple[Behind, str | None]:
        """Return the triples behind the first rows, or why there are none."""
        endpoint, nothing = self.graph.endpoint, Behind()
        if isinstance(given, bool):
            return nothing, None
        if not given.rows and self.reason:
            return nothing, await self.reason(query)
        try:
            async with asyncio.timeout(self.evidence_seconds):
                if not given.rows:
                    from askgraph.answers.why_empty import why_empty  # few answers have none

                    return nothing, await why_empty(query, endpoint)
                if self.evidence_rows:
                    return await evidence(query, given, endpoint, rows=self.evidence_rows), None
        except (QueryError, ServiceError, TimeoutError):
            if self.evidence_seconds is None:
                raise
        return nothing, None  # the result is there, and what is behind it is a courtesy

    async def apart(self, labels: Mapping[str, str]) -> dict[str, str]:
        """Return labels, those of several things with what tells these apart."""
        return await told_apart(
            labels, self.graph, self.languages, timeout=self.timeout, near=self.near
        )

    def _called(self, variables: Iterable[str]) -> Iterator[str]:
        """The classes that columns are called after, whose labels are asked for in a language."""
        names = tuple(f"{sign}{one}".lower() for one in variables for sign in "/#")
        if self.languages[0] != "en":
            yield from (c.iri for c in self.graph.profile.classes if c.iri.lower().endswith(names))

    async def _new_labels(self, iris: Iterable[str], known: Mapping[str, str]) -> dict[str, str]:
        return await self._labels(iri for iri in iris if iri not in known)

    async def _labels(self, iris: Iterable[str]) -> dict[str, str]:
        return await labels_of(
            iris, self.graph, self.languages, timeout=self.timeout, near=self.near
        )


async def chosen_answer(
    option: Option,
    clarification: Clarification,
    graph: KnowledgeGraph,
    *,
    languages: Sequence[str] = (),
    timeout: float | None = None,
    limit: int | None = None,
) -> Answer:
    """Return the answer of the reading that a person chose, who is the surest judge of it.

    It is run on the graph, for at most `timeout` seconds and `limit` rows, unless it is the best
    attempt, which has its result. Raises `QueryError` and `ServiceError` as the endpoint does.
    """
    best = clarification.best
    if best and best.query == option.query:
        return replace(best, confidence=1.0, chosen=True)
    ready = admitted(option.query, prefixes=graph.prefixes.namespaces)
    given: SelectResult | bool
    if ready.form == "ASK":
        given = await graph.endpoint.ask(ready.text, timeout=timeout)
    else:
        given = await graph.endpoint.select(ready.text, timeout=timeout, limit=limit)
    builder = AnswerBuilder(graph, languages or ["en"], timeout, evidence_seconds=_COURTESY)
    built = await builder.written(ready.text, given)
    return replace(built, query=option.query, words=option.words, chosen=True)


async def _tree(query: str) -> Query | None:
    """The tree of a query; None if it cannot be read, or is too long to be told."""
    try:
        if isinstance(query, QueryText):
            return query.tree
        return await asyncio.to_thread(tree_of, query) if len(query) <= _READ else None
    except QueryError:
        return None


def arranged(given: SelectResult, tree: Query | None, labels: Mapping[str, str]) -> SelectResult:
    """Return rows in the order that a person would choose: things by label, values by size.

    Digits count as numbers: Apollo 2 is before Apollo 11. Groups come by what is counted, the
    greatest first, unless they are made by a number or a date.
    """
    rows = given.rows
    if len(rows) > _ARRANGED:
        return given
    if len(rows) > _LABELLED:
        labels = {}
    place = cache(lambda term: _place(term, labels))
    found = sorted(rows, key=lambda row: tuple(map(place, row)))
    at = _counts_at(given, tree)
    if at is not None:
        found.sort(key=lambda row: order_of_term(row[at]), reverse=True)
    return replace(given, rows=tuple(found))


def _place(term: Term | None, labels: Mapping[str, str]) -> tuple[object, ...]:
    """The place of a term: numbers, dates, things and texts by their words, then the rest."""
    if term is None:
        return (3,)
    if isinstance(term, Literal) and term.datatype.value in NUMERIC_DATATYPES | DATE_DATATYPES:
        return 0, order_of_term(term)
    if not isinstance(term, Literal | NamedNode):
        return 2, str(term)
    text = term.value
    if isinstance(term, NamedNode):
        text = labels.get(text) or words_of_local_name(text)
    plain = unicodedata.normalize("NFKD", text.casefold())
    words = "".join(sign for sign in plain if not unicodedata.combining(sign))
    parts = tuple(
        (0, int(part), "") if part.isdecimal() else (1, 0, part)
        for part in re.split(r"(\d+)", words)
        if part
    )
    return 1, parts, str(term)


def _counts_at(given: SelectResult, tree: Query | None) -> int | None:
    """The first aggregate, by which groups are sorted unless they are made by numbers or dates."""
    if tree is None or not tree.group_by or not given.rows:
        return None
    first = given.rows[0][0]
    if isinstance(first, Literal) and first.datatype.value in NUMERIC_DATATYPES | DATE_DATATYPES:
        return None
    for name, value in tree.columns:
        if isinstance(value, Call) and value.is_aggregate and name.value in given.variables:
            return given.variables.index(name.value)
    return None


def is_ordered(query: str) -> bool:
    """Return whether a query, as text, orders its rows; False if it cannot be read."""
    try:
        return bool(tree_of(query).order)
    except QueryError:
        return False


def _resources(result: SelectResult) -> list[str]:
    return [t.value for row in result.rows[:_LABELLED] for t in row if isinstance(t, NamedNode)]
