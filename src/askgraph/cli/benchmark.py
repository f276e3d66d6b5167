"""`askgraph benchmark`: what is known of benchmarks, before anything is measured with them."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path

import typer

from askgraph import plugins
from askgraph.answers.console import listing
from askgraph.cli import Commands, DebugOption
from askgraph.cli.figures import Form, Reading, Selected, Workers
from askgraph.cli.options import Common
from askgraph.cli.output import print_json, progress_bar, show
from askgraph.errors import SetupError
from askgraph.evaluation.benchmarks import Benchmark, BenchmarkContents
from askgraph.evaluation.gold import FINDING_KINDS, GoldFinding
from askgraph.evaluation.gold.frozen import read_frozen_gold
from askgraph.evaluation.studies.stages import build_recall_sheet, build_stage_sheets
from askgraph.workspace.gold import Checks, check_gold, freeze_gold
from askgraph.workspace.gold import convert as converted
from askgraph.workspace.run_sync import result_of
from askgraph.workspace.selection import Division, selected, write_splits
from askgraph.workspace.settings import named_setting
from askgraph.workspace.stages import staged

FOUND_ERRORS = 1
QUERIES_FAILED = 4
SHOWN = 20  # of a kind; --json has all

benchmark = Commands()


class Left(StrEnum):
    """What can be left out."""

    GRAPH = "graph"
    DATASET = "dataset"


@benchmark.command("list")
def list_formats(json: bool = False, debug: DebugOption = False) -> None:
    """List the formats of benchmarks that can be read."""
    entries = [_format(name) for name in plugins.list_names("benchmark")]
    if json:
        print_json([dict(zip(("name", "title", "splits"), one, strict=True)) for one in entries])
        return
    rows = [(name, str(title), ", ".join(splits)) for name, title, splits in entries]
    show([listing(("format", "title", "splits"), rows)])


@benchmark.command("convert")
def convert(common: Common, reading: Reading, source: str, out: Path) -> None:
    """Write questions of any format as lines of askgraph's own.

    From an endpoint, by its URL or its name in the workspace, come the examples that it publishes
    (SHACL). What cannot be read is listed.
    """
    contents = converted(
        common.workspace, source, out, format=reading.format, language=reading.lang
    )
    for item in contents.unreadable:
        typer.echo(f"not written: {item.location}: {item.reason}", err=True)
    typer.echo(f"{len(contents.questions)} questions in {out}", err=True)


@benchmark.command("check")
def check(
    common: Common,
    reading: Reading,
    benchmarks: list[Path],
    graph: str | None = None,
    against: list[Path] | None = None,
    gold: Path | None = None,
    offline: bool = False,
    timeout: float = 60.0,
    concurrency: int = 1,
    json: bool = False,
) -> None:
    """Check the gold of benchmarks: run every gold query, and tell what is wrong or doubtful.

    Told are queries that fail or take too long, empty results, counts of 0, LIMIT through equal
    rows, stored answers that the query does not give, items that cannot be read, and questions that
    repeat each other or training questions. If no graph is named, by -g or by the questions
    themselves, nothing is run. Exit code 1 if there are errors.
    """
    place = common.workspace
    read = _read(benchmarks, reading)
    if gold is not None and len(read) > 1:
        raise SetupError("--gold is for one benchmark; check them one by one")
    others = replace(reading, format=None)
    checks = Checks(
        graph=graph,
        timeout=timeout,
        concurrency=concurrency,
        training=tuple(q for path in against or () for q in others.contents(path)[1].questions),
        frozen=read_frozen_gold(gold) if gold else None,
    )
    found: list[GoldFinding] = []
    with progress_bar() as tell:
        for path, contents in read.items():
            named = graph is not None or any(question.graph for question in contents.questions)
            if gold is not None and (offline or not named):
                raise SetupError(
                    "--gold compares results, so that gold queries have to be run: name the graph "
                    "with -g, and leave --offline away"
                )
            if not named and not offline:
                typer.echo(f"{path}: no graph is named (-g), so that no query is run", err=True)
            asked = replace(checks, offline=offline or not named)
            found += check_gold(place, path, contents, asked, progress=tell)
    if json:
        print_json(findings_json(read, found))
    else:
        show_findings(read, found)
    if any(finding.severity == "error" for finding in found):
        raise typer.Exit(FOUND_ERRORS)


@benchmark.command("freeze")
def freeze(
    common: Common,
    reading: Reading,
    path: Path,
    out: Path,
    graph: str | None = None,
    timeout: float = 60.0,
    concurrency: int = 1,
) -> None:
    """Run all gold queries once and keep their results, to score against them later.

    The file is there when all queries are done; stopped before, the same call goes on.
    Queries that fail are kept as failed (exit code 4).
    """
    _, contents = reading.contents(path)
    with progress_bar() as tell:
        count, failed = freeze_gold(
            common.workspace, path, contents, out,
            graph=graph, timeout=timeout, concurrency=concurrency, progress=tell,
        )  # fmt: skip
    typer.echo(f"{count} gold results in {out}, {failed} failed", err=True)
    if failed:
        raise typer.Exit(QUERIES_FAILED)


@benchmark.command("split")
def split(
    reading: Reading,
    benchmarks: list[Path],
    out: Path,
    folds: int | None = None,
    leave_out: Left | None = None,
    seed: int = 0,
    json: bool = False,
    debug: DebugOption = False,
) -> None:
    """Divide questions into training and test parts.

    In folds, questions that repeat each other stay together. Leaving out a graph or data set
    divides as that says: there, what is repeated is counted.
    """
    division = Division(folds, leave_out and leave_out.value, seed)
    entries = write_splits(_read(benchmarks, reading), division, out)
    if json:
        print_json(entries)
        return
    for entry in entries:
        typer.echo(
            f"{entry['name']}: {entry['train']} to learn from, {entry['test']} to test on, "
            f"{entry['repeated']} of them repeat one of the former"
        )


@benchmark.command("stages")
def stages(
    common: Common,
    select: Selected,
    workers: Workers,
    form: Form,
    benchmarks: list[str],
    setting: list[str] | None = None,
    metric: str = "best_column",
    out: Path | None = None,
) -> None:
    """Measure the stages of the method multi-stage, together and alone.

    Told are what an index finds with the whole question, how well entities are linked and
    predicates matched, what goes on to the writer with and without the restriction, and how good
    the answers are, also if gold is given to later stages. A last table says what policies of
    rejection catch of the wrong answers, and lose of the right ones.
    """
    place = common.workspace
    selection = select.selection()
    settings = dict(map(named_setting, setting or []))
    asked = selected(place, benchmarks, selection)
    with progress_bar() as tell:
        work = staged(
            place, asked, selection, settings=settings, metric=metric,
            crew=workers.crew, folder=out,
            progress=lambda record, done, planned: tell(record.method, done, planned),
            preparing=tell,
        )  # fmt: skip
        found = result_of(work)
    sheets = [build_recall_sheet(found.recalls), *build_stage_sheets(found.cases, metric)]
    form.give(lambda: sheets, lambda: [sheet.to_json() for sheet in sheets])


def _format(name: str) -> tuple[str, str, tuple[str, ...]]:
    """A format's name, its title, or why it cannot be read, and its splits."""
    try:
        reader: Benchmark = plugins.load("benchmark", name)()
    except SetupError as problem:
        return name, str(problem), ()
    return name, reader.title, tuple(reader.splits)


def _read(paths: Sequence[Path], reading: Reading) -> dict[Path, BenchmarkContents]:
    return {path: reading.contents(path)[1] for path in paths}


def findings_json(
    read: Mapping[Path, BenchmarkContents], found: Sequence[GoldFinding]
) -> dict[str, object]:
    """Return findings as one JSON object: what was read, how many of each kind, each of them."""
    return {
        "benchmarks": [
            {
                "path": str(path),
                "questions": len(contents.questions),
                "unreadable": len(contents.unreadable),
            }
            for path, contents in read.items()
        ],
        "counts": _counts(found),
        "findings": [finding.to_json() for finding in found],
    }


def show_findings(read: Mapping[Path, BenchmarkContents], found: Sequence[GoldFinding]) -> None:
    """Print how many findings there are of each kind, then the first of each."""
    asked = sum(len(contents.questions) for contents in read.values())
    if not found:
        typer.echo(f"questions: {asked}, nothing found")
        return
    rows = [
        (kind, FINDING_KINDS[kind].severity, str(count), FINDING_KINDS[kind].means)
        for kind, count in _counts(found).items()
    ]
    show([listing(("kind", "", "n", "what it means"), rows, right=("n",))])
    errors = sum(finding.severity == "error" for finding in found)
    typer.echo(f"\nquestions: {asked}, errors: {errors}, warnings: {len(found) - errors}")
    typer.echo("\n".join(_listed(found, several=len(read) > 1)))


def _counts(found: Sequence[GoldFinding]) -> dict[str, int]:
    """How many there are of each kind, the gravest first."""
    counts = Counter(finding.kind for finding in found)
    return {kind: counts[kind] for kind in FINDING_KINDS if counts[kind]}


def _listed(found: Sequence[GoldFinding], *, several: bool) -> Iterator[str]:
    for kind in _counts(found):
        some = [finding for finding in found if finding.kind == kind]
        yield f"\n{kind}: {FINDING_KINDS[kind].advice}"
        for finding in some[:SHOWN]:
            where = f"{finding.benchmark}, " if several else ""
            yield f"  {where}{finding.id}: {' '.join(finding.seen.split())}"
        if len(some) > SHOWN:
            yield f"  … and {len(some) - SHOWN} more (--json has all)"
