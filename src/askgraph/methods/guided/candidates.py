"""The numbered candidates of graph search, with their results, over all graphs of a question."""

import asyncio
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from askgraph.answers.search_run import (
    MAX_EMPTY_SCORE_GAP,
    SKIPPED_CANDIDATE_FACTOR,
    SearchLimits,
    SearchRun,
    get_top_score,
)
from askgraph.answers.verbalize import list_iris
from askgraph.methods.shared.several_graphs import LinkedGraph, QuestionGraph, QuestionGraphs
from askgraph.methods.tools import Context, Visibility
from askgraph.methods.tools.candidates import (
    CandidateResult,
    complete_candidates,
    drop_extensions,
    run_distinct,
)
from askgraph.methods.tools.mentions import select_links
from askgraph.methods.tools.schema_lines import SchemaSlice
from askgraph.search.decide import estimate_confidence
from askgraph.search.rank import Cluster, RankedCandidates, cluster_candidates
from askgraph.trace import Question

if TYPE_CHECKING:
    from askgraph.methods.tools.masking import TermMasker

MAX_EXPLAINED_CANDIDATES = 3
"""Candidates of a graph at most that count when words of the question are explained."""
_CLUSTER_SEARCH_FACTOR = 3  # clusters to inspect per shown candidate
_REMOTE_TIMEOUT_SECONDS = 3.0  # seconds for the results of candidates of a graph that is elsewhere
_MAX_SCORE_GAP, _MIN_GAP_CONFIDENCE = 0.6, 0.4
"""A candidate whose score is further below the best one is hidden, from this confidence on."""
_NEXT_CHANCE_RATIO = 0.5  # confidence factor from one candidate to the next
Item = TypeVar("Item")


@dataclass(frozen=True, eq=False)
class GraphCandidates:
    """The candidates of one graph."""

    search_run: SearchRun
    linked: LinkedGraph
    proposal: RankedCandidates
    ranked: Sequence[Cluster]
    confidence: float  # the chance that the best candidate is right, 0 to 1
    run_candidates: Sequence[CandidateResult] = ()  # those that were run, with their results


@dataclass(frozen=True, eq=False)
class NumberedCandidate:
    """A candidate with the number by which a model chooses it."""

    number: int
    graph_candidates: GraphCandidates
    run_candidate: CandidateResult

    @property
    def context(self) -> Context:
        """The context of its graph."""
        return self.graph_candidates.linked.context

    @property
    def graph(self) -> str:
        """The name of its graph."""
        return self.context.graph.name


@dataclass(frozen=True, eq=False)
class CandidateSet:
    """The candidates of all graphs of a question; a masker is in their contexts too."""

    graph_candidates: Sequence[GraphCandidates]
    max_candidates: int  # candidates that are numbered at most
    masker: "TermMasker | None" = None  # masks all that a model sees, if set

    @cached_property
    def best(self) -> GraphCandidates:
        """The graph with the best candidate."""
        return max(self.graph_candidates, key=lambda candidates: get_top_score(candidates.proposal))

    @cached_property
    def by_graph(self) -> Mapping[str, GraphCandidates]:
        """The candidates by the name of their graph."""
        return {
            candidates.search_run.graph.name: candidates for candidates in self.graph_candidates
        }

    @property
    def graphs(self) -> QuestionGraphs:
        """The graphs, with the prefixes that the question needs."""
        return QuestionGraphs(
            tuple(candidates.linked.question_graph for candidates in self.graph_candidates)
        )

    @property
    def is_follow_up(self) -> bool:
        """Whether the question follows another one, which graph search does not read."""
        return bool(self.best.search_run.question.before)

    @property
    def has_no_linkable_words(self) -> bool:
        """Whether no word of the question could be linked on any graph."""
        return not any(
            any(candidates.proposal.linked.weights) for candidates in self.graph_candidates
        )

    @cached_property
    def numbered(self) -> Sequence[NumberedCandidate]:
        """The candidates of all graphs, best first."""
        pairs = [
            (graph, candidate)
            for graph in self.graph_candidates
            for candidate in graph.run_candidates
        ]
        pairs.sort(key=lambda pair: -pair[1].cluster.score)
        return [
            NumberedCandidate(number, graph, candidate)
            for number, (graph, candidate) in enumerate(pairs[: self.max_candidates], 1)
        ]

    @cached_property
    def chances(self) -> Sequence[float]:
        """The chance of each candidate by graph search; the others share what the best one leaves.

        Follow-up questions score 0: graph search reads only the current turn.
        """
        if not self.numbered:
            return ()
        if self.is_follow_up:
            return (0.0,) * len(self.numbered)
        best = self.numbered[0]
        rank = best.graph_candidates.ranked.index(best.run_candidate.cluster)
        best_chance = best.graph_candidates.confidence * SKIPPED_CANDIDATE_FACTOR**rank
        later_chances = (
            (1 - best_chance) * _NEXT_CHANCE_RATIO**rank for rank in range(1, len(self.numbered))
        )
        return (best_chance, *later_chances)


async def search_candidates(
    question: Question,
    graphs: QuestionGraphs,
    *,
    max_candidates: int,
    sees: Visibility = "everything",
    limits: SearchLimits | None = None,
) -> CandidateSet:
    """Run graph search on each graph without running a candidate (see `run_candidates`).

    Args:
        max_candidates: candidates that will be numbered at most.
        sees: what a model may see.
        limits: the limits of graph search.

    Raises:
        ServiceError: a remote graph does not answer.
    """
    limits = limits or SearchLimits()
    is_plain = sees == "everything" and not graphs.has_several
    pending = (_search_graph(question, item, limits, is_plain=is_plain) for item in graphs.graphs)
    found_candidates = await gather_or_fail(pending)
    masker = None
    if sees != "everything":
        from askgraph.methods.tools.masking import TermMasker  # few questions need masking

        linked = [
            (item.linked.context.graph, item.linked.linked_question) for item in found_candidates
        ]
        masker = TermMasker.from_links(
            linked, visibility=sees, preferred_iris=_list_used_iris(found_candidates)
        )
    return CandidateSet(
        [_mask_candidates(item, masker) for item in found_candidates]
        if masker
        else found_candidates,
        max_candidates,
        masker,
    )


def _list_used_iris(all_candidates: Sequence[GraphCandidates]) -> list[str]:
    """Return the IRIs in the best candidates of all graphs, those of better candidates first."""
    clusters_by_graph = [
        (candidates, cluster)
        for candidates in all_candidates
        for cluster in candidates.ranked[:MAX_EXPLAINED_CANDIDATES]
    ]
    clusters_by_graph.sort(key=lambda pair: -pair[1].score)
    return [iri for _, cluster in clusters_by_graph for iri in list_iris(cluster.best.query)]


def _mask_candidates(candidates: GraphCandidates, masker: "TermMasker") -> GraphCandidates:
    """Return candidates whose context masks all that a model sees."""
    linked_graph = candidates.linked
    question_graph = replace(
        linked_graph.question_graph,
        context=replace(linked_graph.question_graph.context, masker=masker),
    )
    return replace(candidates, linked=replace(linked_graph, question_graph=question_graph))


async def run_candidates(candidates: CandidateSet) -> CandidateSet:
    """Run the best candidates of each graph, and return the candidates with their results."""
    results = await gather_or_fail(
        _run_graph_candidates(graph_candidates, candidates.max_candidates)
        for graph_candidates in candidates.graph_candidates
    )
    candidates_and_results = zip(candidates.graph_candidates, results, strict=True)
    return replace(
        candidates,
        graph_candidates=[
            replace(graph_candidates, run_candidates=graph_results)
            for graph_candidates, graph_results in candidates_and_results
        ],
    )


async def _run_graph_candidates(
    candidates: GraphCandidates, max_candidates: int
) -> Sequence[CandidateResult]:
    question_graph = candidates.linked.question_graph
    is_remote = question_graph.base.arrays is None
    clusters_to_run = candidates.ranked
    if candidates.confidence >= _MIN_GAP_CONFIDENCE:
        clusters_to_run = [
            cluster
            for cluster in clusters_to_run
            if cluster.score >= clusters_to_run[0].score - _MAX_SCORE_GAP
        ]
    results = await run_distinct(
        question_graph.context,
        drop_extensions(clusters_to_run[: _CLUSTER_SEARCH_FACTOR * max_candidates]),
        max_results=max_candidates + 1,
        quick_only=not is_remote,
        seconds=_REMOTE_TIMEOUT_SECONDS if is_remote else None,
        keep_empty=True,
    )
    selected = _order_results(candidates, results)[:max_candidates]
    completed_candidates = await complete_candidates(
        question_graph.context, candidates.proposal, selected
    )
    return [*selected[:1], *completed_candidates, *selected[1:]][:max_candidates]


def _order_results(
    candidates: GraphCandidates, results: Sequence[CandidateResult]
) -> list[CandidateResult]:
    """Return the candidates with rows; before them an empty one if graph search prefers it."""
    non_empty = [candidate for candidate in results if not candidate.is_empty]
    if not results or not results[0].is_empty:
        return non_empty
    best_clusters = candidates.ranked[: candidates.search_run.limits.tried]
    min_score = candidates.ranked[0].score - MAX_EMPTY_SCORE_GAP
    if any(
        candidate.cluster in best_clusters and candidate.cluster.score >= min_score
        for candidate in non_empty[:1]
    ):
        return non_empty
    return [results[0], *non_empty]


async def _search_graph(
    question: Question, question_graph: QuestionGraph, limits: SearchLimits, *, is_plain: bool
) -> GraphCandidates:
    limits = replace(limits, timeout=question_graph.context.limits.timeout)
    search_run = SearchRun(limits, question, question_graph.base, question_graph.counted)
    proposal = await search_run.propose_candidates()
    ranked_clusters = cluster_candidates(proposal.candidates)
    used_iris = list(
        dict.fromkeys(
            iri
            for item in ranked_clusters[:MAX_EXPLAINED_CANDIDATES]
            for iri in list_iris(item.best.query)
        )
    )
    if is_plain:
        question_graph = _declare_prefixes(
            question_graph, [*used_iris, *(item.target for item in select_links(proposal.linked))]
        )
    schema_slice = SchemaSlice(question_graph.context.graph, proposal.linked, used_iris)
    linked_graph = LinkedGraph(question_graph, proposal.linked, schema_slice)
    return GraphCandidates(
        search_run,
        linked_graph,
        proposal,
        ranked_clusters,
        estimate_confidence(proposal, ranked_clusters),
    )


def _declare_prefixes(question_graph: QuestionGraph, iris: Sequence[str]) -> QuestionGraph:
    graph = question_graph.context.graph
    undeclared_iris = [iri for iri in iris if graph.prefixes.shorten(iri).startswith("<")]
    if not undeclared_iris:
        return question_graph
    prefixes = graph.prefixes.derive_prefixes(undeclared_iris, min_count=1)
    return replace(
        question_graph,
        context=replace(question_graph.context, graph=replace(graph, prefixes=prefixes)),
    )


async def gather_or_fail(coroutines: Iterable[Coroutine[None, None, Item]]) -> list[Item]:
    """Return the results of the coroutines in order; raise the first error."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(coroutine) for coroutine in coroutines]
    except ExceptionGroup as problems:
        raise problems.exceptions[0] from None
    return [task.result() for task in tasks]
