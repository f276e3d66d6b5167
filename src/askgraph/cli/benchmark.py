"""`askgraph benchmark`: check, freeze, split and convert benchmarks, and measure stages."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path

import typer

from askgraph import plugins
from askgraph.answers.console import build_table
from askgraph.cli import CommandGroup, DebugOption
from askgraph.cli.figures import OutputFormat, ReadOptions, SelectOptions, WorkerOptions
from askgraph.cli.output import CommonOptions, print_blocks, print_json, show_progress
from askgraph.errors import SetupError
from askgraph.evaluation.benchmarks import Benchmark, BenchmarkContents
from askgraph.evaluation.gold import FINDING_KINDS, GoldFinding
from askgraph.evaluation.gold.frozen import read_frozen_gold
from askgraph.evaluation.studies.stages import build_recall_sheet, build_stage_sheets
from askgraph.workspace.gold import GoldCheckOptions, check_gold, freeze_gold
from askgraph.workspace.gold import convert_questions as converted
from askgraph.workspace.run_sync import run_coroutine
from askgraph.workspace.selection import SplitOptions, select_benchmarks, write_splits
from askgraph.workspace.settings import parse_setting
from askgraph.workspace.stages import evaluate_stages

ERRORS_EXIT_CODE = 1
FAILED_QUERIES_EXIT_CODE = 4
MAX_SHOWN_FINDINGS = 20  # of a kind; --json has all

benchmark = CommandGroup()


class SplitGroup(StrEnum):
    """What a split can leave out."""

    GRAPH = "graph"
    DATASET = "dataset"


@benchmark.command("list")
def list_formats(json: bool = False, debug: DebugOption = False) -> None:
    """List the formats of benchmarks that can be read."""
    entries = [_describe_format(name) for name in plugins.list_names("benchmark")]
    if json:
        print_json(
            [dict(zip(("name", "title", "splits"), entry, strict=True)) for entry in entries]
        )
        return
    rows = [(name, str(title), ", ".join(splits)) for name, title, splits in entries]
    print_blocks([build_table(("format", "title", "splits"), rows)])


@benchmark.command("convert")
def convert(common: CommonOptions, reading: ReadOptions, source: str, out: Path) -> None:
    """Write questions of any format as lines of askgraph's own format."""
    contents = converted(
        common.workspace, source, out, format=reading.format, language=reading.lang
    )
    for item in contents.unreadable:
        typer.echo(f"not written: {item.location}: {item.reason}", err=True)
    typer.echo(f"{len(contents.questions)} questions in {out}", err=True)


@benchmark.command("check")
def check(
    common: CommonOptions,
    reading: ReadOptions,
    benchmarks: list[Path],
    graph: str | None = None,
    against: list[Path] | None = None,
    gold: Path | None = None,
    offline: bool = False,
    timeout: float = 60.0,
    concurrency: int = 1,
    json: bool = False,
) -> None:
    """Check the gold of benchmarks: run every gold query, and report errors and doubts."""
    workspace = common.workspace
    contents_by_path = _read_all(benchmarks, reading)
    if gold is not None and len(contents_by_path) > 1:
        raise SetupError("--gold applies to one benchmark; check them one at a time")
    training_options = replace(reading, format=None)
    checks = GoldCheckOptions(
        graph=graph,
        timeout=timeout,
        concurrency=concurrency,
        training=tuple(
            question
            for path in against or ()
            for question in training_options.read_contents(path)[1].questions
        ),
        frozen=read_frozen_gold(gold) if gold else None,
    )
    findings: list[GoldFinding] = []
    with show_progress() as report:
        for path, contents in contents_by_path.items():
            has_graph = graph is not None or any(question.graph for question in contents.questions)
            if gold is not None and (offline or not has_graph):
                raise SetupError(
                    "--gold compares results of gold queries: name the graph to run them on "
                    "with -g, and omit --offline"
                )
            if not has_graph and not offline:
                typer.echo(f"{path}: no graph is given (-g), so no query is run", err=True)
            checks_of_file = replace(checks, offline=offline or not has_graph)
            findings += check_gold(workspace, path, contents, checks_of_file, progress=report)
    if json:
        print_json(to_findings_object(contents_by_path, findings))
    else:
        print_findings(contents_by_path, findings)
    if any(finding.severity == "error" for finding in findings):
        raise typer.Exit(ERRORS_EXIT_CODE)


@benchmark.command("freeze")
def freeze(
    common: CommonOptions,
    reading: ReadOptions,
    path: Path,
    out: Path,
    graph: str | None = None,
    timeout: float = 60.0,
    concurrency: int = 1,
) -> None:
    """Run all gold queries once and store their results, to score against them later."""
    _, contents = reading.read_contents(path)
    with show_progress() as report:
        count, failed = freeze_gold(
            common.workspace, path, contents, out,
            graph=graph, timeout=timeout, concurrency=concurrency, progress=report,
        )  # fmt: skip
    typer.echo(f"{count} gold results in {out}, {failed} failed", err=True)
    if failed:
        raise typer.Exit(FAILED_QUERIES_EXIT_CODE)


@benchmark.command("split")
def split(
    reading: ReadOptions,
    benchmarks: list[Path],
    out: Path,
    folds: int | None = None,
    leave_out: SplitGroup | None = None,
    seed: int = 0,
    json: bool = False,
    debug: DebugOption = False,
) -> None:
    """Divide questions into training and test parts."""
    division = SplitOptions(folds, leave_out and leave_out.value, seed)
    entries = write_splits(_read_all(benchmarks, reading), division, out)
    if json:
        print_json(entries)
        return
    for entry in entries:
        typer.echo(
            f"{entry['name']}: {entry['train']} training and {entry['test']} test questions, "
            f"{entry['repeated']} of them repeats of training questions"
        )


@benchmark.command("stages")
def measure_stages(
    common: CommonOptions,
    select: SelectOptions,
    workers: WorkerOptions,
    form: OutputFormat,
    benchmarks: list[str],
    setting: list[str] | None = None,
    metric: str = "best_column",
    out: Path | None = None,
) -> None:
    """Measure the stages of the method multi-stage, together and alone."""
    workspace = common.workspace
    selection = select.to_selection()
    settings = dict(map(parse_setting, setting or []))
    benchmark_selections = select_benchmarks(workspace, benchmarks, selection)
    with show_progress() as report:
        work = evaluate_stages(
            workspace, benchmark_selections, selection, settings=settings, metric=metric,
            executor_options=workers.executor_options, folder=out,
            progress=lambda record, done, planned: report(record.method, done, planned),
            index_progress=report,
        )  # fmt: skip
        stage_results = run_coroutine(work)
    sheets = [
        build_recall_sheet(stage_results.recalls),
        *build_stage_sheets(stage_results.cases, metric),
    ]
    form.write(lambda: sheets, lambda: [sheet.to_json() for sheet in sheets])


def _describe_format(name: str) -> tuple[str, str, tuple[str, ...]]:
    try:
        reader: Benchmark = plugins.load("benchmark", name)()
    except SetupError as problem:
        return name, str(problem), ()
    return name, reader.title, tuple(reader.splits)


def _read_all(paths: Sequence[Path], reading: ReadOptions) -> dict[Path, BenchmarkContents]:
    return {path: reading.read_contents(path)[1] for path in paths}


def to_findings_object(
    contents_by_path: Mapping[Path, BenchmarkContents], findings: Sequence[GoldFinding]
) -> dict[str, object]:
    """Return findings as one JSON object: the files, the counts by kind, and each finding."""
    return {
        "benchmarks": [
            {
                "path": str(path),
                "questions": len(contents.questions),
                "unreadable": len(contents.unreadable),
            }
            for path, contents in contents_by_path.items()
        ],
        "counts": _count_kinds(findings),
        "findings": [finding.to_json() for finding in findings],
    }


def print_findings(
    contents_by_path: Mapping[Path, BenchmarkContents], findings: Sequence[GoldFinding]
) -> None:
    """Print the number of findings of each kind, then the first ones of each."""
    questions = sum(len(contents.questions) for contents in contents_by_path.values())
    if not findings:
        typer.echo(f"questions: {questions}, no problems found")
        return
    rows = [
        (kind, FINDING_KINDS[kind].severity, str(count), FINDING_KINDS[kind].means)
        for kind, count in _count_kinds(findings).items()
    ]
    print_blocks([build_table(("kind", "severity", "count", "meaning"), rows, right=("count",))])
    errors = sum(finding.severity == "error" for finding in findings)
    typer.echo(f"\nquestions: {questions}, errors: {errors}, warnings: {len(findings) - errors}")
    typer.echo("\n".join(_format_findings(findings, several=len(contents_by_path) > 1)))


def _count_kinds(findings: Sequence[GoldFinding]) -> dict[str, int]:
    counts = Counter(finding.kind for finding in findings)
    return {kind: counts[kind] for kind in FINDING_KINDS if counts[kind]}


def _format_findings(findings: Sequence[GoldFinding], *, several: bool) -> Iterator[str]:
    for kind in _count_kinds(findings):
        of_kind = [finding for finding in findings if finding.kind == kind]
        yield f"\n{kind}: {FINDING_KINDS[kind].advice}"
        for finding in of_kind[:MAX_SHOWN_FINDINGS]:
            prefix = f"{finding.benchmark}, " if several else ""
            yield f"  {prefix}{finding.id}: {' '.join(finding.seen.split())}"
        if len(of_kind) > MAX_SHOWN_FINDINGS:
            yield f"  … and {len(of_kind) - MAX_SHOWN_FINDINGS} more (--json has all)"
