"""Searches for names that are services of their own, asked over HTTP: one request a text."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence

import httpx2

from askgraph.errors import (
    ErrorReply,
    MalformedReply,
    Overloaded,
    ServiceError,
    SetupError,
    TimedOut,
    Unreachable,
)
from askgraph.index import tokens
from askgraph.index.name_search import SECONDS, Asked, Naming, Thing, known_tags, words_of

_AT_ONCE = 4
_BUSY = frozenset({429, 502, 503, 504})
_AGENT = {"User-Agent": "askgraph (questions over SPARQL)", "Accept": "application/json"}


class HttpNameSearch(ABC):
    """A search behind an address, which the name of the search is followed by: `NAME:URL`."""

    def __init__(self, naming: Naming) -> None:
        self.naming = naming
        if not naming.place.startswith(("http://", "https://")):
            raise SetupError("this search has to know its address: write NAME:https://…")

    async def works(self, endpoint: Asked, text: str) -> bool:
        """Return whether the search finds names that hold a text which some name is."""
        try:
            (found,) = await self.search(endpoint, [text])
        except ServiceError:
            return False
        said = {*tokens(text)}
        return any(said <= {*tokens(name)} for thing in found for name, _ in thing.names)

    async def search(
        self,
        endpoint: Asked,
        texts: Sequence[str],
        *,
        languages: Sequence[str] = (),
        within: Sequence[str] = (),
        limit: int = 20,
    ) -> Sequence[Sequence[Thing]]:
        """Return the things that each text may name; four texts are asked for at a time."""
        tags = known_tags((*languages, *self.naming.languages)) or ("en",)
        slots = asyncio.Semaphore(_AT_ONCE)
        async with httpx2.AsyncClient(timeout=SECONDS, headers=_AGENT) as client:

            async def found(text: str) -> list[Thing]:
                if not words_of(text):
                    return []
                async with slots:
                    parameters = self.parameters(text, tags[0], limit)
                    place = self.naming.place
                    try:
                        reply = await client.get(place, params=dict(parameters))
                    except httpx2.TimeoutException as error:
                        raise TimedOut(f"{place} did not reply within {SECONDS:g} s") from error
                    except httpx2.HTTPError as error:
                        raise Unreachable(f"{place} cannot be reached: {error}") from error
                    said = f"{place} replied with status {reply.status_code}"
                    if reply.status_code in _BUSY:
                        raise Overloaded(said)
                    if reply.status_code != 200:
                        raise ErrorReply(said)
                    try:
                        content: object = reply.json()
                    except ValueError as error:
                        raise MalformedReply(f"{place} replied with no JSON") from error
                things = list(self.things(content, tags[0]))
                kept = (one for one in things if not within or {*within} & {*one.classes})
                return list(kept)[:limit]

            return await asyncio.gather(*map(found, texts))

    @abstractmethod
    def parameters(self, text: str, language: str, limit: int) -> Mapping[str, str]:
        """Return the parameters of the request for a text."""

    @abstractmethod
    def things(self, content: object, language: str) -> Iterable[Thing]:
        """Return the things of a reply, which may hold anything that is JSON."""


def listed(content: object, key: str) -> list[Mapping[str, object]]:
    """Return the objects in a list of a reply; none if it is not as it should be."""
    found = content.get(key) if isinstance(content, dict) else None
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
