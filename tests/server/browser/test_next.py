"""Questions below an answer to go on with."""

import re

import pytest
from playwright.sync_api import Page, expect
from tests.server.browser.watched import DARK, LIGHT, Watch, ask, settle, violations

GROUND = {False: LIGHT, True: DARK}
SIZES = [(1280, 800, False), (1280, 800, True), (390, 844, False), (390, 844, True)]


@pytest.mark.parametrize(("width", "height", "dark"), SIZES)
def test_questions_below_an_answer_go_on_from_it(
    watch: Watch, width: int, height: int, dark: bool
) -> None:
    page = watch.page(width=width, height=height, dark=dark)
    ask(page, "Which moons does Neptune have?")
    following = page.get_by_role("region", name="Ask next").get_by_role("button")
    expect(following).to_have_count(3)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for button in following.all():
        expect(button).to_have_css("background-color", GROUND[dark])
        expect(button).to_have_css("color", GROUND[not dark])
    settle(page)
    assert violations(page) == []

    following.filter(has_text="And Mars?").click()

    expect(page.locator(".turn")).to_have_count(2)
    expect(page.locator(".turn").last.locator(".headline")).to_contain_text(
        re.compile("Deimos.*Phobos")
    )
    expect(page.get_by_role("region", name="Ask next")).to_have_count(1)


@pytest.mark.parametrize(("width", "height", "dark"), SIZES)
def test_a_word_that_is_not_known_is_replaced_by_a_click(
    watch: Watch, width: int, height: int, dark: bool
) -> None:
    page = watch.page(width=width, height=height, dark=dark)
    ask(page, "What is the population of Mars?")
    offered = page.get_by_role("region", name="Instead of “population”")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    settle(page)
    assert violations(page) == []

    offered.get_by_role("button", name="diameter", exact=True).click()

    last = page.locator(".turn").last
    expect(last.locator(".turn-question")).to_have_text("What is the diameter of Mars?")
    expect(last.locator(".headline")).to_contain_text("6,792 km")


def test_a_change_with_nothing_before_it_says_so(page: Page) -> None:
    ask(page, "only the first two")
    expect(page.locator(".answer")).to_contain_text("There is no result before this")
    expect(page.locator(".answer table")).to_have_count(0)


def test_what_completes_says_of_which_class_it_is(page: Page) -> None:
    page.locator("[data-question]").press_sequentially("Who discovered Ganym")
    expect(page.get_by_role("option").first).to_contain_text("moon")
