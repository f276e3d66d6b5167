"""Reproduce tables of papers: each row is a run in a folder, made if it is missing.

Four papers vary the settings of a method; one varies the graph, with generated variants.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from askgraph import plugins
from askgraph.errors import AskgraphError, BudgetSpent, NoModel, ServiceError, SetupError
from askgraph.evaluation import studies
from askgraph.evaluation.reports import Interval
from askgraph.evaluation.reports.failures import sum_usage
from askgraph.evaluation.reports.report import Report
from askgraph.evaluation.runs import EvaluationOptions, EvaluationRun, Record
from askgraph.evaluation.runs.run import Progress as Told
from askgraph.evaluation.studies.representations import Experiment, Figures, compute_figures
from askgraph.graph.advice import AdviceKind
from askgraph.graph.definitions import Definitions, format_definitions
from askgraph.trace import Usage
from askgraph.workspace import Progress, Workspace, ignore_progress
from askgraph.workspace.enrichment import (
    build_advised_definitions,
    enrich_virtually,
    load_or_draft_comments,
)
from askgraph.workspace.evaluation import ExecutorOptions, evaluate_benchmarks, run_to_completion
from askgraph.workspace.index_operations import inspect_indices
from askgraph.workspace.models import Models
from askgraph.workspace.plans import (
    BenchmarkQuestions,
    MethodChoice,
    RunOptions,
    create_method_choice,
    parse_method_choices,
)
from askgraph.workspace.run_sync import run_coroutine
from askgraph.workspace.selection import Selection, select_benchmarks
from askgraph.workspace.settings import parse_method_spec, parse_setting
from askgraph.workspace.stages import TERMS_BY_INDEX, compute_recalls, score_links

_BOUNDARY_SETTINGS = frozenset(["individuals", "schema"])
_SERVER_SETTINGS = ("model", "base_url", "provider")
_INVERSE_ADVICE: tuple[AdviceKind, ...] = ("declared", "inverse")


@dataclass(frozen=True)
class Study:
    """A study of a benchmark over variants of a graph, by one method.

    `variants` are existing graphs of the workspace ("plain", "inverse", "inverse-shortcuts"
    …); others are made virtually from `graph`, by `definitions` or by the advice. `folder`
    keeps the runs, so that a stopped study can resume.
    """

    benchmark: str
    graph: str
    method: str
    folder: Path
    experiments: tuple[Experiment, ...]
    tags: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    repeat: int = 1
    metric: str = "best_column"
    format: str | None = None
    definitions: Definitions | None = None
    variants: Mapping[str, str] = field(default_factory=dict)
    limit: int | None = None

    @property
    def selection(self) -> Selection:
        """The selection of questions."""
        return Selection(graph=self.graph, format=self.format, limit=self.limit)

    def select_questions(self, workspace: Workspace, graph: str) -> tuple[BenchmarkQuestions, ...]:
        """Return the questions for a variant of the graph."""
        return select_benchmarks(workspace, [f"{self.benchmark}@{graph}"], self.selection)

    @property
    def plugin(self) -> Any:
        """The class of the method."""
        return plugins.load("method", self.method.partition(":")[0])

    @property
    def has_boundaries(self) -> bool:
        """Whether the method has settings for the boundaries of its output."""
        return set(self.plugin.__dataclass_fields__) >= _BOUNDARY_SETTINGS

    @property
    def comments_file(self) -> Path:
        """The file of the comments drafted by a model."""
        return self.folder / "comments.toml"

    @property
    def drafting_model(self) -> dict[str, str | None] | None:
        """The settings of the method's model; None if it takes no model."""
        if "model" not in self.plugin.__dataclass_fields__:
            return None
        settings = dict(map(parse_setting, self.settings)) | parse_method_spec(self.method)[1]
        return {name: str(settings[name]) for name in _SERVER_SETTINGS if name in settings}

    def get_run_name(self, experiment: Experiment) -> str:
        """Return the name of an experiment's run; the same if the method sees no difference."""
        return (
            f"{experiment.variant}-{experiment.individuals}-{experiment.schema}"
            if self.has_boundaries
            else experiment.variant
        )


@dataclass(frozen=True)
class StudyResult:
    """The figures of each experiment that could run, and its records.

    Without `has_boundaries`, experiments that differ only in them share
    a run. `left_out` lists the experiments that could not run, and the reasons.
    """

    figures: Mapping[Experiment, Figures]
    records: Mapping[Experiment, tuple[Record, ...]]
    has_boundaries: bool
    left_out: tuple[str, ...] = ()

    def compute_costs(self, metric: str) -> dict[Experiment, tuple[Interval, Usage]]:
        """Return the confidence interval of the mean of each experiment, and its cost."""
        return {
            experiment: (Report(records, metric).compute_interval(), sum_usage(records))
            for experiment, records in self.records.items()
        }


def run_study(
    workspace: Workspace,
    study: Study,
    *,
    progress: Callable[[str], Told] | None = None,
    index_progress: Progress = ignore_progress,
) -> StudyResult:
    """Run missing experiments of a study, and return its figures.

    An experiment whose graph cannot be made or asked is left out, with the reason. `progress`
    returns the callback of a run, by its name.

    Raises:
        AskgraphError: no experiment could run; the error of the first one.
    """
    _check_names(workspace, study)
    figures: dict[Experiment, Figures] = {}
    records: dict[Experiment, tuple[Record, ...]] = {}
    done: dict[str, tuple[Record, ...]] = {}
    experiments_by_requirement: dict[str, list[str]] = {}
    failures: list[AskgraphError] = []
    for experiment in study.experiments:
        requirement = find_missing_requirement(workspace, study, experiment)
        name = study.get_run_name(experiment)
        try:
            if not requirement and name not in done:
                graph = _prepare_variant(workspace, study, experiment, index_progress)
                run_progress = progress(name) if progress else None
                done[name] = _run_experiment(workspace, study, experiment, graph, run_progress)
        except (SetupError, ServiceError, BudgetSpent) as error:
            failures.append(error)
            requirement = str(error)
        if requirement:
            experiments_by_requirement.setdefault(requirement, []).append(str(experiment.number))
            continue
        records[experiment] = done[name]
        figures[experiment] = compute_figures(done[name], study.metric, study.tags)
    if failures and not figures:
        raise failures[0]
    left_out = (
        f"experiment{'s' * (len(numbers) > 1)} {', '.join(numbers)}: {requirement}"
        for requirement, numbers in experiments_by_requirement.items()
    )
    return StudyResult(figures, records, study.has_boundaries, tuple(left_out))


def _run_experiment(
    workspace: Workspace, study: Study, experiment: Experiment, graph: str, progress: Told | None
) -> tuple[Record, ...]:
    boundaries = [f"individuals={experiment.individuals}", f"schema={experiment.schema}"]
    boundary_settings = boundaries if study.has_boundaries else []
    selection = replace(study.selection, graph=graph)
    run_options = RunOptions(
        methods=parse_method_choices([study.method], [*study.settings, *boundary_settings]),
        repeat=study.repeat,
        metric=study.metric,
        chosen=selection.to_json(),
    )
    return run_to_completion(
        workspace,
        study.select_questions(workspace, graph),
        run_options,
        selection,
        study.folder / study.get_run_name(experiment),
        progress=progress,
    ).records


def find_missing_requirement(workspace: Workspace, study: Study, experiment: Experiment) -> str:
    """Return the missing requirement of an experiment; empty if it can run."""
    if not experiment.comments or experiment.variant in study.variants:
        return ""
    if study.definitions is not None:
        return "" if study.definitions.comments else "no definition has comments (--definitions)"
    if study.comments_file.is_file():
        return ""
    server: dict[str, str | None] | None = study.drafting_model
    if server is None:
        return f"{study.method} has no model to draft comments (--definitions)"
    try:
        Models(workspace.folder).resolve_settings(server.pop("model", None), **server)
    except NoModel:
        return (
            "no definition has comments (--definitions), and no language model is named to "
            "draft them (--model)"
        )
    return ""


def _check_names(workspace: Workspace, study: Study) -> None:
    graphs = workspace.graphs()
    for kinds, name in study.variants.items():
        if name not in graphs:
            raise SetupError(f"--variant {kinds}={name}: there is no graph {name!r}")
    benchmarks = study.select_questions(workspace, study.graph)
    known_tags = {
        tag for benchmark in benchmarks for question in benchmark.questions for tag in question.tags
    }
    if unknown := [tag for tag in study.tags if tag not in known_tags]:
        tag_list = ", ".join(sorted(known_tags)) or "none"
        raise SetupError(f"no question has the tag {unknown[0]!r}; available: {tag_list}")


def _prepare_variant(
    workspace: Workspace, study: Study, experiment: Experiment, progress: Progress
) -> str:
    if experiment.variant in study.variants:
        return study.variants[experiment.variant]
    if experiment.variant == "plain":
        return study.graph
    kinds = {name: getattr(experiment, name) for name in ("inverse", "shortcuts", "comments")}
    if study.definitions is not None:
        definitions = study.definitions.select(**kinds, names=False)
    else:
        comments = Definitions()
        if experiment.comments:  # drafted by the model of the method, once for all that is studied
            comments = load_or_draft_comments(
                workspace,
                study.graph,
                study.comments_file,
                **(study.drafting_model or {}),
                progress=progress,
            )
            if not comments.comments:
                raise SetupError(
                    f"the model drafted no comment: remove {study.comments_file} to ask it again"
                )
        inverse = build_advised_definitions(
            workspace, study.graph, _INVERSE_ADVICE, progress=progress
        )
        shortcuts = build_advised_definitions(workspace, study.graph, progress=progress)
        advised = [inverse] * experiment.inverse + [shortcuts] * experiment.shortcuts
        properties = {item.iri: item for part in advised for item in part.properties}
        definitions = Definitions(
            tuple(properties.values()),
            comments.comments,
            prefixes={**inverse.prefixes, **shortcuts.prefixes, **comments.prefixes},
        )
    if not definitions:
        return study.graph  # it is its own variant: there is nothing to add
    name = f"{study.graph}.{experiment.variant}"
    definitions_file = workspace.folder / "enrichments" / f"{name}.toml"
    if variant_settings := workspace.graphs().get(name):
        expected_settings = (f"enrichments/{name}.toml", workspace.graphs()[study.graph].sources)
        if (variant_settings.enrich, variant_settings.sources) != expected_settings:
            raise SetupError(
                f"the graph {name!r} was not made by a study of {study.graph!r}: name it "
                f"with --variant {experiment.variant}={name}, or remove it with: askgraph "
                f"remove {name}"
            )
        is_same = definitions_file.is_file() and definitions_file.read_text(
            encoding="utf-8"
        ) == format_definitions(definitions)
        if is_same and (variant_settings.comments or not experiment.comments):
            return name
        workspace.remove(name)
    enrich_virtually(
        workspace,
        study.graph,
        definitions,
        as_name=name,
        searched=experiment.comments,
        progress=progress,
    )
    return name


@dataclass(frozen=True)
class PaperStudy:
    """The tables of a paper over benchmarks and graphs; `folder` keeps a run for each setting.

    `model` replaces the paper's model unless `resources` names one: models, embedders, linkers,
    and "fixed", a file of hand-picked examples. `examples` are the questions to learn from;
    by default those of the graph, or of other folds if the selection has any.
    """

    paper: studies.Paper
    benchmarks: tuple[str, ...]
    folder: Path
    graphs: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    model: str | None = None
    resources: Mapping[str, str] = field(default_factory=dict)
    examples: Path | None = None
    selection: Selection = field(default_factory=Selection)
    repeat: int = 1
    retries: int = 0
    crew: ExecutorOptions = field(default_factory=ExecutorOptions)

    @property
    def options(self) -> EvaluationOptions:
        """The options of asking and scoring."""
        chosen = self.selection
        return EvaluationOptions(
            retries=self.retries, stored_gold=chosen.gold is not None, language=chosen.language
        )

    def select_questions(self, workspace: Workspace) -> tuple[BenchmarkQuestions, ...]:
        """Return the benchmarks, for each named graph; `SetupError` for unknown names."""
        graphs = [f"@{name}" for name in self.graphs] or [""]
        sources = [f"{benchmark}{graph}" for benchmark in self.benchmarks for graph in graphs]
        return select_benchmarks(workspace, sources, self.selection)


@dataclass(frozen=True)
class PlannedRow:
    """A row with its run, or its `missing` requirement; equal runs have one name."""

    table: studies.PaperTable
    row: studies.PaperRow
    choice: MethodChoice
    folds: int | None = None
    missing: str = ""

    @property
    def run_name(self) -> str:
        """The name of the run's folder."""
        run_key = f"{self.choice.label} {self.folds}"
        return f"{self.choice.name}-{hashlib.sha256(run_key.encode()).hexdigest()[:8]}"


def plan_rows(
    workspace: Workspace, study: PaperStudy, benchmarks: Sequence[BenchmarkQuestions]
) -> list[PlannedRow]:
    """Return the rows of the requested tables, each with its settings or missing requirement.

    Raises:
        SetupError: a name in `resources` belongs to no row.
    """
    tables = study.paper.select_tables(study.tables)
    rows = [row for table in study.paper.tables for row in table.rows]
    known_names = {"fixed", *study.paper.needs, *(row.model for row in rows if row.model)}
    if unknown := sorted(study.resources.keys() - known_names):
        raise SetupError(
            f"--with {unknown[0]!r}: no row of {study.paper.name} needs it; available: "
            + ", ".join(sorted(known_names))
        )
    graphs = {str(graph) for benchmark in benchmarks for graph in benchmark.graphs}
    has_examples = all(
        name in workspace.graphs() and workspace.load_examples(name) for name in graphs
    )
    return [_plan_row(study, table, row, has_examples) for table in tables for row in table.rows]


def _plan_row(
    study: PaperStudy, table: studies.PaperTable, row: studies.PaperRow, has_examples: bool
) -> PlannedRow:
    name, method_options = parse_method_spec(row.method)
    settings = {**dict(map(parse_setting, study.settings)), **method_options, **row.settings}
    requirements: list[str] = []

    def require(key: str) -> str:
        if key not in study.resources:
            requirements.append(f"--with {key!r}=… names {study.paper.needs[key]}")
        return study.resources.get(key, "")

    for key, value in settings.items():
        if isinstance(value, str) and value[:1] + value[-1:] == "{}":
            settings[key] = require(value[1:-1])
    if row.model in study.paper.needs:
        settings["model"] = require(row.model)
    elif model := study.resources.get(row.model) or study.model:
        settings["model"] = model
    folds = _settle_examples(study, row, settings, has_examples, requirements)
    return PlannedRow(
        table, row, create_method_choice(name, settings), folds, "; ".join(requirements)
    )


def _settle_examples(
    study: PaperStudy,
    row: studies.PaperRow,
    settings: dict[str, object],
    has_examples: bool,
    requirements: list[str],
) -> int | None:
    """Set the examples of a row; return the number of folds if it learns from other folds."""
    plugin: Any = plugins.load("method", parse_method_spec(row.method)[0])
    accepts_examples = "examples" in plugin.__dataclass_fields__ and row.learns != "graph"
    fixed = study.resources.get("fixed") if row.learns == "fixed" else None
    file = fixed or (study.examples and str(study.examples.absolute()))
    if not row.learns or "examples" in settings:
        return None
    if accepts_examples and file:
        settings["examples"] = str(Path(file).absolute())
    elif accepts_examples and study.selection.folds:
        return study.selection.folds
    elif not has_examples:
        hint = "the graph has no examples: askgraph add NAME SOURCE --examples FILE --replace"
        requirements.append(
            f"name questions with --examples, or --folds K; {hint}" if accepts_examples else hint
        )
    return None


def run_paper_study(
    workspace: Workspace,
    study: PaperStudy,
    *,
    progress: Callable[[str], Told] | None = None,
    index_progress: Progress = ignore_progress,
) -> dict[str, list[studies.MeasuredRow]]:
    """Run missing rows of a paper's tables; return the lines of each table.

    A row that cannot run reports the reason. `progress` returns the callback of a run.

    Raises:
        SetupError: no row that asks questions can run because of the setup.
        ServiceError: a service ended a run; the same call resumes.
    """
    benchmarks = study.select_questions(workspace)
    lines_by_table: dict[str, list[studies.MeasuredRow]] = {}
    runs: dict[str, EvaluationRun | SetupError] = {}
    rows = plan_rows(workspace, study, benchmarks)
    for number, planned in enumerate(rows, 1):
        if planned.table.asks_questions and not planned.missing and planned.run_name not in runs:
            study.folder.mkdir(parents=True, exist_ok=True)
            run_title = f"{number} of {len(rows)}, {planned.table.name}: {planned.row.name}"
            selection = replace(study.selection, folds=planned.folds)
            answers = planned.table.measure == "answers"
            metric = next(iter(planned.table.heads)) if answers else "best_column"
            run_options = RunOptions(
                (planned.choice,), study.repeat, study.options, metric, selection.to_json()
            )
            try:
                runs[planned.run_name] = run_coroutine(
                    evaluate_benchmarks(
                        workspace, benchmarks, run_options, selection, study.crew,
                        folder=study.folder / planned.run_name, index_progress=index_progress,
                        progress=progress(run_title) if progress else None,
                    )
                )  # fmt: skip
            except SetupError as error:
                runs[planned.run_name] = error
        line = _build_line(
            workspace, planned, benchmarks, runs.get(planned.run_name), index_progress
        )
        lines_by_table.setdefault(planned.table.name, []).append(line)
    errors = [planned for planned in runs.values() if isinstance(planned, SetupError)]
    if errors and len(errors) == len(runs):
        raise errors[0]
    return lines_by_table


def _build_line(
    workspace: Workspace,
    planned: PlannedRow,
    benchmarks: Sequence[BenchmarkQuestions],
    run: EvaluationRun | SetupError | None,
    index_progress: Progress,
) -> studies.MeasuredRow:
    model = str(json.loads(planned.choice.settings).get("model", ""))
    measure = planned.table.measure
    if planned.missing:
        return studies.MeasuredRow(planned.row, reason=planned.missing)
    if isinstance(run, SetupError):
        return studies.MeasuredRow(planned.row, reason=str(run), model=model)
    if run is not None and measure != "indices":
        linked = measure in ("entities", "predicates")
        shares = run_coroutine(score_links(workspace, run, benchmarks, measure)) if linked else {}
        measurements = studies.measure_records(run.records, measure, planned.table.heads, shares)
        return studies.MeasuredRow(planned.row, measurements, model=model, run=planned.run_name)
    if measure != "indices":
        return studies.MeasuredRow(
            planned.row,
            tuple(
                _measure_gold(workspace, planned, benchmark, index_progress)
                for benchmark in benchmarks
            ),
        )
    sizes, kinds = [], dict[str, None]()
    for name in dict.fromkeys(str(graph) for benchmark in benchmarks for graph in benchmark.graphs):
        is_in_workspace = name in workspace.graphs()
        for info in (
            inspect_indices(workspace, name, progress=index_progress) if is_in_workspace else []
        ):
            if info.key == planned.row.name and info.items is not None:
                figures = {
                    "items": studies.build_exact_interval(info.items),
                    "bytes": studies.build_exact_interval(info.bytes),
                }
                sizes.append(studies.Measurement(name, "", 0, figures))
                kinds[str(info.kind)] = None
    missing = "" if sizes else "no index is built yet: askgraph index build NAME"
    return studies.MeasuredRow(planned.row, tuple(sizes), missing, ", ".join(kinds))


def _measure_gold(
    workspace: Workspace,
    planned_row: PlannedRow,
    benchmark: BenchmarkQuestions,
    index_progress: Progress,
) -> studies.Measurement:
    figures: Mapping[str, Interval | None]
    match planned_row.table.measure:
        case "modifiers":
            figures = studies.count_modifier(benchmark.questions, planned_row.row.name)
        case "hops":
            figures = studies.measure_hops(benchmark.questions, benchmark.contents.prefixes)
        case _:
            numbers = {
                terms: str(planned_row.row.settings[f"bm25_{terms}"])
                for terms in TERMS_BY_INDEX.values()
            }
            recalls = run_coroutine(
                compute_recalls(workspace, benchmark, numbers, progress=index_progress)
            )
            figures = {name: studies.build_exact_interval(share) for name, share in recalls.items()}
    return studies.Measurement(
        str(benchmark.graphs[0]), benchmark.name, len(benchmark.questions), figures
    )
