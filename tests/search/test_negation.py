"""A negation is about the noun before it and holds what is said after it."""

import pytest
from tests.search.asking import Known
from tests.search.question_files import graph_named


def test_a_question_for_yes_or_no_holds_no_condition_on_groups(zoo: Known) -> None:
    for question in (
        "Does Lion Rock have more than one animal?",
        "Is there a keeper without email?",
    ):
        for candidate in zoo.proposal(question).candidates:
            assert not (candidate.asks and candidate.tree.having)


def test_a_denial_ends_with_its_clause() -> None:
    port = graph_named("port")
    question = "Which voyages that do not have the goal Crete are owned by Acme?"
    for candidate in port.proposal(question).candidates:
        query = port.query(candidate.query)
        assert "acme" not in query.partition("NOT EXISTS")[2]


@pytest.mark.parametrize(
    "question",
    ["Which astronauts were never on the Moon?", "Welche Astronauten waren nie auf dem Mond?"],
)
def test_a_class_that_words_name_is_kept_beside_the_denial(question: str, space: Known) -> None:
    language = "de" if question.startswith("Welche") else "en"
    query = space.best(question, language).query
    rows = space.rows(space.query(query))
    assert not isinstance(rows, bool)
    found = {str(row[0]).rsplit("/", 1)[-1].rstrip(">") for row in rows}
    assert "Alexander_Gerst" in found and "Neil_Armstrong" not in found
