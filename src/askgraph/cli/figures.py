"""Shared options of the commands on benchmarks, and output of figures in the chosen format."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import typer
from rich.console import RenderableType

from askgraph.answers.console import render_plain_text
from askgraph.cli import GlobalOptions, OptionBundle
from askgraph.cli.output import PLAIN_WIDTH_CHARACTERS, get_line_width, print_blocks
from askgraph.errors import SetupError
from askgraph.evaluation.benchmarks import BenchmarkContents
from askgraph.evaluation.benchmarks.formats import read_benchmark
from askgraph.evaluation.files import replace_file
from askgraph.evaluation.reports.sheet import (
    Sheet,
    SheetColumn,
    to_blocks,
    to_csv,
    to_latex,
    to_markdown,
    to_tables,
)
from askgraph.llm import LanguageModel
from askgraph.workspace.evaluation import ExecutorOptions
from askgraph.workspace.models import Models
from askgraph.workspace.selection import Selection


@dataclass(frozen=True)
class ReadOptions(OptionBundle):
    """The options for reading a file of questions."""

    is_last = True

    format: str | None = None
    lang: str | None = None

    def read_contents(self, path: Path) -> tuple[str, BenchmarkContents]:
        """Read a file; return the name of its format and its contents."""
        return read_benchmark(path, format=self.format, language=self.lang)


@dataclass(frozen=True)
class SelectOptions(ReadOptions):
    """The options that select questions of benchmarks."""

    is_last = False

    graph: str | None = None
    kg: str | None = None
    split: str | None = None
    limit: int | None = None

    def to_selection(self, **extra: Any) -> Selection:
        """Return the selection, with the further criteria of a command."""
        return Selection(
            graph=self.graph, format=self.format, language=self.lang,
            kg=self.kg, split=self.split, limit=self.limit, **extra,
        )  # fmt: skip


@dataclass(frozen=True)
class WorkerOptions(OptionBundle):
    """The options that choose the processes that answer."""

    concurrency: int | None = None
    on: str = "auto"
    workers: int | None = None
    address: str | None = None

    @property
    def executor_options(self) -> ExecutorOptions:
        """The executor and its number of workers."""
        return ExecutorOptions(self.on, self.workers, self.address, self.concurrency)


@dataclass(frozen=True)
class OutputFormat(OptionBundle):
    """The output format of figures: at most one of these, or else tables for the terminal."""

    is_last = True

    markdown: bool = False
    csv: bool = False
    latex: bool = False
    json: bool = False

    @classmethod
    def from_options(cls, common: GlobalOptions, values: Mapping[str, Any]) -> Self:
        """Return the chosen format; raise `SetupError` if the call chooses several."""
        chosen = [form for form, is_chosen in values.items() if is_chosen]
        if len(chosen) > 1:
            flags = " and ".join(f"--{form}" for form in chosen)
            raise SetupError(f"{flags} exclude each other: choose one")
        return cls(**values)

    @property
    def is_plain(self) -> bool:
        """Whether the call chooses no format."""
        return not (self.markdown or self.csv or self.latex or self.json)

    def write(
        self,
        sheets: Callable[[], Sequence[Sheet]],
        content: Callable[[], object],
        *,
        out: Path | None = None,
    ) -> None:
        """Print the tables, or write them to a file atomically.

        JSON contains `content` instead. CSV contains the first table only.
        """
        if self.json:
            text = json.dumps(content(), ensure_ascii=False, indent=2) + "\n"
        elif self.csv:
            text = to_csv(sheets()[0])
        elif self.latex:
            text = "\n".join(to_latex(sheet.move_context_to_title()) for sheet in sheets())
        elif self.markdown:
            text = "\n".join(to_markdown(sheet.move_context_to_title()) for sheet in sheets())
        elif out is None:
            print_blocks(_format_sheets(sheets(), get_line_width()))
            return
        else:
            text = (
                render_plain_text(
                    _format_sheets(sheets(), PLAIN_WIDTH_CHARACTERS), width=PLAIN_WIDTH_CHARACTERS
                )
                + "\n"
            )
        if out is None:
            typer.echo(text, nl=False)
        else:
            write_atomically(out, text)


def create_judge(models: Models, name: str | None, base_url: str | None) -> LanguageModel | None:
    """Return the model that judges, whose replies are cached; None without a name."""
    return models.get_model(name, base_url=base_url, cache=True) if name else None


def format_table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> list[RenderableType]:
    """Return a table of texts that fits the screen."""
    sheet = Sheet("", tuple(map(SheetColumn, headers)), tuple(map(tuple, rows)))
    return to_tables(sheet, width=get_line_width())


def write_atomically(path: Path, text: str) -> None:
    """Write a file through a temporary one; raise `SetupError` if it cannot be written."""
    with replace_file(path) as file:
        file.write(text.encode("utf-8", "backslashreplace"))


def _format_sheets(sheets: Sequence[Sheet], width: int) -> list[RenderableType]:
    return [
        block for sheet in sheets for block in to_blocks(sheet.move_context_to_title(), width=width)
    ]
