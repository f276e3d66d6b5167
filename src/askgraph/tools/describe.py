"""`describe`: what the graph says of one resource, by predicate, within a boundary.

Nodes that only link other things (blank ones, those without a label, instances of n-ary classes)
are opened: what they hold is what is looked for.
"""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

from pyoxigraph import NamedNode

from askgraph.metadata import boundaries
from askgraph.metadata.boundaries import Boundary, kind_of
from askgraph.metadata.shapes import Shape, ends_of, narrowest, shape_at
from askgraph.rdf import vocabulary as v
from askgraph.tools import Context
from askgraph.tools._statements import edge_lines, edges_at, iris_in, opened_around, types_in
from askgraph.tools.shown import Writer
from askgraph.tools.terms import named_node
from askgraph.trace import Observation

__all__ = ["describe"]


_BELOW = 20
_DECLARED = 100
_SHOWN = 12


async def describe(
    context: Context,
    iri: Annotated[str, "IRI"],
    boundary: Annotated[Boundary, "auto: by what it is"] = "auto",
    *,
    terms: Boundary | None = None,
) -> Observation:
    """Get what the graph says of one entity, class or property: values, links both ways.

    `auto` takes the specific boundary for classes and properties, which tells the terms around
    them, and the neighbourhood for anything else; so does `specific`. `terms` is the boundary of
    classes and properties if theirs is another than that of individuals. The boundaries of
    `Limits`, if these are set, go before. Raises `QueryError`
    for an IRI that the graph does not hold.
    """
    node = await named_node(context, iri)
    leaving = await edges_at(context, node, inverse=False)
    types = types_in(leaving)
    kind = kind_of(node, types, context.graph.profile)
    if terms is not None and kind != "individual":
        boundary = terms
    bound = context.limits.individuals if kind == "individual" else context.limits.schema
    boundary = boundary if bound == "auto" else bound
    around, edges = Around(), leaving
    if boundary in ("auto", "specific") and kind != "individual":
        around = await around_term(context, node, kind)
    elif boundary != "outgoing":
        edges = (*leaving, *await edges_at(context, node, inverse=True))
    opened = await opened_around(context, node, edges)
    writer = await Writer.knowing(context, [node, *types, *around.iris(), *iris_in(edges, opened)])
    kinds = [writer.iri(one) for one in narrowest(types, context.graph.profile)]
    head = " a ".join([writer.iri(node), *([", ".join(kinds)] if kinds else [])])
    lines = [head, *around_lines(around, writer), *edge_lines(edges, opened, writer)]
    if len(lines) == 1:
        lines.append("nothing more is said of it")
    return Observation("\n".join(lines), tuple(writer.seen))


@dataclass(frozen=True)
class Around:
    """Terms below; properties declared at a class (with `True` for its domain, and the other end);
    what the graph has there: of a class its shape, of a property its use and its ends.
    """

    below: tuple[str, ...] = ()
    declared: tuple[tuple[str, bool, str | None], ...] = ()
    shape: Shape | None = None
    ends: tuple[tuple[str, ...], tuple[str, ...]] | None = None
    triples: int = 0

    def iris(self) -> Iterator[str]:
        """All IRIs that its lines may show."""
        yield from self.below
        for predicate, _, other in self.declared:
            yield predicate
            yield from [other] if other else []
        for line in self.shape.lines if self.shape else ():
            yield line.predicate
            yield from line.kinds
        for side in self.ends or ():
            yield from side


async def around_term(context: Context, iri: str, kind: boundaries.Kind) -> Around:
    """Ask what stands around a class or property."""
    if kind == "property":
        below = await _below(context, iri, v.RDFS_SUB_PROPERTY_OF)
        known = next((p for p in context.graph.profile.predicates if p.iri == iri), None)
        if known is None:
            return Around(below)
        sides = (
            ends_of(known, context.graph.profile, inverse=True),
            ends_of(known, context.graph.profile, inverse=False),
        )
        return Around(below, ends=sides, triples=known.triples)
    below, declared, shape = await asyncio.gather(
        _below(context, iri, v.RDFS_SUB_CLASS_OF),
        _declared(context, iri),
        shape_at(
            iri,
            context.graph.profile,
            context.graph.endpoint,
            arrays=context.graph.arrays,
            examples=False,
            timeout=context.limits.timeout,
        ),
    )
    return Around(below, declared, shape)


async def _below(context: Context, iri: str, predicate: str) -> tuple[str, ...]:
    query = boundaries.below(iri, predicate, limit=_BELOW)
    result = await context.graph.endpoint.select(query, timeout=context.limits.timeout)
    return tuple(term.value for (term,) in result.rows if isinstance(term, NamedNode))


async def _declared(context: Context, iri: str) -> tuple[tuple[str, bool, str | None], ...]:
    query = boundaries.declared_at(iri, limit=_DECLARED)
    result = await context.graph.endpoint.select(query, timeout=context.limits.timeout)
    return tuple(
        (
            predicate.value,
            getattr(from_it, "value", "") in ("true", "1"),
            other.value if isinstance(other, NamedNode) else None,
        )
        for predicate, from_it, other in result.rows
        if isinstance(predicate, NamedNode)
    )


def around_lines(around: Around, writer: Writer) -> list[str]:
    """A line for each thing known; nothing for what is not."""
    lines = []
    if around.shape and around.shape.instances:
        lines.append(f"{around.shape.instances:,} instances")
    if around.triples:
        sources, targets = (
            " or ".join(map(writer.iri, side)) or "things" for side in around.ends or ((), ())
        )
        lines.append(f"used {around.triples:,}×: {sources} → {targets}")
    if around.below:
        lines.append(f"below it: {_some([writer.iri(one) for one in around.below])}")
    for from_it, head in ((True, "domain of"), (False, "range of")):
        told = [_declared_end(one, writer) for one in around.declared if one[1] is from_it]
        if told:
            lines.append(f"{head}: {_some(told)}")
    for inverse, head in ((False, "instances have"), (True, "lead to instances")):
        used = _used(around, writer, inverse=inverse)
        if used:
            lines.append(f"{head}: {_some(used, most=2 * _SHOWN)}")
    return lines


def _declared_end(declared: tuple[str, bool, str | None], writer: Writer) -> str:
    predicate, from_it, other = declared
    end = f" {'→' if from_it else '←'} {writer.short(other)}" if other else ""
    return f"{writer.iri(predicate)}{end}"


def _used(around: Around, writer: Writer, *, inverse: bool) -> list[str]:
    """What instances have in fact, most first; what is declared is not said twice."""
    told = {predicate for predicate, from_it, other in around.declared if from_it is not inverse}
    lines = around.shape.lines if around.shape else ()
    arrow = "←" if inverse else "→"
    return [
        f"{writer.iri(line.predicate)}"
        f"{f' {arrow} ' + writer.short(line.kinds[0]) if line.kinds else ''}"
        for line in lines
        if line.inverse is inverse and line.predicate not in told
    ]


def _some(texts: Sequence[str], *, most: int = _SHOWN) -> str:
    return ", ".join(texts[:most]) + (f" and {len(texts) - most} more" if len(texts) > most else "")
