"""The time between two dates, computed by an engine as Python computes it."""

from datetime import date

from hypothesis import example, given
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, QuerySolutions, Store, Variable
from tests.each import for_each

from askgraph.sparql import Bind
from askgraph.sparql.elapsed import build_elapsed_time, format_elapsed_time, parse_elapsed_time
from askgraph.sparql.parser import parse_tree
from askgraph.sparql.serializer import to_text

STORE = Store()
DATES = st.dates(date(1, 1, 1), date(9999, 12, 31))
XSD = "http://www.w3.org/2001/XMLSchema#"
TODAY = Literal("2024-06-30", datatype=NamedNode(XSD + "date"))


def computed(unit: str, start: date, end: date, datatype: str = "date") -> int:
    time = "T23:59:59" if datatype == "dateTime" else ""
    first, last = (
        Literal(f"{day}{time}", datatype=NamedNode(XSD + datatype)) for day in (start, end)
    )
    result = STORE.query(f"SELECT ({to_text(build_elapsed_time(unit, first, last))} AS ?n) {{}}")
    assert isinstance(result, QuerySolutions)
    value = next(iter(result))["n"]
    assert isinstance(value, Literal)
    return int(float(value.value))


@given(start=DATES, end=DATES)
@example(start=date(2000, 2, 29), end=date(2001, 2, 28))
@example(start=date(1999, 12, 31), end=date(2000, 1, 1))
@example(start=date(1900, 2, 28), end=date(1900, 3, 1))
def test_days_are_those_of_the_calendar(start: date, end: date) -> None:
    assert computed("days", start, end) == (end - start).days


@given(start=DATES, end=DATES)
@example(start=date(2000, 2, 29), end=date(2018, 2, 28))
@example(start=date(2000, 2, 29), end=date(2018, 3, 1))
def test_years_are_birthdays_that_have_passed(start: date, end: date) -> None:
    passed = (end.month, end.day) >= (start.month, start.day)
    assert computed("years", start, end) == end.year - start.year - (not passed)


@given(start=DATES, end=DATES)
def test_months_are_whole_ones(start: date, end: date) -> None:
    whole = 12 * (end.year - start.year) + end.month - start.month - (end.day < start.day)
    assert computed("months", start, end) == whole


def test_a_date_with_a_time_counts_by_its_day() -> None:
    assert computed("days", date(2020, 2, 28), date(2020, 3, 1), "dateTime") == 2


@for_each("unit", ["years", "months", "days", "calendar years"])
@for_each("end", [Variable("died"), TODAY])
def test_the_expression_is_known_again(unit: str, end: Variable | Literal) -> None:
    text = format_elapsed_time(unit, Variable("born"), end)
    element = parse_tree(f"SELECT * {{ BIND({text} AS ?n) }}", {"xsd": XSD}).where.elements[0]

    assert isinstance(element, Bind)
    assert element.value == build_elapsed_time(unit, Variable("born"), end)
    found = parse_elapsed_time(element.value)
    assert found is not None
    assert (found.unit, found.start, found.end) == (unit, Variable("born"), end)


@for_each("text", ["?a - ?b", "YEAR(?a) + YEAR(?b)", "YEAR(?a) - 5", "?a * 2"])
def test_other_expressions_are_no_elapsed_time(text: str) -> None:
    element = parse_tree(f"SELECT * {{ BIND({text} AS ?n) }}").where.elements[0]

    assert isinstance(element, Bind)
    assert parse_elapsed_time(element.value) is None
