"""Take the picture of the page that the README shows: `docs/page.png`, from the sample graph.

    python tools/screenshot.py

Needs Chromium and the built page (`make page`).
"""

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from playwright.sync_api import sync_playwright
from tests.server.browser.watched import ARGUMENTS, CHROMIUM, ask_anew, settle
from tests.servers.served import ServedThread, sample_workspace

ROOT = Path(__file__).parents[1]
QUESTION = "Which moons are larger than Mercury?"
WIDTH_PIXELS, HEIGHT_PIXELS = 1100, 720


def main() -> None:
    """Ask the question on the page and write the picture."""
    size = {"width": WIDTH_PIXELS, "height": HEIGHT_PIXELS}
    with (
        tempfile.TemporaryDirectory() as folder,
        ServedThread(sample_workspace(Path(folder))) as server,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        page = browser.new_page(viewport=size, color_scheme="light")  # type: ignore[arg-type]
        page.goto(server.url)
        ask_anew(page, QUESTION)
        settle(page)
        page.screenshot(path=ROOT / "docs" / "page.png")
        browser.close()


if __name__ == "__main__":
    main()
