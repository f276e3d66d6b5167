"""`askgraph study`: the tables of five papers, run again over graphs of one's own."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import typer

from askgraph.cli import Bundle, Commands
from askgraph.cli.figures import Form, Workers
from askgraph.cli.options import Common
from askgraph.cli.output import progress_bar
from askgraph.errors import ServiceError, SetupError
from askgraph.evaluation.reports.failures import has_failed
from askgraph.evaluation.reports.sheet import Cell, Sheet, SheetColumn, build_columns
from askgraph.evaluation.runs.run import Progress as Told
from askgraph.evaluation.studies.papers import (
    MeasuredRow,
    build_paper_sheet,
    load_published_representations,
    read_paper,
)
from askgraph.evaluation.studies.representations import (
    EXPERIMENTS,
    Figures,
    PublishedScore,
    build_study_sheet,
    compute_published_figures,
    read_experiments,
    read_published_scores,
)
from askgraph.graph.definitions import read_definitions
from askgraph.workspace import Workspace
from askgraph.workspace.plans import method_choice
from askgraph.workspace.selection import Selection
from askgraph.workspace.settings import method_spec
from askgraph.workspace.study import (
    PaperStudy,
    PlannedRow,
    Studied,
    Study,
    lacking,
    paper_studied,
    planned_rows,
    studied,
)

study = Commands()


@dataclass(frozen=True)
class Tables(Bundle):
    """The options of the studies that vary the settings of a method."""

    graph: list[str] | None = None
    table: list[str] | None = None
    model: str | None = None
    setting: list[str] | None = None
    given: list[str] | None = None
    examples: Path | None = None
    folds: int | None = None
    repeat: int = 1
    retries: int = 0
    limit: int | None = None
    sample: int | None = None
    split: str | None = None
    gold: Path | None = None
    with_rows: bool = False
    format: str | None = None
    lang: str | None = None
    alike: list[str] | None = None
    dry_run: bool = False

    def study(
        self, name: str, benchmarks: Sequence[str], out: Path, workers: Workers
    ) -> PaperStudy:
        """Return the study of a paper."""
        selection = Selection(
            format=self.format, language=self.lang, split=self.split, limit=self.limit,
            sample=self.sample, folds=self.folds, gold=self.gold,
            with_rows=self.with_rows,
        )  # fmt: skip
        return PaperStudy(
            read_paper(name), tuple(benchmarks), out, tuple(self.graph or ()),
            tuple(self.table or ()), tuple(self.setting or ()), self.model,
            dict(map(_named, self.given or ())), self.examples, selection, self.repeat,
            self.retries, workers.crew,
        )  # fmt: skip


_PAPERS = {
    "grasp": """
    Tables 3 to 9 of GRASP: models, function sets, feedback, examples, indices.

    Each row is a run of the method as published with what the row changes, in a folder: a study
    that is stopped goes on. Beside our figures stand the published ones, and what the row cost.
    """,
    "dfsl": """
    Tables 5.1 to 5.6 and 5.14, figures 5.2 and 5.3 of dynamic few-shot learning.

    Rows that learn from examples take those of --examples, of other folds, or of the graph. The
    gold entities and relations are given, as in the paper; DFSL-MQ needs a server with beam search.
    """,
    "sparql-llm": """
    Figures 4, 5, 6 and 8 of SPARQL-LLM: models, cost, schema, examples, what is left out.

    Rows that learn from examples take those of --examples, of other folds (figure 8: --folds 3), or
    of the graph. Most figures of the paper have no numbers, so that ours stand alone.
    """,
    "multi-stage": """
    Tables 1 to 7, figures 2 and 3 of the multi-stage method: stages, writers, rejection.

    Rows of a linker or of a trained writer say what they need until --with names it.
    """,
}
"""The papers whose tables vary the settings of a method, each with the help of its command."""


def _add_study(name: str, about: str) -> None:
    def run_study(
        common: Common,
        workers: Workers,
        form: Form,
        tables: Tables,
        benchmarks: list[str],
        out: Path,
    ) -> None:
        _tables(name, common, workers, form, tables, benchmarks, out)

    run_study.__doc__ = about
    study.command(name)(run_study)


for _name, _about in _PAPERS.items():
    _add_study(_name, _about)


def _tables(
    name: str, common: Common, workers: Workers, form: Form, tables: Tables,
    benchmarks: list[str], out: Path,
) -> None:  # fmt: skip
    place = common.workspace
    wanted = tables.study(name, benchmarks, out, workers)
    shown = wanted.paper.select_tables(wanted.tables)
    alike = tables.alike or []
    if unknown := set(alike) - {one for table in wanted.paper.tables for one in table.benchmarks}:
        there = dict.fromkeys(one for table in wanted.paper.tables for one in table.benchmarks)
        raise SetupError(f"--as {min(unknown)!r}: the paper has {', '.join(there) or 'no figures'}")
    found: dict[str, list[MeasuredRow]] = {}
    if tables.dry_run:
        sheets = [_dry(place, wanted)]
    else:
        with progress_bar() as tell:

            def of_run(what: str) -> Told:
                return lambda record, done, planned: tell(what, done, planned)

            try:
                found = paper_studied(place, wanted, progress=of_run, preparing=tell)
            except ServiceError:
                typer.echo(f"what is done is kept in {out}; the same call goes on", err=True)
                raise
        sheets = [build_paper_sheet(table, found[table.name], alike) for table in shown]
    names = [table.name for table in shown] if found else [""]
    form.give(
        lambda: sheets,
        lambda: [
            {**sheet.to_json(), "table": name, "runs": [_run(line) for line in found.get(name, ())]}
            for name, sheet in zip(names, sheets, strict=True)
        ],
    )


def _run(line: MeasuredRow) -> dict[str, str]:
    """Where the answers of a row are, or why there are none."""
    told = {"row": line.row.name, "model": line.row.model, "run": line.run}
    return {**told, "missing": line.reason} if line.reason else told


def _dry(place: Workspace, wanted: PaperStudy) -> Sheet:
    """The rows that would be run, and how many questions and calls each takes."""
    asked = wanted.asked(place)
    questions = wanted.repeat * sum(len(one.questions) for one in asked)
    columns = (
        *map(SheetColumn, ("table", "row", "model", "asks")),
        *build_columns("count", "questions", "calls at least", "calls at most"),
        SheetColumn("needs"),
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = []
    totals: list[tuple[int, ...]] = []
    seen = set[str]()
    for one in planned_rows(place, wanted, asked):
        asks = one.table.asks_questions and not one.missing and one.run not in seen
        number = questions if asks else 0
        seen |= {one.run} if asks else set()
        totals.append((number, *(number * each for each in one.row.calls)))
        method = _told(one) if one.table.asks_questions else one.table.measure
        told = (one.table.name, one.row.name, one.row.model, method)
        rows.append((*told, *totals[-1], one.missing))
    rows.append(("", "all", "", "", *map(sum, zip(*totals, strict=True)), ""))
    note = "Rows of the same settings and model are one run; what is done is not asked again."
    return Sheet(wanted.paper.title, columns, tuple(rows), (note,))


def _told(one: PlannedRow) -> str:
    """The method of a row with what the row sets, and what it learns from."""
    name, own = method_spec(one.row.method)
    asks = method_choice(name, {**own, **one.row.settings}).label
    return f"{asks}, learns from {one.row.learns}" if one.row.learns else asks


def _named(given: str) -> tuple[str, str]:
    name, sign, value = given.partition("=")
    if not (name and sign and value):
        raise SetupError(f"--with {given!r}: write NAME=VALUE, with the paper's name for it")
    return name, value


@study.command("representations")
def representations(
    common: Common,
    form: Form,
    benchmark: str,
    graph: list[str],
    out: Path,
    method: str = "graf-von-data:preset=paper",
    model: str | None = None,
    setting: list[str] | None = None,
    repeat: int = 1,
    by: list[str] | None = None,
    metric: str = "best_column_multiset",
    experiments: Path | None = None,
    definitions: Path | None = None,
    variant: list[str] | None = None,
    published: Path | None = None,
    limit: int | None = None,
    dry_run: bool = False,
    format: str | None = None,
) -> None:
    """Table 3 of Henselmann et al.: the same questions over variants of a graph.

    An experiment is a choice of entity boundaries, inverse properties, shortcuts and comments; the
    thirteen are the paper's. The variants are made virtually, or are graphs of the workspace that
    --variant names; comments are those of --definitions, else the model of the method drafts them.
    An experiment that lacks something is left out, and a line says what it lacks. EM is the share
    of questions whose F1 is 1.
    """
    lines = read_published_scores(published) if published else None
    settings = (*(setting or ()), *([f"model={model}"] if model else ()))
    studies = [
        Study(
            benchmark, name, method, out / name if len(graph) > 1 else out,
            read_experiments(experiments) if experiments else EXPERIMENTS,
            tuple(by or ()), settings, repeat, metric, format,
            read_definitions(definitions) if definitions else None,
            _variants(variant or []), limit,
        )
        for name in dict.fromkeys(graph)
    ]  # fmt: skip
    if dry_run:
        sheets = [_dry_variants(common.workspace, wanted) for wanted in studies]
        form.give(lambda: sheets, lambda: [sheet.to_json() for sheet in sheets])
        return
    found: list[Studied] = []
    with progress_bar() as tell:

        def of_run(name: str) -> Told:
            return lambda record, done, planned: tell(name, done, planned)

        for wanted in studies:
            found.append(studied(common.workspace, wanted, progress=of_run, preparing=tell))
    done = [
        (one, each, _beside(each, one, lines, own=experiments is not None))
        for one, each in zip(studies, found, strict=True)
    ]
    if form.json or form.csv:  # the others have notes
        for line in dict.fromkeys(line for each in found for line in each.left_out):
            typer.echo(line, err=True)
    form.give(
        lambda: [_sheet(*one) for one in done],
        lambda: [row for one in done for row in _plain(*one)],
    )


def _dry_variants(place: Workspace, wanted: Study) -> Sheet:
    """The experiments that would be run, and how many questions each asks."""
    number = wanted.repeat * sum(len(one.questions) for one in wanted.asked(place, wanted.graph))
    seen = set[str]()
    rows: list[tuple[Cell, ...]] = []
    for one in wanted.experiments:
        run, lack = wanted.run_of(one), lacking(place, wanted, one)
        rows.append((one.number, run, 0 if lack or run in seen else number, lack))
        seen |= set() if lack else {run}
    rows.append(("all", "", number * len(seen), ""))
    columns = (
        SheetColumn("no."),
        SheetColumn("run"),
        SheetColumn("questions", "count"),
        SheetColumn("needs"),
    )
    notes = (
        "graf-von-data makes one to ten calls a question; other methods have their own bounds.",
    )
    return Sheet(f"{wanted.method} over {wanted.graph}", columns, tuple(rows), notes)


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
    found: Studied, wanted: Study, lines: Sequence[PublishedScore] | None, *, own: bool
) -> Mapping[int, Figures] | None:
    """The published figures of each experiment: of the same questions and tags, or the paper's.

    The paper's are of its own questions; `own` experiments have none.
    """
    if lines is None:
        of_paper = load_published_representations()
        tags = ("all", *wanted.tags)
        return None if own else {n: tuple(map(one.get, tags)) for n, one in of_paper.items()}
    tags_of = {record.id: record.tags for ones in found.records.values() for record in ones}
    return {
        one.number: compute_published_figures(
            [line for line in lines if line.experiment == one.number], tags_of, wanted.tags
        )
        for one in found.figures
    }


def _sheet(wanted: Study, found: Studied, beside: Mapping[int, Figures] | None) -> Sheet:
    notes = list(found.left_out)
    failed = [str(one.number) for one, own in found.records.items() if any(map(has_failed, own))]
    if failed:
        notes.append(f"Questions failed and scored 0 in experiments {', '.join(failed)}.")
    if not found.bounded:
        notes.append(
            f"{wanted.method} has no entity boundaries: experiments that differ in these only are "
            "one run."
        )
    title = f"{wanted.method} by representation of {wanted.graph}, {wanted.metric}"
    return build_study_sheet(
        title, found.figures, wanted.tags, published=beside, boundaries=found.bounded,
        costs=found.costs(wanted.metric), notes=notes,
    )  # fmt: skip


def _plain(
    wanted: Study, found: Studied, beside: Mapping[int, Figures] | None
) -> list[dict[str, object]]:
    names = ("all", *wanted.tags)
    costs = found.costs(wanted.metric)

    def shares(figures: Figures) -> dict[str, object]:
        return {
            name: None if pair is None else {"em": pair[0], "f1": pair[1]}
            for name, pair in zip(names, figures, strict=False)
        }

    return [
        {
            **asdict(one),
            "graph": wanted.graph,
            "bounded": found.bounded,
            "figures": shares(figures),
            "interval": [costs[one][0].low, costs[one][0].high],
            "usage": asdict(costs[one][1]),
            **({"published": shares(beside[one.number])} if beside else {}),
        }
        for one, figures in found.figures.items()
    ]
