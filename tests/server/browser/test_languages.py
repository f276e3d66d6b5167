"""The page in each of its languages: nothing of its own is left in English."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from tests.server.browser.watched import Watch, ask, settle

from askgraph import sample

_SOURCES = Path(__file__).parents[3] / "src" / "askgraph" / "serve" / "web" / "src"

SHOWN = """() => {
  const found = [];
  const own = node => !node.closest("[lang=en]:not(html), noscript, .cm-editor, svg[aria-hidden]");
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode())
    if (own(walk.currentNode.parentElement)) found.push(walk.currentNode.data);
  for (const name of ["aria-label", "title", "placeholder", "alt"])
    for (const node of document.querySelectorAll(`[${name}]`))
      if (own(node)) found.push(node.getAttribute(name));
  return [document.title, ...found].map(text => text.trim()).filter(Boolean);
}"""
"""All that the page says to readers and listeners, but for what is marked as English."""

ASKED = {
    "de": (
        "Wer entdeckte Uranus?",
        "Wie hoch ist der Eiffelturm?",
        "Wie viele Einwohner hat der Mars?",
    ),
    "fr": ("Qui a découvert Titan ?", "Quelle est la hauteur de la tour Eiffel ?", "Bonjour"),
    "es": (
        "¿Cuál es la masa de Saturno?",
        "¿Cuál es la altura de la torre Eiffel?",
        "¿Cuál es la población de Marte?",
    ),
}
"""In each language a question with an answer, one that is refused, and one that is asked back."""


def texts(language: str) -> Iterator[tuple[str, str]]:
    """Every text of the page in English, with itself in another language."""
    loaded: dict[str, Any] = {}
    if language != "de":
        loaded = json.loads((_SOURCES / "i18n" / f"{language}.json").read_text(encoding="utf-8"))
    for path in _SOURCES.glob("*/*.json"):
        if path.parent.name == "i18n":
            continue
        own = loaded.get(path.relative_to(_SOURCES).with_suffix("").as_posix(), {})
        for key, row in json.loads(path.read_text(encoding="utf-8")).items():
            yield from zip(said(row[0]), said(own[key] if loaded else row[1]), strict=True)


def said(text: Any) -> list[str]:
    """The words of a text: itself, each of several, or the form for any number."""
    match text:
        case str():
            return [text]
        case list():
            return text
        case _:
            return [text["other"]]


def english_left(page: Page, language: str) -> list[str]:
    """What the page says as the English texts have it, where its language says it otherwise."""
    pairs = [(english, own) for english, own in texts(language) if own != english]
    labels = re.findall(r'"([^"]+)"@en', sample.graph_path().read_text(encoding="utf-8"))
    kept = {*labels, *(own for _, own in pairs)}
    words = [re.escape(english) for english, _ in pairs if english not in kept]
    pattern = re.compile("|".join(re.sub(r"\\\{\w+\\\}", ".+", one) for one in words))
    return [text for text in page.evaluate(SHOWN) if pattern.fullmatch(text)]


@pytest.mark.parametrize("language", ASKED)
def test_a_language_leaves_no_word_of_the_pages_english(watch: Watch, language: str) -> None:
    answered, refused, asked_back = ASKED[language]
    page = watch.page(locale=language)
    expect(page.locator("html")).to_have_attribute("lang", language)
    page.locator("button.starter").first.wait_for()
    assert english_left(page, language) == []

    ask(page, answered)
    page.locator(".read-back .part").first.wait_for()
    for fold in page.locator("details > summary").all():
        fold.click()
    page.locator(".cm-content").wait_for()
    settle(page)
    assert english_left(page, language) == []
    for question, status in ((refused, "refusal"), (asked_back, "clarification")):
        ask(page, question)
        page.locator(f".answer[data-status={status}]").wait_for()
        settle(page)
        assert english_left(page, language) == []

    page.locator("body").press("Escape")
    page.locator("h1, h2").last.click()
    page.keyboard.press("?")
    page.get_by_role("dialog").wait_for()
    assert english_left(page, language) == []
    page.get_by_role("dialog").get_by_role("button").last.click()
    for path in ("/graphs", "/graphs/space", "/compare", "/history", "/graphs/none", "/nowhere"):
        if path == "/graphs/none":
            watch.allow("404")
        page.goto(watch.address + path)
        page.get_by_role("heading").first.wait_for()
        settle(page)
        assert english_left(page, language) == []


def test_english_that_is_left_would_be_found(watch: Watch) -> None:
    page = watch.page(locale="en-GB")
    page.locator("button.starter").first.wait_for()
    for language in ASKED:
        assert "What would you like to know?" in english_left(page, language)


def test_a_language_is_chosen_and_kept_and_writes_numbers_and_days_as_its_people_do(
    watch: Watch,
) -> None:
    page = watch.page(locale="en-GB")
    ask(page, "When was Apollo 11 launched?")
    page.get_by_text("Result and evidence").click()
    for language, own, name, day in (
        ("fr", "Français", "Language: English", "16 juillet 1969"),
        ("es", "Español", "Langue", "16 de julio de 1969"),
        ("de", "Deutsch", "Idioma: Español", "16. Juli 1969"),
    ):
        page.get_by_role("button", name=name).click()
        page.get_by_role("radio", name=own).click()
        page.keyboard.press("Escape")
        expect(page.locator("html")).to_have_attribute("lang", language)
        expect(page.locator("td").filter(has_text=day).first).to_be_attached()
    page.reload()
    expect(page.locator("html")).to_have_attribute("lang", "de")
    page.get_by_role("button", name="Sprache: Deutsch").click()
    page.get_by_role("radio", name="English").click()
    expect(page.get_by_text("Sure", exact=True)).to_be_visible()


def test_only_the_language_that_is_spoken_is_loaded(watch: Watch) -> None:
    page = watch.page(locale="fr-CA")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Que voulez-vous savoir")
    loaded = page.evaluate("performance.getEntriesByType('resource').map(one => one.name)")
    assert [re.findall(r"words_(\w\w)", name) for name in loaded if "words_" in name] == [["fr"]]
