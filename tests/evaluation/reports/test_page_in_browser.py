"""The page in a real browser: it opens from a file, shows, filters, and stays within the window."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from tests.each import for_each
from tests.evaluation.reports.made_runs import RECORD, detail, graded, written_run

from askgraph.evaluation.reports.page import BUILD_FOLDER, build_html_page

playwright = pytest.importorskip("playwright.sync_api", reason="no playwright")

from playwright.sync_api import Browser, Page, expect, sync_playwright  # noqa: E402
from tests.server.browser.watched import (  # noqa: E402
    ARGUMENTS,
    CHROMIUM,
    DARK,
    LIGHT,
    PATIENCE,
    environment_with_font,
)

pytestmark = [
    pytest.mark.skipif(not CHROMIUM, reason="no chromium on the PATH; ASKGRAPH_CHROMIUM names one"),
    pytest.mark.skipif(not BUILD_FOLDER.is_dir(), reason="the page is not built: make page"),
]

QUESTIONS = 1500
HOSTILE = "<img src=x onerror=alert(1)></script><script>alert(2)</script>"

expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    environment = environment_with_font("wide", tmp_path_factory.mktemp("fonts"))
    with sync_playwright() as started:
        opened = started.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS, env=environment)
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A page with 1,500 questions for two methods; the last question is hostile."""
    folder = tmp_path_factory.mktemp("page")
    records = [graded(at, method=name) for at in range(QUESTIONS - 1) for name in ("one", "other")]
    hostile = replace(RECORD, id=HOSTILE, question=HOSTILE, sparql=HOSTILE, tags=(HOSTILE,))
    last = [replace(hostile, method=name, error=HOSTILE) for name in ("one", "other")]
    steps = [{"step": "thought", "text": HOSTILE}, {"step": HOSTILE, "more": HOSTILE}]
    traces = [detail(record) for record in records] + [detail(record, steps) for record in last]
    run = written_run(folder / "run", [*records, *last], details=traces)
    return written(folder / "page.html", build_html_page([run]))


def written(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    return path.as_uri()


@dataclass
class Watched:
    """A page, and what went wrong on it or left it."""

    page: Page
    wrong: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@pytest.fixture
def watched(browser: Browser) -> Iterator[Watched]:
    found = Watched(browser.new_page(viewport={"width": 1280, "height": 900}))
    page = found.page
    page.set_default_timeout(PATIENCE)
    page.on("console", lambda message: found.wrong.append(message.text))
    page.on("pageerror", lambda error: found.wrong.append(str(error)))
    page.on("dialog", lambda dialog: found.wrong.append(dialog.message))
    page.on("request", lambda request: found.requests.append(request.url))
    yield found
    page.close()


@pytest.fixture
def page(watched: Watched, address: str) -> Page:
    """The page, with its list filled."""
    return opened(watched.page, address)


def opened(page: Page, address: str) -> Page:
    """Open the page; its plots, or the question of the address, are there."""
    page.goto(address)
    if "#q/" in address:
        expect(page.locator("#asked")).to_be_visible()
    else:
        expect(page.locator("body")).to_have_class(re.compile("drawn"))
    return page


def test_it_opens_and_every_plot_is_drawn(watched: Watched, address: str, browser: Browser) -> None:
    page = opened(watched.page, address)
    figures = page.locator("figure").filter(has=page.locator("[data-plot]"))
    expect(figures.nth(5)).to_be_visible()
    for figure in figures.all():
        expect(figure.locator("[data-plot] svg path").nth(1)).to_be_attached()
        expect(figure.locator("table")).to_have_count(1)
    empty = browser.new_page(viewport={"width": 1280, "height": 900})
    blank = empty.screenshot()
    empty.close()
    assert len(page.screenshot()) > 3 * len(blank)
    assert watched.wrong == [] and watched.requests == [address]


def test_a_click_shows_the_queries_where_they_differ_and_the_steps(page: Page) -> None:
    page.get_by_role("link", name="Question number 1 about moons?").click()

    columns = page.locator(".column")
    expect(columns).to_have_count(3)
    expect(columns.locator("h3")).to_have_text(["Gold", "one", "other"])
    expect(columns.nth(1).locator("mark")).to_have_text(["ex:partOf ex:Mars ."])
    expect(columns.nth(1).locator(".apart summary")).to_have_text(["+ Only in the answer: 1 row"])
    expect(page.locator("#questions")).to_be_hidden()
    trace = page.locator(".trace").first
    told = ["findings", "draft", "draft", "prompt", "model turn", "thought", "tool use", "answer"]
    expect(trace.locator(".step .kind")).to_have_text(told)
    expect(trace.locator(".step").nth(4)).to_contain_text(
        "1,200 tokens in, 800 of them cached, 40 out"
    )
    drafts = trace.locator(".step summary .score")
    expect(drafts).to_have_text([re.compile(r"^\s*66\.7,"), re.compile(r"^\s*100,")])


def test_a_pattern_is_the_same_behind_one_of_its_subject(watched: Watched, tmp_path: Path) -> None:
    more = "PREFIX ex: <http://example.org/> SELECT ?x { ?x a ex:Moon ; ex:orbits ex:Mars }"
    less = "PREFIX e: <http://example.org/> SELECT ?moon { ?moon e:orbits e:Mars . }"
    run = written_run(tmp_path / "run", [replace(RECORD, sparql=more, gold_sparql=less)])
    page = opened(watched.page, written(tmp_path / "page.html", build_html_page([run])))
    page.locator("#rows a").click()
    expect(page.locator(".column mark")).to_have_text([re.compile(r"^  \?x a e:Moon ;$")])


def test_plots_have_full_width_after_an_opened_question(watched: Watched, address: str) -> None:
    page = opened(watched.page, address + "#q/moons/q17")
    page.get_by_role("link", name="All questions").click()
    expect(page.locator("body")).to_have_class(re.compile("drawn"))
    sizes = page.locator("[data-plot] svg").evaluate_all("all => all.map(one => one.clientWidth)")
    assert min(sizes) > 400


def test_a_link_leads_to_a_question_and_escape_back_to_its_row(page: Page) -> None:
    page.goto(page.url + "#q/moons/q17")
    expect(page.locator("#asked")).to_have_text("Question number 17 about moons?")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#asked")).to_have_text("Question number 18 about moons?")
    page.keyboard.press("Escape")
    expect(page.get_by_role("link", name="Question number 18 about moons?")).to_be_focused()


def test_words_and_choices_leave_the_questions_that_fit(page: Page) -> None:
    count = page.locator("#count")
    expect(count).to_have_text("1,500 questions, 3,000 answers")

    page.keyboard.press("/")
    page.keyboard.type("1337 moons")
    expect(page.locator("#rows tr")).to_have_count(1)
    page.get_by_role("button", name="Clear").click()
    expect(count).to_have_text("1,500 questions, 3,000 answers")

    page.locator("[name=system]").select_option("one")
    page.locator("[name=score]").select_option("right")
    expect(count).to_have_text("500 questions, 500 answers")

    page.locator("[name=tag]").select_option("count")
    expect(count).to_have_text("250 questions, 250 answers")


def test_the_list_is_ordered_as_chosen_and_shown_a_part_at_a_time(page: Page) -> None:
    rows = page.locator("#rows tr")
    expect(rows).to_have_count(60)
    page.get_by_role("button", name="Show more (1,440 left)").click()
    expect(rows).to_have_count(120)
    page.locator("[name=order]").select_option("id")
    page.get_by_label("reversed").check()
    first = rows.first.locator(".under")
    expect(first).to_have_text("q1498")
    page.locator("[name=order]").select_option("confidence")
    expect(first).to_have_text("q27")
    page.locator("[name=score]").select_option("differ")
    expect(page.locator("#count")).to_have_text("1,499 questions, 2,998 answers")


def test_hostile_text_is_shown_and_does_nothing(watched: Watched, address: str) -> None:
    opened(watched.page, address)
    watched.page.get_by_label("Search in").fill("onerror")
    watched.page.locator("#rows a").click()
    expect(watched.page.locator("#asked")).to_have_text(HOSTILE)
    expect(watched.page.locator(".prose").first).to_have_text(HOSTILE)
    expect(watched.page.locator("#question img, #question script")).to_have_count(0)
    assert watched.wrong == [] and watched.requests == [address]


def test_dark_and_light_follow_the_system(page: Page) -> None:
    page.emulate_media(color_scheme="light")
    expect(page.locator("body")).to_have_css("background-color", LIGHT)
    page.emulate_media(color_scheme="dark")
    expect(page.locator("body")).to_have_css("background-color", DARK)


@for_each("place", ["", "#q/moons/q1"])
@for_each("width", [360, 768, 1920])
def test_nothing_exceeds_the_width(watched: Watched, address: str, width: int, place: str) -> None:
    watched.page.set_viewport_size({"width": width, "height": 800})
    page = opened(watched.page, address + place)
    expect(page.locator("html")).to_have_js_property("scrollWidth", width)


def test_paper_has_no_controls(page: Page) -> None:
    page.emulate_media(media="print")
    expect(page.locator("#choice")).to_be_hidden()
    expect(page.locator("#list")).to_be_visible()


def test_a_lone_method_has_confidence_and_failure_listed(watched: Watched, tmp_path: Path) -> None:
    run = written_run(tmp_path / "run", [RECORD])
    page = opened(
        watched.page, written(tmp_path / "page.html", build_html_page([run], with_times=False))
    )
    head = ["Question", "Score", "Confidence", "Failure"]
    expect(page.locator("#list-head th")).to_have_text(head)
    expect(page.locator("#rows td").nth(3)).to_have_text("wrong predicate")
    expect(page.locator("option[value=seconds]")).to_have_count(0)
    assert watched.wrong == []
