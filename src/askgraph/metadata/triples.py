"""RDF that describes a graph, as triples: from a file, from text, looked up by subject."""

import bz2
import gzip
import lzma
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pyoxigraph import BlankNode, Literal, NamedNode, RdfFormat, Triple, parse

from askgraph.errors import SetupError
from askgraph.rdf import vocabulary as v
from askgraph.sparql.results import Term, value_of

__all__ = ["Described", "Node", "read_described"]

Node = NamedNode | BlankNode
_PACKED: Mapping[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.decompress,
    ".bz2": bz2.decompress,
    ".xz": lzma.decompress,
}
_FORMATS = {
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


@dataclass(frozen=True)
class Described:
    """Triples by subject and predicate; the names of their graphs are dropped.

    `prefixes` are those that the text declared.
    """

    subjects: Mapping[Node, Mapping[str, tuple[Term, ...]]]
    prefixes: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls, triples: Iterable[Triple], *, prefixes: Mapping[str, str] | None = None
    ) -> "Described":
        """Index triples; those about triples are passed over."""
        found: dict[Node, dict[str, list[Term]]] = defaultdict(lambda: defaultdict(list))
        for triple in triples:
            if isinstance(triple.subject, NamedNode | BlankNode):
                found[triple.subject][triple.predicate.value].append(triple.object)
        whole = {
            subject: {p: tuple(dict.fromkeys(listed)) for p, listed in predicates.items()}
            for subject, predicates in found.items()
        }
        return cls(whole, dict(prefixes or {}))

    @classmethod
    def parsed(cls, text: bytes, kind: RdfFormat, *, base: str) -> "Described":
        """Parse a text; `SetupError` where it is no RDF of this kind."""
        quads = parse(text, kind, base_iri=base)
        try:
            triples = [quad.triple for quad in quads]
        except SyntaxError as error:
            raise SetupError(f"{base!r} does not parse as {kind.name}: {error}") from error
        return cls.of(triples, prefixes=quads.prefixes)

    def __len__(self) -> int:
        return len(self.subjects)

    def objects(self, subject: Node, *predicates: str) -> tuple[Term, ...]:
        """All objects of a subject by these predicates, in the order of these."""
        known = self.subjects.get(subject, {})
        return tuple(term for predicate in predicates for term in known.get(predicate, ()))

    def nodes(self, subject: Node, *predicates: str) -> tuple[Node, ...]:
        """Those objects of a subject that are IRIs or blank nodes."""
        found = self.objects(subject, *predicates)
        return tuple(term for term in found if isinstance(term, NamedNode | BlankNode))

    def iri(self, subject: Node, predicate: str) -> str | None:
        """The first IRI that a subject has by a predicate, by name; None where there is none."""
        iris = [t.value for t in self.objects(subject, predicate) if isinstance(t, NamedNode)]
        return min(iris, default=None)

    def number(self, subject: Node, predicate: str) -> int | None:
        """The highest whole number that a subject has by a predicate; None where none."""
        texts = [value_of(term) or "" for term in self.objects(subject, predicate)]
        return max((int(text) for text in texts if text.isdigit()), default=None)

    def texts(self, subject: Node, *predicates: str) -> tuple[tuple[str, str], ...]:
        """The (text, language) pairs of a subject's literals by these predicates, sorted."""
        found = [
            (term.value, term.language or "")
            for term in self.objects(subject, *predicates)
            if isinstance(term, Literal)
        ]
        return tuple(sorted(set(found)))

    def listed(self, head: Node) -> Iterator[Term]:
        """The members of an RDF list, however it ends."""
        seen: set[Node] = set()
        while head not in seen and head in self.subjects:
            seen.add(head)
            yield from self.objects(head, v.RDF_FIRST)
            head = next(iter(self.nodes(head, v.RDF_REST)), NamedNode(v.RDF_NIL))

    def holding(self, *predicates: str) -> list[Node]:
        """All subjects that have one of these predicates, in a fixed order."""
        found = [s for s, known in self.subjects.items() if any(p in known for p in predicates)]
        return sorted(found, key=str)


def read_described(path: Path) -> Described:
    """Read an RDF file, packed or not; `SetupError` where it is missing, unknown or wrong."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    unpacked = _PACKED.get(suffixes[-1] if suffixes else "")
    kind = _FORMATS.get("".join((suffixes[:-1] if unpacked else suffixes)[-1:]))
    if kind is None:
        raise SetupError(f"{str(path)!r} is of no known kind: {', '.join(_FORMATS)}, or packed")
    try:
        text = path.read_bytes()
        text = unpacked(text) if unpacked else text
    except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
        raise SetupError(f"{str(path)!r} cannot be read: {error}") from error
    return Described.parsed(text, kind, base=path.absolute().as_uri())
