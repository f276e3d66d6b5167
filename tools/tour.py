#!/usr/bin/env python
"""A tour of the page in Chromium: a screenshot of each step, all in one file to page through.

    python -m tools.tour [--out build/tour.html] [--size 1280x800] [--dark] [--only NAME ...]

The server runs as `askgraph serve --sample` does; needs `make page`. A step fails on what it does
not find, on whatever the console reports, the content policy too, on a request that failed, was
aborted or left the server, and on what axe-core finds. Then the exit code is 1, and the tour ends
there unless it is to keep going. The steps stand in `tools/tour_steps.py`.
"""

import argparse
import base64
import html
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from string import Template

from playwright.sync_api import Browser, Error, Page, expect, sync_playwright
from tests.server.browser.watched import ARGUMENTS, CHROMIUM, Watch, settle, violations
from tests.servers.served import ServedProcess
from tools.tour_steps import STEPS, Step

__all__ = ["PHONE", "Seen", "book", "toured"]

ROOT = Path(__file__).parents[1]
PHONE = (390, 844)
_DESK = (1280, 800)
_PATIENCE = 20_000  # milliseconds until something that does not show counts as missing
_TALLEST = 2400  # pixels of a page that are in its picture
_STILL = "document.querySelectorAll('.follow-up').forEach(one => (one.style.position = 'static'))"


@dataclass(frozen=True)
class Seen:
    """A step that was taken: its picture as PNG, and what was wrong."""

    step: Step
    picture: bytes
    faults: Sequence[str]


def toured(
    browser: Browser,
    address: str,
    steps: Sequence[Step],
    *,
    size: tuple[int, int] = _DESK,
    dark: bool = False,
) -> Iterator[Seen]:
    """Take steps one by one, each in a browser that has not been there before."""
    for step in steps:
        watch = Watch(browser, address, allowed=list(step.allows))
        width, height = PHONE if step.phone else size
        look = {"width": width, "height": height, "dark": dark or step.dark}
        try:
            page = watch.page(step.path, locale=step.locale, **look)  # type: ignore[arg-type]
            page.set_default_timeout(_PATIENCE)
            found = list(_taken(page, step))
            picture = _picture(page)
            yield Seen(step, picture, [*found, *watch.faults(), *watch.failed])
        finally:
            watch.close()


def book(seen: Sequence[Seen]) -> str:
    """Return the pictures with their captions as one HTML page."""
    template = Template((ROOT / "tools" / "tour.html").read_text(encoding="utf-8"))
    return template.substitute(
        count=len(seen), steps="".join(map(_figure, seen)), links="".join(map(_link, seen))
    )


def _taken(page: Page, step: Step) -> Iterator[str]:
    """Do what a step does, and give what was missing or keeps people out."""
    try:
        for act in step.does:
            act(page)
        settle(page)
        page.wait_for_load_state("networkidle")
        yield from violations(page)
    except (AssertionError, Error) as error:
        yield str(error).partition("\n\n")[0]


def _picture(page: Page) -> bytes:
    """The page from its top to its end, or as far as a picture goes."""
    size = page.viewport_size or {"width": _DESK[0], "height": _DESK[1]}
    tall = page.evaluate("document.documentElement.scrollHeight")
    page.evaluate(_STILL)  # in a picture of the whole page, the window's end is no place
    page.evaluate("window.scrollTo(0, 0)")
    clip = {"x": 0, "y": 0, "width": size["width"], "height": min(tall, _TALLEST)}
    return page.screenshot(full_page=True, clip=clip)  # type: ignore[arg-type]


def _figure(seen: Seen) -> str:
    step = seen.step
    data = base64.b64encode(seen.picture).decode()
    faults = "".join(f"<li>{html.escape(fault)}</li>" for fault in seen.faults)
    return (
        f'<figure id="{step.name}"><figcaption>{html.escape(step.says)}'
        f"{f'<ul>{faults}</ul>' if faults else ''}</figcaption>"
        f'<img alt="{html.escape(step.says)}" src="data:image/png;base64,{data}"></figure>\n'
    )


def _link(seen: Seen) -> str:
    look = ' class="bad"' if seen.faults else ""
    return f'<li><a href="#{seen.step.name}"{look}>{seen.step.name}</a></li>\n'


@contextmanager
def _opened() -> Iterator[tuple[Browser, str]]:
    """Run a server on the sample graph and a browser without a window."""
    with (
        tempfile.TemporaryDirectory() as folder,
        ServedProcess.start(Path(folder), "--sample") as served,
        sync_playwright() as started,
    ):
        browser = started.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser, served.url
        browser.close()


def _size(text: str) -> tuple[int, int]:
    width, _, height = text.partition("x")
    return int(width), int(height)


def main() -> int:
    """Take the tour and write it; 1 if a step failed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "tour.html")
    parser.add_argument("--size", type=_size, default=_DESK, metavar="WIDTHxHEIGHT")
    parser.add_argument("--dark", action="store_true", help="all steps in the dark")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these steps alone")
    parser.add_argument("--keep-going", action="store_true", help="after a step that failed, too")
    chosen = parser.parse_args()
    names = {step.name for step in STEPS}
    if unknown := set(chosen.only or ()) - names:
        parser.error(f"no step {sorted(unknown)}; there are {', '.join(sorted(names))}")
    steps = [step for step in STEPS if step.name in (chosen.only or names)]
    expect.set_options(timeout=_PATIENCE)
    seen: list[Seen] = []
    with _opened() as (browser, address):
        for one in toured(browser, address, steps, size=chosen.size, dark=chosen.dark):
            seen.append(one)
            print(f"{len(seen):>3} {one.step.name}: {'; '.join(one.faults) or 'fine'}", flush=True)
            if one.faults and not chosen.keep_going:
                break
    chosen.out.parent.mkdir(parents=True, exist_ok=True)
    chosen.out.write_text(book(seen), encoding="utf-8")
    failed = [one.step.name for one in seen if one.faults]
    print(f"{len(seen)} of {len(steps)} steps, {len(failed)} failed, in {chosen.out}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
