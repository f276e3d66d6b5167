"""What is known of a graph: asked anew within a bound, completed by what is published."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from askgraph.errors import SetupError
from askgraph.workspace.build import Progress
from askgraph.workspace.replacing import locked
from askgraph.workspace.running import result_of
from askgraph.workspace.settings import GraphSettings
from askgraph.workspace.sources import is_url

if TYPE_CHECKING:
    from askgraph.metadata import Profile
    from askgraph.metadata.descriptions import Description
    from askgraph.metadata.published import Published
    from askgraph.workspace import Workspace

__all__ = ["Bound", "described_resource", "fetch", "known_profile", "profiled"]


@dataclass(frozen=True)
class Bound:
    """What profiling may cost; of an endpoint, whether its graphs are asked one by one."""

    queries: int = 200
    seconds: float = 120.0
    one_by_one: bool = False


def fetch(place: "Workspace", source: str, *, seconds: float = 30.0) -> "Published":
    """Return the VoID that an endpoint publishes, or a file holds, and where it was looked for.

    `source` is a graph of the workspace, a URL or a file. What an endpoint's graph gains by it is
    kept in its profile. Raises `SetupError` for what is none of these, or a graph whose triples
    lie here, of which everything is known already.
    """
    from askgraph.metadata.published import Place, Published

    if source in place.graphs():
        settings = _remote(place, source)
        published = result_of(_published(settings, seconds))
        if published.profile is not None:
            _complete(place, source, published.profile)
        return published
    if is_url(source):
        return result_of(_published(GraphSettings(url=source), seconds))
    profile = _of_file(Path(source))
    found = "no VoID" if profile is None else f"{len(profile.classes):,} classes"
    return Published(profile, (Place("file", found, told=profile is not None),))


def described_resource(source: str, *, seconds: float = 20.0) -> "tuple[Description, ...]":
    """Return what a page, or a file, says of a resource in schema.org's words."""
    from askgraph.metadata.descriptions import descriptions_in

    if not is_url(source):
        try:
            return descriptions_in(Path(source).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise SetupError(f"{source!r} cannot be read: {error}") from error
    from askgraph.endpoint.documents import fetched

    kinds = ("application/ld+json", "text/html")
    document = result_of(fetched(source, accept=kinds, timeout=seconds))
    return descriptions_in(document.content.decode("utf-8", "replace"))


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


def _remote(place: "Workspace", name: str) -> GraphSettings:
    settings = place.graphs()[name]
    if settings.url is None:
        raise SetupError(
            f"the triples of {name!r} lie here: everything is counted already; "
            f"see askgraph metadata completeness {name}"
        )
    return settings


async def _published(settings: GraphSettings, seconds: float) -> "Published":
    from askgraph.metadata.published import published_void
    from askgraph.workspace.opening import remote_endpoint

    endpoint = remote_endpoint(settings)
    try:
        return await published_void(endpoint, settings.url or "", seconds=seconds)
    finally:
        await endpoint.close()


def _complete(place: "Workspace", name: str, published: "Profile") -> None:
    from askgraph.metadata.merge import merged
    from askgraph.metadata.store import save_profile

    with locked(place.data(name).parent / ".locks" / name):
        own = place.profile(name)
        save_profile(merged(own, published), place.data(name) / "profile.json")


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
    from askgraph.metadata.triples import read_described
    from askgraph.metadata.void import profile_of_void

    return profile_of_void(read_described(path), source=str(path))
