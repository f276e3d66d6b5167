"""Commands on benchmarks: the options that they share, and figures in the form that is wanted."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Self

import typer
from rich.console import RenderableType

from askgraph.cli.context import Bundle
from askgraph.cli.options import GraphOption, JsonOption, LangOption
from askgraph.cli.output import WIDE, plain_text, room, show
from askgraph.errors import SetupError
from askgraph.evaluation.benchmarks import Contents
from askgraph.evaluation.benchmarks.formats import read_benchmark
from askgraph.evaluation.files import replaced
from askgraph.evaluation.reports.sheet import (
    Column,
    Sheet,
    as_blocks,
    as_csv,
    as_latex,
    as_markdown,
    as_tables,
)
from askgraph.operations.evaluation import Crew
from askgraph.operations.selection import Selection

BenchmarksArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="BENCHMARK...",
        help="Files of questions with gold, in any format that 'askgraph benchmark list' names; "
        "FILE@GRAPH says which graph one is asked of.",
    ),
]
FormatOption = Annotated[
    str | None,
    typer.Option(
        "--format", metavar="FORMAT", help="Of the benchmark, if it cannot be told from it."
    ),
]
MetricOption = Annotated[
    str, typer.Option("--metric", metavar="METRIC", help="The main metric: 'askgraph metrics'.")
]
SplitOption = Annotated[
    str | None, typer.Option("--split", metavar="SPLIT", help="Only questions of this split.")
]
SettingOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A setting of the method; repeatable."),
]
RepeatOption = Annotated[
    int, typer.Option("--repeat", min=1, metavar="N", help="Ask every question N times.")
]
GoldOption = Annotated[
    Path | None,
    typer.Option(
        "--gold", metavar="GOLD.jsonl", help="Gold results from 'askgraph benchmark freeze'."
    ),
]
AbstainOption = Annotated[
    bool,
    typer.Option("--abstain", help="A question back or a refusal scores 0, whatever it holds."),
]
OutRunOption = Annotated[
    Path | None,
    typer.Option(
        "--out", metavar="RUN", help="Folder to keep the run in; it goes on where it stopped."
    ),
]
OutOption = Annotated[
    Path | None, typer.Option("--out", metavar="FILE", help="Write to this file instead.")
]
MarkdownOption = Annotated[bool, typer.Option("--markdown", help="Print Markdown tables.")]


@dataclass(frozen=True)
class Reading(Bundle):
    """The options that say how a file of questions is read."""

    last = True

    format: FormatOption = None
    lang: LangOption = None

    def contents(self, path: Path) -> tuple[str, Contents]:
        """Return the name of the format, and what the file holds."""
        return read_benchmark(path, format=self.format, language=self.lang)


@dataclass(frozen=True)
class Selected(Reading):
    """The options that select questions of benchmarks."""

    last = False

    graph: GraphOption = None
    kg: Annotated[
        str | None,
        typer.Option("--kg", metavar="KG", help="Only questions with this 'kg', as 'cars.ttl'."),
    ] = None
    split: SplitOption = None
    limit: Annotated[
        int | None,
        typer.Option("--limit", min=1, metavar="N", help="Only the first N of each benchmark."),
    ] = None

    def selection(self, **more: Any) -> Selection:
        """Return the selection, with what else the command selects by."""
        return Selection(
            graph=self.graph, format=self.format, language=self.lang,
            kg=self.kg, split=self.split, limit=self.limit, **more,
        )  # fmt: skip


@dataclass(frozen=True)
class Workers(Bundle):
    """The options that say which processes answer."""

    concurrency: Annotated[
        int | None, typer.Option("--concurrency", min=1, metavar="N", help="Questions at once.")
    ] = None
    on: Annotated[
        str,
        typer.Option("--on", metavar="WHERE", help="'local', 'processes', 'dask' or 'ray'."),
    ] = "local"
    workers: Annotated[
        int | None, typer.Option("--workers", min=1, metavar="N", help="Processes, if not local.")
    ] = None
    address: Annotated[
        str | None, typer.Option("--address", metavar="ADDRESS", help="Of a running cluster.")
    ] = None

    @property
    def crew(self) -> Crew:
        """The crew that answers."""
        return Crew(self.on, self.workers, self.address, self.concurrency)


@dataclass(frozen=True)
class Form(Bundle):
    """The form that figures are printed in: one at a time, else tables for the terminal."""

    last = True

    markdown: MarkdownOption = False
    csv: Annotated[bool, typer.Option("--csv", help="Print one table as CSV.")] = False
    latex: Annotated[
        bool, typer.Option("--latex", help="Print LaTeX tables, with the rules of booktabs.")
    ] = False
    json: JsonOption = False

    @classmethod
    def of(cls, ctx: typer.Context, given: Mapping[str, Any]) -> Self:
        """Return the form that was asked for; `SetupError` if several were."""
        asked = [form for form, wanted in given.items() if wanted]
        if len(asked) > 1:
            both = " and ".join(f"--{form}" for form in asked)
            raise SetupError(f"one form at a time: {both} were asked for at once")
        return cls(**given)

    @property
    def is_plain(self) -> bool:
        """Whether no form was asked for."""
        return not (self.markdown or self.csv or self.latex or self.json)

    def give(
        self,
        sheets: Callable[[], Sequence[Sheet]],
        content: Callable[[], object],
        *,
        out: Path | None = None,
    ) -> None:
        """Print the tables, or write them to a file, whole or not at all.

        As JSON, `content` is given instead. CSV holds the first table only.
        """
        if self.json:
            text = json.dumps(content(), ensure_ascii=False, indent=2) + "\n"
        elif self.csv:
            text = as_csv(sheets()[0])
        elif self.latex:
            text = "\n".join(as_latex(sheet.compact()) for sheet in sheets())
        elif self.markdown:
            text = "\n".join(as_markdown(sheet.compact()) for sheet in sheets())
        elif out is None:
            show(_blocks(sheets(), room()))
            return
        else:
            text = plain_text(_blocks(sheets(), WIDE), width=WIDE) + "\n"
        if out is None:
            typer.echo(text, nl=False)
        else:
            write_whole(out, text)


def as_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[RenderableType]:
    """Return a table of texts that fits the screen."""
    sheet = Sheet("", tuple(map(Column, heads)), tuple(map(tuple, rows)))
    return as_tables(sheet, width=room())


def write_whole(path: Path, text: str) -> None:
    """Write a file by way of a temporary one; `SetupError` if that cannot be."""
    with replaced(path) as file:
        file.write(text.encode("utf-8", "backslashreplace"))


def _blocks(sheets: Sequence[Sheet], width: int) -> list[RenderableType]:
    return [block for sheet in sheets for block in as_blocks(sheet.compact(), width=width)]
