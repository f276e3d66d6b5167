"""How the page looks and speaks: small, dark, in German, for those who hear it or see it large."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from tests.server.browser.watched import AXE, DARK, LIGHT, Watch, ask, settle, violations

QUESTION = "How many moons are listed for each planet?"
PATHS = ("/", "/history")

axe = pytest.mark.skipif(not Path(AXE).is_file(), reason="no axe-core: make page-check installs it")


def answered(watch: Watch, question: str = QUESTION, **look: object) -> Page:
    """A page with an answer, its query opened."""
    page = watch.page(**look)  # type: ignore[arg-type]
    ask(page, question)
    page.locator("details.query > summary").click()
    page.get_by_role("textbox", name=re.compile("SPARQL")).wait_for()
    page.locator(".read-back .part").first.wait_for()
    return page


@axe
@pytest.mark.parametrize("dark", [False, True])
def test_an_answer_keeps_nobody_out(watch: Watch, dark: bool) -> None:
    page = answered(watch, dark=dark)
    page.locator("details.steps > summary").click()
    assert violations(page) == []
    page.locator(".read-back .part").first.click()
    page.locator(".part-panel").wait_for()
    assert violations(page) == []


@axe
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [360, 1200])
def test_the_first_view_its_menus_and_the_history_keep_nobody_out(
    watch: Watch, dark: bool, width: int
) -> None:
    page = watch.page(dark=dark, width=width)
    page.locator("[data-question]").press_sequentially("Which moons orbit Jup")
    page.get_by_role("option").first.wait_for()
    assert violations(page) == []
    page.locator("[data-question]").press("Escape")
    page.get_by_role("button", name=re.compile("Graph search")).click()
    assert violations(page) == []
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="History").click()
    page.get_by_role("heading", name="History").wait_for()
    assert violations(page) == []


@pytest.mark.parametrize("width", [320, 360, 768, 1440])
def test_nothing_is_wider_than_the_window(watch: Watch, width: int) -> None:
    page = answered(watch, width=width, height=740)
    for path in (None, *PATHS):
        if path:
            page.goto(watch.address + path)
            page.get_by_role("heading").first.wait_for()
        settle(page)
        expect(page.locator("html"), str(path)).to_have_js_property("scrollWidth", width)


def test_dark_and_light_follow_the_system_until_one_is_chosen(watch: Watch) -> None:
    page = watch.page(dark=True)
    ground = page.locator("html")
    expect(ground).to_have_css("background-color", DARK)
    switch = page.get_by_role("button", name=re.compile("^Theme"))
    switch.click()
    expect(switch).to_have_accessible_name("Theme: Light")
    expect(ground).to_have_css("background-color", LIGHT)
    page.reload()
    expect(ground).to_have_css("background-color", LIGHT)
    page.emulate_media(color_scheme="light")
    page.get_by_role("button", name="Theme: Light").click()
    expect(ground).to_have_css("background-color", DARK)


def test_a_german_browser_is_spoken_to_in_german_and_can_change_its_mind(watch: Watch) -> None:
    page = watch.page(locale="de-DE")
    expect(page.get_by_role("heading", level=1)).to_have_text("Was möchten Sie wissen?")
    ask(page, "Wie groß ist der Titan?")
    expect(page.locator(".headline")).to_contain_text("5.149,5 km")
    expect(page.locator(".confidence-word")).to_have_text("Sicher")
    expect(page.locator("html")).to_have_attribute("lang", "de")

    page.get_by_role("button", name="Sprache: Deutsch").click()
    page.get_by_role("radio", name="English").click()
    expect(page.locator(".confidence-word")).to_have_text("Sure")
    page.reload()
    expect(page.locator(".confidence-word")).to_have_text("Sure")
    expect(page.locator("html")).to_have_attribute("lang", "en")


def test_names_complete_what_is_typed_by_mouse_and_by_key(page: Page) -> None:
    box = page.locator("[data-question]")
    box.press_sequentially("Which moons orbit Jup")
    page.get_by_role("option").first.wait_for()
    page.keyboard.press("ArrowDown")
    active = page.get_by_role("option", selected=True)
    expect(active).to_contain_text("Jupiter")
    expect(box).to_have_attribute("aria-activedescendant", active.get_attribute("id") or "no id")
    page.keyboard.press("Enter")
    expect(box).to_have_value("Which moons orbit Jupiter ")
    expect(page.get_by_role("option")).to_have_count(0)

    box.press_sequentially("and Satu")
    page.get_by_role("option", name=re.compile("^Saturn")).first.click()
    expect(box).to_have_value("Which moons orbit Jupiter and Saturn ")
    box.press_sequentially("Tita")
    page.get_by_role("option").first.wait_for()
    page.keyboard.press("Escape")
    expect(page.get_by_role("option")).to_have_count(0)


def test_a_starter_is_asked_with_a_click(page: Page) -> None:
    starter = page.locator("button.starter").first
    question = starter.inner_text()
    starter.click()
    expect(page.locator(".turn-question")).to_have_text(question)
    expect(page.locator(".answer")).to_be_visible()


def test_an_answer_is_heard_as_well_as_seen(page: Page) -> None:
    ask(page, "Which planets have no moons?")
    said = page.locator(".answer [role=status]").first
    expect(said).to_have_text("Answer: Mercury and Venus are the planets that nothing orbits.")


def test_a_question_in_an_address_waits_to_be_asked(watch: Watch) -> None:
    page = watch.page("/?q=How+big+is+Titan%3F&graph=space")
    expect(page.locator("[data-question]")).to_have_value("How big is Titan?")
    expect(page.locator(".turn")).to_have_count(0)
    page.locator("[data-question]").press("Enter")
    expect(page.locator(".headline")).to_contain_text("5,149.5 km")


SIZES = """() => {
  const names = [...document.styleSheets].flatMap(sheet => [...sheet.cssRules])
    .flatMap(rule => [...(rule.style ?? [])]).filter(name => name.startsWith("--text"));
  const probe = document.body.appendChild(document.createElement("span"));
  const scale = [...new Set(names)].map(name => {
    probe.style.fontSize = `var(${name})`;
    return getComputedStyle(probe).fontSize;
  });
  probe.remove();
  const within = root => [...root.querySelectorAll("*")]
    .flatMap(node => [node, ...(node.shadowRoot ? within(node.shadowRoot) : [])]);
  const says = node => /^(INPUT|TEXTAREA|SELECT)$/.test(node.tagName) ||
    [...node.childNodes].some(one => one.nodeType === 3 && one.data.trim());
  const odd = within(document.body).filter(says)
    .filter(node => !scale.includes(getComputedStyle(node).fontSize))
    .map(node => `${node.outerHTML.slice(0, 90)} ${getComputedStyle(node).fontSize}`);
  return {scale: scale.length, odd};
}"""
"""How many sizes of text the styles name, and what is written in another one."""


@pytest.mark.parametrize(("width", "dark"), [(390, True), (1280, False)])
def test_all_text_is_of_a_size_that_has_a_name(watch: Watch, width: int, dark: bool) -> None:
    page = answered(watch, width=width, dark=dark)
    page.locator("details.steps > summary").click()
    for view in ("Chart", "Graph", "Table"):
        page.get_by_role("tab", name=view).click()
        settle(page)
        assert page.evaluate(SIZES) == {"scale": 8, "odd": []}
    for path in ("/", "/graphs", "/graphs/space", "/compare", "/history", "/boards", "/add"):
        page.goto(watch.address + path)
        page.get_by_role("heading", level=1).wait_for()
        settle(page)
        assert page.evaluate(SIZES) == {"scale": 8, "odd": []}, path
    page.keyboard.press("?")
    page.get_by_role("dialog").wait_for()
    assert page.evaluate(SIZES)["odd"] == []


@pytest.mark.parametrize("height", [700, 420])
def test_an_open_panel_stays_in_the_window(watch: Watch, height: int) -> None:
    page = watch.page(height=height)
    ask(page, "Which moons orbit Mars?")
    part = page.locator(".read-back .part").first
    part.click()
    page.locator(".part-panel .alternative").first.wait_for()
    page.set_viewport_size({"width": 500, "height": height})
    expect(page.locator(".part-panel")).to_be_in_viewport(ratio=1)


@pytest.mark.parametrize("locale", ["en-GB", "de-DE", "fr-FR", "es-ES"])
def test_a_phone_shows_the_names_of_all_pages(watch: Watch, locale: str) -> None:
    page = watch.page(width=390, height=844, locale=locale)
    pages = page.locator(".bar nav")
    expect(pages.get_by_role("link")).to_have_count(5)
    expect(page.locator("html")).to_have_attribute("lang", locale[:2])
    assert pages.evaluate("one => one.scrollWidth - one.clientWidth") <= 0


@pytest.mark.parametrize("width", [390, 1280])
def test_an_open_panel_ends_with_the_column_that_its_button_is_in(watch: Watch, width: int) -> None:
    page = watch.page(width=width, height=800)
    ask(page, QUESTION)
    settle(page)
    column = page.locator(".follow-up").bounding_box()
    page.get_by_role("button", name="Picture").click()
    panel = page.locator(".popover").bounding_box()
    assert column is not None and panel is not None
    assert panel["x"] + panel["width"] <= column["x"] + column["width"] + 1


@pytest.mark.parametrize("width", [390, 1280])
def test_all_pages_begin_at_one_left_edge(watch: Watch, width: int) -> None:
    page = watch.page(width=width, height=800)
    edges = {}
    for path in ("/", "/graphs", "/graphs/space", "/compare", "/history", "/add"):
        page.goto(watch.address + path)
        heading = page.locator("main h1")
        heading.wait_for()
        edges[path] = heading.evaluate("one => one.getBoundingClientRect().left")
    page.goto(watch.address)
    ask(page, QUESTION)
    settle(page)
    for found in (".turn-question", ".headline", ".read-back", ".result-view", ".follow-up"):
        edges[found] = page.locator(found).first.evaluate("one => one.getBoundingClientRect().left")
    edges["brand"] = page.locator(".brand").evaluate("one => one.getBoundingClientRect().left")
    assert len(set(edges.values())) == 1, edges
