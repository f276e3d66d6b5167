"""A query with another dataset: FROM and FROM NAMED in the place of its own."""

from collections.abc import Sequence

from askgraph.errors import QueryError
from askgraph.sparql.lexer import Token, lexed

_FORMS = ("SELECT", "ASK", "CONSTRUCT", "DESCRIBE")
_AFTER = ("WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "OFFSET", "VALUES")


def with_dataset(query: str, default: Sequence[str], named: Sequence[str]) -> str:
    """Return the query over the graphs of these IRIs, whatever its own FROM clauses say.

    That is what the parameters `default-graph-uri` and `named-graph-uri` of the SPARQL protocol
    mean. Without any, the query is as it was. Raises `QueryError` for text that is no IRI, and for
    a query of no known form.
    """
    if not default and not named:
        return query
    for iri in (*default, *named):
        if [token.kind for token in lexed(f"<{iri}>").all] != ["iri"] or ":" not in iri:
            raise QueryError(f"{iri!r} is no IRI of a graph: give one in full")
    given = lexed(query).given
    start, end = _clause(given)
    own = _own(given[start:end])
    clauses = "".join(f" FROM <{iri}>" for iri in default)
    clauses += "".join(f" FROM NAMED <{iri}>" for iri in named)
    place = given[end].start if end < len(given) else len(query)
    text = query[:place].rstrip() + clauses + " " + query[place:]
    for first, last in reversed(own):
        text = text[: first.start] + text[last.start + len(last.text) :]
    return text


def _clause(given: Sequence[Token]) -> tuple[int, int]:
    """Where FROM clauses may stand: from after the form to before WHERE or what comes instead."""
    words = [token.text.upper() if token.kind == "word" else token.text for token in given]
    start = next((at for at, word in enumerate(words) if word in _FORMS), None)
    if start is None:
        raise QueryError("only SELECT, ASK, CONSTRUCT and DESCRIBE queries have a dataset")
    at = start + 1
    if words[start] == "CONSTRUCT" and words[at : at + 1] == ["{"]:
        at = _closed(words, at)
    depth = 0
    for end in range(at, len(words)):
        if depth == 0 and (words[end] == "{" or words[end] in _AFTER):
            return at, end
        depth += (words[end] == "(") - (words[end] == ")")
    return at, len(words)


def _closed(words: Sequence[str], at: int) -> int:
    """The place behind the brace that closes the one at a place."""
    depth = 0
    for end in range(at, len(words)):
        depth += (words[end] == "{") - (words[end] == "}")
        if depth == 0:
            return end + 1
    return len(words)


def _own(given: Sequence[Token]) -> list[tuple[Token, Token]]:
    """The first and last tokens of the FROM clauses that are there."""
    found = []
    for at, token in enumerate(given[:-1]):
        if token.kind == "word" and token.text.upper() == "FROM":
            last = at + 1 + (given[at + 1].text.upper() == "NAMED")
            found.append((token, given[min(last, len(given) - 1)]))
    return found
