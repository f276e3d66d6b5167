"""Candidates that graph search proposes on every graph of a question, run and numbered."""

import asyncio
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from askgraph.answers.search_run import AHEAD, PASSED_OVER, SearchLimits, SearchRun, top_score
from askgraph.answers.verbalize import iris_in
from askgraph.methods.shared.several_graphs import AskedGraph, AskedGraphs, LinkedGraph
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

READ = 3
"""So many candidates of a graph tell what words of the question are taken for."""
_TRIED = 3  # times as many clusters are looked at as candidates are shown
_AFAR = 3.0  # seconds for the results of candidates of a graph that is elsewhere
_WORSE, _UNSURE = 0.6, 0.4
"""A candidate whose score is so much below the best is not shown, unless no one is that sure."""
_LATER = 0.5  # of what is believed of a candidate, for the one after it
Item = TypeVar("Item")


@dataclass(frozen=True, eq=False)
class GraphCandidates:
    """What was found on one graph; `confidence` is the chance that the best candidate is right."""

    searched: SearchRun
    linked: LinkedGraph
    proposal: RankedCandidates
    ranked: Sequence[Cluster]
    confidence: float
    found: Sequence[CandidateResult] = ()


@dataclass(frozen=True, eq=False)
class Numbered:
    """A candidate under the number by which a model chooses it."""

    number: int
    found: GraphCandidates
    ran: CandidateResult

    @property
    def context(self) -> Context:
        """The context of its graph."""
        return self.found.linked.context

    @property
    def graph(self) -> str:
        """The name of its graph."""
        return self.context.graph.name


@dataclass(frozen=True, eq=False)
class Candidates:
    """The candidates of all graphs of a question; `most` of them are numbered.

    The `veil`, if there is one, lies over all that a model is told: the contexts here have it.
    """

    every: Sequence[GraphCandidates]
    most: int
    veil: "TermMasker | None" = None

    @cached_property
    def best(self) -> GraphCandidates:
        """The graph whose best candidate fits best."""
        return max(self.every, key=lambda one: top_score(one.proposal))

    @cached_property
    def by_graph(self) -> Mapping[str, GraphCandidates]:
        """By the names of the graphs."""
        return {one.searched.graph.name: one for one in self.every}

    @property
    def graphs(self) -> AskedGraphs:
        """The graphs, with the prefixes that the question needs."""
        return AskedGraphs(tuple(one.linked.asked for one in self.every))

    @property
    def follows(self) -> bool:
        """Whether the question follows another one, which graph search does not read."""
        return bool(self.best.searched.question.before)

    @property
    def name_nothing(self) -> bool:
        """Whether no word of the question could be looked for, on any graph."""
        return not any(any(one.proposal.linked.weights) for one in self.every)

    @cached_property
    def numbered(self) -> Sequence[Numbered]:
        """The candidates of all graphs, best first."""
        every = [(graph, one) for graph in self.every for one in graph.found]
        every.sort(key=lambda pair: -pair[1].cluster.score)
        return [
            Numbered(number, graph, one)
            for number, (graph, one) in enumerate(every[: self.most], 1)
        ]

    @cached_property
    def chances(self) -> Sequence[float]:
        """The chance of each candidate by graph search; the first leaves the rest to the others.

        Follow-up questions score 0: graph search reads only the current turn.
        """
        if not self.numbered:
            return ()
        if self.follows:
            return (0.0,) * len(self.numbered)
        best = self.numbered[0]
        place = best.found.ranked.index(best.ran.cluster)
        first = best.found.confidence * PASSED_OVER**place
        rest = ((1 - first) * _LATER**place for place in range(1, len(self.numbered)))
        return (first, *rest)


async def candidates_of(
    question: Question,
    graphs: AskedGraphs,
    *,
    most: int,
    sees: Visibility = "everything",
    limits: SearchLimits | None = None,
) -> Candidates:
    """Let graph search propose on each graph; no candidate is run yet (see `with_results`).

    At most so many candidates will be numbered. `sees` is what a model may see, `limits` are those
    of graph search. Raises `ServiceError` if a remote graph does not answer.
    """
    limits = limits or SearchLimits()
    alone = sees == "everything" and not graphs.several
    searches = (_search(question, one, limits, alone=alone) for one in graphs.every)
    every = await gather_or_fail(searches)
    veil = None
    if sees != "everything":
        from askgraph.methods.tools.masking import (
            TermMasker,
        )  # few questions are asked under a veil

        linked = [(one.linked.context.graph, one.linked.linked) for one in every]
        veil = TermMasker.from_links(linked, visibility=sees, preferred_iris=_used(every))
    return Candidates([_veiled(one, veil) for one in every] if veil else every, most, veil)


def _used(every: Sequence[GraphCandidates]) -> list[str]:
    """The IRIs of the best candidates of all graphs, those of better ones first."""
    best = [(one, cluster) for one in every for cluster in one.ranked[:READ]]
    best.sort(key=lambda pair: -pair[1].score)
    return [iri for _, cluster in best for iri in iris_in(cluster.best.query)]


def _veiled(search: GraphCandidates, veil: "TermMasker") -> GraphCandidates:
    """What was found, under a veil for all that a model is told of it."""
    linked = search.linked
    asked = replace(linked.asked, context=replace(linked.asked.context, masker=veil))
    return replace(search, linked=replace(linked, asked=asked))


async def with_results(candidates: Candidates) -> Candidates:
    """Run the best candidates of each graph, and return the candidates with what these give."""
    found = await gather_or_fail(_found(one, candidates.most) for one in candidates.every)
    both = zip(candidates.every, found, strict=True)
    return replace(candidates, every=[replace(one, found=given) for one, given in both])


async def _found(search: GraphCandidates, most: int) -> Sequence[CandidateResult]:
    asked = search.linked.asked
    afar = asked.given.arrays is None
    worth = search.ranked
    if search.confidence >= _UNSURE:
        worth = [one for one in worth if one.score >= worth[0].score - _WORSE]
    found = await run_distinct(
        asked.context,
        drop_extensions(worth[: _TRIED * most]),
        max_results=most + 1,
        quick_only=not afar,
        seconds=_AFAR if afar else None,
        keep_empty=True,
    )
    given = _first_as_answered(search, found)[:most]
    more = await complete_candidates(asked.context, search.proposal, given)
    return [*given[:1], *more, *given[1:]][:most]


def _first_as_answered(
    search: GraphCandidates, found: Sequence[CandidateResult]
) -> list[CandidateResult]:
    """The candidates with a result; before them an empty one, if graph search insists on it."""
    given = [one for one in found if not one.is_empty]
    if not found or not found[0].is_empty:
        return given
    near = search.ranked[: search.searched.limits.tried]
    lead = search.ranked[0].score - AHEAD
    if any(one.cluster in near and one.cluster.score >= lead for one in given[:1]):
        return given
    return [found[0], *given]


async def _search(
    question: Question, asked: AskedGraph, limits: SearchLimits, *, alone: bool
) -> GraphCandidates:
    limits = replace(limits, timeout=asked.context.limits.timeout)
    searched = SearchRun(limits, question, asked.given, asked.counted)
    proposal = await searched.proposal()
    ranked = cluster_candidates(proposal.candidates)
    used = list(dict.fromkeys(iri for one in ranked[:READ] for iri in iris_in(one.best.query)))
    if alone:
        asked = _declaring(asked, [*used, *(one.target for one in select_links(proposal.linked))])
    near = SchemaSlice(asked.context.graph, proposal.linked, used)
    linked = LinkedGraph(asked, proposal.linked, near)
    return GraphCandidates(
        searched, linked, proposal, ranked, estimate_confidence(proposal, ranked)
    )


def _declaring(asked: AskedGraph, iris: Sequence[str]) -> AskedGraph:
    """A graph with prefixes for the namespaces of some IRIs, too, even if nothing else is there."""
    graph = asked.context.graph
    named = [iri for iri in iris if graph.prefixes.shorten(iri).startswith("<")]
    if not named:
        return asked
    prefixes = graph.prefixes.with_derived(named, least=1)
    return replace(asked, context=replace(asked.context, graph=replace(graph, prefixes=prefixes)))


async def gather_or_fail(waiting: Iterable[Coroutine[None, None, Item]]) -> list[Item]:
    """Return what each gives, in their order; raises what the first that fails raises."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one) for one in waiting]
    except ExceptionGroup as problems:
        raise problems.exceptions[0] from None
    return [task.result() for task in tasks]
