"""Replies in a form: a JSON object of a schema, whether or not the server saw to it; tool calls.

A call that cannot be run, and a reply that is empty, refused, cut off or goes in a circle, becomes
text for the model, never an exception: it is one turn lost, not the question.
"""

import ast
import difflib
import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import NoneType
from typing import Any

from askgraph.errors import SetupError
from askgraph.llm import (
    Assistant,
    Choice,
    Finish,
    Identity,
    LanguageModel,
    Message,
    Request,
    ToolCall,
    ToolSchema,
    User,
)

_FENCED = re.compile(r"```[\w-]*\s*\n(.*?)```", re.DOTALL)


@dataclass(frozen=True)
class Structured:
    """The object, which fulfils the schema."""

    value: Mapping[str, object]


@dataclass(frozen=True)
class Unfit:
    """A reply that is no such object, with the `feedback` for the model."""

    feedback: str


def read_structured(choice: Choice, schema: Mapping[str, object]) -> Structured | Unfit:
    """Read the object in a reply; words and code fences around it are forgiven."""
    try:
        value = fitted(_object(choice.text), schema)
    except ValueError as problem:
        return Unfit(f"Your reply holds no JSON object: {problem}. Reply with the object alone.")
    assert isinstance(value, dict)
    if wrong := faults(value, schema):
        return Unfit(f"Your JSON does not fulfil the schema: {'; '.join(wrong[:5])}.")
    return Structured(value)


def _object(text: str) -> dict[str, object]:
    """Read the whole text, else the last fence, else the text between the outer braces."""
    start, end = text.find("{"), text.rfind("}")
    inner = [*_FENCED.findall(text)[-1:], text[start : end + 1]]
    try:
        return lenient_object(text)
    except ValueError:
        for part in inner:
            with suppress(ValueError):
                return lenient_object(part)
        raise


def takes_grammar(model: LanguageModel) -> bool:
    """Return whether a request to this model may hold a grammar."""
    return model.identity.grammar


def refuse_grammar(request: Request, identity: Identity) -> None:
    """Raise `SetupError` if a request holds a grammar, and the model is not known to take one."""
    if request.grammar is not None and not identity.grammar:
        raise SetupError(
            f"the model {identity.model!r} cannot write by a grammar. llama.cpp and vLLM can, with "
            "the model's setting `grammar` (askgraph models check says whether), and a model on "
            "this machine (provider transformers)"
        )


_TYPES: dict[str, Any] = {
    "object": dict, "array": list, "string": str, "boolean": bool, "integer": int,
    "number": (int, float), "null": NoneType,
}  # fmt: skip

Schema = Mapping[str, Any]


def fitted(value: object, schema: Schema, root: Schema | None = None) -> object:
    """Return the value with texts read as the types that the schema wants.

    That is: "5" for 5, "true" for true, "None" for null, a list or object as JSON text.
    """
    root = schema if root is None else root
    schema = _resolved(schema, root)
    if isinstance(value, str) and not _is_any(value, _types(schema)):
        value = _read(value, _types(schema))
    if isinstance(value, dict):
        parts = schema.get("properties", {})
        named = {name: fitted(value[name], parts[name], root) for name in parts if name in value}
        return value | named
    if isinstance(value, list) and isinstance(schema.get("items"), Mapping):
        return [fitted(part, schema["items"], root) for part in value]
    return value


def faults(value: object, schema: Schema, *, at: str = "", root: Schema | None = None) -> list[str]:
    """Return the faults of a value, each in one sentence; `at` is its place."""
    root = schema if root is None else root
    schema = _resolved(schema, root)
    place = repr(at) if at else "the value"
    types = _types(schema)
    if types and not _is_any(value, types):
        return [f"{place} must be {' or '.join(types)}, not {_shown(value)}"]
    options = schema.get("anyOf") or schema.get("oneOf")
    if options:
        each = [faults(value, option, at=at, root=root) for option in options]
        return [] if not all(each) else min(each, key=len)
    allowed = schema.get("enum", [schema["const"]] if "const" in schema else None)
    if allowed is not None and value not in allowed:
        listing = ", ".join(json.dumps(one, ensure_ascii=False) for one in allowed)
        return [f"{place} must be one of {listing}, not {_shown(value)}"]
    if isinstance(value, dict):
        parts = schema.get("properties", {})
        inside = f"{at}." if at else ""
        missing = (name for name in schema.get("required", ()) if name not in value)
        found = [f"{inside + name!r} is missing" for name in missing]
        for name, part in value.items():
            if name in parts:
                found += faults(part, parts[name], at=inside + name, root=root)
            elif schema.get("additionalProperties") is False:
                near = difflib.get_close_matches(name, list(parts), n=1)
                hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(parts)}"
                found.append(f"{inside + name!r} is unknown; {hint}")
        return found
    if isinstance(value, list):
        return _list_faults(value, schema, at, root)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return []
    least, most = schema.get("minimum"), schema.get("maximum")
    if least is not None and value < least:
        return [f"{place} must be {least} or more, not {value}"]
    if most is not None and value > most:
        return [f"{place} must be {most} or less, not {value}"]
    return []


def _resolved(schema: Schema, root: Schema) -> Schema:
    for _ in range(20):
        reference = schema.get("$ref")
        if not isinstance(reference, str) or not reference.startswith("#/"):
            break
        found: Any = root
        for part in reference[2:].split("/"):
            found = found.get(part, {}) if isinstance(found, Mapping) else {}
        schema = found
    return schema


def _types(schema: Schema) -> Sequence[str]:
    named = schema.get("type")
    if named is None:
        options = schema.get("anyOf") or schema.get("oneOf") or []
        inner = [option.get("type") for option in options]
        named = inner if inner and all(isinstance(one, str) for one in inner) else []
    return [named] if isinstance(named, str) else list(named)


def _is_any(value: object, types: Sequence[str]) -> bool:
    return any(_is(value, type_) for type_ in types)


def _is(value: object, type_: str) -> bool:
    if isinstance(value, bool):
        return type_ == "boolean"
    if type_ == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _TYPES.get(type_, (object,)))


def _read(text: str, types: Sequence[str]) -> object:
    plain = text.strip()
    if "null" in types and plain.lower() in ("none", "null", ""):
        return None
    if "boolean" in types and plain.lower() in ("true", "false"):
        return plain.lower() == "true"
    try:
        value = json.loads(plain)
    except (ValueError, RecursionError):
        return text
    return value if _is_any(value, types) else text


def _list_faults(value: list[Any], schema: Schema, at: str, root: Schema) -> list[str]:
    place = repr(at) if at else "the list"
    least, most = schema.get("minItems"), schema.get("maxItems")
    if least is not None and len(value) < least:
        return [f"{place} must have at least {least} items, not {len(value)}"]
    if most is not None and len(value) > most:
        return [f"{place} must have at most {most} items, not {len(value)}"]
    items = schema.get("items")
    if not isinstance(items, Mapping):
        return []
    return [
        fault
        for number, part in enumerate(value)
        for fault in faults(part, items, at=f"{at}[{number}]", root=root)
    ]


def _shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "…"


ASKING = (
    "Reply with one JSON object and nothing else: no explanation, no code fence."
    " It must fulfil this JSON Schema:\n"
)


def asking_for(schema: Mapping[str, object], messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """Return the messages with the schema asked for at their end."""
    return (*messages, User(ASKING + json.dumps(schema, ensure_ascii=False)))


_FENCE = re.compile(r"\A\s*```[\w-]*\s*\n(.*?)\n?\s*```\s*\Z", re.DOTALL)


def lenient_object(text: str) -> dict[str, object]:
    """Read an object; `ValueError` names the fault of the text and its place."""
    fenced = _FENCE.match(text)
    plain = (fenced[1] if fenced else text).strip()
    try:
        value = json.loads(plain)
        if isinstance(value, str):
            value = json.loads(value)
    except RecursionError as problem:
        raise ValueError("it is nested too deeply") from problem
    except ValueError as problem:
        value = None
        if len(plain) <= 20_000 and plain.startswith("{"):
            with suppress(ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
                value = ast.literal_eval(plain)
        if value is None:
            raise ValueError(_said(problem, plain)) from problem
    if not isinstance(value, dict):
        raise ValueError(f"it is {type(value).__name__} and no object")
    return {str(key): part for key, part in value.items()}


def _said(problem: ValueError, text: str) -> str:
    if isinstance(problem, json.JSONDecodeError):
        if problem.pos >= len(text):
            return "it ends too early"
        near = text[max(0, problem.pos - 20) : problem.pos + 20]
        return f"{problem.msg}, near {near!r}"
    return str(problem)


@dataclass(frozen=True)
class SoundCall:
    """A call that can be run: the tool there is, and its arguments as values."""

    call: ToolCall
    tool: ToolSchema
    arguments: Mapping[str, object]


@dataclass(frozen=True)
class BadCall:
    """A call that cannot be run; the model gets `feedback` in place of a result."""

    call: ToolCall
    feedback: str


def checked_call(call: ToolCall, tools: Sequence[ToolSchema]) -> SoundCall | BadCall:
    """Find the tool and read the arguments of a call.

    Forgiven are: another spelling of the tool's name (`functions.Search-Entity`), code fences,
    JSON within JSON, Python's quotes, numbers, booleans and null as text, and no arguments at all
    if none are needed.
    """
    exact = [tool for tool in tools if tool.name == call.name]
    alike = exact or [tool for tool in tools if _plain(tool.name) == _plain(call.name)]
    tool = alike[0] if len(alike) == 1 else None
    if tool is None:
        return BadCall(call, _no_tool(call.name, tools))
    not_run = f"The call of {tool.name} was not run:"
    try:
        arguments = lenient_object(call.arguments) if call.arguments.strip() else {}
    except ValueError as problem:
        wrong = f"its arguments are no JSON object, for {problem}"
        return BadCall(call, f"{not_run} {wrong}. Write the call again with all of its arguments.")
    closed = {"type": "object", "additionalProperties": False} | dict(tool.parameters)
    value = fitted(arguments, closed)
    assert isinstance(value, dict)
    if found := faults(value, closed):
        return BadCall(call, f"{not_run} {'; '.join(found[:5])}.")
    return SoundCall(call, tool, value)


def _plain(name: str) -> str:
    last = re.sub(r"\(\s*\)\Z", "", name.strip()).rsplit(".", 1)[-1].rsplit(":", 1)[-1]
    return re.sub(r"[\W_]+", "", last).lower()


def _no_tool(name: str, tools: Sequence[ToolSchema]) -> str:
    names = [tool.name for tool in tools]
    near = difflib.get_close_matches(name, names, n=2)
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    there = f"The tools are {', '.join(names)}." if names else "No tool may be called now."
    return f"There is no tool {name[:80]!r}, so nothing was run.{hint} {there}"


def trouble(choice: Choice) -> str | None:
    """Return a message for the model that may mend a reply that is no use; None if it is of use.

    A cut-off reply may hold calls: those before the last are whole, and `checked_call` decides
    whether the last one is.
    """
    if choice.finish is Finish.REFUSED:
        return (
            "Your last reply was a refusal. The question is about facts in a public or private"
            " graph that the person asking may read. Go on with it, or cancel and say why."
        )
    if choice.finish is Finish.LENGTH:
        return (
            "Your last reply was longer than allowed and is cut off. Say the same in fewer words:"
            " think less aloud, and make one call at a time."
        )
    if not choice.text.strip() and not choice.calls:
        return "Your last reply was empty. Call a tool, answer, or cancel."
    return None


_LONGEST = 3  # turns of one round


def looping(turns: Sequence[Choice | Assistant]) -> str | None:
    """Return a message for a model whose last turns repeat: A-A, A-B-A-B or A-B-C-A-B-C.

    Two turns are the same if they say the same words and make the same calls, in whatever
    order, with the same arguments; ids, spaces, case and reasoning do not count.
    """
    last = [_fingerprint(turn) for turn in turns[-2 * _LONGEST :]]
    for period in range(1, _LONGEST + 1):
        if len(last) >= 2 * period and last[-period:] == last[-2 * period : -period]:
            same = f"{period} turns are those before them"
            same = "turn is the one before it" if period == 1 else same
            return (
                f"Your last {same}, once more, and the results will be the same. Nothing was run."
                " Try something else: other words, another tool, or answer or cancel with what you"
                " know."
            )
    return None


def _fingerprint(turn: Choice | Assistant) -> tuple[str, tuple[str, ...]]:
    words = " ".join(turn.text.casefold().split())
    return words, tuple(sorted(_call(call) for call in turn.calls))


def _call(call: ToolCall) -> str:
    try:
        arguments = json.dumps(lenient_object(call.arguments), sort_keys=True)
    except ValueError:
        arguments = " ".join(call.arguments.split())
    return f"{call.name} {arguments}"
