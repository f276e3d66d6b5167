"""The page's files come small, are kept for good where their names change, and nothing else is."""

import base64
import gzip
import struct
import zlib
from pathlib import Path

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from tests.each import for_each
from tests.servers.served import Visitor

from askgraph.server.page import PAGES, STATIC, build_page_router, get_start_note, is_built

DOCUMENT = "<!doctype html><title>askgraph</title>"
SCRIPT = "export const answer = 42;\n" * 50


@pytest.fixture
def static(tmp_path: Path) -> Path:
    """A built page: a document, and one script, each also compressed."""
    (tmp_path / "assets").mkdir()
    for path, text in (("index.html", DOCUMENT), ("assets/main-AB12.js", SCRIPT)):
        file = tmp_path / path
        file.write_text(text, encoding="utf-8")
        file.with_name(f"{file.name}.gz").write_bytes(gzip.compress(text.encode()))
        file.with_name(f"{file.name}.br").write_bytes(b"in brotli")
    (tmp_path / "assets" / "notes.txt").write_text("not of the page")
    return tmp_path


@pytest.fixture
def client(static: Path) -> TestClient:
    return client_of(static)


def client_of(static: Path) -> TestClient:
    app = FastAPI()
    app.include_router(build_page_router(static))
    return TestClient(app, headers={"accept-encoding": "identity"})


def test_a_server_without_a_built_page_says_so_at_its_start(static: Path, tmp_path: Path) -> None:
    assert get_start_note(static) is None and "make page" in str(
        get_start_note(tmp_path / "nothing")
    )


@for_each("path", [*PAGES[:2], "/graphs/my%20graph", "/add", "/history", "/run/abc"])
def test_all_addresses_of_the_page_give_its_document_which_is_asked_for_anew(
    client: TestClient, path: str
) -> None:
    response = client.get(path)
    assert response.text == DOCUMENT
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert response.headers["cache-control"] == "no-cache"


def test_files_of_the_page(client: TestClient) -> None:
    # A file whose name changes with its content is kept for good.
    response = client.get("/assets/main-AB12.js")
    assert response.text == SCRIPT
    assert response.headers["content-type"] == "text/javascript; charset=utf-8"
    assert response.headers["cache-control"] == "public, max-age=31536000, immutable"
    # A document that is known is not sent again.
    etag = client.get("/").headers["etag"]
    again = client.get("/", headers={"if-none-match": etag})
    assert (again.status_code, again.content) == (304, b"")
    compressed = client.head("/", headers={"if-none-match": etag, "accept-encoding": "gzip"})
    assert compressed.status_code == 200
    # A head has the headers without the content.
    response = client.head("/history")
    assert response.content == b"" and int(response.headers["content-length"]) == len(DOCUMENT)


@for_each(
    ("accepted", "encoding"),
    [
        ("gzip, deflate, br", "br"),
        ("gzip", "gzip"),
        ("gzip;q=1.0, br;q=0", "gzip"),
        ("BR;q=0.5", "br"),
        ("zstd", None),
        ("", None),
    ],
)
def test_a_file_comes_compressed_as_the_client_takes_it(
    client: TestClient, accepted: str, encoding: str | None
) -> None:
    request = client.build_request(
        "GET", "/assets/main-AB12.js", headers={"accept-encoding": accepted}
    )
    response = client.send(request, stream=True)
    assert response.headers.get("content-encoding") == encoding
    assert response.headers["vary"] == "Accept-Encoding"
    size = int(response.headers["content-length"])
    assert size == len(SCRIPT) if encoding is None else size < len(SCRIPT) / 2
    response.close()


@for_each(
    "path",
    [
        "/assets/nothing.js",
        "/assets/notes.txt",
        "/assets/main-AB12.js.gz",
        "/assets/../index.html",
        "/assets/..%2Findex.html",
        "/assets/%2e%2e%2f%2e%2e%2fpage.py",
        "/index.html",
        "/run/a/b",
    ],
)
def test_nothing_else_is_served(client: TestClient, path: str) -> None:
    assert client.get(path).status_code == 404


def test_a_page_that_is_not_built_says_how_to_build_it(tmp_path: Path) -> None:
    response = client_of(tmp_path).get("/")
    assert response.status_code == 503 and "make page" in response.text


@pytest.mark.skipif(not is_built(), reason="the page is not built: make page")
def test_a_shared_question_has_a_preview_and_may_be_framed(served: str) -> None:
    with Visitor(served) as asker, Visitor(served) as other:
        expect_preview(asker, other)


def expect_preview(asker: Visitor, other: Visitor) -> None:
    run = asker.ask('How big is "Titan"? <script>')["id"]
    browser = {"Accept": "text/html", "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    frame = {**browser, "Sec-Fetch-Dest": "iframe"}
    assert "og:" not in other.get(f"/run/{run}", headers=browser).text
    asker.post_json(f"runs/{run}/share", shared=True)
    for path, headers in ((f"/run/{run}", browser), (f"/embed/{run}", frame)):
        document = other.get(path, headers=headers)
        policy = document.headers["content-security-policy"]
        title = "How big is &quot;Titan&quot;? &lt;script&gt;"
        assert f"<title>{title} · askgraph</title>" in document.text
        assert f'property="og:title" content="{title}"' in document.text
        assert 'property="og:description" content="The diameter of Titan is 5,14' in document.text
        assert ("frame-ancestors *;" in policy) == (headers == frame)
        assert ("x-frame-options" in document.headers) == (headers != frame)
    assert other.get(f"/run/{run}", headers=frame).status_code == 403
    expect_picture(asker, other, run)


def chunk(kind: bytes, data: bytes = b"") -> bytes:
    sealed = kind + data
    return struct.pack(">I", len(data)) + sealed + struct.pack(">I", zlib.crc32(sealed))


def expect_picture(asker: Visitor, other: Visitor, run: str) -> None:
    """Only a plain and whole PNG is taken; others get it as long as the question is shared."""
    head = b"\x89PNG\r\n\x1a\n"
    size = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    pixels, end = chunk(b"IDAT", zlib.compress(b"\0\0")), chunk(b"IEND")
    good = head + chunk(b"IHDR", size) + pixels + end
    wide = struct.pack(">IIBBBBB", 9999, 1, 8, 0, 0, 0, 0)
    for bad in (
        b"<svg/>",
        good[8:],
        good[:-6],
        good + b"<script>",
        head + chunk(b"IHDR", size) + chunk(b"tEXt", b"a\0b") + pixels + end,
        head + chunk(b"IHDR", wide) + pixels + end,
        good.replace(b"IDAT", b"IDAX"),
        head,
    ):
        body = {"shared": True, "picture": base64.b64encode(bad).decode()}
        assert asker.post(f"/api/v1/runs/{run}/share", json=body).status_code == 422, bad
    for text in ("no base64", "A" * 300_000):
        body = {"shared": True, "picture": text}
        assert asker.post(f"/api/v1/runs/{run}/share", json=body).status_code == 422
    address = f"/run/{run}/preview.png"
    assert other.get(address).status_code == 404
    asker.post_json(f"runs/{run}/share", shared=True, picture=base64.b64encode(good).decode())
    picture = other.get(address)
    assert (picture.headers["content-type"], picture.content) == ("image/png", good)
    assert f'property="og:image" content="{other.base_url}/run/{run}/preview.png"' in (
        other.get(f"/run/{run}", headers={"Accept": "text/html"}).text
    )
    asker.post_json(f"runs/{run}/share", shared=False)
    assert other.get(address).status_code == 404 == asker.get(address).status_code


@pytest.mark.skipif(not is_built(), reason="the page is not built: make page")
def test_the_built_page_is_light() -> None:
    """The first view at most 60 kB, all in all languages at most 300 kB, as sent with gzip."""
    sizes = {path.name: path.stat().st_size for path in (STATIC / "assets").glob("*.gz")}
    document = (STATIC / "index.html").read_text(encoding="utf-8")
    first = sum(size for name, size in sizes.items() if name.removesuffix(".gz") in document)
    assert 5_000 < first <= 60_000
    assert sum(name.startswith("words_") for name in sizes) == 3  # and English, in the modules
    assert sum(sizes.values()) <= 300_000
    assert "http" not in document.replace("http://www.w3.org/2000/svg", "")
