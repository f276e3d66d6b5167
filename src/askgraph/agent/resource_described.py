"""What the publisher of a graph says of it, for questions about the resource itself."""

import re
from collections.abc import Mapping, Sequence

from askgraph.agent.room import Piece
from askgraph.graph import KnowledgeGraph
from askgraph.index.tokens import stem, tokens
from askgraph.metadata.descriptions import Description
from askgraph.tools.shown import quoted

__all__ = ["description_pieces"]

_ASKED: Mapping[str, str] = {
    "license": "license licence licensed",
    "publisher": "publisher published provider provided maintained",
    "version": "version release released",
    "modified": "modified updated update",
    "endpoint": "endpoint sparql",
    "url": "homepage website",
    "kind": "dataset resource catalogue catalog",
}
"""The fields of a description, and the words of a question that ask for each."""

_FIELDS = ("name", *(field for field in _ASKED if field != "kind"))
_LENGTHS = (600, 150)  # characters of the description proper


def description_pieces(
    texts: Sequence[str], graph: KnowledgeGraph, *, certain: bool = False
) -> list[Piece]:
    """Return the descriptions of a graph that the texts ask about, each in several lengths.

    They ask about one where they name it or a field that it has; all are where that is `certain`.
    """
    text = "\n".join(texts)
    return [
        Piece(tuple(dict.fromkeys(_told(graph, one, length) for length in _LENGTHS)))
        for one in graph.described
        if certain or _asked(one, text)
    ]


def _asked(one: Description, text: str) -> bool:
    words, name = _stems(text), _stems(one.name)
    asking = _stems(" ".join(_ASKED[field] for field in _ASKED if getattr(one, field)))
    alone = re.search(rf"(?<!\w){re.escape(one.name)}(?!\w)", text)
    called = alone is not None if len(name) == 1 else name <= words
    return bool(asking & words) or bool(name and called)


def _stems(text: str) -> set[str]:
    return {stem(token) for token in tokens(text)}


def _told(graph: KnowledgeGraph, one: Description, length: int) -> str:
    said = [
        f"{field} {quoted(getattr(one, field), length)}"
        for field in (*_FIELDS, "description")
        if getattr(one, field)
    ]
    return f"{one.kind} {graph.name}: {'; '.join(said)}"
