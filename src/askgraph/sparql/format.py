"""A SPARQL query laid out for a reader: short names, one pattern a line, labels as comments."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from askgraph.errors import QuerySyntaxError
from askgraph.rdf.labels import words_of_local_name
from askgraph.rdf.prefixes import PrefixMap
from askgraph.sparql.layout import lines_of
from askgraph.sparql.lexer import Token, tokens
from askgraph.sparql.terminals import declared_prefixes, terminals

__all__ = ["formatted"]

_LABEL_LENGTH = 60


def formatted(query: str, prefixes: PrefixMap, labels: Mapping[str, str]) -> str:
    """Return the query as a careful person writes it; it means the same.

    Prefixes are those of the map, then the query's own; only those used are declared. Patterns with
    the same subject stand together, one a line; a pattern written twice is kept once. `labels`
    (IRI -> label) become comments where the IRI itself does not say the same. Comments before the
    query stay, others go. An update, or text that is no SPARQL, comes back unchanged.
    """
    try:
        given = terminals(query)
        declared = declared_prefixes(query)
        names = _Names(prefixes.with_prefixes(declared), declared, labels)
        lines = lines_of(given, names.written)
    except (QuerySyntaxError, IndexError):
        return query.strip()
    body = "\n".join(names.with_comment(line) for line in lines)
    return _opening_comment(given) + names.prefixes.header("\n".join(lines)) + body


def _opening_comment(given: tuple[Token, ...]) -> str:
    """The comment lines before the first word of a query."""
    lines = []
    for token in given:
        if token.kind != "comment":
            break
        lines.append(token.text.rstrip() + "\n")
    return "".join(lines)


@dataclass(frozen=True)
class _Names:
    """How the IRIs of one query are written, and what comment explains them."""

    prefixes: PrefixMap
    declared: Mapping[str, str]
    labels: Mapping[str, str]
    comments: dict[str, str] = field(default_factory=dict)

    def written(self, token: Token) -> str:
        """An IRI or a prefixed name as the shortest name there is."""
        iri = self.iri(token)
        if iri is None:
            return token.text
        name = self.prefixes.shorten(iri)
        label = self.labels.get(iri)
        if label and _adds(label, iri):
            self.comments[name] = _one_line(label)
        return name

    def iri(self, token: Token) -> str | None:
        """The IRI that a token means; None for a relative one or an unknown prefix."""
        if token.kind == "iri":
            iri = token.text[1:-1]
            return iri if re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", iri) else None
        prefix, _, local = token.text.partition(":")
        namespace = self.declared.get(prefix, self.prefixes.namespaces.get(prefix))
        return None if namespace is None else namespace + re.sub(r"\\(.)", r"\1", local)

    def with_comment(self, line: str) -> str:
        """The line, its opaque names explained at its end."""
        if not any(name in line for name in self.comments):
            return line
        named = dict.fromkeys(token.text for token in tokens(line) if token.text in self.comments)
        return f"{line}  # {', '.join(self.comments[name] for name in named)}" if named else line


def _adds(label: str, iri: str) -> bool:
    """Whether a label says more than the local name of its IRI does."""
    local = words_of_local_name(iri).casefold()
    said = set(re.findall(r"\w+", local))
    words = re.findall(r"\w+", label.casefold())
    return not set(words) <= said and "".join(words) != "".join(re.findall(r"\w+", local))


def _one_line(label: str) -> str:
    text = " ".join(label.split())
    return text if len(text) <= _LABEL_LENGTH else text[: _LABEL_LENGTH - 1].rstrip() + "…"
