"""Pages of a real browser that are watched: what goes wrong there, and what they ask for where.

The fonts of their texts do not depend on the machine: one that is wide, tall or narrow.
"""

import contextlib
import json
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Locator,
    Page,
    Request,
    expect,
)
from playwright.sync_api import TimeoutError as PlaywrightTimeoutError

from askgraph import sample

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
            self.wrong.append(f"{message.type}: {message.text} ({message.location['url']})")

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


def share(page: Page) -> None:
    """Tick that others may read it, and wait until the server knows."""
    page.get_by_role("button", name="Share").click()
    page.get_by_role("checkbox", name=re.compile("Let others open it")).check()
    expect(page.get_by_text("Anyone with access to these graphs can open it.")).to_be_visible()
    expect(page.get_by_role("textbox", name="A link to this")).to_have_value(page.url)


TRANSFERRED = """() => {
    const all = performance.getEntries().filter((entry) => entry.transferSize);
    return [all.length, all.reduce((sum, entry) => sum + entry.transferSize, 0) / 1000];
}"""


def result_of(page: Page, question: str, *, table: bool = True) -> Locator:
    """Ask, and return the result, opened where it is folded away, as a table or as it opens."""
    ask_anew(page, question)
    view, fold = page.locator(".result-view"), page.locator(".result-fold > summary")
    expect(view).to_be_attached()
    if fold.count():
        fold.click()
    expect(view).to_be_visible()
    settle(page)
    tab = view.get_by_role("tab", name=re.compile("^(Table|Tabelle)$"))
    if table and tab.count():
        tab.click()
    return view


def download(page: Page, format: str, button: str = "Download") -> Path:
    """Download a result or a picture."""
    page.get_by_role("button", name=button).click()
    with page.expect_download() as begun:
        page.get_by_role("button", name=format, exact=True).click()
    path = Path(begun.value.path())
    return path.rename(path.with_name(begun.value.suggested_filename))


def pin_here(page: Page, board: str, *, is_new: bool = True) -> None:
    """Pin the answer, as the page shows it, to a board."""
    field = page.get_by_label("New board")
    choice = page.locator(".popover").get_by_role("button", name=board, exact=True)
    for _ in range(3):  # the focus that an answer takes late closes the menu
        page.get_by_role("button", name="Pin", exact=True).click()
        with contextlib.suppress(PlaywrightTimeoutError):
            (field if is_new else choice).wait_for(timeout=15_000)
            break
    if is_new:
        field.fill(board)
        field.press("Enter")
    else:
        choice.click()
    expect(page.get_by_text(f"Pinned to “{board}”.")).to_be_visible()


def open_editor(page: Page, question: str = "How big is Titan?") -> Locator:
    """Ask, open the query, and put the cursor behind its text."""
    ask_anew(page, question)
    page.locator("details.query > summary").click()
    editor = page.get_by_role("textbox", name="SPARQL query")
    editor.click()
    page.keyboard.press("Control+End")
    return editor


def write(page: Page, query: str) -> None:
    """Write a query in place of that in the editor."""
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    page.keyboard.insert_text(query)


def drop(page: Page, name: str, content: bytes) -> None:
    """Drop a file, or an address in place of a name, on the page."""
    page.locator("h1").evaluate(_DROP, [name, [*content]])


_DROP = """(element, [name, bytes]) => {
    const dataTransfer = new DataTransfer();
    if (name.includes(":")) dataTransfer.setData("text/uri-list", name);
    else dataTransfer.items.add(new File([Uint8Array.from(bytes)], name));
    for (const name of ["dragover", "drop"])
        element.dispatchEvent(new DragEvent(name, { dataTransfer, bubbles: true }));
}"""


SHOWN = """() => {
  const found = [];
  const graph = "noscript, .cm-editor, .facts a, svg[aria-hidden]";
  const own = node => !node.closest(`[lang=en]:not(html), ${graph}`);
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode())
    if (own(walk.currentNode.parentElement)) found.push(walk.currentNode.data);
  for (const name of ["aria-label", "title", "placeholder", "alt"])
    for (const node of document.querySelectorAll(`[${name}]`))
      if (own(node)) found.push(node.getAttribute(name));
  return [document.title, ...found].map(text => text.trim()).filter(Boolean);
}"""
"""All that the page says to readers and listeners, but for what is marked as English."""


def read_texts(language: str) -> Iterator[tuple[str, str]]:
    """Every text of the page in English, with itself in another language."""

    def words_of(text: Any) -> list[str]:
        """Itself, each of several, or the form for any number."""
        return (
            text if isinstance(text, list) else [text if isinstance(text, str) else text["other"]]
        )

    sources = WEB / "src"
    loaded: dict[str, Any] = {}
    if language != "de":
        loaded = json.loads((sources / "i18n" / f"{language}.json").read_text(encoding="utf-8"))
    for path in sources.glob("*/*.json"):
        if path.parent.name == "i18n":
            continue
        own = loaded.get(path.relative_to(sources).with_suffix("").as_posix(), {})
        for key, row in json.loads(path.read_text(encoding="utf-8")).items():
            yield from zip(words_of(row[0]), words_of(own[key] if loaded else row[1]), strict=True)


def english_left(page: Page, language: str) -> list[str]:
    """What the page says as the English texts have it, where its language says it otherwise."""
    pairs = [(english, own) for english, own in read_texts(language) if own != english]
    labels = re.findall(r'"([^"]+)"@en', sample.graph_path().read_text(encoding="utf-8"))
    kept = {*labels, *(own for _, own in pairs)}
    words = [re.escape(english) for english, _ in pairs if english not in kept]
    pattern = re.compile("|".join(re.sub(r"\\\{\w+\\\}", ".+", one) for one in words))
    return [text for text in page.evaluate(SHOWN) if pattern.fullmatch(text) and text not in kept]


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
    """Write a fontconfig file; return the environment of a browser with only this font."""
    family, name, package = FONTS[font]
    files = (file for place in _PLACES if place.is_dir() for file in place.rglob(name))
    file = next(files, None)
    if file is None:
        raise FileNotFoundError(f"the browser tests need {family!r}: apt-get install {package}")
    settings = folder / f"{font}.conf"
    text = _SETTINGS.format(folder=file.parent, cache=folder / f"{font}-cache", family=family)
    settings.write_text(text, encoding="utf-8")
    return {**os.environ, "FONTCONFIG_FILE": str(settings), "LC_ALL": "C.UTF-8"}
