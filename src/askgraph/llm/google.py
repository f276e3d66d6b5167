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
from askgraph.llm._streams import Assembly, read_arguments, refuse_beams, topped_up
from askgraph.llm.structured import refuse_grammar

__all__ = ["GoogleModel"]


@dataclass(eq=False, repr=False)
class GoogleModel(ModelServer[Client]):
    """Completes through Google's server or one like it; `key_env` names its key's variable.

    `extra` are further fields of the request's configuration, such as `thinking_config`. Times are
    in seconds: to connect, to the first piece of the reply, for all of it. All that is sent is
    logged in the file `sent`. Fails at once; `retried` tries again.
    """

    provider = "gcp.gemini"

    base_url: str = "https://generativelanguage.googleapis.com"
    key_env: str | None = "GEMINI_API_KEY"

    def complete(
        self, messages: Sequence[llm.Message], **options: Unpack[llm.Options]
    ) -> AsyncGenerator[llm.Event, None]:
        """Send the messages and stream the reply."""
        request = llm.Request.of(messages, options)
        refuse_beams(request, self.identity)
        refuse_grammar(request, self.identity)

        def ask(choices: int, already: int) -> AsyncGenerator[llm.Event, None]:
            return self._timed(self._one(request, choices, already))

        return topped_up(ask, request.n)

    async def _one(
        self, request: llm.Request, choices: int, already: int
    ) -> AsyncGenerator[llm.Event, None]:
        assembly = Assembly(request, model=self.model)
        settings = config(request, choices=choices, already=already) | dict(self.extra)
        client = self.library()
        try:
            replies = await client.aio.models.generate_content_stream(
                model=self.model,
                contents=contents(request.messages),
                config=types.GenerateContentConfig.model_validate(settings),
            )
            assert isinstance(replies, AsyncGenerator)
            async with aclosing(replies):
                async for reply in replies:
                    for event in read_response(reply, assembly):
                        yield event
                    if assembly.full:
                        break
        except errors.APIError as problem:
            headers = getattr(problem.response, "headers", None) or {}
            raise self._status_failure(problem.code, problem.iterate_details, headers) from problem
        except (httpx2.HTTPError, errors.UnknownApiResponseError, ValueError) as problem:
            raise self._connection_failure(problem) from problem
        if not assembly.full:
            self._check_end(assembly, "content")
        for event in assembly.ending():
            yield event

    def _library(self, client: httpx2.AsyncClient) -> Client:
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

_CHOICE = {"auto": "AUTO", "none": "NONE", "required": "ANY"}


def contents(messages: tuple[llm.Message, ...]) -> list[Any]:
    """Return the messages as turns of user and model, without the system's."""
    spoken = [message for message in messages if not isinstance(message, llm.System)]
    return [
        types.Content(
            role="model" if own else "user",
            parts=[part for message in group for part in _parts(message)],
        )
        for own, group in groupby(spoken, key=lambda message: isinstance(message, llm.Assistant))
    ]


def config(request: llm.Request, *, choices: int, already: int) -> dict[str, Any]:
    """Return everything else of a request, for so many choices."""
    system = [message.text for message in request.messages if isinstance(message, llm.System)]
    wanted: dict[str, Any] = {
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
        wanted["response_mime_type"] = "application/json"
        wanted["response_json_schema"] = dict(request.schema)
    if request.effort:
        wanted["thinking_config"] = {"thinking_level": request.effort, "include_thoughts": True}
    if request.tools:
        wanted["tools"] = [{"function_declarations": [_tool(tool) for tool in request.tools]}]
        wanted["tool_config"] = {"function_calling_config": _calling(request.tool_choice)}
    return {key: value for key, value in wanted.items() if value is not None}


def read_response(reply: types.GenerateContentResponse, assembly: Assembly) -> Iterator[llm.Event]:
    """Add a piece of the reply to the assembly and yield its parts."""
    assembly.model = reply.model_version or assembly.model
    assembly.id = reply.response_id or assembly.id
    if reply.usage_metadata:
        usage = reply.usage_metadata
        thought = usage.thoughts_token_count or 0
        assembly.usage = llm.TokenUsage(
            input=(usage.prompt_token_count or 0) + (usage.tool_use_prompt_token_count or 0),
            cached=usage.cached_content_token_count or 0,
            output=(usage.candidates_token_count or 0) + thought,
            reasoning=thought,
        )
    blocked = reply.prompt_feedback and reply.prompt_feedback.block_reason
    if blocked and not reply.candidates:
        assembly.refusal(f"the prompt was blocked: {blocked.value}")
        assembly.finish(llm.Finish.REFUSED)
    for at, candidate in enumerate(reply.candidates or []):
        yield from _candidate(candidate, assembly, candidate.index or at)


def _candidate(candidate: types.Candidate, assembly: Assembly, number: int) -> Iterator[llm.Event]:
    parts = (candidate.content and candidate.content.parts) or []
    for part in parts:
        if part.text:
            add = assembly.reasoning if part.thought else assembly.text
            yield add(part.text, number)
        if part.function_call:
            call = part.function_call
            assert call is not None
            at = assembly.number_of_calls(number)
            id_ = call.id or f"call_{number}_{at}"
            arguments = json.dumps(call.args or {}, ensure_ascii=False)
            assembly.call(at, id=id_, name=call.name or "", arguments=arguments, choice=number)
            if part.thought_signature:
                assembly.sign(id_, base64.b64encode(part.thought_signature).decode(), number)
    if candidate.logprobs_result:
        for token in candidate.logprobs_result.chosen_candidates or []:
            if token.token is not None and token.log_probability is not None:
                assembly.logprob(token.token, token.log_probability, number)
    if candidate.finish_reason:
        assembly.finish(_FINISH.get(candidate.finish_reason.value, llm.Finish.OTHER), number)


def _parts(message: llm.Message) -> list[types.Part]:
    match message:
        case llm.ToolResult(call, tool, text):
            response = types.FunctionResponse(id=call, name=tool, response={"output": text})
            return [types.Part(function_response=response)]
        case llm.Assistant(text, calls, _, opaque):
            signatures: dict[str, str] = json.loads(opaque) if opaque else {}
            parts = [types.Part(text=text)] if text or not calls else []
            return parts + [_made(call, signatures.get(call.id)) for call in calls]
        case llm.User(text) | llm.System(text):
            return [types.Part(text=text)]


def _made(call: llm.ToolCall, signature: str | None) -> types.Part:
    arguments = read_arguments(call)
    return types.Part(
        function_call=types.FunctionCall(id=call.id, name=call.name, args=arguments),
        thought_signature=base64.b64decode(signature) if signature else None,
    )


def _tool(tool: llm.ToolSchema) -> dict[str, Any]:
    return {
        "name": tool.name,
        "description": tool.description,
        "parameters_json_schema": dict(tool.parameters),
    }


def _calling(choice: str) -> dict[str, Any]:
    if choice in _CHOICE:
        return {"mode": _CHOICE[choice]}
    return {"mode": "ANY", "allowed_function_names": [choice]}
