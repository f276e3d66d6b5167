"""`askgraph metrics`: which metrics there are, and how they disagree."""

import inspect
from collections.abc import Iterator, Sequence
from dataclasses import asdict

import typer

from askgraph import plugins
from askgraph.cli.options import Common
from askgraph.cli.output import print_json, room, show
from askgraph.errors import SetupError
from askgraph.evaluation.reports.disagreement import scored
from askgraph.evaluation.reports.sheet import Column, Sheet, as_tables, columns_of


def metrics(
    common: Common, examples: bool = False, json: bool = False, markdown: bool = False
) -> None:
    """List the metrics that compare an answer with gold; with --examples, how they disagree."""
    if markdown and json:
        raise SetupError("one form at a time: --markdown and --json were asked for at once")
    if examples:
        found = scored()
        content: list[dict[str, object]] = [
            {
                "example": one.example.name,
                "scores": {name: asdict(score) for name, score in one.scores.items()},
            }
            for one in found
        ]
        heads = (Column("F1"), *columns_of("number", *found[0].scores))
        rows = [(one.example.name, *(f"{s.f1:.2f}" for s in one.scores.values())) for one in found]
    else:
        rows = list(_listed())
        content = [{"name": name, "about": about} for name, about in rows]
        heads = columns_of("text", "metric", "what it says")
    if json:
        print_json(content)
    elif markdown:
        typer.echo("\n".join(_markdown([column.head for column in heads], rows)))
    else:
        show(as_tables(Sheet("", heads, tuple(rows)), width=room()))


def _listed() -> Iterator[tuple[str, str]]:
    """Each metric and the first sentence on it, or why it cannot be used."""
    for name in plugins.names("metric"):
        try:
            plugin = plugins.load("metric", name)
        except SetupError as error:
            yield name, str(error)
            continue
        text = inspect.getdoc(plugin) or inspect.getdoc(inspect.getmodule(plugin)) or ""
        yield name, " ".join(text.split("\n\n", 1)[0].split())


def _markdown(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield "| " + " | ".join(heads) + " |"
    yield "|---" * len(heads) + "|"
    for row in rows:
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"
