"""How good the answers are, and whether that is good enough: the floors that CI holds.

    python tools/accuracy_floors.py                       # all sets, one table; 1 below a floor
    python tools/accuracy_floors.py --set spider --jobs 2
    python tools/accuracy_floors.py --out before          # keep the run; then change something, and
    python tools/accuracy_floors.py --out after
    askgraph compare before after                         # what got better, what got worse
    askgraph report after --html after.html               # every question, step by step

It is `askgraph evaluate` over sets whose graphs are built for it, with the weights for each graph
that were fitted without it (`tools/held_out.toml`). The data lies in ASKGRAPH_DATA,
else ../shared/data; a set that is not there is skipped.
"""

import argparse
import os
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from askgraph import sample
from askgraph.errors import SetupError
from askgraph.evaluation.benchmarks.formats import read_benchmark
from askgraph.evaluation.reports.report import Report, compute_percentile
from askgraph.evaluation.runs import EvaluationRun, Record
from askgraph.workspace import SEARCH_METHOD, Workspace
from askgraph.workspace.evaluation import ExecutorOptions, evaluate_benchmarks
from askgraph.workspace.plans import BenchmarkQuestions, RunOptions, parse_method_choices
from askgraph.workspace.run_sync import run_coroutine
from askgraph.workspace.selection import Selection, resolve_graph

FLOORS: dict[str, dict[str, float]] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text("utf-8")
)
"""A little under what was measured; `docs/evaluation.md` has both."""

HELD_OUT = Path(__file__).with_name("held_out.toml")
"""Weights of the ranking for each graph that were fitted without it; `tools/ranking.py` has how."""

NAMES = {"f1": "F1", "f1_flattened": "flat", "top_half_f1": "top half", "refused": "refused"}


def data_folder() -> Path:
    """Where the benchmark data lies."""
    return Path(os.environ.get("ASKGRAPH_DATA") or Path(__file__).parents[2] / "shared" / "data")


def sets(
    data: Path, workspace: Workspace, wanted: Sequence[str] = ()
) -> Iterator[BenchmarkQuestions]:
    """Give each set that is there, or each of those wanted, as it is asked; build its graphs."""
    supply = data / "supply-kgrep"
    for variant in ("default", "inverse-and-shortcut"):
        if supply.is_dir() and variant in (wanted or FLOORS):
            boxes = [supply / "kg" / f"{box}-box-{variant}.ttl" for box in "at"]
            if variant not in workspace.graphs():
                workspace.add(variant, boxes)
            yield _asked(variant, supply / "questions.jsonl", workspace, variant)
    spider = data / "spider4sparql" / "questions.jsonl"
    if spider.is_file() and "spider" in (wanted or FLOORS):
        yield _asked("spider", spider, workspace)
    if "sample" in (wanted or FLOORS):
        questions = sample.questions_path().with_suffix(".jsonl")
        yield _asked("sample", questions, workspace, str(sample.graph_path()))


def _asked(
    name: str, path: Path, workspace: Workspace, graph: str | None = None
) -> BenchmarkQuestions:
    format, contents = read_benchmark(path, format="questions-jsonl")
    questions = contents.questions
    graphs = tuple(resolve_graph(workspace, question, path, graph) for question in questions)
    return BenchmarkQuestions(name, path, format, contents, questions, graphs)


def floors_run(
    workspace: Workspace, asked: Sequence[BenchmarkQuestions], *, method: str,
    settings: Sequence[str] = (),
    jobs: int = 1, folder: Path | None = None,
) -> EvaluationRun:  # fmt: skip
    """Ask all sets, as `askgraph evaluate` would."""
    wishes = RunOptions(parse_method_choices([method], settings))
    crew = ExecutorOptions("processes", jobs) if jobs > 1 else ExecutorOptions()
    return run_coroutine(
        evaluate_benchmarks(
            workspace, asked, wishes, Selection(), crew, folder=folder, progress=_told
        )
    )


def _told(record: Record, done: int, planned: int) -> None:
    if done % 100 == 0 or done == planned:
        print(f"{done} of {planned} questions", file=sys.stderr)


COLUMNS = ("n", "F1 best column", "F1 flattened", "EM", "top-half F1", "answered", "refused")


def table(
    run: EvaluationRun, floors: Mapping[str, Mapping[str, float]] = FLOORS
) -> tuple[str, bool]:
    """Return the figures of each set, a line each, and whether all floors hold."""
    lines: list[Sequence[str]] = [("set", *COLUMNS, "p50 ms", "p95 ms", "floors", "ok")]
    for name in dict.fromkeys(record.benchmark for record in run.records):
        report = Report(tuple(record for record in run.records if record.benchmark == name))
        refused = report.correct_refusal_count / max(1, len(report.unanswerable))
        found = {key: getattr(report, key) for key in NAMES if key != "refused"}
        found["refused"] = refused
        held = floors.get(name, {})
        below = [NAMES[key] for key, floor in held.items() if found[key] < floor]
        told = ", ".join(f"{NAMES[key]} ≥ {100 * floor:.0f}" for key, floor in held.items())
        verdict = ("below: " + ", ".join(below) if below else "ok") if held else "-"
        lines.append((name, *_figures(report), told or "none", verdict))
    return align(lines), not any(line[-1].startswith("below") for line in lines)


def align(lines: Sequence[Sequence[str]], *, gap: str = " | ", side: str = "<") -> str:
    """Return lines as a table of aligned columns, cells at the left side (<) or the right (>)."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        gap.join(f"{cell:{side}{width}}" for cell, width in zip(line, widths, strict=True))
        for line in lines
    )


def _figures(report: Report) -> tuple[str, ...]:
    seconds = [record.seconds for record in report.records]
    unanswerable = len(report.unanswerable)
    shares = (report.f1, report.f1_flattened, report.em, report.top_half_f1)
    return (
        str(len(report.records)),
        *(f"{100 * share:.1f}" for share in shares),
        str(sum(record.status == "answer" for record in report.records)),
        f"{report.correct_refusal_count} of {unanswerable}" if unanswerable else "-",
        *(f"{1000 * compute_percentile(seconds, share):.0f}" for share in (0.5, 0.95)),
    )


def explained(doc: str | None) -> argparse.ArgumentParser:
    """Return a parser that shows the docstring of its script."""
    kind = argparse.RawDescriptionHelpFormatter
    return argparse.ArgumentParser(description=doc, formatter_class=kind)


def _arguments() -> argparse.Namespace:
    parser = explained(__doc__)
    add = parser.add_argument
    add("--set", action="append", metavar="NAME", choices=FLOORS, help=", ".join(FLOORS))
    add("--jobs", type=int, default=1, help="processes that answer")
    add("--method", default=SEARCH_METHOD, help="other methods have no floors")
    add("--setting", action="append", default=[], metavar="NAME=VALUE", help="of the method")
    add("--workspace", type=Path, help="keep the built graphs here")
    add("--out", type=Path, metavar="RUN", help="keep the run in this folder")
    return parser.parse_args()


def _held_out(method: str) -> list[str]:
    """No graph is measured by a ranking that was fitted to its own questions."""
    return [f"ranking={HELD_OUT}"] if method == SEARCH_METHOD else []


def main() -> int:
    """Run what the command line asks for; 0 where all floors hold."""
    chosen = _arguments()
    settings = [*_held_out(chosen.method), *chosen.setting]
    with tempfile.TemporaryDirectory() as temporary:
        workspace = Workspace(chosen.workspace or temporary)
        asked = list(sets(data_folder(), workspace, chosen.set or ()))
        for name in set(chosen.set or FLOORS) - {one.name for one in asked}:
            print(f"{name}: skipped, its data is not in {data_folder()} (ASKGRAPH_DATA names it)")
        run = floors_run(
            workspace, asked, method=chosen.method, settings=settings,
            jobs=chosen.jobs, folder=chosen.out,
        )  # fmt: skip
    for record in run.records:
        for problem in filter(None, (record.error, record.gold_error)):
            print(f"{record.id}: {problem}")
    text, fine = table(run, FLOORS if chosen.method == SEARCH_METHOD else {})
    print(text)
    return 0 if fine else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except SetupError as problem:
        sys.exit(f"accuracy_floors: {problem}")
