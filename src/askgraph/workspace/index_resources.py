"""Resources that the indices of a graph hold: of the graph, a query, a file of rows, or dumps."""

import dataclasses
from collections.abc import Iterable, Iterator
from itertools import chain

from askgraph.errors import QueryError, SetupError
from askgraph.index import Resource
from askgraph.index.names import Kind, NameIndex
from askgraph.index.sources import dump, entities_query, properties_query
from askgraph.index.sources.tsv import read_tsv
from askgraph.metadata import Profile, nodes, resources
from askgraph.metadata.resources import asked_resources, named_resources, profile_classes
from askgraph.workspace.endpoints import open_endpoint
from askgraph.workspace.index_sources import Ground, Source
from askgraph.workspace.synchronous import result_of

_SECONDS = 3600.0


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
        match key:
            case "entities":
                return nodes.entity_resources(ground.arrays, ground.profile)
            case "properties":
                return nodes.property_resources(ground.arrays, ground.profile)
            case _:
                return nodes.literal_resources(ground.arrays, ground.profile)
    match key:
        case "entities":
            classes = resources.profile_classes(ground.profile)
            return chain(classes, _named(ground.names, Kind.ENTITY))
        case "properties":
            return resources.profile_properties(ground.profile)
        case _:
            return _named(ground.names, Kind.VALUE)


def _named(names: NameIndex, kind: Kind) -> Iterator[Resource]:
    wanted = (at for at, found in enumerate(names.kinds) if found == kind)
    return named_resources((names.name(at) for at in wanted), [kind])


def _read(ground: Ground, key: str, source: Source) -> Iterable[Resource]:
    if source.kind == "rows":
        return read_tsv(source.files[0])
    if source.kind == "dump":
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

    read = properties_query if key == "properties" else entities_query
    return read(None if source.name == "default" else source.name)


async def _asked(ground: Ground, query: str) -> list[Resource]:
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
    missing = {cls.iri for cls in profile.classes}
    for resource in resources:
        missing.discard(resource.iri)
        yield resource
    yield from (cls for cls in profile_classes(profile) if cls.iri in missing)
