"""What kind of query a gold query is, to group figures by."""

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass

from askgraph.errors import QueryError
from askgraph.sparql.lexer import with_declared
from askgraph.sparql.read import read
from askgraph.sparql.tree import Pattern

__all__ = ["form_and_patterns"]


def form_and_patterns(
    query: str | None, prefixes: Mapping[str, str]
) -> tuple[str | None, int | None]:
    """Return the form (`SELECT`, `ASK`, …) of a query and the number of its triple patterns.

    It may use `prefixes` without declaring them. None for what cannot be read.
    """
    if query is None:
        return None, None
    try:
        tree = read(with_declared(query, prefixes))
    except QueryError:
        return None, None
    return tree.form, sum(1 for _ in _patterns(tree.where))


def _patterns(part: object) -> Iterator[Pattern]:
    if isinstance(part, Pattern):
        yield part
    elif isinstance(part, tuple):
        for piece in part:
            yield from _patterns(piece)
    elif is_dataclass(part):
        for field in fields(part):
            yield from _patterns(getattr(part, field.name))
