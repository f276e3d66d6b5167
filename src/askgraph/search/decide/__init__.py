"""The decision on the best candidate: its confidence; answer, refuse, or what to ask back.

Confidence is a model's: boosted trees over the evidence, in `confidence.json` beside this file,
which `tools/calibrate.py --write` fits and writes. The sign of most evidence is given beforehand:
evidence for an answer never lowers its confidence on a graph that happens to be odd, and evidence
against never raises it. Friedman, "Greedy function approximation: a gradient boosting machine"
(2001). A monotone curve, fitted to answers that were scored, turns what the model gives into a
chance; it is isotonic, so that the order of answers stays. It lies in `calibration.toml`.
"""

import json
import math
import tomllib
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Literal, TypeAlias

from pyoxigraph import Variable

from askgraph.errors import SetupError
from askgraph.index import tokens
from askgraph.index.names import Kind, name_tokens
from askgraph.search import averages_in, groups_of, predicate_of
from askgraph.search.decide.evidence import evidence_for, left_out
from askgraph.search.operators.query_builder import Candidate
from askgraph.search.rank import Cluster
from askgraph.search.rank.faults import Subject
from askgraph.search.rank.score import Proposal
from askgraph.sparql import Call, Filter, Pattern
from askgraph.sparql.vocabulary import RDF_TYPE
from askgraph.trace import Answer, Option

EMPTY = 0.6
"""What is left of a confidence if the result is empty.

What is grown has a result, so that a condition took all away: mostly a wrong one. No more is taken,
since benchmarks leave out the questions to which nothing is the right answer.
"""

TIED = 0.6
"""The same if one is asked for, and several tie in an order that no word names."""

EITHER = 0.5
"""The same if all that is asked is a name that a thing and a class have."""

WHOLE = 0.6
"""The same if all things of a class are the answer, though words are left that no part stands for.

They narrow it by what the graph does not hold, which benchmarks do not ask either.
"""

Decision = Literal["answer", "ask", "refuse"]


@dataclass(frozen=True)
class Thresholds:
    """Confidence below which askgraph asks back, and below which it refuses."""

    answer: float = 0.5
    ask: float = 0.2


def confidence_of(proposal: Proposal, found: Sequence[Cluster]) -> float:
    """Estimate the chance (0–1) that the best cluster is right: its evidence weighed, calibrated.

    0 if there is no cluster; else neither 0 nor 1.
    """
    return calibrated(weighed(evidence_for(proposal, found))) if found else 0.0


def share_left(proposal: Proposal, candidate: Candidate, rows: int) -> float:
    """Return the share of a confidence that is left when it is known how many rows there are."""
    if not rows:
        return EMPTY
    if rows > 1 and _ties(proposal, candidate):
        return TIED
    if _whole(candidate) and left_out(proposal, candidate, read=True):
        return WHOLE
    return EITHER if _either(proposal, candidate) else 1.0


def _whole(candidate: Candidate) -> bool:
    """Whether a class and nothing else is what a query asks for or counts."""
    tree = candidate.tree
    match tree.where.elements:
        case (Pattern() as only,):
            return predicate_of(only) == RDF_TYPE and not (tree.order or groups_of(tree))
    return False


def _either(proposal: Proposal, candidate: Candidate) -> bool:
    """Whether all that is asked is a name that a thing and a class have: "Jaguar"."""
    links, tokens = proposal.linked.links, proposal.reading.tokens
    named = [one for one in links if one.mask == candidate.used]
    return any(
        {one.kind, other.kind} == {Kind.ENTITY, Kind.CLASS}
        and one.positions == other.positions
        and name_tokens(one.name) == name_tokens(other.name)
        and tokens[one.positions[-1]].folded in name_tokens(other.name)
        for one in named
        for other in links
    )


def _ties(proposal: Proposal, candidate: Candidate) -> bool:
    """Whether several rows would tie for the one that is asked for, by what no word names.

    "Who was the first person on the Moon?" asks for one, not for a crew.
    """
    reading, subject = proposal.reading, Subject(proposal, candidate)
    if any(part.group_by for part in averages_in(candidate.tree.where)):
        return False  # there is one in each group
    if not reading.words.agreement["one"].intersection(reading.folded):
        return False
    extremes = [
        one.condition.arguments[0]
        for one in candidate.tree.where.elements
        if isinstance(one, Filter) and isinstance(one.condition, Call) and one.condition.name == "="
    ]
    named = (subject.named(one) for one in extremes if isinstance(one, Variable))
    return bool(proposal.frame.of("superlative")) and min(named, default=1.0) < _NAMED


def decided(confidence: float, thresholds: Thresholds | None = None) -> Decision:
    """Decide by confidence."""
    limits = thresholds or Thresholds()
    if confidence >= limits.answer:
        return "answer"
    return "ask" if confidence >= limits.ask else "refuse"


_NAMED = 0.5
"""An order is named by words from this similarity on."""
_MOST = 4
"""So many readings are asked about."""
_SHORT = 6
"""So many words of a reading are said first."""


def worth_asking(answers: Sequence[Answer]) -> tuple[Option, ...]:
    """Return the readings between which a person should choose, best first; at most four.

    An answer whose answer columns hold what those of a better one do, in whichever order of rows
    and columns, decides nothing; nor does an empty one, nor one with the same words. Each
    option starts with what tells it apart, if that is short. Empty if fewer than two are
    left. `count` is the number of rows, 1 for yes or no.
    """
    kept: dict[object, Answer] = {}
    said: set[tuple[str, ...]] = set()
    for answer in answers:
        outcome, words = _outcome(answer), tokens(answer.words)
        if outcome and outcome not in kept and words not in said and len(kept) < _MOST:
            kept[outcome] = answer
            said.add(words)
    if len(kept) < 2:
        return ()
    told = _told_apart([answer.words for answer in kept.values()])
    return tuple(
        Option(words, _count(answer), answer.query)
        for words, answer in zip(told, kept.values(), strict=True)
    )


def _outcome(answer: Answer) -> object:
    """What an answer says, its context columns left aside; None if that is nothing."""
    if answer.boolean is not None:
        return str(answer.boolean)
    variables = answer.result.variables
    at = [variables.index(name) for name in answer.answer_columns if name in variables]
    rows = frozenset(
        tuple(sorted(str(row[column]) for column in at or range(len(variables))))
        for row in answer.result.rows
    )
    return rows or None


def _count(answer: Answer) -> int:
    return 1 if answer.boolean is not None else len(answer.result.rows)


def _told_apart(texts: Sequence[str]) -> list[str]:
    """The texts with their own words first, if most of each is the start or the end of all."""
    split = [text.split() for text in texts]
    start = _shared(split)
    end = _shared([words[start:][::-1] for words in split])
    own = [words[start : len(words) - end] for words in split]
    if any(not 0 < len(words) <= min(_SHORT, start + end) for words in own):
        return list(texts)
    return [
        f"{' '.join(words).rstrip('.,')}: {text}" for words, text in zip(own, texts, strict=True)
    ]


def _shared(texts: Sequence[Sequence[str]]) -> int:
    """How many words all texts start with."""
    count = 0
    for words in zip(*texts, strict=False):
        if len(set(words)) > 1:
            break
        count += 1
    return count


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


def _tree(given: object, evidence: int) -> Tree:
    if not isinstance(given, list):
        return _number(given)
    at, bound, below, above = given
    if at not in range(evidence):
        raise ValueError(f"there is no evidence {at!r}")
    return at, _number(bound), _tree(below, evidence), _tree(above, evidence)


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{value!r} is no number")
    return float(value)


CURVE = Path(__file__).with_name("calibration.toml")
"""The curve that the package uses."""

_NUMBERS = (int, float)


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
            (0.0, min(first.chance, succeeded(0.0, first.n))),
            *((knot.given, knot.chance) for knot in self.knots),
            (1.0, max(last.chance, succeeded(1.0, last.n))),
        ]


def calibrated(given: float) -> float:
    """Return the chance that an answer to which graph search gives this confidence is right."""
    return _own()(given)


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


@cache
def _own() -> Curve:
    return read_curve(CURVE)


def succeeded(score: float, n: float) -> float:
    """Return a mean of n answers within the rule of succession: no few are all right or wrong."""
    return min((n + 1) / (n + 2), max(1 / (n + 2), score))


def _knot(entry: Sequence[float]) -> Knot:
    given, chance, n = entry
    if not all(isinstance(number, _NUMBERS) for number in entry):
        raise ValueError(f"{entry!r} are not three numbers")
    return Knot(given, chance, n)
