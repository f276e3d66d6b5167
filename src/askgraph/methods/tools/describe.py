"""`describe`: show what the graph says about one resource, by predicate, within a boundary.

Nodes that only link other nodes (blank nodes, nodes without a label, instances of n-ary classes)
are opened, since their content is what matters.
"""

import asyncio
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated

from pyoxigraph import BlankNode, Literal, NamedNode, RdfFormat, Triple, serialize

from askgraph.graph import KnowledgeGraph, boundaries
from askgraph.graph.boundaries import Boundary, build_boundary_query, classify_resource
from askgraph.graph.names import group_by_property
from askgraph.graph.shapes import Shape, get_end_kinds, load_shape, select_narrowest
from askgraph.methods.tools import Context
from askgraph.methods.tools.hits import parse_count
from askgraph.methods.tools.rendering import TermWriter, fetch_labels
from askgraph.methods.tools.terms import resolve_iri
from askgraph.sparql import vocabulary as v
from askgraph.sparql.prefixes import build_language_chain
from askgraph.sparql.results import Row, Term
from askgraph.trace import Observation

__all__ = ["describe"]


_MAX_RAW_TRIPLES = 10_000  # triples
_MAX_SUBTERMS = 20
_MAX_DECLARED_PROPERTIES = 100
_MAX_LISTED_TERMS = 12


async def describe(
    context: Context,
    iri: Annotated[str, "IRI"],
    boundary: Annotated[Boundary, "auto: by what it is"] = "auto",
    *,
    terms: Boundary | None = None,
    raw: bool = False,
) -> Observation:
    """Get what the graph says of one entity, class or property: values, links both ways.

    `auto` and `specific` show the surrounding terms of a class or property, and the neighbourhood
    of anything else. Boundaries set in `ToolLimits` win.

    Args:
        terms: the boundary of classes and properties, if it differs from that of individuals.
        raw: return Turtle with all triples.

    Raises:
        QueryError: the graph does not contain the IRI.
    """
    node = await resolve_iri(context, iri)
    outgoing = await fetch_edges(context, node, inverse=False)
    types = [
        value.value
        for edge in outgoing
        if edge.predicate == v.RDF_TYPE and not edge.inverse
        for value in edge.values
        if isinstance(value, NamedNode)
    ]
    kind = classify_resource(node, types, context.graph.profile)
    if terms is not None and kind != "individual":
        boundary = terms
    limit = context.limits.individuals if kind == "individual" else context.limits.schema
    boundary = boundary if limit == "auto" else limit
    if raw:
        return await fetch_turtle(context, node, kind, boundary)
    neighbourhood, edges = TermNeighbourhood(), outgoing
    if boundary in ("auto", "specific") and kind != "individual":
        neighbourhood = await fetch_neighbourhood(context, node, kind)
    elif boundary != "outgoing":
        edges = (*outgoing, *await fetch_edges(context, node, inverse=True))
    opened_nodes = await open_nodes(context, node, edges)
    writer = await TermWriter.from_iris(
        context, [node, *types, *neighbourhood.list_iris(), *list_iris(edges, opened_nodes)]
    )
    class_names = [writer.write_iri(cls) for cls in select_narrowest(types, context.graph.profile)]
    head = " a ".join([writer.write_iri(node), *([", ".join(class_names)] if class_names else [])])
    lines = [
        head,
        *format_neighbourhood(neighbourhood, writer),
        *format_edges(edges, opened_nodes, writer),
    ]
    if len(lines) == 1:
        lines.append("nothing more is said of it")
    return Observation("\n".join(lines), tuple(writer.written_iris))


async def fetch_turtle(
    context: Context, iri: str, kind: boundaries.Kind, boundary: Boundary
) -> Observation:
    """Return the triples of a resource within a boundary; note if 10,000 were not enough."""
    query = build_boundary_query(iri, kind, boundary, limit=_MAX_RAW_TRIPLES)
    result = await context.graph.endpoint.select(query, timeout=context.limits.timeout)
    triples = [
        Triple(subject, predicate, value)
        for subject, predicate, value in result.rows
        if isinstance(subject, NamedNode | BlankNode)
        and isinstance(predicate, NamedNode)
        and value is not None
    ]
    prefixes = dict(context.graph.prefixes.namespaces)
    text = serialize(triples, format=RdfFormat.TURTLE, prefixes=prefixes) or b""
    lines = text.decode("utf-8").splitlines()
    body = [line for line in lines if not line.startswith("@prefix")]
    prefix_lines = [line for line in lines if line.startswith("@prefix")]
    shown_lines = [
        line for line in prefix_lines if any(line.split()[1] in item for item in body)
    ] + body
    if len(result.rows) == _MAX_RAW_TRIPLES:
        shown_lines.append(f"# these are {_MAX_RAW_TRIPLES:,} triples; there may be more")
    iris = (term.value for item in triples for term in item if isinstance(term, NamedNode))
    return Observation("\n".join(shown_lines), tuple(dict.fromkeys([iri, *iris])))


@dataclass(frozen=True)
class TermNeighbourhood:
    """The surroundings of a class or property.

    `subterms` are its subclasses or subproperties. `declared_properties` are declared at a class,
    with True for its domain and with the class at the other end. A class has a `shape`; a property
    has its `end_classes` and its number of `triples`.
    """

    subterms: tuple[str, ...] = ()
    declared_properties: tuple[tuple[str, bool, str | None], ...] = ()
    shape: Shape | None = None
    end_classes: tuple[tuple[str, ...], ...] = ()
    triples: int = 0

    def list_iris(self) -> Iterator[str]:
        """Yield all IRIs that the lines may show."""
        yield from self.subterms
        for predicate, _, end_class in self.declared_properties:
            yield predicate
            yield from [end_class] if end_class else []
        for line in self.shape.lines if self.shape else ():
            yield line.predicate
            yield from line.kinds
        for side in self.end_classes:
            yield from side


async def fetch_neighbourhood(
    context: Context, iri: str, kind: boundaries.Kind
) -> TermNeighbourhood:
    """Fetch the neighbourhood of a class or property."""
    profile = context.graph.profile
    order = v.RDFS_SUB_PROPERTY_OF if kind == "property" else v.RDFS_SUB_CLASS_OF
    subterm_query = _fetch_rows(
        context, boundaries.build_children_query(iri, order, limit=_MAX_SUBTERMS)
    )
    if kind == "property":
        neighbourhood = TermNeighbourhood(_extract_iris(await subterm_query))
        predicate_profile = next((p for p in profile.predicates if p.iri == iri), None)
        if predicate_profile is None:
            return neighbourhood
        sides = tuple(
            get_end_kinds(predicate_profile, profile, inverse=inverse) for inverse in (True, False)
        )
        return replace(neighbourhood, end_classes=sides, triples=predicate_profile.triples)
    subterm_rows, declared_rows, shape = await asyncio.gather(
        subterm_query,
        _fetch_rows(
            context, boundaries.build_properties_query(iri, limit=_MAX_DECLARED_PROPERTIES)
        ),
        load_shape(
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
            getattr(is_domain, "value", "") in ("true", "1"),
            end_class.value if isinstance(end_class, NamedNode) else None,
        )
        for predicate, is_domain, end_class in declared_rows
        if isinstance(predicate, NamedNode)
    )
    return TermNeighbourhood(_extract_iris(subterm_rows), ends, shape)


def _extract_iris(rows: Sequence[Row]) -> tuple[str, ...]:
    return tuple(term.value for (term,) in rows if isinstance(term, NamedNode))


def format_neighbourhood(neighbourhood: TermNeighbourhood, writer: TermWriter) -> list[str]:
    """Return a line for each known fact."""
    lines = []
    shape_lines = neighbourhood.shape.lines if neighbourhood.shape else ()
    if neighbourhood.shape and neighbourhood.shape.instances:
        lines.append(f"{neighbourhood.shape.instances:,} instances")
    if neighbourhood.triples:
        sides = (
            " or ".join(map(writer.write_iri, side)) or "things"
            for side in neighbourhood.end_classes
        )
        lines.append(f"used {neighbourhood.triples:,}×: {' → '.join(sides)}")
    if neighbourhood.subterms:
        lines.append(
            f"below it: {_join_some([writer.write_iri(item) for item in neighbourhood.subterms])}"
        )
    for of_domain, head, arrow in ((True, "domain of", "→"), (False, "range of", "←")):
        entries = [
            f"{writer.write_iri(predicate)}"
            f"{f' {arrow} {writer.write_short(end_class)}' if end_class else ''}"
            for predicate, is_domain, end_class in neighbourhood.declared_properties
            if is_domain is of_domain
        ]
        if entries:
            lines.append(f"{head}: {_join_some(entries)}")
    # Properties of the instances, most frequent first, without repeating declared ones.
    for inverse, head, arrow in ((False, "instances have", "→"), (True, "lead to instances", "←")):
        declared = {
            iri
            for iri, is_domain, _ in neighbourhood.declared_properties
            if is_domain is not inverse
        }
        usage = [
            f"{writer.write_iri(item.predicate)}"
            f"{f' {arrow} {writer.write_short(item.kinds[0])}' if item.kinds else ''}"
            for item in shape_lines
            if item.inverse is inverse and item.predicate not in declared
        ]
        if usage:
            lines.append(f"{head}: {_join_some(usage, max_texts=2 * _MAX_LISTED_TERMS)}")
    return lines


def _join_some(texts: Sequence[str], *, max_texts: int = _MAX_LISTED_TERMS) -> str:
    return ", ".join(texts[:max_texts]) + (
        f" and {len(texts) - max_texts} more" if len(texts) > max_texts else ""
    )


_MAX_FETCHED_STATEMENTS = 400  # statements that are simply fetched
_MAX_COUNTED_STATEMENTS = 20_000  # statements that are counted where there are more
_SAMPLE_SIZE = 5
_MAX_OPENED_STATEMENTS = 300

Statements = Mapping[Term, Sequence[tuple[str, Term]]]
"""Outgoing statements by node."""

_MAX_VALUES = 3  # values shown of a predicate
_MAX_OPENED_PER_PREDICATE = 3  # nodes opened of a predicate
_MAX_OPENED_NODES = 15  # nodes opened in all
_MAX_STATEMENTS_PER_NODE = 6  # statements shown of an opened node
_MIN_STATEMENTS_PER_NODE = 2  # minimum number of statements to expand a node
_MAX_PREDICATES_BEYOND = 15  # predicates named of nodes that are not opened
_MAX_LINES = 25
_NAME_PREDICATES = (*v.LABEL_PREDICATES, *v.ALTERNATIVE_LABEL_PREDICATES, *v.DESCRIPTION_PREDICATES)


@dataclass(frozen=True)
class PredicateEdges:
    """The statements of one predicate at a resource in one direction.

    `values` are some of the other ends. With `at_least`, there may be more than `count`.
    """

    predicate: str
    inverse: bool
    count: int
    values: tuple[Term, ...]
    at_least: bool = False


async def fetch_edges(context: Context, iri: str, *, inverse: bool) -> tuple[PredicateEdges, ...]:
    """Return all statements that leave or enter a resource, by predicate, in the order received."""
    query = boundaries.build_edges_query(iri, inverse=inverse, limit=_MAX_FETCHED_STATEMENTS)
    rows = await _fetch_rows(context, query)
    values = _group_by_predicate(rows)
    if len(rows) < _MAX_FETCHED_STATEMENTS:
        return tuple(
            PredicateEdges(p, inverse, len(ends), tuple(ends)) for p, ends in values.items()
        )
    count_rows = await _fetch_rows(
        context, boundaries.build_counts_query(iri, inverse=inverse, limit=_MAX_COUNTED_STATEMENTS)
    )
    counts = {p.value: parse_count(n) for p, n in count_rows if isinstance(p, NamedNode)}
    missing = [p for p in counts if p not in values]
    if missing:
        sample_query = boundaries.build_samples_query(
            iri, missing, inverse=inverse, rows_per_predicate=_SAMPLE_SIZE
        )
        values |= _group_by_predicate(await _fetch_rows(context, sample_query))
    is_cut = sum(counts.values()) >= _MAX_COUNTED_STATEMENTS
    return tuple(
        PredicateEdges(p, inverse, max(counts.get(p, 0), len(ends)), tuple(ends), is_cut)
        for p, ends in values.items()
    )


async def open_blank_nodes(
    context: Context, iri: str, predicate: str, *, inverse: bool
) -> Statements:
    """Return the outgoing statements of the blank nodes at the other end of a predicate.

    The query starts from the resource, since an endpoint cannot look up a blank node.
    """
    link = f"?b <{predicate}> <{iri}>" if inverse else f"<{iri}> <{predicate}> ?b"
    query = (
        f"SELECT ?b ?p ?o WHERE {{ {{ SELECT DISTINCT ?b WHERE {{ {link} FILTER(isBlank(?b)) }} "
        f"LIMIT {_SAMPLE_SIZE} }} ?b ?p ?o }} LIMIT {_MAX_OPENED_STATEMENTS}"
    )
    return await _fetch_statements(context, query)


async def fetch_predicates_beyond(
    context: Context, iri: str, edges: Sequence[PredicateEdges]
) -> dict[tuple[str, bool], tuple[str, ...]]:
    """Return the predicates that leave the other ends of some edges, most frequent first."""
    if not edges:
        return {}
    parts = []
    for at, edge in enumerate(edges):
        link = (
            f"?b <{edge.predicate}> <{iri}>" if edge.inverse else f"<{iri}> <{edge.predicate}> ?b"
        )
        sample = f"{{ SELECT ?b WHERE {{ {link} }} LIMIT {_MAX_FETCHED_STATEMENTS} }}"
        count_columns = f"SELECT ({at} AS ?at) ?p (COUNT(*) AS ?n)"
        parts.append(f"{{ {count_columns} WHERE {{ {sample} ?b ?p ?o }} GROUP BY ?p }}")
    query = f"SELECT ?at ?p ?n WHERE {{ {' UNION '.join(parts)} }} LIMIT {_MAX_OPENED_STATEMENTS}"
    counts_by_edge: dict[tuple[str, bool], list[tuple[int, str]]] = defaultdict(list)
    for number, predicate, count in await _fetch_rows(context, query):
        if isinstance(predicate, NamedNode):
            edge = edges[parse_count(number)]
            counts_by_edge[edge.predicate, edge.inverse].append(
                (-parse_count(count), predicate.value)
            )
    return {key: tuple(iri for _, iri in sorted(counts)) for key, counts in counts_by_edge.items()}


async def _fetch_rows(context: Context, query: str) -> Sequence[Row]:
    result = await context.graph.endpoint.select(query, timeout=context.limits.timeout)
    return result.rows


def _group_by_predicate(rows: Sequence[Row]) -> dict[str, list[Term]]:
    values_by_predicate: dict[str, list[Term]] = defaultdict(list)
    for predicate, value in rows:
        if isinstance(predicate, NamedNode) and value is not None:
            values_by_predicate[predicate.value].append(value)
    return values_by_predicate


async def _fetch_statements(context: Context, query: str) -> Statements:
    """Return the outgoing statements of some nodes, from rows of node, predicate and value."""
    # An empty query fetches nothing.
    statements: dict[Term, list[tuple[str, Term]]] = defaultdict(list)
    for node, predicate, value in await _fetch_rows(context, query) if query else ():
        if node is not None and value is not None and isinstance(predicate, NamedNode):
            statements[node].append((predicate.value, value))
    return statements


@dataclass(frozen=True)
class OpenedNodes:
    """Content of nodes that only link other nodes: IRIs by node, blank nodes by predicate.

    If a predicate leads to more such nodes than are opened, `beyond` has all of their predicates.
    """

    nodes: Statements = field(default_factory=dict)
    blanks: Mapping[tuple[str, bool], Statements] = field(default_factory=dict)
    beyond: Mapping[tuple[str, bool], tuple[str, ...]] = field(default_factory=dict)

    def get_nodes(self, edge: PredicateEdges) -> dict[Term, Sequence[tuple[str, Term]]]:
        """Return the opened nodes at the other end of a predicate."""
        nodes = {term: self.nodes[term] for term in edge.values if term in self.nodes}
        blanks = self.blanks.get((edge.predicate, edge.inverse), {})
        return dict([*nodes.items(), *blanks.items()][:_MAX_OPENED_PER_PREDICATE])


async def open_nodes(context: Context, iri: str, edges: Sequence[PredicateEdges]) -> OpenedNodes:
    """Open nodes that only link other nodes: blank nodes, n-ary ones, codes without a label."""
    ends = [
        value.value
        for edge in edges
        if edge.predicate != v.RDF_TYPE
        for value in edge.values[:_MAX_OPENED_PER_PREDICATE]
        if isinstance(value, NamedNode) and value.value != iri
    ]
    labels = await fetch_labels(context, ends)
    unlabelled_iris = [iri_text for iri_text in dict.fromkeys(ends) if iri_text not in labels][
        :_MAX_OPENED_NODES
    ]
    blank_edges = [
        edge for edge in edges if any(isinstance(value, BlankNode) for value in edge.values)
    ][:_MAX_OPENED_PER_PREDICATE]
    nodes, *blanks = await asyncio.gather(
        _fetch_statements(
            context,
            boundaries.build_nodes_query(unlabelled_iris, limit=_MAX_OPENED_STATEMENTS)
            if unlabelled_iris
            else "",
        ),
        *(open_blank_nodes(context, iri, e.predicate, inverse=e.inverse) for e in blank_edges),
    )
    keys = [(edge.predicate, edge.inverse) for edge in blank_edges]
    linking_nodes = {
        node: statements
        for node, statements in nodes.items()
        if _is_linking_node(statements, context.graph)
    }
    opened_nodes = OpenedNodes(linking_nodes, dict(zip(keys, blanks, strict=True)))
    partly_opened_edges = [
        edge for edge in edges if 0 < len(opened_nodes.get_nodes(edge)) < edge.count
    ][:_MAX_OPENED_PER_PREDICATE]
    return replace(
        opened_nodes, beyond=await fetch_predicates_beyond(context, iri, partly_opened_edges)
    )


def _is_linking_node(statements: Sequence[tuple[str, Term]], graph: KnowledgeGraph) -> bool:
    """Return whether a node without a label exists for its content: at least two values."""
    nary = {cls.iri for cls in graph.profile.classes if cls.nary}
    types = {
        term.value for p, term in statements if p == v.RDF_TYPE and isinstance(term, NamedNode)
    }
    if any(p in v.LABEL_PREDICATES for p, _ in statements) or types & v.CLASS_TYPES:
        return False
    return (
        bool(types & nary)
        or len([p for p, _ in statements if p != v.RDF_TYPE]) >= _MIN_STATEMENTS_PER_NODE
    )


def list_iris(edges: Sequence[PredicateEdges], opened_nodes: OpenedNodes) -> Iterator[str]:
    """Yield all IRIs that the lines of these edges may show."""
    for edge in edges:
        yield edge.predicate
        yield from opened_nodes.beyond.get((edge.predicate, edge.inverse), ())[
            :_MAX_PREDICATES_BEYOND
        ]
        terms = [*edge.values[:_MAX_VALUES]]
        for statements in opened_nodes.get_nodes(edge).values():
            yield from (predicate for predicate, _ in statements)
            terms += [term for _, term in statements]
        yield from (term.value for term in terms if isinstance(term, NamedNode))


def format_edges(
    edges: Sequence[PredicateEdges], opened_nodes: OpenedNodes, writer: TermWriter
) -> list[str]:
    """Return a line for each predicate and each opened node, then the names of those left out.

    Predicates that are one property (see `askgraph.graph.names`) share one line.
    """
    shown_edges = [edge for edge in edges if edge.predicate != v.RDF_TYPE or edge.inverse]
    ranks = {iri: at for at, iri in enumerate(_NAME_PREDICATES)}  # names first, common ones before
    shown_edges.sort(key=lambda edge: (edge.inverse, ranks.get(edge.predicate, len(ranks))))
    lines: list[str] = []
    omitted: list[str] = []
    for inverse in (False, True):
        edges_by_predicate = {
            edge.predicate: edge for edge in shown_edges if edge.inverse is inverse
        }
        for group in group_by_property(edges_by_predicate):
            main_predicate = min(
                group, key=lambda p: len(opened_nodes.get_nodes(edges_by_predicate[p]))
            )
            if len(lines) >= _MAX_LINES:
                omitted.append(f"{'^' if inverse else ''}{writer.write_short(main_predicate)}")
                continue
            edge = edges_by_predicate[main_predicate]
            variants = [p for p in group if p != main_predicate]
            arrow = "← " if edge.inverse else ""
            also = f" (also {', '.join(map(writer.write_short, variants))})" if variants else ""
            inner_nodes = opened_nodes.get_nodes(edge)
            shown_values = (
                [] if inner_nodes else _prefer_language(edge.values, writer)[:_MAX_VALUES]
            )
            number = "" if edge.count == len(shown_values) == 1 else f" {edge.count:,}"
            number += "+" if edge.at_least else ""
            values = ", ".join(writer.write_term(value) for value in shown_values)
            ellipsis = ", …" if shown_values and edge.count > len(shown_values) else ""
            colon = ":" if number and values else ""
            beyond = opened_nodes.beyond.get((edge.predicate, edge.inverse), ())
            names = [
                writer.write_iri(iri) for iri in beyond if iri not in (v.RDF_TYPE, edge.predicate)
            ]
            all_have = (
                f", which have {', '.join(names[:_MAX_PREDICATES_BEYOND])}; some:" if names else ""
            )
            head = f"{arrow}{writer.write_iri(edge.predicate)}{also}{number}{all_have or colon}"
            lines.append(f"{head} {values}{ellipsis}".rstrip())
            for node, statements in inner_nodes.items():
                lines.append(f"  {_format_node(node, statements, edge, writer)}")
    if omitted:
        lines.append(f"also: {', '.join(omitted)}")
    return lines


def _prefer_language(values: Sequence[Term], writer: TermWriter) -> list[Term]:
    """Return the texts in the user's language; all values if there is no such text."""
    tagged = [value for value in values if isinstance(value, Literal) and value.language]
    if len(tagged) < len(values):
        return list(values)
    for language in build_language_chain([writer.context.language, "en"]):
        matching = [
            literal for literal in tagged if (literal.language or "").partition("-")[0] == language
        ]
        if matching:
            return list(matching)
    return list(values)


def _format_node(
    node: Term, statements: Sequence[tuple[str, Term]], edge: PredicateEdges, writer: TermWriter
) -> str:
    """Return a linking node with its content, without the way back."""
    types = [t.value for p, t in statements if p == v.RDF_TYPE and isinstance(t, NamedNode)]
    kinds = [
        writer.write_short(cls)
        for cls in select_narrowest(types, writer.context.graph.profile, limit=1)
    ]
    pairs = [
        (predicate, term)
        for predicate, term in statements
        if predicate != v.RDF_TYPE and not (edge.inverse and predicate == edge.predicate)
    ]
    parts = [
        f"{writer.write_iri(predicate)} {writer.write_term(term)}"
        for predicate, term in pairs[:_MAX_STATEMENTS_PER_NODE]
    ]
    ellipsis = "; …" if len(pairs) > _MAX_STATEMENTS_PER_NODE else ""
    name = "[]" if isinstance(node, BlankNode) else writer.write_term(node)
    return f"{name}{f' a {kinds[0]}' if kinds else ''}: {'; '.join(parts)}{ellipsis}"
