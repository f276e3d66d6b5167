"""Profiling an endpoint that is capped, slow or refuses to count: bounded, and honest about it."""

import asyncio
from pathlib import Path

import pytest
from pyoxigraph import Literal, NamedNode, Quad, RdfFormat, Store
from tests.graph.conftest import profiled
from tests.servers import faults
from tests.servers.capped import CappedServer
from tests.servers.lossy import LossyServer
from tests.servers.sparql import SparqlServer

from askgraph.graph.profile import Part, Profile
from askgraph.graph.survey import partitions
from askgraph.sparql.vocabulary import RDF_TYPE

pytestmark = pytest.mark.usefixtures("big")
WHOLE = r"(?s)^(?!.*(VALUES|LIMIT \d+ \}|<http)).*GROUP BY"
"""Queries that count over all triples: no values, no IRI, no limit inside."""


def part(profile: Profile, name: str) -> Part:
    return next(part for part in profile.completeness if part.name == name)


async def test_where_all_fail_at_once_parts_give_the_same(store: Store, exact: Profile) -> None:
    with CappedServer(store, cap=100_000) as server:
        refusal = faults.refused_where(WHOLE, "the estimated execution time exceeds the limit")
        server.always = refusal
        profile, _ = await profiled(server)
    assert set(profile.partitions) == set(exact.partitions)
    assert part(profile, "partitions") == Part("partitions", 33, 33)
    assert part(profile, "predicates") == Part("predicates", 47, 47)


async def test_an_untold_cap_is_found_no_cut_count_believed(store: Store, exact: Profile) -> None:
    with CappedServer(store, cap=100) as server:
        profile, _ = await profiled(server)
    assert part(profile, "partitions") == Part("partitions", 33, 33)
    assert set(profile.partitions) == set(exact.partitions)


async def test_big_classes_are_sampled_and_not_called_known(
    store: Store, exact: Profile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(partitions, "_MAX_COUNTED_INSTANCES", 100)
    monkeypatch.setattr(partitions, "SAMPLE_SIZE", 40)
    with CappedServer(store, cap=100_000) as server:
        server.always = faults.refused_where(r"\{ \?s a \?c \. \?s \?p \?o", "time limit exceeded")
        profile, _ = await profiled(server)
    big = {c.iri for c in exact.classes if c.instances > 100}
    assert {one.cls for one in profile.partitions if one.sampled} == big
    assert part(profile, "partitions").seen == len(exact.classes) - len(big)
    assert {one for one in profile.partitions if not one.sampled} <= set(exact.partitions)
    truth = {(one.cls, one.predicate): one.triples for one in exact.partitions}
    frequent = [one for one in profile.partitions if one.sampled and one.triples > 100]
    assert frequent
    assert all(one.triples <= 3 * truth[one.cls, one.predicate] for one in frequent)


async def test_costly_queries_that_take_too_long_leave_time_for_the_rest(store: Store) -> None:
    loop = asyncio.get_running_loop()
    with CappedServer(store, cap=100_000) as server:
        server.always = faults.slow_where(WHOLE, 60)
        began = loop.time()
        profile, _ = await profiled(server, max_seconds=16.0)
        taken = loop.time() - began
    assert taken < 60
    assert len(profile.predicates) == 47
    assert part(profile, "labels").seen > 0
    assert any("no complete answer" in cut for cut in profile.cuts)


async def test_an_endpoint_that_fails_once_loses_one_answer(store: Store) -> None:
    with CappedServer(store, cap=100_000) as server:
        server.acts += [faults.status(500), faults.status(500)]  # the first is tried once more
        profile, _ = await profiled(server)
    assert part(profile, "triples") == Part("triples", 8132, 8132)
    assert sum("gave no answer: the number of triples" in cut for cut in profile.cuts) == 1


async def test_ends_lost_in_silence_are_not_called_known(store: Store, exact: Profile) -> None:
    with LossyServer(store, r"\?o a \?t") as server:
        profile, _ = await profiled(server)
    told = {(one.cls, one.predicate) for one in exact.partitions if one.targets == ()}
    ends = part(profile, "ends")
    assert ends.total == len(exact.partitions)
    assert len(told) <= ends.seen < len(exact.partitions)


GRAPHS = """
@prefix : <http://example.org/> .
:g1 { :io a :Moon ; :orbits :jupiter . :jupiter a :Planet . }
:g2 { :phobos a :Moon ; :orbits :mars . }
"""


@pytest.fixture
def graphs() -> Store:
    store = Store()
    store.load(GRAPHS.encode(), RdfFormat.TRIG)
    return store


async def test_named_graphs_are_listed_with_their_sizes(graphs: Store) -> None:
    with SparqlServer(graphs) as server:
        profile, _ = await profiled(server)
    assert profile.graphs == (("http://example.org/g1", 3), ("http://example.org/g2", 2))
    assert part(profile, "graphs") == Part("graphs", 2, 2)


async def test_asked_one_by_one_the_graphs_are_added_up(graphs: Store, tmp_path: Path) -> None:
    journal = tmp_path / "answers.jsonl"
    with SparqlServer(graphs) as server:
        profile, _ = await profiled(server, one_by_one=True, resume=journal)
    assert profile.triples == 5
    assert {c.iri[-4:]: c.instances for c in profile.classes} == {"Moon": 2, "anet": 1}
    (orbits,) = [one for one in profile.partitions if one.predicate.endswith("orbits")]
    assert dict(orbits.targets) == {
        "http://example.org/Planet": 1,
        "http://www.w3.org/2000/01/rdf-schema#Resource": 1,
    }
    assert not journal.exists()


async def test_where_the_default_graph_is_empty_the_named_graphs_are_asked(graphs: Store) -> None:
    with SparqlServer(graphs, union=False) as server:
        profile, _ = await profiled(server)
    assert profile.triples == 5
    assert any("default graph is empty" in cut for cut in profile.cuts)


async def test_no_request_has_more_sub_selects_than_servers_bear() -> None:
    """Some dozens with a group in each now and then end the process of Virtuoso 7.2."""
    store = Store()
    for number in range(200):
        name = f"http://example.org/{number}"
        store.add(Quad(NamedNode(name), NamedNode(f"{name}/p"), Literal(f"text {number}")))
        store.add(
            Quad(
                NamedNode(name), NamedNode(RDF_TYPE), NamedNode(f"http://example.org/Kind{number}")
            )
        )
    with SparqlServer(store) as server:
        server.always = faults.refused_where(WHOLE, "the estimated execution time is too long")
        profile, _ = await profiled(server)
        queries = [request.parameters["query"][0] for request in server.requests]
    assert len(profile.predicates) == 201
    sampling = [query for query in queries if query.count("LIMIT 1000 }") > 1]
    assert sampling
    assert all(query.count("LIMIT 1000 }") <= 60 for query in sampling)
    assert all(query.count("GROUP BY") == 1 for query in sampling)
