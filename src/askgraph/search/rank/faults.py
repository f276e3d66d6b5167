"""Faults of a query: it contradicts itself, sums up nothing, or drops what the question says.

A fault needs no gold to be seen. Few right queries have one; few wrong ones show it.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from pyoxigraph import Literal, NamedNode, Variable

from askgraph.index.names import Kind, name_tokens
from askgraph.search.expand import BESIDE, SURE
from askgraph.search.expand.schema import Schema
from askgraph.search.link import Link, LinkedQuestion
from askgraph.search.operators.query_builder import PAIRED, Candidate
from askgraph.search.query_pieces import (
    Condition,
    Value,
    aggregates_of,
    alternatives_in,
    averages_in,
    conditions_in,
    denied_in,
    either_in,
    function_of,
    groups_of,
    having_of,
    keys_of,
    operands_of,
    optional_in,
    patterns_in,
    predicate_of,
    text_of,
    variable_of,
)
from askgraph.search.rank import Proposal
from askgraph.search.rank.expected_answer_type import ExpectedAnswer, in_a_name, interrogative
from askgraph.search.tokenize import Quantity
from askgraph.search.tokenize.question_operators import Operator, QuestionOperators
from askgraph.sparql import Bind, Call, Group, Pattern, Query, Values, variables_of
from askgraph.sparql.serializer import text_of as written
from askgraph.sparql.vocabulary import RDF_TYPE

_FIRST_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_LOWER, _UPPER = (">", ">=", "="), ("<", "<=", "=")


def _contradicts(subject: "Subject") -> bool:
    """It denies what it asks for, or its bounds leave nothing between them."""
    said = {_plain(one) for one in subject.patterns}
    for denied in subject.denied:
        patterns = patterns_in(denied)
        if len(patterns) == len(denied.elements) and all(_plain(one) in said for one in patterns):
            return True
    conditions = subject.conditions
    return any(
        max(_bounds(conditions, variable, _LOWER), default=float("-inf"))
        > min(_bounds(conditions, variable, _UPPER), default=float("inf"))
        for variable in {one.variable for one in conditions}
    )


def _plain(pattern: Pattern) -> tuple[object, str, object]:
    return pattern.subject, predicate_of(pattern), pattern.object


def _bounds(
    conditions: Sequence[Condition], variable: Variable, operators: Sequence[str]
) -> Iterator[float]:
    for one in conditions:
        if one.variable == variable and one.operator in operators and len(one.values) == 1:
            [value] = one.values
            found = _FIRST_NUMBER.match(value.value) if isinstance(value, Literal) else None
            if found is not None:
                yield float(found.group())


def _counts_group(subject: "Subject") -> bool:
    """It counts or sums up what it groups by: one in each group."""
    grouped = groups_of(subject.tree)
    return any(variable_of(one) in grouped for one in aggregates_of(subject.tree))


def _single_values(subject: "Subject") -> bool:
    """It takes the average, sum or extreme of one value: that of each thing it groups by."""
    grouped = groups_of(subject.tree)
    values = [
        variable_of(one) for one in aggregates_of(subject.tree) if function_of(one) != "COUNT"
    ]
    return any(
        one.subject in grouped
        and one.object in values
        and (profile := subject.proposal.schema.predicates_by_iri.get(predicate_of(one)))
        is not None
        and profile.functional
        for one in subject.patterns
    )


def _bound_twice(subject: "Subject") -> bool:
    """Two bounds on the same side of one value: one of them was meant for another."""
    conditions = subject.conditions
    sides = [(one.variable, one.operator[0]) for one in conditions if one.operator[0] in "<>"]
    return len(sides) > len(set(sides))


def _idle_condition(subject: "Subject") -> bool:
    """A condition says nothing of what is shown: only of a thing that the question names."""
    if subject.candidate.asks:
        return False
    where = subject.tree.where
    together = (*subject.patterns, *optional_in(where))
    made = (one for one in where.elements if isinstance(one, Values | Bind))
    joined = [set(variables_of(one)) for one in (*together, *made)]
    reached = _reached(set(map(variable_of, subject.shown)), joined)
    return any(one.variable not in reached for one in subject.conditions)


def _crossed(subject: "Subject") -> bool:
    """Two columns that only a thing of the question joins: each of one beside each of the other.

    Values of that thing itself are beside each other with reason, and so is what "and" joins.
    """
    if subject.frame.of("and") or groups_of(subject.tree):
        return False
    joined = [set(variables_of(one)) for one in subject.tree.where.elements]
    shown = [variable_of(one) for one in subject.shown]
    owners = {one.subject for one in subject.patterns}
    return any(not set(shown) <= _reached({own}, joined) for own in shown if own in owners)


def _reached(start: set[Variable], joined: Sequence[set[Variable]]) -> set[Variable]:
    """The variables that patterns join to some, these among them."""
    reached, before = start, -1
    while len(reached) > before:
        before = len(reached)
        reached = reached.union(*(some for some in joined if some & reached))
    return reached


_SURE = 0.85  # links from this score on surely name a thing
_NAMED = 0.4  # below this no word names what is shown
_UNSAID = 0.5  # how well a thing is named of which no class is known
_CLASS = 0.7  # links from this score on say that a noun is a class
_EXTREMES = ("minimum", "maximum", "most", "fewest", "superlative")
_NUMBER = re.compile(r"(?:(?<![\w.])-)?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")


def find_faults(subject: "Subject") -> tuple[str, ...]:
    """Return the names of the faults that a candidate has, out of `FAULTS`."""
    return tuple(name for name, holds in FAULTS.items() if holds(subject))


_LOOKED_AT, _BEHIND = 12, 0.4
"""So many candidates, and so far behind the best, change places for their faults."""


def demote_faulty(proposal: Proposal, weight: float) -> Proposal:
    """Return a proposal whose best candidates are ranked by their faults, too.

    Only if the first has any: what is to be passed over is looked at, and what may take its place.
    """
    every = proposal.candidates
    if not every or not find_faults(Subject(proposal, every[0])):
        return proposal
    near = [one for one in every[:_LOOKED_AT] if one.score > every[0].score - _BEHIND]
    told = [_told(one, len(find_faults(Subject(proposal, one))), weight) for one in near]
    found = sorted((*told, *every[len(near) :]), key=lambda one: -one.score)
    return replace(proposal, candidates=tuple(found))


def _told(candidate: Candidate, faults: int, weight: float) -> Candidate:
    features = {**candidate.features, "faulty": float(faults)}
    return replace(candidate, score=candidate.score + weight * faults, features=features)


@dataclass(frozen=True, eq=False)
class Subject:
    """A candidate beside the question that it is for."""

    proposal: Proposal
    candidate: Candidate

    @property
    def tree(self) -> Query:
        """The query."""
        return self.candidate.tree

    @property
    def shown(self) -> tuple[Value, ...]:
        """What the answer columns hold."""
        return self.candidate.shown

    @property
    def linked(self) -> LinkedQuestion:
        """The question's links."""
        return self.proposal.linked

    @property
    def frame(self) -> QuestionOperators:
        """The question's operators."""
        return self.proposal.frame

    @property
    def expected(self) -> ExpectedAnswer:
        """The shape that an answer should have."""
        return self.proposal.expected

    @cached_property
    def said(self) -> Mapping[str, float]:
        """How well words name each term: the score of its best link."""
        best: dict[str, float] = {}
        for link in self.linked.links:
            best[link.target] = max(link.score, best.get(link.target, 0.0))
        return best

    @cached_property
    def patterns(self) -> list[Pattern]:
        """The patterns that have to hold, but those of alternatives."""
        return patterns_in(self.tree.where)

    @cached_property
    def conditions(self) -> list[Condition]:
        """The comparisons that have to hold, but those of one sub-query's number with another's."""
        parts = averages_in(self.tree.where)
        numbers = {name for part in parts for name, value in part.columns if value is not None}
        return [
            one
            for one in conditions_in(self.tree.where)
            if one.variable not in numbers and not _is_extreme(one, numbers)
        ]

    @cached_property
    def extremes(self) -> list[Variable]:
        """The values of which the highest or the lowest is kept, by a sub-query."""
        parts = averages_in(self.tree.where)
        numbers = {name for part in parts for name, value in part.columns if value is not None}
        conditions = conditions_in(self.tree.where)
        return [one.variable for one in conditions if _is_extreme(one, numbers)]

    @cached_property
    def denied(self) -> list[Group]:
        """The groups that nothing may fit."""
        return denied_in(self.tree.where)

    @cached_property
    def parts(self) -> list[Group]:
        """The groups of the query: what has to hold, what must not, and alternatives."""
        inner = [one.where for one in averages_in(self.tree.where)]
        return [self.tree.where, *inner, *self.denied, *either_in(self.tree.where)]

    @property
    def compared(self) -> str:
        """The text of all that variables are compared with."""
        terms = [term for part in self.parts for one in _compared_in(part) for term in one.values]
        return " ".join([*map(text_of, terms), *map(written, averages_in(self.tree.where))])

    @cached_property
    def terms(self) -> frozenset[str]:
        """All IRIs and literals that the query names, as N-Triples text; predicates bare."""
        where, parts = self.tree.where, self.parts
        patterns = [*optional_in(where), *(one for part in parts for one in patterns_in(part))]
        named = [end for one in patterns for end in (one.subject, one.object)]
        named += [term for part in parts for one in _compared_in(part) for term in one.values]
        for one in where.elements:
            if isinstance(one, Values):
                named += [term for row in one.rows for term in row if term is not None]
            elif isinstance(one, Bind):
                named += operands_of(one.value)
        constants = [str(term) for term in named if not isinstance(term, Variable)]
        return frozenset([*constants, *map(predicate_of, patterns)])

    def names(self, link: Link) -> bool:
        """Whether the query names what a link leads to."""
        return link.target in self.terms or f"<{link.target}>" in self.terms

    def named(self, value: Value) -> float:
        """How well words name what a column holds; in between if nothing can be said."""
        variable = variable_of(value)
        into = [predicate_of(one) for one in self.patterns if one.object == variable]
        if variable != self.candidate.root and into:
            return max(self.said.get(iri, 0.0) for iri in into)
        classes = [
            one.object.value
            for one in self.patterns
            if one.subject == variable
            and predicate_of(one) == RDF_TYPE
            and isinstance(one.object, NamedNode)
        ]
        return max((self.said.get(iri, 0.0) for iri in classes), default=_UNSAID)


def _is_extreme(one: Condition, numbers: Collection[Variable]) -> bool:
    """Whether a value is to be the number that a sub-query finds."""
    return (
        one.operator == "=" and numbers.__contains__(one.values[0]) and one.variable not in numbers
    )


def _compared_in(group: Group) -> list[Condition]:
    return [*conditions_in(group), *alternatives_in(group)]


def _number_missing(subject: Subject) -> bool:
    """A number or a time that the query leaves unread, or a number that it does not hold.

    A number that the question does not have (one unit turned into another) excuses another one.
    """
    asked = [
        one
        for one in subject.proposal.reading.quantities
        if one.value is not None and one.value != 1
    ]
    if subject.tree.limit is not None:  # so many percent of all are so many rows
        asked = [one for one in asked if not subject.proposal.reading.is_percent(one)]
    times = [one for one in subject.proposal.reading.quantities if one.value is None]
    if any(not subject.candidate.used >> one.first & 1 for one in (*asked, *times)):
        return True
    held = list(_numbers(subject))
    missing = [one for one in asked if one.value not in held and not _is_in_name(one, subject)]
    same = {sign * one.value for one in asked if one.value is not None for sign in (1, -1)}
    spare = set(held) - same - set(_places(subject.tree))
    return len(missing) > len(spare)


def _numbers(subject: Subject) -> Iterator[float]:
    literals = [term for term in subject.terms if not term.startswith(("<", "http", "urn:"))]
    texts = [literal.split('"^^')[0] for literal in literals]
    parts = (subject.tree, *averages_in(subject.tree.where))
    texts += [number.value for part in parts for _, _, number in having_of(part)]
    for text in texts:
        yield from map(float, _NUMBER.findall(text))
    yield from _places(subject.tree)


def _places(query: Query) -> Iterator[float]:
    """How many rows are kept, and the first of them."""
    yield from () if query.limit is None else (float(query.limit),)
    yield float((query.offset or 0) + 1)


def _is_in_name(quantity: Quantity, subject: Subject) -> bool:
    return any(
        quantity.first in link.positions and subject.names(link) for link in subject.linked.links
    )


def _thing_missing(subject: Subject) -> bool:
    """Words that surely name a thing or a value, none of whose readings the query names."""
    texts = subject.compared.lower()
    tokens = subject.proposal.reading.tokens
    units = {one.last + 1 for one in subject.proposal.reading.quantities}
    units |= {one.last for one in subject.frame.of("in_unit")}
    used = subject.candidate.used
    units |= {at for one in subject.frame.operators if one.mask & used for at in one.positions}
    return any(
        weight and at not in units and tokens[at].folded not in texts and _is_missing(at, subject)
        for at, weight in enumerate(subject.linked.weights)
    )


def _is_missing(at: int, subject: Subject) -> bool:
    links = [link for link in subject.linked.links if at in link.positions]
    sure = [link for link in links if link.score >= _SURE]
    things = all(link.kind in (Kind.ENTITY, Kind.VALUE) for link in sure)
    return bool(sure) and things and not any(subject.names(link) for link in links)


def _counted_noun(subject: Subject) -> bool:
    """ "4 or more moons" asks for a count of moons, and the query compares a value."""
    query = subject.tree
    if query.having or query.limit is not None:
        return False
    if not any(one.operator in (*_LOWER, *_UPPER) for one in subject.conditions):
        return False
    return any(_counts_noun(one, subject) for one in subject.proposal.reading.quantities)


def _counts_noun(quantity: Quantity, subject: Subject) -> bool:
    reading = subject.proposal.reading
    after = range(quantity.last + 1, min(quantity.last + 1 + BESIDE, len(reading.tokens)))
    content = (at for at in after if not reading.is_stop(at) and not subject.frame.mask >> at & 1)
    at = next(content, None)
    if at is None or reading.tokens[at].stem == reading.tokens[at].folded:
        return False
    nouns = subject.linked.of(Kind.CLASS, Kind.PREDICATE)
    links = [one for one in nouns if at in one.positions and one.score >= _CLASS]
    return bool(links) and links[0].kind is Kind.CLASS


def _extreme_missing(subject: Subject) -> bool:
    """Fewer smallest, largest or most than the words ask for."""
    if PAIRED in subject.candidate.notes:
        return False  # its superlative may compare: "más grande"
    asked = {(one.name, one.measure is None or one.measure.up) for one in _extremes(subject)}
    query = subject.tree
    kept = _shown_extremes(subject) + bool(query.having)
    if query.limit is not None:
        kept += len({key for key, _ in keys_of(query)} - {subject.candidate.root})
    return len(asked) > kept


def _shown_extremes(subject: Subject) -> int:
    """How many highest and lowest values are shown, or asked for in a sub-query."""
    inner = [value for part in averages_in(subject.tree.where) for _, value in part.columns]
    made = (*subject.shown, *inner)
    return sum(isinstance(one, Call) and one.name in ("MIN", "MAX") for one in made)


def _extremes(subject: Subject) -> Iterator[Operator]:
    return (one for one in subject.frame.of(*_EXTREMES) if not in_a_name(one, subject.linked))


def _limit_missing(subject: Subject) -> bool:
    """The question asks for so many of an order, and the query keeps all."""
    if subject.expected.limit is None or subject.tree.limit is not None:
        return False
    if PAIRED in subject.candidate.notes:
        return False
    if not (subject.frame.of("top") or any(_extremes(subject))):
        return False
    return not _shown_extremes(subject)


def _limit_extra(subject: Subject) -> bool:
    """The query keeps the first of an order, and no word asks for that."""
    if subject.tree.limit is None or subject.expected.limit is not None:
        return False
    if PAIRED in subject.candidate.notes:
        return False  # "which is larger, X or Y"
    reading = subject.proposal.reading
    ordinal = any(token.folded in reading.words.ordinals for token in reading.tokens)
    return not ordinal and not subject.frame.of("top", *_EXTREMES)


def _columns_missing(subject: Subject) -> bool:
    """Fewer columns than the question lists things to show."""
    expected = subject.expected
    reckoned = {PAIRED, "difference", "ratio"} & {*subject.candidate.notes}
    wanted = 0 if reckoned else max(expected.columns or 0, expected.nouns)
    if subject.frame.also_asked:
        wanted = max(wanted, 1 + len(subject.frame.also_asked))
    reading = subject.linked.reading
    for one in subject.frame.of("and"):  # "… and what are the companies"
        after = range(one.last + 1, min(one.last + 3, len(reading.tokens)))
        wanted = max(wanted, 2 * (interrogative(reading, within=after) is not None))
    return not subject.candidate.asks and wanted > len(subject.shown)


def _cut_off(subject: Subject) -> bool:
    """The question is longer than what is read of one."""
    return subject.proposal.reading.cut


def _denied_apart(subject: Subject) -> bool:
    """What is denied hangs on another thing than what is shown (what has no end is not denied)."""
    patterns = subject.patterns
    main = set(variables_of(tuple(patterns)))
    asked = {variable_of(one) for one in subject.shown}
    values = asked - {one.subject for one in patterns}
    owners = {one.subject for one in patterns if one.object in values}
    return (
        bool(subject.frame.of("not"))
        and not subject.candidate.asks
        and any(
            not set(variables_of(tuple(patterns_in(one)))) & main & (asked | owners)
            for one in subject.denied
        )
    )


def _unasked(subject: Subject) -> bool:
    """The question asks for a property, and all that is shown is what no word names."""
    if len(subject.shown) != 1 or subject.expected.classes or not subject.expected.predicates:
        return False
    [only] = subject.shown
    return isinstance(only, Variable) and subject.named(only) < _NAMED


_KNOWN_BETTER = 100
"""A thing of which a graph says so many times more is the one that its name means."""


def _namesake(subject: Subject) -> bool:
    """Another thing of the kind has the very name of one that the query is about."""
    things = subject.linked.of(Kind.ENTITY)
    meant = [one for one in things if one.similarity > SURE and subject.names(one)]
    return any(
        other.target != one.target
        and other.positions == one.positions
        and name_tokens(other.name) == name_tokens(one.name)
        and not subject.names(other)
        and _is_as_good(other.target, one.target, subject.proposal.schema)
        for one in meant
        for other in things
    )


def _is_as_good(other: str, iri: str, schema: Schema) -> bool:
    """Whether things are of the same classes, and the graph does not say far more of the second."""
    theirs, own = schema.graph.terms.iri(other), schema.graph.terms.iri(iri)
    if theirs is None or own is None or schema.classes_of(theirs) != schema.classes_of(own):
        return False
    return schema.graph.degree(own) < _KNOWN_BETTER * schema.graph.degree(theirs)


def _measured_apart(subject: Subject) -> bool:
    """ "How heavy is X?" asks for a number of X, and what is shown is one of other things."""
    reading, shown = subject.linked.reading, {variable_of(one) for one in subject.shown}
    values = [one for one in subject.patterns if one.object in shown]
    owners = {one.subject for one in values} & {name for name, _ in subject.tree.columns}
    asked = subject.frame.of("measure") if owners else ()
    for one in asked:
        first = one.last + 1
        while first < len(reading.tokens) and reading.is_stop(first):
            first += 1
        for link in subject.linked.of(Kind.ENTITY):
            if link.positions[0] == first and link.score >= SURE and subject.names(link):
                return True
    return False


def _indefinite(subject: Subject) -> bool:
    """ "A spacecraft" is none in particular, and the query names one that is called so in part."""
    reading = subject.linked.reading
    return any(
        link.score < _SURE
        and link.positions[0] > 0
        and (reading.folded[link.positions[0] - 1],) in reading.words.times["one"]
        and subject.names(link)
        for link in subject.linked.of(Kind.ENTITY)
    )


def _wrong_sort(subject: Subject) -> bool:
    """A number or a date is asked for, and nothing shown is one."""
    valued = subject.frame.asks in ("number", "date", "year")
    return valued and not subject.candidate.features["asks"]


def _wrong_kind(subject: Subject) -> bool:
    """A person, a place or a time is asked for, and nothing shown is one."""
    return bool(subject.candidate.features["misfit"])


_FAULTS: tuple[Callable[[Subject], bool], ...] = (
    _number_missing,
    _thing_missing,
    _counted_noun,
    _extreme_missing,
    _limit_missing,
    _limit_extra,
    _columns_missing,
    _cut_off,
    _denied_apart,
    _wrong_sort,
    _wrong_kind,
    _unasked,
    _namesake,
    _measured_apart,
    _indefinite,
    _contradicts,
    _counts_group,
    _single_values,
    _bound_twice,
    _idle_condition,
    _crossed,
)

FAULTS: Mapping[str, Callable[[Subject], bool]] = {one.__name__[1:]: one for one in _FAULTS}
"""All faults by name; each says of a candidate whether it has it."""
