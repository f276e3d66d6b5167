"""Short forms: temperature as temp, department as dept, quantity as qty; initials, codes.

No list: a short form is a word of the graph's own names that is no word otherwise, begins with the
same letter and keeps letters of the long one in their order. Initials stand for words in a row. US
and WHO in capitals are abbreviations, not pronouns; F and M may be codes that data write for words.
"""

import re
from bisect import bisect_left
from collections.abc import Container, Iterator
from dataclasses import replace
from typing import Final

import numpy as np

from askgraph.index.names import Kind, Name, NameIndex, name_tokens
from askgraph.search.link.lexicon import Meant, is_listed, schema_words
from askgraph.search.tokenize import Token, TokenizedQuestion
from askgraph.search.tokenize.word_lists import Code, shared_words

SHORTENED: Final = frozenset(("short", "initials"))
"""Relations between a word and what is left of it."""

_PREFIX: Final = 0.78  # the quality of the first letters of a word, three or more of them
_SKELETON: Final = 0.72  # the same of its consonants, or of some letters up to the last
_TWO: Final = 0.62  # the same of its first and one more consonant
_KNOWN: Final = 0.62  # the same of the first four or more letters if they are a word, too
_INITIALS: Final = 0.72
_LONG = 4  # a word that is shortened has so many letters at least
_WORDS = 5  # so many words have initials at most
_VOWELS = frozenset("aeiouy")
_MOST = 20  # so many texts at most are one code, written otherwise
_WORD = re.compile(r"[^\W\d_]+")
_LONGEST = 5  # letters of an abbreviation at most
_AFTER_LETTERS = "{"  # sorts after all letters without accents
_ALIKE = 50  # so many names that hold a word are looked at for how they write it


def abbreviations(word: str, index: NameIndex) -> Iterator[Meant]:
    """Yield the words of names of classes and predicates that a word may be shortened to."""
    if len(word) < _LONG:
        return
    for number, short, known in schema_words(index).short.get(word[0], ()):
        if 2 <= len(short) <= len(word) - 2 or (len(short) == 3 and len(word) == _LONG):
            quality = _likeness(word, short, known)
            if quality:
                yield number, quality, "short"


def _likeness(word: str, short: str, known: bool) -> float:
    """How well a short form fits a word; 0 if it is none of it."""
    begins = word.startswith(short) and len(short) >= 3
    if not begins and (known or not _keeps_order(word, short)):
        return 0.0
    known = known or is_listed(short)
    if begins:
        return (_KNOWN if len(short) > 3 else 0.0) if known else _PREFIX
    if known:
        return 0.0
    last = word[-1] == short[-1]
    skeleton = "".join(letter for letter in word[1:] if letter not in _VOWELS)
    bones = "".join(letter for letter in short[1:] if letter not in _VOWELS)
    if len(short) == 2:
        return _TWO if bones and (last or skeleton.startswith(bones)) else 0.0
    leading = skeleton.startswith(bones) or _single(skeleton).startswith(_single(bones))
    return _SKELETON if bones and (last or leading) else 0.0


def _keeps_order(word: str, short: str) -> bool:
    letters = iter(word)
    return all(letter in letters for letter in short)


def _single(text: str) -> str:
    """A text without letters that double the one before."""
    return "".join(b for a, b in zip(" " + text, text, strict=False) if a != b)


def initials(
    reading: TokenizedQuestion, at: int, free: Container[int], index: NameIndex
) -> Iterator[tuple[int, Meant]]:
    """Yield the words of names whose letters some words from a place on begin with, with places.

    Function words between may count or not: "date of birth" is DOB or DB. Words of content must
    be `free` of an operator.
    """
    words = reading.folded
    listed = schema_words(index).short.get(words[at][0], ())
    short = {word: number for number, word, known in listed if not known and len(word) > 2}
    places = range(at, min(at + _WORDS, len(words)) if short else at)
    content = [place for place in places if not reading.is_stop(place)]
    for end in content:
        if end not in free:
            return
        for taken in {tuple(range(at, end + 1)), tuple(p for p in content if p <= end)}:
            letters = "".join(words[place][0] for place in taken)
            if taken[0] == at and letters in short and not is_listed(letters):
                for place in taken:
                    quality = 1.0 if reading.is_stop(place) else _INITIALS
                    yield place, (short[letters], quality, "initials")


def initialism(word: str, index: NameIndex) -> Iterator[Meant]:
    """Yield the words of a name of a class or predicate whose initials a word is: GPA, DOB."""
    for numbers in schema_words(index).initialled.get(word, ()):
        yield from ((number, _INITIALS, "initials") for number in numbers)


def coded(reading: TokenizedQuestion, index: NameIndex) -> Iterator[tuple[int, Name, str]]:
    """Yield the texts of a graph that are codes for words of a question.

    With each comes the word's token, and the table of the code.
    """
    for at, token in enumerate(reading.tokens):
        if token.quote is None:
            for code in shared_words().codes:
                if token.stem in code.said:
                    yield from ((at, name, code.table) for name in _spellings(code, index))


def _spellings(code: Code, index: NameIndex) -> Iterator[Name]:
    for held in sorted(code.held):
        word = index.word_id(held)
        if word is None:
            continue
        bearing = index.bearing(word)
        values = bearing[index.kinds[bearing] == Kind.VALUE]
        for number in values[np.argsort(index.lengths[values])][:_MOST].tolist():
            name = index.name(number)
            if name_tokens(name.text) == (held,):
                yield name


def with_abbreviations(reading: TokenizedQuestion, index: NameIndex) -> TokenizedQuestion:
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


def _may_be_one(token: Token, reading: TokenizedQuestion) -> bool:
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
