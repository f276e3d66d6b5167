"""`askgraph study`: how the representation of a graph changes the answers."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import typer

from askgraph.cli.figures import Form
from askgraph.cli.options import Common
from askgraph.cli.output import progress_bar
from askgraph.errors import SetupError
from askgraph.evaluation.reports.sheet import Sheet
from askgraph.evaluation.runs.run import Progress as Told
from askgraph.evaluation.studies.representations import (
    EXPERIMENTS,
    Figures,
    Published,
    published_figures,
    read_experiments,
    read_published,
    study_sheet,
)
from askgraph.metadata.definitions import read_definitions
from askgraph.operations.study import Studied, Study, studied


def study(
    common: Common,
    form: Form,
    benchmark: str,
    graph: str,
    out: Path,
    method: str = "graph-search",
    setting: list[str] | None = None,
    repeat: int = 1,
    by: list[str] | None = None,
    metric: str = "best_column",
    experiments: Path | None = None,
    definitions: Path | None = None,
    variant: list[str] | None = None,
    published: Path | None = None,
    format: str | None = None,
) -> None:
    """Ask the same questions over variants of a graph, and print one table.

    An experiment is a choice of entity boundaries, inverse properties, shortcuts and comments; the
    thirteen are those of Henselmann et al. (2025). The variants are made virtually, or are graphs
    of the workspace that --variant names. EM is the share of questions whose F1 is 1.
    """
    wanted = Study(
        benchmark, graph, method, out,
        read_experiments(experiments) if experiments else EXPERIMENTS,
        tuple(by or ()), tuple(setting or ()), repeat, metric, format,
        read_definitions(definitions) if definitions else None,
        _variants(variant or []),
    )  # fmt: skip
    lines = read_published(published) if published else None
    with progress_bar() as tell:

        def of_run(name: str) -> Told:
            return lambda record, done, planned: tell(name, done, planned)

        found = studied(common.workspace, wanted, progress=of_run, preparing=tell)
    beside = _beside(found, wanted, lines)
    for line in found.left_out:
        typer.echo(line, err=True)
    form.give(lambda: [_sheet(wanted, found, beside)], lambda: _plain(wanted, found, beside))


def _variants(given: list[str]) -> dict[str, str]:
    found = {}
    for one in given:
        kinds, sign, name = one.partition("=")
        listed = kinds.replace("+", "-").split("-")
        order = ("inverse", "shortcuts", "comments")
        if not (sign and name) or (set(listed) - set(order) and listed != ["plain"]):
            raise SetupError(
                f"--variant {one!r}: write plain=NAME, or some of {', '.join(order)} joined by "
                "'-', '=' and the name of a graph"
            )
        found["-".join(kind for kind in order if kind in listed) or "plain"] = name
    return found


def _beside(
    found: Studied, wanted: Study, lines: Sequence[Published] | None
) -> dict[int, Figures] | None:
    """The published figures of each experiment, of the same questions and tags."""
    if lines is None:
        return None

    tags_of = {record.id: record.tags for ones in found.records.values() for record in ones}
    return {
        one.number: published_figures(
            [line for line in lines if line.experiment == one.number], tags_of, wanted.tags
        )
        for one in found.figures
    }


def _sheet(wanted: Study, found: Studied, beside: dict[int, Figures] | None) -> Sheet:
    notes = list(found.left_out)
    if not found.bounded:
        notes.append(
            f"{wanted.method} has no entity boundaries: experiments that differ in these only are "
            "one run."
        )
    title = f"{wanted.method} by representation, {wanted.metric}"
    return study_sheet(
        title, found.figures, wanted.tags,
        published=beside, boundaries=found.bounded, notes=notes,
    )  # fmt: skip


def _plain(
    wanted: Study, found: Studied, beside: dict[int, Figures] | None
) -> list[dict[str, object]]:
    names = ("all", *wanted.tags)

    def shares(figures: Figures) -> dict[str, object]:
        return {
            name: None if pair is None else {"em": pair[0], "f1": pair[1]}
            for name, pair in zip(names, figures, strict=False)
        }

    return [
        {
            **asdict(one),
            "bounded": found.bounded,
            "figures": shares(figures),
            **({"published": shares(beside[one.number])} if beside else {}),
        }
        for one, figures in found.figures.items()
    ]
