"""What the pointer writer costs a question: judging candidates, writing five queries.

    python benchmarks/writer.py WEIGHTS [--set sample]

WEIGHTS is a file of `askgraph finetune writer`; `{graph}` in its name stands for the graph's. The
time is that of a core, however busy the machine, without reading, linking and growing. What the
writer is worth is measured with

    python tools/accuracy_floors.py --out before
    python tools/accuracy_floors.py --setting writer=WEIGHTS --out after
    askgraph compare before after
"""

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks._sets import Asked, asked_sets

from askgraph.evaluation.reports.report import percentile
from askgraph.methods.writing.pointer.inputs import listed_terms
from askgraph.methods.writing.pointer.writer import pointer_writer, reranked
from askgraph.search.pipeline import build_schema, link_text, propose_from_links
from askgraph.trace import Question
from askgraph.workspace.run_sync import result_of


def times(asked: Asked, weights: str) -> tuple[list[float], list[float]]:
    """Seconds of a core for judging and for writing, for each question of a graph."""
    graph, judging, writing = asked.graph, list[float](), list[float]()
    writer = pointer_writer(weights.replace("{graph}", graph.name))
    for gold in asked.questions:
        if graph.arrays is None:
            continue
        linked = link_text(gold.text, gold.language, graph.names)
        proposal = propose_from_links(linked, build_schema(graph.arrays, graph.profile))
        started = time.process_time()
        reranked(proposal, writer, graph)
        judging.append(time.process_time() - started)
        listed = listed_terms(linked, graph.profile)
        started = time.process_time()
        result_of(writer.write(Question(gold.text, gold.language), listed, graph, n=5))
        writing.append(time.process_time() - started)
    return judging, writing


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("weights")
    parser.add_argument("--set", action="append", default=[], help="sample, supply-kgrep, …")
    chosen = parser.parse_args()
    print("set | n | judge p50 ms | p95 | write 5 p50 ms | p95")
    with asked_sets(tuple(chosen.set)) as sets:
        for name in dict.fromkeys(one.set for one in sets):
            judging: list[float] = []
            writing: list[float] = []
            for one in (one for one in sets if one.set == name):
                own = times(one, chosen.weights)
                judging += own[0]
                writing += own[1]
            shares = [1000 * percentile(t, at) for t in (judging, writing) for at in (0.5, 0.95)]
            print(name, len(judging), *(f"{share:.0f}" for share in shares), sep=" | ")


if __name__ == "__main__":
    main()
