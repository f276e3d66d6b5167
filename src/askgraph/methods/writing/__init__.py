"""Writers of queries from a question and the terms that these may name: grown, or by a model.

`write` gives up to `n` different queries, most believed first, in SPARQL. They name no IRI and no
literal but those listed, numbers and dates of the question, and the terms of RDF and RDFS. Nothing
is run.
"""

from dataclasses import dataclass

from askgraph.index.names import Kind


@dataclass(frozen=True)
class Listed:
    """A term that a query may name: what a question was linked to, or what comes near.

    `target` is an IRI, or a literal as N-Triples text. `positions` are the question's tokens that
    mean it, none if it was only retrieved; `score` says how well they fit (0–1).
    """

    kind: Kind
    target: str
    label: str
    description: str = ""
    positions: tuple[int, ...] = ()
    score: float = 0.0


@dataclass(frozen=True)
class Hypothesis:
    """A query in SPARQL and its log-probability (natural logarithm; None if nobody tells)."""

    query: str
    score: float | None = None
