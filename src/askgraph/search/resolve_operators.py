"""Resolve what a question's words do in a graph: its merged things, its operators, descriptions.

Words alone say that "per year" groups by year; the graph says if it has years of its own.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from askgraph.graph.arrays import Ids, in_both
from askgraph.graph.measures import Unit, unit_at
from askgraph.index import tokens as words_in
from askgraph.index.names import Kind
from askgraph.search.expand.schema import Schema, link_asked_kind
from askgraph.search.link import Link, LinkedQuestion
from askgraph.search.tokenize.question_operators import (
    Operator,
    QuestionOperators,
    detect_operators,
)


@dataclass(frozen=True)
class Description:
    """A description that a question asks for: of what, and how many words say so before it."""

    links: tuple[Link, ...]
    lead: int


@dataclass(frozen=True, eq=False)
class ResolvedQuestion:
    """A linked question with its operators, and the description that it asks for, if it does."""

    linked: LinkedQuestion
    operators: QuestionOperators
    description: Description | None = None


def resolve_operators(
    linked: LinkedQuestion, schema: Schema, day: float, *, operators: bool = True
) -> ResolvedQuestion:
    """Return a question on a day (days from 1970-01-01) as a graph reads it.

    Without `operators` it has none: no counts, comparisons, orders, negations.
    """
    linked = replace(linked, reading=linked.reading.on(day))
    linked = follow_redirects(linked, schema)
    wanted = _description_wanted(linked)
    frame = detect_operators(linked.reading, linked.scales)
    frame = detect_name_filters(
        detect_groups(detect_named_years(frame, linked), linked), linked, schema
    )
    frame = resolve_times(frame, schema, day)
    if wanted is not None and wanted.lead:
        others = tuple(one for one in frame.operators if one.first >= wanted.lead)
        asking = Operator("describe", 0, wanted.lead - 1)
        frame = replace(frame, operators=(asking, *others), asks=None)
    if not operators:
        frame = replace(frame, operators=())
    return ResolvedQuestion(link_asked_kind(linked, frame, schema), frame, wanted)


def follow_redirects(linked: LinkedQuestion, schema: Schema) -> LinkedQuestion:
    """Return the links with what things that have only a name left were merged into.

    Such a thing stays too if something leads to it. If the question names what leads from it, it is
    asked for what it was merged into.
    """
    if any(schema.number(one.target) in schema.redirects for one in linked.of(Kind.PREDICATE)):
        return linked
    links: dict[tuple[Kind, str, tuple[int, ...]], Link] = {}
    names: dict[str, str] = {}
    for one in linked.links:
        node = schema.node(one.target) if one.kind is Kind.ENTITY and schema.redirects else None
        into = None if node is None else schema.merged(node)
        if node is not None and into is not None:
            iri = schema.graph.terms.value(into)
            names.setdefault(iri, one.name)
            links.setdefault((one.kind, iri, one.positions), replace(one, target=iri))
            entering = schema.graph.present(np.array([node], dtype=np.int32), inverse=True)
            if entering <= schema.redirects:
                continue
        links.setdefault((one.kind, one.target, one.positions), one)
    return replace(linked, links=tuple(links.values()), merged=names) if names else linked


_NAMED = 0.9  # words so near to a name of the graph's own mean it


def detect_named_years(frame: QuestionOperators, linked: LinkedQuestion) -> QuestionOperators:
    """Return a frame in which "per year" is "per" and the year that the graph has by that name."""
    named = {
        one.positions
        for one in linked.of(Kind.CLASS, Kind.PREDICATE)
        if one.score >= _NAMED and len(one.positions) == 1
    }

    def read(one: Operator) -> Operator:
        is_named = one.name == "yearly" and (one.last,) in named and one.last > one.first
        return replace(one, name="each", last=one.last - 1) if is_named else one

    return replace(frame, operators=tuple(map(read, frame.operators)))


_TOTALS = ("count", "average", "sum", "minimum", "maximum")


def detect_groups(frame: QuestionOperators, linked: LinkedQuestion) -> QuestionOperators:
    """Return a frame in which "by" means "for each": "the average height by country".

    That is so after an aggregate, between two names of classes or properties, of which the second
    is as the graph writes it: things "written by authors" or "by an author" are in no groups.
    """
    reading, totals = linked.reading, frame.of(*_TOTALS)
    named = [one for one in linked.links if one.score >= _NAMED and one.kind is not Kind.VALUE]
    same = [
        one
        for one in named
        if {reading.folded[at] for at in one.positions} <= {*words_in(one.name)}
    ]
    things = {at for one in same if one.kind is Kind.ENTITY for at in one.positions}
    nouns = {one.positions[-1] for one in same}
    nouns |= {one.positions[-1] for one in named if one.kind is Kind.CLASS}
    groups = {one.positions[0] for one in same if one.kind is not Kind.ENTITY} - things
    longer = {at for one in frame.operators if one.first < one.last for at in one.positions}
    by = {
        at
        for at, word in enumerate(reading.folded)
        if word in reading.words.clauses["by"] and at not in longer
        if at - 1 in nouns and at + 1 in groups and any(one.last < at for one in totals)
    }
    kept = (one for one in frame.operators if by.isdisjoint(one.positions))
    operators = (*kept, *(Operator("each", at, at) for at in by))
    return replace(frame, operators=tuple(sorted(operators, key=lambda one: one.first)))


_ALIKE = 3  # so many things of a class whose names hold a word are called by it


def detect_name_filters(
    frame: QuestionOperators, linked: LinkedQuestion, schema: Schema
) -> QuestionOperators:
    """Return a frame in which a word in names of a class limits it: "all Gemini flights".

    That is so if no name is the word itself, and names of several things of the class have it.
    """
    reading, near = linked.reading, [one for one in linked.links if one.score >= _NAMED]
    whole = {at for one in near for at in one.positions} | {
        *(at for one in frame.operators for at in one.positions)
    }
    found: dict[int, set[str]] = {}
    for one in linked.of(Kind.ENTITY):
        at = one.positions[0]
        if len(one.positions) == 1 and reading.tokens[at].capital and at not in whole:
            found.setdefault(at, set()).add(one.target)
    operators = [
        Operator("called", at, at)
        for at, things in found.items()
        if len(things) >= _ALIKE
        for cls in near
        if cls.kind is Kind.CLASS and at in (cls.positions[0] - 1, cls.positions[-1] + 1)
        if len(in_both(schema.instances(cls.target), _nodes(things, schema))) >= _ALIKE
    ]
    return replace(frame, operators=(*frame.operators, *operators[:1]))


def _nodes(things: Iterable[str], schema: Schema) -> Ids:
    """The nodes of some IRIs that are in the graph, sorted."""
    found = (schema.graph.terms.iri(one) for one in things)
    return np.array(sorted(one for one in found if one is not None), dtype=np.int32)


_OF_SPANS = frozenset("now past during ongoing lasted".split())
_ASKED = ("lasting", "measure")


def resolve_times(frame: QuestionOperators, schema: Schema, today: float) -> QuestionOperators:
    """Return a frame for a graph on a day (days from 1970-01-01).

    If the graph has starts and ends, each date that is no other operator's argument becomes one
    ("at"); if it has none, words of time are no operators. "In miles" is one if numbers with
    a unit are known.
    """
    frame = replace(frame, today=today)
    spans = bool(schema.spans)
    dated = spans or bool(schema.times.dates)
    kept = [one for operator in frame.operators for one in _served(frame, operator, spans, dated)]
    if spans:
        kept += list(_at(replace(frame, operators=tuple(kept))))
    kept += list(_in_unit(replace(frame, operators=tuple(kept)), schema))
    return replace(frame, operators=tuple(sorted(kept, key=lambda operator: operator.first)))


def _served(
    frame: QuestionOperators, operator: Operator, spans: bool, dated: bool
) -> Iterator[Operator]:
    tokens = frame.reading.tokens
    if operator.name == "lasting":
        lasts = any(
            tokens[at].folded == phrase[0]
            for at in range(operator.last + 1, len(tokens))
            for phrase in frame.reading.words.operators["lasted"]
        )
        yield (
            operator
            if spans and lasts
            else replace(operator, name="count", last=operator.first + 1)
        )
    elif operator.name == "now":
        if dated:
            yield operator
    elif operator.name in _OF_SPANS:
        words = tuple(tokens[at].folded for at in operator.positions)
        if spans:
            yield operator
        elif words in frame.reading.words.operators["not"]:
            yield replace(operator, name="not")
    elif spans and _is_verb(frame, operator):
        yield replace(operator, name="lasted", measure=None)
    else:
        yield operator


def _is_verb(frame: QuestionOperators, operator: Operator) -> bool:
    """Whether "last" is the verb: "how long did it last?"."""
    words = tuple(frame.reading.tokens[at].folded for at in operator.positions)
    asked = any(one.name in _ASKED and one.first < operator.first for one in frame.operators)
    return (
        operator.name == "superlative"
        and asked
        and words in frame.reading.words.operators["lasted"]
        and operator.last == len(frame.reading.tokens) - 1
    )


def _at(frame: QuestionOperators) -> Iterator[Operator]:
    for quantity in frame.reading.quantities:
        if quantity.days is not None and not frame.takes(quantity):
            mask = sum(1 << at for at in quantity.positions)
            if not mask & frame.mask:
                yield Operator("at", quantity.first, quantity.last)


def _in_unit(frame: QuestionOperators, schema: Schema) -> Iterator[Operator]:
    """ "In miles" after no number."""
    words = tuple(token.folded for token in frame.reading.tokens)
    counted = {at for quantity in frame.reading.quantities for at in quantity.measured}
    for at in range(len(words)):
        for phrase in frame.reading.words.times["in_unit"]:
            start = at + len(phrase)
            found = unit_at(words, start) if words[at:start] == phrase else None
            if found is None or start in counted or frame.mask >> start & 1:
                continue
            if found[0].dimension in {unit.dimension for unit in _units(schema)}:
                yield Operator("in_unit", at, start + found[1] - 1)
                return


def _units(schema: Schema) -> Iterator[Unit]:
    for number in schema.predicates:
        unit = schema.unit(number)
        if unit is not None:
            yield unit


_ABOUT, _ABOUT_ALONE = 0.45, 0.8
"""How well words have to name a thing that is asked about, and one whose name is all there is."""
_THINGS = 3  # so many things of one name are described, each for itself


def _description_wanted(linked: LinkedQuestion) -> Description | None:
    """Return what a question wants described; None if it asks for anything else."""
    reading = linked.reading
    words, size = reading.words.describing, len(reading.tokens)
    lead = next((len(phrase) for phrase in words["lead"] if reading.says(phrase, 0)), 0)
    first, last = lead, size - 1
    if size > lead and (reading.folded[lead],) in reading.words.times["one"]:
        return None  # "what is a moon?" asks for a kind of thing
    around = {phrase[0] for phrase in words["around"]}
    while first <= last and reading.folded[first] in around:
        first += 1
    while last >= first and reading.folded[last] in around:
        last -= 1
    content = {at for at in range(first, last + 1) if not reading.is_stop(at)}
    if not content:
        return None
    links: list[Link] = []
    rest = range(first, last + 1)
    asked = lead > 0
    least = _ABOUT if asked else _ABOUT_ALONE
    if not asked:
        nouns = (
            one for one in linked.of(Kind.CLASS, Kind.PREDICATE) if content <= {*one.positions}
        )
        least = max([least, *(one.score for one in nouns)])
    for one in linked.of(Kind.ENTITY, Kind.VALUE):
        whole = content <= {*one.positions} and {rest[0], rest[-1]} <= {*one.positions}
        if whole and one.score >= least:
            links.append(one)
    return Description(tuple(links[:_THINGS]), lead) if links else None
