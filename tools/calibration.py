"""Answers to fit confidences to, the trees fitted to them, and the curve from these to a chance.

Answers are those to people's questions, and to questions that a graph gives itself; some of the
latter have a word masked that nobody knows, so that most of them cannot be answered. Each graph is
ranked by weights that were fitted without it.

A case is the answer of graph search to a question, with what speaks for its best reading and its
score. The graphs of one original (default, inverse and shortcut properties) count as one graph.
The trees are gradient boosting that keeps the signs of the evidence.
"""

import json
import math
from collections import Counter
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from random import Random
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from tools.accuracy_floors import HELD_OUT, floors_run

from askgraph.endpoint import Endpoint
from askgraph.errors import QueryError, ServiceError
from askgraph.evaluation.reports.confidence import aurc, calibration
from askgraph.graph import KnowledgeGraph
from askgraph.graph.examples.drafts import drafts
from askgraph.methods import Method
from askgraph.search.decide import (
    Curve,
    Knot,
    Tree,
    Trees,
    calibrated,
    collect_evidence,
    sign_of,
    succeeded,
    weighed,
)
from askgraph.search.pipeline import build_schema, link_text, propose_from_links
from askgraph.search.rank import Proposal, clusters, weights_for
from askgraph.trace import Answer, Question
from askgraph.workspace import DEFAULT_METHOD, Workspace
from askgraph.workspace.generation import results_of, same
from askgraph.workspace.outcome import outcome_of
from askgraph.workspace.plans import Asked
from askgraph.workspace.run_sync import result_of

Floats = npt.NDArray[np.float64]

VARIANTS = {"default": "supply-kgrep", "inverse-and-shortcut": "supply-kgrep"}

Source = Literal["people", "generated", "masked"]

PARTS: Mapping[Source, float] = {"people": 1.0, "generated": 0.25, "masked": 0.1}
"""What all questions of a source weigh over one graph, for each 1 that people's weigh."""

_UNHEARD = "qwertzuiop"
_SECONDS = 10.0
_RIGHT = 1 - 1e-9


@dataclass(frozen=True)
class Case:
    """An answer: the set and the graph it is of, what speaks for its best reading, and its F1.

    `left` is what is left of the confidence in the best reading, below 1 where another reading was
    passed over or the result is empty; `asked` is the set by its own name, `fold` a group of graphs
    that are left out together. A `generated` question
    was made from a template; its F1 is 1 where the answer is what the template's own query gives,
    else 0. In a `masked` one a word is replaced by one that means nothing; only where the best
    query stays the same, its F1 does, else it is 0.
    """

    set: str
    evidence: Mapping[str, float]
    f1: float
    graph: str = ""
    source: Source = "people"
    left: float = 1.0
    asked: str = ""
    fold: str = ""

    @property
    def held(self) -> str:
        """What is left out as a whole when this case is judged: its fold, else its graph."""
        return self.fold or self.graph

    @property
    def given(self) -> float:
        """What the logistic model in use gives for it."""
        return weighed(self.evidence)

    @property
    def right(self) -> bool:
        """Whether nothing of the answer is wrong or missing."""
        return self.f1 >= _RIGHT


def shares(found: Sequence[Case]) -> Floats:
    """Return the weight of each case, 1 on average.

    A graph weighs the square root of the number of people's questions, so that none rules and none
    is ruled by a few; what others weigh beside these is in `PARTS`.
    """
    number = Counter((case.graph, case.source) for case in found)
    weights = np.array(
        [
            (number[case.graph, "people"] or number[case.graph, case.source]) ** 0.5
            * PARTS[case.source]
            / number[case.graph, case.source]
            for case in found
        ]
    )  # fmt: skip
    return np.asarray(weights / weights.mean())


def cases(asked: Asked, workspace: Workspace, *, jobs: int = 1) -> Iterator[Case]:
    """The answers to the questions of a set; where there is no attempt at all, there is no case.

    An answer to a question that the graph cannot answer has F1 0.
    """
    run = floors_run(
        workspace, [asked], method=DEFAULT_METHOD, settings=[f"ranking={HELD_OUT}"], jobs=jobs
    )
    records = {record.id: record for record in run.records}
    name = VARIANTS.get(asked.name, asked.name)
    for source in dict.fromkeys(asked.graphs):
        graph = workspace.find(source)
        try:
            for question, place in zip(asked.questions, asked.graphs, strict=True):
                record = records[question.id]
                if place != source or record.sparql is None or record.error or record.gold_error:
                    continue
                evidence = _evidence(question.text, question.language, graph)
                if evidence is not None:
                    f1 = 0.0 if question.unanswerable else record.f1
                    left = _left(record.confidence, evidence)
                    title = _title(asked.name, graph)
                    yield Case(name, evidence, f1, title, left=left, asked=asked.name)
        finally:
            result_of(_closed(graph.endpoint))


def generated_cases(asked: Asked, workspace: Workspace, *, number: int) -> Iterator[Case]:
    """First answers to so many questions that the profile of each graph of a set suggests.

    After each of them comes the same question with a word masked, where it has one to mask.
    """
    method, chance = workspace.method(settings={"ranking": str(HELD_OUT)}), Random(0)
    for source in dict.fromkeys(asked.graphs):
        graph = workspace.find(source)
        yield from result_of(_generated(graph, method, asked.name, number, chance))


async def _generated(
    graph: KnowledgeGraph, method: Method, name: str, number: int, chance: Random
) -> list[Case]:
    try:
        async with aclosing(_answered(graph, method, name)) as found:
            kept: list[Case] = []
            count = 0
            async for question, case in found:
                kept += [case, *_masked(question, case, graph, chance)]
                count += 1
                if count == number:
                    break
            return kept
    finally:
        await graph.endpoint.close()


async def _answered(
    graph: KnowledgeGraph, method: Method, name: str
) -> AsyncGenerator[tuple[str, Case], None]:
    async with aclosing(drafts(graph.profile, graph.endpoint, graph.prefixes)) as given:
        async for draft in given:
            evidence = _evidence(draft.question, "en", graph)
            try:
                results = await results_of(draft, graph)
                if not results or evidence is None:
                    continue
                asked = Question(draft.question, "en")
                outcome = await outcome_of(asked, method, [graph], timeout=_SECONDS)
            except (QueryError, ServiceError):
                continue
            best = outcome if isinstance(outcome, Answer) else outcome.best
            if best is None or _left(best.confidence, evidence) < 1:
                continue
            right = any(same(best, query, result) for query, result in results)
            variant = VARIANTS.get(name, name)
            title = _title(name, graph)
            yield draft.question, Case(variant, evidence, float(right), title, "generated")


def _masked(text: str, case: Case, graph: KnowledgeGraph, chance: Random) -> Iterator[Case]:
    """The same question with one of the words masked that its best query uses."""
    whole = _proposal(text, "en", graph)
    best = clusters(whole.candidates)[0].best
    used = [
        token
        for at, token in enumerate(whole.reading.tokens)
        if whole.linked.weights[at] and best.used >> at & 1 and token.text.isalpha()
    ]
    if not used:
        return
    token = chance.choice(used)
    unheard = _UNHEARD.capitalize() if token.capital else _UNHEARD
    proposal = _proposal(f"{text[: token.start]}{unheard}{text[token.end :]}", "en", graph)
    if found := clusters(proposal.candidates):
        f1 = case.f1 if found[0].best.tree == best.tree else 0.0
        yield Case(case.set, collect_evidence(proposal, found), f1, case.graph, "masked")


def _evidence(text: str, language: str | None, graph: KnowledgeGraph) -> dict[str, float] | None:
    proposal = _proposal(text, language, graph)
    found = clusters(proposal.candidates)
    return collect_evidence(proposal, found) if found else None


def _proposal(text: str, language: str | None, graph: KnowledgeGraph) -> Proposal:
    if graph.arrays is None:
        raise ValueError(f"the graph {graph.name!r} has no arrays to grow candidates over")
    linked = link_text(text, language, graph.names)
    weights = weights_for(graph.name, str(HELD_OUT))
    return propose_from_links(linked, build_schema(graph.arrays, graph.profile), weights=weights)


def _left(confidence: float, evidence: Mapping[str, float]) -> float:
    """What is left of the confidence in the best reading; 1 where that is what was answered."""
    whole = calibrated(weighed(evidence))
    return 1.0 if abs(confidence - whole) < 1e-4 else min(1.0, confidence / whole)


def _title(name: str, graph: KnowledgeGraph) -> str:
    """What a graph counts as: variants of one graph are one."""
    return VARIANTS.get(name, graph.name)


async def _closed(endpoint: Endpoint) -> None:
    await endpoint.close()


_ROUNDS, _RATE, _LEAVES, _LEAF, _L2 = 150, 0.06, 8, 20, 3.0
"""Trees, what each counts, its leaves, the fewest answers in one, and the pull of leaves to 0."""


def fitted_trees(train: Sequence[Case]) -> Trees:
    """Fit trees to whether answers are right; cases weigh as `shares` has it.

    What speaks for an answer never lowers what the trees give, what speaks against it never
    raises it. Where all are right, or all wrong, there is nothing to tell apart, and no tree.
    """
    names = tuple(train[0].evidence)
    right, weights = np.array([case.right for case in train], dtype=float), shares(train)
    if right.min() == right.max() or len(train) < 2 * _LEAF:
        ahead, behind = 1 + float(weights @ right), 1 + float(weights @ (1 - right))
        return Trees(names, math.log(ahead / behind))
    from sklearn.ensemble import HistGradientBoostingClassifier  # seconds, only to fit

    model = HistGradientBoostingClassifier(
        max_iter=_ROUNDS, learning_rate=_RATE, max_leaf_nodes=_LEAVES, min_samples_leaf=_LEAF,
        l2_regularization=_L2, monotonic_cst=[sign_of(name) for name in names],
        early_stopping=False, random_state=0,
    )  # fmt: skip
    model.fit(_table(names, [case.evidence for case in train]), right, sample_weight=weights)
    # Nothing public gives the trees; the lock holds the version, and a test what they give.
    trees = tuple(_tree(found.nodes, 0) for [found] in model._predictors)
    return Trees(names, float(np.ravel(model._baseline_prediction)[0]), trees)


def _tree(nodes: Any, at: int) -> Tree:
    node = nodes[at]
    if node["is_leaf"]:
        return float(node["value"])
    below, above = (_tree(nodes, int(node[side])) for side in ("left", "right"))
    return int(node["feature_idx"]), float(node["num_threshold"]), below, above


def _table(names: Sequence[str], evidence: Sequence[Mapping[str, float]]) -> Floats:
    return np.array([[facts[name] for name in names] for facts in evidence], dtype=float)


def confidences(trees: Trees, evidence: Sequence[Mapping[str, float]]) -> Floats:
    """What the trees give for each evidence."""
    return np.array([trees(facts) for facts in evidence], dtype=float)


def without(found: Sequence[Case]) -> dict[str, Trees]:
    """The trees for each graph, or fold of graphs, fitted_trees to the answers over all others."""
    firsts = [case for case in found if case.left == 1]
    return {
        held: fitted_trees([case for case in firsts if case.held != held] or firsts)
        for held in sorted({case.held for case in found})
    }


def splits(trees: Trees) -> Counter[str]:
    """How many times trees ask for each evidence."""
    return Counter(trees.evidence[at] for tree in trees.trees for at in _asked(tree))


def _asked(tree: Tree) -> Iterator[int]:
    if isinstance(tree, tuple):
        at, _, below, above = tree
        yield at
        yield from _asked(below)
        yield from _asked(above)


def trees_text(trees: Trees, about: Sequence[str]) -> str:
    """Return trees as a file that `read_trees` reads, a tree a line, with what is said about it."""
    head = {"about": list(about), "evidence": list(trees.evidence), "start": _short(trees.start)}
    lines = json.dumps(head, indent=1, ensure_ascii=False).removesuffix("\n}")
    rows = ",\n  ".join(json.dumps(_shortened(tree)) for tree in trees.trees)
    return f'{lines},\n "trees": [\n  {rows}\n ]\n}}\n'


def _shortened(tree: Tree) -> object:
    if not isinstance(tree, tuple):
        return _short(tree)
    at, bound, below, above = tree
    return [at, _short(bound), _shortened(below), _shortened(above)]


def _short(number: float) -> float:
    return round(number, 5) + 0.0


_SURE = 0.9
"""An answer of such a chance is called sure: at most one of ten such is wrong."""
_ENOUGH = 500
"""So many answers over graphs that are left out together bound what is called sure."""
_BELOW = 1e-6


def given_without(found: Sequence[Case], trees: Mapping[str, Trees]) -> list[float]:
    """What the trees give for each case that are fitted without its graph."""
    return [float(confidences(trees[case.held], [case.evidence])[0]) for case in found]


def curve_of(found: Sequence[Case], given: Sequence[float]) -> Curve:
    """Fit the curve to whether cases are right and what the model gives; they weigh as `shares`.

    Not to those with a word masked: how often such questions are asked is nothing that they tell.
    Nor to what is left of a confidence where another reading was passed over.
    """
    weighted = zip(found, given, shares(found).tolist(), strict=True)
    kept = [item for item in weighted if item[0].left == 1 and item[0].source != "masked"]
    curve = fitted_curve([Scored(one, float(case.right), share) for case, one, share in kept])
    return bounded(curve, [case for case, *_ in kept], [one for _, one, _ in kept])


def bounded(curve: Curve, found: Sequence[Case], given: Sequence[float]) -> Curve:
    """Return a curve by which what is called sure holds in each group of graphs, not on average.

    Of the answers over graphs that are left out together, as those of a style, which are called
    sure, (wrong + 1) / (all + 1) is at most one in ten: conformal risk control (Angelopoulos,
    Bates, Fisch, Lei and Schuster, 2022). What would break that in a group of five hundred
    answers or more is given a little less.
    """
    groups: dict[str, list[tuple[float, bool]]] = {}
    for case, one in zip(found, given, strict=True):
        groups.setdefault(case.held, []).append((one, case.right))
    least = max((_least(curve, own) for own in groups.values() if len(own) >= _ENOUGH), default=0.0)
    if curve(least) <= _SURE:
        return curve
    most = _SURE - _BELOW
    below = [replace(knot, chance=min(knot.chance, most)) for knot in curve.knots
             if knot.given < least - 2 * _BELOW]  # fmt: skip
    here = Knot(least - _BELOW, most, 1.0), Knot(least, max(curve(least), _SURE), 1.0)
    return Curve((*below, *here, *(knot for knot in curve.knots if knot.given > least)))


def _least(curve: Curve, answers: Sequence[tuple[float, bool]]) -> float:
    """The least that the model may give for a sure answer of a group; 0 if the curve may stay."""
    sure = sorted((one for one in answers if curve(one[0]) >= _SURE), reverse=True)
    if len(sure) * (1 - _SURE) < 1:
        return 0.0  # too few to be wrong once
    wrong, held = 0, min(1.0, sure[0][0] + 3 * _BELOW)
    for place, (one, right) in enumerate(sure, 1):
        wrong += not right
        is_last = place == len(sure) or sure[place][0] < one
        if is_last and (wrong + 1) / (place + 1) <= 1 - _SURE:
            held = one
    return 0.0 if held == sure[-1][0] else held


def held_out(found: Sequence[Case], given: Sequence[float]) -> list[float]:
    """The confidence of each case by a curve that was fitted without its graph."""
    curves = {}
    for held in {case.held for case in found}:
        others = [at for at, case in enumerate(found) if case.held != held]
        kept = others or range(len(found))
        curves[held] = curve_of([found[at] for at in kept], [given[at] for at in kept])
    pairs = zip(found, given, strict=True)
    return [curves[case.held](one) * case.left for case, one in pairs]


def curve_report(found: Sequence[Case], given: Sequence[float]) -> str:
    """How well confidences hold before and after, each graph by a curve fitted without it."""
    after = held_out(found, given)
    lines = ["questions  confidence   n      mean  F1     ECE    Brier  AURC"]
    for title in PARTS:
        at = [place for place, case in enumerate(found) if case.source == title]
        if at:
            scores = [found[place].f1 for place in at]
            lines.append(_line(title, "trees", [given[place] for place in at], scores))
            lines.append(_line(title, "curve", [after[place] for place in at], scores))
    by_graph = list(_by_graph(found, given, after))
    lines += ["", "graph (people's questions)     n    mean F1  trees     curve", *by_graph]
    return "\n".join(lines)


def curve_file(found: Sequence[Case], given: Sequence[float], command: str) -> str:
    """The curve as a file, with what it was fitted to."""
    first = "From the confidence of askgraph.search.decide to a chance; see calibration.py."
    return curve_text(curve_of(found, given), [first, *about(found, command)])


def about(found: Sequence[Case], command: str) -> list[str]:
    """What a fitted file says of itself: by what command, and to what."""
    firsts = [case for case in found if case.left == 1]
    number = Counter(case.source for case in firsts)
    graphs = len({case.graph for case in found})
    weigh = " and ".join(f"{PARTS[name]:g}" for name in ("generated", "masked"))
    return [
        f"Made by: {command}",
        f"Fitted to {number['people']} answers to people's questions, {number['generated']} to",
        f"generated ones and {number['masked']} to those with a word masked, over {graphs} graphs;",
        f"the latter weigh {weigh} of people's (the curve leaves the masked out).",
    ]


def _line(title: str, which: str, given: Sequence[float], scores: Sequence[float]) -> str:
    pairs = list(zip(given, scores, strict=True))
    held, n = calibration(pairs), len(pairs)
    return (
        f"{title:<10} {which:<12} {n:<5}  {sum(given) / n:.3f} {sum(scores) / n:.3f}"
        f"  {held.ece:.3f}  {held.brier:.3f}  {aurc(pairs):.3f}"
    )


def _by_graph(
    found: Sequence[Case], given: Sequence[float], after: Sequence[float]
) -> Iterator[str]:
    for graph in sorted({case.graph for case in found}):
        at = [n for n, case in enumerate(found) if case.graph == graph and case.source == "people"]
        if at:
            score = sum(found[n].f1 for n in at) / len(at)
            before = sum(given[n] for n in at) / len(at)
            curve = sum(after[n] for n in at) / len(at)
            yield f"{graph:<30} {len(at):<4} {score:>7.3f}  {before:>8.3f}  {curve:.3f}"


_SMALLEST = 40


@dataclass(frozen=True)
class Scored:
    """An answer: the confidence it was `given`, its score between 0 and 1, and what it weighs."""

    given: float
    score: float
    weight: float = 1.0


def fitted_curve(answers: Sequence[Scored], *, smallest: int = _SMALLEST) -> Curve:
    """Fit a curve: isotonic regression by pooling adjacent violators, over small pools to begin.

    Pools of equal weight, on average of `smallest` answers, keep a few lucky ones from being a
    knot. No mean goes beyond (0 + 1) / (n + 2) or (n + 1) / (n + 2), the rule of succession for n
    answers all wrong or all right; n is what weighted answers are worth (Kish, 1965). Ayer et al.,
    "An empirical distribution function for sampling with incomplete information" (1955). Raises
    `ValueError` without answers.
    """
    pools: list[_Pool] = []
    for pool in _pools(answers, max(1, len(answers) // smallest)):
        pools.append(pool)
        while len(pools) > 1 and pools[-2].score >= pools[-1].score:
            upper = pools.pop()
            pools[-1] = _joined(pools[-1], upper)
    return Curve(tuple(Knot(p.given, p.score, p.n) for p in pools))


def curve_text(curve: Curve, about: Sequence[str]) -> str:
    """Return a curve as a file that `read_curve` reads as the same, with lines of comment on top.

    Numbers have all the digits that they need: shorter ones may put two knots in one place.
    """
    lines = [f"# {line}".rstrip() for line in about]
    lines += ["", "knots = [  # confidence given, chance, answers that it rests on"]
    knots = [(float(k.given), float(k.chance), float(k.n)) for k in curve.knots]
    lines += [f"    [{given!r}, {chance!r}, {n!r}]," for given, chance, n in knots]
    return "\n".join([*lines, "]", ""])


@dataclass(frozen=True)
class _Pool:
    given: float
    score: float
    weight: float
    squares: float

    @property
    def n(self) -> float:
        return self.weight**2 / self.squares


def _pools(answers: Sequence[Scored], number: int) -> Iterator[_Pool]:
    """Answers by confidence, in so many pools of about equal weight; equal confidences together."""
    total, done = sum(answer.weight for answer in answers), 0.0
    held: list[Scored] = []
    for answer in sorted(answers, key=lambda one: one.given):
        if held and done >= total / number and answer.given > held[-1].given:
            yield _pool(held)
            held, done = [], 0.0
        held.append(answer)
        done += answer.weight
    if held:
        yield _pool(held)


def _pool(held: Sequence[Scored]) -> _Pool:
    weight = sum(one.weight for one in held)
    squares = sum(one.weight**2 for one in held)
    given = sum(one.weight * one.given for one in held) / weight
    score = sum(one.weight * one.score for one in held) / weight
    return _Pool(given, succeeded(score, weight**2 / squares), weight, squares)


def _joined(lower: _Pool, upper: _Pool) -> _Pool:
    weight, squares = lower.weight + upper.weight, lower.squares + upper.squares
    given = (lower.weight * lower.given + upper.weight * upper.given) / weight
    score = (lower.weight * lower.score + upper.weight * upper.score) / weight
    return _Pool(given, score, weight, squares)
