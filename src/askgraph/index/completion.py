"""Names that complete what is being typed: those that hold its words, the last one begun."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from askgraph.index.names import Kind, Name, NameIndex, folded, stem, tokens

_WORDS = 6  # of what was typed last that may be the begin of one name
_LOOKED_AT = 2000  # names that are read for one begin
_POSTINGS = 200_000  # entries of the index that are read for one begin
_LEAST = 2  # letters


@dataclass(frozen=True)
class Completion:
    """A name, and the start of the words in the text that it completes, in characters."""

    name: Name
    start: int


def completions(names: NameIndex, text: str, *, limit: int = 8) -> tuple[Completion, ...]:
    """Return at most `limit` things whose names complete the end of a text, one name a thing.

    The longest run of words at the end that begins a name counts: "moons of Sat" is completed by
    names with words that begin with "sat". First come names that start with what was typed, then
    short ones. Nothing is returned behind a space, or for less than two letters. The time is
    bounded, whatever the size of the index.
    """
    found: dict[str, Completion] = {}
    if not text[-1:].strip():
        return ()
    for start in _starts(text):
        typed = text[start:]
        for name in _ranked(_holding(names, typed), typed):
            found.setdefault(name.target, Completion(name, start))
        if len(found) >= limit:
            break
    return tuple(found.values())[:limit]


def _starts(text: str) -> list[int]:
    """Return the places at which the last words of a text begin, that of the most words first."""
    begins = [match.start() for match in re.finditer(r"\S+", text)][-_WORDS:]
    return [start for start in begins if sum(map(str.isalnum, text[start:])) >= _LEAST]


def _holding(names: NameIndex, typed: str) -> Iterator[Name]:
    """Names with all words but the last as they are, and one that the last one begins."""
    words = tokens(typed)
    if not words:
        return
    places: NDArray[np.int32] | None = None
    for word in words[:-1]:
        number = names.word_id(stem(word))
        bearing = names.bearing(number) if number is not None else np.empty(0, np.int32)
        places = bearing if places is None else np.intersect1d(places, bearing)
    begun = _beginning(names, words[-1])
    places = begun if places is None else np.intersect1d(places, begun)
    shortest = np.argsort(names.lengths[places], kind="stable")[:_LOOKED_AT]
    for at in places[shortest].tolist():
        name = names.name(at)
        if name.kind is not Kind.VALUE:
            yield name


def _beginning(names: NameIndex, word: str) -> NDArray[np.int32]:
    """Return the numbers of names with a word that begins so, or has this stem."""
    first, last = _place(names, word), _place(names, word + "\U0010ffff")
    start, end = int(names.posting_offsets[first]), int(names.posting_offsets[last])
    found = names.postings[start : min(end, start + _POSTINGS)]
    whole = names.word_id(stem(word))
    if whole is not None:
        found = np.concatenate([found, names.bearing(whole)[:_POSTINGS]])
    return np.unique(found)


def _place(names: NameIndex, word: str) -> int:
    """Return the number of the first token of the vocabulary that is not before a word."""
    ends = names.word_offsets
    return bisect_left(
        range(len(ends) - 1),
        word.encode(),
        key=lambda at: names.words[ends[at] : ends[at + 1]].tobytes(),
    )


def _ranked(found: Iterator[Name], typed: str) -> list[Name]:
    begun = " ".join(folded(word) for word in typed.split())

    def rank(name: Name) -> tuple[bool, bool, bool, int, str]:
        text = " ".join(folded(word) for word in name.text.split())
        return (
            not text.startswith(begun),
            f" {begun}" not in f" {text}",
            not name.preferred,
            len(text),
            text,
        )

    return sorted(found, key=rank)
