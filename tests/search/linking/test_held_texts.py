"""Texts that a name is asked to hold: quoted, after "the letter", or named."""

import pytest

from askgraph.search.linking.held_texts import held_text
from askgraph.search.linking.operators import frame_of
from askgraph.search.linking.text import read


def held(question: str) -> str | None:
    reading = read(question)
    for operator in frame_of(reading).of("containing", "starting", "ending"):
        at = held_text(reading, operator.positions)
        if at is not None:
            return reading.text[reading.tokens[at.start].start : reading.tokens[at.stop - 1].end]
    return None


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Which films have the word 'Dark' in their titles?", "Dark"),
        ("Which films have 'Dark Star' in their titles?", "Dark Star"),
        ("Which keepers have names containing the letter a?", "a"),
        ("Which keepers' first name contains ROY?", "ROY"),
        ("Which cities have a post code starting with 4?", "4"),
        ("Which towns start with San Diego?", "San Diego"),
        ('Welche Filme, deren Titel "Dark" enthält, gibt es?', "Dark"),
        ("¿Qué películas tienen la palabra 'Luna' en su título?", "Luna"),
        ("Quels films contiennent le mot « Lune » dans leur titre ?", "Lune"),
    ],
)
def test_a_text_is_quoted_or_named_after_its_kind(question: str, text: str) -> None:
    assert held(question) == text


@pytest.mark.parametrize(
    "question",
    [
        "Which countries contain Berlin?",
        "Which boxes have 'Widgets'?",
        "Which parks include a lake?",
        "Which animals live with Kito?",
    ],
)
def test_to_contain_or_to_have_a_thing_is_no_condition_on_a_text(question: str) -> None:
    assert held(question) is None
