"""A server under load: 200 questions at once, the time each takes, and the memory they take.

    python benchmarks/server.py [--questions 200] [--rounds 2]
    python benchmarks/server.py --questions 100 --model 1

The server runs as `askgraph serve` does, on the sample graph and on supply-kgrep (in ASKGRAPH_DATA,
else ../shared/data; left out where it is not there). Aims: 40 questions a second on the sample and
25 on supply-kgrep, 95 % within 6 s, 600 MB in all processes together, shared pages counted once.
With `--model` the method is `guided`, with a model that replies after so many seconds; 100 of these
with one of a second are to end within 5.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import cycle, islice
from pathlib import Path

import httpx2

from _measure import memory, print_table, served, single_graphs, slow_model
from askgraph.evaluation.benchmarks.formats import read_questions
from askgraph.evaluation.reports.report import compute_percentile
from askgraph.workspace import Workspace


async def asked(
    url: str, texts: Sequence[str], method: str
) -> tuple[list[float], float, list[str]]:
    """Ask all questions at once: the seconds of each, of all, and what went wrong."""
    failed: list[str] = []

    async def one(client: httpx2.AsyncClient, text: str) -> float:
        began = time.perf_counter()
        response = await client.post("/api/v1/ask", json={"question": text, "method": method})
        if response.status_code != 200 or response.json()["state"] != "done":
            failed.append(f"{response.status_code} {text}: {response.text[:200]}")
        return time.perf_counter() - began

    limits = httpx2.Limits(max_connections=len(texts))
    async with httpx2.AsyncClient(base_url=url, timeout=600, limits=limits) as client:
        began = time.perf_counter()
        seconds = await asyncio.gather(*(one(client, text) for text in texts))
        return list(seconds), time.perf_counter() - began, failed


def measure(
    given: argparse.Namespace, lines: list[tuple[object, ...]], method: str, table: str
) -> None:
    """Add the figures of each graph, with more settings of its workspace."""
    for name, files, questions in single_graphs():
        texts = [question.text for question in read_questions(questions)]
        with tempfile.TemporaryDirectory() as folder:
            Workspace(folder).add(name, files)
            with Path(folder, "askgraph.toml").open("a", encoding="utf-8") as settings:
                settings.write(f"\n{table}")
            with served(Path(folder)) as (url, pid):
                asyncio.run(asked(url, texts[:5], method))
                before = memory(pid) / 2**20
                for number in range(given.rounds):
                    chosen = list(islice(cycle(texts), given.questions))
                    seconds, wall, failed = asyncio.run(asked(url, chosen, method))
                    figures = (
                        f"{compute_percentile(seconds, share):.2f}" for share in (0.5, 0.95, 1.0)
                    )
                    counts = (name, number + 1, len(chosen), len(failed))
                    mb = (f"{before:.0f}", f"{memory(pid) / 2**20:.0f}")
                    lines.append((*counts, *figures, f"{len(chosen) / wall:.0f}", *mb))
                    for words in failed[:3]:
                        print(words, file=sys.stderr)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=200, help="how many at once")
    parser.add_argument("--rounds", type=int, default=2, help="how often")
    parser.add_argument("--model", type=float, metavar="SECONDS", help="ask `guided`")
    given = parser.parse_args()
    lines: list[tuple[object, ...]] = []
    if given.model is None:
        measure(given, lines, "graph-search", "")
    else:
        with slow_model(given.model) as url:
            table = f'[models.default]\nmodel = "slow"\nbase_url = "{url}"\n'
            measure(given, lines, "guided", table)
    heads = ("graph", "round", "asked", "failed", "p50 s", "p95 s", "max s", "a second")
    print_table((*heads, "MB before", "MB after"), *lines)


if __name__ == "__main__":
    main()
