"""A trace on disk: a line of JSON that says what was asked of what, then one line a step.

    {"version": 1, "question": {"text": "Which moons …"}, "method": "grasp", "settings": {…}, …}
    {"step": "model_turn", "choice": {"text": "I look for …", "calls": […], …}, "usage": {…}, …}

Frozen dataclasses become JSON by their fields, and are read back by their annotations, equal to
what was written. One that gains a field with a default can still be read from older files.
"""

import json
import re
import types
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass, replace
from datetime import UTC, datetime
from enum import Enum
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from askgraph.atomic_files import write_text_atomically
from askgraph.errors import SetupError
from askgraph.sparql.results import SelectResult, from_json, to_json
from askgraph.trace import Question, Step, Trace

MEMBER = "is"
"""The key under which a value says which class it has, if its field may have one of several."""
_PLAIN = frozenset({str, int, float, bool})


def told(value: object, hint: Any) -> Any:
    """Return a value of the annotated type as JSON; `TypeError` if it is of another one."""
    if value is None or type(value) in _PLAIN:
        return value
    hint = _meant(hint)
    if isinstance(value, SelectResult):
        return {**to_json(value), "seconds": value.seconds}
    if is_dataclass(value) and not isinstance(value, type):
        content = {
            name: told(getattr(value, name), kind) for name, kind in _fields(type(value)).items()
        }
        several = len(_classes(hint)) > 1
        return {MEMBER: spoken_name(type(value)), **content} if several else content
    match value:
        case tuple() | list():
            return [told(item, _item(hint, at)) for at, item in enumerate(value)]
        case Mapping():
            return {str(key): told(item, _value(hint)) for key, item in value.items()}
        case Enum():
            return value.value
        case str() | int() | float():
            return value
    raise TypeError(f"no JSON for a {type(value).__name__}")


def read(given: Any, hint: Any) -> Any:
    """Return the value that `told` made this JSON of.

    Raises `ValueError`, `KeyError` or `TypeError` if it is damaged.
    """
    if hint is SelectResult:
        result = from_json(given)
        if not isinstance(result, SelectResult):
            raise TypeError("no table")
        return replace(result, seconds=_typed(given["seconds"], float))
    if is_dataclass(hint):
        return _instance(given, hint)
    if hint is object or hint is Any:
        return given
    if isinstance(hint, type) and issubclass(hint, Enum):
        return hint(given)
    if get_args(hint):
        return _composed(given, hint)
    return _typed(given, hint)


@cache
def spoken_name(kind: type) -> str:
    """Return the name of a class as words joined by underscores: `ToolUse` is `tool_use`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", kind.__name__).lower()


@cache
def _hints(kind: type) -> Mapping[str, Any]:
    return get_type_hints(kind)


@cache
def _fields(kind: Any) -> Mapping[str, Any]:
    """The fields of a dataclass with their types."""
    hints = _hints(kind)
    return {one.name: hints[one.name] for one in fields(kind)}


@cache
def _classes(hint: Any) -> list[Any]:
    return [kind for kind in get_args(hint) if is_dataclass(kind)] if _is_union(hint) else []


def _is_union(hint: Any) -> bool:
    return get_origin(hint) in (Union, types.UnionType)


@cache
def _meant(hint: Any) -> Any:
    """Narrow an optional type to the one that a value has."""
    members = [kind for kind in get_args(hint) if kind is not types.NoneType]
    return members[0] if _is_union(hint) and len(members) == 1 else hint


def _item(hint: Any, at: int) -> Any:
    """Return the type of one item of a tuple or list; of values that say no type, any."""
    kinds = get_args(hint)
    if not kinds:
        return object
    return kinds[0] if len(kinds) == 1 or kinds[1] is Ellipsis else kinds[at]


def _value(hint: Any) -> Any:
    kinds = get_args(hint)
    return kinds[1] if len(kinds) == 2 else object


def _composed(given: Any, hint: Any) -> Any:
    """Read what has a type with further types in it."""
    if _is_union(hint):
        if given is None and types.NoneType in get_args(hint):
            return None
        classes = {spoken_name(kind): kind for kind in _classes(hint)}
        if len(classes) > 1:
            return _instance(given, classes[_typed(given, dict)[MEMBER]])
        return read(given, next(kind for kind in get_args(hint) if kind is not types.NoneType))
    origin = get_origin(hint)
    if origin is tuple:
        return tuple(read(item, _item(hint, at)) for at, item in enumerate(_typed(given, list)))
    if origin is Literal:
        if given not in get_args(hint):
            raise ValueError(f"{given!r} is none of {get_args(hint)}")
        return given
    return {key: read(item, _value(hint)) for key, item in _typed(given, dict).items()}


def _instance(given: Any, kind: Any) -> Any:
    content = _typed(given, dict)
    hints = _hints(kind)
    values = {}
    for one in fields(kind):
        if one.name in content:
            values[one.name] = read(content[one.name], hints[one.name])
        elif one.default is MISSING and one.default_factory is MISSING:
            raise KeyError(one.name)
    return kind(**values)


def _typed(given: Any, kind: Any) -> Any:
    wanted = (int, float) if kind is float else kind
    if not isinstance(given, wanted) or (isinstance(given, bool) and kind is not bool):
        raise TypeError(f"{given!r} is no {kind.__name__}")
    return given


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
    kind: type = type(step)
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
        write_text_atomically(path, trace_text(trace, head))
    except OSError as error:
        raise SetupError(f"cannot write the trace {path}: {error.strerror or error}") from error


def trace_text(trace: Trace, head: Head | None = None) -> str:
    """Return a trace as the lines of its file."""
    return lines_of((head_told(trace, head), *map(step_told, trace.steps)))


def head_told(trace: Trace, head: Head | None = None) -> dict[str, object]:
    """Return the first line of a trace as a JSON object."""
    return {
        "version": VERSION,
        "question": told(trace.question, Question),
        "method": trace.method,
        **told(head or Head(), Head),
    }


def lines_of(content: Iterable[Mapping[str, object]]) -> str:
    """Return the head and the steps of a trace as the lines of its file."""
    return "".join(f"{_line(one)}\n" for one in content)


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
