"""`askgraph benchmark`: what is known of benchmarks, before anything is measured with them."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from askgraph import registry
from askgraph.cli.bundles import Commands
from askgraph.cli.context import DebugOption
from askgraph.cli.options import (
    Common,
    FormatOption,
    GraphOption,
    JsonOption,
    LangOption,
    TimeoutOption,
    graph_names,
)
from askgraph.cli.progress import progress_bar
from askgraph.cli.stages import stages
from askgraph.cli.tables import print_json, show
from askgraph.errors import SetupError
from askgraph.evaluation.benchmarks import Benchmark, Contents
from askgraph.evaluation.benchmarks.formats import read_benchmark
from askgraph.evaluation.gold.finding import KINDS, Finding
from askgraph.evaluation.gold.frozen import read_frozen
from askgraph.operations.gold import Checks, check_gold, freeze_gold
from askgraph.operations.gold import convert as converted
from askgraph.operations.splits import Division, write_splits

FOUND_ERRORS = 1
QUERIES_FAILED = 4

benchmark = Commands()

BenchmarksArgument = Annotated[
    list[Path], typer.Argument(metavar="BENCHMARK...", help="Files of questions with gold.")
]
ConcurrencyOption = Annotated[
    int, typer.Option("--concurrency", min=1, metavar="N", help="Queries under way at once.")
]


@dataclass(frozen=True)
class Format:
    """A format that can be read, or why it cannot."""

    name: str
    title: str
    splits: tuple[str, ...] = ()


class Left(StrEnum):
    """What can be left out."""

    GRAPH = "graph"
    DATASET = "dataset"


@benchmark.command("list")
def list_formats(json: JsonOption = False, debug: DebugOption = False) -> None:
    """List the formats of benchmarks that can be read."""
    entries = [_format(name) for name in registry.names("benchmark")]
    if json:
        print_json([asdict(entry) for entry in entries])
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for head in ("format", "title", "splits"):
        table.add_column(head, overflow="fold")
    for entry in entries:
        table.add_row(*map(Text, (entry.name, entry.title, ", ".join(entry.splits))))
    show([table])


@benchmark.command("convert")
def convert(
    common: Common,
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE", help="A file in any format, or the URL of an endpoint with examples."
        ),
    ],
    out: Annotated[
        Path, typer.Option("--out", metavar="FILE.jsonl", help="Where the questions go.")
    ],
    format: FormatOption = None,
    lang: LangOption = None,
) -> None:
    """Write questions of any format as lines of askgraph's own.

    From an endpoint, by its URL or its name in the workspace, come the examples that it publishes
    (SHACL). What cannot be read is listed.
    """
    contents = converted(common.workspace, source, out, format=format, language=lang)
    for item in contents.unreadable:
        typer.echo(f"not written: {item.place}: {item.reason}", err=True)
    typer.echo(f"{len(contents.questions)} questions in {out}", err=True)


@benchmark.command("check")
def check(
    common: Common,
    benchmarks: BenchmarksArgument,
    graph: Annotated[
        str | None,
        typer.Option(
            "--graph",
            "-g",
            metavar="NAME",
            autocompletion=graph_names,
            help="The graph to run gold on; else the one that each question's 'kg' names.",
        ),
    ] = None,
    against: Annotated[
        list[Path] | None,
        typer.Option(
            "--against",
            metavar="TRAIN",
            help="Training questions that must not be repeated; may be given more than once.",
        ),
    ] = None,
    gold: Annotated[
        Path | None,
        typer.Option(
            "--gold", metavar="GOLD.jsonl", help="Say which gold results are not the frozen ones."
        ),
    ] = None,
    offline: Annotated[
        bool, typer.Option("--offline", help="Run nothing: only read queries, and find repeats.")
    ] = False,
    format: FormatOption = None,
    lang: LangOption = None,
    timeout: TimeoutOption = 60.0,
    concurrency: ConcurrencyOption = 1,
    json: JsonOption = False,
) -> None:
    """Check the gold of benchmarks: run every gold query, and tell what is wrong or doubtful.

    Told are queries that fail or take too long, empty results, counts of 0, LIMIT through equal
    rows, stored answers that the query does not give, items that cannot be read, and questions that
    repeat each other or training questions. If no graph is named, by -g or by the questions
    themselves, nothing is run. Exit code 1 if there are errors.
    """
    place = common.workspace
    read = _read(benchmarks, format, lang)
    if gold is not None and len(read) > 1:
        raise SetupError("--gold is for one benchmark; check them one by one")
    checks = Checks(
        graph=graph,
        timeout=timeout,
        concurrency=concurrency,
        training=tuple(q for c in _read(against or (), None, lang).values() for q in c.questions),
        frozen=read_frozen(gold) if gold else None,
    )
    found: list[Finding] = []
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
    path: Annotated[Path, typer.Argument(metavar="BENCHMARK", help="A file of questions.")],
    out: Annotated[Path, typer.Option("--out", metavar="GOLD.jsonl", help="Where the results go.")],
    graph: GraphOption = None,
    format: FormatOption = None,
    lang: LangOption = None,
    timeout: TimeoutOption = 60.0,
    concurrency: ConcurrencyOption = 1,
) -> None:
    """Run all gold queries once and keep their results, to score against them later.

    The file is there when all queries are done; stopped before, the same call goes on.
    Queries that fail are kept as failed (exit code 4).
    """
    ((_, contents),) = _read([path], format, lang).items()
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
    benchmarks: BenchmarksArgument,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="A new folder for the files.")],
    folds: Annotated[
        int | None, typer.Option("--folds", min=2, metavar="K", help="Divide into K parts.")
    ] = None,
    leave_out: Annotated[
        Left | None, typer.Option("--leave-out", help="Test on each graph or data set in turn.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", metavar="S", help="Of the folds.")] = 0,
    format: FormatOption = None,
    lang: LangOption = None,
    json: JsonOption = False,
    debug: DebugOption = False,
) -> None:
    """Divide questions into training and test parts.

    In folds, questions that repeat each other stay together. Leaving out a graph or data set
    divides as that says: there, what is repeated is counted.
    """
    division = Division(folds, leave_out and leave_out.value, seed)
    entries = write_splits(_read(benchmarks, format, lang), division, out)
    if json:
        print_json(entries)
        return
    for entry in entries:
        typer.echo(
            f"{entry['name']}: {entry['train']} to learn from, {entry['test']} to test on, "
            f"{entry['repeated']} of them repeat one of the former"
        )


benchmark.command("stages")(stages)


def _format(name: str) -> Format:
    try:
        reader: Benchmark = registry.load("benchmark", name)()
    except SetupError as problem:
        return Format(name, str(problem))
    return Format(name, reader.title, tuple(reader.splits))


def _read(paths: Sequence[Path], format: str | None, lang: str | None) -> dict[Path, Contents]:
    return {path: read_benchmark(path, format=format, language=lang)[1] for path in paths}


SHOWN = 20  # of a kind; --json has all


def findings_json(read: Mapping[Path, Contents], found: Sequence[Finding]) -> dict[str, object]:
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
        "findings": [finding.json() for finding in found],
    }


def show_findings(read: Mapping[Path, Contents], found: Sequence[Finding]) -> None:
    """Print how many findings there are of each kind, then the first of each."""
    asked = sum(len(contents.questions) for contents in read.values())
    if not found:
        typer.echo(f"questions: {asked}, nothing found")
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("kind")
    table.add_column("")
    table.add_column("n", justify="right")
    table.add_column("what it means", overflow="fold")
    for kind, count in _counts(found).items():
        known = KINDS[kind]
        table.add_row(kind, known.severity, str(count), Text(known.means))
    show([table])
    errors = sum(finding.severity == "error" for finding in found)
    typer.echo(f"\nquestions: {asked}, errors: {errors}, warnings: {len(found) - errors}")
    typer.echo("\n".join(_listed(found, several=len(read) > 1)))


def _counts(found: Sequence[Finding]) -> dict[str, int]:
    """How many there are of each kind, the gravest first."""
    counts = Counter(finding.kind for finding in found)
    return {kind: counts[kind] for kind in KINDS if counts[kind]}


def _listed(found: Sequence[Finding], *, several: bool) -> Iterator[str]:
    for kind in _counts(found):
        some = [finding for finding in found if finding.kind == kind]
        yield f"\n{kind}: {KINDS[kind].advice}"
        for finding in some[:SHOWN]:
            where = f"{finding.benchmark}, " if several else ""
            yield f"  {where}{finding.id}: {' '.join(finding.seen.split())}"
        if len(some) > SHOWN:
            yield f"  … and {len(some) - SHOWN} more (--json has all)"
