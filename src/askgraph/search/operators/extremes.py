"""Operators for the most and the least: superlatives of numbers, dates and counts."""

from pyoxigraph import Variable

from askgraph.graph.literals import ValueKind
from askgraph.search.expand import (
    MAX_TOKENS_ACROSS,
    MAX_TOKENS_APART,
    MAX_TOKENS_BESIDE,
    MAX_TOKENS_NEAR,
    Penalty,
)
from askgraph.search.expand.schema import get_truth_terms
from askgraph.search.operators.aggregates import (
    SORTING_OPERATORS,
    apply_aggregate,
    bound_groups,
    cast_value,
    get_percent_rows,
    group_for_count,
    has_several_values,
    is_column,
    is_sole_request,
    limit_rows,
    list_joined_operators,
    order_groups,
)
from askgraph.search.operators.query_builder import (
    DURATIONS_NOTE,
    MEASURED_SORTS,
    TEMPORAL_SORTS,
    Attachment,
    QueryBuilder,
    Slot,
    Vertex,
    build_unnamed_attachment,
)
from askgraph.search.operators.times import (
    bind_age,
    bind_duration,
    find_lasting,
    find_span,
    has_name_word,
    has_native_dates,
    is_time_value,
    note_other_duration,
    show_duration,
)
from askgraph.search.query_pieces import build_aggregate, build_filter, is_aggregate, parse_term
from askgraph.search.tokenize import Quantity
from askgraph.search.tokenize.question_operators import Operator
from askgraph.search.tokenize.word_lists import Measure

_EXTREMES = ("maximum", "minimum")  # also "highest" and "largest", of anything
_MAX_ORDER_DISTANCE = 8  # maximum words between "descending" and the sorted term


def apply_extreme_value(query: QueryBuilder, operator: Operator, *, is_maximum: bool) -> bool:
    """Show the highest or lowest value, or what has it: "the maximum X", "the minimum X"."""
    is_own_column = is_column(query, operator)
    if not is_own_column and order_groups(query, operator, descending=is_maximum):
        return True
    if bound_groups(query, operator):
        return True
    if has_count_before(query, operator):
        return apply_extreme(query, operator, descending=is_maximum)
    if (is_own_column or is_sole_request(query, operator)) and apply_aggregate(
        query, operator, "MAX" if is_maximum else "MIN"
    ):
        return True
    return not is_sole_request(query, operator) and apply_extreme(
        query, operator, descending=is_maximum
    )


def apply_superlative(query: QueryBuilder, operator: Operator) -> bool:
    """Keep what has the most of a measure, or show how much that is: "the tallest X"."""
    measure = operator.measure
    if measure is None:
        return False
    is_own_column = is_column(query, operator)
    if not is_own_column and order_groups(query, operator, descending=measure.is_upward):
        return True
    is_only_request = is_own_column or (
        is_sole_request(query, operator) and query.operators.asks is None
    )
    slot = query.find_next_slot(operator.last, MAX_TOKENS_ACROSS if is_own_column else 2)
    if (
        is_only_request
        and not has_count_before(query, operator)
        and query.find_attachment(slot, sorts=MEASURED_SORTS) is not None
    ):
        return apply_aggregate(query, operator, "MAX" if measure.is_upward else "MIN")
    return apply_extreme(query, operator, descending=measure.is_upward, measure=measure)


def apply_extreme(
    query: QueryBuilder, operator: Operator, *, descending: bool, measure: Measure | None = None
) -> bool:
    """Order by a number, or by a count: "the most X", "the fewest X"."""
    if _reverse_order(query, operator):
        return True
    is_frequency = measure is None and _is_frequency_request(query, operator)
    is_own_column = measure is None and is_column(query, operator)
    is_own_column = is_own_column or (  # "the maximum number of points"
        not (is_frequency or measure is not None)
        and query.find_next_slot(operator.last, MAX_TOKENS_APART) is not None
        and query.operators.asks in (None, "number")
        and is_sole_request(query, operator)
        and not has_count_before(query, operator)
    )
    if is_own_column and apply_aggregate(query, operator, "MAX" if descending else "MIN"):
        return True
    is_sole = is_sole_request(query, operator)
    next_slot = query.find_next_slot(operator.last, MAX_TOKENS_APART)
    measured_value = None if is_frequency else _find_measure(query, operator, measure)
    if measured_value is None:
        return measure is None and _order_by_count(query, operator, descending)
    variable, is_date = measured_value
    if is_date and measure is not None and measure.date_names:  # the oldest is the earliest
        descending = not descending
    query.draft.order.append((cast_value(query, variable), descending))
    limit_rows(query, operator)
    # "the 3 highest scores", not "moons".
    is_slot_used = next_slot is not None and not query.is_unused(next_slot)
    if is_sole and is_slot_used and has_count_before(query, operator):
        query.projections.append((operator.last, variable))
    return True


def _reverse_order(query: QueryBuilder, operator: Operator) -> bool:
    """Order both ways by the same key: "the largest and the smallest X"."""
    operators, order = list_joined_operators(query, operator), query.draft.order
    if len(operators) != 2 or operators[1].first != operator.first or len(order) != 1:
        return False
    measures = [
        {*candidate.measure.property_names} if candidate.measure else set()
        for candidate in operators
    ]
    directions = {
        candidate.measure.is_upward if candidate.measure else candidate.name in ("maximum", "most")
        for candidate in operators
    }
    if measures[0] != measures[1] or len(directions) < 2 or operators[0].name not in query.notes:
        return False
    key, descending = order[0]
    if is_aggregate(key):
        return False
    order.append((key, not descending))
    return True


def _is_frequency_operator(query: QueryBuilder, operator: Operator) -> bool:
    """Return whether an operator is about frequency: "most common", "least frequent"."""
    frequency_words = query.question.word_list.clauses["frequent"]
    return any(
        query.question.tokens[position].folded in frequency_words for position in operator.positions
    )


def _is_frequency_request(query: QueryBuilder, operator: Operator) -> bool:
    """Return whether an operator asks for the most frequent: "most of the Xs were …"."""
    if _is_frequency_operator(query, operator):
        return True
    if operator.name not in ("most", "fewest") or operator.first < operator.last:
        return False
    vertex = query.find_next_vertex(operator.last, MAX_TOKENS_BESIDE)
    slot = query.find_next_slot(operator.last, MAX_TOKENS_APART)
    tokens = query.question.tokens
    return (
        vertex is not None
        and slot is not None
        and any(
            position == operator.last + 1 or tokens[position].stem != tokens[position].folded
            for position in vertex.name_positions
            if operator.last < position < slot.first
        )
    )


def has_count_before(query: QueryBuilder, operator: Operator) -> bool:
    """Return whether the question asks for more than one: "the top 3 highest"."""
    quantity = query.operators.get_quantity_before(operator)
    return quantity is not None and quantity.value is not None and quantity.value > 1


def _find_measure(
    query: QueryBuilder, operator: Operator, measure: Measure | None
) -> tuple[Variable, bool] | None:
    """Return the number or date that an adjective measures, and whether it is a date."""
    # A date is late or high, but not long or heavy.
    is_for_dates = measure is None or measure.date_names or "level" in measure.property_names
    value_sorts = MEASURED_SORTS + (TEMPORAL_SORTS if is_for_dates else ())
    slot = query.find_next_slot(operator.last, MAX_TOKENS_APART)
    if slot and any(
        operator.last < x.last < slot.first for x in query.operators.get_operators("each")
    ):
        slot = None  # "the fastest train in each year" is not that of the last year
    after, question = operator.last + 1, query.question  # "which costs the most?"
    ends_clause = after == len(question.tokens) or question.is_stop(after)
    if slot is None and (ends_clause if measure is None else measure.date_names):
        slot = query.find_previous_slot(operator.first, 2)
    attachment = query.find_attachment(
        slot, sorts=value_sorts, owner=_find_described_vertex(query, operator)
    )
    # "when did the oldest rower start", "the largest moon in the solar system"
    if measure is not None and (measure.is_age or (attachment is not None and attachment.path)):
        owner = query.find_next_vertex(operator.last, MAX_TOKENS_BESIDE)
        near = query.find_by_words(
            measure.property_names, MEASURED_SORTS, require_variable=True, preferred=owner
        )
        attachment = near if near and near.vertex is owner and not near.path else attachment
    if attachment is not None and _can_measure(query, attachment, measure):
        return query.attach_and_consume(attachment), is_time_value(
            query.schema, attachment.predicate, measure
        )
    return None if measure is None else _find_by_measure(query, operator, measure)


def _find_by_measure(
    query: QueryBuilder, operator: Operator, measure: Measure
) -> tuple[Variable, bool] | None:
    """Return the number or date whose name holds a word for a measure, and whether it is a date."""
    lasting = find_lasting(query) if "duration" in measure.property_names else None
    if lasting is not None:
        return query.attach(lasting), False
    for words, sorts in (
        (measure.property_names, MEASURED_SORTS),
        (measure.date_names, MEASURED_SORTS + TEMPORAL_SORTS),
    ):
        next_vertex = query.find_next_vertex(operator.last, MAX_TOKENS_BESIDE)
        measure_attachment = query.find_by_words(
            words, sorts, require_variable=True, preferred=next_vertex, allow_lives=measure.is_age
        )
        duration = _find_duration(query, measure, next_vertex or query.root, measure_attachment)
        if duration is not None:
            return duration, False
        if measure_attachment is not None:
            if "duration" in words:
                note_other_duration(query, operator, measure_attachment.predicate)
            query.unknown += (
                Penalty.OTHER_OWNER if _is_about_next_noun(query, operator, next_vertex) else 0.0
            )
            return query.attach(measure_attachment), words is measure.date_names
    # The start of an event that relates other things: "the first person in space".
    starts = {start for start, _, life in query.schema.spans if not life}
    for vertex in query.draft.vertices if measure.date_names and not measure.is_age else ():
        start_predicates = (
            starts.intersection(query.list_predicates(vertex)) if query.is_event(vertex) else ()
        )
        for number in start_predicates:
            return query.attach(build_unnamed_attachment(vertex, number)), True
    date = query.find_event_date() if measure.date_names else None
    if date is not None:
        return query.attach(date), True
    attachment = query.find_only_number() if "size" in measure.property_names else None
    return None if attachment is None else (query.attach(attachment), False)


def _is_about_next_noun(query: QueryBuilder, operator: Operator, vertex: Vertex | None) -> bool:
    """Return whether an adjective is about the things named next, outside the pattern."""
    slot = query.find_next_slot(operator.last, MAX_TOKENS_BESIDE) if vertex is None else None
    if slot is None:
        return False
    return any(
        predicate is not None and query.schema.get_sort(predicate) is ValueKind.NONE
        for predicate in (query.schema.get_predicate_number(link.target) for link in slot.links)
    )


def _find_described_vertex(query: QueryBuilder, operator: Operator) -> Vertex | None:
    """Return the vertex named right before: "the planet with the highest mass"."""
    question, last = query.question, operator.first - 1
    while last > 0 and question.is_stop(last):
        last -= 1
    following = question.folded_words[last + 1 : operator.first]
    if not following or following[0] not in question.word_list.clauses["restrict"]:
        return None
    return next((vertex for vertex in query.draft.vertices if last in vertex.name_positions), None)


def _find_duration(
    query: QueryBuilder, measure: Measure, vertex: Vertex, attachment: Attachment | None
) -> Variable | None:
    """Return the duration of things with a start and an end but no number for it."""
    if "duration" not in measure.property_names or (
        attachment and attachment.vertex is vertex and not attachment.path
    ):
        return None
    span = find_span(query, allow_named=True)
    if span is None or span.vertex is not vertex or not has_native_dates(query, span):
        return None
    verb_positions = {
        position
        for operator in query.operators.get_operators("lasted")
        for position in operator.positions
    }
    measure_positions = (
        position
        for position, word in enumerate(query.question.folded_words)
        if word in measure.property_names
    )
    query.consume_tokens((*verb_positions, *measure_positions))
    return bind_duration(query, span)


def _can_measure(query: QueryBuilder, attachment: Attachment, measure: Measure | None) -> bool:
    """Return whether an adjective of age or time fits a predicate: not "oldest" of a price."""
    if (
        measure is None
        or not measure.date_names
        or query.schema.get_sort(attachment.predicate) in TEMPORAL_SORTS
    ):
        return True
    return has_name_word(
        query.schema, attachment.predicate, (*measure.property_names, *measure.date_names)
    )


def apply_measure(query: QueryBuilder, operator: Operator) -> bool:
    """Show a measure: "how old" asks for the age."""
    measure = operator.measure
    if measure is None:
        return False
    attachment = find_lasting(query) if "duration" in measure.property_names else None
    if attachment is not None:
        query.notes.append(DURATIONS_NOTE)
    attachment = attachment or query.find_by_words(measure.property_names, MEASURED_SORTS)
    if attachment is None and measure.is_age:
        years = bind_age(query, operator)
        if years is not None:
            query.projections.append((operator.first, years))
            return True
    if (
        attachment is None
        and "duration" in measure.property_names
        and show_duration(query, operator)
    ):
        return True
    attachment = attachment or query.find_by_words(
        measure.date_names, TEMPORAL_SORTS + MEASURED_SORTS
    )
    if attachment is None:
        return False
    query.projections.append((operator.first, query.attach(attachment)))
    return True


def _order_by_count(query: QueryBuilder, operator: Operator, descending: bool) -> bool:
    """Order by the count of what X names: "the most X"."""
    vertex = query.find_next_vertex(operator.last, MAX_TOKENS_NEAR)
    is_frequency = _is_frequency_operator(query, operator)
    common_vertex = _find_common_vertex(query, operator, vertex) if is_frequency else None
    if common_vertex is not None and _count_linked_things(
        query, operator, common_vertex, descending
    ):
        return True
    if vertex is not None and vertex is not query.root and isinstance(vertex.term, Variable):
        if not _group_by_earlier_value(query, operator, vertex):
            group_for_count(query, vertex.term, operator)
        return _add_count_order(query, operator, vertex.term, descending)
    attachment = query.find_attachment(query.find_next_slot(operator.last, MAX_TOKENS_NEAR))
    if attachment is None and vertex is None:
        attachment = query.find_by_kind(operator.last)
    if attachment is None:
        return _order_by_frequency(query, operator, descending)
    if query.lookups.is_identifier(attachment.predicate, attachment.link) and isinstance(
        query.root.term, Variable
    ):
        query.consume_attachment(attachment)  # "the most customers", where each has its number
        return _count_per_earlier_value(query, operator, query.root.term, descending)
    if _order_by_flags(query, operator, attachment, descending):
        return True
    # Whether "most" means the most frequent value: nothing has several values.
    is_shared_value = not attachment.inverse and (
        is_frequency
        or not any(
            has_several_values(query, owner, attachment)
            for owner in (query.root, *query.find_vertices_before(operator))
        )
    )
    counted_variable = query.attach_and_consume(attachment)
    if not is_frequency and _count_per_earlier_value(query, operator, counted_variable, descending):
        return True
    if is_shared_value:  # "the most common X": what most members share
        shown_variable = query.choose_object_variable(counted_variable, attachment)
        return _count_members(query, operator, shown_variable, operator.last, descending)
    group_for_count(query, counted_variable, operator)
    return _add_count_order(query, operator, counted_variable, descending)


def _order_by_flags(
    query: QueryBuilder, operator: Operator, attachment: Attachment, descending: bool
) -> bool:
    """Count the things whose flag is true: "which region has the most protected sites"."""
    truth_terms = get_truth_terms(query.schema, attachment.predicate)
    flagged = attachment.vertex.term
    if truth_terms is None or attachment.inverse or not isinstance(flagged, Variable):
        return False
    flag = query.attach_and_consume(attachment)
    query.draft.filters.append(build_filter(flag, "=", parse_term(truth_terms[0])))
    if not _count_per_earlier_value(query, operator, flagged, descending):
        group_for_count(query, flagged, operator)
        _add_count_order(query, operator, flagged, descending)
    return True


def _find_common_vertex(
    query: QueryBuilder, operator: Operator, next_vertex: Vertex | None
) -> Vertex | None:
    """Return the vertex that occurs most: after "most common", or before "is most common in"."""
    question, following = query.question, operator.last + 1
    link_words = question.word_list.clauses["restrict"] | question.word_list.clauses["among"]
    if following < len(question.tokens) and question.folded_words[following] not in link_words:
        return next_vertex
    earlier_vertices = [
        (position, vertex)
        for vertex in query.draft.vertices
        for position in vertex.name_positions
        if position < operator.first
    ]
    return max(earlier_vertices, key=lambda entry: entry[0])[1] if earlier_vertices else None


def _count_per_earlier_value(
    query: QueryBuilder, operator: Operator, counted_variable: Variable, descending: bool
) -> bool:
    """Count per value of the property before: "which X has the most Y" of one thing."""
    is_grouped = _group_by_earlier_value(query, operator, None)
    return is_grouped and _add_count_order(query, operator, counted_variable, descending)


def _group_by_earlier_value(
    query: QueryBuilder, operator: Operator, counted_vertex: Vertex | None
) -> bool:
    """Group by the value named before, if no thing is: "which year has the most orders"."""
    slot = query.find_previous_slot(operator.first, MAX_TOKENS_ACROSS)
    if slot is None or not query.zones.is_head(slot.first):
        return False
    tokens, name_stems = query.question.tokens, query.question.word_list.naming
    attachment = query.find_attachment(slot)
    if (
        attachment is None
        or (attachment.vertex.term, attachment.predicate, attachment.inverse)
        in query.draft.edge_variables
    ):
        return False
    if any(tokens[position].stem in name_stems for position in slot.links[0].positions):
        return False
    if query.find_vertices_before(operator):
        return False
    if counted_vertex is not None and (
        counted_vertex is query.root or attachment.vertex is not counted_vertex
    ):
        return False
    query.group_by_value(
        query.choose_object_variable(query.attach_and_consume(attachment), attachment), slot.first
    )
    return True


def _order_by_frequency(query: QueryBuilder, operator: Operator, descending: bool) -> bool:
    """Order the values of the slot before the operator by the number of members."""
    slot = query.find_previous_slot(operator.first, MAX_TOKENS_ACROSS)
    next_vertex = query.find_next_vertex(operator.last, MAX_TOKENS_NEAR)
    has_several_words = operator.last > operator.first
    if next_vertex is not query.root and not (next_vertex is None and has_several_words):
        return False
    attachment = query.find_attachment(slot)
    if slot is None or attachment is None:
        return False
    counted_variable = query.attach_and_consume(attachment)
    is_about_root = any(position < slot.first for position in query.root.name_positions)
    if is_about_root and has_several_values(query, query.root, attachment):
        group_for_count(query, counted_variable, operator)  # "which ship was launched most often"
        return _add_count_order(query, operator, counted_variable, descending)
    shown_variable = query.choose_object_variable(counted_variable, attachment)
    return _count_members(query, operator, shown_variable, slot.first, descending)


def _count_members(
    query: QueryBuilder, operator: Operator, shown_variable: Variable, token: int, descending: bool
) -> bool:
    """Group by a shown variable, and order by the number of members that share its value."""
    query.group_by_value(shown_variable, token)
    if not isinstance(query.root.term, Variable):
        return False
    return _add_count_order(query, operator, query.root.term, descending)


def _count_linked_things(
    query: QueryBuilder, operator: Operator, vertex: Vertex, descending: bool
) -> bool:
    """Order the things at a vertex by the number of linked things: "the most common X in Y"."""
    other_vertices = [candidate for candidate in query.draft.vertices if candidate is not vertex]
    variables = [
        candidate.term for candidate in other_vertices if isinstance(candidate.term, Variable)
    ]
    slot = query.find_next_slot(operator.last, MAX_TOKENS_NEAR)
    if slot is not None and slot.first <= min(vertex.name_positions) + 1:
        return False  # "payment method" is a property of the thing that the first word names
    if not variables or not isinstance(vertex.term, Variable):
        return False
    query.group_by(vertex)
    return _add_count_order(query, operator, variables[0], descending)


def _add_count_order(
    query: QueryBuilder, operator: Operator, counted_variable: Variable, descending: bool
) -> bool:
    query.draft.order.append(
        (build_aggregate("COUNT", counted_variable, distinct=True), descending)
    )
    limit_rows(query, operator)
    return True


def apply_top(query: QueryBuilder, operator: Operator) -> bool:
    """Limit the number of rows: "the first 10", "the top 10 %"."""
    quantity = query.operators.get_quantity_after(operator, 1)
    if quantity is None or quantity.value is None:
        return False
    sort_attachment = _find_sort_attachment(query, quantity)
    if sort_attachment is not None:
        query.draft.order.append(
            (cast_value(query, query.attach_and_consume(sort_attachment)), True)
        )
    query.draft.limit = get_percent_rows(query, quantity) or int(quantity.value)
    query.consume_quantity(quantity)
    if sort_attachment is not None or _order_by_count_after_by(query, quantity):
        return True
    slot = query.find_next_slot(quantity.last, 2)
    extremes = query.operators.get_operators("superlative", "most", "fewest", "maximum", "minimum")
    has_extreme = any(0 < item.first - operator.last <= MAX_TOKENS_BESIDE for item in extremes)
    attachment = None if slot is None or has_extreme else query.find_attachment(slot)
    if (
        slot is not None
        and attachment is not None
        and query.schema.get_sort(attachment.predicate) in MEASURED_SORTS
    ):
        variable = query.attach_and_consume(attachment)  # "the top 3 scores"
        query.draft.order.append((cast_value(query, variable), True))
        if is_sole_request(query, operator):
            query.projections.append((slot.first, variable))
    return True


def _order_by_count_after_by(query: QueryBuilder, quantity: Quantity) -> bool:
    """Order by the count of what "by" is followed by: "the top 10 agencies by missions"."""
    question = query.question
    if query.operators.get_operators("most"):
        return False  # "by number of missions"
    for at in range(quantity.last + 1, len(question.tokens)):
        if question.folded_words[at] in question.word_list.clauses["by"]:
            limit = query.draft.limit
            is_ordered = _order_by_count(query, Operator("most", at, at), descending=True)
            query.draft.limit = limit
            return is_ordered
    return False


def _find_sort_attachment(query: QueryBuilder, quantity: Quantity) -> Attachment | None:
    """Return the number after "by": "the top 10 moons by diameter"."""
    question = query.question
    for slot in query.slots:
        is_near = 0 < slot.first - quantity.last <= MAX_TOKENS_ACROSS and query.is_unused(slot)
        if is_near and question.folded_words[slot.first - 1] in question.word_list.clauses["by"]:
            return query.find_attachment(slot, sorts=MEASURED_SORTS)
    return None


def apply_order(query: QueryBuilder, operator: Operator) -> bool:
    """Sort by what X names ("sorted by X"), else by the first shown column."""
    direction = next(
        (
            direction
            for direction in query.operators.get_operators("descending", *SORTING_OPERATORS)
            if abs(direction.first - operator.last) <= _MAX_ORDER_DISTANCE
        ),
        None,
    )
    descending = direction is not None and direction.name != "least_first"
    slot = query.find_next_slot(operator.last, MAX_TOKENS_APART)
    if slot is not None:
        measure = direction.measure if direction is not None else None
        return _order_by_slot(query, slot, descending, measure)
    query.notes.append("order_shown_desc" if descending else "order_shown")
    return True


def _order_by_slot(
    query: QueryBuilder, slot: Slot | None, descending: bool, measure: Measure | None = None
) -> bool:
    attachment = query.find_attachment(slot)
    if attachment is None:
        return False
    if measure is not None and is_time_value(query.schema, attachment.predicate, measure):
        descending = not descending
    query.draft.order.append(
        (
            cast_value(
                query,
                query.choose_object_variable(query.attach_and_consume(attachment), attachment),
            ),
            descending,
        )
    )
    return True


def apply_direction(query: QueryBuilder, operator: Operator, *, descending: bool) -> bool:
    """Sort in a direction: "in ascending order", "in descending order"."""
    if not query.draft.order and not _order_by_slot(
        query, query.find_next_slot(operator.last, MAX_TOKENS_BESIDE), descending
    ):
        query.notes.append("order_shown_desc" if descending else "order_shown")
    return True


def apply_sorting(query: QueryBuilder, operator: Operator, *, descending: bool) -> bool:
    """Sort by the value or count that an extreme names: "oldest first", "most moons first"."""
    if query.draft.order:
        return "order" in query.notes  # "sorted by age, oldest first"
    value = _find_sort_value(query, operator)
    if value is None:
        measure = operator.measure
        if measure is None and _order_by_count(query, operator, descending):
            return True
        if measure is not None and measure.date_names:
            return False
        query.notes.append("order_shown_desc" if descending else "order_shown")
        return True
    variable, is_date = value
    is_reversed = is_date and operator.measure is not None and bool(operator.measure.date_names)
    query.draft.order.append((cast_value(query, variable), descending != is_reversed))
    return True


def _find_sort_value(query: QueryBuilder, operator: Operator) -> tuple[Variable, bool] | None:
    """Return what an extreme sorts by, and whether it is a time."""
    # This is the value named after it, the value its adjective measures, or the value named before:
    # "by price, highest first". Times that are kept as text are sorted as text.
    measure, sorts = operator.measure, MEASURED_SORTS + TEMPORAL_SORTS
    next_slot = query.find_next_slot(operator.last, MAX_TOKENS_BESIDE)
    marks = query.operators.get_operators("sort_mark")
    if next_slot is not None and any(mark.mask & next_slot.mask for mark in marks):
        next_slot = None  # "first" is no first flight
    attachment = query.find_attachment(next_slot, sorts=sorts)
    if attachment is not None and _can_measure(query, attachment, measure):
        is_time = is_time_value(query.schema, attachment.predicate, measure)
        return query.attach_and_consume(attachment), is_time
    slot = query.find_previous_slot(operator.first, MAX_TOKENS_APART)
    attachment = query.find_attachment(slot, sorts=(*sorts, ValueKind.TEXT))
    words = (*measure.property_names, *measure.date_names) if measure is not None else ()
    phrase = query.question.folded_words[operator.first : operator.last + 1]
    is_general = any(phrase in query.question.word_list.operators[name] for name in _EXTREMES)
    is_measured = attachment is not None and (
        has_name_word(query.schema, attachment.predicate, words)
        or (is_general and slot is not None and slot.last + 1 == operator.first)
    )
    if measure is not None and not is_measured:
        for words, word_sorts in (
            (measure.property_names, MEASURED_SORTS),
            (measure.date_names, sorts),
        ):
            by_words = query.find_by_words(words, word_sorts, require_variable=True)
            if by_words is not None:
                return query.attach(by_words), words is measure.date_names
        attachment = query.find_attachment(slot, sorts=sorts)
        if attachment is not None and not _can_measure(query, attachment, measure):
            return None
    if attachment is None:
        return None
    return query.attach(attachment), is_time_value(query.schema, attachment.predicate, measure)
