"""The HTTP endpoint against a real server on loopback, one test for each way to fail."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from tests.servers import faults
from tests.servers.sparql import Fault, SparqlServer

from askgraph import errors
from askgraph.endpoint.http import HttpEndpoint

ALL = "SELECT ?s ?p ?o WHERE { ?s ?p ?o }"


@pytest.fixture
async def endpoint(sparql_server: SparqlServer) -> AsyncIterator[HttpEndpoint]:
    made = HttpEndpoint(sparql_server.url, timeout=30)
    yield made
    await made.close()


async def rows(server: SparqlServer, query: str = ALL, **settings: object) -> int:
    endpoint = HttpEndpoint(server.url, timeout=30, **settings)  # type: ignore[arg-type]
    try:
        return len((await endpoint.select(query)).rows)
    finally:
        await endpoint.close()


async def test_a_short_query_is_a_get_and_a_long_one_a_post(sparql_server: SparqlServer) -> None:
    short = await rows(sparql_server)
    long = await rows(sparql_server, ALL + " # " + "x" * 3000)
    longest = await rows(sparql_server, ALL + " # " + "x" * 100_000)

    assert short == long == longest > 0
    assert [request.method for request in sparql_server.requests] == ["GET", "POST", "POST"]
    assert sparql_server.requests[0].headers["user-agent"].startswith("askgraph/")


async def test_the_url_may_have_parameters_of_its_own(sparql_server: SparqlServer) -> None:
    endpoint = HttpEndpoint(sparql_server.url + "?key=sesame")
    assert await endpoint.ask("ASK { ?s ?p ?o }")
    await endpoint.close()

    assert sparql_server.requests[0].parameters["key"] == ["sesame"]
    assert "sesame" not in endpoint.address + repr(endpoint)


@pytest.mark.parametrize(
    ("query", "named"),
    [(ALL, []), ("SELECT ?s { graph ?g { ?s ?p ?o } }", ["http://example.org/graph1"])],
)
async def test_named_graphs_are_sent_only_with_queries_that_ask_of_them(
    sparql_server: SparqlServer, query: str, named: list[str]
) -> None:
    assert await rows(sparql_server, query, graphs=["http://example.org/graph1"]) == 2
    sent = sparql_server.requests[0].parameters
    assert sent["default-graph-uri"] == ["http://example.org/graph1"]
    assert sent.get("named-graph-uri", []) == named


BEGUN = '{"head":{"vars":["n"]},"results":{"bindings":[{"n":{"type":"literal","value":"1"}},'


@pytest.mark.parametrize(
    ("fault", "error", "words"),
    [
        (faults.status(401), errors.Unauthorised, "requires credentials"),
        (faults.status(403), errors.Unauthorised, "requires credentials"),
        (faults.status(404, "no such page"), errors.ErrorReply, "404"),
        (faults.status(400, "Parse error: line 1"), errors.QuerySyntaxError, "Parse error"),
        (faults.status(503, "QueryTimeoutException: took too long"), errors.TimedOut, "own time l"),
        (faults.body("<html><title>Login</title></html>"), errors.MalformedReply, "web page"),
        (faults.body("Virtuoso 42000 Error The estimated execution time 900 (sec) exceeds the"
                     " limit of 400 (sec).", kind="text/plain"), errors.TimedOut, "estimated"),
        (faults.body("Error: out of disk", kind="text/plain"), errors.ErrorReply, "out of disk"),
        (faults.body('{"exception": "Operation timed out."}'), errors.TimedOut, "timed out"),
        (faults.body('{"exception": "No such index"}'), errors.ErrorReply, "No such index"),
        (faults.body(BEGUN + "SPARQL-QUERY: java.util.TimeoutException: x"),
         errors.TimedOut, "TimeoutException"),
        (faults.body("{}"), errors.MalformedReply, "not a SPARQL result"),
        (faults.body('{"head":{"vars":[]},"boolean":true}'), errors.MalformedReply, "or false"),
        (faults.body(""), errors.MalformedReply, "empty"),
        (faults.body("<sparql/>", kind="application/sparql-results+xml"),
         errors.MalformedReply, "XML"),
        (faults.body("\xff\xfe", kind="image/png"), errors.ErrorReply, "instead of results"),
        (faults.cut(), errors.MalformedReply, "cut off"),
        (faults.cut(0.02), errors.MalformedReply, "cut off"),
        (faults.chunked_and_cut(), errors.MalformedReply, "cut off"),
    ],
)  # fmt: skip
async def test_each_failure_has_its_name(
    sparql_server: SparqlServer, fault: Fault, error: type[errors.AskgraphError], words: str
) -> None:
    sparql_server.always = fault
    with pytest.raises(error, match=words) as raised:
        await rows(sparql_server)
    assert type(raised.value) is error
    assert len(sparql_server.requests) == 1


async def test_a_server_that_is_down_is_unreachable() -> None:
    endpoint = HttpEndpoint("http://127.0.0.1:9/sparql")
    with pytest.raises(errors.Unreachable, match=r"127\.0\.0\.1:9"):
        await endpoint.ask("ASK {}")
    await endpoint.close()


@pytest.mark.parametrize(
    "fault",
    [
        faults.status(429, retry_after="0"),
        faults.status(503, retry_after=format_datetime(datetime.now(UTC) - timedelta(seconds=5))),
        faults.status(502),
        faults.status(504),
        faults.status(500, "Internal Server Error"),
        faults.reset(),
    ],
)
async def test_a_passing_fault_is_tried_again_and_nothing_is_lost(
    sparql_server: SparqlServer, fault: Fault
) -> None:
    expected = await rows(sparql_server)
    sparql_server.acts.append(fault)
    assert await rows(sparql_server) == expected
    assert len(sparql_server.requests) == 3


async def test_a_fault_that_stays_is_reported_after_the_retries(
    sparql_server: SparqlServer,
) -> None:
    sparql_server.always = faults.status(429, "slow down", retry_after="0")
    with pytest.raises(errors.Overloaded, match="slow down") as raised:
        await rows(sparql_server, retries=2)
    assert raised.value.retry_after == 0
    assert len(sparql_server.requests) == 3


async def test_retry_after_is_honoured_but_never_beyond_the_timeout(
    sparql_server: SparqlServer, endpoint: HttpEndpoint
) -> None:
    sparql_server.acts.append(faults.status(429, retry_after="1"))
    began = time.monotonic()
    await rows(sparql_server)
    assert time.monotonic() - began >= 1

    sparql_server.requests.clear()
    sparql_server.acts.append(faults.status(429, retry_after="3600"))
    began = time.monotonic()
    with pytest.raises(errors.Overloaded, match="3600 seconds"):
        await endpoint.select(ALL)
    with pytest.raises(errors.Overloaded, match="it asked to wait"):
        await endpoint.ask("ASK {}")
    assert time.monotonic() - began < 60
    assert len(sparql_server.requests) == 1


async def test_a_minute_has_its_budget_of_requests(sparql_server: SparqlServer) -> None:
    endpoint = HttpEndpoint(sparql_server.url, a_minute=3, timeout=30)
    for _ in range(3):
        assert await endpoint.ask("ASK {}")
    with pytest.raises(errors.Overloaded, match="3 requests a minute"):
        await endpoint.ask("ASK {}", timeout=0.5)
    await endpoint.close()
    assert len(sparql_server.requests) == 3


@pytest.mark.parametrize(
    ("fault", "settings", "words"),
    [
        (faults.silence(), {}, r"0\.3 seconds"),
        (faults.slow_drip(0.05), {}, r"0\.3 seconds"),
        (faults.silence(), {"read_timeout": 0.2, "timeout": 30}, "sent nothing"),
    ],
)
async def test_nothing_lasts_longer_than_the_timeout(
    sparql_server: SparqlServer, fault: Fault, settings: dict[str, float], words: str
) -> None:
    sparql_server.always = fault
    endpoint = HttpEndpoint(sparql_server.url, **settings)  # type: ignore[arg-type]
    began = time.monotonic()
    with pytest.raises(errors.TimedOut, match=words):
        await endpoint.select(ALL, timeout=None if settings else 0.3)
    assert time.monotonic() - began < 60
    await endpoint.close()


async def test_the_row_cap_ends_the_transfer_of_what_is_longer(
    sparql_server: SparqlServer, endpoint: HttpEndpoint
) -> None:
    sparql_server.always = faults.endless()
    result = await endpoint.select(ALL, limit=1000)
    assert len(result.rows) == 1000
    assert result.truncated and result.truncated.by == "askgraph"
    sparql_server.always = faults.capped(7)
    assert (await endpoint.select(ALL, limit=7)).truncated is None
    assert (await endpoint.select(ALL, limit=6)).truncated is not None


@pytest.mark.parametrize(
    ("fault", "query", "cut"),
    [
        (faults.capped(10_000), ALL, True),
        (faults.capped(10_000), ALL + " LIMIT 10000", False),
        (faults.capped(10_000), "SELECT * { { SELECT ?s { ?s ?p ?o } LIMIT 10000 } }", True),
        (faults.capped(9_999), ALL, False),
        (faults.capped(50, x_sparql_maxrows="50"), ALL, True),
        (faults.capped(3, x_sql_state="S1TAT", x_sql_message="anytime"), ALL, True),
    ],
)
async def test_a_cap_of_the_server_is_noticed(
    sparql_server: SparqlServer, endpoint: HttpEndpoint, fault: Fault, query: str, cut: bool
) -> None:
    sparql_server.always = fault
    result = await endpoint.select(query)
    assert (result.truncated is not None) == cut
    assert result.truncated is None or result.truncated.by == "server"


@pytest.mark.parametrize(
    ("settings", "header"),
    [
        ({"auth": "basic", "user_env": "T_USER", "password_env": "T_SECRET"},
         ("authorization", "Basic bWU6czNjcjN0")),
        ({"auth": "bearer", "token_env": "T_SECRET"}, ("authorization", "Bearer s3cr3t")),
        ({"auth": "header", "header": "X-Key", "header_env": "T_SECRET"}, ("x-key", "s3cr3t")),
    ],
)  # fmt: skip
async def test_credentials_come_from_the_environment_and_are_shown_nowhere(
    sparql_server: SparqlServer,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    settings: dict[str, str],
    header: tuple[str, str],
) -> None:
    monkeypatch.setenv("T_USER", "me")
    monkeypatch.setenv("T_SECRET", "s3cr3t")
    caplog.set_level(logging.DEBUG, "askgraph")
    caplog.set_level(logging.INFO)
    sparql_server.acts.append(faults.status(403, f"bad key {header[1]}"))
    endpoint = HttpEndpoint(sparql_server.url, **settings)  # type: ignore[arg-type]
    with pytest.raises(errors.Unauthorised) as raised:
        await endpoint.ask("ASK {}")
    await endpoint.close()

    assert sparql_server.requests[0].headers[header[0]] == header[1]
    for shown in (str(raised.value), repr(endpoint), endpoint.address, caplog.text):
        assert "s3cr3t" not in shown
        assert "bWU6czNjcjN0" not in shown


def test_settings_that_cannot_work_are_refused() -> None:
    for settings in (
        {"auth": "basic"},
        {"auth": "bearer", "token_env": "ASKGRAPH_NOT_SET"},
        {"auth": "digest"},
        {"dialect": "oracle"},
    ):
        with pytest.raises(errors.SetupError):
            HttpEndpoint("http://localhost/sparql", **settings)  # type: ignore[arg-type]
    for url in ("ftp://example.org/", "sparql", "http://me:secret@example.org/", "http://"):
        with pytest.raises(errors.SetupError) as raised:
            HttpEndpoint(url)
        assert "secret" not in str(raised.value)


async def test_redirects_are_followed_but_not_in_a_circle_nor_with_credentials_to_another_host(
    sparql_server: SparqlServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("T_SECRET", "s3cr3t")
    elsewhere = sparql_server.url.replace("127.0.0.1", "localhost")
    sparql_server.acts.append(faults.redirect(elsewhere))
    with pytest.raises(errors.ErrorReply, match="redirects to http://localhost"):
        await rows(sparql_server, auth="bearer", token_env="T_SECRET")
    assert len(sparql_server.requests) == 1

    sparql_server.acts.append(faults.redirect("/elsewhere?query=SELECT%20*%20%7B%7D"))
    assert await rows(sparql_server) == 1

    sparql_server.always = faults.redirect("/sparql")
    with pytest.raises(errors.ErrorReply, match="redirects in a loop"):
        await rows(sparql_server)


async def test_a_forbidden_query_is_never_sent_and_an_allowed_service_is_passed_on(
    sparql_server: SparqlServer, endpoint: HttpEndpoint
) -> None:
    with pytest.raises(errors.ForbiddenQuery):
        await endpoint.select("INSERT DATA { <a:b> <a:c> 1 }")
    with pytest.raises(errors.ForbiddenQuery, match=r"evil\.example"):
        await endpoint.select("SELECT * { SERVICE <http://evil.example/> { ?s ?p ?o } }")
    with pytest.raises(errors.QueryError, match="ASK"):
        await endpoint.select("ASK {}")
    assert not sparql_server.requests

    sparql_server.always = faults.capped(1)
    query = "SELECT * { SERVICE <http://other.example/> { ?s ?p ?o } }"
    assert await rows(sparql_server, query, services=frozenset({"http://other.example/"})) == 1


@pytest.mark.parametrize(
    ("server_header", "dialect", "parameter"),
    [("Apache Jena Fuseki (4.5.0)", "fuseki", "4"), ("GraphDB/10.2", "graphdb", "4"),
     ("Virtuoso/07.20", "virtuoso", None), ("something", "generic", None)],
)  # fmt: skip
async def test_the_dialect_is_known_after_the_first_reply(
    sparql_server: SparqlServer, server_header: str, dialect: str, parameter: str | None
) -> None:
    sparql_server.headers = {"Server": server_header}
    endpoint = HttpEndpoint(sparql_server.url)
    await endpoint.select(ALL)
    await endpoint.select(ALL, timeout=5)
    await endpoint.close()
    sent = sparql_server.requests[1].parameters.get("timeout", [None])
    assert sent == [parameter], dialect


async def test_an_endpoint_outlives_event_loops(endpoint: HttpEndpoint) -> None:
    async def ask_and_close() -> bool:
        try:
            return await endpoint.ask("ASK { ?s ?p ?o }")
        finally:
            await endpoint.close()

    assert await asyncio.to_thread(lambda: asyncio.run(ask_and_close()))
    assert await endpoint.ask("ASK { ?s ?p ?o }")


async def test_a_cancelled_call_leaves_the_endpoint_usable(
    sparql_server: SparqlServer, endpoint: HttpEndpoint
) -> None:
    sparql_server.acts.append(faults.silence())
    call = asyncio.create_task(endpoint.select(ALL))
    while not sparql_server.requests:  # noqa: ASYNC110 - the server has a thread of its own
        await asyncio.sleep(0.01)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert (await endpoint.select(ALL)).rows
