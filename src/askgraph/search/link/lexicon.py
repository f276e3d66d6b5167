"""The lexicon: words akin besides in spelling, and those of them that a graph's own names have.

English ones are distilled from WordNet (`tools/make_lexicon.py`; licence beside the file), in the
package as sorted text, one line a word. It is mapped into memory and bisected, never read as a
whole: a look-up touches a few dozen lines. Words are stems, as the index of names has them.

    deep +8depth s6abysmal …        a letter for the relation, a digit for the weight, the word

It has far more relatives of a word than one graph has names: only those that occur in the names of
its classes and predicates count; peoples and codes of countries count in names of things. An
adjective that no list has, as in "the most profitable", lies on a scale that a noun names: it is an
operator only if the graph's own names have that noun.

Short forms need no list: one is a word of the graph's own names that is no word otherwise, begins
with the same letter and keeps letters of the long one in their order. Initials stand for words in a
row. US and WHO in capitals are abbreviations, not pronouns; F and M may be codes for words.
"""

import mmap
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Final
from weakref import WeakKeyDictionary

import numpy as np

from askgraph.deadline import in_time
from askgraph.index.names import Kind, Name, NameIndex, name_tokens
from askgraph.search.tokenize import Token, TokenizedQuestion
from askgraph.search.tokenize.word_lists import (
    LANGUAGES,
    Code,
    Measure,
    countries,
    shared_words,
    word_list,
)

LEXICON: Final = Path(__file__).with_name("wordnet.txt")  # the lexicon's file
LICENCE: Final = Path(__file__).with_name("wordnet-licence.txt")
"""The licence of WordNet, which the file is made from."""
LANGUAGE: Final = "en"  # the language of its words

_RELATIONS: Final = {
    "s": "synonym",
    "d": "derivation",
    "g": "doer",
    "u": "hypernym",
    "l": "hyponym",
    "n": "demonym",
    "+": "more",
    "-": "less",
}
"""Relations by letter: `doer` leads from a verb to who does it, `more` and `less` from an adjective
to the noun of its scale."""
_BASE: Final = "="  # the letter of an irregular form, which leads to the word that it is of
_ENDINGS: Final = (
    ("ied", "y"),
    ("ed", "e"),
    ("ed", ""),
    ("ing", "e"),
    ("ing", ""),
    ("er", "e"),
    ("er", ""),
    ("or", "e"),
    ("ly", ""),
    ("e", ""),
)
"""Endings of English words, and what stands in their place in the word that they are of."""
_SHORTEST: Final = 3


@dataclass(frozen=True, slots=True)
class Relative:
    """A word (or several) akin to another: the relation, and between 0 and 1 how near it is."""

    how: str
    words: tuple[str, ...]
    weight: float


@lru_cache(maxsize=4096)
def relatives(word: str) -> tuple[Relative, ...]:
    """Return the relatives of a stem, or of the words that it is a form of; nearest first.

    >>> [one.words for one in relatives("deep") if one.how == "more"][0]
    ('deepness',)
    """
    best: dict[tuple[str, tuple[str, ...]], float] = {}
    for base in bases(word):
        for cell in _line(base):
            if not cell.startswith(_BASE):
                relative = Relative(
                    _RELATIONS[cell[0]], tuple(cell[2:].split("_")), int(cell[1]) / 10
                )
                key = relative.how, relative.words
                if relative.words != (word,):
                    best[key] = max(best.get(key, 0.0), relative.weight)
        if base != word:
            best["derivation", (base,)] = 1.0
    found = [Relative(how, words, weight) for (how, words), weight in best.items()]
    return tuple(sorted(found, key=lambda one: (-one.weight, one.how, one.words)))


@lru_cache(maxsize=16_384)
def bases(word: str) -> tuple[str, ...]:
    """Return the words of the lexicon that a stem is a form of, itself first if it is one.

    >>> bases("donated")
    ('donate',)
    """
    line = _line(word)
    own = [word] if any(not cell.startswith(_BASE) for cell in line) else []
    irregular = [cell[2:] for cell in line if cell.startswith(_BASE)]
    regular = (
        [] if own and not irregular and not word.endswith(("ed", "ing")) else list(_regular(word))
    )
    return tuple(dict.fromkeys((*own, *irregular, *(one for one in regular if _line(one)))))


def _regular(word: str) -> Iterator[str]:
    for ending, put in _ENDINGS:
        start = word.removesuffix(ending)
        if start == word or len(start) < _SHORTEST - len(put):
            continue
        yield start + put
        if not put and start[-1] == start[-2:-1] and start[-1] not in "aeiou":
            yield start[:-1]


@lru_cache(maxsize=16_384)
def _line(word: str) -> tuple[str, ...]:
    """The cells of a word's line, none if it has no line."""
    wanted, text = word.encode() + b" ", _mapped()
    low, high = 0, len(text)
    while low < high:
        middle = (low + high) // 2
        start = text.rfind(b"\n", low, middle) + 1 or low
        end = text.find(b"\n", middle)
        key = text[start : start + len(wanted)]
        if key == wanted:
            return tuple(text[start + len(wanted) : end].decode().split(" "))
        if key < wanted:
            low = end + 1
        else:
            high = start
    return ()


@cache
def _mapped() -> mmap.mmap:
    with LEXICON.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


_INITIALS: Final = range(3, 6)  # names of so many words are called by their initials
Meant = tuple[int, float, str]
"""A word of the index that is meant, by its number, how well it fits, and how it is related."""
SCHEMA_ONLY: Final = frozenset(
    ("derivation", "doer", "hypernym", "hyponym", "near", "short", "initials")
)
"""Relations that hold in names of classes and predicates alone."""
AKIN: Final = frozenset(("synonym", "near", "hypernym", "hyponym"))
"""Relations between words that do not share a root."""
_BEST: Final = {
    "synonym": 0.74,
    "derivation": 0.66,
    "doer": 0.6,
    "hypernym": 0.6,
    "hyponym": 0.56,
    "demonym": 0.85,
}
"""The quality of the nearest relatives; `more` and `less` are about scales, not about names."""
_LEAST: Final = {
    "synonym": 0.4,
    "derivation": 0.4,
    "doer": 0.4,
    "hypernym": 0.45,
    "hyponym": 0.55,
    "demonym": 0.0,
}
"""The weight of relatives at least."""
_NAMING: Final = frozenset(("synonym", "derivation", "doer", "hypernym", "hyponym"))
"""Relations in which a word may name a class or predicate."""
_FARTHEST: Final = 0.6  # what is left of it for the farthest
_CODE: Final = 0.83
"""The quality of a country's other names and codes: all of a name, never a part of one."""
_EQUAL: Final = 1e-3  # between rarities that are taken for equal
_MOST = 4  # so many relatives of one word at most that a graph's names have
_ON_SCALE = 0.3  # the weight below which a noun is not that of the scale


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


_SHARE = 0.2  # the names of a large schema are read until this share of a question's time is gone
_kept: WeakKeyDictionary[NameIndex, SchemaWords] = WeakKeyDictionary()


def schema_words(index: NameIndex) -> SchemaWords:
    """Return the words of an index's classes and predicates; they are worked out once.

    Of very many names those that a share of the time is enough for, and the next question anew.
    """
    if index in _kept:
        return _kept[index]
    found, whole = _found(index)
    if whole:
        _kept[index] = found
    return found


def _found(index: NameIndex) -> tuple[SchemaWords, bool]:
    """The words, and whether they are all."""
    ours = np.isin(index.kinds, (int(Kind.CLASS), int(Kind.PREDICATE)))
    bent: dict[str, list[int]] = defaultdict(list)
    short: dict[str, list[tuple[int, str, bool]]] = defaultdict(list)
    initialled: dict[str, dict[tuple[int, ...], None]] = defaultdict(dict)
    numbers: set[int] = set()
    for at in (names := in_time(np.flatnonzero(ours).tolist(), share=_SHARE)):
        words = name_tokens(index.name(at).text)
        found = tuple(n for word in words if (n := index.word_id(word)) is not None)
        numbers.update(found)
        if len(found) in _INITIALS:
            initialled["".join(word[0] for word in words)][found] = None
    for number in (listed := in_time(sorted(numbers), share=_SHARE)):
        word = index.listed[number]
        if not word.isalpha() or word in _functional():
            continue
        known = bases(word) if word.isascii() else ()
        for base in known:
            if base != word:
                bent[base].append(number)
        if len(word) > 1:
            short[word[0]].append((number, word, bool(known)))
    all_words = SchemaWords(
        frozenset(numbers),
        {base: tuple(some) for base, some in bent.items()},
        {letter: tuple(some) for letter, some in short.items()},
        {letters: tuple(some) for letters, some in initialled.items()},
    )
    return all_words, not (names.cut or listed.cut)


@cache
def _functional() -> frozenset[str]:
    return frozenset().union(*shared_words().stop.values())


def is_listed(word: str) -> bool:
    """Return whether a word has synonyms in the lists of any language."""
    return word in _listed()


@cache
def _listed() -> frozenset[str]:
    return frozenset(word for code in LANGUAGES for word in word_list(code).synonyms)


def akin(word: str, index: NameIndex) -> Iterator[Meant]:
    """Yield what the lexicon says a word may mean among the names of classes and predicates."""
    schema = schema_words(index)
    found: dict[int, tuple[float, str]] = {}
    for relative in relatives(word):
        how = relative.how
        if how not in _NAMING or relative.weight < _LEAST[how]:
            continue
        quality = _BEST[how] * (_FARTHEST + (1 - _FARTHEST) * relative.weight)
        for number in _occurring(relative.words, index, schema):
            if quality > found.get(number, (0.0, ""))[0]:
                found[number] = quality, how
    own = index.word_id(word)
    nearest = sorted(found.items(), key=lambda item: (-item[1][0], item[0]))
    for number, (quality, how) in nearest[:_MOST]:
        if number != own:
            yield number, quality, "near" if how == "synonym" else how


def of_countries(word: str, index: NameIndex) -> Iterator[Meant]:
    """Yield the words of a country's names and codes for its people or for another of its names."""
    named = [(one.words, _BEST["demonym"]) for one in relatives(word) if one.how == "demonym"]
    sets = _countries()
    for words, quality in (*named, ((word,), 0.0)):
        found = [index.word_id(part) for part in words] if quality else []
        if found and None not in found:
            yield from ((number, quality, "demonym") for number in found if number is not None)
        for other in sets.get(words, ()):
            numbers = [index.word_id(part) for part in other] if other != words else [None]
            if None not in numbers:
                yield from ((number, _CODE, "code") for number in numbers if number is not None)


def is_told(word: str, other: str) -> bool:
    """Return whether the lexicon says that a word may stand for another in a name."""
    return any(
        one.words == (other,) and one.how in _NAMING and one.weight >= _LEAST[one.how]
        for one in relatives(word)
    )


def is_name(word: str, index: NameIndex) -> bool:
    """Return whether a word is all of the name of something."""
    number = index.word_id(word)
    if number is None:
        return False
    alone = np.abs(index.lengths[index.bearing(number)] - index.rarity_of(number)) < _EQUAL
    return bool(alone.any())


def _occurring(words: tuple[str, ...], index: NameIndex, schema: SchemaWords) -> Iterator[int]:
    numbers = [index.word_id(word) for word in words]
    if schema.numbers.issuperset(numbers):
        yield from (number for number in numbers if number is not None)
    if len(words) == 1:
        yield from schema.bent.get(words[0], ())


@lru_cache(maxsize=1)
def _countries() -> Mapping[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """The names and codes of each country, by each of them."""
    found: dict[tuple[str, ...], tuple[tuple[str, ...], ...]] = {}
    for names in countries():
        found |= dict.fromkeys(names, names)
    return found


def scales(reading: TokenizedQuestion, index: NameIndex) -> Iterator[tuple[int, Measure]]:
    """Yield comparatives and superlatives of a question that its lists lack, with their places."""
    if reading.language != LANGUAGE:
        return
    for at in range(len(reading.tokens)):
        for degree, adjective, last, up in _degrees(reading, at):
            schema = schema_words(index).numbers
            nouns = [
                one
                for one in relatives(adjective)
                if one.how in ("more", "less")
                and one.weight >= _ON_SCALE
                and index.word_id(one.words[0]) in schema
            ]
            if not nouns:
                measure = None
            else:
                way = nouns[0].how
                measures = tuple(one.words[0] for one in nouns if one.how == way)
                phrase = reading.folded[at : last + 1]
                measure = Measure(phrase, degree, up == (way == "more"), measures, ())
            if measure is not None:
                yield at, measure


def _degrees(reading: TokenizedQuestion, at: int) -> Iterator[tuple[str, str, int, bool]]:
    """The degree of an adjective at a token, its plain form, where it ends, and if it is much."""
    words, degrees = reading.folded, reading.words.degrees
    listed = (measure.phrase for measure in reading.words.adjectives.get(words[at], ()))
    if reading.tokens[at].quote is not None or any(reading.says(one, at) for one in listed):
        return
    for name, degree, up in (
        ("more", "comparative", True),
        ("less", "comparative", False),
        ("most", "superlative", True),
        ("least", "superlative", False),
    ):
        if words[at] in degrees[name] and at + 1 < len(words) and not reading.is_stop(at + 1):
            yield degree, words[at + 1], at + 1, up
    for degree in ("comparative", "superlative"):
        for ending in degrees[degree]:
            start = words[at].removesuffix(ending)
            if start != words[at] and len(start) > 2:
                for plain in _plain(start):
                    yield degree, plain, at, True


def _plain(start: str) -> Iterator[str]:
    """The adjectives that an ending may have been put to: heavi- of heavy, larg- of large."""
    yield start
    yield f"{start}e"
    if start[-1] == "i":
        yield f"{start[:-1]}y"
    if start[-1] == start[-2]:
        yield start[:-1]


SHORTENED: Final = frozenset(("short", "initials"))
"""Relations between a word and what is left of it."""
_PREFIX: Final = 0.78  # the quality of the first letters of a word, three or more of them
_SKELETON: Final = 0.72  # the same of its consonants, or of some letters up to the last
_TWO: Final = 0.62  # the same of its first and one more consonant
_KNOWN: Final = 0.62  # the same of the first four or more letters if they are a word, too
_INITIAL_LETTERS: Final = 0.72
_LONG = 4  # a word that is shortened has so many letters at least
_WORDS = 5  # so many words have initials at most
_VOWELS = frozenset("aeiouy")
_MOST_INITIALS = 20  # so many texts at most are one code, written otherwise
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
                    quality = 1.0 if reading.is_stop(place) else _INITIAL_LETTERS
                    yield place, (short[letters], quality, "initials")


def initialism(word: str, index: NameIndex) -> Iterator[Meant]:
    """Yield the words of a name of a class or predicate whose initials a word is: GPA, DOB."""
    for numbers in schema_words(index).initialled.get(word, ()):
        yield from ((number, _INITIAL_LETTERS, "initials") for number in numbers)


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
        for number in values[np.argsort(index.lengths[values])][:_MOST_INITIALS].tolist():
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
