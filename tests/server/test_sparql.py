"""A graph as a SPARQL endpoint: what YASGUI, SPARQLWrapper and askgraph itself ask it."""

import asyncio
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pyoxigraph
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import QueryResultsFormat, QuerySolutions, RdfFormat
from tests.each import for_each
from tests.servers.clients import clients_python
from tests.servers.served import ServedThread

from askgraph.endpoint.http import HttpEndpoint
from askgraph.errors import ErrorReply, QuerySyntaxError
from askgraph.server.sparql import choose_format
from askgraph.sparql.results import GRAPH_FORMATS, ROW_FORMATS
from askgraph.workspace import Workspace

PREFIXES = (
    "PREFIX space: <https://example.org/space/> PREFIX ont: <https://example.org/space/ontology#> "
)
MOONS = PREFIXES + "SELECT ?moon WHERE { ?moon ont:orbits space:Neptune } ORDER BY ?moon"
GRAPH = PREFIXES + "CONSTRUCT { ?m ont:orbits space:Mars } WHERE { ?m ont:orbits space:Mars }"
YASGUI_TABLE = {"Accept": "application/sparql-results+json,*/*;q=0.9"}
YASGUI_GRAPH = {"Accept": "application/n-triples,*/*;q=0.9"}
BODY = {"Content-Type": "application/sparql-query"}
FORM = "application/x-www-form-urlencoded"
TREES = """
@prefix ex: <http://example.org/> .
ex:oak a ex:Tree .
ex:forest { ex:fir a ex:Tree . }
ex:garden { ex:pear a ex:Tree . ex:rose a ex:Flower . }
"""


@pytest.fixture(scope="module")
def trees(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of an endpoint with named graphs, which gives few rows."""
    folder = tmp_path_factory.mktemp("trees")
    (folder / "trees.trig").write_text(TREES)
    workspace = Workspace(folder / "workspace")
    workspace.add("trees", [folder / "trees.trig"])
    with ServedThread(workspace, max_rows=3) as server:
        yield f"{server.url}/sparql/trees"


def solutions(response: httpx2.Response) -> list[list[str]]:
    assert response.status_code == 200, response.text
    found = pyoxigraph.parse_query_results(response.content, format=QueryResultsFormat.JSON)
    assert isinstance(found, QuerySolutions)
    return [[str(term) for term in row] for row in found]


def test_requests_as_clients_send_them(client: httpx2.Client) -> None:
    # A form as yasgui sends it is answered.
    response = client.post("/sparql/space", data={"query": MOONS}, headers=YASGUI_TABLE)
    assert response.headers["content-type"] == "application/sparql-results+json"
    assert len(solutions(response)) == 6
    assert solutions(response)[0] == ["<https://example.org/space/Despina>"]
    # A long form is read to the letter.
    text = "".join(f"{at} +%&='😀é " for at in range(4_000))
    query = f'SELECT ?text {{ VALUES ?text {{ "{text}" }} }}'
    assert solutions(client.post("/sparql/space", data={"query": query})) == [[f'"{text}"']]
    odd = client.post("/sparql/space", content=b"query=%FF", headers={"Content-Type": FORM})
    assert (odd.status_code, "not UTF-8" in odd.text) == (400, True)
    # A construct of yasgui comes as n triples.
    response = client.post("/sparql/space", data={"query": GRAPH}, headers=YASGUI_GRAPH)
    assert response.headers["content-type"] == "application/n-triples"
    subjects = {
        str(q.triple.subject) for q in pyoxigraph.parse(response.content, RdfFormat.N_TRIPLES)
    }
    assert subjects == {"<https://example.org/space/Phobos>", "<https://example.org/space/Deimos>"}
    # A query may be the body itself.
    response = client.post(
        "/sparql/space",
        content=MOONS,
        headers={"Content-Type": "application/sparql-query; charset=utf-8"},
    )
    assert len(solutions(response)) == 6
    # A request as sparqlwrapper sends it is answered.
    accept = "application/sparql-results+json,application/json,text/javascript"
    fields = {"query": MOONS, "format": "json", "output": "json", "results": "json"}
    response = client.get("/sparql/space", params=fields, headers={"Accept": accept})
    assert len(solutions(response)) == 6
    # What no format fits is not acceptable.
    for query, accept in ((MOONS, "text/turtle"), (GRAPH, "text/csv")):
        response = client.get("/sparql/space", params={"query": query}, headers={"Accept": accept})
        assert response.status_code == 406 and "accept one of these" in response.text
    # A format may be named in the address.
    response = client.get("/sparql/space", params={"query": GRAPH, "format": "jsonld"})
    assert response.headers["content-type"] == "application/ld+json"
    assert response.json()[0]["@id"].startswith("https://example.org/space/")


@for_each(
    "query",
    "SELECT * WHERE {\n  ?sub ?pred ?obj .\n} LIMIT 10",
    "SELECT DISTINCT ?class WHERE { ?s a ?class } LIMIT 5",
    "SELECT DISTINCT ?property WHERE { ?s ?property ?o } OFFSET 2 LIMIT 5",
    "prefix o: <https://example.org/space/ontology#>\nselect ?d { ?s o:diameter ?d } limit 5",
)
def test_queries_of_editors_are_answered_by_get_too(client: httpx2.Client, query: str) -> None:
    response = client.get("/sparql/space", params={"query": query}, headers=YASGUI_TABLE)
    assert len(solutions(response)) in (5, 10)


_WRAPPED = """
import json, sys
from SPARQLWrapper import CSV, JSON, POST, TURTLE, XML, SPARQLExceptions, SPARQLWrapper
address, table, graph, ask = sys.argv[1:]
def told(query, kind, method="GET"):
    wrapper = SPARQLWrapper(address)
    wrapper.setQuery(query)
    wrapper.setReturnFormat(kind)
    wrapper.setMethod(method)
    return wrapper.query().convert()
found = {
    "rows": len(told(table, JSON)["results"]["bindings"]),
    "posted": len(told(table, JSON, POST)["results"]["bindings"]),
    "xml": len(told(table, XML).getElementsByTagName("result")),
    "csv": len(told(table, CSV).decode().split()),
    "boolean": told(ask, JSON)["boolean"],
    "turtle": told(graph, TURTLE).decode().count("orbits"),
}
try:
    told("SELECT {", JSON)
except SPARQLExceptions.QueryBadFormed as error:
    found["error"] = str(error)
print(json.dumps(found))
"""


def test_sparqlwrapper_itself_reads_rows_booleans_triples_and_errors(served: str) -> None:
    queries = [MOONS, GRAPH, PREFIXES + "ASK { space:Triton ont:orbits space:Neptune }"]
    words = [str(clients_python()), "-c", _WRAPPED, f"{served}/sparql/space", *queries]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=600)

    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert "line 1" in found.pop("error") and found.pop("turtle") >= 2
    assert found == {"rows": 6, "posted": 6, "xml": 6, "csv": 7, "boolean": True}


@for_each(
    ("accept", "kind"),
    ("", "application/sparql-results+json"),
    ("*/*", "application/sparql-results+json"),
    ("application/sparql-results+xml", "application/sparql-results+xml"),
    ("text/csv;q=0.5, text/tab-separated-values", "text/tab-separated-values; charset=utf-8"),
    ("text/html,application/xml;q=0.9,*/*;q=0.8", "application/sparql-results+xml"),
    ("text/*", "text/csv; charset=utf-8"),
    ("application/json;q=0.2, text/csv;q=0", "application/sparql-results+json"),
)
def test_the_accept_header_chooses_the_format(
    client: httpx2.Client, accept: str, kind: str
) -> None:
    response = client.get("/sparql/space", params={"query": MOONS}, headers={"Accept": accept})
    assert (response.status_code, response.headers["content-type"]) == (200, kind)
    assert "Accept" in response.headers["vary"].split(", ")


def test_what_the_endpoint_tells(client: httpx2.Client) -> None:
    # An ask query gives a boolean.
    query = PREFIXES + "ASK { space:Phobos ont:orbits space:Mars }"
    assert client.get("/sparql/space", params={"query": query}).json()["boolean"] is True
    # Without a query the endpoint describes itself.
    response = client.get("/sparql/space", headers={"Accept": "text/turtle"})
    assert response.headers["content-type"] == "text/turtle; charset=utf-8"
    told = {
        (str(q.triple.predicate).rpartition("#")[2].rstrip(">"), str(q.triple.object))
        for q in pyoxigraph.parse(response.content, RdfFormat.TURTLE)
    }
    service = str(response.url).partition("?")[0]
    assert ("endpoint", f"<{service}>") in told
    assert ("resultFormat", "<http://www.w3.org/ns/formats/SPARQL_Results_JSON>") in told
    head = client.head("/sparql/space")
    assert (head.status_code, head.content) == (200, b"")
    # The methods are told.
    response = client.options("/sparql/space")
    assert (response.status_code, response.headers["allow"]) == (204, "GET, HEAD, POST, OPTIONS")
    assert client.put("/sparql/space").status_code == 405
    # Who takes json alone is told in json.
    wrong, accept = {"query": "SELECT {"}, {"Accept": "application/sparql-results+json"}
    assert client.get("/sparql/space", params=wrong, headers=accept).text.startswith("line 1")
    accept = {"Accept": "application/json"}
    told = client.get("/sparql/space", params=wrong, headers=accept).json()
    assert (told["status"], told["line"]) == (400, 1)
    # A graph that is not there has no endpoint.
    assert client.get("/sparql/nowhere", params={"query": MOONS}).status_code == 404


async def test_the_endpoint_as_a_graph(served: str) -> None:
    # Askgraph itself can ask it.
    endpoint = HttpEndpoint(f"{served}/sparql/space")
    assert len((await endpoint.select(MOONS)).rows) == 6
    assert await endpoint.ask(PREFIXES + "ASK { space:Titan ont:orbits space:Saturn }")
    assert len((await endpoint.construct(GRAPH)).triples) == 2
    assert (await endpoint.describe("DESCRIBE <https://example.org/space/Mars>")).triples
    await endpoint.close()
    # The errors tell askgraph what is wrong.
    endpoint = HttpEndpoint(f"{served}/sparql/space")
    with pytest.raises((QuerySyntaxError, ErrorReply)):
        await endpoint.select("SELECT ?x { ?x ?y }}")
    await endpoint.close()


@for_each(
    ("request_", "status", "words"),
        ({"data": {"query": "SELECT ?x WHERE {\n  ?x ?y }}"}}, 400, "line 2, column 9"),
        ({"data": {"query": ["ASK {}", "ASK {}"]}}, 400, "several 'query' fields"),
        ({"data": {"update": "CLEAR ALL"}}, 403, "read-only"),
        ({"data": {"query": "ASK { SERVICE <http://a.b/> { ?s ?p ?o } }"}}, 403, "SERVICE"),
        ({"content": "LOAD <file:///etc/passwd>", "headers": BODY}, 403, "only SELECT"),
        ({"data": {"query": "ASK { ?s no:such ?o }"}}, 400, "the prefix 'no:' is not declared"),
        ({"data": {"query": "ASK {}", "default-graph-uri": "no iri"}}, 400, "is not an IRI"),
        ({"content": b"\xff", "headers": BODY}, 400, "UTF-8"),
        ({"content": "ASK {}", "headers": {"Content-Type": "text/plain"}}, 415, "sparql-query"),
        ({"content": "query=" + "a" * 5_000_000,
          "headers": {"Content-Type": "application/x-www-form-urlencoded"}}, 413, "larger than"),
)  # fmt: skip
def test_what_is_wrong_is_said_in_words(
    client: httpx2.Client, request_: dict[str, object], status: int, words: str
) -> None:
    response = client.post("/sparql/space", **request_)  # type: ignore[arg-type]
    assert (response.status_code, words in response.text) == (status, True), response.text
    kind = response.headers["content-type"]
    assert status == 413 or kind.startswith("text/plain")  # whose body is not read to its end


async def test_a_query_without_end_is_ended(sample_place: Workspace, tmp_path: Path) -> None:
    database = str(tmp_path / "serve.db")
    with ServedThread(sample_place, query_timeout=0.5, database=database) as server:
        url = f"{server.url}/sparql/space"
        endless = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l }"
        async with httpx2.AsyncClient(timeout=30) as client:
            late, other = await asyncio.gather(
                client.post(url, data={"query": endless}), client.post(url, data={"query": MOONS})
            )
    assert late.status_code == 504 and "0.5 seconds" in late.text
    assert other.status_code in (200, 504)


def test_cut_results_and_named_graphs(trees: str) -> None:
    # A result that was cut says so.
    response = httpx2.get(trees, params={"query": "SELECT * { ?s ?p ?o }"}, timeout=600)
    assert len(solutions(response)) == 3
    assert "by askgraph" in response.headers["x-askgraph-truncated"]
    whole = httpx2.get(trees, params={"query": "SELECT * { ?s ?p ?o } LIMIT 2"}, timeout=600)
    assert "x-askgraph-truncated" not in whole.headers
    # Named graphs of the request can be walked.
    query = "SELECT DISTINCT ?g { GRAPH ?g { ?s ?p ?o } }"
    fields = {"query": query, "named-graph-uri": "http://example.org/garden"}
    assert solutions(httpx2.post(trees, data=fields, timeout=600)) == [
        ["<http://example.org/garden>"]
    ]


@for_each(
    ("fields", "things"),
        ({}, {"oak", "fir", "pear"}),
        ({"default-graph-uri": "http://example.org/forest"}, {"fir"}),
        ({"default-graph-uri": ["http://example.org/forest", "http://example.org/garden"]},
         {"fir", "pear"}),
        ({"named-graph-uri": "http://example.org/garden"}, set()),
)  # fmt: skip
def test_the_graphs_of_the_request_are_those_that_are_read(
    trees: str, fields: dict[str, object], things: set[str]
) -> None:
    query = "PREFIX ex: <http://example.org/> SELECT ?t FROM ex:garden { ?t a ex:Tree }"
    query = query if fields else query.replace("FROM ex:garden", "")
    response = httpx2.post(trees, data={"query": query, **fields}, timeout=600)
    assert {row[0].rpartition("/")[2].rstrip(">") for row in solutions(response)} == things


@for_each(
    ("header", "name"),
    ("application/rdf+xml", "rdf"),
    ("application/*", "nt"),
    ("text/turtle;q=0.1, */*;q=0.5", "nt"),
    ("*/*;q=0.5, application/ld+json;q=0.6", "jsonld"),
    ("TEXT/TURTLE; charset=utf-8; Q=0.4, application/n-triples;q=0.3", "ttl"),
    ("text/turtle;q=0, application/n-triples;q=0, application/*;q=0.1", "rdf"),
    ("nonsense", "ttl"),
)
def test_the_best_of_what_is_accepted_is_taken(header: str, name: str) -> None:
    form = choose_format(header, GRAPH_FORMATS)
    assert form is not None and form.name == name


@for_each("header", ["image/png", "*/*;q=0", "text/html;q=1.0"])
def test_there_may_be_none(header: str) -> None:
    assert choose_format(header, ROW_FORMATS) is None


@given(st.text())
def test_any_header_can_be_read(header: str) -> None:
    assert choose_format(header, ROW_FORMATS) in (None, *ROW_FORMATS)
