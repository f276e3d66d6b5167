"""The SERVICE clauses of a query: where they stand, and what binds their variables before."""

from collections.abc import Iterator
from dataclasses import dataclass

from askgraph.errors import ForbiddenQuery
from askgraph.sparql.lexer import Token, tokens
from askgraph.sparql.terminals import with_full_iris

__all__ = ["ServiceClause", "called_services", "first_service", "prologue"]

_KEYWORDS = frozenset("OPTIONAL MINUS GRAPH SERVICE FILTER BIND VALUES SELECT UNION".split())
_OPENING = {"{": "}", "(": ")", "[": "]"}


@dataclass(frozen=True)
class ServiceClause:
    """One `SERVICE <target> { body }` of a text, from `start` to `end`.

    `body` has its braces. `before` are patterns that every solution which the clause is joined with
    satisfies. `shared` are the variables that both sides bind for sure: solutions of the body in
    which one of them has a value that `before` does not give can be left out.
    """

    target: str
    silent: bool
    body: str
    start: int
    end: int
    before: str
    shared: tuple[str, ...]


def first_service(text: str) -> ServiceClause | None:
    """Return the first SERVICE clause of a checked query; None where there is none."""
    given = [token for token in tokens(text) if token.kind != "comment"]
    at = next((i for i, token in enumerate(given) if _says(token, "SERVICE")), None)
    if at is None:
        return None
    silent = _says(given[at + 1], "SILENT")
    target = given[at + 1 + silent]
    opening = at + 2 + silent
    closing = _closing(given, opening)
    end = given[closing].start + 1
    before = " ".join(_around(text, given, at))
    bound = " ".join(_patterns(text, given, opening + 1, closing))
    return ServiceClause(
        target=_iri(target, given),
        silent=silent,
        body=text[given[opening].start : end],
        start=given[at].start,
        end=end,
        before=before,
        shared=tuple(sorted(_variables(bound) & _variables(before))),
    )


def called_services(text: str) -> tuple[str, ...]:
    """Return the addresses that a query calls by SERVICE, in order, none twice; no variables."""
    given = [token for token in tokens(with_full_iris(text)) if token.kind != "comment"]
    named = (
        given[at + 1 + _says(given[at + 1], "SILENT")]
        for at, token in enumerate(given[:-2])
        if _says(token, "SERVICE")
    )
    return tuple(dict.fromkeys(token.text[1:-1] for token in named if token.kind == "iri"))


def prologue(text: str) -> str:
    """Return the PREFIX and BASE lines of a query."""
    given = [token for token in tokens(text) if token.kind != "comment"]
    end = next((t.start for t in given if _says(t, "SELECT", "ASK", "CONSTRUCT", "DESCRIBE")), 0)
    return text[:end]


def _around(text: str, given: list[Token], service: int) -> Iterator[str]:
    """Yield the binding patterns of the group of a clause, and those before it one group out.

    Further out they may not be used: in `?a … OPTIONAL { ?b … OPTIONAL { SERVICE … } }` a solution
    left out of the innermost group would let a wrong one of the middle group pass.
    """
    own = _opening(given, service)
    if own is None or _in_graph(given, own):
        return
    yield from _patterns(text, given, own + 1, _closing(given, own))
    outer = _opening(given, own)
    if outer is not None and not _in_graph(given, outer):
        yield from _patterns(text, given, outer + 1, own)


def _opening(given: list[Token], at: int) -> int | None:
    """Return the brace that opens the group around a token."""
    depth = 0
    for before in range(at - 1, -1, -1):
        depth += (given[before].text == "}") - (given[before].text == "{")
        if depth < 0:
            return before
    return None


def _in_graph(given: list[Token], opening: int) -> bool:
    return opening > 1 and _says(given[opening - 2], "GRAPH")


def _patterns(text: str, given: list[Token], at: int, end: int) -> Iterator[str]:
    """Yield the triples, GRAPH and full VALUES of one group, as text."""
    while at < end:
        start = at
        if given[at].text == ".":
            at += 1
        elif _says(given[at], "SELECT"):
            return
        elif given[at].text == "{" or _says(given[at], *_KEYWORDS):
            at = _element_end(given, at)
            full = not any(_says(token, "UNDEF") for token in given[start:at])
            if at <= end and full and _says(given[start], "VALUES", "GRAPH"):
                yield _text(text, given, start, at)
        else:
            while at < end and given[at].text != "{" and not _says(given[at], *_KEYWORDS):
                at += 1
            yield _text(text, given, start, at).rstrip(" .") + " ."


def _text(text: str, given: list[Token], start: int, end: int) -> str:
    return text[given[start].start : given[end - 1].start + len(given[end - 1].text)]


def _element_end(given: list[Token], at: int) -> int:
    """Return the index after a group element that begins with a keyword or a brace."""
    braced = given[at].text == "{" or not _says(given[at], "FILTER", "BIND")
    exists = _says(given[at + 1], "NOT", "EXISTS")
    wanted = "{" if braced or exists else "("
    while at < len(given) and given[at].text != wanted:
        at += 1
    return _closing(given, at) + 1


def _closing(given: list[Token], opening: int) -> int:
    depth = 0
    for at in range(opening, len(given)):
        if given[at].kind == "mark":
            depth += (given[at].text in _OPENING) - (given[at].text in _OPENING.values())
            if depth == 0:
                return at
    return len(given) - 1


def _iri(token: Token, given: list[Token]) -> str:
    if token.kind == "iri":
        return token.text[1:-1]
    prefix, _, local = token.text.partition(":")
    for word, name, iri in zip(given, given[1:], given[2:], strict=False):
        if _says(word, "PREFIX") and name.text == f"{prefix}:":
            return iri.text[1:-1] + local
    raise ForbiddenQuery("a SERVICE to a variable is not run: name the graph")


def _variables(text: str) -> set[str]:
    return {token.text[1:] for token in tokens(text) if token.kind == "variable"}


def _says(token: Token, *words: str) -> bool:
    return token.kind == "word" and token.text.upper() in words
