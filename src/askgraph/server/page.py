"""Serves the page: its built files, and one document for all addresses that the page has.

`make page` builds them from `server/web` into `server/web/static`; a wheel carries them built.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from fastapi import APIRouter, Request, Response
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
    assets = dict(_assets(static / "assets"))

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


def _assets(folder: Path) -> Iterator[tuple[str, _File]]:
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.suffix in _TYPES:
            yield path.name, _read(path)


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
