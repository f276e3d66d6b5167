"""Writers of queries from a question and a list of terms: with graph search, or with a model.

`write` returns up to `n` different SPARQL queries, most likely first. They contain no IRI and no
literal except the listed terms, numbers and dates of the question, and the terms of RDF and RDFS.
No query is run.
"""

from dataclasses import dataclass

from askgraph.index.names import ItemKind


@dataclass(frozen=True)
class ListedTerm:
    """A term that a query may contain: linked to the question, or retrieved as similar.

    `target` is an IRI, or a literal as N-Triples text. `positions` are the question's tokens that
    mention it, empty if it was only retrieved; `score` is how well they match (0–1).
    """

    kind: ItemKind
    target: str
    label: str
    description: str = ""
    positions: tuple[int, ...] = ()
    score: float = 0.0


@dataclass(frozen=True)
class Hypothesis:
    """A SPARQL query and its log-probability (natural logarithm; None if unknown)."""

    query: str
    score: float | None = None
