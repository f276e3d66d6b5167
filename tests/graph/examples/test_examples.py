"""Lines of questions as examples."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.each import for_each

from askgraph.errors import SetupError
from askgraph.graph.examples import (
    Confirmation,
    Origin,
    QueryExample,
    Wording,
    confirmed_repeat,
    random_examples,
    read_examples,
    similar_examples,
)


def test_a_line_is_an_example_where_it_has_a_query(tmp_path: Path) -> None:
    path = tmp_path / "asked.jsonl"
    path.write_text(
        '{"question": "Which moons?", "sparql": "ASK { }", "lang": "en", "tags": ["moons"]}\n'
        '\n{"question": "Why?", "sparql": null}\n'
    )
    assert read_examples(path) == (
        QueryExample("Which moons?", "ASK { }", "en", keywords=("moons",)),
    )


@for_each(
    ("line", "why"),
    [
        ('{"text": "Why?"}', "a text 'question' is needed"),
        ('{"question": 5}', "a text 'question' is needed"),
        ('{"question": "Why?", "sparql": ["ASK { }"]}', "maybe texts 'sparql'"),
        ('["Why?"]', "no JSON object"),
        ('{"question": "Why?"', "Expecting"),
    ],
)
def test_a_line_that_is_no_question_is_named_with_what_is_wrong(
    tmp_path: Path, line: str, why: str
) -> None:
    path = tmp_path / "asked.jsonl"
    path.write_text(f'{{"question": "Why?"}}\n{line}\n')
    with pytest.raises(SetupError, match=f"line 2: no example: .*{why}"):
        read_examples(path)


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


def example(
    text: str,
    language: str | None = "en",
    *,
    origin: Origin = "confirmed",
    when: str = "2026-01-01",
) -> QueryExample:
    known = Confirmation(when, "g", "v", 1)
    return QueryExample(text, f"ASK {{ }} # {when}", language, origin=origin, confirmation=known)


MOONS = example("Which moons has Mars?")


@for_each(
    "text",
    [
        "Which moons has Mars?",
        "which  moons has MARS",
        "Which moons has Mars ?!",
        "Which moons has Mars？",
    ],
)
def test_letter_case_space_and_final_punctuation_do_not_count(text: str) -> None:
    assert confirmed_repeat(text, "en", [MOONS]) is MOONS


@for_each(
    "text", ["Which moon has Mars?", "Which moons has Mars today?", "Has Mars which moons?", "?"]
)
def test_other_words_are_another_question(text: str) -> None:
    assert confirmed_repeat(text, "en", [MOONS]) is None


@pytest.mark.parametrize(("asked", "found"), [("en-GB", True), (None, True), ("de", False)])
def test_the_language_has_to_be_the_same_where_it_is_known(asked: str | None, found: bool) -> None:
    assert (confirmed_repeat("Which moons has Mars?", asked, [MOONS]) is MOONS) is found


def test_every_wording_is_a_way_to_ask() -> None:
    other = QueryExample(
        "a", "ASK { }", "en", (Wording("Welche Monde?", "de"),), origin="confirmed"
    )
    assert confirmed_repeat("welche Monde", "de", [other]) is other


@pytest.mark.parametrize("origin", ["written", "generated"])
def test_what_nobody_confirmed_is_not_repeated(origin: Origin) -> None:
    assert confirmed_repeat("Why?", "en", [example("Why?", origin=origin)]) is None


def test_of_several_the_one_confirmed_last_counts() -> None:
    old, new = example("Why?", when="2025-01-01"), example("Why?", when="2026-06-01")
    assert confirmed_repeat("Why?", "en", [new, old]) is new
