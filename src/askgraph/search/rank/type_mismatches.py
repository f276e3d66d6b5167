"""Describe mismatches between a result and the answer that its question expects."""

import re
from collections.abc import Iterator

from pyoxigraph import Literal

from askgraph.errors import QueryError
from askgraph.graph.literals import ValueKind, parse_value
from askgraph.graph.profile import Profile
from askgraph.search.rank.expected_answer_type import (
    ExpectedAnswer,
    QueryColumns,
    read_query_columns,
)
from askgraph.sparql.results import SelectResult, Term
from askgraph.sparql.vocabulary import LABEL_PREDICATES

_MAX_CHECKED_ROWS = 200  # rows
_MAX_SINGLE_ANSWER_ROWS = 50  # rows are too many for one thing
_NUMBER_SORTS = (ValueKind.NUMBER, ValueKind.TEXT_NUMBER)
_DAY_SORTS = (ValueKind.DATE, ValueKind.YEAR, ValueKind.TEXT_DATE)


def find_type_mismatches(
    expected: ExpectedAnswer, query: str, outcome: SelectResult | bool, profile: Profile
) -> tuple[str, ...]:
    """Return the mismatches between a query's outcome and the question, one sentence each."""
    # Only report what is certain: the sentences are for a language model, which would spend a call
    # on each false one. A query that cannot be parsed has no mismatches.
    if isinstance(outcome, bool):
        asks = expected.kind not in ("yes_no", "things") or expected.has_question_word
        kind = _ANSWER_NAMES.get(expected.kind, "things or values")
        text = f"The question asks for {kind}, and the query gives yes or no: write a SELECT query."
        return (text,) if asks and expected.kind != "yes_no" else ()
    try:
        columns = read_query_columns(query)
    except QueryError:
        return ()
    if expected.kind == "yes_no":
        return ("The question asks for yes or no: write an ASK query.",)
    mismatches = [*_check_columns(expected, columns, outcome)]
    if outcome.rows:
        mismatches += _check_values(expected, outcome, profile)
        mismatches += _check_rows(expected, columns, outcome)
    return tuple(mismatches)


_ANSWER_NAMES = {"count": "a number", "number": "a number", "when": "a date", "who": "a person"}


def _check_columns(
    expected: ExpectedAnswer, columns: QueryColumns, result: SelectResult
) -> Iterator[str]:
    expected_count, column_count = expected.columns or 0, len(result.variables)
    if expected_count > 1 and column_count < expected_count and not columns.has_alternatives:
        plural = "s" * (column_count != 1)
        yield (
            f"The question lists {expected_count} things to show, and the query gives "
            f"{column_count} column{plural}."
        )
    if owners := _find_label_owners(expected, columns, result):
        listed = ", ".join(f"?{name}" for name in owners)
        yield f"The query gives only labels: select the things themselves ({listed}) as well."


def _find_label_owners(
    expected: ExpectedAnswer, columns: QueryColumns, result: SelectResult
) -> tuple[str, ...]:
    """Return the things of which only labels are shown, if the question asks for a class."""
    if (
        expected.kind != "things"
        or expected.is_name_request
        or not expected.classes
        or expected.is_counted
    ):
        return ()
    owners = []
    for name in result.variables:
        source = columns.get_source(name)
        steps = [
            step for variable in source.variables for step in columns.iterate_steps_to(variable)
        ]
        if source.is_computed or not steps:
            return ()
        if any(step.predicate not in LABEL_PREDICATES for step in steps):
            return ()
        owners += [str(step.source)[1:] for step in steps if str(step.source).startswith("?")]
    return tuple(dict.fromkeys(name for name in owners if not name.startswith("__")))


def _check_values(
    expected: ExpectedAnswer, result: SelectResult, profile: Profile
) -> Iterator[str]:
    cells = [term for row in result.rows[:_MAX_CHECKED_ROWS] for term in row if term is not None]
    if not cells:
        return
    match expected.kind:
        case "when" if not any(map(_can_be_time, cells)):
            yield "The question asks when, and no column holds a date or a year."
        case "count" if not any(map(_can_be_number, cells)):
            yield "The question asks how many, and no column holds a number: count."
        case "number" if not any(
            _can_be_number(cell) or not isinstance(cell, Literal) for cell in cells
        ):
            yield "The question asks for a number, and no column holds one."
        case "who" if all(map(_is_measure, cells)):
            yield "The question asks who, and the query gives only numbers or dates."
        case "where" if len(result.variables) == 1 and all(map(_is_measure, cells)):
            yield "The question asks where, and the query gives only numbers or dates."
        case "things" if _is_class_request(expected, profile) and all(map(_is_measure, cells)):
            yield "The question asks for things, and the query gives only numbers or dates."
        case _:
            return


def _is_class_request(expected: ExpectedAnswer, profile: Profile) -> bool:
    """Return whether the head noun can only be a class: no property, name, count or aggregate."""
    computed = expected.is_counted or expected.is_calculated
    is_plain = not (expected.is_name_request or computed or expected.is_grouped)
    literal_predicates = {predicate.iri for predicate in profile.predicates if predicate.datatypes}
    is_single_class = expected.columns == 1 and not literal_predicates & set(expected.predicates)
    return bool(expected.classes) and is_plain and is_single_class and expected.has_question_word


def _check_rows(
    expected: ExpectedAnswer, columns: QueryColumns, result: SelectResult
) -> Iterator[str]:
    rows, limit, query_limit = len(result.rows), expected.limit, columns.query.limit
    if expected.is_grouped:
        return
    if limit is not None and rows > limit:
        if not columns.can_choose_extreme:
            expected_rows = "the first" if limit == 1 else f"the first {limit}"
            yield (
                f"The question asks for {expected_rows} by some order, and nothing in the query "
                f"keeps those: it gives {rows} rows."
            )
        elif (
            query_limit is not None
            and query_limit > limit
            and rows == query_limit
            and columns.query.order
        ):
            yield f"The question asks for {limit} of an order, and the query keeps {query_limit}."
    if limit is not None and query_limit is not None and query_limit < limit:
        yield f"The question asks for {limit}, and the query keeps only {query_limit}."
    has_several = expected.is_ordered or expected.is_counted or expected.is_name_request
    is_single = expected.is_singular and not has_several and limit is None
    if is_single and rows > _MAX_SINGLE_ANSWER_ROWS:
        yield f"The question asks for one thing, and the query gives {rows} rows."


def _get_sort(term: Term) -> ValueKind:
    return parse_value(str(term))[0] if isinstance(term, Literal) else ValueKind.NONE


def _is_measure(term: Term) -> bool:
    sorts = (ValueKind.NUMBER, ValueKind.DURATION, *_DAY_SORTS[:2], ValueKind.BOOLEAN)
    return _get_sort(term) in sorts


def _can_be_number(term: Term) -> bool:
    return isinstance(term, Literal) and any(character.isdigit() for character in term.value)


def _can_be_time(term: Term) -> bool:
    """Return whether a term can be a time; things and texts can if they contain digits."""
    if not isinstance(term, Literal):
        return re.search(r"\d{3}", str(term)) is not None
    sort = _get_sort(term)
    if sort not in _NUMBER_SORTS:
        return sort in _DAY_SORTS or any(character.isdigit() for character in term.value)
    return re.fullmatch(r"[-+]?\d{1,4}(\.0*)?", term.value) is not None
