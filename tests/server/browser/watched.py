"""Pages of a real browser that are watched: what goes wrong there, and what they ask for where.

The fonts of their texts do not depend on the machine: one that is wide, tall or narrow.
"""

import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request, expect

CHROMIUM = os.environ.get("ASKGRAPH_CHROMIUM") or shutil.which("chromium")
ARGUMENTS = (
    *(["--no-sandbox"] if os.geteuid() == 0 else []),
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
WEB = Path(__file__).parents[3] / "src" / "askgraph" / "server" / "web"
AXE = WEB / "node_modules" / "axe-core" / "axe.min.js"
PATIENCE = 60_000.0  # milliseconds until something that does not show counts as missing
DARK = re.compile(r"^rgb\(([1-3]?\d, ){2}[1-3]?\d\)$")
LIGHT = re.compile(r"^rgb\((2[0-5]\d, ){2}2[0-5]\d\)$")
_OWN = ("data:", "blob:", "about:")


@dataclass
class Watch:
    """Opens pages, and gathers what their consoles say and which requests fail or leave the server.

    A request may fail in `failed` because its page was left before it was answered.
    """

    browser: Browser
    address: str
    wrong: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    allowed: list[str] = field(default_factory=list)
    _contexts: list[BrowserContext] = field(default_factory=list)

    def page(
        self,
        path: str = "/",
        *,
        width: int = 1200,
        height: int = 850,
        dark: bool = False,
        locale: str = "en-GB",
        **more: Any,
    ) -> Page:
        """Open a page in a browser that has not been here before."""
        context = self.browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            locale=locale,
            timezone_id="Europe/Berlin",
            reduced_motion="reduce",
            **more,
        )
        context.set_default_timeout(PATIENCE)
        self._contexts.append(context)
        return self.another(context, path)

    def another(self, context: BrowserContext, path: str) -> Page:
        """Open one more page of the same person."""
        page = context.new_page()
        page.on("console", self._said)
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.on("dialog", lambda dialog: self.wrong.append(f"dialog: {dialog.message}"))
        page.on("request", self._requested)
        page.on("requestfailed", self._failed)
        page.goto(self.address + path)
        return page

    def allow(self, said: str) -> None:
        """Expect something on the console: browsers report every status that is no success."""
        self.allowed.append(said)

    def faults(self) -> list[str]:
        """What went wrong, but for what was expected."""
        heard = [text for text in self.wrong if not any(one in text for one in self.allowed)]
        return [*heard, *(f"a request left the server: {url}" for url in self.foreign)]

    def close(self) -> None:
        """Close all pages."""
        for context in self._contexts:
            context.close()

    def _said(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning", "assert"):
            self.wrong.append(f"{message.type}: {message.text}")

    def _requested(self, request: Request) -> None:
        if request.url.startswith(_OWN):
            return
        if urlsplit(request.url).netloc != urlsplit(self.address).netloc:
            self.foreign.append(request.url)

    def _failed(self, request: Request) -> None:
        if not request.url.startswith(_OWN):
            self.failed.append(f"{request.method} {request.url} failed: {request.failure}")


def ask(page: Page, question: str, *, settles: bool = True) -> None:
    """Type a question that this page was not asked into its box, and await the whole answer."""
    box = page.locator("[data-question]")
    box.fill(question)
    box.press("Enter")
    asked = page.locator("article.turn").filter(has=page.get_by_text(question, exact=True))
    asked.locator(".answer, .note").first.wait_for()
    if settles:
        settle(page)


def ask_anew(page: Page, question: str, graph: str = "") -> None:
    """Ask a question that has none before it, of a graph or of that which is asked at first."""
    page.goto(f"{'/'.join(page.url.split('/')[:3])}/" + (graph and f"?graph={graph}"))
    ask(page, question)


def press_keys(page: Page, *keys: str) -> None:
    """Press keys one after another."""
    for key in keys:
        page.keyboard.press(key)


def settle(page: Page) -> None:
    """Wait until every part of the page that is loaded when it is shown is there."""
    expect(page.locator(".later, .spinner, .settling")).to_have_count(0)


def violations(page: Page, *, within: Sequence[str] = ()) -> list[str]:
    """What axe-core finds, of any impact."""
    page.evaluate(AXE.read_text(encoding="utf-8") + "\n;null")
    found = page.evaluate(
        "async within => (await axe.run(within.length ? {include: within} : document)).violations",
        [[one] for one in within],
    )
    return [
        f"{one['id']}: {one['help']}: " + "; ".join(node["html"][:200] for node in one["nodes"])
        for one in found
    ]


def violations_in_both_themes(page: Page) -> list[str]:
    """What axe-core finds in the light or in the dark."""
    found: list[str] = []
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        found += violations(page)
    return found


_OVERLAPS = """selector => {
  const all = [...document.querySelectorAll(selector)]
    .map(one => ({text: one.textContent, box: one.getBoundingClientRect()}));
  const frame = document.documentElement.clientWidth;
  const out = all.filter(({box}) => box.left < -0.5 || box.right > frame + 0.5)
    .map(({text}) => `${text} is cut off`);
  const pairs = all.flatMap((one, at) => all.slice(0, at).map(other => [one, other]));
  return [...out, ...pairs.filter(([{box: one}, {box: other}]) =>
    Math.min(one.right, other.right) - Math.max(one.left, other.left) > 1 &&
    Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > 4,
  ).map(([one, other]) => `${one.text} covers ${other.text}`)];
}"""


def expect_sound(page: Page, *, themes: bool = False) -> None:
    """Nothing is wider than the window, and axe-core finds nothing; in both themes if wanted."""
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert (violations_in_both_themes(page) if themes else violations(page)) == []


def measure_overlaps(page: Page, selector: str) -> list[str]:
    """What covers what by more than the space above and below letters, or leaves the window."""
    found: list[str] = page.evaluate(_OVERLAPS, selector)
    return found


FONTS = {
    "wide": ("DejaVu Sans", "DejaVuSans.ttf", "fonts-dejavu-core"),
    "tall": ("Open Sans", "OpenSans-Regular.ttf", "fonts-open-sans"),
    "narrow": ("Liberation Sans", "LiberationSans-Regular.ttf", "fonts-liberation"),
}
"""Each with its family, a file of it, and Debian's package."""

_PLACES = (Path("/usr/share/fonts"), Path("/usr/local/share/fonts"), Path.home() / ".fonts")
_SETTINGS = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
<dir>{folder}</dir>
<cachedir>{cache}</cachedir>
<match target="pattern">
<edit name="family" mode="assign" binding="strong"><string>{family}</string></edit>
</match>
</fontconfig>
"""


def environment_with_font(font: str, folder: Path) -> dict[str, str | float | bool]:
    """Return the environment of a browser in which every text is in one family.

    The file of fontconfig that brings this about is written into the folder.

    Raises:
        FileNotFoundError: The font is not installed; the message says how to install it.
    """
    family, name, package = FONTS[font]
    files = (file for place in _PLACES if place.is_dir() for file in place.rglob(name))
    file = next(files, None)
    if file is None:
        raise FileNotFoundError(f"the browser tests need {family!r}: apt-get install {package}")
    settings = folder / f"{font}.conf"
    text = _SETTINGS.format(folder=file.parent, cache=folder / f"{font}-cache", family=family)
    settings.write_text(text, encoding="utf-8")
    return {**os.environ, "FONTCONFIG_FILE": str(settings), "LC_ALL": "C.UTF-8"}
