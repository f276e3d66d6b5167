"""Rows for each thing or year count what is asked for, if no other measure is named."""

import pytest
from tests.search.asking import Known

from askgraph.search.rank import clusters

BIRTHS = {("1998", 1), ("2012", 1), ("2014", 1), ("2016", 1), ("2019", 1), ("2020", 1)}


def rows(zoo: Known, question: str, language: str | None = None) -> set[tuple[str, float]]:
    """The groups and numbers that the best query gives."""
    best = clusters(zoo.proposal(question, language).candidates)[0].best
    found = zoo.rows(zoo.query(best.query))
    assert not isinstance(found, bool)
    return {(_short(str(one)), float(_short(str(number)))) for one, number in found}


def _short(term: str) -> str:
    return term.partition("^^")[0].strip('"<>').rpartition("/")[2]


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("births per year", "en"),
        ("animals born per year", "en"),
        ("How many animals were born each year?", "en"),
        ("Tiere pro Jahr", "de"),
    ],
)
def test_births_are_counted_by_the_year_of_the_birth_date(
    question: str, language: str, zoo: Known
) -> None:
    assert rows(zoo, question, language) == BIRTHS


def test_things_per_thing_are_counted(zoo: Known) -> None:
    assert rows(zoo, "animals per enclosure") == {("Rock", 2), ("Hall", 1), ("Pool", 3)}


def test_a_measure_per_thing_is_shown_and_not_counted(zoo: Known) -> None:
    assert rows(zoo, "average weight per enclosure") == {
        ("Rock", 160.25), ("Hall", 4200), ("Pool", 5.5),
    }  # fmt: skip
