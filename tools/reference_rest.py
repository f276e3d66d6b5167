"""An OpenAPI description as Markdown: each operation, then each schema that it names."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tools.reference_python import in_table, prose

__all__ = ["rest_page"]

_HEAD = """# REST

What the server says of itself at `/api/v1/openapi.json`. With examples and the streams of events:
[the server](../server.md).
"""
_VERBS = ("get", "post", "put", "patch", "delete")

Part = Mapping[str, Any]
"""A part of the description, which is JSON of any shape."""


def rest_page(description: Part) -> str:
    """Return one page: the operations by their tags, then the schemas by their names."""
    by_tag: dict[str, list[str]] = {}
    for path, operations in description.get("paths", {}).items():
        for verb in (name for name in _VERBS if name in operations):
            operation = operations[verb]
            text = "\n\n".join(_operation(verb, path, operation))
            by_tag.setdefault((operation.get("tags") or ["other"])[0], []).append(text)
    blocks = [_HEAD]
    for tag, operations in by_tag.items():
        blocks += [f"## {tag}", *operations]
    schemas = description.get("components", {}).get("schemas", {})
    if schemas:
        blocks += ["## Schemas", *("\n\n".join(_schema(*one)) for one in sorted(schemas.items()))]
    return "\n\n".join(blocks) + "\n"


def _operation(verb: str, path: str, operation: Part) -> Iterator[str]:
    yield f"### `{verb.upper()} {path}`"
    words = operation.get("description") or operation.get("summary") or ""
    yield prose(str(words))
    rows = [
        (f"`{one['name']}`", one["in"], _kind(one.get("schema", {})), one.get("description", ""))
        for one in operation.get("parameters", [])
    ]
    if rows:
        yield _table(("parameter", "in", "type", ""), rows)
    for kind, content in operation.get("requestBody", {}).get("content", {}).items():
        yield f"Body, `{kind}`: {_kind(content.get('schema', {}))}"
    answers = [
        (f"`{code}`", answer.get("description", ""), _content(answer.get("content", {})))
        for code, answer in operation.get("responses", {}).items()
    ]
    yield _table(("status", "", "gives"), answers)


def _schema(name: str, schema: Part) -> Iterator[str]:
    yield f"### {name} {{#{name}}}"
    yield prose(str(schema.get("description", "")))
    wanted = schema.get("required", ())
    rows = [
        (
            f"`{key}`",
            _kind(value) + ("" if key in wanted else ", optional"),
            value.get("description", ""),
        )
        for key, value in schema.get("properties", {}).items()
    ]
    yield _table(("key", "type", ""), rows) if rows else _kind(schema)


def _content(content: Part) -> str:
    return ", ".join(
        f"{shown} (`{kind}`)" if (shown := _kind(part.get("schema", {}))) else f"`{kind}`"
        for kind, part in content.items()
    )


def _kind(schema: Part) -> str:
    """The type that a schema stands for, in a word or two, with links to named ones."""
    if "$ref" in schema:
        name = str(schema["$ref"]).rsplit("/", 1)[-1]
        return f"[{name}](#{name})"
    for several in ("anyOf", "oneOf", "allOf"):
        if several in schema:
            return " or ".join(dict.fromkeys(_kind(one) for one in schema[several]))
    if "enum" in schema or "const" in schema:
        return " or ".join(f"`{one}`" for one in schema.get("enum", [schema.get("const")]))
    if schema.get("type") == "array":
        return f"list of {_kind(schema.get('items', {})) or 'any'}"
    if isinstance(extra := schema.get("additionalProperties"), Mapping) and extra:
        return f"object of {_kind(extra) or 'any'}"
    return str(schema.get("type", ""))


def _table(heads: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [heads, ("---",) * len(heads)]
    lines += [tuple(in_table(str(cell)) for cell in row) for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
