"""Faults of a query: it contradicts itself, sums up nothing, or drops what the question says.

A fault needs no gold to be seen. Few right queries have one; few wrong ones show it.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from askgraph.index.names import Kind
from askgraph.rdf.vocabulary import RDF_TYPE
from askgraph.search.form import Aggregate, Filter, Form, Pattern
from askgraph.search.grow.schema import Schema
from askgraph.search.linking.link import Link, Linked
from askgraph.search.linking.operators import Frame, Operator
from askgraph.search.linking.quantities import Quantity
from askgraph.search.operators.query_builder import Candidate
from askgraph.search.rank.expected import Expected, expected_of
from askgraph.search.run import Proposal

_FIRST_NUMBER = re.compile(r'^"?(-?\d+(?:\.\d+)?)')
_LOWER, _UPPER = (">", ">=", "="), ("<", "<=", "=")


def _contradicts(form: Form, _: Schema) -> bool:
    """It denies what it asks for, or its bounds leave nothing between them."""
    said = {_plain(one) for one in form.patterns}
    denied = (some for some, filters in form.without if not filters)
    if any(all(_plain(one) in said for one in some) for some in denied):
        return True
    return any(
        max(_bounds(form.filters, variable, _LOWER), default=float("-inf"))
        > min(_bounds(form.filters, variable, _UPPER), default=float("inf"))
        for variable in {one.variable for one in form.filters}
    )


def _plain(pattern: Pattern) -> tuple[int | str, str, int | str]:
    return pattern.subject, pattern.predicate, pattern.object


def _bounds(filters: Sequence[Filter], variable: int, operators: Sequence[str]) -> Iterator[float]:
    for one in filters:
        if one.variable == variable and one.operator in operators and len(one.values) == 1:
            found = _FIRST_NUMBER.match(one.values[0]) if isinstance(one.values[0], str) else None
            if found is not None:
                yield float(found.group(1))


def _counts_group(form: Form, _: Schema) -> bool:
    """It counts or sums up what it groups by: one in each group."""
    return any(one.variable in form.group for one in _aggregates(form))


def _single_values(form: Form, schema: Schema) -> bool:
    """It takes the average, sum or extreme of one value: that of each thing it groups by."""
    known = schema.predicates_by_iri
    return any(
        pattern.subject in form.group
        and pattern.object == one.variable
        and pattern.predicate in known
        and known[pattern.predicate].functional
        for one in _aggregates(form)
        if one.function != "COUNT"
        for pattern in form.patterns
    )


def _aggregates(form: Form) -> Iterator[Aggregate]:
    values = [column.value for column in form.columns] + [key.value for key in form.order]
    yield from (value for value in values if isinstance(value, Aggregate))
    yield from (having.aggregate for having in form.having)


def _bound_twice(form: Form, _: Schema) -> bool:
    """Two bounds on the same side of one value: one of them was meant for another."""
    sides = [(f.variable, f.operator[0]) for f in form.filters if f.operator[0] in "<>"]
    return len(sides) > len(set(sides))


def denied_apart(form: Form) -> bool:
    """Whether what it denies hangs on something else than what it shows: another may have it."""
    main = {end for one in form.patterns for end in _variables(one)}
    things = {one.subject for one in form.patterns}
    shown = set(_shown(form))
    asked: set[int | str] = {*shown}
    asked.update(one.subject for one in form.patterns if one.object in shown - things)
    return not form.ask and any(
        not {end for one in some for end in _variables(one)} & main & asked
        for some, _ in form.without
    )


def _idle_condition(form: Form, _: Schema) -> bool:
    """A condition says nothing of what is shown: only of a thing that the question names."""
    if form.ask:
        return False
    joined = list(_joined(form))
    reached, before = set(_shown(form)), -1
    while len(reached) > before:
        before = len(reached)
        reached = reached.union(*(some for some in joined if some & reached))
    return any(one.variable not in reached for one in form.filters)


def _joined(form: Form) -> Iterator[set[int]]:
    """The variables that stand together: in a pattern, in given rows, in what is computed."""
    yield from (set(_variables(one)) for one in (*form.patterns, *form.optional))
    yield from (set(one.variables) for one in form.given)
    for made in form.computed:
        yield {made.variable, *(one for one in made.operands if isinstance(one, int))}


def _shown(form: Form) -> Iterator[int]:
    for column in form.columns:
        if column.answer:
            value = column.value
            yield value.variable if isinstance(value, Aggregate) else value


def _variables(pattern: Pattern) -> Iterator[int]:
    yield from (end for end in (pattern.subject, pattern.object) if isinstance(end, int))


FORM_FAULTS: Mapping[str, tuple[Callable[[Form, Schema], bool], str]] = {
    "contradicts": (_contradicts, "nothing can fit all its conditions"),
    "counts_group": (_counts_group, "it counts what it groups by"),
    "single_values": (_single_values, "it sums up single values, one a group"),
    "bound_twice": (_bound_twice, "two bounds lie on the same side of one value"),
    "idle_condition": (_idle_condition, "a condition says nothing of what is shown"),
}
"""The faults of a query by name: whether it has one, and what is wrong in words."""


_SURE = 0.85
_NAMED = 0.4
_CLASS = 0.7
_EXTREMES = ("minimum", "maximum", "most", "fewest", "superlative")
_NUMBER = re.compile(r"(?:(?<![\w.])-)?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")


def faults_of(subject: "Subject") -> tuple[str, ...]:
    """Return the names of the faults that a candidate has, out of `FAULTS`."""
    said = [name for name, (holds, _) in _WORD_FAULTS.items() if holds(subject)]
    form, schema = subject.form, subject.proposal.schema
    return (*said, *(name for name, (holds, _) in FORM_FAULTS.items() if holds(form, schema)))


@dataclass(frozen=True, eq=False)
class Subject:
    """A candidate beside the question that it is for."""

    proposal: Proposal
    candidate: Candidate

    @property
    def form(self) -> Form:
        """The query."""
        return self.candidate.form

    @property
    def linked(self) -> Linked:
        """The question's links."""
        return self.proposal.linked

    @property
    def frame(self) -> Frame:
        """The question's operators."""
        return self.proposal.frame

    @cached_property
    def expected(self) -> Expected:
        """The shape that an answer should have."""
        return expected_of(self.linked)

    @cached_property
    def said(self) -> Mapping[str, float]:
        """How well words name each term: the score of its best link."""
        best: dict[str, float] = {}
        for link in self.linked.links:
            best[link.target] = max(link.score, best.get(link.target, 0.0))
        return best

    @cached_property
    def shown(self) -> tuple[int | Aggregate, ...]:
        """What the answer columns hold."""
        return tuple(column.value for column in self.form.columns if column.answer)

    @cached_property
    def filters(self) -> tuple[Filter, ...]:
        """All conditions, those of denied and alternative parts too."""
        parts = (*self.form.without, *self.form.either)
        return (*self.form.filters, *(one for _, filters in parts for one in filters))

    @cached_property
    def terms(self) -> frozenset[str]:
        """All IRIs and literals that the query names, as N-Triples text; predicates bare."""
        parts = (*self.form.without, *self.form.either)
        within = (one for some, _ in parts for one in some)
        patterns = (*self.form.patterns, *self.form.optional, *within)
        ends = (end for one in patterns for end in (one.subject, one.object))
        values = (value for one in self.filters for value in one.values)
        rows = (value for given in self.form.given for row in given.rows for value in row)
        made = (one for computed in self.form.computed for one in computed.operands)
        named = (term for term in (*ends, *values, *rows, *made) if isinstance(term, str))
        return frozenset([*named, *(one.predicate for one in patterns)])

    def names(self, link: Link) -> bool:
        """Whether the query names what a link leads to."""
        return link.target in self.terms or f"<{link.target}>" in self.terms

    def named(self, value: int | Aggregate) -> float:
        """How well words name what a column holds; in between if nothing can be said."""
        variable = value.variable if isinstance(value, Aggregate) else value
        patterns = self.form.patterns
        into = [one.predicate for one in patterns if one.object == variable]
        if variable != self.candidate.root and into:
            return max(self.said.get(iri, 0.0) for iri in into)
        classes = [
            str(one.object).strip("<>")
            for one in patterns
            if one.subject == variable and one.predicate == RDF_TYPE
        ]
        return max((self.said.get(iri, 0.0) for iri in classes), default=0.5)


def _number_missing(subject: Subject) -> bool:
    """A number or a time that the query leaves unread, or a number that it does not hold.

    A number that the question does not have (one unit turned into another) excuses another one.
    """
    asked = [one for one in subject.proposal.reading.quantities if _counts(one)]
    times = [one for one in subject.proposal.reading.quantities if one.value is None]
    if any(not subject.candidate.used >> one.first & 1 for one in (*asked, *times)):
        return True
    held = list(_numbers(subject))
    missing = [one for one in asked if one.value not in held and not _is_in_name(one, subject)]
    same = {sign * one.value for one in asked if one.value is not None for sign in (1, -1)}
    spare = set(held) - same - set(_places(subject.form))
    return len(missing) > len(spare)


def _counts(quantity: Quantity) -> bool:
    return quantity.value is not None and quantity.value != 1


def _numbers(subject: Subject) -> Iterator[float]:
    form = subject.form
    literals = [term for term in subject.terms if not term.startswith(("<", "http", "urn:"))]
    texts = [literal.split('"^^')[0] for literal in literals]
    texts += [having.value for having in form.having]
    for text in texts:
        yield from map(float, _NUMBER.findall(text))
    yield from _places(form)


def _places(form: Form) -> Iterator[float]:
    """How many rows are kept, and the first of them."""
    yield from (float(place) for place in (form.limit, form.offset + 1) if place is not None)


def _is_in_name(quantity: Quantity, subject: Subject) -> bool:
    return any(
        quantity.first in link.positions and subject.names(link) for link in subject.linked.links
    )


def _thing_missing(subject: Subject) -> bool:
    """Words that surely name a thing or a value, none of whose readings the query names."""
    texts = " ".join(str(value).lower() for one in subject.filters for value in one.values)
    tokens = subject.proposal.reading.tokens
    units = {one.last + 1 for one in subject.proposal.reading.quantities}
    units |= {one.last for one in subject.frame.of("in_unit")}
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
    form = subject.form
    if form.having or form.limit is not None:
        return False
    if not any(one.operator in ("<", ">", "<=", ">=", "=") for one in form.filters):
        return False
    return any(_counts_noun(one, subject) for one in subject.proposal.reading.quantities)


def _counts_noun(quantity: Quantity, subject: Subject) -> bool:
    reading = subject.proposal.reading
    after = range(quantity.last + 1, min(quantity.last + 4, len(reading.tokens)))
    content = (at for at in after if not reading.is_stop(at) and not subject.frame.mask >> at & 1)
    at = next(content, None)
    if at is None or reading.tokens[at].stem == reading.tokens[at].folded:
        return False
    nouns = subject.linked.of(Kind.CLASS, Kind.PREDICATE)
    links = [one for one in nouns if at in one.positions and one.score >= _CLASS]
    return bool(links) and links[0].kind is Kind.CLASS


def _extreme_missing(subject: Subject) -> bool:
    """Fewer smallest, largest or most than the words ask for."""
    asked = {one.name for one in _extremes(subject)}
    form = subject.form
    aggregates = [one.value for one in form.columns if isinstance(one.value, Aggregate)]
    kept = sum(one.function in ("MIN", "MAX") for one in aggregates) + bool(form.having)
    if form.limit is not None:
        kept += len({key.value for key in form.order})
    return len(asked) > kept


def _extremes(subject: Subject) -> Iterator[Operator]:
    return (one for one in subject.frame.of(*_EXTREMES) if not _is_named(one, subject))


def _is_named(operator: Operator, subject: Subject) -> bool:
    """Whether an operator's words are a part of a longer name: "first name"."""
    own = set(operator.positions)
    return any(
        link.similarity >= 0.9 and own & set(link.positions) and not own >= set(link.positions)
        for link in subject.linked.links
    )


def _limit_missing(subject: Subject) -> bool:
    """The question asks for so many of an order, and the query keeps all."""
    aggregates = [c.value for c in subject.form.columns if isinstance(c.value, Aggregate)]
    if subject.expected.limit is None or subject.form.limit is not None:
        return False
    if not (subject.frame.of("top") or any(_extremes(subject))):
        return False
    return not any(one.function in ("MIN", "MAX") for one in aggregates)


def _limit_extra(subject: Subject) -> bool:
    """The query keeps the first of an order, and no word asks for that."""
    if subject.form.limit is None or subject.expected.limit is not None:
        return False
    reading = subject.proposal.reading
    ordinal = any(token.folded in reading.words.ordinals for token in reading.tokens)
    return not ordinal and not subject.frame.of("top", *_EXTREMES)


def _columns_missing(subject: Subject) -> bool:
    """Fewer columns than the question lists things to show."""
    expected = subject.expected
    wanted = max(expected.columns or 0, expected.nouns)
    return not subject.form.ask and wanted > len(subject.shown)


def _cut_off(subject: Subject) -> bool:
    """The question is longer than what is read of one."""
    return subject.proposal.reading.cut


def _denied_apart(subject: Subject) -> bool:
    """What is denied hangs on another thing than what is shown (what has no end is not denied)."""
    return bool(subject.frame.of("not")) and denied_apart(subject.form)


def _unasked(subject: Subject) -> bool:
    """The question asks for a property, and all that is shown is what no word names."""
    [first, *others] = subject.shown or (Aggregate("", -1),)
    if others or not isinstance(first, int) or subject.expected.classes:
        return False
    return bool(subject.expected.predicates) and subject.named(first) < _NAMED


def _wrong_sort(subject: Subject) -> bool:
    """A number or a date is asked for, and nothing shown is one."""
    valued = subject.frame.asks in ("number", "date", "year")
    return valued and not subject.candidate.features["asks"]


_WORD_FAULTS: Mapping[str, tuple[Callable[[Subject], bool], str]] = {
    "number_missing": (_number_missing, "a number of the question is not in the query"),
    "thing_missing": (_thing_missing, "a thing that the question names is not in the query"),
    "counted_noun": (_counted_noun, "things are to be counted, and a value is compared"),
    "extreme_missing": (_extreme_missing, "fewer smallest, largest or most than asked for"),
    "limit_missing": (_limit_missing, "so many of an order are asked for, and all are kept"),
    "limit_extra": (_limit_extra, "only the first are kept, and no word asks for that"),
    "columns_missing": (_columns_missing, "fewer columns than things are asked for"),
    "cut_off": (_cut_off, "the question is longer than what was read of it"),
    "denied_apart": (_denied_apart, "what is denied hangs on another thing than what is shown"),
    "wrong_sort": (_wrong_sort, "a number or a date is asked for, and none is shown"),
    "unasked": (_unasked, "a property is asked for, and all that is shown is what no word names"),
}

FAULTS: Mapping[str, str] = {
    name: reason for name, (_, reason) in (*_WORD_FAULTS.items(), *FORM_FAULTS.items())
}
"""All faults by name, each with what is wrong in words."""
