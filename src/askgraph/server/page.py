"""Serves the page, its built files, and `/docs`: the REST API described for people.

`make page` builds the page from `server/web` into `server/web/static`; a wheel carries it built.
`/docs` is made of the OpenAPI description: each operation with its parameters, fields, reply and a
request to try. It needs no script: operations unfold by themselves.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from pathlib import Path
from shlex import quote
from typing import Any, cast

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.responses import HTMLResponse

STATIC = Path(__file__).parent / "web" / "static"

PAGES = (
    *("/", "/graphs", "/graphs/{graph}", "/add", "/compare", "/history", "/run/{run}"),
    *("/boards", "/boards/{board}"),
)
"""Addresses that the page itself sorts out (web/src/app/router.ts knows the same)."""

_PROGRAMS = ("api", "assets", "mcp", "v1", "sparql")
_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
}
_COMPRESSED = {"br": ".br", "gzip": ".gz"}
_FOREVER = "public, max-age=31536000, immutable"  # the name changes with the content
_NOT_BUILT = """<!doctype html><html lang="en"><meta charset="utf-8"><title>askgraph</title>
<h1>The page is not built</h1><p>In a checkout, run <code>make page</code> (it needs Node.js with
npm) and start the server again. The interfaces for programs work without it.</p></html>"""


@dataclass(frozen=True)
class _File:
    """A built file: its content by encoding, "" being the plain one."""

    type: str
    variants: Mapping[str, bytes]
    etag: str


def is_built(static: Path = STATIC) -> bool:
    """Whether the page was built."""
    return (static / "index.html").is_file()


def start_note(static: Path = STATIC) -> str | None:
    """Return what to say at the start of a server that has no page; None if it has one."""
    if is_built(static):
        return None
    return "The page is not built here (make page builds it); all else works without it."


def page_router(static: Path = STATIC) -> APIRouter:
    """Return the routes of the page; the files are read once, here."""
    router = APIRouter(include_in_schema=False)
    index = _read(static / "index.html") if is_built(static) else None
    folder = static / "assets"
    paths = sorted(folder.iterdir()) if folder.is_dir() else []
    assets = {path.name: _read(path) for path in paths if path.suffix in _TYPES}

    async def document(request: Request) -> Response:
        if index is None:
            return HTMLResponse(_NOT_BUILT, status_code=503)
        return _response(request, index, cache="no-cache")

    async def asset(request: Request, name: str) -> Response:
        found = assets.get(name)
        if found is None:
            return Response("There is no such file.", status_code=404, media_type="text/plain")
        return _response(request, found, cache=_FOREVER)

    for path in PAGES:
        router.add_api_route(path, document, methods=["GET", "HEAD"])
    router.add_api_route("/assets/{name}", asset, methods=["GET", "HEAD"])
    return router


def missing_page(request: Request, static: Path = STATIC) -> Response | None:
    """Return the page for a browser that looks for what is not there; None for programs.

    Addresses of the interfaces and of files are for programs.
    """
    first = request.url.path.split("/")[1]
    is_browser = "text/html" in request.headers.get("accept", "")
    if request.method != "GET" or not is_browser or first in _PROGRAMS or not is_built(static):
        return None
    return HTMLResponse((static / "index.html").read_bytes(), status_code=404)


def _read(path: Path) -> _File:
    variants = {"": path.read_bytes()}
    for encoding, suffix in _COMPRESSED.items():
        compressed = path.with_name(path.name + suffix)
        if compressed.is_file():
            variants[encoding] = compressed.read_bytes()
    etag = f'"{sha256(variants[""]).hexdigest()[:32]}"'
    return _File(_TYPES[path.suffix], variants, etag)


def _response(request: Request, file: _File, *, cache: str) -> Response:
    named = [part.strip() for part in request.headers.get("accept-encoding", "").lower().split(",")]
    taken = {
        name.strip()
        for name, _, weight in (part.partition(";") for part in named)
        if weight.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    }
    encoding = next((name for name in _COMPRESSED if name in taken and name in file.variants), "")
    # Each encoding is a representation of its own, which a cache must not mix up.
    etag = f'{file.etag[:-1]}-{encoding}"' if encoding else file.etag
    headers = {"Cache-Control": cache, "ETag": etag, "Vary": "Accept-Encoding"}
    if etag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    if encoding:
        headers["Content-Encoding"] = encoding
    return Response(file.variants[encoding], media_type=file.type, headers=headers)


Described = Mapping[str, Any]
Row = tuple[str, str, str]

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
        return HTMLResponse(describe_api(app.openapi(), address, root=root, styles=styles))

    router.add_api_route("/docs", description, methods=["GET", "HEAD"])
    return router


def describe_api(
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
        groups="".join(
            f'<section aria-labelledby="{_anchor(tag)}"><h2 id="{_anchor(tag)}">'
            f"{escape(_titled(tag))}</h2>{''.join(told)}</section>"
            for tag, told in groups.items()
        ),
        schemas="".join(
            f"<details><summary><code>{escape(name)}</code> "
            f"<span>{_words(schema.get('description', ''))}</span></summary>"
            f'<div id="schema-{escape(name)}">{_table("Fields", _fields(schema))}</div></details>'
            for name, schema in sorted(schemas.items())
        ),
    )


def _titled(tag: str) -> str:
    return "Objects" if tag == "schemas" else f"{tag[:1].upper()}{tag[1:]}"


def _anchor(text: str) -> str:
    return re.sub(r"\W+", "-", text).strip("-").lower()


def _operation(method: str, path: str, said: Described, schemas: Described, address: str) -> str:
    first, _, more = said.get("description", "").partition("\n\n")
    parameters = (
        _row(
            one["name"],
            one["schema"],
            one.get("description") or one["schema"].get("description", ""),
            needed=one["required"],
            where="part of the address" if one["in"] == "path" else "",
        )
        for one in said.get("parameters", ())
    )
    needs = any(one.get("required") for one in said.get("parameters", ()))
    opens = method == "GET" and "{" not in path and not needs  # without more
    parts = [
        f"<p>{_words(more)}</p>" if more else "",
        _table("Parameters", parameters),
        *_bodies(said.get("requestBody", {}).get("content", {}), schemas),
        _replies(said["responses"]),
        f'<h3>Example</h3><pre tabindex="0"><code>'
        f"{escape(example(method, path, said, schemas, address))}</code></pre>",
        f'<p><a href="{escape(path.lstrip("/"))}">Open {escape(path)}</a></p>' if opens else "",
    ]
    return (
        f'<details><summary><span class="verb">{method}</span> '
        f"<code>{escape(path)}</code> <span>{_words(first)}</span></summary>"
        f'<div id="{_anchor(f"{method} {path}")}">{"".join(parts)}</div></details>'
    )


def _bodies(content: Described, schemas: Described) -> Iterator[str]:
    for media, one in content.items():
        schema = one["schema"]
        inner = schemas[_name(schema)] if "$ref" in schema else schema
        if "properties" in inner:
            yield _table(f"Body, as {media}", _fields(inner))
        else:
            yield f"<h3>Body, as {escape(media)}</h3><p>{_type(inner)}</p>"


def _fields(schema: Described) -> Iterator[Row]:
    required = schema.get("required", ())
    for name, one in schema.get("properties", {}).items():
        yield _row(name, one, one.get("description", ""), needed=name in required)


def _row(name: str, schema: Described, words: str, *, needed: bool, where: str = "") -> Row:
    """The row of a parameter or field: its name, its type, and what it is."""
    default, note = schema.get("default"), "needed" if needed else ""
    if not needed and default not in (None, "", [], {}):
        note = f"default: {json.dumps(default)}"
    notes = escape("; ".join(filter(None, (where, note))))
    return (
        name,
        _type(schema),
        f"{_words(words)} <em>{notes}</em>".strip() if notes else _words(words),
    )


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


def _table(title: str, rows: Iterator[Row]) -> str:
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
    low, high, longest = (schema.get(key) for key in ("minimum", "maximum", "maxLength"))
    if low is not None and high is not None:
        return f"{kind}, {low:,.10g} to {high:,.10g}"
    return f"{kind} of at most {longest:,} characters" if longest else str(kind)


def example(method: str, path: str, said: Described, schemas: Described, address: str) -> str:
    """Return a request to an operation as a command: what it needs, and no more."""
    place = re.sub(r"\{(\w+)\}", lambda found: found[1].upper(), path)
    command = ["curl -s"]
    if method not in ("GET", "POST"):
        command.append(f"-X {method}")
    given = [
        f"--data-urlencode {quote(one['name'] + '=' + str(_example(one['name'], one['schema'])))}"
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
        return ["-H 'Content-Type: application/json'", f"-d {quote(data)}"]
    if "multipart/form-data" in content:
        return ["-F name=moons", "-F files=@moons.ttl"]
    if "application/x-www-form-urlencoded" in content:
        return [f"--data-urlencode {quote('query=' + _EXAMPLES['query'])}"]
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
