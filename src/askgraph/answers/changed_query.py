"""A follow-up that only changes how the last result is shown: its query, changed, is the answer.

Which moons does Jupiter have?   only the first five · sort by diameter · how many are these? ·
                                 show them on a map
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from pyoxigraph import NamedNode, Variable

from askgraph.answers import AnswerBuilder, arranged
from askgraph.answers.example_questions import PLACE
from askgraph.answers.verbalize import labels_of
from askgraph.answers.verbalize.phrases import phrases_in
from askgraph.errors import QueryError, ServiceError
from askgraph.graph import KnowledgeGraph
from askgraph.index.names import tokens
from askgraph.search.follow_up import ResultChange, parse_measured_extreme, parse_result_change
from askgraph.search.tokenize import tokenize
from askgraph.sparql import Call, Group, Nested, Pattern, Query, Values, variables_of
from askgraph.sparql.judge import admitted
from askgraph.sparql.prefixes import words_of_local_name
from askgraph.sparql.results import SelectResult
from askgraph.sparql.serializer import tree_of
from askgraph.trace import Answer, Earlier, Question, Refusal

_SECONDS = 10.0
_SURE = 0.9  # that a query is the one that is meant, if nothing but its result is spoken of
_ROWS = 10_000
_LABELLED = 200


async def changed(question: Question, graphs: Sequence[KnowledgeGraph]) -> Answer | Refusal | None:
    """Return the answer of the last query, changed as a question says; None if it says else.

    A map of what has no coordinates is refused.
    It is that of the first graph on which the last query gives a row.
    """
    language = question.language or tokenize(question.before[-1].question).language
    for graph in graphs:
        wanted, last = await asyncio.to_thread(_wanted, question, graph, language)
        if wanted is None:
            return None
        with suppress(QueryError, ServiceError):
            answer = await _answer(wanted, last.query, graph, language)
            if answer is not None:
                return answer
    return None


def _wanted(
    question: Question, graph: KnowledgeGraph, language: str
) -> tuple[ResultChange | None, Earlier]:
    """What is to be done with which earlier result: a number of things stands for these things."""
    made = [
        parse_result_change(one.question, graph.names, language=language)
        for one in question.before[1:]
    ]
    at = len(made)
    while at and (before := made[at - 1]) is not None and before.is_count:
        at -= 1
    wanted = parse_result_change(question.text, graph.names, language=language)
    if wanted is None and any(made[:at][-1:]):
        wanted = parse_measured_extreme(question.text, graph.names, language=language)
    return wanted, question.before[at]


async def _answer(
    wanted: ResultChange, query: str, graph: KnowledgeGraph, language: str
) -> Answer | Refusal | None:
    ready = admitted(query, prefixes=graph.prefixes.namespaces)
    tree = tree_of(ready.text)
    if tree.form != "SELECT" or all(value is not None for _, value in tree.columns):
        return None
    before = await graph.endpoint.select(ready.text, timeout=_SECONDS, limit=_ROWS)
    if not before.rows:
        return None
    builder = AnswerBuilder(graph, [language], _SECONDS, evidence_seconds=_SECONDS)
    for new in await _changed(tree, wanted, before, graph, language):
        text, labels = await builder.layout(new)
        result = await graph.endpoint.select(text, timeout=_SECONDS, limit=_ROWS)
        if wanted.is_map and not any(None not in row[-len(PLACE) :] for row in result.rows):
            return Refusal(phrases_in(language).say("refuse no places"))
        if result.rows:
            return await builder.answer(
                text,
                result,
                columns=result.variables,
                confidence=_SURE,
                ordered=bool(new.order),
                labels=labels,
            )
    return None


async def _changed(
    tree: Query, wanted: ResultChange, before: SelectResult, graph: KnowledgeGraph, language: str
) -> list[Query]:
    """The query, changed, in the ways that are meant, best first."""
    if wanted.is_count:
        return [_counted(tree)]
    if wanted.is_map:
        return [_located(tree, graph)]
    if wanted.order_by:
        return [_sorted(tree, wanted, iri, before) for iri in wanted.order_by]
    return [await _first(tree, wanted.max_rows, before, graph, language)]


def _counted(tree: Query) -> Query:
    """The number of what the first column of a query gives."""
    one = tree.columns[0][0]
    name = Variable(f"number_of_{one.value}")
    plain = not (tree.group_by or tree.limit or tree.having)
    where = tree.where if plain else Group((tree,))
    return Query("SELECT", where, ((name, Call("COUNT DISTINCT", (one,))),))


def _sorted(tree: Query, wanted: ResultChange, by: str, before: SelectResult) -> Query:
    """A query with the values of a predicate at its first column, in their order.

    If that names a thing by a text, they are the thing's. The first one alone is told without its
    value.
    """
    first = next(name for name, value in tree.columns if value is None)
    one = _named_by(first, tree, before)
    value = _new(tree, words_of_local_name(by))
    more = Pattern(one, NamedNode(by), value)
    if tree.group_by or tree.limit:
        columns = tuple((name, None) for name, _ in tree.columns)
        tree = Query("SELECT", Group((tree,)), columns)
    for part in tree.where.elements:
        match part:
            case Pattern(subject, NamedNode(value=iri), Variable() as known):
                if (subject, iri) == (one, by):
                    value = known
    elements = dict.fromkeys((*tree.where.elements, replace(more, object=value)))
    shown = dict.fromkeys((*tree.columns, (value, None)))
    return replace(
        tree,
        where=Group(tuple(elements)),
        columns=((first, None),) if wanted.max_rows == 1 else tuple(shown),
        distinct=wanted.max_rows != 1,
        order=((value, wanted.is_descending), (first, False)),
        limit=wanted.max_rows or None,
    )


def _named_by(first: Variable, tree: Query, before: SelectResult) -> Variable:
    """The thing of which a column is a text; the column itself if its values are things."""
    at = before.variables.index(first.value)
    if isinstance(before.rows[0][at], NamedNode) or tree.group_by or tree.limit:
        return first
    for part in tree.where.elements:
        match part:
            case Pattern(Variable() as owner, NamedNode(), end) if end == first:
                return owner
    return first


def _new(tree: Query, words: str) -> Variable:
    """A variable of these words that a query does not have."""
    name = "_".join(tokens(words)) or "value"
    taken = {one.value for one in variables_of((tree.columns, tree.where))}
    while name in taken:
        name += "_2"
    return Variable(name)


async def _first(
    tree: Query, number: int, before: SelectResult, graph: KnowledgeGraph, language: str
) -> Query:
    """A query with no more than the first rows, as they are shown."""
    if tree.order:  # after the largest one, the first three are the three largest
        most = tree.limit if tree.limit and tree.limit > 1 else number
        return replace(tree, limit=min(number, most))
    for name, value in tree.columns if tree.group_by else ():
        if isinstance(value, Call) and value.is_aggregate:
            return replace(tree, order=((name, True),), limit=number)
    things = [t.value for row in before.rows[:_LABELLED] for t in row if isinstance(t, NamedNode)]
    labels = await labels_of(things, graph, [language], timeout=_SECONDS)
    shown = [row[0] for row in arranged(before.sorted(), tree, labels).rows]
    kept = [one for one in dict.fromkeys(shown) if isinstance(one, NamedNode)][:number]
    first = Variable(before.variables[0])
    if not kept or number >= len(before.rows):
        return replace(tree, limit=number)
    given = Values((first,), tuple((one,) for one in kept))
    return replace(tree, where=Group((*tree.where.elements, given)))


def _located(tree: Query, graph: KnowledgeGraph) -> Query:
    """A query with the coordinates of what its first column gives, where the graph has any."""
    one = next(name for name, value in tree.columns if value is None)
    found: list[str] = []
    for words in PLACE:
        own = (p.iri for p in graph.profile.predicates if p.literal and _is_called(p.iri, words))
        found += list(own)[:1]
    if len(found) < len(PLACE) or tree.group_by or tree.limit:
        return tree
    variables = [_new(tree, words_of_local_name(iri)) for iri in found]
    patterns = (Pattern(one, NamedNode(i), v) for i, v in zip(found, variables, strict=True))
    nested = Nested("OPTIONAL", Group(tuple(patterns)))
    columns = (*tree.columns, *((v, None) for v in variables))
    return replace(tree, columns=columns, where=Group((*tree.where.elements, nested)))


def _is_called(iri: str, words: frozenset[str]) -> bool:
    return words_of_local_name(iri).lower() in words
