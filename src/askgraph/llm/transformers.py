"""Language models on this machine: any causal or encoder-decoder model of transformers."""

import asyncio
import json
import threading
from collections.abc import AsyncGenerator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Unpack

import torch
from jinja2 import TemplateError

from askgraph import llm
from askgraph.errors import ErrorReply
from askgraph.llm._local_decoding import Loaded, Told, completion, loaded
from askgraph.llm.pretrained import chat_text, told_tools

__all__ = ["TransformersModel"]


class TransformersModel:
    """Completes with a model from a folder or a GGUF file, or of a name kept on this machine.

    `download` allows it to be fetched from its hub; without it nothing is. `device` and `dtype` are
    those of torch (a GPU if there is one, and the type that was saved). The folder may hold
    adapters (LoRA). It is loaded with the first request, in a thread of its own, which writes one
    completion after the other. Replies come piece by piece if one is wanted. It has beams,
    grammars, schemas and log-probabilities; tools are told and called in words. Raises `SetupError`
    if it cannot be loaded, `PromptTooLong`, and `ErrorReply` if torch (out of
    memory) or the chat template fails.
    """

    def __init__(
        self,
        model: str,
        *,
        device: str | None = None,
        dtype: str | None = None,
        download: bool = False,
    ) -> None:
        settings = json.dumps({"dtype": dtype, "files": _files(Path(model))})
        self._identity = llm.Identity("transformers", model, settings=settings, grammar=True)
        self._load = partial(loaded, model, device=device, dtype=dtype, download=download)
        self._loaded: Loaded | None = None
        self._thread: ThreadPoolExecutor | None = None

    def __repr__(self) -> str:
        return f"TransformersModel({self._identity.model!r})"

    @property
    def identity(self) -> llm.Identity:
        """The model that answers."""
        return self._identity

    @property
    def context(self) -> int | None:
        """The tokens of prompt and reply together; None before the first request."""
        return self._loaded.room if self._loaded else None

    async def complete(
        self, messages: Sequence[llm.Message], **options: Unpack[llm.Options]
    ) -> AsyncGenerator[llm.Event, None]:
        """Write the reply and stream it."""
        request = _with_tools(llm.Request.of(messages, options))
        loop = asyncio.get_running_loop()
        parts: asyncio.Queue[str | None] = asyncio.Queue()
        enough = threading.Event()

        def told(text: str) -> bool:
            if text:
                loop.call_soon_threadsafe(parts.put_nowait, text)
            return not enough.is_set()

        work = loop.run_in_executor(self._worker, self._written, request, told)
        work.add_done_callback(lambda _: parts.put_nowait(None))
        heard = ""
        try:
            while (part := await parts.get()) is not None:
                heard += part
                yield llm.TextPart(part)
            whole = await work
        finally:
            enough.set()
        for number, choice in enumerate(whole.choices):
            rest = choice.text[len(heard) :] if number == 0 else choice.text
            if rest:
                yield llm.TextPart(rest, number)
            for call in choice.calls:
                yield llm.CallPart(call, number)
        yield whole

    async def close(self) -> None:
        """Forget the model; the next request loads it again."""
        if self._thread is not None:
            self._thread.shutdown(wait=False, cancel_futures=True)
        self._thread = self._loaded = None

    @property
    def _worker(self) -> ThreadPoolExecutor:
        self._thread = self._thread or ThreadPoolExecutor(1, "transformers")
        return self._thread

    def _written(self, request: llm.Request, told: Told) -> llm.Completion:
        with self._ready(request.messages) as (local, prompt):
            return completion(local, prompt, request, told, name=self._identity.model)

    @contextmanager
    def _ready(self, messages: Sequence[llm.Message]) -> Iterator[tuple[Loaded, str]]:
        """The loaded model and the text that it goes on with; what torch raises is `ErrorReply`."""
        try:
            local = self._loaded = self._loaded or self._load()
            yield local, chat_text(messages, local.tokenizer)
        except (torch.OutOfMemoryError, RuntimeError, IndexError, TemplateError) as problem:
            first = str(problem).strip().partition("\n")[0]
            raise ErrorReply(f"the model {self._identity.model!r} failed: {first}") from problem


def _files(place: Path) -> list[list[object]]:
    """Return a fingerprint of the weights in a folder, or of a file, which may change later."""
    found = sorted(place.glob("*.safetensors")) if place.is_dir() else [place]
    found = [file for file in found if file.is_file()]
    return [[file.name, file.stat().st_size, file.stat().st_mtime_ns] for file in found]


def _with_tools(request: llm.Request) -> llm.Request:
    """Return the request with its tools, and the calls of earlier turns, in words."""
    if not request.tools:
        return request
    messages = [_spoken(message) for message in request.messages]
    told = told_tools(request.tools)
    if isinstance(messages[0], llm.System):
        messages[0] = llm.System(f"{messages[0].text}\n\n{told}")
    else:
        messages.insert(0, llm.System(told))
    return replace(request, messages=tuple(messages))


def _spoken(message: llm.Message) -> llm.Message:
    if not isinstance(message, llm.Assistant) or not message.calls:
        return message
    calls = [
        f'<tool_call>{{"name": {json.dumps(call.name)}, "arguments": {call.arguments}}}</tool_call>'
        for call in message.calls
    ]
    return llm.Assistant("\n".join([message.text, *calls]).strip())
