"""The operators of time that a graph can serve: those of a question that its data has dates for."""

from collections.abc import Iterator
from dataclasses import replace

from askgraph.metadata.units import Unit, unit_at
from askgraph.search.grow.schema import Schema
from askgraph.search.linking.operators import Frame, Operator

_OF_SPANS = frozenset("now past during ongoing lasted".split())
_ASKED = ("lasting", "measure")


def timely(frame: Frame, schema: Schema, today: float) -> Frame:
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


def _served(frame: Frame, operator: Operator, spans: bool, dated: bool) -> Iterator[Operator]:
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


def _is_verb(frame: Frame, operator: Operator) -> bool:
    """Whether "last" is the verb: "how long did it last?"."""
    words = tuple(frame.reading.tokens[at].folded for at in operator.positions)
    asked = any(one.name in _ASKED and one.first < operator.first for one in frame.operators)
    return (
        operator.name == "superlative"
        and asked
        and words in frame.reading.words.operators["lasted"]
        and operator.last == len(frame.reading.tokens) - 1
    )


def _at(frame: Frame) -> Iterator[Operator]:
    for quantity in frame.reading.quantities:
        if quantity.days is not None and not frame.takes(quantity):
            mask = sum(1 << at for at in quantity.positions)
            if not mask & frame.mask:
                yield Operator("at", quantity.first, quantity.last)


def _in_unit(frame: Frame, schema: Schema) -> Iterator[Operator]:
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
