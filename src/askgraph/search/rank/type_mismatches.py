"""Misfits of a result and the shape that its question asks for, in words."""

import re
from collections.abc import Iterator

from pyoxigraph import Literal

from askgraph.errors import QueryError
from askgraph.graph.literals import Sort, measured
from askgraph.graph.profile import Profile
from askgraph.search.rank.expected_answer_type import ExpectedAnswer, QueryColumns, columns_of
from askgraph.sparql.results import SelectResult, Term
from askgraph.sparql.vocabulary import LABEL_PREDICATES

_LOOKED_AT = 200  # rows
_MANY = 50  # rows are too many for one thing
_NUMBERS = (Sort.NUMBER, Sort.TEXT_NUMBER)
_DAYS = (Sort.DATE, Sort.YEAR, Sort.TEXT_DATE)


def find_type_mismatches(
    expected: ExpectedAnswer, query: str, outcome: SelectResult | bool, profile: Profile
) -> tuple[str, ...]:
    """Return what of a query's outcome does not fit the question, one sentence each.

    Empty if it fits, or if nothing sure can be said: the sentences are for a language model,
    which would spend a call on each false one. A query that cannot be read has none.
    """
    if isinstance(outcome, bool):
        return tuple(_of_boolean(expected))
    try:
        columns = columns_of(query)
    except QueryError:
        return ()
    if expected.kind == "yes_no":
        return ("The question asks for yes or no: write an ASK query.",)
    found = [*_of_columns(expected, columns, outcome)]
    if outcome.rows:
        found += _of_values(expected, outcome, profile)
        found += _of_rows(expected, columns, outcome)
    return tuple(found)


def _of_boolean(expected: ExpectedAnswer) -> Iterator[str]:
    asks = expected.kind not in ("yes_no", "things") or expected.interrogative
    if asks and expected.kind != "yes_no":
        what = _WANTED.get(expected.kind, "things or values")
        yield f"The question asks for {what}, and the query gives yes or no: write a SELECT query."


_WANTED = {"count": "a number", "number": "a number", "when": "a date", "who": "a person"}


def _of_columns(
    expected: ExpectedAnswer, columns: QueryColumns, result: SelectResult
) -> Iterator[str]:
    wanted, given = expected.columns or 0, len(result.variables)
    if wanted > 1 and given < wanted and not columns.has_alternatives:
        plural = "s" * (given != 1)
        yield (
            f"The question lists {wanted} things to show, and the query gives {given} "
            f"column{plural}."
        )
    if owners := _only_labels(expected, columns, result):
        listed = ", ".join(f"?{name}" for name in owners)
        yield f"The query gives only labels: select the things themselves ({listed}) as well."


def _only_labels(
    expected: ExpectedAnswer, columns: QueryColumns, result: SelectResult
) -> tuple[str, ...]:
    """The things whose labels are all that is shown, if things are asked for by their class."""
    if expected.kind != "things" or expected.names or not expected.classes or expected.counted:
        return ()
    owners = []
    for name in result.variables:
        made = columns.made(name)
        steps = [step for variable in made.variables for step in columns.into(variable)]
        if made.computed or not steps:
            return ()
        if any(step.predicate not in LABEL_PREDICATES for step in steps):
            return ()
        owners += [str(step.source)[1:] for step in steps if str(step.source).startswith("?")]
    return tuple(dict.fromkeys(name for name in owners if not name.startswith("__")))


def _of_values(expected: ExpectedAnswer, result: SelectResult, profile: Profile) -> Iterator[str]:
    cells = [term for row in result.rows[:_LOOKED_AT] for term in row if term is not None]
    if not cells:
        return
    match expected.kind:
        case "when" if not any(map(_may_be_time, cells)):
            yield "The question asks when, and no column holds a date or a year."
        case "count" if not any(map(_may_be_number, cells)):
            yield "The question asks how many, and no column holds a number: count."
        case "number" if not any(
            _may_be_number(cell) or not isinstance(cell, Literal) for cell in cells
        ):
            yield "The question asks for a number, and no column holds one."
        case "who" if all(map(_is_measure, cells)):
            yield "The question asks who, and the query gives only numbers or dates."
        case "where" if len(result.variables) == 1 and all(map(_is_measure, cells)):
            yield "The question asks where, and the query gives only numbers or dates."
        case "things" if _wants_things(expected, profile) and all(map(_is_measure, cells)):
            yield "The question asks for things, and the query gives only numbers or dates."
        case _:
            return


def _wants_things(expected: ExpectedAnswer, profile: Profile) -> bool:
    """Whether the head noun is a class and can be no value: no property, name, count, aggregate."""
    computed = expected.counted or expected.reckoned
    plain = not (expected.names or computed or expected.grouped)
    valued = {one.iri for one in profile.predicates if one.datatypes}
    alone = expected.columns == 1 and not valued & set(expected.predicates)
    return bool(expected.classes) and plain and alone and expected.interrogative


def _of_rows(
    expected: ExpectedAnswer, columns: QueryColumns, result: SelectResult
) -> Iterator[str]:
    rows, limit, own = len(result.rows), expected.limit, columns.query.limit
    if expected.grouped:
        return
    if limit is not None and rows > limit:
        if not columns.chooses_extreme:
            wanted = "the first" if limit == 1 else f"the first {limit}"
            yield (
                f"The question asks for {wanted} by some order, and nothing in the query keeps "
                f"those: it gives {rows} rows."
            )
        elif own is not None and own > limit and rows == own and columns.query.order:
            yield f"The question asks for {limit} of an order, and the query keeps {own}."
    if limit is not None and own is not None and own < limit:
        yield f"The question asks for {limit}, and the query keeps only {own}."
    if _is_single(expected) and limit is None and rows > _MANY:
        yield f"The question asks for one thing, and the query gives {rows} rows."


def _is_single(expected: ExpectedAnswer) -> bool:
    return expected.singular and not (expected.ordered or expected.counted or expected.names)


def _sort(term: Term) -> Sort:
    return measured(str(term))[0] if isinstance(term, Literal) else Sort.NONE


def _is_measure(term: Term) -> bool:
    return _sort(term) in (Sort.NUMBER, *_DAYS[:2], Sort.BOOLEAN)


def _may_be_number(term: Term) -> bool:
    return isinstance(term, Literal) and any(sign.isdigit() for sign in term.value)


def _may_be_time(term: Term) -> bool:
    """Whether a term can tell a time; things and texts may, when there is a figure in them."""
    if not isinstance(term, Literal):
        return re.search(r"\d{3}", str(term)) is not None
    sort = _sort(term)
    if sort not in _NUMBERS:
        return sort in _DAYS or any(sign.isdigit() for sign in term.value)
    return re.fullmatch(r"[-+]?\d{1,4}(\.0*)?", term.value) is not None
