"""Entity linkers that are not ours: a text in, spans with the IRIs that they mean out.

A linker is a plugin of the kind `linker`: a class that is made with an address and fits
`EntityLinker`. `http` asks a server in one of several forms, among them those of Falcon 2.0 and
ReFinED; `spacy` runs a pipeline in place; another package may bring one more.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, cast

from askgraph import plugins
from askgraph.errors import SetupError

FORMS = ("falcon", "refined")
"""Linkers whose servers the plugin `http` asks in their own form."""


@dataclass(frozen=True)
class Span:
    """A stretch of a text, from `start` to before `end` in characters, and its meaning.

    It is empty if the linker does not say where it stands. `iri` is the linker's name for what it
    means, `score` its certainty (0–1); `relation` says that it means a relation, no thing.
    """

    start: int
    end: int
    iri: str
    score: float = 1.0
    relation: bool = False


class EntityLinker(Protocol):
    """Finds the things that a text names."""

    async def spans(self, text: str, language: str | None) -> Sequence[Span]:
        """Return the spans in the order of the text.

        Raises `ServiceError` if a server fails.
        """
        ...


def linker_of(name: str, address: str = "") -> EntityLinker:
    """Return the linker of a name at an address; a URL alone is one of the plugin `http`.

    The address may also stand in the name, behind an `@`.
    Raises `SetupError` if there is no such linker, and for an address that is none.
    """
    if name.startswith(("http://", "https://")):
        name, address = "http", name
    elif not address:
        name, _, address = name.partition("@")
    if name in FORMS:
        return cast("EntityLinker", plugins.load("linker", "http")(address, form=name))
    if name not in plugins.list_names("linker"):
        there = ", ".join(sorted((*plugins.list_names("linker"), *FORMS)))
        wrong = f"no linker {name!r}" if name else "no linker is named"
        raise SetupError(f"{wrong}: 'linker' is a URL, or one of {there}")
    return cast("EntityLinker", plugins.load("linker", name)(address))
