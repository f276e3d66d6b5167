"""The page by keyboard and by ear: order, names, focus, dialogs, and what is said."""

import re
from itertools import pairwise
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from tests.server.browser.watched import Watch, ask, settle

ASKED = {
    "en-GB": ("Which planets have no moons?", "Answer: "),
    "de-DE": ("Welche Monde umkreisen den Mars?", "Antwort: "),
    "fr-FR": ("Qui a découvert Titan ?", "Réponse\u00a0: "),
    "es-ES": ("¿Cuál es la masa de Saturno?", "Respuesta: "),
}
"""In each language a question, and how its answer is announced."""

FOCUSED = """() => {
  let node = document.activeElement;
  while (node.shadowRoot?.activeElement) node = node.shadowRoot.activeElement;
  if (node === document.body) return null;
  const box = node.getBoundingClientRect();
  const around = node.closest(".question-box, .editor") ?? node;
  const frames = [node, around].map(one => getComputedStyle(one));
  return {
    name: node.outerHTML.slice(0, 120),
    top: box.top + scrollY, left: box.left, height: box.height,
    area: node.closest("header") ? "bar" : node.closest(".follow-up") ? "follow-up" :
      node.matches(".skip-link") ? "skip" : "main",
    seen: box.width > 0 && box.height > 0 && frames.some(style =>
      (style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2) ||
      style.boxShadow.includes("3px")),
  };
}"""
"""The element that has the keyboard, where it stands, and whether that is seen."""


def stops(page: Page) -> list[dict[str, Any]]:
    """What the Tab key leads to, from the first to the last."""
    page.evaluate("document.activeElement.blur(); scrollTo(0, 0)")
    page.locator("body").evaluate("body => { body.tabIndex = -1; body.focus(); }")
    page.locator("body").evaluate("body => body.removeAttribute('tabindex')")
    found: list[dict[str, Any]] = []
    for _ in range(150):
        page.keyboard.press("Tab")
        one = page.evaluate(FOCUSED)
        if one is None or (found and one["name"] == found[0]["name"]):
            return found
        found.append(one)
    raise AssertionError("Tab does not come to an end")


def unnamed(page: Page) -> list[str]:
    """The roles of what can have the keyboard, but has no name for those who hear the page."""
    session = page.context.new_cdp_session(page)
    nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    session.detach()
    focusable = [
        node
        for node in nodes
        if not node.get("ignored")
        and any(
            one["name"] == "focusable" and one["value"].get("value")
            for one in node.get("properties", [])
        )
        and node["role"]["value"] not in ("RootWebArea", "main", "generic", "heading", "group")
    ]
    assert len(focusable) > 5
    return [
        node["role"]["value"]
        for node in focusable
        if not node.get("name", {}).get("value", "").strip()
    ]


@pytest.mark.parametrize("locale", ASKED)
def test_an_answer_is_announced_and_all_that_can_be_pressed_has_a_name(
    watch: Watch, locale: str
) -> None:
    question, announced = ASKED[locale]
    page = watch.page(locale=locale)
    page.locator("button.starter").first.wait_for()
    assert unnamed(page) == []
    ask(page, question)
    settle(page)
    expect(page.locator(".answer [role=status]").first).to_have_text(re.compile(f"^{announced}\\S"))
    for fold in page.locator("details > summary").all():
        fold.click()
    page.locator(".cm-content").wait_for()
    settle(page)
    assert unnamed(page) == []
    for path in ("/graphs", "/graphs/space", "/compare", "/history", "/boards", "/add"):
        page.goto(watch.address + path)
        page.get_by_role("heading", level=1).wait_for()
        settle(page)
        assert unnamed(page) == [], path


@pytest.mark.parametrize(
    ("width", "height", "dark"), [(1280, 800, False), (390, 844, False), (390, 844, True)]
)
def test_tab_goes_through_an_answer_as_it_is_read_and_the_focus_is_seen(
    watch: Watch, width: int, height: int, dark: bool
) -> None:
    page = watch.page(width=width, height=height, dark=dark)
    ask(page, "How many moons are listed for each planet?")
    settle(page)
    page.get_by_role("region", name="Ask next").wait_for()
    found = stops(page)
    assert [one["name"] for one in found if not one["seen"]] == []
    areas = [one["area"] for one in found]
    assert areas == sorted(areas, key=["skip", "bar", "main", "follow-up"].index)
    assert {"skip", "bar", "main", "follow-up"} == set(areas)
    main = [one for one in found if one["area"] == "main"]
    assert len(main) > 12
    for before, after in pairwise(main):
        is_beside = abs(after["top"] - before["top"]) < max(before["height"], after["height"])
        assert is_beside or after["top"] > before["top"], (before["name"], after["name"])


def test_the_first_tab_leads_past_the_bar(watch: Watch) -> None:
    page = watch.page("/graphs")
    page.get_by_role("heading", level=1).wait_for()
    page.keyboard.press("Tab")
    skip = page.get_by_role("link", name="Skip to the content")
    expect(skip).to_be_focused()
    expect(skip).to_be_in_viewport(ratio=1)
    page.keyboard.press("Enter")
    expect(page.locator("#content")).to_be_focused()


def test_what_opens_gives_the_keyboard_back_when_it_closes(page: Page) -> None:
    ask(page, "Which moons orbit Mars?")
    settle(page)
    for name in ("Mars", "Share", "Language: English"):
        button = page.get_by_role("button", name=name).first
        button.focus()
        page.keyboard.press("Enter")
        expect(page.locator(".popover")).to_have_count(1)
        expect(page.locator(".popover :focus")).to_have_count(1)
        page.keyboard.press("Escape")
        expect(page.locator(".popover")).to_have_count(0)
        expect(button).to_be_focused()
    theme = page.get_by_role("button", name=re.compile("^Theme"))
    theme.focus()
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keyboard shortcuts")
    expect(dialog.locator(":focus")).to_have_count(1)
    for _ in range(8):  # the keyboard stays in the dialog
        page.keyboard.press("Tab")
        assert page.evaluate("Boolean(document.activeElement.closest('dialog, body'))")
        assert not page.evaluate("Boolean(document.activeElement.closest('main, header'))")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(theme).to_be_focused()
