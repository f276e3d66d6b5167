"""Condition operators: comparisons of values and texts, existence and absence."""

import re
from collections.abc import Set
from dataclasses import replace

import numpy as np
from pyoxigraph import Literal, NamedNode, Variable

from askgraph import sparql as ast
from askgraph.graph.arrays import Ids, intersect
from askgraph.graph.literals import ValueKind, split_literal, to_day_number
from askgraph.index.names import ItemKind
from askgraph.search.expand import (
    MAX_TOKENS_APART,
    MAX_TOKENS_BESIDE,
    MAX_TOKENS_FAR,
    MAX_TOKENS_NEAR,
    Edge,
    Node,
    Penalty,
)
from askgraph.search.expand.schema import get_truth_terms, has_years
from askgraph.search.link import Link
from askgraph.search.operators.aggregates import (
    AGGREGATE_FUNCTIONS,
    FEW_NOTE,
    bound_group_count,
    cast_value,
    get_cast,
    group_for_count,
    has_many_between,
)
from askgraph.search.operators.query_builder import (
    DATE_SORTS,
    FIRST_DAY_NUMBER,
    MEASURED_SORTS,
    NUMERIC_SORTS,
    TEMPORAL_SORTS,
    Attachment,
    QueryBuilder,
    QueryCandidate,
    Vertex,
    build_day_bound,
    build_unnamed_attachment,
    get_year,
    note_durations,
)
from askgraph.search.operators.times import (
    build_duration,
    compare_age,
    compare_quantity_nodes,
    convert_quantity,
    find_asked_span,
    find_by_dimension,
    find_dimension,
    find_lasting,
    find_span,
    is_endpoint_named,
    is_time_value,
    note_other_duration,
    require_exact_span,
    require_overlap,
)
from askgraph.search.query_pieces import (
    INTEGER,
    build_aggregate,
    build_aggregate_query,
    build_cast,
    build_filter,
    build_not_exists,
    build_pattern,
    connect_variables,
    get_alias,
    parse_term,
    to_number_term,
)
from askgraph.search.tokenize import Quantity
from askgraph.search.tokenize.question_operators import (
    COMPARISON_SIGNS,
    Operator,
    find_matched_text,
    find_text_holder,
)
from askgraph.search.tokenize.word_lists import get_shared_words
from askgraph.sparql.vocabulary import (
    RDF_TYPE,
    XSD_DATE_TIME,
    XSD_DATE_TIME_STAMP,
    XSD_STRING,
    XSD_TIME,
)

_MAX_TEXT_VALUES = 20_000  # values to search for the text; with more, it is assumed to occur


def apply_text_condition(query: QueryBuilder, operator: Operator, function: str) -> bool:
    """Require a text in a value: "containing 'x'", "starting with 'x'"."""
    text_positions = find_matched_text(query.question, operator.positions)
    if text_positions is None or any(query.used >> position & 1 for position in text_positions):
        return False
    attachment = _find_text_attachment(query, operator, text_positions)
    if attachment is None or not _require_text(query, attachment, function, text_positions):
        return False
    text_kind_words = query.question.word_list.text_words["kinds"]
    query.consume_tokens(
        position
        for position in range(operator.last, text_positions.start)
        if query.question.folded_words[position] in text_kind_words
    )
    return True


def apply_name_condition(query: QueryBuilder, operator: Operator) -> bool:
    """Require words in the name: "Gemini flights", "a flight called Gemini 4"."""
    tokens, naming = query.question.tokens, query.question.word_list.naming
    is_called = tokens[operator.first - 1].stem in naming
    beside = {operator.first - 1, operator.last + 1}
    named_vertices = (
        vertex
        for vertex in query.draft.vertices
        if not beside.isdisjoint(vertex.name_positions)
        or (is_called and any(at < operator.first for at in vertex.name_positions))
    )
    vertex = next(named_vertices, None)
    if vertex is None:
        return False
    ids = query.get_vertex_ids(vertex)
    names = sorted(
        query.schema.naming_predicates & query.lookups.find_predicates(ids, inverse=False)
    )
    if not names:
        return False
    name = query.schema.find_name_predicate(ids) or names[0]
    attachment = build_unnamed_attachment(vertex, name)
    positions = range(operator.first, operator.last + 1)
    is_whole = is_called and _require_text(query, attachment, "TEXT", positions)
    return is_whole or _require_text(query, attachment, "CONTAINS", positions)


def _require_text(
    query: QueryBuilder, attachment: Attachment, function: str, text_positions: range
) -> bool:
    """Require the text of some tokens in a value; return False if nothing has it."""
    # A yes-no question may ask for a name that nothing has: the answer is no.
    tokens = query.question.tokens
    text = query.question.text[
        tokens[text_positions.start].start : tokens[text_positions.stop - 1].end
    ]
    bearers = _find_text_bearers(query, attachment, function, text.lower())
    if bearers is not None:
        if len(bearers):
            query.narrow_vertex(attachment.vertex, bearers)
        elif function != "TEXT" or not query.operators.is_yes_no_question:
            return False
    variable = query.attach_and_consume(attachment)
    if (
        attachment.slot is not None
        and query.zones.is_head(attachment.slot.first)
        and not query.draft.columns
    ):
        query.shown_words |= attachment.slot.mask
        query.projections.append((attachment.slot.first, variable))
    query.draft.filters.append(build_filter(variable, function, Literal(text)))
    query.consume_tokens(text_positions)
    return True


def _find_text_attachment(
    query: QueryBuilder, operator: Operator, text_positions: range
) -> Attachment | None:
    """Find the value that holds the text: named after it ("in its title"), before it, or a name."""
    holder = find_text_holder(query.question, text_positions)
    slot = (
        (query.find_next_slot(holder, 2) if holder is not None else None)
        or query.find_previous_slot(operator.first + 1, MAX_TOKENS_NEAR)
        or query.find_next_slot(text_positions.stop - 1, 2)
    )
    earlier_vertices = [
        (
            max(position for position in vertex.name_positions if position < operator.first),
            -vertex.depth,
            index,
            vertex,
        )
        for index, vertex in enumerate(query.draft.vertices)
        if any(
            operator.first - MAX_TOKENS_APART - MAX_TOKENS_NEAR <= position < operator.first
            for position in vertex.name_positions
        )
        and query.lookups.is_resource(vertex.node.ids)
    ]
    nearest = max(earlier_vertices)[3] if earlier_vertices else query.root
    if slot is not None:
        for _, link, number in query.lookups.iterate_slot_predicates(slot, ()):
            is_present = query.lookups.has_predicate(query.get_vertex_ids(nearest), number, False)
            if is_present and query.schema.get_sort(number) is not ValueKind.NONE:
                return Attachment(nearest, number, False, link, slot=slot)
        attachment = query.find_attachment(slot)
        if (
            attachment is not None
            and query.schema.get_sort(attachment.predicate) is not ValueKind.NONE
        ):
            return attachment
        if attachment is not None and not attachment.path:
            ids = query.graph.step(
                query.get_vertex_ids(attachment.vertex),
                attachment.predicate,
                inverse=attachment.inverse,
            )
            name = query.schema.find_name_predicate(ids)
            if name is None:
                return None
            variable = query.attach_and_consume(attachment)
            existing_vertex = query.draft.find_vertex(variable)
            vertex = existing_vertex or Vertex(variable, Node(ids), attachment.vertex.depth + 1)
            if existing_vertex is None:
                query.draft.vertices.append(vertex)
            return build_unnamed_attachment(vertex, name)
    name = query.schema.find_name_predicate(query.get_vertex_ids(nearest))
    return None if name is None else build_unnamed_attachment(nearest, name)


def _find_text_bearers(
    query: QueryBuilder, attachment: Attachment, function: str, text: str
) -> Ids | None:
    """Return the nodes whose value holds the text; None if there are too many values to check."""
    if attachment.path:
        return None
    bearers, objects = query.graph.get_edges(
        query.get_vertex_ids(attachment.vertex), attachment.predicate
    )
    if len(objects) > _MAX_TEXT_VALUES:
        return None
    matches = {
        "CONTAINS": str.__contains__,
        "STRSTARTS": str.startswith,
        "STRENDS": str.endswith,
        "TEXT": str.__eq__,
    }[function]
    first, terms = query.graph.terms.first_iri, query.graph.terms
    values = {
        node_id: node_id < first
        and matches(split_literal(terms.get_text(node_id))[0].lower(), text)
        for node_id in np.unique(objects).tolist()
    }
    is_match = np.array([values[node_id] for node_id in objects.tolist()], dtype=np.bool_)
    return intersect(np.unique(bearers[is_match]), query.get_vertex_ids(attachment.vertex))


_MAX_DATATYPE_VALUES = 500  # values to sample for their datatypes
_MIN_NAME_SCORE = 0.95  # minimum score of a name that contains a number
_MAX_AGGREGATE_DISTANCE = 2  # maximum words between a comparison and the average it refers to
_COMPARABLE_SORTS = (*MEASURED_SORTS, *TEMPORAL_SORTS)
_DAY_SORTS = (*DATE_SORTS, ValueKind.DAY_TEXT)


def apply_comparison(query: QueryBuilder, operator: Operator) -> bool:
    """Add a condition on a value or a count: "more than 5 X", "before 1990"."""
    next_quantity = _find_quantity_after(query, operator)
    previous_quantity = query.operators.get_quantity_before(operator, 1)
    quantity = (
        previous_quantity
        if operator.name in ("at_least", "at_most") and previous_quantity
        else next_quantity
    )
    sign: str | None = COMPARISON_SIGNS.get(operator.name)
    if sign is not None and _is_negated(query, operator):
        sign = _NEGATED_SIGNS[sign]
    if quantity is not None and any(query.used >> position & 1 for position in quantity.positions):
        return False
    if quantity is None or sign is None:
        return _compare_with_reference(query, operator, sign)
    used_words = operator.mask | sum(1 << position for position in quantity.positions)
    is_temporal = operator.name in ("before", "after")
    if query.find_next_vertex(quantity.last, 2) is not None and not is_temporal:
        return _compare_count(query, operator, quantity, sign)
    if not is_temporal and _compare_with_unit(query, operator, quantity, sign):
        return True
    attachment = _find_compared(query, operator, quantity, is_temporal)
    if attachment is None:
        return not is_temporal and (
            _compare_count(query, operator, quantity, sign)
            or bound_group_count(query, quantity, sign)
        )
    if not (is_temporal and _require_end_within(query, operator, attachment, quantity)):
        add_bound(
            query, attachment, quantity, sign, is_since=_is_time_word(query, operator, "since")
        )
    query.consume_words(used_words, sum(query.weights[position] for position in quantity.positions))
    return True


def _find_quantity_after(query: QueryBuilder, operator: Operator) -> Quantity | None:
    """Return the quantity after an operator, unless it ends a name: "before Apollo 12"."""
    quantity = query.operators.get_quantity_after(operator)
    if quantity is None:
        return None
    is_in_name = any(
        link.score >= _MIN_NAME_SCORE and operator.last < link.positions[0] < quantity.first
        for link in query.linked.get_links(ItemKind.ENTITY)
        if quantity.first in link.positions
    )
    return None if is_in_name else quantity


def _compare_with_unit(
    query: QueryBuilder, operator: Operator, quantity: Quantity, sign: str
) -> bool:
    """Compare a number with its unit: "more than 30 years old", or at a node of quantities."""
    following = quantity.positions_with_unit.stop
    if quantity.unit is not None and following < len(query.question.tokens):
        word = query.question.tokens[following].folded
        for measure in query.question.word_list.measures_by_first_word.get(word, ()):
            if measure.degree != "plain" or quantity.value is None:
                continue
            adjective_operator = replace(operator, measure=measure)
            attachment = query.find_by_words(measure.property_names, MEASURED_SORTS)
            if attachment is not None and _can_compare(query, attachment.predicate, quantity):
                add_bound(query, attachment, quantity, sign)
            elif not measure.is_age or not compare_age(
                query, adjective_operator, quantity.value, sign
            ):
                continue
            query.consume_tokens(range(quantity.first, following + 1))
            return True
    slots = (
        query.find_previous_slot(operator.first, MAX_TOKENS_APART),
        query.find_next_slot(quantity.last, MAX_TOKENS_BESIDE),
    )
    return compare_quantity_nodes(
        query, [slot for slot in slots if slot is not None], quantity, sign
    )


def _find_compared(
    query: QueryBuilder, operator: Operator, quantity: Quantity, is_temporal: bool
) -> Attachment | None:
    """Find the predicate to compare; note a number in place of a duration that words name."""
    attachment = _choose_compared(query, operator, quantity, is_temporal)
    is_span = quantity.unit is not None and quantity.unit.dimension == "time"
    if attachment is not None and is_span:
        note_other_duration(query, operator, attachment.predicate)
    return attachment


def _choose_compared(
    query: QueryBuilder, operator: Operator, quantity: Quantity, is_temporal: bool
) -> Attachment | None:
    """Find the predicate to compare: named before, named after, or by its measure."""
    sorts: tuple[ValueKind, ...] = (
        _COMPARABLE_SORTS if quantity.days is not None else (*MEASURED_SORTS, ValueKind.TIME)
    )
    sorts = TEMPORAL_SORTS if is_temporal else sorts
    slots = [
        query.find_previous_slot(operator.first, MAX_TOKENS_APART),
        query.find_next_slot(quantity.last, MAX_TOKENS_BESIDE),
        query.find_next_slot(operator.last, 2),
    ]
    for slot in slots:
        attachment = query.find_attachment(slot, sorts=sorts)
        if attachment is not None and _can_compare(query, attachment.predicate, quantity):
            query.consume_attachment(attachment)
            return attachment
    lasting = find_lasting(query, operator.measure)
    if lasting is not None and _can_compare(query, lasting.predicate, quantity):
        return lasting
    if operator.measure is not None:
        previous = operator.first - 1  # "people older than 30", "people who are older"
        while query.question.is_stop(previous) and previous > 0:
            previous -= 1
        is_adjacent = previous + 1 == operator.first or (
            query.question.folded_words[previous + 1]
            in query.question.word_list.clauses["restrict"]
        )
        described = next(
            (x for x in query.draft.vertices if is_adjacent and previous in x.name_positions), None
        )
        for words in (operator.measure.property_names, operator.measure.date_names):
            attachment = query.find_by_words(words, sorts, preferred=described)
            if attachment is not None and _can_compare(query, attachment.predicate, quantity):
                return attachment
        return find_by_dimension(query, quantity)
    if is_temporal:
        if get_day_range(quantity) is None or 0 < (quantity.value or 0) <= _HOURS_PER_DAY:
            time = query.find_only_predicate((ValueKind.TIME,))
            if time is not None and _can_compare(query, time.predicate, quantity):
                return time
        date = _find_span_date(query, operator) or query.find_only_predicate(DATE_SORTS)
        dates = sorted(get_shared_words().names["dates"], reverse=True)
        named_date = query.find_by_words(dates, NUMERIC_SORTS + DATE_SORTS)
        if named_date is not None and has_years(query.schema, named_date.predicate):
            date = date or named_date
        return date or query.find_event_date()
    attached = [
        replace(build_unnamed_attachment(vertex, predicate), inverse=inverse)
        for (term, predicate, inverse) in query.draft.edge_variables
        for vertex in query.draft.vertices
        if vertex.term == term and query.schema.get_sort(predicate) in sorts
    ]
    attachment = attached[0] if attached else find_by_dimension(query, quantity)
    is_unnamed = attachment is None and quantity.unit is None and not any(slots)
    return query.find_only_number() if is_unnamed else attachment


def _compare_count(query: QueryBuilder, operator: Operator, quantity: Quantity, sign: str) -> bool:
    """Add a condition on a count: "more than two X"."""
    if quantity.value is None:
        return False
    vertex = query.find_next_vertex(quantity.last, MAX_TOKENS_BESIDE)
    if vertex is query.root and isinstance(vertex.term, Variable):
        counted_variable = vertex.term if _group_by_previous_slot(query, operator) else None
    elif vertex is not None and isinstance(vertex.term, Variable):
        counted_variable = vertex.term
    else:
        slot = query.find_next_slot(quantity.last, MAX_TOKENS_BESIDE)
        attachment = query.find_attachment(slot)
        if slot is None and vertex is None:
            attachment = query.find_by_kind(quantity.last)
        counted_variable = (
            query.attach_and_consume(attachment)
            if attachment is not None and not _is_single_valued(query, attachment)
            else None
        )
    if counted_variable is None:
        counted_variable = _find_repeated(query, operator, quantity)
    if counted_variable is None:
        return False
    count = build_aggregate("COUNT", counted_variable, distinct=True)
    query.draft.having.append(ast.Call(sign, (count, to_number_term(quantity.value))))
    query.notes += [FEW_NOTE] if sign in ("<", "<=") else []
    if not query.draft.group_keys:
        group_for_count(query, counted_variable, operator)
    query.is_grouped = True
    query.consume_quantity(quantity)
    return True


def _find_repeated(query: QueryBuilder, operator: Operator, quantity: Quantity) -> Variable | None:
    """Return what happened so many times: the values of the verb before, as in "won twice"."""
    words, first = query.question.word_list.time_phrases["repeated"], quantity.first
    positions = range(first, quantity.last + 2)
    repeated = next(
        (at for at in positions for word in words if query.question.has_phrase_at(word, at)), None
    )
    if repeated is None:
        return None
    before = min(first, operator.first)
    attachment = query.find_attachment(query.find_previous_slot(before, MAX_TOKENS_NEAR))
    if attachment is not None and not _is_single_valued(query, attachment):
        query.consume_tokens((repeated,))
        return query.attach_and_consume(attachment)
    counted_variables = (
        vertex.term
        for vertex in query.draft.vertices
        if isinstance(vertex.term, Variable)
        and vertex is not query.root
        and has_many_between(query, query.root, vertex)
    )
    counted = next(counted_variables, None)
    query.consume_tokens((repeated,) if counted is not None else ())
    return counted


def _is_single_valued(query: QueryBuilder, attachment: Attachment) -> bool:
    """Return whether each thing has at most one value, so that there is nothing to count."""
    single = query.schema.is_functional(attachment.predicate, inverse=attachment.inverse)
    return single and not attachment.path and attachment.vertex is query.root


def _group_by_previous_slot(query: QueryBuilder, operator: Operator) -> bool:
    """Group by the values named before: "grades that have at least 4 students"."""
    slot = query.find_previous_slot(operator.first, MAX_TOKENS_APART)
    attachment = query.find_attachment(slot)
    if slot is None or attachment is None:
        return False
    query.group_by_value(
        query.choose_object_variable(query.attach_and_consume(attachment), attachment), slot.first
    )
    return True


def apply_comparative(query: QueryBuilder, operator: Operator) -> bool:
    """Add a condition on what an adjective measures: "taller than 90", "larger than Mars"."""
    measure = operator.measure
    if measure is None:
        return False
    has_or = (query.question.folded_words[operator.first],) in query.question.word_list.operators[
        "or"
    ]
    previous_quantity = query.operators.get_quantity_before(operator, 1) if has_or else None
    quantity = previous_quantity or _find_quantity_after(query, operator)
    if quantity is None:
        return _compare_with_reference(query, operator, ">" if measure.is_upward else "<")
    attachment = _find_compared(query, operator, quantity, False)
    is_time = attachment is not None and is_time_value(query.schema, attachment.predicate, measure)
    sign = "<" if measure.is_upward == is_time else ">"
    sign = _NEGATED_SIGNS[sign] if _is_negated(query, operator) else sign + "=" * has_or
    if attachment is not None:
        add_bound(query, attachment, quantity, sign)
    elif (
        not measure.is_age
        or quantity.value is None
        or not compare_age(query, operator, quantity.value, sign)
    ):
        return False
    query.consume_quantity(quantity)
    return True


_NEGATED_SIGNS = {">": "<=", "<": ">=", ">=": "<", "<=": ">", "=": "!="}


def _is_negated(query: QueryBuilder, operator: Operator) -> bool:
    """Return whether "not" stands right before an operator: "not higher than"."""
    return any(
        negation.last + 1 == operator.first for negation in query.operators.get_operators("not")
    )


def _compare_with_reference(query: QueryBuilder, operator: Operator, sign: str | None) -> bool:
    """Compare with the average or an extreme of all, or with the value of another thing."""
    if sign is None:
        return False
    later_aggregates = (
        aggregate_operator
        for aggregate_operator in query.operators.get_operators(*AGGREGATE_FUNCTIONS, "superlative")
        if 0 < aggregate_operator.first - operator.last <= _MAX_AGGREGATE_DISTANCE
    )
    next_aggregate = next(later_aggregates, None)
    if next_aggregate is not None and next_aggregate.name != "sum":
        return _compare_with_aggregate(query, operator, next_aggregate, sign)
    return _compare_with_property(query, operator, sign) or any(
        _compare_with_entity(query, operator, link, sign)
        for link in query.linked.get_links(ItemKind.ENTITY, ItemKind.VALUE)
        if 0 < link.positions[0] - operator.last <= MAX_TOKENS_BESIDE
        and query.search.compute_gain(link, query.used)
    )


def _compare_with_property(query: QueryBuilder, operator: Operator, sign: str) -> bool:
    """Compare two properties of one thing: "whose height is greater than its width"."""
    question = query.question
    next_slot = query.find_next_slot(operator.last, MAX_TOKENS_APART)
    previous_slot = query.find_previous_slot(operator.first, MAX_TOKENS_APART)
    than_words = question.word_list.clauses["than"]
    if next_slot is not None and any(
        question.folded_words[position] in than_words
        for position in range(next_slot.last + 1, len(question.tokens))
    ):
        previous_slot, next_slot = next_slot, query.find_next_slot(next_slot.last, MAX_TOKENS_APART)
    left, right = (
        query.find_attachment(operand, sorts=_COMPARABLE_SORTS)
        for operand in (previous_slot, next_slot)
    )
    if left is None or right is None or left.predicate == right.predicate:
        return False
    sorts = [query.schema.get_sort(operand.predicate) for operand in (left, right)]
    number_flags = {sort in MEASURED_SORTS for sort in sorts}
    if sorts[0] is not sorts[1] and {*sorts} & {ValueKind.DURATION, ValueKind.TIME}:
        return False
    if left.vertex is not right.vertex or left.path or right.path or len(number_flags) > 1:
        return False
    left_value, right_value = query.attach_and_consume(left), query.attach_and_consume(right)
    cast = get_cast(query, left_value) or get_cast(query, right_value)
    if cast:
        return False  # texts that read as numbers cannot be compared with each other
    is_time = operator.measure is not None and True not in number_flags
    effective_sign = _REVERSED_SIGNS[sign] if is_time else sign
    query.draft.filters.append(build_filter(left_value, effective_sign, right_value))
    query.notes.append("own")
    return True


_REVERSED_SIGNS = {">": "<", "<": ">", ">=": "<=", "<=": ">="}


def _compare_with_aggregate(
    query: QueryBuilder, operator: Operator, aggregate_operator: Operator, sign: str
) -> bool:
    slots = (
        query.find_next_slot(aggregate_operator.last, MAX_TOKENS_BESIDE),
        query.find_previous_slot(operator.first, MAX_TOKENS_APART),
    )
    attachments = [
        candidate for x in slots if (candidate := query.find_attachment(x, sorts=NUMERIC_SORTS))
    ]
    attachment = attachments[0] if attachments else None
    if attachment is not None:
        for candidate in attachments:
            if candidate.predicate == attachment.predicate:  # "a height below the average height"
                query.consume_attachment(candidate)
    elif operator.measure is not None:
        attachment = query.find_by_words(operator.measure.property_names, MEASURED_SORTS)
    if attachment is None:
        return False
    variable = query.attach(attachment)
    member_value = query.draft.create_variable(query.draft.hints[variable])
    member = query.draft.create_variable("other")
    iri = query.graph.get_predicate_iri(attachment.predicate)
    members: tuple[ast.Element, ...] = (build_pattern(member, iri, member_value),)
    if attachment.vertex.node.cls is not None:
        members = (query.draft.build_type_pattern(member, attachment.vertex.node.cls), *members)
    function = AGGREGATE_FUNCTIONS.get(aggregate_operator.name) or (
        "MAX" if aggregate_operator.measure and aggregate_operator.measure.is_upward else "MIN"
    )
    cast, filters = get_cast(query, variable), len(query.draft.filters)
    cast_value(query, variable)  # texts among the numbers are filtered out here and there
    text_filters = tuple(query.draft.filters[filters:])
    members += ast.transform(text_filters, lambda node: member_value if node == variable else node)
    subquery = build_aggregate_query(member_value, members, function, cast=cast)
    query.draft.subqueries.append(subquery)
    query.draft.filters.append(build_filter(variable, sign, get_alias(subquery), cast=cast))
    query.consume_words(aggregate_operator.mask, query.search.sum_weights(aggregate_operator.mask))
    return True


def _compare_with_entity(query: QueryBuilder, operator: Operator, link: Link, sign: str) -> bool:
    entity = query.schema.find_link_node(link)
    slots = (
        query.find_next_slot(operator.last, MAX_TOKENS_FAR),
        query.find_previous_slot(operator.first, MAX_TOKENS_NEAR),
    )
    slot = next((item for item in slots if item is not None and not item.mask & link.mask), None)
    attachment = query.find_attachment(slot, sorts=_COMPARABLE_SORTS)
    if attachment is None and operator.measure is not None:
        words = (*operator.measure.property_names, *operator.measure.date_names)
        attachment = query.find_by_words(words, _COMPARABLE_SORTS)
    if attachment is None and operator.name in ("before", "after"):
        attachment = _find_span_date(query, operator) or query.find_only_predicate(DATE_SORTS)
    if entity is None or attachment is None:
        return False
    subject = find_value_owner(query, link, entity, attachment)
    if subject is None:
        return False
    value = query.attach(attachment)
    entity_value = query.draft.create_variable("their " + query.draft.hints[value])
    query.draft.patterns.append(
        build_pattern(subject, query.graph.get_predicate_iri(attachment.predicate), entity_value)
    )
    if operator.measure is not None and is_time_value(
        query.schema, attachment.predicate, operator.measure
    ):
        sign = "<" if sign == ">" else ">"
    cast = get_cast(query, value)
    sides = build_cast(cast, value), build_cast(cast, entity_value)
    query.draft.filters.append(ast.Filter(ast.Call(sign, sides)))
    query.consume_attachment(attachment)
    query.consume_link(link)
    return True


def find_value_owner(
    query: QueryBuilder, link: Link, entity: int, attachment: Attachment
) -> ast.Term | None:
    """Return the term with the value to compare: an entity itself, or a node with this name."""
    ids, graph = np.array([entity], dtype=np.int32), query.graph
    if link.kind is ItemKind.ENTITY:
        is_applicable = query.lookups.has_predicate(ids, attachment.predicate, attachment.inverse)
        return graph.terms.get_term(entity) if is_applicable else None
    bearers = graph.get_ends(attachment.predicate, inverse=attachment.inverse)
    for predicate in graph.count_predicates(ids, inverse=True)[0]:
        if len(intersect(graph.step(ids, int(predicate), inverse=True), bearers)):
            subject = query.draft.create_variable(link.name)
            name_triple = build_pattern(
                subject, graph.get_predicate_iri(int(predicate)), graph.terms.get_term(entity)
            )
            query.draft.patterns.append(name_triple)
            return subject
    return None


def apply_between(query: QueryBuilder, operator: Operator) -> bool:
    """Add two inclusive bounds: "between 1960 and 1970"."""
    first = query.operators.get_quantity_after(operator)
    if first is None:
        return False
    later_quantities = [
        quantity
        for quantity in query.question.quantities
        if 0 < quantity.first - first.last <= MAX_TOKENS_BESIDE
    ]
    if not later_quantities:
        return False
    run_words = query.question.word_list.clauses["sort_from"]
    is_run = query.question.folded_words[operator.first] in run_words
    if require_overlap_between(query, first, later_quantities[0], is_run=is_run):
        return True
    attachment = _find_compared(query, operator, first, first.days is not None)
    if attachment is None:
        return False
    years = {phrase[0] for phrase in query.question.word_list.time_phrases["years"]}
    query.consume_tokens(  # "between the years 1960 and 1970"
        position
        for position in range(operator.last + 1, first.first)
        if query.question.folded_words[position] in years
    )
    add_bound(query, attachment, first, ">=")
    add_bound(query, attachment, later_quantities[0], "<=")
    query.consume_quantity(first)
    query.consume_quantity(later_quantities[0])
    return True


def _is_time_word(query: QueryBuilder, operator: Operator, name: str) -> bool:
    """Return whether the first word of an operator is a time word, as "since" or "until"."""
    words = {phrase[0] for phrase in query.question.word_list.time_phrases[name]}
    return query.question.tokens[operator.first].folded in words


def _find_span_date(query: QueryBuilder, operator: Operator) -> Attachment | None:
    """Return the date that "before", "after", "since" and "until" refer to if none is named."""
    # For a relation it is the start; with "until" it is the end, also of things with a name.
    is_until = _is_time_word(query, operator, "until")
    span = find_span(query, allow_named=is_until)
    if span is None:
        return None
    predicate = span.end if is_until else span.start
    if not query.lookups.has_predicate(query.get_vertex_ids(span.vertex), predicate, False):
        return None
    return build_unnamed_attachment(span.vertex, predicate)


def _require_end_within(
    query: QueryBuilder, operator: Operator, attachment: Attachment, quantity: Quantity
) -> bool:
    """Require an end within a time ("until 1989"); return False if no end is there."""
    span = get_day_range(quantity)
    ends = {end for _, end, _ in query.schema.spans}
    is_until = _is_time_word(query, operator, "until")
    if span is None or attachment.predicate not in ends or not is_until or attachment.path:
        return False
    _, objects = query.graph.get_edges(
        query.get_vertex_ids(attachment.vertex), attachment.predicate
    )
    values = query.graph.values[objects[objects < query.graph.terms.first_iri]]
    if not ((values >= span[0]) & (values < span[1] + 1)).any():
        return False
    add_bound(query, attachment, quantity, ">=")
    add_bound(query, attachment, quantity, "<=")
    return True


def _can_compare(query: QueryBuilder, predicate: int, quantity: Quantity) -> bool:
    """Return whether the values of a predicate can be compared with a quantity."""
    sort, unit = query.schema.get_sort(predicate), quantity.unit
    if sort in _DAY_SORTS and get_day_range(quantity) is None:
        return False
    if sort is ValueKind.TIME:
        is_hour = unit is None or (unit.factor == _HOUR_SECONDS and unit.dimension == "time")
        return is_hour and 0 <= (-1 if quantity.value is None else quantity.value) <= _HOURS_PER_DAY
    dimension = find_dimension(query, predicate)
    if unit is None or quantity.value is None:
        return sort is not ValueKind.DURATION
    return not dimension or dimension == unit.dimension


def add_bound(
    query: QueryBuilder,
    attachment: Attachment,
    quantity: Quantity,
    sign: str,
    *,
    is_since: bool = False,
) -> None:
    """Bound a value; for a span of days use the far end, or the near one.

    Args:
        is_since: Whether the bound itself is included.
    """
    variable, sort = query.attach(attachment), query.schema.get_sort(attachment.predicate)
    span = get_day_range(quantity)
    day_order = query.schema.get_day_order(attachment.predicate)
    if sort in _DAY_SORTS and span is not None and sign == "=":
        add_bound(query, attachment, quantity, ">=")
        add_bound(query, attachment, quantity, "<=")
    elif sort in _DAY_SORTS and span is not None:
        low, high = span
        day = high if sign in (">", "<=") else low
        if is_since and sign in ("<", ">"):
            day, sign = (low, ">=") if sign == ">" else (high, "<=")
        is_mixed = query.schema.has_mixed_numbers(attachment.predicate)
        is_early = is_mixed or (sort is ValueKind.YEAR and day < FIRST_DAY_NUMBER)
        query.draft.filters.append(
            build_filter(variable, sign, parse_term(str(get_year(day))), cast=INTEGER)
            if is_early
            else build_day_bound(
                variable, sign, day, _find_date_datatypes(query, attachment), day_order
            )
        )
        if not is_mixed and not day_order:
            query.narrow_by_comparison(attachment, sign, day)
    elif sort is ValueKind.DURATION:
        bound = build_duration(quantity, query.schema.get_datatype(attachment.predicate))
        query.draft.filters.append(build_filter(variable, sign, bound))
        ids = query.get_vertex_ids(attachment.vertex)
        note_durations(query, ids, attachment.predicate, bound.value)
        query.consume_tokens(quantity.positions_with_unit)
    elif sort is ValueKind.TIME and quantity.value is not None:
        sign = f"{sign}=" if is_since and sign in ("<", ">") else sign
        bound = _build_time(query, attachment.predicate, quantity.value)
        query.draft.filters.append(build_filter(variable, sign, bound))
        query.consume_tokens(quantity.positions_with_unit)
    elif sort not in _DAY_SORTS and quantity.value is not None:
        sign = f"{sign}=" if is_since and sign in ("<", ">") else sign
        number = convert_quantity(query, attachment.predicate, quantity)
        cast = get_cast(query, variable)
        query.draft.filters.append(build_filter(variable, sign, to_number_term(number), cast=cast))
        query.narrow_by_comparison(attachment, sign, number)


def _build_time(query: QueryBuilder, predicate: int, hours: float) -> Literal:
    """Build a time of day in the only zone of a predicate's values, else in UTC."""
    literals = query.graph.get_ends(predicate, inverse=True)[:_MAX_DATATYPE_VALUES].tolist()
    texts = (query.graph.terms.get_text(literal) for literal in literals)
    zones = {match[1] or "" for text in texts if (match := _CLOCK_ZONE.match(text))}
    minutes = min(round(hours * 60), 24 * 60 - 1)
    zone = zones.pop() if len(zones) == 1 else "Z"
    text = f"{minutes // 60:02}:{minutes % 60:02}:00{zone}"
    return Literal(text, datatype=NamedNode(XSD_TIME))


_CLOCK_ZONE = re.compile(r'"\d\d:[\d:.]+(Z|[+-]\d\d:\d\d)?"')
_HOURS_PER_DAY, _HOUR_SECONDS = 24, 3600.0


def _find_date_datatypes(query: QueryBuilder, attachment: Attachment) -> Set[str]:
    if len(query.schema.predicates[attachment.predicate].datatypes) < 2 or attachment.path:
        is_text = query.schema.get_sort(attachment.predicate) is ValueKind.TEXT_DATE
        datatype = _find_zoned_datatype(query, attachment.predicate)
        return {datatype, XSD_STRING} if is_text else {datatype}
    _, objects = query.graph.get_edges(
        query.get_vertex_ids(attachment.vertex), attachment.predicate
    )
    literals = np.unique(objects[objects < query.graph.terms.first_iri])
    date_literals = literals[np.isin(query.graph.sorts[literals], DATE_SORTS)][
        :_MAX_DATATYPE_VALUES
    ].tolist()
    datatypes = {split_literal(query.graph.terms.get_text(literal))[1] for literal in date_literals}
    return datatypes or {query.schema.get_datatype(attachment.predicate)}


def _find_zoned_datatype(query: QueryBuilder, predicate: int) -> str:
    """Return the datatype of a predicate's values; dateTimeStamp if their times have zones."""
    # SPARQL does not compare a time without a zone with a time in a zone on the same day.
    datatype = query.schema.get_datatype(predicate)
    first = query.graph.get_ends(predicate, inverse=True)[:1]
    if datatype != XSD_DATE_TIME or not len(first):
        return datatype
    text = query.graph.terms.get_text(int(first[0]))
    return XSD_DATE_TIME_STAMP if _ZONED_TIME.match(text) else datatype


_ZONED_TIME = re.compile(r'"[^"]*T[\d:.]+(Z|[+-]\d\d:\d\d)"')


def require_overlap_between(
    query: QueryBuilder, first: Quantity, last: Quantity, *, is_run: bool = False
) -> bool:
    """Require that things had started by the later time and not ended before the earlier one.

    Does nothing if words ask for the start or the end itself.

    Args:
        is_run: Whether what runs exactly from the one to the other is preferred, if anything does.
    """
    if first.days is None or last.days is None:
        return False
    span, run = find_asked_span(query), find_asked_span(query, allow_named=True)
    if run is None or is_endpoint_named(query, run, first):
        return False
    is_exact = is_run and require_exact_span(query, run, first.days, last.days)
    if not is_exact and (
        span is None or not require_overlap(query, span, first.days[0], last.days[1])
    ):
        return False
    query.consume_quantity(first)
    query.consume_quantity(last)
    return True


def get_day_range(quantity: Quantity) -> tuple[float, float] | None:
    """Return the first and last day of a quantity, or of the year that its number may be."""
    if quantity.days is not None or quantity.value is None or quantity.unit is not None:
        return quantity.days
    if not float(quantity.value).is_integer() or abs(quantity.value) > 9999:
        return None
    year = int(quantity.value)
    return to_day_number(year), to_day_number(year, 12, 31)


def apply_exists(query: QueryBuilder, operator: Operator) -> bool:
    """Make the query an ASK query: "is there …"."""
    if query.operators.asks is not None or query.draft.columns:
        return False
    query.draft.is_ask = True
    return True


def apply_without(query: QueryBuilder, operator: Operator) -> bool:
    """Require that a predicate has no value, there or a step or two away: "without X"."""
    if operator.last + 1 == len(query.question.tokens):  # "whose X is unknown"
        slot = query.find_previous_slot(operator.first)
    else:
        slot = query.find_next_slot(operator.last, MAX_TOKENS_NEAR)
    attachment = query.find_attachment(slot)
    # What lacks something is named before "no".
    earlier_vertices = query.find_vertices_before(operator)
    if attachment is None or (earlier_vertices and attachment.vertex not in earlier_vertices):
        return False
    truth_values = get_truth_terms(query.schema, attachment.predicate)
    if truth_values is not None and truth_values[1]:
        query.draft.filters.append(
            build_filter(query.attach_and_consume(attachment), "=", parse_term(truth_values[1]))
        )
        _negate_alternatives(query, attachment)
        return True
    term, steps = attachment.vertex.term, []
    for edge in (*attachment.path, Edge(attachment.predicate, attachment.inverse)):
        steps.append(query.draft.build_new_edge(term, edge.predicate, inverse=edge.inverse))
        term = steps[-1].subject if edge.inverse else steps[-1].object
    query.unknown += Penalty.DISTANT_STEP * len(attachment.path)
    query.draft.negations.append(build_not_exists(*steps))
    query.consume_attachment(attachment)
    _negate_alternatives(query, attachment)
    return True


def _negate_alternatives(query: QueryBuilder, attachment: Attachment) -> None:
    """Negate the property joined by "or" to a negated one, too: "without a garnish or a glass"."""
    slot = attachment.slot
    for joint in query.operators.get_operators("or") if slot is not None else ():
        if slot is not None and slot.last + 1 == joint.first and not query.used & joint.mask:
            query.consume_words(joint.mask, query.search.sum_weights(joint.mask))
            apply_without(query, joint)


UNQUANTIFIED_NOTE = "unquantified"  # notes that a query asks for one thing instead of all
_MAX_TOKENS_BEFORE_CLASS, _MIN_CLASS_SCORE = 2, 0.7  # "all *of the* planets"


def require_all(query: QueryBuilder, candidate: QueryCandidate) -> QueryCandidate:
    """Ask whether a thing of the class lacks what is asked: "does every planet have a moon?"."""
    words, quantifiers = query.question.folded_words, query.question.word_list.agreement["every"]
    starts = [at for at, word in enumerate(words) if word in quantifiers]
    if query.operators.get_operators("superlative", "most", "fewest"):
        return candidate
    is_quantified = False
    for link in query.search.linked.get_links(ItemKind.CLASS):
        begins = [at for at in starts if _is_quantified(query, at, link)]
        is_quantified = is_quantified or bool(begins)
        members = query.schema.get_instances(link.target)
        for vertex in sorted(query.draft.vertices, key=lambda x: x.node.cls_link != link):
            if begins and len(intersect(query.get_vertex_ids(vertex), members)):
                where = _build_universal(query, candidate, vertex.term, link, begins[-1])
                if where is not None:
                    return replace(candidate, window=replace(candidate.tree, where=where))
    notes = (*candidate.notes, UNQUANTIFIED_NOTE)
    return replace(candidate, notes=notes) if is_quantified else candidate


def _is_quantified(query: QueryBuilder, start: int, link: Link) -> bool:
    """Return whether only "of the" or used adjectives come between "all" and a class."""
    words, lists, noun = query.question.folded_words, query.question.word_list, link.positions[0]
    closing = lists.clauses["restrict"] - lists.clauses["owner"] - lists.agreement["several"]
    is_near = start < noun <= start + 1 + _MAX_TOKENS_BEFORE_CLASS
    return (is_near and link.score >= _MIN_CLASS_SCORE) and all(
        words[at] not in closing if query.question.is_stop(at) else query.used >> at & 1
        for at in range(start + 1, noun)
    )


def _build_universal(
    query: QueryBuilder, candidate: QueryCandidate, thing: ast.Term, link: Link, start: int
) -> ast.Group | None:
    """Build the condition that all things of a class meet the others; None if it is not clear."""
    reading, lists = query.question, query.question.word_list
    is_transitive = query.schema.has_subclass_instances(link.target)
    cls = build_pattern(thing, RDF_TYPE, NamedNode(link.target), is_transitive=is_transitive)
    parts = [part for part in candidate.tree.where.elements if part != cls]
    is_plain = all(isinstance(part, ast.Pattern | ast.Filter) for part in parts)
    if not (is_plain and isinstance(thing, Variable)) or query.operators.get_operators("not"):
        return None  # "not all" is not "all not"
    variables = [{*ast.find_variables(part)} - {thing} for part in parts]
    tokens: dict[ast.Group, list[int]] = {}
    for part, names in zip(parts, variables, strict=True):
        reached = connect_variables(names, variables)
        pairs = zip(parts, variables, strict=True)
        group = ast.Group(tuple(x for x, others in pairs if x is part or others & reached))
        terms = {str(x).strip("<>") for x in ast.walk(group) if isinstance(x, NamedNode | Literal)}
        links = [x for x in candidate.iterate_links() if x.target.strip("<>") in terms]
        tokens[group] = [at for x in links for at in x.positions]
    first, last = link.positions[0], link.positions[-1]
    chosen = [x for x, at in tokens.items() if not {*range(start, first)}.isdisjoint(at)]
    later = [x for x, at in tokens.items() if x not in chosen and max(at, default=0) > last]
    following = reading.folded_words[last + 1 : last + 2]
    restricts = not lists.clauses["restrict"].isdisjoint(following)
    if restricts and following not in lists.operators["exists"]:
        is_asked = reading.folded_words[0] in lists.yes_or_no["being"]
        if not is_asked or len(tokens) - len(chosen) > 1:  # but "are all stands *in* X?"
            chosen += sorted(later, key=lambda group: min(tokens[group]))[:1]
            if query.operators.get_operators("and"):
                return None
    required = [x for group in tokens if group not in chosen for x in group.elements]
    outer = [cls, *(x for group in chosen for x in group.elements)]
    return ast.Group((build_not_exists(*outer, build_not_exists(*required)),)) if required else None
