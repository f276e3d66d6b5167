"""`askgraph index`: build, inspect and search the text indices of a graph."""

from collections.abc import Sequence
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path

import typer

from askgraph.answers.console import build_table
from askgraph.cli import CommandGroup
from askgraph.cli.output import CommonOptions, print_blocks, print_json, show_progress
from askgraph.errors import SetupError
from askgraph.sparql.prefixes import PrefixMap
from askgraph.workspace.evaluation import ExecutorOptions
from askgraph.workspace.graphs import GraphIndices
from askgraph.workspace.index_operations import (
    IndexInfo,
    build_indices,
    inspect_indices,
    load_index_context,
)

UNUSABLE_INDEX_EXIT_CODE = 1

index = CommandGroup()


class IndexKey(StrEnum):
    """The kind of items in an index."""

    ENTITIES = "entities"
    PROPERTIES = "properties"
    LITERALS = "literals"


@index.command("build")
def build(
    common: CommonOptions,
    graph: str | None = None,
    kind: str | None = None,
    properties_kind: str | None = None,
    comments: bool | None = None,
    entities: str | None = None,
    properties: str | None = None,
    dump: list[Path] | None = None,
    embeddings: str | None = None,
    on: str | None = None,
    executor: str = "local",
    workers: int | None = None,
    address: str | None = None,
    json: bool = False,
) -> None:
    """Build the indices of a graph anew, and store the settings in askgraph.toml."""
    if executor == "local" and (workers or address):
        raise SetupError("--workers and --address require --executor processes or --executor dask")
    values: dict[str, object] = {
        "index": kind,
        "properties_index": properties_kind,
        "comments": comments,
        "entities": _resolve_source(entities),
        "properties": _resolve_source(properties),
        "dump": tuple(str(file.expanduser().absolute()) for file in dump) if dump else None,
        "embeddings": embeddings,
        "on": on,
    }
    changes = {key: value for key, value in values.items() if value is not None}
    with show_progress() as progress:
        index_infos = build_indices(
            common.workspace,
            graph,
            settings=changes,
            executor_options=ExecutorOptions(executor, workers, address),
            progress=progress,
        )
    _print_infos(index_infos, json=json)


@index.command("info")
def show_info(common: CommonOptions, graph: str | None = None, json: bool = False) -> None:
    """Show the kind, size and source of the indices of a graph, and whether they are intact."""
    with show_progress() as progress:
        index_infos = inspect_indices(common.workspace, graph, progress=progress)
    _print_infos(index_infos, json=json)
    if any(item.problem for item in index_infos):
        raise typer.Exit(UNUSABLE_INDEX_EXIT_CODE)


@index.command("search")
def search(
    common: CommonOptions,
    text: list[str],
    graph: str | None = None,
    key: IndexKey = IndexKey.ENTITIES,
    limit: int = 10,
    within: list[str] | None = None,
    json: bool = False,
) -> None:
    """Search the names of a graph's entities, properties or literals; the best hits come first."""
    with show_progress() as progress:
        index_context = load_index_context(common.workspace, graph, progress=progress)
        progress(f"opening {key.value}", 0, None)
        search_index = GraphIndices(index_context)[key.value]
    prefixes = PrefixMap(dict(index_context.profile.prefixes))
    allowed = _read_allowed_ids(within, prefixes) if within else None
    hits = search_index.search(" ".join(text), limit=limit, within=allowed)
    if json:
        print_json(
            [asdict(hit.item) | {"match": hit.score, "matched_name": hit.name} for hit in hits]
        )
    else:
        if not hits:
            typer.echo("nothing found", err=True)
            return
        rows = [
            (
                hit.item.label,
                f"{hit.score:.2f}",
                f"{hit.item.score:,.0f}",
                "" if hit.name == hit.item.label else hit.name,
                "; ".join(hit.item.infos)[:80],
                hit.item.iri if hit.item.iri.startswith('"') else prefixes.shorten(hit.item.iri),
            )
            for hit in hits
        ]
        headers = ("label", "match", "used", "found by", "infos", "IRI")
        print_blocks([build_table(headers, rows, right=("match", "used"))])


def _resolve_source(source: str | None) -> str | None:
    if source is not None and ("." in source or "/" in source):
        return str(Path(source).expanduser().absolute())
    return source


def _print_infos(infos: Sequence[IndexInfo], *, json: bool) -> None:
    if json:
        print_json([asdict(item) for item in infos])
        return
    rows = [
        (
            index_row.key,
            index_row.kind or "-",
            "-" if index_row.items is None else f"{index_row.items:,}",
            "-" if index_row.items is None else f"{index_row.bytes / 1e6:.1f}",
            index_row.source or "-",
            index_row.created or "-",
            index_row.problem or "ok",
        )
        for index_row in infos
    ]
    headers = ("index", "kind", "items", "MB", "built from", "at", "state")
    print_blocks([build_table(headers, rows, right=("items", "MB"))])


def _read_allowed_ids(within: Sequence[str], prefixes: PrefixMap) -> set[str]:
    """Return the ids to search among: IRIs in any form, literals as N-Triples text."""
    ids: set[str] = set()
    for text in within:
        path = Path(text).expanduser()
        if not text.startswith(("<", '"')) and path.is_file():
            lines = path.read_text(encoding="utf-8-sig").splitlines()
            ids |= {_parse_id(line.strip(), prefixes) for line in lines if line.strip()}
        else:
            ids.add(_parse_id(text, prefixes))
    return ids


def _parse_id(text: str, prefixes: PrefixMap) -> str:
    if text.startswith('"'):
        return text
    if text.startswith("<"):
        return text.removeprefix("<").removesuffix(">")
    prefix = text.partition(":")[0]
    if prefix == text:
        raise SetupError(
            f"--within: {text!r} is neither a file nor an IRI: name an existing file, or give "
            "the IRI in full"
        )
    return prefixes.expand(text) if prefix in prefixes.namespaces else text
