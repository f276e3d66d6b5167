"""External entity linkers: take a text, return spans with the IRIs that they mean.

A linker is a plugin of the kind `linker`: a class that is constructed with an address and
implements `EntityLinker`. `http` sends requests to a server in one of several formats, among them
those of Falcon 2.0 and ReFinED; `spacy` runs a pipeline in this process; other packages may add
more.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, cast

from askgraph import plugins
from askgraph.errors import SetupError

HTTP_FORMATS = ("falcon", "refined")
"""Formats of servers for the plugin `http`; each is also the name of a linker."""


@dataclass(frozen=True)
class EntitySpan:
    """A span of a text and its meaning."""

    start: int  # its first character
    end: int  # one more than its last character; `start` if the linker does not report positions
    iri: str  # the linker's IRI of the meaning
    score: float = 1.0  # the linker's confidence, 0 to 1
    relation: bool = False  # whether the meaning is a relation, not an entity


class EntityLinker(Protocol):
    """Finds the entities that a text names."""

    async def find_spans(self, text: str, language: str | None) -> Sequence[EntitySpan]:
        """Return the spans in the order of the text; raise `ServiceError` if a server fails."""


def create_linker(name: str, address: str = "") -> EntityLinker:
    """Return the linker of a name at an address; a URL alone is an address of the plugin `http`.

    The address may also follow the name, after an `@`.

    Raises:
        SetupError: there is no such linker, or the address is invalid.
    """
    if name.startswith(("http://", "https://")):
        name, address = "http", name
    elif not address:
        name, _, address = name.partition("@")
    if name in HTTP_FORMATS:
        return cast("EntityLinker", plugins.load("linker", "http")(address, form=name))
    if name not in plugins.list_names("linker"):
        available = ", ".join(sorted((*plugins.list_names("linker"), *HTTP_FORMATS)))
        problem = f"no linker {name!r}" if name else "the linker has no name"
        raise SetupError(f"{problem}: 'linker' must be a URL or one of {available}")
    return cast("EntityLinker", plugins.load("linker", name)(address))
