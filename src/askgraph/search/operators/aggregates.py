"""Aggregate operators: counts, sums, averages, shares, and conditions on groups."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile

from pyoxigraph import NamedNode, Variable

from askgraph.graph.arrays import Ids
from askgraph.graph.literals import ValueKind
from askgraph.index.names import ItemKind, stem_word
from askgraph.search.expand import (
    MAX_TOKENS_ACROSS,
    MAX_TOKENS_APART,
    MAX_TOKENS_BESIDE,
    MAX_TOKENS_FAR,
    GainWeight,
    Node,
    PartialMatch,
    Penalty,
    find_named_words,
)
from askgraph.search.expand.schema import MIXED_NUMBER_SORTS, get_truth_terms, is_asking_flag
from askgraph.search.link import Link
from askgraph.search.operators.columns import find_named_vertices, find_owner_vertex, group_by_kind
from askgraph.search.operators.query_builder import (
    DATE_SORTS,
    LISTED_NOTE,
    MEASURED_SORTS,
    NUMERIC_SORTS,
    PAIRED_NOTE,
    Attachment,
    QueryBuilder,
    QueryCandidate,
    Slot,
    Vertex,
    build_unnamed_attachment,
    note_durations,
)
from askgraph.search.query_pieces import (
    DECIMAL,
    INTEGER,
    NUMBER,
    TEXT,
    Value,
    build_aggregate,
    build_cast,
    build_filter,
    connect_variables,
    get_alias,
    get_function,
    get_value_variable,
    list_column_values,
    parse_term,
    to_number_term,
)
from askgraph.search.tokenize import Quantity, to_bit_mask
from askgraph.search.tokenize.question_operators import COMPARISON_SIGNS, Operator, is_listed_count
from askgraph.sparql import (
    Bind,
    Call,
    Expression,
    Filter,
    Group,
    Nested,
    Query,
    find_variables,
    transform,
)
from askgraph.sparql.elapsed import build_elapsed_time
from askgraph.sparql.vocabulary import XSD_G_YEAR_MONTH
from askgraph.sparql.windows import build_change, build_percentile, build_running_total

AGGREGATE_FUNCTIONS = {"average": "AVG", "sum": "SUM", "maximum": "MAX", "minimum": "MIN"}
"""Aggregate functions that groups are compared by."""


_FULL_PERCENT, _HALF_PERCENT = 100.0, 50.0  # all, in percent
BY_SHOWN_NOTE = "by_shown"  # notes that rows are grouped by the shown columns

FEW_NOTE = "few"  # notes that groups have at most, or fewer than, a number of something


def order_groups(query: QueryBuilder, operator: Operator, *, descending: bool) -> bool:
    """Order groups by an aggregate: "the highest average X", "the lowest total X"."""
    aggregate_operators = [
        aggregate_operator
        for aggregate_operator in query.operators.get_operators("average", "sum")
        if 0 < aggregate_operator.first - operator.last <= 2 and aggregate_operator.percent is None
    ]
    if not aggregate_operators or operator.mask & query.used:
        return False
    value = _build_group_value(query, operator, aggregate_operators[0])
    if value is None:
        return False
    query.draft.order.append((value, descending))
    limit_rows(query, operator)
    return True


def bound_groups(query: QueryBuilder, operator: Operator) -> bool:
    """Add a condition on an aggregate of each group: "whose average X is above 5"."""
    comparison_and_sign = _find_comparison_after(query, operator)
    is_each = bool(query.operators.get_operators("each"))
    if comparison_and_sign is None or operator.percent is not None or is_each:
        return False
    comparison, sign = comparison_and_sign
    quantity = query.operators.get_quantity_after(comparison)
    if quantity is None or quantity.value is None:
        return False
    value = _build_group_value(query, operator, operator)
    if value is None:
        return False
    query.draft.having.append(Call(sign, (value, to_number_term(quantity.value))))
    query.consume_words(comparison.mask, query.search.sum_weights(comparison.mask))
    query.consume_quantity(quantity)
    return True


def _find_comparison_after(query: QueryBuilder, operator: Operator) -> tuple[Operator, str] | None:
    """Return the comparison that follows the noun after an operator, and its sign."""
    slot = query.find_next_slot(operator.last, MAX_TOKENS_ACROSS)
    if slot is None or not (
        any(earlier.first < operator.first for earlier in query.slots)
        or query.find_vertices_before(operator)
        or query.projections
    ):
        return None
    for candidate in query.operators.get_operators(*COMPARISON_SIGNS, "comparative"):
        if 0 < candidate.first - slot.last <= MAX_TOKENS_BESIDE:
            sign = COMPARISON_SIGNS.get(candidate.name, "")
            if candidate.measure is not None:
                sign = ">" if candidate.measure.is_upward else "<"
            return candidate, sign
    return None


def _build_group_value(
    query: QueryBuilder, operator: Operator, aggregate_operator: Operator
) -> Call | None:
    """Group the rows and return the aggregate that words after an operator name."""
    slot = query.find_next_slot(aggregate_operator.last, MAX_TOKENS_ACROSS)
    attachment = query.find_attachment(slot, sorts=NUMERIC_SORTS)
    if slot is None or attachment is None:
        return None
    vertices = (
        vertex
        for vertex in query.find_vertices_before(operator)
        if isinstance(vertex.term, Variable) and has_several_values(query, vertex, attachment)
    )
    vertex = next(vertices, None)
    if vertex is not None:
        variable = query.attach_and_consume(attachment)
        _group_by_vertex(query, vertex)
    else:
        key_slot = query.find_previous_slot(operator.first, MAX_TOKENS_FAR)
        key_attachment = None if key_slot is slot else query.find_attachment(key_slot)
        if (
            key_slot is None
            or key_attachment is None
            or key_attachment.predicate == attachment.predicate
        ):
            return None
        variable = query.attach_and_consume(attachment)
        query.group_by_value(
            query.choose_object_variable(query.attach_and_consume(key_attachment), key_attachment),
            key_slot.first,
        )
    query.consume_words(aggregate_operator.mask, query.search.sum_weights(aggregate_operator.mask))
    return build_cast_aggregate(query, AGGREGATE_FUNCTIONS[aggregate_operator.name], variable)


def build_cast_aggregate(query: QueryBuilder, function: str, variable: Variable) -> Call:
    """Build an aggregate of numbers; see `cast_value`."""
    return Call(function, (cast_value(query, variable),))


def cast_value(query: QueryBuilder, variable: Variable) -> Expression:
    """Return a value to sort or to compute with; texts among numbers or dates are filtered out.

    A text would come last in an order, and make a sum or an average unbound. Notes durations that
    have no order.
    """
    cast = get_cast(query, variable)
    value = build_cast(cast, variable)
    for (term, predicate, inverse), object_ in query.draft.edge_variables.items():
        sort, vertex = query.schema.get_sort(predicate), query.draft.find_vertex(term)
        if object_ == variable and not inverse and vertex is not None:
            note_durations(query, query.get_vertex_ids(vertex), predicate)
        comparable = {sort, *MIXED_NUMBER_SORTS} if cast == NUMBER else {sort}
        if object_ != variable or inverse or query.schema.get_sorts(predicate) <= comparable:
            continue
        ids = query.get_vertex_ids(vertex) if vertex is not None else None
        if query.schema.get_sorts(predicate, ids) <= comparable:
            continue
        if sort in NUMERIC_SORTS or cast == NUMBER:
            query.draft.filters.append(Filter(Call("ISNUMERIC", (value,))))
        elif sort in (*_NATIVE_DATE_SORTS, ValueKind.DURATION, ValueKind.TIME) and not cast:
            datatype = parse_term(f"<{query.schema.get_datatype(predicate)}>")
            query.draft.filters.append(build_filter(variable, "=", datatype, cast="DATATYPE"))
    return value


def get_cast(query: QueryBuilder, variable: Variable) -> str:
    """Return the cast for numbers and days stored as text, or several datatypes, else ""."""
    for (_, predicate, inverse), value in query.draft.edge_variables.items():
        if value == variable and not inverse:
            if query.schema.has_mixed_numbers(predicate):
                return NUMBER
            if query.schema.get_sort(predicate) is ValueKind.TEXT_NUMBER:
                return DECIMAL
            if day_order := query.schema.get_day_order(predicate):
                return day_order
            if query.schema.has_mixed_dates(predicate):
                return TEXT
    return ""


def group_for_count(query: QueryBuilder, variable: Variable, operator: Operator) -> None:
    """Group the rows by the things with several counted values.

    These are at the root, or at another vertex named before the operator if the root has no name.
    If each thing has only one, group by the shown columns.
    """
    query.is_grouped = True
    vertex = query.draft.find_vertex(variable)
    earlier_vertices = [
        x for x in query.find_vertices_before(operator) if isinstance(x.term, Variable)
    ]
    group_vertices = [x for x in earlier_vertices if x is not vertex and x is not query.root]
    if vertex is None or vertex is query.root or has_many_between(query, query.root, vertex):
        _group_by_vertex(
            query, query.root if vertex is None else _choose_group_vertex(query, vertex, operator)
        )
    elif group_vertices and has_many_between(query, group_vertices[0], vertex):
        _group_by_vertex(query, group_vertices[0])
    else:  # there is only one for each thing
        query.notes.append(BY_SHOWN_NOTE)


def _choose_group_vertex(query: QueryBuilder, counted: Vertex, operator: Operator) -> Vertex:
    """Return the root, unless words before an operator clearly name another vertex."""
    starts, _ = find_named_vertices(query)
    earlier_vertices = [
        vertex
        for position, vertex in starts.items()
        if position < operator.first and vertex is not counted
    ]
    if query.root in earlier_vertices or counted is query.root:
        return query.root
    return next((x for x in earlier_vertices if has_many_between(query, x, counted)), query.root)


def _group_by_vertex(query: QueryBuilder, vertex: Vertex) -> None:
    """Group the rows by a vertex, and show it unless a property of it is shown."""
    if vertex is query.root or not _has_shown_property(query, vertex):
        query.group_by(vertex)
    elif isinstance(vertex.term, Variable) and vertex.term not in query.draft.group_keys:
        query.draft.group_keys.append(vertex.term)
        query.is_grouped = True


def has_many_between(query: QueryBuilder, start: Vertex, end: Vertex) -> bool:
    """Return whether one node at a vertex may go with several nodes at another vertex."""
    ancestors = []
    ancestor: Vertex | None = start
    while ancestor is not None:
        ancestors.append(ancestor)
        ancestor = ancestor.parent
    while end not in ancestors and end.parent is not None and end.edge is not None:
        if _can_fan_out(query, end.edge.predicate, end.edge.inverse):
            return True
        end = end.parent
    return any(
        vertex.edge is not None
        and _can_fan_out(query, vertex.edge.predicate, not vertex.edge.inverse)
        for vertex in (ancestors[: ancestors.index(end)] if end in ancestors else ())
    )


def _has_shown_property(query: QueryBuilder, vertex: Vertex) -> bool:
    """Return whether unused words before a vertex name a property of it."""
    return any(
        (
            attachment := query.find_attachment(
                slot, owner=find_owner_vertex(query, slot.first, slot.last)
            )
        )
        is not None
        and attachment.vertex is vertex
        for slot in query.slots
        if query.is_unused(slot) and slot.first < min(vertex.name_positions, default=0)
    )


def has_several_values(query: QueryBuilder, vertex: Vertex, attachment: Attachment) -> bool:
    """Return whether a node at a vertex may have several values of an attachment."""
    if attachment.path:
        fans_out = any(_can_fan_out(query, x.predicate, x.inverse) for x in attachment.path)
        return vertex is attachment.vertex and fans_out
    return not query.schema.is_functional(attachment.predicate) or has_many_between(
        query, vertex, attachment.vertex
    )


def _can_fan_out(query: QueryBuilder, predicate: int, inverse: bool) -> bool:
    """Return whether a step may lead from one node to several."""
    return not query.schema.is_functional(predicate, inverse=inverse)


def limit_rows(query: QueryBuilder, operator: Operator) -> None:
    """Set limit and offset from the words beside an operator: "the second", "the three"."""
    if operator.name in SORTING_OPERATORS:
        return  # "most moons first" sorts all
    first, last = _parse_ordinals(query, operator)
    count, offset = 1 + last - first, first - 1
    for quantity in query.question.quantities:
        if quantity.value is None or not float(quantity.value).is_integer():
            continue
        if _is_count(query, quantity.first) and (
            abs(quantity.first - operator.last) == 1
            or operator.first - quantity.last == 1
            or quantity.last + 1 in query.root.name_positions
        ):
            count = get_percent_rows(query, quantity) or max(1, int(quantity.value))
            query.consume_quantity(quantity)
    query.draft.limit, query.draft.offset = count, offset


def get_percent_rows(query: QueryBuilder, quantity: Quantity) -> int | None:
    """Return the number of rows of a percentage, at least 1; None for other quantities."""
    if not query.question.is_percent(quantity):
        return None
    following = [quantity.last + 1] if quantity.last + 1 < len(query.question.tokens) else []
    percent_words = query.question.word_list.clauses["percent"]
    query.consume_tokens(
        position for position in following if query.question.folded_words[position] in percent_words
    )
    share = (quantity.value or 0.0) / _FULL_PERCENT
    return max(1, math.ceil(len(query.get_vertex_ids(query.root)) * share))


def _parse_ordinals(query: QueryBuilder, operator: Operator) -> tuple[int, int]:
    """Return the first and last rank of the ordinals before an operator: "the third to fifth"."""
    words = query.question.folded_words
    lists = query.question.word_list
    position = operator.first - 1
    while position > 0 and position in query.root.name_positions:  # "el segundo planeta más grande"
        position -= 1
    last = lists.ordinals.get(words[position], 0) if position >= 0 else 0
    if not last:
        return 1, 1
    before = position - 1 - (words[position - 1] in lists.clauses["through"])
    first = lists.ordinals.get(words[before], last) if before >= 0 else last
    if first >= last:
        first, before = last, position
    query.consume_tokens(range(before, position + 1))
    return first, last


def _is_count(query: QueryBuilder, position: int) -> bool:
    """Return whether a number is a count and not part of the noun before it ("room 111")."""
    previous = position - 1
    return (
        position == 0
        or query.question.is_stop(previous)
        or bool(query.operators.mask >> previous & 1)
    )


def pop_group_count(query: QueryBuilder) -> Call | None:
    """Remove the count of groups from the columns: "how many planets have more than two moons"."""
    draft = query.draft
    for column in draft.columns if draft.having and len(draft.group_keys) == 1 else ():
        if isinstance(column, Call) and column == build_aggregate(
            "COUNT", draft.group_keys[0], distinct=True
        ):
            draft.columns = [draft.group_keys[0]]
            return column
    return None


def count_groups(candidate: QueryCandidate, call: Call) -> QueryCandidate:
    """Return a candidate that counts the groups of another one."""
    columns = ((get_alias(call), call),)
    tree = Query("SELECT", Group((replace(candidate.tree, distinct=False),)), columns=columns)
    return replace(candidate, tree=tree, shown=(call,))


def include_empty_groups(query: QueryBuilder, candidate: QueryCandidate) -> QueryCandidate | None:
    """Return a candidate that keeps groups with a count of 0, or None if there are none.

    The counted variable, and everything that only hangs on it, becomes optional.
    """
    tree, draft = candidate.tree, query.draft
    if not (draft.having and draft.group_keys):
        return None
    group, counted_variable = draft.group_keys[0], get_value_variable(draft.having[0].arguments[0])
    vertex = draft.find_vertex(group)
    if vertex is None or vertex.node.cls is None or len(draft.having) > 1 or tree.order:
        return None
    instances = query.schema.get_instances(vertex.node.cls)
    if len(instances) == len(query.get_vertex_ids(vertex)) or draft.subqueries or draft.negations:
        return None
    elements = [(x, set(find_variables(x)) - {group}) for x in tree.where.elements]
    optional_variables = connect_variables(
        {counted_variable}, [element_variables for _, element_variables in elements]
    )
    shown_variables = {
        get_value_variable(x) for x in list_column_values(tree) if isinstance(x, Variable)
    }
    if optional_variables & shown_variables or not any(not x for _, x in elements):
        return None
    optional = tuple(x for x, variables in elements if variables & optional_variables)
    required = tuple(x for x, variables in elements if not variables & optional_variables)
    where = Group((*required, Nested("OPTIONAL", Group(optional))))
    return replace(
        candidate,
        tree=replace(tree, where=where),
        ids=instances if vertex is query.root else candidate.ids,
        gain=candidate.gain + GainWeight.ZERO_COUNT,
    )


_NATIVE_DATE_SORTS = (ValueKind.DATE, ValueKind.YEAR)
SORTING_OPERATORS = ("most_first", "least_first")
LISTABLE_OPERATORS = ("average", "sum", "minimum", "maximum", "superlative", "most", "fewest")
"""Operators that may list several aggregates of one number."""


def apply_each(query: QueryBuilder, operator: Operator) -> bool:
    """Group the rows by the things or values that X names: "for each X"."""
    slot, vertex = query.find_next_slot(operator.last), query.find_next_vertex(operator.last)
    words, lists = query.question.folded_words, query.question.word_list
    is_count = words[operator.first : operator.last] in lists.operators["count"]  # "count by"
    if is_count or words[operator.last] in lists.clauses["rate"]:
        query.notes.append("rate")
    if vertex is not None and (slot is None or _is_named_before_slot(vertex, slot)):
        query.group_by(vertex)
        return True
    attachment = query.find_attachment(slot)
    if slot is None or attachment is None:
        return group_by_kind(query, operator)
    query.group_by_value(
        query.choose_object_variable(query.attach_and_consume(attachment), attachment),
        slot.first,
        is_shown_word=False,
    )
    return True


def _is_named_before_slot(vertex: Vertex, slot: Slot) -> bool:
    """Return whether words name a vertex before a slot, and not only by the slot's first word."""
    first = min(vertex.name_positions)
    return first < slot.first or (first == slot.first and slot.first == slot.last)


_MIN_DATE_SCORE = 0.6  # minimum score of "year" to mean this date
_MEASURING_OPERATORS = (
    *("count", "average", "sum", "minimum", "maximum"),
    *("most", "fewest", "superlative", "lasting", "measure"),
)


_PERIOD_NAMES = {"monthly": "month", "yearly": "year", "decadal": "decade", "centennial": "century"}


def apply_yearly(query: QueryBuilder, operator: Operator) -> bool:
    """Group the rows by the month, year, decade or century of a date; count them by default."""
    attachment = _find_date(query, operator)
    if attachment is None:
        return False
    date = query.attach_and_consume(attachment)
    period: Expression = date
    sort = query.schema.get_sort(attachment.predicate)
    if operator.name == "monthly" or sort is ValueKind.TEXT_DATE:
        length = to_number_term(7 if operator.name == "monthly" else 4)
        digits = Call("SUBSTR", (Call("STR", (date,)), to_number_term(1), length))
        month = Call("STRDT", (digits, NamedNode(XSD_G_YEAR_MONTH)))
        period = month if operator.name == "monthly" else Call(INTEGER, (digits,))
    elif query.schema.has_mixed_numbers(attachment.predicate):
        period = cast_value(query, date)
    elif sort is ValueKind.DATE:
        period = Call("YEAR", (date,))
    elif sort is ValueKind.YEAR and (
        operator.name != "yearly" or query.operators.get_operators("running", "change")
    ):
        period = build_cast(INTEGER, date)  # a gYear is no number
    if operator.name == "decadal":
        ten = to_number_term(10)
        period = Call(INTEGER, (Call("*", (Call("FLOOR", (Call("/", (period, ten)),)), ten)),))
    if operator.name == "centennial":
        period = Call(INTEGER, (Call("CEIL", (Call("/", (period, to_number_term(100))),)),))
    if period != date:
        date = query.draft.bind_expression(_PERIOD_NAMES[operator.name], period)
    query.group_by_value(date, operator.first, is_shown_word=False)
    positions = {at for total in query.operators.get_operators("sum") for at in total.positions}
    for slot in query.slots:  # "total" names a number and its sum: "the total of orders per month"
        attachment = query.find_attachment(slot, sorts=NUMERIC_SORTS)
        if attachment is not None and query.is_unused(slot) and slot.first in positions:
            total = query.attach_and_consume(attachment)
            query.draft.columns.append(build_cast_aggregate(query, "SUM", total))
            return True
    if not query.operators.get_operators(*_MEASURING_OPERATORS):
        query.notes.append("rate")
    return True


def _find_date(query: QueryBuilder, operator: Operator) -> Attachment | None:
    """Find the date to take years from: one that words name, else the start of a span, else any."""
    unused_slots = [slot for slot in query.slots if query.is_unused(slot)]
    for slot in sorted(unused_slots, key=lambda slot: not slot.mask & operator.mask):
        attachment = query.find_attachment(slot, sorts=DATE_SORTS)
        if attachment is not None and not attachment.path:
            link = attachment.link  # named by more than the word "year" of "per year"
            is_long = len(link.positions) > 1  # but the "from date" of "from year to year"
            if not {*link.positions} <= {*operator.positions} or not (
                is_long or link.score * link.quality < _MIN_DATE_SCORE
            ):
                return attachment
    root_predicates = query.list_predicates(query.root)
    starts = (start for start, end, _ in query.schema.spans if {start, end} & {*root_predicates})
    start = next((slot for slot in starts if slot in root_predicates), None)
    return (
        query.find_only_predicate(DATE_SORTS)
        if start is None
        else build_unnamed_attachment(query.root, start)
    )


def count_rate(query: QueryBuilder) -> None:
    """Count the root if no other measure is shown: "launches per country"."""
    draft, root_term = query.draft, query.root.term
    has_only_groups = len(query.projections) == len(draft.group_keys) and not (
        draft.columns or draft.order
    )
    is_countable = isinstance(root_term, Variable) and root_term not in draft.group_keys
    if has_only_groups and is_countable:
        draft.columns.append(build_aggregate("COUNT", get_value_variable(root_term), distinct=True))


def apply_count(query: QueryBuilder, operator: Operator) -> bool:
    """Count things ("how many X"); if X is a number in the graph, show it instead."""
    slot, vertex = _find_counted(query, operator)
    if _is_used_by_aggregate(query, operator):
        return True
    # A count is of what the question begins with: "ships, how many of them". So it is if no noun
    # follows: "ships, how many are there in all".
    question, used = query.question, query.operators.mask
    phrases = question.word_list.follow_up_phrases["of_them"]
    refers_back = any(question.has_phrase_at(phrase, operator.last + 1) for phrase in phrases)
    following = range(operator.last + 1, len(question.tokens))
    is_last = operator.first > 0 and bool(following)
    is_last = is_last and all(question.is_stop(at) or used >> at & 1 for at in following)
    if (refers_back or is_last) and operator == query.operators.operators[0]:
        if query.root not in query.find_vertices_before(operator):
            return False
        slot, vertex = None, query.root
    repeated = query.question.word_list.time_phrases["repeated"]
    is_repeated = (query.question.folded_words[operator.last],) in repeated
    if vertex is query.root and vertex.name_positions and is_repeated:
        verb = query.find_next_slot(vertex.name_positions[-1], MAX_TOKENS_APART)
        if verb is not None:  # "how many times was each ship launched"
            return _count_values(query, operator, verb)
    if _group_by_listed_values(query, operator):
        vertex = query.root
    elif is_listed_count(query.question, operator.last):
        vertex = query.find_next_vertex(operator.last, len(query.question.tokens))
        query.notes.append(LISTED_NOTE)
    elif slot is not None and (
        vertex is None
        or slot.first <= min(vertex.name_positions)
        or _is_compound(query, vertex, slot)
    ):
        return _count_values(query, operator, slot)
    if (
        vertex is None
        and query.find_attachment(query.find_previous_slot(operator.first, 1), sorts=NUMERIC_SORTS)
        is not None
    ):
        return True  # "employee count": the slot itself is shown
    vertex = vertex or query.root
    if not isinstance(vertex.term, Variable) or query.is_statement(vertex):
        return False
    # A vertex is a statement with a number, which is shown and not counted.
    leading_edges = [edge for edge, _ in vertex.node.edges if edge.inverse]
    leading_edges += [vertex.edge] if vertex.edge and not vertex.edge.inverse else []
    values = (
        query.schema.find_value_predicate(vertex.node.ids, edge.predicate) for edge in leading_edges
    )
    if any(p is not None and query.schema.get_sort(p) in NUMERIC_SORTS for p in values):
        return True
    query.draft.columns.append(build_aggregate("COUNT", vertex.term, distinct=True))
    return True


def _find_counted(query: QueryBuilder, operator: Operator) -> tuple[Slot | None, Vertex | None]:
    """Return the next slot and vertex; a value's vertex is that of the things with it."""
    slot, vertex = query.find_next_slot(operator.last), query.find_next_vertex(operator.last)
    link = vertex.node.link if vertex and vertex.parent else None
    is_value = vertex is not None and link is not None and link.kind is ItemKind.VALUE
    if vertex and is_value and (slot is None or slot.first >= vertex.name_positions[0]):
        return None, vertex.parent
    return slot, vertex


def bound_group_count(query: QueryBuilder, quantity: Quantity, sign: str) -> bool:
    """Bound the count that each group shows: "X per Y, only those with more than 25"."""
    draft, root_term = query.draft, query.root.term
    counts = [
        column
        for column in draft.columns
        if isinstance(column, Call) and get_function(column) == "COUNT"
    ]
    if not counts and "rate" in query.notes and isinstance(root_term, Variable):
        counts = [build_aggregate("COUNT", root_term, distinct=True)]
    following = range(quantity.last + 1, len(query.question.tokens))
    is_alone = all(map(query.question.is_stop, following))
    if len(counts) != 1 or not (draft.group_keys and is_alone) or quantity.value is None:
        return False
    draft.having.append(Call(sign, (counts[0], to_number_term(quantity.value))))
    query.consume_quantity(quantity)
    return True


def _is_used_by_aggregate(query: QueryBuilder, operator: Operator) -> bool:
    """Return whether an aggregate beside a count uses its number: "the average number of"."""
    question = query.question
    gaps = (
        range(min(aggregate.last, operator.last) + 1, max(aggregate.first, operator.first))
        for aggregate in query.operators.get_operators("average", "sum", "minimum", "maximum")
    )
    conjunctions = question.word_list.conjunctions
    if not any(
        all(question.is_stop(at) and question.folded_words[at] not in conjunctions for at in gap)
        for gap in gaps
    ):
        return False
    nearby_positions = range(operator.first, operator.last + MAX_TOKENS_BESIDE + 1)
    return any(slot.first in nearby_positions and not query.is_unused(slot) for slot in query.slots)


def _count_values(query: QueryBuilder, operator: Operator, slot: Slot) -> bool:
    """Count the values that a slot names, or sum up a number, or leave it to be shown."""
    attachment = query.find_attachment(slot)
    if attachment is None:
        return False
    flagged = attachment.vertex.term
    if "record" in slot.links[0].how and isinstance(flagged, Variable):  # not their names
        query.attach_and_consume(attachment)
        query.draft.columns.append(build_aggregate("COUNT", flagged, distinct=True))
        return True
    truth_terms = get_truth_terms(query.schema, attachment.predicate)
    is_flag = query.schema.get_sort(attachment.predicate) is ValueKind.BOOLEAN or is_asking_flag(
        query.schema, attachment.predicate
    )
    if (
        truth_terms is not None and is_flag and isinstance(flagged, Variable)
    ):  # "how many are approved": count the things, not yes and no
        flag = query.attach_and_consume(attachment)
        query.draft.filters.append(build_filter(flag, "=", parse_term(truth_terms[0])))
        query.draft.columns.append(build_aggregate("COUNT", flagged, distinct=True))
        return True
    is_number = query.schema.get_sort(attachment.predicate) in NUMERIC_SORTS
    has_several = (
        is_number
        and not attachment.inverse
        and not query.schema.is_functional(attachment.predicate)
    )
    operator_words = {query.question.folded_words[position] for position in operator.positions}
    distinct_words = {phrase[0] for phrase in query.question.word_list.operators["distinct"]}
    is_distinct = not is_number or bool(operator_words & distinct_words)  # "how many different"
    if not is_distinct and not has_several:
        if operator_words & query.question.word_list.clauses["totals"] or _is_quantity(
            query, attachment
        ):
            return apply_aggregate(query, operator, "SUM")
        if not _is_asked_per_group(query, attachment):
            return False
        if _has_plural_name(query, attachment):
            return apply_aggregate(query, operator, "SUM")
        is_distinct = True  # a section or a room has a number
    variable = query.attach_and_consume(attachment)
    query.draft.columns.append(build_aggregate("COUNT", variable, distinct=is_distinct))
    return True


def _is_quantity(query: QueryBuilder, attachment: Attachment) -> bool:
    """Return whether a predicate named by a plural ("beds") states a quantity of several things."""
    # No word may name these things; otherwise the question asks for the number of one of them.
    ids = query.get_vertex_ids(attachment.vertex)
    if (
        len(ids) < 2
        or attachment.path
        or query.root.name_positions
        or query.operators.get_operators("each", *_PERIOD_NAMES)
    ):
        return False
    if query.operators.asks != "number":
        return False  # "the name and number of beds of …"
    return _has_plural_name(query, attachment)


def _has_plural_name(query: QueryBuilder, attachment: Attachment) -> bool:
    names = [text.split() for text in query.schema.get_folded_names(attachment.predicate)]
    return any(words and stem_word(words[-1]) != words[-1] for words in names)


def _is_asked_per_group(query: QueryBuilder, attachment: Attachment) -> bool:
    """Return whether the question asks for a number for each of something else: "beds per city"."""
    if attachment.path or attachment.vertex is not query.root:
        return False
    for each_operator in query.operators.get_operators("each"):
        slot = query.find_next_slot(each_operator.last)
        vertex = query.find_next_vertex(each_operator.last)
        if vertex is not None and (slot is None or _is_named_before_slot(vertex, slot)):
            is_same_class = _get_classes(query, vertex) == _get_classes(query, attachment.vertex)
            return not is_same_class and has_many_between(query, vertex, attachment.vertex)
        key_attachment = query.find_attachment(slot)
        if (
            key_attachment is not None
            and key_attachment.vertex is attachment.vertex
            and key_attachment.predicate != attachment.predicate
        ):
            return not query.schema.is_functional(
                key_attachment.predicate, inverse=not key_attachment.inverse
            )
        if key_attachment is not None and slot is not None:
            return False
    return (
        bool(query.draft.group_keys)
        and attachment.vertex.term not in query.draft.group_keys
        and "each" in query.notes
    )


def _get_classes(query: QueryBuilder, vertex: Vertex) -> tuple[str, ...]:
    return query.schema.get_classes(int(vertex.node.ids[0])) if len(vertex.node.ids) else ()


def _group_by_listed_values(query: QueryBuilder, operator: Operator) -> bool:
    """Group by values that "and" joins before the noun ("male and female pupils")."""
    # Also if each has its own count: "how many are male and how many are female".
    class_link, counts = query.root.node.cls_link, query.operators.get_operators("count")
    for vertex in query.draft.vertices:
        link = vertex.node.link
        if link is None or class_link is None or len(vertex.node.terms) < 2 or vertex is query.root:
            continue
        first, last = link.positions[0], link.positions[-1]
        conjunctions = [
            operator_after
            for operator_after in query.operators.get_operators("and")
            if 0 < operator_after.first - last <= MAX_TOKENS_BESIDE
        ]
        is_before_noun = operator.last < first <= last < class_link.positions[0]
        has_second_count = any(
            0 < x.first - conjunction.last <= 2 for conjunction in conjunctions for x in counts
        )
        if (
            conjunctions
            and (is_before_noun or has_second_count)
            and first not in dict(query.projections)
        ):
            query.group_by_value(query.choose_name_variable(vertex), first)
            query.notes.append(LISTED_NOTE)
            return True
    return False


def _is_compound(query: QueryBuilder, vertex: Vertex, slot: Slot) -> bool:
    """Return whether a plural follows a class in the singular: "movie directors"."""
    link = vertex.node.cls_link
    tokens = query.question.tokens
    attachment = query.find_attachment(slot)
    if link is None or link.positions[-1] + 1 != slot.first:
        return False
    if attachment is None or attachment.vertex is not vertex:
        return False
    modifier, head = tokens[link.positions[-1]], tokens[slot.last]
    return modifier.stem == modifier.folded and head.stem != head.folded


def is_sole_request(query: QueryBuilder, operator: Operator) -> bool:
    """Return whether the question asks for nothing before the operator, apart from groups.

    For example "what is the maximum …".
    """
    earlier_slots = [x for x in query.slots if x.first < operator.first and query.is_unused(x)]
    has_earlier_vertex = any(
        vertex.term not in query.draft.group_keys for vertex in query.find_vertices_before(operator)
    )
    return not earlier_slots and not has_earlier_vertex and query.zones.is_head(operator.first)


def list_joined_operators(query: QueryBuilder, operator: Operator) -> tuple[Operator, ...]:
    """Return the operators that share a noun: "the minimum, average and maximum price"."""
    operators = query.operators.get_operators(*LISTABLE_OPERATORS)
    starts = [candidate.first for candidate in operators]
    if operator.first not in starts:
        return (operator,)
    first = last = starts.index(operator.first)
    while first and _is_list_pair(query, operators[first - 1], operators[first]):
        first -= 1
    while last + 1 < len(operators) and _is_list_pair(query, operators[last], operators[last + 1]):
        last += 1
    return operators[first : last + 1]


def _is_list_pair(query: QueryBuilder, left: Operator, right: Operator) -> bool:
    """Return whether only a comma, a conjunction and articles separate two operators."""
    gap_positions = range(left.last + 1, right.first)
    if any(not query.question.is_stop(position) for position in gap_positions):
        return False
    question = query.question
    gap, conjunctions = question.get_gap(left.last, right.first), question.word_list.conjunctions
    return "," in gap or any(question.folded_words[at] in conjunctions for at in gap_positions)


def is_column(query: QueryBuilder, operator: Operator) -> bool:
    """Return whether an extreme is a column of its own, of the number named right after it.

    It is listed with other aggregates or after a shown column: "each type and the maximum price".
    """
    operators = list_joined_operators(query, operator)
    first = operators[0].first
    opens_question = all(query.question.is_stop(position) for position in range(first))
    is_listed = not opens_question and query.zones.is_listed(first) and query.zones.is_head(first)
    if _is_after_has(query, operators) or not (is_listed or len(operators) > 1):
        return False
    last = operators[-1].last
    slot = query.find_next_slot(last, MAX_TOKENS_ACROSS)
    vertex = query.find_next_vertex(last, MAX_TOKENS_ACROSS)
    is_vertex_first = (
        vertex is not None and slot is not None and min(vertex.name_positions) < slot.first
    )
    return not is_vertex_first


def _is_after_has(query: QueryBuilder, operators: Sequence[Operator]) -> bool:
    """Return whether extremes choose things: "what has the highest and the lowest X"."""
    reading, lists = query.question, query.question.word_list
    preceding = takewhile(reading.is_stop, range(operators[0].first - 1, -1, -1))
    folded = (reading.folded_words[position] for position in preceding)
    words = [*takewhile(lambda word: word not in lists.conjunctions, folded)]
    if any(
        candidate.name in ("average", "sum") for candidate in operators
    ) or query.operators.get_operators("each"):
        return False
    has_verb = any(word in lists.text_words["has"] for word in words)
    return has_verb and not any(word in lists.clauses["possessive"] for word in words)


def apply_aggregate(query: QueryBuilder, operator: Operator, function: str) -> bool:
    """Show an aggregate of the number that the words after an operator name: "the average X".

    Numbers that are listed with it are aggregated too: "the average X and Y".
    """
    if operator.name in ("average", "sum") and bound_groups(query, operator):
        return True
    natively_ordered = (*MEASURED_SORTS, *_NATIVE_DATE_SORTS, ValueKind.TIME)
    sorts = NUMERIC_SORTS if function in ("AVG", "SUM") else natively_ordered
    variables = _find_aggregated_variables(query, operator, sorts)
    if not variables:
        return False
    for variable in variables:
        query.draft.columns.append(build_cast_aggregate(query, function, variable))
    if operator.percent is not None:
        query.notes.append("percentile")
    for (term, number, inverse), value in query.draft.edge_variables.items():
        is_of_one = function == "AVG" and value in variables and not isinstance(term, Variable)
        if is_of_one and query.schema.is_functional(number, inverse=inverse):
            query.unknown += Penalty.STEP  # one number has no average
    _group_by_listed_values(query, operator)
    return True


def _find_aggregated_variables(
    query: QueryBuilder, operator: Operator, sorts: Sequence[ValueKind]
) -> list[Variable]:
    """Return the variables to aggregate; several aggregates may share one."""
    slot = query.find_next_slot(operator.last, MAX_TOKENS_ACROSS)
    attachment = (
        None
        if slot is None or query.question.has_sentence_break(operator.last, slot.first)
        else query.find_attachment(slot, sorts=sorts)
    )
    if slot is not None and attachment is not None:
        listable = query.operators.get_operators(*LISTABLE_OPERATORS)
        is_shared = list_joined_operators(query, operator)[-1].first > operator.first or any(
            0 < candidate.first - operator.last <= MAX_TOKENS_BESIDE and candidate.last < slot.first
            for candidate in listable
        )
        if is_shared:
            return [query.attach(attachment)]
        return [query.attach_and_consume(attachment), *_iterate_listed_variables(query, slot)]
    for column in query.draft.columns:
        if isinstance(column, Call) and get_function(column) != "COUNT":
            return [get_value_variable(column)]
    # The number asked for before the operator: "how old are they on average".
    for projection in reversed(query.projections):
        is_numeric = any(
            query.schema.get_sort(predicate) in NUMERIC_SORTS and not inverse
            for (_, predicate, inverse), variable in query.draft.edge_variables.items()
            if variable == projection[1]
        )
        if projection[0] < operator.first and is_numeric:
            query.projections.remove(projection)
            return [projection[1]]
    attachment = query.find_attachment(
        query.find_previous_slot(operator.first, MAX_TOKENS_APART), sorts=NUMERIC_SORTS
    )
    if attachment is not None:
        return [query.attach_and_consume(attachment)]
    counts = query.operators.get_operators("count")
    attachment = None if sorts != NUMERIC_SORTS or counts else query.find_only_number()
    return [] if attachment is None else [query.attach(attachment)]


def _iterate_listed_variables(query: QueryBuilder, first: Slot) -> Iterator[Variable]:
    """Yield the numbers that are listed right after a slot, without an operator between."""
    last = first.last
    while (slot := query.find_next_slot(last, MAX_TOKENS_BESIDE)) is not None:
        span = range(last + 1, slot.first + 1)
        has_operator = any(x.first in span for x in query.operators.operators if x.name != "and")
        is_joined = _is_list_gap(query, range(last + 1, slot.first))
        attachment = (
            query.find_attachment(slot, sorts=NUMERIC_SORTS)
            if is_joined and not has_operator
            else None
        )
        if attachment is None or _is_group_noun(query, slot):
            return
        yield query.attach_and_consume(attachment)
        last = slot.last


def _is_group_noun(query: QueryBuilder, slot: Slot) -> bool:
    """Return whether the noun of a slot is repeated after "each" or "per year"."""
    tokens = query.question.tokens
    nouns = {tokens[position].stem for position in range(slot.first, slot.last + 1)}
    periods = query.operators.get_operators(*_PERIOD_NAMES)
    return any(tokens[period.last].stem in nouns for period in periods) or any(
        tokens[position].stem in nouns
        for operator in query.operators.get_operators("each")
        for position in range(
            max(operator.last, slot.last) + 1,
            min(operator.last + 1 + MAX_TOKENS_BESIDE, len(tokens)),
        )
    )


def _is_list_gap(query: QueryBuilder, gap_positions: range) -> bool:
    """Return whether a comma or conjunction, and no content word, stands between two nouns."""
    question = query.question
    words = {question.folded_words[position] for position in gap_positions}
    has_separator = (
        "," in question.get_gap(gap_positions.start - 1, gap_positions.stop)
        or words & question.word_list.conjunctions
    )
    return bool(has_separator) and all(map(question.is_stop, gap_positions))


def apply_calculation(query: QueryBuilder, candidate: QueryCandidate) -> QueryCandidate:
    """Return a candidate with the calculation that words ask for, or the candidate unchanged."""
    for operator in query.operators.get_operators("difference", "ratio")[:1]:
        candidate = _calculate_pair(query, operator, candidate)
    if query.operators.average_of_counts is not None:
        candidate = _compute_count_average(query, query.operators.average_of_counts, candidate)
    return candidate


def _calculate_pair(
    query: QueryBuilder, operator: Operator, candidate: QueryCandidate
) -> QueryCandidate:
    """Return the difference or ratio of the two numbers or dates that a candidate shows."""
    # The candidate is unchanged unless it shows exactly two.
    draft = query.draft
    sorts = {value: query.schema.get_sort(n) for (_, n, _), value in draft.edge_variables.items()}
    calls: list[Value] = [column for column in draft.columns if isinstance(column, Call)]
    for accepted_sorts in (NUMERIC_SORTS, _NATIVE_DATE_SORTS):
        values = calls or [
            column
            for column in draft.columns
            if sorts.get(get_value_variable(column)) in accepted_sorts
        ]
        if len(values) == 2 and all(
            sorts.get(get_value_variable(column)) in accepted_sorts for column in values
        ):
            break
    else:
        return candidate
    first, second = map(get_alias, values)
    if calls and [get_function(column) for column in calls if isinstance(column, Call)] == [
        "MIN",
        "MAX",
    ]:
        first, second = second, first
    value = draft.create_variable(
        f"{operator.name} of {draft.hints[get_value_variable(values[0])]}"
    )
    expression: Expression = Call("/" if operator.name == "ratio" else "-", (first, second))
    if accepted_sorts is _NATIVE_DATE_SORTS:
        bounds = (second, first) if calls else (first, second)
        has_years = any(sorts.get(get_value_variable(x)) is ValueKind.YEAR for x in values)
        expression = build_elapsed_time("calendar years" if has_years else "days", *bounds)
    tree = candidate.tree
    other_columns = tuple(
        (column, expression) for column, expression in tree.columns if column not in (first, second)
    )
    where = (tree,) if calls else tree.where.elements
    other_shown = tuple(column for column in candidate.shown if column not in values)
    outer = Query("SELECT", Group((*where, Bind(expression, value))), columns=((value, None),))
    columns = (*((column, None) for column, _ in other_columns), (value, None))
    tree = replace(outer if calls else replace(tree, where=outer.where), columns=columns)
    return _replace_result(query, operator, candidate, tree, (*other_shown, value))


def _replace_result(
    query: QueryBuilder,
    operator: Operator,
    candidate: QueryCandidate,
    tree: Query,
    shown: tuple[Value, ...],
) -> QueryCandidate:
    return replace(
        candidate,
        tree=tree,
        shown=shown,
        hints=query.draft.hints,
        used=candidate.used | operator.mask,
        shown_words=candidate.shown_words | operator.mask,
        gain=candidate.gain + GainWeight.OPERATOR + query.search.sum_weights(operator.mask),
        notes=(*candidate.notes, PAIRED_NOTE),
    )


def _compute_count_average(
    query: QueryBuilder, operator: Operator, candidate: QueryCandidate
) -> QueryCandidate:
    """Return the average of the counts of all groups: "moons per planet"."""
    # The candidate is unchanged if it has no groups, or only some of them.
    tree = candidate.tree
    counts = [column for column in candidate.shown if isinstance(column, Call)]
    is_complete = not (tree.having or tree.limit is not None or candidate.used & operator.mask)
    if not (tree.group_by and is_complete) or list(map(get_function, counts)) != ["COUNT"]:
        return candidate
    number = Call("AVG", (get_alias(counts[0]),))
    inner = replace(tree, distinct=False, order=())
    outer = Query("SELECT", Group((inner,)), columns=((get_alias(number), number),))
    return _replace_result(query, operator, candidate, outer, (number,))


_MAX_COMPARED_VALUES = 2_000  # with more values of a number, no percentile is computed


def apply_series(query: QueryBuilder, operator: Operator) -> bool:
    """Prepare a running total or a change: of what is counted or aggregated, else of a number."""
    if query.operators.get_operators(*_MEASURING_OPERATORS):
        return True
    slot, vertex = query.find_next_slot(operator.last), query.find_next_vertex(operator.last)
    attachment = query.find_attachment(slot, sorts=NUMERIC_SORTS)
    is_number = slot is not None and (vertex is None or not _is_named_before_slot(vertex, slot))
    if attachment is not None and is_number:
        variable = query.attach_and_consume(attachment)
        query.draft.columns.append(build_cast_aggregate(query, "SUM", variable))
    else:
        query.notes.append("rate")
    return True


def compute_window(query: QueryBuilder, candidate: QueryCandidate) -> QueryCandidate | None:
    """Return a candidate with the percentile, running total or change that words ask for.

    None if the candidate has no single number, or too many values for it.
    """
    average, tree = query.operators.average_of_counts, candidate.tree
    notes = [*query.notes, "percentile"] if average and average.percent else query.notes
    computes = [compute for name, compute in WINDOWS.items() if name in notes]
    if not computes:
        return candidate
    keys = [key for key, _ in tree.group_by]
    calls = [column for column in candidate.shown if isinstance(column, Call)]
    is_cut = tree.having or tree.limit is not None or any(key not in keys for key, _ in tree.order)
    is_single = not is_cut and len(calls) == len(computes) == 1
    result = computes[0](query, tree, calls[0]) if is_single else None
    if result is None:
        return None
    window, number = result
    values = dict(window.columns)
    names = [get_alias(number) if value is not None else name for name, value in tree.columns]
    window = replace(window, columns=tuple((name, values[name]) for name in names))
    return replace(candidate, window=window, hints=query.draft.hints)


def _compute_percentile(query: QueryBuilder, tree: Query, call: Call) -> tuple[Query, Value] | None:
    averages, variable = query.operators.get_operators("average"), get_value_variable(call)
    percent, owner = averages[0].percent, _find_owner(query, variable)
    if percent is None or len(averages) > 1 or get_function(call) != "AVG":
        return None
    term: object = owner.term
    match tree.where.elements:
        case (Query(group_by=((key, _), *_)),):  # the median of counts
            term = key
        case _ if len(query.get_vertex_ids(owner)) > _MAX_COMPARED_VALUES:
            return None
    name = "median" if percent == _HALF_PERCENT else f"percentile {percent:g}"
    result = query.draft.create_variable(f"{name} {query.draft.hints.get(variable, 'number')}")
    rename = query.build_renamer([key for key, _ in tree.group_by if isinstance(key, Variable)])
    variable_owner = term if isinstance(term, Variable) else None
    return build_percentile(tree, percent, variable_owner, rename, result), result


def _compute_series(query: QueryBuilder, tree: Query, call: Call) -> tuple[Query, Value] | None:
    """Return the running total, or the change, of the number of each period."""
    bound = {element.variable for element in tree.where.elements if isinstance(element, Bind)}
    numbers = {
        value
        for (_, predicate, _), value in query.draft.edge_variables.items()
        if query.schema.get_sort(predicate) is ValueKind.NUMBER
    }
    all_keys = [key for key, _ in tree.group_by if isinstance(key, Variable)]
    periods = [key for key in all_keys if key in bound | numbers]
    keys = [key for key in all_keys if key not in periods]
    if len(periods) != 1:
        return None
    if "running" in query.notes:
        is_sum = get_function(call) in ("COUNT", "SUM")
        rename = query.build_renamer(keys, "{0} so far")
        return build_running_total(tree, periods[0], rename) if is_sum else None
    years = 10 if query.operators.get_operators("decadal") else 1
    change = query.draft.create_variable("change")
    return build_change(tree, periods[0], years, lambda: query.build_renamer(keys), change)


WINDOWS: Mapping[str, Callable[[QueryBuilder, Query, Call], tuple[Query, Value] | None]] = {
    "percentile": _compute_percentile,
    "running": _compute_series,
    "change": _compute_series,
}
"""How to compute what compares the rows of a group; see `askgraph.sparql.windows`."""

_MIN_CLASS_SCORE = 0.6  # words name a class so well
_MAX_TIED_DIFFERENCE = 0.01  # scores that differ by no more are equal

ApplyOperators = Callable[[QueryBuilder, tuple[Operator, ...]], None]
"""Function that lets some operators use their words."""


def apply_share(query: QueryBuilder, operator: Operator) -> bool:
    """Prepare a share ("what percentage of X are Y"); see `build_share`."""
    attachment, verb = _find_summed_number(query, operator), _find_verb(query, operator)
    if verb is not None:
        query.consume_tokens([verb])
    if attachment is not None:
        query.draft.columns.append(
            build_cast_aggregate(query, "SUM", query.attach_and_consume(attachment))
        )
        for sum_operator in query.operators.get_operators("sum"):
            query.consume_words(sum_operator.mask, query.search.sum_weights(sum_operator.mask))
            query.gain += GainWeight.OPERATOR
        return True
    class_link = _find_whole_class(query, operator)
    if class_link is None or not (
        query.root.node.edges or query.root.node.cls != class_link.target
    ):
        return False
    query.consume_link(class_link)
    return True


def _find_summed_number(query: QueryBuilder, operator: Operator) -> Attachment | None:
    """Find the number to sum up, which the words for the whole name."""
    slot = query.find_next_slot(operator.last, MAX_TOKENS_ACROSS)
    if slot is None:
        return None
    gap_positions = range(operator.last + 1, slot.first)
    sum_positions = {at for x in query.operators.get_operators("sum") for at in x.positions}
    is_adjacent = all(
        position in sum_positions or query.question.is_stop(position) for position in gap_positions
    )
    if not (is_adjacent or slot.first - 1 in sum_positions or query.zones.is_head(slot.first)):
        return None
    verb = _find_verb(query, operator)
    return (
        None
        if verb is not None and verb < slot.first
        else query.find_attachment(slot, sorts=NUMERIC_SORTS)
    )


def _find_whole_class(query: QueryBuilder, operator: Operator) -> Link | None:
    """Return the class named after "what percentage of", if all root nodes are its instances."""
    ids = query.get_vertex_ids(query.root)
    nearby_links = [
        link
        for link in query.linked.get_links(ItemKind.CLASS)
        if 0 < link.positions[0] - operator.last <= MAX_TOKENS_BESIDE
        and link.score >= _MIN_CLASS_SCORE
    ]
    min_score = nearby_links[0].score - _MAX_TIED_DIFFERENCE if nearby_links else 0.0
    best_links = [link for link in nearby_links if link.score >= min_score]
    best_links.sort(key=lambda link: link.positions[0])  # "of the boats are rafts"
    return next(
        (link for link in best_links if query.schema.has_only_instances(ids, link.target)), None
    )


def _find_verb(query: QueryBuilder, operator: Operator) -> int | None:
    """Return the position of the verb before the part; that of a relative clause if need be."""
    question, verbs = query.question, query.question.word_list.clauses["parting"]
    positions = [
        position
        for position in range(operator.last + 2, len(question.tokens))
        if question.folded_words[position] in verbs
    ]
    clauses = question.word_list.clauses
    relative_words = clauses["restrict"] - clauses["weak"]
    main_positions = (at for at in positions if question.folded_words[at - 1] not in relative_words)
    return next(main_positions, positions[0] if positions else None)


def _find_part_words(query: QueryBuilder, operator: Operator) -> int:
    """Return the words for the part as a bit mask."""
    # They follow the verb; without a verb they precede the operator, or name the last thing.
    verb, count = _find_verb(query, operator), len(query.question.tokens)
    if verb is not None:
        return to_bit_mask((*range(operator.first), *range(verb, count)))
    links = [link for node in query.state.node.walk() for link in (node.link,) if link is not None]
    last_link = max(links, key=lambda link: link.positions, default=None)
    earlier_words = to_bit_mask(range(operator.first))
    if last_link is None or any(link.mask & earlier_words for link in links):
        return earlier_words
    return last_link.mask


def build_share(
    query: QueryBuilder, candidate: QueryCandidate, apply_operators: ApplyOperators
) -> QueryCandidate | None:
    """Return a candidate for the share of a count or sum in the whole, in percent."""
    tree, root, draft = candidate.tree, candidate.root, query.draft
    operator = query.operators.get_operators("share")[0]
    aggregates = [column for column in candidate.shown if isinstance(column, Call)]
    keys: tuple[Value, ...] = tuple(
        column for column in candidate.shown if column not in aggregates
    )
    if tree.having or tree.limit is not None or len(aggregates) > 1 or candidate.is_ask:
        return None
    if not aggregates and (keys != (root,) or _find_whole_class(query, operator) is None):
        return None
    if aggregates:
        owner = _find_owner(query, get_value_variable(aggregates[0]))
        others = (vertex for vertex in draft.vertices if vertex is not owner)
        if {*keys} != {*draft.group_keys} or any(has_many_between(query, owner, x) for x in others):
            return None  # a sum would be too high
    part_value = (
        aggregates[0]
        if aggregates
        else build_aggregate("COUNT", get_value_variable(root), distinct=True)
    )
    whole_query = _build_whole_query(query, operator, part_value, apply_operators)
    if aggregates and keys:  # "the share of large ships per year" is of the ships of each year
        totals = _build_whole_query(query, operator, part_value, apply_operators, is_grouped=True)
        if totals is not None and not _get_shape(tree.where) <= _get_shape(totals.where):
            return _build_share_of_groups(query, candidate, part_value, totals)
    if whole_query is None or (
        _get_shape(tree.where) <= _get_shape(whole_query.where) and not (aggregates and keys)
    ):
        return None
    columns = (
        (get_alias(part_value), part_value),
        *((get_alias(column), None) for column in keys * bool(aggregates)),
    )
    part = replace(tree, columns=columns, distinct=False, order=())
    value = draft.create_variable("percentage of " + draft.hints[get_value_variable(part_value)])
    operands = get_alias(part_value), whole_query.columns[0][0]
    percent = Call("/", (Call("*", (to_number_term(100), operands[0])), operands[1]))
    shown_columns = (*(keys if aggregates else ()), value)
    inner = Group((part, whole_query, Bind(percent, value)))
    return replace(
        candidate,
        tree=Query(
            "SELECT", inner, columns=tuple((get_alias(column), None) for column in shown_columns)
        ),
        shown=shown_columns,
        hints=draft.hints,
    )


def _build_share_of_groups(
    query: QueryBuilder, candidate: QueryCandidate, part_value: Call, total: Query
) -> QueryCandidate:
    """Return the share of a part in each group; 0 in groups without it."""
    draft, alias = query.draft, get_alias(part_value)
    columns = ((alias, part_value), *total.columns[1:])
    part = replace(candidate.tree, columns=columns, distinct=False, order=())
    value = draft.create_variable("percentage of " + draft.hints[get_value_variable(part_value)])
    count = Call("COALESCE", (alias, to_number_term(0)))
    percent = Call("/", (Call("*", (to_number_term(100), count)), total.columns[0][0]))
    answers = tuple(value if column == part_value else column for column in candidate.shown)
    where = Group((total, Nested("OPTIONAL", Group((part,))), Bind(percent, value)))
    tree = Query("SELECT", where, columns=tuple((get_alias(column), None) for column in answers))
    return replace(candidate, tree=tree, shown=answers, hints=draft.hints)


def _find_owner(query: QueryBuilder, value: Variable) -> Vertex:
    """Return the vertex that has a number as a property."""
    subjects = [x.subject for x in query.draft.patterns if x.object == value]
    return next(
        (candidate for candidate in query.draft.vertices if candidate.term in subjects), query.root
    )


def _get_shape(group: Group) -> frozenset[object]:
    """Return the elements of a group with all variables masked."""
    placeholder = Variable("any")
    masked: Group = transform(
        group, lambda node: placeholder if isinstance(node, Variable) else node
    )
    return frozenset(masked.elements)


def _build_whole_query(
    query: QueryBuilder,
    operator: Operator,
    counted: Call,
    apply_operators: ApplyOperators,
    *,
    is_grouped: bool = False,
) -> Query | None:
    builder = _build_whole(query, operator, counted, apply_operators)
    keys: list[Variable] = []
    if is_grouped:
        apply_operators(builder, query.operators.get_operators("each", *_PERIOD_NAMES))
        keys = list(dict.fromkeys(query.draft.group_keys))
        if len(keys) != len(builder.draft.group_keys):
            return None
    variable, is_sum = builder.root.term, counted.name != "COUNT DISTINCT"
    if is_sum:
        attachment = builder.find_attachment(
            builder.find_next_slot(operator.last, MAX_TOKENS_ACROSS), sorts=NUMERIC_SORTS
        )
        variable = variable if attachment is None else builder.attach_and_consume(attachment)
    for slot in builder.slots:
        is_missing = slot in query.used_slots and builder.is_unused(slot)
        attachment = builder.find_attachment(slot) if is_missing else None
        if attachment is not None:
            builder.attach_and_consume(attachment)
    if not isinstance(variable, Variable) or is_sum == (variable == builder.root.term):
        return None
    call = (
        build_cast_aggregate(builder, "SUM", variable)
        if is_sum
        else build_aggregate("COUNT", variable, distinct=True)
    )
    fresh_variables = dict(zip(builder.draft.group_keys, keys, strict=True)) if keys else {}

    def rename_variable(node: object) -> object:
        if not isinstance(node, Variable) or node not in builder.draft.hints:
            return node
        if node not in fresh_variables:
            fresh_variables[node] = query.draft.create_variable("all " + builder.draft.hints[node])
        return fresh_variables[node]

    where = transform(builder.draft.to_query().where, rename_variable)
    renamed_call: Call = transform(call, rename_variable)
    columns = ((get_alias(renamed_call), renamed_call), *((key, None) for key in keys))
    return Query("SELECT", where, columns=columns, group_by=tuple((key, None) for key in keys))


def _build_whole(
    query: QueryBuilder, operator: Operator, counted: Call, apply_operators: ApplyOperators
) -> QueryBuilder:
    """Return the builder of the whole: the words of the part and the counted value are left out."""
    part_words, link = _find_part_words(query, operator), _find_whole_class(query, operator)
    node = _remove_words(query.state.node, part_words)
    known_class = query.state.node.cls
    ids = query.get_vertex_ids(query.root)
    owner_vertex = _find_owner(query, get_value_variable(counted))
    if not (node.edges or node.terms) and owner_vertex is not query.root:
        node = Node(query.get_vertex_ids(owner_vertex))
        known_class = None
        ids = query.get_vertex_ids(owner_vertex)
        link = None
    if query.root.term in query.draft.group_keys:
        node = replace(node, cls=known_class)
    cls = (
        link.target if link is not None else node.cls or _find_common_class(query, ids, known_class)
    )
    node = replace(node, ids=node.ids if cls is None else query.schema.get_instances(cls), cls=cls)
    state = PartialMatch(node, query.state.used & ~part_words, 0.0, anchored=True)
    slots = [slot for slot in query.slots if not slot.mask & part_words]
    builder = QueryBuilder(query.lookups, state, slots)
    if link is not None:
        builder.consume_link(link)
    apply_operators(builder, tuple(x for x in query.filters_by_operator if not x.mask & part_words))
    return builder


def _find_common_class(query: QueryBuilder, ids: Ids, known_class: str | None) -> str | None:
    """Return the smallest class of all the nodes that is larger than the known class."""
    schema = query.schema
    classes = schema.get_classes(int(ids[0])) if len(ids) else ()
    superclasses = [
        parent
        for cls in classes
        for parent in schema.classes[cls].parents
        if parent in schema.classes
    ]
    min_size = len(schema.get_instances(known_class)) if known_class is not None else 0
    common = [cls for cls in (*classes, *superclasses) if schema.has_only_instances(ids, cls)]
    larger = [cls for cls in common if len(schema.get_instances(cls)) > min_size]
    return min(larger, key=lambda cls: len(schema.get_instances(cls)), default=None)


def _remove_words(node: Node, part_words: int) -> Node:
    """Return a node of a match without what some words require."""
    is_removed = node.link is not None and not node.link.mask & ~part_words
    if node.quantity is not None:
        is_removed = not to_bit_mask(node.quantity.positions) & ~part_words
    has_removed_class = node.cls_link is not None and bool(node.cls_link.mask & part_words)
    edges = tuple(
        (edge, _remove_words(child, part_words))
        for edge, child in node.edges
        if (find_named_words(child) or (edge.link.mask if edge.link is not None else 0))
        & ~part_words
    )
    return replace(
        node,
        edges=edges,
        terms=() if is_removed else node.terms,
        link=None if is_removed else node.link,
        quantity=None if is_removed else node.quantity,
        cls=None if has_removed_class else node.cls,
        cls_link=None if has_removed_class else node.cls_link,
        negated=tuple(
            negated for negated in node.negated if find_named_words(negated) & ~part_words
        ),
    )
