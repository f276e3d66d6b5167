"""A graph of the workspace with what it says only indirectly: virtually, or in new files."""

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
from askgraph.graph.definitions import (
    Definitions,
    TermComment,
    format_definitions,
    read_definitions,
)
from askgraph.graph.enrichment import build_links, build_names, build_statements
from askgraph.graph.profile import Profile
from askgraph.llm.budget import Account, Budget, charged
from askgraph.methods.shared.drafts import drafted_comments
from askgraph.sparql.prefixes import PrefixMap
from askgraph.workspace import Progress, Workspace, check_name, silent
from askgraph.workspace.build import enrich_endpoint
from askgraph.workspace.graph_data import known_paths
from askgraph.workspace.models import Models
from askgraph.workspace.run_sync import result_of
from askgraph.workspace.settings import with_graph


def advised(
    workspace: Workspace, name: str | None, *, progress: Progress = silent
) -> tuple[Advice, ...]:
    """Return what would help a graph, which is made ready if needed.

    What was added to it virtually is not looked at.
    """
    profile, arrays = workspace.known(name, progress=progress)
    added = known_paths(workspace.data(name or next(iter(workspace.graphs()))))
    own = tuple(
        dataclasses.replace(p, inverse_of=tuple(iri for iri in p.inverse_of if iri not in added))
        for p in profile.predicates
        if p.iri not in added
    )
    used = {p.iri for p in own}
    found = collect_advice(dataclasses.replace(profile, predicates=own), arrays)
    return tuple(one for one in found if getattr(one.definition, "iri", None) not in used)


def definitions_for(
    workspace: Workspace,
    name: str | None,
    kinds: Collection[AdviceKind] = (),
    *,
    progress: Progress = silent,
) -> Definitions:
    """Return the definitions of the advice for a graph: of some kinds, else what is the default."""
    found = advised(workspace, name, progress=progress)
    chosen = [one for one in found if (one.kind in kinds if kinds else one.default)]
    profile, _ = workspace.known(name, progress=progress)
    return build_definitions(chosen, PrefixMap(dict(profile.prefixes)).namespaces)


def with_drafted_comments(
    workspace: Workspace,
    name: str,
    definitions: Definitions,
    *,
    model: str | None = None,
    budget: Budget | None = None,
    progress: Progress = silent,
    **server: str | None,
) -> Definitions:
    """Return definitions with comments that a language model drafts for the terms without any.

    Without a name it is the workspace's model; `server` (`base_url`, `provider`) says where it is.
    Raises `SetupError` for a model that cannot be had, `BudgetSpent` and `ServiceError` as it does.
    """
    advice = advised(workspace, name, progress=progress)
    mute = next((one.about for one in advice if one.kind == "comment"), ())
    models = Models(workspace.folder)
    account = Account(budget or Budget(), scope="run")
    prices = models.prices(models.settings(model, **server))
    talks = charged(models.model(model, **server), account, prices=prices)
    progress(f"{len(mute)} terms without a comment", 0, None)

    async def drafted() -> tuple[TermComment, ...]:
        try:
            return await drafted_comments(mute, workspace.profile(name), talks, account)
        finally:
            await models.close()

    comments = (*definitions.comments, *result_of(drafted()))
    prefixes = {**dict(workspace.profile(name).prefixes), **definitions.prefixes}
    return dataclasses.replace(definitions, comments=comments, prefixes=prefixes)


def kept_comments(
    workspace: Workspace,
    name: str,
    path: Path,
    *,
    progress: Progress = silent,
    **model: str | None,
) -> Definitions:
    """Return the comments of a file; if it is not there, a `model` drafts them into it first."""
    if not path.is_file():
        made = with_drafted_comments(
            workspace, name, Definitions(), budget=None, progress=progress, **model
        )
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text_atomically(path, format_definitions(made))
    return read_definitions(path)


def enrich_virtually(
    workspace: Workspace,
    name: str,
    definitions: Definitions,
    *,
    as_name: str | None = None,
    searched: bool = False,
    progress: Progress = silent,
) -> Profile:
    """Add definitions virtually to a graph, or to another one of the same sources; return it.

    If they are to be `searched`, the indices of a graph of files have comments, too.

    They are kept as `enrichments/NAME.toml` in the workspace, for a person to edit: a change takes
    effect with the next question, but for a graph behind an endpoint (see `enriching_endpoints`),
    if it is enriched again. Without any definition the graph is as it was before. Raises
    `SetupError` if a path links too much; then all stays as it was.
    """
    settings = workspace.graphs().get(name)
    if settings is None:
        workspace.graph(name)  # says what there is
        raise SetupError(f"no graph {name!r}")
    if settings.url and as_name:
        raise SetupError(f"graph {name!r} lies behind an endpoint: add it again as {as_name!r}")
    target = as_name or name
    kept_in = f"enrichments/{target}.toml" if definitions else ""
    if settings.url:
        workspace.known(name, progress=progress)
        with _kept_definitions(workspace.folder / kept_in, definitions):
            profile = enrich_endpoint(workspace.data(name), definitions)
        with lock_file(workspace.folder / ".lock"):
            with_graph(workspace.folder, name, dataclasses.replace(settings, enrich=kept_in))
        return profile
    if as_name:
        _refuse_name(workspace, as_name)
    table = {key: value for key, value in settings.table().items() if key != "sources"}
    table |= {"enrich": kept_in, **({"comments": True} if searched else {})}
    with _kept_definitions(workspace.folder / kept_in, definitions):
        return workspace.add(
            target, settings.sources, settings=table, replace=as_name is None, progress=progress
        )


@contextlib.contextmanager
def _kept_definitions(path: Path, definitions: Definitions) -> Iterator[None]:
    """Write definitions; what was there comes back if the graph cannot be built with them."""
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
    progress: Progress = silent,
) -> int:
    """Write a graph with what the definitions add as N-Triples; return how many triples are new.

    In which named graph a triple stood is not kept. Raises `SetupError` for a graph behind an
    endpoint or enriched virtually, and if the file cannot be written.
    """
    _, arrays = workspace.known(name, progress=progress)
    if arrays is None:
        raise SetupError("a graph behind an endpoint cannot be written out: its triples lie there")
    if out.suffix not in (".ttl", ".nt"):
        raise SetupError(f"the triples are written as N-Triples: call {str(out)!r} .nt or .ttl")
    if known_paths(workspace.data(name or next(iter(workspace.graphs())))):
        raise SetupError(
            "what was added to this graph virtually would be written as its own: take it away "
            "first (askgraph enrich NAME --plain)"
        )
    added = {*_added(definitions, arrays)}
    with replace_file(out.absolute()) as file:
        for number, triple in enumerate(_triples(arrays)):
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
    progress: Progress = silent,
) -> Profile:
    """Write a graph with what the definitions add into the workspace, as a graph of its own."""
    _refuse_name(workspace, as_name)
    out = workspace.folder / "enrichments" / f"{as_name}.nt"
    write_enriched(workspace, name, definitions, out, progress=progress)
    try:
        return workspace.add(as_name, [out], progress=progress)
    except BaseException:
        out.unlink(missing_ok=True)
        raise


def _refuse_name(workspace: Workspace, as_name: str) -> None:
    check_name(as_name)
    if as_name in workspace.graphs():
        raise SetupError(f"there is a graph {as_name!r} already; take another name with --as")


def _added(definitions: Definitions, arrays: GraphArrays) -> Iterator[Triple]:
    yield from build_statements(definitions)
    yield from build_names(definitions, arrays)
    yield from build_links(definitions, arrays)


def _triples(arrays: GraphArrays) -> Iterator[Triple]:
    for number in range(len(arrays.predicates)):
        predicate = NamedNode(arrays.get_predicate_iri(number))
        pairs = arrays.get_edges_in_range(0, len(arrays.terms), number)
        for subject, value in zip(*(one.tolist() for one in pairs), strict=True):
            node = arrays.terms.get_term(subject)
            if not isinstance(node, Literal):
                yield Triple(node, predicate, arrays.terms.get_term(value))
