"""Split a SPARQL query into tokens: strings, comments and IRIs separate from words."""

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
    """A piece of query text: its kind, its text and its start.

    Kinds: `comment`, `iri`, `string`, `variable`, `blank`, `pname`, `word`, `number`, `language`,
    `mark`.
    """

    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        """The position of the first character after the token."""
        return self.start + len(self.text)


MAX_TOKENS = 50_000

Edit = tuple[int, int, str]
"""Start and end of a piece of text, and its replacement."""


def split_tokens(text: str) -> Iterator[Token]:
    """Yield the tokens of a text in order, including comments, without white space.

    `tokenize` caches the result for repeated use.

    Raises:
        QuerySyntaxError: there are more than `MAX_TOKENS`, which no useful query needs; parsers
            allocate memory for each of them.
    """
    token_count = 0
    for match in _TOKEN.finditer(text):
        if match.lastgroup is None:
            continue
        if token_count == MAX_TOKENS:
            raise_syntax_error(text, match.start(), f"more than {MAX_TOKENS:,} words and signs")
        token_count += 1
        yield Token(match.lastgroup, match.group(), match.start())


class TokenizedText:
    """A query's text with its tokens, which are computed on first use."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def all_tokens(self) -> tuple[Token, ...]:
        """All tokens, including comments."""
        return tuple(split_tokens(self.text))

    @cached_property
    def tokens(self) -> tuple[Token, ...]:
        """The tokens without comments."""
        return tuple(token for token in self.all_tokens if token.kind != "comment")

    @cached_property
    def declared_prefixes(self) -> dict[str, str]:
        """The declared prefixes with their namespaces."""
        return {
            name.text[:-1]: iri.text[1:-1]
            for word, name, iri in zip(self.tokens, self.tokens[1:], self.tokens[2:], strict=False)
            if word.text.upper() == "PREFIX" and name.kind == "pname" and iri.kind == "iri"
        }

    @cached_property
    def undeclared_prefixes(self) -> dict[str, Token]:
        """The prefixes that are used but not declared, with the token of their first use."""
        tokens_by_prefix: dict[str, Token] = {}
        for token in self.tokens:
            if token.kind == "pname":
                prefix = token.text.partition(":")[0]
                if prefix not in self.declared_prefixes:
                    tokens_by_prefix.setdefault(prefix, token)
        return tokens_by_prefix

    @cached_property
    def first_keyword(self) -> str:
        """The first keyword after the prologue, in capitals; empty without one."""
        previous_word = ""
        for token in self.tokens:
            word = token.text.upper()
            if token.kind == "word" and word not in ("PREFIX", "BASE"):
                return word
            if token.kind == "mark" or (token.kind == "string" and previous_word != "BASE"):
                break
            previous_word = word
        return ""

    @cached_property
    def variable_names(self) -> frozenset[str]:
        """The names of the variables."""
        return frozenset(token.text[1:] for token in self.all_tokens if token.kind == "variable")


# Longer texts have a smaller cache; each text is tokenized many times.
_MAX_SHORT_TEXT_CHARACTERS = 20_000


def tokenize(text: str) -> TokenizedText:
    """Return a text with its tokens; recent results are cached."""
    return (
        _tokenize_short_text(str(text))
        if len(text) <= _MAX_SHORT_TEXT_CHARACTERS
        else _tokenize_long_text(str(text))
    )


_tokenize_short_text = lru_cache(maxsize=256)(TokenizedText)
_tokenize_long_text = lru_cache(maxsize=4)(TokenizedText)


def unescape_codepoints(query: str) -> str:
    r"""Replace `\u0041` by its character, or by an escape if that has a meaning in the grammar."""
    if "\\u" not in query and "\\U" not in query:
        return query

    def replace_escape(match: re.Match[str]) -> str:
        digits = match[1] or match[2]
        if digits is None:
            return match[0]
        code = int(digits, 16)
        if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
            raise_syntax_error(query, match.start(), f"{match[0]} is not a character")
        return _ECHARS.get(chr(code), chr(code))

    return _ESCAPE.sub(replace_escape, query)


def remove_comments(query: str) -> str:
    """Return the query with each comment replaced by a space."""
    comments = (token for token in tokenize(query).all_tokens if token.kind == "comment")
    return apply_edits(query, ((token.start, token.end, " ") for token in comments))


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """Return a text with edits applied, which must be in order and must not overlap."""
    pieces, position = list[str](), 0
    for start, end, replacement in edits:
        pieces += [text[position:start], replacement]
        position = end
    return "".join(pieces) + text[position:]


def locate(text: str, offset: int) -> tuple[int, int]:
    """Return the line and column of an offset in a text, counted from 1."""
    return text.count("\n", 0, offset) + 1, offset - (text.rfind("\n", 0, offset) + 1) + 1


def raise_syntax_error(text: str, offset: int, message: str) -> NoReturn:
    """Raise `QuerySyntaxError` for an error at an offset in a text."""
    line, column = locate(text, offset)
    raise QuerySyntaxError(f"line {line}, column {column}: {message}", line=line, column=column)


_ESCAPED_CHARACTER = r"%[0-9A-Fa-f]{2}|\\[-_~.!$&'()*+,;=/?#@%]"
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
                (?:(?:[\w:·‿⁀]|{_ESCAPED_CHARACTER})(?:\.*+(?:[\w:·‿⁀-]++|{_ESCAPED_CHARACTER}))*+)?)
    | (?P<word>[^\W\d]\w*+)
    | (?P<number>(?:\d++\.?\d*+|\.\d++)[eE][+-]?\d++|\d*+\.\d++|\d++)
    | (?P<language>@[\w-]++)
    | (?P<mark>&&|\|\||!=|<=|>=|\^\^|\S)
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|.)", re.DOTALL)
_ECHARS = {'"': r"\"", "'": r"\'", "\\": r"\\", "\n": r"\n", "\r": r"\r", "\t": r"\t"}


def declare_prefixes(query: str, prefixes: Mapping[str, str]) -> str:
    """Return the query with declarations of the prefixes that it uses but does not declare."""
    header = "".join(
        f"PREFIX {prefix}: <{prefixes[prefix]}>\n"
        for prefix in tokenize(query).undeclared_prefixes
        if prefix in prefixes
    )
    return header + query if header else query


_STRING_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "b": "\b", "f": "\f"}


def get_number_datatype(text: str) -> str:
    """Return the datatype IRI of a number written without quotation marks."""
    if "e" in text.lower():
        return XSD_DOUBLE
    return XSD_DECIMAL if "." in text else XSD_INTEGER


def unquote_string(text: str) -> str:
    """Return the text of a string literal, with its escapes resolved."""
    quote_length = 3 if text[:3] in ('"""', "'''") else 1
    return unescape_string(text[quote_length:-quote_length])


def unescape_string(text: str) -> str:
    """Return the content of a string literal with its escapes resolved."""
    return _STRING_ESCAPE.sub(_unescape_match, text)


def _unescape_match(match: re.Match[str]) -> str:
    digits = match[1] or match[2]
    if digits is None:
        return _ESCAPES.get(match[3], match[3])
    code = int(digits, 16)
    return chr(code) if code <= sys.maxunicode else match[0]
