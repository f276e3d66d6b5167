"""How a question was read, as a sentence whose parts can be changed."""

import re

import pytest
from playwright.sync_api import Page, expect
from tests.server.browser.watched import Watch, ask


def test_a_thing_is_changed_for_another_one_and_the_answer_with_it(page: Page) -> None:
    ask(page, "Which moons orbit Mars?")
    page.get_by_role("button", name="Mars", exact=True).click()
    alternatives = page.get_by_role("list", name="Take instead")

    alternatives.get_by_role("button", name=re.compile("^Neptune.*6 rows")).click()

    expect(page.locator(".headline a")).to_have_count(6)
    expect(page.locator(".headline")).to_contain_text("Triton")
    expect(page.locator(".read-back-words")).to_contain_text("Neptune")
    expect(page.get_by_role("group", name="Read as")).to_be_focused()
    page.get_by_role("button", name="Back to the original").first.click()
    expect(page.locator(".headline a")).to_have_text(["Deimos", "Phobos"])


def test_a_thing_that_is_not_offered_is_searched_for(page: Page) -> None:
    ask(page, "Which moons orbit Mars?")
    page.get_by_role("button", name="Mars", exact=True).click()
    page.get_by_role("searchbox", name="Search the graph").fill("pluto")
    page.get_by_role("button", name=re.compile("^Pluto")).first.click()
    expect(page.locator(".headline")).to_contain_text("Charon")


@pytest.mark.parametrize(
    ("width", "height", "dark"), [(1280, 800, False), (390, 844, False), (390, 844, True)]
)
def test_a_thing_is_found_and_taken_by_keys(
    watch: Watch, width: int, height: int, dark: bool
) -> None:
    page = watch.page(width=width, height=height, dark=dark)
    ask(page, "Which moons orbit Mars?")
    page.get_by_role("button", name="Mars", exact=True).click()
    page.get_by_role("searchbox", name="Search the graph").fill("neptune")
    expect(page.locator(".alternative").first).to_contain_text("Neptune")
    page.keyboard.press("ArrowDown")
    expect(page.locator(".alternative").first).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator(".headline")).to_contain_text("Triton")


def test_what_is_offered_instead_is_in_the_order_of_what_is_known_of_it(page: Page) -> None:
    ask(page, "What orbits the Sun?")
    page.get_by_role("button", name="Sun", exact=True).click()
    offered = page.locator(".alternative bdi:first-child")
    expect(offered.nth(1)).to_be_visible()
    names = offered.all_inner_texts()
    assert names[:2] == ["Mars", "Saturn"]  # though nine times as many moons are of Saturn
    assert "Apophis" not in names


def test_a_property_is_changed(page: Page) -> None:
    ask(page, "How big is Titan?")
    page.get_by_role("button", name="diameter", exact=True).click()
    page.get_by_role("searchbox", name="Search the graph").fill("mass")
    expect(page.get_by_role("button", name=re.compile("^liftoff mass"))).to_be_visible()
    page.get_by_role("button", name=re.compile("^mass")).first.click()
    expect(page.locator(".read-back-words")).to_contain_text("The mass of Titan.")


def test_a_value_is_written_anew(page: Page) -> None:
    ask(page, "Which moons have a diameter of more than 2,000 km?")
    expect(page.locator(".headline a")).to_have_count(7)
    page.locator(".part.value").click()
    page.get_by_role("textbox", name="Another value").fill("5000")
    page.get_by_role("button", name="Use it").click()
    expect(page.locator(".headline a")).to_have_text(["Ganymede", "Titan"])


def test_a_question_in_german_is_read_back_in_german_and_changed_in_german(watch: Watch) -> None:
    page = watch.page()
    ask(page, "Welche Monde umkreisen den Mars?")
    sentence = page.locator(".read-back-words")
    expect(sentence).to_contain_text("Mond")
    page.get_by_role("button", name="Mars", exact=True).click()
    page.get_by_role("button", name=re.compile("^Erde")).click()
    expect(page.locator(".headline")).to_contain_text("Mond")
    expect(sentence).to_contain_text("Erde")
