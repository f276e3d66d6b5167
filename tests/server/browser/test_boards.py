"""Boards: answers are pinned, run again, compared, arranged, shared to be read, and exported."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect
from tests.server.browser.conftest import watching
from tests.server.browser.watched import (
    AXE,
    Watch,
    ask,
    settle,
    violations,
    violations_in_both_themes,
)
from tests.servers.harbours import BEFORE, NOW, QUESTION, put_harbours
from tests.servers.served import ServedThread

from askgraph.workspace import Workspace

COUNT = "How many harbours are there?"
SCRIPT = "<script>document.title='taken'</script>"
IMAGE = "<img src=x onerror=\"document.title='taken'\">"
PHONE = {"width": 390, "height": 844}
DESK = {"width": 1200, "height": 850}


@pytest.fixture
def place(tmp_path: Path) -> Workspace:
    workspace = Workspace(tmp_path)
    put_harbours(workspace, BEFORE)
    return workspace


@pytest.fixture
def watch(browser: Browser, place: Workspace) -> Iterator[Watch]:
    with ServedThread(place, database=str(place.folder / "serve.db")) as server:
        yield from watching(browser, server.url)


def pin(page: Page, question: str, board: str, *, is_new: bool = False) -> None:
    """Ask a question and pin its answer, as the page shows it, to a board."""
    ask(page, question)
    settle(page)
    page.get_by_role("button", name="Pin", exact=True).click()
    if is_new:
        page.get_by_label("New board").fill(board)
        page.get_by_label("New board").press("Enter")
    else:
        page.get_by_role("button", name=board, exact=True).click()
    expect(page.get_by_text(f"Pinned to “{board}”.")).to_be_visible()


def opened(page: Page) -> None:
    """Wait until a board is brought up to date."""
    expect(page.locator(".board")).to_have_attribute("aria-busy", "false")
    settle(page)


def board_of(watch: Watch, *questions: str, **look: object) -> Page:
    """A page at a new board with a pin for each question."""
    page = watch.page(**look)  # type: ignore[arg-type]
    for number, question in enumerate(questions):
        page.goto(watch.address)
        pin(page, question, "Harbours", is_new=number == 0)
    page.get_by_role("link", name="Open the board").click()
    opened(page)
    return page


def let_others_read(page: Page) -> None:
    """Tick that others may read it, and wait until the server knows."""
    page.get_by_label("Others may open it").check()
    expect(page.get_by_text("Whoever may ask these graphs can open it.")).to_be_visible()


def card(page: Page, title: str) -> Locator:
    return page.locator(".pin-card").filter(has=page.get_by_role("heading", name=title))


def titles(page: Page) -> list[str]:
    return page.locator(".pin-card h2").all_inner_texts()


@pytest.mark.parametrize("look", [DESK, PHONE], ids=["desk", "phone"])
def test_a_board_says_what_changed_since_it_was_seen(
    watch: Watch, place: Workspace, look: dict[str, int]
) -> None:
    page = board_of(watch, QUESTION, COUNT, **look)
    expect(page.get_by_role("heading", level=1)).to_have_text("Harbours")
    assert re.search(r"/boards/[\w-]+$", page.url)
    assert titles(page) == [QUESTION, COUNT]
    expect(page.get_by_text("Nothing changed.")).to_be_visible()

    put_harbours(place, {**NOW, "Elm": 3})
    page.reload()
    opened(page)
    berths, count = card(page, QUESTION), card(page, COUNT)
    expect(page.get_by_text("2 answers changed.")).to_be_visible()
    expect(berths.locator(".pin-changes")).to_contain_text("2 new rows1 row gone1 row changed")
    expect(count.locator(".pin-changes")).to_contain_text("It was: 3")
    expect(count.locator(".headline")).to_contain_text("4")
    berths.get_by_role("tab", name="Table").click()
    expect(berths.get_by_role("row", name=re.compile("^Brix"))).to_contain_text("9was 7")
    expect(berths.get_by_role("row", name=re.compile("^Dory"))).to_contain_text("new")
    berths.get_by_text("What changed", exact=True).click()
    expect(berths.locator(".pin-changes li")).to_have_text(
        ["changed Brix · 9 was 7", "new Dory · 1", "new Elm · 3", "gone Cove · 2"]
    )
    expect(page.locator("html")).to_have_js_property("scrollWidth", look["width"])

    page.get_by_role("button", name="Mark as seen").click()
    expect(page.locator(".pin-changes")).to_have_count(0)
    page.reload()
    opened(page)
    expect(page.get_by_text("Nothing changed.")).to_be_visible()
    expect(card(page, QUESTION).get_by_role("tab", name="Table", selected=True)).to_be_visible()


def test_the_view_that_is_shown_is_pinned_and_kept(watch: Watch) -> None:
    page = watch.page()
    ask(page, QUESTION)
    expect(page.get_by_role("tab", name="Chart", selected=True)).to_be_visible()
    page.get_by_role("tab", name="Table").click()
    pin_here(page, "Mine")
    page.get_by_role("link", name="Open the board").click()
    opened(page)
    expect(page.get_by_role("tab", name="Table", selected=True)).to_be_visible()
    page.get_by_role("tab", name="Chart").click()
    page.locator(".marks svg").wait_for()
    page.reload()
    opened(page)
    expect(page.get_by_role("tab", name="Chart", selected=True)).to_be_visible()


def pin_here(page: Page, board: str) -> None:
    page.get_by_role("button", name="Pin", exact=True).click()
    page.get_by_label("New board").fill(board)
    page.get_by_role("button", name="Pin", exact=True).last.click()
    expect(page.get_by_text(f"Pinned to “{board}”.")).to_be_visible()


def test_pins_are_arranged_by_keys_renamed_and_removed(watch: Watch) -> None:
    page = board_of(watch, QUESTION, COUNT, "Which harbours are there?")
    first = page.get_by_role("button", name=f"Move “{QUESTION}” back")
    first.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".pin-card h2").nth(1)).to_have_text(QUESTION)
    expect(first).to_be_focused()
    expect(page.get_by_text("Place 2 of 3")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.locator(".pin-card h2").nth(2)).to_have_text(QUESTION)
    expect(page.get_by_role("button", name=f"Move “{QUESTION}” forward")).to_be_focused()

    page.get_by_role("button", name=f"Rename “{QUESTION}”").click()
    page.get_by_label("Heading").fill("Berths")
    page.keyboard.press("Enter")
    page.get_by_role("button", name=f"Remove “{COUNT}” from the board").click()
    expect(page.locator(".pin-card")).to_have_count(2)
    page.get_by_role("button", name="Rename", exact=True).click()
    page.get_by_label("Name of the board").fill("All harbours")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("All harbours")
    page.reload()
    opened(page)
    assert titles(page) == ["Which harbours are there?", "Berths"]
    expect(page.get_by_role("heading", level=1)).to_have_text("All harbours")

    page.get_by_role("link", name="Berths").click()
    expect(page.locator(".turn-question")).to_have_text(QUESTION)
    page.go_back()
    opened(page)
    page.get_by_role("button", name="Delete the board").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete the board").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Boards")
    expect(page.get_by_text("There is no board yet.")).to_be_visible()


def test_an_empty_board_says_what_to_do(watch: Watch) -> None:
    page = watch.page("/boards")
    expect(page.get_by_text("There is no board yet.")).to_be_visible()
    page.get_by_label("New board").fill("Empty")
    page.get_by_role("button", name="Make it").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Empty")
    expect(page.get_by_text("Nothing is pinned here yet.")).to_be_visible()
    page.get_by_role("main").get_by_role("link", name="Ask a question").click()
    expect(page.locator("[data-question]")).to_be_visible()


def test_a_shared_board_is_read_by_others_who_cannot_change_it(watch: Watch) -> None:
    page = board_of(watch, QUESTION)
    watch.allow("status of 404")
    other = watch.page(page.url.removeprefix(watch.address))
    expect(other.get_by_role("alert")).to_contain_text("or it is not yours")
    page.get_by_role("button", name="Share").click()
    expect(page.get_by_label("A link to this board")).to_have_value(page.url)
    let_others_read(page)
    other.reload()
    opened(other)
    expect(other.get_by_text("Shared with you, to read")).to_be_visible()
    expect(other.locator(".headline")).to_contain_text("Brix")
    changing = re.compile("Share|Rename|Delete|Remove|Move|seen")
    expect(other.get_by_role("main").get_by_role("button", name=changing)).to_have_count(0)
    other.get_by_role("link", name=QUESTION).click()
    expect(other.locator("[data-question]")).to_have_value(QUESTION)


def test_an_answer_of_another_is_pinned_to_a_board_of_ones_own(watch: Watch) -> None:
    page = watch.page()
    ask(page, QUESTION)
    page.get_by_role("button", name="Share").click()
    let_others_read(page)
    other = watch.page(page.url.removeprefix(watch.address))
    expect(other.locator(".headline")).to_be_visible()
    pin_here(other, "From Ann")
    other.get_by_role("link", name="Open the board").click()
    opened(other)
    expect(card(other, QUESTION).locator(".headline")).to_contain_text("Brix")


def test_an_answer_that_fails_stays_as_it_was_beside_the_others(
    watch: Watch, place: Workspace
) -> None:
    place.add("other", [place.folder / "harbours.ttl"])
    page = watch.page("/?graph=other")
    ask(page, "Which harbours are there?")
    pin_here(page, "Harbours")
    page.goto(f"{watch.address}/?graph=harbours")
    pin(page, QUESTION, "Harbours")
    page.get_by_role("link", name="Open the board").click()
    opened(page)
    place.remove("other")
    put_harbours(place, NOW)
    page.get_by_role("button", name="Bring up to date").click()
    expect(
        page.get_by_text("1 answer changed. · 1 answer could not be brought up to date.")
    ).to_be_visible()
    lost = card(page, "Which harbours are there?")
    expect(lost.get_by_role("alert")).to_contain_text("there is no graph 'other'")
    expect(lost.locator(".headline")).to_contain_text("Cove")
    expect(card(page, QUESTION).locator(".headline")).to_contain_text("Dory")


def test_places_are_pinned_as_a_map_and_exported_as_one(many: Watch, tmp_path: Path) -> None:
    page = many.page("/?graph=towns")
    ask(page, "Show me all towns with their locations.")
    settle(page)
    expect(page.get_by_role("tab", name="Map", selected=True)).to_be_visible()
    pin_here(page, "Towns")
    page.get_by_role("link", name="Open the board").click()
    opened(page)
    page.locator(".map svg").wait_for()
    file = tmp_path / "towns.html"
    file.write_text(exported(page), encoding="utf-8")
    saved = page.context.new_page()
    saved.goto(file.as_uri())
    drawing = saved.get_by_role("img", name="Show me all towns with their locations.")
    expect(drawing).to_contain_text("Nairobi")


def test_the_chart_that_is_chosen_is_pinned(many: Watch) -> None:
    page = many.page("/?graph=space")
    ask(page, "Show all missions with their launch date and mass")
    settle(page)
    page.get_by_role("tab", name="Chart").click()
    choice = page.get_by_label("Show")
    choice.select_option("Spread of launch date")
    pin_here(page, "Charts")
    page.get_by_role("link", name="Open the board").click()
    opened(page)
    expect(page.get_by_label("Show").locator("option:checked")).to_have_text(
        "Spread of launch date"
    )


def test_a_german_board_is_reached_and_read_in_german(watch: Watch) -> None:
    page = watch.page(locale="de-DE")
    page.get_by_role("link", name="Pinnwände").click()
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    expect(page.get_by_text("Noch gibt es keine Pinnwand.")).to_be_visible()
    page.get_by_role("link", name="Fragen", exact=True).click()
    ask(page, QUESTION)
    page.get_by_role("button", name="Anheften").press("Enter")
    page.get_by_label("Neue Pinnwand").press("Enter")
    page.get_by_role("link", name="Pinnwand öffnen").press("Enter")
    opened(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("Meine Pinnwand")
    expect(page.get_by_text("Nichts hat sich geändert.")).to_be_visible()


@pytest.mark.parametrize("width", [320, 768])
def test_a_board_is_no_wider_than_the_window(watch: Watch, place: Workspace, width: int) -> None:
    page = board_of(watch, QUESTION, COUNT, width=width, height=740)
    put_harbours(place, NOW)
    page.reload()
    opened(page)
    expect(page.locator("html")).to_have_js_property("scrollWidth", width)
    page.goto(f"{watch.address}/boards")
    page.get_by_role("link", name="Harbours").wait_for()
    expect(page.locator("html")).to_have_js_property("scrollWidth", width)


def exported(page: Page) -> str:
    with page.expect_download() as begun:
        page.get_by_role("button", name="Export as HTML").click()
    assert begun.value.suggested_filename.endswith(".html")
    return Path(begun.value.path()).read_text(encoding="utf-8")


def test_an_export_is_one_file_that_shows_sentence_chart_table_and_changes(
    watch: Watch, place: Workspace, tmp_path: Path
) -> None:
    page = board_of(watch, QUESTION, COUNT)
    put_harbours(place, NOW)
    page.reload()
    opened(page)
    card(page, QUESTION).get_by_role("tab", name="Chart").click()
    card(page, QUESTION).locator(".marks svg").wait_for()
    text = exported(page)
    assert not re.search(r"<script|<link|<iframe|\bsrc=|https?://(?!www\.w3\.org/2000/svg)", text)
    file = tmp_path / "board.html"
    file.write_text(text, encoding="utf-8")
    saved = page.context.new_page()
    saved.goto(file.as_uri())
    expect(saved.get_by_role("heading", level=1)).to_have_text("Harbours")
    assert saved.get_by_role("heading", level=2).all_inner_texts() == [QUESTION, COUNT]
    drawing = saved.get_by_role("img", name=QUESTION)
    expect(drawing).to_contain_text("Brix")
    expect(saved.locator("section").first).to_contain_text("1 new row · 1 row gone · 1 row changed")
    saved.get_by_text("What changed").click()
    expect(saved.locator("li")).to_have_text(
        ["changed · Brix · 9 (was 7)", "new · Dory · 1", "gone · Cove · 2"]
    )
    saved.get_by_text("3 rows").first.click()
    expect(saved.get_by_role("row", name=re.compile("Brix"))).to_contain_text("9 was 7")
    saved.set_viewport_size(PHONE)  # type: ignore[arg-type]
    expect(saved.locator("html")).to_have_js_property("scrollWidth", PHONE["width"])


def test_labels_with_html_stay_text_on_a_board_and_in_its_export(
    watch: Watch, place: Workspace, tmp_path: Path
) -> None:
    put_harbours(place, {SCRIPT: 4, IMAGE: 7, "</style></title><b>Cove": 2})
    page = board_of(watch, QUESTION)
    page.get_by_role("button", name=f"Rename “{QUESTION}”").click()
    page.get_by_label("Heading").fill(IMAGE)
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Rename", exact=True).click()
    page.get_by_label("Name of the board").fill(f"</title>{SCRIPT}")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text(f"</title>{SCRIPT}")
    page.locator(".marks svg").wait_for()
    expect(page.locator("main").locator("script, img, b, [onerror]")).to_have_count(0)
    file = tmp_path / "board.html"
    file.write_text(exported(page), encoding="utf-8")
    saved = page.context.new_page()
    saved.goto(file.as_uri())
    expect(saved.locator("h2")).to_have_text(IMAGE)
    expect(saved.locator("script, img, b, [onerror]")).to_have_count(0)
    expect(saved).to_have_title(f"</title>{SCRIPT}")
    expect(saved.get_by_role("img", name=IMAGE)).to_contain_text("<script>")
    policy = saved.locator("meta[http-equiv='Content-Security-Policy']")
    expect(policy).to_have_attribute("content", re.compile("^default-src 'none'"))


@pytest.mark.skipif(not AXE.is_file(), reason="no axe-core: make page-check installs it")
@pytest.mark.parametrize("look", [DESK, PHONE], ids=["desk", "phone"])
def test_boards_keep_nobody_out(watch: Watch, place: Workspace, look: dict[str, int]) -> None:
    page = board_of(watch, QUESTION, COUNT, **look)
    put_harbours(place, NOW)
    page.reload()
    opened(page)
    card(page, QUESTION).get_by_role("tab", name="Table").click()
    assert violations_in_both_themes(page) == []
    page.goto(f"{watch.address}/boards")
    page.get_by_role("link", name="Harbours").wait_for()
    assert violations_in_both_themes(page) == []
    page.goto(watch.address)
    ask(page, COUNT)
    page.get_by_role("button", name="Pin", exact=True).click()
    page.get_by_role("button", name="Harbours", exact=True).wait_for()
    assert violations(page) == []
