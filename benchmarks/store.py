"""What the server's store adds to a question: its transactions alone, one by one and at once.

    python benchmarks/store.py [--questions 200] [--database URL]

A question is a session, a run begun, started, finished with 100 rows and its steps, and read back:
four transactions that wait for the disk, and one that reads. `fsync` is what one such wait costs
here.
"""

import argparse
import asyncio
import os
import statistics
import tempfile
import time
from pathlib import Path

from _measure import print_table
from askgraph.server.store import Store
from askgraph.server.store.tables import RunRow, SessionRow, new_id

ANSWER = {"rows": [["http://example.org/moon", "Ganymede"]] * 100}
STEPS = '{"step": "findings"}\n' * 1000
ALONE = 20


async def question(store: Store) -> float:
    """Keep one question; return the milliseconds that it took."""
    start = time.perf_counter()
    session = SessionRow(new_id(), "user:ann")
    await store.add_session(session)
    run = RunRow(
        new_id(), "user:ann", "Which moons …?", ("space",), "graph-search", session=session.id
    )
    await store.begin_run(run)
    await store.run_started(run.id, "p1")
    await store.finish_run(run.id, "done", answer=ANSWER, trace=STEPS)
    await store.run(run.id)
    return (time.perf_counter() - start) * 1000


async def measured(url: str, questions: int) -> list[tuple[object, ...]]:
    """Return what is printed: how many at once, milliseconds of each, seconds of all."""
    store = await Store.open(url)
    await question(store)
    start = time.perf_counter()
    alone = [await question(store) for _ in range(ALONE)]
    between = time.perf_counter()
    together = await asyncio.gather(*(question(store) for _ in range(questions)))
    end = time.perf_counter()
    await store.close()
    return [
        (1, round(statistics.median(alone), 1), round(between - start, 2)),
        (questions, round(statistics.median(together), 1), round(end - between, 2)),
    ]


def fsync(folder: Path) -> float:
    """Milliseconds that the disk takes for one page."""
    with (folder / "page").open("wb") as file:
        start = time.perf_counter()
        for _ in range(ALONE):
            file.write(b"x" * 4096)
            file.flush()
            os.fsync(file.fileno())
    return (time.perf_counter() - start) * 1000 / ALONE


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--database", help="a file in a temporary folder, where it is not said")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        url = chosen.database or str(Path(folder) / "serve.db")
        rows = asyncio.run(measured(url, chosen.questions))
        print_table(("at once", "median ms a question", "s in all"), *rows)
        print(f"fsync: {fsync(Path(folder)):.1f} ms")


if __name__ == "__main__":
    main()
