"""A data folder and its settings become a graph: the endpoint, and all that is known of it."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from askgraph.metadata.store import load_profile
from askgraph.workspace.build import known_content, known_paths, known_snapshot
from askgraph.workspace.described import kept_descriptions
from askgraph.workspace.running import result_of
from askgraph.workspace.settings import GraphSettings

if TYPE_CHECKING:
    from askgraph.endpoint import Endpoint
    from askgraph.endpoint.public_only import Guard
    from askgraph.graph import KnowledgeGraph
    from askgraph.metadata.examples import QueryExample
    from askgraph.workspace.services import WorkspaceServices

__all__ = ["guard_of", "open_endpoint", "open_graph", "remote_endpoint"]


def open_graph(
    name: str,
    settings: GraphSettings,
    data: Path,
    *,
    cache: Path,
    services: "WorkspaceServices",
    examples: "tuple[QueryExample, ...]" = (),
    description: Path | None = None,
) -> "KnowledgeGraph":
    """Open a graph from its data folder; `SetupError` where that is damaged.

    A local graph's worker process starts while the rest is read. A SERVICE in a query may call
    `services`. The indices are opened, or built, when they are first looked at. `description` is
    the file with what the graph's publisher says of it, where there is one.
    """
    from askgraph.rdf.prefixes import PrefixMap

    profile = load_profile(data / "profile.json")
    prefixes = PrefixMap(dict(profile.prefixes))
    own = open_endpoint(settings, data, cache=cache, prefixes=prefixes.namespaces)
    from askgraph.endpoint.federated import Federated

    endpoint = Federated(
        own,
        services,
        timeout=settings.timeout,
        prefixes=prefixes.namespaces,
        at_close=services.close,
    )
    try:
        names, arrays = known_content(data)
        from askgraph.graph import KnowledgeGraph
        from askgraph.workspace.index_sources import Ground
        from askgraph.workspace.indices import GraphIndices

        short = name.partition("~")[0]
        snapshot = known_snapshot(data, profile)
        ground = Ground(short, data, settings, snapshot, profile, names, arrays)
        return KnowledgeGraph(
            short,
            endpoint,
            profile,
            names,
            prefixes,
            arrays,
            snapshot,
            GraphIndices(ground),
            examples,
            services.url_of(short),
            kept_descriptions(description) if description else (),
            known_paths(data),
        )
    except BaseException:
        result_of(endpoint.close())
        raise


def open_endpoint(
    settings: GraphSettings,
    data: Path,
    *,
    cache: Path,
    prefixes: "Mapping[str, str] | None" = None,
) -> "Endpoint":
    """Open only the endpoint of a graph; queries need not declare `prefixes`.

    Where the graph was enriched virtually, queries may use its virtual predicates.
    """
    own = _own_endpoint(settings, data, cache=cache, prefixes=prefixes)
    paths = known_paths(data)
    if not paths:
        return own
    from askgraph.endpoint.virtual import VirtualEndpoint

    return VirtualEndpoint(own, paths, prefixes=prefixes)


def _own_endpoint(
    settings: GraphSettings, data: Path, *, cache: Path, prefixes: "Mapping[str, str] | None"
) -> "Endpoint":
    if settings.url:
        return _cached(remote_endpoint(settings, prefixes), settings, cache)
    from askgraph.endpoint.oxigraph import OxigraphEndpoint

    endpoint = OxigraphEndpoint(
        data / "store",
        timeout=settings.timeout,
        graphs=settings.graphs or None,
        prefixes=dict(prefixes or {}),
    )
    endpoint.start()
    return endpoint


def _cached(endpoint: "Endpoint", settings: GraphSettings, folder: Path) -> "Endpoint":
    if not settings.cache_mb or not settings.cache_hours:
        return endpoint
    from askgraph.endpoint.cached import CachedEndpoint

    return CachedEndpoint(
        endpoint,
        folder,
        max_bytes=settings.cache_mb * 2**20,
        max_age=settings.cache_hours * 3600,
        variant=" ".join(sorted(settings.graphs)),
    )


def remote_endpoint(
    settings: GraphSettings, prefixes: "Mapping[str, str] | None" = None
) -> "Endpoint":
    """Return the endpoint behind a URL, as the settings say."""
    from askgraph.endpoint.http import HttpEndpoint

    return HttpEndpoint(
        settings.url or "",
        dialect=settings.dialect,
        auth=settings.auth,
        user_env=settings.user_env,
        password_env=settings.password_env,
        token_env=settings.token_env,
        header=settings.header,
        header_env=settings.header_env,
        timeout=settings.timeout,
        graphs=settings.graphs,
        prefixes=dict(prefixes or {}),
        guard=guard_of(settings),
    )


def guard_of(settings: GraphSettings) -> "Guard | None":
    """Return what keeps a graph that was added over the web to public addresses."""
    if not settings.public_only:
        return None
    from askgraph.endpoint.public_only import Guard

    return Guard(settings.private_addresses)
