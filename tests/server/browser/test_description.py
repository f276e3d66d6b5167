"""The description of the REST API, `/docs`: read by hand, by keyboard, in the dark, on a phone."""

from pathlib import Path

import pytest
from playwright.sync_api import expect
from tests.server.browser.watched import AXE, DARK, LIGHT, Watch, violations_in_both_themes

axe = pytest.mark.skipif(not Path(AXE).is_file(), reason="no axe-core: make page-check installs it")
ASK = "Ask a question of one graph or several."


def test_an_operation_unfolds_by_the_keyboard_and_has_what_it_takes(watch: Watch) -> None:
    page = watch.page("/docs")
    expect(page.get_by_role("heading", level=1)).to_have_text("The interfaces of this server")
    ask = page.locator("details", has_text=ASK)
    expect(ask.get_by_text("Body, as application/json")).to_be_hidden()

    ask.locator("summary").focus()
    page.keyboard.press("Enter")

    body = ask.locator("table").first
    expect(body.get_by_role("row", name="question")).to_contain_text("at most 4,000 characters")
    expect(body.get_by_role("row", name="question")).to_contain_text("needed")
    expect(ask.locator("pre")).to_contain_text(f"curl -s {watch.address}/api/v1/ask -H")
    assert watch.faults() == []


def test_the_page_leads_there_and_back(watch: Watch) -> None:
    page = watch.page("/")
    page.get_by_role("button", name="Keyboard shortcuts").click()
    page.get_by_role("link", name="The interfaces for programs").click()
    page.get_by_role("link", name="askgraph", exact=True).click()
    expect(page.locator("[data-question]")).to_be_visible()


def test_a_link_to_an_object_unfolds_it(watch: Watch) -> None:
    page = watch.page("/docs#post-api-v1-ask")
    ask = page.locator("details", has_text=ASK)

    ask.get_by_role("link", name="RunView").click()

    expect(page.locator("#schema-RunView table")).to_be_visible()
    expect(page.locator("#schema-RunView")).to_contain_text("A time in UTC (ISO 8601).")


def test_what_can_be_read_at_once_can_be_opened(watch: Watch) -> None:
    watch.allow("404")  # browsers look for an icon of what is no page
    page = watch.page("/docs#get-api-v1-graphs")

    page.get_by_role("link", name="Open /api/v1/graphs", exact=True).click()

    expect(page.locator("body")).to_contain_text('"name":"space"')


@axe
@pytest.mark.parametrize("width", [1200, 390])
def test_it_keeps_nobody_out(watch: Watch, width: int) -> None:
    page = watch.page("/docs#post-api-v1-ask", width=width)
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")

    assert violations_in_both_themes(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert watch.faults() == []


def test_it_is_dark_for_those_who_want_it(watch: Watch) -> None:
    light, dark = watch.page("/docs"), watch.page("/docs", dark=True)
    expect(light.locator("html")).to_have_css("background-color", LIGHT)
    expect(dark.locator("html")).to_have_css("background-color", DARK)
    dark.evaluate("localStorage.setItem('askgraph.theme', 'light')")
    dark.reload()
    expect(dark.locator("html")).to_have_css("background-color", LIGHT)
