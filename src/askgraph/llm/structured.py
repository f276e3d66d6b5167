"""Structured replies: JSON objects of a schema, enforced by the server or not, and tool calls.

An invalid call, and a reply that is empty, refused, cut off or repetitive, becomes a message to the
model, never an exception: it costs one turn, not the question.
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

from askgraph import llm
from askgraph.errors import SetupError

_FENCED_BLOCK = re.compile(r"```[\w-]*\s*\n(.*?)```", re.DOTALL)


@dataclass(frozen=True)
class StructuredReply:
    """An object that satisfies the schema."""

    value: Mapping[str, object]


@dataclass(frozen=True)
class InvalidReply:
    """A reply without such an object, with the `feedback` for the model."""

    feedback: str


def parse_structured(
    choice: llm.Choice, schema: Mapping[str, object]
) -> StructuredReply | InvalidReply:
    """Parse the object in a reply; words and code fences around it are ignored."""
    try:
        value = coerce_to_schema(_parse_reply_object(choice.text), schema)
    except ValueError as problem:
        return InvalidReply(
            f"Your reply holds no JSON object: {problem}. Reply with the object alone."
        )
    assert isinstance(value, dict)
    if problems := find_schema_faults(value, schema):
        return InvalidReply(f"Your JSON does not fulfil the schema: {'; '.join(problems[:5])}.")
    return StructuredReply(value)


def _parse_reply_object(text: str) -> dict[str, object]:
    """Parse the whole text, else the last fenced block, else the text between the outer braces."""
    start, end = text.find("{"), text.rfind("}")
    candidates = [*_FENCED_BLOCK.findall(text)[-1:], text[start : end + 1]]
    try:
        return parse_lenient_object(text)
    except ValueError:
        for part in candidates:
            with suppress(ValueError):
                return parse_lenient_object(part)
        raise


def describe_for_user(feedback: str, *, advise: bool = True) -> str:
    """Return the feedback on a reply, in other words if the feedback speaks to the model.

    Args:
        advise: these words say what the user can do.
    """
    if not feedback.startswith(("Your ", "There is no SELECT or ASK query in your")):
        return feedback
    fault = "does not have the required form" if "JSON" in feedback else "contains no usable query"
    advice = (
        "; ask in other words, or choose another model or another method "
        "(graph-search needs no model)"
    )
    return f"the model's reply {fault}{advice if advise else ''}"


def can_use_grammar(model: llm.LanguageModel) -> bool:
    """Return whether a request to a model may contain a grammar."""
    return model.identity.grammar


def reject_grammar(request: llm.Request, identity: llm.Identity) -> None:
    """Raise `SetupError` if a request has a grammar that the model does not support."""
    if request.grammar is not None and not identity.grammar:
        raise SetupError(
            f"the model {identity.model!r} cannot be constrained by a grammar. Use "
            "llama.cpp or vLLM with the model's setting `grammar` ('askgraph models check' "
            "shows whether it works), or a model on this machine (provider transformers)"
        )


_TYPES: dict[str, Any] = {
    "object": dict, "array": list, "string": str, "boolean": bool, "integer": int,
    "number": (int, float), "null": NoneType,
}  # fmt: skip

Schema = Mapping[str, Any]


def coerce_to_schema(value: object, schema: Schema, root: Schema | None = None) -> object:
    """Return the value with texts converted to the types that the schema requires.

    Examples: "5" to 5, "true" to true, "None" to null, JSON text to a list or object.
    """
    root = schema if root is None else root
    schema = _resolve_reference(schema, root)
    if isinstance(value, str) and not _has_any_type(value, _get_types(schema)):
        value = _convert_text(value, _get_types(schema))
    if isinstance(value, dict):
        parts = schema.get("properties", {})
        converted = {
            name: coerce_to_schema(value[name], parts[name], root)
            for name in parts
            if name in value
        }
        return value | converted
    if isinstance(value, list) and isinstance(schema.get("items"), Mapping):
        return [coerce_to_schema(part, schema["items"], root) for part in value]
    return value


def find_schema_faults(
    value: object, schema: Schema, *, at: str = "", root: Schema | None = None
) -> list[str]:
    """Return the faults of a value, one sentence each; `at` is its path."""
    root = schema if root is None else root
    schema = _resolve_reference(schema, root)
    location = repr(at) if at else "the value"
    types = _get_types(schema)
    if types and not _has_any_type(value, types):
        return [f"{location} must be {' or '.join(types)}, not {_excerpt(value)}"]
    options = schema.get("anyOf") or schema.get("oneOf")
    if options:
        faults_by_option = [
            find_schema_faults(value, option, at=at, root=root) for option in options
        ]
        return [] if not all(faults_by_option) else min(faults_by_option, key=len)
    allowed = schema.get("enum", [schema["const"]] if "const" in schema else None)
    if allowed is not None and value not in allowed:
        listing = ", ".join(
            json.dumps(allowed_value, ensure_ascii=False) for allowed_value in allowed
        )
        return [f"{location} must be one of {listing}, not {_excerpt(value)}"]
    if isinstance(value, dict):
        parts = schema.get("properties", {})
        prefix = f"{at}." if at else ""
        missing = (name for name in schema.get("required", ()) if name not in value)
        messages = [f"{prefix + name!r} is missing" for name in missing]
        for name, part in value.items():
            if name in parts:
                messages += find_schema_faults(part, parts[name], at=prefix + name, root=root)
            elif schema.get("additionalProperties") is False:
                similar_names = difflib.get_close_matches(name, list(parts), n=1)
                hint = (
                    f"did you mean {similar_names[0]!r}?"
                    if similar_names
                    else f"known are {', '.join(parts)}"
                )
                messages.append(f"{prefix + name!r} is unknown; {hint}")
        return messages
    if isinstance(value, list):
        return _find_list_faults(value, schema, at, root)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return []
    minimum, maximum = schema.get("minimum"), schema.get("maximum")
    if minimum is not None and value < minimum:
        return [f"{location} must be {minimum} or more, not {value}"]
    if maximum is not None and value > maximum:
        return [f"{location} must be {maximum} or less, not {value}"]
    return []


def _resolve_reference(schema: Schema, root: Schema) -> Schema:
    for _ in range(20):
        reference = schema.get("$ref")
        if not isinstance(reference, str) or not reference.startswith("#/"):
            break
        target: Any = root
        for part in reference[2:].split("/"):
            target = target.get(part, {}) if isinstance(target, Mapping) else {}
        schema = target
    return schema


def _get_types(schema: Schema) -> Sequence[str]:
    type_names = schema.get("type")
    if type_names is None:
        inner = [option.get("type") for option in schema.get("anyOf") or schema.get("oneOf") or []]
        type_names = (
            inner if inner and all(isinstance(inner_type, str) for inner_type in inner) else []
        )
    return [type_names] if isinstance(type_names, str) else list(type_names)


def _has_any_type(value: object, types: Sequence[str]) -> bool:
    return any(_has_type(value, type_) for type_ in types)


def _has_type(value: object, type_: str) -> bool:
    if isinstance(value, bool):
        return type_ == "boolean"
    if type_ == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _TYPES.get(type_, (object,)))


def _convert_text(text: str, types: Sequence[str]) -> object:
    plain = text.strip()
    if "null" in types and plain.lower() in ("none", "null", ""):
        return None
    if "boolean" in types and plain.lower() in ("true", "false"):
        return plain.lower() == "true"
    try:
        value = json.loads(plain)
    except (ValueError, RecursionError):
        return text
    return value if _has_any_type(value, types) else text


def _find_list_faults(value: list[Any], schema: Schema, at: str, root: Schema) -> list[str]:
    location = repr(at) if at else "the list"
    min_items, max_items = schema.get("minItems"), schema.get("maxItems")
    if min_items is not None and len(value) < min_items:
        return [f"{location} must have at least {min_items} items, not {len(value)}"]
    if max_items is not None and len(value) > max_items:
        return [f"{location} must have at most {max_items} items, not {len(value)}"]
    items = schema.get("items")
    if not isinstance(items, Mapping):
        return []
    return [
        fault
        for number, part in enumerate(value)
        for fault in find_schema_faults(part, items, at=f"{at}[{number}]", root=root)
    ]


def _excerpt(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "…"


SCHEMA_INSTRUCTION = (
    "Reply with one JSON object and nothing else: no explanation, no code fence."
    " It must fulfil this JSON Schema:\n"
)


def request_schema(
    schema: Mapping[str, object], messages: tuple[llm.Message, ...]
) -> tuple[llm.Message, ...]:
    """Return the messages followed by an instruction with the schema."""
    return (*messages, llm.User(SCHEMA_INSTRUCTION + json.dumps(schema, ensure_ascii=False)))


_FENCED_TEXT = re.compile(r"\A\s*```[\w-]*\s*\n(.*?)\n?\s*```\s*\Z", re.DOTALL)


def parse_lenient_object(text: str) -> dict[str, object]:
    """Parse an object, also in Python syntax; raise `ValueError` with the fault's position."""
    match = _FENCED_TEXT.match(text)
    stripped = (match[1] if match else text).strip()
    try:
        value = json.loads(stripped, strict=False)  # models break lines within texts
        if isinstance(value, str):
            value = json.loads(value, strict=False)
    except RecursionError as problem:
        raise ValueError("it is nested too deeply") from problem
    except ValueError as problem:
        value = None
        if len(stripped) <= 20_000 and stripped.startswith("{"):
            with suppress(ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
                value = ast.literal_eval(stripped)
        if value is None:
            raise ValueError(_describe_json_error(problem, stripped)) from problem
    if not isinstance(value, dict):
        raise ValueError(f"it is {type(value).__name__}, not an object")
    return {str(key): part for key, part in value.items()}


def _describe_json_error(problem: ValueError, text: str) -> str:
    if isinstance(problem, json.JSONDecodeError):
        if problem.pos >= len(text):
            return "it ends too early"
        context = text[max(0, problem.pos - 20) : problem.pos + 20]
        return f"{problem.msg}, near {context!r}"
    return str(problem)


@dataclass(frozen=True)
class ValidCall:
    """A valid call: its tool, and its arguments as values."""

    call: llm.ToolCall
    tool: llm.ToolSchema
    arguments: Mapping[str, object]


@dataclass(frozen=True)
class InvalidCall:
    """An invalid call; the model receives `feedback` in place of a result."""

    call: llm.ToolCall
    feedback: str


def check_call(call: llm.ToolCall, tools: Sequence[llm.ToolSchema]) -> ValidCall | InvalidCall:
    """Find the tool and parse the arguments of a call.

    Accepted are: another spelling of the tool's name (`functions.Search-Entity`), code fences,
    JSON within JSON, Python's quotes, numbers, booleans and null as text, and no arguments at
    all if none are required.
    """
    matches = [tool for tool in tools if tool.name == call.name] or [
        tool for tool in tools if normalize_tool_name(tool.name) == normalize_tool_name(call.name)
    ]
    tool = matches[0] if len(matches) == 1 else None
    if tool is None:
        return InvalidCall(call, _build_unknown_tool_message(call.name, tools))
    not_run = f"The call of {tool.name} was not run:"
    try:
        arguments = parse_lenient_object(call.arguments) if call.arguments.strip() else {}
    except ValueError as problem:
        problem_text = f"its arguments are no JSON object, for {problem}"
        return InvalidCall(
            call, f"{not_run} {problem_text}. Write the call again with all of its arguments."
        )
    closed_schema = {"type": "object", "additionalProperties": False} | dict(tool.parameters)
    value = coerce_to_schema(arguments, closed_schema)
    assert isinstance(value, dict)
    if problems := find_schema_faults(value, closed_schema):
        return InvalidCall(call, f"{not_run} {'; '.join(problems[:5])}.")
    return ValidCall(call, tool, value)


def normalize_tool_name(name: str) -> str:
    """Return a name in lower case, without its namespace and without punctuation."""
    last_part = re.sub(r"\(\s*\)\Z", "", name.strip()).rsplit(".", 1)[-1].rsplit(":", 1)[-1]
    return re.sub(r"[\W_]+", "", last_part).lower()


def _build_unknown_tool_message(name: str, tools: Sequence[llm.ToolSchema]) -> str:
    names = [tool.name for tool in tools]
    similar_names = difflib.get_close_matches(name, names, n=2)
    hint = f" Did you mean {' or '.join(similar_names)}?" if similar_names else ""
    known_tools = f"The tools are {', '.join(names)}." if names else "No tool may be called now."
    return f"There is no tool {name[:80]!r}, so nothing was run.{hint} {known_tools}"


def find_reply_problem(choice: llm.Choice) -> str | None:
    """Return a message to the model about an unusable reply; None if it is usable.

    A cut-off reply may contain calls: those before the last are complete, and `check_call` decides
    about the last one.
    """
    if choice.finish is llm.Finish.REFUSED:
        return (
            "Your last reply was a refusal. The question is about facts in a public or private"
            " graph that the person asking may read. Go on with it, or cancel and say why."
        )
    if choice.finish is llm.Finish.LENGTH:
        return (
            "Your last reply was longer than allowed and is cut off. Say the same in fewer words:"
            " think less aloud, and make one call at a time."
        )
    if not choice.text.strip() and not choice.calls:
        return "Your last reply was empty. Call a tool, answer, or cancel."
    return None


_MAX_PERIOD_TURNS = 3  # turns of one round


def detect_loop(turns: Sequence[llm.Choice | llm.Assistant]) -> str | None:
    """Return a message to a model whose last turns repeat: A-A, A-B-A-B or A-B-C-A-B-C.

    Two turns are equal if they have the same text and the same calls, in any order, with the same
    arguments; ids, spaces, case and reasoning do not count.
    """
    fingerprints = [_compute_fingerprint(turn) for turn in turns[-2 * _MAX_PERIOD_TURNS :]]
    for period in range(1, _MAX_PERIOD_TURNS + 1):
        if (
            len(fingerprints) >= 2 * period
            and fingerprints[-period:] == fingerprints[-2 * period : -period]
        ):
            repeated_text = f"{period} turns are those before them"
            repeated_text = "turn is the one before it" if period == 1 else repeated_text
            return (
                f"Your last {repeated_text}, once more, and the results will be the same. Nothing "
                "was run. Try something else: other words, another tool, or answer or cancel with "
                "what you know."
            )
    return None


def _compute_fingerprint(turn: llm.Choice | llm.Assistant) -> tuple[str, tuple[str, ...]]:
    words = " ".join(turn.text.casefold().split())
    return words, tuple(sorted(_normalize_call(call) for call in turn.calls))


def _normalize_call(call: llm.ToolCall) -> str:
    try:
        arguments = json.dumps(parse_lenient_object(call.arguments), sort_keys=True)
    except ValueError:
        arguments = " ".join(call.arguments.split())
    return f"{call.name} {arguments}"
