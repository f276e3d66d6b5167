"""Words that names shorten: temperature as temp, department as dept, quantity as qty.

No list: a short form is a word of the graph's own names that is no word otherwise, begins with the
same letter and keeps letters of the long one in their order. Initials stand for words in a row.
"""

from collections.abc import Container, Iterator
from typing import Final

from askgraph.index.names import NameIndex
from askgraph.search.linking.akin import Meant
from askgraph.search.linking.schema_words import is_listed, schema_words
from askgraph.search.linking.text import Reading

SHORTENED: Final = frozenset(("short", "initials"))
"""Relations between a word and what is left of it."""

_PREFIX: Final = 0.78
"""The quality of the first letters of a word, three or more of them."""
_SKELETON: Final = 0.72
"""The same of its consonants, or of some letters up to the last."""
_TWO: Final = 0.62
"""The same of its first and one more consonant."""
_KNOWN: Final = 0.62
"""The same of the first four or more letters if they are a word, too."""
_INITIALS: Final = 0.72
_LONG = 4
"""A word that is shortened has so many letters at least."""
_WORDS = 5
"""So many words have initials at most."""
_VOWELS = frozenset("aeiouy")


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
    reading: Reading, at: int, free: Container[int], index: NameIndex
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
