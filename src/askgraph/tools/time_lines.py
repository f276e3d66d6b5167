"""How a graph says when things hold and in which units its numbers are, as lines for a model.

Only what the question calls for: a graph without dates, or a question without a time, has none.
"""

from collections.abc import Callable, Iterator, Sequence

from pyoxigraph import Variable

from askgraph.graph import KnowledgeGraph
from askgraph.metadata import PredicateProfile
from askgraph.metadata.names import local_name
from askgraph.metadata.times import times_of
from askgraph.metadata.units import Unit, unit_at, unit_said
from askgraph.search.linking.operators import Frame, frame_of
from askgraph.search.linking.text import Reading
from askgraph.search.operators.ages import is_age
from askgraph.search.operators.measures import plain
from askgraph.search.run import schema_of
from askgraph.sparql.elapsed import elapsed_text

__all__ = ["asks_of_time", "time_lines"]

_TIMED = ("now", "past", "during", "ongoing", "before", "after")
_SPANS = 4
_UNITS = 6


def time_lines(
    reading: Reading,
    graph: KnowledgeGraph,
    near: Sequence[PredicateProfile],
    short: Callable[[str], str],
) -> Iterator[str]:
    """Return what a query needs for the times and units of a question, a line each.

    `near` are the predicates that are shown, `short` writes an IRI.
    """
    frame = frame_of(reading)
    if asks_of_time(frame):
        yield from _times(graph, [p.iri for p in near], short)
    if any(is_age(one.measure) or one.name == "lasting" for one in frame.operators):
        expression = elapsed_text("years", Variable("from"), Variable("to"))
        yield f"whole years from a date to a later one: {expression}"
    yield from _units(reading, graph, near, short)


def asks_of_time(frame: Frame) -> bool:
    """Return whether a question is about what holds at a time, or how old something is."""
    dated = any(q.days is not None for q in frame.reading.quantities)
    aged = any(is_age(one.measure) for one in frame.operators)
    return dated or aged or bool(frame.of(*_TIMED))


def _times(
    graph: KnowledgeGraph, near: Sequence[str], short: Callable[[str], str]
) -> Iterator[str]:
    times = times_of(graph.profile, graph.arrays)
    order = {iri: at for at, iri in enumerate(near)}
    spans = [one for one in times.spans if one.start in order or one.end in order]
    spans.sort(key=lambda one: min(order.get(one.start, len(order)), order.get(one.end, 0)))
    if spans:
        pairs = "; ".join(f"{short(one.start)} → {short(one.end)}" for one in spans[:_SPANS])
        yield f"start → end: {pairs}"
        yield (
            "what has no end still holds; at a day it holds if it started by then and "
            "FILTER NOT EXISTS { ?x END ?e . FILTER(?e < DAY) }"
        )
    if times.rank is not None:
        yield (
            f"of several statements those with the best {short(times.rank)} count: Preferred, "
            "else Normal; never Deprecated"
        )


def _units(
    reading: Reading,
    graph: KnowledgeGraph,
    near: Sequence[PredicateProfile],
    short: Callable[[str], str],
) -> Iterator[str]:
    """The units of near predicates of the dimensions that the question speaks of."""
    asked = {unit.dimension: unit for unit in _asked_units(reading)}
    said = [
        (p, unit)
        for p in near
        if asked and (unit := _unit_of(p, graph)) is not None and unit.dimension in asked
    ]
    if said:
        listed = "; ".join(f"{short(p.iri)} in {_told(unit)}" for p, unit in said[:_UNITS])
        yield f"units: {listed}"
    for quantity in reading.quantities:
        fits = [u for _, u in said if quantity.unit and u.dimension == quantity.unit.dimension]
        if fits and quantity.unit is not None and quantity.value is not None:
            number = plain(quantity.unit.converted(quantity.value, fits[0]))
            yield f"{plain(quantity.value)} {quantity.unit.name} is {number} {_told(fits[0])}"


def _asked_units(reading: Reading) -> Iterator[Unit]:
    words = [token.folded for token in reading.tokens]
    yield from (q.unit for q in reading.quantities if q.unit is not None)
    for phrase in reading.words.times["in_unit"]:
        for at in range(len(words) - len(phrase)):
            found = unit_at(words, at + len(phrase))
            if tuple(words[at : at + len(phrase)]) == phrase and found is not None:
                yield found[0]


def _unit_of(p: PredicateProfile, graph: KnowledgeGraph) -> Unit | None:
    if graph.arrays is None:
        return unit_said([*(text for text, _ in p.names), local_name(p.iri)])
    schema = schema_of(graph.arrays, graph.profile)
    number = schema.number(p.iri)
    return None if number is None else schema.unit(number)


def _told(unit: Unit) -> str:
    return f"{unit.scale:g} {unit.name}" if unit.scale != 1.0 else unit.name
