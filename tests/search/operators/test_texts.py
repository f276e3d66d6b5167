"""Conditions on texts are about the value that is named, else about the name of the noun."""

import pytest
from tests.search.asking import Known

from askgraph.search.rank import clusters


def best_rows(known: Known, question: str) -> set[str]:
    rows = known.rows(known.query(clusters(known.proposal(question).candidates)[0].best.query))
    assert not isinstance(rows, bool)
    return {str(row[-1]) for row in rows}


@pytest.mark.parametrize(
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
