"""The IRIs and literals of a query, at their places in its text."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urljoin

from pyoxigraph import Literal, NamedNode

from askgraph.rdf.vocabulary import XSD_BOOLEAN
from askgraph.sparql.lexer import Token, lexed, number_type, unquoted

_IRI = re.compile(r'[A-Za-z][A-Za-z0-9+.-]*:[^<>"{}|^`\\\x00-\x20]*')
_TAG = re.compile(r"[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*")
_OPERANDS = frozenset(["number", "string", "variable", "language"])


@dataclass(frozen=True)
class WrittenTerm:
    """A term and where it stands: characters from `start` to before `end`.

    `value_end` is where the quoted text of a literal with a language or datatype ends, else `end`.
    """

    term: NamedNode | Literal
    start: int
    end: int
    value_end: int


def written_terms(query: str, prefixes: Mapping[str, str] | None = None) -> tuple[WrittenTerm, ...]:
    """Return the IRIs and literals of a query in the order in which they stand there.

    Left out are declarations, datatypes, separators, and the numbers of LIMIT and OFFSET. Of the
    prefixes those in `prefixes` need not be declared; a name with an unknown one is left out.
    """
    given = lexed(query)
    return tuple(_Written(given.given, {**(prefixes or {}), **given.declared}).terms())


@dataclass
class _Written:
    """Reads the terms off the terminals of one query."""

    given: Sequence[Token]
    prefixes: Mapping[str, str]
    base: str = ""

    def terms(self) -> Iterator[WrittenTerm]:
        for at, token in enumerate(self.given):
            match token.kind:
                case "iri" | "pname":
                    yield from self.name(at)
                case "string" if self.before(at) != "=" or self.before(at - 1) != "SEPARATOR":
                    yield self.text(at)
                case "number" if self.before(at) not in ("LIMIT", "OFFSET"):
                    yield self.number(at)
                case "word" if token.text.lower() in ("true", "false"):
                    truth = Literal(token.text.lower(), datatype=NamedNode(XSD_BOOLEAN))
                    yield WrittenTerm(truth, token.start, token.end, token.end)
                case _:
                    pass

    def before(self, at: int) -> str:
        return self.given[at - 1].text.upper() if at > 0 else ""

    def name(self, at: int) -> Iterator[WrittenTerm]:
        """An IRI or prefixed name, unless it declares something or is a datatype."""
        token, before = self.given[at], self.before(at)
        if before == "BASE":
            self.base = token.text[1:-1]
        if before in ("PREFIX", "BASE", "^^") or self.before(at - 1) == "PREFIX":
            return
        iri = self.iri(token)
        if iri is not None:
            yield WrittenTerm(NamedNode(iri), token.start, token.end, token.end)

    def iri(self, token: Token) -> str | None:
        """The IRI that a token means; None if that cannot be known."""
        iri = token.text[1:-1]
        if token.kind == "iri":
            iri = iri if ":" in iri or not self.base else urljoin(self.base, iri)
        else:
            prefix, _, local = token.text.partition(":")
            iri = self.prefixes.get(prefix, "") + re.sub(r"\\(.)", r"\1", local)
            if prefix not in self.prefixes:
                return None
        return iri if _IRI.fullmatch(iri) else None

    def text(self, at: int) -> WrittenTerm:
        """A quoted text with its language or datatype."""
        token = self.given[at]
        value, rest = unquoted(token.text), self.given[at + 1 : at + 3]
        if rest and rest[0].kind == "language" and _TAG.fullmatch(rest[0].text[1:]):
            tagged = Literal(value, language=rest[0].text[1:])
            return WrittenTerm(tagged, token.start, rest[0].end, token.end)
        if len(rest) == 2 and rest[0].text == "^^" and (datatype := self.iri(rest[1])):
            typed = Literal(value, datatype=NamedNode(datatype))
            return WrittenTerm(typed, token.start, rest[1].end, token.end)
        return WrittenTerm(Literal(value), token.start, token.end, token.end)

    def number(self, at: int) -> WrittenTerm:
        """A number, with its sign if nothing stands before it to add to."""
        token = self.given[at]
        start, sign = token.start, ""
        if self.before(at) in ("-", "+") and not self.is_operator(at - 1):
            start, sign = self.given[at - 1].start, self.given[at - 1].text
        number = Literal(sign + token.text, datatype=NamedNode(number_type(token.text)))
        return WrittenTerm(number, start, token.end, token.end)

    def is_operator(self, at: int) -> bool:
        """Whether a plus or minus is one of an expression: in parentheses, after an operand."""
        before = self.given[at - 1] if at else None
        if before is None or not (before.kind in _OPERANDS or before.text == ")"):
            return False
        depth = 0
        for token in reversed(self.given[:at]):
            if token.text in (")", "}"):
                depth += 1
            elif token.text in ("(", "{"):
                if depth == 0:
                    return token.text == "("
                depth -= 1
        return False
