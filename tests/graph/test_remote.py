"""The profile of an endpoint's graph is that of the graph, whatever stands in the way."""

import asyncio
from dataclasses import fields
from pathlib import Path
from types import SimpleNamespace

import pytest
from pyoxigraph import Store
from tests.graph.conftest import profiled
from tests.graphs import store_of
from tests.servers import faults
from tests.servers.capped import CappedServer

from askgraph.endpoint.http import HttpEndpoint
from askgraph.errors import TimedOut, Unauthorised, Unreachable
from askgraph.graph import bounded_queries as inquiry
from askgraph.graph import remote_profile as remote
from askgraph.graph.arrays import build_arrays
from askgraph.graph.names import iterate_names
from askgraph.graph.profile import Profile
from askgraph.graph.remote_profile import profile_endpoint
from askgraph.index.names import IndexedName, ItemKind
from askgraph.sparql.results import SelectResult

BLANKS = """
@prefix : <http://example.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:apollo rdfs:label "Apollo" ; :crew [ :person :neil ; :role "commander" ],
  [ :person :buzz ; :role "pilot" ] .
:neil rdfs:label "Neil" . :buzz rdfs:label "Buzz" .
"""


@pytest.fixture(scope="module")
def names(store: Store, exact: Profile) -> set[IndexedName]:
    return set(iterate_names(build_arrays(store), exact))


def unlike(found: Profile, exact: Profile) -> set[str]:
    """Which fields of which classes and predicates differ."""
    differing = set()
    for kind in ("classes", "predicates"):
        ours = {item.iri: item for item in getattr(found, kind)}
        theirs = {item.iri: item for item in getattr(exact, kind)}
        assert ours.keys() == theirs.keys()
        for iri, item in ours.items():
            for field in fields(item):
                pair = [getattr(one, field.name) for one in (item, theirs[iri])]
                one, other = (sorted(v) if isinstance(v, tuple) else v for v in pair)
                if one != other:
                    differing.add(f"{iri} {field.name}: {one} != {other}")
    return differing | {str(one) for one in set(found.partitions) ^ set(exact.partitions)}


@pytest.mark.parametrize("cap", [100_000, 777])
async def test_a_small_graph_is_profiled_exactly_whatever_the_cap(
    store: Store, exact: Profile, names: set[IndexedName], cap: int
) -> None:
    said: list[str] = []
    with CappedServer(store, cap=cap) as server:
        profile, found = await profiled(server, progress=lambda what, *_: said.append(what))
    assert said[0] == "asking for the number of triples"
    assert not unlike(profile, exact)
    assert set(found) == names
    assert profile.cuts == ()
    assert {part.share for part in profile.completeness} == {1.0}


@pytest.mark.usefixtures("big")
@pytest.mark.parametrize("cap", [100_000, 777])
async def test_a_big_graph_is_counted_by_its_endpoint(
    store: Store, exact: Profile, names: set[IndexedName], cap: int
) -> None:
    with CappedServer(store, cap=cap) as server:
        profile, found = await profiled(server)
    assert not unlike(profile, exact)
    assert {part.share for part in profile.completeness} == {1.0}
    assert len(server.requests) < 40
    missing = names - set(found)
    assert all(name.kind is ItemKind.ENTITY and not name.preferred for name in missing)
    assert set(found) <= names


async def test_blank_nodes_that_are_renamed_are_not_mixed_up() -> None:
    store = store_of(BLANKS)
    with CappedServer(store, cap=5, renames=True) as server:
        profile, _ = await profiled(server)
    assert any("blank nodes" in cut for cut in profile.cuts)
    assert {p.iri.rpartition("/")[2]: p.triples for p in profile.predicates}["role"] == 2


@pytest.mark.usefixtures("big")
async def test_a_bound_of_queries_holds_and_is_told(store: Store) -> None:
    with CappedServer(store, cap=100_000) as server:
        profile, found = await profiled(server, max_queries=5)
    assert len(server.requests) == 5
    assert profile.predicates and found
    assert any("limit of queries" in cut for cut in profile.cuts)


@pytest.mark.usefixtures("big")
async def test_a_few_queries_make_a_profile_to_begin_with(store: Store, exact: Profile) -> None:
    with CappedServer(store, cap=100_000) as server:
        profile, _ = await profiled(server, max_queries=9)
    whole = {one.iri: one for one in exact.predicates}
    assert {p.iri: p.triples for p in profile.predicates} == {
        p.iri: p.triples for p in whole.values()
    }
    assert {c.iri: (c.instances, set(c.names)) for c in profile.classes} == {
        c.iri: (c.instances, set(c.names)) for c in exact.classes
    }
    for predicate in profile.predicates:
        known = whole[predicate.iri]
        assert set(predicate.names) == set(known.names)
        assert predicate.literal == known.literal
        assert dict(predicate.subject_classes).keys() <= dict(known.subject_classes).keys()
    assert any("limit of queries" in cut for cut in profile.cuts)


class Leisurely(HttpEndpoint):
    """An endpoint that is told how long it takes, and says how long it was given."""

    def __init__(self, url: str, clock: list[float], seconds: float) -> None:
        super().__init__(url)
        self.clock, self.seconds, self.given = clock, seconds, list[float | None]()

    async def select(
        self, query: str, *, timeout: float | None = None, limit: int | None = None
    ) -> SelectResult:
        self.given.append(timeout)
        self.clock[0] += min(self.seconds, timeout or self.seconds)
        if timeout is not None and timeout < self.seconds:
            raise TimedOut("after a while")
        return await super().select(query, limit=limit)


@pytest.mark.usefixtures("big")
async def test_one_that_takes_seconds_for_everything_gets_more_for_each(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [0.0]
    monkeypatch.setattr(inquiry, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    with CappedServer(store, cap=100_000) as server:
        endpoint = Leisurely(server.url, clock, 5.0)
        profile, _ = await profile_endpoint(endpoint, max_seconds=30.0)
        await endpoint.close()
    assert 10.0 in endpoint.given  # nobody knew it yet
    assert 12.5 in endpoint.given
    assert profile.predicates
    assert clock[0] <= 30.0


@pytest.mark.usefixtures("big")
async def test_names_that_an_endpoint_can_look_for_are_not_read(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote, "_MAX_NAMES_COUNT", 10)

    async def search(profile: Profile) -> str:
        return found

    with CappedServer(store, cap=100_000) as server:
        for found in ("plain", "virtuoso"):
            profile, names = await profiled(server, search=search)
            assert profile.name_search == found
            assert any(name.kind is ItemKind.ENTITY for name in names) == (found == "plain")
            assert any(name.kind is ItemKind.CLASS for name in names)
    part = next(part for part in profile.completeness if part.name == "entity names")
    assert part.seen == 0
    assert "'virtuoso'" in part.note


@pytest.mark.usefixtures("big")
async def test_a_bound_of_seconds_holds(store: Store) -> None:
    with CappedServer(store, cap=100_000) as server:
        server.acts.extend([faults.slow_first_byte(0)] * 5)
        server.always = faults.slow_first_byte(60)
        async with asyncio.timeout(60):
            await profiled(server, max_seconds=8.0)
        assert len(server.requests) > 5


@pytest.mark.usefixtures("big")
async def test_stopped_and_started_again_it_asks_for_the_rest_only(
    store: Store, exact: Profile, tmp_path: Path
) -> None:
    journal = tmp_path / "answers.jsonl"

    class StoppedError(Exception):
        pass

    at = 6

    def stop(what: str, done: int, total: int | None) -> None:
        if done == at:
            raise StoppedError

    with CappedServer(store, cap=100_000) as server:
        with pytest.raises(StoppedError):
            await profiled(server, resume=journal, progress=stop)
        first = len(server.requests)
        with journal.open("a") as file:
            file.write('{"query": "half a li')
        at = 3
        with pytest.raises(StoppedError):
            await profiled(server, resume=journal, progress=stop)
        assert len(server.requests) == first + 3
        profile, _ = await profiled(server, resume=journal)
        both = len(server.requests)
        await profiled(server)
    assert first == 6
    assert both == len(server.requests) - both
    assert not unlike(profile, exact)
    assert not journal.exists()


@pytest.mark.usefixtures("big")
async def test_a_query_that_fails_costs_its_own_answer_only(store: Store, exact: Profile) -> None:
    with CappedServer(store, cap=100_000) as server:
        server.acts.extend([faults.body("<html>busy</html>", kind="text/html")] * 2)
        profile, _ = await profiled(server)
    assert profile.triples == exact.triples
    assert {p.iri: p.triples for p in profile.predicates} == {
        p.iri: p.triples for p in exact.predicates
    }
    assert any("gave no answer" in cut for cut in profile.cuts)


async def test_a_server_that_is_down_or_closed_is_an_error(store: Store) -> None:
    with CappedServer(store, cap=10) as server:
        server.always = faults.status(401)
        with pytest.raises(Unauthorised):
            await profiled(server)
    with pytest.raises(Unreachable):
        await profiled(server)
