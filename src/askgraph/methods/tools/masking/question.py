"""Words of a question that name entities and values of a graph, each with its term.

IRIs, dates, times, numbers and codes in the text are found without an index.
"""

import calendar
import re
from collections.abc import Callable, Collection, Container, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta

import numpy as np
from pyoxigraph import Literal, NamedNode

from askgraph.graph import KnowledgeGraph
from askgraph.graph.literals import parse_resource_term
from askgraph.index.names import IndexedName, ItemKind, NameIndex, find_phrases
from askgraph.search.link import LinkedQuestion
from askgraph.search.tokenize import Quantity, TokenizedQuestion
from askgraph.sparql import vocabulary as v

IRI_PATTERN = re.compile(
    r"<[^<>\s\"{}|^`\\]+>|(?<!\w)(?:https?://|urn:)[^\s<>\"{}|^`\\]*[\w/#]"
    r"|(?<![\w:])[\w.-]*:[^\W_](?:(?:[\w:%.-]|\\[^\w\s])*(?:\w|\\[^\w\s]))?"
)
"""Matches a possible IRI: in angle brackets, in full, or with a prefix."""

_CODE = re.compile(
    r"(?<!\w)(?:[+\-−](?=\d))?[^\W_]*\d[^\W_]*(?:[-–./:,_][^\W_]*\d[^\W_]*)*", re.UNICODE
)
_SIGNED = re.compile(r"(?<![\w.,])[+\-−]\d+(?:\.\d+)?(?![\w.,:/-]*\d)")
_MOMENT = re.compile(
    r"(?<!\w)(?P<date>\d{4}-\d\d-\d\d)[T ](?P<time>\d\d:\d\d(?::\d\d(?:\.\d+)?)?)"
    r"(?P<zone>Z|[+-]\d\d:\d\d)?(?!\w)"
)
_DAY_FIRST = re.compile(r"(?<!\w)(\d{1,2})\.(\d{1,2})\.(\d{4})(?!\w)")
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th|er|e|ème|s)", re.IGNORECASE)
_CODE_SCORE = 0.95  # lower than a whole name or a quantity in the same words
_TENS = frozenset(range(20, 100, 10))
_UNITS = frozenset(range(1, 10))
_MIN_FULL_NAME_SCORE = 0.9  # minimum share of a name that words must match
_MIN_FORM_SCORE = 0.8  # minimum score of a form of a schema word
_EPOCH = date(1970, 1, 1)


@dataclass(frozen=True)
class TermSpan:
    """The tokens from `first` to `last` of a question, and the term that they name.

    `kind` describes a literal in words. `text_range` is the range of characters in the text, if it
    differs from that of the tokens.
    """

    first: int
    last: int
    term: NamedNode | Literal
    kind: str = ""
    score: float = 1.0
    text_range: tuple[int, int] | None = None


def parse_iri(text: str, expand: Callable[[str], str | None]) -> str | None:
    """Return the IRI of a match of `IRI_PATTERN`; None if its prefix is unknown."""
    if text[0] == "<":
        iri = text[1:-1]
        return iri if ":" in iri else None
    return text if text.startswith(("http", "urn:")) else expand(text)


def find_explicit_terms(
    reading: TokenizedQuestion, expand: Callable[[str], str | None]
) -> list[TermSpan]:
    """Return the terms that need no index: IRIs, timestamps, dates and signed numbers, in order."""
    spans: list[TermSpan] = []
    used_tokens: set[int] = set()
    for text_range, term, kind in _parse_explicit_terms(reading.text, expand):
        positions = _find_tokens(reading, *text_range)
        if positions and not used_tokens & set(positions):
            used_tokens |= set(positions)
            spans.append(TermSpan(positions[0], positions[-1], term, kind, text_range=text_range))
    return sorted(spans, key=lambda term_span: term_span.first)


def find_codes(reading: TokenizedQuestion) -> Iterator[TermSpan]:
    """Yield the words with a digit in them ("B747", "12/2004"), except ordinals."""
    for match in _CODE.finditer(reading.text):
        positions = _find_tokens(reading, *match.span())
        if positions and not _ORDINAL.fullmatch(match[0]):
            yield TermSpan(positions[0], positions[-1], Literal(match[0]), "a text", _CODE_SCORE)


def merge_number_words(reading: TokenizedQuestion) -> tuple[Quantity, ...]:
    """Return the quantities of a question; tens and units in words are one ("thirty-four")."""
    quantities: list[Quantity] = []
    for units in reading.quantities:
        tens = quantities[-1] if quantities else None
        if (
            tens is not None
            and (tens.is_spelled and units.is_spelled and tens.last + 1 == units.first)
            and (tens.value in _TENS and units.value in _UNITS)
        ):
            text, value = f"{tens.text} {units.text}", tens.value + units.value
            quantities[-1] = Quantity(tens.first, units.last, text, value, is_spelled=True)
        else:
            quantities.append(units)
    return tuple(quantities)


def _parse_explicit_terms(
    text: str, expand: Callable[[str], str | None]
) -> Iterator[tuple[tuple[int, int], NamedNode | Literal, str]]:
    for match in IRI_PATTERN.finditer(text):
        if iri := parse_iri(match[0], expand):
            yield match.span(), NamedNode(iri), ""
    for match in _MOMENT.finditer(text):
        zone = match["zone"] or ""
        time = match["time"] if match["time"].count(":") == 2 else f"{match['time']}:00"
        moment = f"{match['date']}T{time}{zone}"
        yield match.span(), Literal(moment, datatype=NamedNode(v.XSD_DATE_TIME)), "a date and time"
    for match in _DAY_FIRST.finditer(text):
        day, month, year = map(int, match.groups())
        try:
            term = Literal(date(year, month, day).isoformat(), datatype=NamedNode(v.XSD_DATE))
        except ValueError:
            continue  # not a date but a code of the same form
        yield match.span(), term, "a date"
    for match in _SIGNED.finditer(text):
        number = match[0].replace("−", "-")
        kind = v.XSD_DECIMAL if "." in number else v.XSD_INTEGER
        yield match.span(), Literal(number, datatype=NamedNode(kind)), "a number"


def _find_tokens(reading: TokenizedQuestion, start: int, end: int) -> list[int]:
    """Return the tokens that overlap a range of the text."""
    return [
        at for at, token in enumerate(reading.tokens) if token.start < end and token.end > start
    ]


def find_term_spans(
    linked_graphs: Sequence[tuple[KnowledgeGraph, LinkedQuestion]],
    *,
    expand: Callable[[str], str | None],
    is_visible: Callable[[str], bool],
    schema_stems: Container[str],
    preferred_iris: Sequence[str] = (),
) -> tuple[TermSpan, ...]:
    """Return the words that name entities and values of any graph, in order, without overlaps.

    Partial links count, unless the schema explains the same words as well; at their ends, words
    that a class or predicate explains are dropped. If the same words name several entities, the
    first of the preferred IRIs wins, else the best one. The remaining IRIs, codes, numbers and
    words of names are spans too, unless they are words of the schema.

    Args:
        expand: returns the IRI of a prefixed name.
        is_visible: returns whether an IRI belongs to the schema.
        schema_stems: the stems of the schema's words.
    """

    def drop_visible(candidates: Sequence[TermSpan]) -> list[TermSpan]:
        return [
            candidate
            for candidate in candidates
            if not (isinstance(candidate.term, NamedNode) and is_visible(candidate.term.value))
        ]

    reading = linked_graphs[0][1].reading
    explicit_spans = find_explicit_terms(reading, expand)
    used_tokens = {at for item in explicit_spans for at in range(item.first, item.last + 1)}
    spans: list[TermSpan] = []
    plain_tokens = {at for at in range(len(reading.tokens)) if reading.is_stop(at)}
    for graph, links in linked_graphs:
        schema = links.get_links(ItemKind.CLASS, ItemKind.PREDICATE)
        plain_tokens |= {
            at for link in schema if link.score >= _MIN_FULL_NAME_SCORE for at in link.positions
        }
        for link in links.get_links(ItemKind.ENTITY, ItemKind.VALUE):
            # Unless a class or predicate fits the words as well.
            if not any(
                set(link.positions) <= set(schema_link.positions)
                and schema_link.score >= min(_MIN_FULL_NAME_SCORE, link.score)
                and (link.score < _MIN_FULL_NAME_SCORE or schema_link.score >= _MIN_FULL_NAME_SCORE)
                for schema_link in schema
            ):
                first, last = link.positions[0], link.positions[-1]
                name = IndexedName(link.name, link.target, link.kind)
                spans.append(_build_span(first, last, name, link.score))
        spans += _find_exact_names(links.reading, graph.names)
    spans = drop_visible(spans)
    spans += [
        TermSpan(item.first, item.last, *_to_literal(item, reading))
        for item in merge_number_words(reading)
        if not (item.is_spelled and item.value == 1)
    ]
    spans += find_codes(reading)
    ranks = {iri: rank for rank, iri in reversed(list(enumerate(preferred_iris)))}
    ranked_spans = sorted(
        spans, key=lambda item: (ranks.get(item.term.value, len(ranks)), -item.score)
    )
    result = [
        *drop_visible(explicit_spans),
        *_separate_spans(ranked_spans, plain_tokens, used_tokens),
    ]
    result += _find_leftover_words(
        linked_graphs,
        {at for at, token in enumerate(reading.tokens) if token.stem in schema_stems},
        used_tokens,
    )
    return tuple(sorted(result, key=lambda item: item.first))


def _find_exact_names(reading: TokenizedQuestion, index: NameIndex) -> Iterator[TermSpan]:
    """Yield words that are exactly a name or a value, whatever the links are."""
    matches = list(find_phrases([token.folded for token in reading.tokens], index))
    schema = {
        (match.first, match.end)
        for match in matches
        if any(name.kind in (ItemKind.CLASS, ItemKind.PREDICATE) for name in match.names)
    }
    for match in matches:
        term_names = [
            name for name in match.names if name.kind in (ItemKind.ENTITY, ItemKind.VALUE)
        ]
        words = range(match.first, match.end)
        if not term_names or (match.first, match.end) in schema or all(map(reading.is_stop, words)):
            continue
        for name in sorted(term_names, key=lambda name: name.kind):
            yield _build_span(match.first, match.end - 1, name, 1.0)


def _build_span(first: int, last: int, name: IndexedName, score: float) -> TermSpan:
    term = parse_resource_term(name.target)
    if isinstance(term, Literal):
        return TermSpan(first, last, term, "a text", score)
    assert isinstance(term, NamedNode)
    return TermSpan(first, last, term, "", score)


def _to_literal(quantity: Quantity, reading: TokenizedQuestion) -> tuple[Literal, str]:
    """Return the literal of a number or a time, and its kind in words."""
    start, end = reading.tokens[quantity.first], reading.tokens[quantity.last]
    original_text = reading.text[start.start : end.end]
    if quantity.value is not None:
        kind = "a year, or a number" if quantity.days else "a number"
        is_integer = float(quantity.value).is_integer()
        text = str(int(quantity.value)) if is_integer else repr(quantity.value)
        datatype = v.XSD_INTEGER if is_integer else v.XSD_DECIMAL
        return Literal(text, datatype=NamedNode(datatype)), kind
    if quantity.days is None or min(quantity.days) < -719_162:
        return Literal(original_text), "a text"
    first, last = (_EPOCH + timedelta(days=day) for day in quantity.days)
    if first == last:
        return Literal(first.isoformat(), datatype=NamedNode(v.XSD_DATE)), "a date"
    if (first.year, first.month) == (last.year, last.month):
        month = f"{first.year:04}-{first.month:02}"
        length = calendar.monthrange(first.year, first.month)[1]
        return Literal(month, datatype=NamedNode(v.XSD_G_YEAR_MONTH)), f"a month of {length} days"
    year = Literal(str(first.year), datatype=NamedNode(v.XSD_INTEGER))
    return year, f"the first of {last.year - first.year + 1} years"


def _separate_spans(
    spans: Sequence[TermSpan], plain_tokens: Collection[int], used_tokens: set[int]
) -> Iterator[TermSpan]:
    """Yield spans without overlaps: full names first, the longest first; of others the rest."""
    # `plain_tokens` at the ends of a partial span are dropped. The same words keep their first
    # term. The tokens of the spans are added to `used_tokens`.
    span_by_tokens: dict[tuple[int, int], TermSpan] = {}
    for span in spans:
        for piece in _split_span(span, range(span.first, span.last + 1), plain_tokens):
            first = span_by_tokens.setdefault((piece.first, piece.last), piece)
            best = max(first.score, piece.score)
            span_by_tokens[piece.first, piece.last] = replace(first, score=best)
    for span in sorted(
        span_by_tokens.values(),
        key=lambda candidate: (
            candidate.score < _MIN_FULL_NAME_SCORE,
            candidate.first - candidate.last,
            -candidate.score,
        ),
    ):
        free_tokens = [at for at in range(span.first, span.last + 1) if at not in used_tokens]
        for piece in _split_span(span, free_tokens, plain_tokens):
            used_tokens.update(range(piece.first, piece.last + 1))
            yield piece


def _find_leftover_words(
    linked_graphs: Sequence[tuple[KnowledgeGraph, LinkedQuestion]],
    schema_tokens: Collection[int],
    used_tokens: Collection[int],
) -> Iterator[TermSpan]:
    """Yield unused words that occur in names of entities or values, each run as one text."""
    # Words by which the language asks, compares and measures are skipped, and so are forms of words
    # of the schema.
    reading = linked_graphs[0][1].reading
    lists = reading.word_list
    phrases_of = [*lists.question_words.values(), *lists.operators.values()]
    question_words = {
        word for phrases_of_kind in phrases_of for phrase in phrases_of_kind for word in phrase
    }
    question_words |= {word for measure in lists.measures for word in measure.phrase}
    question_words |= lists.ordinals.keys() | lists.clauses["restrict"]
    forms = {
        at
        for _, links in linked_graphs
        for link in links.get_links(ItemKind.CLASS, ItemKind.PREDICATE)
        for at, quality in zip(link.positions, link.qualities, strict=True)
        if quality > _MIN_FORM_SCORE
    }

    def is_in_a_name(word: str, index: NameIndex) -> bool:
        number = index.find_word(word)
        kinds = index.kinds[index.find_names(number)] if number is not None else np.zeros(0)
        return bool(((kinds == ItemKind.ENTITY) | (kinds == ItemKind.VALUE)).any())

    free_tokens = [
        at
        for at, token in enumerate(reading.tokens)
        if not (at in used_tokens or at in schema_tokens or at in forms or reading.is_stop(at))
        and not (token.folded in question_words or token.stem in lists.naming)
        and any(is_in_a_name(token.stem, graph.names) for graph, _ in linked_graphs)
    ]
    for first, last in _find_runs(free_tokens):
        text = reading.text[reading.tokens[first].start : reading.tokens[last].end]
        yield TermSpan(first, last, Literal(text), "a text")


def _split_span(
    span: TermSpan, free_tokens: Sequence[int], plain_tokens: Collection[int]
) -> Iterator[TermSpan]:
    for first, last in _find_runs(free_tokens):
        informative_tokens = [
            at
            for at in range(first, last + 1)
            if at not in plain_tokens or span.score >= _MIN_FULL_NAME_SCORE
        ]
        if informative_tokens:
            yield replace(span, first=informative_tokens[0], last=informative_tokens[-1])


def _find_runs(positions: Sequence[int]) -> Iterator[tuple[int, int]]:
    start = None
    for at, position in enumerate(positions):
        start = position if start is None else start
        if at + 1 == len(positions) or positions[at + 1] != position + 1:
            yield start, position
            start = None
