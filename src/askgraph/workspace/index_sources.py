"""Sources that the indices of a graph are built from: itself, a query, a file of rows, or dumps."""

import dataclasses
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Literal

from askgraph.errors import QueryError, SetupError
from askgraph.index import Resource
from askgraph.index.names import Kind, NameIndex
from askgraph.metadata import Profile
from askgraph.workspace.data import Ground
from askgraph.workspace.endpoints import open_endpoint
from askgraph.workspace.synchronous import result_of

_ROWS = (".tsv", ".tsv.gz")
_SECONDS = 3600.0  # of a query that finds what to index


@dataclass(frozen=True)
class Source:
    """Where the resources of an index come from, by kind, and by name or files."""

    kind: Literal["graph", "queries", "query", "rows", "dump"]
    name: str = ""
    files: tuple[Path, ...] = ()

    @property
    def words(self) -> str:
        """The source in words; equal ones are the same source."""
        if self.kind == "queries":
            return f"queries {self.name}"
        return " ".join((self.kind, *map(str, self.files)))


def source_for(ground: Ground, key: str) -> Source:
    """Return where an index of a graph is built from; `SetupError` for what is no source."""
    settings = ground.settings
    named = {"entities": settings.entities, "properties": settings.properties}.get(key)
    if named is None and settings.dump and key != "literals":
        return Source("dump", files=tuple(map(ground.file, settings.dump)))
    if named is None or named == "graph":
        return Source("graph")

    from askgraph.index.sources import graphs  # few graphs have them

    if named == "default" or named in graphs():
        return Source("queries", named)
    if "." not in Path(named).name and len(Path(named).parts) < 2:
        raise SetupError(
            f"{named!r} is no source of {key}: name 'graph' (what is known of it), a set of "
            f"queries (default, {', '.join(graphs())}), or a file: a query (.rq), rows "
            "(.tsv), or an RDF dump"
        )
    file = ground.file(named)
    kind: Literal["query", "rows", "dump"] = "query" if file.suffix == ".rq" else "dump"
    return Source("rows" if file.name.endswith(_ROWS) else kind, files=(file,))


def resources_for(ground: Ground, key: str, source: Source) -> Iterator[Resource]:
    """Give the resources of an index; classes are always among the entities.

    Raises `SetupError` for a file that cannot be read, `ServiceError` if an endpoint fails.
    """
    if source.kind == "graph":
        return _known(ground, key)
    for file in source.files:
        if not file.is_file():
            raise SetupError(f"there is no file {str(file)!r} to build the index {key!r} from")
    found = _read(ground, key, source)
    return iter(found) if key == "properties" else _with_classes(found, ground.profile)


def _known(ground: Ground, key: str) -> Iterator[Resource]:
    if ground.arrays is not None:
        from askgraph.metadata import nodes

        read = {"entities": nodes.entity_resources, "properties": nodes.property_resources}
        return read.get(key, nodes.literal_resources)(ground.arrays, ground.profile)
    from askgraph.metadata import resources

    match key:
        case "entities":
            classes = resources.profile_classes(ground.profile)
            return chain(classes, _named(ground.names, Kind.ENTITY))
        case "properties":
            return resources.profile_properties(ground.profile)
        case _:
            return _named(ground.names, Kind.VALUE)


def _named(names: NameIndex, kind: Kind) -> Iterator[Resource]:
    from askgraph.metadata.resources import named_resources

    wanted = (at for at, found in enumerate(names.kinds) if found == kind)
    return named_resources((names.name(at) for at in wanted), [kind])


def _read(ground: Ground, key: str, source: Source) -> Iterable[Resource]:
    if source.kind == "rows":
        from askgraph.index.sources.tsv import read_tsv

        return read_tsv(source.files[0])
    if source.kind == "dump":
        from askgraph.index.sources import dump

        read = dump.properties_of_dump if key == "properties" else dump.entities_of_dump
        return read(source.files)

    query = _query(key, source)
    try:
        found = result_of(_asked(ground, query))
    except QueryError as error:
        raise SetupError(f"{source.words}: {error}") from error
    if not found:
        raise SetupError(
            f"{source.words}: it finds no {key} in graph {ground.name!r}; 'default' finds some in "
            "any graph with labels or types"
        )
    return found


def _query(key: str, source: Source) -> str:
    if source.kind == "query":
        try:
            return source.files[0].read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise SetupError(f"the query {source.files[0]} cannot be read: {error}") from error

    from askgraph.index.sources import entities_query, properties_query

    read = properties_query if key == "properties" else entities_query
    return read(None if source.name == "default" else source.name)


async def _asked(ground: Ground, query: str) -> list[Resource]:
    from askgraph.metadata.resources import asked_resources

    patient = dataclasses.replace(
        ground.settings, timeout=max(_SECONDS, ground.settings.timeout), cache_mb=0
    )
    endpoint = open_endpoint(
        patient, ground.data, cache=ground.data, prefixes=dict(ground.profile.prefixes)
    )
    try:
        return [resource async for resource in asked_resources(endpoint, query)]
    finally:
        await endpoint.close()


def _with_classes(resources: Iterable[Resource], profile: Profile) -> Iterator[Resource]:
    from askgraph.metadata.resources import profile_classes

    missing = {cls.iri for cls in profile.classes}
    for resource in resources:
        missing.discard(resource.iri)
        yield resource
    yield from (cls for cls in profile_classes(profile) if cls.iri in missing)
