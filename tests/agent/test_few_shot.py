"""Which examples are nearest: by how they ask, without the question itself."""

import pytest

from askgraph.agent.few_shot import Shot, Term, matched_text, nearest, other_than
from askgraph.metadata.examples import QueryExample, Wording

MARS = Shot(QueryExample("Which moons orbit Mars?", "SELECT ?m { ?m :orbits :Mars }"), ())
COUNT = Shot(QueryExample("How many dogs has Ann?", "SELECT (COUNT(?d) AS ?n) { … }"), ())
RADIUS = Shot(
    QueryExample("What is the radius of Io?", "SELECT ?r { :Io :radius ?r }"),
    (Term("http://e/Io", "Io"), Term("http://e/radius", "radius", relation=True)),
)


def test_by_form_an_example_that_asks_alike_goes_before_one_with_the_same_words() -> None:
    question = "How many moons orbit Mars?"

    assert nearest(question, (), [COUNT, MARS], limit=1, match="question") == [MARS]
    assert nearest(question, (), [MARS, COUNT], limit=1, match="form") == [COUNT]


def test_none_are_wanted_and_none_come() -> None:
    assert nearest("Which dogs has Ann?", (), [MARS, COUNT], limit=0) == []


def test_the_nearest_wording_of_an_example_counts() -> None:
    asked = QueryExample(
        "Ann's dogs, in number?", "SELECT …", others=(Wording("How many dogs has Ann?"),)
    )

    assert (
        nearest("How many cats has Ann?", (), [MARS, Shot(asked, ())], limit=1)[0].example == asked
    )


@pytest.mark.parametrize("question", ["Which moons orbit Mars?", "which moons orbit mars"])
def test_the_question_itself_is_no_example(question: str) -> None:
    assert other_than(question, [MARS, COUNT]) == [COUNT]


def test_a_question_about_another_number_is_another_question() -> None:
    text = "Give me all those missions to the outer planets of the Solar System after {}"
    shot = Shot(QueryExample(text.format(1990), "SELECT …"), ())

    assert other_than(text.format(1991), [shot]) == [shot]
    assert other_than(text.format(1990), [shot]) == []


def test_only_whole_words_are_masked() -> None:
    masked = matched_text("What is the position of Io?", (Term("http://e/Io", "Io"),), "masked")

    assert masked == "What is the position of <thing>?"


def test_masked_things_leave_what_is_asked_of_them() -> None:
    terms = (Term("http://e/Mars", "Mars"),)

    [first] = nearest("What is the radius of Mars?", terms, [MARS, RADIUS], limit=1, match="masked")

    assert first == RADIUS
