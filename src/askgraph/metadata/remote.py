"""The profile of a graph behind an endpoint, within a bound of queries and seconds, resumably.

A small graph is fetched and profiled exactly. Of a big one the endpoint counts what it can: for
all predicates in one query where it answers in time, else for some at a time, else in a sample.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from askgraph.endpoint import Endpoint
from askgraph.errors import ServiceError
from askgraph.index.names import Name
from askgraph.metadata import Part, Profile
from askgraph.metadata.completeness import (
    CLASSES,
    GRAPHS,
    PARTITIONS,
    PREDICATES,
    TRIPLES,
    with_parts,
)
from askgraph.metadata.inquiry import Inquiry
from askgraph.metadata.merge import united
from askgraph.metadata.names import names_in
from askgraph.metadata.pages import all_triples
from askgraph.metadata.profile import profile_of
from askgraph.metadata.remote_names import remote_names
from askgraph.metadata.survey import surveyed
from askgraph.metadata.survey.graphs import Graphs, ask_graphs
from askgraph.metadata.survey.size import ask_size
from askgraph.traversal.build import build_arrays

__all__ = ["SMALL", "profile_endpoint"]

SMALL = 50_000
"""A graph of at most so many triples is fetched as a whole."""

Told = Callable[[str, int, int | None], None]


@dataclass(frozen=True)
class Bounds:
    """What profiling an endpoint may cost, in queries and in seconds."""

    queries: int = 200
    seconds: float = 120.0


async def profile_endpoint(
    endpoint: Endpoint,
    *,
    max_queries: int = 200,
    max_seconds: float = 120.0,
    progress: Told | None = None,
    resume: Path | None = None,
    one_by_one: bool = False,
) -> tuple[Profile, list[Name]]:
    """Return what an endpoint tells of its graph, and the names in it.

    `resume` is a file that keeps the replies until all is done, so that a later call goes on where
    this one was stopped; those replies cost nothing of the bound. What the bound, or a query that
    the endpoint could not answer, left out is said in `Profile.cuts`, and in numbers in
    `Profile.completeness`. With `one_by_one` each named graph is asked of alone, within its share
    of the bound, and the profiles are united. An endpoint whose default graph is empty is asked of
    all its named graphs together. Raises `ServiceError` where the endpoint does not answer at all.
    """

    def inquiry(bounds: Bounds, graphs: Sequence[str] = ()) -> Inquiry:
        return Inquiry(
            endpoint,
            max_queries=bounds.queries,
            max_seconds=bounds.seconds,
            journal=resume,
            progress=progress,
            graphs=graphs,
        )

    bounds = Bounds(max_queries, max_seconds)
    if one_by_one:
        found = await _one_by_one(inquiry, bounds, endpoint.address)
    else:
        with inquiry(bounds) as asked:
            found = await _profiled(asked, endpoint.address)
    _forget(resume)
    return found


def _forget(journal: Path | None) -> None:
    if journal is not None:
        journal.unlink(missing_ok=True)


async def _one_by_one(
    inquiry: Callable[[Bounds, Sequence[str]], Inquiry], bounds: Bounds, source: str
) -> tuple[Profile, list[Name]]:
    began = time.monotonic()
    with inquiry(bounds, ()) as asked:
        graphs, part = await ask_graphs(asked)
        used = asked.asked
    if not graphs:
        raise ServiceError(f"{source} names no graph that could be asked of alone")
    profiles, names = [], list[Name]()
    for at, (graph, _) in enumerate(graphs):
        rest = len(graphs) - at
        seconds = (bounds.seconds - (time.monotonic() - began)) / rest
        share = Bounds(max(1, (bounds.queries - used) // rest), max(1.0, seconds))
        with inquiry(share, (graph,)) as asked:
            profile, some = await _profiled(asked, source)
            used += asked.asked
        profiles.append(replace(profile, graphs=((graph, profile.triples),)))
        names += some
    whole = united(profiles)
    parts = with_parts(whole.completeness, {GRAPHS: part})
    return replace(whole, completeness=parts), list(dict.fromkeys(names))


async def _profiled(inquiry: Inquiry, source: str) -> tuple[Profile, list[Name]]:
    total = await ask_size(inquiry, small=SMALL)
    cuts: tuple[str, ...] = ()
    graphs: Graphs | None = () if inquiry.graphs else None
    part: Part | None = None
    if graphs is None and (total == 0 or (total is None and not await _any(inquiry))):
        graphs, part = await ask_graphs(inquiry)
        if graphs:
            inquiry.over([graph for graph, _ in graphs])
            total = await ask_size(inquiry, small=SMALL)
            union = f"this is the union of {len(graphs):,} named graphs"
            cuts = (f"the default graph is empty: {union}",)
    profile, names = await _told(inquiry, total, source)
    if cuts and part and part.total is None:
        profile = _of_some(profile, f"of {len(graphs or ()):,} named graphs; there are more")
    if graphs is None:
        graphs, part = await ask_graphs(inquiry)
    parts = with_parts(profile.completeness, {GRAPHS: part} if part else {})
    return (
        replace(profile, graphs=graphs, completeness=parts, cuts=(*cuts, *profile.cuts)),
        names,
    )


async def _any(inquiry: Inquiry) -> bool:
    """Whether the default graph holds a triple, or might."""
    reply = await inquiry.rows("any triple", "SELECT ?s { ?s ?p ?o } LIMIT 1")
    return reply is None or bool(reply.rows)


def _of_some(profile: Profile, note: str) -> Profile:
    """The profile of a part of a graph: how much there is in all is not known."""
    wholes = {TRIPLES, CLASSES, PREDICATES, PARTITIONS}
    parts = {
        part.name: replace(part, total=None, note=note)
        for part in profile.completeness
        if part.name in wholes
    }
    return replace(profile, completeness=with_parts(profile.completeness, parts))


async def _told(inquiry: Inquiry, total: int | None, source: str) -> tuple[Profile, list[Name]]:
    pages = await all_triples(inquiry, total) if total is not None and total <= SMALL else None
    if pages is not None:
        arrays = build_arrays(pages.triples)
        profile = replace(profile_of(arrays, source=source), cuts=pages.cuts)
        if total is not None and len(pages.triples) < total:
            profile = _of_some(profile, "some triples did not come")
            triples = Part(TRIPLES, len(pages.triples), total, "some did not come")
            parts = with_parts(profile.completeness, {TRIPLES: triples})
            profile = replace(profile, completeness=parts)
        return profile, list(names_in(arrays, profile))
    profile = await surveyed(inquiry, total, source=source, created=_now())
    if not profile.predicates:
        bound = "the bound was reached before it could" if inquiry.exhausted else "no triples"
        why = "; ".join(inquiry.failed) or bound
        raise ServiceError(f"{source} did not tell what it holds: {why}")
    names, cuts = await remote_names(inquiry, profile)
    failed = (f"the endpoint could not say: {failure}" for failure in inquiry.failed)
    return replace(profile, cuts=(*profile.cuts, *cuts, *failed)), names


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
