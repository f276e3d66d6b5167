"""A trace on disk: a line of JSON that says what was asked of what, then one line a step.

    {"version": 1, "question": {"text": "Which moons …"}, "method": "grasp", "settings": {…}, …}
    {"step": "model_turn", "choice": {"text": "I look for …", "calls": […], …}, "usage": {…}, …}

What is read is equal to what was written: terms, tables, messages and all.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, get_args

from askgraph.errors import SetupError
from askgraph.metadata.store import write_whole
from askgraph.trace import Question, Step, Trace
from askgraph.trace.codec import read, spoken_name, told

VERSION = 1


@cache
def _own_version() -> str:
    return version("askgraph")


_STEPS: Mapping[str, type] = {spoken_name(kind): kind for kind in get_args(Step)}


@dataclass(frozen=True)
class GraphState:
    """A graph by name, and what tells its content from any other."""

    name: str
    snapshot: str = ""


@dataclass(frozen=True)
class Head:
    """What a run was besides its steps.

    `settings` are the method's as JSON, a language model as its identity. `created` is a time in
    UTC (ISO 8601), `askgraph` the version that ran.
    """

    settings: Mapping[str, object] = field(default_factory=dict)
    graphs: tuple[GraphState, ...] = ()
    askgraph: str = field(default_factory=_own_version)
    created: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))


def line_of(step: Step) -> str:
    """Return a step as a line of JSON without its end; its `step` names its kind."""
    return _line(step_told(step))


def step_told(step: Step) -> dict[str, object]:
    """Return a step as the JSON object of its line."""
    kind = type(step)
    return {"step": spoken_name(kind), **told(step, kind)}


def step_of(line: str) -> Step:
    """Return the step of a line; `ValueError`, `KeyError` or `TypeError` if it is damaged."""
    content = json.loads(line)
    if not isinstance(content, dict):
        raise TypeError("no object")
    kind = content["step"]
    if kind not in _STEPS:
        raise ValueError(f"{kind!r} is no kind of step; there are {', '.join(_STEPS)}")
    step: Step = read(content, _STEPS[kind])
    return step


def write_trace(path: Path, trace: Trace, head: Head | None = None) -> None:
    """Write a trace over what was there; a reader sees the old file or the new one.

    A run that ended in an error is written as far as it came. Raises `SetupError` if the file
    cannot be written.
    """
    try:
        write_whole(path, trace_text(trace, head))
    except OSError as error:
        raise SetupError(f"cannot write the trace {path}: {error.strerror or error}") from error


def trace_text(trace: Trace, head: Head | None = None) -> str:
    """Return a trace as the lines of its file."""
    about = {
        "version": VERSION,
        "question": told(trace.question, Question),
        "method": trace.method,
        **told(head or Head(), Head),
    }
    return "".join(f"{line}\n" for line in (_line(about), *map(line_of, trace.steps)))


def read_trace(path: Path) -> tuple[Trace, Head]:
    """Read a trace and its head; `SetupError` names the line if the file is damaged."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise SetupError(
            f"cannot read the trace {path}: {error.strerror or error}; "
            "'askgraph ask --trace FILE' keeps one"
        ) from error
    except UnicodeDecodeError as error:
        raise SetupError(f"{path} is no trace: it is not UTF-8 text") from error
    return trace_in(text, str(path))


def trace_in(text: str, place: str) -> tuple[Trace, Head]:
    """Read a trace from its text; `SetupError` names the `place` and the line of a damage."""
    lines = text.split("\n")
    question, method, head = _head(place, lines[0])
    if lines.pop() != "":
        raise SetupError(f"the trace {place} is damaged: its line {len(lines) + 1} is cut off")
    steps: list[Step] = []
    for number, line in enumerate(lines[1:], 2):
        try:
            steps.append(step_of(line))
        except (ValueError, KeyError, TypeError) as error:
            why = _damage(error)
            raise SetupError(f"the trace {place} is damaged: line {number}: {why}") from error
    return Trace(question, method, tuple(steps)), head


def _head(place: str, line: str) -> tuple[Question, str, Head]:
    try:
        about: dict[str, Any] = json.loads(line)
        if not isinstance(about, dict):
            raise TypeError("no object")
        written = about["version"]
        if written == VERSION:
            question: Question = read(about["question"], Question)
            head: Head = read(about, Head)
            return question, read(about["method"], str), head
    except (ValueError, KeyError, TypeError) as error:
        raise SetupError(
            f"{place} is no trace of 'askgraph ask --trace': line 1: {_damage(error)}"
        ) from error
    raise SetupError(
        f"the trace {place} is of version {written}, this askgraph reads version {VERSION}"
    )


def _damage(error: ValueError | KeyError | TypeError) -> str:
    match error:
        case json.JSONDecodeError():
            return f"no JSON, {error.msg} at character {error.pos + 1}"
        case KeyError(args=(key, *_)):
            return f"there is no {key!r}"
        case _:
            return str(error)


def _line(content: Mapping[str, object]) -> str:
    text = json.dumps(content, ensure_ascii=False)
    return text.encode("utf-8", "backslashreplace").decode()  # a lone surrogate stays JSON
