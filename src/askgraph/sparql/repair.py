"""A query as a language model writes it, made one that can be run; what is sound stays as it is.

    ```sparql … ```, words around it     taken off
    SELECT COUNT(?x) WHERE …             SELECT (COUNT(?x) AS ?count) WHERE …
    SERVICE wikibase:label { … }         OPTIONAL { ?x rdfs:label ?xLabel … } where ?xLabel is used
    a known prefix that is not declared  declared

All of it looks at tokens: strings, comments and IRIs are never touched.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from askgraph.sparql.label_service import Edit, label_service_edits, partner, says
from askgraph.sparql.lexer import Token, tokens
from askgraph.sparql.tree import AGGREGATES

__all__ = ["Repaired", "form_of", "repaired"]

_STARTS = frozenset("PREFIX BASE SELECT ASK CONSTRUCT DESCRIBE".split())
_UPDATES = frozenset("INSERT DELETE LOAD CLEAR DROP CREATE ADD MOVE COPY WITH".split())
_FORMS = frozenset("SELECT ASK CONSTRUCT DESCRIBE".split())
_FENCE = "`"


@dataclass(frozen=True)
class Repaired:
    """A query, and what had to be done to it, in words."""

    query: str
    notes: tuple[str, ...] = ()


def repaired(query: str, *, language: str = "en") -> Repaired:
    """Return the query without what keeps it from running, where that can be told for sure."""
    notes: list[str] = []
    text = _bare(query)
    for repair in (label_service_edits, _aggregate_edits):
        edits, note = repair(text, language)
        if edits:
            text = _edited(text, edits)
            notes.append(note)
    return Repaired(text, tuple(notes))


def form_of(query: str) -> str:
    """Return SELECT, ASK, CONSTRUCT or DESCRIBE; empty where the query is none of them."""
    for token in _given(query):
        if token.kind == "word" and token.text.upper() not in ("PREFIX", "BASE"):
            word = token.text.upper()
            return word if word in _FORMS else ""
        if token.text == "{":
            break
    return ""


def _given(text: str) -> list[Token]:
    return [token for token in tokens(text) if token.kind != "comment"]


def _edited(text: str, edits: list[Edit]) -> str:
    for start, end, put in sorted(edits, reverse=True):
        text = text[:start] + put + text[end:]
    return text


def _bare(query: str) -> str:
    """The query without code fences, words before it and a semicolon after it."""
    while (inner := _once_bared(query)) != query:
        query = inner
    return query


def _once_bared(query: str) -> str:
    text = _unfenced(query)
    given = _given(text)
    first = next((at for at in range(len(given)) if _begins(given, at)), None)
    if first and not any(says(token, *_UPDATES) for token in given[:first]):
        text = text[given[first].start :]
        given = _given(text)
    if first is not None and given[-1].text == ";":
        at = given[-1].start
        text = text[:at] + text[at + 1 :]
    return text


def _unfenced(text: str) -> str:
    """What stands between the first fence and the next one, or the end."""
    given = _given(text)
    fences = [at for at in range(len(given) - 2) if _is_fence(given, at)]
    if not fences:
        return text
    opening = fences[0] + 3
    while opening < len(given) and given[opening].text == _FENCE:
        opening += 1
    closing = next((at for at in fences if at >= opening), None)
    end = len(text) if closing is None else given[closing].start
    if opening < len(given) and given[opening].kind == "word" and not _begins(given, opening):
        opening += 1  # the name of the language
    start = given[opening].start if opening < len(given) else end
    return text[start:end].rstrip() if start < end else text


def _is_fence(given: list[Token], at: int) -> bool:
    return all(token.text == _FENCE for token in given[at : at + 3])


def _begins(given: list[Token], at: int) -> bool:
    """Whether a query may begin here: a keyword, and after it what may follow it."""
    token = given[at]
    if token.kind != "word" or token.text.upper() not in _STARTS or at + 1 >= len(given):
        return False
    after = given[at + 1]
    match token.text.upper():
        case "PREFIX":
            return after.kind == "pname" and after.text.endswith(":")
        case "BASE":
            return after.kind == "iri"
        case "SELECT":
            return (
                after.kind == "variable"
                or after.text in ("*", "(")
                or says(after, "DISTINCT", "REDUCED", *AGGREGATES)
            )
        case "DESCRIBE":
            return after.kind in ("variable", "iri", "pname") or after.text == "*"
        case _:
            return after.text == "{" or says(after, "WHERE", "FROM")


def _aggregate_edits(text: str, _: str) -> tuple[list[Edit], str]:
    """Parentheses and a name for each aggregate that a SELECT clause has bare."""
    given = _given(text)
    taken = {token.text[1:] for token in given if token.kind == "variable"}
    edits: list[Edit] = []
    for at, token in enumerate(given):
        if says(token, "SELECT"):
            edits += _column_edits(given, at + 1, taken)
    return edits, "an aggregate was given parentheses and a name"


def _column_edits(given: list[Token], at: int, taken: set[str]) -> Iterator[Edit]:
    while at < len(given) and not (given[at].text == "{" or says(given[at], "WHERE", "FROM")):
        is_open = given[at].text == "(" and at + 1 < len(given)
        inner = at + is_open
        end = partner(given, inner + 1) if _calls(given, inner) else None
        if end is not None:
            yield from _one_column(given, at, end, taken)
            at = end
        elif is_open:
            at = partner(given, at) or len(given)
        at += 1


def _calls(given: list[Token], at: int) -> bool:
    return at + 1 < len(given) and says(given[at], *AGGREGATES) and given[at + 1].text == "("


def _one_column(given: list[Token], at: int, end: int, taken: set[str]) -> Iterator[Edit]:
    """What a column from `at` lacks whose aggregate ends at `end`: `(`, `AS ?name`, `)`."""
    is_open = given[at].text == "("
    after = given[end + 1] if end + 1 < len(given) else None
    close = given[end].start + 1
    name = f" AS ?{_fresh(given[at + is_open].text.lower(), taken)}"
    if is_open:
        if after is not None and after.text == ")":
            yield close, close, name
        return
    yield given[at].start, given[at].start, "("
    if after is not None and says(after, "AS") and end + 2 < len(given):
        last = given[end + 2]
        yield last.start + len(last.text), last.start + len(last.text), ")"
    else:
        yield close, close, name + ")"


def _fresh(name: str, taken: set[str]) -> str:
    found, number = name, 2
    while found in taken:
        found, number = f"{name}{number}", number + 1
    taken.add(found)
    return found
