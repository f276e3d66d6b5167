"""One person's way through the page: what a step gets, and how its outcome is judged."""

import re
import time
import tomllib
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import BrowserContext, Page
from playwright.sync_api import Error as BrowserError
from tests.server.browser.watched import (
    Watch,
    english_left,
    read_texts,
    settle,
    violations,
)

__all__ = ["START", "VARIANTS", "Outcome", "Step", "Variant", "Walk"]

START = "/?graph=space"
STAY = """() => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(".follow-up, .bar { position: static !important }");
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  return [innerWidth, document.documentElement.scrollHeight];
}"""
"""Takes parts that float to their places, where they cover nothing; returns the page's size."""

MAX_PICTURE_PIXELS = 2600
FITS = "document.documentElement.scrollWidth <= innerWidth"
LEFT = "net::ERR_ABORTED"
"""A request fails like this if its page is left before the response."""


@dataclass(frozen=True)
class Variant:
    """A screen, a theme and a language."""

    language: str = "en"
    look: Mapping[str, Any] = field(default_factory=dict)
    is_short: bool = False  # only the steps for every variant


VARIANTS: Mapping[str, Variant] = {
    "desk": Variant(),
    "phone": Variant(look={"width": 390, "height": 844, "has_touch": True}),
    "dark": Variant(look={"dark": True}),
    **{language: Variant(language, is_short=True) for language in ("en", "de", "es", "fr")},
}


@dataclass
class Walk:
    """The browser of one person, at the start of a step."""

    variant: Variant
    watch: Watch
    context: BrowserContext
    page: Page  # that the picture shows at the end; a step may put another one in its place
    questions: Mapping[str, Mapping[str, str]]
    folder: Path  # the workspace of the server
    pages: Sequence[Page] = ()  # further pages of the step
    content: bytes = b""  # of the last file that was saved
    cleanup: ExitStack = field(default_factory=ExitStack)  # runs after the picture

    def translate(self, text: str) -> str:
        """Return a text with the page's texts in braces in the language of the variant."""
        language = self.variant.language
        texts = {} if language == "en" else dict(read_texts(language))
        return re.sub(r"\{([A-Z][^}]*)\}", lambda match: texts.get(match[1], match[1]), text)


@dataclass(frozen=True)
class Step:
    """Something that a person does, with a visible fact at its end."""

    name: str
    acts: Sequence[Sequence[Any]]  # each a name in `acts` with its arguments
    is_everywhere: bool  # also in the short variants
    expected: Sequence[str]  # what the console may say
    settles: bool  # whether all parts of the page have to be there at the end

    @classmethod
    def read_all(cls, path: Path) -> tuple[list["Step"], Mapping[str, Mapping[str, str]]]:
        """Read the steps, and the questions with their texts in each language."""
        table = tomllib.loads(path.read_text("utf-8"))
        questions = table.pop("questions", {})
        steps = [
            cls(name, step["do"], step.get("everywhere", False), step.get("expected", ()),
                step.get("settles", True))
            for name, step in table.items()
        ]  # fmt: skip
        return steps, questions


@dataclass(frozen=True)
class Outcome:
    """How a step ended in a variant: everything that is wrong with it, by kind."""

    variant: str
    step: str
    seconds: float
    picture: str
    check: Sequence[str]  # the step's fact, the width of the page, English words
    console: Sequence[str]  # messages, failed requests, requests to other hosts
    axe: Sequence[str]

    @property
    def has_passed(self) -> bool:
        """Whether nothing is wrong."""
        return not (self.check or self.console or self.axe)

    @classmethod
    def measure(
        cls, walk: Walk, step: Step, variant: str, picture: Path, run_act: Callable[..., None]
    ) -> "Outcome":
        """Walk a step, take its picture, and look for all that is wrong."""
        began, wrong = time.monotonic(), list[str]()
        try:
            for act in step.acts:
                run_act(walk, *act)
            if step.settles:
                settle(walk.page)
        except (AssertionError, BrowserError) as error:
            wrong.append(re.sub(r"\x1b\[\d+m", "", str(error)).strip()[:600] or repr(error))
        if not walk.page.evaluate(FITS):
            wrong.append("the page is wider than the window")
        if walk.variant.language != "en":
            wrong += (f"English: {text}" for text in english_left(walk.page, walk.variant.language))
        axe = violations(walk.page)
        width, height = walk.page.evaluate(STAY)
        size = {"width": width, "height": min(height, MAX_PICTURE_PIXELS)}
        walk.page.screenshot(path=picture, full_page=True, clip={"x": 0, "y": 0, **size})  # type: ignore[arg-type]
        walk.cleanup.close()
        heard = [*walk.watch.faults(), *(text for text in walk.watch.failed if LEFT not in text)]
        console = [text for text in heard if not any(word in text for word in step.expected)]
        for texts in (walk.watch.wrong, walk.watch.foreign, walk.watch.failed):
            texts.clear()
        seconds = round(time.monotonic() - began, 1)
        return cls(variant, step.name, seconds, picture.name, wrong, console, axe)
