"""What every endpoint promises, whatever stands behind it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from pyoxigraph import Literal, NamedNode, QuerySolutions, Store
from tests.each import for_each
from tests.servers.fixtures import SMALL
from tests.servers.sparql import SparqlServer

from askgraph.endpoint import CountingEndpoint, Endpoint
from askgraph.endpoint.cached import CachedEndpoint
from askgraph.endpoint.federated import FederatedEndpoint
from askgraph.endpoint.http import HttpEndpoint
from askgraph.endpoint.oxigraph import OxigraphEndpoint
from askgraph.endpoint.recorded import RecordedEndpoint
from askgraph.errors import ForbiddenQuery, QueryError, QuerySyntaxError
from askgraph.workspace.graph_data import VirtualEndpoint

PREFIX = "PREFIX ex: <http://example.org/> "
EX = "http://example.org/"


@pytest.fixture(scope="module")
def store_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("store")
    (folder / "small.trig").write_text(SMALL, encoding="utf-8")
    OxigraphEndpoint.load([folder / "small.trig"], folder / "db")
    return folder / "db"


NOWHERE = {EX + "virtual": NamedNode(EX + "nowhere")}
Makers = dict[str, Callable[[Path, str, Path], Endpoint]]

MAKERS: Makers = {
    "oxigraph": lambda store, url, folder: OxigraphEndpoint(store),
    "two workers": lambda store, url, folder: OxigraphEndpoint(store, workers=2),
    "http": lambda store, url, folder: HttpEndpoint(url),
    "cached": lambda store, url, folder: CachedEndpoint(OxigraphEndpoint(store), folder),
    "counted": lambda store, url, folder: CountingEndpoint(OxigraphEndpoint(store)),
    "recorded": lambda store, url, folder: RecordedEndpoint(folder / "r", HttpEndpoint(url)),
    "federated": lambda store, url, folder: FederatedEndpoint(OxigraphEndpoint(store), {}),
    "virtual": lambda store, url, folder: VirtualEndpoint(OxigraphEndpoint(store), NOWHERE),
    "all at once": lambda store, url, folder: FederatedEndpoint(
        CachedEndpoint(RecordedEndpoint(folder / "r", HttpEndpoint(url)), folder / "c"), {}
    ),
}


@pytest.fixture(params=MAKERS)
async def endpoint(
    request: pytest.FixtureRequest, store_folder: Path, sparql_server: SparqlServer, tmp_path: Path
) -> AsyncIterator[Endpoint]:
    made = MAKERS[request.param](store_folder, sparql_server.url, tmp_path)
    yield made
    await made.close()
    await made.close()


async def test_select_gives_every_kind_of_term_as_it_is(
    endpoint: Endpoint, small_store: Store
) -> None:
    query = PREFIX + "SELECT ?s ?p ?o { ?s ?p ?o FILTER(!isBlank(?s) && !isBlank(?o)) }"
    expected = small_store.query(query, use_default_graph_as_union=True)
    assert isinstance(expected, QuerySolutions)

    result = await endpoint.select(query)

    assert result.variables == ("s", "p", "o")
    assert sorted(result.rows, key=str) == sorted((tuple(row) for row in expected), key=str)
    again = await endpoint.select(query)
    assert result.truncated is None
    assert again.rows == result.rows and again.variables == result.variables


async def test_unbound_variables_are_none(endpoint: Endpoint) -> None:
    result = await endpoint.select(
        PREFIX + "SELECT ?s ?m ?none { ?s ex:radius ?r OPTIONAL { ?s ex:moons ?m } } ORDER BY ?r"
    )
    assert result.variables == ("s", "m", "none")
    assert [row[1:] for row in result.rows] == [
        (None, None),
        (Literal("2", datatype=NamedNode("http://www.w3.org/2001/XMLSchema#integer")), None),
    ]


async def test_blank_nodes_are_told_apart(endpoint: Endpoint) -> None:
    result = await endpoint.select(PREFIX + "SELECT ?c ?d { ?m ex:crew ?c . ?c ex:role ?d }")
    again = await endpoint.select("SELECT ?a ?b { ?a ?p ?b FILTER(isBlank(?a) || isBlank(?b)) }")
    assert len(result.rows) == 1 and len(again.rows) == 3


async def test_a_limit_cuts_and_says_so(endpoint: Endpoint) -> None:
    cut = await endpoint.select("SELECT * { ?s ?p ?o }", limit=2)
    assert len(cut.rows) == 2 and cut.truncated and cut.truncated.by == "askgraph"

    whole = await endpoint.select("SELECT * { ?s ?p ?o } LIMIT 2", limit=2)
    assert len(whole.rows) == 2 and whole.truncated is None

    none = await endpoint.select("SELECT * { ?s ?p ?o }", limit=0)
    assert none.rows == () and none.truncated


async def test_an_empty_result_is_empty_and_complete(endpoint: Endpoint) -> None:
    result = await endpoint.select(PREFIX + "SELECT ?x { ?x ex:nothing ?y }")
    assert (result.variables, result.rows, result.truncated) == (("x",), (), None)
    triples = await endpoint.construct(PREFIX + "CONSTRUCT { ?x a ?y } { ?x ex:nothing ?y }")
    assert (triples.triples, triples.truncated) == ((), None)


async def test_it_fulfils_the_protocol_and_decides(endpoint: Endpoint) -> None:
    assert endpoint.address and isinstance(endpoint, Endpoint)
    assert await endpoint.ask(PREFIX + "ASK { ex:moon ex:orbits ex:earth }") is True
    assert await endpoint.ask(PREFIX + "ASK { ex:moon ex:orbits ex:mars }") is False


async def test_construct_and_describe(endpoint: Endpoint) -> None:
    built = await endpoint.construct(
        PREFIX + "CONSTRUCT { ?o ex:orbitedBy ?s } WHERE { ?s ex:orbits ?o } ORDER BY ?s"
    )
    assert len(built.triples) == 4
    assert {triple.predicate for triple in built.triples} == {NamedNode(EX + "orbitedBy")}

    cut = await endpoint.construct("CONSTRUCT WHERE { ?s ?p ?o }", limit=3)
    assert len(cut.triples) == 3 and cut.truncated

    described = await endpoint.describe(PREFIX + "DESCRIBE ex:mars")
    assert described.triples


async def test_the_default_graph_is_the_union_and_named_graphs_can_be_asked(
    endpoint: Endpoint,
) -> None:
    result = await endpoint.select(PREFIX + "SELECT ?s { ?s a ex:Body } ORDER BY ?s")
    names = [row[0].value.removeprefix(EX) for row in result.rows if isinstance(row[0], NamedNode)]
    assert names == ["deimos", "mars", "moon", "phobos"]

    by_graph = await endpoint.select(PREFIX + "SELECT ?g ?s { GRAPH ?g { ?s ex:orbits ?o } }")
    assert len(by_graph.rows) == 2


async def test_order_is_kept(endpoint: Endpoint) -> None:
    result = await endpoint.select(
        PREFIX + "SELECT ?n { ?s ex:name ?n } ORDER BY DESC(STR(?n)) LIMIT 10"
    )
    values = [row[0].value for row in result.rows if isinstance(row[0], Literal)]
    assert values == sorted(values, reverse=True) and len(values) == 3


@for_each(
    ("query", "error"),
    ("INSERT DATA { <a:b> <a:c> 1 }", ForbiddenQuery),
    ("DROP ALL", ForbiddenQuery),
    ("SELECT * { SERVICE <http://127.0.0.1:9/> { ?s ?p ?o } }", ForbiddenQuery),
    ("SELECT * { ?s ?p ?o SERVICE ?s { ?s ?p ?o } }", ForbiddenQuery),
    ("SELECT * { ?s ?p ?o", QuerySyntaxError),
    ("", QuerySyntaxError),
    ("what is the moon?", QuerySyntaxError),
    ("SELECT * { ?s nowhere:p ?o }", QuerySyntaxError),
    ("ASK { ?s ?p ?o }", QueryError),
)
async def test_what_may_not_run_is_refused(
    endpoint: Endpoint, query: str, error: type[QueryError]
) -> None:
    with pytest.raises(error):
        await endpoint.select(query)
    assert await endpoint.ask("ASK { ?s ?p ?o }")


async def test_each_of_many_calls_gets_its_own_answer(endpoint: Endpoint) -> None:
    async def doubled(number: int) -> str | None:
        result = await endpoint.select(f"SELECT ?x {{ BIND({number} * 2 AS ?x) }}")
        term = result.rows[0][0]
        return term.value if isinstance(term, Literal) else None

    answers = await asyncio.gather(*(doubled(number) for number in range(30)))
    assert answers == [str(number * 2) for number in range(30)]
