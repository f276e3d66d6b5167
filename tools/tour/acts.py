"""What a person does and sees in a step of the tour: an act of `steps.toml` is a function here."""

import base64
import io
import re
import shutil
import zipfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect
from tests.server.browser import watched
from tests.server.browser.graphs import DEPOTS, TOWNS
from tests.server.browser.watched import TRANSFERRED, Watch
from tests.servers.served import ServedThread
from tools.tour.walk import START, Walk

from askgraph.workspace import Workspace

BUILD_MILLISECONDS = 60_000
BACKGROUND = "shown => getComputedStyle(shown).backgroundColor"
PANELS = (("/graphs", "/graphs/space"), ("/graphs", "/history"), ("/history", "/boards"),
          ("/boards", "/graphs"))  # fmt: skip
"""Pages that lose the server, each with the link that is pressed then."""


SIMPLE: Mapping[str, Callable[..., object]] = {
    "visit": lambda walk, path: walk.page.goto(walk.watch.address + path),
    "follow": lambda walk, question: watched.ask(walk.page, question),
    "back": lambda walk: walk.page.go_back(),
    "forward": lambda walk: walk.page.go_forward(),
    "press": lambda walk, selector: walk.page.locator(selector).first.click(),
    "fill": lambda walk, selector, text: walk.page.locator(selector).first.fill(text),
    "choose": lambda walk, name, text: walk.page.get_by_label(name).first.select_option(text),
    "enter": lambda walk, text: walk.page.keyboard.type(text),
    "key": lambda walk, name: walk.page.keyboard.press(name),
    "share": lambda walk: watched.share(walk.page),
    "open_frame": lambda walk: walk.page.goto(walk.page.url.replace("/run/", "/embed/")),
    "pin": lambda walk, board, is_new=False: watched.pin_here(walk.page, board, is_new=is_new),
}
"""Acts that are one call."""


def run_act(walk: Walk, name: str, *arguments: Any) -> None:
    """Run an act of a step, its texts in the language of the variant."""
    translated = (walk.translate(arg) if isinstance(arg, str) else arg for arg in arguments)
    (SIMPLE.get(name) or globals()[name])(walk, *translated)


def measure_first_view(walk: Walk, most_requests: int, most_kilobytes: int) -> None:
    """Count what the first page of a person without a cache loads."""
    walk.page.wait_for_load_state("networkidle")
    requests, kilobytes = walk.page.evaluate(TRANSFERRED)
    assert requests <= most_requests, f"{requests} requests"
    assert kilobytes <= most_kilobytes, f"{kilobytes} kB"


def ask(walk: Walk, question: str, graph: str = "space") -> None:
    """Ask a question of the table, or in these words, without one before it; open its result."""
    words = walk.questions.get(question, {}).get(walk.variant.language, question)
    if graph != "space" or walk.page.url != walk.watch.address + START:
        walk.page.goto(f"{walk.watch.address}/?graph={graph}")
    watched.ask(walk.page, words)
    fold = walk.page.locator(".result-fold:not([open]) > summary")
    if fold.count() and walk.page.locator(".read-back").count():
        fold.first.click()
        watched.settle(walk.page)


def see(walk: Walk, selector: str, fact: str | int | None = None) -> None:
    """Expect that the first is visible and has a text, by a pattern; or how many there are."""
    if not isinstance(fact, int):
        expect(walk.page.locator(selector).first).to_be_visible()
    has(walk, selector, fact)


def has(walk: Walk, selector: str, fact: str | int | None = None) -> None:
    """Expect the same of what need not be visible, such as the texts of a drawing."""
    found = walk.page.locator(selector)
    if isinstance(fact, int):
        expect(found).to_have_count(fact)
    elif fact is None:
        expect(found.first).to_be_attached()
    else:
        expect(found.first).to_contain_text(re.compile(fact, re.S))


def light(walk: Walk, selector: str, other: str) -> None:
    """Point at one, and expect that another one gets its colour."""
    mark, part = walk.page.locator(selector).first, walk.page.locator(other).first
    quiet = part.evaluate(BACKGROUND)
    mark.hover()
    assert quiet != part.evaluate(BACKGROUND) == mark.evaluate(BACKGROUND), "it does not light up"


def open_plus(walk: Walk, *choices: str) -> None:
    """Open what can be added to the reading, and choose there."""
    plus = walk.translate("{Add a column, a condition, an order, a group or a limit}")
    walk.page.get_by_role("button", name=plus).click()
    for choice in choices:
        walk.page.locator(".alternative", has_text=choice).first.click()


def find_preview(walk: Walk, question: str, answer: str) -> None:
    """Expect the question and its answer in the tags that other sites read."""
    head = walk.page.request.get(walk.page.url).text().partition("</head>")[0]
    assert f'property="og:title" content="{question}"' in head, "the link has no title"
    assert answer in head, "the preview has no answer"


def download(walk: Walk, kind: str, pattern: str, button: str = "Download") -> None:
    """Save the result or a drawing, and expect a pattern in the file."""
    walk.content = watched.download(walk.page, kind, button).read_bytes()
    assert re.search(pattern.encode(), walk.content, re.S), f"{kind} lacks {pattern!r}"


def show_download(walk: Walk) -> None:
    """Show the picture that was saved."""
    url = f"data:image/png;base64,{base64.b64encode(walk.content).decode()}"
    walk.page.goto("about:blank")
    walk.page.set_content(
        f"<html lang=en><title>PNG</title><main><h1>PNG</h1><img alt=PNG width=100% src={url}>"
    )


def copy_code(walk: Walk, name: str, text: str) -> None:
    """Copy the query in a language, and expect a text in it."""
    for button in ("Code", name):
        walk.page.get_by_role("button", name=button, exact=True).click()
    reads = "async text => (await navigator.clipboard.readText()).includes(text)"
    walk.page.wait_for_function(reads, arg=text)


def drop(walk: Walk, name: str) -> None:
    """Drop a file, by its ending, or the address of a graph of the server."""
    content = TOWNS if name.endswith("ttl") else DEPOTS
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("Shops.csv", DEPOTS)
    is_packed, prefix = name.endswith("zip"), walk.watch.address if name[0] == "/" else ""
    watched.drop(walk.page, prefix + name, packed.getvalue() if is_packed else content.encode())


def await_graph(walk: Walk, name: str, answer: str) -> None:
    """Wait until a graph is ready and its board has an answer; remove it in the end."""
    ready = walk.page.get_by_role("heading", name=f"{name} is ready.")
    expect(ready).to_be_visible(timeout=BUILD_MILLISECONDS)
    expect(walk.page.get_by_role("region", name="At a glance")).to_contain_text(answer)
    path = f"{walk.watch.address}/api/v1/graphs/{name}"
    walk.cleanup.callback(walk.page.request.delete, path)


def write(walk: Walk, query: str) -> None:
    """Open the editor, and write a query in place of the answer's."""
    walk.page.locator("details.query > summary").click()
    walk.page.get_by_role("textbox", name="SPARQL query").click()
    watched.write(walk.page, query)


def hold(walk: Walk, url: str) -> None:
    """Keep requests waiting until the page is closed."""
    walk.page.route(url, lambda route: None)


def open_server(walk: Walk, folder: Path, stack: ExitStack) -> Page:
    """Start another server, and open its first page."""
    server = stack.enter_context(ServedThread(Workspace(folder), grace=0))
    walk.watch = Watch(walk.watch.browser, server.url, walk.watch.wrong)
    walk.cleanup.callback(walk.watch.close)
    return walk.watch.page(locale=walk.variant.language, **walk.variant.look)


def lose_server(walk: Walk) -> None:
    """Stop a server that has pages open, and expect that each says so."""
    folder = Path(f"{walk.folder}-lost")
    if not folder.exists():
        shutil.copytree(walk.folder, folder, ignore=shutil.ignore_patterns("serve.db*"))
    with ExitStack() as stack:
        walk.page = open_server(walk, folder, stack)
        walk.pages = [walk.watch.another(walk.page.context, path) for path, _ in PANELS]
        for page in walk.pages:
            page.get_by_role("heading", level=1).wait_for()
            page.wait_for_load_state("networkidle")
    walk.page.locator("button.starter").first.click()
    for page, (_, link) in zip(walk.pages, PANELS, strict=True):
        page.locator(f"a[href='{link}']").first.click()
    for page in (walk.page, *walk.pages):
        expect(page.get_by_role("alert").first).to_be_visible()


def restart_server(walk: Walk) -> None:
    """Start the server again, and expect that every page notices it by itself."""
    port, place = walk.watch.address.rpartition(":")[2], Workspace(Path(f"{walk.folder}-lost"))
    walk.cleanup.enter_context(ServedThread(place, port=int(port), grace=0))
    for page in (walk.page, *walk.pages):
        expect(page.get_by_role("alert")).to_have_count(0)
    expect(walk.pages[0].locator(".term-list a").first).to_be_visible()


def open_empty_server(walk: Walk) -> None:
    """Open the first page of a server without graphs: the board of the sample."""
    folder = Path(f"{walk.folder}-empty")
    folder.mkdir()
    walk.page = open_server(walk, folder, walk.cleanup)
