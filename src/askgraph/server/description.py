"""The description of the REST API as a page for people, `/docs`, made of its OpenAPI description.

Each operation is there with its parameters, the fields of its body and its reply, and a request to
try. Nothing on it needs a script: operations unfold by themselves, also those that a link leads to.
Its styles are built with the page.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, cast

from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import HTMLResponse

from askgraph.server.page import STATIC

Described = Mapping[str, Any]

_OTHERS = (
    ("/mcp", "Model Context Protocol (streamable HTTP): tools and resources for agents"),
    ("/api/v1/openapi.json", "this description for programs (OpenAPI 3.1)"),
)
_EXAMPLES: dict[str, Any] = {
    "question": "Which moons are larger than Mercury?",
    "query": "SELECT * { ?thing ?property ?value } LIMIT 10",
    "url": "https://example.org/sparql",
    "to": "https://example.org/Saturn",
    "part": 0,
    "model": "askgraph",
    "messages": [{"role": "user", "content": "Which moons are larger than Mercury?"}],
    "input": "Which moons are larger than Mercury?",
    "name": "moons",
    "title": "Moons",
    "iri": "https://example.org/Saturn",
    "class": "https://example.org/Moon",
    "q": "moon",
    "dataset": "GRAPH",
}
"""Values of fields and parameters in the examples, by name."""

_PLAIN = {"string": "x", "integer": 0, "number": 1, "boolean": True, "array": [], "object": {}}
_CODE = re.compile(r"`([^`]+)`")
_DOCUMENT = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>The interfaces of askgraph</title>
<link rel="icon" href="data:,">
{head}
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header><a class="brand" href="{root}/">askgraph</a></header>
<nav aria-label="Operations by subject"><ul>{contents}</ul></nav>
<main id="content">
<h1>The interfaces of this server</h1>
<p>Every request goes to the address of an operation below, with JSON where it has a body. A caller
with a key sends it as <code>Authorization: Bearer askgraph_…</code>; what callers without one may
do is the operator’s choice. Every error is JSON of <a href="#schema-Problem">one form</a>, whose
<code>detail</code> says what is wrong and what to do; below <code>/v1</code> it is
<a href="#schema-ChatError">OpenAI’s</a>.</p>
<dl class="others">{others}</dl>
{groups}
<section aria-labelledby="schemas"><h2 id="schemas">Objects</h2>{schemas}</section>
</main>
</body>
</html>
"""


def description_router(app: FastAPI, static: Path = STATIC) -> APIRouter:
    """Return the route of the description of an application's operations."""
    router = APIRouter(include_in_schema=False)
    folder = static / "assets"
    styles = [
        one.name for kind in ("docs-*.css", "theme-*.js") for one in sorted(folder.glob(kind))
    ]

    async def description(request: Request) -> HTMLResponse:
        root = str(request.scope.get("root_path", ""))
        address = str(request.base_url).rstrip("/")
        return HTMLResponse(described(app.openapi(), address, root=root, styles=styles))

    router.add_api_route("/docs", description, methods=["GET", "HEAD"])
    return router


def described(
    openapi: Described, address: str, *, root: str = "", styles: Sequence[str] = ()
) -> str:
    """Return the description as a document; `address` is that of the server, in its examples."""
    head = "\n".join(
        f'<link rel="stylesheet" href="{root}/assets/{one}">'
        if one.endswith(".css")
        else f'<script src="{root}/assets/{one}"></script>'
        for one in styles
    )
    schemas = openapi["components"]["schemas"]
    groups: dict[str, list[str]] = {}
    for path, methods in openapi["paths"].items():
        for method, said in methods.items():
            told = _operation(method.upper(), path, said, schemas, address)
            groups.setdefault(said["tags"][0], []).append(told)
    return _DOCUMENT.format(
        head=head,
        root=escape(root),
        contents="".join(
            f'<li><a href="#{_anchor(tag)}">{escape(_titled(tag))}</a></li>'
            for tag in [*groups, "schemas"]
        ),
        others="".join(
            f"<div><dt><code>{escape(place)}</code></dt><dd>{escape(words)}</dd></div>"
            for place, words in _OTHERS
        ),
        groups="".join(_group(tag, told) for tag, told in groups.items()),
        schemas="".join(_schema(name, schemas[name]) for name in sorted(schemas)),
    )


def _titled(tag: str) -> str:
    return "Objects" if tag == "schemas" else f"{tag[:1].upper()}{tag[1:]}"


def _anchor(text: str) -> str:
    return re.sub(r"\W+", "-", text).strip("-").lower()


def _group(tag: str, operations: Sequence[str]) -> str:
    place = _anchor(tag)
    return (
        f'<section aria-labelledby="{place}"><h2 id="{place}">{escape(_titled(tag))}</h2>'
        f"{''.join(operations)}</section>"
    )


def _operation(method: str, path: str, said: Described, schemas: Described, address: str) -> str:
    first, _, more = said.get("description", "").partition("\n\n")
    parts = [
        f"<p>{_words(more)}</p>" if more else "",
        _table("Parameters", map(_parameter, said.get("parameters", ()))),
        *_bodies(said.get("requestBody", {}).get("content", {}), schemas),
        _replies(said["responses"]),
        f'<h3>Example</h3><pre tabindex="0"><code>'
        f"{escape(example(method, path, said, schemas, address))}</code></pre>",
        _link(method, path, said),
    ]
    return (
        f'<details><summary><span class="verb">{method}</span> '
        f"<code>{escape(path)}</code> <span>{_words(first)}</span></summary>"
        f'<div id="{_anchor(f"{method} {path}")}">{"".join(parts)}</div></details>'
    )


def _link(method: str, path: str, said: Described) -> str:
    """A link that opens what can be read without more."""
    needs = any(one.get("required") for one in said.get("parameters", ()))
    if method != "GET" or "{" in path or needs:
        return ""
    return f'<p><a href="{escape(path.lstrip("/"))}">Open {escape(path)}</a></p>'


def _parameter(one: Described) -> tuple[str, str, str]:
    schema = one["schema"]
    where = "part of the address" if one["in"] == "path" else ""
    needed = "needed" if one["required"] else _default(schema)
    words = one.get("description") or schema.get("description", "")
    return one["name"], _type(schema), _noted(words, where, needed)


def _bodies(content: Described, schemas: Described) -> Iterator[str]:
    for media, one in content.items():
        schema = one["schema"]
        inner = schemas[_name(schema)] if "$ref" in schema else schema
        if "properties" in inner:
            yield _table(f"Body, as {media}", _fields(inner))
        else:
            yield f"<h3>Body, as {escape(media)}</h3><p>{_type(inner)}</p>"


def _fields(schema: Described) -> Iterator[tuple[str, str, str]]:
    required = schema.get("required", ())
    for name, one in schema.get("properties", {}).items():
        needed = "needed" if name in required else _default(one)
        yield name, _type(one), _noted(one.get("description", ""), "", needed)


def _replies(responses: Described) -> str:
    lines = []
    for status, one in responses.items():
        if not status.startswith("2"):
            continue
        kinds = [
            f"{_type(content['schema'])} ({escape(media)})"
            if content.get("schema")
            else escape(media)
            for media, content in one.get("content", {}).items()
        ]
        told = ", or ".join(kinds) or ("nothing" if status == "204" else "a file, or a stream")
        lines.append(f"<p><code>{status}</code> {told}</p>")
    return f"<h3>Reply</h3>{''.join(lines)}"


def _schema(name: str, schema: Described) -> str:
    return (
        f"<details><summary><code>{escape(name)}</code> "
        f"<span>{_words(schema.get('description', ''))}</span></summary>"
        f'<div id="schema-{escape(name)}">{_table("Fields", _fields(schema))}</div></details>'
    )


def _table(title: str, rows: Iterator[tuple[str, str, str]]) -> str:
    lines = [
        f'<tr><th scope="row"><code>{escape(name)}</code></th><td>{kind}</td><td>{words}</td></tr>'
        for name, kind, words in rows
    ]
    if not lines:
        return ""
    head = (
        '<tr><th scope="col">Name</th><th scope="col">Type</th><th scope="col">What it is</th></tr>'
    )
    return (
        f"<h3>{escape(title)}</h3><table><thead>{head}</thead>"
        f"<tbody>{''.join(lines)}</tbody></table>"
    )


def _noted(words: str, *notes: str) -> str:
    told = "; ".join(note for note in notes if note)
    return f"{_words(words)} <em>{escape(told)}</em>".strip() if told else _words(words)


def _default(schema: Described) -> str:
    given = schema.get("default")
    return "" if given in (None, "", [], {}) else f"default: {json.dumps(given)}"


def _words(text: str) -> str:
    return _CODE.sub(r"<code>\1</code>", escape(" ".join(text.split()), quote=False))


def _name(schema: Described) -> str:
    return cast(str, schema["$ref"]).rpartition("/")[2]


def _type(schema: Described) -> str:
    """The type of a value in words, with a link to what is described."""
    if "$ref" in schema:
        return f'<a href="#schema-{escape(_name(schema))}">{escape(_name(schema))}</a>'
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(_type(one) for one in schema["anyOf"]))
    if "enum" in schema:
        return " or ".join(f"<code>{escape(json.dumps(one))}</code>" for one in schema["enum"])
    if "const" in schema:
        return f"<code>{escape(json.dumps(schema['const']))}</code>"
    kind = schema.get("type", "any")
    if kind == "array":
        items = schema.get("items", {})
        inner = "tuples" if "prefixItems" in schema else _type(items)
        return f"list of {inner}"
    if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"object of {_type(schema['additionalProperties'])}"
    return f"{kind}{_bounds(schema)}"


def _bounds(schema: Described) -> str:
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None:
        return f", {low:,.10g} to {high:,.10g}"
    longest = schema.get("maxLength")
    return f" of at most {longest:,} characters" if longest else ""


def example(method: str, path: str, said: Described, schemas: Described, address: str) -> str:
    """Return a request to an operation as a command: what it needs, and no more."""
    place = re.sub(r"\{(\w+)\}", lambda found: found[1].upper(), path)
    command = ["curl -s"]
    if method not in ("GET", "POST"):
        command.append(f"-X {method}")
    given = [
        f"--data-urlencode {_quoted(one['name'] + '=' + str(_example(one['name'], one['schema'])))}"
        for one in said.get("parameters", ())
        if one["in"] == "query" and one.get("required")
    ]
    command += ["-G", *given] if given else []
    command.append(f"{address}{place}")
    command += _sent(said.get("requestBody", {}).get("content", {}), schemas)
    if method == "POST" and len(command) == 2:
        command.insert(1, "-X POST")
    return " ".join(command)


def _sent(content: Described, schemas: Described) -> list[str]:
    if "application/json" in content:
        body = schemas[_name(content["application/json"]["schema"])]
        fields = body.get("required") or list(body["properties"])[:1]
        sent = {name: _example(name, body["properties"][name]) for name in fields}
        data = json.dumps(sent, ensure_ascii=False)
        return ["-H 'Content-Type: application/json'", f"-d {_quoted(data)}"]
    if "multipart/form-data" in content:
        return ["-F name=moons", "-F files=@moons.ttl"]
    if "application/x-www-form-urlencoded" in content:
        return [f"--data-urlencode {_quoted('query=' + _EXAMPLES['query'])}"]
    return []


def _example(name: str, schema: Described) -> Any:
    if name in _EXAMPLES:
        return _EXAMPLES[name]
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type") or next(
        (one["type"] for one in schema.get("anyOf", ()) if "type" in one), "string"
    )
    return _PLAIN[kind]


def _quoted(text: str) -> str:
    """A text as an argument in a shell."""
    return "'" + text.replace("'", "'\\''") + "'"
