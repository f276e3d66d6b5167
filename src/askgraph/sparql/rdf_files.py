"""Read RDF documents into statements by subject and predicate, in document order."""

import bz2
import gzip
import lzma
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import accumulate, chain
from pathlib import Path
from typing import TypeGuard
from urllib.parse import urlsplit
from xml.parsers import expat

from pyoxigraph import BlankNode, Literal, NamedNode, Quad, RdfFormat, Triple, parse

from askgraph.errors import SetupError
from askgraph.sparql import vocabulary as voc

Node = NamedNode | BlankNode
Term = NamedNode | BlankNode | Literal | Triple
_Object = NamedNode | BlankNode | Literal


def parse_statements(
    text: str, source: str, *, format: RdfFormat = RdfFormat.TURTLE
) -> tuple["RdfStatements", dict[str, str]]:
    """Return the statements of a text, and its prefixes.

    Blank nodes keep their labels, so that those of several files can be matched.

    Raises:
        SetupError: the text has a syntax error; with the line.
    """
    parser = parse(text, format, base_iri="file:///")
    try:
        statements = RdfStatements(parser)
    except SyntaxError as error:
        raise SetupError(f"{source}, line {error.lineno}: {error.msg}") from error
    return statements, dict(parser.prefixes)


def build_triples(
    rows: Iterable[Sequence[Term | None]], blank_prefix: str = ""
) -> Iterator[Triple]:
    """Yield triples from rows of three terms; other rows are skipped.

    Args:
        blank_prefix: prefix for the labels of blank nodes; empty: keep the labels.
    """
    for row in rows:
        subject, predicate, value = (
            BlankNode(blank_prefix + term.value)
            if blank_prefix and isinstance(term, BlankNode)
            else term
            for term in row
        )
        if _is_node(subject) and isinstance(predicate, NamedNode) and isinstance(value, _Object):
            yield Triple(subject, predicate, value)


_CLOSING_QUOTE = re.compile(r'"(?="|$)')


def write_turtle_string(text: str) -> str:
    """Return a string literal in Turtle, over several lines if it has several."""
    if "\n" not in text:
        return str(Literal(text))
    escaped = text.replace("\\", "\\\\").replace("\r", "\\r")
    return '"""' + _CLOSING_QUOTE.sub(r'\\"', escaped) + '"""'


class RdfStatements:
    """Triples by subject and predicate, in order, without duplicates; graph names are dropped.

    `prefixes` are those that the text declares. Statements about triples are skipped.
    """

    def __init__(
        self, triples: Iterable[Quad | Triple], *, prefixes: Mapping[str, str] | None = None
    ) -> None:
        objects_by_subject: dict[Node, dict[str, dict[Term, None]]] = {}
        for triple in triples:
            if _is_node(triple.subject):
                objects_by_predicate = objects_by_subject.setdefault(triple.subject, {})
                objects_by_predicate.setdefault(triple.predicate.value, {})[triple.object] = None
        self._objects = objects_by_subject
        self.prefixes = dict(prefixes or {})

    @classmethod
    def parse_document(cls, content: bytes, kind: RdfFormat, *, base: str) -> "RdfStatements":
        """Parse a document; raise `SetupError` with its base if it is not RDF of this kind."""
        check_document(base, kind, [content])
        quads = parse(content, kind, base_iri=base)
        try:
            statements = cls(quads)
        except SyntaxError as error:
            message = str(error)[:300]
            raise SetupError(f"{base!r} does not parse as {kind.name}: {message}") from error
        statements.prefixes = dict(quads.prefixes)
        return statements

    def __len__(self) -> int:
        return len(self._objects)

    @property
    def subjects(self) -> Iterable[Node]:
        """All subjects, in order."""
        return self._objects.keys()

    def describe_subjects(self, predicate: str) -> Iterator["SubjectDescription"]:
        """Yield the subjects that have a predicate."""
        for subject, predicates in self._objects.items():
            if predicate in predicates:
                yield SubjectDescription(subject, self)

    def list_subjects(self, *predicates: str) -> list[Node]:
        """Return the subjects that have one of some predicates, sorted."""
        subjects = [
            subject
            for subject, subject_predicates in self._objects.items()
            if any(predicate in subject_predicates for predicate in predicates)
        ]
        return sorted(subjects, key=str)

    def get_objects(self, subject: Node, *predicates: str) -> list[Term]:
        """Return the objects of a subject by some predicates, in the order of these."""
        objects_by_predicate = self._objects.get(subject, {})
        return [
            term for predicate in predicates for term in objects_by_predicate.get(predicate, ())
        ]

    def get_nodes(self, subject: Node, *predicates: str) -> list[Node]:
        """Return the IRIs and blank nodes among the objects."""
        return list(filter(_is_node, self.get_objects(subject, *predicates)))

    def get_iri(self, subject: Node, predicate: str) -> str | None:
        """Return the alphabetically first IRI among the objects, or None."""
        iris = (
            term.value
            for term in self.get_objects(subject, predicate)
            if isinstance(term, NamedNode)
        )
        return min(iris, default=None)

    def get_number(self, subject: Node, predicate: str) -> int | None:
        """Return the highest whole number among the objects, or None."""
        texts = (
            term.value
            for term in self.get_objects(subject, predicate)
            if not isinstance(term, Triple)
        )
        return max((int(text) for text in texts if text.isdecimal()), default=None)

    def get_texts(self, subject: Node, *predicates: str) -> list[tuple[str, str]]:
        """Return the (text, language) pairs of the literals among the objects, sorted."""
        literals = (
            object_term
            for object_term in self.get_objects(subject, *predicates)
            if isinstance(object_term, Literal)
        )
        return sorted({(term.value, term.language or "") for term in literals})

    def iterate_list(self, head: Node) -> Iterator[Term]:
        """Yield the members of an RDF list, even if it is not terminated."""
        visited: set[Node] = set()
        while head not in visited and head in self._objects:
            visited.add(head)
            yield from self.get_objects(head, voc.RDF_FIRST)
            head = next(iter(self.get_nodes(head, voc.RDF_REST)), NamedNode(voc.RDF_NIL))

    def get_declared_prefixes(self, nodes: Iterable[Term] | None = None) -> dict[str, str]:
        """Return the prefixes declared with `sh:declare` (SHACL), by some nodes or by any."""
        prefixes: dict[str, str] = {}
        declaring_nodes = (ontology.node for ontology in self.describe_subjects(voc.SH_DECLARE))
        for ontology in filter(_is_node, declaring_nodes if nodes is None else nodes):
            for node in self.get_nodes(ontology, voc.SH_DECLARE):
                declaration = SubjectDescription(node, self)
                prefix = declaration.get_text(voc.SH_PREFIX)
                namespace = declaration.get_text(voc.SH_NAMESPACE) or declaration.get_iri(
                    voc.SH_NAMESPACE
                )
                if prefix is not None and namespace is not None:
                    prefixes[prefix] = namespace
        return prefixes


@dataclass(frozen=True)
class SubjectDescription:
    """A subject and the statements about it."""

    node: Node
    statements: RdfStatements

    def get_objects(self, predicate: str) -> list[Term]:
        """Return the objects of a predicate."""
        return self.statements.get_objects(self.node, predicate)

    def get_literals(self, predicate: str) -> list[Literal]:
        """Return the literals among the objects."""
        return [term for term in self.get_objects(predicate) if isinstance(term, Literal)]

    def get_text(self, predicate: str) -> str | None:
        """Return the text of the first literal among the objects, or None."""
        return next((literal.value for literal in self.get_literals(predicate)), None)

    def get_labels(self, predicate: str) -> list[tuple[str, str | None]]:
        """Return the texts and languages of the literals among the objects."""
        return [(term.value, term.language) for term in self.get_literals(predicate)]

    def get_nodes(self, predicate: str) -> list["SubjectDescription"]:
        """Return the descriptions of the IRIs and blank nodes among the objects."""
        nodes = filter(_is_node, self.get_objects(predicate))
        return [SubjectDescription(node, self.statements) for node in nodes]

    def get_iris(self, predicate: str) -> tuple[str, ...]:
        """Return the IRIs among the objects, without duplicates."""
        iris = (term.value for term in self.get_objects(predicate) if isinstance(term, NamedNode))
        return tuple(dict.fromkeys(iris))

    def get_iri(self, predicate: str) -> str | None:
        """Return the first IRI among the objects, or None."""
        return next(iter(self.get_iris(predicate)), None)


def _is_node(term: object) -> TypeGuard[Node]:
    return isinstance(term, Node)


FORMAT_BY_SUFFIX = {
    ".ttl": RdfFormat.TURTLE, ".turtle": RdfFormat.TURTLE, ".nt": RdfFormat.N_TRIPLES,
    ".nq": RdfFormat.N_QUADS, ".trig": RdfFormat.TRIG, ".rdf": RdfFormat.RDF_XML,
    ".owl": RdfFormat.RDF_XML, ".xml": RdfFormat.RDF_XML, ".jsonld": RdfFormat.JSON_LD,
    ".json": RdfFormat.JSON_LD, ".n3": RdfFormat.N3,
}  # fmt: skip
"""RDF formats by lower-case file suffix."""
TABLE_SUFFIXES = (".csv", ".tsv")
"""Suffixes of tables with a line of column names."""
READABLE_SUFFIXES = (*FORMAT_BY_SUFFIX, *TABLE_SUFFIXES)
"""Suffixes of the files that can be read, without those of compression."""

FORMAT_BY_MEDIA_TYPE = {
    "text/turtle": RdfFormat.TURTLE,
    "application/n-triples": RdfFormat.N_TRIPLES,
    "application/rdf+xml": RdfFormat.RDF_XML,
    "application/ld+json": RdfFormat.JSON_LD,
    "application/trig": RdfFormat.TRIG,
    "application/n-quads": RdfFormat.N_QUADS,
    "text/n3": RdfFormat.N3,
}
"""RDF formats by media type, the preferred one first."""


DECOMPRESSOR_BY_SUFFIX: Mapping[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.decompress,
    ".bz2": bz2.decompress,
    ".xz": lzma.decompress,
}


def get_format_suffix(path: Path) -> str:
    """Return the suffix for the format of a file, compressed or not; empty without one."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in DECOMPRESSOR_BY_SUFFIX:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def is_rdf_url(source: str) -> bool:
    """Return whether a source is the web address of an RDF or CSV file, by its suffix."""
    is_url = source.startswith(("http://", "https://"))
    return is_url and get_format_suffix(Path(urlsplit(source).path)) in (*READABLE_SUFFIXES, ".zip")


def read_statements(path: Path) -> RdfStatements:
    """Read an RDF file, also compressed; raise `SetupError` if missing, damaged or unknown."""
    decompress = DECOMPRESSOR_BY_SUFFIX.get(path.suffix.lower())
    rdf_format = FORMAT_BY_SUFFIX.get(get_format_suffix(path))
    if rdf_format is None:
        raise SetupError(
            f"{str(path)!r} has an unknown file type; supported: "
            f"{', '.join(FORMAT_BY_SUFFIX)}, each also compressed"
        )
    try:
        content = path.read_bytes()
        content = decompress(content) if decompress else content
    except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
        raise SetupError(f"{str(path)!r} cannot be read: {error}") from error
    return RdfStatements.parse_document(content, rdf_format, base=path.absolute().as_uri())


OwnPredicates = Mapping[str, str]
"""A graph's own predicates by the standard ones with the same meaning."""


def add_standard_triples(
    triples: Iterable[Triple | Quad], own_predicates: OwnPredicates
) -> Iterator[Triple | Quad]:
    """Yield triples, and for a graph's own predicates also the equivalent standard triples.

    Triples of the standard predicates themselves are dropped: they do not describe the content.
    """
    standard_by_own = {
        NamedNode(iri): NamedNode(standard_iri) for standard_iri, iri in own_predicates.items()
    }
    standard_predicates = frozenset(standard_by_own.values())
    for triple in triples:
        if triple.predicate in standard_predicates:
            continue
        yield triple
        standard_iri = standard_by_own.get(triple.predicate)
        if standard_iri is not None:
            yield Triple(triple.subject, standard_iri, triple.object)


def check_document(name: str, kind: RdfFormat, content: Iterable[bytes]) -> None:
    """Raise `SetupError` if a document could crash or block its parser; see the checks called."""
    if kind == RdfFormat.RDF_XML:
        check_xml_elements(name, content)
    elif kind == RdfFormat.JSON_LD:
        check_json_depth(name, content)


# Nesting depth: parsers fail beyond a few thousand, or become ever slower.
_MAX_NESTING_DEPTH = 1000
_ESCAPED_BYTE = re.compile(rb"\\.", re.DOTALL)
_IGNORED_JSON_BYTES = bytes(sign for sign in range(256) if sign not in b'"{}[]')
_JSON_STRING = re.compile(rb'"[^"]*"')


def check_json_depth(name: str, content: Iterable[bytes]) -> None:
    """Raise `SetupError` if JSON nests more than 1,000 objects and lists."""
    depth, pending = 0, b""  # the rest of a chunk: an unfinished string or escape
    for part in content:
        text = _ESCAPED_BYTE.sub(b"", pending + part)
        marks = _JSON_STRING.sub(b"", text.translate(None, _IGNORED_JSON_BYTES))
        open_string, pending = marks.partition(b'"')[1], b"\\" if text.endswith(b"\\") else b""
        steps = [1 if sign in b"{[" else -1 for sign in marks.partition(b'"')[0]]
        if max(accumulate(steps, initial=depth)) > _MAX_NESTING_DEPTH:
            raise _build_depth_error(name, "objects and lists", "flattened JSON-LD")
        depth += sum(steps)
        pending = open_string + pending


def _build_depth_error(name: str, content: str, flat_format: str) -> SetupError:
    return SetupError(
        f"{name} has more than {_MAX_NESTING_DEPTH:,} {content} within each other: write it "
        "flat, as N-Triples"
        f" or {flat_format}"
    )


_MAX_ENTITIES = 1000  # entities that a document may define
_MAX_ENTITY_CHARACTERS = 1000  # characters of one entity
_PREDEFINED = ("&#", "&amp;", "&lt;", "&gt;", "&quot;", "&apos;")


def check_xml_elements(name: str, content: Iterable[bytes]) -> None:
    """Raise `SetupError` for XML with growing entities, or with more than 1,000 nested elements.

    Entities must not refer to other entities or files, and must be short. Text that is not
    well-formed XML passes: the RDF parser reports it.
    """
    parts = iter(content)
    first_part = next(parts, b"")
    if b"<" not in first_part[:1024]:
        return
    entity_count = depth = 0

    def count_entity(entity: str, parameter: bool, value: str | None, *_: object) -> None:
        nonlocal entity_count
        entity_count += 1
        if entity_count > _MAX_ENTITIES:
            raise SetupError(f"{name} defines more than {_MAX_ENTITIES:,} entities")
        if parameter or value is None or _can_grow(value):
            raise SetupError(
                f"{name} defines the entity {entity[:40]!r} by other entities, by a file "
                "or at great length, which may expand without limit: write out its text"
            )

    def enter_element(_name: str, _attributes: object) -> None:
        nonlocal depth
        depth += 1
        if depth > _MAX_NESTING_DEPTH:
            raise _build_depth_error(name, "elements", "Turtle")

    def leave_element(_name: str) -> None:
        nonlocal depth
        depth -= 1

    parser = expat.ParserCreate()
    parser.ordered_attributes = True  # a list is faster to build than a dictionary
    parser.EntityDeclHandler = count_entity
    parser.StartElementHandler, parser.EndElementHandler = enter_element, leave_element
    with suppress(expat.ExpatError):
        for part in chain([first_part], parts):
            parser.Parse(part, False)


def _can_grow(value: str) -> bool:
    for entity in _PREDEFINED:
        value = value.replace(entity, "")
    return "&" in value or len(value) > _MAX_ENTITY_CHARACTERS
