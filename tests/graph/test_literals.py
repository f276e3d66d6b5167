"""Literals are numbers that can be compared, and nothing is lost on the way to them."""

import math
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode
from tests.each import for_each

from askgraph.graph.literals import ValueKind, parse_value, split_literal, to_day_number

XSD = "http://www.w3.org/2001/XMLSchema#"


def typed(value: str, name: str) -> str:
    return f'"{value}"^^<{XSD}{name}>'


@for_each(
    ("text", "sort", "value"),
    (typed("42", "integer"), ValueKind.NUMBER, 42),
    (typed("-7.25", "decimal"), ValueKind.NUMBER, -7.25),
    (typed("1.5E10", "double"), ValueKind.NUMBER, 1.5e10),
    (typed("3", "unsignedByte"), ValueKind.NUMBER, 3),
    (typed("12345678901234567890", "integer"), ValueKind.NUMBER, 12345678901234567890.0),
    (typed("INF", "double"), ValueKind.NUMBER, math.inf),
    (typed("true", "boolean"), ValueKind.BOOLEAN, 1),
    (typed("1", "boolean"), ValueKind.BOOLEAN, 1),
    (typed("false", "boolean"), ValueKind.BOOLEAN, 0),
    (typed("0", "boolean"), ValueKind.BOOLEAN, 0),
    (typed("1970-01-01", "date"), ValueKind.DATE, 0),
    (typed("1970-01-02Z", "date"), ValueKind.DATE, 1),
    (typed("1970-01-02T12:00:00Z", "dateTime"), ValueKind.DATE, 1.5),
    (typed("1969-12-31", "date"), ValueKind.DATE, -1),
    (typed("1970-02", "gYearMonth"), ValueKind.DATE, 31),
    (typed("1971", "gYear"), ValueKind.YEAR, 365),
    (typed("P3Y2M", "duration"), ValueKind.DURATION, 38 * 2_629_800),
    (typed("-PT1H30M", "dayTimeDuration"), ValueKind.DURATION, -5400),
    (typed("08:30:00", "time"), ValueKind.TIME, 30_600),
    (typed("08:30:00.5+02:00", "time"), ValueKind.TIME, 23_400.5),
    ('"12.5"', ValueKind.TEXT_NUMBER, 12.5),
    ('"1970-01-03"', ValueKind.TEXT_DATE, 2),
    (typed("1970-01-03T00:00Z", "date"), ValueKind.TEXT_DATE, 2),
    (typed("1970-01-03", "dateTime"), ValueKind.TEXT_DATE, 2),
    (typed("1970-02", "gYear"), ValueKind.TEXT_DATE, 31),
)
def test_a_literal_has_its_value(text: str, sort: ValueKind, value: float) -> None:
    found, number = parse_value(text)
    assert found is sort
    assert number == pytest.approx(value)


@for_each(
    "text",
        '"Mond"@de', '"12.5"@de', '""', '"12 moons"', '"12345678901234567890123456"',
        typed("abc", "integer"), typed("yesterday", "date"), typed("2021-02-30", "date"),
        typed("P", "duration"), typed("PT", "duration"), '"x"^^<http://example.org/own>',
)  # fmt: skip
def test_what_is_no_value_is_text(text: str) -> None:
    sort, value = parse_value(text)
    assert sort is ValueKind.TEXT
    assert math.isnan(value)


@for_each(
    ("kind", "sort", "texts"),
    ("date", ValueKind.DATE, "-12000-01-01 -0430-01-01 -0043-03-15 -0043-03-16 0001-01-01"),
    ("date", ValueKind.DATE, "0001-01-01 0079-08-24 1969-07-20 9999-12-31 12000-01-01"),
    ("gYear", ValueKind.YEAR, "-0430 -0300 0079 1650"),
)
def test_times_before_christ_come_first_in_order(kind: str, sort: ValueKind, texts: str) -> None:
    values = [parse_value(typed(text, kind)) for text in texts.split()]
    assert {found for found, _ in values} == {sort}
    assert [value for _, value in values] == sorted({value for _, value in values})


@given(st.dates(), st.dates())
def test_days_count_as_the_calendar_does(first: date, second: date) -> None:
    days = [to_day_number(day.year, day.month, day.day) for day in (first, second)]
    assert days[0] - days[1] == (first - second).days


@given(st.integers(-20_000, 20_000), st.integers(-20_000, 20_000))
def test_later_years_have_greater_numbers(first: int, second: int) -> None:
    assert (to_day_number(first) < to_day_number(second)) == (first < second)


@given(st.integers() | st.floats(allow_nan=False))
def test_a_number_has_its_own_value(number: int | float) -> None:
    if isinstance(number, int) and abs(number) > 10**300:
        return
    sort, value = parse_value(str(Literal(str(number), datatype=NamedNode(XSD + "double"))))
    assert sort is ValueKind.NUMBER
    assert value == pytest.approx(float(number))


@given(value=st.text(), kind=st.sampled_from(["plain", "language", "datatype"]))
def test_a_literal_is_split_into_what_it_was_made_of(value: str, kind: str) -> None:
    try:
        value.encode()
    except UnicodeEncodeError:
        return
    match kind:
        case "language":
            literal = Literal(value, language="de-at")
            rest = ("http://www.w3.org/1999/02/22-rdf-syntax-ns#langString", "de-at")
            assert split_literal(str(literal)) == (value, *rest)
        case "datatype":
            literal = Literal(value, datatype=NamedNode(PLACE))
            assert split_literal(str(literal)) == (value, PLACE, None)
        case _:
            assert split_literal(str(Literal(value))) == (value, XSD + "string", None)


PLACE = "http://example.org/type"
