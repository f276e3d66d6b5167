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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from random import Random
from typing import Any

import numpy as np
from scipy.optimize import isotonic_regression
from tools.accuracy_floors import HELD_OUT, floors_run
from tools.judging import PARTS, Floats, Judge, Source, group_others, open_graphs, share_weights

from askgraph.errors import QueryError, ServiceError
from askgraph.evaluation.reports.confidence import compute_aurc, compute_calibration
from askgraph.methods import Method
from askgraph.search import decide
from askgraph.search.rank import RankedCandidates, cluster_candidates, load_weights
from askgraph.trace import Answer, Question
from askgraph.workspace import SEARCH_METHOD, Workspace
from askgraph.workspace.generation import is_same_answer
from askgraph.workspace.plans import BenchmarkQuestions
from askgraph.workspace.run_sync import ask_method

_UNHEARD = "qwertzuiop"
_SECONDS = 10.0
_RIGHT = 1 - 1e-9


@dataclass(frozen=True)
class Case:
    """An answer: the set and the graph it is of, what speaks for its best reading, and its F1.

    `left` is what is left of the confidence in the best reading, below 1 where another reading was
    passed over or the result is empty; `fold` is a group of graphs that are left out together. A
    `generated` question was made from a template; its F1 is 1 where the answer is what the
    template's own query gives, else 0. In a `masked` one a word is replaced by one that means
    nothing; only where the best query stays the same, its F1 does, else it is 0.
    """

    set: str
    evidence: Mapping[str, float]
    f1: float
    graph: str = ""
    source: Source = "people"
    left: float = 1.0
    fold: str = ""

    @property
    def held(self) -> str:
        """What is left out as a whole when this case is judged: its fold, else its graph."""
        return self.fold or self.graph

    @property
    def right(self) -> bool:
        """Whether nothing of the answer is wrong or missing."""
        return self.f1 >= _RIGHT


def shares(found: Sequence[Case]) -> Floats:
    """Return the weight of each case, 1 on average."""
    weights = share_weights([(case.graph, case.source) for case in found])
    return np.asarray(weights / weights.mean())


def cases(asked: BenchmarkQuestions, workspace: Workspace, *, jobs: int = 1) -> Iterator[Case]:
    """Yield the answers to the questions of a set; without any attempt there is no case.

    An answer to a question that the graph cannot answer has F1 0.
    """
    run = floors_run(
        workspace, [asked], method=SEARCH_METHOD, settings=[f"ranking={HELD_OUT}"], jobs=jobs
    )
    records = {record.id: record for record in run.records}
    for judge, title, questions in open_graphs(asked, workspace):
        for question in questions:
            record = records[question.id]
            if record.sparql is None or record.error or record.gold_error:
                continue
            if evidence := _evidence(_propose(judge, question.text, question.language)):
                f1 = 0.0 if question.unanswerable else record.f1
                left = _left(record.confidence, evidence)
                yield Case(asked.name, evidence, f1, title, left=left)


def generated_cases(
    asked: BenchmarkQuestions, workspace: Workspace, *, number: int
) -> Iterator[Case]:
    """Yield first answers to so many questions that the profile of each graph of a set suggests.

    After each of them comes the same question with a word masked, where it has one to mask.
    """
    method, chance = workspace.method(settings={"ranking": str(HELD_OUT)}), Random(0)
    for judge, title, _ in open_graphs(asked, workspace):
        for text, evidence, is_right in islice(_answer_drafts(judge, method), number):
            case = Case(asked.name, evidence, float(is_right), title, "generated")
            yield case
            yield from _mask_word(text, case, judge, chance)


def _answer_drafts(judge: Judge, method: Method) -> Iterator[tuple[str, dict[str, float], bool]]:
    """Yield each question with the evidence of its first answer and whether that is right."""
    for draft, results in judge.drafts():
        evidence = _evidence(_propose(judge, draft.question, "en"))
        if not evidence:
            continue
        question = Question(draft.question, "en")
        try:
            answering = ask_method(question, method, [judge.graph], timeout=_SECONDS)
            outcome = judge.runner.run(answering)
        except (QueryError, ServiceError):
            continue
        best = outcome if isinstance(outcome, Answer) else outcome.best
        if best is not None and _left(best.confidence, evidence) == 1:
            right = any(is_same_answer(best, query, result) for query, result in results)
            yield draft.question, evidence, right


def _mask_word(text: str, case: Case, judge: Judge, chance: Random) -> Iterator[Case]:
    """Yield the same question with one of the words masked that its best query uses."""
    proposal = _propose(judge, text, "en")
    best = cluster_candidates(proposal.candidates)[0].best
    used = [
        token
        for at, token in enumerate(proposal.question.tokens)
        if proposal.linked.weights[at] and best.used >> at & 1 and token.text.isalpha()
    ]
    if not used:
        return
    token = chance.choice(used)
    unheard = _UNHEARD.capitalize() if token.is_capitalized else _UNHEARD
    masked = _propose(judge, f"{text[: token.start]}{unheard}{text[token.end :]}", "en")
    if evidence := _evidence(masked):
        is_same = cluster_candidates(masked.candidates)[0].best.tree == best.tree
        yield Case(case.set, evidence, case.f1 if is_same else 0.0, case.graph, "masked")


def _propose(judge: Judge, text: str, language: str | None) -> RankedCandidates:
    return judge.propose(text, language, load_weights(judge.graph.name, str(HELD_OUT)))


def _evidence(proposal: RankedCandidates) -> dict[str, float]:
    """Return what speaks for the best reading; nothing if there is none."""
    found = cluster_candidates(proposal.candidates)
    return decide.collect_evidence(proposal, found) if found else {}


def _left(confidence: float, evidence: Mapping[str, float]) -> float:
    """Return what is left of the confidence in the best reading; 1 if that was answered."""
    whole = decide.calibrate(decide.score_evidence(evidence))
    return 1.0 if abs(confidence - whole) < 1e-4 else min(1.0, confidence / whole)


_ROUNDS, _RATE, _LEAVES, _LEAF, _L2 = 150, 0.06, 8, 20, 3.0
"""Trees, what each counts, its leaves, the fewest answers in one, and the pull of leaves to 0."""


def fit_trees(train: Sequence[Case]) -> decide.BoostedTrees:
    """Fit trees to whether answers are right; cases weigh as `shares` has it.

    What speaks for an answer never lowers what the trees give, what speaks against it never
    raises it. Where all are right, or all wrong, there is nothing to tell apart, and no tree.
    """
    names = tuple(train[0].evidence)
    right, weights = np.array([case.right for case in train], dtype=float), shares(train)
    if right.min() == right.max() or len(train) < 2 * _LEAF:
        ahead, behind = 1 + float(weights @ right), 1 + float(weights @ (1 - right))
        return decide.BoostedTrees(names, math.log(ahead / behind))
    from sklearn.ensemble import HistGradientBoostingClassifier  # seconds, only to fit

    model = HistGradientBoostingClassifier(
        max_iter=_ROUNDS, learning_rate=_RATE, max_leaf_nodes=_LEAVES, min_samples_leaf=_LEAF,
        l2_regularization=_L2, monotonic_cst=[decide.get_evidence_sign(name) for name in names],
        early_stopping=False, random_state=0,
    )  # fmt: skip
    rows = np.array([[case.evidence[name] for name in names] for case in train], dtype=float)
    model.fit(rows, right, sample_weight=weights)
    # Nothing public gives the trees; the lock holds the version, and a test what they give.
    trees = tuple(_tree(found.nodes, 0) for [found] in model._predictors)
    return decide.BoostedTrees(names, float(np.ravel(model._baseline_prediction)[0]), trees)


def _tree(nodes: Any, at: int) -> decide.Tree:
    node = nodes[at]
    if node["is_leaf"]:
        return float(node["value"])
    below, above = (_tree(nodes, int(node[side])) for side in ("left", "right"))
    return int(node["feature_idx"]), float(node["num_threshold"]), below, above


def fit_without(found: Sequence[Case]) -> dict[str, decide.BoostedTrees]:
    """Fit the trees for each graph, or fold of graphs, to the answers over all others."""
    others = group_others(found, lambda case: case.held)
    return {held: fit_trees(_firsts(rest) or _firsts(found)) for held, rest in others.items()}


def _firsts(found: Sequence[Case]) -> list[Case]:
    return [case for case in found if case.left == 1]


def chances_of(found: Sequence[Case], trees: Mapping[str, decide.BoostedTrees]) -> list[float]:
    """Return what the trees give for each case that are fitted without its graph."""
    return [trees[case.held](case.evidence) for case in found]


def count_splits(trees: decide.BoostedTrees) -> Counter[str]:
    """Count how many times trees ask for each evidence."""
    counts: Counter[str] = Counter()
    rest = list(trees.trees)
    while rest:
        if isinstance(tree := rest.pop(), tuple):
            at, _, *below = tree
            counts[trees.evidence[at]] += 1
            rest += below
    return counts


def trees_text(trees: decide.BoostedTrees, about: Sequence[str]) -> str:
    """Return trees as a file that `read_trees` reads, a tree a line, with what is said about it."""
    head = {"about": list(about), "evidence": list(trees.evidence), "start": _shorten(trees.start)}
    lines = json.dumps(head, indent=1, ensure_ascii=False).removesuffix("\n}")
    rows = ",\n  ".join(json.dumps(_shorten(tree)) for tree in trees.trees)
    return f'{lines},\n "trees": [\n  {rows}\n ]\n}}\n'


def _shorten(tree: decide.Tree) -> object:
    if not isinstance(tree, tuple):
        return round(tree, 5) + 0.0
    at, *parts = tree
    return [at, *map(_shorten, parts)]


_SURE = 0.9  # an answer of such a chance is called sure: at most one of ten such is wrong
_ENOUGH = 500  # so many answers over graphs that are left out together bound what is called sure
_BELOW = 1e-6


def fit_curve(found: Sequence[Case], given: Sequence[float]) -> decide.CalibrationCurve:
    """Fit the curve to whether cases are right and what the model gives; they weigh as `shares`.

    Not to those with a word masked: how often such questions are asked is nothing that they tell.
    Nor to what is left of a confidence where another reading was passed over.
    """
    weighted = zip(found, given, shares(found).tolist(), strict=True)
    kept = [item for item in weighted if item[0].left == 1 and item[0].source != "masked"]
    curve = fit_isotonic([Scored(one, float(case.right), share) for case, one, share in kept])
    return bound_sure(curve, [case for case, *_ in kept], [one for _, one, _ in kept])


def bound_sure(
    curve: decide.CalibrationCurve, found: Sequence[Case], given: Sequence[float]
) -> decide.CalibrationCurve:
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
    below = [replace(knot, probability=min(knot.probability, most)) for knot in curve.knots
             if knot.confidence < least - 2 * _BELOW]  # fmt: skip
    here = (
        decide.CurveKnot(least - _BELOW, most, 1.0),
        decide.CurveKnot(least, max(curve(least), _SURE), 1.0),
    )
    return decide.CalibrationCurve(
        (*below, *here, *(knot for knot in curve.knots if knot.confidence > least))
    )


def _least(curve: decide.CalibrationCurve, answers: Sequence[tuple[float, bool]]) -> float:
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


def hold_out(found: Sequence[Case], given: Sequence[float]) -> list[float]:
    """Return the confidence of each case by a curve that was fitted without its graph."""
    pairs = list(zip(found, given, strict=True))
    others = group_others(pairs, lambda pair: pair[0].held)
    curves = {held: fit_curve(*zip(*(rest or pairs), strict=True)) for held, rest in others.items()}
    return [curves[case.held](one) * case.left for case, one in pairs]


def curve_report(found: Sequence[Case], given: Sequence[float]) -> str:
    """Return how well confidences hold before and after, each graph by a curve without it."""
    after = hold_out(found, given)
    lines = ["questions  confidence   n      mean  F1     ECE    Brier  AURC"]
    for source in PARTS:
        own = [at for at, case in enumerate(found) if case.source == source]
        for which, chances in (("trees", given), ("curve", after)) if own else ():
            pairs = [(chances[at], found[at].f1) for at in own]
            held = compute_calibration(pairs)
            confidence, f1 = (sum(values) / len(own) for values in zip(*pairs, strict=True))
            lines.append(
                f"{source:<10} {which:<12} {len(own):<5}  {confidence:.3f} {f1:.3f}"
                f"  {held.ece:.3f}  {held.brier:.3f}  {compute_aurc(pairs):.3f}"
            )
    lines += ["", "graph (people's questions)     n    mean F1  trees     curve"]
    rows = [row for row in zip(found, given, after, strict=True) if row[0].source == "people"]
    for graph in sorted({case.graph for case, *_ in rows}):
        figures = [(case.f1, *chances) for case, *chances in rows if case.graph == graph]
        f1, before, curve = (sum(column) / len(figures) for column in zip(*figures, strict=True))
        lines.append(f"{graph:<30} {len(figures):<4} {f1:>7.3f}  {before:>8.3f}  {curve:.3f}")
    return "\n".join(lines)


def curve_file(found: Sequence[Case], given: Sequence[float], command: str) -> str:
    """Return the curve as a file, with what it was fitted to."""
    first = "From the confidence of askgraph.search.decide to a chance; see calibration.py."
    return curve_text(fit_curve(found, given), [first, *about(found, command)])


def about(found: Sequence[Case], command: str) -> list[str]:
    """Return what a fitted file says of itself: by what command, and to what."""
    number = Counter(case.source for case in _firsts(found))
    graphs = len({case.graph for case in found})
    weigh = " and ".join(f"{PARTS[name]:g}" for name in PARTS if name != "people")
    return [
        f"Made by: {command}",
        f"Fitted to {number['people']} answers to people's questions, {number['generated']} to",
        f"generated ones and {number['masked']} to those with a word masked, over {graphs} graphs;",
        f"the latter weigh {weigh} of people's (the curve leaves the masked out).",
    ]


_SMALLEST = 40


@dataclass(frozen=True)
class Scored:
    """An answer: the confidence it was `given`, its score between 0 and 1, and what it weighs."""

    given: float
    score: float
    weight: float = 1.0


def fit_isotonic(
    answers: Sequence[Scored], *, smallest: int = _SMALLEST
) -> decide.CalibrationCurve:
    """Fit a curve: isotonic regression by pooling adjacent violators, over small pools to begin.

    Pools of equal weight, on average of `smallest` answers, keep a few lucky ones from being a
    knot. No mean goes beyond (0 + 1) / (n + 2) or (n + 1) / (n + 2), the rule of succession for n
    answers all wrong or all right; n is what weighted answers are worth (Kish, 1965). Ayer et al.,
    "An empirical distribution function for sampling with incomplete information" (1955). Raises
    `ValueError` without answers.
    """
    ordered = sorted(answers, key=lambda answer: answer.given)
    given, score, weight = np.array([(one.given, one.score, one.weight) for one in ordered]).T
    share, starts, done = weight.sum() / max(1, len(ordered) // smallest), [0], weight[0]
    for at in range(1, len(ordered)):  # equal confidences stay together
        if done >= share and given[at] > given[at - 1]:
            starts, done = [*starts, at], 0.0
        done += weight[at]
    sums = np.add.reduceat([weight * given, weight * score, weight, weight**2], starts, axis=1)
    means = zip(sums[1] / sums[2], sums[2] ** 2 / sums[3], strict=True)
    bounded = [decide.apply_succession_rule(float(mean), float(count)) for mean, count in means]
    fitted = isotonic_regression(bounded, weights=sums[2]).x
    blocks = np.flatnonzero(np.diff(fitted, prepend=-1) > 0)
    x, _, w, squares = np.add.reduceat(sums, blocks, axis=1)
    knots = np.stack([x / w, fitted[blocks], w**2 / squares], axis=1).tolist()
    return decide.CalibrationCurve(tuple(decide.CurveKnot(*knot) for knot in knots))


def curve_text(curve: decide.CalibrationCurve, about: Sequence[str]) -> str:
    """Return a curve as a file that `read_curve` reads as the same, with lines of comment on top.

    Numbers have all the digits that they need: shorter ones may put two knots in one place.
    """
    lines = [f"# {line}".rstrip() for line in about]
    lines += ["", "knots = [  # confidence given, chance, answers that it rests on"]
    knots = [
        (float(k.confidence), float(k.probability), float(k.answer_count)) for k in curve.knots
    ]
    lines += [f"    [{given!r}, {chance!r}, {n!r}]," for given, chance, n in knots]
    return "\n".join([*lines, "]", ""])
