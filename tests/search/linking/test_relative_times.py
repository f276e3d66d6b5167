"""Times told from today, in four languages."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askgraph.search.linking.relative_times import Relative, days_from
from askgraph.search.linking.text import read

EPOCH = date(1970, 1, 1)


def number(text: str) -> float:
    return float((date.fromisoformat(text) - EPOCH).days)


@pytest.mark.parametrize(
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
    (quantity,) = read(text, language).on(number("2024-03-31")).quantities

    assert quantity.value is None
    assert quantity.days == (number(first), number(last))


@pytest.mark.parametrize("text", ["What is the last year of the war?", "before 20 years of age"])
def test_the_last_of_years_and_a_number_of_years_are_no_times(text: str) -> None:
    assert all(one.days is None for one in read(text, "en").on(0.0).quantities)


@given(away=st.integers(-1200, 1200), today=st.integers(-100_000, 100_000))
def test_months_lie_end_to_end(away: int, today: int) -> None:
    this = days_from(Relative("months", away), float(today))
    following = days_from(Relative("months", away + 1), float(today))

    assert this is not None and following is not None
    assert this[1] + 1 == following[0]


def test_before_the_first_year_there_is_nothing() -> None:
    assert days_from(Relative("years", -5000), 0.0) is None
