"""Abbreviations that look like function words: US, IT and WHO in capitals are not pronouns."""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import replace

from askgraph.index.names import NameIndex
from askgraph.search.linking.text import Reading, Token
from askgraph.search.linking.word_lists import shared_words

_WORD = re.compile(r"[^\W\d_]+")
_LONGEST = 5
"""Letters of an abbreviation at most."""
_AFTER_LETTERS = "{"
"""Sorts after all letters without accents."""
_ALIKE = 50
"""So many names that hold a word are looked at for how they write it."""


def with_abbreviations(reading: Reading, index: NameIndex) -> Reading:
    """Return a reading that knows which of its words in capitals are no function words.

    Such a word is a pronoun otherwise, or stands in capitals in a name of the graph, too; in a
    question all in capitals nothing can be told.
    """
    if reading.text.isupper():
        return reading
    found = (at for at, token in enumerate(reading.tokens) if _may_be_one(token, reading))
    pronouns = shared_words().pronouns
    named = frozenset(
        at
        for at in found
        if reading.tokens[at].folded in pronouns or _is_named(reading.tokens[at], index)
    )
    return replace(reading, abbreviations=named) if named else reading


def _may_be_one(token: Token, reading: Reading) -> bool:
    said = len(token.text) > 1 and token.text.isupper() and token.quote is None
    return said and token.folded in reading.words.stop


def _is_named(token: Token, index: NameIndex) -> bool:
    number = index.word_id(token.stem)
    return number is not None and _is_in_capitals(token.folded, number, index)


def spelled_otherwise(token: Token, index: NameIndex) -> Iterator[int]:
    """Yield the words of names that an abbreviation may be: with points, or a letter more or less.

    US is U.S. and USA, if these stand in capitals.
    """
    if not 1 < len(token.folded) <= _LONGEST or not token.text.isupper():
        return
    if "." in token.text:
        letters = [index.word_id(letter) for letter in token.folded]
        yield from (letter for letter in letters if letter is not None)
    own, words = token.folded, index.listed
    longer = words[bisect_left(words, own) : bisect_left(words, own + _AFTER_LETTERS)]
    for word in (own[:-1], *longer):
        if 1 < len(word) <= len(own) + 1 and word != own:
            number = index.vocabulary.get(word)
            if number is not None and _is_in_capitals(word, number, index):
                yield number


def _is_in_capitals(word: str, number: int, index: NameIndex) -> bool:
    names = (index.name(at).text for at in index.bearing(number)[:_ALIKE].tolist())
    return any(word.upper() in _WORD.findall(name) for name in names)
