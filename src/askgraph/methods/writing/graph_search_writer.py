"""The writer without a model: graph search, restricted to the listed terms."""

import asyncio
import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice

from pyoxigraph import NamedNode, Variable

from askgraph import deadline
from askgraph.answers.verbalize import fetch_term_labels, list_iris
from askgraph.errors import QuerySyntaxError
from askgraph.graph import KnowledgeGraph
from askgraph.graph.arrays import GraphArrays
from askgraph.index.names import ItemKind
from askgraph.methods.writing import Hypothesis, ListedTerm
from askgraph.methods.writing.term_names import list_required_terms, parse_literal_text
from askgraph.search.decide import estimate_confidence
from askgraph.search.expand.schema import Schema
from askgraph.search.link import Link, LinkedQuestion
from askgraph.search.operators.query_builder import QueryCandidate
from askgraph.search.pipeline import link_text, load_schema, propose_from_links
from askgraph.search.query_pieces import get_predicate, list_patterns
from askgraph.search.rank import Cluster, RankedCandidates, cluster_candidates, load_weights
from askgraph.search.tokenize.question_operators import detect_operators
from askgraph.sparql import vocabulary as voc
from askgraph.sparql.prefixes import split_local_name
from askgraph.sparql.serializer import render_query
from askgraph.trace import Question

_STANDARD_NAMESPACES = (voc.RDF, voc.RDFS, voc.XSD)
_MIN_PROBABILITY = 0.01  # lower bound of a reported probability
_NEXT_QUERY_RATIO = 0.8  # probability factor for each better query
_SEED_KINDS = (ItemKind.ENTITY, ItemKind.VALUE)
_MIN_TERM_SCORE = 0.5  # minimum score of a term that no word of the question names
_TERM_USE_WEIGHT = 0.3  # bonus of a candidate that uses all terms with support beyond its words


@dataclass(frozen=True)
class GraphSearchWriter:
    """Writes the queries of graph search that contain only listed terms, the best result first.

    If no word of the question is linked to a listed term with a good score, that term is linked to
    the words without a listed term. A predicate that no word names costs score, as in graph search.
    Candidates that use more of such terms come first. Of queries with the same result only the best
    is written. The score of the first one is the logarithm of its confidence; the scores decrease
    from there. `ranking` is as in `askgraph.methods.graph_search`.
    """

    ranking: str = ""

    async def write(
        self, question: Question, terms: Sequence[ListedTerm], graph: KnowledgeGraph, *, n: int = 1
    ) -> list[Hypothesis]:
        """Write queries; the list is empty if none fits."""
        linked = await asyncio.to_thread(_link_listed_terms, question, tuple(terms), graph)
        schema = await load_schema(linked, graph)
        return await asyncio.to_thread(self._write_queries, linked, schema, terms, graph, n)

    def _write_queries(
        self,
        linked: LinkedQuestion,
        schema: Schema,
        terms: Sequence[ListedTerm],
        graph: KnowledgeGraph,
        n: int,
    ) -> list[Hypothesis]:
        listed_iris = frozenset(term.target for term in terms)
        listed_schema = schema.restrict(listed_iris)
        proposal = propose_from_links(
            linked, listed_schema, weights=load_weights(graph.name, self.ranking)
        )
        proposal = _boost_listed_terms(proposal, terms)
        ranked_clusters = cluster_candidates(proposal.candidates)
        confidence = estimate_confidence(proposal, ranked_clusters) if ranked_clusters else 0.0
        probability = max(_MIN_PROBABILITY, confidence)
        queries = list(islice(_select_queries(ranked_clusters, listed_iris, graph), n))
        return [
            Hypothesis(query, math.log(probability * _NEXT_QUERY_RATIO**rank))
            for rank, query in enumerate(queries)
        ]


def _link_listed_terms(
    question: Question, terms: Sequence[ListedTerm], graph: KnowledgeGraph
) -> LinkedQuestion:
    """Return the question's links to listed terms, with added links for the terms without one."""
    linked = link_text(question.text, question.language, graph.names)
    listed_keys = {(item.kind, item.target) for item in terms}
    links = [item for item in linked.links if (item.kind, item.target) in listed_keys]
    linked_keys = {(item.kind, item.target) for item in links}
    used_mask = detect_operators(linked.reading).mask
    for positions in (*(link.positions for link in links), *(item.positions for item in terms)):
        for at in positions:
            used_mask |= 1 << at
    content = [at for at, weight in enumerate(linked.weights) if weight]
    free_positions = tuple(at for at in content if not used_mask >> at & 1) or tuple(content)
    has_seed = any(link.kind is not ItemKind.PREDICATE for link in links)
    linkable_kinds = _SEED_KINDS if has_seed else (*_SEED_KINDS, ItemKind.CLASS)
    for item in terms:
        if (item.kind, item.target) in linked_keys:
            continue
        if item.positions:
            links.append(_build_link(item, item.positions, item.score))
        elif item.score >= _MIN_TERM_SCORE and item.kind in linkable_kinds and free_positions:
            links.append(_build_link(item, free_positions, _MIN_TERM_SCORE))
    ordered = sorted(links, key=lambda link: (-link.score, link.positions, link.target))
    return replace(linked, links=tuple(ordered))


def _build_link(term: ListedTerm, positions: tuple[int, ...], score: float) -> Link:
    fit = min(1.0, max(_MIN_TERM_SCORE, score))
    return Link(term.kind, term.target, term.label, fit, positions, (fit,) * len(positions))


def _boost_listed_terms(
    proposal: RankedCandidates, terms: Sequence[ListedTerm]
) -> RankedCandidates:
    """Rerank candidates: first those that use listed terms without a word of their own."""
    trusted_targets = {
        item.target for item in terms if item.score >= _MIN_TERM_SCORE and not item.positions
    }
    if not trusted_targets:
        return proposal

    def score_candidate(candidate: QueryCandidate) -> QueryCandidate:
        targets: set[str] = set()
        for pattern in list_patterns(candidate.tree.where):
            targets.add(get_predicate(pattern))
            ends = (
                end for end in (pattern.subject, pattern.object) if not isinstance(end, Variable)
            )
            targets |= {end.value if isinstance(end, NamedNode) else str(end) for end in ends}
        used_targets = trusted_targets & targets
        return replace(
            candidate,
            score=candidate.score + _TERM_USE_WEIGHT * len(used_targets) / len(trusted_targets),
        )

    ranked = sorted(map(score_candidate, proposal.candidates), key=lambda item: -item.score)
    return replace(proposal, candidates=tuple(ranked))


def _select_queries(
    ranked_clusters: Sequence[Cluster], listed_iris: frozenset[str], graph: KnowledgeGraph
) -> Iterator[str]:
    """Yield the best query of each result that contains only listed and standard terms, once."""
    previous: set[str] = set()
    for cluster in ranked_clusters:
        for member in cluster.members:
            iris = list_iris(member.query)
            if all(iri in listed_iris or iri.startswith(_STANDARD_NAMESPACES) for iri in iris):
                query = render_query(member.query, graph.prefixes)
                if query not in previous:
                    previous.add(query)
                    yield query
                break


MAX_CLUSTERS = 6
"""Clusters of candidates that are read at most."""

_LABEL_TIME_SHARE = 0.5  # part of the remaining time for the labels of a remote graph


async def list_terms_of_queries(
    queries: Iterable[str], graph: KnowledgeGraph, language: str | None,
    near: GraphArrays | None = None,
) -> tuple[ListedTerm, ...]:  # fmt: skip
    """Return the terms of queries with labels, sorted by IRI; skip unreadable queries."""
    terms: set[tuple[ItemKind, str]] = set()
    for query in queries:
        with suppress(QuerySyntaxError):
            terms.update(list_required_terms(query))
    seconds = deadline.clamp_timeout(None, share=_LABEL_TIME_SHARE)
    iris = [target for kind, target in terms if kind is not ItemKind.VALUE]
    labels = await fetch_term_labels(iris, graph, [language or "en"], timeout=seconds, near=near)

    def get_label(kind: ItemKind, target: str) -> str:
        if kind is ItemKind.VALUE:
            return parse_literal_text(target)
        return labels.get(target) or split_local_name(target) or target

    return tuple(
        ListedTerm(kind, target, get_label(kind, target), score=1.0)
        for kind, target in sorted(terms, key=lambda pair: (pair[1], pair[0].name))
    )
