"""Endpoints behind a URL, as the settings say: with credentials, guarded, cached."""

from collections.abc import Mapping
from pathlib import Path

from askgraph.endpoint import Endpoint
from askgraph.endpoint.cached import CachedEndpoint
from askgraph.endpoint.http import HttpEndpoint
from askgraph.endpoint.public_only import Guard
from askgraph.workspace.settings import GraphSettings


def cached_endpoint(
    settings: GraphSettings, folder: Path, prefixes: Mapping[str, str] | None = None
) -> Endpoint:
    """Return the endpoint behind a URL; its replies are kept in a folder, if the settings allow."""
    endpoint = remote_endpoint(settings, prefixes)
    if not settings.cache_mb or not settings.cache_hours:
        return endpoint

    return CachedEndpoint(
        endpoint,
        folder,
        max_bytes=settings.cache_mb * 2**20,
        max_age=settings.cache_hours * 3600,
        variant=" ".join(sorted(settings.graphs)),
    )


def remote_endpoint(settings: GraphSettings, prefixes: Mapping[str, str] | None = None) -> Endpoint:
    """Return the endpoint behind a URL, as the settings say."""
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


def guard_of(settings: GraphSettings) -> Guard | None:
    """Return what keeps a graph that was added over the web to public addresses."""
    if not settings.public_only:
        return None

    return Guard(settings.private_addresses)
