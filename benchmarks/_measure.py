"""What the benchmarks share: commands with their time and memory, questions with their times."""

import asyncio
import os
import resource
import shlex
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from askgraph.evaluation.questions import GoldQuestion
from askgraph.evaluation.reports.report import Report
from askgraph.evaluation.runs import Done, Task
from askgraph.evaluation.runs.one_question import asked as asked_one
from askgraph.evaluation.runs.one_question import asker
from askgraph.evaluation.runs.run import evaluate
from askgraph.trace import Question
from askgraph.workspace import DEFAULT_METHOD, Workspace

BUILD = Path(__file__).parents[1] / "build" / "benchmarks"


@dataclass(frozen=True)
class Measured:
    """How long a command took, and the most memory that it and its children held at once.

    `processor_seconds` are theirs together, which other work does not lengthen.
    """

    seconds: float
    peak_bytes: int
    processor_seconds: float


def askgraph(*arguments: str | Path, workspace: Path) -> Measured:
    """Run the command line in a new process; raises where it fails."""
    return measured([sys.executable, "-m", "askgraph", *map(str, arguments)], workspace)


def measured(command: Sequence[str], workspace: Path) -> Measured:
    """Run a command and watch it; an exit code of 1 is a refusal, which is fine here."""
    environment = {**os.environ, "ASKGRAPH_WORKSPACE": str(workspace)}
    start, used, peak = time.perf_counter(), _used(), 0
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None:
            peak = max(peak, memory(process.pid))
            time.sleep(0.02)
        seconds = time.perf_counter() - start
    if process.returncode not in (0, 1):
        raise SystemExit(f"{shlex.join(command)} ended with {process.returncode}")
    return Measured(seconds, peak, _used() - used)


def _used() -> float:
    """Processor seconds of all children that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def memory(pid: int) -> int:
    """Bytes in memory of a process and its children; pages that they share count once."""
    return sum(_proportional(child) for child in tree(pid))


def tree(pid: int) -> Iterable[int]:
    """A process and all below it."""
    yield pid
    try:
        for thread in Path(f"/proc/{pid}/task").iterdir():
            for child in (thread / "children").read_text().split():
                yield from tree(int(child))
    except OSError:
        return


def _proportional(pid: int) -> int:
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


def asked(workspace: Path, graph: str, questions: Sequence[GoldQuestion], rounds: int) -> Report:
    """Ask all questions so many times, after one that loads what is loaded once."""

    async def run() -> Report:
        place = Workspace(workspace)
        known = place.graph(graph)
        try:
            ask = asker(place.method(DEFAULT_METHOD), [known])
            await ask(Question(questions[0].text, questions[0].language), [])

            async def work(task: Task) -> Done:
                prefixes = known.prefixes.namespaces
                return await asked_one(task, ask, known.endpoint, prefixes=prefixes)

            tasks = [
                Task(question, graph, graph, DEFAULT_METHOD, repeat=number)
                for number in range(rounds)
                for question in questions
            ]
            done = await evaluate(tasks, work)
        finally:
            await known.endpoint.close()
        return Report(done.records)

    return asyncio.run(run())


def print_table(*lines: Sequence[object]) -> None:
    """Print the command that was run, then the lines as a table, heads first."""
    name = Path(sys.argv[0])
    print(f"$ python {name.parent.name}/{name.name} {shlex.join(sys.argv[1:])}".rstrip())
    print_lines(*lines)


def print_lines(*lines: Sequence[object]) -> None:
    """Print lines as a table, heads first."""
    cells = [[str(cell) for cell in line] for line in lines]
    widths = [max(len(line[at]) for line in cells) for at in range(len(cells[0]))]
    for line in cells:
        print(" | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)))
