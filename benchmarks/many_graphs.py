"""A server with many graphs, each asked in turn, twice: its processes, memory, slowest answers.

    python benchmarks/many_graphs.py [--graphs 200]

Aims: 20 processes, 700 MB, no answer slower than 0.5 s for the wake-up of a graph. The server runs
as `askgraph serve` does. Memory is that of all processes together, shared pages counted once
(Linux). "again" are the questions of the second turn, in which each graph was asked before.
"""

import argparse
import tempfile
import time
from pathlib import Path

import httpx2

from _measure import memory, print_table, tree
from _served import served
from askgraph.evaluation.reports.report import percentile
from askgraph.workspace import Workspace

_TEXT = """@prefix : <http://example.org/{0}/> .
@prefix r: <http://www.w3.org/2000/01/rdf-schema#> .
:Boat r:label "boat" . :length r:label "length in m" . :builder r:label "builder" .
"""
_BOAT = """:b{0} a :Boat ; r:label "Boat {0}" ; :length {1} ; :builder :y{2} .
:y{2} r:label "Yard {2}" ."""


def written(number: int, path: Path) -> Path:
    """Write a small graph of boats."""
    boats = "\n".join(_BOAT.format(n, 5 + (n * 7 + number) % 40, n % 9) for n in range(60))
    path.write_text(f"{_TEXT.format(number)}{boats}\n", encoding="utf-8")
    return path


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", type=int, default=200)
    chosen = parser.parse_args()
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        workspace = Workspace(folder)
        names = [f"g{number}" for number in range(chosen.graphs)]
        for number, name in enumerate(names):
            workspace.add(name, [written(number, Path(folder, f"{name}.ttl"))])
        with served(Path(folder)) as (url, pid), httpx2.Client(base_url=url, timeout=60) as client:
            for turn in ("first", "again"):
                seconds, failed = [], 0
                for name in names:
                    began = time.perf_counter()
                    body = {"question": "How long is Boat 7?", "graphs": [name]}
                    reply = client.post("/api/v1/ask", json=body).json()
                    seconds.append(time.perf_counter() - began)
                    failed += reply.get("state") != "done"
                figures = (f"{1000 * percentile(seconds, share):.0f}" for share in (0.5, 0.95, 1.0))
                held = f"{memory(pid) / 2**20:.0f}"
                lines.append((turn, len(names), failed, *figures, len(list(tree(pid))), held))
    heads = ("turn", "asked", "failed", "p50 ms", "p95 ms", "max ms", "processes", "MB")
    print_table(heads, *lines)


if __name__ == "__main__":
    main()
