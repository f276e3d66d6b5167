"""The curve from what the trees give to a chance: fitted, and tried on other graphs."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from tools.calibration_cases import PARTS, Case, shares
from tools.calibration_trees import confidences

from askgraph.evaluation.reports.confidence import aurc, calibration
from askgraph.search.decide import Curve, Knot, Trees, succeeded

__all__ = [
    "Scored", "about", "bounded", "curve_file", "curve_of", "curve_report", "curve_text", "fitted",
    "given_without", "held_out",
]  # fmt: skip

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
    curve = fitted([Scored(one, float(case.right), share) for case, one, share in kept])
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


def fitted(answers: Sequence[Scored], *, smallest: int = _SMALLEST) -> Curve:
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
