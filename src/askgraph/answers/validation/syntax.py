"""The check that a query can be read: its brackets, its keywords, its prefixes."""

from collections import Counter
from collections.abc import Iterator, Mapping

from pyoxigraph import Store

from askgraph.answers.validation import (
    MAX_JUDGED,
    UNJUDGED,
    Finding,
    Kind,
    Place,
    Proposal,
    Subject,
    place_of,
)
from askgraph.errors import QueryError, QuerySyntaxError
from askgraph.sparql.judge import checked
from askgraph.sparql.lexer import lexed, with_declared

__all__ = ["syntax"]


def syntax(subject: Subject, /) -> Iterator[Finding]:
    """Give the prefixes that are not declared, and where a query that cannot be read goes wrong."""
    if len(subject.text) > MAX_JUDGED:
        message = f"it has {len(subject.text):,} characters; at most {MAX_JUDGED:,} are looked at"
        yield Finding(Kind.SYNTAX, message, certainty=UNJUDGED)
        return
    known = subject.services.own.prefixes.namespaces
    yield from _undeclared(subject.text, known)
    yield from _faults(subject, known)


def _undeclared(text: str, known: Mapping[str, str]) -> Iterator[Finding]:
    for prefix, token in lexed(text).undeclared.items():
        namespace = known.get(prefix, "")
        proposals = (Proposal(f"PREFIX {prefix}: <{namespace}>"),) if namespace else ()
        yield Finding(
            Kind.PREFIX,
            f"the prefix {prefix + ':'!r} is not declared",
            place_of(text, (token.start, token.end)),
            prefix,
            proposals,
        )


def _faults(subject: Subject, known: Mapping[str, str]) -> Iterator[Finding]:
    if subject.tree is not None:
        return
    text = subject.text
    known = {**dict.fromkeys(lexed(text).undeclared, _UNKNOWN), **known}
    if not _is_read(with_declared(text, known)):
        try:
            checked(text, prefixes=known)
        except QueryError as problem:
            yield Finding(Kind.SYNTAX, str(problem), _place(problem, text))
            return
    message = "it has what SPARQL 1.1 does not know, and was not looked at any further"
    yield Finding(Kind.SYNTAX, message, certainty=UNJUDGED)


def _place(problem: QueryError, text: str) -> Place | None:
    if not isinstance(problem, QuerySyntaxError) or not problem.line or not problem.column:
        return None
    lines = text.split("\n")
    start = sum(len(line) + 1 for line in lines[: problem.line - 1]) + problem.column - 1
    return place_of(text, (start, min(start + 1, len(text))))


_PARSED = 5_000  # characters that pyoxigraph is given
_MOST_JOINS = 40  # the fast one orders joins, in time that grows with their third power
_MOST_UNIONS = 8
_JOINING = frozenset(".;,/[({")
_UNKNOWN = "urn:unknown:"


def _is_read(text: str) -> bool:
    """Whether pyoxigraph reads a text that is short; it is put to an empty store.

    It plans and evaluates what it reads: nothing may be called, and what multiplies without any
    triples (VALUES, UNION) stays small.
    """
    if len(text) > _PARSED or "service" in text.lower():
        return False
    given = lexed(text).given
    words = Counter(token.text.upper() for token in given if token.kind in ("word", "mark"))
    joins = sum(words[mark] for mark in _JOINING)
    if joins > _MOST_JOINS or words["VALUES"] > 1 or words["UNION"] > _MOST_UNIONS:
        return False
    try:
        Store().query(text)
    except (SyntaxError, ValueError, OSError, RuntimeError):
        return False
    return True
