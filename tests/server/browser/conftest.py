"""A browser for the tests of the page; a test fails on a console error or a foreign request."""

from collections.abc import Iterator

import pytest

pytest.importorskip("playwright.sync_api", reason="no playwright")

from playwright.sync_api import Browser, Page, expect, sync_playwright
from tests.server.browser.graphs import workspace_with_more
from tests.server.browser.watched import ARGUMENTS, CHROMIUM, PATIENCE, Watch
from tests.servers.served import ServedThread

from askgraph.server.page import is_built

MISSING = (
    "no chromium on the PATH; ASKGRAPH_CHROMIUM names one"
    if not CHROMIUM
    else "the page is not built: make page"
    if not is_built()
    else ""
)


expect.set_options(timeout=PATIENCE)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave the tests of this folder out where there is no browser, or no page."""
    for item in items:
        if MISSING and item.path.is_relative_to(__file__.rpartition("/")[0]):
            item.add_marker(pytest.mark.skip(reason=MISSING))


@pytest.fixture(scope="module")  # while it runs, no other test of this process has an event loop
def browser() -> Iterator[Browser]:
    """A browser without a window."""
    with sync_playwright() as started:
        opened = started.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield opened
        opened.close()


@pytest.fixture
def watch(browser: Browser, served: str) -> Iterator[Watch]:
    """Opens pages of the server on the sample graph."""
    yield from watching(browser, served)


@pytest.fixture
def page(watch: Watch) -> Page:
    """The page with the question box, in English, on a desk."""
    return watch.page()


@pytest.fixture(scope="session")
def served_many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server with more graphs than the sample, to which some may be added."""
    workspace = workspace_with_more(tmp_path_factory.mktemp("many"))
    with ServedThread(workspace) as server:
        yield server.url


@pytest.fixture
def many(browser: Browser, served_many: str) -> Iterator[Watch]:
    """Opens pages of the server with several graphs."""
    yield from watching(browser, served_many)


def watching(browser: Browser, address: str) -> Iterator[Watch]:
    """Give a watch on a server; at the end, nothing may have gone wrong."""
    found = Watch(browser, address)
    yield found
    found.close()
    assert found.faults() == []
