"""What the benchmarks share: sets of questions, commands and servers with their time and memory."""

import asyncio
import json
import os
import re
import resource
import shlex
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random

from askgraph import sample
from askgraph.evaluation.benchmarks.formats import read_questions
from askgraph.evaluation.questions import GoldQuestion
from askgraph.evaluation.reports.report import Report
from askgraph.evaluation.runs import Done, Task
from askgraph.evaluation.runs.one_question import asked as asked_one
from askgraph.evaluation.runs.one_question import collect_steps
from askgraph.evaluation.runs.run import evaluate
from askgraph.trace import Question
from askgraph.workspace import SEARCH_METHOD, Workspace

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
    """Run the command line in a new process and watch it; an exit code of 1 is a refusal."""
    command = [sys.executable, "-m", "askgraph", *map(str, arguments)]
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
    total = 0
    for child in tree(pid):
        with suppress(OSError):  # it has ended
            text = Path(f"/proc/{child}/smaps_rollup").read_text()
            total += sum(map(int, re.findall(r"^Pss: +(\d+)", text, re.MULTILINE))) * 1024
    return total


def tree(pid: int) -> Iterable[int]:
    """A process and all below it."""
    yield pid
    with suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            for child in (thread / "children").read_text().split():
                yield from tree(int(child))


def asked(workspace: Path, graph: str, questions: Sequence[GoldQuestion], rounds: int) -> Report:
    """Ask all questions so many times, after one that loads what is loaded once."""

    async def run() -> Report:
        place = Workspace(workspace)
        known = place.graph(graph)
        try:
            method = place.method(SEARCH_METHOD)
            ask = partial(collect_steps, method=method, graphs=[known])
            await ask(Question(questions[0].text, questions[0].language), [])

            async def work(task: Task) -> Done:
                prefixes = known.prefixes.namespaces
                return await asked_one(task, ask, known.endpoint, prefixes=prefixes)

            tasks = [
                Task(question, graph, graph, SEARCH_METHOD, repeat=number)
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


SECONDS = 20.0  # a gold query
_USUAL = ("sample", "supply-kgrep", "spider4sparql")


@dataclass(frozen=True)
class Listed:
    """The questions of a set about one of its graphs, and the files of that."""

    set: str
    graph: str
    files: Sequence[Path]
    questions: Sequence[GoldQuestion]


def listed_sets(
    wanted: Sequence[str] = (), *, sample: int | None = None, seed: int = 0
) -> Iterator[Listed]:
    """Yield the questions of each graph of the sets, or so many of each, drawn with a seed.

    Without those `wanted` that are all sets but the largest.
    """
    for name, graphs, path in _sets():
        if name not in (wanted or _USUAL):
            continue
        questions = read_questions(path)
        for key, files in graphs.items():
            own = [q for q in questions if not key or q.graph == key]
            if sample is not None and sample < len(own):
                own = sorted(Random(seed).sample(own, sample), key=own.index)
            if own:
                yield Listed(name, key, files, own)


def _sets() -> Iterator[tuple[str, dict[str, list[Path]], Path]]:
    """A name, the files of each graph, the questions."""
    for name, files, questions in single_graphs():
        yield name, {"": files}, questions
    for name in ("spider4sparql", "spider-graphs"):
        if (folder := _data() / name).is_dir():
            graphs = {path.name: [path] for path in sorted((folder / "kg").glob("*.ttl"))}
            yield name, graphs, folder / "questions.jsonl"


def single_graphs() -> Iterator[tuple[str, list[Path], Path]]:
    """The sets about one graph each: a name, the graph's files, the questions."""
    yield "sample", [sample.graph_path()], sample.questions_path().with_suffix(".jsonl")
    if (folder := _data() / "supply-kgrep").is_dir():
        boxes = [folder / "kg" / f"{box}-box-default.ttl" for box in "at"]
        yield "supply-kgrep", boxes, folder / "questions.jsonl"


def _data() -> Path:
    shared = Path(__file__).parents[2] / "shared" / "data"
    return Path(os.environ.get("ASKGRAPH_DATA") or shared)


@contextmanager
def served(folder: Path, *options: str) -> Iterator[tuple[str, int]]:
    """Run the server on a workspace; give its address, without a slash, and its process id."""
    log = folder / "serve.log"
    command = [sys.executable, "-m", "askgraph", "serve", "--workspace", str(folder), "--port", "0"]
    with log.open("w") as errors:
        process = subprocess.Popen([*command, *options], stdout=subprocess.DEVNULL, stderr=errors)
    try:
        while not (found := re.search(r"is at (http://\S+?)/\s", log.read_text("utf-8"))):
            if process.poll() is not None:
                sys.exit(log.read_text("utf-8"))
            time.sleep(0.05)
        yield found[1], process.pid
    finally:
        process.terminate()
        process.wait()


_SAYS = json.dumps({"choose": 1, "query": "", "sure": 1.0})
_PARTS = (
    {"choices": [{"index": 0, "delta": {"role": "assistant", "content": _SAYS}}]},
    {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
    {"choices": [], "usage": {"prompt_tokens": 1200, "completion_tokens": 20}},
)
_BODY = "".join(f"data: {json.dumps(part)}\n\n" for part in _PARTS) + "data: [DONE]\n\n"


@contextmanager
def slow_model(seconds: float) -> Iterator[str]:
    """Serve Chat Completions that reply after some seconds; give the base URL."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            time.sleep(seconds)
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            self.wfile.write(_BODY.encode())

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    class Server(ThreadingHTTPServer):
        request_queue_size = 512

    with Server(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
        server.shutdown()
