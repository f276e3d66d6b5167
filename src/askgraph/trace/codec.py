"""Frozen dataclasses as JSON by their fields, and back by their annotations, exactly.

A class that gains a field with a default can still be read from what was written before.
"""

import re
import types
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass, replace
from enum import Enum
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from askgraph.sparql.results import SelectResult, from_json, to_json

MEMBER = "is"
"""The key under which a value says which class it has, if its field may have one of several."""


def told(value: object, hint: Any) -> Any:
    """Return a value of the annotated type as JSON; `TypeError` if it is of another one."""
    hint = _meant(value, hint)
    if isinstance(value, SelectResult):
        return {**to_json(value), "seconds": value.seconds}
    if is_dataclass(value) and not isinstance(value, type):
        hints = _hints(type(value))
        content = {f.name: told(getattr(value, f.name), hints[f.name]) for f in fields(value)}
        several = len(_classes(hint)) > 1
        return {MEMBER: spoken_name(type(value)), **content} if several else content
    match value:
        case tuple() | list():
            return [told(item, _item(hint, at)) for at, item in enumerate(value)]
        case Mapping():
            return {str(key): told(item, _value(hint)) for key, item in value.items()}
        case Enum():
            return value.value
        case None | str() | bool() | int() | float():
            return value
    raise TypeError(f"no JSON for a {type(value).__name__}")


def read(given: Any, hint: Any) -> Any:
    """Return the value that `told` made this JSON of.

    Raises `ValueError`, `KeyError` or `TypeError` if it is damaged.
    """
    if hint is SelectResult:
        return _result(given)
    if is_dataclass(hint):
        return _instance(given, hint)
    if hint is object or hint is Any:
        return given
    if isinstance(hint, type) and issubclass(hint, Enum):
        return hint(given)
    if get_args(hint):
        return _composed(given, hint)
    return _typed(given, hint)


def spoken_name(kind: type) -> str:
    """Return the name of a class as words joined by underscores: `ToolUse` is `tool_use`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", kind.__name__).lower()


@cache
def _hints(kind: type) -> Mapping[str, Any]:
    return get_type_hints(kind)


def _classes(hint: Any) -> list[Any]:
    return [kind for kind in get_args(hint) if is_dataclass(kind)] if _is_union(hint) else []


def _is_union(hint: Any) -> bool:
    return get_origin(hint) in (Union, types.UnionType)


def _meant(value: object, hint: Any) -> Any:
    """Narrow an optional type to the one that the value has."""
    members = [kind for kind in get_args(hint) if kind is not types.NoneType]
    return members[0] if _is_union(hint) and value is not None and len(members) == 1 else hint


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
        return _member(given, hint)
    origin = get_origin(hint)
    if origin is tuple:
        return tuple(read(item, _item(hint, at)) for at, item in enumerate(_typed(given, list)))
    if origin is Literal:
        if given not in get_args(hint):
            raise ValueError(f"{given!r} is none of {get_args(hint)}")
        return given
    return {key: read(item, _value(hint)) for key, item in _typed(given, dict).items()}


def _result(given: Any) -> SelectResult:
    result = from_json(given)
    if not isinstance(result, SelectResult):
        raise TypeError("no table")
    return replace(result, seconds=_typed(given["seconds"], float))


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


def _member(given: Any, hint: Any) -> Any:
    if given is None and types.NoneType in get_args(hint):
        return None
    classes = {spoken_name(kind): kind for kind in _classes(hint)}
    if len(classes) > 1:
        return _instance(given, classes[_typed(given, dict)[MEMBER]])
    return read(given, next(kind for kind in get_args(hint) if kind is not types.NoneType))


def _typed(given: Any, kind: Any) -> Any:
    wanted = (int, float) if kind is float else kind
    if not isinstance(given, wanted) or (isinstance(given, bool) and kind is not bool):
        raise TypeError(f"{given!r} is no {kind.__name__}")
    return given
