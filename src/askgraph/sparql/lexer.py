"""Tokens of a SPARQL query: strings, comments and IRIs apart from words."""

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NoReturn

from askgraph.errors import QuerySyntaxError
from askgraph.sparql.vocabulary import XSD_DECIMAL, XSD_DOUBLE, XSD_INTEGER


@dataclass(frozen=True)
class Token:
    """A piece of a query's text: its kind, its text and where it starts.

    Kinds: `comment`, `iri`, `string`, `variable`, `blank`, `pname`, `word`, `number`, `language`,
    `mark`.
    """

    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        """Where it ends: the place of the first character behind it."""
        return self.start + len(self.text)


MAX_TOKENS = 50_000

Edit = tuple[int, int, str]
"""Where a piece of a text starts and ends, and what takes its place."""


def tokens(text: str) -> Iterator[Token]:
    """Yield the tokens of a text in order, comments included, white space not.

    This goes through the text; `lexed` does it once, for all that ask. Raises `QuerySyntaxError`
    after `MAX_TOKENS` of them: no query that anybody needs has more, and readers take memory for
    each.
    """
    number = 0
    for match in _TOKEN.finditer(text):
        if match.lastgroup is None:
            continue
        if number == MAX_TOKENS:
            fail(text, match.start(), f"more than {MAX_TOKENS:,} words and signs")
        number += 1
        yield Token(match.lastgroup, match.group(), match.start())


class Lexed:
    """A query's text, and what its tokens say; they are cut when the first one asks."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def all(self) -> tuple[Token, ...]:
        """Its tokens, comments too."""
        return tuple(tokens(self.text))

    @cached_property
    def given(self) -> tuple[Token, ...]:
        """Its tokens without comments."""
        return tuple(token for token in self.all if token.kind != "comment")

    @cached_property
    def declared(self) -> dict[str, str]:
        """The prefixes that it declares, with their namespaces."""
        return {
            name.text[:-1]: iri.text[1:-1]
            for word, name, iri in zip(self.given, self.given[1:], self.given[2:], strict=False)
            if word.text.upper() == "PREFIX" and name.kind == "pname" and iri.kind == "iri"
        }

    @cached_property
    def undeclared(self) -> dict[str, Token]:
        """The prefixes that it uses without declaring them, at their first names."""
        found: dict[str, Token] = {}
        for token in self.given:
            if token.kind == "pname":
                prefix = token.text.partition(":")[0]
                if prefix not in self.declared:
                    found.setdefault(prefix, token)
        return found

    @cached_property
    def first_keyword(self) -> str:
        """The first word behind the prologue, in capitals; empty if something else comes first."""
        before = ""
        for token in self.given:
            word = token.text.upper()
            if token.kind == "word" and word not in ("PREFIX", "BASE"):
                return word
            if token.kind == "mark" or (token.kind == "string" and before != "BASE"):
                break
            before = word
        return ""

    @cached_property
    def variables(self) -> frozenset[str]:
        """The names of its variables."""
        return frozenset(token.text[1:] for token in self.all if token.kind == "variable")


_SHORT = 20_000  # characters; of longer texts few are kept: each is read many times on its way


def lexed(text: str) -> Lexed:
    """Return a text with its tokens; it is cut into them once, while it is among the last ones."""
    return _kept(str(text)) if len(text) <= _SHORT else _kept_of_long(str(text))


@lru_cache(maxsize=256)
def _kept(text: str) -> Lexed:
    return Lexed(text)


@lru_cache(maxsize=4)
def _kept_of_long(text: str) -> Lexed:
    return Lexed(text)


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
    comments = (token for token in lexed(query).all if token.kind == "comment")
    return edited(query, ((token.start, token.end, " ") for token in comments))


def edited(text: str, edits: Iterable[Edit]) -> str:
    """Return a text with its edits made, which come in order and do not overlap."""
    pieces, at = list[str](), 0
    for start, end, put in edits:
        pieces += [text[at:start], put]
        at = end
    return "".join(pieces) + text[at:]


def position(text: str, at: int) -> tuple[int, int]:
    """Return the line and column of a place in a text, counted from 1."""
    return text.count("\n", 0, at) + 1, at - (text.rfind("\n", 0, at) + 1) + 1


def fail(text: str, at: int, message: str) -> NoReturn:
    """Raise `QuerySyntaxError` for what is wrong at a place in a text."""
    line, column = position(text, at)
    raise QuerySyntaxError(f"line {line}, column {column}: {message}", line=line, column=column)


_ESCAPED = r"%[0-9A-Fa-f]{2}|\\[-_~.!$&'()*+,;=/?#@%]"
_TOKEN = re.compile(
    rf"""
      \s{{9,}}+  # each of them tried by itself holds the interpreter
    | (?P<comment>\#[^\r\n]*+)
    | (?P<iri><[^<>"{{}}|^`\\\x00-\x20]*+>)
    | (?P<string>\"\"\"(?>(?:[^"\\]++|\\.|"(?!""))*)\"\"\" | '''(?>(?:[^'\\]++|\\.|'(?!''))*)'''
               | "(?:[^"\\\r\n]++|\\.)*+" | '(?:[^'\\\r\n]++|\\.)*+')
    | (?P<variable>[?$][\w·‿⁀]++)
    | (?P<blank>_:[\w·‿⁀](?:[\w·‿⁀.-]*[\w·‿⁀-])?)
    | (?P<pname>(?:[^\W\d_](?:[\w·‿⁀.-]*[\w·‿⁀-])?)?:
                (?:(?:[\w:·‿⁀]|{_ESCAPED})(?:\.*+(?:[\w:·‿⁀-]++|{_ESCAPED}))*+)?)
    | (?P<word>[^\W\d]\w*+)
    | (?P<number>(?:\d++\.?\d*+|\.\d++)[eE][+-]?\d++|\d*+\.\d++|\d++)
    | (?P<language>@[\w-]++)
    | (?P<mark>&&|\|\||!=|<=|>=|\^\^|\S)
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|.)", re.DOTALL)
_ECHARS = {'"': r"\"", "'": r"\'", "\\": r"\\", "\n": r"\n", "\r": r"\r", "\t": r"\t"}


def with_declared(query: str, prefixes: Mapping[str, str]) -> str:
    """Return the query with those of the prefixes declared that it leaves open."""
    given = lexed(query)
    namespaces = [(prefix, prefixes[prefix]) for prefix in given.undeclared if prefix in prefixes]
    if not namespaces:
        return query
    header, found = "", list[Token]()
    for prefix, namespace in namespaces:
        pieces = (("word", "PREFIX"), ("pname", f"{prefix}:"), ("iri", f"<{namespace}>"))
        for kind, text in pieces:
            found.append(Token(kind, text, len(header)))
            header += text + " "
        header = header[:-1] + "\n"
    whole = lexed(header + query)
    if all(_IRI.fullmatch(f"<{namespace}>") for _, namespace in namespaces):
        moved = (Token(token.kind, token.text, token.start + len(header)) for token in given.all)
        whole.__dict__.setdefault("all", (*found, *moved))
    return whole.text


_IRI = re.compile(r'<[^<>"{}|^`\\\x00-\x20]*>')
_STRING_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "b": "\b", "f": "\f"}


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
