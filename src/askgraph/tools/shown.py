"""Terms of a graph as a language model reads them: IRIs short, names and texts in quotes, clipped.

Whatever comes from a graph is data: it stands in quotes, on one line, so that no text in a graph
can pass for an instruction or for another row.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field

from pyoxigraph import BlankNode, Literal, NamedNode

from askgraph.explanation.labels import labels_of
from askgraph.index.tokens import tokens
from askgraph.rdf import vocabulary as v
from askgraph.rdf.labels import words_of_local_name
from askgraph.sparql.results import Term
from askgraph.tools import Context
from askgraph.traversal.literals import split_literal

__all__ = ["Writer", "clipped", "labels_in", "quoted"]

_PLAIN = (v.XSD_STRING, v.RDF_LANG_STRING, *v.INTEGER_DATATYPES, v.XSD_DECIMAL, v.XSD_BOOLEAN)


@dataclass
class Writer:
    """Writes terms of one graph; `seen` are the IRIs that it wrote, in full and in order.

    Blank nodes are numbered as they come: what an endpoint calls them means nothing to anybody.
    Where the context has a veil, things and literals are written as placeholders.
    """

    context: Context
    labels: dict[str, str] = field(default_factory=dict)
    seen: dict[str, None] = field(default_factory=dict)
    blanks: dict[str, int] = field(default_factory=dict)

    @classmethod
    async def knowing(cls, context: Context, iris: Iterable[str]) -> "Writer":
        """Return a writer that knows the labels of these IRIs, of the first 500 of them."""
        wanted = list(dict.fromkeys(iris))
        return cls(context, await labels_in(context, wanted))

    def short(self, iri: str) -> str:
        """Write an IRI alone: `space:Titan`, or `<http://…>` where there is no prefix for it."""
        self.seen[iri] = None
        if (veil := self.context.veil) and not veil.shows(iri):
            return veil.iri(iri)
        return self.context.graph.prefixes.shorten(iri)

    def iri(self, iri: str) -> str:
        """Write an IRI, and its label where that says more: `wd:Q2565 "Titan"`."""
        short, label = self.short(iri), self.labels.get(iri)
        if label is None or tokens(label) == tokens(words_of_local_name(iri)):
            return short
        return f"{short} {about}" if (about := self.about(iri, label)) else short

    def about(self, iri: str, text: str) -> str:
        """Write a text that tells of an IRI as `text` does; "" where that may not be seen."""
        if (veil := self.context.veil) and not veil.shows(iri):
            return ""
        return quoted(text, self.context.limits.clip)

    def text(self, text: str) -> str:
        """Write a text in quotes, on one line, its middle left out where it is long."""
        if veil := self.context.veil:
            return veil.literal(Literal(text), self.context.graph.prefixes)
        return quoted(text, self.context.limits.clip)

    def term(self, term: Term | None) -> str:
        """Write any term of a result; an unbound one is a dash."""
        match term:
            case None:
                return "-"
            case NamedNode():
                return self.iri(term.value)
            case BlankNode():
                return f"_:b{self.blanks.setdefault(term.value, len(self.blanks) + 1)}"
            case Literal():
                return self.literal(term)
            case _:
                parts = (term.subject, term.predicate, term.object)
                return f"<<{' '.join(self.term(part) for part in parts)}>>"

    def literal(self, literal: Literal) -> str:
        """Write a literal: numbers and booleans plain, others in quotes with language or type."""
        datatype = literal.datatype.value
        if veil := self.context.veil:
            return veil.literal(literal, self.context.graph.prefixes)
        if literal.language:
            return f"{self.text(literal.value)}@{literal.language}"
        if datatype in _PLAIN[2:] and len(literal.value) <= self.context.limits.clip:
            return literal.value
        if datatype in _PLAIN:
            return self.text(literal.value)
        kind = self.context.graph.prefixes.shorten(datatype)
        return f"{self.text(literal.value)}^^{kind}"

    def stored(self, text: str) -> str:
        """Write a literal that is kept as N-Triples text, without its datatype."""
        value, datatype, language = split_literal(text)
        if veil := self.context.veil:
            kind = NamedNode(datatype)
            term = Literal(value, language=language) if language else Literal(value, datatype=kind)
            return veil.literal(term, self.context.graph.prefixes)
        if language:
            return f"{self.text(value)}@{language}"
        return value if datatype in v.NUMERIC_DATATYPES else self.text(value)


async def labels_in(context: Context, iris: Iterable[str]) -> dict[str, str]:
    """Return the labels of IRIs in the asker's language, else in English; see `labels_of`."""
    languages = [context.language, "en"]
    timeout = context.limits.timeout
    return await labels_of(iris, context.graph, languages, timeout=timeout)


def quoted(text: str, most: int) -> str:
    """Return a text in quotes, on one line, with at most `most` of its characters."""
    return json.dumps(clipped(text, most), ensure_ascii=False)


def clipped(text: str, most: int) -> str:
    """Return a text of at most `most` characters: what is too much is left out of the middle."""
    if len(text) <= most:
        return text
    head = (most - 1) * 2 // 3
    return f"{text[:head]}…{text[len(text) - (most - 1 - head) :]}"
