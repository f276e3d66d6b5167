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
    find_confirmed,
    rank_examples,
    read_examples,
    sample_examples,
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
    ('{"text": "Why?"}', "it needs a text 'question'"),
    ('{"question": 5}', "it needs a text 'question'"),
    ('{"question": "Why?", "sparql": ["ASK { }"]}', "can have texts 'sparql'"),
    ('["Why?"]', "not a JSON object"),
    ('{"question": "Why?"', "Expecting"),
)
def test_a_line_without_question_is_named_with_why(tmp_path: Path, line: str, why: str) -> None:
    path = tmp_path / "asked.jsonl"
    path.write_text(f'{{"question": "Why?"}}\n{line}\n')
    with pytest.raises(SetupError, match=f"line 2: not an example: .*{why}"):
        read_examples(path)


QUESTIONS = st.lists(st.text(min_size=1, max_size=30), max_size=8)


def examples(*texts: str) -> list[QueryExample]:
    return [QueryExample(text, "ASK { }") for text in texts]


def test_the_most_similar_comes_first() -> None:
    known = examples("Who painted it?", "Moons of Saturn", "Which moons orbit Saturn?")
    found = rank_examples("Which moons orbit Mars?", known)
    assert found[0][0].question == "Which moons orbit Saturn?"
    assert rank_examples("Which?", []) == [] and sample_examples("Which?", []) == []


@given(QUESTIONS, st.text(min_size=1, max_size=30))
def test_a_question_is_most_like_itself(texts: list[str], question: str) -> None:
    found = rank_examples(question, examples(*texts, question))
    assert found[0][1] == max(score for _, score in found) == 1.0
    assert all(0.0 <= score <= 1.0 for _, score in found)


@given(QUESTIONS, st.text(max_size=30))
def test_chance_repeats_for_the_same_question(texts: list[str], question: str) -> None:
    known = examples(*texts)
    assert sample_examples(question, known) == sample_examples(question, known)
    assert len(sample_examples(question, known)) == min(3, len(known))


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
    ("text", "language", "same"),
    ("Which moons has Mars?", "en", True),
    ("which  moons has MARS", "en", True),
    ("Which moons has Mars ?!", "en", True),
    ("Which moons has Mars？", "en-GB", True),
    ("Which moons has Mars?", None, True),
    ("Which moons has Mars?", "de", False),
    ("Which moon has Mars?", "en", False),
    ("Which moons has Mars today?", "en", False),
    ("Has Mars which moons?", "en", False),
    ("?", "en", False),
)
def test_equal_words_in_a_language_are_one(text: str, language: str | None, same: bool) -> None:
    assert (find_confirmed(text, language, [MOONS]) is MOONS) is same


def test_the_example_that_was_confirmed_last_is_repeated() -> None:
    old, new = example("Why?", when="2025-01-01"), example("Why?", when="2026-06-01")
    others = [example("Why?", origin="written"), example("Why?", origin="generated")]
    assert find_confirmed("Why?", "en", [*others, new, old]) is new
    assert find_confirmed("Why?", "en", others) is None
    # Every wording is a way to ask.
    german = (Wording("Welche Monde?", "de"),)
    other = QueryExample("a", "ASK { }", "en", german, origin="confirmed")
    assert find_confirmed("welche Monde", "de", [other]) is other
