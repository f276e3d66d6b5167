"""Settings held against the fields of what they are for, before anything is asked."""

import json
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from askgraph.errors import SetupError

_WORDS: Mapping[type, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "text",
    NoneType: "null",
}


def check_settings(
    name: str, plugin: Callable[..., object], settings: Mapping[str, object]
) -> None:
    """Raise `SetupError` for a setting that a method has no field for, or a value not of its type.

    A field of a type that settings cannot tell, such as one of the method's own, takes anything.
    """
    if isinstance(plugin, type) and is_dataclass(plugin):
        check_fields(f"method {name!r}", plugin, settings)


def check_fields(whose: str, kind: type, settings: Mapping[str, object]) -> None:
    """Raise `SetupError` for a setting that a dataclass has no field for, or of another type."""
    known = [field.name for field in fields(kind) if field.init]
    types = _types(kind)
    for setting, value in settings.items():
        if setting not in known:
            there = f"it has {', '.join(known)}" if known else "it has none"
            raise SetupError(
                f"{whose} does not take these settings: there is no {setting!r}; {there}"
            )
        wanted = types.get(setting, ())
        if wanted and not any(_fits(value, kind) for kind in wanted):
            raise SetupError(
                f"{whose} does not take these settings: {setting!r} is "
                f"{' or '.join(_WORDS[kind] for kind in wanted)}, not {value!r}"
            )


def _types(plugin: type) -> dict[str, tuple[type, ...]]:
    """The types that a value of each field may have, if all of them are simple ones."""
    try:
        hints = get_type_hints(plugin)
    except NameError:  # a type that is only there for type checkers
        return {}
    members = {name: _members(hint) for name, hint in hints.items()}
    return {name: kinds for name, kinds in members.items() if all(k in _WORDS for k in kinds)}


def _members(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def _fits(value: object, kind: type) -> bool:
    if isinstance(value, bool):
        return kind is bool
    return isinstance(value, (int, float) if kind is float else kind)


def method_spec(spec: str) -> tuple[str, dict[str, object]]:
    """Return the name in `graph-search` or `graph-search:operators=false`, and the settings.

    Raises `SetupError` for a setting without a name or value.
    """
    name, _, own = spec.partition(":")
    return name, dict(named_setting(text) for text in own.split(",") if text.strip())


def named_setting(text: str) -> tuple[str, object]:
    """Return the name and the value of `NAME=VALUE`; the value is JSON where it can be, else text.

    Raises `SetupError` for another text.
    """
    name, equals, value = text.partition("=")
    if not name.strip() or not equals:
        raise SetupError(f"the setting {text!r} is not understood; write NAME=VALUE")
    try:
        return name.strip(), json.loads(value)
    except ValueError:
        return name.strip(), value
