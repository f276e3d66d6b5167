"""The documentation site: links hold, the build is strict, nothing comes from elsewhere."""

import re
import threading
import tomllib
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright
from tests.each import for_each
from tests.server.browser.watched import ARGUMENTS, CHROMIUM, PATIENCE
from tools import documentation
from tools.documentation import built, complaints, gather, placed, relinked

ROOT = Path(__file__).parents[2]


@for_each(
    "source, text, becomes",
    ("README.md", "[a](docs/python.md#b)", "[a](python.md#b)"),
    ("docs/python.md", "[a](../README.md#safety)", "[a](index.md#safety)"),
    ("docs/how-to/method.md", "[a](../../CONTRIBUTING.md)", "[a](../contributing.md)"),
    ("README.md", "[a](docs/decisions)", "[a](decisions/index.md)"),
    ("docs/decisions/0001-x.md", "[a](../python.md)", "[a](../python.md)"),
    ("docs/how-to/method.md", "[a](../../src/askgraph/trace/__init__.py)", "a"),
    ("docs/temporal.md", "[a](../src/askgraph/graph/profile/units.toml)", "a"),
    ("docs/x.md", "[a](https://example.org/) [b](#c)", "[a](https://example.org/) [b](#c)"),
    ("docs/x.md", "```\n[a](../README.md)\n```\n", "```\n[a](../README.md)\n```\n"),
)
def test_a_link_holds_on_the_site(source: str, text: str, becomes: str) -> None:
    assert relinked(text, source) == becomes


def test_every_page_is_in_the_navigation() -> None:
    settings = tomllib.loads((ROOT / "docs" / "zensical.toml").read_text(encoding="utf-8"))
    listed = set(re.findall(r"[\w/-]+\.md", str(settings["project"]["nav"])))
    pages = {
        placed(path.relative_to(ROOT).as_posix())
        for path in (ROOT / "docs").rglob("*.md")
        if path.parent.name != "decisions"
    }

    assert pages <= listed


def test_a_broken_link_and_a_foreign_font_are_complaints(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<h1 id="here">A</h1><a href="#here">ok</a><a href="b.html#c">no</a>'
        '<a href="a.html#x">no</a><a href="https://example.org/">ok</a><link rel="stylesheet" href="https://f.example/a.css">'
    )
    (tmp_path / "s.css").write_text("@font-face { src: url('//f.example/a.woff') }")

    assert complaints(tmp_path) == [
        "a.html: a.html#x has no such heading",
        "a.html: b.html#c leads nowhere",
        "a.html: fetches https://f.example/a.css",
        "s.css: a style from another host",
    ]


def test_a_link_to_a_page_that_is_not_there_stops_the_build(tmp_path: Path) -> None:
    (tmp_path / documentation.PAGES).mkdir()
    (tmp_path / documentation.PAGES / "index.md").write_text("# A\n\n[gone](gone.md)\n")
    (tmp_path / "zensical.toml").write_text(
        '[project]\nsite_name = "a"\ndocs_dir = "documentation"\nsite_dir = "site"\n'
    )

    assert "page does not exist" in "".join(built(tmp_path))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    build = tmp_path_factory.mktemp("build")
    gather(ROOT, build)
    assert built(build) == []
    return build / documentation.SITE


def test_the_site_is_built_without_complaints(site: Path) -> None:
    for page in ("index", "tutorial", "security", "reference/rest"):
        assert "<article" in (site / f"{page}.html").read_text(encoding="utf-8")


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium on the PATH")
def test_the_site_asks_no_other_host_and_its_search_finds_pages(site: Path) -> None:
    asked: list[str] = []
    errors: list[str] = []
    handler = partial(_Quiet, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server, sync_playwright() as started:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_address[1]}"
        browser = started.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        page = browser.new_page()
        page.set_default_timeout(PATIENCE)
        page.on("request", lambda request: asked.append(request.url))
        page.on("pageerror", lambda error: errors.append(str(error)))
        for name in ("index", "tutorial", "reference/rest"):
            page.goto(f"{address}/{name}.html")
            page.wait_for_load_state("networkidle")
        search = page.locator("dialog input")
        search.wait_for(state="attached")
        page.keyboard.press("Control+k")
        search.fill("X-SQL-State")
        page.locator("a[href*='endpoints.html?h=']").first.wait_for()
        browser.close()
        server.shutdown()

    assert [url for url in asked if not url.startswith((address, "data:"))] == []
    assert errors == []
