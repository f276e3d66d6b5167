"""What is known of a graph: asked anew within a bound, completed by what is published."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from askgraph.errors import SetupError
from askgraph.workspace.build import Progress
from askgraph.workspace.described import described_resource, keep_descriptions, own_pages
from askgraph.workspace.replacing import locked
from askgraph.workspace.running import result_of
from askgraph.workspace.settings import GraphSettings
from askgraph.workspace.sources import is_url

if TYPE_CHECKING:
    from askgraph.metadata import Profile
    from askgraph.metadata.descriptions import Description
    from askgraph.metadata.published import Place, Published
    from askgraph.workspace import Workspace

__all__ = ["Bound", "Fetched", "fetch", "known_profile", "profiled"]


@dataclass(frozen=True)
class Bound:
    """What profiling may cost; of an endpoint, whether its graphs are asked one by one."""

    queries: int = 200
    seconds: float = 120.0
    one_by_one: bool = False


@dataclass(frozen=True)
class Fetched:
    """What was published: the schema (None where nothing was), descriptions, places looked at."""

    profile: "Profile | None"
    descriptions: "tuple[Description, ...]"
    places: "tuple[Place, ...]"


def fetch(
    place: "Workspace", source: str, *, page: str | None = None, seconds: float = 30.0
) -> Fetched:
    """Return the VoID that an endpoint publishes, or a file holds, and how it describes itself.

    `source` is a graph of the workspace, a URL or a file; `page` a home page, else an endpoint's
    own page and its host's are read. What a graph of the workspace gains by it is kept. Raises
    `SetupError` for what is none of these, or, without a page, a graph whose triples lie here, of
    which everything is known already; `ServiceError` where the page does not come.
    """
    from askgraph.metadata.published import Place
    from askgraph.workspace.opening import guard_of

    described = described_resource(page, seconds=seconds) if page else ()
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
            described, where = own_pages(url, seconds=seconds, guard=guard)
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


def _count(described: "Sequence[Description]") -> str:
    return f"{len(described)} description{'' if len(described) == 1 else 's'}"


def profiled(
    place: "Workspace",
    source: str,
    *,
    bound: Bound | None = None,
    graphs: Sequence[str] = (),
    progress: Progress,
) -> "Profile":
    """Return the profile of a graph, an endpoint or a file; an endpoint is asked anew.

    The bound is for endpoints. Stopped, the same call goes on where it was. What is learnt of an
    endpoint that is a graph here replaces its profile; the graph's names stay as they are.
    """
    from askgraph.metadata.store import save_profile

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


def known_profile(place: "Workspace", source: str | None, *, progress: Progress) -> "Profile":
    """Return the profile of a graph as it is known, or of a VoID file."""
    if source is None or source in place.graphs() or not Path(source).is_file():
        return place.known(source, progress=progress)[0]
    profile = _of_file(Path(source))
    if profile is None:
        raise SetupError(f"{source!r} holds no VoID")
    return profile


async def _published(settings: GraphSettings, seconds: float) -> "Published":
    from askgraph.metadata.published import published_void
    from askgraph.workspace.opening import guard_of, remote_endpoint

    endpoint = remote_endpoint(settings)
    try:
        return await published_void(
            endpoint, settings.url or "", seconds=seconds, guard=guard_of(settings)
        )
    finally:
        await endpoint.close()


def _keep(
    place: "Workspace",
    name: str,
    published: "Profile | None",
    described: "Sequence[Description]",
) -> None:
    from askgraph.metadata.merge import merged
    from askgraph.metadata.store import save_profile

    with locked(place.data(name).parent / ".locks" / name):
        if published is not None:
            profile = merged(place.profile(name), published)
            save_profile(profile, place.data(name) / "profile.json")
        if described:
            keep_descriptions(place.description(name), described)


async def _asked(
    settings: GraphSettings, bound: Bound, journal: Path, progress: Progress
) -> "Profile":
    from askgraph.index.names import Kind
    from askgraph.metadata.remote import profile_endpoint
    from askgraph.workspace.opening import remote_endpoint
    from askgraph.workspace.prefixes import with_prefixes

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


def _journal(place: "Workspace", settings: GraphSettings, bound: Bound) -> Path:
    asked = f"{settings.url} {' '.join(settings.graphs)} {bound.one_by_one}"
    digest = hashlib.sha256(asked.encode()).hexdigest()[:12]
    return place.folder / "data" / f".profile~{digest}.answers.jsonl"


def _counted(place: "Workspace", source: str, progress: Progress) -> "Profile":
    """The profile of triples that lie here, read first where they have no name yet."""
    graph = place.find(source, progress=progress)
    result_of(graph.endpoint.close())
    return graph.profile


def _of_file(path: Path) -> "Profile | None":
    from askgraph.metadata.store import read_statements
    from askgraph.metadata.void import profile_of_void

    return profile_of_void(read_statements(path), source=str(path))
