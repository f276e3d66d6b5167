"""The words that a graph's classes and predicates are called by, and what they may be forms of."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final
from weakref import WeakKeyDictionary

import numpy as np

from askgraph.index.names import Kind, NameIndex, name_tokens
from askgraph.search.linking.lexicon import bases
from askgraph.search.linking.word_lists import LANGUAGES, shared_words, word_list

_INITIALS: Final = range(3, 6)
"""Names of so many words are called by their initials."""


@dataclass(frozen=True)
class SchemaWords:
    """The words of the names of classes and predicates, by their numbers in an index.

    `bent` are those that are forms of another word, by that one; `short` all that may be short for
    something, by their first letter, with whether the lexicon has each; `initialled` the words
    of longer names by their initials.
    """

    numbers: frozenset[int]
    bent: Mapping[str, tuple[int, ...]]
    short: Mapping[str, tuple[tuple[int, str, bool], ...]]
    initialled: Mapping[str, tuple[tuple[int, ...], ...]]


_kept: WeakKeyDictionary[NameIndex, SchemaWords] = WeakKeyDictionary()


def schema_words(index: NameIndex) -> SchemaWords:
    """Return the words of an index's classes and predicates; they are worked out once."""
    if index not in _kept:
        _kept[index] = _found(index)
    return _kept[index]


def _found(index: NameIndex) -> SchemaWords:
    ours = np.isin(index.kinds, (int(Kind.CLASS), int(Kind.PREDICATE)))
    bent: dict[str, list[int]] = defaultdict(list)
    short: dict[str, list[tuple[int, str, bool]]] = defaultdict(list)
    initialled: dict[str, dict[tuple[int, ...], None]] = defaultdict(dict)
    numbers: set[int] = set()
    for at in np.flatnonzero(ours).tolist():
        words = name_tokens(index.name(at).text)
        found = tuple(n for word in words if (n := index.word_id(word)) is not None)
        numbers.update(found)
        if len(found) in _INITIALS:
            initialled["".join(word[0] for word in words)][found] = None
    for number in sorted(numbers):
        word = index.listed[number]
        if not word.isalpha() or word in _functional():
            continue
        known = bases(word) if word.isascii() else ()
        for base in known:
            if base != word:
                bent[base].append(number)
        if len(word) > 1:
            short[word[0]].append((number, word, bool(known)))
    return SchemaWords(
        frozenset(numbers),
        {base: tuple(listed) for base, listed in bent.items()},
        {letter: tuple(listed) for letter, listed in short.items()},
        {letters: tuple(listed) for letters, listed in initialled.items()},
    )


@cache
def _functional() -> frozenset[str]:
    return frozenset().union(*shared_words().stop.values())


def is_listed(word: str) -> bool:
    """Return whether a word has synonyms in the lists of any language."""
    return word in _listed()


@cache
def _listed() -> frozenset[str]:
    return frozenset(word for code in LANGUAGES for word in word_list(code).synonyms)
