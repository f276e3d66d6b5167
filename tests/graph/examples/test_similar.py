"""Similar questions come first, whatever the order of their words."""

from hypothesis import given
from hypothesis import strategies as st

from askgraph.graph.examples import QueryExample, random_examples, similar_examples

QUESTIONS = st.lists(st.text(min_size=1, max_size=30), max_size=8)


def examples(*texts: str) -> list[QueryExample]:
    return [QueryExample(text, "ASK { }") for text in texts]


def test_the_most_similar_comes_first() -> None:
    known = examples("Who painted it?", "Moons of Saturn", "Which moons orbit Saturn?")
    found = similar_examples("Which moons orbit Mars?", known)
    assert found[0][0].question == "Which moons orbit Saturn?"


def test_no_examples_give_none() -> None:
    assert similar_examples("Which?", []) == [] and random_examples("Which?", []) == []


@given(QUESTIONS, st.text(min_size=1, max_size=30))
def test_a_question_is_most_like_itself(texts: list[str], question: str) -> None:
    found = similar_examples(question, examples(*texts, question))
    assert found[0][1] == max(score for _, score in found) == 1.0
    assert all(0.0 <= score <= 1.0 for _, score in found)


@given(QUESTIONS, st.text(max_size=30))
def test_chance_repeats_for_the_same_question(texts: list[str], question: str) -> None:
    known = examples(*texts)
    assert random_examples(question, known) == random_examples(question, known)
    assert len(random_examples(question, known)) == min(3, len(known))
