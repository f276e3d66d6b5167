"""Numbers and dates in words of four languages are typed values."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.each import for_each
from tests.readings import read_table

from askgraph.search.tokenize import Quantity, RelativeTime, compute_days, tokenize

EPOCH = date(1970, 1, 1)


def only(text: str, language: str = "en") -> Quantity:
    (quantity,) = tokenize(text, language).quantities
    return quantity


def days(first: str, last: str | None = None) -> tuple[float, float]:
    begin, end = date.fromisoformat(first), date.fromisoformat(last or first)
    return float((begin - EPOCH).days), float((end - EPOCH).days)


@for_each(("text", "language", "value"), read_table(__file__, "numbers.txt"))
def test_a_number_has_its_value(text: str, language: str, value: str) -> None:
    quantity = only(text, language)
    assert quantity.value == float(value)
    assert list(quantity.positions) == list(range(len(tokenize(text, language).tokens)))


def test_spelled_numbers_are_told_from_digits() -> None:
    assert only("two").is_spelled
    assert not only("2").is_spelled


@for_each(("text", "language", "first", "last"), read_table(__file__, "days.txt"))
def test_words_tell_days_even_from_today(text: str, language: str, first: str, last: str) -> None:
    (quantity,) = tokenize(text, language).resolve_dates(days("2024-03-31")[0]).quantities
    assert quantity.days == days(first, last)


def test_a_year_may_be_a_number_too() -> None:
    assert only("1990").value == 1990
    assert only("1990s").value is None


@for_each("text", ["31 February 2021", "2021-13-01", "2021-02-30", "32 May 2021"])
def test_a_date_that_does_not_exist_is_no_day(text: str) -> None:
    assert all(x.days is None or x.days[0] < x.days[1] for x in tokenize(text, "en").quantities)


def test_several_quantities_come_in_order() -> None:
    found = tokenize("between 1,000 and 3.5 million on 6 May 2021", "en").quantities
    assert [quantity.value for quantity in found] == [1000, 3.5e6, None]
    assert found[2].days == days("2021-05-06")


def test_numbers_that_are_no_years_have_no_days() -> None:
    assert only("42").days is None
    assert only("12345").days is None


def test_words_without_numbers_have_no_quantities() -> None:
    assert tokenize("Which moons orbit the planet?").quantities == ()


@pytest.mark.parametrize("text", ["What is the last year of the war?", "before 20 years of age"])
def test_the_last_of_years_and_a_number_of_years_are_no_times(text: str) -> None:
    assert all(one.days is None for one in tokenize(text, "en").resolve_dates(0.0).quantities)


@given(away=st.integers(-1200, 1200), today=st.integers(-100_000, 100_000))
def test_months_lie_end_to_end(away: int, today: int) -> None:
    this = compute_days(RelativeTime("months", away), float(today))
    following = compute_days(RelativeTime("months", away + 1), float(today))

    assert this is not None and following is not None
    assert this[1] + 1 == following[0]


def test_before_the_first_year_there_is_nothing() -> None:
    assert compute_days(RelativeTime("years", -5000), 0.0) is None
