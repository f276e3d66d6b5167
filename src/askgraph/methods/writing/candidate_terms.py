"""Terms and readings of candidates: what they name, with labels, and how they are worded."""

from collections.abc import Iterable, Sequence

from askgraph import deadline
from askgraph.answers.verbalize import in_words, iris_of, labels_of, language_of_labels
from askgraph.graph import KnowledgeGraph
from askgraph.graph.arrays import GraphArrays
from askgraph.index.names import Kind
from askgraph.methods.writing import Listed
from askgraph.methods.writing.references import terms_in, value_text
from askgraph.search.rank import Cluster, Proposal
from askgraph.sparql.prefixes import words_of_local_name

CONSIDERED = 6
"""How many clusters of candidates are read."""

_SHARE = 0.5  # of the time left, for the labels of a remote graph


async def listed_of(
    queries: Iterable[str], graph: KnowledgeGraph, language: str | None,
    near: GraphArrays | None = None,
) -> tuple[Listed, ...]:  # fmt: skip
    """Return the terms that queries name, by their IRIs; what cannot be read names nothing."""
    found = terms_in(queries)
    seconds = deadline.at_most(None, share=_SHARE)
    iris = [target for kind, target in found if kind is not Kind.VALUE]
    labels = await labels_of(iris, graph, [language or "en"], timeout=seconds, near=near)

    def label(kind: Kind, target: str) -> str:
        if kind is Kind.VALUE:
            return value_text(target)
        return labels.get(target) or words_of_local_name(target) or target

    return tuple(
        Listed(kind, target, label(kind, target), score=1.0)
        for kind, target in sorted(found, key=lambda one: (one[1], one[0].name))
    )


async def readings_of(
    found: Sequence[Cluster], proposal: Proposal, graph: KnowledgeGraph
) -> list[str]:
    """Return the best candidates of clusters in words, as they are shown beside an answer."""
    language, near = proposal.reading.language, proposal.schema.graph
    queries = [one.best.query for one in found]
    iris = (iri for query in queries for iri in iris_of(query))
    seconds = deadline.at_most(None, share=_SHARE)
    labels = await labels_of(iris, graph, [language], timeout=seconds, near=near)
    nouns = language_of_labels(graph, language)
    return [in_words(query, labels, language=language, nouns=nouns) for query in queries]
