"""Enrich a graph of the workspace with derived triples: virtually, or in new files."""

import contextlib
import dataclasses
from collections.abc import Collection, Iterator
from pathlib import Path

from pyoxigraph import Literal, NamedNode, Triple

from askgraph.atomic_files import lock_file, write_text_atomically
from askgraph.errors import SetupError
from askgraph.evaluation.files import replace_file
from askgraph.graph.advice import Advice, AdviceKind, build_definitions, collect_advice
from askgraph.graph.arrays import GraphArrays
from askgraph.graph.definitions import Definitions, format_definitions, read_definitions
from askgraph.graph.enrichment import build_links, build_names, build_statements
from askgraph.graph.profile import Profile
from askgraph.llm.budget import BudgetAccount, ModelBudget, charge_model
from askgraph.methods.shared.drafts import draft_comments
from askgraph.sparql.prefixes import PrefixMap
from askgraph.workspace import Progress, Workspace, check_name, ignore_progress
from askgraph.workspace.build import enrich_endpoint
from askgraph.workspace.graph_data import load_virtual_paths
from askgraph.workspace.graphs import run_and_close
from askgraph.workspace.models import Models
from askgraph.workspace.settings import write_graph_settings


def find_advice(
    workspace: Workspace, name: str | None, *, progress: Progress = ignore_progress
) -> tuple[Advice, ...]:
    """Return the advice for a graph, rebuilt first if needed, ignoring virtual additions."""
    profile, arrays = workspace.load_content(name, progress=progress)
    added = load_virtual_paths(workspace.get_data_folder(name or next(iter(workspace.graphs()))))
    own_predicates = tuple(
        dataclasses.replace(
            predicate, inverse_of=tuple(iri for iri in predicate.inverse_of if iri not in added)
        )
        for predicate in profile.predicates
        if predicate.iri not in added
    )
    iris = {predicate.iri for predicate in own_predicates}
    advice = collect_advice(dataclasses.replace(profile, predicates=own_predicates), arrays)
    return tuple(item for item in advice if getattr(item.definition, "iri", None) not in iris)


def build_advised_definitions(
    workspace: Workspace,
    name: str | None,
    kinds: Collection[AdviceKind] = (),
    *,
    progress: Progress = ignore_progress,
) -> Definitions:
    """Return the definitions of the advice for a graph, of some kinds or the default ones."""
    advice = find_advice(workspace, name, progress=progress)
    chosen = [item for item in advice if (item.kind in kinds if kinds else item.default)]
    profile, _ = workspace.load_content(name, progress=progress)
    return build_definitions(chosen, PrefixMap(dict(profile.prefixes)).namespaces)


def draft_missing_comments(
    workspace: Workspace,
    name: str,
    definitions: Definitions,
    *,
    model: str | None = None,
    budget: ModelBudget | None = None,
    progress: Progress = ignore_progress,
    **server: str | None,
) -> Definitions:
    """Add comments that a language model drafts for the terms without any.

    Args:
        model: a model name; None means the workspace's model.

    Raises:
        SetupError: the model is not available.
        BudgetSpent: the budget is spent.
        ServiceError: the model failed.
    """
    advice = find_advice(workspace, name, progress=progress)
    terms = next((advice_item.about for advice_item in advice if advice_item.kind == "comment"), ())
    models = Models(workspace.folder)
    account = BudgetAccount(budget or ModelBudget(), scope="run")
    prices = models.load_prices(models.resolve_settings(model, **server))
    charged_model = charge_model(models.get_model(model, **server), account, prices=prices)
    progress(f"{len(terms)} terms without a comment", 0, None)
    profile = workspace.load_profile(name)
    drafts = run_and_close(models, draft_comments(terms, profile, charged_model, account))
    comments = (*definitions.comments, *drafts)
    prefixes = {**dict(profile.prefixes), **definitions.prefixes}
    return dataclasses.replace(definitions, comments=comments, prefixes=prefixes)


def load_or_draft_comments(
    workspace: Workspace,
    name: str,
    path: Path,
    *,
    progress: Progress = ignore_progress,
    **model: str | None,
) -> Definitions:
    """Return the comments of a file; if it does not exist, a model drafts them into it first."""
    if not path.is_file():
        drafts = draft_missing_comments(
            workspace, name, Definitions(), budget=None, progress=progress, **model
        )
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text_atomically(path, format_definitions(drafts))
    return read_definitions(path)


def enrich_virtually(
    workspace: Workspace,
    name: str,
    definitions: Definitions,
    *,
    as_name: str | None = None,
    searched: bool = False,
    progress: Progress = ignore_progress,
) -> Profile:
    """Add definitions virtually to a graph, or to a copy of it, and return its profile.

    With `searched`, the indices of a graph from files include the comments.

    The definitions are kept in `enrichments/NAME.toml` in the workspace, where a person may
    edit them. A change takes effect with the next question; a graph behind an endpoint must
    be enriched again. Empty definitions restore the original graph.

    Raises:
        SetupError: a path links too much; then nothing changes.
    """
    settings = workspace.graphs().get(name)
    if settings is None:
        workspace.graph(name)  # raises if the graph does not exist
        raise SetupError(f"there is no graph {name!r}")
    if settings.url and as_name:
        raise SetupError(f"graph {name!r} is an endpoint: add it again as {as_name!r}")
    target = as_name or name
    file = f"enrichments/{target}.toml" if definitions else ""
    if settings.url:
        workspace.load_content(name, progress=progress)
        with _write_definitions(workspace.folder / file, definitions):
            profile = enrich_endpoint(workspace.get_data_folder(name), definitions)
        with lock_file(workspace.folder / ".lock"):
            write_graph_settings(workspace.folder, name, dataclasses.replace(settings, enrich=file))
        return profile
    if as_name:
        _check_new_name(workspace, as_name)
    table = {key: value for key, value in settings.to_table().items() if key != "sources"}
    table |= {"enrich": file, **({"comments": True} if searched else {})}
    with _write_definitions(workspace.folder / file, definitions):
        return workspace.add(
            target, settings.sources, settings=table, replace=as_name is None, progress=progress
        )


@contextlib.contextmanager
def _write_definitions(path: Path, definitions: Definitions) -> Iterator[None]:
    """Write definitions; restore the previous file if the graph cannot be built with them."""
    if not definitions:
        yield
        return
    before = path.read_text(encoding="utf-8") if path.is_file() else None
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text_atomically(path, format_definitions(definitions))
    try:
        yield
    except BaseException:
        if before is None:
            path.unlink(missing_ok=True)
        else:
            write_text_atomically(path, before)
        raise


def write_enriched(
    workspace: Workspace,
    name: str | None,
    definitions: Definitions,
    out: Path,
    *,
    progress: Progress = ignore_progress,
) -> int:
    """Write a graph with its derived triples as N-Triples; return the number of new triples.

    Named graphs are merged.

    Raises:
        SetupError: the graph is behind an endpoint or enriched virtually, or the file cannot be
            written.
    """
    _, arrays = workspace.load_content(name, progress=progress)
    if arrays is None:
        raise SetupError(
            "a graph at an endpoint cannot be written to a file: askgraph does not have its triples"
        )
    if out.suffix not in (".ttl", ".nt"):
        raise SetupError(
            "the triples are written as N-Triples: name a file that ends in .nt or .ttl, not "
            f"{str(out)!r}"
        )
    if load_virtual_paths(workspace.get_data_folder(name or next(iter(workspace.graphs())))):
        raise SetupError(
            "this graph has virtual additions that would be written as its own triples: "
            "remove them first with: askgraph enrich NAME --plain"
        )
    added = {
        *build_statements(definitions),
        *build_names(definitions, arrays),
        *build_links(definitions, arrays),
    }
    with replace_file(out.absolute()) as file:
        for number, triple in enumerate(_iterate_triples(arrays)):
            if number % 10_000 == 0:
                progress("writing", number, len(arrays))
            added.discard(triple)
            file.write(f"{triple} .\n".encode())
        for triple in sorted(added, key=str):
            file.write(f"{triple} .\n".encode())
    return len(added)


def add_enriched(
    workspace: Workspace,
    name: str,
    definitions: Definitions,
    as_name: str,
    *,
    progress: Progress = ignore_progress,
) -> Profile:
    """Write a graph with its derived triples into the workspace, as a separate graph."""
    _check_new_name(workspace, as_name)
    out = workspace.folder / "enrichments" / f"{as_name}.nt"
    write_enriched(workspace, name, definitions, out, progress=progress)
    try:
        return workspace.add(as_name, [out], progress=progress)
    except BaseException:
        out.unlink(missing_ok=True)
        raise


def _check_new_name(workspace: Workspace, as_name: str) -> None:
    check_name(as_name)
    if as_name in workspace.graphs():
        raise SetupError(f"graph {as_name!r} exists already; choose another name with --as")


def _iterate_triples(arrays: GraphArrays) -> Iterator[Triple]:
    for number in range(len(arrays.predicates)):
        predicate = NamedNode(arrays.get_predicate_iri(number))
        pairs = arrays.get_edges_in_range(0, len(arrays.terms), number)
        for subject, value in zip(*(column.tolist() for column in pairs), strict=True):
            node = arrays.terms.get_term(subject)
            if not isinstance(node, Literal):
                yield Triple(node, predicate, arrays.terms.get_term(value))
