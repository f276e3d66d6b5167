"""Google's Gemini through its own library, with several choices, seeds and log-probabilities."""

import base64
import json
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Unpack

import httpx2
from google.genai import Client, errors, types

from askgraph import llm
from askgraph.llm._connection import ModelServer
from askgraph.llm._streams import ReplyAssembler, parse_arguments, reject_beams, request_all_choices
from askgraph.llm.structured import reject_grammar

__all__ = ["GoogleModel"]


@dataclass(eq=False, repr=False)
class GoogleModel(ModelServer[Client]):
    """Completes through Google's server or a compatible one; `key_env` is the variable of its key.

    `extra` are further fields of the request configuration, such as `thinking_config`. Times
    are in seconds: to connect, to the first part of the reply, for all of it. All requests are
    logged in the file `sent`. Errors are raised at once; `retried` repeats calls.
    """

    provider = "gcp.gemini"
    url_parameters = frozenset()  # its library sends none

    base_url: str = "https://generativelanguage.googleapis.com"
    key_env: str | None = "GEMINI_API_KEY"

    def complete(
        self, messages: Sequence[llm.Message], **options: Unpack[llm.Options]
    ) -> AsyncGenerator[llm.Event, None]:
        """Send the messages and stream the reply."""
        request = llm.Request.from_options(messages, options)
        reject_beams(request, self.identity)
        reject_grammar(request, self.identity)

        def ask(choices: int, already: int) -> AsyncGenerator[llm.Event, None]:
            return self._limit_time(self._request_choices(request, choices, already))

        return request_all_choices(ask, request.n)

    async def _request_choices(
        self, request: llm.Request, choices: int, already: int
    ) -> AsyncGenerator[llm.Event, None]:
        assembly = ReplyAssembler(request, model=self.model)
        settings = build_config(request, choices=choices, already=already) | dict(self.extra)
        client = self.get_library()
        try:
            turns = [message for message in request.messages if not isinstance(message, llm.System)]
            replies = await client.aio.models.generate_content_stream(
                model=self.model,
                contents=[
                    types.Content(
                        role="model" if is_model else "user",
                        parts=[part for message in group for part in _build_parts(message)],
                    )
                    for is_model, group in groupby(
                        turns, key=lambda message: isinstance(message, llm.Assistant)
                    )
                ],
                config=types.GenerateContentConfig.model_validate(settings),
            )
            assert isinstance(replies, AsyncGenerator)
            async with aclosing(replies):
                async for reply in replies:
                    for event in parse_response(reply, assembly):
                        yield event
                    if assembly.is_full:
                        break
        except errors.APIError as problem:
            headers = getattr(problem.response, "headers", None) or {}
            raise self._build_status_error(problem.code, problem.details, headers) from problem
        except (httpx2.HTTPError, errors.UnknownApiResponseError, ValueError) as problem:
            raise self._build_connection_error(problem) from problem
        if not assembly.is_full:
            self._check_end(assembly, "content")
        for event in assembly.iterate_ending():
            yield event

    def _create_library(self, client: httpx2.AsyncClient) -> Client:
        return Client(
            api_key=self._key.value or "none",
            vertexai=False,
            http_options=types.HttpOptions(
                base_url=self._address,
                httpx_async_client=client,
                retry_options=types.HttpRetryOptions(attempts=1),
            ),
        )


_FINISH = {
    "STOP": llm.Finish.STOP,
    "MAX_TOKENS": llm.Finish.LENGTH,
    "SAFETY": llm.Finish.REFUSED,
    "RECITATION": llm.Finish.REFUSED,
    "BLOCKLIST": llm.Finish.REFUSED,
    "PROHIBITED_CONTENT": llm.Finish.REFUSED,
    "SPII": llm.Finish.REFUSED,
}

_CALLING_MODES = {"auto": "AUTO", "none": "NONE", "required": "ANY"}


def build_config(request: llm.Request, *, choices: int, already: int) -> dict[str, Any]:
    """Return all other fields of a request, for `choices` choices."""
    system = [message.text for message in request.messages if isinstance(message, llm.System)]
    fields: dict[str, Any] = {
        "system_instruction": "\n\n".join(system) or None,
        "candidate_count": choices if choices > 1 else None,
        "seed": None if request.seed is None else request.seed + already,
        "temperature": request.temperature,
        "top_p": request.top_p,
        "max_output_tokens": request.max_tokens,
        "stop_sequences": list(request.stop) or None,
        "response_logprobs": True if request.logprobs else None,
        "automatic_function_calling": {"disable": True},
    }
    if request.schema is not None:
        fields["response_mime_type"] = "application/json"
        fields["response_json_schema"] = dict(request.schema)
    if request.effort:
        fields["thinking_config"] = {"thinking_level": request.effort, "include_thoughts": True}
    if request.tools:
        declarations = [
            {
                "name": tool.name,
                "description": tool.description,
                "parameters_json_schema": dict(tool.parameters),
            }
            for tool in request.tools
        ]
        fields["tools"] = [{"function_declarations": declarations}]
        fields["tool_config"] = {
            "function_calling_config": {"mode": _CALLING_MODES[request.tool_choice]}
            if request.tool_choice in _CALLING_MODES
            else {"mode": "ANY", "allowed_function_names": [request.tool_choice]}
        }
    return {key: value for key, value in fields.items() if value is not None}


def parse_response(
    reply: types.GenerateContentResponse, assembly: ReplyAssembler
) -> Iterator[llm.Event]:
    """Add a piece of the reply to the assembly and yield its parts."""
    assembly.model = reply.model_version or assembly.model
    assembly.id = reply.response_id or assembly.id
    if reply.usage_metadata:
        usage = reply.usage_metadata
        thought_tokens = usage.thoughts_token_count or 0
        assembly.usage = llm.TokenUsage(
            input=(usage.prompt_token_count or 0) + (usage.tool_use_prompt_token_count or 0),
            cached=usage.cached_content_token_count or 0,
            output=(usage.candidates_token_count or 0) + thought_tokens,
            reasoning=thought_tokens,
        )
    blocked = reply.prompt_feedback and reply.prompt_feedback.block_reason
    if blocked and not reply.candidates:
        assembly.add_refusal(f"the prompt was blocked: {blocked.value}")
        assembly.set_finish(llm.Finish.REFUSED)
    for position, candidate in enumerate(reply.candidates or []):
        number = candidate.index or position
        for part in (candidate.content and candidate.content.parts) or []:
            if part.text:
                add = assembly.add_reasoning if part.thought else assembly.add_text
                yield add(part.text, number)
            if part.function_call:
                call = part.function_call
                assert call is not None
                call_index = assembly.count_calls(number)
                id_ = call.id or f"call_{number}_{call_index}"
                arguments = json.dumps(call.args or {}, ensure_ascii=False)
                assembly.add_call(
                    call_index, id=id_, name=call.name or "", arguments=arguments, choice=number
                )
                if part.thought_signature:
                    assembly.add_signature(
                        id_, base64.b64encode(part.thought_signature).decode(), number
                    )
        if candidate.logprobs_result:
            for token in candidate.logprobs_result.chosen_candidates or []:
                if token.token is not None and token.log_probability is not None:
                    assembly.add_logprob(token.token, token.log_probability, number)
        if candidate.finish_reason:
            assembly.set_finish(
                _FINISH.get(candidate.finish_reason.value, llm.Finish.OTHER), number
            )


def _build_parts(message: llm.Message) -> list[types.Part]:
    match message:
        case llm.ToolResult(call, tool, text):
            response = types.FunctionResponse(id=call, name=tool, response={"output": text})
            return [types.Part(function_response=response)]
        case llm.Assistant(text, calls, _, opaque):
            signatures: dict[str, str] = json.loads(opaque) if opaque else {}
            parts = [types.Part(text=text)] if text or not calls else []
            for tool_call in calls:
                signature = signatures.get(tool_call.id)
                part = types.Part(
                    function_call=types.FunctionCall(
                        id=tool_call.id, name=tool_call.name, args=parse_arguments(tool_call)
                    ),
                    thought_signature=base64.b64decode(signature) if signature else None,
                )
                parts.append(part)
            return parts
        case llm.User(text) | llm.System(text):
            return [types.Part(text=text)]
