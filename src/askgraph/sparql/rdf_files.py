"""Statements of RDF texts, by subject and predicate, in the order of the text."""

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
from xml.parsers import expat

from pyoxigraph import BlankNode, Literal, NamedNode, Quad, RdfFormat, Triple, parse

from askgraph.errors import SetupError
from askgraph.sparql import vocabulary as voc

Node = NamedNode | BlankNode
Term = NamedNode | BlankNode | Literal | Triple
_Object = NamedNode | BlankNode | Literal


def parsed(
    text: str, place: str, *, format: RdfFormat = RdfFormat.TURTLE
) -> tuple["Statements", dict[str, str]]:
    """Return the statements of a text, and its prefixes; `SetupError` with the line of an error.

    Blank nodes keep their labels, so that those of several files can be told to be the same.
    """
    parser = parse(text, format, base_iri="file:///")
    try:
        statements = Statements(parser)
    except SyntaxError as error:
        raise SetupError(f"{place}, line {error.lineno}: {error.msg}") from error
    return statements, dict(parser.prefixes)


def triples_in(rows: Iterable[Sequence[Term | None]], mark: str = "") -> Iterator[Triple]:
    """Yield the triples that rows of three terms are; others are passed over.

    With a `mark` blank nodes are called by it and their own name.
    """
    for row in rows:
        subject, predicate, value = (
            BlankNode(mark + term.value) if mark and isinstance(term, BlankNode) else term
            for term in row
        )
        if _is_node(subject) and isinstance(predicate, NamedNode) and isinstance(value, _Object):
            yield Triple(subject, predicate, value)


_CLOSING_QUOTE = re.compile(r'"(?="|$)')


def turtle_text(text: str) -> str:
    """Return a string as Turtle writes it, over several lines if it has several."""
    if "\n" not in text:
        return str(Literal(text))
    escaped = text.replace("\\", "\\\\").replace("\r", "\\r")
    return '"""' + _CLOSING_QUOTE.sub(r'\\"', escaped) + '"""'


class Statements:
    """Triples by subject and predicate, in order, none twice; the names of graphs are dropped.

    `prefixes` are those that the text declared. Statements about triples are passed over.
    """

    def __init__(
        self, triples: Iterable[Quad | Triple], *, prefixes: Mapping[str, str] | None = None
    ) -> None:
        found: dict[Node, dict[str, dict[Term, None]]] = {}
        for triple in triples:
            if _is_node(triple.subject):
                known = found.setdefault(triple.subject, {})
                known.setdefault(triple.predicate.value, {})[triple.object] = None
        self._objects = found
        self.prefixes = dict(prefixes or {})

    @classmethod
    def parsed(cls, content: bytes, kind: RdfFormat, *, base: str) -> "Statements":
        """Parse a document; `SetupError`, naming its base, if it is no RDF of this kind."""
        check_document(base, kind, [content])
        quads = parse(content, kind, base_iri=base)
        try:
            statements = cls(quads)
        except SyntaxError as error:
            said = str(error)[:300]
            raise SetupError(f"{base!r} does not parse as {kind.name}: {said}") from error
        statements.prefixes = dict(quads.prefixes)
        return statements

    def __len__(self) -> int:
        return len(self._objects)

    @property
    def subjects(self) -> Iterable[Node]:
        """All subjects, in order."""
        return self._objects.keys()

    def having(self, predicate: str) -> Iterator["Described"]:
        """Yield the subjects that have a predicate."""
        for subject, known in self._objects.items():
            if predicate in known:
                yield Described(subject, self)

    def holding(self, *predicates: str) -> list[Node]:
        """Return the subjects that have one of these predicates, in an order of their own."""
        found = [s for s, known in self._objects.items() if any(p in known for p in predicates)]
        return sorted(found, key=str)

    def objects(self, subject: Node, *predicates: str) -> list[Term]:
        """Return the objects of a subject by these predicates, in the order of these."""
        known = self._objects.get(subject, {})
        return [term for predicate in predicates for term in known.get(predicate, ())]

    def nodes(self, subject: Node, *predicates: str) -> list[Node]:
        """Return the IRIs and blank nodes among the objects."""
        return list(filter(_is_node, self.objects(subject, *predicates)))

    def iri(self, subject: Node, predicate: str) -> str | None:
        """Return the IRI among the objects that comes first by name."""
        iris = (o.value for o in self.objects(subject, predicate) if isinstance(o, NamedNode))
        return min(iris, default=None)

    def number(self, subject: Node, predicate: str) -> int | None:
        """Return the highest whole number among the objects."""
        texts = (o.value for o in self.objects(subject, predicate) if not isinstance(o, Triple))
        return max((int(text) for text in texts if text.isdecimal()), default=None)

    def texts(self, subject: Node, *predicates: str) -> list[tuple[str, str]]:
        """Return the (text, language) pairs of the literals among the objects, sorted."""
        literals = (o for o in self.objects(subject, *predicates) if isinstance(o, Literal))
        return sorted({(term.value, term.language or "") for term in literals})

    def listed(self, head: Node) -> Iterator[Term]:
        """Yield the members of an RDF list, however it ends."""
        seen: set[Node] = set()
        while head not in seen and head in self._objects:
            seen.add(head)
            yield from self.objects(head, voc.RDF_FIRST)
            head = next(iter(self.nodes(head, voc.RDF_REST)), NamedNode(voc.RDF_NIL))

    def declared(self, nodes: Iterable[Term] | None = None) -> dict[str, str]:
        """Return the prefixes that are declared as SHACL does (`sh:declare`), by these nodes."""
        found: dict[str, str] = {}
        known = (ontology.node for ontology in self.having(voc.SH_DECLARE))
        for ontology in filter(_is_node, known if nodes is None else nodes):
            for node in self.nodes(ontology, voc.SH_DECLARE):
                declaration = Described(node, self)
                prefix = declaration.text(voc.SH_PREFIX)
                namespace = declaration.text(voc.SH_NAMESPACE) or declaration.iri(voc.SH_NAMESPACE)
                if prefix is not None and namespace is not None:
                    found[prefix] = namespace
        return found


@dataclass(frozen=True)
class Described:
    """A subject and the statements about it."""

    node: Node
    statements: Statements

    def objects(self, predicate: str) -> list[Term]:
        """Return the objects of a predicate."""
        return self.statements.objects(self.node, predicate)

    def literals(self, predicate: str) -> list[Literal]:
        """Return the literals among the objects."""
        return [term for term in self.objects(predicate) if isinstance(term, Literal)]

    def text(self, predicate: str) -> str | None:
        """Return the text of the first literal among the objects."""
        return next((literal.value for literal in self.literals(predicate)), None)

    def labelled(self, predicate: str) -> list[tuple[str, str | None]]:
        """Return the literals among the objects: their texts and languages."""
        return [(term.value, term.language) for term in self.literals(predicate)]

    def nodes(self, predicate: str) -> list["Described"]:
        """Return the IRIs and blank nodes among the objects, described."""
        found = filter(_is_node, self.objects(predicate))
        return [Described(node, self.statements) for node in found]

    def iris(self, predicate: str) -> tuple[str, ...]:
        """Return the IRIs among the objects, none twice."""
        named = (term.value for term in self.objects(predicate) if isinstance(term, NamedNode))
        return tuple(dict.fromkeys(named))

    def iri(self, predicate: str) -> str | None:
        """Return the first IRI among the objects."""
        return next(iter(self.iris(predicate)), None)


def _is_node(term: object) -> TypeGuard[Node]:
    return isinstance(term, Node)


FORMATS = {
    ".ttl": RdfFormat.TURTLE,
    ".turtle": RdfFormat.TURTLE,
    ".nt": RdfFormat.N_TRIPLES,
    ".nq": RdfFormat.N_QUADS,
    ".trig": RdfFormat.TRIG,
    ".rdf": RdfFormat.RDF_XML,
    ".owl": RdfFormat.RDF_XML,
    ".xml": RdfFormat.RDF_XML,
    ".jsonld": RdfFormat.JSON_LD,
    ".json": RdfFormat.JSON_LD,
}
"""By suffix, in lower case."""

RDF_KINDS = {
    "text/turtle": RdfFormat.TURTLE,
    "application/n-triples": RdfFormat.N_TRIPLES,
    "application/rdf+xml": RdfFormat.RDF_XML,
    "application/ld+json": RdfFormat.JSON_LD,
    "application/trig": RdfFormat.TRIG,
}
"""Media types of RDF documents that are understood, the one wanted most first."""


PACKED: Mapping[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.decompress,
    ".bz2": bz2.decompress,
    ".xz": lzma.decompress,
}


def suffix_of(path: Path) -> str:
    """Return the suffix that tells the format of a file, packed or not; empty if it has none."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in PACKED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def read_statements(path: Path) -> Statements:
    """Read an RDF file, packed or not; `SetupError` if it is missing, unknown or wrong."""
    unpacked, kind = PACKED.get(path.suffix.lower()), FORMATS.get(suffix_of(path))
    if kind is None:
        raise SetupError(f"{str(path)!r} is of no known kind: {', '.join(FORMATS)}, or packed")
    try:
        text = path.read_bytes()
        text = unpacked(text) if unpacked else text
    except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
        raise SetupError(f"{str(path)!r} cannot be read: {error}") from error
    return Statements.parsed(text, kind, base=path.absolute().as_uri())


OwnTypes = Mapping[str, str]
"""A graph's own predicates by the standard ones that say the same."""


def with_types(triples: Iterable[Triple | Quad], own: OwnTypes) -> Iterator[Triple | Quad]:
    """Yield triples, and beside those of a graph's own predicates the standard ones that say so.

    What the standard ones themselves say is not of the things: it is left out.
    """
    standard = {NamedNode(iri): NamedNode(said) for said, iri in own.items()}
    known = frozenset(standard.values())
    for triple in triples:
        if triple.predicate in known:
            continue
        yield triple
        said = standard.get(triple.predicate)
        if said is not None:
            yield Triple(triple.subject, said, triple.object)


def check_document(name: str, kind: RdfFormat, content: Iterable[bytes]) -> None:
    """Raise `SetupError` if a document would end or hold its reader: see the checks it calls."""
    if kind == RdfFormat.RDF_XML:
        check_elements(name, content)
    elif kind == RdfFormat.JSON_LD:
        check_depth(name, content)


_DEEPEST = 1000  # things within each other: the readers take some thousand, or ever longer
_ESCAPED = re.compile(rb"\\.", re.DOTALL)
_SIGNS = bytes(sign for sign in range(256) if sign not in b'"{}[]')
_STRING = re.compile(rb'"[^"]*"')


def check_depth(name: str, content: Iterable[bytes]) -> None:
    """Raise `SetupError` if JSON has more than 1,000 objects and lists within each other."""
    depth, before = 0, b""  # what is left of a part: a string, or an escape, that has not ended
    for part in content:
        text = _ESCAPED.sub(b"", before + part)
        signs = _STRING.sub(b"", text.translate(None, _SIGNS))
        open_string, before = signs.partition(b'"')[1], b"\\" if text.endswith(b"\\") else b""
        steps = [1 if sign in b"{[" else -1 for sign in signs.partition(b'"')[0]]
        if max(accumulate(steps, initial=depth)) > _DEEPEST:
            raise _too_deep(name, "objects and lists", "flattened JSON-LD")
        depth += sum(steps)
        before = open_string + before


def _too_deep(name: str, what: str, flat: str) -> SetupError:
    return SetupError(
        f"{name} has more than {_DEEPEST:,} {what} within each other: write it flat, as N-Triples"
        f" or {flat}"
    )


_ENTITIES = 1000  # that a document may define
_LONGEST_ENTITY = 1000  # characters of one
_PREDEFINED = ("&#", "&amp;", "&lt;", "&gt;", "&quot;", "&apos;")


def check_elements(name: str, content: Iterable[bytes]) -> None:
    """Raise `SetupError` for XML with entities that grow, or over 1,000 elements within each other.

    Entities may not be defined by others, by files or at length. What is no XML, or broken, passes:
    that is for the reader of RDF to say.
    """
    parts = iter(content)
    first = next(parts, b"")
    if b"<" not in first[:1024]:
        return
    entities = depth = 0

    def defined(entity: str, parameter: bool, value: str | None, *_: object) -> None:
        nonlocal entities
        entities += 1
        if entities > _ENTITIES:
            raise SetupError(f"{name} defines more than {_ENTITIES:,} entities")
        if parameter or value is None or _grows(value):
            raise SetupError(
                f"{name} defines the entity {entity[:40]!r} by others, by a file or at great"
                " length, which may grow beyond bounds: write it out"
            )

    def begun(_name: str, _attributes: object) -> None:
        nonlocal depth
        depth += 1
        if depth > _DEEPEST:
            raise _too_deep(name, "elements", "Turtle")

    def ended(_name: str) -> None:
        nonlocal depth
        depth -= 1

    parser = expat.ParserCreate()
    parser.ordered_attributes = True  # a list of them is made sooner than a dictionary
    parser.EntityDeclHandler = defined
    parser.StartElementHandler, parser.EndElementHandler = begun, ended
    with suppress(expat.ExpatError):
        for part in chain([first], parts):
            parser.Parse(part, False)


def _grows(value: str) -> bool:
    for known in _PREDEFINED:
        value = value.replace(known, "")
    return "&" in value or len(value) > _LONGEST_ENTITY
