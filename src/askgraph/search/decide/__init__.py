"""Decide on the best candidate: weigh the evidence; answer, refuse, or ask back.

The evidence is of the same kinds on every graph: words, candidates and their answer sets; nothing
is run (docs/how-it-works.md). Confidence is a model's: boosted trees over the evidence, in
`confidence.json` beside this file, which `tools/calibrate.py --write` fits and writes. The sign of
most evidence is given beforehand: evidence for an answer never lowers its confidence on a graph
that happens to be odd, and evidence against never raises it. Friedman, "Greedy function
approximation: a gradient boosting machine" (2001). A monotone curve (`calibration.toml`), fitted to
answers that were scored, turns what the model gives into a chance; it is isotonic, so that the
order of answers stays.
"""

import json
import math
import tomllib
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Literal, TypeAlias

from pyoxigraph import NamedNode, Variable

from askgraph.errors import SetupError
from askgraph.graph.literals import split_literal
from askgraph.index.names import Kind, name_tokens, stem, tokens
from askgraph.search.link import Link
from askgraph.search.operators.query_builder import Candidate
from askgraph.search.query_pieces import (
    Value,
    aggregates_of,
    averages_in,
    groups_of,
    keys_of,
    predicate_of,
    variable_of,
)
from askgraph.search.rank import Cluster, Proposal, clusters, links_of
from askgraph.search.rank.faults import Subject, find_faults
from askgraph.search.tokenize import TokenizedQuestion, bits
from askgraph.search.tokenize.question_operators import Operator
from askgraph.sparql import Call, Filter, Pattern, Query
from askgraph.sparql.prefixes import words_of_local_name
from askgraph.sparql.vocabulary import RDF_TYPE
from askgraph.trace import Answer, Option

_CLOSE = 0.2  # a rival whose score is so near is one
_ALONE = 0.5  # the margin of a result that has no rival: being alone proves little
_NOUNS_HAVE_CAPITALS = frozenset(["de"])
_AS_GOOD = 0.05  # a link may be so much worse and still be as good a reading of its words
_CLEAN = (
    ("faults", 0.0),
    ("left_out", 0.0),
    ("unsaid", 0.05),
    ("unsaid_columns", 0.3),
    ("unsaid_conditions", 0.3),
    ("inexact", 0.15),
    *((name, 0.0) for name in ("misfit", "unheld", "unnamed", "disagrees", "ungrouped")),
    ("head_missed", 0.0),
    ("required", 0.0),
    ("rivals", 1.0),
)
"""What an answer beyond doubt has no more of: each that it has more of is a blemish."""
_MEANT = 0.75
"""A word that fits so well what a link leads to, which the query names, is not left out."""
_SILENT = frozenset("exists and both distinct now past during ongoing lasted at".split())
"""Operators whose words may say what the pattern says anyhow, or nothing."""
_NUMBERED = frozenset("more_than less_than between".split())
"""Operators whose words are mere prepositions if no number or date follows."""
_FORM, _ENDING = 3, 2
"""Letters that two forms of a word share at least, and how many one has more at its end."""
_PART = 5  # letters that a word has at least by which a compound ends
_EACH, _TOTAL = ("each", "yearly"), ("count", "sum")
_BESIDE = 2  # so many words after "how many" may name the number that it asks for


def collect_evidence(proposal: Proposal, found: Sequence[Cluster]) -> dict[str, float]:
    """Return the evidence on the best of some clusters; the names are `EVIDENCE`."""
    best = found[0].best
    subject = Subject(proposal, best)
    evidence = {
        "score": best.score,
        **_rivals(found),
        "faults": float(len(find_faults(subject))),
        **_words_left(subject),
        **_readings(subject),
        **_doubts(subject),
        **_loose(subject),
        **_shape(subject),
    }
    told = {**best.features, **evidence}
    return {**evidence, "blemishes": float(sum(told[name] > most for name, most in _CLEAN))}


def _rivals(found: Sequence[Cluster]) -> dict[str, float]:
    """How near other results come, and whether those that do show something else."""
    first, *others = found
    near = [one for one in others if one.score > first.score - _CLOSE]
    return {
        "margin": min(1.0, first.score - others[0].score) if others else _ALONE,
        "rivals": math.log1p(len(near)),
        "disputed": float(any(one.best.shown != first.best.shown for one in near)),
    }


def _words_left(subject: Subject) -> dict[str, float]:
    """What the query takes of the question's words, and what it leaves."""
    proposal, best = subject.proposal, subject.candidate
    reading, weights = proposal.reading, proposal.linked.weights
    light = frozenset(_light(reading))
    content = [at for at, weight in enumerate(weights) if weight and at not in light]
    unused = [at for at in content if not best.used >> at & 1]
    linked = {at for link in proposal.linked.links for at in link.positions}
    nouns = reading.language in _NOUNS_HAVE_CAPITALS
    names = [
        at
        for at in unused
        if at > 0 and reading.tokens[at].capital and not (nouns and at in linked)
    ]
    all_told = sum(weights[at] for at in content) or 1.0
    return {
        "covered": 1.0 - sum(weights[at] for at in unused) / all_told,
        "unused": float(len(unused)),
        "unused_names": float(len(names)),
        "unheard": float(len(list(unserved(proposal, best)))),
        "left_out": float(len(left_out(proposal, best))),
    }


def _readings(subject: Subject) -> dict[str, float]:
    """How well, and how uniquely, words name what the query takes them for."""
    weights, every = subject.linked.weights, subject.linked.links
    used = list(links_of(subject.candidate))
    inexact = beaten = several = total = 0.0
    for link in used:
        weight = sum(weights[at] for at in link.positions)
        over = [one for one in every if one.mask & link.mask and one.target != link.target]
        better = [one for one in over if _fit(one) > _fit(link) + _AS_GOOD]
        alike = [one for one in over if abs(_fit(one) - _fit(link)) <= _AS_GOOD]
        inexact += weight * (1.0 - link.score * link.quality)
        beaten += weight * bool(better)
        several += weight * math.log1p(sum(one.positions == link.positions for one in alike))
        total += weight
    total = total or 1.0
    return {"inexact": inexact / total, "beaten": beaten / total, "ambiguous": several / total}


def _fit(link: Link) -> float:
    """How well a link fits, the longer the better."""
    return link.score * link.quality * len(link.positions)


def _doubts(subject: Subject) -> dict[str, float]:
    """How loosely the query hangs together with the words that it takes."""
    best = subject.candidate
    links = [part.link for part in best.state.node.walk() if part.link is not None]
    return {
        "weakest": 1.0 - min((link.score * link.quality for link in links), default=1.0),
        "required": float(best.notes.count("required")),
        "unsaid_order": _unsaid_order(subject),
        "unsaid": best.unknown,
        "unsaid_columns": sum(
            1.0 - _named(subject, one) for one in subject.shown if variable_of(one) != best.root
        ),
        "unsaid_conditions": sum(
            1.0 - subject.named(variable)
            for variable in {one.variable for one in subject.conditions}
        ),
        "spread": best.state.spread,
        "head_missed": 1.0 - min(1.0, best.features["head"]),
        "unheld": best.features["unheld"],
    }


def _named(subject: Subject, value: Value) -> float:
    """How well words name what a column holds, by the step that leads there or by its class."""
    classes = [
        one.object.value
        for one in subject.patterns
        if one.subject == variable_of(value)
        and predicate_of(one) == RDF_TYPE
        and isinstance(one.object, NamedNode)
    ]
    return max([subject.named(value), *(subject.said.get(iri, 0.0) for iri in classes)])


def _unsaid_order(subject: Subject) -> float:
    """How loosely words name what the rows are first ordered by."""
    keys = [key for key, _ in keys_of(subject.tree)[:1]] or subject.extremes[:1]
    into = [predicate_of(one) for one in subject.patterns if one.object in keys]
    return 1.0 - max(subject.said.get(iri, 0.0) for iri in into) if into else 0.0


def _loose(subject: Subject) -> dict[str, float]:
    """Groups that no word asks for, and columns of more things than one."""
    variables = [variable_of(one) for one in subject.shown]
    owners = {one.subject for one in subject.patterns if one.object in variables}
    return {
        "groups": float(_groups_unasked(subject)),
        "scattered": float(max(0, len(owners) - 1)),
    }


def _groups_unasked(subject: Subject) -> bool:
    """Whether rows are grouped, neither "for each" nor to count for a limit or an order."""
    query = subject.tree
    counted = query.having or any(isinstance(key, Call) for key, _ in keys_of(query))
    return bool(query.group_by) and not counted and not subject.expected.grouped


def _shape(subject: Subject) -> dict[str, float]:
    """How much a query says: the more there is to it, the more can be wrong."""
    query = subject.tree
    return {
        "long": math.log1p(sum(1 for weight in subject.linked.weights if weight)),
        "patterns": float(subject.candidate.patterns),
        "compares": float(len(subject.conditions)),
        "aggregates": float(len(list(aggregates_of(query)))),
        "grouped": float(bool(groups_of(query))),
        "ranked": float(query.limit is not None or bool(subject.extremes)),
        "columns": float(max(0, len(subject.shown) - 1)),
    }


def left_out(proposal: Proposal, candidate: Candidate, *, read: bool = False) -> tuple[str, ...]:
    """Return the words that tell something and that a candidate does not stand for, in order.

    An operator that it does not serve is one of these, as a phrase ("more than", "not"). A word
    counts as said if it is linked to something that the query names; for one who will `read` the
    query also if a name in it is a form of the word ("buses" and `SchoolBus`), or if groups and
    their aggregates say it ("different", "for each", "in total").
    """
    reading, weights = proposal.reading, proposal.linked.weights
    phrases = {one.first: one for one in unserved(proposal, candidate)}
    meant = _meant(Subject(proposal, candidate)) | set(_light(reading))
    if read:
        meant |= _read_in(reading, Subject(proposal, candidate).terms)
        done = [one for one in phrases.values() if one.name in _done_by(candidate.tree)]
        meant |= {at for one in done for at in (one.first, *one.positions)}
        meant |= _said(reading, "distinct") if groups_of(candidate.tree) else set()
        phrases = {at: one for at, one in phrases.items() if at not in meant}
    inside = {at for one in phrases.values() for at in one.positions}
    if candidate.tree.distinct:
        meant |= _said(reading, "distinct")
    found: list[str] = []
    for at, token in enumerate(reading.tokens):
        if at in phrases:
            last = reading.tokens[phrases[at].last]
            found.append(" ".join(reading.text[token.start : last.end].split()))
        elif weights[at] and at not in inside | meant:
            found += [] if candidate.used >> at & 1 else [token.text]
    return tuple(dict.fromkeys(found))


def _read_in(reading: TokenizedQuestion, terms: Iterable[str]) -> set[int]:
    """The tokens that are a form of a word in the name of something: singular, plural, a part."""
    texts = (
        split_literal(one)[0] if one[0] == '"' else words_of_local_name(one.strip("<>"))
        for one in terms
    )
    names = {stem(word) for text in texts for word in tokens(text)}
    return {at for at, one in enumerate(reading.tokens) if any(_form(one.stem, n) for n in names)}


def _form(word: str, name: str) -> bool:
    short, long = sorted((word, name), key=len)
    whole = len(short) >= _FORM and long.startswith(short) and len(long) <= len(short) + _ENDING
    return short == long or whole or (len(short) >= _PART and long.endswith(short))


def _done_by(query: Query) -> frozenset[str]:
    """The operators that groups, their aggregates or several columns serve as they are."""
    each = bool(groups_of(query)) or len(query.columns) > 1
    return frozenset((*_EACH * each, *_TOTAL * any(aggregates_of(query))))


def unserved(proposal: Proposal, candidate: Candidate) -> Iterator[Operator]:
    """Yield the operators that a candidate ought to serve, and none of whose words it uses."""
    frame = proposal.frame
    for one in frame.operators:
        number = frame.quantity_after(one)
        missed = number is not None and not candidate.used >> number.first & 1
        compares = one.name not in _NUMBERED or missed
        after = bits(range(one.last + 1, one.last + 1 + _BESIDE))
        if one.name == "count" and candidate.shown_words & after:
            continue  # "how many minutes": the number that is shown
        if one.name not in _SILENT and compares and not one.mask & candidate.used:
            yield one


def _meant(subject: Subject) -> set[int]:
    """The tokens that are linked to something which the query names."""
    return {
        at
        for link in subject.linked.links
        for at, quality in zip(link.positions, link.qualities, strict=True)
        if quality >= _MEANT and subject.names(link)
    }


def _light(reading: TokenizedQuestion) -> Iterator[int]:
    """The tokens that say nothing of their own: "happened", "took place"."""
    said = set(reading.folded)
    for phrase in reading.words.light:
        for at in range(len(reading.tokens)) if phrase[0] in said else ():
            if reading.says(phrase, at):
                yield from range(at, at + len(phrase))


def _said(reading: TokenizedQuestion, operator: str) -> set[int]:
    words = {phrase[0] for phrase in reading.words.operators[operator] if len(phrase) == 1}
    return {at for at, word in enumerate(reading.folded) if word in words}


EMPTY = 0.6
"""What is left of a confidence if the result is empty.

What is grown has a result, so that a condition took all away: mostly a wrong one. No more is taken,
since benchmarks leave out the questions to which nothing is the right answer.
"""

TIED = 0.6  # the same if one is asked for, and several tie in an order that no word names

EITHER = 0.5  # the same if all that is asked is a name that a thing and a class have

WHOLE = 0.6
"""The same if all things of a class are the answer, though words are left that no part stands for.

They narrow it by what the graph does not hold, which benchmarks do not ask either.
"""

Outcome = Literal["answer", "ask", "refuse"]


@dataclass(frozen=True)
class Thresholds:
    """Confidence below which askgraph asks back, and below which it refuses."""

    answer: float = 0.5
    ask: float = 0.2


@dataclass(frozen=True, eq=False)
class Decision:
    """The candidates of a proposal by their results, best first; the confidence in the first."""

    clusters: tuple[Cluster, ...]
    confidence: float


def decide(proposal: Proposal) -> Decision:
    """Group the candidates that give the same result, and weigh the evidence for the best."""
    found = clusters(proposal.candidates)
    return Decision(tuple(found), estimate_confidence(proposal, found))


def estimate_confidence(proposal: Proposal, found: Sequence[Cluster]) -> float:
    """Estimate the chance (0–1) that the best cluster is right: its evidence weighed, calibrated.

    0 if there is no cluster; else neither 0 nor 1.
    """
    return calibrated(weighed(collect_evidence(proposal, found))) if found else 0.0


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


def choose_outcome(confidence: float, thresholds: Thresholds | None = None) -> Outcome:
    """Decide by confidence."""
    limits = thresholds or Thresholds()
    if confidence >= limits.answer:
        return "answer"
    return "ask" if confidence >= limits.ask else "refuse"


_NAMED = 0.5  # an order is named by words from this similarity on
_MOST = 4  # so many readings are asked about
_SHORT = 6  # so many words of a reading are said first


def choose_options(answers: Sequence[Answer]) -> tuple[Option, ...]:
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
    texts = [answer.words for answer in kept.values()]
    split = [text.split() for text in texts]
    start = _shared(split)
    end = _shared([words[start:][::-1] for words in split])
    own = [words[start : len(words) - end] for words in split]
    if any(not 0 < len(words) <= min(_SHORT, start + end) for words in own):
        told = list(texts)
    else:
        told = [
            f"{' '.join(words).rstrip('.,')}: {text}"
            for words, text in zip(own, texts, strict=True)
        ]
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


def _shared(texts: Sequence[Sequence[str]]) -> int:
    """How many words all texts start with."""
    count = 0
    for words in zip(*texts, strict=False):
        if len(set(words)) > 1:
            break
        count += 1
    return count


TREES_FILE = Path(__file__).with_name("confidence.json")  # the trees that the package uses

FOR = frozenset(["score", "margin", "covered"])  # the evidence that speaks for an answer

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
"""The names of all evidence, as `collect_evidence` gives it."""


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
    """The trees that the package uses, over all evidence that `collect_evidence` gives."""
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


CURVE = Path(__file__).with_name("calibration.toml")  # the curve that the package uses

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
        first, last = self.knots[0], self.knots[-1]
        points = [
            (0.0, min(first.chance, succeeded(0.0, first.n))),
            *((knot.given, knot.chance) for knot in self.knots),
            (1.0, max(last.chance, succeeded(1.0, last.n))),
        ]
        at = min(max(bisect_right(points, (given, 2.0)) - 1, 0), len(points) - 2)
        (left, low), (right, high) = points[at], points[at + 1]
        share = (given - left) / (right - left) if right > left else 1.0
        return low + min(1.0, max(0.0, share)) * (high - low)


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
