"""Requests and questions are spans where a tracer provider is set up."""

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from askgraph.server.telemetry import question_span, request_span

PARENT = b"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def scope(*headers: tuple[bytes, bytes]) -> dict[str, object]:
    return {"type": "http", "method": "POST", "scheme": "http", "path": "/x", "headers": [*headers]}


def test_a_question_is_a_span_within_that_of_its_request_and_of_the_caller() -> None:
    spans, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(spans))
    asked = scope((b"traceparent", PARENT), (b"authorization", b"Bearer s3cr3tvalue"))
    with request_span(asked, tracer_provider=provider) as end_span:
        with question_span("id", "graph-search", ["space"], tracer_provider=provider):
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


def test_without_a_provider_nothing_is_told() -> None:
    with request_span(scope()) as end_span, question_span("id", "guided", ["a", "b"]):
        end_span(200, "/x")
