"""What the parsers of SPARQL say of a text: it is wrong where none of them reads it."""

from collections import Counter
from collections.abc import Mapping

from pyoxigraph import Store

from askgraph.errors import ForbiddenQuery, QueryError
from askgraph.sparql.judge import checked
from askgraph.sparql.lexer import tokens, undeclared, with_declared

__all__ = ["MAX_JUDGED", "fault_in"]

MAX_JUDGED = 200_000
"""Characters of a query that are looked at."""

_PARSED = 5_000  # characters that the slow parser is given where a reader took the text already
_MOST_JOINS = 40  # the fast one orders joins, in time that grows with their third power
_MOST_UNIONS = 8
_JOINING = frozenset(".;,/[({")
_UNKNOWN = "urn:unknown:"


def fault_in(text: str, prefixes: Mapping[str, str], *, was_read: bool) -> QueryError | None:
    """Return why no parser reads a query; None where one does.

    What `was_read` by our own reader is judged by the parsers' grammar alone, and only where that
    takes milliseconds. Prefixes that it leaves open are taken from `prefixes`, or for granted.
    """
    known = {**dict.fromkeys(undeclared(text), _UNKNOWN), **prefixes}
    if _is_read(with_declared(text, known)):
        return None
    if was_read and len(text) > _PARSED:
        return None
    try:
        checked(text, prefixes=known)
    except ForbiddenQuery as problem:
        return None if was_read else problem
    except QueryError as problem:
        return problem
    return None


def _is_read(text: str) -> bool:
    """Whether pyoxigraph reads a text that is short; it is put to an empty store.

    It plans and evaluates what it reads: nothing may be called, and what multiplies without any
    triples (VALUES, UNION) stays small.
    """
    if len(text) > _PARSED or "service" in text.lower():
        return False
    words = Counter(token.text.upper() for token in tokens(text) if token.kind in ("word", "mark"))
    joins = sum(words[mark] for mark in _JOINING)
    if joins > _MOST_JOINS or words["VALUES"] > 1 or words["UNION"] > _MOST_UNIONS:
        return False
    try:
        Store().query(text)
    except (SyntaxError, ValueError, OSError, RuntimeError):
        return False
    return True
