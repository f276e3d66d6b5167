"""Entity linkers that are not ours: a text in, spans with the IRIs that they mean out.

A linker is a plugin of the kind `linker`: a class that is made with an address and fits
`EntityLinker`. `http` asks a server; another package may bring one that runs in place.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, cast

from askgraph import registry


@dataclass(frozen=True)
class Span:
    """A stretch of a text, from `start` to before `end` in characters, and its meaning.

    `iri` is the linker's name for it, `score` its certainty (0–1).
    """

    start: int
    end: int
    iri: str
    score: float = 1.0


class EntityLinker(Protocol):
    """Finds the things that a text names."""

    async def spans(self, text: str, language: str | None) -> Sequence[Span]:
        """Return the spans in the order of the text.

        Raises `ServiceError` if a server fails.
        """
        ...


def linker_of(name: str) -> EntityLinker:
    """Return the linker of a name: a URL, or a plugin's name with `@` and an address behind it.

    Raises `SetupError` if there is no such plugin, and for an address that is none.
    """
    if name.startswith(("http://", "https://")):
        return cast("EntityLinker", registry.load("linker", "http")(name))
    plugin, _, address = name.partition("@")
    return cast("EntityLinker", registry.load("linker", plugin)(address))
