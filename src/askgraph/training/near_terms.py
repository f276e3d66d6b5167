"""The terms of a graph by name, and for each the wrong ones that come nearest to it."""

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pyoxigraph import Literal

from askgraph import registry
from askgraph.graph import KnowledgeGraph
from askgraph.index import Resource, SearchIndex
from askgraph.index.names import Kind
from askgraph.rdf.labels import words_of_local_name
from askgraph.sparql.read import read
from askgraph.sparql.tree import Pattern
from askgraph.writing import Listed

__all__ = ["NearTerms", "near_terms"]

_KEYS = {
    Kind.ENTITY: "entities",
    Kind.CLASS: "entities",
    Kind.PREDICATE: "properties",
    Kind.VALUE: "literals",
}


@dataclass(frozen=True, eq=False)
class NearTerms:
    """Searches the terms of one graph by BM25; `classes` are the IRIs of its classes."""

    indices: Mapping[str, SearchIndex[Resource]]
    labels: Mapping[str, str]
    classes: frozenset[str]

    def listed(self, kind: Kind, target: str) -> Listed:
        """Return a term with its label, made of the IRI or the value where the graph has none."""
        if kind is Kind.VALUE:
            return Listed(kind, target, _value(target), score=1.0)
        label = self.labels.get(target) or words_of_local_name(target) or target
        return Listed(kind, target, label, score=1.0)

    def near(self, kind: Kind, label: str, limit: int) -> list[Listed]:
        """Return the terms of a kind whose names are most like a label, itself among them."""
        index = self.indices[_KEYS[kind]]
        if kind is Kind.CLASS:
            hits = index.search(label, limit=limit, within=self.classes)
        else:
            hits = index.search(label, limit=limit + min(len(self.classes), 100))
        found = [hit.item.iri for hit in hits]
        if kind is Kind.ENTITY:
            found = [iri for iri in found if iri not in self.classes]
        return [self.listed(kind, iri) for iri in found[:limit]]


@contextmanager
def near_terms(graph: KnowledgeGraph) -> Iterator[NearTerms]:
    """Index the terms of a graph by BM25 for a while; its indices are read, or built, for that."""
    made: dict[str, SearchIndex[Resource]] = {}
    labels: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        for key in dict.fromkeys(_KEYS.values()):
            resources = list(graph.indices[key].resources())  # type: ignore[attr-defined]
            labels.update((each.iri, each.label) for each in resources)
            build = registry.load("index", "bm25").build  # type: ignore[attr-defined]
            made[key] = build(resources, Path(folder) / key)
        classes = frozenset(each.iri for each in graph.profile.classes)
        yield NearTerms(made, labels, classes)


def _value(target: str) -> str:
    """The text of a literal given as N-Triples."""
    pattern = read(f"ASK {{ ?s ?p {target} }}").where.elements[0]
    literal = pattern.object if isinstance(pattern, Pattern) else None
    return literal.value if isinstance(literal, Literal) else target
