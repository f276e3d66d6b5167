"""Studies: the tables of papers run again, each row a run in a folder, made if it is missing.

Four papers vary the settings of a method; one varies the graph, of which variants are made.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from askgraph import plugins
from askgraph.errors import NoModel, SetupError
from askgraph.evaluation.reports.failures import sum_usage
from askgraph.evaluation.reports.report import Report
from askgraph.evaluation.reports.statistics import Interval
from askgraph.evaluation.runs import EvaluationOptions, EvaluationRun, Record
from askgraph.evaluation.runs.run import Progress as Told
from askgraph.evaluation.studies.papers import (
    MeasuredRow,
    Measurement,
    Paper,
    PaperRow,
    PaperTable,
    build_exact_interval,
    count_modifier,
    measure_hops,
    measure_records,
)
from askgraph.evaluation.studies.representations import Experiment, Figures, compute_figures
from askgraph.graph.advice import AdviceKind
from askgraph.graph.definitions import Definitions, format_definitions
from askgraph.trace import Usage
from askgraph.workspace import Progress, Workspace, silent
from askgraph.workspace.enrichment import (
    definitions_for,
    enrich_virtually,
    kept_comments,
)
from askgraph.workspace.evaluation import Crew, evaluated, whole_run
from askgraph.workspace.index_operations import index_info
from askgraph.workspace.models import Models
from askgraph.workspace.plans import (
    Asked,
    MethodChoice,
    Wishes,
    method_choice,
    method_choices,
)
from askgraph.workspace.run_sync import result_of
from askgraph.workspace.selection import Selection, selected
from askgraph.workspace.settings import method_spec, named_setting
from askgraph.workspace.stages import INDICES, linked_shares, recalls_of

_BOUNDARIES = frozenset(["individuals", "schema"])
_SERVER = ("model", "base_url", "provider")
_INVERSE: tuple[AdviceKind, ...] = ("declared", "inverse")


@dataclass(frozen=True)
class Study:
    """What is studied: a benchmark over variants of a graph, by one method.

    `variants` are graphs of the workspace that are variants already ("plain", "inverse",
    "inverse-shortcuts" …); others are made virtually of `graph`, by `definitions` or else by what
    is advised. `folder` keeps the runs: stopped, the same study goes on.
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
        """Which questions are asked."""
        return Selection(graph=self.graph, format=self.format, limit=self.limit)

    def asked(self, workspace: Workspace, graph: str) -> tuple[Asked, ...]:
        """Return the questions, as asked of a variant."""
        return selected(workspace, [f"{self.benchmark}@{graph}"], self.selection)

    @property
    def plugin(self) -> Any:
        """The class of the method."""
        return plugins.load("method", self.method.partition(":")[0])

    @property
    def bounded(self) -> bool:
        """Whether the method has the boundaries of what it shows as settings."""
        return set(self.plugin.__dataclass_fields__) >= _BOUNDARIES

    @property
    def comments(self) -> Path:
        """The file of the comments that a model has drafted."""
        return self.folder / "comments.toml"

    @property
    def drafter(self) -> dict[str, str | None] | None:
        """The model of the method, by the settings that name it; None if it takes no model."""
        if "model" not in self.plugin.__dataclass_fields__:
            return None
        settings = dict(map(named_setting, self.settings)) | method_spec(self.method)[1]
        return {name: str(settings[name]) for name in _SERVER if name in settings}

    def run_of(self, one: Experiment) -> str:
        """Return the name of an experiment's run; of two alike for the method it is the same."""
        return f"{one.variant}-{one.individuals}-{one.schema}" if self.bounded else one.variant


@dataclass(frozen=True)
class Studied:
    """The figures of each experiment that could be made, and the records behind them.

    `bounded` says whether the method has boundaries: if it has none, experiments that differ in
    them only are one run. `left_out` says which experiments could not be made, and why.
    """

    figures: Mapping[Experiment, Figures]
    records: Mapping[Experiment, tuple[Record, ...]]
    bounded: bool
    left_out: tuple[str, ...] = ()

    def costs(self, metric: str) -> dict[Experiment, tuple[Interval, Usage]]:
        """Return the interval of the mean of each experiment, and what it cost."""
        return {
            one: (Report(records, metric).compute_interval(), sum_usage(records))
            for one, records in self.records.items()
        }


def studied(
    workspace: Workspace,
    study: Study,
    *,
    progress: Callable[[str], Told] | None = None,
    preparing: Progress = silent,
) -> Studied:
    """Do the runs of a study that are not done yet, and return its figures.

    `progress` is asked for what is told of each run, by its name. Raises `SetupError` as evaluating
    does.
    """
    _refuse_unknown(workspace, study)
    figures: dict[Experiment, Figures] = {}
    records: dict[Experiment, tuple[Record, ...]] = {}
    done: dict[str, tuple[Record, ...]] = {}
    lacks: dict[str, list[str]] = {}
    for one in study.experiments:
        if lack := lacking(workspace, study, one):
            lacks.setdefault(lack, []).append(str(one.number))
            continue
        graph = _variant(workspace, study, one, preparing)
        name = study.run_of(one)
        if name not in done:
            boundaries = [f"individuals={one.individuals}", f"schema={one.schema}"]
            own = boundaries if study.bounded else []
            selection = replace(study.selection, graph=graph)
            wishes = Wishes(
                methods=method_choices([study.method], [*study.settings, *own]),
                repeat=study.repeat,
                metric=study.metric,
                chosen=selection.json(),
            )
            done[name] = whole_run(
                workspace,
                study.asked(workspace, graph),
                wishes,
                selection,
                study.folder / name,
                progress=progress(name) if progress else None,
            ).records
        records[one] = done[name]
        figures[one] = compute_figures(done[name], study.metric, study.tags)
    left_out = (
        f"experiment{'s' * (len(numbers) > 1)} {', '.join(numbers)}: {lack}"
        for lack, numbers in lacks.items()
    )
    return Studied(figures, records, study.bounded, tuple(left_out))


def lacking(workspace: Workspace, study: Study, one: Experiment) -> str:
    """Return what an experiment cannot be run without, or nothing."""
    if not one.comments or one.variant in study.variants:
        return ""
    if study.definitions is not None:
        return "" if study.definitions.comments else "no definition has comments (--definitions)"
    if study.comments.is_file():
        return ""
    named: dict[str, str | None] | None = study.drafter
    if named is None:
        return f"{study.method} has no model that could draft comments (--definitions)"
    try:
        Models(workspace.folder).settings(named.pop("model", None), **named)
    except NoModel:
        return (
            "no definition has comments (--definitions), and no language model is named that could "
            "draft them (--model)"
        )
    return ""


def _refuse_unknown(workspace: Workspace, study: Study) -> None:
    """Say before the first run what a later one would stumble over."""
    graphs = workspace.graphs()
    for kinds, name in study.variants.items():
        if name not in graphs:
            raise SetupError(f"the variant {kinds}={name}: there is no graph {name!r}")
    asked = study.asked(workspace, study.graph)
    known = {tag for one in asked for question in one.questions for tag in question.tags}
    if unknown := [tag for tag in study.tags if tag not in known]:
        there = ", ".join(sorted(known)) or "none"
        raise SetupError(f"no question has the tag {unknown[0]!r}; there are: {there}")


def _variant(workspace: Workspace, study: Study, one: Experiment, progress: Progress) -> str:
    """The graph of an experiment: given, or made of the plain one."""
    if one.variant in study.variants:
        return study.variants[one.variant]
    if one.variant == "plain":
        return study.graph
    wanted = {"inverse": one.inverse, "shortcuts": one.shortcuts, "comments": one.comments}
    if study.definitions is not None:
        definitions = study.definitions.select(**wanted, names=False)
    else:
        comments = Definitions()
        if one.comments:  # drafted by the model of the method, once for all that is studied
            comments = kept_comments(
                workspace, study.graph, study.comments, **(study.drafter or {}), progress=progress
            )
        inverse = definitions_for(workspace, study.graph, _INVERSE, progress=progress)
        shortcuts = definitions_for(workspace, study.graph, progress=progress)
        properties = {p.iri: p for p in inverse.properties} if one.inverse else {}
        properties |= {p.iri: p for p in shortcuts.properties} if one.shortcuts else {}
        definitions = Definitions(
            tuple(properties.values()),
            comments.comments,
            prefixes={**inverse.prefixes, **shortcuts.prefixes, **comments.prefixes},
        )
    name = f"{study.graph}.{one.variant}"
    kept = workspace.folder / "enrichments" / f"{name}.toml"
    if found := workspace.graphs().get(name):
        own = (f"enrichments/{name}.toml", workspace.graphs()[study.graph].sources)
        if (found.enrich, found.sources) != own:
            raise SetupError(
                f"the graph {name!r} was not made by a study of {study.graph!r}: name it with "
                f"--variant {one.variant}={name}, or take it away (askgraph remove {name})"
            )
        same = kept.is_file() and kept.read_text(encoding="utf-8") == format_definitions(
            definitions
        )
        if same and (found.comments or not one.comments):
            return name
        workspace.remove(name)
    enrich_virtually(
        workspace, study.graph, definitions, as_name=name, searched=one.comments, progress=progress
    )
    return name


@dataclass(frozen=True)
class PaperStudy:
    """The tables of a paper over benchmarks and graphs; `folder` keeps a run for each setting.

    `model` answers where the paper's model is not among what is `given` by name: models, embedders,
    linkers, and "fixed", a file of examples picked by hand. `examples` are the questions to learn
    from; else those of the graph, or of other folds if the selection has any.
    """

    paper: Paper
    benchmarks: tuple[str, ...]
    folder: Path
    graphs: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    model: str | None = None
    given: Mapping[str, str] = field(default_factory=dict)
    examples: Path | None = None
    selection: Selection = field(default_factory=Selection)
    repeat: int = 1
    retries: int = 0
    crew: Crew = field(default_factory=Crew)

    @property
    def options(self) -> EvaluationOptions:
        """How questions are asked and scored."""
        chosen = self.selection
        return EvaluationOptions(
            retries=self.retries, stored_gold=chosen.gold is not None, language=chosen.language
        )

    def asked(self, workspace: Workspace) -> tuple[Asked, ...]:
        """Return the benchmarks, of each graph that is named; `SetupError` for what is not."""
        graphs = [f"@{name}" for name in self.graphs] or [""]
        sources = [f"{one}{graph}" for one in self.benchmarks for graph in graphs]
        return selected(workspace, sources, self.selection)


@dataclass(frozen=True)
class PlannedRow:
    """A row as it will be run, or what is `missing` for that; equal runs have one name."""

    table: PaperTable
    row: PaperRow
    choice: MethodChoice
    folds: int | None = None
    missing: str = ""

    @property
    def run(self) -> str:
        """The name of the run's folder."""
        told = f"{self.choice.label} {self.folds}"
        return f"{self.choice.name}-{hashlib.sha256(told.encode()).hexdigest()[:8]}"


def planned_rows(
    workspace: Workspace, study: PaperStudy, asked: Sequence[Asked]
) -> list[PlannedRow]:
    """Return the rows of the tables that are wanted, each with its settings or what it lacks.

    Raises `SetupError` for what is given under a name that no row has.
    """
    tables = study.paper.select_tables(study.tables)
    rows = [row for table in study.paper.tables for row in table.rows]
    known = {"fixed", *study.paper.needs, *(row.model for row in rows if row.model)}
    if unknown := sorted(study.given.keys() - known):
        raise SetupError(
            f"--with {unknown[0]!r}: no row of {study.paper.name} needs that; there are "
            + ", ".join(sorted(known))
        )
    graphs = {str(graph) for one in asked for graph in one.graphs}
    taught = all(name in workspace.graphs() and workspace.known_examples(name) for name in graphs)
    return [_planned(study, table, row, taught) for table in tables for row in table.rows]


def _planned(study: PaperStudy, table: PaperTable, row: PaperRow, taught: bool) -> PlannedRow:
    """A row with what it is set to: what is set for all, then its method's, then its own."""
    name, own = method_spec(row.method)
    settings = {**dict(map(named_setting, study.settings)), **own, **row.settings}
    wants: list[str] = []

    def given(key: str) -> str:
        if key not in study.given:
            wants.append(f"--with {key!r}=… names {study.paper.needs[key]}")
        return study.given.get(key, "")

    for key, value in settings.items():
        if isinstance(value, str) and value[:1] + value[-1:] == "{}":
            settings[key] = given(value[1:-1])
    if row.model in study.paper.needs:
        settings["model"] = given(row.model)
    elif model := study.given.get(row.model) or study.model:
        settings["model"] = model
    folds = _learning(study, row, settings, taught, wants)
    return PlannedRow(table, row, method_choice(name, settings), folds, "; ".join(wants))


def _learning(
    study: PaperStudy, row: PaperRow, settings: dict[str, object], taught: bool, wants: list[str]
) -> int | None:
    """Settle what a row learns from; return in how many folds, if it does so from other folds."""
    plugin: Any = plugins.load("method", method_spec(row.method)[0])
    takes = "examples" in plugin.__dataclass_fields__ and row.learns != "graph"
    fixed = study.given.get("fixed") if row.learns == "fixed" else None
    file = fixed or (study.examples and str(study.examples.absolute()))
    if not row.learns or "examples" in settings:
        return None
    if takes and file:
        settings["examples"] = str(Path(file).absolute())
    elif takes and study.selection.folds:
        return study.selection.folds
    elif not taught:
        own = "the graph has no examples: askgraph add NAME SOURCE --examples FILE --replace"
        wants.append(f"name questions with --examples, or --folds K; {own}" if takes else own)
    return None


def paper_studied(
    workspace: Workspace,
    study: PaperStudy,
    *,
    progress: Callable[[str], Told] | None = None,
    preparing: Progress = silent,
) -> dict[str, list[MeasuredRow]]:
    """Do the runs of a paper's tables that are not done yet; return the lines of each table.

    A row that cannot be run says why. `progress` is asked for what is told of each run. Raises
    `SetupError` if no row that asks questions can be run for what is wrong with the setup, and
    `ServiceError` if a service ends a run; the same call goes on.
    """
    asked = study.asked(workspace)
    found: dict[str, list[MeasuredRow]] = {}
    runs: dict[str, EvaluationRun | SetupError] = {}
    rows = planned_rows(workspace, study, asked)
    for number, one in enumerate(rows, 1):
        if one.table.asks_questions and not one.missing and one.run not in runs:
            study.folder.mkdir(parents=True, exist_ok=True)
            what = f"{number} of {len(rows)}, {one.table.name}: {one.row.name}"
            selection = replace(study.selection, folds=one.folds)
            answers = one.table.measure == "answers"
            metric = next(iter(one.table.heads)) if answers else "best_column"
            wishes = Wishes((one.choice,), study.repeat, study.options, metric, selection.json())
            try:
                runs[one.run] = result_of(
                    evaluated(
                        workspace, asked, wishes, selection, study.crew,
                        folder=study.folder / one.run, preparing=preparing,
                        progress=progress(what) if progress else None,
                    )
                )  # fmt: skip
            except SetupError as error:
                runs[one.run] = error
        line = _line(workspace, one, asked, runs.get(one.run), preparing)
        found.setdefault(one.table.name, []).append(line)
    errors = [one for one in runs.values() if isinstance(one, SetupError)]
    if errors and len(errors) == len(runs):
        raise errors[0]
    return found


def _line(
    workspace: Workspace,
    one: PlannedRow,
    asked: Sequence[Asked],
    run: EvaluationRun | SetupError | None,
    preparing: Progress,
) -> MeasuredRow:
    """What was found for a row."""
    model = str(json.loads(one.choice.settings).get("model", ""))
    measure = one.table.measure
    if one.missing:
        return MeasuredRow(one.row, reason=one.missing)
    if isinstance(run, SetupError):
        return MeasuredRow(one.row, reason=str(run), model=model)
    if run is not None and measure != "indices":
        linked = measure in ("entities", "predicates")
        shares = result_of(linked_shares(workspace, run, asked, measure)) if linked else {}
        found = measure_records(run.records, measure, one.table.heads, shares)
        return MeasuredRow(one.row, found, model=model, run=one.run)
    if measure != "indices":
        return MeasuredRow(
            one.row, tuple(_read_gold(workspace, one, each, preparing) for each in asked)
        )
    sizes, kinds = [], dict[str, None]()
    for name in dict.fromkeys(str(graph) for each in asked for graph in each.graphs):
        known = name in workspace.graphs()
        for info in index_info(workspace, name, progress=preparing) if known else []:
            if info.key == one.row.name and info.items is not None:
                figures = {
                    "items": build_exact_interval(info.items),
                    "bytes": build_exact_interval(info.bytes),
                }
                sizes.append(Measurement(name, "", 0, figures))
                kinds[str(info.kind)] = None
    missing = "" if sizes else "no index is built yet: askgraph index build NAME"
    return MeasuredRow(one.row, tuple(sizes), missing, ", ".join(kinds))


def _read_gold(
    workspace: Workspace, one: PlannedRow, asked: Asked, preparing: Progress
) -> Measurement:
    """What needs no run: read from the gold queries, or searched in indices."""
    found: Mapping[str, Interval | None]
    match one.table.measure:
        case "modifiers":
            found = count_modifier(asked.questions, one.row.name)
        case "hops":
            found = measure_hops(asked.questions, asked.contents.prefixes)
        case _:
            numbers = {what: str(one.row.settings[f"bm25_{what}"]) for what in INDICES.values()}
            recalls = result_of(recalls_of(workspace, asked, numbers, progress=preparing))
            found = {name: build_exact_interval(share) for name, share in recalls.items()}
    return Measurement(str(asked.graphs[0]), asked.name, len(asked.questions), found)
