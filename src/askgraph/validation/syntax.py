"""The check that a query can be read: its brackets, its keywords, its prefixes."""

from collections.abc import Iterator, Mapping

from askgraph.errors import QuerySyntaxError
from askgraph.sparql.lexer import Token, tokens, undeclared
from askgraph.validation import UNJUDGED, Finding, Kind, Place, Proposal, Subject
from askgraph.validation._grammar import MAX_JUDGED, fault_in
from askgraph.validation.places import place_of

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
    first: dict[str, Token] = {}
    for token in tokens(text):
        if token.kind == "pname":
            first.setdefault(token.text.partition(":")[0], token)
    for prefix in undeclared(text):
        token, namespace = first[prefix], known.get(prefix, "")
        proposals = (Proposal(f"PREFIX {prefix}: <{namespace}>"),) if namespace else ()
        yield Finding(
            Kind.PREFIX,
            f"the prefix {prefix + ':'!r} is not declared",
            place_of(text, (token.start, token.start + len(token.text))),
            prefix,
            proposals,
        )


def _faults(subject: Subject, known: Mapping[str, str]) -> Iterator[Finding]:
    was_read = subject.tree is not None
    problem = fault_in(subject.text, known, was_read=was_read)
    if isinstance(problem, QuerySyntaxError):
        yield Finding(Kind.SYNTAX, str(problem), _place(problem, subject.text))
    elif problem is not None and not was_read:
        yield Finding(Kind.SYNTAX, str(problem))
    elif not was_read:
        message = "it has what SPARQL 1.1 does not know, and was not looked at any further"
        yield Finding(Kind.SYNTAX, message, certainty=UNJUDGED)


def _place(problem: QuerySyntaxError, text: str) -> Place | None:
    if not problem.line or not problem.column:
        return None
    lines = text.split("\n")
    start = sum(len(line) + 1 for line in lines[: problem.line - 1]) + problem.column - 1
    return place_of(text, (start, min(start + 1, len(text))))
