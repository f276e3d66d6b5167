"""The steps of a run as JSON objects, one a step, and whether they are what a method may give."""

import json
from collections.abc import Sequence
from dataclasses import asdict

from askgraph.answers.codec import Json, answer_object
from askgraph.trace import (
    Draft,
    Findings,
    ModelTurn,
    Outcome,
    Prompt,
    Step,
    Thought,
    ToolUse,
    attempt_of,
)

ROWS = 20
TEXT = 8_000  # characters of a prompt, a reply or a tool's output that are kept


def step_object(step: Step, *, rows: int = ROWS) -> Json:
    """Return a step as a JSON object whose `step` names its kind; of long texts the beginning.

    `thought`, `findings` and `draft` have the fields of their classes; `answer`, `clarification`
    and `refusal` are the answer object with the first rows of the result. `prompt` has `purpose`,
    `messages` (role and text) and the names of its `tools`; `model_turn` has `text`, `reasoning`,
    `calls` (tool and arguments as written), `finish`, `model` and `usage`; `tool_use` has `tool`,
    `arguments`, `output`, `failed`, `query`, `rows` and `seconds`. All of it is in a trace of
    `askgraph.trace.lines`.
    """
    match step:
        case ToolUse():
            return {"step": "tool_use", **_tool_use(step)}
        case Prompt():
            return {"step": "prompt", **_prompt(step)}
        case ModelTurn():
            return {"step": "model_turn", **_model_turn(step)}
        case Thought() | Findings() | Draft():
            return {"step": type(step).__name__.lower(), **asdict(step)}
        case outcome:
            found = answer_object(outcome, limit=rows)
            return {"step": found["status"], **found}


def sound_steps(steps: Sequence[object]) -> tuple[tuple[Step, ...], str | None]:
    """Return the steps that can be written down, and how all are not what a method promises.

    The latter is None if they are: steps that JSON can hold, of which the last one, and no
    other, is an outcome, with a confidence between 0 and 1.
    """
    flaws = [_flaw_of(step) for step in steps]
    sound = tuple(
        step
        for step, flaw in zip(steps, flaws, strict=True)
        if flaw is None and isinstance(step, Step)
    )
    outcomes = sum(isinstance(step, Outcome) for step in steps)
    if any(flaws):
        return sound, next(filter(None, flaws))
    if not outcomes:
        return sound, "it ended without an answer, a refusal or a question back"
    if outcomes > 1 or not isinstance(steps[-1], Outcome):
        return sound, "it went on after its answer"
    return sound, None


def _flaw_of(step: object) -> str | None:
    if not isinstance(step, Step):
        return f"it gave a {type(step).__name__}, which is no step"
    try:
        json.dumps(step_object(step), allow_nan=False)
    except (AttributeError, TypeError, ValueError) as problem:
        return f"its {type(step).__name__} cannot be written as JSON: {problem}"
    best = attempt_of(step) if isinstance(step, Outcome) else None
    if best is not None and not 0 <= best.confidence <= 1:
        return f"its confidence is {best.confidence}, not between 0 and 1"
    return None


def _tool_use(use: ToolUse) -> Json:
    seen = use.observation
    return {
        "tool": use.tool,
        "arguments": {name: _beginning(one) for name, one in use.arguments.items()},
        "output": _beginning(seen.text),
        "failed": seen.failed,
        "query": seen.query,
        "rows": seen.rows,
        "seconds": use.seconds,
    }


def _prompt(prompt: Prompt) -> Json:
    messages = [
        {"role": type(message).__name__.lower(), "text": _beginning(message.text)}
        for message in prompt.messages
    ]
    tools = [tool.name for tool in prompt.tools]
    return {"purpose": prompt.purpose, "messages": messages, "tools": tools}


def _model_turn(turn: ModelTurn) -> Json:
    choice = turn.choice
    calls = [{"tool": one.name, "arguments": _beginning(one.arguments)} for one in choice.calls]
    return {
        "text": _beginning(choice.text or choice.refusal),
        "reasoning": _beginning(choice.reasoning),
        "calls": calls,
        "finish": choice.finish.value,
        "model": turn.model,
        "usage": asdict(turn.usage),
    }


def _beginning(value: object) -> object:
    if not isinstance(value, str) or len(value) <= TEXT:
        return value
    return f"{value[:TEXT]} … ({len(value) - TEXT:,} characters more)"
