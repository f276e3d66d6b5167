"""A query read back in pieces: which words are which of its terms, so that one can be changed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal as Choice

from pyoxigraph import Literal, NamedNode

from askgraph.answers.verbalize import in_words, written_out
from askgraph.answers.verbalize.lexicon import LexicalEntry
from askgraph.answers.verbalize.names import Names
from askgraph.answers.verbalize.phrases import Phrases, phrases_in
from askgraph.answers.verbalize.schema_facts import SchemaFacts
from askgraph.answers.verbalize.scope import LABEL_SERVICE
from askgraph.errors import QuerySyntaxError
from askgraph.sparql import Call, Nested, Path, Pattern, Query, children
from askgraph.sparql.parser import parse_query, read
from askgraph.sparql.vocabulary import RDF_TYPE

Kind = Choice["entity", "class", "predicate", "value"]

_OF_THE_FORM = frozenset(["LANG", "LANGMATCHES", "DATATYPE", "STRLANG", "STRDT"])


@dataclass(frozen=True)
class Part:
    """A term of a query that another one can be put in place of, and what it is there."""

    kind: Kind
    term: NamedNode | Literal


@dataclass(frozen=True)
class Piece:
    """A piece of the text; `part` is the number of the part that it is the words of, or None."""

    text: str
    part: int | None = None


@dataclass(frozen=True)
class ReadBack:
    """A query in words; the pieces joined are what `in_words` gives.

    A part that the words leave out, or blend with others ("in 1969" of two dates), has no piece.
    """

    pieces: tuple[Piece, ...]
    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        """The whole text."""
        return "".join(piece.text for piece in self.pieces)


def read_back(
    query: str,
    labels: Mapping[str, str],
    *,
    language: str = "en",
    nouns: str | None = None,
    facts: SchemaFacts | None = None,
) -> ReadBack:
    """Return a query in words with its parts; the other arguments are those of `in_words`.

    A query that cannot be read has one piece that says so, and no part.
    """
    text = in_words(query, labels, language=language, nouns=nouns, facts=facts)
    spoken = phrases_in(language, nouns)
    parts = parts_of(query)
    pieces: tuple[Piece, ...] = (Piece(text),)
    if not parts or unmarked(text) != text:
        return ReadBack(pieces, parts)
    every = _pieces(
        query, labels, spoken, {part.term: n for n, part in enumerate(parts)}, text, facts
    )
    if every is not None:
        return ReadBack(every, parts)
    taken: dict[NamedNode | Literal, int] = {}
    for number, part in enumerate(parts[:_TRIED]):
        more = _pieces(query, labels, spoken, {**taken, part.term: number}, text, facts)
        if more is not None:
            taken, pieces = {**taken, part.term: number}, more
    return ReadBack(pieces, parts)


_TRIED = 20  # parts that are marked one after another where all together change the text


def parts_of(query: str) -> tuple[Part, ...]:
    """Return the parts of a query, each once, in order; none if it cannot be read.

    A name whose prefix nobody knows is none, as another one could not be put in its place.
    """
    try:
        tree = read(query)
    except QuerySyntaxError:
        return ()
    written = {one.term for one in parse_query(query).terms}
    found: dict[NamedNode | Literal, Part] = {}
    for part in _walked(tree):
        if part.term in written:
            found.setdefault(part.term, part)
    return tuple(found.values())[:MOST]


def _pieces(
    query: str,
    labels: Mapping[str, str],
    spoken: Phrases,
    marks: Mapping[NamedNode | Literal, int],
    text: str,
    facts: SchemaFacts | None,
) -> tuple[Piece, ...] | None:
    """The text in pieces by these marks; None if the marks change what it says."""
    phrases = MarkedPhrases(spoken.language, spoken.nouns)
    marked = written_out(query, MarkedNames(labels, phrases, marks, facts))
    if unmarked(marked) != text:
        return None
    return tuple(Piece(*cut) for cut in cut_at_marks(marked))


def _walked(part: object) -> Iterator[Part]:
    match part:
        case NamedNode():
            yield Part("entity", part)
        case Literal():
            yield Part("value", part)
        case Pattern():
            yield from _walked(part.subject)
            yield from _predicates(part.predicate)
            is_type = part.predicate == NamedNode(RDF_TYPE)
            if is_type and isinstance(part.object, NamedNode):
                yield Part("class", part.object)
            else:
                yield from _walked(part.object)
        case Call():
            yield from _of_call(part)
        case tuple():
            for inner in part:
                yield from _walked(inner)
        case _ if inside := _inside(part):
            yield from _walked(inside)


def _inside(part: object) -> tuple[object, ...]:
    """What a part of a tree holds, in order; of a SERVICE or GRAPH without its name."""
    match part:
        case Nested(name=name) if name == NamedNode(LABEL_SERVICE):
            return ()
        case Nested(group=group):
            return (group,)
        case Query():
            return (part.columns, part.where, part.having, part.resources)
        case _:
            return children(part)


def _of_call(call: Call) -> Iterator[Part]:
    """What a function is called on, but for flags, languages and datatypes."""
    inner = [one.name for one in call.arguments if isinstance(one, Call)]
    if not _OF_THE_FORM.isdisjoint([call.name, *inner]):
        return
    yield from _walked(call.arguments[:2] if call.name == "REGEX" else call.arguments)


def _predicates(predicate: object) -> Iterator[Part]:
    """The predicates of a pattern, those of a path too."""
    match predicate:
        case NamedNode(value=iri) if iri != RDF_TYPE:
            yield Part("predicate", predicate)
        case Path(parts=parts):
            for part in parts:
                yield from _predicates(part)
        case _:
            return


MOST = 1000
"""Terms that can be told apart."""

_FIRST, _END = 0xE000, "\uf8ff"
_MARK = re.compile(f"[{chr(_FIRST)}-{chr(_FIRST + MOST - 1)}{_END}]")


class MarkedPhrases(Phrases):
    """The phrases of one language, for parts with marks in them."""

    def say(self, key: str, *parts: object) -> str:
        """Return a phrase with its parts."""
        said = super().say
        if key == "a":
            return _through(lambda text: said("a", text), str(parts[0]))
        return said(key, *parts)

    def add_article(self, noun: str) -> str:
        """Return a noun with its article."""
        return _through(super().add_article, noun)

    def pluralize(self, noun: str) -> str:
        """Return the plural of a noun."""
        return _through(super().pluralize, noun)

    def agree(self, verb: str) -> str:
        """Return a verb as it stands after several subjects."""
        return _through(super().agree, verb)

    def substitute(self, text: str, word: str) -> str:
        """Return the word that stands in the place of a text, between its marks."""
        return f"{text[0]}{word}{text[-1]}" if _MARK.match(text) else word

    def capitalize(self, text: str) -> str:
        """Return a text with a capital at its start."""
        return _through(super().capitalize, text)


class MarkedNames(Names):
    """Words for terms, with marks around those of the terms numbered in `marks`."""

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
        return self._marked(NamedNode(iri), self._plain.name_iri(iri))

    def name_thing(self, iri: str) -> str:
        """Return the name of a thing, its article before the mark."""
        name = self._plain.name_thing(iri)
        article = "the " if name.startswith("the ") else ""
        return article + self._marked(NamedNode(iri), name.removeprefix(article))

    def name_literal(self, literal: Literal, *, is_measure: bool = False) -> str:
        """Return a value."""
        return self._marked(literal, self._plain.name_literal(literal, is_measure=is_measure))

    def name_class(self, iri: str) -> str:
        """Return a class in words."""
        return self._marked(NamedNode(iri), self._plain.name_class(iri))

    def name_type(self, iri: str) -> str:
        """Return a class in words, in the singular."""
        return self._marked(NamedNode(iri), self._plain.name_type(iri))

    def is_person(self, iri: str) -> bool:
        """Return whether the instances of a class are people."""
        return self._plain.is_person(iri)

    def describe_flag(self, entry: LexicalEntry, condition: str) -> str:
        """Return what a thing is of which a property is true or false."""
        plain = entry.map_texts(unmarked)
        flag = self._plain.describe_flag(plain, unmarked(condition))
        label = plain.label or plain.text
        return flag.replace(label, entry.label or entry.text) if flag else ""

    def _make_entry(self, iri: str) -> LexicalEntry:
        entry = self._plain.find_entry(NamedNode(iri))
        if iri == RDF_TYPE:
            return entry
        return entry.map_texts(lambda text: self._marked(NamedNode(iri), text))

    def _marked(self, term: NamedNode | Literal, text: str) -> str:
        number = self._marks.get(term)
        return text if number is None else f"{chr(_FIRST + number)}{text}{_END}"


def unmarked(text: str) -> str:
    """Return a text without its marks."""
    return _MARK.sub("", text)


def cut_at_marks(text: str) -> list[tuple[str, int | None]]:
    """Return a text in pieces, each with the number of the term whose words it is."""
    pieces: list[tuple[str, int | None]] = []
    number, at = None, 0
    for mark in _MARK.finditer(text + _END):
        if mark.start() > at:
            pieces.append((text[at : mark.start()], number))
        number, at = None if mark[0] == _END else ord(mark[0]) - _FIRST, mark.end()
    return pieces


def _through(change: Callable[[str], str], marked: str) -> str:
    """A change of a text on one with marks: what it puts in lies outside of words it came before.

    What is put in if words end belongs to them: the s of a plural. If each of several words is
    changed on its own ("lorries or cars"), each keeps what it became.
    """
    cuts = cut_at_marks(marked)
    apart = "".join(
        text if number is None else f"{chr(_FIRST + number)}{change(text)}{_END}"
        for text, number in cuts
    )
    if len(cuts) > 2 and unmarked(apart) == change(unmarked(marked)):
        return apart
    marks = [(found.start() - n, found[0]) for n, found in enumerate(_MARK.finditer(marked))]
    plain = unmarked(marked)
    changed = change(plain)
    start, end = (0, 0) if changed.endswith(plain) else _same_ends(plain, changed)
    pieces, at = list[str](), 0
    for place, mark in marks:
        moved = place + len(changed) - len(plain) if place >= end else min(place, start)
        pieces += [changed[at:moved], mark]
        at = max(at, moved)
    return "".join(pieces) + changed[at:]


def _same_ends(before: str, after: str) -> tuple[int, int]:
    """How many characters are the same at the start, and where in `before` the same end begins."""
    least = min(len(before), len(after))
    start = next((at for at in range(least) if before[at] != after[at]), least)
    same = 0
    while same < least - start and before[-1 - same] == after[-1 - same]:
        same += 1
    return start, len(before) - same
