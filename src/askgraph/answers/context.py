"""Rank an answer among its like: a superlative's runners-up, the place of a number in its class.

Largest moon of Saturn: Titan    → 2 Rhea, 3 Iapetus, 4 Dione, 5 Tethys, with their diameters
Mass of Mars: 6.417 × 10²³ kg    → 7th of 8 planets, between Venus and Mercury; first is Jupiter
Number of moons per discoverer   → 19 moons without a discoverer are not counted
"""

import asyncio
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from pyoxigraph import Literal, NamedNode, Variable

from askgraph.errors import QueryError
from askgraph.graph import KnowledgeGraph
from askgraph.sparql import Call, Group, Nested, Pattern, Query, Term, transform, walk
from askgraph.sparql.results import Row, to_plain_value
from askgraph.sparql.serializer import to_text, to_tree
from askgraph.sparql.vocabulary import DATE_DATATYPES, NUMERIC_DATATYPES, RDF_TYPE
from askgraph.trace import Answer

_RUNNER_UP_COUNT = 4
_MAX_ANSWERS = 10  # of a superlative that has runners-up
_MAX_VALUES_PER_ENTITY = 3  # values per thing to expect when counting rows
_MAX_RANKED_ROWS = 2_000  # rows of a class to rank; a larger one has no places
_MIN_CLASS_SIZE = 3
_MAX_CLASSES = 50  # classes of one thing
_RANKED_DATATYPES = NUMERIC_DATATYPES | DATE_DATATYPES
_ENTITY, _VALUE = Variable("ask_entity"), Variable("ask_value")


@dataclass(frozen=True)
class RankedEntity:
    """A thing with the value that ranks it; equal values have the same rank, from 1."""

    rank: int
    entity: NamedNode
    value: Literal
    is_answer: bool
    is_joint: bool  # whether another thing has the same rank


@dataclass(frozen=True)
class Ranking:
    """The things near an answer, first place first; a number's place has its class and size."""

    entities: tuple[RankedEntity, ...]
    predicate: str | None  # the property that ranks them, if it is one
    cls: str | None = None
    total: int | None = None
    left_out: int | None = None  # things that lack the value by which they are counted


async def rank_answer(answer: Answer, graph: KnowledgeGraph, *, timeout: float) -> Ranking | None:
    """Return a superlative's runners-up, a number's place in its class, or what a count left out.

    None if there is none of them. Runs at most two queries of `timeout` seconds.

    Raises:
        ServiceError: the endpoint failed.
    """
    try:
        tree = await asyncio.to_thread(to_tree, answer.query)
    except QueryError:
        return None
    if tree.form != "SELECT" or tree.offset or tree.having or not answer.result.rows:
        return None
    if tree.group_by and not tree.limit:
        return await _count_left_out(tree, graph, timeout)
    if tree.order and tree.limit:
        return await _find_runners_up(tree, answer, graph, timeout)
    return await _find_place(tree, answer, graph, timeout)


async def _count_left_out(tree: Query, graph: KnowledgeGraph, timeout: float) -> Ranking | None:
    calls = [call for _, call in tree.columns if isinstance(call, Call) and call.is_aggregate]
    key, thing = tree.group_by[0][0], next((x for call in calls for x in call.arguments), None)
    links = tuple(p for p in _list_patterns(tree) if key in (p.subject, p.object))
    rest = tuple(part for part in tree.where.elements if part not in links)
    is_plain = links and len(tree.group_by) == 1 and key not in walk(rest)
    if thing is None or not is_plain or thing not in walk(rest):
        return None
    where = Group((*rest, Nested("MINUS", Group(links))))
    query = Query("SELECT", where, ((_VALUE, Call("COUNT DISTINCT", (thing,))),))
    result = await graph.endpoint.select(to_text(query), timeout=timeout)
    return Ranking((), None, left_out=int(str(to_plain_value(result.rows[0][0]))))


async def _find_runners_up(
    tree: Query, answer: Answer, graph: KnowledgeGraph, timeout: float
) -> Ranking | None:
    criterion, is_descending = tree.order[0]
    if isinstance(criterion, Variable):
        criterion = dict(tree.columns).get(criterion) or criterion
    column = answer.result.variables.index(answer.answer_columns[0])
    answers = {row[column] for row in answer.result.rows}
    entity: Term | None = Variable(answer.answer_columns[0])
    if not any(isinstance(term, NamedNode) for term in answers):  # it is the value itself
        entity = next((p.subject for p in _list_patterns(tree) if p.object == criterion), None)
    groups = [key for key, _ in tree.group_by]
    if (
        not isinstance(entity, Variable)
        or entity == criterion
        or len(answers) > _MAX_ANSWERS
        or (groups and entity not in groups)
    ):
        return None
    value = criterion if isinstance(criterion, Variable) else _VALUE
    query = replace(
        tree,
        columns=((entity, None), (value, None if value == criterion else criterion)),
        distinct=not tree.is_aggregate,
        order=((value, is_descending), (entity, False)),
        limit=(len(answers) + _RUNNER_UP_COUNT) * _MAX_VALUES_PER_ENTITY,
    )
    result = await graph.endpoint.select(to_text(query), timeout=timeout)
    ranked = _rank_rows(result.rows, answers)
    best = [entry for entry in ranked if entry.is_answer]
    runners_up = [entry for entry in ranked if not entry.is_answer][:_RUNNER_UP_COUNT]
    if not best or not runners_up or best != ranked[: len(best)]:
        return None
    return Ranking((*best, *runners_up), _find_predicate(tree, criterion))


async def _find_place(
    tree: Query, answer: Answer, graph: KnowledgeGraph, timeout: float
) -> Ranking | None:
    entity = _find_lone_entity(tree)
    number = answer.result.rows[0][0]
    is_number = isinstance(number, Literal) and number.datatype.value in NUMERIC_DATATYPES
    if entity is None or not is_number or len(answer.result.rows) > 1 or len(tree.columns) != 1:
        return None
    cls = await _choose_class(entity, graph, timeout)
    if cls is None:
        return None
    where = transform(tree.where, lambda node: _ENTITY if node == entity else node)
    membership = Pattern(_ENTITY, NamedNode(RDF_TYPE), NamedNode(cls))
    value, expression = tree.columns[0]
    query = replace(
        tree,
        where=Group((*where.elements, membership)),
        columns=((_ENTITY, None), (value, expression)),
        group_by=((_ENTITY, None),) if tree.is_aggregate else (),
        order=((value, True), (_ENTITY, False)),
        limit=_MAX_RANKED_ROWS + 1,
    )
    rows = (await graph.endpoint.select(to_text(query), timeout=timeout)).rows
    ranked = _rank_rows(rows, {entity})
    position = next((at for at, entry in enumerate(ranked) if entry.is_answer), None)
    if position is None or len(rows) > _MAX_RANKED_ROWS or len(ranked) < _MIN_CLASS_SIZE:
        return None
    nearby = {0, position - 1, position, position + 1, len(ranked) - 1}
    neighbours = tuple(entry for at, entry in enumerate(ranked) if at in nearby)
    return Ranking(neighbours, _find_predicate(tree, value), cls, len(ranked))


def _rank_rows(rows: Iterable[Row], answers: Collection[object]) -> list[RankedEntity]:
    """Rank pairs of a thing and its number or date, in their order, by the first of each thing."""
    values = dict[NamedNode, Literal]()
    for entity, value in rows:
        if (
            isinstance(entity, NamedNode)
            and isinstance(value, Literal)
            and value.datatype.value in _RANKED_DATATYPES
        ):
            values.setdefault(entity, value)
    counts, ranks = Counter(values.values()), dict[Literal, int]()
    for position, value in enumerate(values.values(), start=1):
        ranks.setdefault(value, position)
    return [
        RankedEntity(
            ranks[value], entity, value, entity in answers or value in answers, counts[value] > 1
        )
        for entity, value in values.items()
    ]


def _find_lone_entity(tree: Query) -> NamedNode | None:
    """Return the only thing that a query without order and groups names, besides classes."""
    if tree.order or tree.limit or tree.group_by:
        return None
    ends = [
        end
        for pattern in _list_patterns(tree)
        for end in (pattern.subject, pattern.object)
        if isinstance(end, NamedNode)
        and (end == pattern.subject or pattern.predicate != NamedNode(RDF_TYPE))
    ]
    if len(set(ends)) != 1 or sum(node == ends[0] for node in walk(tree)) != len(ends):
        return None
    return ends[0]


async def _choose_class(entity: NamedNode, graph: KnowledgeGraph, timeout: float) -> str | None:
    """Return the smallest class of a thing that is large enough to rank it in."""
    query = f"SELECT DISTINCT ?c WHERE {{ {entity} a ?c }} LIMIT {_MAX_CLASSES}"
    rows = (await graph.endpoint.select(query, timeout=timeout)).rows
    classes = {term.value for (term,) in rows if isinstance(term, NamedNode)}
    sizes = ((c.instances, c.iri) for c in graph.profile.classes if c.iri in classes)
    return next((iri for size, iri in sorted(sizes) if size >= _MIN_CLASS_SIZE), None)


def _list_patterns(tree: Query) -> list[Pattern]:
    return [node for node in walk(tree.where) if isinstance(node, Pattern)]


def _find_predicate(tree: Query, value: object) -> str | None:
    predicates = (p.predicate for p in _list_patterns(tree) if p.object == value)
    return next((iri.value for iri in predicates if isinstance(iri, NamedNode)), None)
