"""A step is told in one short line, whatever it holds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askgraph.llm import Choice, ToolCall
from askgraph.server.runs.events import one_line, words_of
from askgraph.trace import (
    Draft,
    Findings,
    Mention,
    ModelTurn,
    Observation,
    Prompt,
    Refusal,
    Step,
    Thought,
    ToolUse,
    Usage,
)

MARS = Mention("Mars", "entity", "http://example.org/Mars", "Mars", 1.0)
CALLS = Choice("", calls=(ToolCall("1", "search_entity", "{}"),))


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (Findings((MARS,)), "'Mars' is the entity 'Mars'"),
        (Findings(()), "no word of it is known"),
        (Draft("PREFIX : <x>\nASK {\n}", 1.0), "considers: ASK { }"),
        (Draft("ASK {}", 1.0, "Is it?"), "considers: Is it?"),
        (Thought("two\nlines"), "two lines"),
        (Prompt("write", ()), "tells a model (write)"),
        (ModelTurn(CALLS, Usage()), "the model: calls search_entity"),
        (ModelTurn(Choice("It is Io."), Usage()), "the model: It is Io."),
        (ToolUse("search", {"q": "Io"}, Observation("found")), 'search("Io"): found'),
        (Refusal("nothing"), ""),
    ],
)
def test_each_kind_of_step_says_what_it_does(step: Step, words: str) -> None:
    assert words_of(step) == words


@given(st.text())
def test_a_line_is_one_line_and_short(text: str) -> None:
    line = one_line(text)

    assert len(line) <= 160
    assert line.isprintable() or not line
