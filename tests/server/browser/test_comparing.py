"""One question answered by several methods side by side."""

import re

import pytest
from playwright.sync_api import Page, expect
from tests.server.browser.watched import Watch, settle, violations_in_both_themes

QUESTION = "Which moons have a diameter of more than 2,000 km?"


def choose(page: Page, question: str, *methods: str) -> None:
    page.get_by_role("textbox").fill(question)
    for box in page.get_by_role("checkbox").all():
        if box.is_enabled():
            box.set_checked(False)
    for method in methods:
        page.get_by_role("checkbox", name=method).check()
    page.locator(".compare-button").click()


def compare(page: Page, question: str, *methods: str) -> None:
    choose(page, question, *methods)
    expect(page.locator(".entry .numbers")).to_have_count(len(methods))


def test_two_methods_answer_and_it_is_said_whether_they_agree(watch: Watch) -> None:
    page = watch.page("/compare")
    compare(page, QUESTION, "Graph search", "Multi stage")

    expect(page.locator(".summary")).to_contain_text(re.compile("methods? "))
    search = page.locator("[data-method=graph-search]")
    expect(search.locator(".headline")).to_contain_text("Titan")
    expect(search.locator(".numbers")).to_contain_text("Tokens\n0", use_inner_text=True)
    expect(search.locator(".result-letter")).to_have_text(re.compile("Result [AB]"))
    search.get_by_text("Query", exact=True).click()
    expect(search.locator("pre")).to_contain_text("SELECT")
    search.get_by_text("Result", exact=True).click()
    expect(search.locator(".result-table tbody tr")).to_have_count(7)


def test_a_query_is_shown_against_the_first_one(watch: Watch) -> None:
    page = watch.page("/compare")
    compare(page, "How big is Titan?", "Graph search", "Multi stage")
    other = page.locator("[data-method=multi-stage]")
    other.get_by_text("Query", exact=True).click()
    expect(other.locator("figcaption")).to_contain_text("Graph search")


def test_a_method_that_cannot_be_asked_here_says_what_it_needs(watch: Watch) -> None:
    page = watch.page("/compare")
    expect(page.get_by_role("checkbox", name="Nearest example")).to_be_disabled()
    expect(page.get_by_title("needs a file of questions").first).to_be_visible()


@pytest.mark.parametrize(
    ("locale", "name", "reason"),
    [
        ("de-DE", "Ähnlichstes Beispiel", "Braucht eine Datei mit bekannten Fragen"),
        ("fr-FR", "Exemple le plus proche", "Demande un fichier de questions connues"),
        ("es-ES", "Ejemplo más cercano", "Necesita un archivo de preguntas conocidas"),
    ],
)
def test_methods_are_told_of_in_the_language_of_the_page(
    watch: Watch, locale: str, name: str, reason: str
) -> None:
    page = watch.page("/compare", locale=locale)
    box = page.locator(".method-choices label").filter(has_text=name)
    expect(box).to_contain_text(reason)
    expect(page.locator(".method-choices")).not_to_contain_text(re.compile("[Nn]eeds |The query"))
    served = page.request.get(f"{watch.address}/api/v1/methods").json()["methods"]
    expect(page.locator(".method-choices label")).to_have_count(len(served))
    for one in served:
        expect(page.locator(".method-choices")).not_to_contain_text(one["words"])


def test_a_link_to_a_comparison_shows_it_without_asking_anew(watch: Watch) -> None:
    page = watch.page("/compare")
    compare(page, QUESTION, "Graph search", "Multi stage")
    expect(page).to_have_url(re.compile("run=.*run="))
    address = page.url.removeprefix(watch.address)
    asked: list[str] = []
    other = watch.another(page.context, "/compare")
    other.on("request", lambda request: asked.append(f"{request.method} {request.url}"))

    other.goto(watch.address + address)

    expect(other.locator(".entry .numbers")).to_have_count(2)
    expect(other.get_by_role("textbox")).to_have_value(QUESTION)
    assert [one for one in asked if one.startswith("POST") and one.endswith("/ask")] == []


def test_one_method_is_not_enough_and_those_without_a_model_cannot_be_chosen(watch: Watch) -> None:
    page = watch.page("/compare")
    page.get_by_role("textbox").fill(QUESTION)
    expect(page.get_by_role("checkbox", name="GRASP")).to_be_disabled()
    chosen = page.get_by_role("checkbox", checked=True)
    expect(chosen).to_have_count(2)
    chosen.last.click()
    expect(page.get_by_text("Choose at least two methods.")).to_be_visible()
    expect(page.locator(".compare-button")).to_be_disabled()


def test_a_comparison_fits_a_phone_and_keeps_nobody_out(watch: Watch) -> None:
    page = watch.page("/compare", width=360, height=740)
    compare(page, QUESTION, "Graph search", "Multi stage")
    for summary in page.locator(".entry summary").all():
        summary.click()
    settle(page)
    expect(page.locator("html")).to_have_js_property("scrollWidth", 360)
    assert violations_in_both_themes(page) == []
