"""The answer that a question expects, read from its words: its kind, columns and rows.

The columns of a query are compared with it, graph or not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple

from pyoxigraph import NamedNode, Variable

from askgraph.errors import QueryError
from askgraph.graph.measures import is_unit_like
from askgraph.graph.profile import Profile
from askgraph.index.names import Kind
from askgraph.search.link import Link, LinkedQuestion
from askgraph.search.tokenize import TokenizedQuestion
from askgraph.search.tokenize.question_operators import (
    COMPARING,
    Operator,
    QuestionOperators,
    Zones,
    detect_operators,
    goes_on,
)
from askgraph.search.tokenize.word_lists import word_list
from askgraph.sparql import (
    AGGREGATES,
    Bind,
    Call,
    Expression,
    Filter,
    Group,
    Nested,
    Path,
    Pattern,
    Predicate,
    Query,
    Term,
    Union,
    variables_of,
    walk,
)
from askgraph.sparql.results import SelectResult
from askgraph.sparql.serializer import tree_of
from askgraph.sparql.vocabulary import LABEL_PREDICATES, NUMERIC_DATATYPES, RDF_TYPE

AGGREGATING = ("average", "sum", "minimum", "maximum")
_SURE = 0.7  # links from this score on say what a noun means
_AS_WELL = 0.15  # a link that is so little worse may be meant as well


class Run(NamedTuple):
    """Content words beside each other, the operators before them, and where it all starts."""

    positions: list[int]
    operators: tuple[str, ...]
    start: int


@dataclass(frozen=True)
class Item:
    """One noun that is asked for: its tokens, the operators before it, and what it may mean.

    It is `headed` by a property if that is what its last word names: "party locations".
    """

    positions: tuple[int, ...]
    operators: tuple[str, ...]
    classes: tuple[str, ...] = ()
    predicates: tuple[str, ...] = ()
    naming: bool = False
    headed: bool = False

    @property
    def first(self) -> int:
        """Its first token."""
        return self.positions[0]

    @cached_property
    def iris(self) -> tuple[str, ...]:
        """All that it may mean."""
        return self.classes + self.predicates

    @property
    def is_property(self) -> bool:
        """Whether it fills a column of its own: a property, a name, a count or an aggregate."""
        aggregated = "count" in self.operators or any(o in AGGREGATING for o in self.operators)
        return aggregated or self.naming or self.headed

    @property
    def width(self) -> int:
        """The columns it fills: one for each aggregate of it."""
        return max(1, sum(name in AGGREGATING for name in self.operators))


def items_of(linked: LinkedQuestion, frame: QuestionOperators) -> tuple[Item, ...]:
    """Return the head noun and those that are listed with it, in their order.

    What is only put in front ("for model X, how many …") is none of them.
    """
    zones = Zones.of(linked.reading, frame)
    runs = list(_runs(linked, frame))
    first, *others = _by_sentence(runs, linked.reading)
    items = _listed(first, linked, frame, zones)
    for sentence in others:
        more = _listed(sentence, linked, frame, zones)
        properties = [item.is_property for item in more]
        if more and (all(properties) or (any(properties) and len(more) > 1)):
            return more
    return items


def owner_of(
    linked: LinkedQuestion, frame: QuestionOperators, items: Sequence[Item]
) -> Item | None:
    """Return the noun of which the last of some items is said: "customers" of "names of customers".

    >>> from askgraph.search.tokenize import tokenize
    >>> linked = LinkedQuestion(tokenize("Show the names and ages of all customers."), ())
    >>> frame = detect_operators(linked.reading)
    >>> owner_of(linked, frame, items_of(linked, frame)).positions
    (7,)
    """
    if not items:
        return None
    reading, last = linked.reading, items[-1].positions[-1]
    following = next((run for run in _runs(linked, frame) if run.positions[0] > last), None)
    if following is None or not _leads(range(last + 1, following.positions[0]), reading):
        return None
    return _item(following.positions, following.operators, linked)


def _by_sentence(runs: Sequence[Run], reading: TokenizedQuestion) -> list[list[Run]]:
    """Runs parted at the ends of sentences; at least one part."""
    parts: list[list[Run]] = [[]]
    for run in runs:
        first = parts[-1][0].start if parts[-1] else run.start
        between = reading.text[reading.tokens[first].start : reading.tokens[run.start].start]
        if any(mark in between for mark in ".?!;"):
            parts.append([])
        parts[-1].append(run)
    return parts


def _listed(
    runs: Sequence[Run], linked: LinkedQuestion, frame: QuestionOperators, zones: Zones
) -> tuple[Item, ...]:
    """The head noun of a sentence and those that are listed with it."""
    reading = linked.reading
    possessive = reading.words.clauses["possessive"]
    found: list[Item] = []
    front = _front(runs, reading)
    end = runs[front - 1].positions[-1] if front else _start_of_sentence(runs, reading) - 1
    owned = over = False
    for run in runs[front:]:
        start = run.start
        between = range(end + 1, start)
        end = run.positions[-1]
        if found and any(goes_on(at, reading) for at in between):
            owned = over = False
        elif over:
            continue
        elif found and not (zones.is_head(start) and _joined(between, start, zones, frame)):
            over = owned or not (zones.is_head(start) and _leads(between, reading))
            owned = True
            continue
        if found or front or not _is_put_in_front(between, reading):
            item = _item(run.positions, run.operators, linked)
            possessed = any(reading.folded[at] in possessive for at in between)
            over = owned and not (item.is_property or possessed)
            found += [] if over else [item]
        owned = False
    return tuple(found)


def _front(runs: Sequence[Run], reading: TokenizedQuestion) -> int:
    """How many runs only put something in front: "for each X that has Y, find the …"."""
    start = _start_of_sentence(runs, reading)
    if not runs or not _is_put_in_front(range(start, runs[0].start), reading):
        return 0
    for at, (one, other) in enumerate(pairwise(runs), 1):
        between = range(one.positions[-1] + 1, other.positions[0])
        gap = reading.text[reading.tokens[between.start - 1].end : reading.tokens[other.start].end]
        asks = ((reading.folded[word],) in reading.words.following["whole"] for word in between)
        if "," in gap and any(asks):
            return at
    return 0


def _leads(between: range, reading: TokenizedQuestion) -> bool:
    """Whether "of the" or the like leads from a noun to what it is said of."""
    words = [reading.folded[at] for at in between]
    gap = reading.gap(between.start - 1, between.stop)
    owns = bool(words) and words[0] in reading.words.clauses["owner"]
    return owns and not any(mark in gap for mark in ",;:.?!")


def _start_of_sentence(runs: Sequence[Run], reading: TokenizedQuestion) -> int:
    """The first token of the sentence that some runs stand in."""
    at = runs[0].start if runs else 0
    while at > 0 and not reading.parted(at - 1, at):
        at -= 1
    return at


def interrogative(reading: TokenizedQuestion, *, within: range | None = None) -> int | None:
    """Return the place of a question word, among the first three tokens or in another range."""
    among = range(min(3, len(reading.tokens))) if within is None else within
    asking = _interrogatives(reading.language)
    places = (at for at in among if reading.is_stop(at))
    return next((at for at in places if reading.tokens[at].folded in asking), None)


@cache
def _interrogatives(language: str) -> frozenset[str]:
    """The words that ask by themselves ("who"), or before a noun ("which year", "how old")."""
    words = word_list(language)
    phrases = [phrase for listed in words.asks.values() for phrase in listed]
    found = {phrase[0] for phrase in phrases if len(phrase) == 1}
    for phrase in phrases:
        nouns = [at for at, word in enumerate(phrase) if word not in words.stop]
        found |= {phrase[at - 1] for at in nouns[:1] if at}
    return frozenset(found)


def _is_put_in_front(before: range, reading: TokenizedQuestion) -> bool:
    """Whether a preposition, and no question word, stands before the first noun."""
    restrict = reading.words.clauses["restrict"]
    restricts = any(reading.tokens[at].folded in restrict for at in before)
    return restricts and interrogative(reading, within=before) is None


def _joined(between: range, start: int, zones: Zones, frame: QuestionOperators) -> bool:
    """Whether a comma, a conjunction or a possessive, and no other content, parts two nouns."""
    reading = frame.reading
    joining = {at for one in frame.of("and") for at in one.positions}  # "as well as"
    if not all(reading.is_stop(at) or at in joining for at in between):
        return False
    gap = reading.gap(between.start - 1, start)
    if any(mark in gap for mark in ".?!;:"):
        return False
    operators = [one.name for one in frame.operators if one.first in between]
    return "," in gap or "and" in operators or (not operators and zones.is_listed(start))


def _runs(linked: LinkedQuestion, frame: QuestionOperators) -> Iterator[Run]:
    """Runs of content words that own nothing, with the operators before each and where it starts.

    A run ends at a function word, a comma, or an operator; "Intel's" in "Intel's sites" is none.
    Superlatives and times in a name are none: the "first year" and the "last year" of a graph.
    """
    reading = linked.reading
    whole = (one for one in linked.of(Kind.CLASS, Kind.PREDICATE) if one.similarity >= _A_NAME)
    in_names = {at for one in whole if len(one.positions) > 1 for at in one.positions}
    run: list[int] = []
    operators: list[str] = []
    start: int | None = None
    by_place = {
        at: one
        for one in frame.operators
        if one.name not in _DEGREES or not in_names.issuperset(one.positions)
        for at in one.positions
    }
    for at in range(len(reading.tokens)):
        operator = by_place.get(at)
        content = operator is None and not reading.is_stop(at)
        content = content and (at in in_names or not _is_number(at, reading))
        if run and not (content and _touches(at, reading)):
            if run[-1] not in reading.genitives:
                yield Run(run, tuple(operators), start if start is not None else run[0])
            run, operators, start = [], [], None
        if operator is not None and operator.first == at:
            operators.append(operator.name)
            start = at if start is None and operator.name in (*AGGREGATING, "count") else start
        if content:
            run.append(at)
    if run:
        yield Run(run, tuple(operators), start if start is not None else run[0])


def _touches(at: int, reading: TokenizedQuestion) -> bool:
    gap = reading.gap(at - 1, at)
    return not any(mark in gap for mark in ",;:.?!") and at - 1 not in reading.genitives


def _is_number(at: int, reading: TokenizedQuestion) -> bool:
    percent = reading.folded[at] in reading.words.clauses["percent"]
    return any(
        at in one.positions or (percent and at == one.last + 1) for one in reading.quantities
    )


def _item(run: Sequence[int], operators: tuple[str, ...], linked: LinkedQuestion) -> Item:
    reading = linked.reading
    best = list(_best(run, linked.of(Kind.CLASS, Kind.PREDICATE)))
    naming = any(reading.tokens[at].stem in reading.words.naming for at in run)
    classes = [link for link in best if link.kind is Kind.CLASS]
    predicates = [link for link in best if link.kind is Kind.PREDICATE]
    return Item(
        tuple(run),
        operators,
        tuple(dict.fromkeys(link.target for link in classes)),
        tuple(dict.fromkeys(link.target for link in predicates)),
        naming,
        _last(predicates) > _last(classes),
    )


def _last(links: Sequence[Link]) -> int:
    """The last word that some links take."""
    return max((link.positions[-1] for link in links), default=-1)


def _best(run: Sequence[int], links: Sequence[Link]) -> Iterator[Link]:
    """The sure links in a run; of those that share words, the ones that hold the most."""
    left = set(run)
    inside = [(link, set(link.positions) & left) for link in links if link.score >= _SURE]
    while held := [(link, words) for link, words in inside if words and words <= left]:
        most = max(len(words) for _, words in held)
        best = max(link.score for link, words in held if len(words) == most)
        widest = [
            (link, words)
            for link, words in held
            if len(words) == most and link.score > best - _AS_WELL
        ]
        taken = widest[0][1]
        yield from (link for link, words in widest if words & taken)
        left -= taken


Asks = Literal["yes_no", "count", "number", "when", "who", "where", "things"]


@dataclass(frozen=True)
class ExpectedAnswer:
    """The shape of an answer, as far as the question tells it.

    `kind` is what its question word asks for, `things` if none says more. `columns` is how many
    columns answer at least, None if nothing can be said. `classes` and `predicates` are the IRIs
    that the head noun may mean; `listed` those of all nouns that are asked for side by side, and
    `nouns` is how many of them there are. `counted` says that the number of something is asked for,
    alone or beside others, `reckoned` a total or the like, `grouped` "for each", `limit` how many
    rows a superlative or "first ten" keeps, `again` that a second question follows ("and how
    many"). `names` are asked for by that word. `singular` marks a head noun in the singular after a
    question word and a verb of being, `interrogative` a question word at the start.
    """

    kind: Asks = "things"
    columns: int | None = None
    classes: tuple[str, ...] = ()
    predicates: tuple[str, ...] = ()
    listed: tuple[str, ...] = ()
    nouns: int = 0
    counted: bool = False
    reckoned: bool = False
    grouped: bool = False
    ordered: bool = False
    limit: int | None = None
    again: bool = False
    names: bool = False
    singular: bool = False
    interrogative: bool = False


def expect_answer(linked: LinkedQuestion) -> ExpectedAnswer:
    """Return what a linked question asks for; in doubt less is said.

    >>> from askgraph.search.tokenize import tokenize
    >>> expect_answer(LinkedQuestion(tokenize("How many moons has Mars?"), ())).kind
    'count'
    """
    reading = linked.reading
    frame = detect_operators(reading)
    items = items_of(linked, frame)
    ordered = bool(frame.of("order", "ascending", "descending"))
    extremes = [] if ordered else _extremes(frame, linked)
    first = items[0] if items else Item((), ())
    return ExpectedAnswer(
        kind=_kind(reading, frame, items),
        columns=_columns(items),
        classes=first.classes,
        predicates=first.predicates,
        listed=tuple(dict.fromkeys(iri for item in items for iri in item.iris)),
        nouns=sum(item.width for item in items),
        counted=any("count" in item.operators for item in items),
        reckoned=bool(frame.of(*_RECKONING)),
        grouped=bool(frame.of("each")) and frame.mean_count is None,
        ordered=ordered,
        limit=_limit(frame, extremes, first),
        again=_asks_again(reading, frame),
        names=any(item.naming for item in items),
        singular=_is_singular(reading, first) and not frame.of(*COMPARING, "comparative"),
        interrogative=interrogative(reading) is not None,
    )


_DEGREES = ("superlative", "sum", "top")
_RECKONING = ("average", "sum", "minimum", "maximum", "difference", "ratio")
_REQUESTS = 3  # so many words after a verb may say that it opens a request
_EXTREMES = ("superlative", "most", "fewest", "maximum", "minimum")
_A_NAME = 0.9  # words so like a name are it
_KINDS: dict[str, Asks] = {
    "person": "who",
    "place": "where",
    "date": "when",
    "year": "when",
    "number": "number",
}


def _kind(reading: TokenizedQuestion, frame: QuestionOperators, items: tuple[Item, ...]) -> Asks:
    if frame.exists:
        asks = frame.asks is not None or _is_request(reading, frame) or _asks_again(reading, frame)
        return "things" if asks else "yes_no"
    if items and "count" in items[0].operators:
        return "count" if items[0].classes or not items[0].predicates else "number"
    starts = items[0].first if items else len(reading.tokens)
    name = frame.asked_at[0] if frame.asked_at is not None else ""
    counts = any(one.first <= starts for one in frame.of("count"))
    if name == "number" and counts:
        return "number" if items and items[0].predicates and not items[0].classes else "count"
    return _KINDS.get(name, "things")


def _is_request(reading: TokenizedQuestion, frame: QuestionOperators) -> bool:
    """Whether a verb opens a request rather than a question: "can anyone tell me …"."""
    words = reading.words.yes_or_no
    opened = frame.of("exists")[0].last + 1
    after = [token.folded for token in reading.tokens[opened : opened + _REQUESTS]]
    return bool(after) and (after[0] in words["asked"] or not words["asking"].isdisjoint(after))


def _asks_again(reading: TokenizedQuestion, frame: QuestionOperators) -> bool:
    """Whether a question word follows on a conjunction ("… and how many") or on a question."""
    tokens = reading.tokens
    after = [range(one.last + 1, min(one.last + 3, len(tokens))) for one in frame.of("and")]
    after += [
        range(at, min(at + 2, len(tokens)))
        for at in range(1, len(tokens))
        if "?" in reading.gap(at - 1, at)
    ]
    return any(interrogative(reading, within=among) is not None for among in after)


def _is_singular(reading: TokenizedQuestion, item: Item) -> bool:
    """ "What is the mass": a question word, a verb of being, a noun that is no plural."""
    at = interrogative(reading)
    if at is None or not item.positions or at + 1 >= item.first:
        return False
    verb = reading.tokens[at + 1].folded
    plural = any(reading.tokens[p].stem != reading.tokens[p].folded for p in item.positions)
    return (verb,) in reading.words.operators["exists"] and not plural


def _columns(items: tuple[Item, ...]) -> int | None:
    """How many columns the listed nouns fill, if each is a property or an aggregate."""
    if not items:
        return None
    if len(items) == 1 or all(item.is_property for item in items):
        return sum(item.width for item in items)
    return None


def _limit(frame: QuestionOperators, extremes: list[Operator], first: Item) -> int | None:
    for operator in frame.of("top"):
        quantity = frame.quantity_after(operator, 1)
        if quantity is not None and quantity.value is not None and quantity.value >= 1:
            return int(quantity.value)
    if not extremes:
        return None
    for quantity in frame.reading.quantities:
        if quantity.value is None or not float(quantity.value).is_integer() or quantity.value < 1:
            continue
        beside = any(
            quantity.first - one.last == 1 or one.first - quantity.last == 1 for one in extremes
        )
        if beside or quantity.last + 1 in first.positions:
            return int(quantity.value)
    before = [frame.reading.tokens[one.first - 1].folded for one in extremes if one.first]
    ordinal = any(word in frame.reading.words.ordinals for word in before)
    return None if ordinal else 1


def _extremes(frame: QuestionOperators, linked: LinkedQuestion) -> list[Operator]:
    """The superlatives, but for those in a name and for words that only number ("first time").

    Nor those that say where or when ("in the last century"). None if they point both ways: "from
    the smallest to the largest" keeps all.
    """
    words, tokens = frame.reading.words, frame.reading.tokens
    found = [
        one
        for one in frame.of(*_EXTREMES)
        if tokens[one.first].folded not in words.ordinals
        and not any(token.stem in words.naming for token in tokens[one.last + 1 : one.last + 2])
        and not in_a_name(one, linked)
        and not _is_circumstance(one, linked.reading)
    ]
    return found if len({_points_up(one) for one in found}) == 1 else []


def _is_circumstance(operator: Operator, reading: TokenizedQuestion) -> bool:
    """Whether a preposition of place or time stands before it, with or without an article."""
    before = [token.folded for token in reading.tokens[: operator.first]][-2:]
    places = reading.words.clauses["circumstance"]
    if before and before[-1] in places:
        return True
    return len(before) == 2 and before[0] in places and reading.is_stop(operator.first - 1)


def _points_up(operator: Operator) -> bool:
    if operator.measure is not None:
        return operator.measure.up
    return operator.name in ("most", "maximum")


def in_a_name(operator: Operator, linked: LinkedQuestion) -> bool:
    """Return whether the words of an operator are part of a longer name: "first name"."""
    own = set(operator.positions)
    return any(
        link.similarity >= _A_NAME and own & set(link.positions) and not own >= set(link.positions)
        for link in linked.links
    )


_KEEPING = frozenset(["MIN", "MAX", "SAMPLE", "GROUP_CONCAT", "STR", "COALESCE", "LCASE", "UCASE"])


@dataclass(frozen=True)
class Step:
    """One predicate from a thing to a value or another thing, whichever way it was written."""

    source: Term
    predicate: str
    target: Term


@dataclass(frozen=True)
class Made:
    """What a column is made of: variables of patterns, and whether something is computed of them.

    `aggregate` is the aggregate that gives it, empty for none.
    """

    variables: frozenset[str]
    aggregate: str = ""
    computed: bool = False


@dataclass(frozen=True)
class QueryColumns:
    """A query read for its columns; `steps` are those of all its groups but what it rules out."""

    query: Query
    steps: tuple[Step, ...]
    bound: tuple[tuple[str, Expression], ...]

    def made(self, column: str) -> Made:
        """What a column is made of, through BIND and sub-selects."""
        return self._made(Variable(column), {})

    @cached_property
    def _expressions(self) -> dict[str, Expression]:
        return dict(self.bound)

    def _made(self, value: Expression, known: dict[str, Made]) -> Made:
        """What an expression is made of; of each variable that is asked only once."""
        if isinstance(value, Variable):
            name = value.value
            if name not in known:
                known[name] = Made(frozenset([name]))  # ends a name that leads to itself
                if (inner := self._expressions.get(name)) is not None:
                    known[name] = self._made(inner, known)
            return known[name]
        if not isinstance(value, Call):
            return Made(frozenset(), computed=True)
        called = value.name.split()[0]
        parts = [
            self._made(part, known) for part in value.arguments if isinstance(part, Variable | Call)
        ]
        variables = frozenset(name for part in parts for name in part.variables)
        within = next((part.aggregate for part in parts if part.aggregate), "")
        computed = called not in _KEEPING or any(part.computed for part in parts)
        return Made(variables, called if called in AGGREGATES else within, computed)

    def into(self, variable: str) -> Iterator[Step]:
        """The steps that end in a variable."""
        return (step for step in self.steps if step.target == Variable(variable))

    def classes(self, variable: str) -> frozenset[str]:
        """The classes that a variable is said to be of."""
        return frozenset(
            step.target.value
            for step in self.steps
            if step.predicate == RDF_TYPE
            and step.source == Variable(variable)
            and isinstance(step.target, NamedNode)
        )

    @cached_property
    def chooses_extreme(self) -> bool:
        """Whether anything in it can keep the first or the greatest: LIMIT, MIN, MAX, negation."""
        return any(_chooses(part) for part in walk(self.query))

    @cached_property
    def has_alternatives(self) -> bool:
        """Whether one column can hold several sorts of things."""
        return any(
            isinstance(part, Union)
            or (
                isinstance(part, Pattern)
                and (isinstance(part.predicate, Variable) or _has_alternatives(part.predicate))
            )
            or (isinstance(part, Call) and part.name in ("GROUP_CONCAT", "CONCAT", "COALESCE"))
            for part in walk(self.query)
        )

    @cached_property
    def kept_for(self) -> frozenset[str]:
        """The variables by which it sorts, or which its conditions name."""
        conditions = [p.condition for p in walk(self.query) if isinstance(p, Filter)]
        used = (*(value for value, _ in self.query.order), *self.query.having, *conditions)
        return frozenset(name.value for value in used for name in variables_of(value))


@lru_cache(maxsize=256)
def columns_of(query: str) -> QueryColumns:
    """Read a query for its columns; raises `QuerySyntaxError` if it cannot be read."""
    tree = tree_of(query)
    parts = list(walk(tree))
    bound = [(part.variable.value, part.value) for part in parts if isinstance(part, Bind)]
    for part in parts:
        if isinstance(part, Query):
            bound += [(name.value, value) for name, value in part.columns if value is not None]
            bound += [(name.value, value) for value, name in part.group_by if name is not None]
    steps = [
        step
        for number, part in enumerate(_said(tree.where))
        for step in _steps(part.subject, part.predicate, part.object, f"__{number}")
    ]
    return QueryColumns(tree, tuple(steps), tuple(bound))


def _said(group: Group) -> Iterator[Pattern]:
    """The patterns that hold of a solution."""
    for element in group.elements:
        match element:
            case Pattern():
                yield element
            case Nested(word="MINUS"):
                continue
            case Nested():
                yield from _said(element.group)
            case Union():
                for inner in element.groups:
                    yield from _said(inner)
            case Query():
                yield from _said(element.where)
            case _:
                continue


def _steps(source: Term, predicate: Predicate, target: Term, name: str) -> Iterator[Step]:
    match predicate:
        case NamedNode():
            yield Step(source, predicate.value, target)
        case Path(operator="^"):
            yield from _steps(target, predicate.parts[0], source, name)
        case Path(operator="/"):
            ends = [Variable(f"{name}_{at}") for at in range(len(predicate.parts) - 1)]
            places = [source, *ends, target]
            for at, part in enumerate(predicate.parts):
                yield from _steps(places[at], part, places[at + 1], f"{name}_{at}")
        case Path(operator="!"):
            return
        case Path():
            for at, part in enumerate(predicate.parts):
                yield from _steps(source, part, target, f"{name}_{at}")
        case _:
            return


def _has_alternatives(predicate: Predicate) -> bool:
    return isinstance(predicate, Path) and (
        predicate.operator == "|" or any(map(_has_alternatives, predicate.parts))
    )


def _chooses(part: object) -> bool:
    match part:
        case Query():
            return part.limit is not None
        case Nested():
            return part.word == "MINUS"
        case Call():
            return part.name.split()[0] in ("MIN", "MAX") or part.name in ("NOT EXISTS", "EXISTS")
        case _:
            return False


_LABEL_SUFFIX = "Label"  # ends ?cityLabel of the label service, which no pattern binds


def answer_columns_of(
    expected: ExpectedAnswer, query: str, result: SelectResult, profile: Profile
) -> tuple[str, ...]:
    """Return the columns that answer, in the order of the result; all if nothing can be told.

    Labels of things that are shown are context unless names are asked for; the things are, if a
    property, a date or a count of theirs is asked for, unless it is "for each". Nodes that only
    hold others together (n-ary) and what is only sorted or filtered by are context, too. A node
    without a name that tells the unit of a number answers with it.
    """
    if len(result.variables) < 2:
        return result.variables
    try:
        columns = columns_of(query)
    except QueryError:
        return result.variables
    return _Chooser(expected, columns, result.variables, profile).chosen()


class _Chooser:
    def __init__(
        self,
        expected: ExpectedAnswer,
        columns: QueryColumns,
        shown: Sequence[str],
        profile: Profile,
    ) -> None:
        self.expected, self.columns, self.profile = expected, columns, profile
        self.shown = tuple(shown)
        self.made = {name: columns.made(name) for name in shown}
        self.naming = {p.iri for p in profile.predicates if p.naming} | set(LABEL_PREDICATES)
        self.nary = {cls.iri for cls in profile.classes if cls.nary}
        self.ranges = {
            p.iri: frozenset(cls for cls, _ in p.object_classes) for p in profile.predicates
        }
        nameless = {cls.iri for cls in profile.classes if cls.name_predicate is None}
        self.measured = nameless & {
            cls for p in profile.predicates if is_unit_like(p) for cls, _ in p.subject_classes
        }
        self.numeric = {
            p.iri for p in profile.predicates if {n for n, _ in p.datatypes[:1]} & NUMERIC_DATATYPES
        }
        self.domains = {
            p.iri: frozenset(cls for cls, _ in p.subject_classes) for p in profile.predicates
        }

    def chosen(self) -> tuple[str, ...]:
        labels = {name: owner for name in self.shown if (owner := self.owner(name)) is not None}
        if self.expected.names:
            context = set(labels.values())
        else:
            context = {name for name in labels if not self.has_asked_property(name)}
        left = self.without(self.shown, context)
        left = self.without(left, (name for name in left if self.is_node(name)))
        return self.with_measurements(self.narrowed(left))

    def with_measurements(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """The names, and the nodes that tell in what unit a number among them is given."""
        steps = [step for name in names for step in self.steps(name)]
        sources = {str(one.source)[1:] for one in steps if one.predicate in self.numeric}
        return tuple(
            name
            for name in self.shown
            if name in names or (name in sources and self.classes(name) & self.measured)
        )

    def without(self, names: Sequence[str], context: Iterable[str]) -> tuple[str, ...]:
        """The names without some; all of them if none would be left."""
        dropped = set(context)
        return tuple(name for name in names if name not in dropped) or tuple(names)

    def owner(self, name: str) -> str | None:
        """The column whose label a column is."""
        if name.endswith(_LABEL_SUFFIX) and not list(self.columns.into(name)):
            thing = name.removesuffix(_LABEL_SUFFIX)
            return thing if thing in self.shown else None
        made = self.made[name]
        if made.computed:
            return None
        for variable in made.variables:
            for step in self.columns.into(variable):
                source = step.source
                if step.predicate in self.naming and isinstance(source, Variable):
                    owner = next((n for n in self.shown if self.is_thing(n, source)), None)
                    if owner is not None and owner != name:
                        return owner
        return None

    def is_thing(self, name: str, thing: Variable) -> bool:
        """Whether a column holds a thing itself, which no count or other sum of things does."""
        made = self.made[name]
        return made.variables == {thing.value} and not (made.computed or made.aggregate)

    def is_node(self, name: str) -> bool:
        """Whether a column holds nodes that only hold others together, and are not asked for."""
        classes = self.classes(name)
        return bool(classes) and classes <= self.nary and not classes & set(self.expected.listed)

    def classes(self, name: str) -> frozenset[str]:
        """The classes that the things in a column are of, as far as the query or graph tells."""
        made = self.made[name]
        if made.computed or len(made.variables) != 1:
            return frozenset()
        [variable] = made.variables
        if said := self.columns.classes(variable):
            return said
        found: list[frozenset[str]] = []
        for step in self.columns.steps:
            if step.predicate == RDF_TYPE:
                continue
            if step.target == Variable(variable):
                found.append(self.ranges.get(step.predicate, frozenset()))
            if step.source == Variable(variable):
                found.append(self.domains.get(step.predicate, frozenset()))
        known = [classes for classes in found if classes]
        return frozenset.intersection(*known) if known else frozenset()

    def narrowed(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Of several columns, those that the question names."""
        expected = self.expected
        if len(names) < 2 or (expected.columns or 0) >= len(names) or expected.again:
            return names
        asked = [name for name in names if self.is_asked(name)]
        numbers = [name for name in names if self.made[name].aggregate]
        if numbers and (expected.grouped or expected.counted):
            alone = expected.nouns == 1 and not expected.grouped
            return tuple(numbers) if alone else names  # "for each X the number": both
        if expected.kind == "when" and (values := [n for n in names if self.is_literal(n)]):
            return names if expected.grouped else tuple(values)
        if asked and len(asked) >= expected.nouns:
            return tuple(asked)
        if expected.nouns > 1 and len(listed := self.not_owning(names, asked)) == expected.nouns:
            return listed
        left = self.without(names, (name for name in names if self.only_keeps(name)))
        return self.not_owning(left, asked)

    def not_owning(self, names: Sequence[str], asked: Sequence[str]) -> tuple[str, ...]:
        """The names without things that are not asked for, and whose properties are shown."""
        return self.without(
            names, (name for name in names if name not in asked and self.owns(name, names))
        )

    def has_asked_property(self, name: str) -> bool:
        """Whether a column holds values of a property that the question names."""
        return any(step.predicate in self.expected.listed for step in self.steps(name))

    def steps(self, name: str) -> list[Step]:
        """The steps that end in what a column is made of."""
        return [step for one in self.made[name].variables for step in self.columns.into(one)]

    def is_asked(self, name: str) -> bool:
        """Whether a column holds what the head noun, or one listed with it, may mean."""
        if self.made[name].aggregate == "COUNT" and not self.expected.counted:
            return False
        if self.has_asked_property(name):
            return True
        if self.expected.names and any(step.predicate in self.naming for step in self.steps(name)):
            return True
        return bool(self.classes(name) & set(self.expected.listed))

    def owns(self, name: str, names: Sequence[str]) -> bool:
        """Whether values in other columns are properties of the things in this one."""
        made = self.made[name]
        others = [other for other in names if other != name and self.is_literal(other)]
        sources = {str(step.source)[1:] for other in others for step in self.steps(other)}
        return not made.computed and bool(made.variables & sources)

    def is_literal(self, name: str) -> bool:
        """Whether a column holds values of properties that lead to no things."""
        steps = self.steps(name)
        return bool(steps) and not any(self.ranges.get(step.predicate) for step in steps)

    def only_keeps(self, name: str) -> bool:
        """Whether a column is only what the rows are sorted, or chosen, by."""
        made = self.made[name]
        kept = name in self.columns.kept_for or bool(made.variables & self.columns.kept_for)
        return kept and (bool(made.aggregate) or self.is_literal(name))
