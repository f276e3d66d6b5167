"""Candidates to fit a ranking to, and the fit: pairwise logistic regression, held to a prior.

A case is one question with the best clusters of its candidates: the features of each candidate, and
the F1 of each cluster's result. Of each question every cluster of candidates is set against every
one with a lower F1: the better one should score higher. Joachims, "Optimizing search engines using
clickthrough data" (KDD 2002), has the pairs; the loss is logistic.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
from tools.judging import Floats, Judge, Source, Weights, group_others, share_weights, title_of

from askgraph.answers.search_run import AHEAD, SearchLimits
from askgraph.evaluation import Table
from askgraph.evaluation.questions import gold_or_reason
from askgraph.search.rank import FEATURES, clusters, together
from askgraph.workspace import Workspace
from askgraph.workspace.plans import Asked

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
"""Set by hand, before anything was fitted; the other features were 0."""

TAU = 0.2
"""By how much a score must be ahead for odds of e."""

L2 = 0.01
NEAREST = 25
"""So many clusters of a question, best first by the prior, are set against each other."""

_STEPS, _ENOUGH = 30, 1e-6


@dataclass(frozen=True)
class Found:
    """Candidates with one result: the features of each, the F1 of the result, if it is empty."""

    members: tuple[Mapping[str, float], ...]
    f1: float
    empty: bool


@dataclass(frozen=True)
class Case:
    """A question of a set and the clusters of its candidates.

    `name` is that of its graph, `graph` what it counts as: variants of one graph are one.
    """

    id: str
    set: str
    name: str
    graph: str
    found: tuple[Found, ...]
    source: Source = "people"


def ask_people(
    asked: Asked, workspace: Workspace, *, most: int, scores: Path | None = None
) -> Iterator[Case]:
    """Yield people's questions of a set that have an answer, each with its `most` best clusters."""
    for source in dict.fromkeys(asked.graphs):
        with Judge(workspace.find(source), scores) as judge:
            endpoint = judge.graph.endpoint
            for question, place in zip(asked.questions, asked.graphs, strict=True):
                if place != source or question.unanswerable:
                    continue
                gold, _ = judge.runner.run(gold_or_reason(question, endpoint, timeout=10.0))
                if gold is not None:
                    key = f"{asked.name} {question.id}"
                    text = question.text, question.language
                    yield _judge_case(judge, asked, key, text, [gold], most)


def ask_generated(
    asked: Asked, workspace: Workspace, *, most: int, number: int, scores: Path | None = None
) -> Iterator[Case]:
    """Yield so many questions that the profile of each graph of a set suggests."""
    for source in dict.fromkeys(asked.graphs):
        with Judge(workspace.find(source), scores) as judge:
            for draft, results in islice(judge.drafts(), number):
                key = f"{asked.name} {judge.graph.name} generated {draft.question}"
                golds = [
                    Table.of_boolean(result)
                    if isinstance(result, bool)
                    else Table.of_result(result)
                    for _, result in results
                ]
                text = draft.question, "en"
                yield _judge_case(judge, asked, key, text, golds, most, "generated")


def _judge_case(
    judge: Judge, asked: Asked, key: str, text: tuple[str, str | None], golds: Sequence[Table],
    most: int, source: Source = "people",
) -> Case:  # fmt: skip
    found = []
    for cluster in clusters(judge.propose(*text).candidates)[:most]:
        _, (f1, _, empty) = judge.score(key, cluster, lambda: golds)
        found.append(Found(tuple(dict(one.features) for one in cluster.members), f1, empty))
    title = title_of(asked.name, judge.graph)
    return Case(key, asked.name, judge.graph.name, title, tuple(found), source)


def fit_weights(cases: Sequence[Case], *, l2: float = L2) -> dict[str, float]:
    """Fit one weight for each feature, by Newton's method.

    A pair counts by the difference in F1, all pairs of a question together count 1; graphs count as
    `share_weights` has it. `l2` holds each weight to the prior, in units of the feature's own
    spread; a feature that never differs keeps it. As only the ratios of the weights tell, they are
    given so that `covered` weighs what it does in the prior, where that can be: limits in units of
    the score stay what they are.
    """
    prior = np.array([PRIOR.get(name, 0.0) for name in FEATURES])
    shares = share_weights([(case.graph, case.source) for case in cases]).tolist()
    pairs = [
        pair for case, share in zip(cases, shares, strict=True) for pair in _pairs(case, share)
    ]
    if not pairs:
        return dict(zip(FEATURES, prior.tolist(), strict=True))
    gaps, counts = map(np.array, zip(*pairs, strict=True))
    weights = dict(zip(FEATURES, _minimize_loss(gaps, counts, prior, l2).tolist(), strict=True))
    scale = PRIOR["covered"] / weights["covered"] if weights["covered"] > 0 else 1.0
    return {name: round(weight * scale, 4) for name, weight in weights.items()}


def fit_without(cases: Sequence[Case], *, l2: float = L2) -> dict[str, dict[str, float]]:
    """Fit the weights for each graph without it and its variants."""
    others = group_others(cases, lambda case: case.graph)
    return {graph: fit_weights(rest, l2=l2) for graph, rest in others.items()}


def f1_of_answer(case: Case, weights: Weights) -> float:
    """Return the F1 of graph search's answer by some weights, were it never to ask or refuse."""
    ranked = sorted(case.found, key=lambda found: -total_score(found, weights))
    if not ranked:
        return 0.0
    least = total_score(ranked[0], weights) - AHEAD
    tried = ranked[: SearchLimits().tried]
    near = (found for found in tried if found is ranked[0] or total_score(found, weights) >= least)
    return next((found for found in near if not found.empty), ranked[0]).f1


def total_score(found: Found, weights: Weights) -> float:
    """Return the score of a cluster."""
    return together([_score(member, weights) for member in found.members])


def _score(features: Weights, weights: Weights) -> float:
    return sum(weights.get(name, 0.0) * value for name, value in features.items())


def _pairs(case: Case, share: float) -> Iterator[tuple[Floats, float]]:
    """Yield the features of the better of two clusters less the other's, and the pair's weight."""
    sides = []
    for found in case.found:
        best = max(found.members, key=lambda member: _score(member, PRIOR))
        row = np.array([best.get(name, 0.0) for name in FEATURES])
        sides.append((_score(best, PRIOR), row, found.f1))
    near = sorted(sides, key=lambda side: -side[0])[:NEAREST]
    pairs = [
        (row - other, f1 - lower) for _, row, f1 in near for _, other, lower in near if f1 > lower
    ]
    total = sum(gain for _, gain in pairs)
    for gap, gain in pairs:
        yield gap, share * gain / total


def _minimize_loss(gaps: Floats, counts: Floats, prior: Floats, l2: float) -> Floats:
    """Return the weights where the loss is least: it is convex, so there is one such place."""
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
