"""`askgraph metrics`: which metrics there are, and how they disagree."""

import inspect
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Annotated

import typer

from askgraph import registry
from askgraph.cli.figures import MarkdownOption
from askgraph.cli.options import Common, JsonOption
from askgraph.cli.output import print_json, room, show
from askgraph.errors import SetupError
from askgraph.evaluation.reports.disagreement import Scored, scored
from askgraph.evaluation.reports.sheet import Column, Sheet, as_tables


def metrics(
    common: Common,
    examples: Annotated[
        bool,
        typer.Option("--examples", help="Score small predictions, each wrong in one way."),
    ] = False,
    json: JsonOption = False,
    markdown: MarkdownOption = False,
) -> None:
    """List the metrics that compare an answer with gold; with --examples, how they disagree."""
    if markdown and json:
        raise SetupError("one form at a time: --markdown and --json were asked for at once")
    if examples:
        found = scored()
        if json:
            print_json(_as_json(found))
            return
        heads, rows = ["F1", *found[0].scores], [_cells(one) for one in found]
    else:
        listed = list(_listed())
        if json:
            print_json([{"name": name, "about": about} for name, about in listed])
            return
        heads, rows = ["metric", "what it says"], [list(entry) for entry in listed]
    if markdown:
        typer.echo("\n".join(_markdown(heads, rows)))
    else:
        show(as_tables(_sheet(heads, rows, figures=examples), width=room()))


def _as_json(found: Sequence[Scored]) -> list[dict[str, object]]:
    return [
        {
            "example": one.example.name,
            "scores": {name: asdict(score) for name, score in one.scores.items()},
        }
        for one in found
    ]


def _cells(one: Scored) -> list[str]:
    return [one.example.name, *(f"{score.f1:.2f}" for score in one.scores.values())]


def _listed() -> Iterator[tuple[str, str]]:
    """Each metric and the first sentence of its file, or why it cannot be used."""
    for name in registry.names("metric"):
        try:
            plugin = registry.load("metric", name)
        except SetupError as error:
            yield name, str(error)
            continue
        text = inspect.getdoc(inspect.getmodule(plugin)) or inspect.getdoc(plugin) or ""
        yield name, " ".join(text.split("\n\n", 1)[0].split())


def _markdown(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield "| " + " | ".join(heads) + " |"
    yield "|---" * len(heads) + "|"
    for row in rows:
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"


def _sheet(heads: Sequence[str], rows: Sequence[Sequence[str]], *, figures: bool) -> Sheet:
    columns = (
        Column(head, "number" if at and figures else "text") for at, head in enumerate(heads)
    )
    return Sheet("", tuple(columns), tuple(map(tuple, rows)))
