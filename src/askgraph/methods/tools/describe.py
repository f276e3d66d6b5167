"""`describe`: what the graph says of one resource, by predicate, within a boundary.

Nodes that only link other things (blank ones, those without a label, instances of n-ary classes)
are opened: what they hold is what is looked for.
"""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated

from pyoxigraph import BlankNode, Literal, NamedNode, RdfFormat, Triple, serialize

from askgraph.graph import KnowledgeGraph, boundaries
from askgraph.graph.boundaries import Boundary, kind_of, within_boundary
from askgraph.graph.names import same_property
from askgraph.graph.shapes import Shape, ends_of, narrowest, shape_at
from askgraph.methods.tools import Context
from askgraph.methods.tools.hits import numbered
from askgraph.methods.tools.rendering import Writer, labels_in
from askgraph.methods.tools.terms import named_node
from askgraph.sparql import vocabulary as v
from askgraph.sparql.prefixes import language_chain
from askgraph.sparql.results import Row, Term
from askgraph.trace import Observation

__all__ = ["describe"]


_RAW = 10_000  # triples
_BELOW = 20
_DECLARED = 100
_SHOWN = 12


async def describe(
    context: Context,
    iri: Annotated[str, "IRI"],
    boundary: Annotated[Boundary, "auto: by what it is"] = "auto",
    *,
    terms: Boundary | None = None,
    raw: bool = False,
) -> Observation:
    """Get what the graph says of one entity, class or property: values, links both ways.

    `auto` takes the specific boundary for classes and properties, which tells the terms around
    them, and the neighbourhood for anything else; so does `specific`. `terms` is the boundary of
    classes and properties if theirs is another than that of individuals. The boundaries of
    `Limits`, if these are set, go before. What is `raw` is Turtle, with all triples. Raises
    `QueryError` for an IRI that the graph does not hold.
    """
    node = await named_node(context, iri)
    leaving = await edges_at(context, node, inverse=False)
    types = types_in(leaving)
    kind = kind_of(node, types, context.graph.profile)
    if terms is not None and kind != "individual":
        boundary = terms
    bound = context.limits.individuals if kind == "individual" else context.limits.schema
    boundary = boundary if bound == "auto" else bound
    if raw:
        return await dereferenced(context, node, kind, boundary)
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


async def dereferenced(
    context: Context, iri: str, kind: boundaries.Kind, boundary: Boundary
) -> Observation:
    """Return the triples of a resource within a boundary, 10,000 at most, which is said then."""
    query = within_boundary(iri, kind, boundary, limit=_RAW)
    found = await context.graph.endpoint.select(query, timeout=context.limits.timeout)
    triples = [
        Triple(subject, predicate, value)
        for subject, predicate, value in found.rows
        if isinstance(subject, NamedNode | BlankNode)
        and isinstance(predicate, NamedNode)
        and value is not None
    ]
    prefixes = dict(context.graph.prefixes.namespaces)
    text = serialize(triples, format=RdfFormat.TURTLE, prefixes=prefixes) or b""
    lines = text.decode("utf-8").splitlines()
    body = [line for line in lines if not line.startswith("@prefix")]
    declared = [line for line in lines if line.startswith("@prefix")]
    used = [line for line in declared if any(line.split()[1] in one for one in body)] + body
    if len(found.rows) == _RAW:
        used.append(f"# these are {_RAW:,} triples; there may be more")
    seen = (term.value for one in triples for term in one if isinstance(term, NamedNode))
    return Observation("\n".join(used), tuple(dict.fromkeys([iri, *seen])))


@dataclass(frozen=True)
class Around:
    """Terms below; properties declared at a class (with `True` for its domain, and the other end);
    what the graph has there: of a class its shape, of a property its use and its ends.
    """

    below: tuple[str, ...] = ()
    declared: tuple[tuple[str, bool, str | None], ...] = ()
    shape: Shape | None = None
    ends: tuple[tuple[str, ...], ...] = ()
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
        for side in self.ends:
            yield from side


async def around_term(context: Context, iri: str, kind: boundaries.Kind) -> Around:
    """Ask what stands around a class or property."""
    profile = context.graph.profile
    order = v.RDFS_SUB_PROPERTY_OF if kind == "property" else v.RDFS_SUB_CLASS_OF
    asking = _rows(context, boundaries.below(iri, order, limit=_BELOW))
    if kind == "property":
        around = Around(_iris(await asking))
        known = next((p for p in profile.predicates if p.iri == iri), None)
        if known is None:
            return around
        sides = tuple(ends_of(known, profile, inverse=inverse) for inverse in (True, False))
        return replace(around, ends=sides, triples=known.triples)
    below, declared, shape = await asyncio.gather(
        asking,
        _rows(context, boundaries.declared_at(iri, limit=_DECLARED)),
        shape_at(
            iri,
            profile,
            context.graph.endpoint,
            arrays=context.graph.arrays,
            examples=False,
            timeout=context.limits.timeout,
        ),
    )
    ends = tuple(
        (
            predicate.value,
            getattr(from_it, "value", "") in ("true", "1"),
            other.value if isinstance(other, NamedNode) else None,
        )
        for predicate, from_it, other in declared
        if isinstance(predicate, NamedNode)
    )
    return Around(_iris(below), ends, shape)


def _iris(rows: Sequence[Row]) -> tuple[str, ...]:
    return tuple(term.value for (term,) in rows if isinstance(term, NamedNode))


def around_lines(around: Around, writer: Writer) -> list[str]:
    """A line for each thing known; nothing for what is not."""
    lines = []
    shape_lines = around.shape.lines if around.shape else ()
    if around.shape and around.shape.instances:
        lines.append(f"{around.shape.instances:,} instances")
    if around.triples:
        sides = (" or ".join(map(writer.iri, side)) or "things" for side in around.ends)
        lines.append(f"used {around.triples:,}×: {' → '.join(sides)}")
    if around.below:
        lines.append(f"below it: {_some([writer.iri(one) for one in around.below])}")
    for from_it, head, arrow in ((True, "domain of", "→"), (False, "range of", "←")):
        told = [
            f"{writer.iri(predicate)}{f' {arrow} {writer.short(other)}' if other else ''}"
            for predicate, is_domain, other in around.declared
            if is_domain is from_it
        ]
        if told:
            lines.append(f"{head}: {_some(told)}")
    # What instances have in fact, most first; what is declared is not said twice.
    for inverse, head, arrow in ((False, "instances have", "→"), (True, "lead to instances", "←")):
        declared = {iri for iri, is_domain, _ in around.declared if is_domain is not inverse}
        used = [
            f"{writer.iri(one.predicate)}"
            f"{f' {arrow} {writer.short(one.kinds[0])}' if one.kinds else ''}"
            for one in shape_lines
            if one.inverse is inverse and one.predicate not in declared
        ]
        if used:
            lines.append(f"{head}: {_some(used, most=2 * _SHOWN)}")
    return lines


def _some(texts: Sequence[str], *, most: int = _SHOWN) -> str:
    return ", ".join(texts[:most]) + (f" and {len(texts) - most} more" if len(texts) > most else "")


_WHOLE = 400  # statements that are simply fetched
_COUNTED = 20_000  # statements that are counted where there are more
_EACH = 5
_FETCHED = 300

Statements = Mapping[Term, Sequence[tuple[str, Term]]]
"""By node: what leaves it."""

_VALUES = 3  # values shown of a predicate
_OPENED_EACH = 3  # nodes opened of a predicate
_OPENED = 15  # nodes opened in all
_HELD = 6  # statements shown of an opened node
_HOLDING = 2  # statements, at least, that make a node worth opening
_BEYOND = 15  # predicates named of nodes that are not opened
_LINES = 25
_NAMING = (*v.LABEL_PREDICATES, *v.ALTERNATIVE_LABEL_PREDICATES, *v.DESCRIPTION_PREDICATES)


@dataclass(frozen=True)
class Edges:
    """The statements of one predicate at a resource, one way; `values` are some other ends.

    If `at_least`, there may be more than `count`.
    """

    predicate: str
    inverse: bool
    count: int
    values: tuple[Term, ...]
    at_least: bool = False


async def edges_at(context: Context, iri: str, *, inverse: bool) -> tuple[Edges, ...]:
    """Return all statements that leave (or enter) a resource, by predicate, in the order found."""
    query = boundaries.edges(iri, inverse=inverse, limit=_WHOLE)
    rows = await _rows(context, query)
    values = _by_predicate(rows)
    if len(rows) < _WHOLE:
        return tuple(Edges(p, inverse, len(some), tuple(some)) for p, some in values.items())
    counted = await _rows(
        context, boundaries.counts_by_predicate(iri, inverse=inverse, limit=_COUNTED)
    )
    counts = {p.value: numbered(n) for p, n in counted if isinstance(p, NamedNode)}
    missing = [p for p in counts if p not in values]
    if missing:
        few = boundaries.some_of_each(iri, missing, inverse=inverse, each=_EACH)
        values |= _by_predicate(await _rows(context, few))
    cut = sum(counts.values()) >= _COUNTED
    return tuple(
        Edges(p, inverse, max(counts.get(p, 0), len(some)), tuple(some), cut)
        for p, some in values.items()
    )


async def opened_blanks(context: Context, iri: str, predicate: str, *, inverse: bool) -> Statements:
    """Return what leaves the blank nodes at the other end of a predicate.

    Asked through the resource, as a blank node's name means nothing to an endpoint.
    """
    link = f"?b <{predicate}> <{iri}>" if inverse else f"<{iri}> <{predicate}> ?b"
    query = (
        f"SELECT ?b ?p ?o WHERE {{ {{ SELECT DISTINCT ?b WHERE {{ {link} FILTER(isBlank(?b)) }} "
        f"LIMIT {_EACH} }} ?b ?p ?o }} LIMIT {_FETCHED}"
    )
    return await _statements(context, query)


async def held_beyond(
    context: Context, iri: str, edges: Sequence[Edges]
) -> dict[tuple[str, bool], tuple[str, ...]]:
    """Return the predicates that leave the other ends of some predicates, most frequent first."""
    if not edges:
        return {}
    parts = []
    for at, edge in enumerate(edges):
        link = (
            f"?b <{edge.predicate}> <{iri}>" if edge.inverse else f"<{iri}> <{edge.predicate}> ?b"
        )
        some = f"{{ SELECT ?b WHERE {{ {link} }} LIMIT {_WHOLE} }}"
        counted = f"SELECT ({at} AS ?at) ?p (COUNT(*) AS ?n)"
        parts.append(f"{{ {counted} WHERE {{ {some} ?b ?p ?o }} GROUP BY ?p }}")
    query = f"SELECT ?at ?p ?n WHERE {{ {' UNION '.join(parts)} }} LIMIT {_FETCHED}"
    found: dict[tuple[str, bool], list[tuple[int, str]]] = defaultdict(list)
    for number, predicate, count in await _rows(context, query):
        if isinstance(predicate, NamedNode):
            edge = edges[numbered(number)]
            found[edge.predicate, edge.inverse].append((-numbered(count), predicate.value))
    return {key: tuple(iri for _, iri in sorted(listed)) for key, listed in found.items()}


async def _rows(context: Context, query: str) -> Sequence[Row]:
    result = await context.graph.endpoint.select(query, timeout=context.limits.timeout)
    return result.rows


def _by_predicate(rows: Sequence[Row]) -> dict[str, list[Term]]:
    found: dict[str, list[Term]] = defaultdict(list)
    for predicate, value in rows:
        if isinstance(predicate, NamedNode) and value is not None:
            found[predicate.value].append(value)
    return found


async def _statements(context: Context, query: str) -> Statements:
    """What leaves some nodes, by a query for these, predicates and values; "" asks for nothing."""
    found: dict[Term, list[tuple[str, Term]]] = defaultdict(list)
    for node, predicate, value in await _rows(context, query) if query else ():
        if node is not None and value is not None and isinstance(predicate, NamedNode):
            found[node].append((predicate.value, value))
    return found


@dataclass(frozen=True)
class Opened:
    """What nodes hold that only link other things: IRIs by node, blank nodes by predicate.

    `beyond` are all predicates that such nodes have, by the predicate that leads to them, if
    there are more of them than are opened.
    """

    nodes: Statements = field(default_factory=dict)
    blanks: Mapping[tuple[str, bool], Statements] = field(default_factory=dict)
    beyond: Mapping[tuple[str, bool], tuple[str, ...]] = field(default_factory=dict)

    def at(self, edge: Edges) -> dict[Term, Sequence[tuple[str, Term]]]:
        """The opened nodes at the other end of a predicate."""
        found = {term: self.nodes[term] for term in edge.values if term in self.nodes}
        blanks = self.blanks.get((edge.predicate, edge.inverse), {})
        return dict([*found.items(), *blanks.items()][:_OPENED_EACH])


async def opened_around(context: Context, iri: str, edges: Sequence[Edges]) -> Opened:
    """Open what only links other things: blank nodes, n-ary ones, codes without a label."""
    ends = [
        value.value
        for edge in edges
        if edge.predicate != v.RDF_TYPE
        for value in edge.values[:_OPENED_EACH]
        if isinstance(value, NamedNode) and value.value != iri
    ]
    labels = await labels_in(context, ends)
    unlabelled = [one for one in dict.fromkeys(ends) if one not in labels][:_OPENED]
    hollow = [edge for edge in edges if any(isinstance(value, BlankNode) for value in edge.values)][
        :_OPENED_EACH
    ]
    nodes, *blanks = await asyncio.gather(
        _statements(context, boundaries.of_nodes(unlabelled, limit=_FETCHED) if unlabelled else ""),
        *(opened_blanks(context, iri, e.predicate, inverse=e.inverse) for e in hollow),
    )
    keys = [(edge.predicate, edge.inverse) for edge in hollow]
    linking = {node: held for node, held in nodes.items() if _links(node, held, context.graph)}
    opened = Opened(linking, dict(zip(keys, blanks, strict=True)))
    many = [edge for edge in edges if 0 < len(opened.at(edge)) < edge.count][:_OPENED_EACH]
    return replace(opened, beyond=await held_beyond(context, iri, many))


def _links(node: Term, held: Sequence[tuple[str, Term]], graph: KnowledgeGraph) -> bool:
    """Whether a node without a label is there for what it holds: two values or more."""
    nary = {cls.iri for cls in graph.profile.classes if cls.nary}
    types = {term.value for p, term in held if p == v.RDF_TYPE and isinstance(term, NamedNode)}
    if any(p in v.LABEL_PREDICATES for p, _ in held) or types & v.CLASS_TYPES:
        return False
    return bool(types & nary) or len([p for p, _ in held if p != v.RDF_TYPE]) >= _HOLDING


def types_in(edges: Iterable[Edges]) -> list[str]:
    """The classes of a resource, from what leaves it."""
    return [
        value.value
        for edge in edges
        if edge.predicate == v.RDF_TYPE and not edge.inverse
        for value in edge.values
        if isinstance(value, NamedNode)
    ]


def iris_in(edges: Sequence[Edges], opened: Opened) -> Iterator[str]:
    """All IRIs that the lines of these statements may show."""
    for edge in edges:
        yield edge.predicate
        yield from opened.beyond.get((edge.predicate, edge.inverse), ())[:_BEYOND]
        terms = [*edge.values[:_VALUES]]
        for held in opened.at(edge).values():
            yield from (predicate for predicate, _ in held)
            terms += [term for _, term in held]
        yield from (term.value for term in terms if isinstance(term, NamedNode))


def edge_lines(edges: Sequence[Edges], opened: Opened, writer: Writer) -> list[str]:
    """A line for each predicate, and one for each opened node; at last those left out, by name.

    Predicates that are one property (see `askgraph.graph.names`) take one line.
    """
    told = [edge for edge in edges if edge.predicate != v.RDF_TYPE or edge.inverse]
    places = {iri: at for at, iri in enumerate(_NAMING)}  # names first, the usual ones before
    told.sort(key=lambda edge: (edge.inverse, places.get(edge.predicate, len(places))))
    lines: list[str] = []
    left: list[str] = []
    for inverse in (False, True):
        own = {edge.predicate: edge for edge in told if edge.inverse is inverse}
        for group in same_property(own):
            first = min(group, key=lambda p: len(opened.at(own[p])))
            if len(lines) >= _LINES:
                left.append(f"{'^' if inverse else ''}{writer.short(first)}")
                continue
            edge = own[first]
            variants = [p for p in group if p != first]
            arrow = "← " if edge.inverse else ""
            also = f" (also {', '.join(map(writer.short, variants))})" if variants else ""
            inside = opened.at(edge)
            plain = [value for value in _preferred(edge.values, writer) if value not in inside]
            plain = [value for value in plain if not inside or not isinstance(value, BlankNode)]
            shown = plain[: _VALUES if not inside else 0]
            number = "" if edge.count == len(shown) == 1 else f" {edge.count:,}"
            number += "+" if edge.at_least else ""
            values = ", ".join(writer.term(value) for value in shown)
            more = ", …" if shown and edge.count > len(shown) else ""
            colon = ":" if number and values else ""
            beyond = opened.beyond.get((edge.predicate, edge.inverse), ())
            named = [writer.iri(one) for one in beyond if one not in (v.RDF_TYPE, edge.predicate)]
            all_have = f", which have {', '.join(named[:_BEYOND])}; some:" if named else ""
            head = f"{arrow}{writer.iri(edge.predicate)}{also}{number}{all_have or colon}"
            lines.append(f"{head} {values}{more}".rstrip())
            for node, held in inside.items():
                lines.append(f"  {_node(node, held, edge, writer)}")
    if left:
        lines.append(f"also: {', '.join(left)}")
    return lines


def _preferred(values: Sequence[Term], writer: Writer) -> list[Term]:
    """Texts in the asker's language, if there are some; else all values."""
    tagged = [value for value in values if isinstance(value, Literal) and value.language]
    if len(tagged) < len(values):
        return list(values)
    for language in language_chain([writer.context.language, "en"]):
        own = [one for one in tagged if (one.language or "").partition("-")[0] == language]
        if own:
            return list(own)
    return list(values)


def _node(node: Term, held: Sequence[tuple[str, Term]], edge: Edges, writer: Writer) -> str:
    """A node that links things, with what it holds; not the way back."""
    types = [t.value for p, t in held if p == v.RDF_TYPE and isinstance(t, NamedNode)]
    kinds = [writer.short(one) for one in narrowest(types, writer.context.graph.profile, most=1)]
    told = [
        (predicate, term)
        for predicate, term in held
        if predicate != v.RDF_TYPE and not (edge.inverse and predicate == edge.predicate)
    ]
    parts = [f"{writer.iri(predicate)} {writer.term(term)}" for predicate, term in told[:_HELD]]
    more = "; …" if len(told) > _HELD else ""
    name = "[]" if isinstance(node, BlankNode) else writer.term(node)
    return f"{name}{f' a {kinds[0]}' if kinds else ''}: {'; '.join(parts)}{more}"
