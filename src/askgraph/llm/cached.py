"""A language model whose completions are kept on disk, so that the same request costs once."""

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

_VERSION = 1


class CachedModel(llm.ModelAround):
    """Keeps the completions of `inner` in a folder, one file each, without end.

    The key is the model's identity and the whole request: messages, tools, schema and all options.
    The same request gives the same completion for ever; for other samples change `seed`. Cut-off
    and empty completions are not kept. A file that is damaged counts as absent. What comes from
    the disk has `stored` set. Files hold the questions and replies as text, and no key.
    """

    def __init__(self, inner: llm.LanguageModel, folder: Path | str) -> None:
        super().__init__(inner)
        self._folder = Path(folder)

    async def complete(
        self, messages: Sequence[llm.Message], **options: Unpack[llm.Options]
    ) -> AsyncGenerator[llm.Event, None]:
        """Stream the stored reply, or send the messages and store it."""
        request = llm.Request.of(messages, options)
        key = json.dumps([_VERSION, request_to_json(self.identity, request)], sort_keys=True)
        kept = await asyncio.to_thread(self._read, key)
        if kept is not None:
            for part in kept.parts():
                yield part
            yield kept
            return
        async with aclosing(self._inner.complete(messages, **options)) as stream:
            async for event in stream:
                if isinstance(event, llm.Completion) and _lasting(event):
                    with contextlib.suppress(OSError):  # a full disk costs money, not the answer
                        await asyncio.to_thread(self._write, key, event)
                yield event

    def _file(self, key: str) -> Path:
        name = hashlib.sha256(key.encode()).hexdigest()
        return self._folder / name[:2] / f"{name}.json"

    def _read(self, key: str) -> llm.Completion | None:
        """Return the completion stored under a key; None if there is none, or none sound."""
        try:
            head, _, body = self._file(key).read_bytes().partition(b"\n")
            known = json.loads(head)
            if known != {"key": key, "sha256": hashlib.sha256(body).hexdigest()}:
                return None
            return _completion(json.loads(body))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def _write(self, key: str, completion: llm.Completion) -> None:
        body = json.dumps(asdict(completion)).encode()
        head = json.dumps({"key": key, "sha256": hashlib.sha256(body).hexdigest()}).encode()
        write_private(self._file(key), head + b"\n" + body)


def _lasting(completion: llm.Completion) -> bool:
    """Return whether every choice has content, and is whole."""
    return all(
        choice.finish is not llm.Finish.LENGTH and (choice.text or choice.calls or choice.refusal)
        for choice in completion.choices
    )


def request_to_json(identity: llm.Identity, request: llm.Request) -> dict[str, Any]:
    """Return everything that a model's reply depends on."""
    messages = [[type(message).__name__, asdict(message)] for message in request.messages]
    tools = [[tool.name, tool.description, dict(tool.parameters)] for tool in request.tools]
    options = {
        name: value
        for name, value in vars(request).items()
        if name not in ("messages", "tools", "schema", "grammar")
    }
    if request.grammar is not None:
        options["grammar"] = request.grammar
    schema = None if request.schema is None else dict(request.schema)
    return {
        "identity": identity.told,
        "messages": messages,
        "tools": tools,
        "schema": schema,
        "options": options,
    }


def _completion(value: dict[str, Any]) -> llm.Completion:
    """Read a stored completion; `KeyError`, `TypeError` or `ValueError` if it is none."""
    choices = tuple(
        llm.Choice(
            **{
                **choice,
                "calls": tuple(llm.ToolCall(**call) for call in choice["calls"]),
                "finish": llm.Finish(choice["finish"]),
                "logprobs": tuple(llm.TokenLogprob(**token) for token in choice["logprobs"]),
            }
        )
        for choice in value["choices"]
    )
    usage = llm.TokenUsage(**value["usage"])
    return llm.Completion(**{**value, "choices": choices, "usage": usage, "stored": True})
