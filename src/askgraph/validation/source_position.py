"""Positions of terms in the text of a query, and names of IRIs as it writes them."""

import re
from bisect import bisect_left
from collections.abc import Mapping
from functools import lru_cache
from operator import attrgetter

from pyoxigraph import Literal, NamedNode

from askgraph.rdf.prefixes import PrefixMap
from askgraph.rdf.vocabulary import RDF_TYPE
from askgraph.sparql.lexer import Token, lexed, position
from askgraph.sparql.tree import Span, Term
from askgraph.validation import Place


def place_of(text: str, span: Span) -> Place:
    """Return a span of a text as a place."""
    line, column = position(text, span[0])
    return Place(span[0], span[1], line, column)


def place_of_term(text: str, term: Term, span: Span, prefixes: PrefixMap) -> Place:
    """Return where a term stands first within a span, literals with their tag or type."""
    match term:
        case NamedNode():
            known = {**prefixes.namespaces, **lexed(text).declared}
            given = lexed(text).given
            first, last = (bisect_left(given, at, key=attrgetter("start")) for at in span)
            for token in given[first:last]:
                if _names(token, term.value, known):
                    return place_of(text, (token.start, token.end))
        case Literal():
            return place_of(text, span)
    return place_of(text, span)


def place_of_variable(text: str, name: str) -> Place | None:
    """Return where a variable stands first in a text; None if it does not."""
    start = _variables(text).get(name)
    return None if start is None else place_of(text, (start, start + len(name) + 1))


def written(iri: str, text: str, prefixes: PrefixMap) -> str:
    """Return an IRI as the query would write it: by a prefix of its own, or the graph's."""
    if iri == RDF_TYPE:
        return "a"
    return PrefixMap({**prefixes.own, **lexed(text).declared}).shorten(iri)


@lru_cache(maxsize=16)
def _variables(text: str) -> Mapping[str, int]:
    """Where each variable stands first."""
    found: dict[str, int] = {}
    for token in lexed(text).all:
        if token.kind == "variable":
            found.setdefault(token.text[1:], token.start)
    return found


def _names(token: Token, iri: str, known: dict[str, str]) -> bool:
    match token.kind:
        case "iri":
            return token.text[1:-1] == iri
        case "pname":
            prefix, _, local = token.text.partition(":")
            space = known.get(prefix, prefix + ":")
            return space + re.sub(r"\\(.)", r"\1", local) == iri
        case "word":
            return token.text == "a" and iri == RDF_TYPE
        case _:
            return False
