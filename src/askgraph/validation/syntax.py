"""The check that a query can be read: its brackets, its keywords, its prefixes."""

from collections.abc import Iterator

from askgraph.errors import QueryError, QuerySyntaxError
from askgraph.sparql.declared import undeclared
from askgraph.sparql.lexer import tokens
from askgraph.sparql.query import checked
from askgraph.validation import Finding, Kind, Proposal, Subject
from askgraph.validation.places import place_of

__all__ = ["syntax"]


def syntax(subject: Subject, /) -> Iterator[Finding]:
    """Give the prefixes that are not declared, and where a query that cannot be read goes wrong."""
    known = subject.services.own.prefixes.namespaces
    for prefix in undeclared(subject.text):
        token = next(t for t in tokens(subject.text) if t.text.startswith(prefix + ":"))
        namespace = known.get(prefix, "")
        proposals = (Proposal(f"PREFIX {prefix}: <{namespace}>"),) if namespace else ()
        yield Finding(
            Kind.PREFIX,
            f"the prefix {prefix + ':'!r} is not declared",
            place_of(subject.text, (token.start, token.start + len(token.text))),
            prefix,
            proposals,
        )
    if subject.tree is None:
        yield from _unreadable(subject)


def _unreadable(subject: Subject) -> Iterator[Finding]:
    known = subject.services.own.prefixes.namespaces
    blank = dict.fromkeys(undeclared(subject.text), "urn:unknown:")
    try:
        checked(subject.text, prefixes={**blank, **known})
    except QuerySyntaxError as problem:
        place = None
        if problem.line and problem.column:
            lines = subject.text.split("\n")
            start = sum(len(line) + 1 for line in lines[: problem.line - 1]) + problem.column - 1
            place = place_of(subject.text, (start, min(start + 1, len(subject.text))))
        yield Finding(Kind.SYNTAX, str(problem), place)
    except QueryError as problem:
        yield Finding(Kind.SYNTAX, str(problem))
