"""Conditions on texts are about the value that is named, else about the name of the noun."""

import pytest
from tests.search.asking import Known


def best_rows(known: Known, question: str) -> set[str]:
    rows = known.rows(known.best_query(question))
    assert not isinstance(rows, bool)
    return {str(row[-1]) for row in rows}


def test_a_value_that_is_named_holds_the_text(zoo: Known) -> None:
    assert best_rows(zoo, "Which keepers have an email containing 'm@'?") >= {'"m@z.ex"'}


def test_a_text_that_nothing_holds_is_no_condition(zoo: Known) -> None:
    for candidate in zoo.proposal("Which keepers have 'Xyz' in their names?").candidates:
        assert "CONTAINS" not in zoo.query(candidate.query)


@pytest.mark.parametrize(
    ("question", "language", "number"),
    [
        ("How many Apollo missions were there?", "en", 12),
        ("Wie viele Apollo-Missionen gab es?", "de", 12),
        ("How many astronauts flew on Gemini missions?", "en", None),
    ],
)
def test_a_word_in_many_names_of_a_class_limits_it(
    question: str, language: str, number: int | None, space: Known
) -> None:
    query = space.best_query(question, language)
    assert "CONTAINS" in query
    rows = space.rows(query)
    assert not isinstance(rows, bool)
    assert number is None or f'"{number}"' in str(rows[0][0])


def test_a_word_that_is_a_whole_name_limits_none(space: Known) -> None:
    for question in ("Which missions went to Mars?", "Which missions did NASA launch?"):
        query = space.best(question).query
        assert "CONTAINS" not in space.query(query)
