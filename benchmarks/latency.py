"""How long a question takes, after loading: on the sample graph and on supply-kgrep.

    python benchmarks/latency.py [--rounds 3]

Aims: half of the questions within 25 ms, 95 % within 200 ms. supply-kgrep lies in ASKGRAPH_DATA,
else ../shared/data; it is left out where it is not there.
"""

import argparse
import tempfile
from pathlib import Path

from _measure import asked, print_table, single_graphs
from askgraph.evaluation.benchmarks.formats import read_questions
from askgraph.evaluation.reports.report import compute_percentile
from askgraph.workspace import Workspace


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="how often each question is asked")
    rounds = parser.parse_args().rounds
    lines = []
    for name, files, questions in single_graphs():
        with tempfile.TemporaryDirectory() as folder:
            workspace = Workspace(folder)
            profile = workspace.add(name, files)
            report = asked(Path(folder), name, read_questions(questions), rounds)
        seconds = [record.seconds for record in report.records]
        p50, p95, worst = (1000 * compute_percentile(seconds, share) for share in (0.5, 0.95, 1.0))
        slowest = max(report.records, key=lambda record: record.seconds)
        figures = (f"{p50:.1f}", f"{p95:.1f}", f"{worst:.1f}")
        lines.append((name, f"{profile.triples:,}", len(seconds), *figures, slowest.question[:60]))
    print_table(("graph", "triples", "asked", "p50 ms", "p95 ms", "max ms", "slowest"), *lines)


if __name__ == "__main__":
    main()
