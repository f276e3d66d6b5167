"""Credentials in the page: the answer, how it came about, and what one does next."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect
from tests.server.browser.watched import Watch, ask, settle, violations


def test_a_value_is_the_answer_large_with_its_reading_and_how_sure_it_is(page: Page) -> None:
    ask(page, "What is the diameter of Titan?")

    answer = page.locator(".answer")
    expect(answer.locator(".headline")).to_contain_text("5,149.5 km")
    expect(answer.locator(".read-back-words")).to_contain_text("The diameter of Titan.")
    expect(answer.locator(".confidence")).to_contain_text("Sure")
    expect(page).to_have_url(re.compile(r"/run/[\w-]{16,}$"))


def test_a_yes_is_a_yes(page: Page) -> None:
    ask(page, "Is Titan a moon of Saturn?")
    expect(page.locator(".headline")).to_have_text("Yes, Titan orbits Saturn.")


def test_names_are_a_list_and_lead_to_the_things(page: Page) -> None:
    ask(page, "Which planets have no moons?")
    names = page.locator(".headline.said a")
    expect(names).to_have_text(["Mercury", "Venus"])
    expect(names.first).to_have_attribute(
        "href", "/graphs/space?iri=https%3A%2F%2Fexample.org%2Fspace%2FMercury"
    )


def test_the_steps_are_folded_away_but_there(page: Page) -> None:
    ask(page, "How big is Titan?")
    steps = page.locator("details.steps")
    expect(steps.locator(".step").first).to_be_hidden()

    steps.locator("summary").first.click()

    expect(steps.locator(".mentions")).to_contain_text("Titan")
    expect(steps.locator(".step-draft").first).to_be_visible()
    expect(steps.locator("summary").first).to_contain_text(re.compile(r"\d+ steps · .*\d+ quer"))


def test_another_reading_is_opened_in_place_of_the_answer(page: Page) -> None:
    ask(page, "When was Armstrong born?")
    page.get_by_text(re.compile(r"^Other readings")).click()
    expect(page.locator(".drafts p[dir]").first).to_have_text(re.compile(r"^The .*\.$"))

    first = page.url
    page.locator(".drafts").get_by_role("button", name="Open").first.click()

    expect(page.get_by_text("You chose this reading")).to_be_visible()
    expect(page.locator(".confidence")).to_have_count(0)
    expect(page).not_to_have_url(first)
    page.get_by_role("button", name="Back to the original").click()
    expect(page.locator(".headline")).to_contain_text("5 August 1930")
    expect(page).to_have_url(first)
    page.go_back()
    expect(page.get_by_text("You chose this reading")).to_be_visible()


def test_what_comes_later_moves_nothing_that_one_is_about_to_press(watch: Watch) -> None:
    page = watch.page("/compare")
    expect(page.get_by_role("textbox")).to_be_visible()
    held: list[Route] = []
    page.route("**/assets/Arranging-*.js", lambda route: held.append(route))
    page.get_by_role("link", name="askgraph: to the question box").click()
    ask(page, "When was Armstrong born?")
    readings = page.get_by_text(re.compile(r"^Other readings"))
    page.locator(".read-back .part").first.wait_for()  # and then the chips are to be loaded
    page.locator(".later").wait_for(state="attached")
    before = readings.bounding_box()
    assert held
    for route in held:
        route.continue_()
    settle(page)
    assert readings.bounding_box() == before


def test_other_readings_read_differently_each(page: Page) -> None:
    ask(page, "When was Armstrong born?")
    page.get_by_text(re.compile(r"^Other readings")).click()
    page.locator(".drafts p[dir]").first.wait_for()
    texts = page.locator(".drafts p[dir]").all_inner_texts()
    assert len(texts) == len(set(texts)) == 4


def test_a_changed_reading_is_a_run_with_an_address_a_link_and_a_download(watch: Watch) -> None:
    page = watch.page()
    ask(page, "Which moons orbit Mars?")
    page.get_by_role("button", name="Mars", exact=True).click()
    alternatives = page.get_by_role("list", name="Take instead")
    alternatives.get_by_role("button", name=re.compile("^Neptune")).click()
    headline = page.locator(".headline")
    expect(headline).to_contain_text("Triton")

    page.reload()

    expect(headline).to_contain_text("Triton")
    expect(page.get_by_text("You chose this reading")).to_be_visible()
    page.get_by_role("button", name="Share").click()
    page.get_by_role("checkbox", name=re.compile("Others may open it")).check()
    expect(page.get_by_role("textbox", name="A link to this answer")).to_have_value(page.url)
    page.keyboard.press("Escape")
    other = watch.page(page.url.removeprefix(watch.address))
    expect(other.locator(".headline")).to_contain_text("Triton")
    page.locator(".result-fold > summary").click()
    page.get_by_role("button", name="Download").click()
    with page.expect_download() as begun:
        page.get_by_role("button", name="CSV", exact=True).click()
    assert "Triton" in Path(begun.value.path()).read_text(encoding="utf-8")
    page.get_by_role("link", name="History").click()
    expect(page.locator(".history-list li")).to_have_count(2)
    expect(page.locator(".history-list li").first).to_contain_text("a reading of your choice")


def test_a_question_back_shows_its_readings_and_a_choice_answers_it(page: Page) -> None:
    ask(page, "Which missions launched in 1850?")
    options = page.locator(".option")
    expect(options.nth(1)).to_be_visible()
    words = options.first.locator(".option-words").inner_text()
    count = options.first.locator(".option-count").inner_text()

    options.first.click()

    expect(page.locator(".read-back-words")).to_contain_text(words)
    settle(page)
    page.get_by_role("tab", name="Table").click()
    expect(page.locator(".result-view")).to_contain_text(count)
    expect(options).to_have_count(0)
    expect(page.get_by_text("You chose this reading")).to_be_visible()
    page.get_by_role("button", name="Back to the original").click()
    expect(options.nth(1)).to_be_visible()


def test_a_refusal_says_why_and_shows_the_best_attempt(page: Page) -> None:
    ask(page, "Which rocket is the best?")
    expect(page.locator(".answer .note").first).to_contain_text("nothing on 'best'")
    expect(page.locator(".confidence")).to_contain_text("A guess")
    expect(page.locator(".read-back")).to_be_visible()
    expect(page.locator(".unused")).to_contain_text("best")
    expect(page.get_by_role("button", name="Right")).to_have_count(0)
    page.get_by_role("link", name="Put it in other words").click()
    expect(page.locator("[data-question]")).to_have_value("Which rocket is the best?")


def test_none_of_the_readings_may_be_meant(page: Page) -> None:
    ask(page, "Which missions launched in 1850?")
    page.get_by_role("button", name="None of these").click()
    expect(page.get_by_role("link", name="Put it in other words")).to_be_visible()
    page.get_by_role("link", name="See what the graph holds").click()
    expect(page).to_have_url(re.compile("/graphs/space$"))
    expect(page.get_by_role("heading", level=1)).to_be_focused()


def test_steps_that_considered_a_query_say_which_in_words(page: Page) -> None:
    ask(page, "How big is Titan?")
    page.get_by_text("How it was found").click()
    steps = page.locator(".step-draft summary")
    expect(steps.first).to_contain_text("Considered: ")
    expect(steps.filter(has_text="A query was considered")).to_have_count(0)


def test_an_empty_answer_says_why_it_is_empty(page: Page) -> None:
    ask(page, "Which astronauts were born in 1801?")
    expect(page.locator(".answer")).to_be_visible()


def test_a_follow_up_is_where_one_looks_and_the_tab_is_called_by_it(page: Page) -> None:
    ask(page, "How many missions did each agency operate?")
    expect(page).to_have_title("How many missions did each agency operate? · askgraph")

    ask(page, "Which moons orbit Saturn?")

    expect(page.get_by_role("heading", name="Which moons orbit Saturn?")).to_be_in_viewport()
    expect(page.locator(".headline").last).to_be_in_viewport()
    expect(page).to_have_title("Which moons orbit Saturn? · askgraph")


def test_several_values_say_what_each_is(page: Page) -> None:
    ask(page, "What are the diameter and the mass of Mars?")
    expect(page.locator(".headline")).to_have_text(
        "The diameter and mass of Mars: diameter 6,792 km and mass 6.417 × 10²³ kg."
    )


def test_a_follow_up_is_asked_on_in_the_same_conversation(page: Page) -> None:
    ask(page, "Which moons orbit Mars?")
    ask(page, "And which orbit Earth?")

    turns = page.locator("article.turn")
    expect(turns).to_have_count(2)
    expect(turns.nth(0).locator(".headline")).to_have_text(re.compile("Deimos.*Phobos", re.S))
    expect(turns.nth(1).locator("h2").first).to_have_text("And which orbit Earth?")
    page.reload()
    expect(page.locator(".earlier li")).to_have_text(["Which moons orbit Mars?"])
    page.get_by_role("link", name="History").click()
    expect(page.locator(".history-list li").first).to_contain_text(
        "After “Which moons orbit Mars?”"
    )


def test_what_was_asked_is_in_the_history_and_found_there_again(page: Page) -> None:
    ask(page, "How big is Titan?")
    address = page.url
    page.get_by_role("link", name="askgraph: to the question box").click()
    expect(page.locator("article.turn")).to_have_count(0)
    ask(page, "Who made the rocket that launched Curiosity?")
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="History").click()
    expect(page.locator(".history-list li")).to_have_count(2)

    page.get_by_role("searchbox", name="Search your questions").fill("titan")
    expect(page.locator(".history-list li")).to_have_count(1)
    page.get_by_role("link", name=re.compile("How big is Titan")).click()

    expect(page).to_have_url(address)
    expect(page.locator(".headline")).to_contain_text("5,149.5 km")
    page.locator("details.steps summary").first.click()
    expect(page.locator(".mentions")).to_contain_text("Titan")


def test_the_history_is_deleted_one_by_one_and_as_a_whole(page: Page) -> None:
    for question in ("How big is Titan?", "How big is Io?", "How big is Europa?"):
        page.goto("/".join(page.url.split("/")[:3]))
        ask(page, question)
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="History").click()

    page.get_by_role("button", name="Delete “How big is Io?”").click()
    expect(page.locator(".history-question")).to_have_text(
        ["How big is Europa?", "How big is Titan?"]
    )
    page.get_by_role("button", name="Delete the whole history").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete the whole history").click()
    expect(page.get_by_text("Nothing was asked yet.")).to_be_visible()
    page.reload()
    expect(page.get_by_text("Nothing was asked yet.")).to_be_visible()


def test_a_confirmed_answer_is_given_at_once_and_can_be_withdrawn(watch: Watch) -> None:
    question = "Who was in the crew of Apollo 13?"
    page = watch.page()
    ask(page, question)
    page.get_by_role("button", name="Right").click()
    expect(page.locator(".chip.good")).to_have_text("Confirmed")

    other = watch.page()
    ask(other, question)
    expect(other.locator(".note.good")).to_contain_text("Confirmed before")

    page.get_by_role("button", name="Withdraw").click()
    expect(page.get_by_role("button", name="Right")).to_be_visible()
    again = watch.page()
    ask(again, question)
    expect(again.locator(".note.good")).to_have_count(0)


@pytest.mark.parametrize(("width", "dark"), [(1200, False), (390, True)])
def test_wrong_opens_at_once_what_else_may_be_meant_and_words_are_optional(
    watch: Watch, width: int, *, dark: bool
) -> None:
    page = watch.page(width=width, height=844, dark=dark)
    ask(page, "How big is Titan?")
    page.get_by_role("button", name="Wrong").click()
    expect(page.locator(".drafts").get_by_role("button", name="Open").first).to_be_visible()
    expect(page.get_by_role("group", name="Which word is meant otherwise?")).to_be_visible()
    expect(page.locator("summary").filter(has_text="Other readings")).to_be_focused()
    expect(page.locator(".chip.warn")).to_have_text("Thank you. Noted as wrong.")
    assert violations(page) == []

    page.locator("summary").filter(has_text="Other readings").click()
    page.get_by_role("button", name="Wrong").click()
    expect(page.locator(".drafts").get_by_role("button", name="Open").first).to_be_visible()
    page.get_by_role("textbox", name="What is wrong?").fill("In miles, please")
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("textbox", name="What is wrong?")).to_have_count(0)
    page.reload()
    expect(page.locator(".chip.warn")).to_have_text("Thank you. Noted as wrong.")


def test_a_shared_answer_is_read_by_others_who_cannot_judge_it(watch: Watch) -> None:
    page = watch.page()
    ask(page, "How big is Titan?")
    page.get_by_role("button", name="Share").click()
    page.get_by_role("checkbox", name=re.compile("Others may open it")).check()
    expect(page.get_by_role("textbox", name="A link to this answer")).to_have_value(page.url)

    other = watch.page(page.url.removeprefix(watch.address))

    expect(other.locator(".headline")).to_contain_text("5,149.5 km")
    expect(other.get_by_role("button", name="Right")).to_have_count(0)


def test_a_link_to_nothing_says_so(watch: Watch) -> None:
    watch.allow("status of 404")
    page = watch.page("/run/nothing-has-this-name")
    expect(page.get_by_role("alert")).to_contain_text("There is no such thing")
    expect(page.get_by_role("button", name="Try again")).to_have_count(0)
    expect(page.get_by_role("link", name="See the graphs")).to_be_visible()
    expect(page.locator("#content").get_by_role("link", name="Ask a question")).to_be_visible()
    for path in ("/nowhere", "/graphs/a/b"):
        page = watch.page(path)
        expect(page.get_by_role("heading", level=1)).to_have_text("There is no such page")
        expect(page.get_by_role("navigation", name="Pages")).to_be_visible()
        page.get_by_role("link", name="Ask a question").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("What would you like to know?")
    told = page.request.get(f"{watch.address}/nowhere", headers={"Accept": "application/json"})
    assert told.status == 404 and "nowhere" in told.json()["detail"]


def test_a_graph_that_is_not_there_is_called_so(watch: Watch) -> None:
    page = watch.page("/?graph=nope")
    expect(page.get_by_text("There is no graph “nope” here")).to_be_visible()


@pytest.mark.parametrize("keys", ["/", "n"])
def test_a_key_leads_to_the_question_box(page: Page, keys: str) -> None:
    ask(page, "How big is Titan?")
    page.keyboard.press(keys)
    expect(page.locator("[data-question]").last).to_be_focused()
    page.keyboard.press("Control+a")
    page.keyboard.type("?")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_the_help_says_which_keys_run_a_query(page: Page) -> None:
    ask(page, "How big is Titan?")
    page.keyboard.press("?")
    keys = page.get_by_role("dialog")
    expect(keys).to_contain_text(re.compile(r"Ctrl\s*Enter\s*In the editor: run the query"))


def test_a_greeting_is_answered_with_questions_and_no_reading_to_refuse(page: Page) -> None:
    ask(page, "thank you")
    answer = page.locator(".answer")
    expect(answer).to_contain_text("You are welcome. This can be asked, too:")
    expect(answer.locator(".option")).to_have_count(3)
    expect(answer.get_by_role("status").first).to_contain_text("You are welcome")
    expect(answer.get_by_role("button", name="None of these")).to_have_count(0)
    answer.locator(".option").first.click()
    expect(page.locator(".headline")).to_contain_text("Starship (121 m)")


def test_the_largest_of_the_first_ones_is_one_of_these(page: Page) -> None:
    for question in (
        "Which moons orbit Saturn?",
        "only the first five",
        "how many are these?",
        "which of them is the largest?",
    ):
        ask(page, question)
        settle(page)
    last = page.locator(".turn").last
    expect(last.locator(".headline")).to_contain_text("Dione (1,122.8 km)")
    expect(last.locator(".chip.arranged")).to_have_text(["diameter ↓", "the first"])


def test_single_keys_can_be_turned_off(page: Page) -> None:
    ask(page, "How big is Titan?")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.get_by_role("checkbox", name="Single keys").uncheck()
    page.keyboard.press("Escape")
    page.reload()
    page.locator(".headline").wait_for()
    page.keyboard.press("n")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.locator(".headline")).to_be_visible()


def test_everything_can_be_done_with_the_keyboard_alone(page: Page) -> None:
    expect(page.locator("[data-question]")).to_be_focused()
    page.keyboard.type("How many moons are listed for each planet?")
    page.keyboard.press("Enter")
    expect(page.locator(".turn-question")).to_be_focused()
    expect(page.locator(".headline")).to_contain_text("Most: Saturn (18)")
    settle(page)

    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent").startswith("Query"):
            break
    page.keyboard.press("Enter")
    editor = page.get_by_role("textbox", name="SPARQL query")
    expect(editor).to_be_visible()
    page.keyboard.press("Tab")
    expect(editor).to_be_focused()
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("You chose this reading")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Run")).to_be_focused()

    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_whoever_asks_before_the_page_knows_the_graphs_asks_the_one_that_is_chosen(
    watch: Watch,
) -> None:
    page = watch.page("/compare")
    expect(page.get_by_role("textbox")).to_be_visible()  # which waits for the graphs, too
    held: list[Route] = []
    page.route("**/api/v1/graphs?*", lambda route: held.append(route))
    sent: list[object] = []
    page.on("request", lambda one: sent.append(one.post_data_json) if "/ask" in one.url else None)
    with page.expect_request("**/api/v1/graphs?*"):
        page.goto(watch.address)
    page.locator("[data-question]").fill("How big is Titan?")
    page.keyboard.press("Enter")
    expect(page.locator("[data-question]")).to_have_value("")
    [route] = held
    route.continue_()
    expect(page.locator(".headline")).to_contain_text("5,149.5 km")
    assert [one["graphs"] for one in sent if isinstance(one, dict)] == [["space"]]


def test_the_network_sees_each_question_to_its_end(watch: Watch) -> None:
    page = watch.page()
    for question in ("How big is Titan?", "And Io?", "Which planets have no moons?"):
        page.locator("button.starter, .follow-up").first.wait_for()
        with page.expect_event("requestfinished", lambda one: one.url.endswith("/ask")):
            ask(page, question)
        page.wait_for_load_state("networkidle")
    assert watch.failed == []


def test_another_graph_is_asked_by_one_press_and_several_by_the_menu(many: Watch) -> None:
    page = many.page()
    graphs = page.get_by_role("group", name="Ask which graphs?")
    expect(graphs.get_by_role("button", pressed=True)).to_have_text("space")
    graphs.get_by_role("button", name="towns").click()
    expect(graphs.get_by_role("button", pressed=True)).to_have_text("towns")
    ask(page, "When was Lima founded?")
    expect(page.locator(".headline")).to_contain_text("1535")

    page.goto(many.address)
    expect(graphs.get_by_role("button", pressed=True)).to_have_text("towns")
    page.get_by_role("button", name="Ask which graphs?").click()
    page.get_by_role("checkbox", name="Several at once").check()
    page.get_by_role("checkbox", name=re.compile("^space")).check()
    expect(graphs.get_by_role("button", pressed=True)).to_have_count(2)
    ask(page, "How big is Titan?")
    expect(page.locator(".headline")).to_contain_text("5,149.5 km")


@pytest.mark.parametrize("dark", [False, True])
def test_a_phone_has_the_graphs_in_a_menu_that_takes_one_by_one_press(
    many: Watch, dark: bool
) -> None:
    page = many.page(width=390, height=844, dark=dark)
    page.get_by_role("button", name="space", exact=True).click()
    page.get_by_role("radio", name=re.compile("^towns")).check()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="towns", exact=True)).to_be_visible()
    page.get_by_role("button", name="towns", exact=True).click()
    page.get_by_role("checkbox", name="Several at once").check()
    page.get_by_role("checkbox", name=re.compile("hostile")).check()
    expect(page.get_by_role("button", name="2 graphs")).to_be_visible()
    page.get_by_role("checkbox", name="Several at once").uncheck()
    expect(page.get_by_role("radio", checked=True)).to_have_count(1)
    assert violations(page) == []
