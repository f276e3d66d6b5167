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

import gzip
import json
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from askgraph.errors import SetupError
from askgraph.evaluation.reports.sheet import Cell, Column, Sheet, columns_of
from askgraph.evaluation.reports.statistics import Interval
from askgraph.evaluation.runs import Record
from askgraph.graph.boundaries import INDIVIDUALS, SCHEMA
from askgraph.trace import Usage


@dataclass(frozen=True)
class Experiment:
    """One representation: the boundaries of what is shown, and what the graph says besides."""

    number: int
    individuals: str = "outgoing"
    schema: str = "outgoing"
    inverse: bool = False
    shortcuts: bool = False
    comments: bool = False

    @property
    def variant(self) -> str:
        """The name of the variant of the graph: what it says besides, or "plain"."""
        kinds = ("inverse", "shortcuts", "comments")
        return "-".join(kind for kind in kinds if getattr(self, kind)) or "plain"


_OUT, _NEAR, _ALL = ("outgoing",) * 2, ("neighbourhood",) * 2, ("neighbourhood", "specific")

EXPERIMENTS: tuple[Experiment, ...] = (
    Experiment(1, *_OUT),
    Experiment(2, *_NEAR),
    Experiment(3, "outgoing", "specific"),
    Experiment(4, *_ALL),
    Experiment(5, *_OUT, inverse=True),
    Experiment(6, *_ALL, inverse=True),
    Experiment(7, *_OUT, shortcuts=True),
    Experiment(8, *_ALL, shortcuts=True),
    Experiment(9, *_OUT, inverse=True, shortcuts=True),
    Experiment(10, *_ALL, inverse=True, shortcuts=True),
    Experiment(11, *_OUT, comments=True),
    Experiment(12, *_ALL, comments=True),
    Experiment(13, *_ALL, inverse=True, shortcuts=True, comments=True),
)
"""The thirteen experiments of the paper."""

Figures = tuple[tuple[float, float] | None, ...]
"""The share of exact matches and the mean F1, of all questions and then of those with each tag."""


@dataclass(frozen=True)
class Published:
    """A line of a file of published scores: which experiment and question, and what it scored."""

    experiment: int
    question: str
    em: float
    f1: float


def read_experiments(path: Path) -> tuple[Experiment, ...]:
    """Read experiments from a file, numbered in its order; `SetupError` for what is wrong."""
    try:
        listed = tomllib.loads(path.read_text(encoding="utf-8")).get("experiment", [])
    except (OSError, ValueError) as error:
        raise SetupError(f"the experiments {path} cannot be read: {error}") from error
    if not isinstance(listed, list) or not listed:
        raise SetupError(f"{path}: write [[experiment]] for each, with two brackets")
    return tuple(_experiment(path, number, table) for number, table in enumerate(listed, 1))


def read_published(path: Path) -> tuple[Published, ...]:
    """Read lines of JSON with `exp`, `id`, `em` and `f1`, packed (.gz) or not."""
    opened = gzip.open if path.suffix == ".gz" else open
    try:
        with opened(path, "rt", encoding="utf-8") as file:
            lines = [json.loads(line) for line in file if line.strip()]
        return tuple(
            Published(int(one["exp"]), str(one["id"]), float(one["em"]), float(one["f1"]))
            for one in lines
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SetupError(
            f"the published scores {path} cannot be read: lines of JSON with exp, id, em and f1 "
            f"are wanted ({type(error).__name__}: {error})"
        ) from error


def figures_of(records: Sequence[Record], metric: str, tags: Sequence[str]) -> Figures:
    """Return the figures of runs; all repetitions of a question count."""
    scored = [
        (float(record.score(metric).f1 == 1), record.score(metric).f1, record.tags)
        for record in records
        if not record.unanswerable
    ]
    return _figures(scored, tags)


def published_figures(
    published: Iterable[Published], tags_of: Mapping[str, Sequence[str]], tags: Sequence[str]
) -> Figures:
    """Return the figures of published scores of one experiment; `tags_of` has the questions' tags.

    Scores of other questions are left out.
    """
    scored = [
        (one.em, one.f1, tags_of[one.question]) for one in published if one.question in tags_of
    ]
    return _figures(scored, tags)


def study_sheet(
    title: str,
    results: Mapping[Experiment, Figures],
    tags: Sequence[str],
    *,
    published: Mapping[int, Figures] | None = None,
    boundaries: bool = True,
    costs: Mapping[Experiment, tuple[Interval, Usage]] | None = None,
    notes: Sequence[str] = (),
) -> Sheet:
    """Return the table: an experiment a row; with published figures these beside ours.

    Without `boundaries` the columns that name them are left out, and of experiments that differ in
    nothing else each has its row still. `costs` add the interval of the mean F1 and what was spent.
    """
    columns = [Column("no.", "count"), Column("individuals"), Column("schema")]
    columns += [Column("inverse"), Column("shortcuts"), Column("comments")]
    for part in ("all", *tags):
        for measure in ("EM", "F1"):
            columns.append(Column(f"{part} {measure}", "share"))
            if published is not None:
                columns.append(Column("published", "share"))
    if costs is not None:
        columns += [Column("95 % of F1"), *columns_of("count", "calls", "tokens")]
        columns.append(Column("seconds", "number"))
    rows = [
        (
            one.number,
            one.individuals if boundaries else "any",
            one.schema if boundaries else "any",
            *("x" if on else "" for on in (one.inverse, one.shortcuts, one.comments)),
            *_cells(figures, None if published is None else published.get(one.number, ())),
            *(_spent(*costs[one]) if costs is not None else ()),
        )
        for one, figures in results.items()
    ]
    return Sheet(title, tuple(columns), tuple(rows), tuple(notes))


def _experiment(path: Path, number: int, table: Mapping[str, object]) -> Experiment:
    kinds = {"individuals": INDIVIDUALS, "schema": SCHEMA}
    for key, value in table.items():
        wrong = key not in Experiment.__dataclass_fields__ or key == "number"
        if wrong or not (isinstance(value, bool) if key not in kinds else value in kinds[key]):
            raise SetupError(
                f"{path}: [[experiment]] {number}: {key} = {value!r} is wrong; there are "
                f"individuals ({', '.join(INDIVIDUALS)}), schema ({', '.join(SCHEMA)}), and "
                "inverse, shortcuts and comments, true or false"
            )
    return Experiment(number, **table)  # type: ignore[arg-type]


def _figures(scored: Sequence[tuple[float, float, Sequence[str]]], tags: Sequence[str]) -> Figures:
    found: list[tuple[float, float] | None] = []
    for tag in (None, *tags):
        ones = [one for one in scored if tag is None or tag in one[2]]
        found.append((fmean(o[0] for o in ones), fmean(o[1] for o in ones)) if ones else None)
    return tuple(found)


def _spent(interval: Interval, usage: Usage) -> tuple[Cell, ...]:
    between = f"{100 * interval.low:.1f} to {100 * interval.high:.1f}"
    return between, usage.llm_calls, usage.input_tokens + usage.output_tokens, usage.seconds


def _cells(ours: Figures, published: Figures | None) -> Iterable[Cell]:
    for at, one in enumerate(ours):
        other = published[at] if published and at < len(published) else None
        for measure in (0, 1):
            yield one[measure] if one else None
            if published is not None:
                yield other[measure] if other else None
