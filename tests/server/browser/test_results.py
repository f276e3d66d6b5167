"""A result in the page: its table, and the chart, map and drawing where they suit it."""

import csv
import json
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect
from tests.server.browser.watched import (
    Watch,
    ask,
    settle,
    violations,
    violations_in_both_themes,
)

ROCKETS = "Show me all rockets with their heights."
MOONS = "How many moons are listed for each planet?"


def result_of(page: Page, question: str, *, table: bool = True) -> Locator:
    """Ask, and return the result, opened where it is folded away, as a table or as it opens."""
    ask(page, question)
    settle(page)
    view, fold = page.locator(".result-view"), page.locator(".result-fold > summary")
    expect(view).to_be_attached()
    if fold.count():
        fold.click()
    expect(view).to_be_visible()
    tab = view.get_by_role("tab", name=re.compile("^(Table|Tabelle)$"))
    if table and tab.count():
        tab.click()
    return view


def column(view: Locator, number: int) -> list[str]:
    """The texts of a column that is there: one waits for what tells so first."""
    return view.locator(f"tbody tr td:nth-child({number})").all_inner_texts()


def test_a_press_on_a_head_sorts_numbers_by_value_and_a_third_one_ends_that(page: Page) -> None:
    view = result_of(page, ROCKETS)
    expect(view.locator("tbody tr")).to_have_count(25)
    before = column(view, 2)
    head = view.get_by_role("columnheader", name="height")

    head.get_by_role("button").click()
    expect(head).to_have_attribute("aria-sort", "ascending")
    rising = [float(text) for text in column(view, 2)]
    head.get_by_role("button").click()
    expect(head).to_have_attribute("aria-sort", "descending")
    falling = [float(text) for text in column(view, 2)]
    head.get_by_role("button").click()
    expect(head).to_have_attribute("aria-sort", "none")

    assert rising == sorted(rising)
    assert falling == sorted(falling, reverse=True)
    assert max(falling) > max(rising)  # another page of the same rows
    assert column(view, 2) == before


def test_long_results_come_in_pages_of_the_size_one_likes(page: Page) -> None:
    view = result_of(page, ROCKETS)
    expect(view.locator("tbody tr")).to_have_count(25)

    view.get_by_role("button", name="Next page").click()
    expect(view.locator("tbody tr")).to_have_count(9)
    expect(view.get_by_role("button", name="Next page")).to_be_disabled()
    view.get_by_label("Rows a page").select_option("50")

    expect(view.locator("tbody tr")).to_have_count(34)
    expect(view.locator(".pager")).not_to_contain_text("Page")


def test_the_filter_finds_rows_by_words_and_says_how_many(page: Page) -> None:
    view = result_of(page, ROCKETS)
    view.get_by_role("searchbox").fill("FALCON")
    expect(view.locator(".count")).to_have_text(re.compile(r"^[1-9]\d? of 34 rows$"))
    names = column(view, 1)
    assert all("Falcon" in name for name in names)
    expect(view.locator(".count")).to_have_text(f"{len(names)} of 34 rows")

    view.get_by_role("searchbox").fill("no such rocket")
    expect(view.get_by_text("No row has all of these words.")).to_be_visible()


@pytest.mark.parametrize(
    ("format", "ending"), [("CSV", "csv"), ("JSON", "json"), ("Turtle", "ttl")]
)
def test_a_download_holds_the_whole_result(
    page: Page, tmp_path: Path, format: str, ending: str
) -> None:
    view = result_of(page, ROCKETS)
    view.get_by_role("button", name="Download").click()
    with page.expect_download() as begun:
        view.get_by_role("button", name=format, exact=True).click()
    file = tmp_path / begun.value.suggested_filename
    begun.value.save_as(file)

    text = file.read_text(encoding="utf-8")
    assert re.fullmatch(rf"space-[\w-]{{8}}\.{ending}", file.name)
    match format:
        case "CSV":
            rows = list(csv.reader(text.splitlines()))
            assert rows[0] == ["\ufefflaunch_vehicle", "launch_vehicle IRI", "height"]
            assert rows[1][1].startswith("https://example.org/space/")
            assert len(rows) == 35
        case "JSON":
            assert len(json.loads(text)["results"]["bindings"]) == 34
        case _:
            assert text.count("height") >= 34


def test_a_download_of_filtered_rows_holds_these(page: Page) -> None:
    view = result_of(page, ROCKETS)
    view.get_by_role("searchbox").fill("FALCON")
    expect(view.locator(".count")).to_have_text(re.compile(r"^[1-9]\d? of 34 rows$"))
    shown = view.locator("tbody tr").count()
    view.get_by_role("button", name="Download").click()
    expect(view.get_by_text(f"Filtered rows ({shown})")).to_be_visible()
    with page.expect_download() as begun:
        view.get_by_role("button", name="Excel (XLSX)").click()
    with zipfile.ZipFile(begun.value.path()) as package:
        sheet = package.read("xl/worksheets/sheet1.xml").decode()
    assert sheet.count("<row ") == shown + 1
    assert "Falcon" in sheet


def test_copied_rows_are_those_that_are_shown_with_their_labels(watch: Watch) -> None:
    page = watch.page(permissions=["clipboard-read", "clipboard-write"])
    view = result_of(page, MOONS)
    head = view.get_by_role("columnheader", name="number of moons")
    head.get_by_role("button").click()
    expect(head).to_have_attribute("aria-sort", "ascending")

    view.get_by_role("button", name="Copy").click()

    expect(view.get_by_role("button", name="Copied")).to_be_visible()
    lines = page.evaluate("navigator.clipboard.readText()").splitlines()
    assert lines[0] == "planet\tnumber of moons"
    assert lines[1] == "Earth\t1"
    assert lines[-1] == "Saturn\t18"


def test_an_iri_is_shown_on_focus_copied_and_shown_for_all_on_demand(watch: Watch) -> None:
    page = watch.page(permissions=["clipboard-read", "clipboard-write"])
    view = result_of(page, MOONS)
    iri = "https://example.org/space/Earth"
    link = view.get_by_role("link", name="Earth", exact=True)
    link.focus()
    card = view.locator(".iri-card")
    expect(card).to_contain_text(iri)

    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(card.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == iri
    out = card.get_by_role("link", name="Open at its source")
    expect(out).to_have_attribute("href", iri)
    expect(out).to_have_attribute("rel", "noopener noreferrer nofollow")
    page.keyboard.press("Escape")
    expect(card).to_have_count(0)
    expect(link).to_be_focused()

    view.get_by_role("button", name="IRIs").click()
    expect(view.locator("td .iri").first).to_have_text(re.compile("https://example.org/space/"))


COVERED = """card => {
  const box = card.getBoundingClientRect();
  const walk = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  const found = [];
  while (walk.nextNode()) {
    if (card.contains(walk.currentNode) || !walk.currentNode.data.trim()) continue;
    range.selectNodeContents(walk.currentNode);
    for (const text of range.getClientRects())
      if (text.left < box.right - 1 && text.right > box.left + 1 &&
          text.top < box.bottom - 1 && text.bottom > box.top + 1) found.push(text.data);
  }
  return found;
}"""
"""The texts that a card lies over."""


@pytest.mark.parametrize(
    ("width", "height", "dark"), [(1280, 800, False), (1280, 800, True), (390, 844, False)]
)
def test_the_card_of_a_thing_covers_no_neighbour_and_goes_by_escape_and_by_leaving(
    watch: Watch, width: int, height: int, dark: bool
) -> None:
    page = watch.page(width=width, height=height, dark=dark)
    view = result_of(page, MOONS)
    card = view.locator(".iri-card")
    for name in ("Saturn", "Jupiter", "Uranus"):
        thing = view.get_by_role("link", name=name, exact=True)
        thing.hover()
        expect(card).to_be_in_viewport(ratio=1)
        assert card.evaluate(COVERED) == []
        card.get_by_role("button", name="Copy the IRI").hover()  # the way there does not close it
        expect(card).to_be_visible()
        page.mouse.move(2, 2)
        expect(card).to_have_count(0)
    thing.hover()
    expect(card).to_be_visible()
    page.keyboard.press("Escape")
    expect(card).to_have_count(0)


def test_names_with_numbers_open_as_bars_that_the_arrow_keys_go_over(page: Page) -> None:
    view = result_of(page, MOONS, table=False)
    expect(view.get_by_role("tab", name="Chart")).to_have_attribute("aria-selected", "true")
    chart = view.get_by_role("listbox")
    expect(view.locator(".bar")).to_have_count(6)
    expect(chart).to_have_attribute("aria-label", re.compile("number of moons by planet"))

    chart.focus()
    page.keyboard.press("End")
    expect(view.get_by_role("option", selected=True)).to_have_text("Earth: 1")
    page.keyboard.press("Home")
    expect(view.get_by_role("option", selected=True)).to_have_text("Saturn: 18")


def test_of_many_bars_the_largest_are_drawn_and_the_rest_on_demand(page: Page) -> None:
    view = result_of(page, ROCKETS, table=False)
    expect(view.locator(".bar")).to_have_count(20)
    heights = [float(text) for text in view.locator(".bar-value").all_text_contents()]
    assert heights == sorted(heights, reverse=True)
    expect(view.get_by_text("The 20 largest of 34.")).to_be_visible()

    view.get_by_role("button", name="Show 34").click()

    expect(view.locator(".bar")).to_have_count(34)


@pytest.mark.parametrize(("format", "begins"), [("SVG", b"<svg"), ("PNG", b"\x89PNG")])
def test_a_chart_is_saved_as_a_picture(page: Page, format: str, begins: bytes) -> None:
    view = result_of(page, MOONS, table=False)
    expect(view.locator(".bar")).to_have_count(6)
    view.get_by_role("button", name="Picture").click()
    with page.expect_download() as begun:
        view.get_by_role("button", name=format, exact=True).click()
    saved = Path(begun.value.path()).read_bytes()
    assert begun.value.suggested_filename == f"number-of-moons-by-planet.{format.lower()}"
    assert saved.startswith(begins)
    if format == "SVG":
        assert "Saturn" in saved.decode()
        assert 'fill="rgb(' in saved.decode()
        assert "class=" not in saved.decode()


def test_two_numbers_of_each_thing_open_as_points_with_names(page: Page) -> None:
    view = result_of(page, "Show the mass and diameter of all planets", table=False)
    expect(view.locator(".dot")).to_have_count(8)
    expect(view.locator(".dot-name").filter(has_text="Jupiter")).to_be_visible()
    view.get_by_label("Show").select_option("mass by planet")
    expect(view.locator(".bar")).to_have_count(8)


def test_one_thing_opens_as_its_card(page: Page) -> None:
    view = result_of(page, "Who was the commander of Apollo 11?", table=False)
    card = view.get_by_role("group", name="Neil Armstrong")
    expect(card).to_contain_text("astronaut")
    expect(card).to_contain_text("5 August 1930")
    card.get_by_role("link", name="All about it").click()
    expect(page.get_by_role("heading", name="Neil Armstrong", level=1)).to_be_visible()


def test_dates_with_numbers_are_a_line_and_how_they_are_spread(page: Page) -> None:
    view = result_of(page, "Show all missions with their launch date and mass")
    view.get_by_role("tab", name="Chart").click()
    expect(view.locator("polyline.line")).to_have_count(1)
    expect(view.locator(".point").nth(50)).to_be_attached()
    view.get_by_label("Show").select_option("Spread of launch date")
    expect(view.locator("[role=option]").first).to_have_text(re.compile(r"rows?$"))
    counted = view.locator("[role=option]").all_text_contents()
    rows = [int(re.search(r"(\d+) rows?$", text).group(1)) for text in counted]  # type: ignore[union-attr]
    assert sum(rows) == 104


@pytest.mark.parametrize(
    "question", ["How big is Titan?", "Which planets have no moons?", "Which astronauts are there?"]
)
def test_no_chart_and_no_map_where_there_is_nothing_to_draw(page: Page, question: str) -> None:
    view = result_of(page, question)
    expect(view.get_by_role("tab", name="Chart")).to_have_count(0)
    expect(view.get_by_role("tab", name="Map")).to_have_count(0)


def test_places_are_on_a_map_that_moves_by_keys(many: Watch) -> None:
    page = many.page("/?graph=towns")
    view = result_of(page, "Show me all towns with their locations.", table=False)
    expect(view.get_by_role("tab", name="Chart")).to_have_count(0)
    expect(view.get_by_role("tab", name="Map")).to_have_attribute("aria-selected", "true")
    pins = view.locator("circle.pin")
    expect(pins).to_have_count(4)
    expect(view.locator(".pin-name")).to_have_text(["Lima", "Munich", "Nairobi", "Wellington"])
    frame = view.get_by_role("application")
    before = pins.first.get_attribute("cx") or ""

    frame.focus()
    page.keyboard.press("+")
    page.keyboard.press("ArrowRight")
    expect(pins.first).not_to_have_attribute("cx", before)
    page.keyboard.press("0")
    expect(pins.first).to_have_attribute("cx", before)
    view.get_by_text("Places in a list").click()
    view.get_by_role("button", name="Lima").click()
    expect(view.locator(".map-card")).to_contain_text("12.05° S, 77.03° W")
    expect(view.locator("circle.pin.chosen")).to_have_count(1)
    assert violations(page) == []


@pytest.mark.parametrize(
    ("question", "locale", "width", "dark"),
    [
        ("show the launch sites on a map", "en-GB", 1280, False),
        ("show the launch sites on a map", "en-GB", 390, True),
        ("where are the launch sites?", "en-GB", 1280, True),
        ("where are the launch sites?", "en-GB", 390, False),
        ("Zeige die Startplätze auf einer Karte", "de-DE", 1280, False),
        ("¿Dónde están los sitios de lanzamiento?", "es-ES", 390, False),
    ],
)
def test_a_first_question_for_places_opens_as_a_map_with_names(
    watch: Watch, question: str, locale: str, width: int, dark: bool
) -> None:
    page = watch.page(width=width, height=844, locale=locale, dark=dark)
    ask(page, question)
    expect(page.locator(".map-frame circle.pin")).to_have_count(25)
    expect(page.get_by_role("tab", selected=True)).to_have_text(re.compile("Map|Karte|Mapa"))
    names = page.locator(".pin-name")
    assert names.count() >= (20 if width > 390 else 10)
    assert "Hammaguir" in names.all_text_contents()
    shown = (*names.all(), page.locator(".zoom-buttons"))
    boxes = [one.evaluate("one => one.getBoundingClientRect().toJSON()") for one in shown]
    for at, one in enumerate(boxes):
        for other in boxes[:at]:
            assert _apart(one, other, "x", "width") or _apart(one, other, "y", "height")
    assert violations(page) == []


def test_a_touch_near_a_pin_names_it_on_a_phone(watch: Watch) -> None:
    page = watch.page(width=390, height=844, has_touch=True)
    ask(page, "show the launch sites on a map")
    expect(page.locator(".map-frame circle.pin")).to_have_count(25)
    pin = page.locator("circle.pin").filter(has=page.locator("title", has_text="Hammaguir"))
    box = pin.bounding_box()
    assert box
    page.touchscreen.tap(box["x"] - 4, box["y"] + 16)
    expect(page.locator(".map-card")).to_contain_text("Hammaguir")
    page.touchscreen.tap(box["x"] - 4, box["y"] + 16)
    expect(page.locator(".map-card")).to_have_count(0)


def _apart(one: Mapping[str, float], other: Mapping[str, float], at: str, size: str) -> bool:
    """Whether two boxes lie apart along an axis, but for what a line has above and below."""
    (first, wide), (then, broad) = ((box[at], box[size]) for box in (one, other))
    return then + broad <= first + 4 or first + wide <= then + 4


@pytest.mark.parametrize("question", ["Where are the ports?", "Show the isles on a map"])
def test_places_are_known_by_labels_of_properties_and_as_texts(many: Watch, question: str) -> None:
    page = many.page("/?graph=ports")
    ask(page, question)
    expect(page.locator(".map-frame circle.pin")).to_have_count(2)
    names = ["Genoa", "Santos"] if "ports" in question else ["Elba", "Jeju"]
    expect(page.locator(".pin-name")).to_have_text(names)


def test_things_whose_places_the_graph_knows_can_be_seen_on_a_map(many: Watch) -> None:
    page = many.page("/?graph=towns")
    view = result_of(page, "Which towns are there?")
    view.get_by_role("tab", name="Map").click()
    expect(view.locator(".pin-name")).to_have_text(
        ["Lima", "Munich", "Nairobi", "Wellington"], use_inner_text=False
    )


def test_the_evidence_is_a_drawing_and_a_list_that_grow_on_demand(page: Page) -> None:
    view = result_of(page, MOONS)
    view.get_by_role("tab", name="Graph").click()
    view.locator("canvas").first.wait_for()
    view.get_by_text("The same as a list").click()
    list_ = view.locator(".triple-list")
    expect(list_).to_contain_text("orbits")
    before = list_.locator("li li").count()

    expect(view.get_by_text(re.compile("^Drawn is what is behind [1-5] of 6 rows"))).to_be_visible()
    view.get_by_role("button", name="Draw more rows").click()
    expect(view.get_by_text(re.compile("^Drawn is what"))).to_have_count(0)
    expect(list_).to_contain_text("orbits Earth")
    expect(list_).to_contain_text("orbits Saturn")
    list_.get_by_role("button", name="Add what is near").first.click()

    expect(list_.locator("li li").nth(before)).to_be_attached()
    assert violations(page) == []


def test_a_row_says_why_it_is_there(page: Page) -> None:
    view = result_of(page, "Show me all crewed missions with their launch dates.")
    view.get_by_role("button", name="Last page").click()
    view.get_by_role("button", name=re.compile("^Why is")).last.click()

    expect(view.locator(".why li").first).to_be_visible()
    view.get_by_role("button", name="Show as a graph").click()
    expect(view.get_by_role("tab", name="Graph")).to_have_attribute("aria-selected", "true")
    view.get_by_role("button", name="Evidence of all rows").click()


def test_a_query_for_triples_gives_them_as_a_table_and_a_drawing(page: Page) -> None:
    ask(page, "How big is Titan?")
    page.locator("details.query > summary").click()
    page.get_by_role("textbox", name="SPARQL query").click()
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    page.keyboard.insert_text(
        "CONSTRUCT { ?moon ont:orbits space:Mars } WHERE { ?moon ont:orbits space:Mars }"
    )
    page.get_by_role("button", name="Run").click()

    view = page.locator(".result-view")
    expect(view.locator("tbody tr")).to_have_count(2)
    expect(view.locator("thead")).to_contain_text(re.compile("subject.*predicate.*object", re.S))
    expect(view.get_by_role("button", name=re.compile("^Why is"))).to_have_count(0)
    view.get_by_role("tab", name="Graph").click()
    expect(view).to_contain_text("3 things and values, 2 triples")


def test_tabs_are_gone_through_with_the_arrow_keys(page: Page) -> None:
    view = result_of(page, MOONS)
    view.get_by_role("tab", name="Table").focus()
    page.keyboard.press("ArrowRight")
    expect(view.get_by_role("tab", name="Chart")).to_be_focused()
    expect(view.get_by_role("tabpanel")).to_have_accessible_name("Chart")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    expect(view.get_by_role("tab", name="Graph")).to_be_focused()


def test_results_fit_a_phone_and_keep_nobody_out(watch: Watch) -> None:
    page = watch.page(width=360, height=740, locale="de-DE")
    view = result_of(page, "Show all missions with their launch date and mass")
    for tab in ("Tabelle", "Diagramm", "Graph"):
        view.get_by_role("tab", name=tab).click()
        settle(page)
        expect(view.get_by_role("tabpanel", name=tab)).to_be_visible()
        expect(page.locator("html"), tab).to_have_js_property("scrollWidth", 360)
        assert violations_in_both_themes(page) == [], tab


def test_labels_that_would_be_more_than_text_stay_text(many: Watch) -> None:
    page = many.page("/?graph=hostile")
    view = result_of(page, "Show me all gadgets with their homepages and remarks.")
    for tab in ("Table", "Graph"):
        view.get_by_role("tab", name=tab).click()
        settle(page)
        expect(view.locator("table, canvas").first).to_be_visible()
    expect(page.locator("main script, main img, main svg[onload]")).to_have_count(0)
    links = page.locator("main a").evaluate_all("links => links.map(link => link.href)")
    assert [link for link in links if re.match("(javascript|data):", link)] == []
    assert page.evaluate("window.burst") is None
