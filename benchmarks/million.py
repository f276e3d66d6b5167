"""A million triples: how long `askgraph add` takes, how much memory, how fast questions are.

    python benchmarks/million.py [--triples 1_000_000]

Aims: added within 90 s and 2 GiB; 95 % of the questions within 500 ms. The generated graph is kept
in build/benchmarks. Memory is that of all processes together, shared pages counted once (Linux).
"""

import argparse
import json
import tempfile
from pathlib import Path

from _measure import BUILD, asked, askgraph, print_table
from askgraph.evaluation.benchmarks.formats import read_questions
from askgraph.evaluation.reports.report import percentile
from generate_graph import questions, world_of, write


def generated(triples: int) -> tuple[Path, Path]:
    """The files of the graph and of its questions; written where they are not there."""
    graph, asking = BUILD / f"world-{triples}.nt", BUILD / f"world-{triples}.jsonl"
    if not asking.exists():
        BUILD.mkdir(parents=True, exist_ok=True)
        write(triples, graph)
        lines = (json.dumps(line) + "\n" for line in questions(world_of(triples)))
        asking.write_text("".join(lines), encoding="utf-8")
    return graph, asking


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--triples", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=1, help="how often each question is asked")
    chosen = parser.parse_args()
    graph, asking = generated(chosen.triples)
    with tempfile.TemporaryDirectory() as folder:
        added = askgraph("add", "world", graph, workspace=Path(folder))
        report = asked(Path(folder), "world", read_questions(asking), chosen.rounds)
        first = askgraph("ask", report.records[0].question, "-g", "world", workspace=Path(folder))
    seconds = [record.seconds for record in report.records]
    p50, p95, worst = (f"{1000 * percentile(seconds, share):.0f} ms" for share in (0.5, 0.95, 1.0))
    print_table(
        ("what", "measured", "aim"),
        ("triples", f"{chosen.triples:,}", ""),
        ("askgraph add", f"{added.seconds:.1f} s", "90 s"),
        ("peak memory of add", f"{added.peak_bytes / 2**30:.2f} GiB", "2 GiB"),
        ("question p50", p50, ""),
        ("question p95", p95, "500 ms"),
        ("question max", worst, ""),
        ("F1 best column", f"{100 * report.f1:.1f}", ""),
        ("askgraph ask, new process", f"{first.seconds:.2f} s", "1.5 s"),
        ("its peak memory", f"{first.peak_bytes / 2**30:.2f} GiB", ""),
    )


if __name__ == "__main__":
    main()
