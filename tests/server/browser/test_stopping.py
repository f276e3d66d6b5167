"""Questions that take long: that they run is seen, and they can be stopped."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.server.browser.conftest import watching
from tests.server.browser.watched import Watch
from tests.servers.faults import slow_first_byte
from tests.servers.served import ServedThread
from tests.servers.sparql import SparqlServer

from askgraph.workspace import Workspace


@pytest.fixture(scope="module")
def address(
    sample_endpoint: SparqlServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    workspace = Workspace(tmp_path_factory.mktemp("slow"))
    workspace.add("slow", [sample_endpoint.url], settings={"cache_mb": 0, "timeout": 120.0})
    database = str(tmp_path_factory.mktemp("database") / "serve.db")
    with ServedThread(workspace, database=database, grace=0) as server:
        yield server.url


@pytest.fixture
def watch(browser: Browser, address: str) -> Iterator[Watch]:
    yield from watching(browser, address)


@pytest.fixture
def slow(sample_endpoint: SparqlServer) -> Iterator[None]:
    sample_endpoint.always = slow_first_byte(60)
    yield
    sample_endpoint.always = None


def begun(page: Page, question: str) -> None:
    box = page.locator("[data-question]").last
    box.fill(question)
    box.press("Enter")
    expect(page.locator(".progress[data-shown=true]")).to_be_visible()


@pytest.mark.usefixtures("slow")
@pytest.mark.parametrize("way", ["button", "Escape"])
def test_a_question_is_stopped_and_asked_again(
    page: Page, sample_endpoint: SparqlServer, way: str
) -> None:
    begun(page, "How big is Titan?")
    expect(page).to_have_url(re.compile("/run/"))
    expect(page.locator(".progress .number")).to_have_text(re.compile(r"\d+ ms|[\d.]+ s"))

    if way == "button":
        page.get_by_role("button", name="Stop").click()
    else:
        page.keyboard.press("Escape")

    expect(page.locator(".turn")).to_have_attribute("data-state", "stopped")
    sample_endpoint.always = None
    page.get_by_role("button", name="Ask again").click()
    expect(page.locator(".headline")).to_contain_text("5,149.5 km")


@pytest.mark.usefixtures("slow")
def test_a_question_under_way_is_taken_up_again_after_a_reload(
    page: Page,
) -> None:
    begun(page, "How big is Io?")
    expect(page).to_have_url(re.compile("/run/"))
    page.reload()
    expect(page.locator(".progress[data-shown=true]")).to_be_visible()
    page.get_by_role("button", name="Stop").click()
    expect(page.locator(".turn")).to_have_attribute("data-state", "stopped")


def test_a_server_that_cannot_be_reached_is_said_to_be(watch: Watch) -> None:
    watch.allow("ERR_INTERNET_DISCONNECTED")
    page = watch.page()
    expect(page.locator("button.starter").first).to_be_visible()
    page.wait_for_load_state("networkidle")
    page.context.set_offline(True)
    page.locator("[data-question]").fill("How big is Titan?")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("The server cannot be reached")
    page.context.set_offline(False)
    page.get_by_role("button", name="Try again").click()
    expect(page.locator(".headline")).to_contain_text("5,149.5 km")
