"""The answer of a query: built here from its result for every method, and for the reading chosen.

builder = AnswerBuilder(graph, ["en"])
query, labels = await builder.layout(query)
result = await graph.endpoint.select(query)
answer = await builder.answer(query, result, columns=["moon"], confidence=0.9, labels=labels)
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pyoxigraph import NamedNode

from askgraph.errors import QueryError, QuerySyntaxError, ServiceError
from askgraph.explanation import (
    in_words,
    iris_in,
    iris_of,
    labels_of,
    language_of_labels,
    told_apart,
)
from askgraph.explanation.evidence import Behind, evidence
from askgraph.graph import KnowledgeGraph
from askgraph.sparql import Query, QueryText, renamed
from askgraph.sparql.judge import admitted
from askgraph.sparql.results import GraphResult, Result, SelectResult
from askgraph.sparql.write import by_subject, laid_out, tree_of
from askgraph.trace import Answer, Clarification, Option
from askgraph.traversal import GraphArrays

_LABELLED = 200  # rows whose resources are named


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
        own = self.graph.own_types
        if isinstance(query, Query):
            shown = renamed(query, own) if own else query
            labels = await self.apart(await self._labels(iris_in(shown)))
            written = laid_out(shown, self.graph.prefixes, labels)
            return QueryText.of(query, written) if own else written, labels
        from askgraph.sparql.layout import formatted  # for a text that came, none of ours

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

        Rows come in the order of their terms unless they are `ordered`. Raises `ServiceError`, and
        `QueryError`, if the evidence is not to be had.
        """
        if isinstance(given, SelectResult) and not ordered:
            given = given.sorted()
        behind, why_empty = Behind(), None
        named: list[str] = []
        if isinstance(given, SelectResult):
            behind, why_empty = await self._behind(query, given)
            named = [*_resources(given, _LABELLED), *behind.iris]
        known = {**labels, **await self._labels(iri for iri in named if iri not in labels)}
        if isinstance(given, SelectResult):
            known = await self.apart(known)
        answer = await self.reading(query, given, columns=columns, labels=known)
        return replace(
            answer,
            confidence=round(confidence, 4),
            ordered=ordered,
            evidence=behind.told(known),
            why_empty=why_empty,
        )

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

    async def _behind(self, query: str, given: SelectResult) -> tuple[Behind, str | None]:
        """Return the triples behind the first rows, or why there are none."""
        endpoint, nothing = self.graph.endpoint, Behind()
        if not given.rows and self.reason:
            return nothing, await self.reason(query)
        try:
            async with asyncio.timeout(self.evidence_seconds):
                if not given.rows:
                    from askgraph.explanation.why_empty import why_empty  # few answers have none

                    return nothing, await why_empty(query, endpoint)
                if self.evidence_rows:
                    return await evidence(query, given, endpoint, rows=self.evidence_rows), None
        except (QueryError, ServiceError, TimeoutError):
            if self.evidence_seconds is None:
                raise
        return nothing, None  # the result is there, and what is behind it is a courtesy

    async def apart(self, labels: Mapping[str, str]) -> dict[str, str]:
        """Return labels, with descriptions for what several things are called."""
        return await told_apart(labels, self.graph, self.languages, timeout=self.timeout)

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
        return replace(best, confidence=1.0)
    ready = admitted(option.query, prefixes=graph.prefixes.namespaces)
    given: SelectResult | bool
    labels: dict[str, str] = {}
    if ready.form == "ASK":
        given = await graph.endpoint.ask(ready.text, timeout=timeout)
    else:
        given = await graph.endpoint.select(ready.text, timeout=timeout, limit=limit)
        things = sorted(set(_resources(given)))
        labels = await labels_of(things, graph, languages, timeout=timeout)
    return bare_answer(
        option.query, graph.name, given, words=option.words, confidence=1.0, labels=labels
    )


def is_ordered(query: str) -> bool:
    """Return whether a query, as text, orders its rows; False if it cannot be read."""
    try:
        return bool(tree_of(query).order)
    except QueryError:
        return False


def _resources(result: SelectResult, rows: int | None = None) -> list[str]:
    return [t.value for row in result.rows[:rows] for t in row if isinstance(t, NamedNode)]
