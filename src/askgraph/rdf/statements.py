"""Statements of RDF texts, by subject and predicate, in the order of the text."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeGuard

from pyoxigraph import BlankNode, Literal, NamedNode, Quad, RdfFormat, Triple, parse

from askgraph.errors import SetupError
from askgraph.rdf import vocabulary as voc

__all__ = ["Described", "Statements", "parsed"]

Node = NamedNode | BlankNode


def parsed(
    text: str, place: str, *, format: RdfFormat = RdfFormat.TURTLE
) -> tuple["Statements", dict[str, str]]:
    """Return what a text states, and its prefixes; `SetupError` with the line of an error.

    Blank nodes keep their labels, so that those of several files can be told to be the same.
    """
    parser = parse(text, format, base_iri="file:///")
    try:
        statements = Statements(parser)
    except SyntaxError as error:
        raise SetupError(f"{place}, line {error.lineno}: {error.msg}") from error
    return statements, dict(parser.prefixes)


class Statements:
    """Triples by subject and predicate, in order."""

    def __init__(self, triples: Iterable[Quad | Triple]) -> None:
        self._objects: dict[tuple[object, str], list[object]] = {}
        for triple in triples:
            key = (triple.subject, triple.predicate.value)
            self._objects.setdefault(key, []).append(triple.object)

    def having(self, predicate: str) -> Iterator["Described"]:
        """Yield the subjects that have a predicate."""
        for subject, key in self._objects:
            if key == predicate and isinstance(subject, Node):
                yield Described(subject, self)

    def objects(self, subject: object, predicate: str) -> list[object]:
        """Return the objects of a subject and a predicate."""
        return self._objects.get((subject, predicate), [])

    def declared(self, nodes: Iterable[object] | None = None) -> dict[str, str]:
        """Return the prefixes that are declared as SHACL does (`sh:declare`), by these nodes."""
        found: dict[str, str] = {}
        known = (ontology.node for ontology in self.having(voc.SH_DECLARE))
        for ontology in known if nodes is None else nodes:
            for node in filter(_is_node, self.objects(ontology, voc.SH_DECLARE)):
                declaration = Described(node, self)
                prefix = declaration.text(voc.SH_PREFIX)
                namespace = declaration.text(voc.SH_NAMESPACE) or declaration.iri(voc.SH_NAMESPACE)
                if prefix is not None and namespace is not None:
                    found[prefix] = namespace
        return found


@dataclass(frozen=True)
class Described:
    """A subject and what is stated of it."""

    node: Node
    statements: Statements

    def objects(self, predicate: str) -> list[object]:
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
