"""Format shapes as compact ShEx, for readers who write queries about a class; parse SHACL shapes.

    # "moon": 55 instances
    ont:Moon EXTRA a {
      a [ ont:Moon ] ;
      rdfs:label rdf:langString + ;  # 100%, 3.0 each: "Titan"@en
      ont:diameter xsd:decimal ? ;  # 76%: 5149.5
      ont:orbits { a [ ont:CelestialBody ] } ;  # 100%: space:Saturn "Saturn"
      ^ont:destination { a [ ont:Mission ] } *  # 9%: space:Apollo11 "Apollo 11"
    }

Each shape is self-contained: classes describe the other end of a predicate. The cardinalities
describe the data (ShEx 2.1, https://shex.io/shex-semantics/).

SHACL is parsed to the same shapes: node shapes with a target class, or that are classes themselves,
with their property shapes (https://www.w3.org/TR/shacl/). Only paths of one predicate, in either
direction, are supported.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from askgraph.graph.arrays import GraphArrays
from askgraph.graph.names import escape_unseen, is_informative_label
from askgraph.graph.shapes import Shape, ShapeLine
from askgraph.sparql import vocabulary as v
from askgraph.sparql.prefixes import PrefixMap, split_local_name
from askgraph.sparql.rdf_files import RdfStatements, SubjectDescription
from askgraph.sparql.results import Term

_MAX_TEXT_CHARACTERS = 40
_MAX_LISTED_NAMES = 30  # properties to list by name
_MAX_EXPRESSION_DEPTH = 4  # levels of a class expression
_CONNECTIVES = {"intersectionOf": " and ", "unionOf": " or "}
_QUANTIFIERS = {"someValuesFrom": "some", "allValuesFrom": "only", "hasValue": "value"}
_DATATYPE_NAMESPACES = (v.XSD, v.RDF_LANG_STRING, v.GEO)
_MAX_SINGLE_VALUE_RATIO = 1.05  # triples per instance of a single-valued property


def format_document(
    shapes: Iterable[Shape], prefixes: PrefixMap, *, labels: Mapping[str, str] | None = None
) -> str:
    """Format shapes as one ShEx document with its prefixes."""
    body = "\n\n".join(format_shex(shape, prefixes, labels=labels) for shape in shapes)
    head = prefixes.build_header(body)
    return f"{head}\n{body}\n" if head else f"{body}\n"


def format_shex(
    shape: Shape,
    prefixes: PrefixMap,
    *,
    labels: Mapping[str, str] | None = None,
    max_lines: int | None = None,
) -> str:
    """Format a shape as ShEx without prefix declarations.

    Args:
        labels: Labels of classes, predicates and example values by IRI.
        max_lines: Maximum number of complete lines; the others are listed by name.
    """
    label_by_iri = labels or {}
    class_name = prefixes.shorten(shape.cls)
    name = f"{quote_label(label_by_iri[shape.cls])}: " if label_by_iri.get(shape.cls) else ""
    noun = "instance" if shape.instances == 1 else "instances"
    instance_text = f"{shape.instances:,} {noun}" if shape.instances else ""
    if shape.sampled:
        instance_text += f", {shape.sampled:,} of them looked at"
    if isinstance(shape.instance, NamedNode) and any(line.example for line in shape.lines):
        instance_text += f", one is {_format_example(shape.instance, prefixes, label_by_iri)}"
    comment_line = (
        f"# {_to_one_line(name + instance_text).strip(': ')}\n" if name or instance_text else ""
    )
    visible_lines = shape.lines[:max_lines]
    rows = [_format_row(line, shape, prefixes, label_by_iri) for line in visible_lines]
    rows.insert(0, (f"a [ {class_name} ]", ""))
    row_texts = [
        f"  {constraint}{end}" + (f"  # {comment}" if comment else "")
        for (constraint, comment), end in zip(rows, [" ;"] * (len(rows) - 1) + [""], strict=True)
    ]
    hidden_names = [
        _format_name(line, shape.cls, prefixes, label_by_iri)
        for line in shape.lines[len(visible_lines) :]
    ]
    suffix = (
        f" and {len(hidden_names) - _MAX_LISTED_NAMES} more"
        if len(hidden_names) > _MAX_LISTED_NAMES
        else ""
    )
    hidden_text = (
        [f"  # also {', '.join(hidden_names[:_MAX_LISTED_NAMES])}{suffix}"] if hidden_names else []
    )
    return "\n".join([f"{comment_line}{class_name} EXTRA a {{", *row_texts, *hidden_text, "}"])


def format_plain_shex(shape: Shape, prefixes: PrefixMap) -> str:
    """Format a shape with nothing but the outgoing predicates and the classes or datatypes there.

    This is the form of SPARQL-LLM (arXiv 2512.14277, section 3.1.2).
    """
    name = prefixes.shorten(shape.cls)
    rows = [f"a [ {name} ]"]
    for line in shape.lines:
        value = _format_value(line, prefixes)
        end = "IRI" if value == "." and line.untyped_share else value
        rows += [] if line.inverse else [f"{prefixes.shorten(line.predicate)} {end}"]
    body = " ;\n  ".join(rows).replace("{ a [", "[").replace("] }", "]")
    shape_name = re.sub(r"\W+", "_", name).strip("_")
    return f"shape:{shape_name} {{\n  {body}\n}}"


def _format_row(
    line: ShapeLine, shape: Shape, prefixes: PrefixMap, labels: Mapping[str, str]
) -> tuple[str, str]:
    name = f"{'^' if line.inverse else ''}{prefixes.shorten(line.predicate)}"
    tag = _format_cardinality(line, shape)
    parts = [name, _format_value(line, prefixes), *([tag] if tag else [])]
    comment = _format_share(line, shape)
    if label := _get_informative_label(line, shape.cls, labels):
        comment = f"{quote_label(label)}, {comment}" if comment else quote_label(label)
    if line.in_steps:
        comment = f"{comment}, in steps: {prefixes.shorten(line.predicate)}+"
    if line.subproperties:
        comment += f", includes {', '.join(map(prefixes.shorten, line.subproperties))}"
    if line.untyped_share and (line.untyped_predicates or line.untyped_share < 1):
        share = f"{max(1, round(100 * line.untyped_share))}% of " if line.untyped_share < 1 else ""
        predicates_text = (
            f" have {', '.join(map(prefixes.shorten, line.untyped_predicates))}"
            if line.untyped_predicates
            else ""
        )
        comment += f", {share}targets without type{predicates_text}"
    if line.example is not None:
        values = line.values or (line.example,)
        example = " | ".join(sorted(_format_example(value, prefixes, labels) for value in values))
        if line.is_foreign_example and not line.values:
            example = f"of another {example}"
        if line.in_steps and not line.values:
            steps = (_format_example(chain_term, prefixes, labels) for chain_term in line.chain)
            example = " → ".join([example, *steps])
        comment = f"{comment}: {example}" if comment else example
    return " ".join(parts), _to_one_line(comment)


def _format_name(line: ShapeLine, cls: str, prefixes: PrefixMap, labels: Mapping[str, str]) -> str:
    name = f"{'^' if line.inverse else ''}{prefixes.shorten(line.predicate)}"
    label = _get_informative_label(line, cls, labels)
    return f"{name} {_quote(label)}" if label else name


def _get_informative_label(line: ShapeLine, cls: str, labels: Mapping[str, str]) -> str:
    """Return a property's label if it adds to its local name and the classes at its ends."""
    label = labels.get(line.predicate, "")
    return label if is_informative_label(label, (line.predicate, cls, *line.kinds)) else ""


def _format_value(line: ShapeLine, prefixes: PrefixMap) -> str:
    datatypes = [kind for kind in line.kinds if kind.startswith(_DATATYPE_NAMESPACES)]
    general_kinds = (*datatypes, v.RDFS_RESOURCE, v.RDFS_LITERAL)
    classes = [prefixes.shorten(kind) for kind in line.kinds if kind not in general_kinds]
    constraints = [prefixes.shorten(kind) for kind in datatypes]
    constraints += [f"{{ a [ {' '.join(classes)} ] }}"] if classes else []
    if not constraints and (v.RDFS_RESOURCE in line.kinds or isinstance(line.example, NamedNode)):
        return "IRI" if not isinstance(line.example, BlankNode) else "NONLITERAL"
    return " OR ".join(constraints) or "."


def _format_cardinality(line: ShapeLine, shape: Shape) -> str:
    if line.min_count is not None or line.max_count is not None:
        min_count = line.min_count or 0
        max_count = "*" if line.max_count is None else line.max_count
        tags = {(1, 1): "", (0, 1): "?", (1, "*"): "+", (0, "*"): "*"}
        return tags.get((min_count, max_count), f"{{{min_count},{max_count}}}")
    share = shape.get_share(line)
    if share is None:
        return "*"
    is_multiple = line.triples is None or line.triples > _MAX_SINGLE_VALUE_RATIO * max(
        1, line.having or 0
    )
    return ("+" if is_multiple else "") if share >= 1 else ("*" if is_multiple else "?")


def _format_share(line: ShapeLine, shape: Shape) -> str:
    share = shape.get_share(line)
    if share is None:
        return f"{line.triples:,} triples" if line.triples else ""
    percentage = "100%" if share >= 1 else f"{min(99, max(1, round(100 * share)))}%"
    if line.triples is None or not line.having:
        return percentage
    mean_count = line.triples / line.having
    if mean_count > _MAX_SINGLE_VALUE_RATIO:
        return f"{percentage}, {mean_count:.1f} each"
    return (
        f"{percentage}, up to {line.max_triples} each"
        if (line.max_triples or 1) > 1
        else percentage
    )


def _format_example(term: Term, prefixes: PrefixMap, labels: Mapping[str, str]) -> str:
    match term:
        case NamedNode():
            iri = term.value
            short, label = prefixes.shorten(iri), labels.get(iri, "")
            if len(short) > _MAX_TEXT_CHARACTERS and label and [*labels.values()].count(label) < 2:
                return f"<…> {_quote(label)}"
            if label.casefold() == split_local_name(iri).casefold():
                return short
            return f"{short} {_quote(label)}" if label else short
        case Literal() if term.datatype.value in v.NUMERIC_DATATYPES:
            return term.value
        case Literal():
            tag = f"@{term.language}" if term.language else ""
            if not tag and term.datatype.value != v.XSD_STRING:
                tag = f"^^{prefixes.shorten(term.datatype.value)}"
            return f"{_quote(term.value)}{tag}"
        case BlankNode():
            return "a blank node"
        case Triple():
            return str(term)


def quote_label(text: str, max_characters: int = 120) -> str:
    """Return a text of the graph in quotes, on one line, clipped at its end."""
    line = _to_one_line(text)
    clipped = f"{line[: max_characters - 1]}…" if len(line) > max_characters else line
    return escape_unseen(json.dumps(clipped, ensure_ascii=False))


def _quote(text: str) -> str:
    return quote_label(text, _MAX_TEXT_CHARACTERS)


def _to_one_line(text: str) -> str:
    return " ".join(text.split())


def format_equivalents(cls: str, arrays: GraphArrays, prefixes: PrefixMap) -> list[str]:
    """Return the OWL equivalents of a class in Manchester syntax.

    Only classes, unions, intersections and restrictions to a value or class are supported.
    """
    class_id = arrays.terms.find_iri(cls)
    if class_id is None:
        return []
    equivalent_class = v.OWL_EQUIVALENT_CLASS
    ends = (
        *arrays.follow(class_id, equivalent_class),
        *arrays.follow(class_id, equivalent_class, inverse=True),
    )
    expressions = (
        _format_expression(arrays, end, prefixes, _MAX_EXPRESSION_DEPTH)
        for end in ends
        if end != class_id
    )
    return list(dict.fromkeys(filter(None, expressions)))


def _format_expression(arrays: GraphArrays, node: int, prefixes: PrefixMap, depth: int) -> str:
    """Format a class, a value or an expression up to a depth; "" if unsupported."""
    term = arrays.terms.get_term(node)
    if not isinstance(term, BlankNode):
        return _format_example(term, prefixes, {})
    if not depth:
        return ""
    for local, word in _CONNECTIVES.items():
        for head in arrays.follow(node, v.OWL + local)[:1]:
            members: list[int] = []
            cells = [head]
            while (
                cells
                and len(members) < _MAX_LISTED_NAMES
                and (first := arrays.follow(cells[0], v.RDF + "first"))
            ):
                members.append(first[0])
                cells = arrays.follow(cells[0], v.RDF + "rest")
            parts = [_format_expression(arrays, member, prefixes, depth - 1) for member in members]
            return f"({word.join(parts)})" if all(parts) else ""
    for property_node in arrays.follow(node, v.OWL + "onProperty"):
        for local, word in _QUANTIFIERS.items():
            for end in arrays.follow(node, v.OWL + local)[:1]:
                name = _format_expression(arrays, property_node, prefixes, 0)
                value = _format_expression(arrays, end, prefixes, depth - 1)
                return f"{name} {word} {value}" if name and value else ""
    return ""


_MAX_SHAPE_DEPTH = 5
_NODE_KINDS = {
    v.SH + "IRI": v.RDFS_RESOURCE,
    v.SH + "BlankNode": v.RDFS_RESOURCE,
    v.SH + "BlankNodeOrIRI": v.RDFS_RESOURCE,
    v.SH + "Literal": v.RDFS_LITERAL,
}


def parse_shacl(statements: RdfStatements) -> tuple[Shape, ...]:
    """Parse SHACL to one shape per class, sorted by class, with lines sorted by predicate.

    Several shapes of one class are merged. Nothing is counted: `instances` is 0, and lines have
    only `min_count` and `max_count`.
    """
    lines: dict[str, dict[tuple[bool, str], ShapeLine]] = {}
    for subject in statements.describe_subjects(v.SH_PROPERTY):
        for cls in _find_target_classes(subject):
            class_lines = lines.setdefault(cls, {})
            for line in _read_lines(subject, _MAX_SHAPE_DEPTH):
                key = (line.inverse, line.predicate)
                if key in class_lines:
                    first = class_lines[key]
                    max_counts = [
                        limit for limit in (first.max_count, line.max_count) if limit is not None
                    ]
                    class_lines[key] = replace(
                        first,
                        kinds=tuple(dict.fromkeys((*first.kinds, *line.kinds))),
                        example=first.example if first.example is not None else line.example,
                        min_count=max(first.min_count or 0, line.min_count or 0),
                        max_count=min(max_counts, default=None),
                    )
                else:
                    class_lines[key] = line
    return tuple(
        Shape(cls, 0, tuple(class_lines[key] for key in sorted(class_lines)))
        for cls, class_lines in sorted(lines.items())
        if class_lines
    )


def _find_target_classes(subject: SubjectDescription) -> list[str]:
    classes = set(subject.get_iris(v.SH_TARGET_CLASS))
    if isinstance(subject.node, NamedNode) and v.CLASS_TYPES & {*subject.get_iris(v.RDF_TYPE)}:
        classes.add(subject.node.value)
    return sorted(classes)


def _read_lines(subject: SubjectDescription, depth: int) -> Iterator[ShapeLine]:
    for part in subject.get_nodes(v.SH_PROPERTY):
        permitted_terms = [
            t for head in part.get_nodes(v.SH_IN) for t in part.statements.iterate_list(head.node)
        ]
        values = (*part.get_objects(v.SH + "hasValue"), *permitted_terms)
        min_count, max_count = (
            part.statements.get_number(part.node, count_predicate)
            for count_predicate in (v.SH_MIN_COUNT, v.SH_MAX_COUNT)
        )
        kinds = tuple(dict.fromkeys(_iterate_end_kinds(part, _MAX_SHAPE_DEPTH)))
        for path in part.get_nodes(v.SH_PATH):
            for predicate, inverse in _read_path(path):
                example = next(iter(values), None)
                yield ShapeLine(
                    predicate, None, None, kinds, inverse, example, min_count or 0, max_count
                )
    if depth:
        for parent_shape in subject.get_nodes(v.SH_NODE):
            yield from _read_lines(parent_shape, depth - 1)


def _read_path(path: SubjectDescription) -> list[tuple[str, bool]]:
    """Return the predicates of a path: one, an inverse one, or alternatives of these."""
    if isinstance(path.node, NamedNode):
        return [(path.node.value, False)]
    heads = path.get_nodes(v.SH_ALTERNATIVE_PATH)
    alternatives = (term for head in heads for term in path.statements.iterate_list(head.node))
    return [
        *((iri, True) for iri in path.get_iris(v.SH_INVERSE_PATH)),
        *((term.value, False) for term in alternatives if isinstance(term, NamedNode)),
    ]


def _iterate_end_kinds(part: SubjectDescription, depth: int) -> Iterator[str]:
    yield from (*part.get_iris(v.SH_DATATYPE), *part.get_iris(v.SH_CLASS))
    for shape in part.get_nodes(v.SH_NODE):
        yield from _find_target_classes(shape)
    for head in part.get_nodes(v.SH_OR) if depth else ():
        for choice in part.statements.iterate_list(head.node):
            if isinstance(choice, NamedNode | BlankNode):
                yield from _iterate_end_kinds(
                    SubjectDescription(choice, part.statements), depth - 1
                )
    if not any(map(part.get_objects, (v.SH_DATATYPE, v.SH_CLASS, v.SH_NODE, v.SH_OR))):
        yield from filter(None, map(_NODE_KINDS.get, part.get_iris(v.SH_NODE_KIND)))
