"""Operators on times and units: at, during, now, past, ongoing, lasting, lasted, ages, durations.

A constant is converted into the unit of the data, not the data into the unit of the question. Only
if the numbers of one predicate have several units is each one scaled by its unit.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from pyoxigraph import Literal, NamedNode, Variable

from askgraph.graph.arrays import Ids
from askgraph.graph.literals import ValueKind
from askgraph.graph.measures import Unit, match_unit
from askgraph.index.names import ItemKind
from askgraph.search.expand import MAX_TOKENS_BESIDE, GainWeight, Node
from askgraph.search.expand.schema import Schema
from askgraph.search.link import Link
from askgraph.search.operators.aggregates import apply_count
from askgraph.search.operators.query_builder import (
    DATE_SORTS,
    DURATIONS_NOTE,
    INEXACT_DURATIONS_NOTE,
    MEASURED_SORTS,
    OTHER_DURATION_NOTE,
    TEMPORAL_SORTS,
    Attachment,
    QueryBuilder,
    Slot,
    Vertex,
    build_day_bound,
    build_day_term,
    build_unnamed_attachment,
    get_year,
)
from askgraph.search.query_pieces import (
    build_aggregate,
    build_filter,
    build_not_exists,
    build_pattern,
    get_function,
    get_value_variable,
    to_number_term,
)
from askgraph.search.tokenize import Quantity
from askgraph.search.tokenize.question_operators import Operator
from askgraph.search.tokenize.word_lists import Measure
from askgraph.sparql import Call, Filter, Group, Term, Values
from askgraph.sparql.elapsed import build_elapsed_time
from askgraph.sparql.vocabulary import (
    XSD_DATE,
    XSD_DATE_TIME,
    XSD_DAY_TIME_DURATION,
    XSD_DURATION,
    XSD_YEAR_MONTH_DURATION,
)

_MAX_WORD_DISTANCE = 5  # maximum words between a step and its number
_MAX_AGE_YEARS = 200  # larger numbers are no ages but years, or of things without an age
_DAY_SECONDS, _YEAR_SECONDS = (86_400.0, 31_557_600.0)  # seconds of the units for durations
_MONTH_SECONDS = _YEAR_SECONDS / 12


@dataclass(frozen=True, eq=False)
class VertexSpan:
    """A vertex whose nodes start and end by two predicates."""

    vertex: Vertex  # vertex of the pattern
    start: int  # number of the predicate of the start
    end: int  # number of the predicate of the end
    life: bool = False  # whether the span is a life, from birth to death


def convert_quantity(query: QueryBuilder, predicate: int, quantity: Quantity) -> float:
    """Return a quantity in the unit of a predicate; unchanged if either has no unit.

    A span of time is compared with plain numbers in the unit that their size suggests.
    """
    unit, value = query.schema.get_unit(predicate), quantity.value or 0.0
    if quantity.unit is None:
        return value
    if unit is None and quantity.unit.dimension == "time":
        seconds = _suggest_seconds_per_number(query, predicate, value, quantity.unit.factor)
        query.consume_tokens(quantity.positions_with_unit)
        return value * quantity.unit.factor / seconds
    if unit is None or unit.dimension != quantity.unit.dimension:
        return value
    query.consume_tokens(quantity.positions_with_unit)
    return quantity.unit.convert(value, unit)


def build_duration(quantity: Quantity, datatype: str) -> Literal:
    """Build the duration that a quantity states, of a datatype where that can hold it."""
    assert quantity.value is not None and quantity.unit is not None
    months = quantity.value * quantity.unit.factor / _MONTH_SECONDS
    if quantity.unit.factor >= _MONTH_SECONDS and months.is_integer():
        years = months / 12
        text = f"P{years:.0f}Y" if years.is_integer() else f"P{months:.0f}M"
    else:
        seconds = quantity.value * quantity.unit.factor
        sizes = ((_DAY_SECONDS, "P", "D"), (3600.0, "PT", "H"), (60.0, "PT", "M"), (1.0, "PT", "S"))
        size, before, after = next(
            (size for size in sizes if (seconds / size[0]).is_integer()), sizes[-1]
        )
        text = f"{before}{seconds / size:.15g}{after}"
    own = XSD_YEAR_MONTH_DURATION if "T" not in text and "D" not in text else XSD_DAY_TIME_DURATION
    return Literal(text, datatype=NamedNode(own if own == datatype else XSD_DURATION))


def _suggest_seconds_per_number(
    query: QueryBuilder, predicate: int, value: float, stated_seconds: float
) -> float:
    """Return the seconds that 1 means: the stated unit, unless most values are nearer another."""
    ends = query.graph.get_ends(predicate, inverse=True)
    values = query.graph.values[ends[ends < query.graph.terms.first_iri]]
    values = values[np.isfinite(values)]
    middle = float(np.median(values)) if len(values) else 0.0
    if middle <= 0 or value <= 0:
        return stated_seconds
    distances = {
        seconds: abs(math.log(value * stated_seconds / seconds / middle))
        for seconds in _SECONDS_OF_NUMBERS
    }
    nearest = min(distances, key=distances.__getitem__)
    stated = abs(math.log(value / middle))
    return nearest if stated - distances[nearest] > _MIN_UNIT_GAIN else stated_seconds


_SECONDS_OF_NUMBERS = (0.001, 1.0, 60.0, 3600.0, 86400.0)
_MIN_UNIT_GAIN = math.log(5.0)  # so much nearer must the values be in a unit that nobody stated


def find_by_dimension(query: QueryBuilder, quantity: Quantity) -> Attachment | None:
    """Find the only predicate of the pattern whose numbers have the dimension of a quantity.

    Returns None if the words just before the quantity name another predicate of the pattern.
    """
    unit, edges = (
        quantity.unit,
        (edge for node in query.state.node.walk() for edge, _ in node.edges),
    )
    link_ends = [edge.link.positions[-1] for edge in edges if edge.link is not None]
    if unit is None or any(0 < quantity.first - at <= _MAX_WORD_DISTANCE for at in link_ends):
        return None
    for vertex in query.draft.vertices:
        if not query.lookups.is_resource(vertex.node.ids):
            continue
        matching = [
            predicate
            for predicate in query.list_predicates(vertex)
            if query.schema.get_sort(predicate) in MEASURED_SORTS
            and find_dimension(query, predicate) == unit.dimension
        ]
        if len(matching) == 1:
            return build_unnamed_attachment(vertex, matching[0])
    return None


def find_dimension(query: QueryBuilder, predicate: int) -> str:
    """Return the dimension of a predicate's values, such as "time"; empty if unknown."""
    if query.schema.get_sort(predicate) is ValueKind.DURATION:
        return "time"
    unit = query.schema.get_unit(predicate)
    return unit.dimension if unit is not None else ""


def compare_quantity_nodes(
    query: QueryBuilder, slots: list[Slot], quantity: Quantity, sign: str
) -> bool:
    """Compare a number that stands with its unit at a separate node.

    Returns False if no slot leads to such nodes.
    """
    unit = quantity.unit
    for slot in slots if unit is not None and quantity.value is not None else ():
        attachment = query.find_attachment(slot)
        if attachment is None or attachment.inverse:
            continue
        nodes = query.graph.step(query.get_vertex_ids(attachment.vertex), attachment.predicate)
        for value, unit_predicate, units in query.schema.quantity_predicates:
            if unit is None or not query.lookups.is_resource(nodes):
                continue
            unit_nodes = query.graph.step(nodes, unit_predicate).tolist()
            unit_by_node = {node: units[node] for node in unit_nodes if node in units}
            dimensions = {node_unit.dimension for node_unit in unit_by_node.values()}
            if len(unit_by_node) < len(unit_nodes) or dimensions != {unit.dimension}:
                continue
            if not query.lookups.has_predicate(nodes, value, False):
                continue
            vertex = Vertex(query.attach(attachment), Node(nodes), 1)
            number = query.draft.attach_predicate(vertex, value)
            _bound_quantity_node(
                query, (vertex, number, unit_predicate), unit_by_node, quantity, sign
            )
            query.consume_attachment(attachment)
            return True
    return False


def _bound_quantity_node(
    query: QueryBuilder,
    target: tuple[Vertex, Variable, int],
    unit_by_node: dict[int, Unit],
    quantity: Quantity,
    sign: str,
) -> None:
    """Bound a number in its only unit, or scaled by its unit to that of the quantity."""
    vertex, number, unit_predicate = target
    unit, value = quantity.unit, quantity.value
    assert unit is not None and value is not None
    query.consume_tokens(quantity.positions_with_unit)
    if len(unit_by_node) == 1:
        bound = to_number_term(unit.convert(value, next(iter(unit_by_node.values()))))
        query.draft.filters.append(build_filter(number, sign, bound))
        return
    unit_variable = query.draft.attach_predicate(vertex, unit_predicate)
    factor = query.draft.create_variable("factor")
    rows = tuple(
        (query.graph.terms.get_term(term), to_number_term(node_unit.convert(1.0, unit)))
        for term, node_unit in sorted(unit_by_node.items())
    )
    query.draft.value_blocks.append(Values((unit_variable, factor), rows))
    scaled = query.draft.bind_expression(f"in {unit.name}", Call("*", (number, factor)))
    query.draft.filters.append(build_filter(scaled, sign, to_number_term(value)))


def convert_shown_numbers(query: QueryBuilder) -> None:
    """Show numbers in the unit that the question asks for: "in miles"."""
    for operator in query.operators.get_operators("in_unit"):
        unit, draft = query.operators.get_unit(operator), query.draft
        projections = [
            (token, _convert_variable(query, variable, unit))
            for token, variable in query.projections
        ]
        columns = [  # the highest, mean … in another unit; counts have no unit
            column
            if isinstance(column, Variable) or get_function(column) == "COUNT"
            else build_aggregate(
                get_function(column), _convert_variable(query, get_value_variable(column), unit)
            )
            for column in draft.columns
        ]
        if unit is None or (projections, columns) == (query.projections, draft.columns):
            continue
        query.projections, draft.columns = projections, columns
        query.consume_tokens(operator.positions)
        query.gain += GainWeight.OPERATOR
        query.notes.append("in_unit")


def _convert_variable(query: QueryBuilder, variable: Variable, unit: Unit | None) -> Variable:
    """Return the variable of a number in another unit; the same one if conversion is impossible."""
    for (_, predicate, inverse), object_variable in query.draft.edge_variables.items():
        if object_variable != variable or inverse:
            continue
        data_unit = query.schema.get_unit(predicate)
        if unit is None or data_unit is None or data_unit == unit:
            continue
        if data_unit.dimension != unit.dimension:
            continue
        factor = float(f"{data_unit.factor / unit.factor:.12g}")
        offset = float(f"{(data_unit.offset - unit.offset) / unit.factor:.12g}")
        scaled = Call("*", (variable, to_number_term(factor)))
        hint = f"{query.draft.hints[variable]} in {unit.name}"
        shifted = Call("+", (scaled, to_number_term(offset))) if offset else scaled
        return query.draft.bind_expression(hint, shifted)
    return variable


def bind_age(query: QueryBuilder, operator: Operator) -> Variable | None:
    """Bind the age of something in whole years, from its birth or start to another date.

    The other date is the one that words after "when" name, or the last day of the time in the
    question ("in 2000"), else its death or end, else today.
    """
    measure = operator.measure
    dates = measure.date_names if measure is not None else ()
    birth = query.find_by_words(dates, (ValueKind.DATE, ValueKind.YEAR), require_name=True)
    if birth is None:
        return None
    birth_variable = query.attach(birth)
    end_term, number = (
        _find_date_after_when(query, operator)
        or _find_stated_time(query, operator, birth)
        or _find_end(query, birth)
    )
    sorts = [
        query.schema.get_sort(predicate)
        for predicate in (birth.predicate, number)
        if predicate is not None
    ]
    unit = "calendar years" if ValueKind.YEAR in sorts else "years"  # if either is a mere year
    return query.draft.bind_expression("age", build_elapsed_time(unit, birth_variable, end_term))


def apply_lasting(query: QueryBuilder, operator: Operator) -> bool:
    """Show the time from start to end ("how many days did X last"); else count."""
    unit = match_unit((query.question.tokens[operator.last].folded,), 0)
    size = unit[0].factor if unit is not None else None
    name = {_DAY_SECONDS: "days", _YEAR_SECONDS: "years", None: "months"}.get(size, "days")
    return show_duration(query, operator, name) or apply_count(query, operator)


def show_duration(query: QueryBuilder, operator: Operator, unit: str = "") -> bool:
    """Show the time from the start to the end of what the pattern is about, or to today.

    If some of the things have ended, only those count.
    """
    span = find_span(query, allow_named=True, allow_constants=True)
    if span is None or not has_native_dates(query, span):
        return False
    query.projections.append((operator.first, bind_duration(query, span, unit)))
    return True


def has_native_dates(query: QueryBuilder, span: VertexSpan) -> bool:
    """Return whether SPARQL can calculate with the dates of a span: they are not texts."""
    sorts = {query.schema.get_sort(span.start), query.schema.get_sort(span.end)}
    return ValueKind.TEXT_DATE not in sorts


def bind_duration(query: QueryBuilder, span: VertexSpan, unit: str = "") -> Variable:
    """Bind the time from the start to the end of something, or to today.

    Without a unit this is in days, or in seconds where most things last only hours.
    """
    start = query.attach(build_unnamed_attachment(span.vertex, span.start))
    end: Term = build_day_term(query.operators.today, XSD_DATE)
    if query.lookups.has_predicate(query.get_vertex_ids(span.vertex), span.end, False):
        end = query.attach(build_unnamed_attachment(span.vertex, span.end))
        unit = unit or ("seconds" if _lasts_hours(query, span) else "")
    sorts = {query.schema.get_sort(span.start), query.schema.get_sort(span.end)}
    unit = "calendar years" if ValueKind.YEAR in sorts else unit or "days"
    query.notes.append("elapsed")
    return query.draft.bind_expression(
        f"{unit.split()[-1]} passed", build_elapsed_time(unit, start, end)
    )


def _lasts_hours(query: QueryBuilder, span: VertexSpan) -> bool:
    """Return whether times of day are known and most things end within two days."""
    datatypes = {query.schema.get_datatype(number) for number in (span.start, span.end)}
    if datatypes != {XSD_DATE_TIME}:
        return False
    ids = query.get_vertex_ids(span.vertex)
    starts, ends = (
        dict(zip(*(part.tolist() for part in query.graph.get_edges(ids, number)), strict=True))
        for number in (span.start, span.end)
    )
    days = [
        float(query.graph.values[ends[node]] - query.graph.values[starts[node]])
        for node in starts.keys() & ends.keys()
    ]
    return bool(days) and float(np.median(days)) < _MAX_DAYS_IN_SECONDS


_MAX_DAYS_IN_SECONDS = 2.0  # what mostly lasts less is measured in seconds


def _find_end(query: QueryBuilder, start: Attachment) -> tuple[Term, int | None]:
    """Return the end of what started, or today, with the predicate of the end."""
    ids = query.get_vertex_ids(start.vertex)
    today = build_day_term(query.operators.today, XSD_DATE)
    for first, end, _ in query.schema.spans:
        if first != start.predicate:
            continue
        bearers = query.graph.select_sources(ids, end)
        if len(bearers) == len(ids):
            return query.attach(build_unnamed_attachment(start.vertex, end)), end
        if len(bearers):
            end_triple = query.draft.build_new_edge(start.vertex.term, end)
            query.draft.optionals.append(Group((end_triple,)))
            return query.draft.bind_expression(
                "until", Call("COALESCE", (end_triple.object, today))
            ), end
    return today, None


def _find_date_after_when(
    query: QueryBuilder, operator: Operator
) -> tuple[Term, int | None] | None:
    """Return the date that the words after "when" name, in the pattern or at another thing."""
    words = [token.folded for token in query.question.tokens]
    clause_starts = (
        position + len(phrase)
        for position in range(operator.last + 1, len(words))
        for phrase in query.question.word_list.time_phrases["when"]
        if tuple(words[position : position + len(phrase)]) == phrase
    )
    clause_start = next(clause_starts, None)
    if clause_start is None:
        return None
    later_slots = [
        slot for slot in query.slots if slot.first >= clause_start and query.is_unused(slot)
    ]
    entity_date = _find_entity_date(query, clause_start, later_slots)
    if entity_date is not None:
        return entity_date
    for slot in later_slots:
        attachment = query.find_attachment(slot, sorts=DATE_SORTS)
        if attachment is not None:
            query.consume_attachment(attachment)
            return query.attach(attachment), attachment.predicate
    return None


def _find_stated_time(
    query: QueryBuilder, operator: Operator, start: Attachment
) -> tuple[Term, int | None] | None:
    """Return the last day of the time in the question, for things that had not ended before it."""
    time_positions = {operator.first for operator in query.operators.get_operators("at")}
    quantity = next(
        (span for span in query.question.quantities if span.first in time_positions), None
    )
    if quantity is None or quantity.days is None:
        return None
    for first, end, life in query.schema.spans:
        if first == start.predicate:
            span = VertexSpan(start.vertex, first, end, life)
            if not require_overlap(query, span, *quantity.days):
                return None
    if quantity.first < operator.first:
        query.consume_quantity(quantity)
    query.notes.append("age_then")
    datatype = query.schema.get_datatype(start.predicate)
    return build_day_term(quantity.days[1], datatype), start.predicate


def _find_entity_date(
    query: QueryBuilder, clause_start: int, slots: list[Slot]
) -> tuple[Term, int | None] | None:
    """Return the date of a thing named after "when": the named one, else its start or only date."""
    for link in query.linked.get_links(ItemKind.ENTITY, ItemKind.VALUE):
        if link.positions[0] < clause_start or not query.search.compute_gain(link, query.used):
            continue
        event = query.lookups.find_entity(link)
        ids = np.array([] if event is None else [event], dtype=np.int32)
        date_predicates = _list_date_predicates(query, ids)
        named_dates = [
            (slot, slot_link, number)
            for slot in slots
            for slot_link in slot.links
            if (number := query.schema.get_predicate_number(slot_link.target)) in date_predicates
        ]
        starts = [start for start, _, _ in query.schema.spans if start in date_predicates]
        if event is None or not date_predicates:
            continue
        predicate = named_dates[0][2] if named_dates else (*starts, *date_predicates)[0]
        if named_dates:
            query.consume_slot(named_dates[0][0], named_dates[0][1])
        date_triple = query.draft.build_new_edge(query.graph.terms.get_term(event), predicate)
        query.draft.patterns.append(date_triple)
        query.consume_link(link)
        return date_triple.object, predicate
    return None


def _list_date_predicates(query: QueryBuilder, node: Ids) -> list[int]:
    predicates = query.graph.count_predicates(node)[0].tolist()
    return [
        number
        for number in predicates
        if query.schema.get_sort(number) in (ValueKind.DATE, ValueKind.YEAR)
    ]


def has_name_word(schema: Schema, predicate: int, words: Sequence[str]) -> bool:
    """Return whether the name of a predicate holds one of some words."""
    name_words = schema.get_name_stems(predicate)
    return any(word in name_words for word in words)


def is_time_value(schema: Schema, predicate: int, measure: Measure | None) -> bool:
    """Return whether a value is a time, by its sort or name: the later, the younger.

    A year may be a plain number; for a number that is called an age the name decides.
    """
    if schema.get_sort(predicate) in TEMPORAL_SORTS:
        return True
    if measure is None:
        return False
    has_date_name = has_name_word(schema, predicate, measure.date_names)
    return has_date_name and not has_name_word(schema, predicate, measure.property_names)


def compare_age(query: QueryBuilder, operator: Operator, years: float, sign: str) -> bool:
    """Add a condition on the age: "younger than 30"."""
    variable = bind_age(query, operator) if years < _MAX_AGE_YEARS else None
    if variable is None:
        return False
    query.draft.filters.append(build_filter(variable, sign, to_number_term(years)))
    return True


_TIME_OPERATORS = frozenset(("at", "now", "past", "during", "between"))


def apply_at(query: QueryBuilder, operator: Operator) -> bool:
    """Keep what had started and not ended at a time ("in 1995").

    Does nothing if words ask for the start itself.
    """
    quantity = next(
        candidate for candidate in query.question.quantities if candidate.first == operator.first
    )
    span = find_asked_span(query)
    if span is None and "age_then" in query.notes:
        return True
    if span is None or quantity.days is None or is_endpoint_named(query, span, quantity):
        return False
    return require_overlap(query, span, *quantity.days)


def apply_now(query: QueryBuilder, operator: Operator) -> bool:
    """Keep what has not ended ("currently", "still"); else the latest of dated statements."""
    span = find_asked_span(query, allow_named=True, operator=operator)
    if span is not None and require_unfinished(query, span):
        if span.life:
            query.consume_tokens(find_life_words(query))
        return True
    # The statement without a name that no other of the same thing is later than.
    for vertex in query.draft.vertices:
        if not isinstance(vertex.term, Variable) or not query.schema.is_nameless(vertex.node.ids):
            continue
        dates = [
            number
            for iri in query.schema.times.dates
            if (number := query.schema.get_predicate_number(iri)) is not None
            and query.lookups.has_predicate(vertex.node.ids, number, False)
        ]
        if not dates:
            continue
        leading_triple = next(
            (triple for triple in query.draft.patterns if triple.object == vertex.term), None
        )
        if leading_triple is None:
            continue
        date_variable = query.attach(build_unnamed_attachment(vertex, dates[0]))
        other_statement = query.draft.create_variable("other " + query.draft.hints[vertex.term])
        later_date = query.draft.create_variable("later " + query.draft.hints[date_variable])
        iri = query.graph.get_predicate_iri(dates[0])
        patterns = (
            replace(leading_triple, object=other_statement),
            build_pattern(other_statement, iri, later_date),
        )
        query.draft.negations.append(
            build_not_exists(*patterns, build_filter(later_date, ">", date_variable))
        )
        return True
    return False


def apply_past(query: QueryBuilder, operator: Operator) -> bool:
    """Keep things that have ended: "former"."""
    span = find_asked_span(query, allow_named=True, operator=operator)
    if span is None:
        return False
    ids, today = query.get_vertex_ids(span.vertex), query.operators.today
    ends = get_days(query, ids, span.end, _UNKNOWN_DAY)
    matching_ids = ids[ends < today]
    if not len(matching_ids):
        return False
    end = query.attach(build_unnamed_attachment(span.vertex, span.end))
    if bool((ends[ends < _UNKNOWN_DAY] >= today).any()):
        query.draft.filters.append(_bound_day(query, end, "<", today, span.end))
    query.narrow_vertex(span.vertex, matching_ids)
    return True


def apply_ongoing(query: QueryBuilder, operator: Operator) -> bool:
    """Apply "active" or "in office" to the time that other words give, else to today."""
    if _TIME_OPERATORS & set(query.notes):
        return True
    if query.operators.get_operators(*_TIME_OPERATORS, "before", "after"):
        return False
    return apply_now(query, operator)


DURATION_NOTES = frozenset(("elapsed", DURATIONS_NOTE, INEXACT_DURATIONS_NOTE))


def note_other_duration(query: QueryBuilder, operator: Operator, predicate: int) -> None:
    """Note that a number is compared where nearby words name a duration that cannot be."""
    measures = (measure.property_names for measure in query.question.word_list.measures)
    words = {word for names in measures if "duration" in names for word in names}
    near = {*range(operator.first - _MAX_WORD_DISTANCE, operator.last + _MAX_WORD_DISTANCE + 1)}
    near.difference_update(*(number.positions_with_unit for number in query.question.quantities))
    edges = (edge for node in query.state.node.walk() for edge, _ in node.edges)
    mentioned = {edge.predicate for edge in edges if edge.link and edge.link.positions[-1] in near}
    slots = (query.find_attachment(slot) for slot in query.slots if slot.first in near)
    mentioned |= {attachment.predicate for attachment in slots if attachment is not None}
    if predicate not in mentioned and any(
        query.schema.get_sort(number) in (ValueKind.TEXT, ValueKind.DURATION)
        and has_name_word(query.schema, number, sorted(words))
        for number in mentioned
    ):
        query.notes.append(OTHER_DURATION_NOTE)


def find_lasting(query: QueryBuilder, measure: Measure | None = None) -> Attachment | None:
    """Return the only duration of the pattern if a verb or a measure asks how long things last."""
    is_long = measure is not None and "duration" in measure.property_names
    is_asked = is_long or query.operators.get_operators("lasted")
    return query.find_only_predicate((ValueKind.DURATION,)) if is_asked else None


def apply_during(query: QueryBuilder, operator: Operator) -> bool:
    """Keep what happened between the start and the end of a thing: "during X"."""
    for link in query.linked.get_links(ItemKind.ENTITY, ItemKind.VALUE):
        is_near = 0 < link.positions[0] - operator.last <= MAX_TOKENS_BESIDE
        if (
            is_near
            and query.search.compute_gain(link, query.used)
            and _restrict_to_event(query, link)
        ):
            query.consume_link(link)
            return True
    return False


def _restrict_to_event(query: QueryBuilder, link: Link) -> bool:
    """Restrict the pattern to the time of an event: its span, or its only date."""
    event = query.lookups.find_entity(link)
    if event is None:
        return False
    node = np.array([event], dtype=np.int32)
    dates = _find_event_dates(query, node)
    if dates is None:
        return False
    first, last = dates
    subject, draft = query.graph.terms.get_term(event), query.draft
    if _restrict_date_to_event(query, subject, first, last):
        return True
    span = find_span(query, allow_named=True)
    if span is None or query.schema.get_datatype(span.start) != query.schema.get_datatype(first):
        return False
    low = float(get_days(query, node, first, np.nan)[0])
    high = float(get_days(query, node, last, low)[0])
    ids = query.get_vertex_ids(span.vertex)
    starts = get_days(query, ids, span.start, np.inf)
    matching_ids = ids[(starts <= high) & (get_days(query, ids, span.end, np.inf) >= low)]
    if not len(matching_ids):
        return False
    event_start, event_end = _add_event_dates(query, subject, first, last)
    start = query.attach(build_unnamed_attachment(span.vertex, span.start))
    draft.filters.append(build_filter(start, "<=", event_end))
    end_triple = draft.build_new_edge(span.vertex.term, span.end)
    draft.negations.append(
        build_not_exists(
            end_triple, build_filter(get_value_variable(end_triple.object), "<", event_start)
        )
    )
    query.narrow_vertex(span.vertex, matching_ids)
    return True


def _restrict_date_to_event(query: QueryBuilder, subject: Term, first: int, last: int) -> bool:
    """Restrict the date that words name to the time of an event: "launched during X"."""
    datatype = query.schema.get_datatype(first)
    for slot in query.slots:
        attachment = (
            query.find_attachment(slot, sorts=DATE_SORTS) if query.is_unused(slot) else None
        )
        if attachment is None or query.schema.get_datatype(attachment.predicate) != datatype:
            continue
        event_start, event_end = _add_event_dates(query, subject, first, last)
        date = query.attach_and_consume(attachment)
        query.draft.filters += [
            build_filter(date, ">=", event_start),
            build_filter(date, "<=", event_end),
        ]
        return True
    return False


def _add_event_dates(
    query: QueryBuilder, subject: Term, first: int, last: int
) -> tuple[Variable, Variable]:
    """Add the start and end of an event; return their variables, the same for a single date."""
    variables = []
    for number in dict.fromkeys((first, last)):
        query.draft.patterns.append(query.draft.build_new_edge(subject, number))
        variables.append(get_value_variable(query.draft.patterns[-1].object))
    return variables[0], variables[-1]


def _find_event_dates(query: QueryBuilder, node: Ids) -> tuple[int, int] | None:
    """Return the predicates of an event's start and end: a complete span, or its only date."""
    for start, end, _ in query.schema.spans:
        if all(len(query.graph.step(node, number)) for number in (start, end)):
            return start, end
    date_predicates = _list_date_predicates(query, node)
    return (date_predicates[0], date_predicates[0]) if len(date_predicates) == 1 else None


_UNKNOWN_DAY = float("inf")
_MIN_NAME_SCORE, _MIN_NEARBY_NAME_SCORE = 0.5, 0.4
"""Minimum score of words that name a start or an end; lower for words right before the time."""
# Words that fit a start and an end as nearly as this name neither of the two.
_MIN_SCORE_DIFFERENCE = 0.1
_MAX_TIME_WORD_DISTANCE = 2  # words so near before a time are about it


def find_span(
    query: QueryBuilder,
    *,
    allow_named: bool,
    allow_lives: bool = False,
    allow_constants: bool = False,
) -> VertexSpan | None:
    """Find the vertex that starts and ends; relations without a name come first.

    Args:
        allow_named: Whether things with a name count.
        allow_lives: Whether lives count.
        allow_constants: Whether things that the question names count.
    """
    ranked_spans: list[tuple[int, int, int, VertexSpan]] = []
    for number, (start, end, is_life) in enumerate(query.schema.spans):
        for vertex in query.draft.vertices:
            if (is_life and not allow_lives) or not (
                allow_constants or isinstance(vertex.term, Variable)
            ):
                continue
            ids = vertex.node.ids
            if not query.lookups.is_resource(ids) or not query.lookups.has_predicate(
                ids, start, False
            ):
                continue
            is_nameless = query.schema.is_nameless(ids)
            if is_nameless or allow_named:
                entry = VertexSpan(vertex, start, end, is_life)
                ranked_spans.append((not is_nameless, vertex.depth, number, entry))
    return min(ranked_spans, key=lambda entry: entry[:3])[3] if ranked_spans else None


def find_asked_span(
    query: QueryBuilder, *, allow_named: bool = False, operator: Operator | None = None
) -> VertexSpan | None:
    """Find the span that words of time are about.

    Things with a name count if other words say that they go on ("active", "alive").
    """
    state_operators = query.operators.get_operators(
        "ongoing", *(("now", "past") if allow_named else ())
    )
    operators = (*state_operators, operator) if operator is not None else state_operators
    operator_positions = {at for item in operators for at in item.positions}
    life_positions = set(find_life_words(query))
    is_now = operator is not None and operator.name == "now"  # "leben noch", "lebt sie noch"
    allow_lives = bool(life_positions if is_now else life_positions & operator_positions)
    return find_span(
        query, allow_named=allow_named or bool(state_operators), allow_lives=allow_lives
    )


def find_life_words(query: QueryBuilder) -> list[int]:
    """Return the positions of words that speak of a life: "alive", "leben"."""
    words = {phrase[0] for phrase in query.question.word_list.time_phrases["alive"]}
    return [
        position for position, token in enumerate(query.question.tokens) if token.folded in words
    ]


def is_endpoint_named(query: QueryBuilder, vertex_span: VertexSpan, quantity: Quantity) -> bool:
    """Return whether words name the start or the end, not both: "started in 1995".

    Words right before the time may name the start or end of something else in the pattern.
    """
    nearby_slots = [
        slot for slot in query.slots if 0 < quantity.first - slot.last <= _MAX_TIME_WORD_DISTANCE
    ]
    return _is_single_end_named(
        query, query.slots, (vertex_span.start, vertex_span.end), _MIN_NAME_SCORE
    ) or any(
        _is_single_end_named(query, nearby_slots, span[:2], _MIN_NEARBY_NAME_SCORE)
        for span in query.schema.spans
    )


def _is_single_end_named(
    query: QueryBuilder, slots: Sequence[Slot], span: tuple[int, int], min_score: float
) -> bool:
    start, end = (query.graph.get_predicate_iri(number) for number in span)
    scores = ((_score_slot(slot, start), _score_slot(slot, end)) for slot in slots)
    return any(
        max(pair) >= min_score and max(pair) - min(pair) > _MIN_SCORE_DIFFERENCE for pair in scores
    )


def _consume_span_names(query: QueryBuilder, span: VertexSpan) -> None:
    """Mark words as used that name start and end alike, and so the time between: "in service"."""
    start, end = (query.graph.get_predicate_iri(number) for number in (span.start, span.end))
    for slot in query.slots:
        if query.is_unused(slot) and _score_slot(slot, start) and _score_slot(slot, end):
            query.consume_slot(slot, slot.links[0])


def _score_slot(slot: Slot, iri: str) -> float:
    """Return how well the words of a slot name a predicate."""
    scores = (link.score * link.quality for link in slot.links if link.target == iri)
    return max(scores, default=0.0)


def get_days(
    query: QueryBuilder, nodes: Ids, predicate: int, missing: float
) -> NDArray[np.float64]:
    """Return the day of a predicate for each node (days from 1970-01-01), shape (nodes,).

    Of several values the first one counts; without a value the day is `missing`.
    """
    days = np.full(len(nodes), missing)
    bearers, objects = query.graph.get_edges(nodes, predicate)
    is_literal = objects < query.graph.terms.first_iri
    indices = np.searchsorted(nodes, bearers[is_literal][::-1])
    days[indices] = query.graph.values[objects[is_literal][::-1]]
    return days


def require_overlap(query: QueryBuilder, span: VertexSpan, low: float, high: float) -> bool:
    """Require that things had started by day `high` and had not ended before day `low`.

    Things without an end go on. Returns False, and requires nothing, if nothing matches.
    """
    ids = query.get_vertex_ids(span.vertex)
    starts = get_days(query, ids, span.start, _UNKNOWN_DAY)
    ends = get_days(query, ids, span.end, _UNKNOWN_DAY)
    matching_ids = ids[(starts < high + 1) & (ends >= low)]
    if not len(matching_ids):
        return False
    start = query.attach(build_unnamed_attachment(span.vertex, span.start))
    query.draft.filters.append(_bound_day(query, start, "<=", high, span.start))
    _require_no_end_before(query, span, low, all_have_ends=bool((ends < _UNKNOWN_DAY).all()))
    _consume_span_names(query, span)
    query.narrow_vertex(span.vertex, matching_ids)
    return True


def require_exact_span(
    query: QueryBuilder, span: VertexSpan, first: tuple[float, float], last: tuple[float, float]
) -> bool:
    """Require that things start within one range of days and end within another.

    Returns False, and requires nothing, if nothing matches.
    """
    ids = query.get_vertex_ids(span.vertex)
    is_matching = np.ones(len(ids), dtype=np.bool_)
    for number, (low, high) in ((span.start, first), (span.end, last)):
        days = get_days(query, ids, number, _UNKNOWN_DAY)
        is_matching &= (days >= low) & (days < high + 1)
    if not is_matching.any():
        return False
    for number, (low, high) in ((span.start, first), (span.end, last)):
        date = query.attach(build_unnamed_attachment(span.vertex, number))
        if query.schema.get_sort(number) is ValueKind.YEAR and get_year(low) == get_year(high):
            year = build_day_term(low, query.schema.get_datatype(number))
            query.draft.filters.append(build_filter(date, "=", year))
            continue
        query.draft.filters += [
            _bound_day(query, date, ">=", low, number),
            _bound_day(query, date, "<=", high, number),
        ]
    _consume_span_names(query, span)
    query.narrow_vertex(span.vertex, ids[is_matching])
    return True


def require_unfinished(query: QueryBuilder, span: VertexSpan) -> bool:
    """Require that things have no end up to today; return False if nothing matches."""
    ids, today = query.get_vertex_ids(span.vertex), query.operators.today
    starts = get_days(query, ids, span.start, -_UNKNOWN_DAY)
    ends = get_days(query, ids, span.end, _UNKNOWN_DAY)
    matching_ids = ids[(starts < today + 1) & (ends >= today)]
    if not len(matching_ids):
        return False
    if bool((starts >= today + 1).any()):
        start = query.attach(build_unnamed_attachment(span.vertex, span.start))
        query.draft.filters.append(_bound_day(query, start, "<=", today, span.start))
    end_bound = today if (ends[ends < _UNKNOWN_DAY] >= today).any() else None
    _require_no_end_before(query, span, end_bound, all_have_ends=False)
    _consume_span_names(query, span)
    query.narrow_vertex(span.vertex, matching_ids)
    return True


def _require_no_end_before(
    query: QueryBuilder, span: VertexSpan, bound: float | None, *, all_have_ends: bool
) -> None:
    """Require that there is no end before a bound, or no end at all."""
    # If all things have ends, require an end at or after the bound.
    draft = query.draft
    if all_have_ends and bound is not None:
        end = query.attach(build_unnamed_attachment(span.vertex, span.end))
        draft.filters.append(_bound_day(query, end, ">=", bound, span.end))
        return
    end_triple = draft.build_new_edge(span.vertex.term, span.end)
    end = get_value_variable(end_triple.object)
    filters = [] if bound is None else [_bound_day(query, end, "<", bound, span.end)]
    draft.negations.append(build_not_exists(end_triple, *filters))


def _bound_day(
    query: QueryBuilder, variable: Variable, sign: str, day: float, predicate: int
) -> Filter:
    return build_day_bound(variable, sign, day, {query.schema.get_datatype(predicate)})
