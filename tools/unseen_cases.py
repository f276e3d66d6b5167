"""What graph search finds for the questions of a folder of graphs, and weights fitted to it.

A folder has `questions.jsonl` and `kg/`; each question names its graph and, in its tags, the style
that the graph is written in. What was found of a graph is kept as one file, written when the graph
is done, so that a run goes on with the next graph.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random

from tools.calibration import Case as Answered
from tools.calibration import chances_of, fit_curve, fit_trees, fit_without
from tools.judging import Case, Found, Judge, Weights, group_others
from tools.ranking import fit_weights

from askgraph.answers.search_run import MAX_EMPTY_SCORE_GAP, SKIPPED_CANDIDATE_FACTOR, SearchLimits
from askgraph.evaluation import ResultTable
from askgraph.evaluation.questions import collect_names
from askgraph.search.decide import EMPTY_RESULT_FACTOR, collect_evidence
from askgraph.search.rank import cluster_candidates
from askgraph.workspace import Workspace

_SECONDS, _PATIENCE = 2.0, 60.0
"""The time of a candidate's query, and of gold's."""
_MEMBERS = 4
"""So many members of a cluster are kept: no more than these raise its score."""


@dataclass(frozen=True)
class Item:
    """A question, the file of its graph, the style of that, and gold's query."""

    id: str
    graph: str
    style: str
    text: str
    language: str
    gold: str


@dataclass(frozen=True)
class Attempt:
    """The answer to a question before anything is decided: its query, its F1, the evidence.

    `left` is what is left of the confidence if better candidates were passed over or the result
    is empty. Without any candidate there is no evidence.
    """

    id: str
    graph: str
    style: str
    query: str
    f1: float
    by_name: float
    left: float
    evidence: Mapping[str, float]


def items_of(folder: Path) -> list[Item]:
    """Return the questions of a folder."""
    items = []
    for text in (folder / "questions.jsonl").read_text("utf-8").splitlines():
        line = json.loads(text)
        styles = [tag.removeprefix("style:") for tag in line["tags"] if tag.startswith("style:")]
        asked = line["question"], line.get("lang", "en"), line["sparql"]
        items.append(Item(line["id"], line["kg"], [*styles, "-"][0], *asked))
    return items


def sampled(items: Sequence[Item], number: int | None, *, seed: int = 0) -> list[Item]:
    """Return so many questions of each graph, drawn with a seed, in their order; all if None."""
    if number is None:
        return list(items)
    chosen: list[Item] = []
    for graph in dict.fromkeys(item.graph for item in items):
        own = [item for item in items if item.graph == graph]
        chosen += sorted(Random(seed).sample(own, min(number, len(own))), key=own.index)
    return chosen


@contextmanager
def judge_of(data: Path, graph: str, cache: Path) -> Iterator[Judge]:
    """Open a graph of a folder, which is built if it is not there."""
    workspace, name = Workspace(cache / "workspace"), Path(graph).stem
    if name not in workspace.graphs():
        workspace.add(name, [data / "kg" / graph])
    opened = workspace.find(name)
    with Judge(opened, cache / "scores", collect_names(opened), _SECONDS) as judge:
        yield judge


def cases_of(
    data: Path, graph: str, items: Sequence[Item], cache: Path, weights: Weights | None, most: int
) -> list[Case]:
    """Return each question over a graph with its `most` best clusters, scored by name.

    The style of the graph counts as its set.
    """
    cases = []
    with judge_of(data, graph, cache) as judge:
        name = judge.graph.name
        for item in items:
            gold, found = _gold_of(item, judge), []
            proposal = judge.propose(item.text, item.language, weights)
            for cluster in cluster_candidates(proposal.candidates)[:most]:
                _, (_, named, empty) = judge.score(item.id, cluster, gold)
                members = (_rounded(one.features) for one in cluster.members[:_MEMBERS])
                found.append(Found(tuple(members), named, empty))
            cases.append(Case(item.id, item.style, name, name, tuple(found)))
    return cases


def _gold_of(item: Item, judge: Judge) -> Callable[[], list[ResultTable]]:
    return cache(lambda: [judge.table(item.gold, _PATIENCE)])


def attempted(
    data: Path,
    graph: str,
    items: Sequence[Item],
    cache: Path,
    weights: Weights | None,
) -> list[Attempt]:
    """Return the answer to each question over a graph, with candidates ranked by some weights."""
    with judge_of(data, graph, cache) as judge:
        return [_attempt(judge, item, weights) for item in items]


def _attempt(judge: Judge, item: Item, weights: Weights | None) -> Attempt:
    """Return what graph search would answer, as `SearchRun.find_first_answer` has it."""
    proposal = judge.propose(item.text, item.language, weights)
    about, ranked = (item.id, item.graph, item.style), cluster_candidates(proposal.candidates)
    if not ranked:
        return Attempt(*about, "", 0.0, 0.0, 1.0, {})
    gold, tried = _gold_of(item, judge), ranked[: SearchLimits().tried]
    near = [
        one for one in tried if one is tried[0] or one.score >= tried[0].score - MAX_EMPTY_SCORE_GAP
    ]
    scored = ((place, *judge.score(item.id, one, gold)) for place, one in enumerate(near))
    first = next(scored)
    others = scored if first[2][2] else ()
    place, query, (f1, named, empty) = next((one for one in others if not one[2][2]), first)
    left = SKIPPED_CANDIDATE_FACTOR**place * (EMPTY_RESULT_FACTOR if empty else 1.0)
    evidence = _rounded(collect_evidence(proposal, ranked))
    return Attempt(*about, query, f1, named, left, evidence)


def _rounded(values: Weights) -> dict[str, float]:
    return {name: round(value, 4) for name, value in values.items()}


Model = Callable[[Mapping[str, float]], float]
"""From evidence to a chance."""


def ranking_without(cases: Sequence[Case]) -> dict[str, dict[str, float]]:
    """Return for each style the weights of the ranking that are fitted without it."""
    others = group_others(cases, lambda case: case.set)
    return {style: fit_weights(rest) for style, rest in others.items()}


def confidence_without(attempts: Sequence[Attempt]) -> dict[str, Model]:
    """Return for each style the model of confidence that is fitted without it."""
    every = [answered(one) for one in attempts if one.evidence]
    others = group_others(every, lambda case: case.held)
    return {style: _fit_model(rest) for style, rest in others.items()}


def confidences(attempts: Sequence[Attempt], models: Mapping[str, Model]) -> list[float]:
    """Return the chance of each attempt by the model that was fitted without its style."""
    return [models[one.style](one.evidence) if one.evidence else 0.0 for one in attempts]


def answered(one: Attempt) -> Answered:
    """Return an attempt as a case of calibration; its style counts as its set."""
    graph, style = Path(one.graph).stem, one.style
    return Answered(style, one.evidence, one.by_name, graph, left=one.left, fold=style)


def _fit_model(cases: Sequence[Answered]) -> Model:
    """Fit trees to all cases, and a curve to what trees give that saw nothing of the style."""
    firsts = [case for case in cases if case.left == 1]
    trees = fit_trees(firsts)
    curve = fit_curve(firsts, chances_of(firsts, fit_without(firsts)))
    return lambda evidence: curve(trees(evidence))
