"""Searches an index in a process that holds little else, for benchmarks/indices.py.

    python benchmarks/_searching.py KIND RESOURCES FOLDER

Prints p50 and p99 without and with `within`, each by the clock and of the processor, the megabytes
resident, and those of them mapped.
"""

import importlib
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np


def main() -> None:
    """Measure and print."""
    kind, count, folder = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])
    asked, within = json.loads(folder.with_name("asked.json").read_text())
    index = opened(kind, count, folder)
    index.search(asked[0])
    index.search(asked[0], within=within)
    figures = [*percentiles(index, asked, None), *percentiles(index, asked, within)]
    print(json.dumps([*figures, *memory()]))


def plugin_of(kind: str) -> Any:
    """Return an index's class without the registry, which costs memory."""
    module = importlib.import_module(f"askgraph.index.{kind}")
    return getattr(module, module.__all__[0])


def opened(kind: str, count: int, folder: Path) -> Any:
    """Open an index in a folder."""
    if kind != "vector":
        return plugin_of(kind).open(folder)
    from indices import Clusters

    return plugin_of(kind).open(folder, embedder=Clusters(count))


def percentiles(index: Any, asked: Sequence[str], within: list[str] | None) -> list[str]:
    """Search each text once; return p50 and p99 in milliseconds, then those of the processor."""
    times = []
    for text in asked:
        start, worked = time.perf_counter(), time.process_time()
        index.search(text, within=within)
        times.append((time.perf_counter() - start, time.process_time() - worked))
    clock, processor = np.percentile(times, (50, 99), axis=0).T * 1000
    return [f"{figure:.2f}" for figure in (*clock, *processor)]


def memory() -> list[str]:
    """Megabytes resident, and how many of them are pages of files (Linux)."""
    status = Path("/proc/self/status").read_text().splitlines()
    lines = dict(line.split(":", 1) for line in status)
    return [f"{int(lines[name].split()[0]) / 1024:.0f}" for name in ("VmRSS", "RssFile")]


if __name__ == "__main__":
    main()
