"""SERVICE over two graphs, joined here or passed on; the right answer is that of one store."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from pyoxigraph import QuerySolutions, RdfFormat, Store
from tests.servers.sparql import SparqlServer

from askgraph.endpoint.federated import FederatedEndpoint
from askgraph.endpoint.http import HttpEndpoint
from askgraph.endpoint.oxigraph import OxigraphEndpoint
from askgraph.errors import ForbiddenQuery, QueryError, Unreachable

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


@pytest.mark.parametrize(
    "where",
    [
        "?b :orbits ?p . SERVICE { ?b :name ?n }",
        "SERVICE { ?b :name ?n } ?b :orbits ?p",
        "?b :orbits ?p OPTIONAL { SERVICE { ?b :name ?n } }",
        "?b :orbits ?p OPTIONAL { SERVICE { ?b :name ?n ; :seen ?y } ?b :radius ?r } ",
        "?b :orbits ?p MINUS { SERVICE { ?b :name ?n } }",
        "?b :orbits ?p FILTER NOT EXISTS { SERVICE { ?b :name ?n } }",
        "{ ?b :orbits ?p SERVICE { ?b :name ?n } } UNION { SERVICE { ?p :god ?n } }",
        "SERVICE { ?b :name ?n FILTER(?n != 'Luna') }",
        "?b :orbits ?p . SERVICE { ?b :name ?n } SERVICE { ?p :god ?g }",
        "{ SELECT ?b { SERVICE { ?b :name ?n } } ORDER BY ?n LIMIT 1 } ?b :orbits ?p",
        "VALUES ?b { :moon :venus } SERVICE { ?b :name ?n }",
        "SERVICE { ?b :name ?n OPTIONAL { ?b :seen ?y } } OPTIONAL { ?b :orbits ?y }",
        "?b :radius 6 . SERVICE { ?b :name ?n }",
        "?b :orbits/:nothing ?p SERVICE { ?b :name ?n }",
        "BIND(:moon AS ?b) FILTER(?b != :mars) SERVICE { ?b :name ?n }",
    ],
)
async def test_a_join_here_gives_what_one_store_would(pair: FederatedEndpoint, where: str) -> None:
    """In one store with a named graph, `GRAPH` means what SERVICE means over two."""
    store = Store()
    store.load(HERE.encode(), RdfFormat.TURTLE)
    graph = THERE.replace("[] :name", "").replace(' "nobody" .', "")
    store.load(
        f"{PREFIX} <urn:graph:names> {{ {graph.split('.', 2)[2]} }}".encode(), RdfFormat.TRIG
    )
    asked = PREFIX + "SELECT * { " + where + " FILTER(!BOUND(?n) || ?n != 'nobody') }"
    expected = store.query(asked.replace("SERVICE", "GRAPH <urn:graph:names>"))
    assert isinstance(expected, QuerySolutions)
    names = [variable.value for variable in expected.variables]
    right = sorted(str([str(row[name]) for name in sorted(names)]) for row in expected)

    result = await pair.select(asked.replace("SERVICE", NAMES))

    order = [result.variables.index(name) for name in sorted(names)]
    assert sorted(str([str(row[at]) for at in order]) for row in result.rows) == right


async def test_blank_nodes_of_another_graph_become_iris(pair: FederatedEndpoint) -> None:
    query = PREFIX + "SELECT ?b { " + NAMES + "{ ?b :name 'nobody' } }"
    result = await pair.select(query)
    assert str(result.rows[0][0]).startswith("<urn:blank:")


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


async def test_only_what_may_match_is_asked_for(
    tmp_path: Path, small_store: Store, sparql_server: SparqlServer
) -> None:
    (tmp_path / "a.ttl").write_text("<http://example.org/mars> <a:visited> true .")
    OxigraphEndpoint.load([tmp_path / "a.ttl"], tmp_path / "db")
    there = HttpEndpoint(sparql_server.url)
    both = FederatedEndpoint(OxigraphEndpoint(tmp_path / "db"), {sparql_server.url: there})

    query = f"SELECT ?s ?o {{ ?s <a:visited> true SERVICE <{sparql_server.url}> {{ ?s ?p ?o }} }}"
    result = await both.select(query)

    sent = sparql_server.requests[0].parameters["query"][0]
    assert "VALUES (?s) { (<http://example.org/mars>) }" in sent
    assert len(result.rows) == 5
    await both.close()
    await there.close()


async def test_a_server_that_may_call_the_service_gets_the_query_as_it_is(
    sparql_server: SparqlServer,
) -> None:
    services = frozenset({"http://127.0.0.1:9/"})
    inner = HttpEndpoint(sparql_server.url, services=services)
    both = FederatedEndpoint(inner, {"http://127.0.0.1:9/": inner})
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
