"""Rows for each thing or year count what is asked for, if no other measure is named."""

from tests.each import for_each
from tests.search.asking import Known
from tests.search.question_files import graph_named


def test_a_number_of_each_named_thing_is_shown_and_not_added_up() -> None:
    inn = graph_named("rooms")
    best = inn.best("How many beds does each room have?")
    assert "SUM" not in inn.query(best.query)
    assert len(list(inn.rows(inn.query(best.query)))) == 3  # type: ignore[arg-type]


@for_each(
    ("question", "language"),
    [
        ("What is the average mass of moons by planet?", "en"),
        ("average mass of the moons by planet", "en"),
        ("durchschnittliche Masse der Monde nach Planet", "de"),
        ("masa media de las lunas por planeta", "es"),
    ],
)
def test_by_between_two_nouns_makes_groups(question: str, language: str, space: Known) -> None:
    query = space.best(question, language).query
    assert "GROUP BY ?planet" in space.query(query)


def test_by_after_a_verb_makes_none(space: Known) -> None:
    for question in (
        "How many moons were discovered by a scientist?",
        "How many missions were flown by astronauts?",
    ):
        query = space.best(question).query
        assert "GROUP BY" not in space.query(query)
