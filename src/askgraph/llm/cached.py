"""A language model whose completions are cached on disk, so that each request is paid once."""

import asyncio
import contextlib
import hashlib
import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import asdict
from pathlib import Path
from typing import Any, Unpack

from askgraph import llm
from askgraph.atomic_files import write_private

__all__ = ["CachedModel"]

_CACHE_FORMAT_VERSION = 1


class CachedModel(llm.ModelWrapper):
    """Caches the completions of `inner` in a folder, one file each, without expiry.

    The key is the model's identity and the whole request: messages, tools, schema and all
    options. The same request always returns the same completion; for other samples change
    `seed`. Cut-off and empty completions are not cached. A damaged file counts as absent.
    Completions from the disk have `stored` set. Files contain the questions and replies as
    text, and no key.
    """

    def __init__(self, inner: llm.LanguageModel, folder: Path | str) -> None:
        super().__init__(inner)
        self._folder = Path(folder)

    async def complete(
        self, messages: Sequence[llm.Message], **options: Unpack[llm.Options]
    ) -> AsyncGenerator[llm.Event, None]:
        """Stream the cached reply, or send the messages and cache it."""
        request = llm.Request.from_options(messages, options)
        key = json.dumps(
            [_CACHE_FORMAT_VERSION, encode_request(self.identity, request)], sort_keys=True
        )
        cached = await asyncio.to_thread(self._read_cached, key)
        if cached is not None:
            for part in cached.iterate_parts():
                yield part
            yield cached
            return
        async with aclosing(self._inner.complete(messages, **options)) as stream:
            async for event in stream:
                if isinstance(event, llm.Completion) and all(
                    choice.finish is not llm.Finish.LENGTH
                    and (choice.text or choice.calls or choice.refusal)
                    for choice in event.choices
                ):
                    with contextlib.suppress(OSError):  # a full disk costs money, not the answer
                        await asyncio.to_thread(self._write_cached, key, event)
                yield event

    def _get_path(self, key: str) -> Path:
        name = hashlib.sha256(key.encode()).hexdigest()
        return self._folder / name[:2] / f"{name}.json"

    def _read_cached(self, key: str) -> llm.Completion | None:
        """Return the completion for a key; None if it is missing or damaged."""
        try:
            head, _, body = self._get_path(key).read_bytes().partition(b"\n")
            if json.loads(head) != {"key": key, "sha256": hashlib.sha256(body).hexdigest()}:
                return None
            value = json.loads(body)
            choices = tuple(
                llm.Choice(
                    **{
                        **choice,
                        "calls": tuple(llm.ToolCall(**call) for call in choice["calls"]),
                        "finish": llm.Finish(choice["finish"]),
                        "logprobs": tuple(llm.TokenLogprob(**item) for item in choice["logprobs"]),
                    }
                )
                for choice in value["choices"]
            )
            usage = llm.TokenUsage(**value["usage"])
            return llm.Completion(**{**value, "choices": choices, "usage": usage, "stored": True})
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def _write_cached(self, key: str, completion: llm.Completion) -> None:
        body = json.dumps(asdict(completion)).encode()
        head = json.dumps({"key": key, "sha256": hashlib.sha256(body).hexdigest()}).encode()
        write_private(self._get_path(key), head + b"\n" + body)


def encode_request(identity: llm.Identity, request: llm.Request) -> dict[str, Any]:
    """Return all data that a model's reply depends on."""
    messages = [[type(message).__name__, asdict(message)] for message in request.messages]
    tools = [[tool.name, tool.description, dict(tool.parameters)] for tool in request.tools]
    options = {
        name: value
        for name, value in vars(request).items()
        if name not in ("messages", "tools", "schema", "grammar")
    }
    if request.grammar is not None:
        options["grammar"] = request.grammar
    return {
        "identity": identity.key_fields,
        "messages": messages,
        "tools": tools,
        "schema": None if request.schema is None else dict(request.schema),
        "options": options,
    }
