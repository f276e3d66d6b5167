"""What stands before the handlers: who is let through, with which headers, and what is counted."""

import io
import json
import logging
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx2
import pytest
from fastapi import FastAPI, Request
from httpx2 import ASGITransport, AsyncClient
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pydantic import BaseModel
from tests.each import for_each
from tests.servers.postgres import PostgresServer
from tests.servers.served import ServedThread, sample_workspace, set_model

from askgraph.server.app import create_app
from askgraph.server.protection import MAX_BODY_BYTES, protect
from askgraph.server.settings import ServeSettings
from askgraph.server.telemetry import build_log_handler, start_question_span, start_request_span
from askgraph.workspace import Workspace

Made = Callable[..., AsyncClient]


class Body(BaseModel):
    text: str


def application(settings: ServeSettings) -> FastAPI:
    app = FastAPI()
    protect(app, settings)

    @app.get("/items/{name}")
    async def item(name: str) -> dict[str, str]:
        if name == "broken":
            raise RuntimeError("the password is hunter2hunter2")
        return {"name": name}

    @app.post("/json")
    async def sent(body: Body) -> int:
        return len(body.text)

    @app.post("/api/v1/graphs/upload")
    async def upload(request: Request) -> int:
        return sum([len(part) async for part in request.stream()])

    return app


@pytest.fixture
def made() -> Made:
    def make(**settings: object) -> AsyncClient:
        app = application(ServeSettings(**settings))  # type: ignore[arg-type]
        return AsyncClient(transport=ASGITransport(app=app), base_url="http://localhost:8000")

    return make


@pytest.fixture
def logged() -> Iterator[io.StringIO]:
    out = io.StringIO()
    handler = build_log_handler(ServeSettings(log_format="json"), out)
    logger = logging.getLogger("askgraph.server")
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    yield out
    logger.removeHandler(handler)
    logger.setLevel(level)


async def test_headers_of_safety(made: Made) -> None:
    # Every response has the headers of safety.
    for path in ("/items/a", "/nothing"):
        headers = (await made().get(path)).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy and "script-src 'self';" in policy
        assert "unsafe" not in policy and headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY" and headers["referrer-policy"] == "no-referrer"
        assert headers["cache-control"] == "no-store" and "server" not in headers
    # Images and tiles come from elsewhere only where they are wanted.
    plain = (await made().get("/items/a")).headers["content-security-policy"]
    assert "img-src 'self' data:;" in plain
    client = made(images=True, tiles="https://{s}.tiles.example/{z}/{x}/{y}.png")
    wide = (await client.get("/items/a")).headers["content-security-policy"]
    assert "img-src 'self' data: https: https://*.tiles.example;" in wide
    # An operator names further hosts.
    own = made(host="Graphs.Example")
    assert (await own.get("/items/a", headers={"Host": "graphs.example"})).status_code == 200
    client = made(host="0.0.0.0", allowed_hosts=("graphs.example", "*.inside.example"))
    for host, status in [("graphs.example", 200), ("a.inside.example", 200), ("0.0.0.0", 400)]:
        assert (await client.get("/items/a", headers={"Host": host})).status_code == status
    # Pages elsewhere read nothing unless their origin is allowed.
    origin = {"Origin": ELSEWHERE, "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors"}
    closed = await made().get("/items/a", headers=origin)
    assert "access-control-allow-origin" not in closed.headers
    allowed = made(cors_origins=(ELSEWHERE,))
    open = await allowed.get("/items/a", headers=origin)
    assert open.headers["access-control-allow-origin"] == ELSEWHERE
    assert "access-control-allow-credentials" not in open.headers
    preflight = await allowed.options(
        "/json", headers={**origin, "Access-Control-Request-Method": "POST"}
    )
    assert preflight.status_code == 200
    other = await allowed.post("/json", json={"text": "a"}, headers={"Origin": "https://b.example"})
    assert other.status_code == 403


@for_each(
    ("host", "status"),
    *((name, 200) for name in ("localhost:8000", "127.0.0.1", "[::1]:8000", "LOCALHOST")),
    *((name, 400) for name in ("evil.example", "localhost.evil.example", "evil.example:80")),
    *((name, 400) for name in ("127.0.0.1.nip.io", "")),
)
async def test_this_machine_is_asked_under_its_own_names_alone(
    made: Made, host: str, status: int
) -> None:
    response = await made().get("/items/a", headers={"Host": host})
    assert response.status_code == status
    assert status == 200 or response.json()["type"] == "urn:askgraph:problem:host"


ELSEWHERE = "https://evil.example"
CROSS, NAVIGATES = {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Mode": "navigate"}


@for_each(
    ("method", "headers", "status"),
    ("POST", {}, 200),
    ("POST", {"Origin": "http://localhost:8000"}, 200),
    ("POST", {"Origin": "https://localhost:8000"}, 200),  # a proxy took TLS off
    ("POST", {"Sec-Fetch-Site": "same-origin"}, 200),
    ("POST", {"Origin": ELSEWHERE}, 403),
    ("POST", {"Origin": "null"}, 403),
    ("POST", {"Origin": "http://localhost:8001"}, 403),
    ("POST", CROSS, 403),
    ("POST", {"Sec-Fetch-Site": "same-site"}, 403),
    ("POST", CROSS | NAVIGATES, 403),
    ("GET", {"Sec-Fetch-Site": "none"} | NAVIGATES, 200),
    ("GET", CROSS | NAVIGATES, 200),
    ("GET", CROSS | {"Sec-Fetch-Mode": "no-cors"}, 403),
    ("GET", CROSS | NAVIGATES | {"Sec-Fetch-Dest": "iframe"}, 403),
)
async def test_pages_of_other_sites_link_here_and_do_nothing_else(
    made: Made, method: str, headers: dict[str, str], status: int
) -> None:
    path, body = ("/items/a", None) if method == "GET" else ("/json", {"text": "a"})
    response = await made().request(method, path, json=body, headers=headers)
    assert response.status_code == status


async def test_a_body_is_bounded_by_what_it_says_and_by_what_comes(made: Made) -> None:
    client = made(upload_mb=2)
    large = "a" * MAX_BODY_BYTES

    async def drops() -> object:
        for _ in range(40):
            yield b'{"text": "' + b"a" * 100_000

    assert (await client.post("/json", json={"text": large})).status_code == 413
    unsaid = await client.post("/json", content=drops())  # type: ignore[arg-type]
    assert unsaid.status_code == 413
    upload = "/api/v1/graphs/upload"
    assert (await client.post(upload, content=large.encode() * 2)).json() == 2 * MAX_BODY_BYTES
    assert (await client.post(upload, content=drops())).status_code == 413  # type: ignore[arg-type]
    forged = await client.post("/json", content=b"{}", headers={"Content-Length": "-1"})
    assert forged.status_code == 413


async def test_a_bug_is_told_to_the_log_and_to_nobody_else(made: Made, logged: io.StringIO) -> None:
    response = await made().get("/items/broken")
    assert response.status_code == 500 and "hunter2" not in response.text
    assert "RuntimeError" not in response.text
    lines = [json.loads(line) for line in logged.getvalue().splitlines()]
    assert "RuntimeError" in lines[0]["exception"] and lines[1]["status"] == 500


async def test_a_request_has_one_line_in_the_log_without_its_secrets(
    made: Made, logged: io.StringIO
) -> None:
    response = await made().get(
        "/items/a?api_key=s3cr3tvalue", headers={"Authorization": "Bearer s3cr3tvalue"}
    )
    (line,) = [json.loads(line) for line in logged.getvalue().splitlines()]
    assert line["path"] == "/items/a" and line["status"] == 200
    assert line["request"] == response.headers["x-request-id"] and "s3cr3t" not in logged.getvalue()


async def test_an_id_of_the_caller_is_kept_unless_it_could_forge_a_line(made: Made) -> None:
    client = made()
    good = await client.get("/items/a", headers={"X-Request-Id": "abc-12345678"})
    assert good.headers["x-request-id"] == "abc-12345678"
    bad = await client.get("/items/a", headers={"X-Request-Id": "a b\t{}"})
    assert bad.headers["x-request-id"].isalnum()


def test_whatever_is_logged_is_masked(logged: io.StringIO) -> None:
    log = logging.getLogger("askgraph.server.anything")
    log.warning("asked %s", "https://user:s3cr3tvalue@example.org/?token=s3cr3tvalue")
    try:
        raise ValueError("Authorization: Bearer s3cr3tvalue")
    except ValueError:
        log.exception("it failed", extra={"headers": {"Cookie": "a=s3cr3tvalue"}})
    assert len(logged.getvalue().splitlines()) == 2 and "s3cr3t" not in logged.getvalue()


async def test_metrics_count_by_route_and_not_by_address() -> None:
    app = application(ServeSettings())
    transport = ASGITransport(app=app)
    async with AsyncClient(transport=transport, base_url="http://localhost") as client:
        for name in ("a", "b", "broken"):
            await client.get(f"/items/{name}")
        await client.get("/etc/passwd")
    told = app.state.metrics.render().decode()
    assert 'askgraph_requests_total{method="GET",route="/items/{name}",status="200"} 2.0' in told
    assert 'route="other",status="404"' in told and "passwd" not in told


def test_the_server_says_how_it_is(served: str) -> None:
    methods = httpx2.get(f"{served}/api/v1/methods")
    assert methods.headers["content-encoding"] == "gzip" and methods.json()["methods"]
    with httpx2.Client(base_url=served, timeout=600) as client:
        assert client.get("/healthz").json() == {"status": "alive"}
        assert client.get("/readyz").json() == {"status": "ready"}
        run = client.post("/api/v1/ask", json={"question": "How many moons does Neptune have?"})
        assert run.status_code == 200
        told = client.get("/metrics").text
        assert 'askgraph_questions_total{graph="space",method="graph-search"' in told
        assert "askgraph_questions_waiting 0.0" in told
        assert client.get("/metrics", headers={"X-Forwarded-For": "203.0.113.7"}).status_code == 404


def test_metrics_and_health_under_failure(tmp_path: Path, postgres: PostgresServer) -> None:
    # Metrics count questions whose model failed or was left alone.
    workspace = sample_workspace(tmp_path)
    set_model(tmp_path, "http://127.0.0.1:9/v1")
    asked = {"question": "Which moons orbit Jupiter?", "method": "guided"}
    with ServedThread(workspace) as server, server.client() as one:
        replies = [one.post("/api/v1/ask", json=asked).json()["answer"] for _ in range(3)]
        told = one.get("/metrics").text
    assert all(reply["cut_short"].startswith("without the model: ") for reply in replies)
    counted = 'askgraph_questions_without_model_total{method="guided",model="%s"} %s'
    assert counted % ("failed", "1.0") in told and counted % ("left alone", "2.0") in told
    # A database that hangs is reported soon.
    database = postgres.database()
    with ServedThread(workspace, database=database) as server, server.client() as client:
        assert client.get("/readyz").json() == {"status": "ready"}
        with postgres.frozen():
            for _ in range(3):
                began = time.monotonic()
                response = client.get("/readyz")
                waited = time.monotonic() - began
                assert (response.status_code, client.get("/healthz").status_code) == (503, 200)
                assert waited < 10  # it hung for 60 s before
        end = time.monotonic() + 60
        while client.get("/readyz").status_code != 200:
            assert time.monotonic() < end
            time.sleep(0.1)


async def test_readiness_and_proxies(tmp_path: Path) -> None:
    # A server that has not started is not ready.
    app = create_app(ServeSettings(), Workspace(tmp_path))
    transport = ASGITransport(app=app)
    async with AsyncClient(transport=transport, base_url="http://10.0.0.7") as probe:
        response = await probe.get("/readyz")
        assert (response.status_code, response.json()) == (503, {"status": "starting"})
        assert (await probe.get("/healthz")).status_code == 200
    # Under a path of a proxy the same bounds hold.
    app = application(ServeSettings(upload_mb=2))
    app.root_path = "/askgraph"
    transport = ASGITransport(app=app)
    async with AsyncClient(transport=transport, base_url="http://localhost") as client:
        large = b"a" * (MAX_BODY_BYTES + 1)
        upload = await client.post("/askgraph/api/v1/graphs/upload", content=large)
        assert upload.json() == len(large)
        assert (await client.post("/askgraph/json", content=large)).status_code == 413


PARENT = b"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def scope(*headers: tuple[bytes, bytes]) -> dict[str, object]:
    return {"type": "http", "method": "POST", "scheme": "http", "path": "/x", "headers": [*headers]}


def test_spans() -> None:
    # A question is a span within that of its request and of the caller.
    spans, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(spans))
    asked = scope((b"traceparent", PARENT), (b"authorization", b"Bearer s3cr3tvalue"))
    with start_request_span(asked, tracer_provider=provider) as end_span:
        with start_question_span("id", "graph-search", ["space"], tracer_provider=provider):
            pass
        end_span(500, "/api/v1/ask")
    question, request = spans.get_finished_spans()
    assert question.name == "ask graph-search"
    assert question.parent and question.parent.span_id == request.context.span_id
    assert request.name == "POST /api/v1/ask"
    assert request.parent and f"{request.parent.trace_id:032x}" == PARENT.decode()[3:35]
    assert dict(request.attributes or {})["http.response.status_code"] == 500
    assert request.status.status_code is trace.StatusCode.ERROR
    assert "s3cr3t" not in request.to_json() + question.to_json()
    # Without a provider nothing is told.
    with start_request_span(scope()) as end_span, start_question_span("id", "guided", ["a", "b"]):
        end_span(200, "/x")
