"""Questions that follow others."""

import pytest

from askgraph.sparql.results import SelectResult
from askgraph.trace import Answer, Clarification, Earlier, Outcome, Question, Refusal, follow_up

FIRST = Question("Which moons orbit Jupiter?", "en", (Earlier("Planets?", "SELECT ?p {}"),))
FOUND = Answer("SELECT ?moon {}", "space", SelectResult((), ()), (), "", 0.9)


@pytest.mark.parametrize(
    "outcome", [FOUND, Refusal("unsure", FOUND), Clarification("Which?", (), FOUND)]
)
def test_what_was_asked_before_comes_oldest_first_with_its_queries(outcome: Outcome) -> None:
    second = follow_up("Und der Mars?", FIRST, outcome, language="de")

    assert (second.text, second.language) == ("Und der Mars?", "de")
    assert second.before == (
        Earlier("Planets?", "SELECT ?p {}"),
        Earlier("Which moons orbit Jupiter?", "SELECT ?moon {}"),
    )


def test_a_question_that_came_to_no_query_is_passed_over() -> None:
    found = follow_up("And Mars?", FIRST, Refusal("not here"))

    assert found.before == (Earlier("Planets?", "SELECT ?p {}"),)
