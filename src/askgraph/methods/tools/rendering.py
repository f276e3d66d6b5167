"""Terms and results of a graph as a language model reads them: short, in quotes, clipped.

Whatever comes from a graph is data: it stands in quotes, on one line, so that no text in a graph
can pass for an instruction or for another row. A result is a table, counts first:

    95 rows, 2 columns, showing the first 5 and the last 5 rows
    moon|radius
    space:Io|1821.6
    …
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from askgraph.answers.verbalize import iris_of, labels_of
from askgraph.graph.literals import split_literal
from askgraph.graph.names import tells_more
from askgraph.methods.tools import Context, Limits
from askgraph.sparql import vocabulary as v
from askgraph.sparql.prefixes import words_of_local_name
from askgraph.sparql.results import GraphResult, Row, SelectResult, Term, Truncation
from askgraph.sparql.rewrite import formatted
from askgraph.trace import Observation

if TYPE_CHECKING:
    from askgraph.graph.examples import QueryExample

_PLAIN = (v.XSD_STRING, v.RDF_LANG_STRING, *v.INTEGER_DATATYPES, v.XSD_DECIMAL, v.XSD_BOOLEAN)
_GAP = "…"
_ROOM = 3_500  # characters
_LAST = 30
_LONG = 40  # characters of an IRI, in place of which its label is shown


@dataclass
class Writer:
    """Writes terms of one graph; `seen` are the IRIs that it wrote, in full and in order.

    Blank nodes are numbered as they come: what an endpoint calls them means nothing to anybody.
    If the context has a veil, things and literals are written as placeholders.
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
        """Write an IRI alone: `space:Titan`, or `<http://…>` if there is no prefix for it."""
        self.seen[iri] = None
        if (veil := self.context.veil) and not veil.shows(iri):
            return veil.iri(iri)
        return self.context.graph.prefixes.shorten(iri)

    def iri(self, iri: str) -> str:
        """Write an IRI, and its label if that says more: `wd:Q2565 "Titan"`."""
        short, label = self.short(iri), self.labels.get(iri)
        if label is None or not tells_more(label, (iri, *self._ends(iri, label))):
            return short
        return f"{short} {about}" if (about := self.about(iri, label)) else short

    def name(self, iri: str) -> str:
        """Write an IRI alone; if it is long, the label instead that no other thing has."""
        short, label = self.short(iri), self.labels.get(iri)
        if label is None or len(short) <= _LONG or [*self.labels.values()].count(label) > 1:
            return short
        return self.about(iri, label) or short

    def _ends(self, iri: str, label: str) -> list[str]:
        """The classes at the ends of a property whose label may be a sentence about them."""
        if " " not in label:
            return []
        every = self.context.graph.profile.predicates
        found = next((one for one in every if one.iri == iri), None)
        return [c for c, _ in (*found.subject_classes, *found.object_classes)] if found else []

    def about(self, iri: str, text: str) -> str:
        """Write a text that tells of an IRI as `text` does; "" if that may not be seen."""
        if (veil := self.context.veil) and not veil.shows(iri):
            return ""
        return quoted(text, self.context.limits.clip)

    def text(self, text: str) -> str:
        """Write a text in quotes, on one line, its middle left out if it is long."""
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
    found = await labels_of(iris, context.graph, languages, timeout=timeout)
    classes = {one.iri for one in context.graph.profile.classes} & found.keys()
    called = Counter(found[iri].casefold() for iri in classes)
    colliding = {
        iri
        for iri in classes
        if called[found[iri].casefold()] > 1 and words_of_local_name(iri).replace(" ", "").isalpha()
    }
    return {iri: text for iri, text in found.items() if iri not in colliding}


def quoted(text: str, most: int) -> str:
    """Return a text in quotes, on one line, with at most `most` of its characters."""
    return json.dumps(clipped(text, most), ensure_ascii=False)


def body_lines(query: str) -> list[str]:
    """Return the lines of a query without empty ones and PREFIX lines, declared for the model."""
    return [line for line in query.splitlines() if line and not line.startswith("PREFIX ")]


def clipped(text: str, most: int) -> str:
    """Return a text of at most `most` characters: what is too much is left out of the middle."""
    if len(text) <= most:
        return text
    head = (most - 1) * 2 // 3
    return f"{text[:head]}…{text[len(text) - (most - 1 - head) :]}"


@dataclass(frozen=True)
class Shown:
    """A text for a language model, and the IRIs that it shows, in full."""

    text: str
    seen: tuple[str, ...] = ()


async def table(context: Context, result: SelectResult) -> Shown:
    """Return solutions as a table; of many, the first and last rows and columns.

    An IRI has its label if it first stands. If the cells are long, less is shown of them, and
    then fewer of them. Under a veil without rows only that there are some is told.
    """
    number, width = len(result.rows), len(result.variables)
    if number and not context.shows_counts:
        return Shown(f"there are rows, which are not shown: {'|'.join(result.variables)}")
    head = f"{_counted(number, 'row', result.truncated)}, {_counted(width, 'column')}"
    if not number:
        return Shown(head)
    columns = _kept(width, context.limits.columns)
    rows = _kept(number, context.limits.rows)
    cells = [[result.rows[row][column] for column in columns] for row in rows]
    writer = await Writer.knowing(context, _iris(cells))
    names = "|".join(_with_gap([result.variables[column] for column in columns], columns))
    for limits in _smaller(context.limits):
        rows = _kept(number, limits.rows)
        tried = Writer(replace(context, limits=limits), writer.labels)
        lines = []
        for row in rows:
            terms = [_cell(tried, result.rows[row][column]) for column in columns]
            lines.append("|".join(_with_gap(terms, columns)))
        first = head + _which(rows, "rows") + _which(columns, "columns")
        text = "\n".join([first, names, *_with_gap(lines, rows)])
        if len(text) <= _ROOM:
            break
    return Shown(text, tuple(tried.seen))


async def listed(context: Context, result: GraphResult) -> Shown:
    """Return the triples of a graph result, one a line; of many, the first and the last."""
    columns = ("subject", "predicate", "object")
    rows = tuple(_terms(triple) for triple in result.triples)
    shown = await table(context, SelectResult(columns, rows, result.truncated))
    return replace(shown, text=shown.text.replace(" row", " triple", 1))


def _terms(triple: Triple) -> Row:
    return triple.subject, triple.predicate, triple.object


def _smaller(limits: Limits) -> Iterator[Limits]:
    """The limits, then ever smaller ones: shorter texts first, then fewer rows."""
    clip = limits.clip
    while clip > _LAST:
        yield replace(limits, clip=clip)
        clip //= 2
    yield replace(limits, clip=min(limits.clip, _LAST))
    for rows in (6, 4, 2, 1):
        yield replace(limits, clip=min(limits.clip, _LAST), rows=min(limits.rows, rows))


def _cell(writer: Writer, term: Term | None) -> str:
    if isinstance(term, NamedNode) and term.value in writer.seen:
        return writer.short(term.value)
    return writer.term(term)


def _kept(number: int, most: int) -> Sequence[int]:
    """The places of the first and the last, at most so many."""
    if number <= most:
        return range(number)
    first = (most + 1) // 2
    return [*range(first), *range(number - (most - first), number)]


def _gap_after(kept: Sequence[int]) -> int | None:
    """How many places come before the gap; None if there is none."""
    return next((at for at, place in enumerate(kept) if place != at), None)


def _with_gap(cells: Sequence[str], kept: Sequence[int]) -> Sequence[str]:
    gap = _gap_after(kept)
    return cells if gap is None else [*cells[:gap], _GAP, *cells[gap:]]


def _counted(number: int, what: str, truncated: Truncation | None = None) -> str:
    text = f"{number:,} {what}{'' if number == 1 else 's'}"
    if truncated is None:
        return text
    whose = "the server" if truncated.by == "server" else truncated.by
    return f"at least {text} (cut off by {whose}: {truncated.reason})"


def _which(kept: Sequence[int], what: str) -> str:
    gap = _gap_after(kept)
    if gap is None:
        return ""
    return f", showing the first {gap} and the last {len(kept) - gap} {what}"


def _iris(rows: Sequence[Sequence[Term | None]]) -> Iterator[str]:
    for row in rows:
        for term in row:
            match term:
                case NamedNode():
                    yield term.value
                case Triple():
                    yield from _iris([_terms(term)])


async def shown_examples(context: Context, examples: "Sequence[QueryExample]") -> Observation:
    """Show examples, each with its question and its query, without the known prefixes.

    The IRIs in them count as seen.
    """
    if not examples:
        return Observation("there are no examples for this graph", failed=True)
    iris = list(dict.fromkeys(iri for one in examples for iri in iris_of(one.query)))
    writer = await Writer.knowing(context, iris)
    prefixes = context.graph.prefixes
    known = {f"PREFIX {prefix}: <{iri}>" for prefix, iri in prefixes.namespaces.items()}
    parts = []
    for one in examples:
        lines = formatted(one.query, prefixes, writer.labels).splitlines()
        parts.append("\n".join([writer.text(one.question), *(o for o in lines if o not in known)]))
    return Observation("\n\n".join(parts), (*iris, v.RDF_TYPE))
