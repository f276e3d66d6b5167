"""Completion of typed text: names that contain its words, the last of them as a prefix."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from askgraph.index.names import (
    IndexedName,
    ItemKind,
    NameIndex,
    fold_word,
    split_tokens,
    stem_word,
)

_MAX_WORDS = 6  # last typed words that may begin one name
_MAX_NAMES_COUNT = 2000  # names to read for one prefix
_MAX_POSTINGS_COUNT = 200_000  # entries of the index to read for one prefix
_MIN_LETTERS_COUNT = 2  # letters


@dataclass(frozen=True)
class NameCompletion:
    """A name, and the start (in characters) of the words in the text that it completes."""

    name: IndexedName
    start: int


def complete_names(names: NameIndex, text: str, *, limit: int = 8) -> tuple[NameCompletion, ...]:
    """Return at most `limit` completions of the end of a text, one name for each target.

    The longest run of final words that begins a name counts: "moons of Sat" is completed by
    names with words that begin with "sat". Names that start with the typed text come first, then
    short names. A text that ends with a space, or with fewer than two letters, has no completion.
    The time is bounded for any size of the index.
    """
    completion_by_target: dict[str, NameCompletion] = {}
    if not text[-1:].strip():
        return ()
    for start in _find_starts(text):
        typed = text[start:]
        for name in _sort_names(_find_names(names, typed), typed):
            completion_by_target.setdefault(name.target, NameCompletion(name, start))
        if len(completion_by_target) >= limit:
            break
    return tuple(completion_by_target.values())[:limit]


def _find_starts(text: str) -> list[int]:
    """Return the positions where the last words of a text begin, the longest run first."""
    begins = [match.start() for match in re.finditer(r"\S+", text)][-_MAX_WORDS:]
    return [start for start in begins if sum(map(str.isalnum, text[start:])) >= _MIN_LETTERS_COUNT]


def _find_names(names: NameIndex, typed: str) -> Iterator[IndexedName]:
    """Yield names with all words but the last unchanged, and one that the last begins."""
    words = split_tokens(typed)
    if not words:
        return
    matches: NDArray[np.int32] | None = None
    for word in words[:-1]:
        number = names.find_word(stem_word(word))
        names_with_word = names.find_names(number) if number is not None else np.empty(0, np.int32)
        matches = names_with_word if matches is None else np.intersect1d(matches, names_with_word)
    completing = _find_prefix_names(names, words[-1])
    matches = completing if matches is None else np.intersect1d(matches, completing)
    shortest = np.argsort(names.lengths[matches], kind="stable")[:_MAX_NAMES_COUNT]
    for name_number in matches[shortest].tolist():
        name = names.read_name(name_number)
        if name.kind is not ItemKind.VALUE:
            yield name


def _find_prefix_names(names: NameIndex, word: str) -> NDArray[np.int32]:
    """Return the numbers of names with a word of this prefix or stem."""
    first, last = _find_word_position(names, word), _find_word_position(names, word + "\U0010ffff")
    start, end = int(names.posting_offsets[first]), int(names.posting_offsets[last])
    matches = names.postings[start : min(end, start + _MAX_POSTINGS_COUNT)]
    full_word = names.find_word(stem_word(word))
    if full_word is not None:
        matches = np.concatenate([matches, names.find_names(full_word)[:_MAX_POSTINGS_COUNT]])
    return np.unique(matches)


def _find_word_position(names: NameIndex, word: str) -> int:
    """Return the number of the first token of the vocabulary that is not before a word."""
    ends = names.word_offsets
    return bisect_left(
        range(len(ends) - 1),
        word.encode(),
        key=lambda number: names.words[ends[number] : ends[number + 1]].tobytes(),
    )


def _sort_names(names: Iterator[IndexedName], typed: str) -> list[IndexedName]:
    folded_text = " ".join(fold_word(word) for word in typed.split())

    def build_sort_key(name: IndexedName) -> tuple[bool, bool, bool, int, str]:
        text = " ".join(fold_word(word) for word in name.text.split())
        return (
            not text.startswith(folded_text),
            f" {folded_text}" not in f" {text}",
            not name.preferred,
            len(text),
            text,
        )

    return sorted(names, key=build_sort_key)
