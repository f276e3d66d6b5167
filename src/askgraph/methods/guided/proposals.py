"""What graph search proposes on every graph of a question, numbered for a model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from askgraph.agent.linked_graph import LinkedGraph
from askgraph.agent.several_graphs import AskedGraph, AskedGraphs
from askgraph.answers.search_run import AHEAD, PASSED_OVER, SearchLimits, SearchRun, top_score
from askgraph.explanation.verbalise import iris_in
from askgraph.methods.guided.candidates import Numbered
from askgraph.methods.guided.gather import all_of
from askgraph.search.decide.decision import Thresholds, confidence_of
from askgraph.search.rank.clusters import Cluster, clusters
from askgraph.search.run import Proposal
from askgraph.tools.proposals import Proposed, distinct_results
from askgraph.tools.slice import Slice
from askgraph.tools.veil import Sees, Veil
from askgraph.trace import Question

__all__ = ["Search", "Searches", "searches_of", "with_candidates"]

_TRIED = 2  # times as many clusters are looked at as candidates are shown
_AFAR = 3.0  # seconds for the results of candidates of a graph that is elsewhere
_READ = 3  # candidates of a graph that tell what words of the question are taken for
_LATER = 0.5  # of what is believed of a candidate, for the one after it


@dataclass(frozen=True, eq=False)
class Search:
    """What was found on one graph; `confidence` is the chance that the best candidate is right."""

    searched: SearchRun
    linked: LinkedGraph
    proposal: Proposal
    ranked: Sequence[Cluster]
    confidence: float
    found: Sequence[Proposed] = ()


@dataclass(frozen=True, eq=False)
class Searches:
    """All graphs of a question; `most` candidates are numbered.

    The `veil`, if there is one, lies over all that a model is told: the contexts here have it.
    """

    every: Sequence[Search]
    most: int
    veil: Veil | None = None

    @cached_property
    def best(self) -> Search:
        """The graph whose best candidate fits best."""
        return max(self.every, key=lambda one: top_score(one.proposal))

    @cached_property
    def by_graph(self) -> Mapping[str, Search]:
        """By the names of the graphs."""
        return {one.searched.graph.name: one for one in self.every}

    @property
    def follows(self) -> bool:
        """Whether the question follows another one, which graph search does not read."""
        return bool(self.best.searched.question.before)

    @property
    def tell_nothing(self) -> bool:
        """Whether no word of the question could be looked for, on any graph."""
        return not any(any(one.proposal.linked.weights) for one in self.every)

    @cached_property
    def numbered(self) -> Sequence[Numbered]:
        """The candidates of all graphs, best first."""
        every = [(search, one) for search in self.every for one in search.found]
        every.sort(key=lambda pair: -pair[1].cluster.score)
        return [
            Numbered(number, search.linked.context, search.proposal, one)
            for number, (search, one) in enumerate(every[: self.most], 1)
        ]

    @cached_property
    def believed(self) -> Sequence[float]:
        """What graph search believes of each candidate: what is left by the first is shared out.

        Of a question that follows another one it reads only a part, and believes nothing.
        """
        if not self.numbered:
            return ()
        if self.follows:
            return (0.0,) * len(self.numbered)
        best = self.numbered[0]
        search = self.by_graph[best.graph]
        place = search.ranked.index(best.proposed.cluster)
        first = search.confidence * PASSED_OVER**place
        rest = ((1 - first) * _LATER**place for place in range(1, len(self.numbered)))
        return (first, *rest)


async def searches_of(
    question: Question,
    graphs: AskedGraphs,
    *,
    most: int,
    sees: Sees = "everything",
    deciding: Thresholds | None = None,
) -> Searches:
    """Let graph search propose on each graph; no candidate is run yet (see `with_candidates`).

    At most so many candidates will be numbered. `sees` is what a model may see, `deciding` by what
    graph search answers or asks back. Raises `ServiceError` where a remote graph does not answer.
    """
    limits = deciding or Thresholds()
    every = await all_of(_search(question, one, limits) for one in graphs.every)
    linked = [(one.linked.context.graph, one.linked.linked) for one in every]
    veil = Veil.of(linked, sees=sees, used=() if sees == "everything" else _used(every))
    return Searches([_veiled(one, veil) for one in every] if veil else every, most, veil)


def _used(every: Sequence[Search]) -> list[str]:
    """The IRIs of the best candidates of all graphs, those of better ones first."""
    best = [(one, cluster) for one in every for cluster in one.ranked[:_READ]]
    best.sort(key=lambda pair: -pair[1].score)
    return [iri for _, cluster in best for iri in iris_in(cluster.best.query)]


def _veiled(search: Search, veil: Veil) -> Search:
    """What was found, under a veil for all that a model is told of it."""
    linked = search.linked
    asked = replace(linked.asked, context=replace(linked.asked.context, veil=veil))
    return replace(search, linked=replace(linked, asked=asked))


async def with_candidates(searches: Searches) -> Searches:
    """Run the best candidates of each graph, and return the searches with what these give."""
    found = await all_of(_found(one, searches.most) for one in searches.every)
    both = zip(searches.every, found, strict=True)
    return replace(searches, every=[replace(one, found=given) for one, given in both])


async def _found(search: Search, most: int) -> Sequence[Proposed]:
    asked = search.linked.asked
    afar = asked.given.arrays is None
    found = await distinct_results(
        asked.context,
        search.ranked[: _TRIED * most],
        most=most + 1,
        quickly=not afar,
        seconds=_AFAR if afar else None,
        empty=True,
    )
    return _first_as_answered(search, found)[:most]


def _first_as_answered(search: Search, found: Sequence[Proposed]) -> list[Proposed]:
    """The candidates with a result; before them an empty one, where graph search insists on it."""
    given = [one for one in found if not one.is_empty]
    if not found or not found[0].is_empty:
        return given
    near = search.ranked[: search.searched.limits.tried]
    lead = search.ranked[0].score - AHEAD
    if any(one.cluster in near and one.cluster.score >= lead for one in given[:1]):
        return given
    return [found[0], *given]


async def _search(question: Question, asked: AskedGraph, deciding: Thresholds) -> Search:
    limits = SearchLimits(
        timeout=asked.context.limits.timeout, answer_from=deciding.answer, ask_from=deciding.ask
    )
    searched = SearchRun(limits, question, asked.given, asked.counted)
    proposal = await searched.proposal()
    linked = LinkedGraph(asked, proposal.linked, Slice(asked.context.graph, proposal.linked))
    ranked = clusters(proposal.candidates)
    return Search(searched, linked, proposal, ranked, confidence_of(proposal, ranked))
