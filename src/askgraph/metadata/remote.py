"""The profile of a graph behind an endpoint, within a bound of queries and seconds, resumably.

A small graph is fetched and profiled exactly. Of a big one the endpoint counts what it can: for
all predicates in one query where it answers in time, else for some at a time, else in a sample.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from askgraph.endpoint import Endpoint
from askgraph.errors import ServiceError
from askgraph.index.names import Name
from askgraph.metadata import Profile
from askgraph.metadata.inquiry import Inquiry
from askgraph.metadata.names import names_in
from askgraph.metadata.pages import all_triples
from askgraph.metadata.profile import profile_of
from askgraph.metadata.remote_names import remote_names
from askgraph.metadata.survey import surveyed
from askgraph.sparql.results import value_of
from askgraph.traversal.build import build_arrays

__all__ = ["SMALL", "profile_endpoint"]

SMALL = 50_000
"""A graph of at most so many triples is fetched as a whole."""

Told = Callable[[str, int, int | None], None]


async def profile_endpoint(
    endpoint: Endpoint,
    *,
    max_queries: int = 200,
    max_seconds: float = 120.0,
    progress: Told | None = None,
    resume: Path | None = None,
) -> tuple[Profile, list[Name]]:
    """Return what an endpoint tells of its graph, and the names in it.

    `resume` is a file that keeps the replies until all is done, so that a later call goes on where
    this one was stopped; those replies cost nothing of the bound. What the bound, or a query that
    the endpoint could not answer, left out is said in `Profile.cuts`. Raises `ServiceError` where
    the endpoint does not answer at all.
    """
    with Inquiry(
        endpoint,
        max_queries=max_queries,
        max_seconds=max_seconds,
        journal=resume,
        progress=progress,
    ) as inquiry:
        found = await _profiled(inquiry, endpoint.address)
        inquiry.forget()
    return found


async def _profiled(inquiry: Inquiry, source: str) -> tuple[Profile, list[Name]]:
    total = await _total(inquiry)
    pages = await all_triples(inquiry, total) if total is not None and total <= SMALL else None
    if pages is not None:
        arrays = build_arrays(pages.triples)
        exact = profile_of(arrays, source=source)
        profile = replace(exact, cuts=pages.cuts)
        return profile, list(names_in(arrays, profile))
    profile = await surveyed(inquiry, total, source=source, created=_now())
    if not profile.predicates:
        raise ServiceError(
            f"{source} did not tell what it holds: {'; '.join(inquiry.failed) or 'no triples'}"
        )
    names, cuts = await remote_names(inquiry, profile)
    failed = (f"the endpoint could not say: {failure}" for failure in inquiry.failed)
    return replace(profile, cuts=(*profile.cuts, *cuts, *failed)), names


async def _total(inquiry: Inquiry) -> int | None:
    reply = await inquiry.rows("the number of triples", "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }")
    text = value_of(reply.rows[0][0]) if reply and reply.rows else None
    return int(text) if text and text.isdigit() else None


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
