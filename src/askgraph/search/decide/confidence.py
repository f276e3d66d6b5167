"""The model of confidence: boosted trees over the evidence, from a file in the package.

`confidence.json` beside this file holds them; `tools/calibrate.py --write` fits and writes it. The
sign of most evidence is given beforehand: evidence for an answer never lowers its confidence on a
graph that happens to be odd, and evidence against never raises it. Friedman, "Greedy function
approximation: a gradient boosting machine" (2001).

A monotone curve, fitted to answers that were scored, turns what the model gives into a chance; it
is isotonic, so that the order of answers stays. It lies in `calibration.toml`.
"""

import json
import math
import tomllib
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TypeAlias

from askgraph.errors import SetupError

TREES_FILE = Path(__file__).with_name("confidence.json")
"""The trees that the package uses."""

FOR = frozenset(["score", "margin", "covered"])
"""The evidence that speaks for an answer."""

SHAPE = frozenset(["long", "patterns", "compares", "aggregates", "grouped", "ranked", "columns"])
"""How much a query says, which may speak for it or against it; all other evidence is against."""

EVIDENCE = (
    FOR
    | SHAPE
    | {
        *("rivals", "disputed", "faults", "unused", "unused_names", "unheard", "left_out"),
        *("inexact", "beaten", "ambiguous", "weakest", "required", "spread", "groups"),
        *("unsaid", "unsaid_order", "unsaid_columns", "unsaid_conditions", "unheld"),
        *("head_missed", "scattered", "blemishes"),
    }
)
"""The names of all evidence, as `evidence_for` gives it."""


def sign_of(name: str) -> int:
    """Return 1 for evidence that speaks for an answer, -1 for what is against it, 0 for either."""
    return 0 if name in SHAPE else 1 if name in FOR else -1


Tree: TypeAlias = "float | tuple[int, float, Tree, Tree]"
"""A leaf; or the number of an evidence, a bound, and the trees up to the bound and beyond it."""


@dataclass(frozen=True)
class Trees:
    """Trees over named evidence, whose leaves add up to log-odds; `start` are those of no tree."""

    evidence: tuple[str, ...]
    start: float
    trees: tuple[Tree, ...] = ()

    def __call__(self, evidence: Mapping[str, float]) -> float:
        """Return what the model gives (0–1) for evidence; what is not said is 0."""
        values = [evidence.get(name, 0.0) for name in self.evidence]
        linear = self.start
        for tree in self.trees:
            while isinstance(tree, tuple):
                at, bound, below, above = tree
                tree = below if values[at] <= bound else above
            linear += tree
        if linear >= 0:
            return 1 / (1 + math.exp(-linear))
        odds = math.exp(max(linear, -700.0))  # exp(-linear) would be too large for a number
        return odds / (1 + odds)


def weighed(evidence: Mapping[str, float]) -> float:
    """Return what the package's model gives (0–1) for evidence."""
    return own_trees()(evidence)


@cache
def own_trees() -> Trees:
    """The trees that the package uses, over all evidence that `evidence_for` gives."""
    return read_trees(TREES_FILE)


def read_trees(path: Path) -> Trees:
    """Read trees; raises `SetupError` if the file is missing or holds none of the kind."""
    try:
        table = json.loads(path.read_text("utf-8"))
        names = tuple(table["evidence"])
        odd = sorted(set(names) ^ EVIDENCE)
        if odd:
            raise ValueError(f"each evidence must be there once; see {', '.join(odd)}")
        trees = tuple(_tree(one, len(names)) for one in table["trees"])
        return Trees(names, _number(table["start"]), trees)
    except (OSError, KeyError, AttributeError, TypeError, ValueError) as problem:
        raise SetupError(
            f"{str(path)!r} holds no model of confidence ({problem}); "
            f"make it anew with tools/calibrate.py --write"
        ) from problem


def trees_text(trees: Trees, about: Sequence[str]) -> str:
    """Return trees as a file that `read_trees` reads, a tree a line, with what is said about it."""
    head = {"about": list(about), "evidence": list(trees.evidence), "start": _short(trees.start)}
    lines = json.dumps(head, indent=1, ensure_ascii=False).removesuffix("\n}")
    rows = ",\n  ".join(json.dumps(_shortened(tree)) for tree in trees.trees)
    return f'{lines},\n "trees": [\n  {rows}\n ]\n}}\n'


def _tree(given: object, evidence: int) -> Tree:
    if not isinstance(given, list):
        return _number(given)
    at, bound, below, above = given
    if at not in range(evidence):
        raise ValueError(f"there is no evidence {at!r}")
    return at, _number(bound), _tree(below, evidence), _tree(above, evidence)


def _shortened(tree: Tree) -> object:
    if not isinstance(tree, tuple):
        return _short(tree)
    at, bound, below, above = tree
    return [at, _short(bound), _shortened(below), _shortened(above)]


def _short(number: float) -> float:
    return round(number, 5) + 0.0


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{value!r} is no number")
    return float(value)


CURVE = Path(__file__).with_name("calibration.toml")
"""The curve that the package uses."""

_SMALLEST = 40
_NUMBERS = (int, float)


@dataclass(frozen=True)
class Scored:
    """An answer: the confidence it was `given`, its score between 0 and 1, and what it weighs."""

    given: float
    score: float
    weight: float = 1.0


@dataclass(frozen=True)
class Knot:
    """Answers pooled: their mean confidence, their mean score, and how many they are worth."""

    given: float
    chance: float
    n: float


@dataclass(frozen=True)
class Curve:
    """A piecewise linear curve through knots, both of whose numbers rise."""

    knots: tuple[Knot, ...]

    def __post_init__(self) -> None:
        """Raise `ValueError` if the knots are not those of a rising curve within (0, 1)."""
        inside = all(0 <= k.given <= 1 and 0 < k.chance < 1 and k.n > 0 for k in self.knots)
        rising = all(a.given < b.given and a.chance <= b.chance for a, b in pairwise(self.knots))
        if not (self.knots and inside and rising):
            raise ValueError("the knots of a curve must rise, with chances between 0 and 1")

    def __call__(self, given: float) -> float:
        """Return the chance for a confidence, never 0 or 1.

        Beyond the last knots the curve goes on to what their finite number of answers could show.
        """
        points = self._points()
        at = min(max(bisect_right(points, (given, 2.0)) - 1, 0), len(points) - 2)
        (left, low), (right, high) = points[at], points[at + 1]
        share = (given - left) / (right - left) if right > left else 1.0
        return low + min(1.0, max(0.0, share)) * (high - low)

    def _points(self) -> list[tuple[float, float]]:
        first, last = self.knots[0], self.knots[-1]
        return [
            (0.0, min(first.chance, _clipped(0.0, first.n))),
            *((knot.given, knot.chance) for knot in self.knots),
            (1.0, max(last.chance, _clipped(1.0, last.n))),
        ]


def calibrated(given: float) -> float:
    """Return the chance that an answer to which graph search gives this confidence is right."""
    return _own()(given)


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


def read_curve(path: Path) -> Curve:
    """Read a curve; raises `SetupError` if the file is missing or holds none."""
    try:
        table = tomllib.loads(path.read_text("utf-8"))
        return Curve(tuple(_knot(entry) for entry in table["knots"]))
    except (OSError, KeyError, TypeError, ValueError) as problem:
        raise SetupError(
            f"{str(path)!r} holds no curve of confidences ({problem}); "
            f"make it anew with tools/calibrate.py --write"
        ) from problem


def curve_text(curve: Curve, about: Sequence[str]) -> str:
    """Return a curve as a file that `read_curve` reads as the same, with lines of comment on top.

    Numbers have all the digits that they need: shorter ones may put two knots in one place.
    """
    lines = [f"# {line}".rstrip() for line in about]
    lines += ["", "knots = [  # confidence given, chance, answers that it rests on"]
    knots = [(float(k.given), float(k.chance), float(k.n)) for k in curve.knots]
    lines += [f"    [{given!r}, {chance!r}, {n!r}]," for given, chance, n in knots]
    return "\n".join([*lines, "]", ""])


@cache
def _own() -> Curve:
    return read_curve(CURVE)


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
    return _Pool(given, _clipped(score, weight**2 / squares), weight, squares)


def _joined(lower: _Pool, upper: _Pool) -> _Pool:
    weight, squares = lower.weight + upper.weight, lower.squares + upper.squares
    given = (lower.weight * lower.given + upper.weight * upper.given) / weight
    score = (lower.weight * lower.score + upper.weight * upper.score) / weight
    return _Pool(given, score, weight, squares)


def _clipped(score: float, n: float) -> float:
    return min((n + 1) / (n + 2), max(1 / (n + 2), score))


def _knot(entry: Sequence[float]) -> Knot:
    given, chance, n = entry
    if not all(isinstance(number, _NUMBERS) for number in entry):
        raise ValueError(f"{entry!r} are not three numbers")
    return Knot(given, chance, n)
