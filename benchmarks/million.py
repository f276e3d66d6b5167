"""A million triples: how long `askgraph add` takes, how much memory, how fast questions are.

    python benchmarks/million.py [--triples 1_000_000] [--behind URL --named-graph IRI]
    python benchmarks/million.py --triples 10_000_000 --workspace FOLDER

Aims: added within 90 s and 2 GiB; 95 % of the questions within 500 ms. The generated graph is kept
in build/benchmarks. Memory is that of all processes together, shared pages counted once (Linux).
With `--behind`, the same graph is asked at an endpoint that holds it, too (`tools/virtuoso.sh load
FILE IRI`), no reply being cached. What a kept workspace has already is not added again.
"""

import argparse
import json
import shutil
import tempfile
from pathlib import Path

from _measure import BUILD, asked, askgraph, print_table
from _world import questions, world_of, write
from askgraph.evaluation.benchmarks.formats import read_questions
from askgraph.evaluation.reports.report import compute_percentile
from askgraph.workspace import Workspace


def generated(triples: int) -> tuple[Path, Path]:
    """The files of the graph and of its questions; written where they are not there."""
    graph, asking = BUILD / f"world-{triples}.nt", BUILD / f"world-{triples}.jsonl"
    if not asking.exists():
        BUILD.mkdir(parents=True, exist_ok=True)
        write(triples, graph)
        lines = (json.dumps(line) + "\n" for line in questions(world_of(triples)))
        asking.write_text("".join(lines), encoding="utf-8")
    return graph, asking


def figures(workspace: Path, graph: str, asking: Path, rounds: int) -> list[str]:
    """F1, times and requests of the questions."""
    report = asked(workspace, graph, read_questions(asking), rounds)
    seconds = [record.seconds for record in report.records]
    requests = [record.usage.requests for record in report.records]
    times = (f"{1000 * compute_percentile(seconds, share):.0f} ms" for share in (0.5, 0.95, 1.0))
    slowest = max(report.records, key=lambda record: record.seconds)
    each = f"{sum(requests) / len(requests):.1f}, at most {max(requests)}"
    return [f"{100 * report.f1:.1f}", *times, each, slowest.question]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--triples", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=1, help="how often each question is asked")
    parser.add_argument("--behind", metavar="URL", help="an endpoint that holds the graph, too")
    parser.add_argument("--named-graph", metavar="IRI")
    parser.add_argument("--workspace", type=Path, help="kept; else a temporary one")
    chosen = parser.parse_args()
    file, asking = generated(chosen.triples)
    with tempfile.TemporaryDirectory() as folder:
        place = chosen.workspace or Path(folder)
        sources: dict[str, list[str | Path]] = {"world": [file]}
        if chosen.behind:
            named = ["--named-graph", chosen.named_graph] if chosen.named_graph else []
            sources["behind"] = [chosen.behind, *named]
        columns = []
        for name, source in sources.items():
            cost = ["there", "", ""]
            if name not in Workspace(place).graphs():
                added = askgraph("add", name, *source, workspace=place)
                peak = f"{added.peak_bytes / 2**30:.2f} GiB"
                cost = [f"{added.seconds:.1f} s", f"{added.processor_seconds:.0f} s", peak]
            if name == "behind":
                shutil.rmtree(Workspace(place).get_cache_folder(name), ignore_errors=True)
            columns.append([*cost, *figures(place, name, asking, chosen.rounds)])
        first = read_questions(asking)[0].text
        new = askgraph("ask", first, "-g", "world", workspace=place)
    rows = (
        *(("askgraph add", "90 s"), ("processor time of add", ""), ("peak memory of add", "2 GiB")),
        *(("F1 best column", ""), ("question p50", ""), ("question p95", "500 ms")),
        *(("question max", "3 s"), ("requests a question", "12"), ("slowest", "")),
    )
    heads = ("as a file", "behind the endpoint")[: len(columns)]
    blank = [""] * (len(columns) - 1)
    print_table(
        (f"{chosen.triples:,} triples", "aim", *heads),
        *((what, aim, *cells) for (what, aim), *cells in zip(rows, *columns, strict=True)),
        ("askgraph ask, new process", "1.5 s", f"{new.seconds:.2f} s", *blank),
        ("its peak memory", "", f"{new.peak_bytes / 2**30:.2f} GiB", *blank),
    )


if __name__ == "__main__":
    main()
