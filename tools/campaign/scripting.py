"""Script in all that a graph, an address or a person says, in the built page in Chromium.

    python -m tools.campaign.scripting [--only PLACE ...] [--json FILE]

A graph has script for labels, comments, values, places, IRIs, classes and predicates; questions,
talks, boards and headings of pins are script, too. Every view of every place is opened, and what
can be saved is saved and opened. It is survived if nothing runs (a dialog, a variable of `window`,
a request elsewhere, a report of the content policy), nothing of it is an element or an attribute,
no link leads to what would run, and no cell of a saved table would be run by a spreadsheet.
"""

import csv
import io
import json
import os
import re
import shutil
import sys
import time
import tomllib
import zipfile
from argparse import Namespace
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2
from playwright import sync_api
from playwright.sync_api import Error as BrowserError
from tools.campaign._tries import Tried, main, served

from askgraph.server.auth.identify import VISITOR_COOKIE, generate_visitor
from askgraph.workspace import Workspace

BURST = "window.burst=1;alert(1)"
_PAYLOADS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
SAID = tuple(text.replace("BURST", BURST) for text in _PAYLOADS["said"])
RUN, IRIS, QUERIES = _PAYLOADS["run"], _PAYLOADS["iris"], _PAYLOADS["queries"]
COMES = Path(__file__).with_suffix(".js").read_text("utf-8").partition("\n")[2]
"""What of the graph became more than text."""


def turtle() -> str:
    """Return the graph: for each text a thing, a class and a predicate of that label."""
    lines = [_PAYLOADS["graph"]]
    for at, text in enumerate((*SAID, *RUN)):
        said, iri = json.dumps(text), IRIS[at % len(IRIS)].replace("//evil", "https://evil")
        lines.append(_PAYLOADS["thing"].format(at=at, said=said, iri=iri))
    return "\n".join(lines)


@dataclass
class Watched:
    """A page of a browser, and what ran or was refused there."""

    browser: sync_api.Browser
    url: str
    visitor: str
    wrong: list[str] = field(default_factory=list)

    def opened(self) -> sync_api.Page:
        """Open a page of the person who left all that."""
        context = self.browser.new_context(reduced_motion="reduce", locale="en-GB")
        context.add_cookies([{"name": VISITOR_COOKIE, "value": self.visitor, "url": self.url}])
        context.set_default_timeout(20_000)
        page = context.new_page()
        page.on("console", self._read_message)
        page.on("dialog", self._dismiss)
        page.on("request", self._look_at_request)
        return page

    def _read_message(self, message: sync_api.ConsoleMessage) -> None:
        if re.search(r"Content Security Policy|Refused to|violates", message.text):
            self.wrong.append(message.text[:160])

    def _dismiss(self, dialog: sync_api.Dialog) -> None:
        self.wrong.append("a dialog")
        dialog.dismiss()

    def _look_at_request(self, request: sync_api.Request) -> None:
        if not request.url.startswith((self.url, "data:", "blob:", "file:", "about:")):
            self.wrong.append(f"a request to {request.url[:100]}")

    def fault(self, page: sync_api.Page) -> str:
        """Return what is wrong with a page, once all of it is there."""
        sync_api.expect(page.locator(".later, .spinner")).to_have_count(0, timeout=20_000)
        page.mouse.move(200, 300)
        page.mouse.move(400, 450)
        found = [*self.wrong, *page.evaluate(COMES)]
        if "taken" in page.title():
            found.append("the title was taken")
        self.wrong.clear()
        return "; ".join(dict.fromkeys(found))[:400]


@dataclass
class Campaign:
    """A server with the graph, what was left there, and a page."""

    client: httpx2.Client
    watched: Watched
    page: sync_api.Page
    folder: Path
    runs: dict[str, str] = field(default_factory=dict)
    board: str = ""

    def leave(self) -> None:
        """Ask, run queries, and pin their answers under titles that are script."""
        for at, (view, query) in enumerate(QUERIES.items()):
            asked = self._posted("ask", question=f"{SAID[at]} size of things?", graphs=["hostile"])
            prefixed = f"PREFIX e: <https://e.org/> {query}"
            self.runs[view] = self._posted(f"runs/{asked['id']}/edit", query=prefixed)["id"]
        self.board = self._posted("boards", title=SAID[6])["id"]
        for view, run in self.runs.items():
            shown = {"view": view}
            self._posted(f"boards/{self.board}/pins", run=run, title=SAID[1], shown=shown)
        self._posted(f"boards/{self.board}/share", shared=True)

    def _posted(self, path: str, **body: Any) -> Any:
        reply = self.client.post(f"/api/v1/{path}", json=body)
        assert reply.is_success, reply.text
        return reply.json()

    def tried(self, place: str, what: str, act: Callable[..., object], *given: Any) -> Tried:
        """Do something on the page, and look at it."""
        began = time.monotonic()
        try:
            act(*given)
            fault = self.watched.fault(self.page)
        except BrowserError as error:
            fault = f"the page does not answer: {str(error)[:200]}"
        return Tried(place, repr(what), fault, time.monotonic() - began)

    def at(self, path: str, comes: str = "") -> None:
        """Open an address of the server, and wait for what comes there."""
        self.page.goto(self.watched.url + path)
        if comes:
            self.page.locator(comes).first.wait_for()

    def control(self) -> Tried:
        """Put an element with an attribute in, which has to be seen."""
        self.at("/")
        put = "document.body.insertAdjacentHTML('beforeend', '<b onclick=1></b>')"
        seen = self.tried("the watch", "sees what is put in", self.page.evaluate, put)
        return Tried(seen.what, seen.how, "" if seen.fault else "it saw nothing", seen.seconds)

    def answers(self) -> Iterator[Tried]:
        """Answers in each of their views, with what folds out of them."""
        for view, run in self.runs.items():
            yield self.tried("answers", view, self.at, f"/run/{run}")
            self.page.locator(".answer:not(.settling), .note").first.wait_for()
            tabs = self.page.get_by_role("tab")
            for at in range(tabs.count()):
                name = tabs.nth(at).inner_text()
                yield self.tried("answers", f"{view}, {name}", tabs.nth(at).click)
            for kind, selector, most in (
                ("fold", "main details > summary", 1000),
                ("mark", "main .pin, main .dot, main .bar, main svg [tabindex]", 6),
            ):
                parts = self.page.locator(selector)
                for at in range(min(parts.count(), most)):
                    yield self.tried("answers", f"{view}, {kind} {at}", _press, parts.nth(at))

    def asking(self) -> Iterator[Tried]:
        """Questions that are script, asked in the page, and offers while they are written."""
        for text in SAID:
            yield self.tried("asking", text, self._ask, text)
        yield self.tried("asking", "history", self.at, "/history")

    def _ask(self, text: str) -> None:
        self.at("/?graph=hostile")
        box = self.page.locator("[data-question]")
        box.fill(f"size of {text}"[:300])
        self.page.wait_for_timeout(150)
        box.press("Enter")
        self.page.locator(".answer, .note").first.wait_for()

    def browsing(self) -> Iterator[Tried]:
        """The pages of the graph, of its classes and predicates and of each thing."""
        for path in ("/graphs", "/graphs/hostile", "/add", "/compare", "/boards"):
            yield self.tried("browsing", path, self.at, path)
        for at in range(len(SAID)):
            for kind, name in (("iri", f"t{at}"), ("class", f"C{at}"), ("property", f"p{at}")):
                path = f"/graphs/hostile?{kind}={quote(f'https://e.org/{name}', safe='')}"
                yield self.tried("browsing", path, self.at, path, "main h1:not(:empty)")

    def addresses(self) -> Iterator[Tried]:
        """Addresses of the page that are script."""
        for text in (*SAID, *IRIS):
            said = quote(text, safe="")
            asked = f"/?q={said}&graph={said}"
            for path in (f"/run/{said}", f"/graphs/{said}", f"/boards/{said}", asked):
                yield self.tried("addresses", path, self.at, path)

    def boards(self) -> Iterator[Tried]:
        """The board, as its owner and as another."""
        yield self.tried("boards", "its owner's", self.at, f"/boards/{self.board}")
        self.page.locator(".board[aria-busy=false]").wait_for()
        yield self.tried("boards", "brought up to date", lambda: None)
        own, self.watched.visitor = self.watched.visitor, generate_visitor()
        self.page = self.watched.opened()
        yield self.tried("boards", "another's", self.at, f"/boards/{self.board}")
        self.watched.visitor = own
        self.page = self.watched.opened()

    def _save(self, button: str, name: str) -> Path:
        """Press a button that saves a file; return where it lies."""
        with self.page.expect_download() as begun:
            self.page.get_by_role("button", name=button, exact=True).click()
        shutil.copy(begun.value.path(), self.folder / name)
        return self.folder / name

    def saved(self) -> Iterator[Tried]:
        """Pictures and tables that are saved."""
        self.at(f"/run/{self.runs['chart']}")
        files = []
        for form in ("SVG", "PNG"):
            self.page.get_by_role("button", name="Picture").click()
            files.append(self._save(form, f"chart.{form.lower()}"))
        yield self.tried("saved", "SVG", self.page.goto, files[0].as_uri())
        fault = "" if files[1].read_bytes().startswith(b"\x89PNG") else "no picture"
        yield Tried("saved", "PNG", fault)
        result = f"/api/v1/runs/{self.runs['table']}/result"
        for query in ("format=csv&names=true", "format=csv"):
            reply = self.client.get(f"{result}?{query}")
            cells = [cell for row in csv.reader(io.StringIO(reply.text)) for cell in row]
            ran = [one for one in cells if re.match(r"[=+@＝\t\r-]", one) and not _is_number(one)]
            fault = "" if "names" not in query else ", ".join(map(repr, ran))
            shown = "attachment" not in reply.headers["content-disposition"]
            yield Tried("saved", query, fault + "shown, not saved" * shown)
        book = self.client.get(f"{result}?format=xlsx").content
        with zipfile.ZipFile(io.BytesIO(book)) as opened:
            sheets = [opened.read(name).decode() for name in opened.namelist() if "sheet" in name]
        fault = "a formula" if any(re.search(r"<f[ >]", one) for one in sheets) else ""
        yield Tried("saved", "format=xlsx", fault)


def _press(part: sync_api.Locator) -> None:
    part.dispatch_event("click")
    part.page.wait_for_timeout(100)


def _is_number(text: str) -> bool:
    return bool(re.fullmatch(r"[+-]?[\d.]+(e[+-]?\d+)?", text, re.IGNORECASE))


PLACES = ("answers", "asking", "browsing", "addresses", "boards", "saved")  # methods of `Campaign`


def campaign(folder: Path, given: Namespace) -> Iterator[Tried]:
    """Start the server and the browser, and try the places."""
    (folder / "hostile.ttl").write_text(turtle(), encoding="utf-8")
    Workspace(folder).add("hostile", [folder / "hostile.ttl"])
    chromium = os.environ.get("ASKGRAPH_CHROMIUM") or shutil.which("chromium")
    visitor = generate_visitor()
    with (
        served(folder) as (url, _),
        sync_api.sync_playwright() as started,
        httpx2.Client(base_url=url, cookies={VISITOR_COOKIE: visitor}, timeout=60) as client,
    ):
        arguments = ["--disable-gpu", *(["--no-sandbox"] if os.geteuid() == 0 else [])]
        browser = started.chromium.launch(executable_path=chromium, args=arguments)
        watched = Watched(browser, url, visitor)
        tried = Campaign(client, watched, watched.opened(), folder)
        tried.leave()
        yield tried.control()
        for place in given.only:
            yield from getattr(tried, place)()
        browser.close()


if __name__ == "__main__":
    sys.exit(main(__doc__, campaign, PLACES))
