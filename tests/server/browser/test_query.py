"""The query of an answer, in its editor: coloured, completed, looked over, laid out, run."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect
from tests.server.browser.watched import Watch, ask


def opened_editor(page: Page, question: str = "How big is Titan?") -> Locator:
    """Ask, open the query, and put the cursor behind its text."""
    ask(page, question)
    page.locator("details.query > summary").click()
    editor = page.get_by_role("textbox", name="SPARQL query")
    editor.click()
    page.keyboard.press("Control+End")
    return editor


def write(page: Page, query: str) -> None:
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    page.keyboard.insert_text(query)


def test_a_query_that_is_edited_and_run_gives_another_answer(page: Page) -> None:
    editor = opened_editor(page)
    expect(editor).to_contain_text("space:Titan ont:diameter ?diameter")
    expect(editor.locator("span").nth(5), "it is coloured").to_be_attached()

    write(page, "SELECT ?mass { space:Mars ont:mass ?mass }")
    page.get_by_role("button", name="Run").click()

    expect(page.locator(".headline")).to_contain_text("6.417 × 10²³ kg")
    expect(page.locator(".read-back-words")).to_contain_text("The mass of Mars.")
    expect(page.locator(".confidence")).to_have_count(0)
    page.locator(".chosen-reading").get_by_role("button").click()
    expect(page.locator(".headline")).to_contain_text("5,149.5 km")
    expect(editor).to_contain_text("space:Titan")


def test_what_was_edited_is_undone_redone_and_laid_out(page: Page) -> None:
    editor = opened_editor(page)
    write(page, "ask{space:Io a ont:Moon}")
    page.get_by_role("button", name="Format").click()
    expect(editor).to_contain_text("space:Io a ont:Moon .")
    page.get_by_role("button", name="Undo").click()
    expect(editor).to_contain_text("ask{space:Io a ont:Moon}")
    page.get_by_role("button", name="Redo").click()
    expect(editor).to_contain_text("space:Io a ont:Moon .")
    page.locator(".editor").get_by_role("button", name="Back to the original").click()
    expect(editor).to_contain_text("space:Titan")


def test_names_of_the_graph_complete_a_query_by_their_labels(page: Page) -> None:
    editor = opened_editor(page)
    write(page, "SELECT * { ?x ")
    page.keyboard.type("discov")
    page.get_by_role("option", name=re.compile("ont:discoveryYear")).click()
    expect(editor).to_contain_text("?x ont:discoveryYear")


def test_what_is_wrong_with_a_query_is_said_while_it_is_written(page: Page) -> None:
    editor = opened_editor(page)
    write(page, "SELECT * {\n  ?x ont:orbts space:Mars\n}")
    findings = page.locator(".editor .findings")
    expect(findings).to_contain_text("ont:orbts")
    expect(findings).to_contain_text("Line 2:")
    expect(editor.locator(".cm-lintRange")).not_to_have_count(0)

    write(page, "SELECT * {\n  ?x ont:orbits space:Mars\n}")
    expect(findings.locator("li")).to_have_count(0)


def test_a_query_that_cannot_be_read_says_where_and_keeps_the_answer(watch: Watch) -> None:
    watch.allow("status of 400")
    page = watch.page()
    opened_editor(page)
    write(page, "SELECT * {\n  ?x ont:orbits \n}")
    page.get_by_role("button", name="Run").click()
    expect(page.get_by_role("alert")).to_contain_text("'}' was not expected here")
    expect(page.locator(".editor .findings")).to_contain_text("Line 3:")
    expect(page.locator(".headline")).to_have_text("The changed query could not be run")
    page.get_by_role("button", name="Back to the answer").click()
    expect(page.locator(".headline")).to_contain_text("5,149.5 km")
    expect(page.get_by_role("alert")).to_have_count(0)


def test_a_query_with_names_that_the_graph_has_not_says_so(page: Page) -> None:
    opened_editor(page)
    write(page, "SELECT ?x { ?x ont:orbts space:Mars }")
    page.get_by_role("button", name="Run").click()
    expect(page.locator(".headline")).to_contain_text("Nothing in the graph fits")
    expect(page.locator(".answer .note.warn")).to_contain_text("ont:orbts")


@pytest.mark.parametrize("query", ["DELETE WHERE { ?s ?p ?o }", "CLEAR ALL"])
def test_a_query_that_would_change_the_graph_is_refused(watch: Watch, query: str) -> None:
    watch.allow("status of 40")
    page = watch.page()
    opened_editor(page)
    write(page, query)
    page.get_by_role("button", name="Run").click()
    expect(page.get_by_role("alert")).to_be_visible()
    page.get_by_role("button", name="Back to the answer").click()
    expect(page.locator(".headline")).to_contain_text("5,149.5 km")


def test_triples_that_a_query_makes_are_a_table(page: Page) -> None:
    opened_editor(page)
    write(page, "CONSTRUCT { ?x ont:orbits space:Mars } WHERE { ?x ont:orbits space:Mars }")
    page.get_by_role("button", name="Run").click()
    expect(page.locator(".headline")).to_contain_text("rows")
    expect(page.locator(".result-view")).to_contain_text("Phobos")


def test_an_edited_query_that_is_confirmed_is_the_answer_from_then_on(watch: Watch) -> None:
    question = "Which moons did Galileo find?"
    page = watch.page()
    opened_editor(page, question)
    write(page, "SELECT ?moon { ?moon ont:discoverer space:Galileo_Galilei }")
    page.get_by_role("button", name="Run").click()
    expect(page.get_by_text("You chose this reading")).to_be_visible()
    expect(page.locator(".headline")).to_contain_text("Ganymede")
    page.get_by_role("button", name="Right").click()
    expect(page.locator(".chip.good")).to_have_text("Confirmed")

    other = watch.page()
    ask(other, question)
    expect(other.locator(".note.good")).to_contain_text("Confirmed before")
    expect(other.locator(".headline")).to_contain_text("Ganymede")
    expect(other.get_by_role("button", name="Withdraw")).to_have_count(0)
    page.get_by_role("button", name="Withdraw").click()
    expect(page.get_by_role("button", name="Right")).to_be_visible()


def test_a_confirmed_answer_is_withdrawn_where_one_meets_it(page: Page) -> None:
    question = "How big is Titan?"
    for way in ("note", "wrong"):
        page.goto(page.url.partition("/run")[0])
        ask(page, question)
        page.get_by_role("button", name="Right").click()
        expect(page.locator(".chip.good")).to_have_text("Confirmed")
        page.goto(page.url.partition("/run")[0])
        ask(page, question)
        note = page.locator(".note.good")
        expect(note).to_contain_text("Confirmed before")
        if way == "note":
            note.get_by_role("button", name="Withdraw").click()
        else:
            page.get_by_role("button", name="Wrong").click()
            expect(page.get_by_role("checkbox", name="Withdraw the confirmed")).to_be_checked()
            page.get_by_role("button", name="Send").click()
        expect(note).to_contain_text("Withdrawn")
        note.get_by_role("button", name="Ask again").click()
        expect(page.locator(".headline")).to_contain_text("5,149.5 km")
        expect(note).to_have_count(0)


def test_a_graph_lists_its_verified_answers_to_withdraw_them(page: Page) -> None:
    question = "Which moons orbit Mars?"
    ask(page, question)
    page.get_by_role("button", name="Right").click()
    expect(page.locator(".chip.good")).to_have_text("Confirmed")
    page.goto(page.url.partition("/run")[0] + "/graphs/space")
    listed = page.locator(".verified-list")
    expect(listed).to_contain_text(question)
    listed.get_by_role("button", name=f"Withdraw the answer to “{question}”").click()
    expect(page.locator(".verified-list")).to_have_count(0)
