"""Metadata of a graph, asked anew within a bound and completed by what is published."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urljoin

from askgraph.endpoint.documents import fetched
from askgraph.endpoint.public_only import Guard
from askgraph.errors import ServiceError, SetupError
from askgraph.index.names import Kind
from askgraph.metadata import Profile, save_profile, write_whole
from askgraph.metadata.descriptions import Description, descriptions_in, json_ld_of
from askgraph.metadata.merge import merged
from askgraph.metadata.published import Place, Published, published_void
from askgraph.metadata.remote import profile_endpoint
from askgraph.metadata.void import profile_of_void
from askgraph.rdf.statements import read_statements
from askgraph.workspace import Workspace
from askgraph.workspace.build import with_prefixes
from askgraph.workspace.data import guard_of, is_url, locked, remote_endpoint
from askgraph.workspace.graphs import read_descriptions
from askgraph.workspace.settings import GraphSettings
from askgraph.workspace.synchronous import Progress, result_of

_KINDS = ("application/ld+json", "text/html")


@dataclass(frozen=True)
class Bound:
    """What profiling may cost; of an endpoint, whether its graphs are asked one by one."""

    queries: int = 200
    seconds: float = 120.0
    one_by_one: bool = False


@dataclass(frozen=True)
class Fetched:
    """What was published: the schema (None if nothing was), descriptions, places looked at."""

    profile: Profile | None
    descriptions: tuple[Description, ...]
    places: tuple[Place, ...]


def fetch(
    place: Workspace, source: str, *, page: str | None = None, seconds: float = 30.0
) -> Fetched:
    """Return the VoID that an endpoint publishes, or a file holds, and how it describes itself.

    `source` is a graph of the workspace, a URL or a file; `page` a home page, else an endpoint's
    own page and its host's are read. What a graph of the workspace gains by it is kept. Raises
    `SetupError` for what is none of these, or, without a page, a graph whose triples lie here, of
    which everything is known already; `ServiceError` if the page does not come.
    """
    described = _described_resource(page, seconds=seconds) if page else ()
    places = [Place("page", _count(described), told=bool(described))] if page else []
    settings = place.graphs().get(source)
    url = settings.url if settings else source if is_url(source) else None
    profile: Profile | None = None
    if url is not None:
        published = result_of(_published(settings or GraphSettings(url=url), seconds))
        profile = published.profile
        places[:0] = published.places
        if not page:
            guard = guard_of(settings) if settings else None
            described, where = _own_pages(url, seconds=seconds, guard=guard)
            found = f"{_count(described)} at {where}" if described else where
            places.append(Place("page", found, told=bool(described)))
    elif settings is None:
        profile = _of_file(Path(source))
        found = "no VoID" if profile is None else f"{len(profile.classes):,} classes"
        places.insert(0, Place("file", found, told=profile is not None))
    elif not page:
        raise SetupError(
            f"the triples of {source!r} lie here: everything is counted already; see askgraph "
            f"metadata completeness {source}, or name its home page with --page"
        )
    if settings is not None:
        _keep(place, source, profile, described)
    return Fetched(profile, described, tuple(places))


def _count(described: Sequence[Description]) -> str:
    return f"{len(described)} description{'' if len(described) == 1 else 's'}"


def profiled(
    place: Workspace,
    source: str,
    *,
    bound: Bound | None = None,
    graphs: Sequence[str] = (),
    progress: Progress,
) -> Profile:
    """Return the profile of a graph, an endpoint or a file; an endpoint is asked anew.

    The bound is for endpoints. Stopped, the same call goes on where it was. What is learnt of an
    endpoint that is a graph here replaces its profile; the graph's names stay as they are.
    """
    chosen = bound or Bound()
    named = source in place.graphs()
    settings = place.graphs()[source] if named else GraphSettings(url=source)
    if not is_url(settings.url or ""):
        return _counted(place, source, progress)
    if graphs:
        settings = replace(settings, graphs=tuple(graphs))
    profile = result_of(_asked(settings, chosen, _journal(place, settings, chosen), progress))
    if named:
        with locked(place.data(source).parent / ".locks" / source):
            save_profile(profile, place.data(source) / "profile.json")
    return profile


def known_profile(place: Workspace, source: str | None, *, progress: Progress) -> Profile:
    """Return the profile of a graph as it is known, or of a VoID file."""
    if source is None or source in place.graphs() or not Path(source).is_file():
        return place.known(source, progress=progress)[0]
    profile = _of_file(Path(source))
    if profile is None:
        raise SetupError(f"{source!r} holds no VoID")
    return profile


async def _published(settings: GraphSettings, seconds: float) -> Published:
    endpoint = remote_endpoint(settings)
    try:
        return await published_void(
            endpoint, settings.url or "", seconds=seconds, guard=guard_of(settings)
        )
    finally:
        await endpoint.close()


def _keep(
    place: Workspace, name: str, published: Profile | None, described: Sequence[Description]
) -> None:
    with locked(place.data(name).parent / ".locks" / name):
        if published is not None:
            profile = merged(place.profile(name), published)
            save_profile(profile, place.data(name) / "profile.json")
        if described:
            _keep_descriptions(place.description(name), described)


async def _asked(
    settings: GraphSettings, bound: Bound, journal: Path, progress: Progress
) -> Profile:
    endpoint = remote_endpoint(settings)
    try:
        profile, names = await profile_endpoint(
            endpoint,
            max_queries=bound.queries,
            max_seconds=bound.seconds,
            one_by_one=bound.one_by_one,
            progress=progress,
            resume=journal,
        )
    finally:
        await endpoint.close()
    entities = [name.target for name in names if name.kind is Kind.ENTITY]
    return with_prefixes(profile, entities[:: max(1, len(entities) // 5000)])


def _journal(place: Workspace, settings: GraphSettings, bound: Bound) -> Path:
    asked = f"{settings.url} {' '.join(settings.graphs)} {bound.one_by_one}"
    digest = hashlib.sha256(asked.encode()).hexdigest()[:12]
    return place.folder / "data" / f".profile~{digest}.answers.jsonl"


def _counted(place: Workspace, source: str, progress: Progress) -> Profile:
    """The profile of triples that lie here, read first if they have no name yet."""
    graph = place.find(source, progress=progress)
    result_of(graph.endpoint.close())
    return graph.profile


def _of_file(path: Path) -> Profile | None:
    return profile_of_void(read_statements(path), source=str(path))


def _described_resource(
    source: str, *, seconds: float = 20.0, guard: Guard | None = None
) -> tuple[Description, ...]:
    """Return what a page, or a file, says of a resource in schema.org's words.

    `guard` says which addresses a page may come from.

    Raises `SetupError` if a file cannot be read or holds neither JSON-LD nor HTML,
    `ServiceError` if a page does not come.
    """
    if not is_url(source):
        return read_descriptions(Path(source))

    document = result_of(fetched(source, accept=_KINDS, timeout=seconds, guard=guard))
    return descriptions_in(document.content.decode("utf-8", "replace"))


def _own_pages(
    url: str, *, seconds: float = 20.0, guard: Guard | None = None
) -> tuple[tuple[Description, ...], str]:
    """Return what the page at an endpoint's address, else that of its host, says; and where.

    If neither says anything, the second is why.
    """
    why = "no description"
    for page in dict.fromkeys((url, urljoin(url, "/"))):
        try:
            if found := _described_resource(page, seconds=seconds, guard=guard):
                return found, page
        except (ServiceError, SetupError) as error:
            why = str(error)
    return (), why


def _keep_descriptions(path: Path, descriptions: Sequence[Description]) -> None:
    """Write descriptions in place of those that were there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, json_ld_of(descriptions))
