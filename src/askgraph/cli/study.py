"""`askgraph study`: reproduce the tables of five papers on your own graphs."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import typer

from askgraph.cli import CommandGroup, OptionBundle
from askgraph.cli.figures import OutputFormat, WorkerOptions
from askgraph.cli.output import CommonOptions, show_progress
from askgraph.errors import ServiceError, SetupError
from askgraph.evaluation.reports.failures import has_failed
from askgraph.evaluation.reports.sheet import Cell, Sheet, SheetColumn, build_columns, parse_columns
from askgraph.evaluation.studies import (
    MeasuredRow,
    build_paper_sheet,
    load_published_representations,
    read_paper,
    representations,
)
from askgraph.graph.definitions import read_definitions
from askgraph.workspace import Workspace
from askgraph.workspace.plans import create_method_choice
from askgraph.workspace.selection import Selection
from askgraph.workspace.settings import parse_method_spec
from askgraph.workspace.study import (
    PaperStudy,
    Study,
    StudyResult,
    find_missing_requirement,
    plan_rows,
    run_paper_study,
    run_study,
)

study = CommandGroup()


@dataclass(frozen=True)
class PaperStudyOptions(OptionBundle):
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

    def to_study(
        self, name: str, benchmarks: Sequence[str], out: Path, workers: WorkerOptions
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
            dict(map(_parse_assignment, self.given or ())), self.examples, selection, self.repeat,
            self.retries, workers.executor_options,
        )  # fmt: skip


_PAPERS: dict[str, str] = tomllib.loads(Path(__file__).with_name("studies.toml").read_text("utf-8"))
"""The papers whose tables vary the settings of a method, with the help of their commands."""


def _add_study(name: str, help_text: str) -> None:
    def run_study(
        common: CommonOptions,
        workers: WorkerOptions,
        form: OutputFormat,
        tables: PaperStudyOptions,
        benchmarks: list[str],
        out: Path,
    ) -> None:
        _run_paper_study(name, common, workers, form, tables, benchmarks, out)

    run_study.__doc__ = help_text
    study.command(name)(run_study)


for _name, _about in _PAPERS.items():
    _add_study(_name, _about)


def _run_paper_study(
    name: str, common: CommonOptions, workers: WorkerOptions, form: OutputFormat,
    tables: PaperStudyOptions,
    benchmarks: list[str], out: Path,
) -> None:  # fmt: skip
    workspace = common.workspace
    paper_study = tables.to_study(name, benchmarks, out, workers)
    chosen_tables = paper_study.paper.select_tables(paper_study.tables)
    figure_names = tables.alike or []
    known_names = dict.fromkeys(
        figure_name for table in paper_study.paper.tables for figure_name in table.benchmarks
    )
    if unknown_names := set(figure_names) - known_names.keys():
        raise SetupError(
            f"--as {min(unknown_names)!r}: the paper has no such figures; available: "
            f"{', '.join(known_names) or 'none'}"
        )
    rows_by_table: dict[str, list[MeasuredRow]] = {}
    if tables.dry_run:
        sheets = [_plan_paper_study(workspace, paper_study)]
    else:
        with show_progress() as report:
            try:
                rows_by_table = run_paper_study(
                    workspace,
                    paper_study,
                    progress=lambda label: lambda record, done, total: report(label, done, total),
                    index_progress=report,
                )
            except ServiceError:
                typer.echo(
                    f"the results so far are in {out}; run the same command to continue", err=True
                )
                raise
        sheets = [
            build_paper_sheet(table, rows_by_table[table.name], figure_names)
            for table in chosen_tables
        ]
    names = [table.name for table in chosen_tables] if rows_by_table else [""]
    form.write(
        lambda: sheets,
        lambda: [
            {
                **sheet.to_json(),
                "table": name,
                "runs": [
                    {"row": line.row.name, "model": line.row.model, "run": line.run}
                    | ({"missing": line.reason} if line.reason else {})
                    for line in rows_by_table.get(name, ())
                ],
            }
            for name, sheet in zip(names, sheets, strict=True)
        ],
    )


def _plan_paper_study(workspace: Workspace, paper_study: PaperStudy) -> Sheet:
    benchmark_selections = paper_study.select_questions(workspace)
    questions = paper_study.repeat * sum(len(item.questions) for item in benchmark_selections)
    columns = (
        *map(SheetColumn, ("table", "row", "model", "asks")),
        *build_columns("count", "questions", "calls at least", "calls at most"),
        SheetColumn("needs"),
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = []
    totals: list[tuple[int, ...]] = []
    run_names = set[str]()
    for item in plan_rows(workspace, paper_study, benchmark_selections):
        is_asked = item.table.asks_questions and not item.missing and item.run_name not in run_names
        count = questions if is_asked else 0
        run_names |= {item.run_name} if is_asked else set()
        totals.append((count, *(count * calls for calls in item.row.calls)))
        if item.table.asks_questions:
            name, method_settings = parse_method_spec(item.row.method)
            label = create_method_choice(name, {**method_settings, **item.row.settings}).label
            method = f"{label}, learns from {item.row.learns}" if item.row.learns else label
        else:
            method = item.table.measure
        labels = (item.table.name, item.row.name, item.row.model, method)
        rows.append((*labels, *totals[-1], item.missing))
    rows.append(("", "all", "", "", *map(sum, zip(*totals, strict=True)), ""))
    note = "Rows with the same settings and model share a run; finished questions are not repeated."
    return Sheet(paper_study.paper.title, columns, tuple(rows), (note,))


def _parse_assignment(text: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not (name and separator and value):
        raise SetupError(f"--with {text!r}: write NAME=VALUE, with the paper's name for it")
    return name, value


@study.command("representations")
def study_representations(
    common: CommonOptions,
    form: OutputFormat,
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
    """Reproduce table 3 of Henselmann et al.: the same questions over variants of a graph."""
    published_lines = representations.read_published_scores(published) if published else None
    settings = (*(setting or ()), *([f"model={model}"] if model else ()))
    studies = [
        Study(
            benchmark, name, method, out / name if len(graph) > 1 else out,
            representations.read_experiments(experiments)
            if experiments else representations.EXPERIMENTS,
            tuple(by or ()), settings, repeat, metric, format,
            read_definitions(definitions) if definitions else None,
            _parse_variants(variant or []), limit,
        )
        for name in dict.fromkeys(graph)
    ]  # fmt: skip
    if dry_run:
        sheets = [
            _plan_representation_study(common.workspace, planned_study) for planned_study in studies
        ]
        form.write(lambda: sheets, lambda: [sheet.to_json() for sheet in sheets])
        return
    with show_progress() as report:
        results = [
            run_study(
                common.workspace,
                planned_study,
                progress=lambda label: lambda record, done, total: report(label, done, total),
                index_progress=report,
            )
            for planned_study in studies
        ]
    compared = [
        (
            entry,
            result,
            _select_published_figures(
                result, entry, published_lines, has_own_experiments=experiments is not None
            ),
        )
        for entry, result in zip(studies, results, strict=True)
    ]
    if form.json or form.csv:  # the others have notes
        for line in dict.fromkeys(line for result in results for line in result.left_out):
            typer.echo(line, err=True)
    form.write(
        lambda: [_build_sheet(*entry) for entry in compared],
        lambda: [row for entry in compared for row in _to_objects(*entry)],
    )


def _plan_representation_study(workspace: Workspace, planned_study: Study) -> Sheet:
    question_count = planned_study.repeat * sum(
        len(item.questions)
        for item in planned_study.select_questions(workspace, planned_study.graph)
    )
    run_names = set[str]()
    rows: list[tuple[Cell, ...]] = []
    for item in planned_study.experiments:
        run = planned_study.get_run_name(item)
        missing = find_missing_requirement(workspace, planned_study, item)
        count = 0 if missing or run in run_names else question_count
        rows.append((item.number, run, count, missing))
        run_names |= set() if missing else {run}
    rows.append(("all", "", question_count * len(run_names), ""))
    columns = parse_columns("no., run; questions: count; needs")
    notes = (
        "graf-von-data makes one to ten calls a question; other methods have their own bounds.",
    )
    return Sheet(f"{planned_study.method} over {planned_study.graph}", columns, tuple(rows), notes)


def _parse_variants(texts: list[str]) -> dict[str, str]:
    graphs = {}
    for text in texts:
        kinds, separator, name = text.partition("=")
        chosen_kinds = kinds.replace("+", "-").split("-")
        known_kinds = ("inverse", "shortcuts", "comments")
        if not (separator and name) or (
            set(chosen_kinds) - set(known_kinds) and chosen_kinds != ["plain"]
        ):
            raise SetupError(
                f"--variant {text!r}: write plain=NAME, or some of {', '.join(known_kinds)} "
                "joined by '-', '=' and the name of a graph"
            )
        graphs["-".join(kind for kind in known_kinds if kind in chosen_kinds) or "plain"] = name
    return graphs


def _select_published_figures(
    results: StudyResult,
    planned_study: Study,
    lines: Sequence[representations.PublishedScore] | None,
    *,
    has_own_experiments: bool,
) -> Mapping[int, representations.Figures] | None:
    """Return the published figures of each experiment, for the same questions or all."""
    if lines is None:
        paper_figures = load_published_representations()
        tags = ("all", *planned_study.tags)
        if has_own_experiments:
            return None
        return {number: tuple(map(item.get, tags)) for number, item in paper_figures.items()}
    tags_of = {record.id: record.tags for records in results.records.values() for record in records}
    return {
        item.number: representations.compute_published_figures(
            [line for line in lines if line.experiment == item.number], tags_of, planned_study.tags
        )
        for item in results.figures
    }


def _build_sheet(
    plan: Study,
    results: StudyResult,
    published_figures_by_number: Mapping[int, representations.Figures] | None,
) -> Sheet:
    notes = list(results.left_out)
    failed = [
        str(experiment.number)
        for experiment, records in results.records.items()
        if any(map(has_failed, records))
    ]
    if failed:
        notes.append(f"Questions failed and scored 0 in experiments {', '.join(failed)}.")
    if not results.has_boundaries:
        notes.append(
            f"{plan.method} has no entity boundaries: experiments that differ only in "
            "these share a run."
        )
    title = f"{plan.method} by representation of {plan.graph}, {plan.metric}"
    return representations.build_study_sheet(
        title, results.figures, plan.tags, published=published_figures_by_number,
        boundaries=results.has_boundaries,
        costs=results.compute_costs(plan.metric), notes=notes,
    )  # fmt: skip


def _to_objects(
    planned_study: Study,
    results: StudyResult,
    published: Mapping[int, representations.Figures] | None,
) -> list[dict[str, object]]:
    names = ("all", *planned_study.tags)
    costs = results.compute_costs(planned_study.metric)

    def to_shares_object(figures: representations.Figures) -> dict[str, object]:
        return {
            name: None if pair is None else {"em": pair[0], "f1": pair[1]}
            for name, pair in zip(names, figures, strict=False)
        }

    return [
        {
            **asdict(experiment),
            "graph": planned_study.graph,
            "bounded": results.has_boundaries,
            "figures": to_shares_object(figures),
            "interval": [costs[experiment][0].low, costs[experiment][0].high],
            "usage": asdict(costs[experiment][1]),
            **({"published": to_shares_object(published[experiment.number])} if published else {}),
        }
        for experiment, figures in results.figures.items()
    ]
