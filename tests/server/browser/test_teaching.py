"""A word of a question is taught on the page; then the question is asked again, and answered."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.fleet import FLEET
from tests.server.browser.conftest import watching
from tests.server.browser.watched import Watch, ask, settle, violations_in_both_themes
from tests.servers.served import ServedThread

from askgraph.graph.glossary import Entry
from askgraph.workspace import Workspace

SIZES = {"phone": (390, 844), "desk": (1200, 850)}
QUESTION = "Which haulers are heavier than 1000?"


@pytest.fixture
def place(tmp_path: Path) -> Workspace:
    (tmp_path / "fleet.ttl").write_text(FLEET)
    workspace = Workspace(tmp_path / "workspace")
    workspace.add("fleet", [tmp_path / "fleet.ttl"])
    return workspace


@pytest.fixture
def watch(browser: Browser, place: Workspace) -> Iterator[Watch]:
    with ServedThread(place, database=str(place.folder / "serve.db")) as server:
        yield from watching(browser, server.url)


def unfolded(page: Page) -> None:
    page.locator("summary", has_text="Say what a word means").click()
    settle(page)


def takes(page: Page, typed: str, name: str) -> None:
    page.get_by_role("searchbox", name="A class, a property, a thing").fill(typed)
    offers = page.get_by_role("list", name="What it may mean")
    offers.get_by_role("button", name=name).first.click()


@pytest.mark.parametrize("size", SIZES)
def test_a_word_is_taught_for_two_classes_and_the_question_asked_again(
    watch: Watch, place: Workspace, size: str
) -> None:
    width, height = SIZES[size]
    page = watch.page(width=width, height=height)
    ask(page, QUESTION)
    before = page.url
    unfolded(page)
    words = page.locator(".teach fieldset button")
    expect(words.first).to_have_text("haulers")
    expect(words.first).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_role("button", name="Teach it and ask again")).to_be_disabled()
    takes(page, "lor", "lorry a class")
    takes(page, "car", "car a class")
    expect(page.locator(".meant li")).to_have_text(["lorry", "orcar"])
    assert violations_in_both_themes(page) == []

    page.get_by_role("button", name="Teach it and ask again").click()

    sentence = page.locator(".read-back-words")
    expect(sentence.get_by_role("button", name="lorries")).to_have_text("lorries")
    expect(sentence).to_contain_text("“haulers” means lorries and cars (taught)")
    expect(page.locator(".headline")).to_contain_text("Mule")
    expect(page).not_to_have_url(before)
    assert place.glossary("fleet").entries[0].word == "haulers"
    page.reload()
    expect(page.locator(".read-back-words")).to_contain_text("(taught)")


def test_wrong_opens_it_and_a_word_can_be_the_same_as_another_by_keys_alone(watch: Watch) -> None:
    page = watch.page()
    ask(page, "How many ships are there?")
    expect(page.locator(".headline")).to_contain_text("The number of ships is 1")
    page.get_by_role("button", name="Wrong").press("Enter")
    settle(page)
    words = page.locator(".teach fieldset")
    words.get_by_role("button", name="ships").focus()
    page.keyboard.press("Enter")
    field = page.get_by_role("searchbox", name="A class, a property, a thing")
    field.fill("lorries")
    expect(page.get_by_role("button", name="the same as “lorries”")).to_be_visible()
    field.press("ArrowDown")
    expect(page.locator(".alternative").first).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(field).to_be_focused()
    for _ in range(page.locator(".alternative").count()):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Teach it and ask again").press("Enter")

    expect(page.locator(".read-back-words")).to_contain_text("“ships” means lorries (taught)")
    expect(page.locator(".headline")).to_contain_text("2 lorries")


def test_what_cannot_be_taught_is_said_where_it_was_entered(watch: Watch) -> None:
    watch.allow("422")
    page = watch.page()
    ask(page, QUESTION)
    unfolded(page)
    takes(page, "freighter", "the same as “freighter”")
    page.get_by_role("button", name="Teach it and ask again").click()
    expect(page.locator(".teach .note.bad")).to_contain_text("cannot be the same as 'freighter'")
    page.get_by_role("button", name="Without").click()
    takes(page, "weig", "weight a property")
    page.get_by_role("textbox", name="Word or phrase").fill("heavier")
    expect(page.get_by_role("button", name="Teach it and ask again")).to_be_enabled()


@pytest.mark.parametrize("size", SIZES)
def test_what_was_taught_is_listed_taken_away_and_put_back(
    watch: Watch, place: Workspace, size: str
) -> None:
    place.teach(
        "fleet",
        Entry("haulers", ("car", "lorry")),
        Entry("boats", same_as="ship"),
        Entry("tubs", same_as="boats"),
        Entry("light fleet", query="SELECT ?v { ?v o:weight 900 }"),
        instructions="Weights are in kilograms.",
    )
    kept = place.glossary("fleet")
    width, height = SIZES[size]
    page = watch.page("/graphs/fleet", width=width, height=height)
    words = page.get_by_role("list", name="Words it was taught").locator("li")
    expect(words).to_have_count(4)
    expect(words.nth(1)).to_contain_text("haulers car or lorry")
    expect(words.nth(2)).to_contain_text("SELECT ?v { ?v o:weight 900 }")
    expect(page.get_by_text("Language models are told: Weights are in kil")).to_be_visible()
    assert violations_in_both_themes(page) == []

    page.get_by_role("button", name="Remove “haulers”").click()
    expect(words).to_have_count(3)
    expect(page.get_by_role("button", name="Undo")).to_be_focused()
    assert place.glossary("fleet").of("haulers") is None
    page.keyboard.press("Enter")
    expect(words).to_have_count(4)
    expect(page.get_by_role("button", name="Undo")).to_have_count(0)
    assert place.glossary("fleet") == kept

    watch.allow("422")
    page.get_by_role("button", name="Remove “boats”").click()
    expect(page.locator(".note.bad")).to_contain_text("'tubs' cannot be the same as 'boats'")
    expect(words).to_have_count(4)


@pytest.mark.parametrize(
    ("tongue", "title", "said"),
    [
        ("de-DE", "Gelernte Wörter", "„boats“ wurde entfernt."),
        ("fr-FR", "Mots appris", "«\u00a0boats\u00a0» a été retiré."),
        ("es-ES", "Palabras aprendidas", "Se quitó «boats»."),
    ],
)
def test_the_list_of_taught_words_speaks_the_language(
    watch: Watch, place: Workspace, tongue: str, title: str, said: str
) -> None:
    place.teach("fleet", Entry("boats", same_as="ship"))
    page = watch.page("/graphs/fleet", locale=tongue)
    words = page.get_by_role("list", name=title)
    words.get_by_role("button").click()
    expect(page.get_by_text(said)).to_be_visible()
    expect(words.locator("li")).to_have_count(0)


def test_who_may_not_change_the_graph_is_told_so(browser: Browser, place: Workspace) -> None:
    with ServedThread(place, anonymous=("ask", "query")) as server:
        for watch in watching(browser, server.url):
            page = watch.page()
            ask(page, QUESTION)
            unfolded(page)
            said = "Only those who may change this graph can teach it words"
            expect(page.locator(".fold .note")).to_contain_text(said)
            expect(page.locator(".teach")).to_have_count(0)
            place.teach("fleet", Entry("boats", same_as="ship"))
            page.goto(f"{server.url}/graphs/fleet")
            listed = page.get_by_role("list", name="Words it was taught")
            expect(listed).to_contain_text("the same as “ship”")
            expect(listed.get_by_role("button")).to_have_count(0)
