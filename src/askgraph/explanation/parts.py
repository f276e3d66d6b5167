"""A query read back in pieces: which words are which of its terms, so that one can be changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal as Choice

from pyoxigraph import Literal, NamedNode

from askgraph.errors import QuerySyntaxError
from askgraph.explanation._marked import (
    MOST,
    MarkedNames,
    MarkedPhrases,
    cut_at_marks,
    unmarked,
)
from askgraph.explanation._phrases import phrases_in
from askgraph.explanation._scope import LABEL_SERVICE
from askgraph.explanation.verbalise import in_words, written_out
from askgraph.rdf.prefixes import WELL_KNOWN
from askgraph.rdf.vocabulary import RDF_TYPE
from askgraph.sparql.read import read
from askgraph.sparql.tree import (
    Bind,
    Call,
    Filter,
    Group,
    Nested,
    Path,
    Pattern,
    Query,
    Union,
    Values,
)
from askgraph.sparql.written_terms import written_terms

__all__ = ["Part", "Piece", "ReadBack", "parts_of", "read_back"]

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


def read_back(query: str, labels: Mapping[str, str], *, language: str = "en") -> ReadBack:
    """Return a query in words with its parts; `labels` (IRI -> label) are as for `in_words`.

    A query that cannot be read has one piece that says so, and no part.
    """
    text = in_words(query, labels, language=language)
    parts = parts_of(query)
    pieces: tuple[Piece, ...] = (Piece(text),)
    if not parts or unmarked(text) != text:
        return ReadBack(pieces, parts)
    every = _pieces(query, labels, language, {part.term: n for n, part in enumerate(parts)}, text)
    if every is not None:
        return ReadBack(every, parts)
    taken: dict[NamedNode | Literal, int] = {}
    for number, part in enumerate(parts[:_TRIED]):
        more = _pieces(query, labels, language, {**taken, part.term: number}, text)
        if more is not None:
            taken, pieces = {**taken, part.term: number}, more
    return ReadBack(pieces, parts)


_TRIED = 20  # parts that are marked one after another where all together change the text


def parts_of(query: str) -> tuple[Part, ...]:
    """Return the parts of a query, each once, in order; none where it cannot be read.

    A name whose prefix nobody knows is none, as another one could not be put in its place.
    """
    try:
        tree = read(query)
    except QuerySyntaxError:
        return ()
    written = {one.term for one in written_terms(query, WELL_KNOWN)}
    found: dict[NamedNode | Literal, Part] = {}
    for part in _walked(tree):
        if part.term in written:
            found.setdefault(part.term, part)
    return tuple(found.values())[:MOST]


def _pieces(
    query: str,
    labels: Mapping[str, str],
    language: str,
    marks: Mapping[NamedNode | Literal, int],
    text: str,
) -> tuple[Piece, ...] | None:
    """The text in pieces by these marks; None where the marks change what it says."""
    phrases = MarkedPhrases(phrases_in(language).language)
    marked = written_out(query, MarkedNames(labels, phrases, marks))
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
            yield from _of_pattern(part)
        case Call():
            yield from _of_call(part)
        case _:
            for inner in _inside(part):
                yield from _walked(inner)


def _inside(part: object) -> tuple[object, ...]:
    """What a part of a tree holds, in order; of a SERVICE or GRAPH without its name."""
    match part:
        case tuple():
            return part
        case Nested(name=NamedNode(value=name)) if name == LABEL_SERVICE:
            return ()
        case Nested(group=group):
            return (group,)
        case Query():
            return (part.columns, part.where, part.having, part.resources)
        case Filter() | Bind() | Values() | Union() | Group():
            return tuple(getattr(part, name) for name in part.__dataclass_fields__)
        case _:
            return ()


def _of_pattern(pattern: Pattern) -> Iterator[Part]:
    yield from _walked(pattern.subject)
    yield from _predicates(pattern.predicate)
    is_type = pattern.predicate == NamedNode(RDF_TYPE)
    if is_type and isinstance(pattern.object, NamedNode):
        yield Part("class", pattern.object)
    else:
        yield from _walked(pattern.object)


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
