"""Every fault of an endpoint ends in time with a clear outcome: the table of docs/endpoints.md."""

import tempfile
import time
from pathlib import Path

import pytest
from pyoxigraph import RdfFormat, Store
from tests.servers import faults
from tests.servers.fixtures import SMALL
from tests.servers.sparql import Fault, SparqlServer

from askgraph.endpoint import Endpoint
from askgraph.endpoint.http import HttpEndpoint
from askgraph.endpoint.oxigraph import OxigraphEndpoint
from askgraph.errors import AskgraphError

TIMEOUT_SECONDS = 2.0
ALL = "SELECT ?s ?p ?o WHERE { ?s ?p ?o }"
BOMB = "SELECT (COUNT(*) AS ?n) WHERE { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?n ?o }"
HUNGRY = "SELECT * WHERE { ?a ?b ?c . ?d ?e ?f } ORDER BY ?c"

FAULTS: list[tuple[str, list[Fault]]] = [
    ("401", [faults.status(401)]),
    ("403", [faults.status(403, "Forbidden")]),
    ("429, Retry-After: 1, then fine", [faults.status(429, retry_after="1")]),
    ("429, Retry-After: 3600", [faults.status(429, retry_after="3600")]),
    ("503 for ever", [faults.status(503, "overloaded")] * 9),
    ("500, then fine", [faults.status(500, "Internal Server Error")]),
    ("connection reset, then fine", [faults.reset()]),
    ("connection reset for ever", [faults.reset()] * 9),
    ("no first byte", [faults.silence()]),
    ("slow first byte (1 s)", [faults.slow_first_byte(1)]),
    ("slow drip", [faults.slow_drip(0.05)]),
    ("cut in the middle of JSON", [faults.cut()]),
    ("cut within a chunked reply", [faults.chunked_and_cut()]),
    ("an HTML page with 200", [faults.body("<html><title>Sign in</title></html>")]),
    ("an error text with 200", [faults.body("Virtuoso 42000 Error SR185: stack overflow")]),
    ("JSON, but no result, with 200", [faults.body('{"exception": "No such index"}')]),
    ("the server's time limit", [faults.status(503, "QueryTimeoutException: took too long")]),
    ("a syntax error only it sees", [faults.status(400, "Parse error at line 1: 'LATERAL'")]),
    ("wrong content type, right body", [faults.capped(3, Content_Type="text/plain")]),
    ("exactly 10,000 rows", [faults.capped(10_000)]),
    ("3 rows and X-SQL-State", [faults.capped(3, x_sql_state="S1TAT", x_sql_message="anytime")]),
    ("rows without end", [faults.endless()]),
    ("no rows", [faults.capped(0)]),
]

QUERIES = [
    ("an update", "INSERT DATA { <http://example.org/a> <http://example.org/b> 1 }"),
    ("SERVICE to an unlisted host", "SELECT * { SERVICE <http://evil.example/> { ?s ?p ?o } }"),
    ("SERVICE to a variable", "SELECT * { ?s ?p ?g SERVICE ?g { ?a ?b ?c } }"),
    ("a syntax error", "SELECT * { ?s ?p ?o"),
]


Line = tuple[str, str, float]  # a fault, what the user saw of it, and after how many seconds


async def lines() -> list[Line]:
    """Act out all faults."""
    store = Store()
    store.load(SMALL.encode(), RdfFormat.TRIG)
    with SparqlServer(store) as server, tempfile.TemporaryDirectory() as folder:

        async def see(fault: str, query: str, url: str = server.url) -> Line:
            endpoint = HttpEndpoint(url, timeout=TIMEOUT_SECONDS)
            line = await _seen(fault, endpoint, query)
            await endpoint.close()
            return line

        found = [await see("down", ALL, "http://127.0.0.1:9/sparql")]
        for name, acts in FAULTS:
            server.acts.extend(acts)
            found.append(await see(name, ALL))
            server.acts.clear()
        found += [await see(name, query) for name, query in QUERIES]
        return [*found, *await _embedded(Path(folder))]


async def _embedded(folder: Path) -> list[Line]:
    (folder / "many.nt").write_text(
        "".join(f'<http://example.org/{n}> <http://example.org/p> "{n}" .\n' for n in range(5000))
    )
    OxigraphEndpoint.load([folder / "many.nt"], folder / "store")
    endpoint = OxigraphEndpoint(folder / "store", timeout=TIMEOUT_SECONDS, memory=300 * 2**20)
    queries = {
        "query bomb (embedded)": BOMB,
        "the query after the bomb": ALL,
        "a query that eats memory (embedded)": HUNGRY,
        "the query after that": ALL,
    }
    found = [await _seen(name, endpoint, query) for name, query in queries.items()]
    await endpoint.close()
    return found


async def _seen(fault: str, endpoint: Endpoint, query: str) -> Line:
    began = time.monotonic()
    try:
        result = await endpoint.select(query, limit=20_000)
        seen = f"{len(result.rows):,} rows"
        if result.truncated:
            seen += f", cut off by {result.truncated.by}: {result.truncated.reason}"
    except AskgraphError as problem:
        seen = f"{type(problem).__name__}: {problem}"
    return fault, seen, time.monotonic() - began


@pytest.mark.slow
async def test_every_fault_ends_in_time_with_a_clear_outcome() -> None:
    found = await lines()
    assert len(found) > 30
    for fault, seen, seconds in found:
        assert seconds < TIMEOUT_SECONDS + 0.5, fault
        assert " rows" in seen or ": " in seen, (fault, seen)
