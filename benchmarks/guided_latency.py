"""How long the guided method takes around its calls of a model, which itself replies at once here.

    python benchmarks/guided_latency.py [--set supply-kgrep] [--rounds 3]

`taken` is with a model that takes the first candidate, `written` with one that writes the gold
query as its own, which is validated and run. `graph search` is the default method alone. The aim is
100 ms for 95 % of the questions of supply-kgrep; a first round warms up and does not count.
"""

import argparse
import asyncio
import json
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence

from _measure import listed_sets, print_table
from askgraph.evaluation.questions import GoldQuestion
from askgraph.evaluation.reports.report import compute_percentile
from askgraph.graph import KnowledgeGraph
from askgraph.llm.scripted import ScriptedModel
from askgraph.methods import Method
from askgraph.methods.graph_search import GraphSearch
from askgraph.methods.guided import Guided
from askgraph.trace import Question
from askgraph.workspace import Workspace


def methods(gold: GoldQuestion) -> dict[str, Method]:
    """What is measured for a question."""
    taken = json.dumps({"choose": 1, "query": "", "sure": 1.0})
    written = json.dumps({"choose": 0, "query": gold.sparql, "sure": 1.0})
    return {
        "graph search": GraphSearch(),
        "taken": Guided(ScriptedModel(lambda _: taken), looks=0, turns=0),
        "written": Guided(ScriptedModel(lambda _: written), looks=0, turns=0),
    }


async def measured(
    questions: Sequence[GoldQuestion], graph: KnowledgeGraph, rounds: int
) -> dict[str, list[float]]:
    """The seconds of each question, by what was measured."""
    found: defaultdict[str, list[float]] = defaultdict(list)
    for number in range(rounds + 1):
        for gold in questions:
            for name, method in methods(gold).items():
                started = time.perf_counter()
                question = Question(gold.text, gold.language)
                [step async for step in method.answer(question, [graph])]
                if number:
                    found[name].append(time.perf_counter() - started)
    await graph.endpoint.close()
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--set", action="append", default=[], help="a set; without it two")
    parser.add_argument("--rounds", type=int, default=3, help="how often each question is asked")
    options = parser.parse_args()
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        workspace = Workspace(folder)
        for at, asked in enumerate(listed_sets(options.set or ("sample", "supply-kgrep"))):
            workspace.add(f"{asked.set}-{at}", asked.files)
            graph = workspace.find(f"{asked.set}-{at}")
            times = asyncio.run(measured(asked.questions, graph, options.rounds))
            for name, seconds in times.items():
                shares = (
                    f"{1000 * compute_percentile(seconds, share):.0f}" for share in (0.5, 0.95)
                )
                lines.append((asked.set, name, len(seconds), *shares))
    print_table(("set", "method", "n", "p50 ms", "p95 ms"), *lines)


if __name__ == "__main__":
    main()
