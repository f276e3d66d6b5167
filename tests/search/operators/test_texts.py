"""Conditions on texts are about the value that is named, else about the name of the noun."""

import pytest
from tests.each import for_each
from tests.search.asking import Known

from askgraph.search.rank import clusters


def best_rows(known: Known, question: str) -> set[str]:
    rows = known.rows(known.query(clusters(known.proposal(question).candidates)[0].best.query))
    assert not isinstance(rows, bool)
    return {str(row[-1]) for row in rows}


@for_each(
    ("question", "found"),
    [
        ("Which keepers have the letter d in their name?", {"Mara", "Otto"}),
        ("Which keepers have 'Nov' in their names?", {"Lena"}),
        ("Which enclosures' name contains 'Pool'?", {"Pool"}),
        ("Which enclosures have a name that ends with the word Rock?", {"Rock"}),
        ("Welche Pfleger haben das Wort 'Otto' im Namen?", {"Otto"}),
    ],
)
def test_the_name_holds_the_text(question: str, found: set[str], zoo: Known) -> None:
    assert best_rows(zoo, question) == {f"<https://zoo.example/{one}>" for one in found}


def test_a_value_that_is_named_holds_the_text(zoo: Known) -> None:
    assert best_rows(zoo, "Which keepers have an email containing 'm@'?") >= {'"m@z.ex"'}


def test_how_many_have_it_is_one_number(zoo: Known) -> None:
    question = "How many keepers have a name that contains the letter a?"
    assert {row.split('"')[1] for row in best_rows(zoo, question)} == {"3"}


def test_the_thing_named_last_before_the_words_has_the_name(zoo: Known) -> None:
    question = "Which animals are cared for by keepers whose name contains 'Nov'?"
    assert best_rows(zoo, question) == {"<https://zoo.example/Pep>"}


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
    query = space.query(clusters(space.proposal(question, language).candidates)[0].best.query)
    assert "CONTAINS" in query
    rows = space.rows(query)
    assert not isinstance(rows, bool)
    assert number is None or f'"{number}"' in str(rows[0][0])


def test_a_word_that_is_a_whole_name_limits_none(space: Known) -> None:
    for question in ("Which missions went to Mars?", "Which missions did NASA launch?"):
        query = clusters(space.proposal(question).candidates)[0].best.query
        assert "CONTAINS" not in space.query(query)
