"""SERVICE over two graphs, joined here or passed on; the right answer is that of one store."""

import asyncio
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from pyoxigraph import Store
from tests.servers import faults
from tests.servers.sparql import Fault, Request, SparqlServer

from askgraph.endpoint.federated import FederatedEndpoint
from askgraph.endpoint.http import HttpEndpoint
from askgraph.endpoint.oxigraph import OxigraphEndpoint
from askgraph.errors import ForbiddenQuery, QueryError, TimedOut, Unreachable

HERE = """@prefix : <http://example.org/> .
:moon :orbits :earth ; :radius 1737 . :phobos :orbits :mars . :deimos :orbits :mars ; :radius 6 .
"""
THERE = """@prefix : <http://example.org/> .
:moon :name "Moon", "Luna" ; :seen 1609 . :phobos :name "Phobos" . :venus :name "Venus" .
:mars :god "Ares" . [] :name "nobody" .
"""
PREFIX = "PREFIX : <http://example.org/> "
NAMES = "SERVICE <urn:graph:names> "


@pytest.fixture
async def pair(tmp_path: Path) -> AsyncIterator[FederatedEndpoint]:
    for name, text in (("here", HERE), ("there", THERE)):
        (tmp_path / f"{name}.ttl").write_text(text)
        OxigraphEndpoint.load([tmp_path / f"{name}.ttl"], tmp_path / name)
    there = OxigraphEndpoint(tmp_path / "there")
    both = FederatedEndpoint(OxigraphEndpoint(tmp_path / "here"), {"urn:graph:names": there})
    yield both
    await both.close()
    await there.close()


async def test_blank_nodes_of_another_graph_become_iris_of_their_own_in_each_reply(
    pair: FederatedEndpoint,
) -> None:
    query = PREFIX + "SELECT ?b { VALUES ?n { 'nobody' } " + NAMES + "{ ?b :name ?n } }"
    result = await pair.select(query)
    assert str(result.rows[0][0]).startswith("<urn:blank:")
    query = f"{NAMES} {{ ?x :name ?n FILTER(isBlank(?x)) }} {NAMES} {{ ?x :name ?m }}"
    assert (await pair.select(f"{PREFIX} SELECT * {{ {query} }}")).rows == ()


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("SELECT * { SERVICE <http://evil.example/> { ?s ?p ?o } }", r"evil\.example"),
        ("SELECT * { ?s ?p ?g SERVICE ?g { ?s ?p ?o } }", "variable"),
        ("SELECT * { " + NAMES + "{ ?s ?p ?o " + NAMES + "{ ?o ?q ?r } } }", "within"),
    ],
)
async def test_other_services_are_refused(pair: FederatedEndpoint, query: str, words: str) -> None:
    with pytest.raises(ForbiddenQuery, match=words):
        await pair.select(query)


async def test_a_server_that_may_call_the_service_gets_the_query_as_it_is(
    sparql_server: SparqlServer,
) -> None:
    inner = HttpEndpoint(sparql_server.url, services=frozenset({"http://127.0.0.1:9/"}))
    both = FederatedEndpoint(inner, {})
    with pytest.raises(QueryError):
        await both.select("SELECT * { SERVICE SILENT <http://127.0.0.1:9/> { ?s ?p ?o } } LIMIT x")
    assert (
        await both.select("SELECT * { SERVICE SILENT <http://127.0.0.1:9/> { ?s ?p ?o } }")
    ).rows
    assert "SILENT" in sparql_server.requests[-1].parameters["query"][0]
    await both.close()


async def test_silent_forgives_a_service_that_is_down(
    pair: FederatedEndpoint, tmp_path: Path
) -> None:
    down = HttpEndpoint("http://127.0.0.1:9/")
    both = FederatedEndpoint(OxigraphEndpoint(tmp_path / "here"), {"urn:down": down})
    query = PREFIX + "SELECT * { ?b :orbits ?p SERVICE SILENT <urn:down> { ?b :name ?n } }"
    assert len((await both.select(query)).rows) == 3
    with pytest.raises(Unreachable):
        await both.select(query.replace("SILENT", ""))
    await both.close()
    await down.close()


async def test_rows_that_a_server_cut_off_are_an_error(tmp_path: Path, small_store: Store) -> None:
    (tmp_path / "a.ttl").write_text("<http://example.org/mars> <a:visited> true .")
    OxigraphEndpoint.load([tmp_path / "a.ttl"], tmp_path / "db")
    with SparqlServer(small_store, headers={"X-SQL-State": "S1TAT"}) as server:
        there = HttpEndpoint(server.url)
        both = FederatedEndpoint(OxigraphEndpoint(tmp_path / "db"), {server.url: there})
        with pytest.raises(QueryError, match="cut off"):
            await both.select(
                f"SELECT * {{ ?s <a:visited> ?v SERVICE <{server.url}> {{ ?s ?p ?o }} }}"
            )
        await both.close()
        await there.close()


async def test_partial_bindings_are_not_sent_along(
    small_store: Store, sparql_server: SparqlServer
) -> None:
    """Else the rows for those that the server cut off would be missing."""
    with SparqlServer(small_store, headers={"X-SQL-State": "S1TAT"}) as server:
        here, there = HttpEndpoint(server.url), HttpEndpoint(sparql_server.url)
        both = FederatedEndpoint(here, {"urn:there": there})
        result = await both.select("SELECT * { ?s ?p ?o SERVICE <urn:there> { ?s a ?class } }")
        assert result.truncated is not None
        assert "VALUES" not in sparql_server.requests[0].parameters["query"][0]
        await both.close()
        await there.close()


async def test_more_rows_than_can_be_joined_are_an_error_and_no_part_of_the_answer(
    pair: FederatedEndpoint, tmp_path: Path
) -> None:
    here, there = OxigraphEndpoint(tmp_path / "here"), OxigraphEndpoint(tmp_path / "there")
    few = FederatedEndpoint(here, {"urn:graph:names": there}, max_rows=2)
    loose = f"{PREFIX} SELECT (COUNT(*) AS ?c) {{ :mars ?q ?z {NAMES} {{ ?b :name ?n }} }}"
    with pytest.raises(QueryError, match="more than 2 rows and no other pattern restricts it"):
        await few.select(loose)
    tight = f"{PREFIX} SELECT (COUNT(*) AS ?c) {{ ?b :orbits ?p {NAMES} {{ ?b :name ?n }} }}"
    with pytest.raises(QueryError, match="more than 2 rows that match what is beside it"):
        await few.select(tight)
    assert (await few.select(tight.replace(":orbits ?p", ":orbits :mars"))).rows
    await few.close()
    await there.close()


async def test_clauses_that_have_nothing_to_do_with_each_other_are_asked_at_once(
    small_store: Store, tmp_path: Path
) -> None:
    came = threading.Event(), threading.Event()

    def after(own: int) -> Fault:
        async def reply(
            server: SparqlServer, request: Request, writer: asyncio.StreamWriter
        ) -> None:
            came[own].set()
            assert await asyncio.to_thread(came[1 - own].wait, 60), "the other is not asked"
            honest = server.honest(request)
            writer.write(honest.head + honest.body)
            await writer.drain()

        return reply

    with SparqlServer(small_store) as one, SparqlServer(small_store) as other:
        one.always, other.always = after(0), after(1)
        inner = HttpEndpoint(one.url), HttpEndpoint(other.url)
        (tmp_path / "a.ttl").write_text("<a:b> <a:c> 1 .")
        OxigraphEndpoint.load([tmp_path / "a.ttl"], tmp_path / "db")
        others = dict(zip(("a:1", "a:2"), inner, strict=True))
        both = FederatedEndpoint(OxigraphEndpoint(tmp_path / "db"), others)
        query = "SELECT * { { SERVICE <a:1> { ?s a ?c } } UNION { SERVICE <a:2> { ?s a ?c } } }"
        assert len((await both.select(query, timeout=120)).rows) == 8
        for endpoint in (both, *inner):
            await endpoint.close()


async def test_all_graphs_together_have_one_time_limit(
    pair: FederatedEndpoint, tmp_path: Path, small_store: Store
) -> None:
    with SparqlServer(small_store) as server:
        server.always = faults.silence()
        hanging = HttpEndpoint(server.url)
        both = FederatedEndpoint(OxigraphEndpoint(tmp_path / "here"), {"urn:slow": hanging})
        query = f"{PREFIX} SELECT * {{ ?b :orbits ?p SERVICE <urn:slow> {{ ?b :name ?n }} }}"
        with pytest.raises(TimedOut):
            await both.select(query, timeout=1)
        silent = await both.select(query.replace("SERVICE", "SERVICE SILENT"), timeout=3)
        assert len(silent.rows) == 3
        await both.close()
        await hanging.close()


async def test_what_an_exists_would_put_into_a_service_is_refused(pair: FederatedEndpoint) -> None:
    """Evaluated apart, the filter would see no ?p, and every body would pass."""
    query = f"SELECT * {{ ?b :orbits ?p FILTER NOT EXISTS {{ {NAMES} {{ ?b :seen ?y"
    with pytest.raises(QueryError, match=r"within EXISTS reads \?p"):
        await pair.select(f"{PREFIX} {query} FILTER(?p = :earth) }} }} }}")
    assert len((await pair.select(f"{PREFIX} {query} }} FILTER(?p = :earth) }} }}")).rows) == 2
