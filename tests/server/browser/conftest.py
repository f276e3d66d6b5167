"""A browser and a server for the tests of the page, one of each for a file of tests.

A test fails on a console error or a request to another server. Every text is in one font, which
the tests bring about themselves (see `watched`).
"""

from collections.abc import Callable, Iterator

import pytest

pytest.importorskip("playwright.sync_api", reason="no playwright")

from playwright.sync_api import Browser, Page, expect, sync_playwright
from tests.server.browser.graphs import workspace_of_all
from tests.server.browser.watched import ARGUMENTS, CHROMIUM, PATIENCE, Watch, environment_with_font
from tests.servers.served import ServedThread
from tests.servers.sparql import SparqlServer

from askgraph.server.page import is_built
from askgraph.workspace import Workspace

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
def browsers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Browser]]:
    """Browsers without a window by the font of their texts; each is started when it is needed."""
    folder = tmp_path_factory.mktemp("fonts")
    opened: dict[str, Browser] = {}
    with sync_playwright() as started:

        def browser_with(font: str) -> Browser:
            if font not in opened:
                environment = environment_with_font(font, folder)
                opened[font] = started.chromium.launch(
                    executable_path=CHROMIUM, args=ARGUMENTS, env=environment
                )
            return opened[font]

        yield browser_with
        for browser in opened.values():
            browser.close()


@pytest.fixture(scope="module")
def browser(browsers: Callable[[str], Browser]) -> Browser:
    """The browser with the font that takes the most room."""
    return browsers("wide")


@pytest.fixture(scope="module")
def place(sample_endpoint: SparqlServer, tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """The workspace that is served; a test leaves it as it was."""
    return workspace_of_all(tmp_path_factory.mktemp("page"), sample_endpoint.url)


@pytest.fixture(scope="module")
def address(place: Workspace) -> Iterator[str]:
    """The address of the server."""
    database = str(place.folder / "serve.db")
    with ServedThread(place, database=database, upload_mb=1, grace=0) as server:
        yield server.url


@pytest.fixture
def watch(browser: Browser, address: str) -> Iterator[Watch]:
    """Opens pages; at the end, nothing may have gone wrong."""
    watch = Watch(browser, address)
    yield watch
    watch.close()
    assert watch.faults() == []


@pytest.fixture
def page(watch: Watch) -> Page:
    """The page with the question box, in English, on a desk."""
    return watch.page()
