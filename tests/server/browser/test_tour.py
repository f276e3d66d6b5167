"""The tour of the page: a few of its steps are fine, and one that is not says why."""

import re

import pytest
from playwright.sync_api import Browser, expect
from tests.server.browser.watched import PATIENCE
from tools.tour import book, toured
from tools.tour_steps import STEPS, Step, asks, sees

SHORT = ("sentence", "talk", "part-changed", "refusal", "phone-table")


def test_the_short_tour_has_a_picture_of_each_step_and_no_fault(
    browser: Browser, served: str
) -> None:
    steps = [step for step in STEPS if step.name in SHORT]
    seen = list(toured(browser, served, steps))
    assert {one.step.name: one.faults for one in seen} == {name: [] for name in SHORT}

    page = browser.new_page()
    page.set_content(book(seen))
    shown = page.locator("figure:visible")
    expect(shown).to_have_count(1)
    expect(shown.locator("figcaption")).to_have_text(seen[0].step.says)
    page.keyboard.press("ArrowRight")
    expect(shown.locator("figcaption")).to_have_text(seen[1].step.says)
    assert shown.locator("img").evaluate("image => image.naturalWidth") == 1280
    page.close()


@pytest.mark.parametrize(
    ("does", "wrong"),
    [
        ([asks("How big is Io?"), sees(".no-such-thing")], r"no-such-thing"),
        ([lambda page: page.evaluate("console.error('broken')")], r"^error: broken$"),
        ([lambda page: page.evaluate("fetch('/api/v1/none')")], r"status of 404"),
        ([lambda page: page.evaluate(ABORTED)], r"graphs failed: net::ERR_ABORTED"),
        ([lambda page: page.evaluate("document.body.append(new Image())")], r"^image-alt:"),
        ([lambda page: page.evaluate(STYLED)], r"Content Security Policy"),
    ],
)
def test_a_step_with_a_fault_says_which(
    browser: Browser, served: str, does: list[object], wrong: str
) -> None:
    expect.set_options(timeout=500)
    try:
        [seen] = toured(browser, served, [Step("wrong", "Wrong.", does)])  # type: ignore[arg-type]
    finally:
        expect.set_options(timeout=PATIENCE)
    assert any(re.search(wrong, fault) for fault in seen.faults), seen.faults
    assert seen.picture.startswith(b"\x89PNG")
    assert 'class="bad"' in book([seen])


ABORTED = """{
  const leaving = new AbortController();
  fetch("/api/v1/graphs", {signal: leaving.signal}).catch(() => 0);
  leaving.abort();
}"""
STYLED = "document.body.insertAdjacentHTML('beforeend', '<p style=\"color: red\">styled</p>')"


def test_the_names_of_steps_are_their_own() -> None:
    names = [step.name for step in STEPS]
    assert len(names) == len(set(names)) >= 40
