"""An endpoint with habits answers like any other; what cannot be read is said without the data."""

import ssl
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from pyoxigraph import QueryResultsFormat, Store
from tests.each import for_each
from tests.servers import faults
from tests.servers.sparql import Habits, SparqlServer

from askgraph.endpoint.http import HttpEndpoint
from askgraph.errors import ServiceError, SetupError, Unauthorised, Unreachable
from askgraph.workspace import Workspace
from askgraph.workspace.run_sync import run_coroutine

ALL = "SELECT ?s ?p ?o { ?s ?p ?o } ORDER BY ?s ?p ?o"
LONG = ALL + " # " + "x" * 3000
XML, CSV, TSV = QueryResultsFormat.XML, QueryResultsFormat.CSV, QueryResultsFormat.TSV


@for_each(
    ("habits", "ways"),
    (Habits(ways=("form",)), ["GET", "form", "form"]),
    (Habits(ways=("form", "body"), refusal=501), ["GET", "form", "form"]),
    (Habits(ways=("body",), refusal=415), ["GET", "form", "body", "body"]),
    (Habits(ways=("GET",)), ["GET", "form", "body", "GET"]),
    (Habits(ways=("GET", "body")), ["GET", "form", "body"]),
    (Habits(ways=()), ["GET", "form", "body", "body"]),
)
async def test_a_query_is_sent_in_the_way_that_the_server_takes(
    sparql_server: SparqlServer, habits: Habits, ways: list[str]
) -> None:
    sparql_server.habits = habits
    sparql_server.requests.clear()
    endpoint = HttpEndpoint(sparql_server.url)
    counts = []
    for query in (ALL, LONG):
        try:
            counts.append(len((await endpoint.select(query)).rows))
        except ServiceError as error:
            assert not habits.ways and "status 405" in str(error)
    await endpoint.close()

    assert counts == ([20, 20] if habits.ways else [])
    assert [request.way for request in sparql_server.requests] == ways


@for_each("format", [XML, TSV, CSV])
async def test_results_in_other_formats_are_read(
    sparql_server: SparqlServer, format: QueryResultsFormat
) -> None:
    query = "SELECT ?o ?none { ?s ?p ?o FILTER(!isBlank(?o)) } ORDER BY STR(?o)"
    sparql_server.habits = Habits()
    endpoint = HttpEndpoint(sparql_server.url)
    expected = (await endpoint.select(query)).rows
    sparql_server.habits = Habits(format=format)
    result = await endpoint.select(query)
    cut = await endpoint.select(query, limit=3)
    truth = await endpoint.ask("ASK { ?s ?p ?o }") if format != CSV else True
    await endpoint.close()

    assert truth is True and result.variables == ("o", "none")
    assert len(cut.rows) == 3 and cut.truncated
    texts = [[getattr(term, "value", None) for term in row] for row in expected]
    assert [[getattr(term, "value", None) for term in row] for row in result.rows] == texts
    assert format == CSV or result.rows == expected  # CSV states no languages and datatypes
    assert {type(row[0]) for row in result.rows} == {type(row[0]) for row in expected}


@for_each(
    ("kind", "text", "words"),
    ("text/turtle", "@prefix ex: <http://a.example/> .\nex:SECRET ex:p 1 .", "sent RDF"),
    ("text/plain", '<http://a.example/s> <http://a.example/p> "SECRET" .', "sent RDF"),
    ("application/rdf+xml", "<?xml version='1.0'?>\n<rdf:RDF>SECRET</rdf:RDF>", "sent RDF"),
    ("text/xml", "<rows><row>SECRET</row></rows>", "XML that is no SPARQL result"),
    ("application/sparql-results+xml", "<sparql><head>", "XML results are cut off"),
    ("text/html", "<html><p>" + "word " * 900 + "SECRET</p></html>", "a web page"),
)
async def test_a_reply_without_results_is_not_repeated(
    sparql_server: SparqlServer, kind: str, text: str, words: str
) -> None:
    sparql_server.always = faults.body(text, kind=kind)
    endpoint = HttpEndpoint(sparql_server.url)
    with pytest.raises(ServiceError, match=words) as raised:
        await endpoint.select(ALL)
    await endpoint.close()
    assert "SECRET" not in str(raised.value) and len(str(raised.value)) < 350


async def test_triples_in_json_ld_are_read(sparql_server: SparqlServer) -> None:
    text = '[{"@id": "e:a", "e:p": [{"@value": "x"}]}]'
    sparql_server.always = faults.body(text, kind="application/ld+json")
    endpoint = HttpEndpoint(sparql_server.url)
    graph = await endpoint.construct("CONSTRUCT WHERE { ?s ?p ?o }", limit=5)
    await endpoint.close()
    assert [str(triple) for triple in graph.triples] == ['<e:a> <e:p> "x"']


async def test_digest_authentication(
    sparql_server: SparqlServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("T_USER", "me")
    monkeypatch.setenv("T_SECRET", "s3cr3t")
    sparql_server.habits = Habits(digest=("me", "s3cr3t"))
    endpoint = HttpEndpoint(
        sparql_server.url, auth="digest", user_env="T_USER", password_env="T_SECRET"
    )
    assert len((await endpoint.select(ALL)).rows) == len((await endpoint.select(LONG)).rows) == 20
    sparql_server.habits = Habits(digest=("me", "other"))
    with pytest.raises(Unauthorised, match="rejects the credentials"):
        await endpoint.ask("ASK {}")
    await endpoint.close()
    stranger = HttpEndpoint(sparql_server.url)
    with pytest.raises(Unauthorised, match="auth = 'digest'"):
        await stranger.ask("ASK {}")
    await stranger.close()


def write_certificate(file: Path) -> ssl.SSLContext:
    """Write a self-signed certificate for 127.0.0.1, and return the context of its server."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False
        )
        .sign(key, hashes.SHA256())
    )
    file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    private = file.with_suffix(".key")
    private.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file, private)
    return context


async def test_a_certificate_of_ones_own_is_trusted_by_a_setting(
    small_store: Store, tmp_path: Path
) -> None:
    file = tmp_path / "own.pem"
    with SparqlServer(small_store, tls=write_certificate(file)) as server:
        stranger, trusting = HttpEndpoint(server.url), HttpEndpoint(server.url, ca_file=str(file))
        with pytest.raises(Unreachable, match=r"`ca_file` \(--ca-file\).*SSL_CERT_FILE"):
            await stranger.ask("ASK {}")
        assert await trusting.ask("ASK { ?s ?p ?o }")
        await stranger.close()
        await trusting.close()
    with pytest.raises(SetupError, match="ca_file"):
        HttpEndpoint(server.url, ca_file=str(tmp_path / "none.pem"))


def test_data_in_named_graphs_only_is_asked(tmp_path: Path) -> None:
    store = Store()
    store.update("INSERT DATA { GRAPH <e:g> { <e:a> <e:p> 1 } GRAPH <e:h> { <e:b> <e:p> 2 } }")
    workspace = Workspace(tmp_path)
    with SparqlServer(store, union=False) as server:
        profile = workspace.add("named", [server.url])
        assert profile.triples == 2
        assert "questions go to the union of 2 named graphs" in profile.cuts[0]
        for graph in (workspace.graph("named"), workspace.open(server.url)):
            result = run_coroutine(graph.endpoint.select("SELECT ?s { ?s ?p ?o }"))
            run_coroutine(graph.endpoint.close())
            assert {row[0].value for row in result.rows} == {"e:a", "e:b"}  # type: ignore[union-attr]
