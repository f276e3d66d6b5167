"""A query with placeholders for its constants: what is of the schema or of SPARQL itself stays."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from pyoxigraph import Literal, NamedNode

from askgraph.rdf import vocabulary as v
from askgraph.rdf.prefixes import PrefixMap
from askgraph.sparql.lexer import Token, number_type, terminals, without_comments
from askgraph.tools._hidden import PLACEHOLDER
from askgraph.tools._terms import expanded_name, unescaped_text

__all__ = ["masked_query"]

_KEPT_BEHIND = frozenset({"SERVICE", "SILENT", "GRAPH", "FROM", "NAMED", "BASE"})
_SAYS_HOW_MANY = frozenset({"LIMIT", "OFFSET"})


def masked_query(
    query: str,
    expand: Callable[[str], str | None],
    *,
    shows: Callable[[str], bool],
    mask: Callable[[NamedNode | Literal], str],
    numbers: Mapping[str, Literal],
) -> str:
    """Return a query in which `mask` stands for each thing and literal, comments left out.

    `expand` gives the IRI of a prefixed name whose prefix the query does not declare, `shows` says
    which IRIs stay. Behind LIMIT and
    OFFSET only the `numbers` of the question are masked.
    """
    query = without_comments(query)
    listed = terminals(query)
    own = PrefixMap(_declared(listed))

    def expanded(name: str) -> str | None:
        declared = name.partition(":")[0] in own.own
        return expanded_name(name, own) if declared else expand(name)

    pieces, at = list[str](), 0
    for start, end, term in _constants(listed, query, expanded, numbers):
        if PLACEHOLDER.search(term.value) or (isinstance(term, NamedNode) and shows(term.value)):
            continue
        pieces += [query[at:start], mask(term)]
        at = end
    return "".join([*pieces, query[at:]])


def _declared(listed: Sequence[Token]) -> dict[str, str]:
    """The namespaces that the query's own PREFIX lines bind."""
    return {
        name.text.removesuffix(":"): iri.text[1:-1]
        for word, name, iri in zip(listed, listed[1:], listed[2:], strict=False)
        if word.text.upper() == "PREFIX" and name.text.endswith(":") and iri.kind == "iri"
    }


def _constants(
    listed: Sequence[Token],
    query: str,
    expand: Callable[[str], str | None],
    numbers: Mapping[str, Literal],
) -> Iterator[tuple[int, int, NamedNode | Literal]]:
    """The terms of a query that may be hidden, and where each stands."""
    for at, token in enumerate(listed):
        before = listed[at - 1].text.upper() if at else ""
        end = _end(token)
        match token.kind:
            case "iri" | "pname":
                if term := _thing(listed, at, expand):
                    yield token.start, end, term
            case "number":
                number = Literal(token.text, datatype=NamedNode(number_type(token.text)))
                if before not in _SAYS_HOW_MANY:
                    yield token.start, end, numbers.get(token.text, number)
                elif token.text in numbers:
                    yield token.start, end, numbers[token.text]
            case "string" if not _of_the_language(listed, at):
                yield token.start, *_literal(listed, at, expand)


def _thing(
    listed: Sequence[Token], at: int, expand: Callable[[str], str | None]
) -> NamedNode | None:
    """The IRI at a token, unless it is a function's, a datatype's, a graph's or a prefix's."""
    token = listed[at]
    before = [one.text.upper() for one in listed[max(0, at - 2) : at]]
    after = listed[at + 1].text if at + 1 < len(listed) else ""
    if before[-1:] and (before[-1] in _KEPT_BEHIND or before[-1] == "PREFIX"):
        return None
    if before[-2:-1] == ["PREFIX"] or before[-1:] == ["^^"] or after == "(":
        return None
    iri = token.text[1:-1] if token.kind == "iri" else expand(token.text)
    return NamedNode(iri) if iri else None


def _literal(
    listed: Sequence[Token], at: int, expand: Callable[[str], str | None]
) -> tuple[int, Literal]:
    """Where the literal at a string ends, and what it is."""
    token = listed[at]
    size = 3 if token.text[:3] in ('"""', "'''") and len(token.text) >= 6 else 1
    text = unescaped_text(token.text[size:-size])
    match listed[at + 1 : at + 3]:
        case [Token(kind="language") as tag, *_]:
            return _end(tag), Literal(text, language=tag.text[1:])
        case [Token(text="^^"), kind]:
            iri = kind.text[1:-1] if kind.kind == "iri" else expand(kind.text)
            return _end(kind), Literal(text, datatype=NamedNode(iri or v.XSD_STRING))
        case _:
            return _end(token), Literal(text)


def _end(token: Token) -> int:
    return token.start + len(token.text)


def _of_the_language(listed: Sequence[Token], at: int) -> bool:
    """Whether a string says how, not what: a language tag, a flag, a separator."""
    text = listed[at].text.strip("\"'")
    near = " ".join(one.text.upper() for one in listed[max(0, at - 6) : at + 6])
    if not any(character.isalnum() for character in text):
        return True
    if text == "i":
        return "REGEX" in near or "REPLACE" in near
    return len(text) <= 3 and text.isalpha() and "LANG" in near
