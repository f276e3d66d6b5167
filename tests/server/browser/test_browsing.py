"""The pages of a graph: what it is about, its classes, properties and things."""

import re
from urllib.parse import quote

import pytest
from playwright.sync_api import FloatRect, Page, expect
from tests.server.browser.watched import Watch, settle, violations, violations_in_both_themes

MOON = "/graphs/space?class=" + quote("https://example.org/space/ontology#Moon", safe="")
MARS = "/graphs/space?iri=" + quote("https://example.org/space/Mars", safe="")
DIAMETER = "/graphs/space?property=" + quote("https://example.org/space/ontology#diameter", safe="")


@pytest.fixture
def space(watch: Watch) -> Page:
    """The page of the sample graph."""
    page = watch.page("/graphs/space")
    page.locator(".term-list").first.wait_for()
    return page


def test_the_graphs_are_listed_with_what_they_hold(watch: Watch) -> None:
    page = watch.page("/graphs")
    card = page.locator(".graph-card")
    expect(card).to_contain_text("8,132 triples")
    expect(card).to_contain_text("33 classes")
    card.get_by_role("link", name="Browse").click()
    expect(page).to_have_url(re.compile("/graphs/space$"))


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize(("width", "most"), [(1200, 12), (390, 8)])
def test_a_graph_opens_with_a_picture_of_its_classes(
    watch: Watch, width: int, most: int, *, dark: bool
) -> None:
    page = watch.page("/graphs/space", width=width, dark=dark)
    expect(page.locator(".lead")).to_have_text(re.compile("^Holds astronauts, robotic missions"))
    expect(page.locator(".starter-links")).to_be_visible()
    drawn = page.get_by_role("group", name="What it holds and how that is linked")
    expect(drawn.get_by_role("link")).to_have_count(most)
    names = drawn.locator("g text").all_text_contents()
    assert "mission" in names and len(names) >= 5
    boxes = [one.bounding_box() for one in drawn.locator("a, g text").all()]
    for at, one in enumerate(boxes):
        assert one and one["x"] >= 0 and one["x"] + one["width"] <= width
        assert not any(other and overlap(one, other) for other in boxes[:at])
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert violations(page, within=["main"]) == []

    drawn.get_by_role("link", name=re.compile("^astronaut *169")).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("astronaut")


def overlap(one: FloatRect, other: FloatRect) -> bool:
    """Whether two things cover one another by more than the space above and below their letters."""
    across = min(one["x"] + one["width"], other["x"] + other["width"]) - max(one["x"], other["x"])
    down = min(one["y"] + one["height"], other["y"] + other["height"]) - max(one["y"], other["y"])
    return across > 1 and down > 4


def test_the_picture_of_classes_is_a_list_too_and_told_by_the_keyboard(space: Page) -> None:
    drawn = space.locator(".classes-drawn")
    drawn.get_by_role("link", name=re.compile("^astronaut")).focus()
    expect(drawn.locator("text.near")).to_have_text(["crew member", "nationality"])
    space.keyboard.press("Enter")
    expect(space).to_have_url(re.compile("class=.*Astronaut$"))
    space.go_back()
    space.get_by_text("As a list").click()
    links = space.locator(".class-links li")
    expect(links.filter(has_text=re.compile("astronaut nationality country 171"))).to_be_visible()


def test_classes_and_properties_are_counted_filtered_and_sorted(space: Page) -> None:
    classes = space.locator(".term-list").first
    expect(classes.locator("td.number")).to_have_count(15)
    counts = [int(text.replace(",", "")) for text in classes.locator("td.number").all_inner_texts()]
    assert counts == sorted(counts, reverse=True)

    head = classes.get_by_role("columnheader", name="Name")
    head.get_by_role("button").click()
    expect(head).to_have_attribute("aria-sort", "ascending")
    names = classes.locator("tbody td:first-child > a").all_inner_texts()
    assert names == sorted(names, key=str.casefold)
    classes.get_by_role("button", name="Last page").click()
    expect(classes.locator("tbody tr")).to_have_count(3)

    classes.get_by_role("searchbox", name="Filter classes").fill("moon")
    expect(classes.locator("tbody tr")).to_have_count(1)
    expect(classes.locator("tbody tr")).to_contain_text(re.compile(r"moon.*55", re.S))


def test_a_name_is_searched_while_it_is_typed_and_leads_to_the_thing(space: Page) -> None:
    box = space.get_by_role("searchbox", name="Search this graph")
    box.fill("titan")
    space.locator(".hit").filter(has_text=re.compile("^Titan *thing")).click()
    expect(space.get_by_role("heading", level=1)).to_have_text("Titan")

    space.go_back()
    expect(box).to_have_value("")
    box.fill("xyzzy nothing")
    expect(space.get_by_text("Nothing in this graph has such a name.")).to_be_visible()


def test_a_question_to_start_with_waits_in_the_question_box(space: Page) -> None:
    link = space.locator(".starter-links a").first
    question = link.inner_text()
    link.click()
    expect(space.locator("[data-question]").last).to_have_value(question)
    expect(space.locator("article.turn")).to_have_count(0)


def test_a_class_has_its_instances_and_their_properties(watch: Watch) -> None:
    page = watch.page(MOON)
    expect(page.locator(".instances li")).to_have_count(55)
    expect(page.get_by_text("A natural body that orbits")).to_have_count(2)
    page.get_by_role("link", name="diameter").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("diameter")


def test_instances_come_in_pages(watch: Watch) -> None:
    page = watch.page(MOON.replace("Moon", "Astronaut"))
    expect(page.locator(".instances li")).to_have_count(60)
    page.get_by_role("button", name="Last page").click()
    expect(page.locator(".instances li")).to_have_count(49)


def test_a_property_says_where_it_is_used(watch: Watch) -> None:
    page = watch.page(DIAMETER)
    used = page.locator(".ends").first
    expect(used).to_contain_text("planet 8")
    used.get_by_role("link", name="moon", exact=True).click()
    expect(page.locator(".instances li")).to_have_count(55)


def test_a_thing_has_its_facts_and_what_points_at_it(watch: Watch) -> None:
    page = watch.page(MARS)
    facts, pointing = page.locator("table.facts").nth(0), page.locator("table.facts").nth(1)
    expect(facts.get_by_role("row", name="diameter")).to_contain_text("6,792")
    expect(pointing.get_by_role("row", name="as “orbits” of")).to_contain_text("Phobos")
    missions = pointing.get_by_role("row", name="as “destination” of")
    expect(missions.locator("li")).to_have_count(20)
    missions.get_by_role("button", name="1 more").click()
    expect(missions.locator("li")).to_have_count(21)
    expect(missions.get_by_role("button", name="more")).to_have_count(0)

    page.get_by_text("Around it, as a graph").click()
    page.locator("canvas").first.wait_for()
    page.get_by_role("link", name="planet", exact=True).first.click()
    expect(page.locator(".instances li")).to_have_count(8)


def test_a_thing_can_be_asked_about(watch: Watch) -> None:
    page = watch.page(MARS)
    page.get_by_role("link", name="Ask about Mars").click()
    expect(page.locator("[data-question]").last).to_have_value("Mars")


def test_a_thing_that_is_not_there_and_a_graph_that_is_not_there_say_so(watch: Watch) -> None:
    page = watch.page(MARS.replace("Mars", "Marsupial"))
    expect(page.get_by_text("The graph says nothing of this.")).to_be_visible()
    watch.allow("status of 404")
    page = watch.page("/graphs/nothing")
    expect(page.get_by_role("alert").first).to_contain_text("nothing")


def test_labels_of_a_graph_stay_text_wherever_they_are_listed(many: Watch) -> None:
    page = many.page("/graphs/hostile")
    page.locator(".term-list").first.wait_for()
    page.get_by_role("link", name="gadget", exact=True).first.click()
    expect(page.locator(".instances li")).to_have_count(2)
    page.get_by_role("link", name="<script>").click()
    facts = page.locator("table.facts").first
    expect(facts).to_contain_text("<img src=x onerror=")
    links = page.locator("main a").evaluate_all("links => links.map(link => link.href)")
    assert [link for link in links if re.match("(javascript|data):", link)] == []
    expect(page.locator("main script, main img")).to_have_count(0)
    page.get_by_text("Around it, as a graph").click()
    page.locator("canvas").first.wait_for()
    assert page.evaluate("window.burst") is None


@pytest.mark.parametrize("path", ["/graphs", "/graphs/space", MOON, MARS, DIAMETER])
def test_the_pages_of_a_graph_fit_a_phone_and_keep_nobody_out(watch: Watch, path: str) -> None:
    page = watch.page(path, width=360, height=740, locale="de-DE")
    page.locator(".graph-card, .term-list, .instances li, .facts").first.wait_for()
    settle(page)
    expect(page.locator("html")).to_have_js_property("scrollWidth", 360)
    assert violations_in_both_themes(page) == []
