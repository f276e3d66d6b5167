"""A study of representations: the same questions over variants of a graph, as one table.

The experiments are those of Henselmann et al. (2025), Table 3: entity boundaries of individuals and
of classes and properties, inverse properties, shortcut properties, comments. A file with others:

    [[experiment]]
    individuals = "neighbourhood"
    schema = "specific"
    inverse = true
    shortcuts = true
    comments = false
"""

import json
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from askgraph.errors import SetupError
from askgraph.evaluation.reports import Interval
from askgraph.evaluation.reports.sheet import Cell, Sheet, SheetColumn, build_columns
from askgraph.evaluation.runs import Record
from askgraph.graph.archives import read_text
from askgraph.graph.boundaries import INDIVIDUAL_BOUNDARIES, SCHEMA_BOUNDARIES
from askgraph.trace import Usage


@dataclass(frozen=True)
class Experiment:
    """One representation: the boundaries of displayed entities, and additions to the graph."""

    number: int
    individuals: str = "outgoing"
    schema: str = "outgoing"
    inverse: bool = False
    shortcuts: bool = False
    comments: bool = False

    @property
    def variant(self) -> str:
        """Name of the graph's variant: its additions, or "plain"."""
        kinds = ("inverse", "shortcuts", "comments")
        return "-".join(kind for kind in kinds if getattr(self, kind)) or "plain"


Figures = tuple[tuple[float, float] | None, ...]
"""The share of exact matches and the mean F1, over all questions, then per tag."""


@dataclass(frozen=True)
class PublishedScore:
    """A line of a file of published scores: experiment, question, exact match and F1."""

    experiment: int
    question: str
    em: float
    f1: float


def read_experiments(path: Path) -> tuple[Experiment, ...]:
    """Read experiments from a file, numbered in its order; raise `SetupError` if it is invalid."""
    try:
        entries = tomllib.loads(path.read_text(encoding="utf-8")).get("experiment", [])
    except (OSError, ValueError) as error:
        raise SetupError(f"the experiments {path} cannot be read: {error}") from error
    if not isinstance(entries, list) or not entries:
        raise SetupError(f"{path}: write [[experiment]] for each, with two brackets")
    return tuple(_parse_experiment(path, number, table) for number, table in enumerate(entries, 1))


def read_published_scores(path: Path) -> tuple[PublishedScore, ...]:
    """Read JSON lines with `exp`, `id`, `em` and `f1`, gzipped or not."""
    try:
        return tuple(
            PublishedScore(
                int(entry["exp"]), str(entry["id"]), float(entry["em"]), float(entry["f1"])
            )
            for entry in map(json.loads, filter(str.strip, read_text(path).split("\n")))
        )
    except (ValueError, KeyError, TypeError) as error:
        raise SetupError(
            f"the published scores {path} cannot be read: expected lines of JSON with exp, "
            f"id, em and f1 ({type(error).__name__}: {error})"
        ) from error


def compute_figures(records: Sequence[Record], metric: str, tags: Sequence[str]) -> Figures:
    """Return the figures of runs; all repetitions of a question count."""
    scores = [
        (float(record.get_score(metric).f1 == 1), record.get_score(metric).f1, record.tags)
        for record in records
        if not record.unanswerable
    ]
    return _compute_means(scores, tags)


def compute_published_figures(
    published: Iterable[PublishedScore], tags_of: Mapping[str, Sequence[str]], tags: Sequence[str]
) -> Figures:
    """Return the figures of published scores of one experiment; other questions are ignored.

    `tags_of` holds the tags of each question.
    """
    scores = [
        (score.em, score.f1, tags_of[score.question])
        for score in published
        if score.question in tags_of
    ]
    return _compute_means(scores, tags)


def build_study_sheet(
    title: str,
    results: Mapping[Experiment, Figures],
    tags: Sequence[str],
    *,
    published: Mapping[int, Figures] | None = None,
    boundaries: bool = True,
    costs: Mapping[Experiment, tuple[Interval, Usage]] | None = None,
    notes: Sequence[str] = (),
) -> Sheet:
    """Build the table of a study: one row per experiment, published figures beside ours.

    Without `boundaries` their columns show "any"; experiments that differ in boundaries only keep
    a row each. `costs` add the interval of the mean F1 and the cost.
    """
    columns = [SheetColumn("no.", "count"), SheetColumn("individuals"), SheetColumn("schema")]
    columns += [SheetColumn("inverse"), SheetColumn("shortcuts"), SheetColumn("comments")]
    for subset in ("all", *tags):
        for measure in ("EM", "F1"):
            columns.append(SheetColumn(f"{subset} {measure}", "share"))
            if published is not None:
                columns.append(SheetColumn("published", "share"))
    if costs is not None:
        columns += [SheetColumn("95 % of F1"), *build_columns("count", "calls", "tokens")]
        columns.append(SheetColumn("seconds", "number"))
    rows = [
        (
            experiment.number,
            experiment.individuals if boundaries else "any",
            experiment.schema if boundaries else "any",
            *(
                "x" if is_set else ""
                for is_set in (experiment.inverse, experiment.shortcuts, experiment.comments)
            ),
            *_build_cells(
                figures, None if published is None else published.get(experiment.number, ())
            ),
            *(_build_cost_cells(*costs[experiment]) if costs is not None else ()),
        )
        for experiment, figures in results.items()
    ]
    return Sheet(title, tuple(columns), tuple(rows), tuple(notes))


def _parse_experiment(path: Path, number: int, table: Mapping[str, object]) -> Experiment:
    kinds = {"individuals": INDIVIDUAL_BOUNDARIES, "schema": SCHEMA_BOUNDARIES}
    for key, value in table.items():
        is_unknown = key not in Experiment.__dataclass_fields__ or key == "number"
        if is_unknown or not (isinstance(value, bool) if key not in kinds else value in kinds[key]):
            raise SetupError(
                f"{path}: [[experiment]] {number}: {key} = {value!r} is not valid; "
                f"available: individuals ({', '.join(INDIVIDUAL_BOUNDARIES)}), schema "
                f"({', '.join(SCHEMA_BOUNDARIES)}), and inverse, shortcuts and comments, "
                "true or false"
            )
    return Experiment(number, **table)  # type: ignore[arg-type]


EXPERIMENTS = read_experiments(Path(__file__).with_name("representations.toml"))
"""The thirteen experiments of the paper."""


def _compute_means(
    scored: Sequence[tuple[float, float, Sequence[str]]], tags: Sequence[str]
) -> Figures:
    figures: list[tuple[float, float] | None] = []
    for tag in (None, *tags):
        tagged = [score for score in scored if tag is None or tag in score[2]]
        figures.append(
            (fmean(score[0] for score in tagged), fmean(score[1] for score in tagged))
            if tagged
            else None
        )
    return tuple(figures)


def _build_cost_cells(interval: Interval, usage: Usage) -> tuple[Cell, ...]:
    interval_text = f"{100 * interval.low:.1f} to {100 * interval.high:.1f}"
    return interval_text, usage.llm_calls, usage.input_tokens + usage.output_tokens, usage.seconds


def _build_cells(ours: Figures, published: Figures | None) -> Iterable[Cell]:
    for index, figure in enumerate(ours):
        published_figure = published[index] if published and index < len(published) else None
        for measure in (0, 1):
            yield figure[measure] if figure else None
            if published is not None:
                yield published_figure[measure] if published_figure else None
