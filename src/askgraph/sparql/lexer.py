"""Tokens of a SPARQL query: strings, comments and IRIs apart from words."""

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import NoReturn

from askgraph.errors import QuerySyntaxError
from askgraph.rdf.vocabulary import XSD_DECIMAL, XSD_DOUBLE, XSD_INTEGER


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


def undeclared(query: str) -> tuple[str, ...]:
    """Return the prefixes that a query uses without declaring them, in order of first use."""
    declared = declared_prefixes(query)
    used = (token.text.partition(":")[0] for token in tokens(query) if token.kind == "pname")
    return tuple(dict.fromkeys(prefix for prefix in used if prefix not in declared))


def with_declared(query: str, prefixes: Mapping[str, str]) -> str:
    """Return the query with those of the prefixes declared that it leaves open."""
    known = [prefix for prefix in undeclared(query) if prefix in prefixes]
    return "".join(f"PREFIX {prefix}: <{prefixes[prefix]}>\n" for prefix in known) + query


_STRING_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)


_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "b": "\b", "f": "\f"}


_PAIRS = frozenset(["&&", "||", "!=", "<=", ">=", "^^"])


def terminals(query: str) -> tuple[Token, ...]:
    """Return the terminals of a query, comments too.

    Unlike in `tokens`, operators of two characters are one mark, and a language tag is one token
    of the kind `language`.
    """
    return tuple(_joined([part for token in tokens(query) for part in _split(token)]))


def declared_prefixes(query: str) -> dict[str, str]:
    """Return the prefixes that a query declares, with their namespaces."""
    found: dict[str, str] = {}
    given = [token for token in tokens(query) if token.kind != "comment"]
    for word, name, iri in zip(given, given[1:], given[2:], strict=False):
        if word.text.upper() == "PREFIX" and name.kind == "pname" and iri.kind == "iri":
            found[name.text[:-1]] = iri.text[1:-1]
    return found


def expanded(query: str) -> str:
    r"""Return the query with each prefixed name that holds an escape (`ex:a\#b`) as a whole IRI.

    rdflib (7.6) keeps the backslash of such names in the IRI; full IRIs mean the same everywhere.
    """
    return _spelled_out(query, lambda name: "\\" in name) if "\\" in query else query


def with_full_iris(query: str) -> str:
    """Return the query with an IRI in full for each name whose prefix it declares."""
    return _spelled_out(query, lambda _: True)


def _spelled_out(query: str, wanted: Callable[[str], bool]) -> str:
    """The query with a whole IRI for each wanted name, outside of declarations."""
    declared = declared_prefixes(query)
    pieces: list[str] = []
    at, before = 0, ""
    for token in tokens(query):
        prefix, _, local = token.text.partition(":")
        is_name = token.kind == "pname" and before.upper() != "PREFIX" and prefix in declared
        if is_name and wanted(local):
            iri = declared[prefix] + re.sub(r"\\(.)", r"\1", local)
            pieces += [query[at : token.start], f"<{iri}>"]
            at = token.start + len(token.text)
        before = token.text
    return "".join(pieces) + query[at:]


def number_type(text: str) -> str:
    """Return the datatype of a number that is written without quotation marks."""
    if "e" in text.lower():
        return XSD_DOUBLE
    return XSD_DECIMAL if "." in text else XSD_INTEGER


def unquoted(text: str) -> str:
    """Return the text that a string terminal stands for, its escapes resolved."""
    width = 3 if text[:3] in ('"""', "'''") else 1
    return _STRING_ESCAPE.sub(_unescaped, text[width:-width])


def _unescaped(match: re.Match[str]) -> str:
    digits = match[1] or match[2]
    if digits is None:
        return _ESCAPES.get(match[3], match[3])
    code = int(digits, 16)
    return chr(code) if code <= sys.maxunicode else match[0]


def _split(token: Token) -> list[Token]:
    """A number with the dot of its statement (`5.`) as two tokens."""
    if token.kind != "number" or not token.text.endswith("."):
        return [token]
    end = len(token.text) - 1
    return [Token("number", token.text[:-1], token.start), Token("mark", ".", token.start + end)]


def _joined(given: list[Token]) -> Iterator[Token]:
    """The tokens, with neighbours that are one terminal put together."""
    at = 0
    while at < len(given):
        end = at + _length(given, at)
        yield Token(
            "language" if given[at].text == "@" else given[at].kind,
            "".join(token.text for token in given[at:end]),
            given[at].start,
        )
        at = end


def _length(given: list[Token], at: int) -> int:
    """How many tokens from here on make one terminal."""
    if given[at].kind != "mark":
        return 1
    end = at + 1
    if given[at].text != "@":
        pair = end < len(given) and _touch(given, at) and given[at].text + given[end].text in _PAIRS
        return 2 if pair else 1
    while end < len(given) and _touch(given, end - 1) and re.fullmatch(r"[\w-]+", given[end].text):
        end += 1
    return end - at


def _touch(given: list[Token], at: int) -> bool:
    """Whether nothing stands between a token and the next one."""
    return given[at].start + len(given[at].text) == given[at + 1].start
