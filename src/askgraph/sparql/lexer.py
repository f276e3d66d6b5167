"""Cut a SPARQL query into tokens: strings, comments and IRIs are told from words."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NoReturn

from askgraph.errors import QuerySyntaxError

__all__ = ["Token", "fail", "position", "tokens", "unescaped", "without_comments"]


@dataclass(frozen=True)
class Token:
    """A piece of a query's text: its kind, its text and where it starts.

    Kinds: `comment`, `iri`, `string`, `variable`, `blank`, `pname`, `word`, `number`, `mark`.
    """

    kind: str
    text: str
    start: int


def tokens(query: str) -> Iterator[Token]:
    """Yield the tokens of a query in order, comments included, white space not."""
    yield from _kept(query) if len(query) <= _SHORT else _cut(query)


_SHORT = 20_000  # characters of a query whose tokens are kept: it is read many times on its way


@lru_cache(maxsize=128)
def _kept(query: str) -> tuple[Token, ...]:
    return tuple(_cut(query))


def _cut(query: str) -> Iterator[Token]:
    for match in _TOKEN.finditer(query):
        yield Token(match.lastgroup or "mark", match.group(), match.start())


def unescaped(query: str) -> str:
    """Replace `\\u0041` by its character; those with a meaning in the grammar by an escape."""
    if "\\u" not in query and "\\U" not in query:
        return query

    def replaced(match: re.Match[str]) -> str:
        digits = match[1] or match[2]
        if digits is None:
            return match[0]
        code = int(digits, 16)
        if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
            fail(query, match.start(), f"{match[0]} is no character")
        return _ECHARS.get(chr(code), chr(code))

    return _ESCAPE.sub(replaced, query)


def without_comments(query: str) -> str:
    """Return the query with a space for each comment."""
    pieces, at = list[str](), 0
    for token in tokens(query):
        if token.kind == "comment":
            pieces += [query[at : token.start], " "]
            at = token.start + len(token.text)
    return "".join(pieces) + query[at:]


def position(text: str, at: int) -> tuple[int, int]:
    """Return the line and column of a place in a text, counted from 1."""
    return text.count("\n", 0, at) + 1, at - (text.rfind("\n", 0, at) + 1) + 1


def fail(text: str, at: int, message: str) -> NoReturn:
    """Raise `QuerySyntaxError` for what is wrong at a place in a text."""
    line, column = position(text, at)
    raise QuerySyntaxError(f"line {line}, column {column}: {message}", line=line, column=column)


_LOCAL = r"(?:[\w:·‿⁀]|%[0-9A-Fa-f]{2}|\\[-_~.!$&'()*+,;=/?#@%])"
_TOKEN = re.compile(
    rf"""
      (?P<comment>\#[^\r\n]*+)
    | (?P<iri><[^<>"{{}}|^`\\\x00-\x20]*+>)
    | (?P<string>\"\"\"(?>(?:[^"\\]++|\\.|"(?!""))*)\"\"\" | '''(?>(?:[^'\\]++|\\.|'(?!''))*)'''
               | "(?:[^"\\\r\n]++|\\.)*+" | '(?:[^'\\\r\n]++|\\.)*+')
    | (?P<variable>[?$][\w·‿⁀]++)
    | (?P<blank>_:[\w·‿⁀](?:[\w·‿⁀.-]*[\w·‿⁀-])?)
    | (?P<pname>(?:[^\W\d_](?:[\w·‿⁀.-]*[\w·‿⁀-])?)?:
                (?:{_LOCAL}(?:(?:{_LOCAL}|[.-])*(?:{_LOCAL}|-))?)?)
    | (?P<word>[^\W\d]\w*+)
    | (?P<number>(?:\d++\.?\d*+|\.\d++)(?:[eE][+-]?\d++)?)
    | (?P<mark>\S)
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|.)", re.DOTALL)
_ECHARS = {'"': r"\"", "'": r"\'", "\\": r"\\", "\n": r"\n", "\r": r"\r", "\t": r"\t"}
