"""The page in a browser: its time from Enter to the answer and to the first view, and its size.

    python benchmarks/page.py [--rounds 3]

The server runs as `askgraph serve` does, in a process of its own, on the sample graph; the browser
is Chromium without a window. Needs `make page`.
"""

import argparse
import gzip
import re
import shutil
import statistics
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from _measure import print_table, served
from askgraph import sample
from askgraph.evaluation.benchmarks.formats import read_questions
from askgraph.evaluation.reports.report import compute_percentile
from askgraph.server.page import STATIC, is_built

QUESTIONS = 20

FROM_ENTER = Path(__file__).with_suffix(".js").read_text("utf-8")
"""Milliseconds from the key to the first frame with the answer."""


def main() -> None:
    """Measure, and print tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    if not is_built():
        sys.exit("the page is not built: make page")
    path = sample.questions_path().with_suffix(".jsonl")
    texts = [question.text for question in read_questions(path)][:QUESTIONS]
    with (
        tempfile.TemporaryDirectory() as folder,
        served(Path(folder), "--sample") as (url, _),
        opened() as page,
    ):
        page.goto(f"{url}/", wait_until="networkidle")
        requests, size = page.evaluate(TRANSFERRED)
        first, times = list[float](), list[float]()
        for _ in range(rounds):
            for text in texts:
                page.goto(f"{url}/")
                page.locator("button.starter").first.wait_for()
                page.wait_for_function(f"() => {PAINTED}")  # it may come after the starters
                first.append(page.evaluate(PAINTED))
                times.append(page.evaluate(FROM_ENTER, text))
    print_table(
        ["milliseconds", "median", "p95", "most"],
        ["first view painted", *figures(first)],
        ["from Enter to the answer", *figures(times)],
    )
    print_table(["first view", "requests", "kB"], ["files and API", str(requests), f"{size:.1f}"])
    sizes = [[name, f"{size:,.0f}"] for name, size in weights()]
    print_table(["kB, as sent with gzip", "size"], *sizes)


PAINTED = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
TRANSFERRED = """() => {
    const all = performance.getEntries().filter((entry) => entry.transferSize);
    return [all.length, all.reduce((sum, entry) => sum + entry.transferSize, 0) / 1000];
}"""


def figures(times: list[float]) -> list[str]:
    """The median, 95th percentile and maximum of times."""
    values = (statistics.median(times), compute_percentile(times, 0.95), max(times))
    return [f"{value:.0f}" for value in values]


def weights() -> Iterator[tuple[str, float]]:
    """What the files of the start weigh, each part that loads later, and all."""
    sizes = {
        path.name.removesuffix(".gz"): path.stat().st_size / 1000
        for path in (STATIC / "assets").glob("*.gz")
    }
    document = (STATIC / "index.html").read_text(encoding="utf-8")
    own = len(gzip.compress(document.encode())) / 1000
    yield "the start", own + sum(size for name, size in sizes.items() if name in document)
    for name, size in sorted(sizes.items(), key=lambda pair: -pair[1]):
        if size >= 4 and name not in document:
            yield re.sub(r"-[A-Z0-9]{8}\.\w+$", "", name), size
    yield "all, in all languages", own + sum(sizes.values())


@contextmanager
def opened() -> Iterator[Page]:
    """Open a browser without a window, and a page in it."""
    with sync_playwright() as started:
        browser = started.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        yield browser.new_page()
        browser.close()


if __name__ == "__main__":
    main()
