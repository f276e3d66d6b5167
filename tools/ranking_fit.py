"""Candidates to fit a ranking to, and the fit: pairwise logistic regression, held to a prior.

A case is one question with the best clusters of its candidates: the features of each candidate, and
the F1 (best column) of each cluster's result. Scores are kept in a file where one is named: the
features change more often than the results.

Of each question every cluster of candidates is set against every one with a lower F1: the better
one should score higher. Joachims, "Optimizing search engines using clickthrough data" (KDD 2002),
has the pairs; the loss is logistic.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
from tools.calibration import VARIANTS

from askgraph.answers.search_run import AHEAD, SearchLimits
from askgraph.errors import AskgraphError, QueryError, ServiceError
from askgraph.evaluation import Table
from askgraph.evaluation.metrics.sets import best_column
from askgraph.evaluation.questions import gold_or_reason, query_table
from askgraph.graph import KnowledgeGraph
from askgraph.graph.examples.drafts import drafts
from askgraph.search.pipeline import build_schema, link_text, propose_from_links
from askgraph.search.rank import FEATURES, clusters, together
from askgraph.sparql.results import SelectResult
from askgraph.sparql.serializer import plain_text
from askgraph.workspace import Workspace
from askgraph.workspace.generation import results_of
from askgraph.workspace.plans import Asked
from askgraph.workspace.run_sync import result_of

_SECONDS = 10.0


@dataclass(frozen=True)
class Found:
    """Candidates with one result: the features of each, the F1 of the result, whether it is empty.

    `query` is that of the best of them. A result that could not be had counts as empty.
    """

    query: str
    members: tuple[Mapping[str, float], ...]
    f1: float
    empty: bool


@dataclass(frozen=True)
class Case:
    """A question of a set and what was found for it.

    `name` is what its graph is called, `graph` what it counts as: variants of one graph are one.
    """

    id: str
    question: str
    set: str
    name: str
    graph: str
    found: tuple[Found, ...]
    generated: bool = False


@dataclass
class Scores:
    """F1 and emptiness of queries by question, kept as lines of JSON where a file is named."""

    path: Path | None = None
    known: dict[tuple[str, str], tuple[float, bool]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Read what was kept."""
        if self.path is not None and self.path.is_file():
            for line in self.path.read_text("utf-8").splitlines():
                question, query, f1, empty = json.loads(line)
                self.known[question, query] = f1, empty

    def keep(self, question: str, query: str, score: tuple[float, bool]) -> None:
        """Remember a score."""
        self.known[question, query] = score
        if self.path is not None:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps([question, query, *score]) + "\n")


def cases_of(asked: Asked, workspace: Workspace, scores: Scores, *, most: int) -> Iterator[Case]:
    """People's questions of a set that have an answer, each with its `most` best clusters."""
    for source in dict.fromkeys(asked.graphs):
        graph = workspace.find(source)
        yield from result_of(_of_people(asked, graph, source, _Judge(graph, scores, most)))


def generated_of(
    asked: Asked, workspace: Workspace, scores: Scores, *, most: int, number: int
) -> Iterator[Case]:
    """So many questions that the profile of each graph of a set suggests."""
    for source in dict.fromkeys(asked.graphs):
        graph = workspace.find(source)
        yield from result_of(_of_graph(asked.name, graph, number, _Judge(graph, scores, most)))


@dataclass(frozen=True)
class _Judge:
    """Finds and scores the best clusters of one question after the other over a graph."""

    graph: KnowledgeGraph
    scores: Scores
    most: int

    async def found(
        self, key: str, text: str, language: str | None, gold: Sequence[Table]
    ) -> tuple[Found, ...]:
        """The best clusters with the F1 of each: of several tables of gold the nearest counts."""
        if self.graph.arrays is None:
            return ()
        linked = link_text(text, language, self.graph.names)
        proposal = propose_from_links(linked, build_schema(self.graph.arrays, self.graph.profile))
        found = []
        for cluster in clusters(proposal.candidates)[: self.most]:
            query = plain_text(cluster.best.query, self.graph.prefixes)
            if (key, query) not in self.scores.known:
                self.scores.keep(key, query, await self._score(query, gold))
            members = tuple(dict(member.features) for member in cluster.members)
            found.append(Found(query, members, *self.scores.known[key, query]))
        return tuple(found)

    async def _score(self, query: str, gold: Sequence[Table]) -> tuple[float, bool]:
        try:
            table = await query_table(query, self.graph.endpoint, timeout=_SECONDS)
        except AskgraphError:
            return 0.0, True
        return max(best_column(table, one).f1 for one in gold), not table.rows


async def _of_people(
    asked: Asked, graph: KnowledgeGraph, source: str | Path, judge: _Judge
) -> list[Case]:
    title, cases = _title(asked.name, graph), []
    try:
        for question, place in zip(asked.questions, asked.graphs, strict=True):
            if place != source or question.unanswerable:
                continue
            gold, _ = await gold_or_reason(question, graph.endpoint, timeout=_SECONDS)
            if gold is not None:
                key = f"{asked.name} {question.id}"
                found = await judge.found(key, question.text, question.language, [gold])
                cases.append(Case(key, question.text, asked.name, graph.name, title, found))
        return cases
    finally:
        await graph.endpoint.close()


async def _of_graph(name: str, graph: KnowledgeGraph, number: int, judge: _Judge) -> list[Case]:
    title = _title(name, graph)
    cases: list[Case] = []
    try:
        async with aclosing(drafts(graph.profile, graph.endpoint, graph.prefixes)) as given:
            async for draft in given:
                try:
                    results = await results_of(draft, graph)
                except (QueryError, ServiceError):
                    continue
                if results:
                    key = f"{name} {graph.name} generated {draft.question}"
                    gold = [_table(result) for _, result in results]
                    found = await judge.found(key, draft.question, "en", gold)
                    made = Case(key, draft.question, name, graph.name, title, found, generated=True)
                    cases.append(made)
                if len(cases) == number:
                    break
        return cases
    finally:
        await graph.endpoint.close()


def _table(result: object) -> Table:
    if isinstance(result, bool):
        return Table.of_boolean(result)
    if not isinstance(result, SelectResult):
        raise TypeError("a draft asks for rows or for yes or no")
    return Table.of_result(result)


def _title(name: str, graph: KnowledgeGraph) -> str:
    """What a graph counts as: variants of one graph are one."""
    return VARIANTS.get(name, graph.name)


Floats = npt.NDArray[np.float64]
Weights = Mapping[str, float]

PRIOR = {
    "covered": 2.0,
    "patterns": -0.05,
    "unknown": -0.16,
    "spread": -0.01,
    "nameless": -0.35,
    "asks": 0.35,
    "head": 0.25,
    "trivial": -0.5,
    "akin": -0.15,
    "shortened": -0.1,
    "parted": -0.4,
    "misfit": -1.2,
    "unheld": -0.6,
    "unnamed": -0.4,
    "disagrees": -0.3,
    "ungrouped": -0.3,
    "turned": -0.5,
    "needless": -0.3,
    "unserved": -0.4,
    "faulty": -0.1,
}
"""Set by hand, before anything was fitted; what is not here was 0."""

TAU = 0.2
"""By how much a score must be ahead for odds of e."""

L2 = 0.01
NEAREST = 25
"""So many clusters of a question, best first by the prior, are set against each other."""

GENERATED = 0.25
"""What all generated questions of a graph weigh, for each 1 that people's weigh."""

_STEPS, _ENOUGH = 30, 1e-6


def fitted(cases: Sequence[Case], *, l2: float = L2) -> dict[str, float]:
    """Fit one weight for each feature, by Newton's method.

    A pair counts by the difference in F1, all pairs of a question together count 1; a graph counts
    the square root of the number of its questions. `l2` holds each weight to the prior, in units of
    the feature's own spread; a feature that never differs keeps it. As only the ratios of the
    weights tell, they are given so that `covered` weighs what it does in the prior, where that can
    be: limits in units of the score stay what they are.
    """
    prior = np.array([PRIOR.get(name, 0.0) for name in FEATURES])
    pairs = [pair for case, share in zip(cases, _shares(cases), strict=True)
             for pair in _pairs(case, share)]  # fmt: skip
    if not pairs:
        return dict(zip(FEATURES, prior.tolist(), strict=True))
    found = _newton(np.array([gap for gap, _ in pairs]), np.array([w for _, w in pairs]), prior, l2)
    weights = dict(zip(FEATURES, found.tolist(), strict=True))
    scale = PRIOR["covered"] / weights["covered"] if weights["covered"] > 0 else 1.0
    return {name: round(weight * scale, 4) for name, weight in weights.items()}


def held_out(cases: Sequence[Case], *, l2: float = L2) -> dict[str, dict[str, float]]:
    """The weights for each graph that are fitted without it, whatever its variants are called."""
    graphs = dict.fromkeys(case.graph for case in cases)
    return {
        graph: fitted([case for case in cases if case.graph != graph], l2=l2) for graph in graphs
    }


def answered(case: Case, weights: Weights) -> float:
    """The F1 of what graph search would answer by some weights, were it never to ask or refuse."""
    ranked = sorted(case.found, key=lambda found: -total_score(found, weights))
    first: Found | None = None
    for found in ranked[: SearchLimits().tried]:
        if first and total_score(found, weights) < total_score(ranked[0], weights) - AHEAD:
            break
        if not found.empty:
            return found.f1
        first = first or found
    return first.f1 if first else 0.0


def total_score(found: Found, weights: Weights) -> float:
    """The score of a cluster."""
    return together([_score(member, weights) for member in found.members])


def _score(features: Weights, weights: Weights) -> float:
    return sum(weights.get(name, 0.0) * value for name, value in features.items())


def _shares(cases: Sequence[Case]) -> list[float]:
    number = Counter((case.graph, case.generated) for case in cases)
    people = {graph: n for (graph, generated), n in number.items() if not generated}
    return [
        people.get(case.graph, number[case.graph, case.generated]) ** 0.5
        * (GENERATED if case.generated else 1.0)
        / number[case.graph, case.generated]
        for case in cases
    ]  # fmt: skip


@dataclass(frozen=True)
class _Side:
    """A cluster's best member by the prior, as a row of features, and its F1."""

    row: Floats
    score: float
    f1: float


def _pairs(case: Case, share: float) -> Iterator[tuple[Floats, float]]:
    """What the better of two clusters has over the other, and what the pair counts."""
    sides = sorted(map(_side, case.found), key=lambda side: -side.score)
    near = sides[:NEAREST]
    pairs = [(one, other) for one in near for other in near if one.f1 > other.f1]
    total = sum(one.f1 - other.f1 for one, other in pairs)
    for one, other in pairs:
        yield one.row - other.row, share * (one.f1 - other.f1) / total


def _side(found: Found) -> _Side:
    best = max(found.members, key=lambda member: _score(member, PRIOR))
    row = np.array([best.get(name, 0.0) for name in FEATURES])
    return _Side(row, _score(best, PRIOR), found.f1)


def _newton(gaps: Floats, counts: Floats, prior: Floats, l2: float) -> Floats:
    """The weights where the loss is least: it is convex, so there is one such place."""
    counts = counts / counts.sum()
    spread = np.sqrt(counts @ gaps**2)
    free = spread > 0
    rows, held = gaps[:, free] / TAU, l2 * (spread[free] / TAU) ** 2
    ahead, change = gaps @ prior / TAU, np.zeros(int(free.sum()))
    for _ in range(_STEPS):
        wrong = 1 / (1 + np.exp(np.clip(ahead + rows @ change, -60, 60)))
        slope = held * change - (counts * wrong) @ rows
        bend = (rows * (counts * wrong * (1 - wrong))[:, None]).T @ rows + np.diag(held)
        step = np.linalg.solve(bend, slope)
        change = change - step / max(1.0, float(np.abs(step).max()))
        if float(np.abs(step).max()) < _ENOUGH:
            break
    weights = prior.copy()
    weights[free] += change
    return weights
