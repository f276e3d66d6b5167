"""Serve the web page, its built files, and `/docs`, the REST API described for people.

`make page` builds the page from `server/web` into `server/web/static`; a wheel contains the build.
`/docs` is generated from the OpenAPI description: each operation with its parameters, fields, reply
and an example request. It needs no script.
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

from askgraph.errors import AskgraphError
from askgraph.server.hub import Hub, identify_caller
from askgraph.server.store.tables import RunRow

STATIC = Path(__file__).parent / "web" / "static"

PAGES = (
    *("/", "/graphs", "/graphs/{graph}", "/add", "/history", "/run/{run}"),
    *("/boards", "/boards/{board}", "/embed/{run}"),
)
"""Addresses that the page itself routes (keep in step with web/src/app/router.ts)."""

_PROGRAM_PREFIXES = ("api", "assets", "mcp", "v1", "sparql")
_MEDIA_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
}
_ENCODING_SUFFIXES = {"br": ".br", "gzip": ".gz"}
_ENCODING = re.compile(r"([\w*]+)(\s*;\s*q=0(?:\.0*)?\s*(?=,|$))?[^,]*")
_IMMUTABLE_CACHE = "public, max-age=31536000, immutable"  # the name changes with the content
_MAX_PREVIEW_CHARACTERS = 300
_NOT_BUILT_HTML = """<!doctype html><html lang="en"><meta charset="utf-8"><title>askgraph</title>
<h1>The page is not built</h1><p>In a checkout, run <code>make page</code> (it needs Node.js with
npm) and start the server again. The APIs work without it.</p></html>"""


@dataclass(frozen=True)
class _StaticFile:
    """A built file: its content by encoding (`""` is uncompressed), media type and ETag."""

    type: str
    variants: Mapping[str, bytes]
    etag: str


def is_built(static: Path = STATIC) -> bool:
    """Return whether the page is built."""
    return (static / "index.html").is_file()


def get_start_note(static: Path = STATIC) -> str | None:
    """Return a note for the log of a server without a built page; None if it is built."""
    if is_built(static):
        return None
    return "The web page is not built: run `make page`. Everything else works without it."


def build_page_router(static: Path = STATIC) -> APIRouter:
    """Build the routes of the page; files are read once, here."""
    router = APIRouter(include_in_schema=False)
    index = _read_file(static / "index.html") if is_built(static) else None
    folder = static / "assets"
    paths = sorted(folder.iterdir()) if folder.is_dir() else []
    assets = {path.name: _read_file(path) for path in paths if path.suffix in _MEDIA_TYPES}

    async def serve_document(request: Request) -> Response:
        if index is None:
            return HTMLResponse(_NOT_BUILT_HTML, status_code=503)
        tags = await _build_preview(request)
        if not tags:
            return _build_response(request, index, cache="no-cache")
        document = index.variants[""].decode().replace("<title>askgraph</title>", tags)
        return HTMLResponse(document, headers={"Cache-Control": "no-cache"})

    async def serve_asset(request: Request, name: str) -> Response:
        file = assets.get(name)
        if file is None:
            return Response("File not found.", status_code=404, media_type="text/plain")
        return _build_response(request, file, cache=_IMMUTABLE_CACHE)

    for path in PAGES:
        router.add_api_route(path, serve_document, methods=["GET", "HEAD"])
    router.add_api_route("/assets/{name}", serve_asset, methods=["GET", "HEAD"])
    router.add_api_route("/run/{run}/preview.png", _serve_picture, methods=["GET", "HEAD"])
    return router


async def _load_shared_run(request: Request) -> tuple[RunRow, bytes | None] | None:
    hub: Hub | None = getattr(request.app.state, "hub", None)
    if hub is None or "run" not in request.path_params:
        return None
    try:
        caller = await identify_caller(request, hub)
        caller.require_scope("ask")
        run = await hub.records.load_run(request.path_params["run"], caller)
        return (run, await hub.store.get_picture(run.id)) if run.shared else None
    except AskgraphError:
        return None  # the page asks for the question again, and shows the problem


async def _build_preview(request: Request) -> str:
    """Return the title and Open Graph tags of a shared question; "" for any other page."""
    shared = await _load_shared_run(request)
    if shared is None:
        return ""
    run, picture = shared
    sentence = str((run.answer or {}).get("sentence", ""))[:_MAX_PREVIEW_CHARACTERS]
    tags = {"title": run.question, "description": sentence, "type": "website"}
    if picture:
        tags |= {"image": f"{request.base_url}run/{run.id}/preview.png", "image:alt": sentence}
    card = '\n<meta name="twitter:card" content="summary_large_image">' if picture else ""
    return f"<title>{escape(run.question)} · askgraph</title>{card}" + "".join(
        f'\n<meta property="og:{name}" content="{escape(text)}">' for name, text in tags.items()
    )


async def _serve_picture(request: Request) -> Response:
    shared = await _load_shared_run(request)
    if shared is None or shared[1] is None:
        return Response("File not found.", status_code=404, media_type="text/plain")
    return Response(shared[1], media_type="image/png", headers={"Cache-Control": "no-cache"})


def build_missing_page(request: Request, static: Path = STATIC) -> Response | None:
    """Return the page with status 404 for a browser at an unknown address; None for programs."""
    is_for_program = request.url.path.split("/")[1] in _PROGRAM_PREFIXES
    is_browser = request.method == "GET" and "text/html" in request.headers.get("accept", "")
    if is_for_program or not is_browser or not is_built(static):
        return None
    return HTMLResponse((static / "index.html").read_bytes(), status_code=404)


def _read_file(path: Path) -> _StaticFile:
    variants = {"": path.read_bytes()}
    for encoding, suffix in _ENCODING_SUFFIXES.items():
        compressed = path.with_name(path.name + suffix)
        if compressed.is_file():
            variants[encoding] = compressed.read_bytes()
    etag = f'"{sha256(variants[""]).hexdigest()[:32]}"'
    return _StaticFile(_MEDIA_TYPES[path.suffix], variants, etag)


def _build_response(request: Request, file: _StaticFile, *, cache: str) -> Response:
    accept = request.headers.get("accept-encoding", "").lower()
    accepted = {name for name, refused in _ENCODING.findall(accept) if not refused}
    encoding = next(
        (name for name in _ENCODING_SUFFIXES if name in accepted and name in file.variants), ""
    )
    # Each encoding is a separate representation, which a cache must not mix up.
    etag = f'{file.etag[:-1]}-{encoding}"' if encoding else file.etag
    headers = {"Cache-Control": cache, "ETag": etag, "Vary": "Accept-Encoding"}
    if etag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    if encoding:
        headers["Content-Encoding"] = encoding
    return Response(file.variants[encoding], media_type=file.type, headers=headers)


JsonObject = Mapping[str, Any]
DocsRow = tuple[str, str, str]

_OTHER_INTERFACES = (
    ("/mcp", "Model Context Protocol (streamable HTTP): tools and resources for agents"),
    ("/api/v1/openapi.json", "the OpenAPI 3.1 description of these operations"),
)
_DOCS_VALUES = json.loads(Path(__file__).with_name("docs.json").read_text("utf-8"))
_EXAMPLE_VALUES: dict[str, Any] = _DOCS_VALUES["examples"]
"""Example values of fields and parameters, by name."""
_DEFAULT_VALUES: dict[str, Any] = _DOCS_VALUES["defaults"]
"""Example values of other fields, by JSON type."""
_CODE = re.compile(r"`([^`]+)`")
_DOCUMENT_HTML = Path(__file__).with_name("docs.html").read_text("utf-8")


def build_docs_router(app: FastAPI, static: Path = STATIC) -> APIRouter:
    """Build the route `/docs`, which describes the operations of an application."""
    router = APIRouter(include_in_schema=False)
    folder = static / "assets"
    styles = [
        path.name
        for kind in ("styles-*.css", "docs-*.css", "theme-*.js")
        for path in sorted(folder.glob(kind))
    ]

    async def serve_docs(request: Request) -> HTMLResponse:
        root = str(request.scope.get("root_path", ""))
        address = str(request.base_url).rstrip("/")
        return HTMLResponse(describe_api(app.openapi(), address, root=root, styles=styles))

    router.add_api_route("/docs", serve_docs, methods=["GET", "HEAD"])
    return router


def describe_api(
    openapi: JsonObject, address: str, *, root: str = "", styles: Sequence[str] = ()
) -> str:
    """Return the API description as an HTML document.

    Args:
        address: the address of the server, used in the examples.
        root: the path prefix under which a proxy serves the application.
        styles: names of the stylesheets and scripts in `assets`.
    """
    head = "\n".join(
        f'<link rel="stylesheet" href="{root}/assets/{file_name}">'
        if file_name.endswith(".css")
        else f'<script src="{root}/assets/{file_name}"></script>'
        for file_name in styles
    )
    schemas = openapi["components"]["schemas"]
    groups: dict[str, list[str]] = {}
    for path, methods in openapi["paths"].items():
        for method, operation in methods.items():
            html = _render_operation(method.upper(), path, operation, schemas, address)
            groups.setdefault(operation["tags"][0], []).append(html)
    return _DOCUMENT_HTML.format(
        head=head,
        root=escape(root),
        contents="".join(
            f'<li><a href="#{_make_anchor(tag)}">{escape(_format_title(tag))}</a></li>'
            for tag in [*groups, "schemas"]
        ),
        others="".join(
            f'<div class="row"><dt><code>{escape(path)}</code></dt><dd>{escape(words)}</dd></div>'
            for path, words in _OTHER_INTERFACES
        ),
        groups="".join(
            f'<section aria-labelledby="{_make_anchor(tag)}"><h2 id="{_make_anchor(tag)}">'
            f"{escape(_format_title(tag))}</h2>{''.join(html)}</section>"
            for tag, html in groups.items()
        ),
        schemas="".join(
            f'<details class="step-fold"><summary><code>{escape(name)}</code> '
            f'<span class="muted">{_render_text(schema.get("description", ""))}</span></summary>'
            f'<div id="schema-{escape(name)}">'
            f"{_render_table('Fields', _build_field_rows(schema))}</div></details>"
            for name, schema in sorted(schemas.items())
        ),
    )


def _format_title(tag: str) -> str:
    return "Objects" if tag == "schemas" else f"{tag[:1].upper()}{tag[1:]}"


def _make_anchor(text: str) -> str:
    return re.sub(r"\W+", "-", text).strip("-").lower()


def _render_operation(
    method: str, path: str, operation: JsonObject, schemas: JsonObject, address: str
) -> str:
    first, _, details = operation.get("description", "").partition("\n\n")
    parameters = (
        _build_row(
            parameter["name"],
            parameter["schema"],
            parameter.get("description") or parameter["schema"].get("description", ""),
            required=parameter["required"],
            location="in the path" if parameter["in"] == "path" else "",
        )
        for parameter in operation.get("parameters", ())
    )
    required = [item for item in operation.get("parameters", ()) if item.get("required")]
    can_open = method == "GET" and "{" not in path and not required  # without more
    parts = [
        f"<p>{_render_text(details)}</p>" if details else "",
        _render_table("Parameters", parameters),
        *_render_bodies(operation.get("requestBody", {}).get("content", {}), schemas),
        _render_replies(operation["responses"]),
        f'<h3>Example</h3><pre tabindex="0"><code>'
        f"{escape(build_example_request(method, path, operation, schemas, address))}</code></pre>",
        f'<p><a href="{escape(path.lstrip("/"))}">Open {escape(path)}</a></p>' if can_open else "",
    ]
    return (
        f'<details class="step-fold"><summary><span class="verb">{method}</span> '
        f'<code>{escape(path)}</code> <span class="muted">{_render_text(first)}</span></summary>'
        f'<div id="{_make_anchor(f"{method} {path}")}">{"".join(parts)}</div></details>'
    )


def _render_bodies(content: JsonObject, schemas: JsonObject) -> Iterator[str]:
    for media_type, content_of_type in content.items():
        schema = content_of_type["schema"]
        resolved = schemas[_get_schema_name(schema)] if "$ref" in schema else schema
        if "properties" in resolved:
            yield _render_table(f"Body ({media_type})", _build_field_rows(resolved))
        else:
            yield f"<h3>Body ({escape(media_type)})</h3><p>{_render_type(resolved)}</p>"


def _build_field_rows(schema: JsonObject) -> Iterator[DocsRow]:
    required = schema.get("required", ())
    for name, field_schema in schema.get("properties", {}).items():
        yield _build_row(
            name, field_schema, field_schema.get("description", ""), required=name in required
        )


def _build_row(
    name: str, schema: JsonObject, description: str, *, required: bool, location: str = ""
) -> DocsRow:
    default, note = schema.get("default"), "required" if required else ""
    if not required and default not in (None, "", [], {}):
        note = f"default: {json.dumps(default)}"
    html, notes = _render_text(description), escape("; ".join(filter(None, (location, note))))
    html = f'{html} <em class="muted">{notes}</em>'.strip() if notes else html
    return name, _render_type(schema), html


def _render_replies(responses: JsonObject) -> str:
    lines = []
    for status in [status for status in responses if status.startswith("2")]:
        types = [
            f"{_render_type(content['schema'])} ({escape(media_type)})"
            if content.get("schema")
            else escape(media_type)
            for media_type, content in responses[status].get("content", {}).items()
        ]
        reply = " or ".join(types) or ("nothing" if status == "204" else "a file or a stream")
        lines.append(f"<p><code>{status}</code> {reply}</p>")
    return f"<h3>Reply</h3>{''.join(lines)}"


def _render_table(title: str, rows: Iterator[DocsRow]) -> str:
    lines = [
        f'<tr><th scope="row"><code>{escape(name)}</code></th>'
        f"<td>{type_html}</td><td>{description_html}</td></tr>"
        for name, type_html, description_html in rows
    ]
    if not lines:
        return ""
    head = "".join(f'<th scope="col">{name}</th>' for name in ("Name", "Type", "Description"))
    return (
        f'<h3>{escape(title)}</h3><table class="facts"><thead class="wide-only"><tr>{head}</tr>'
        f"</thead><tbody>{''.join(lines)}</tbody></table>"
    )


def _render_text(text: str) -> str:
    return _CODE.sub(r"<code>\1</code>", escape(" ".join(text.split()), quote=False))


def _get_schema_name(schema: JsonObject) -> str:
    return cast(str, schema["$ref"]).rpartition("/")[2]


def _render_type(schema: JsonObject) -> str:
    if "$ref" in schema:
        name = escape(_get_schema_name(schema))
        return f'<a href="#schema-{name}">{name}</a>'
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(_render_type(option) for option in schema["anyOf"]))
    if "enum" in schema or "const" in schema:
        options = schema.get("enum") or [schema["const"]]
        return " or ".join(f"<code>{escape(json.dumps(option))}</code>" for option in options)
    kind = schema.get("type", "any")
    if kind == "array":
        is_tuple = "prefixItems" in schema
        return f"list of {'tuples' if is_tuple else _render_type(schema.get('items', {}))}"
    if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"object of {_render_type(schema['additionalProperties'])}"
    low, high, max_length = (schema.get(key) for key in ("minimum", "maximum", "maxLength"))
    if low is not None and high is not None:
        return f"{kind}, {low:,.10g} to {high:,.10g}"
    return f"{kind} of at most {max_length:,} characters" if max_length else str(kind)


def build_example_request(
    method: str, path: str, operation: JsonObject, schemas: JsonObject, address: str
) -> str:
    """Return a `curl` command for an operation with only its required values."""
    filled_path = re.sub(r"\{(\w+)\}", lambda match: match[1].upper(), path)
    command = ["curl -s"]
    if method not in ("GET", "POST"):
        command.append(f"-X {method}")
    examples = {
        item["name"]: _build_example_value(item["name"], item["schema"])
        for item in operation.get("parameters", ())
        if item["in"] == "query" and item.get("required")
    }
    query_options = [f"--data-urlencode {quote(f'{n}={value}')}" for n, value in examples.items()]
    command += ["-G", *query_options] if query_options else []
    command.append(f"{address}{filled_path}")
    command += _build_body_options(operation.get("requestBody", {}).get("content", {}), schemas)
    if method == "POST" and len(command) == 2:
        command.insert(1, "-X POST")
    return " ".join(command)


def _build_body_options(content: JsonObject, schemas: JsonObject) -> list[str]:
    if "application/json" in content:
        body = schemas[_get_schema_name(content["application/json"]["schema"])]
        fields = body.get("required") or list(body["properties"])[:1]
        values = {name: _build_example_value(name, body["properties"][name]) for name in fields}
        data = json.dumps(values, ensure_ascii=False)
        return ["-H 'Content-Type: application/json'", f"-d {quote(data)}"]
    if "multipart/form-data" in content:
        return ["-F name=moons", "-F files=@moons.ttl"]
    if "application/x-www-form-urlencoded" in content:
        return [f"--data-urlencode {quote('query=' + _EXAMPLE_VALUES['query'])}"]
    return []


def _build_example_value(name: str, schema: JsonObject) -> Any:
    if name in _EXAMPLE_VALUES:
        return _EXAMPLE_VALUES[name]
    if "enum" in schema:
        return schema["enum"][0]
    type_name = schema.get("type") or next(
        (option["type"] for option in schema.get("anyOf", ()) if "type" in option), "string"
    )
    return _DEFAULT_VALUES[type_name]
