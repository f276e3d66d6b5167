"""Entities of XML: documents that define them so that they grow, or reach out, are refused."""

from collections.abc import Iterable
from xml.parsers import expat

from askgraph.errors import SetupError

__all__ = ["check_entities"]

_ENTITIES = 1000  # that a document may define
_LONGEST = 1000  # characters of one
_PREDEFINED = ("&#", "&amp;", "&lt;", "&gt;", "&quot;", "&apos;")


def check_entities(name: str, content: Iterable[bytes]) -> None:
    """Raise `SetupError` if a document of XML defines entities by others, by files or at length.

    Only what stands before its first element is looked at. What is no XML, or broken, passes: that
    is for the reader of RDF to say.
    """
    parts = iter(content)
    first = next(parts, b"")
    if b"<" not in first[:1024]:
        return
    definitions = _Definitions(name)
    parser = expat.ParserCreate()
    parser.EntityDeclHandler = definitions.entity
    parser.StartElementHandler = definitions.begun
    try:
        parser.Parse(first, False)
        for part in parts:
            parser.Parse(part, False)
    except (_Begun, expat.ExpatError):
        return


class _Begun(Exception):
    """The document itself begins: no more definitions come."""


class _Definitions:
    """Looks at each definition of an entity."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._seen = 0

    def entity(self, name: str, parameter: bool, value: str | None, *_: object) -> None:
        self._seen += 1
        if self._seen > _ENTITIES:
            raise SetupError(f"{self._name} defines more than {_ENTITIES:,} entities")
        if parameter or value is None or _grows(value):
            raise SetupError(
                f"{self._name} defines the entity {name[:40]!r} by others, by a file or at great"
                " length, which may grow beyond bounds: write it out"
            )

    def begun(self, *_: object) -> None:
        raise _Begun


def _grows(value: str) -> bool:
    for known in _PREDEFINED:
        value = value.replace(known, "")
    return "&" in value or len(value) > _LONGEST
