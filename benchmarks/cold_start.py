"""How long the command line takes from a cold shell: one new process each time.

    python benchmarks/cold_start.py [--runs 5]

Aim: `askgraph ask` on an added graph within 1.5 s. The first run may read files from disk; the
operating system keeps them in memory for the others.
"""

import argparse
import tempfile
from pathlib import Path
from statistics import median

from _measure import askgraph, print_table
from askgraph import sample

QUESTION = "Which moons orbit Jupiter?"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5, help="how often each command is run")
    runs = parser.parse_args().runs
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        added = askgraph("add", "space", sample.graph_path(), workspace=place)
        lines.append(("askgraph add space space.ttl", f"{added.seconds:.2f}", "", ""))
        commands = (
            ("--help",),
            ("graphs",),
            ("ask", QUESTION, "-g", "space"),
            ("ask", QUESTION, "-g", "space", "--json"),
        )
        for command in commands:
            seconds = [askgraph(*command, workspace=place).seconds for _ in range(runs)]
            first, middle, most = (f"{s:.2f}" for s in (seconds[0], median(seconds), max(seconds)))
            lines.append((f"askgraph {' '.join(command)}", first, middle, most))
    print_table(("command", "first s", "median s", "max s"), *lines)


if __name__ == "__main__":
    main()
