"""`askgraph index`: what finds things of a graph by text, built, looked over and searched."""

from collections.abc import Sequence
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path

import typer

from askgraph.answers.console import listing
from askgraph.cli import Commands
from askgraph.cli.options import Common
from askgraph.cli.output import print_json, progress_bar, show
from askgraph.errors import SetupError
from askgraph.sparql.prefixes import PrefixMap
from askgraph.workspace.evaluation import Crew
from askgraph.workspace.graphs import GraphIndices
from askgraph.workspace.index_operations import IndexInfo, build_indices, ground_of, index_info

UNUSABLE = 1

index = Commands()


class Key(StrEnum):
    """Which index."""

    ENTITIES = "entities"
    PROPERTIES = "properties"
    LITERALS = "literals"


@index.command("build")
def build(
    common: Common,
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
    """Build the indices of a graph anew, and keep in askgraph.toml how.

    Without this, they are built when they are first needed. A SOURCE is 'graph' (what is known of
    the graph: the default), a set of queries that comes with askgraph, or a file: a query (.rq),
    rows (.tsv), or an RDF dump. An index that is there stays until the new one is complete. With
    --on a server holds them; a build there that was cut off goes on with the same call. The
    password of the user that the URL names is in ASKGRAPH_INDEX_PASSWORD.
    """
    if executor == "local" and (workers or address):
        raise SetupError("--workers and --address are for --executor processes or dask")
    given: dict[str, object] = {
        "index": kind,
        "properties_index": properties_kind,
        "comments": comments,
        "entities": _placed(entities),
        "properties": _placed(properties),
        "dump": tuple(_absolute(file) for file in dump) if dump else None,
        "embeddings": embeddings,
        "on": on,
    }
    changes = {key: value for key, value in given.items() if value is not None}
    with progress_bar() as progress:
        built = build_indices(
            common.workspace,
            graph,
            settings=changes,
            crew=Crew(executor, workers, address),
            progress=progress,
        )
    _show(built, json=json)


@index.command("info")
def info(common: Common, graph: str | None = None, json: bool = False) -> None:
    """Tell the kind, size and source of the indices of a graph, and whether they are sound.

    Every byte is compared with its checksum. Exit code 1 if one is missing, damaged or older
    than its graph; it is built again when it is next needed.
    """
    with progress_bar() as progress:
        found = index_info(common.workspace, graph, progress=progress)
    _show(found, json=json)
    if any(item.problem for item in found):
        raise typer.Exit(UNUSABLE)


@index.command("search")
def search(
    common: Common,
    text: list[str],
    graph: str | None = None,
    key: Key = Key.ENTITIES,
    limit: int = 10,
    within: list[str] | None = None,
    json: bool = False,
) -> None:
    """Search the names of a graph's entities, properties or literals; the best hits come first."""
    with progress_bar() as progress:
        ground = ground_of(common.workspace, graph, progress=progress)
        progress(f"opening {key.value}", 0, None)
        found = GraphIndices(ground)[key.value]
    prefixes = PrefixMap(dict(ground.profile.prefixes))
    allowed = _allowed(within, prefixes) if within else None
    hits = found.search(" ".join(text), limit=limit, within=allowed)
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
        heads = ("label", "match", "used", "found by", "infos", "IRI")
        show([listing(heads, rows, right=("match", "used"))])


def _absolute(path: Path) -> str:
    return str(path.expanduser().absolute())


def _placed(source: str | None) -> str | None:
    """A source as the settings keep it: a file by its whole path, wherever it was named from."""
    if source is not None and ("." in source or "/" in source):
        return _absolute(Path(source))
    return source


def _show(found: Sequence[IndexInfo], *, json: bool) -> None:
    if json:
        print_json([asdict(item) for item in found])
        return
    rows = [
        (
            one.key,
            one.kind or "-",
            "-" if one.items is None else f"{one.items:,}",
            "-" if one.items is None else f"{one.bytes / 1e6:.1f}",
            one.source or "-",
            one.created or "-",
            one.problem or "sound",
        )
        for one in found
    ]
    heads = ("index", "kind", "items", "MB", "built from", "at", "state")
    show([listing(heads, rows, right=("items", "MB"))])


def _allowed(within: Sequence[str], prefixes: PrefixMap) -> set[str]:
    """The ids to search among: IRIs in any form, literals as N-Triples text."""
    found: set[str] = set()
    for given in within:
        path = Path(given).expanduser()
        if not given.startswith(("<", '"')) and path.is_file():
            lines = path.read_text(encoding="utf-8-sig").splitlines()
            found |= {_id(line.strip(), prefixes) for line in lines if line.strip()}
        else:
            found.add(_id(given, prefixes))
    return found


def _id(text: str, prefixes: PrefixMap) -> str:
    if text.startswith('"'):
        return text
    if text.startswith("<"):
        return text.removeprefix("<").removesuffix(">")
    prefix = text.partition(":")[0]
    if prefix == text:
        raise SetupError(f"--within: there is no file {text!r}, and an IRI has a ':' in it")
    return prefixes.expand(text) if prefix in prefixes.namespaces else text
