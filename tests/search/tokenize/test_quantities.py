"""Numbers and dates in words of four languages are typed values."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.each import for_each

from askgraph.search.tokenize import Quantity, Relative, days_from, tokenize

EPOCH = date(1970, 1, 1)


def only(text: str, language: str = "en") -> Quantity:
    (quantity,) = tokenize(text, language).quantities
    return quantity


def days(first: str, last: str | None = None) -> tuple[float, float]:
    begin, end = date.fromisoformat(first), date.fromisoformat(last or first)
    return float((begin - EPOCH).days), float((end - EPOCH).days)


@for_each(
    ("text", "language", "value"),
    [
        ("42", "en", 42),
        ("1,000", "en", 1000),
        ("1,234,567.5", "en", 1234567.5),
        ("3.5 million", "en", 3.5e6),
        ("two", "en", 2),
        ("two thousand", "en", 2000),
        ("twelve", "en", 12),
        ("5 billion", "en", 5e9),
        ("0.5", "en", 0.5),
        ("3,5", "de", 3.5),
        ("zwei", "de", 2),
        ("1.234.567", "de", 1234567),
        ("3,5 Millionen", "de", 3.5e6),
        ("dos", "es", 2),
        ("dos millones", "es", 2e6),
        ("deux", "fr", 2),
        ("trois millions", "fr", 3e6),
    ],
)
def test_a_number_has_its_value(text: str, language: str, value: float) -> None:
    quantity = only(text, language)
    assert quantity.value == value
    assert list(quantity.positions) == list(range(len(tokenize(text, language).tokens)))


def test_spelled_numbers_are_told_from_digits() -> None:
    assert only("two").spelled
    assert not only("2").spelled


@for_each(
    ("text", "language", "day"),
    [
        ("2021-05-06", "en", "2021-05-06"),
        ("6 May 2021", "en", "2021-05-06"),
        ("6th of May 2021", "en", "2021-05-06"),
        ("May 6, 2021", "en", "2021-05-06"),
        ("the 6th of May, 2021", "en", "2021-05-06"),
        ("6. Mai 2021", "de", "2021-05-06"),
        ("3. März 1999", "de", "1999-03-03"),
        ("6 de mayo de 2021", "es", "2021-05-06"),
        ("6 mai 2021", "fr", "2021-05-06"),
        ("1er août 1914", "fr", "1914-08-01"),
        ("29 February 2020", "en", "2020-02-29"),
    ],
)
def test_a_date_is_a_day(text: str, language: str, day: str) -> None:
    assert only(text, language).days == days(day)


@for_each(
    ("text", "language", "first", "last"),
    [
        ("May 2021", "en", "2021-05-01", "2021-05-31"),
        ("February 2020", "en", "2020-02-01", "2020-02-29"),
        ("Dezember 1989", "de", "1989-12-01", "1989-12-31"),
        ("mayo de 2021", "es", "2021-05-01", "2021-05-31"),
        ("août 1914", "fr", "1914-08-01", "1914-08-31"),
        ("1990", "en", "1990-01-01", "1990-12-31"),
        ("the 1990s", "en", "1990-01-01", "1999-12-31"),
    ],
)
def test_a_month_a_year_and_a_decade_reach_from_their_first_to_their_last_day(
    text: str, language: str, first: str, last: str
) -> None:
    assert only(text, language).days == days(first, last)


def test_a_year_may_be_a_number_too() -> None:
    assert only("1990").value == 1990
    assert only("1990s").value is None


@for_each("text", ["31 February 2021", "2021-13-01", "2021-02-30", "32 May 2021"])
def test_a_date_that_does_not_exist_is_no_day(text: str) -> None:
    assert all(
        quantity.days is None or quantity.days[0] < quantity.days[1]
        for quantity in tokenize(text, "en").quantities
    )


def test_several_quantities_come_in_order() -> None:
    found = tokenize("between 1,000 and 3.5 million on 6 May 2021", "en").quantities
    assert [quantity.value for quantity in found] == [1000, 3.5e6, None]
    assert found[2].days == days("2021-05-06")


def test_numbers_that_are_no_years_have_no_days() -> None:
    assert only("42").days is None
    assert only("12345").days is None


def test_words_without_numbers_have_no_quantities() -> None:
    assert tokenize("Which moons orbit the planet?").quantities == ()


def number(text: str) -> float:
    return float((date.fromisoformat(text) - EPOCH).days)


@for_each(
    ("text", "language", "first", "last"),
    [
        ("who was mayor last year", "en", "2023-01-01", "2023-12-31"),
        ("who was mayor 20 years ago", "en", "2004-01-01", "2004-12-31"),
        ("who was mayor two months ago", "en", "2024-01-01", "2024-01-31"),
        ("who was mayor in the last 20 years", "en", "2004-03-31", "2024-03-31"),
        ("wer war in den letzten sechs Monaten Direktor", "de", "2023-09-30", "2024-03-31"),
        ("qui était maire ces 20 dernières années", "fr", "2004-03-31", "2024-03-31"),
        ("what happened yesterday", "en", "2024-03-30", "2024-03-30"),
        ("what happened two weeks ago", "en", "2024-03-17", "2024-03-17"),
        ("wer war vor 20 Jahren Direktor", "de", "2004-01-01", "2004-12-31"),
        ("wer war vor einem Jahr Direktor", "de", "2023-01-01", "2023-12-31"),
        ("was geschieht nächstes Jahr", "de", "2025-01-01", "2025-12-31"),
        ("quién era director hace tres años", "es", "2021-01-01", "2021-12-31"),
        ("quién era director el año pasado", "es", "2023-01-01", "2023-12-31"),
        ("qui était maire il y a un mois", "fr", "2024-02-01", "2024-02-29"),
        ("qui était maire l'année dernière", "fr", "2023-01-01", "2023-12-31"),
    ],
)
def test_words_tell_a_time_from_today(text: str, language: str, first: str, last: str) -> None:
    (quantity,) = tokenize(text, language).on(number("2024-03-31")).quantities

    assert quantity.value is None
    assert quantity.days == (number(first), number(last))


@pytest.mark.parametrize("text", ["What is the last year of the war?", "before 20 years of age"])
def test_the_last_of_years_and_a_number_of_years_are_no_times(text: str) -> None:
    assert all(one.days is None for one in tokenize(text, "en").on(0.0).quantities)


@given(away=st.integers(-1200, 1200), today=st.integers(-100_000, 100_000))
def test_months_lie_end_to_end(away: int, today: int) -> None:
    this = days_from(Relative("months", away), float(today))
    following = days_from(Relative("months", away + 1), float(today))

    assert this is not None and following is not None
    assert this[1] + 1 == following[0]


def test_before_the_first_year_there_is_nothing() -> None:
    assert days_from(Relative("years", -5000), 0.0) is None
