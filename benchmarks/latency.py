"""How long a question takes, after loading: graph search, and `guided` around its calls of a model.

    python benchmarks/latency.py [--rounds 3]
    python benchmarks/latency.py --guided [--set supply-kgrep]
    python benchmarks/latency.py --cold

Aims: half of the questions within 25 ms, 95 % within 200 ms. supply-kgrep lies in ASKGRAPH_DATA,
else ../shared/data; it is left out where it is not there.

`--guided`: `taken` is with a model that takes the first candidate at once, `written` with one that
writes the gold query as its own, which is validated and run. The aim is 100 ms for 95 % of the
questions of supply-kgrep; a first round warms up and does not count.

`--cold`: the command line from a cold shell, a new process each time. Aim: `askgraph ask` on an
added graph within 1.5 s. The first run may read files from disk; the operating system keeps them in
memory for the others.
"""

import argparse
import asyncio
import json
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from _measure import asked, askgraph, listed_sets, print_table, single_graphs
from askgraph import sample
from askgraph.evaluation.benchmarks.formats import read_questions
from askgraph.evaluation.questions import GoldQuestion
from askgraph.evaluation.reports.report import compute_percentile
from askgraph.graph import KnowledgeGraph
from askgraph.llm.scripted import ScriptedModel
from askgraph.methods import Method
from askgraph.methods.graph_search import GraphSearch
from askgraph.methods.guided import Guided
from askgraph.trace import Question
from askgraph.workspace import Workspace

QUESTION = "Which moons orbit Jupiter?"


def measure_search(folder: Path, rounds: int) -> None:
    """Print how long graph search takes."""
    lines = []
    for name, files, questions in single_graphs():
        profile = Workspace(folder).add(name, files)
        report = asked(folder, name, read_questions(questions), rounds)
        seconds = [record.seconds for record in report.records]
        figures = (f"{1000 * compute_percentile(seconds, share):.1f}" for share in (0.5, 0.95, 1.0))
        slowest = max(report.records, key=lambda record: record.seconds)
        lines.append((name, f"{profile.triples:,}", len(seconds), *figures, slowest.question[:60]))
    print_table(("graph", "triples", "asked", "p50 ms", "p95 ms", "max ms", "slowest"), *lines)


def measure_guided(folder: Path, rounds: int, sets: Sequence[str]) -> None:
    """Print how long `guided` takes with models that reply at once, and graph search beside it."""
    lines, workspace = [], Workspace(folder)
    for at, listed in enumerate(listed_sets(sets or ("sample", "supply-kgrep"))):
        workspace.add(f"{listed.set}-{at}", listed.files)
        graph = workspace.find(f"{listed.set}-{at}")
        times = asyncio.run(_time_methods(listed.questions, graph, rounds))
        for name, seconds in times.items():
            shares = (f"{1000 * compute_percentile(seconds, share):.0f}" for share in (0.5, 0.95))
            lines.append((listed.set, name, len(seconds), *shares))
    print_table(("set", "method", "n", "p50 ms", "p95 ms"), *lines)


async def _time_methods(
    questions: Sequence[GoldQuestion], graph: KnowledgeGraph, rounds: int
) -> dict[str, list[float]]:
    """Return the seconds of each question by the name of the method."""
    times: defaultdict[str, list[float]] = defaultdict(list)
    for number in range(rounds + 1):
        for gold in questions:
            taken = json.dumps({"choose": 1, "query": "", "sure": 1.0})
            written = json.dumps({"choose": 0, "query": gold.sparql, "sure": 1.0})
            methods: dict[str, Method] = {
                "graph search": GraphSearch(),
                "taken": Guided(ScriptedModel([taken]), looks=0, turns=0),
                "written": Guided(ScriptedModel([written]), looks=0, turns=0),
            }
            for name, method in methods.items():
                started = time.perf_counter()
                question = Question(gold.text, gold.language)
                [step async for step in method.answer(question, [graph])]
                if number:
                    times[name].append(time.perf_counter() - started)
    await graph.endpoint.close()
    return times


def measure_commands(folder: Path, rounds: int) -> None:
    """Print how long commands take in new processes."""
    added = askgraph("add", "space", sample.graph_path(), workspace=folder)
    lines = [("askgraph add space space.ttl", f"{added.seconds:.2f}", "", "")]
    ask = ("ask", QUESTION, "-g", "space")
    for command in (("--help",), ("graphs",), ask, (*ask, "--json")):
        seconds = [askgraph(*command, workspace=folder).seconds for _ in range(rounds)]
        first, middle, most = (f"{s:.2f}" for s in (seconds[0], median(seconds), max(seconds)))
        lines.append((f"askgraph {' '.join(command)}", first, middle, most))
    print_table(("command", "first s", "median s", "max s"), *lines)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("--rounds", type=int, help="how often each question is asked (3), or command run (5)")
    add("--guided", action="store_true", help="measure the method guided")
    add("--set", action="append", default=[], help="with --guided: a set; without it two")
    add("--cold", action="store_true", help="measure commands in new processes")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if chosen.cold:
            measure_commands(Path(folder), chosen.rounds or 5)
        elif chosen.guided:
            measure_guided(Path(folder), chosen.rounds or 3, chosen.set)
        else:
            measure_search(Path(folder), chosen.rounds or 3)


if __name__ == "__main__":
    main()
