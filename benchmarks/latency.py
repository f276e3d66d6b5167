"""How long a question takes, after loading: graph search, and `guided` around its calls of a model.

    python benchmarks/latency.py [--rounds 3]
    python benchmarks/latency.py --guided [--set supply-kgrep]
    python benchmarks/latency.py --cold
    python benchmarks/latency.py --examples 10000

Aims: half of the questions within 25 ms, 95 % within 200 ms. supply-kgrep lies in ASKGRAPH_DATA,
else ../shared/data; it is left out where it is not there.

`--guided`: `taken` is with a model that takes the first candidate at once, `written` with one that
writes the gold query as its own, which is validated and run. The aim is 100 ms for 95 % of the
questions of supply-kgrep; a first round warms up and does not count.

`--cold`: the command line from a cold shell, a new process each time. Aim: `askgraph ask` on an
added graph within 1.5 s. The first run may read files from disk; the operating system keeps them in
memory for the others.

`--examples`: a question over the sample with so many confirmed questions, which are those of
spider-graphs, and copies of them with a number, against one without any. Aim: 5 ms more for 10,000.
"""

import argparse
import asyncio
import json
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import cycle
from pathlib import Path
from statistics import median

from _measure import asked, askgraph, listed_sets, print_table, single_graphs
from askgraph import sample
from askgraph.evaluation.benchmarks.formats import read_questions
from askgraph.evaluation.questions import GoldQuestion
from askgraph.evaluation.reports.report import compute_percentile
from askgraph.graph import KnowledgeGraph
from askgraph.graph.examples import QueryExample
from askgraph.llm.scripted import ScriptedModel
from askgraph.methods import ConfirmedAnswerMethod, Method
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


def measure_examples(folder: Path, count: int) -> None:
    """Print how long questions over the sample take with and without confirmed questions."""
    known = [gold for listed in listed_sets(("spider-graphs",)) for gold in listed.questions]
    examples = tuple(
        QueryExample(f"{gold.text} {n}" if n >= len(known) else gold.text, gold.sparql or "", "en")
        for n, gold in zip(range(count), cycle(known), strict=False)
    )
    Workspace(folder).add("sample", [sample.graph_path()])
    graph = Workspace(folder).find("sample")
    questions = read_questions(sample.questions_path().with_suffix(".jsonl"))[:60]
    without, with_all = asyncio.run(_time_examples(questions, graph, examples))
    more = median(after - before for before, after in zip(without, with_all, strict=True))
    figures = [f"{1000 * figure:.1f}" for figure in (median(without), median(with_all), more)]
    print_table(("examples", "n", "without ms", "with ms", "more ms"), (count, 60, *figures))


async def _time_examples(
    questions: Sequence[GoldQuestion], graph: KnowledgeGraph, examples: tuple[QueryExample, ...]
) -> tuple[list[float], list[float]]:
    """Return the seconds of each question without and with examples, never twice in a row."""
    method, count = ConfirmedAnswerMethod(GraphSearch()), len(questions)
    graphs = graph, replace(graph, examples=examples)
    times = [0.0] * count, [0.0] * count
    for at in (0, *range(count)):  # the first warms up
        for own, seconds, place in zip(graphs, times, (at, at - count // 2), strict=True):
            started, gold = time.perf_counter(), questions[place]
            [step async for step in method.answer(Question(gold.text), [own])]
            seconds[place] = time.perf_counter() - started
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
    add("--examples", type=int, help="measure with so many confirmed questions")
    add("--cold", action="store_true", help="measure commands in new processes")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if chosen.cold:
            measure_commands(Path(folder), chosen.rounds or 5)
        elif chosen.examples:
            measure_examples(Path(folder), chosen.examples)
        elif chosen.guided:
            measure_guided(Path(folder), chosen.rounds or 3, chosen.set)
        else:
            measure_search(Path(folder), chosen.rounds or 3)


if __name__ == "__main__":
    main()
