"""SHACL shapes read as shapes of classes: the properties that instances are declared to have.

Node shapes with a target class, or that are classes themselves, are read with their property
shapes (https://www.w3.org/TR/shacl/). Paths of one predicate, either way, are kept; of longer ones
nothing can be said line by line.
"""

from collections.abc import Iterator

from pyoxigraph import BlankNode, NamedNode

from askgraph.graph.shapes import Shape, ShapeLine
from askgraph.sparql import vocabulary as v
from askgraph.sparql.rdf_files import Node, Statements
from askgraph.sparql.results import Term

_DEEPEST = 5
_KINDS = {
    v.SH + "IRI": v.RDFS_RESOURCE,
    v.SH + "BlankNode": v.RDFS_RESOURCE,
    v.SH + "BlankNodeOrIRI": v.RDFS_RESOURCE,
    v.SH + "Literal": v.RDFS_LITERAL,
}


def shapes_of_shacl(described: Statements) -> tuple[Shape, ...]:
    """Return the shape of each class that has one, in order of class; lines in order of predicate.

    Several shapes of one class are put together. Nothing is counted: `instances` is 0 and of each
    line only `least` and `most` are known.
    """
    lines: dict[str, dict[tuple[str, bool], ShapeLine]] = {}
    for node in described.holding(v.SH_PROPERTY):
        for cls in _targets(described, node):
            own = lines.setdefault(cls, {})
            for line in _lines(described, node, _DEEPEST):
                key = (line.predicate, line.inverse)
                if key in own:
                    first = own[key]
                    most = [limit for limit in (first.most, line.most) if limit is not None]
                    own[key] = ShapeLine(
                        first.predicate,
                        None,
                        None,
                        tuple(dict.fromkeys((*first.kinds, *line.kinds))),
                        first.inverse,
                        first.example if first.example is not None else line.example,
                        max(first.least or 0, line.least or 0),
                        min(most, default=None),
                    )
                else:
                    own[key] = line
    return tuple(
        Shape(cls, 0, tuple(own[key] for key in sorted(own, key=lambda key: (key[1], key[0]))))
        for cls, own in sorted(lines.items())
        if own
    )


def _targets(described: Statements, node: Node) -> list[str]:
    told = described.objects(node, v.SH_TARGET_CLASS)
    classes = {term.value for term in told if isinstance(term, NamedNode)}
    types = {term.value for term in described.nodes(node, v.RDF_TYPE)}
    if isinstance(node, NamedNode) and types & v.CLASS_TYPES:
        classes.add(node.value)
    return sorted(classes)


def _lines(described: Statements, node: Node, depth: int) -> Iterator[ShapeLine]:
    """Yield the lines of a shape, and of those that it says instances also have to fit."""
    for part in described.nodes(node, v.SH_PROPERTY):
        for predicate, inverse in _paths(described, part):
            yield ShapeLine(
                predicate,
                None,
                None,
                tuple(dict.fromkeys(_kinds(described, part, _DEEPEST))),
                inverse,
                _example(described, part),
                described.number(part, v.SH_MIN_COUNT) or 0,
                described.number(part, v.SH_MAX_COUNT),
            )
    if depth:
        for other in described.nodes(node, v.SH_NODE):
            yield from _lines(described, other, depth - 1)


def _paths(described: Statements, part: Node) -> Iterator[tuple[str, bool]]:
    """Yield the predicates of a path: one, one backwards, or alternatives of these."""
    for path in described.nodes(part, v.SH_PATH):
        if isinstance(path, NamedNode):
            yield path.value, False
            continue
        for back in described.nodes(path, v.SH_INVERSE_PATH):
            if isinstance(back, NamedNode):
                yield back.value, True
        for head in described.nodes(path, v.SH_ALTERNATIVE_PATH):
            for one in described.listed(head):
                if isinstance(one, NamedNode):
                    yield one.value, False


def _kinds(described: Statements, part: Node, depth: int) -> Iterator[str]:
    for term in described.nodes(part, v.SH_DATATYPE, v.SH_CLASS):
        if isinstance(term, NamedNode):
            yield term.value
    for node in described.nodes(part, v.SH_NODE):
        yield from _targets(described, node)
    for choice in _choices(described, part) if depth else ():
        yield from _kinds(described, choice, depth - 1)
    if not described.objects(part, v.SH_DATATYPE, v.SH_CLASS, v.SH_NODE, v.SH_OR):
        for kind in described.nodes(part, v.SH_NODE_KIND):
            yield from filter(None, [_KINDS.get(kind.value)])


def _choices(described: Statements, part: Node) -> Iterator[Node]:
    for head in described.nodes(part, v.SH_OR):
        for choice in described.listed(head):
            if isinstance(choice, NamedNode | BlankNode):
                yield choice


def _example(described: Statements, part: Node) -> Term | None:
    """A value that fits: one that has to be, or the first of those that may be."""
    for term in described.objects(part, v.SH + "hasValue"):
        return term
    for head in described.nodes(part, v.SH_IN):
        for term in described.listed(head):
            return term
    return None
