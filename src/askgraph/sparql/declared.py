"""Prefixes that a query uses and leaves to its surroundings to declare."""

from collections.abc import Mapping

from askgraph.sparql.lexer import tokens
from askgraph.sparql.terminals import declared_prefixes

__all__ = ["undeclared", "with_declared"]


def undeclared(query: str) -> tuple[str, ...]:
    """Return the prefixes that a query uses without declaring them, in order of first use."""
    declared = declared_prefixes(query)
    used = (token.text.partition(":")[0] for token in tokens(query) if token.kind == "pname")
    return tuple(dict.fromkeys(prefix for prefix in used if prefix not in declared))


def with_declared(query: str, prefixes: Mapping[str, str]) -> str:
    """Return the query with those of the prefixes declared that it leaves open."""
    known = [prefix for prefix in undeclared(query) if prefix in prefixes]
    return "".join(f"PREFIX {prefix}: <{prefixes[prefix]}>\n" for prefix in known) + query
