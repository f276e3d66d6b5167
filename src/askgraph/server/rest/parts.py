"""Parts of a query that can be changed: in words, with alternatives, swapped; its rows arranged."""

import asyncio
from typing import Annotated
from typing import Literal as Choice

from fastapi import APIRouter
from pydantic import BaseModel, Field
from pyoxigraph import Literal, NamedNode

from askgraph.answers.alternatives import Alternative, alternatives
from askgraph.answers.query_parts import Part, ReadBack, read_back
from askgraph.answers.verbalize import labels_of
from askgraph.errors import QueryError
from askgraph.search.link import also_meant
from askgraph.search.pipeline import link_to_graph
from askgraph.search.tokenize import tokenize
from askgraph.server.hub import Asker, HubDep
from askgraph.server.rest import GraphName, NamedQuery, QueryText, named_query
from askgraph.server.runs.views import Body
from askgraph.sparql import Query
from askgraph.sparql.prefixes import words_of_local_name
from askgraph.sparql.rewrite.refined import (
    Comparison,
    Condition,
    arrangement,
    counted_by,
    limited,
    literal_of,
    sorted_by,
    with_columns,
    with_condition,
    without_condition,
)
from askgraph.sparql.rewrite.swapped import swapped
from askgraph.sparql.vocabulary import XSD_STRING
from askgraph.sparql.write import laid_out, tree_of

router = APIRouter(prefix="/api/v1", tags=["queries"])

_MOST = 40  # parts that have alternatives
_SECONDS = 3.0  # for each query that looks for alternatives


class PartsBody(QueryText):
    """A query to read back."""

    question: str | None = Field(
        None, max_length=4000, description="The question that it answers, if there is one."
    )
    alternatives: bool = Field(True, description="Whether to say what else could stand there.")


class SwapBody(QueryText):
    """Another term for a part of a query."""

    part: int | Annotated[str, Field(max_length=10_000)] = Field(
        description="The part: its `id`, its IRI, or its value."
    )
    to: str = Field(max_length=10_000, description="An IRI for an IRI; for a value its text.")


class ConditionBody(Body):
    """That a column compares so with a value."""

    column: str = Field(max_length=200)
    comparison: Comparison
    value: str = Field(max_length=10_000)
    datatype: str | None = Field(None, max_length=1000, description="Of the value: an IRI.")


class RefineBody(QueryText):
    """How a query's rows shall be arranged; what is left out stays as it is."""

    sort_by: str | None = Field(None, max_length=200, description="A column; empty: unsorted.")
    descending: bool = False
    limit: int | None = Field(None, ge=0, le=1_000_000, description="Rows at most; 0: all.")
    columns: list[str] | None = Field(None, max_length=100, description="Those that are kept.")
    condition: ConditionBody | None = Field(None, description="One more condition.")
    without: int | None = Field(None, ge=0, description="A condition to take away, by its place.")
    count_by: str | None = Field(None, max_length=200, description="A column to count rows by.")


class SortView(BaseModel):
    """A column that rows are sorted by."""

    column: str
    descending: bool


class ConditionView(BaseModel):
    """A condition on a column that a query has."""

    column: str
    comparison: Comparison
    value: str


class ArrangementView(BaseModel):
    """How a query arranges its rows."""

    columns: list[str]
    order: list[SortView]
    limit: int | None
    conditions: list[ConditionView]
    counts: bool = Field(description="Whether it counts, or computes else of groups.")


class RefinedView(BaseModel):
    """The query with its rows arranged otherwise."""

    query: str


class PieceView(BaseModel):
    """A piece of the read-back."""

    text: str
    part: int | None = Field(None, description="The part that these are the words of.")


class AlternativeView(BaseModel):
    """What else could stand in the place of a part."""

    iri: str | None = None
    value: str | None = None
    label: str
    description: str | None = None
    rows: int | None = Field(None, description="Solutions that the query then has, if counted.")


class PartView(BaseModel):
    """A part of a query that can be changed."""

    id: int
    kind: Choice["entity", "class", "predicate", "value"]
    iri: str | None = None
    value: str | None = None
    datatype: str | None = None
    label: str
    alternatives: list[AlternativeView]


class PartsView(BaseModel):
    """A query in words, in pieces that joined are the whole text, and its parts."""

    pieces: list[PieceView]
    parts: list[PartView]
    arrangement: ArrangementView | None = Field(description="None if it has no rows to arrange.")


class SwappedView(BaseModel):
    """The query with another term, and in words."""

    query: str
    words: str


@router.post("/graphs/{graph}/parts")
async def parts(graph: GraphName, body: PartsBody, hub: HubDep, caller: Asker) -> PartsView:
    """Return a query in words, which words are which of its parts, and what else could stand there.

    Other meanings of the question's words come first. The graph is asked for terms that have an
    answer in the place of a part if the caller may run queries.
    """
    async with hub.graphs.lease(graph, caller) as opened, hub.queries.turn(graph):
        asked = await named_query(body.query, opened, body.language)
        back = await _read_back(asked)
        others: tuple[tuple[Alternative, ...], ...] = ()
        if body.alternatives:
            meant: dict[str, tuple[str, ...]] = {}
            if body.question:
                linked = await link_to_graph(tokenize(body.question, body.language), opened)
                iris = [part.term.value for part in back.parts if isinstance(part.term, NamedNode)]
                meant = {iri: also_meant(linked, iri) for iri in iris}
            others = await alternatives(
                asked.text,
                back.parts[:_MOST],
                opened,
                [body.language],
                timeout=min(_SECONDS, hub.settings.query_timeout),
                asking=caller.may("query"),
                meant=meant,
            )
    pieces = [PieceView(text=piece.text, part=piece.part) for piece in back.pieces]
    views = [
        _part(number, part, asked.labels, others[number] if number < len(others) else ())
        for number, part in enumerate(back.parts)
    ]
    return PartsView(pieces=pieces, parts=views, arrangement=_arranged(asked.text))


@router.post("/graphs/{graph}/refine")
async def refine(graph: GraphName, body: RefineBody, hub: HubDep, caller: Asker) -> RefinedView:
    """Return a query with its rows sorted, cut off, filtered or counted; nothing is run."""
    async with hub.graphs.lease(graph, caller) as opened:
        asked = await named_query(body.query, opened, body.language)
        changed = await asyncio.to_thread(_refined, tree_of(asked.text), body)
        return RefinedView(query=str(laid_out(changed, opened.prefixes, asked.labels)))


def _refined(query: Query, body: RefineBody) -> Query:
    """The query arranged as wanted: conditions first, then what is counted, sorted and cut off."""
    if arrangement(query) is None:
        raise QueryError("only the rows of a SELECT query can be arranged")
    if body.without is not None:
        query = without_condition(query, body.without)
    if body.condition:
        value = literal_of(body.condition.value, body.condition.datatype)
        query = with_condition(
            query, Condition(body.condition.column, body.condition.comparison, value)
        )
    if body.count_by is not None:
        query = counted_by(query, body.count_by)
    if body.columns is not None:
        query = with_columns(query, body.columns)
    if body.sort_by is not None:
        query = sorted_by(query, body.sort_by or None, descending=body.descending)
    return query if body.limit is None else limited(query, body.limit or None)


def _arranged(query: str) -> ArrangementView | None:
    try:
        found = arrangement(tree_of(query))
    except QueryError:
        return None
    if found is None:
        return None
    return ArrangementView(
        columns=list(found.columns),
        order=[SortView(column=name, descending=falls) for name, falls in found.order],
        limit=found.limit,
        conditions=[
            ConditionView(column=one.column, comparison=one.comparison, value=one.value.value)
            for one in found.conditions
        ],
        counts=found.is_aggregate,
    )


@router.post("/graphs/{graph}/swap")
async def swap(graph: GraphName, body: SwapBody, hub: HubDep, caller: Asker) -> SwappedView:
    """Return a query with another term in the place of one of its parts; nothing is run."""
    async with hub.graphs.lease(graph, caller) as opened:
        back = await _read_back(await named_query(body.query, opened, body.language))
        part = _chosen(back, body.part)
        labels: dict[str, str] = {}
        if isinstance(part.term, NamedNode):
            labels = await labels_of([part.term.value, body.to], opened, [body.language])
        query = await asyncio.to_thread(
            swapped, body.query, part.term, body.to, prefixes=opened.prefixes, labels=labels
        )
        changed = await named_query(query, opened, body.language)
        return SwappedView(query=query, words=await changed.words())


async def _read_back(query: NamedQuery) -> ReadBack:
    return await asyncio.to_thread(
        read_back, query.text, query.labels, language=query.language, nouns=query.nouns
    )


def _chosen(back: ReadBack, wanted: int | str) -> Part:
    """The part of a number, or whose IRI or value it is."""
    if isinstance(wanted, int):
        found = back.parts[wanted : wanted + 1] if wanted >= 0 else ()
    else:
        found = tuple(part for part in back.parts if part.term.value == wanted)
    if not found:
        raise QueryError(
            f"the query has no part {wanted!r}; it has {len(back.parts)}, which POST …/parts lists"
        )
    return found[0]


def _part(
    number: int, part: Part, labels: dict[str, str], others: tuple[Alternative, ...]
) -> PartView:
    views = [
        AlternativeView(
            iri=one.term.value if isinstance(one.term, NamedNode) else None,
            value=one.term.value if isinstance(one.term, Literal) else None,
            label=one.label,
            description=one.description or None,
            rows=one.rows,
        )
        for one in others
    ]
    term = part.term
    if isinstance(term, NamedNode):
        label = labels.get(term.value) or words_of_local_name(term.value)
        return PartView(id=number, kind=part.kind, iri=term.value, label=label, alternatives=views)
    typed = not term.language and term.datatype.value != XSD_STRING
    return PartView(
        id=number,
        kind="value",
        value=term.value,
        datatype=term.datatype.value if typed else None,
        label=term.value,
        alternatives=views,
    )
