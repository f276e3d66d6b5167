"""What the publishers of a workspace's graphs say of them, kept in schema.org's words (JSON-LD)."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from askgraph.errors import ServiceError, SetupError
from askgraph.metadata.store import write_whole
from askgraph.workspace.running import result_of
from askgraph.workspace.sources import is_url

if TYPE_CHECKING:
    from askgraph.endpoint.public_only import Guard
    from askgraph.metadata.descriptions import Description

__all__ = ["described_resource", "keep_descriptions", "kept_descriptions", "own_pages"]

_KINDS = ("application/ld+json", "text/html")


def described_resource(
    source: str, *, seconds: float = 20.0, guard: "Guard | None" = None
) -> "tuple[Description, ...]":
    """Return what a page, or a file, says of a resource in schema.org's words.

    `guard` says which addresses a page may come from.

    Raises `SetupError` where a file cannot be read or holds neither JSON-LD nor HTML,
    `ServiceError` where a page does not come.
    """
    from askgraph.metadata.descriptions import descriptions_in

    if not is_url(source):
        return _read(Path(source))
    from askgraph.endpoint.documents import fetched

    document = result_of(fetched(source, accept=_KINDS, timeout=seconds, guard=guard))
    return descriptions_in(document.content.decode("utf-8", "replace"))


def own_pages(
    url: str, *, seconds: float = 20.0, guard: "Guard | None" = None
) -> "tuple[tuple[Description, ...], str]":
    """Return what the page at an endpoint's address, else that of its host, says; and where.

    Where neither says anything, the second is why.
    """
    why = "no description"
    for page in dict.fromkeys((url, urljoin(url, "/"))):
        try:
            if found := described_resource(page, seconds=seconds, guard=guard):
                return found, page
        except (ServiceError, SetupError) as error:
            why = str(error)
    return (), why


def keep_descriptions(path: Path, descriptions: "Sequence[Description]") -> None:
    """Write descriptions in place of those that were there."""
    from askgraph.metadata.descriptions import json_ld_of

    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, json_ld_of(descriptions))


def kept_descriptions(path: Path) -> "tuple[Description, ...]":
    """Return the descriptions in a file, none where it is missing.

    Raises `SetupError` where it cannot be read or is broken.
    """
    return _read(path) if path.is_file() else ()


def _read(path: Path) -> "tuple[Description, ...]":
    from askgraph.metadata.descriptions import descriptions_in

    try:
        return descriptions_in(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise SetupError(f"{str(path)!r} cannot be read: {error}") from error
    except SetupError as error:
        raise SetupError(f"{str(path)!r}: {error}") from error
