"""Queries as a reader compares them: laid out alike, with the same prefixes as gold."""

from functools import lru_cache

from askgraph.errors import QuerySyntaxError
from askgraph.rdf.prefixes import PrefixMap
from askgraph.sparql.layout import formatted
from askgraph.sparql.lexer import declared_prefixes

__all__ = ["laid_out"]


@lru_cache(maxsize=10_000)
def laid_out(query: str, gold: str | None) -> str:
    """Return a query laid out with the prefixes that gold declares; it means the same.

    What cannot be read comes back as it is.
    """
    return formatted(query, _prefixes(gold or ""), {})


@lru_cache(maxsize=64)
def _prefixes(gold: str) -> PrefixMap:
    try:
        return PrefixMap(declared_prefixes(gold))
    except QuerySyntaxError:
        return PrefixMap()
