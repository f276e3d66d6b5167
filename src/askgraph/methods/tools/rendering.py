"""Render terms and results of a graph for a language model: short, in quotes, clipped.

All text from a graph is data: it is quoted, on one line, so that no text in a graph can pass for an
instruction or for another row. A result is a table, with its counts first:

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

from askgraph.answers.verbalize import fetch_term_labels, list_query_iris
from askgraph.graph.literals import split_literal
from askgraph.graph.names import escape_unseen, is_informative_label
from askgraph.methods.tools import Context, ToolLimits
from askgraph.sparql import vocabulary as v
from askgraph.sparql.prefixes import split_local_name
from askgraph.sparql.results import (
    GraphResult,
    SelectResult,
    Term,
    Truncation,
    get_result_format,
    serialize_result,
)
from askgraph.sparql.rewrite import lay_out_query
from askgraph.trace import Observation

if TYPE_CHECKING:
    from askgraph.graph.examples import QueryExample

_PLAIN_DATATYPES = (
    v.XSD_STRING,
    v.RDF_LANG_STRING,
    *v.INTEGER_DATATYPES,
    v.XSD_DECIMAL,
    v.XSD_BOOLEAN,
)
_GAP_MARK = "…"
_MAX_TABLE_CHARACTERS = 3_500  # characters
_MIN_CLIP_CHARACTERS = 30


@dataclass
class TermWriter:
    """Writes terms of one graph as text.

    `written_iris` are the IRIs that it wrote, in full and in order. Blank nodes are numbered in
    order of appearance, since their names in an endpoint mean nothing. With a masker in the
    context, entities and literals are written as placeholders.
    """

    context: Context
    labels: dict[str, str] = field(default_factory=dict)
    written_iris: dict[str, None] = field(default_factory=dict)
    blank_numbers: dict[str, int] = field(default_factory=dict)

    @classmethod
    async def from_iris(cls, context: Context, iris: Iterable[str]) -> "TermWriter":
        """Create a writer with the labels of these IRIs, of the first 500 at most."""
        return cls(context, await fetch_labels(context, list(dict.fromkeys(iris))))

    def write_short(self, iri: str) -> str:
        """Write an IRI alone: `space:Titan`, or `<http://…>` if it has no prefix."""
        self.written_iris[iri] = None
        if (masker := self.context.masker) and not masker.is_visible(iri):
            return masker.placeholders.assign_placeholder(NamedNode(iri))
        return self.context.graph.prefixes.shorten(iri)

    def write_iri(self, iri: str) -> str:
        """Write an IRI, and its label if that adds information: `wd:Q2565 "Titan"`."""
        short, label = self.write_short(iri), self.labels.get(iri)
        if label is None or not is_informative_label(
            label, (iri, *self._list_end_classes(iri, label))
        ):
            return short
        return (
            f"{short} {description}"
            if (description := self.write_description(iri, label))
            else short
        )

    def _list_end_classes(self, iri: str, label: str) -> list[str]:
        """Return the classes at both ends of a property whose label may mention them."""
        if " " not in label:
            return []
        predicates = self.context.graph.profile.predicates
        profile = next((predicate for predicate in predicates if predicate.iri == iri), None)
        return (
            [cls for cls, _ in (*profile.subject_classes, *profile.object_classes)]
            if profile
            else []
        )

    def write_description(self, iri: str, text: str) -> str:
        """Write a text that identifies an IRI; empty if the model may not see it."""
        if (masker := self.context.masker) and not masker.is_visible(iri):
            return ""
        return quote(text, self.context.limits.clip)

    def write_text(self, text: str) -> str:
        """Write a text in quotes, on one line; a long one loses its middle."""
        if masker := self.context.masker:
            return masker.mask_literal(Literal(text), self.context.graph.prefixes)
        return quote(text, self.context.limits.clip)

    def write_term(self, term: Term | None) -> str:
        """Write any term of a result; an unbound one is a dash."""
        match term:
            case None:
                return "-"
            case NamedNode():
                return self.write_iri(term.value)
            case BlankNode():
                return (
                    f"_:b{self.blank_numbers.setdefault(term.value, len(self.blank_numbers) + 1)}"
                )
            case Literal():
                return self.write_literal(term)
            case _:
                parts = (term.subject, term.predicate, term.object)
                return f"<<{' '.join(self.write_term(part) for part in parts)}>>"

    def write_literal(self, literal: Literal) -> str:
        """Write a literal: numbers and booleans plain, others quoted, with language or type."""
        datatype = literal.datatype.value
        if masker := self.context.masker:
            return masker.mask_literal(literal, self.context.graph.prefixes)
        if literal.language:
            return f"{self.write_text(literal.value)}@{literal.language}"
        if datatype in _PLAIN_DATATYPES[2:] and len(literal.value) <= self.context.limits.clip:
            return literal.value
        if datatype in _PLAIN_DATATYPES:
            return self.write_text(literal.value)
        kind = self.context.graph.prefixes.shorten(datatype)
        return f"{self.write_text(literal.value)}^^{kind}"

    def write_stored_literal(self, text: str) -> str:
        """Write a literal that is stored as N-Triples text, without its datatype."""
        value, datatype, language = split_literal(text)
        if masker := self.context.masker:
            kind = NamedNode(datatype)
            term = Literal(value, language=language) if language else Literal(value, datatype=kind)
            return masker.mask_literal(term, self.context.graph.prefixes)
        if language:
            return f"{self.write_text(value)}@{language}"
        return value if datatype in v.NUMERIC_DATATYPES else self.write_text(value)


async def fetch_labels(context: Context, iris: Iterable[str]) -> dict[str, str]:
    """Return the labels of IRIs in the user's language, else in English; see `fetch_term_labels`.

    Classes that share a label are left out if their IRIs are readable.
    """
    languages = [context.language, "en"]
    labels = await fetch_term_labels(iris, context.graph, languages, timeout=context.limits.timeout)
    classes = {cls.iri for cls in context.graph.profile.classes} & labels.keys()
    label_counts = Counter(labels[iri].casefold() for iri in classes)
    ambiguous_iris = {
        iri
        for iri in classes
        if label_counts[labels[iri].casefold()] > 1
        and split_local_name(iri).replace(" ", "").isalpha()
    }
    return {iri: text for iri, text in labels.items() if iri not in ambiguous_iris}


def quote(text: str, max_characters: int) -> str:
    """Return a text in quotes, on one line, clipped to `max_characters`."""
    return escape_unseen(json.dumps(clip_text(text, max_characters), ensure_ascii=False))


def list_body_lines(query: str) -> list[str]:
    """Return the lines of a query without empty lines and PREFIX lines."""
    return [line for line in query.splitlines() if line and not line.startswith("PREFIX ")]


def clip_text(text: str, max_characters: int) -> str:
    """Clip a text to `max_characters`; the middle is left out."""
    if len(text) <= max_characters:
        return text
    head = (max_characters - 1) * 2 // 3
    return f"{text[:head]}…{text[len(text) - (max_characters - 1 - head) :]}"


@dataclass(frozen=True)
class RenderedText:
    """A text for a language model, and the full IRIs in it."""

    text: str
    iris: tuple[str, ...] = ()


async def render_table(context: Context, result: SelectResult) -> RenderedText:
    """Render solutions as a table; of many, the first and last rows and columns.

    An IRI has its label where it first appears. If the table is too long, the texts are clipped
    further, then rows are left out. A masker without rows only reveals that there are some.
    """
    number, width = len(result.rows), len(result.variables)
    if number and not context.can_show_counts:
        return RenderedText(f"there are rows, which are not shown: {'|'.join(result.variables)}")
    if context.limits.bare:
        shown = replace(result, rows=result.rows[: context.limits.rows])
        csv = serialize_result(shown, get_result_format("csv", shown)).decode()
        text = csv.replace("\r\n", "\n").strip() if number else "no solutions"
        return RenderedText(text, tuple(dict.fromkeys(_find_iris(shown.rows))))
    head = f"{_format_count(number, 'row', result.truncated)}, {_format_count(width, 'column')}"
    if not number:
        return RenderedText(head)
    columns = _select_indices(width, context.limits.columns)
    rows = _select_indices(number, context.limits.rows)
    cells = [[result.rows[row][column] for column in columns] for row in rows]
    writer = await TermWriter.from_iris(context, _find_iris(cells))
    names = "|".join(_insert_gap([result.variables[column] for column in columns], columns))
    for limits in _shrink_limits(context.limits):
        rows = _select_indices(number, limits.rows)
        term_writer = TermWriter(replace(context, limits=limits), writer.labels)
        lines = []
        for row in rows:
            terms = [_write_cell(term_writer, result.rows[row][column]) for column in columns]
            lines.append("|".join(_insert_gap(terms, columns)))
        summary = head + _describe_selection(rows, number, "rows")
        summary += _describe_selection(columns, width, "columns")
        text = "\n".join([summary, names, *_insert_gap(lines, rows)])
        if len(text) <= _MAX_TABLE_CHARACTERS:
            break
    return RenderedText(text, tuple(term_writer.written_iris))


async def render_triples(context: Context, result: GraphResult) -> RenderedText:
    """Render the triples of a graph result, one per line; of many, the first and the last."""
    columns = ("subject", "predicate", "object")
    rows = tuple((triple.subject, triple.predicate, triple.object) for triple in result.triples)
    rendered_table = await render_table(context, SelectResult(columns, rows, result.truncated))
    return replace(rendered_table, text=rendered_table.text.replace(" row", " triple", 1))


def _shrink_limits(limits: ToolLimits) -> Iterator[ToolLimits]:
    """Yield the limits, then smaller and smaller ones: shorter texts first, then fewer rows."""
    clip = limits.clip
    while clip > _MIN_CLIP_CHARACTERS:
        yield replace(limits, clip=clip)
        clip //= 2
    yield replace(limits, clip=min(limits.clip, _MIN_CLIP_CHARACTERS))
    for rows in (6, 4, 2, 1):
        yield replace(
            limits, clip=min(limits.clip, _MIN_CLIP_CHARACTERS), rows=min(limits.rows, rows)
        )


def _write_cell(writer: TermWriter, term: Term | None) -> str:
    if isinstance(term, NamedNode) and term.value in writer.written_iris:
        return writer.write_short(term.value)
    return writer.write_term(term)


def _select_indices(number: int, max_count: int) -> Sequence[int]:
    """Return the indices of the first and the last items, at most `max_count`."""
    if number <= max_count:
        return range(number)
    first = (max_count + 1) // 2
    return [*range(first), *range(number - (max_count - first), number)]


def _find_gap(indices: Sequence[int]) -> int | None:
    """Return how many indices come before the gap; None if there is no gap."""
    return next((at for at, index in enumerate(indices) if index != at), None)


def _insert_gap(cells: Sequence[str], indices: Sequence[int]) -> Sequence[str]:
    gap = _find_gap(indices)
    return cells if gap is None else [*cells[:gap], _GAP_MARK, *cells[gap:]]


def _format_count(number: int, noun: str, truncated: Truncation | None = None) -> str:
    text = f"{number:,} {noun}{'' if number == 1 else 's'}"
    if truncated is None:
        return text
    source = "the server" if truncated.by == "server" else truncated.by
    return f"at least {text} (cut off by {source}: {truncated.reason})"


def _describe_selection(indices: Sequence[int], number: int, noun: str) -> str:
    gap = _find_gap(indices)
    if gap is None:
        return f", showing the first {len(indices)} {noun}" if len(indices) < number else ""
    return f", showing the first {gap} and the last {len(indices) - gap} {noun}"


def _find_iris(rows: Sequence[Sequence[Term | None]]) -> Iterator[str]:
    for row in rows:
        for term in row:
            match term:
                case NamedNode():
                    yield term.value
                case Triple():
                    yield from _find_iris([(term.subject, term.predicate, term.object)])


async def render_examples(context: Context, examples: "Sequence[QueryExample]") -> Observation:
    """Render examples, each with its question and its query, without the known prefixes.

    The IRIs in them count as shown.
    """
    if not examples:
        return Observation("there are no examples for this graph", failed=True)
    iris = list(
        dict.fromkeys(iri for example in examples for iri in list_query_iris(example.query))
    )
    writer = await TermWriter.from_iris(context, iris)
    prefixes = context.graph.prefixes
    prefix_lines = {f"PREFIX {prefix}: <{iri}>" for prefix, iri in prefixes.namespaces.items()}
    parts = []
    for example in examples:
        lines = lay_out_query(example.query, prefixes, writer.labels).splitlines()
        parts.append(
            "\n".join(
                [
                    writer.write_text(example.question),
                    *(line for line in lines if line not in prefix_lines),
                ]
            )
        )
    return Observation("\n\n".join(parts), (*iris, v.RDF_TYPE))
