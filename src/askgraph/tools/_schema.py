"""A tool's signature and docstring as the schema that a language model is given."""

import inspect
import types
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from askgraph.llm import ToolSchema
from askgraph.tools import Tool

__all__ = ["schema_of"]

_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean"}


def schema_of(
    name: str, tool: Tool, *, graphs: Sequence[str] = (), whole: bool = False
) -> ToolSchema:
    """Return the schema of a tool; with several graphs, the call has to name one as `graph`.

    Parameters after a `*` are for methods: only the `whole` schema has them. Raises `TypeError` for
    a parameter of a type that JSON Schema has no word for here.
    """
    hints = get_type_hints(tool, include_extras=True)
    properties: dict[str, object] = {}
    required: list[str] = []
    if len(graphs) > 1:
        properties["graph"] = {"type": "string", "enum": list(graphs)}
        required.append("graph")
    for parameter in list(inspect.signature(tool).parameters.values())[1:]:
        if parameter.kind is parameter.KEYWORD_ONLY and not whole:
            continue
        properties[parameter.name] = _property(hints[parameter.name])
        if parameter.default is parameter.empty:
            required.append(parameter.name)
    parameters = {"type": "object", "properties": properties, "required": required}
    return ToolSchema(name, _first_paragraph(tool), parameters)


def _first_paragraph(tool: Tool) -> str:
    return " ".join((inspect.getdoc(tool) or "").split("\n\n")[0].split())


def _property(hint: Any) -> Mapping[str, object]:
    if get_origin(hint) is Annotated:
        kind, description = get_args(hint)[:2]
        return {**_property(kind), "description": description}
    if get_origin(hint) in (Union, types.UnionType):
        kinds = [kind for kind in get_args(hint) if kind is not type(None)]
        if len(kinds) == 1:
            return _property(kinds[0])
    if get_origin(hint) is Literal:
        return {"type": "string", "enum": list(get_args(hint))}
    if get_origin(hint) is list:
        return {"type": "array", "items": _property(get_args(hint)[0])}
    if hint in _TYPES:
        return {"type": _TYPES[hint]}
    raise TypeError(f"no JSON Schema for a parameter of type {hint!r}")
