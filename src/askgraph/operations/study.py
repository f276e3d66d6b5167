"""A study of representations: a run for each variant of a graph, made if it is missing."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from askgraph import registry
from askgraph.errors import SetupError
from askgraph.evaluation.runs import Record
from askgraph.evaluation.runs.run import Progress as Told
from askgraph.evaluation.studies.representations import Experiment, Figures, figures_of
from askgraph.metadata.advise import AdviceKind
from askgraph.metadata.definitions import Definitions, definitions_text
from askgraph.operations.enrichment import definitions_for, enrich_virtually
from askgraph.operations.evaluation import Crew, evaluated
from askgraph.operations.plans import Wishes, method_choices
from askgraph.operations.selection import Selection, selected
from askgraph.workspace import Progress, Workspace, silent
from askgraph.workspace.synchronous import result_of

_BOUNDARIES = frozenset(["individuals", "schema"])
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
    bounded = _bounded(study.method)
    _refuse_unknown(workspace, study)
    figures: dict[Experiment, Figures] = {}
    records: dict[Experiment, tuple[Record, ...]] = {}
    done: dict[str, tuple[Record, ...]] = {}
    left_out = []
    for one in study.experiments:
        graph = _variant(workspace, study, one, preparing)
        if graph is None:
            left_out.append(f"experiment {one.number}: no definition has comments (--definitions)")
            continue
        name = f"{one.variant}-{one.individuals}-{one.schema}" if bounded else one.variant
        if name not in done:
            told = progress(name) if progress else None
            done[name] = _run(workspace, study, one, graph, study.folder / name, bounded, told)
        records[one] = done[name]
        figures[one] = figures_of(done[name], study.metric, study.tags)
    return Studied(figures, records, bounded, tuple(left_out))


def _refuse_unknown(workspace: Workspace, study: Study) -> None:
    """Say before the first run what a later one would stumble over."""
    graphs = workspace.graphs()
    for kinds, name in study.variants.items():
        if name not in graphs:
            raise SetupError(f"the variant {kinds}={name}: there is no graph {name!r}")
    selection = Selection(graph=study.graph, format=study.format)
    asked = selected(workspace, [f"{study.benchmark}@{study.graph}"], selection)
    known = {tag for one in asked for question in one.questions for tag in question.tags}
    if unknown := [tag for tag in study.tags if tag not in known]:
        there = ", ".join(sorted(known)) or "none"
        raise SetupError(f"no question has the tag {unknown[0]!r}; there are: {there}")


def _bounded(method: str) -> bool:
    """Whether a method has the boundaries of what it shows as settings."""
    plugin = registry.load("method", method.partition(":")[0])
    return set(getattr(plugin, "__dataclass_fields__", ())) >= _BOUNDARIES


def _variant(workspace: Workspace, study: Study, one: Experiment, progress: Progress) -> str | None:
    """The graph of an experiment: given, or made of the plain one; None if that cannot be."""
    if one.variant in study.variants:
        return study.variants[one.variant]
    if one.variant == "plain":
        return study.graph
    definitions = _definitions(workspace, study, one, progress)
    if definitions is None:
        return None
    name = f"{study.graph}.{one.variant}"
    kept = workspace.folder / "enrichments" / f"{name}.toml"
    if found := workspace.graphs().get(name):
        own = (f"enrichments/{name}.toml", workspace.graphs()[study.graph].sources)
        if (found.enrich, found.sources) != own:
            raise SetupError(
                f"the graph {name!r} was not made by a study of {study.graph!r}: name it with "
                f"--variant {one.variant}={name}, or take it away (askgraph remove {name})"
            )
        if kept.is_file() and kept.read_text(encoding="utf-8") == definitions_text(definitions):
            return name
        workspace.remove(name)
    enrich_virtually(workspace, study.graph, definitions, as_name=name, progress=progress)
    return name


def _definitions(
    workspace: Workspace, study: Study, one: Experiment, progress: Progress
) -> Definitions | None:
    wanted = {"inverse": one.inverse, "shortcuts": one.shortcuts, "comments": one.comments}
    if study.definitions is not None:
        found = study.definitions.only(**wanted, names=False)
        return found if not one.comments or found.comments else None
    if one.comments:
        return None
    inverse = definitions_for(workspace, study.graph, _INVERSE, progress=progress)
    shortcuts = definitions_for(workspace, study.graph, progress=progress)
    properties = {p.iri: p for p in inverse.properties} if one.inverse else {}
    properties |= {p.iri: p for p in shortcuts.properties} if one.shortcuts else {}
    return Definitions(
        tuple(properties.values()), prefixes={**inverse.prefixes, **shortcuts.prefixes}
    )


def _run(
    workspace: Workspace,
    study: Study,
    one: Experiment,
    graph: str,
    folder: Path,
    bounded: bool,
    told: Told | None,
) -> tuple[Record, ...]:
    own = [f"individuals={one.individuals}", f"schema={one.schema}"] if bounded else []
    selection = Selection(graph=graph, format=study.format)
    asked = selected(workspace, [f"{study.benchmark}@{graph}"], selection)
    wishes = Wishes(
        methods=method_choices([study.method], [*study.settings, *own]),
        repeat=study.repeat,
        metric=study.metric,
        chosen=selection.json(),
    )
    folder.parent.mkdir(parents=True, exist_ok=True)
    run = result_of(
        evaluated(workspace, asked, wishes, selection, Crew(), folder=folder, progress=told)
    )
    if not run.complete:
        raise SetupError(f"the run in {folder} is not complete; the same call goes on")
    return run.records
