"""A shape as compact ShEx: what a reader, person or model, needs to write a query about a class.

    # moon: 55 instances
    ont:Moon EXTRA a {
      a [ ont:Moon ] ;
      rdfs:label rdf:langString + ;  # 100%, 3.0 each: "Titan"@en
      ont:diameter xsd:decimal ? ;  # 76%: 5149.5
      ont:orbits { a [ ont:CelestialBody ] } ;  # 100%: space:Saturn "Saturn"
      ^ont:destination { a [ ont:Mission ] } *  # 9%: space:Apollo11 "Apollo 11"
    }

Each shape stands for itself: what lies at the other end of a predicate is said by its class. The
cardinalities are those of the data (ShEx 2.1, https://shex.io/shex-semantics/).

SHACL is read as such shapes: node shapes with a target class, or that are classes themselves, with
their property shapes (https://www.w3.org/TR/shacl/). Paths of one predicate, either way, are kept;
of longer ones nothing can be said line by line.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from askgraph.graph.arrays import GraphArrays
from askgraph.graph.names import tells_more
from askgraph.graph.shapes import Shape, ShapeLine
from askgraph.sparql import vocabulary as v
from askgraph.sparql.prefixes import PrefixMap, words_of_local_name
from askgraph.sparql.rdf_files import Node, Statements
from askgraph.sparql.results import Term

_LONGEST = 40
_NAMES = 30  # properties that are told by name
_DEEP = 4  # levels of a class expression
_JOINED = {"intersectionOf": " and ", "unionOf": " or "}
_QUANTIFIED = {"someValuesFrom": "some", "allValuesFrom": "only", "hasValue": "value"}
_ONCE = 1.05  # triples an instance, up to which nobody would call it several


def document(
    shapes: Iterable[Shape], prefixes: PrefixMap, *, labels: Mapping[str, str] | None = None
) -> str:
    """Return shapes as one ShEx document, with the prefixes that it uses."""
    body = "\n\n".join(shex_of(shape, prefixes, labels=labels) for shape in shapes)
    head = prefixes.header(body)
    return f"{head}\n{body}\n" if head else f"{body}\n"


def shex_of(
    shape: Shape,
    prefixes: PrefixMap,
    *,
    labels: Mapping[str, str] | None = None,
    lines: int | None = None,
) -> str:
    """Return a shape as ShEx without prefix declarations; of its lines only so many, then names.

    `labels` are those of classes, predicates and example values by IRI.
    """
    named = labels or {}
    short = prefixes.shorten(shape.cls)
    name = f"{named[shape.cls]}: " if named.get(shape.cls) else ""
    noun = "instance" if shape.instances == 1 else "instances"
    counted = f"{shape.instances:,} {noun}" if shape.instances else ""
    if shape.sampled:
        counted += f", {shape.sampled:,} of them looked at"
    if isinstance(shape.instance, NamedNode) and any(line.example for line in shape.lines):
        counted += f", one is {_example(shape.instance, prefixes, named)}"
    head = f"# {_one_line(name + counted).strip(': ')}\n" if name or counted else ""
    shown = shape.lines[:lines]
    rows = [_row(line, shape, prefixes, named) for line in shown]
    written = list(_separated([(f"a [ {short} ]", ""), *rows]))
    rest = [_name(line, shape.cls, prefixes, named) for line in shape.lines[len(shown) :]]
    cut = f" and {len(rest) - _NAMES} more" if len(rest) > _NAMES else ""
    more = [f"  # also {', '.join(rest[:_NAMES])}{cut}"] if rest else []
    return "\n".join([f"{head}{short} EXTRA a {{", *written, *more, "}"])


def _separated(rows: Sequence[tuple[str, str]]) -> Iterator[str]:
    for at, (constraint, comment) in enumerate(rows, 1):
        end = " ;" if at < len(rows) else ""
        yield f"  {constraint}{end}" + (f"  # {comment}" if comment else "")


def _row(
    line: ShapeLine, shape: Shape, prefixes: PrefixMap, labels: Mapping[str, str]
) -> tuple[str, str]:
    """A triple constraint, and what is said behind it."""
    name = f"{'^' if line.inverse else ''}{prefixes.shorten(line.predicate)}"
    tag = _cardinality(line, shape)
    parts = [name, _value(line, prefixes), *([tag] if tag else [])]
    said = _share(line, shape)
    if label := _telling(line, shape.cls, labels):
        said = f"{label}, {said}" if said else label
    if line.in_steps:
        said = f"{said}, in steps: {prefixes.shorten(line.predicate)}+"
    if line.below:
        said += f", includes {', '.join(map(prefixes.shorten, line.below))}"
    if line.untyped and (line.beyond or line.untyped < 1):
        share = f"{max(1, round(100 * line.untyped))}% of " if line.untyped < 1 else ""
        have = f" have {', '.join(map(prefixes.shorten, line.beyond))}" if line.beyond else ""
        said += f", {share}targets without type{have}"
    if line.example is not None:
        values = line.values or (line.example,)
        example = " | ".join(sorted(_example(value, prefixes, labels) for value in values))
        if line.elsewhere and not line.values:
            example = f"of another {example}"
        if line.in_steps and not line.values:
            steps = (_example(one, prefixes, labels) for one in line.chain)
            example = " → ".join([example, *steps])
        said = f"{said}: {example}" if said else example
    return " ".join(parts), _one_line(said)


def _name(line: ShapeLine, cls: str, prefixes: PrefixMap, labels: Mapping[str, str]) -> str:
    """The name of a property, with its label if that tells more."""
    name = f"{'^' if line.inverse else ''}{prefixes.shorten(line.predicate)}"
    label = _telling(line, cls, labels)
    return f'{name} "{_clipped(_one_line(label))}"' if label else name


def _telling(line: ShapeLine, cls: str, labels: Mapping[str, str]) -> str:
    """The label of a property if it says more than its local name and the classes at its ends."""
    label = labels.get(line.predicate, "")
    return label if tells_more(label, (line.predicate, cls, *line.kinds)) else ""


def _value(line: ShapeLine, prefixes: PrefixMap) -> str:
    """Return the constraint on the other end."""
    datatypes = [kind for kind in line.kinds if _is_datatype(kind)]
    things = [prefixes.shorten(k) for k in line.kinds if k not in datatypes and not _any(k)]
    told = [prefixes.shorten(kind) for kind in datatypes]
    told += [f"{{ a [ {' '.join(things)} ] }}"] if things else []
    if not told and (v.RDFS_RESOURCE in line.kinds or isinstance(line.example, NamedNode)):
        return "IRI" if not isinstance(line.example, BlankNode) else "NONLITERAL"
    return " OR ".join(told) or "."


def _is_datatype(iri: str) -> bool:
    return iri.startswith((v.XSD, v.RDF_LANG_STRING, v.GEO)) and iri != v.XSD


def _any(iri: str) -> bool:
    return iri in (v.RDFS_RESOURCE, v.RDFS_LITERAL)


def _cardinality(line: ShapeLine, shape: Shape) -> str:
    if line.least is not None or line.most is not None:
        least = line.least or 0
        most = line.most
        tags = {(1, 1): "", (0, 1): "?", (1, None): "+", (0, None): "*"}
        if (least, most) in tags:
            return tags[least, most]
        return f"{{{least},{'*' if most is None else most}}}"
    share = shape.share(line)
    if share is None:
        return "*"
    several = line.triples is None or line.triples > _ONCE * max(1, line.having or 0)
    return ("+" if several else "") if share >= 1 else ("*" if several else "?")


def _share(line: ShapeLine, shape: Shape) -> str:
    share = shape.share(line)
    if share is None:
        return f"{line.triples:,} triples" if line.triples else ""
    told = "100%" if share >= 1 else f"{min(99, max(1, round(100 * share)))}%"
    if line.triples is None or not line.having:
        return told
    each = line.triples / line.having
    if each > _ONCE:
        return f"{told}, {each:.1f} each"
    return f"{told}, up to {line.highest} each" if (line.highest or 1) > 1 else told


def _example(term: Term, prefixes: PrefixMap, labels: Mapping[str, str]) -> str:
    match term:
        case NamedNode():
            iri = term.value
            short, label = prefixes.shorten(iri), labels.get(iri, "")
            if len(short) > _LONGEST and label and [*labels.values()].count(label) < 2:
                return f'<…> "{_clipped(label)}"'
            if label.casefold() == words_of_local_name(iri).casefold():
                return short
            return f'{short} "{_clipped(label)}"' if label else short
        case Literal() if term.datatype.value in v.NUMERIC_DATATYPES:
            return term.value
        case Literal():
            tag = f"@{term.language}" if term.language else ""
            if not tag and term.datatype.value != v.XSD_STRING:
                tag = f"^^{prefixes.shorten(term.datatype.value)}"
            return f'"{_clipped(term.value)}"{tag}'
        case BlankNode():
            return "a blank node"
        case Triple():
            return str(term)


def _clipped(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def definitions(cls: str, arrays: GraphArrays, prefixes: PrefixMap) -> list[str]:
    """Return what is equivalent to a class by OWL, in Manchester syntax.

    Left out is what is no class, union, intersection or restriction to a value or class.
    """
    at = arrays.terms.iri(cls)
    if at is None:
        return []
    ends = [
        end
        for inverse in (False, True)
        for end in _ends(arrays, at, v.OWL_EQUIVALENT_CLASS, inverse=inverse)
    ]
    told = (_expression(arrays, end, prefixes, _DEEP) for end in ends if end != at)
    return list(dict.fromkeys(filter(None, told)))


def _expression(arrays: GraphArrays, at: int, prefixes: PrefixMap, depth: int) -> str:
    """A class, a value, or an expression of at most so many levels; "" for what is not known."""
    term = arrays.terms.term(at)
    if not isinstance(term, BlankNode):
        return _example(term, prefixes, {})
    if not depth:
        return ""
    for local, word in _JOINED.items():
        for first in _ends(arrays, at, v.OWL + local):
            parts = [
                _expression(arrays, one, prefixes, depth - 1) for one in _members(arrays, first)
            ]
            return f"({word.join(parts)})" if all(parts) else ""
    for on in _ends(arrays, at, v.OWL + "onProperty"):
        for local, word in _QUANTIFIED.items():
            for end in _ends(arrays, at, v.OWL + local):
                name = _expression(arrays, on, prefixes, 0)
                value = _expression(arrays, end, prefixes, depth - 1)
                return f"{name} {word} {value}" if name and value else ""
    return ""


def _ends(arrays: GraphArrays, at: int, iri: str, *, inverse: bool = False) -> list[int]:
    number = arrays.number(iri)
    here = np.array([at], dtype=np.int32)
    return [] if number is None else arrays.step(here, number, inverse=inverse).tolist()


def _members(arrays: GraphArrays, at: int) -> list[int]:
    """The first members of a list."""
    found: list[int] = []
    while len(found) < _NAMES and (firsts := _ends(arrays, at, v.RDF + "first")):
        found.append(firsts[0])
        rest = _ends(arrays, at, v.RDF + "rest")
        if not rest:
            break
        at = rest[0]
    return found


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
                _fitting_value(described, part),
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


def _fitting_value(described: Statements, part: Node) -> Term | None:
    """A value that fits: one that has to be, or the first of those that may be."""
    for term in described.objects(part, v.SH + "hasValue"):
        return term
    for head in described.nodes(part, v.SH_IN):
        for term in described.listed(head):
            return term
    return None
