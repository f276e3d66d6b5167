"""Adding a graph in the page: by files, by an address, with progress, and what is refused."""

import asyncio
import re
import threading
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, FilePayload, Page, expect
from tests.server.browser.conftest import watching
from tests.server.browser.graphs import TOWNS
from tests.server.browser.watched import Watch, ask, violations_in_both_themes
from tests.servers.served import ServedThread, sample_workspace

from askgraph.server.graphs import jobs
from askgraph.server.graphs.worker import Added, Doing, Task, add_in_process


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server that graphs are added to."""
    with ServedThread(sample_workspace(tmp_path_factory.mktemp("growing")), upload_mb=1) as server:
        yield server.url


@pytest.fixture
def growing(browser: Browser, address: str) -> Iterator[Watch]:
    yield from watching(browser, address)


@pytest.fixture
def may_end(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Graphs are not ready before this is set."""
    told = threading.Event()

    async def add(task: Task, tell: Callable[[Doing], None]) -> Added:
        added = await add_in_process(task, tell)
        await asyncio.to_thread(told.wait)
        return added

    monkeypatch.setattr(jobs, "add_in_process", add)
    yield told
    told.set()


def choose(page: Page, *files: tuple[str, str]) -> None:
    payloads: list[FilePayload] = [
        {"name": name, "mimeType": "text/plain", "buffer": content.encode()}
        for name, content in files
    ]
    page.locator("input[type=file]").set_input_files(payloads)


def test_a_graph_is_added_from_a_file_with_progress_asked_and_removed(
    growing: Watch, may_end: threading.Event
) -> None:
    page = growing.page("/add")
    choose(page, ("My Towns.ttl", TOWNS))
    expect(page.get_by_role("textbox", name="Name")).to_have_value("my-towns")
    page.get_by_role("button", name="Add the graph").click()
    expect(page.get_by_role("progressbar")).to_be_visible()
    may_end.set()
    expect(page.get_by_role("heading", name="my-towns is ready.")).to_be_visible()
    expect(page.locator(".adding")).to_contain_text(re.compile(r"\d+ triples, 2 classes"))

    page.get_by_role("button", name="Ask it").click()
    ask(page, "How many towns are there?")
    expect(page.locator(".headline")).to_have_text("There are 4 towns.")

    page.goto(growing.address + "/graphs")
    page.get_by_role("button", name="Remove").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(page.locator(".graph-card")).to_have_count(1)


def test_what_the_page_can_judge_is_refused_before_it_is_sent(growing: Watch) -> None:
    page = growing.page("/add")
    choose(page, ("notes.txt", "x"), ("empty.nt", ""), ("large.nq", "x" * 1_100_000))
    faults = page.locator(".file .fault")
    expect(faults).to_have_count(3)
    expect(faults.nth(0)).to_have_text("Its name says no format that can be read.")
    expect(page.get_by_role("button", name="Add the graph")).to_be_disabled()
    for name in ("notes.txt", "empty.nt", "large.nq"):
        page.get_by_role("button", name=f"Take {name} out").click()
    choose(page, ("towns.ttl", TOWNS))
    page.get_by_role("textbox", name="Name").fill("space")
    expect(page.get_by_text("There is a graph of this name already.")).to_be_visible()
    page.get_by_role("textbox", name="Name").fill("../etc")
    expect(page.get_by_role("button", name="Add the graph")).to_be_disabled()


def test_a_file_that_cannot_be_read_is_refused_in_words_and_leaves_nothing(growing: Watch) -> None:
    page = growing.page("/add")
    choose(page, ("broken.ttl", "@prefix : <https://example.org/> .\n:a :b"))
    page.get_by_role("button", name="Add the graph").click()
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("It could not be added")
    expect(alert).to_contain_text(re.compile(r"(?<!-)broken\.ttl"))
    expect(page.locator(".file-name")).to_have_text("broken.ttl")
    expect(page.get_by_role("textbox", name="Name")).to_have_value("broken")
    expect(page.get_by_role("button", name="Add the graph")).to_be_enabled()
    page.goto(growing.address + "/graphs")
    expect(page.locator(".graph-card")).to_have_count(1)


@pytest.mark.parametrize("way", ["an address inside the network", "no address"])
def test_an_address_that_may_not_be_asked_is_refused_in_words(growing: Watch, way: str) -> None:
    page = growing.page("/add")
    page.get_by_role("tab", name="From an address").click()
    box = page.get_by_role("textbox", name="Address of the endpoint")
    if way == "no address":
        box.fill("ftp://example.org/")
        expect(page.get_by_text("This is no address of http or https.")).to_be_visible()
        expect(page.get_by_role("button", name="Add the endpoint")).to_be_disabled()
        return
    growing.allow("status of 4")
    box.fill("http://127.0.0.1:1/sparql")
    page.get_by_role("textbox", name="Name").fill("inside")
    page.get_by_role("button", name="Add the endpoint").click()
    expect(page.get_by_role("alert")).to_contain_text("127.0.0.1")


@pytest.mark.usefixtures("may_end")
def test_adding_is_stopped_and_leaves_nothing(growing: Watch) -> None:
    page = growing.page("/add")
    many = "".join(f"<https://e.org/{n}> <https://e.org/p> {n} .\n" for n in range(18_000))
    choose(page, ("long.ttl", many))
    page.get_by_role("button", name="Add the graph").click()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("Cancelled. Nothing was added.")).to_be_visible()
    page.goto(growing.address + "/graphs")
    expect(page.locator(".graph-card")).to_have_count(1)


def test_the_page_fits_a_phone_and_keeps_nobody_out(growing: Watch) -> None:
    page = growing.page("/add", width=360, height=740, locale="de-DE")
    choose(page, ("a-name-that-is-far-too-long-for-a-phone-without-being-broken.txt", "x"))
    expect(page.locator(".file .fault")).to_be_visible()
    expect(page.locator("html")).to_have_js_property("scrollWidth", 360)
    assert violations_in_both_themes(page) == []
    page.get_by_role("tab", name="Von einer Adresse").click()
    expect(page.get_by_role("textbox").first).to_have_attribute("type", "url")
    assert violations_in_both_themes(page) == []
