"""Traces on disk: a JSON line about the run, then one line per step.

    {"version": 1, "question": {"text": "Which moons …"}, "method": "grasp", "settings": {…}, …}
    {"step": "model_turn", "choice": {"text": "I look for …", "calls": […], …}, "usage": {…}, …}

Frozen dataclasses become JSON by their fields, and are read back by their annotations, equal to
the original. Older files stay readable if a class gains a field with a default.
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

CLASS_KEY = "is"
"""The key for the class name of a value whose field allows several classes."""
_PLAIN_TYPES = frozenset({str, int, float, bool})


def to_json_value(value: object, hint: Any) -> Any:
    """Return a value of the annotated type as JSON; `TypeError` for a value of another type."""
    if value is None or type(value) in _PLAIN_TYPES:
        return value
    hint = _unwrap_optional(hint)
    if isinstance(value, SelectResult):
        return {**to_json(value), "seconds": value.seconds}
    if is_dataclass(value) and not isinstance(value, type):
        object_fields = {
            name: to_json_value(getattr(value, name), field_type)
            for name, field_type in _get_field_types(type(value)).items()
        }
        return (
            {CLASS_KEY: to_snake_case(type(value)), **object_fields}
            if len(_list_dataclasses(hint)) > 1
            else object_fields
        )
    match value:
        case tuple() | list():
            return [
                to_json_value(item, _get_item_type(hint, index)) for index, item in enumerate(value)
            ]
        case Mapping():
            return {
                str(key): to_json_value(item, _get_value_type(hint)) for key, item in value.items()
            }
        case Enum():
            return value.value
        case str() | int() | float():
            return value
    raise TypeError(f"cannot convert to JSON: {type(value).__name__}")


def from_json_value(data: Any, hint: Any) -> Any:
    """Undo `to_json_value`; raise `ValueError`, `KeyError` or `TypeError` for damaged data."""
    if hint is SelectResult:
        result = from_json(data)
        if not isinstance(result, SelectResult):
            raise TypeError("no table")
        return replace(result, seconds=_check_type(data["seconds"], float))
    if is_dataclass(hint):
        return _read_instance(data, hint)
    if hint is object or hint is Any:
        return data
    if isinstance(hint, type) and issubclass(hint, Enum):
        return hint(data)
    if get_args(hint):
        return _read_composed(data, hint)
    return _check_type(data, hint)


@cache
def to_snake_case(kind: type) -> str:
    """Return the name of a class as words joined by underscores: `ToolUse` is `tool_use`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", kind.__name__).lower()


@cache
def _get_hints(kind: type) -> Mapping[str, Any]:
    return get_type_hints(kind)


@cache
def _get_field_types(kind: Any) -> Mapping[str, Any]:
    hints = _get_hints(kind)
    return {dataclass_field.name: hints[dataclass_field.name] for dataclass_field in fields(kind)}


@cache
def _list_dataclasses(hint: Any) -> list[Any]:
    return [kind for kind in get_args(hint) if is_dataclass(kind)] if _is_union(hint) else []


def _is_union(hint: Any) -> bool:
    return get_origin(hint) in (Union, types.UnionType)


@cache
def _unwrap_optional(hint: Any) -> Any:
    """Return the other member of an optional type."""
    members = [kind for kind in get_args(hint) if kind is not types.NoneType]
    return members[0] if _is_union(hint) and len(members) == 1 else hint


def _get_item_type(hint: Any, index: int) -> Any:
    """Return the type of an item of a tuple or list; `object` without type arguments."""
    kinds = get_args(hint)
    if not kinds:
        return object
    return kinds[0] if len(kinds) == 1 or kinds[1] is Ellipsis else kinds[index]


def _get_value_type(hint: Any) -> Any:
    kinds = get_args(hint)
    return kinds[1] if len(kinds) == 2 else object


def _read_composed(data: Any, hint: Any) -> Any:
    """Return a value of a type with type arguments."""
    if _is_union(hint):
        if data is None and types.NoneType in get_args(hint):
            return None
        classes = {to_snake_case(kind): kind for kind in _list_dataclasses(hint)}
        if len(classes) > 1:
            return _read_instance(data, classes[_check_type(data, dict)[CLASS_KEY]])
        return from_json_value(
            data, next(kind for kind in get_args(hint) if kind is not types.NoneType)
        )
    origin = get_origin(hint)
    if origin is tuple:
        return tuple(
            from_json_value(item, _get_item_type(hint, index))
            for index, item in enumerate(_check_type(data, list))
        )
    if origin is Literal:
        if data not in get_args(hint):
            raise ValueError(f"{data!r} is not one of {get_args(hint)}")
        return data
    return {
        key: from_json_value(item, _get_value_type(hint))
        for key, item in _check_type(data, dict).items()
    }


def _read_instance(data: Any, kind: Any) -> Any:
    content = _check_type(data, dict)
    hints = _get_hints(kind)
    values = {}
    for dataclass_field in fields(kind):
        if dataclass_field.name in content:
            values[dataclass_field.name] = from_json_value(
                content[dataclass_field.name], hints[dataclass_field.name]
            )
        elif dataclass_field.default is MISSING and dataclass_field.default_factory is MISSING:
            raise KeyError(dataclass_field.name)
    return kind(**values)


def _check_type(data: Any, kind: Any) -> Any:
    accepted_types = (int, float) if kind is float else kind
    if not isinstance(data, accepted_types) or (isinstance(data, bool) and kind is not bool):
        raise TypeError(f"{data!r} is not of type {kind.__name__}")
    return data


TRACE_FORMAT_VERSION = 1


@cache
def _get_askgraph_version() -> str:
    return version("askgraph")


_STEP_CLASSES: Mapping[str, type] = {to_snake_case(kind): kind for kind in get_args(Step)}


@dataclass(frozen=True)
class GraphState:
    """A graph by name, and a fingerprint of its content."""

    name: str
    snapshot: str = ""


@dataclass(frozen=True)
class TraceHead:
    """Facts about a run besides its steps.

    `settings` are those of the method as JSON, with a language model as its identity. `created`
    is a time in UTC (ISO 8601), `askgraph` the version that ran.
    """

    settings: Mapping[str, object] = field(default_factory=dict)
    graphs: tuple[GraphState, ...] = ()
    askgraph: str = field(default_factory=_get_askgraph_version)
    created: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))


def serialize_step(step: Step) -> str:
    """Return a step as a line of JSON without line end; its `step` is the kind."""
    return _to_line(encode_step(step))


def encode_step(step: Step) -> dict[str, object]:
    """Return a step as the JSON object of its line."""
    kind: type = type(step)
    return {"step": to_snake_case(kind), **to_json_value(step, kind)}


def parse_step(line: str) -> Step:
    """Return the step of a line; `ValueError`, `KeyError` or `TypeError` if it is damaged."""
    content = json.loads(line)
    if not isinstance(content, dict):
        raise TypeError("no object")
    kind = content["step"]
    if kind not in _STEP_CLASSES:
        raise ValueError(f"{kind!r} is not a kind of step; available: {', '.join(_STEP_CLASSES)}")
    step: Step = from_json_value(content, _STEP_CLASSES[kind])
    return step


def write_trace(path: Path, trace: Trace, head: TraceHead | None = None) -> None:
    """Write a trace atomically: a reader sees either the old file or the new one.

    A run that ended in an error is written up to that point.

    Raises:
        SetupError: the file cannot be written.
    """
    try:
        write_text_atomically(
            path, join_lines((encode_head(trace, head), *map(encode_step, trace.steps)))
        )
    except OSError as error:
        raise SetupError(f"cannot write the trace {path}: {error.strerror or error}") from error


def encode_head(trace: Trace, head: TraceHead | None = None) -> dict[str, object]:
    """Return the first line of a trace as a JSON object."""
    return {
        "version": TRACE_FORMAT_VERSION,
        "question": to_json_value(trace.question, Question),
        "method": trace.method,
        **to_json_value(head or TraceHead(), TraceHead),
    }


def join_lines(content: Iterable[Mapping[str, object]]) -> str:
    """Return the head and the steps of a trace as the lines of its file."""
    return "".join(f"{_to_line(line)}\n" for line in content)


def read_trace(path: Path) -> tuple[Trace, TraceHead]:
    """Read a trace and its head; `SetupError` with the line if the file is damaged."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise SetupError(
            f"cannot read the trace {path}: {error.strerror or error}; create one with: "
            "askgraph ask --trace FILE"
        ) from error
    except UnicodeDecodeError as error:
        raise SetupError(f"{path} is not a trace: it is not UTF-8 text") from error
    return parse_trace(text, str(path))


def parse_trace(text: str, source: str) -> tuple[Trace, TraceHead]:
    """Read a trace from its text; `SetupError` with `source` and the line if it is damaged."""
    lines = text.split("\n")
    question, method, head = _parse_head(source, lines[0])
    if lines.pop() != "":
        raise SetupError(f"the trace {source} is damaged: its line {len(lines) + 1} is cut off")
    steps: list[Step] = []
    for number, line in enumerate(lines[1:], 2):
        try:
            steps.append(parse_step(line))
        except (ValueError, KeyError, TypeError) as error:
            reason = _describe_damage(error)
            raise SetupError(f"the trace {source} is damaged: line {number}: {reason}") from error
    return Trace(question, method, tuple(steps)), head


def _parse_head(source: str, line: str) -> tuple[Question, str, TraceHead]:
    try:
        data: dict[str, Any] = json.loads(line)
        if not isinstance(data, dict):
            raise TypeError("no object")
        version_number = data["version"]
        if version_number == TRACE_FORMAT_VERSION:
            question: Question = from_json_value(data["question"], Question)
            head: TraceHead = from_json_value(data, TraceHead)
            return question, from_json_value(data["method"], str), head
    except (ValueError, KeyError, TypeError) as error:
        raise SetupError(
            f"{source} is not a trace of 'askgraph ask --trace': line 1: {_describe_damage(error)}"
        ) from error
    raise SetupError(
        f"the trace {source} has version {version_number}, but this askgraph reads version "
        f"{TRACE_FORMAT_VERSION}"
    )


def _describe_damage(error: ValueError | KeyError | TypeError) -> str:
    match error:
        case json.JSONDecodeError():
            return f"not JSON, {error.msg} at character {error.pos + 1}"
        case KeyError(args=(key, *_)):
            return f"there is no {key!r}"
        case _:
            return str(error)


def _to_line(content: Mapping[str, object]) -> str:
    text = json.dumps(content, ensure_ascii=False)
    return text.encode("utf-8", "backslashreplace").decode()  # a lone surrogate stays JSON
