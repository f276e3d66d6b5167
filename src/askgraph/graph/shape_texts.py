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

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from askgraph.graph.arrays import GraphArrays
from askgraph.graph.names import tells_more
from askgraph.graph.shapes import Shape, ShapeLine
from askgraph.sparql import vocabulary as v
from askgraph.sparql.prefixes import PrefixMap, words_of_local_name
from askgraph.sparql.rdf_files import Described, Statements
from askgraph.sparql.results import Term

_LONGEST = 40
_NAMES = 30  # properties that are told by name
_DEEP = 4  # levels of a class expression
_JOINED = {"intersectionOf": " and ", "unionOf": " or "}
_QUANTIFIED = {"someValuesFrom": "some", "allValuesFrom": "only", "hasValue": "value"}
_OF_DATATYPES = (v.XSD, v.RDF_LANG_STRING, v.GEO)
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
    rows.insert(0, (f"a [ {short} ]", ""))
    ends = [" ;"] * (len(rows) - 1) + [""]
    written = [
        f"  {constraint}{end}" + (f"  # {comment}" if comment else "")
        for (constraint, comment), end in zip(rows, ends, strict=True)
    ]
    rest = [_name(line, shape.cls, prefixes, named) for line in shape.lines[len(shown) :]]
    cut = f" and {len(rest) - _NAMES} more" if len(rest) > _NAMES else ""
    more = [f"  # also {', '.join(rest[:_NAMES])}{cut}"] if rest else []
    return "\n".join([f"{head}{short} EXTRA a {{", *written, *more, "}"])


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
    datatypes = [kind for kind in line.kinds if kind.startswith(_OF_DATATYPES)]
    any_ = (*datatypes, v.RDFS_RESOURCE, v.RDFS_LITERAL)
    things = [prefixes.shorten(kind) for kind in line.kinds if kind not in any_]
    told = [prefixes.shorten(kind) for kind in datatypes]
    told += [f"{{ a [ {' '.join(things)} ] }}"] if things else []
    if not told and (v.RDFS_RESOURCE in line.kinds or isinstance(line.example, NamedNode)):
        return "IRI" if not isinstance(line.example, BlankNode) else "NONLITERAL"
    return " OR ".join(told) or "."


def _cardinality(line: ShapeLine, shape: Shape) -> str:
    if line.least is not None or line.most is not None:
        least, most = line.least or 0, "*" if line.most is None else line.most
        tags = {(1, 1): "", (0, 1): "?", (1, "*"): "+", (0, "*"): "*"}
        return tags.get((least, most), f"{{{least},{most}}}")
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
    same = v.OWL_EQUIVALENT_CLASS
    ends = (*arrays.follow(at, same), *arrays.follow(at, same, inverse=True))
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
        for head in arrays.follow(at, v.OWL + local)[:1]:
            members = _members(arrays, head)
            parts = [_expression(arrays, one, prefixes, depth - 1) for one in members]
            return f"({word.join(parts)})" if all(parts) else ""
    for on in arrays.follow(at, v.OWL + "onProperty"):
        for local, word in _QUANTIFIED.items():
            for end in arrays.follow(at, v.OWL + local)[:1]:
                name = _expression(arrays, on, prefixes, 0)
                value = _expression(arrays, end, prefixes, depth - 1)
                return f"{name} {word} {value}" if name and value else ""
    return ""


def _members(arrays: GraphArrays, head: int) -> list[int]:
    """The first members of a list."""
    members: list[int] = []
    cells = [head]
    while cells and len(members) < _NAMES and (first := arrays.follow(cells[0], v.RDF + "first")):
        members.append(first[0])
        cells = arrays.follow(cells[0], v.RDF + "rest")
    return members


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
    lines: dict[str, dict[tuple[bool, str], ShapeLine]] = {}
    for subject in described.having(v.SH_PROPERTY):
        for cls in _target_classes(subject):
            own = lines.setdefault(cls, {})
            for line in _read_lines(subject, _DEEPEST):
                key = (line.inverse, line.predicate)
                own[key] = _join_lines(own[key], line) if key in own else line
    return tuple(
        Shape(cls, 0, tuple(own[key] for key in sorted(own)))
        for cls, own in sorted(lines.items())
        if own
    )


def _join_lines(first: ShapeLine, line: ShapeLine) -> ShapeLine:
    most = [limit for limit in (first.most, line.most) if limit is not None]
    return replace(
        first,
        kinds=tuple(dict.fromkeys((*first.kinds, *line.kinds))),
        example=first.example if first.example is not None else line.example,
        least=max(first.least or 0, line.least or 0),
        most=min(most, default=None),
    )


def _target_classes(subject: Described) -> list[str]:
    classes = set(subject.iris(v.SH_TARGET_CLASS))
    if isinstance(subject.node, NamedNode) and v.CLASS_TYPES & {*subject.iris(v.RDF_TYPE)}:
        classes.add(subject.node.value)
    return sorted(classes)


def _read_lines(subject: Described, depth: int) -> Iterator[ShapeLine]:
    """Yield the lines of a shape, and of those that it says instances also have to fit."""
    for part in subject.nodes(v.SH_PROPERTY):
        listed = [t for head in part.nodes(v.SH_IN) for t in part.statements.listed(head.node)]
        values = (*part.objects(v.SH + "hasValue"), *listed)
        least, most = (
            part.statements.number(part.node, one) for one in (v.SH_MIN_COUNT, v.SH_MAX_COUNT)
        )
        kinds = tuple(dict.fromkeys(_kinds_of_end(part, _DEEPEST)))
        for path in part.nodes(v.SH_PATH):
            for predicate, inverse in _read_path(path):
                example = next(iter(values), None)
                yield ShapeLine(predicate, None, None, kinds, inverse, example, least or 0, most)
    if depth:
        for other in subject.nodes(v.SH_NODE):
            yield from _read_lines(other, depth - 1)


def _read_path(path: Described) -> list[tuple[str, bool]]:
    """Return the predicates of a path: one, one backwards, or alternatives of these."""
    if isinstance(path.node, NamedNode):
        return [(path.node.value, False)]
    heads = path.nodes(v.SH_ALTERNATIVE_PATH)
    listed = (term for head in heads for term in path.statements.listed(head.node))
    return [
        *((iri, True) for iri in path.iris(v.SH_INVERSE_PATH)),
        *((term.value, False) for term in listed if isinstance(term, NamedNode)),
    ]


def _kinds_of_end(part: Described, depth: int) -> Iterator[str]:
    yield from (*part.iris(v.SH_DATATYPE), *part.iris(v.SH_CLASS))
    for shape in part.nodes(v.SH_NODE):
        yield from _target_classes(shape)
    for head in part.nodes(v.SH_OR) if depth else ():
        for choice in part.statements.listed(head.node):
            if isinstance(choice, NamedNode | BlankNode):
                yield from _kinds_of_end(Described(choice, part.statements), depth - 1)
    if not any(map(part.objects, (v.SH_DATATYPE, v.SH_CLASS, v.SH_NODE, v.SH_OR))):
        kinds = map(_KINDS.get, part.iris(v.SH_NODE_KIND))
        yield from filter(None, kinds)
