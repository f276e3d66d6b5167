"""Placeholders for terms that a model may not see, and the terms put back for them.

`hidden:e3` is the third thing, `hidden:v2` the second literal of a question. Both are prefixed
names, so that they can stand in a query wherever a term can.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from pyoxigraph import Literal, NamedNode

from askgraph.errors import QueryError
from askgraph.rdf import vocabulary as v
from askgraph.rdf.labels import words_of_local_name
from askgraph.rdf.prefixes import PrefixMap
from askgraph.sparql.lexer import Token, tokens, without_comments

__all__ = ["PLACEHOLDER", "Hidden"]

PLACEHOLDER = re.compile(r"(?<!\w)hidden:[ev]\d+(?!\d)", re.IGNORECASE | re.ASCII)

_IN_WORDS = re.compile(r"hidden:(?:[ev]\d+|\w*)", re.IGNORECASE | re.ASCII)
_DECLARED = re.compile(r"\bPREFIX\s+hidden:\s*<[^<>]*>\s*", re.IGNORECASE)
_SUFFIX = re.compile(r"@[A-Za-z]+(?:-[A-Za-z0-9]+)*|\^\^(?:<[^<>\s]*>|[\w-]*:[\w.-]*\w)")
_BARE = {
    v.XSD_INTEGER: re.compile(r"[+-]?\d+"),
    v.XSD_DECIMAL: re.compile(r"[+-]?\d*\.\d+"),
    v.XSD_BOOLEAN: re.compile(r"true|false"),
}
_ESCAPES = {"\\": "\\\\", '"': '\\"', "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_BEFORE_TEXT = frozenset("(,=<>")  # marks after which a string is compared, rather than linked to


@dataclass(eq=False)
class Hidden:
    """Numbers terms as they come; the same term always has the same placeholder.

    `names` are words that name things, for where a query wants a text.
    """

    names: dict[str, str] = field(default_factory=dict)
    _placeholders: dict[NamedNode | Literal, str] = field(default_factory=dict)
    _terms: dict[str, NamedNode | Literal] = field(default_factory=dict)
    _things: int = 0

    def placeholder(self, term: NamedNode | Literal) -> str:
        """Return the placeholder of a term, without its datatype or language."""
        if term not in self._placeholders:
            thing = isinstance(term, NamedNode)
            self._things += thing
            number = self._things if thing else len(self._terms) - self._things + 1
            name = f"hidden:{'e' if thing else 'v'}{number}"
            self._placeholders[term] = name
            self._terms[name] = term
        return self._placeholders[term]

    def holds(self, term: NamedNode | Literal) -> bool:
        """Return whether a term has a placeholder."""
        return term in self._placeholders

    def typed(self, literal: Literal, prefixes: PrefixMap, *, like: Literal | None = None) -> str:
        """Return the placeholder of a literal with its language, or its datatype if not a text.

        With a datatype the placeholder may be that of another literal that is written `like` it.
        """
        datatype = literal.datatype.value
        if literal.language:
            return f"{self.placeholder(literal)}@{literal.language}"
        if datatype == v.XSD_STRING:
            return self.placeholder(literal)
        alike = literal if like is None or like.value != literal.value else like
        return f"{self.placeholder(alike)}^^{prefixes.shorten(datatype)}"

    def literals(self) -> Iterator[Literal]:
        """All literals that have a placeholder."""
        yield from (term for term in self._terms.values() if isinstance(term, Literal))

    def term(self, placeholder: str) -> NamedNode | Literal:
        """Return what a placeholder stands for; `QueryError` where it stands for nothing."""
        if placeholder.lower() not in self._terms:
            raise QueryError(
                f"{placeholder!r} stands for nothing: use the placeholders that are shown, as they "
                "are"
            )
        return self._terms[placeholder.lower()]

    def in_query(self, query: str) -> str:
        """Return a query with the terms in place of their placeholders, without comments.

        A type or language that is written behind a placeholder holds. Within quotes a literal is
        its text; a thing is its name where a text is compared, else its IRI. Raises `QueryError`
        for what begins like a placeholder and is none.
        """
        query = _DECLARED.sub("", without_comments(query))
        pieces, at, before = list[str](), 0, ""
        for token in tokens(query):
            if token.start < at:
                continue  # the type behind a placeholder
            end = token.start + len(token.text)
            if "hidden:" in token.text.lower() and token.kind in ("pname", "iri", "string"):
                put, end = self._put(token, query, end, before)
                pieces += [query[at : token.start], put]
                at = end
            before = token.text
        return "".join(pieces) + query[at:]

    def in_words(self, text: str) -> str:
        """Return a text for people with names and values in place of placeholders.

        One that stands for nothing becomes "something".
        """
        return _IN_WORDS.sub(lambda found: self._words(self._terms.get(found[0].lower())), text)

    def _put(self, token: Token, query: str, end: int, before: str) -> tuple[str, int]:
        """What stands for a token, and where the query goes on behind it."""
        if "hidden:" in PLACEHOLDER.sub("", token.text).lower():
            self.term(token.text)
        if token.kind == "pname":
            term, suffix = self.term(token.text), _SUFFIX.match(query, end)
            if suffix and isinstance(term, Literal):
                return f'"{_escaped(term.value)}"{suffix[0]}', suffix.end()
            return _written(term), end
        if token.kind == "iri":
            *_, found = PLACEHOLDER.finditer(token.text)
            return _written(self.term(found[0])), end
        inside = token.text.strip("\"'")
        if PLACEHOLDER.fullmatch(inside) and before[-1:] not in _BEFORE_TEXT:
            term = self.term(inside)
            if isinstance(term, NamedNode):
                return _written(term), end
        return PLACEHOLDER.sub(lambda f: _escaped(self._words(self.term(f[0]))), token.text), end

    def _words(self, term: NamedNode | Literal | None) -> str:
        if term is None:
            return "something"
        if isinstance(term, Literal):
            return term.value
        return self.names.get(term.value) or words_of_local_name(term.value) or term.value


def _written(term: NamedNode | Literal) -> str:
    """A term as a query has it; plain numbers can stand behind LIMIT, too."""
    if isinstance(term, Literal):
        bare = _BARE.get(term.datatype.value)
        if bare and bare.fullmatch(term.value):
            return term.value
    return str(term)


def _escaped(text: str) -> str:
    return "".join(_ESCAPES.get(character, character) for character in text)
