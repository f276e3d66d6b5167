"""A language model whose HTTP traffic is written down, or played again without any server."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Unpack

import httpx2

from askgraph.llm import Event, Identity, LanguageModel, Message, Options
from askgraph.llm._cassette import Player, Recorder

__all__ = ["RecordedModel"]


class RecordedModel:
    """Records to a file, or plays it again, what a model says over HTTP.

    `make` builds the model over the transport that it is given. With `record` requests are sent
    and each exchange is added to the file, failures and streams included; without, nothing is sent
    and no key is needed. The file holds no key, whatever the server sends back.

        RecordedModel("moon.jsonl", lambda transport: OpenAIModel("m", transport=transport))
    """

    def __init__(
        self,
        path: Path | str,
        make: Callable[[httpx2.AsyncBaseTransport], LanguageModel],
        *,
        record: bool = False,
    ) -> None:
        self._model = make(Recorder(Path(path)) if record else Player(Path(path)))

    @property
    def identity(self) -> Identity:
        """Which model answers, or answered."""
        return self._model.identity

    async def complete(
        self, messages: Sequence[Message], **options: Unpack[Options]
    ) -> AsyncGenerator[Event, None]:
        """Send the messages, or repeat the reply to them."""
        async with aclosing(self._model.complete(messages, **options)) as stream:
            async for event in stream:
                yield event

    async def close(self) -> None:
        """Close the connections."""
        await self._model.close()
