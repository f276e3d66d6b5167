"""Rows arranged by chips, each of which changes the query and makes a run."""

from playwright.sync_api import Page, expect
from tests.server.browser.watched import Watch, ask, settle, violations

ROCKETS = "Show me all rockets with their heights."


def pick(page: Page, chip: str, choice: str) -> None:
    """Open a chip and press one of its choices."""
    page.get_by_role("group", name="Arrange the rows").get_by_role("button", name=chip).click()
    page.get_by_role("button", name=choice).click()


def test_rows_are_sorted_cut_off_and_filtered_and_each_is_taken_back(watch: Watch) -> None:
    page = watch.page()
    ask(page, ROCKETS)
    settle(page)
    pick(page, "Sort", "height ↓")
    chips = page.locator(".chip.arranged")
    expect(chips).to_have_text(["height ↓"])
    pick(page, "Only the first", "the first 3")
    expect(chips).to_have_text(["height ↓", "the first 3"])
    expect(page.locator(".marks .bar")).to_have_count(3)
    expect(page.locator(".bar-name")).to_have_text(["Starship", "Saturn V", "N1"])

    page.reload()
    expect(chips).to_have_text(["height ↓", "the first 3"])
    page.get_by_role("button", name="the first 3").click()
    expect(chips).to_have_text(["height ↓"])

    page.get_by_role("button", name="Filter", exact=True).click()
    page.get_by_role("textbox", name="Value").fill("100")
    page.get_by_role("button", name="Apply").click()
    expect(chips).to_have_text(["height ↓", "height > 100"])
    expect(page.locator(".marks .bar")).to_have_count(3)
    page.go_back()
    expect(chips).to_have_text(["height ↓"])
    assert violations(page) == []


def test_columns_are_left_out_and_rows_counted(page: Page) -> None:
    ask(page, "Show all missions with their launch date and mass")
    settle(page)
    page.get_by_role("button", name="Columns").click()
    page.get_by_role("checkbox", name="mass").uncheck()
    page.get_by_role("button", name="Apply").click()
    heads = page.get_by_role("columnheader")
    expect(heads.filter(has_text="mass")).to_have_count(0)

    ask(page, "Show all astronauts with their nationality")
    settle(page)
    last = page.locator("article.turn").last
    last.get_by_role("button", name="Count by").click()
    last.get_by_role("button", name="for each nationality").click()
    expect(last.locator(".marks .bar").first).to_be_visible()
