"""Spans: names, numbers and how it ended, and no word of what was said."""

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from askgraph.errors import Overloaded
from askgraph.llm import Choice, Completion, Message, TokenUsage, User, read_completion
from askgraph.llm.scripted import ScriptedModel
from askgraph.llm.telemetry import TelemetryModel

ASKED: list[Message] = [User("What orbits the Earth?")]


@pytest.fixture
def spans() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
def provider(spans: InMemorySpanExporter) -> TracerProvider:
    made = TracerProvider()
    made.add_span_processor(SimpleSpanProcessor(spans))
    return made


async def test_a_call_is_a_span_with_the_gen_ai_attributes(
    spans: InMemorySpanExporter, provider: TracerProvider
) -> None:
    usage = TokenUsage(input=100, cached=40, output=20)
    script = ScriptedModel([Completion((Choice("The Moon."),), usage, "served", "r1")], model="m")

    await read_completion(TelemetryModel(script, tracer_provider=provider).complete(ASKED, seed=3))

    [span] = spans.get_finished_spans()
    assert span.name == "chat m"
    assert dict(span.attributes or {}) == {
        "gen_ai.operation.name": "chat", "gen_ai.provider.name": "scripted",
        "gen_ai.request.model": "m", "gen_ai.request.seed": 3, "gen_ai.output.type": "text",
        "gen_ai.response.model": "served", "gen_ai.response.id": "r1",
        "gen_ai.response.finish_reasons": ("stop",), "gen_ai.usage.input_tokens": 100,
        "gen_ai.usage.output_tokens": 20, "gen_ai.usage.cache_read.input_tokens": 40,
        "gen_ai.usage.cache_creation.input_tokens": 0, "askgraph.usage.estimated": False,
        "askgraph.stored": False,
    }  # fmt: skip
    assert "Moon" not in span.to_json()
    assert "orbits" not in span.to_json()


async def test_a_failure_ends_the_span_with_its_kind(
    spans: InMemorySpanExporter, provider: TracerProvider
) -> None:
    model = TelemetryModel(ScriptedModel([Overloaded("busy")]), tracer_provider=provider)

    with pytest.raises(Overloaded):
        await read_completion(model.complete(ASKED))

    [span] = spans.get_finished_spans()
    assert (span.attributes or {})["error.type"] == "Overloaded"
    assert not span.status.is_ok
