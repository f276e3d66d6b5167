"""Rank candidates: features that speak for and against each, weighed and summed; then clusters.

The package's weights lie beside this file, in `ranking.toml`; `tools/ranking.py --write` makes it.
There may be others for graphs by name. Candidates that would give the same result speak for each
other. There variables count by their place and not by their number: each is named by all that is
said of it (colour refinement, as in the Weisfeiler-Leman test).
"""

import heapq
import math
import pathlib
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache, cached_property, lru_cache
from typing import Any

from pyoxigraph import Variable

from askgraph.errors import SetupError
from askgraph.graph.arrays import Ids
from askgraph.graph.literals import Sort
from askgraph.index.names import Kind
from askgraph.search.expand import Edge, Node, Worth
from askgraph.search.expand.schema import Schema
from askgraph.search.link import Link, LinkedQuestion
from askgraph.search.link.lexicon import AKIN, SHORTENED
from askgraph.search.operators.query_builder import NUMERIC, Candidate
from askgraph.search.query_pieces import (
    aggregates_of,
    patterns_in,
    predicate_of,
    values_of,
    variable_of,
)
from askgraph.search.rank.edge_direction import EdgeDirections, needless, thing_acts
from askgraph.search.rank.expected_answer_type import ExpectedAnswer, expect_answer
from askgraph.search.rank.fitting import Fitting
from askgraph.search.tokenize import TokenizedQuestion
from askgraph.search.tokenize.question_operators import Operator, QuestionOperators
from askgraph.sparql import Bind, Call, Filter, Group, Nested, Path, Pattern, Query, Union, Values

_NAMED = 0.7  # a class named so well is one that the answer may be of
_OF_CLASS = 1.4
"""The answer is of the class that the first word names, against 1 for a step called so."""
_ALIKE = 0.05  # how much worse a name may fit and still be called the same
_BEHIND = 1.0  # a candidate whose score is so far behind the best one's is next to never right
_FEW = 12  # so many candidates are returned however far they are behind
_AGREEING = ("number", "date", "year")
"""What a question word may ask for that a candidate agrees with by the sorts of its values."""

FEATURES = (
    "covered",
    "patterns",
    "unknown",
    "spread",
    "nameless",
    "asks",
    "head",
    "trivial",
    "obscure",
    "akin",
    "shortened",
    "parted",
    "misfit",
    "unheld",
    "unnamed",
    "disagrees",
    "ungrouped",
    "turned",
    "needless",
    "unserved",
    "faulty",
)
"""What is told of a candidate; `ranking.toml` has what each weighs.

The last is told of the best candidates only, see `askgraph.search.rank.faults`.
"""


@dataclass(frozen=True, eq=False)
class Proposal:
    """A question as it was read, the candidates for it, best first, and the answer's shape."""

    linked: LinkedQuestion
    frame: QuestionOperators
    candidates: tuple[Candidate, ...]
    schema: Schema
    expected: ExpectedAnswer

    @property
    def reading(self) -> TokenizedQuestion:
        """The question as read."""
        return self.linked.reading


def rank(
    candidates: list[Candidate],
    linked: LinkedQuestion,
    operators: QuestionOperators,
    schema: Schema,
    weights: Mapping[str, float],
) -> Proposal:
    """Rank the candidates for a question by the weights, best first."""
    expected = expect_answer(linked)
    ordered = rank_candidates(candidates, Fitting(linked, operators, schema, expected), weights)
    return Proposal(linked, operators, tuple(ordered), schema, expected)


def rank_candidates(
    candidates: list[Candidate], fitting: Fitting, weights: Mapping[str, float]
) -> list[Candidate]:
    """Score candidates and return them best first; equal ones once.

    After the first few none is returned that is far behind.
    """
    told = FeatureExtractor(fitting, weights)
    begun = [told.amounts(candidate) for candidate in candidates]
    hopes = [told.hope(features) for features in begun]
    scored: list[tuple[float, int, Candidate]] = []
    highest: list[float] = []
    least = -math.inf
    for at in sorted(range(len(candidates)), key=lambda at: -hopes[at]):
        if hopes[at] < least:
            break
        features = told.features(candidates[at], begun[at], least)
        if features is not None:
            score = sum(weights[name] * value for name, value in features.items())
            scored.append((-score, at, replace(candidates[at], score=score, features=features)))
            (heapq.heappush if len(highest) < _FEW else heapq.heappushpop)(highest, score)
            if len(highest) == _FEW:
                least = min(highest[0], max(highest) - _BEHIND)
    best: dict[object, Candidate] = {}
    for turned, _, candidate in sorted(scored, key=lambda one: one[:2]):
        if -turned >= least:
            best.setdefault((candidate.tree, candidate.shown), candidate)
    return list(best.values())


@dataclass
class FeatureExtractor:
    """Tells the features of all candidates for one question."""

    fitting: Fitting
    weights: Mapping[str, float]

    def __post_init__(self) -> None:
        self.linked, self.frame = self.fitting.linked, self.fitting.frame
        self.schema = self.fitting.schema
        self._left: dict[int, float] = {}

    def amounts(self, candidate: Candidate) -> dict[str, float]:
        """The features that a candidate has been built with."""
        return {
            "covered": candidate.gain / self.total,
            "patterns": float(candidate.patterns),
            "unknown": candidate.unknown,
            "spread": candidate.state.spread,
        }

    def hope(self, found: Mapping[str, float]) -> float:
        """The score by the features that are found, if all others spoke for a candidate."""
        if len(found) not in self._left:
            most = {"asks": self._may_ask, "head": _OF_CLASS}
            others = set(FEATURES) - set(found)
            self._left[len(found)] = sum(
                max(0.0, self.weights[name]) * most.get(name, 1.0) for name in others
            )
        score = sum([self.weights[name] * value for name, value in found.items()])
        return score + self._left[len(found)]

    @cached_property
    def _may_ask(self) -> float:
        """The most that the feature "asks" may be."""
        frame = self.frame
        return float(self.fitting.asks_kind or frame.exists or frame.asks in _AGREEING)

    def features(
        self, candidate: Candidate, found: dict[str, float], least: float
    ) -> dict[str, float] | None:
        """Everything that speaks for and against a candidate, by name, in the order of `FEATURES`.

        What costs least to tell is told first; None as soon as the score must be below the least.
        """
        linked, schema, fitting = self.linked, self.schema, self.fitting
        columns = fitting.columns(candidate)
        kind = fitting.kind(columns)
        asks = max(0.0, kind) if fitting.asks_kind else _agrees(candidate, self.frame, schema)
        found |= {
            "nameless": _nameless(candidate, schema),
            "asks": asks,
            "head": _head(candidate, self.first, linked, schema),
            "misfit": max(0.0, -kind),
        }
        if self.hope(found) < least:
            return None
        found["unheld"], found["unnamed"] = fitting.nouns(columns, candidate)
        patterns, shown = patterns_in(candidate.tree.where), candidate.shown
        steps = [(one.subject, predicate_of(one), one.object) for one in patterns]
        given = {step[:2] for step in steps if not isinstance(step[2], Variable)}
        said = {step[2] for step in steps if step[:2] in given}
        found |= {
            "trivial": float(bool(shown) and all(value in said for value in shown)),
            "disagrees": fitting.disagrees(candidate),
            "ungrouped": fitting.ungrouped(candidate),
            "unserved": float(sum(not one.mask & candidate.used for one in self.extremes)),
        }
        if self.hope(found) < least:
            return None
        nodes = list(candidate.state.node.walk())
        links = list(links_of(candidate))
        found |= {
            "obscure": self.obscure(nodes),
            "akin": self.told_by(links, AKIN),
            "shortened": self.told_by(links, SHORTENED),
            "parted": _parted(nodes, linked),
            "turned": self.grammar.turned(candidate),
            "needless": needless(candidate, links, linked, schema),
            "faulty": 0.0,
        }
        return {name: found[name] for name in FEATURES}

    def told_by(self, links: Sequence[Link], relations: frozenset[str]) -> float:
        """The share of the question's words that stand for a name's by certain relations."""
        mask = 0
        for one in links:
            if relations.isdisjoint(one.how):
                continue
            for at, how in zip(one.positions, one.how, strict=False):
                if how in relations:
                    mask |= 1 << at
        told = (weight for at, weight in enumerate(self.linked.weights) if mask >> at & 1)
        return sum(told) / self.total if mask else 0.0

    @cached_property
    def first(self) -> int | None:
        """The first word of content: "planet" of "the largest planet", "the different planets"."""
        passed = sum(one.mask for one in self.frame.of("superlative", "distinct"))
        weights = enumerate(self.linked.weights)
        return next((at for at, weight in weights if weight and not passed >> at & 1), None)

    @cached_property
    def extremes(self) -> tuple[Operator, ...]:
        """The operators for the most and the least, for what there is none of, and for either."""
        return self.frame.of("most", "fewest", "superlative", "maximum", "minimum", "not", "or")

    @cached_property
    def grammar(self) -> EdgeDirections:
        """Tells which relations go the other way than the question says."""
        return EdgeDirections(self.linked, self.schema)

    @cached_property
    def total(self) -> float:
        """What all words of content weigh, and the operators."""
        return sum(self.linked.weights) + Worth.OPERATOR * len(self.frame.operators) or 1.0

    def obscure(self, nodes: Sequence[Node]) -> float:
        """How much less the graph says of the things meant than of others called the same."""
        links = (node.link for node in nodes if node.link is not None)
        named = dict.fromkeys((link.target, link.positions) for link in links)
        return sum(self.behind.get(one, 0.0) for one in named)

    @cached_property
    def behind(self) -> Mapping[tuple[str, tuple[int, ...]], float]:
        """How many times fewer edges (as a power of ten) a thing has than the first of its name."""
        things = self.linked.of(Kind.ENTITY)
        edges = {one.target: self._edges(one.target) for one in things}
        return {
            (one.target, one.positions): max(
                edges[other.target] - edges[one.target]
                for other in things
                if other.positions == one.positions and other.score >= one.score - _ALIKE
            )
            for one in things
        }

    def _edges(self, iri: str) -> float:
        at = self.schema.node(iri)
        return math.log10(1 + self.schema.graph.degree(at)) if at is not None else 0.0


def links_of(candidate: Candidate) -> Iterator[Link]:
    """Yield the readings of words that a candidate rests on."""
    for node in candidate.state.node.walk():
        for one in (node.link, node.cls_link, *(edge.link for edge, _ in node.edges)):
            if one is not None:
                yield one
        for denied in node.without:
            yield from (edge.link for edge, _ in denied.edges if edge.link is not None)
    yield from candidate.links


def _nameless(candidate: Candidate, schema: Schema) -> float:
    """Whether the answer is a node that stands only for a relation."""
    if candidate.asks or candidate.shown != (candidate.root,):
        return 0.0
    return float(schema.is_nameless(candidate.state.ids))


def _agrees(candidate: Candidate, frame: QuestionOperators, schema: Schema) -> float:
    """Whether the answer is a truth value, a number or a date where one is asked for."""
    if frame.exists and frame.asks is None:
        return 1.0 if candidate.asks else 0.0
    if frame.asks == "number":
        counted = any(isinstance(one, Call) for one in candidate.shown)
        return 1.0 if counted or set(NUMERIC) & _sorts(candidate, schema) else 0.0
    if frame.asks in ("date", "year"):
        return 1.0 if _sorts(candidate, schema) & {Sort.DATE, Sort.YEAR, Sort.TEXT_DATE} else 0.0
    return 0.0


def _sorts(candidate: Candidate, schema: Schema) -> set[Sort]:
    values = (*values_of(candidate.tree), *candidate.shown)
    shown = {one for one in values if isinstance(one, Variable)}
    found = set()
    for element in candidate.tree.where.elements:
        if isinstance(element, Bind) and element.variable in shown:
            found.add(Sort.NUMBER)
        elif isinstance(element, Pattern) and element.object in shown:
            number = schema.number(predicate_of(element))
            if number is not None:
                found.add(schema.sort(number))
    return found


def _head(candidate: Candidate, first: int | None, linked: LinkedQuestion, schema: Schema) -> float:
    """Whether the answer's own class or last step takes up the first words of content."""
    if first is None:
        return 0.0
    if candidate.shown_words >> first & 1:
        return 1.0
    if (
        len(candidate.state.ids)
        and _shows_root(candidate)
        and any(
            first in one.positions
            and one.score >= _NAMED
            and schema.all_are(candidate.state.ids, one.target)
            for one in linked.of(Kind.CLASS)
        )
    ):
        return _OF_CLASS
    node = candidate.state.node
    told = candidate.shown_words or candidate.asks or not isinstance(candidate.root, Variable)
    own = [node.cls_link, node.link if told else None]
    if any(link is not None and first in link.positions for link in own):
        return 1.0
    for edge, child in node.edges:
        if edge.link is not None and first in edge.link.positions:
            return float(
                schema.names_subject(edge.predicate) != edge.inverse
                or _agrees_with(edge, child, linked, schema)
            )
        if child.link is not None and first in child.link.positions:
            return 1.0
    return 0.0


def _shows_root(candidate: Candidate) -> bool:
    """Whether what the pattern starts at is shown, a value of it, or how many there are."""
    root, shown = candidate.root, set(map(variable_of, candidate.shown))
    return (
        root in shown
        or not isinstance(root, Variable)
        or any(
            (one.object in shown and one.subject == root)
            or (one.subject in shown and one.object == root)
            for one in patterns_in(candidate.tree.where)
        )
    )


def _agrees_with(edge: Edge, child: Node, linked: LinkedQuestion, schema: Schema) -> bool:
    """Whether a verb has the thing beside it for its subject or object as the step says."""
    if edge.link is None or child.link is None or child.link.kind is not Kind.ENTITY:
        return False
    acts = thing_acts(edge.link, child.link, linked, schema.texts(edge.predicate))
    return acts is edge.inverse


def _parted(nodes: Sequence[Node], linked: LinkedQuestion) -> float:
    """How many names in two words, each of them in capitals, stand for two things."""
    found = [
        (child.link, node)
        for node in nodes
        for _, child in node.edges
        if child.link is not None and not child.edges
    ]
    if len(found) < 2:
        return 0.0
    return float(
        sum(
            node is not beside and _is_one_name(one, other, linked)
            for one, node in found
            for other, beside in found
        )
    )


def _is_one_name(one: Link, other: Link, linked: LinkedQuestion) -> bool:
    """Whether a name follows another with nothing but a space between, both in capitals."""
    if one.positions[-1] + 1 != other.positions[0]:
        return False
    first, second = (linked.reading.tokens[at] for at in (one.positions[-1], other.positions[0]))
    apart = linked.reading.text[first.end : second.start]
    return first.capital and second.capital and apart == " "


RANKING = pathlib.Path(__file__).with_name("ranking.toml")  # the ranking that the package uses


@dataclass(frozen=True)
class Ranking:
    """What each feature of a candidate weighs; `graphs` are the weights of single graphs."""

    weights: Mapping[str, float]
    graphs: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raise `ValueError` if the weights are not one finite number for each feature."""
        for table in (self.weights, *self.graphs.values()):
            odd = sorted(set(table) ^ set(FEATURES))
            if odd:
                raise ValueError(f"one weight for each feature is needed; see {', '.join(odd)}")
            if not all(_is_number(weight) for weight in table.values()):
                raise ValueError("a weight must be a finite number")

    def of(self, graph: str) -> Mapping[str, float]:
        """The weights for a graph."""
        return self.graphs.get(graph, self.weights)


def weights_for(graph: str, path: str = "") -> Mapping[str, float]:
    """Return the weights for a graph, from a file or from the package's; each is read once.

    Raises `SetupError` if the file is missing or holds no ranking.
    """
    return _read(path).of(graph)


def read_ranking(path: pathlib.Path) -> Ranking:
    """Read a ranking; raises `SetupError` if the file is missing or holds none."""
    try:
        table = tomllib.loads(path.read_text("utf-8"))
        return Ranking(table["weights"], table.get("graphs", {}))
    except (OSError, KeyError, TypeError, AttributeError, ValueError, OverflowError) as problem:
        raise SetupError(
            f"{str(path)!r} holds no weights of a ranking ({problem}); "
            f"a file like it is made with tools/ranking.py --write"
        ) from problem


def ranking_text(ranking: Ranking, about: Sequence[str]) -> str:
    """Return a ranking as a file that `read_ranking` reads, with lines of comment on top.

    Weights are rounded to four digits after the point.
    """
    lines = [f"# {line}".rstrip() for line in about]
    lines += ["", "[weights]", *_rows(ranking.weights)]
    for name, weights in sorted(ranking.graphs.items()):
        lines += ["", f"[graphs.{_key(name)}]", *_rows(weights)]
    return "\n".join([*lines, ""])


@cache
def _read(path: str) -> Ranking:
    return read_ranking(pathlib.Path(path).expanduser() if path else RANKING)


def _is_number(weight: object) -> bool:
    return isinstance(weight, int | float) and type(weight) is not bool and math.isfinite(weight)


def _rows(weights: Mapping[str, float]) -> list[str]:
    return [f"{name} = {round(float(weights[name]), 4)!r}" for name in FEATURES]


def _key(name: str) -> str:
    """A name as a quoted key of TOML."""
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in escaped) + '"'


_NEAR = 0.5  # a member whose score is so near the best agrees with it
_AGREES, _ENOUGH = 0.02, 3
"""What a member that agrees adds, and how many may: they are often variants of one reading."""

_COMPARED = 20_000
"""Up to so many nodes are compared one by one; larger sets are equal if they are one object."""


@dataclass(frozen=True, eq=False)
class Cluster:
    """Candidates with one result, best first."""

    members: tuple[Candidate, ...]

    @property
    def best(self) -> Candidate:
        """The member with the highest score."""
        return self.members[0]

    @property
    def score(self) -> float:
        """The best member's score, and a little for each that agrees with it."""
        return together([member.score for member in self.members])


def together(scores: Sequence[float]) -> float:
    """Return the score of a cluster: the best of its members', a little more for each near it."""
    best = max(scores)
    agreeing = sum(score > best - _NEAR for score in scores) - 1
    return best + _AGREES * min(_ENOUGH, agreeing)


def clusters(candidates: Sequence[Candidate]) -> list[Cluster]:
    """Group candidates by answer set and what is shown of it, best cluster first.

    Only candidates that cannot be told apart at less cost are signed.
    """
    outlines = [outline(candidate) for candidate in candidates]
    shared = _repeated(outlines)
    nodes = _Nodes()
    keys = [
        (known, nodes.key(one.ids)) if known in shared else known
        for one, known in zip(candidates, outlines, strict=True)
    ]
    shared = _repeated(keys)
    grouped: dict[object, list[Candidate]] = {}
    for candidate, key in zip(candidates, keys, strict=True):
        full = (key, result_signature(candidate)) if key in shared else key
        grouped.setdefault(full, []).append(candidate)
    found = [Cluster(tuple(sorted(group, key=lambda c: -c.score))) for group in grouped.values()]
    return sorted(found, key=lambda cluster: -cluster.score)


def _repeated(keys: Sequence[object]) -> set[object]:
    """The keys that come more than once."""
    return {key for key, times in Counter(keys).items() if times > 1}


class _Nodes:
    """Keys of node sets, equal for equal sets."""

    def __init__(self) -> None:
        self.large: list[Ids] = []

    def key(self, ids: Ids) -> object:
        """Return what a set is compared by."""
        if len(ids) <= _COMPARED:
            return ids.tobytes()
        for number, known in enumerate(self.large):
            if known is ids:
                return number
        self.large.append(ids)
        return len(self.large) - 1


_BOUND = 4  # so many times what is said of a variable's neighbours is added to what is said of it

_FIELDS: dict[Any, tuple[str, ...]] = {
    node: tuple(one.name for one in fields(node) if one.compare)
    for node in (Path, Call, Pattern, Filter, Bind, Values, Nested, Union, Group, Query)
}
"""What of a node makes it what it is."""

_WHOLE = frozenset(["MIN", "MAX"])
_ITSELF = -7  # the colour of a variable within what is said of it


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a query: its shape without the variables, and these in order, as numbers."""

    shape: int
    variables: tuple[int, ...]

    def painted(self, colours: Mapping[int, int]) -> tuple[int, ...]:
        """The part with the colours of its variables in their places."""
        return (self.shape, *[colours[number] for number in self.variables])

    def around(self, itself: int, colours: Mapping[int, int]) -> int:
        """What the part says of a variable in it."""
        return hash((self.shape, *[_ITSELF if n == itself else colours[n] for n in self.variables]))


def outline(candidate: Candidate) -> object:
    """Return a part of the signature that costs little: equal ones may have unequal signatures."""
    query, shown = candidate.tree, candidate.shown
    context = len(query.columns) - len(shown)
    kinds = [getattr(one, "name", "") for one in shown]
    ordered = (len(query.order), query.limit, query.offset, query.form)
    return (len(candidate.ids), context, *kinds, ordered)


def result_signature(candidate: Candidate) -> object:
    """Return what the result hangs on, beside the nodes that the root can be.

    What only narrows the root, and no more than that, stands in those nodes. Unequal signatures
    may have equal results, too.
    """
    query, shown, root = candidate.tree, candidate.shown, hash(candidate.root)
    columns = [
        _part("show" if one in shown else "context", one) for one in values_of(query) or shown
    ]
    ordered = [_part("by", key) for key in query.order]
    elements = query.where.elements
    patterns = [_part("is", one) for one in elements if isinstance(one, Pattern)]
    others = [*columns, *ordered]
    others += [_part("says", one) for one in elements if not isinstance(one, Pattern)]
    others += [_part("group", one) for one, _ in query.group_by]
    others += [_part("having", one) for one in query.having]
    if not _counts_rows(query):
        # The patterns without those that hang on the root alone, and nothing else on them.
        reached = {one for part in others for one in part.variables} - {root}
        apart = [(one, set(one.variables) - {root}) for one in patterns]
        hung = {one for part in patterns for one in part.variables if root in part.variables}
        needed = _spread(reached, [some for _, some in apart])
        narrowing = _spread(hung - {root}, [some for _, some in apart]) - needed
        patterns = [
            one
            for one, some in apart
            if some & needed or (root not in one.variables and not some & narrowing)
        ]
    parts = patterns + others
    among: dict[int, list[_Part]] = {}
    for part in parts:
        for number in set(part.variables):
            among.setdefault(number, []).append(part)
    colours = {number: int(number == root) for number in among}
    for _ in range(min(_BOUND, len(colours))):
        colours = {
            number: hash((colours[number], *sorted([one.around(number, colours) for one in held])))
            for number, held in among.items()
        }
    return (
        tuple(one.painted(colours) for one in columns),
        frozenset(one.painted(colours) for one in parts),
        tuple(one.painted(colours) for one in ordered),
        (query.limit, query.offset, query.form),
    )


def _counts_rows(query: Query) -> bool:
    """Whether the result hangs on how often a row is found, or on all that holds."""
    if query.form == "ASK" or query.group_by or query.order or query.limit is not None:
        return True
    return any(
        not one.name.endswith("DISTINCT") and one.name not in _WHOLE for one in aggregates_of(query)
    )


@lru_cache(maxsize=4096)
def _part(kind: str, part: object) -> _Part:
    """A part of a query as one of a kind."""
    variables: list[int] = []
    return _Part(hash((kind, _shape(part, variables))), tuple(variables))


def _shape(part: object, variables: list[int]) -> object:
    """Nested tuples of all that stands in a part but its variables, which are added to a list."""
    if isinstance(part, Variable):
        variables.append(hash(part))
        return Variable
    if isinstance(part, tuple):
        return tuple([_shape(one, variables) for one in part])
    inner = [_shape(getattr(part, name), variables) for name in _FIELDS.get(type(part), ())]
    return (type(part), *inner) if inner else part


def _spread(start: set[int], joined: Sequence[set[int]]) -> set[int]:
    """The variables that are reached from some over those that stand together."""
    found, before = set(start), -1
    while len(found) > before:
        before = len(found)
        found = found.union(*(some for some in joined if some & found))
    return found
