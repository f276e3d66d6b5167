"""Link the words of a query and of its question to its terms, so that a reader can follow them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal as Choice

from pyoxigraph import Literal, NamedNode

from askgraph.answers.verbalize import verbalize_query, verbalize_with_names
from askgraph.answers.verbalize.labels import SchemaFacts
from askgraph.answers.verbalize.lexicon import LexicalEntry
from askgraph.answers.verbalize.names import Names
from askgraph.answers.verbalize.phrases import Phrases, load_phrases
from askgraph.answers.verbalize.scope import LABEL_SERVICE
from askgraph.errors import QuerySyntaxError
from askgraph.graph.literals import ValueKind, parse_value
from askgraph.index.names import split_tokens, stem_word
from askgraph.search.link import LinkedQuestion
from askgraph.search.tokenize import Quantity
from askgraph.search.tokenize.question_operators import detect_operators
from askgraph.sparql import Call, Nested, Path, Pattern, Query, get_children
from askgraph.sparql.parser import parse_query, parse_tree
from askgraph.sparql.prefixes import split_local_name
from askgraph.sparql.vocabulary import RDF_TYPE

TermRole = Choice["entity", "class", "predicate", "value"]

_FORM_FUNCTIONS = frozenset(["LANG", "LANGMATCHES", "DATATYPE", "STRLANG", "STRDT"])


@dataclass(frozen=True)
class ReplaceableTerm:
    """A term of a query that can be replaced, and its role."""

    kind: TermRole
    term: NamedNode | Literal


@dataclass(frozen=True)
class TextPiece:
    """A piece of text; `part` is the number of the term that it verbalizes, or None."""

    text: str
    part: int | None = None


@dataclass(frozen=True)
class QueryDescription:
    """A query in words; the joined pieces are the text of `verbalize_query`.

    A part that the words omit, or blend with others ("in 1969" of two dates), has no piece.
    """

    pieces: tuple[TextPiece, ...]
    parts: tuple[ReplaceableTerm, ...]

    @property
    def text(self) -> str:
        """The complete text."""
        return "".join(piece.text for piece in self.pieces)


def describe_query(
    query: str,
    labels: Mapping[str, str],
    *,
    language: str = "en",
    nouns: str | None = None,
    facts: SchemaFacts | None = None,
) -> QueryDescription:
    """Return a query in words with its parts; arguments are those of `verbalize_query`.

    A query that cannot be parsed has one piece with a message, and no parts.
    """
    text = verbalize_query(query, labels, language=language, nouns=nouns, facts=facts)
    phrases = load_phrases(language, nouns)
    parts = list_parts(query)
    pieces: tuple[TextPiece, ...] = (TextPiece(text),)
    if not parts or remove_marks(text) != text:
        return QueryDescription(pieces, parts)
    all_pieces = _split_by_marks(
        query, labels, phrases, {part.term: n for n, part in enumerate(parts)}, text, facts
    )
    if all_pieces is not None:
        return QueryDescription(all_pieces, parts)
    marked_parts: dict[NamedNode | Literal, int] = {}
    for number, part in enumerate(parts[:_MAX_SEPARATE_MARKS]):
        new_pieces = _split_by_marks(
            query, labels, phrases, {**marked_parts, part.term: number}, text, facts
        )
        if new_pieces is not None:
            marked_parts, pieces = {**marked_parts, part.term: number}, new_pieces
    return QueryDescription(pieces, parts)


_MAX_SEPARATE_MARKS = 20  # parts to mark one by one if marking all at once changes the text


def list_parts(query: str) -> tuple[ReplaceableTerm, ...]:
    """Return the distinct parts of a query in order; empty if it cannot be parsed.

    A name with an undeclared prefix is no part, since it could not be replaced.
    """
    try:
        tree = parse_tree(query)
    except QuerySyntaxError:
        return ()
    written_terms = {occurrence.term for occurrence in parse_query(query).terms}
    parts: dict[NamedNode | Literal, ReplaceableTerm] = {}
    for part in _iterate_parts(tree):
        if part.term in written_terms:
            parts.setdefault(part.term, part)
    return tuple(parts.values())[:MAX_TERMS]


@dataclass(frozen=True)
class QuestionPiece:
    """A piece of a question; `parts` are the numbers of the query's terms that it means."""

    text: str
    parts: tuple[int, ...] = ()


def split_question(
    linked: LinkedQuestion, parts: Sequence[ReplaceableTerm], labels: Mapping[str, str]
) -> tuple[QuestionPiece, ...]:
    """Split a question into pieces that join to its text, and link them to the parts of its query.

    A term has one piece: the words that name it best. Terms that only share words with another
    one, like `orbits` in "the moons of Saturn", share its piece.
    """
    tokens, is_stop = linked.reading.tokens, linked.reading.is_stop
    numbers_by_words: dict[tuple[int, ...], list[int]] = {}
    matches = []
    for number, words, score in _match_parts(linked, parts, labels):
        content = [at for at in words if not is_stop(at)] or [*words]
        positions = tuple(at for at in words if content[0] <= at <= content[-1])
        rank = parts[number].kind == "predicate", -score - _WORD_SCORE * len(content)
        matches.append((rank, number, positions))
    for shares_words in (False, True):
        for _, number, positions in sorted(matches):
            if any(number in numbers for numbers in numbers_by_words.values()):
                continue
            owner = next((span for span in numbers_by_words if {*span} & {*positions}), None)
            if owner is None or shares_words:
                numbers_by_words.setdefault(owner or positions, []).append(number)
    owners = {at: span for span in numbers_by_words for at in span}
    pieces, end, text = list[QuestionPiece](), 0, linked.reading.text
    for at in sorted(owners):
        start, word = tokens[at].start, text[tokens[at].start : tokens[at].end]
        if owners.get(at - 1) == owners[at]:
            word = pieces.pop().text + text[end:start] + word
        elif end < start:
            pieces.append(QuestionPiece(text[end:start]))
        pieces.append(QuestionPiece(word, tuple(numbers_by_words[owners[at]])))
        end = tokens[at].end
    return (*pieces, *([QuestionPiece(text[end:])] if text[end:] else []))


_WordMatch = tuple[int, tuple[int, ...], float]
"""A part of a query, the tokens of the question that mean it, and a score."""


def _match_parts(
    linked: LinkedQuestion, parts: Sequence[ReplaceableTerm], labels: Mapping[str, str]
) -> Iterator[_WordMatch]:
    numbers = {
        str(part.term) if isinstance(part.term, Literal) else part.term.value: number
        for number, part in enumerate(parts)
    }
    for link in linked.links:
        if link.target in numbers:
            yield numbers[link.target], link.positions, link.score
    for number, part in enumerate(parts):
        if isinstance(part.term, Literal):
            for quantity in linked.reading.quantities:
                if _has_value(quantity, part.term):
                    yield number, tuple(quantity.positions), 1.0
        label = labels.get(part.term.value) or split_local_name(part.term.value)
        yield from _match_name(linked, number, label, measures=part.kind == "predicate")


def _match_name(
    linked: LinkedQuestion, number: int, label: str, *, measures: bool
) -> Iterator[_WordMatch]:
    """Yield the tokens that are the name of a part, or an adjective that measures it."""
    words = [stem_word(word) for word in split_tokens(label)]
    stems = [token.stem for token in linked.reading.tokens]
    for at in range(len(stems) - len(words) + 1 if words else 0):
        if stems[at : at + len(words)] == words:
            yield number, tuple(range(at, at + len(words))), _NAME_SCORE
    if measures:
        for operator in detect_operators(linked.reading, linked.scales).operators:
            measure = operator.measure
            if measure and {*words} & {*measure.property_names, *measure.date_names}:
                yield number, tuple(operator.positions), _MEASURE_SCORE


_WORD_SCORE = 0.1  # added for each word: the longer of two names is meant
_NAME_SCORE, _MEASURE_SCORE = 0.9, 0.5  # matches by a name that no link has, and by an adjective


def _has_value(quantity: Quantity, literal: Literal) -> bool:
    kind, number = parse_value(str(literal))
    if quantity.days and kind in (ValueKind.DATE, ValueKind.YEAR):
        return quantity.days[0] <= number <= quantity.days[1]
    return number == quantity.value


def _split_by_marks(
    query: str,
    labels: Mapping[str, str],
    base_phrases: Phrases,
    marks: Mapping[NamedNode | Literal, int],
    text: str,
    facts: SchemaFacts | None,
) -> tuple[TextPiece, ...] | None:
    """Split the text by marks; None if the marks change the text."""
    phrases = MarkedPhrases(base_phrases.language, base_phrases.nouns)
    marked = verbalize_with_names(query, MarkedNames(labels, phrases, marks, facts))
    if remove_marks(marked) != text:
        return None
    return tuple(TextPiece(*cut) for cut in split_at_marks(marked))


def _iterate_parts(part: object) -> Iterator[ReplaceableTerm]:
    match part:
        case NamedNode():
            yield ReplaceableTerm("entity", part)
        case Literal():
            yield ReplaceableTerm("value", part)
        case Pattern():
            yield from _iterate_parts(part.subject)
            yield from _iterate_predicates(part.predicate)
            is_type = part.predicate == NamedNode(RDF_TYPE)
            if is_type and isinstance(part.object, NamedNode):
                yield ReplaceableTerm("class", part.object)
            else:
                yield from _iterate_parts(part.object)
        case Call():
            inner = [argument.name for argument in part.arguments if isinstance(argument, Call)]
            if _FORM_FUNCTIONS.isdisjoint([part.name, *inner]):
                yield from _iterate_parts(part.arguments[: 2 if part.name == "REGEX" else None])
        case tuple():
            for inner in part:
                yield from _iterate_parts(inner)
        case _ if inside := _list_children(part):
            yield from _iterate_parts(inside)


def _list_children(part: object) -> tuple[object, ...]:
    match part:
        case Nested(name=name) if name == NamedNode(LABEL_SERVICE):
            return ()
        case Nested(group=group):
            return (group,)
        case Query():
            return (part.columns, part.where, part.having, part.resources)
        case _:
            return get_children(part)


def _iterate_predicates(predicate: object) -> Iterator[ReplaceableTerm]:
    match predicate:
        case NamedNode(value=iri) if iri != RDF_TYPE:
            yield ReplaceableTerm("predicate", predicate)
        case Path(parts=parts):
            for part in parts:
                yield from _iterate_predicates(part)
        case _:
            return


MAX_TERMS = 1000
"""Maximum number of terms that can be marked."""

_MARK_BASE = 0xE000
_END_MARK = "\uf8ff"
_MARK = re.compile(f"[{chr(_MARK_BASE)}-{chr(_MARK_BASE + MAX_TERMS - 1)}{_END_MARK}]")


class MarkedPhrases(Phrases):
    """The phrases of one language, for parts that contain marks."""

    def say(self, key: str, *parts: object) -> str:
        """Return a phrase with its parts."""
        say = super().say
        if key == "a":
            return _apply_through_marks(lambda text: say("a", text), str(parts[0]))
        return say(key, *parts)

    def add_article(self, noun: str) -> str:
        """Return a noun with its article."""
        return _apply_through_marks(super().add_article, noun)

    def pluralize(self, noun: str) -> str:
        """Return the plural of a noun."""
        return _apply_through_marks(super().pluralize, noun)

    def agree(self, verb: str) -> str:
        """Return a verb as it stands after several subjects."""
        return _apply_through_marks(super().agree, verb)

    def substitute(self, text: str, word: str) -> str:
        """Return the word that stands in the place of a text, between its marks."""
        return f"{text[0]}{word}{text[-1]}" if _MARK.match(text) else word

    def capitalize(self, text: str) -> str:
        """Return a text with a capital at its start."""
        return _apply_through_marks(super().capitalize, text)


class MarkedNames(Names):
    """Words for terms, with marks around the words of the terms numbered in `marks`."""

    def __init__(
        self,
        labels: Mapping[str, str],
        phrases: MarkedPhrases,
        marks: Mapping[NamedNode | Literal, int],
        facts: SchemaFacts | None = None,
    ) -> None:
        super().__init__(labels, phrases, facts=facts)
        self._plain = Names(labels, Phrases(phrases.language, phrases.nouns), facts=facts)
        self._marks = marks

    def name_iri(self, iri: str) -> str:
        """Return the label of an IRI, or the words in it."""
        return self._add_marks(NamedNode(iri), self._plain.name_iri(iri))

    def name_thing(self, iri: str) -> str:
        """Return the name of a thing, its article before the mark."""
        name = self._plain.name_thing(iri)
        article = "the " if name.startswith("the ") else ""
        return article + self._add_marks(NamedNode(iri), name.removeprefix(article))

    def name_literal(self, literal: Literal, *, is_measure: bool = False) -> str:
        """Return a value."""
        return self._add_marks(literal, self._plain.name_literal(literal, is_measure=is_measure))

    def name_class(self, iri: str) -> str:
        """Return a class in words."""
        return self._add_marks(NamedNode(iri), self._plain.name_class(iri))

    def name_type(self, iri: str) -> str:
        """Return a class in words, in the singular."""
        return self._add_marks(NamedNode(iri), self._plain.name_type(iri))

    def is_person(self, iri: str) -> bool:
        """Return whether the instances of a class are people."""
        return self._plain.is_person(iri)

    def describe_flag(self, entry: LexicalEntry, condition: str) -> str:
        """Return what a thing is of which a property is true or false."""
        plain = entry.map_texts(remove_marks)
        flag = self._plain.describe_flag(plain, remove_marks(condition))
        label = plain.label or plain.text
        return flag.replace(label, entry.label or entry.text) if flag else ""

    def _make_entry(self, iri: str) -> LexicalEntry:
        entry = self._plain.find_entry(NamedNode(iri))
        if iri == RDF_TYPE:
            return entry
        return entry.map_texts(lambda text: self._add_marks(NamedNode(iri), text))

    def _add_marks(self, term: NamedNode | Literal, text: str) -> str:
        number = self._marks.get(term)
        return text if number is None else f"{chr(_MARK_BASE + number)}{text}{_END_MARK}"


def remove_marks(text: str) -> str:
    """Return a text without its marks."""
    return _MARK.sub("", text)


def split_at_marks(text: str) -> list[tuple[str, int | None]]:
    """Split a text at its marks; each piece comes with the number of its term, or None."""
    pieces: list[tuple[str, int | None]] = []
    number, position = None, 0
    for mark in _MARK.finditer(text + _END_MARK):
        if mark.start() > position:
            pieces.append((text[position : mark.start()], number))
        number, position = None if mark[0] == _END_MARK else ord(mark[0]) - _MARK_BASE, mark.end()
    return pieces


def _apply_through_marks(change: Callable[[str], str], marked: str) -> str:
    """Apply a change to a text with marks; what it inserts after words joins them."""
    pieces_with_terms = split_at_marks(marked)
    changed_apart = "".join(
        text if number is None else f"{chr(_MARK_BASE + number)}{change(text)}{_END_MARK}"
        for text, number in pieces_with_terms
    )
    if len(pieces_with_terms) > 2 and remove_marks(changed_apart) == change(remove_marks(marked)):
        return changed_apart
    marks = [(match.start() - n, match[0]) for n, match in enumerate(_MARK.finditer(marked))]
    plain = remove_marks(marked)
    changed = change(plain)
    start, end = (0, 0) if changed.endswith(plain) else _find_changed_range(plain, changed)
    pieces, position = list[str](), 0
    for mark_position, mark in marks:
        moved = (
            mark_position + len(changed) - len(plain)
            if mark_position >= end
            else min(mark_position, start)
        )
        pieces += [changed[position:moved], mark]
        position = max(position, moved)
    return "".join(pieces) + changed[position:]


def _find_changed_range(before: str, after: str) -> tuple[int, int]:
    """Return the length of the common prefix, and the start in `before` of the common suffix."""
    shorter_length = min(len(before), len(after))
    start = next(
        (position for position in range(shorter_length) if before[position] != after[position]),
        shorter_length,
    )
    suffix_length = 0
    while (
        suffix_length < shorter_length - start
        and before[-1 - suffix_length] == after[-1 - suffix_length]
    ):
        suffix_length += 1
    return start, len(before) - suffix_length
