"""The writer without a model: graph search's growing, over nothing but the listed terms."""

import asyncio
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from pyoxigraph import NamedNode, Variable

from askgraph import deadline
from askgraph.answers.verbalize import iris_in, iris_of, labels_of, read_for_graph
from askgraph.graph import KnowledgeGraph
from askgraph.graph.arrays import GraphArrays
from askgraph.index.names import Kind
from askgraph.methods.writing import Hypothesis, Listed
from askgraph.methods.writing.references import terms_in, value_text
from askgraph.search.decide import estimate_confidence
from askgraph.search.expand.schema import Schema
from askgraph.search.link import Link, LinkedQuestion
from askgraph.search.operators.query_builder import Candidate
from askgraph.search.pipeline import link_text, load_schema, propose_from_links
from askgraph.search.query_pieces import patterns_in, predicate_of
from askgraph.search.rank import Cluster, Proposal, clusters, weights_for
from askgraph.search.tokenize.question_operators import detect_operators
from askgraph.sparql import vocabulary as voc
from askgraph.sparql.prefixes import words_of_local_name
from askgraph.sparql.serializer import plain_text
from askgraph.trace import Question

_STANDARD = (voc.RDF, voc.RDFS, voc.XSD)
_LEAST = 0.01  # a chance that is said to be smaller is said as this
_NEXT = 0.8  # what is left of the chance for each query that is believed more
_SEEDS = (Kind.ENTITY, Kind.VALUE)
_BELIEVED = 0.5  # the score from which a term is meant although no word of the question is its name
_USED = 0.3  # what a candidate gains by using all that others than its words speak for


@dataclass(frozen=True)
class GrownWriter:
    """Writes the queries of graph search that name only what is listed, the best result first.

    A listed thing of a good score that no word of the question is linked to is taken for what the
    words mean that nothing else is listed for; a predicate that no word names costs, as in graph
    search. What uses more of such terms goes first.
    Of queries with one result only the best is written. The first one's score is the logarithm of
    its confidence, each further one has less. `ranking` is as in `askgraph.methods.graph_search`.
    """

    ranking: str = ""

    async def write(
        self, question: Question, listed: Sequence[Listed], graph: KnowledgeGraph, *, n: int = 1
    ) -> list[Hypothesis]:
        """Write queries; an empty list if none fits."""
        linked = await asyncio.to_thread(_linked, question, tuple(listed), graph)
        schema = await load_schema(linked, graph)
        return await asyncio.to_thread(self._written, linked, schema, listed, graph, n)

    def _written(
        self,
        linked: LinkedQuestion,
        schema: Schema,
        listed: Sequence[Listed],
        graph: KnowledgeGraph,
        n: int,
    ) -> list[Hypothesis]:
        named = frozenset(one.target for one in listed)
        narrow = schema.restricted(named)
        proposal = propose_from_links(
            linked,
            narrow,
            weights=weights_for(graph.name, self.ranking),
        )
        proposal = _believed(proposal, listed)
        found = clusters(proposal.candidates)
        chance = max(_LEAST, estimate_confidence(proposal, found)) if found else _LEAST
        queries = list(_first(_queries(found, named, graph), n))
        return [
            Hypothesis(query, math.log(chance * _NEXT**place))
            for place, query in enumerate(queries)
        ]


def _linked(question: Question, listed: Sequence[Listed], graph: KnowledgeGraph) -> LinkedQuestion:
    """The links of the question to listed terms, and links for those that have none."""
    linked = link_text(question.text, question.language, graph.names)
    wanted = {(one.kind, one.target) for one in listed}
    links = [one for one in linked.links if (one.kind, one.target) in wanted]
    there = {(one.kind, one.target) for one in links}
    taken = detect_operators(linked.reading).mask
    for positions in (*(link.positions for link in links), *(one.positions for one in listed)):
        for at in positions:
            taken |= 1 << at
    content = [at for at, weight in enumerate(linked.weights) if weight]
    free = tuple(at for at in content if not taken >> at & 1) or tuple(content)
    named = any(link.kind is not Kind.PREDICATE for link in links)
    unnamed = _SEEDS if named else (*_SEEDS, Kind.CLASS)
    for one in listed:
        if (one.kind, one.target) in there:
            continue
        if one.positions:
            links.append(_link(one, one.positions, one.score))
        elif one.score >= _BELIEVED and one.kind in unnamed and free:
            links.append(_link(one, free, _BELIEVED))
    ordered = sorted(links, key=lambda link: (-link.score, link.positions, link.target))
    return replace(linked, links=tuple(ordered))


def _link(one: Listed, positions: tuple[int, ...], score: float) -> Link:
    fit = min(1.0, max(_BELIEVED, score))
    return Link(one.kind, one.target, one.label, fit, positions, (fit,) * len(positions))


def _believed(proposal: Proposal, listed: Sequence[Listed]) -> Proposal:
    """The candidates anew in order: those first that use what was listed without a word for it."""
    sure = {one.target for one in listed if one.score >= _BELIEVED and not one.positions}
    if not sure:
        return proposal

    def scored(candidate: Candidate) -> Candidate:
        found: set[str] = set()
        for pattern in patterns_in(candidate.tree.where):
            found.add(predicate_of(pattern))
            ends = (
                end for end in (pattern.subject, pattern.object) if not isinstance(end, Variable)
            )
            found |= {end.value if isinstance(end, NamedNode) else str(end) for end in ends}
        used = sure & found
        return replace(candidate, score=candidate.score + _USED * len(used) / len(sure))

    anew = sorted(map(scored, proposal.candidates), key=lambda one: -one.score)
    return replace(proposal, candidates=tuple(anew))


def _queries(
    found: Sequence[Cluster], named: frozenset[str], graph: KnowledgeGraph
) -> Iterator[str]:
    """The best query of each result that names nothing but listed and standard terms."""
    for cluster in found:
        for member in cluster.members:
            iris = iris_in(member.query)
            if all(iri in named or iri.startswith(_STANDARD) for iri in iris):
                yield plain_text(member.query, graph.prefixes)
                break


def _first(queries: Iterator[str], n: int) -> Iterator[str]:
    seen: set[str] = set()
    for query in queries:
        if len(seen) == n:
            return
        if query not in seen:
            seen.add(query)
            yield query


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
    return [read_for_graph(query, labels, graph, language, near=near) for query in queries]
