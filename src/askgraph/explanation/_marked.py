"""Names and phrases that leave marks in a text, by which its words are led back to terms.

A mark is a character of Unicode's private use area: one before the words of a term, which tells
them apart, and one behind them. Whatever looks at words (plurals, articles) looks at the text
without them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from pyoxigraph import Literal, NamedNode

from askgraph.explanation._names import Names, Relation
from askgraph.explanation._phrases import Phrases
from askgraph.rdf.vocabulary import RDF_TYPE

__all__ = ["MOST", "MarkedNames", "MarkedPhrases", "cut_at_marks", "unmarked"]

MOST = 1000
"""Terms that can be told apart."""

_FIRST, _END = 0xE000, "\uf8ff"


class MarkedPhrases(Phrases):
    """The phrases of one language, for parts with marks in them."""

    def say(self, key: str, *parts: object) -> str:
        """Return a phrase with its parts."""
        said = super().say
        if key == "a":
            return _through(lambda text: said("a", text), str(parts[0]))
        return said(key, *parts)

    def one(self, noun: str) -> str:
        """Return a noun with its article."""
        return _through(super().one, noun)

    def plural(self, noun: str) -> str:
        """Return the plural of a noun."""
        return _through(super().plural, noun)

    def verb(self, text: str, *, many: bool) -> str:
        """Return a verb as it stands after one subject or many."""
        said = super().verb
        return _through(lambda plain: said(plain, many=many), text)

    def capitalised(self, text: str) -> str:
        """Return a text with a capital at its start."""
        return _through(super().capitalised, text)


class MarkedNames(Names):
    """Words for terms, with marks around those of the terms numbered in `marks`."""

    def __init__(
        self,
        labels: Mapping[str, str],
        phrases: MarkedPhrases,
        marks: Mapping[NamedNode | Literal, int],
    ) -> None:
        super().__init__(labels, phrases)
        self._plain = Names(labels, Phrases(phrases.language))
        self._marks = marks

    def iri(self, iri: str) -> str:
        """Return the label of an IRI, or the words in it."""
        return self._marked(NamedNode(iri), self._plain.iri(iri))

    def literal(self, literal: Literal) -> str:
        """Return a value."""
        return self._marked(literal, self._plain.literal(literal))

    def class_noun(self, iri: str) -> str:
        """Return a class in words."""
        return self._marked(NamedNode(iri), self._plain.class_noun(iri))

    def type_noun(self, iri: str) -> str:
        """Return a class in words, in the singular."""
        return self._marked(NamedNode(iri), self._plain.type_noun(iri))

    def _of_iri(self, iri: str) -> Relation:
        relation = self._plain.relation(NamedNode(iri))
        if iri == RDF_TYPE:
            return relation
        return replace(relation, text=self._marked(NamedNode(iri), relation.text))

    def _marked(self, term: NamedNode | Literal, text: str) -> str:
        number = self._marks.get(term)
        return text if number is None else f"{chr(_FIRST + number)}{text}{_END}"


def unmarked(text: str) -> str:
    """Return a text without its marks."""
    return "".join(letter for letter in text if not _is_mark(letter))


def cut_at_marks(text: str) -> list[tuple[str, int | None]]:
    """Return a text in pieces, each with the number of the term whose words it is."""
    pieces: list[tuple[str, int | None]] = []
    piece, number = "", None
    for letter in text:
        if not _is_mark(letter):
            piece += letter
            continue
        if piece:
            pieces.append((piece, number))
        piece, number = "", None if letter == _END else ord(letter) - _FIRST
    return [*pieces, (piece, number)] if piece else pieces


def _is_mark(letter: str) -> bool:
    return letter == _END or _FIRST <= ord(letter) < _FIRST + MOST


def _through(change: Callable[[str], str], marked: str) -> str:
    """A change of a text on one with marks: what it puts in lies outside of words it came before.

    What is put in where words end belongs to them: the s of a plural.
    """
    marks: list[tuple[int, str]] = []
    plain = ""
    for letter in marked:
        if _is_mark(letter):
            marks.append((len(plain), letter))
        else:
            plain += letter
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
