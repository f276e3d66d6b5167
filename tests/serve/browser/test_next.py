"""Questions below an answer to go on with."""

import re

import pytest
from playwright.sync_api import expect
from tests.serve.browser.watched import Watch, ask


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844)])
def test_questions_below_an_answer_go_on_from_it(watch: Watch, width: int, height: int) -> None:
    page = watch.page(width=width, height=height)
    ask(page, "Which moons does Neptune have?")
    following = page.get_by_role("region", name="Ask next").get_by_role("button")
    expect(following).to_have_count(3)
    assert page.evaluate("document.documentElement.scrollWidth") <= width

    following.filter(has_text="And Mars?").click()

    expect(page.locator(".turn")).to_have_count(2)
    expect(page.locator(".turn").last.locator(".headline")).to_contain_text(
        re.compile("Deimos.*Phobos")
    )
    expect(page.get_by_role("region", name="Ask next")).to_have_count(1)
