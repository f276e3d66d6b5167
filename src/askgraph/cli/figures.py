"""Commands on benchmarks: the options that they share, and figures in the form that is wanted."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import typer
from rich.console import RenderableType

from askgraph.answers.console import plain_text
from askgraph.cli import Bundle, Shared
from askgraph.cli.output import WIDE, room, show
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
from askgraph.evaluation.runs import EvaluationRun
from askgraph.llm import LanguageModel
from askgraph.workspace.evaluation import Crew
from askgraph.workspace.models import Models
from askgraph.workspace.selection import Selection


@dataclass(frozen=True)
class Reading(Bundle):
    """The options that say how a file of questions is read."""

    last = True

    format: str | None = None
    lang: str | None = None

    def contents(self, path: Path) -> tuple[str, BenchmarkContents]:
        """Return the name of the format, and what the file holds."""
        return read_benchmark(path, format=self.format, language=self.lang)


@dataclass(frozen=True)
class Selected(Reading):
    """The options that select questions of benchmarks."""

    last = False

    graph: str | None = None
    kg: str | None = None
    split: str | None = None
    limit: int | None = None

    def selection(self, **more: Any) -> Selection:
        """Return the selection, with what else the command selects by."""
        return Selection(
            graph=self.graph, format=self.format, language=self.lang,
            kg=self.kg, split=self.split, limit=self.limit, **more,
        )  # fmt: skip


@dataclass(frozen=True)
class Workers(Bundle):
    """The options that say which processes answer."""

    concurrency: int | None = None
    on: str = "auto"
    workers: int | None = None
    address: str | None = None

    @property
    def crew(self) -> Crew:
        """The crew that answers."""
        return Crew(self.on, self.workers, self.address, self.concurrency)


@dataclass(frozen=True)
class Form(Bundle):
    """The form that figures are printed in: one at a time, else tables for the terminal."""

    last = True

    markdown: bool = False
    csv: bool = False
    latex: bool = False
    json: bool = False

    @classmethod
    def of(cls, common: Shared, given: Mapping[str, Any]) -> Self:
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
            text = to_csv(sheets()[0])
        elif self.latex:
            text = "\n".join(to_latex(sheet.move_context_to_title()) for sheet in sheets())
        elif self.markdown:
            text = "\n".join(to_markdown(sheet.move_context_to_title()) for sheet in sheets())
        elif out is None:
            show(_blocks(sheets(), room()))
            return
        else:
            text = plain_text(_blocks(sheets(), WIDE), width=WIDE) + "\n"
        if out is None:
            typer.echo(text, nl=False)
        else:
            write_whole(out, text)


def judge_of(models: Models, name: str | None, base_url: str | None) -> LanguageModel | None:
    """Return the model that judges, whose replies are kept in the workspace; None for none."""
    return models.model(name, base_url=base_url, cache=True) if name else None


async def closing(models: Models, work: Awaitable[EvaluationRun]) -> EvaluationRun:
    """Do some work, then close the models."""
    try:
        return await work
    finally:
        await models.close()


def as_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[RenderableType]:
    """Return a table of texts that fits the screen."""
    sheet = Sheet("", tuple(map(SheetColumn, heads)), tuple(map(tuple, rows)))
    return to_tables(sheet, width=room())


def write_whole(path: Path, text: str) -> None:
    """Write a file by way of a temporary one; `SetupError` if that cannot be."""
    with replace_file(path) as file:
        file.write(text.encode("utf-8", "backslashreplace"))


def _blocks(sheets: Sequence[Sheet], width: int) -> list[RenderableType]:
    return [
        block for sheet in sheets for block in to_blocks(sheet.move_context_to_title(), width=width)
    ]
