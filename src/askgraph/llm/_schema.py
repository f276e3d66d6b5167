"""Values held against the part of JSON Schema that tools and structured replies use.

Known are type, enum, const, properties, required, additionalProperties, items, minItems, maxItems,
minimum, maximum, anyOf, oneOf and local $ref; other keywords are not looked at.
"""

import difflib
import json
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["faults", "fitted"]

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "null": (type(None),),
}
Schema = Mapping[str, Any]


def fitted(value: object, schema: Schema, root: Schema | None = None) -> object:
    """Return the value with what models like to write as text read as what the schema wants.

    That is: "5" for 5, "true" for true, "None" for null, a list or object as JSON text.
    """
    root = schema if root is None else root
    schema = _resolved(schema, root)
    if isinstance(value, str) and not _is_any(value, _types(schema)):
        value = _read(value, _types(schema))
    if isinstance(value, dict):
        parts = schema.get("properties", {})
        return {
            name: fitted(part, parts[name], root) if name in parts else part
            for name, part in value.items()
        }
    if isinstance(value, list) and isinstance(schema.get("items"), Mapping):
        return [fitted(part, schema["items"], root) for part in value]
    return value


def faults(value: object, schema: Schema, *, at: str = "", root: Schema | None = None) -> list[str]:
    """Return what is wrong with a value, each in one sentence; `at` is where it stands."""
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
        return _object_faults(value, schema, at, root)
    if isinstance(value, list):
        return _list_faults(value, schema, at, root)
    return _bounds_faults(value, schema, place)


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


def _object_faults(value: dict[str, Any], schema: Schema, at: str, root: Schema) -> list[str]:
    parts = schema.get("properties", {})
    inside = f"{at}." if at else ""
    found = [
        f"{inside + name!r} is missing" for name in schema.get("required", ()) if name not in value
    ]
    for name, part in value.items():
        if name in parts:
            found += faults(part, parts[name], at=inside + name, root=root)
        elif schema.get("additionalProperties") is False:
            near = difflib.get_close_matches(name, list(parts), n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(parts)}"
            found.append(f"{inside + name!r} is unknown; {hint}")
    return found


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


def _bounds_faults(value: object, schema: Schema, place: str) -> list[str]:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return []
    least, most = schema.get("minimum"), schema.get("maximum")
    if least is not None and value < least:
        return [f"{place} must be {least} or more, not {value}"]
    if most is not None and value > most:
        return [f"{place} must be {most} or less, not {value}"]
    return []


def _shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "…"
