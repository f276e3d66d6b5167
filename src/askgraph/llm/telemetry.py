"""A language model whose calls are OpenTelemetry spans with the `gen_ai` attributes.

Spans go to the tracer provider of the process, if one is set up. They contain names, numbers and
the outcome, but no text of messages or replies, and no key.
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Unpack
from urllib.parse import urlsplit

from opentelemetry import trace
from opentelemetry.util.types import AttributeValue

from askgraph import llm
from askgraph.errors import AskgraphError

__all__ = ["TelemetryModel"]


class TelemetryModel(llm.ModelWrapper):
    """Creates a span for every call of `inner`, with its usage and outcome."""

    def __init__(
        self, inner: llm.LanguageModel, *, tracer_provider: trace.TracerProvider | None = None
    ) -> None:
        super().__init__(inner)
        self._tracer = trace.get_tracer("askgraph.llm", tracer_provider=tracer_provider)

    async def complete(
        self, messages: Sequence[llm.Message], **options: Unpack[llm.Options]
    ) -> AsyncGenerator[llm.Event, None]:
        """Send the messages and stream the reply."""
        request = llm.Request.from_options(messages, options)
        address = urlsplit(self.identity.address)
        attributes: dict[str, AttributeValue | None] = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": self.identity.provider,
            "gen_ai.request.model": self.identity.model,
            "gen_ai.request.choice.count": request.n if request.n > 1 else None,
            "gen_ai.request.max_tokens": request.max_tokens,
            "gen_ai.request.seed": request.seed,
            "gen_ai.request.temperature": request.temperature,
            "gen_ai.request.top_p": request.top_p,
            "gen_ai.request.stop_sequences": request.stop or None,
            "gen_ai.output.type": "text" if request.schema is None else "json",
            "server.address": address.hostname,
            "server.port": address.port,
        }
        span = self._tracer.start_span(
            f"chat {self.identity.model}",
            kind=trace.SpanKind.CLIENT,
            attributes={name: value for name, value in attributes.items() if value is not None},
        )
        try:
            async with aclosing(self._inner.complete(messages, **options)) as stream:
                async for event in stream:
                    if isinstance(event, llm.Completion):
                        span.set_attributes(_build_response_attributes(event))
                    elif isinstance(event, llm.Restart):
                        span.add_event("restart")
                    yield event
        except AskgraphError as problem:
            kind = type(problem).__name__
            span.set_attribute("error.type", kind)
            span.set_status(trace.StatusCode.ERROR, kind)
            raise
        finally:
            span.end()


def _build_response_attributes(completion: llm.Completion) -> dict[str, AttributeValue]:
    usage = completion.usage
    attributes: dict[str, AttributeValue] = {
        "gen_ai.response.model": completion.model,
        "gen_ai.response.finish_reasons": [choice.finish.value for choice in completion.choices],
        "gen_ai.usage.input_tokens": usage.input,
        "gen_ai.usage.output_tokens": usage.output,
        "gen_ai.usage.cache_read.input_tokens": usage.cached,
        "gen_ai.usage.cache_creation.input_tokens": usage.cache_written,
        "askgraph.usage.estimated": usage.estimated,
        "askgraph.stored": completion.stored,
    }
    return attributes | ({"gen_ai.response.id": completion.id} if completion.id else {})
