"""The steps of a language model in a run: what a reader needs, and no more than fits."""

from askgraph.evaluation.runs.steps import TEXT, sound_steps, step_object
from askgraph.llm import Choice, Finish, System, ToolCall, ToolSchema, User
from askgraph.trace import ModelTurn, Observation, Prompt, Refusal, ToolUse, Usage

LONG = "x" * (TEXT + 1_000)
CUT = "x" * TEXT + " … (1,000 characters more)"


def test_a_prompt_tells_its_messages_and_the_names_of_its_tools() -> None:
    tools = (ToolSchema("execute", "Run.", {}),)

    assert step_object(Prompt("question", (System("Work."), User(LONG)), tools)) == {
        "step": "prompt",
        "purpose": "question",
        "messages": [{"role": "system", "text": "Work."}, {"role": "user", "text": CUT}],
        "tools": ["execute"],
    }


def test_a_turn_tells_what_was_said_called_and_paid() -> None:
    call = ToolCall("c1", "execute", '{"query": "ASK {}"}')
    choice = Choice("", (call,), Finish.CALLS, LONG, refusal="No.", opaque="signed")

    said = step_object(ModelTurn(choice, Usage(llm_calls=1, input_tokens=9), "m"))

    assert said.pop("usage") == {
        "seconds": 0.0, "requests": 0, "llm_calls": 1, "input_tokens": 9, "cached_tokens": 0,
        "output_tokens": 0, "money": 0.0,
    }  # fmt: skip
    assert said == {
        "step": "model_turn",
        "text": "No.",
        "reasoning": CUT,
        "calls": [{"tool": "execute", "arguments": '{"query": "ASK {}"}'}],
        "finish": "calls",
        "model": "m",
    }


def test_a_call_tells_what_it_gave() -> None:
    seen = Observation(LONG, ("http://example.org/Io",), False, "ASK {}", 1)

    assert step_object(ToolUse("execute", {"query": LONG, "n": 1}, seen, 0.5, "c1")) == {
        "step": "tool_use",
        "tool": "execute",
        "arguments": {"query": CUT, "n": 1},
        "output": CUT,
        "failed": False,
        "query": "ASK {}",
        "rows": 1,
        "seconds": 0.5,
    }


def test_the_steps_of_a_model_are_sound() -> None:
    steps = (
        Prompt("question", (User("?"),)),
        ModelTurn(Choice("Hm."), Usage()),
        ToolUse("cancel", {}, Observation("given up", ends="cancel")),
        Refusal("given up"),
    )

    assert sound_steps(steps) == (steps, None)
