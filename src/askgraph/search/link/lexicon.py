"""The lexicon: related words beyond spelling, limited to words of a graph's own names.

English words are distilled from WordNet (`tools/make_lexicon.py`; licence beside the file), in the
package as sorted text, one line per word. The file is memory-mapped and bisected, never loaded: a
look-up reads a few dozen lines. Words are stems, as in the index of names.

    deep +8depth s6abysmal …        a letter for the relation, a digit for the weight, the word

It has far more relatives of a word than a graph has names: only those in names of classes and
predicates count; peoples and country codes count in names of things. An adjective missing from the
word lists, as in "the most profitable", has a scale with a noun: it is an operator only if the
graph's own names contain that noun.
"""

import mmap
import re
import tomllib
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Final
from weakref import WeakKeyDictionary

import numpy as np

from askgraph.deadline import limit_to_deadline
from askgraph.index.names import (
    UNSPACED_RUN_PATTERN,
    IndexedName,
    ItemKind,
    NameIndex,
    find_phrases,
    fold_word,
    stem_name,
    stem_word,
)
from askgraph.search.tokenize import QuestionToken, TokenizedQuestion, tokenize
from askgraph.search.tokenize.word_lists import (
    LANGUAGES,
    DataCode,
    Measure,
    get_shared_words,
    get_word_list,
    index_countries,
)

LEXICON: Final = Path(__file__).with_name("wordnet.txt")  # the lexicon's file
LICENCE: Final = Path(__file__).with_name("wordnet-licence.txt")
"""The licence of WordNet, the source of the file."""
_MAX_UNSPACED_NAME_LENGTH: Final = 24
_MAX_UNSPACED_RUN_LENGTH: Final = 1_000  # characters; longer runs are no questions
"""Signs of a name in a script without spaces."""
LANGUAGE: Final = "en"  # the language of its words

_TABLES: Final = tomllib.loads(Path(__file__).with_name("relations.toml").read_text("utf-8"))
_RELATIONS: Final[Mapping[str, str]] = _TABLES["relations"]
"""Relations by letter: `doer` leads from a verb to its agent, `more` and `less` from an adjective
to the noun of its scale.
"""
_BASE: Final = "="  # the letter of an irregular form, which leads to the word that it is of
_ENDINGS: Final[Sequence[Sequence[str]]] = _TABLES["endings"]
"""Endings of English words, and their replacements in the base form."""
_MIN_BASE_LENGTH: Final = 3


@dataclass(frozen=True, slots=True)
class RelatedWord:
    """One or more words related to another: the relation, and its closeness from 0 to 1."""

    how: str
    words: tuple[str, ...]
    weight: float


@lru_cache(maxsize=4096)
def find_related_words(word: str) -> tuple[RelatedWord, ...]:
    """Return the words related to a stem, or to its base forms; nearest first.

    >>> [related.words for related in find_related_words("deep") if related.how == "more"][0]
    ('deepness',)
    """
    best: dict[tuple[str, tuple[str, ...]], float] = {}
    for base in find_base_forms(word):
        for cell in _read_line(base):
            if not cell.startswith(_BASE):
                relative = RelatedWord(
                    _RELATIONS[cell[0]], tuple(cell[2:].split("_")), int(cell[1]) / 10
                )
                key = relative.how, relative.words
                if relative.words != (word,):
                    best[key] = max(best.get(key, 0.0), relative.weight)
        if base != word:
            best["derivation", (base,)] = 1.0
    related = [RelatedWord(how, words, weight) for (how, words), weight in best.items()]
    return tuple(
        sorted(related, key=lambda relative: (-relative.weight, relative.how, relative.words))
    )


@lru_cache(maxsize=16_384)
def find_base_forms(word: str) -> tuple[str, ...]:
    """Return the base forms of a stem in the lexicon, first itself if it is one.

    >>> find_base_forms("donated")
    ('donate',)
    """
    line = _read_line(word)
    own_forms = [word] if any(not cell.startswith(_BASE) for cell in line) else []
    irregular = [cell[2:] for cell in line if cell.startswith(_BASE)]
    is_base = own_forms and not irregular and not word.endswith(("ed", "ing"))
    regular = [] if is_base else filter(_read_line, _strip_endings(word))
    return tuple(dict.fromkeys((*own_forms, *irregular, *regular)))


def _strip_endings(word: str) -> Iterator[str]:
    for ending, replacement in _ENDINGS:
        start = word.removesuffix(ending)
        if start == word or len(start) < _MIN_BASE_LENGTH - len(replacement):
            continue
        yield start + replacement
        if not replacement and start[-1] == start[-2:-1] and start[-1] not in "aeiou":
            yield start[:-1]


@lru_cache(maxsize=16_384)
def _read_line(word: str) -> tuple[str, ...]:
    """Return the cells of a word's line, empty if it has no line."""
    prefix, text = word.encode() + b" ", _open_lexicon()
    low, high = 0, len(text)
    while low < high:
        middle = (low + high) // 2
        start = text.rfind(b"\n", low, middle) + 1 or low
        end = text.find(b"\n", middle)
        key = text[start : start + len(prefix)]
        if key == prefix:
            return tuple(text[start + len(prefix) : end].decode().split(" "))
        if key < prefix:
            low = end + 1
        else:
            high = start
    return ()


@cache
def _open_lexicon() -> mmap.mmap:
    with LEXICON.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


_INITIALED_WORD_COUNTS: Final = range(3, 6)  # minimum number of words of a name with initials
WordMatch = tuple[int, float, str]
"""The number of a word in the index, how well it matches, and how it is related."""
SCHEMA_ONLY_MATCHES: Final = frozenset(
    ("derivation", "doer", "hypernym", "hyponym", "near", "short", "initials")
)
"""Relations valid only in names of classes and predicates."""
UNRELATED_ROOT_MATCHES: Final = frozenset(("synonym", "near", "hypernym", "hyponym"))
"""Relations between words of different roots."""
_MAX_RELATION_SCORES: Final[Mapping[str, float]] = _TABLES["max_scores"]
"""Quality of the nearest relatives; `more` and `less` apply to scales, not to names."""
_MIN_RELATION_WEIGHTS: Final[Mapping[str, float]] = _TABLES["min_weights"]
"""Minimum weight of relatives."""
_NAME_RELATIONS: Final = frozenset(("synonym", "derivation", "doer", "hypernym", "hyponym"))
"""Relations by which a word may name a class or predicate."""
_FARTHEST_FACTOR: Final = 0.6  # factor for the farthest
_COUNTRY_CODE_SCORE: Final = 0.83
"""Quality of a country's other names and codes: always a full name, never a part of one."""
_MAX_RARITY_DIFFERENCE: Final = 1e-3  # between rarities that are taken for equal
_MAX_RELATED_WORDS = 4  # maximum number of related words in a graph's names
_MIN_SCALE_WEIGHT = 0.3  # minimum weight of the noun of a scale


@dataclass(frozen=True)
class SchemaWords:
    """The words in names of classes and predicates, by their numbers in an index.

    Attributes:
        numbers: all of them.
        inflected: forms of another word, by that word.
        short: possible abbreviations by first letter: number, word, whether the lexicon has it.
        initials: the words of longer names, by their initials.
    """

    numbers: frozenset[int]
    inflected: Mapping[str, tuple[int, ...]]
    short: Mapping[str, tuple[tuple[int, str, bool], ...]]
    initials: Mapping[str, tuple[tuple[int, ...], ...]]


# The names of a large schema are read until this share of a question's time is gone.
_TIME_SHARE = 0.2
_schema_words: WeakKeyDictionary[NameIndex, SchemaWords] = WeakKeyDictionary()


def get_schema_words(index: NameIndex) -> SchemaWords:
    """Return the words of an index's classes and predicates, computed once."""
    # With very many names, it returns the words read within a share of the time limit, and starts
    # again at the next question.
    if index in _schema_words:
        return _schema_words[index]
    is_schema = np.isin(index.kinds, (int(ItemKind.CLASS), int(ItemKind.PREDICATE)))
    inflected: dict[str, list[int]] = defaultdict(list)
    short: dict[str, list[tuple[int, str, bool]]] = defaultdict(list)
    initials: dict[str, dict[tuple[int, ...], None]] = defaultdict(dict)
    numbers: set[int] = set()
    for at in (names := limit_to_deadline(np.flatnonzero(is_schema).tolist(), share=_TIME_SHARE)):
        words = stem_name(index.read_name(at).text)
        word_numbers = tuple(n for word in words if (n := index.find_word(word)) is not None)
        numbers.update(word_numbers)
        if len(word_numbers) in _INITIALED_WORD_COUNTS:
            initials["".join(word[0] for word in words)][word_numbers] = None
    for number in (timed := limit_to_deadline(sorted(numbers), share=_TIME_SHARE)):
        word = index.sorted_tokens[number]
        if not word.isalpha() or word in _load_function_words():
            continue
        base_forms = find_base_forms(word) if word.isascii() else ()
        for base in base_forms:
            if base != word:
                inflected[base].append(number)
        if len(word) > 1:
            short[word[0]].append((number, word, bool(base_forms)))
    all_words = SchemaWords(
        frozenset(numbers),
        {base: tuple(group) for base, group in inflected.items()},
        {letter: tuple(group) for letter, group in short.items()},
        {letters: tuple(group) for letters, group in initials.items()},
    )
    if not (names.is_cut or timed.is_cut):
        _schema_words[index] = all_words
    return all_words


@cache
def _load_function_words() -> frozenset[str]:
    return frozenset().union(*get_shared_words().stop_words.values())


@cache
def _load_listed_synonyms() -> frozenset[str]:
    return frozenset(word for code in LANGUAGES for word in get_word_list(code).synonyms)


def find_related_matches(word: str, index: NameIndex) -> Iterator[WordMatch]:
    """Yield words in names of classes and predicates that the lexicon relates to a word."""
    schema = get_schema_words(index)
    matches: dict[int, tuple[float, str]] = {}
    for relative in find_related_words(word):
        how = relative.how
        if how not in _NAME_RELATIONS or relative.weight < _MIN_RELATION_WEIGHTS[how]:
            continue
        quality = _MAX_RELATION_SCORES[how] * (
            _FARTHEST_FACTOR + (1 - _FARTHEST_FACTOR) * relative.weight
        )
        for number in _find_occurrences(relative.words, index, schema):
            if quality > matches.get(number, (0.0, ""))[0]:
                matches[number] = quality, how
    own_number = index.find_word(word)
    nearest = sorted(matches.items(), key=lambda item: (-item[1][0], item[0]))
    for number, (quality, how) in nearest[:_MAX_RELATED_WORDS]:
        if number != own_number:
            yield number, quality, "near" if how == "synonym" else how


def find_country_matches(name_words: tuple[str, ...], index: NameIndex) -> Iterator[WordMatch]:
    """Yield words of a country's names and codes for its people or another of its names."""
    demonyms = [
        (related.words, _MAX_RELATION_SCORES["demonym"])
        for related in (find_related_words(name_words[0]) if len(name_words) == 1 else ())
        if related.how == "demonym"
    ]
    sets = index_countries()
    for words, quality in (*demonyms, (name_words, 0.0)):
        numbers_of_country = [index.find_word(part) for part in words] if quality else []
        if numbers_of_country and None not in numbers_of_country:
            yield from (
                (number, quality, "demonym") for number in numbers_of_country if number is not None
            )
        for name in sets.get(words, ()):
            numbers = [index.find_word(part) for part in name] if name != words else [None]
            if None not in numbers:
                yield from (
                    (number, _COUNTRY_CODE_SCORE, "code")
                    for number in numbers
                    if number is not None
                )


def is_related(first: str, second: str) -> bool:
    """Return whether the lexicon allows a word to stand for another in a name."""
    return any(
        related.words == (second,)
        and related.how in _NAME_RELATIONS
        and related.weight >= _MIN_RELATION_WEIGHTS[related.how]
        for related in find_related_words(first)
    )


def is_full_name(word: str, index: NameIndex, *kinds: ItemKind) -> bool:
    """Return whether a word is the full name of anything, or of anything of some kinds."""
    number = index.find_word(word)
    if number is None:
        return False
    names = index.find_names(number)
    is_only_word = np.abs(index.lengths[names] - index.get_rarity(number)) < _MAX_RARITY_DIFFERENCE
    if kinds:
        is_only_word &= np.isin(index.kinds[names], kinds)
    return bool(is_only_word.any())


def _find_occurrences(
    words: tuple[str, ...], index: NameIndex, schema: SchemaWords
) -> Iterator[int]:
    numbers = [index.find_word(word) for word in words]
    if schema.numbers.issuperset(numbers):
        yield from (number for number in numbers if number is not None)
    if len(words) == 1:
        yield from schema.inflected.get(words[0], ())


def detect_scales(reading: TokenizedQuestion, index: NameIndex) -> Iterator[tuple[int, Measure]]:
    """Yield comparatives and superlatives missing from the word lists, with their positions."""
    if reading.language != LANGUAGE:
        return
    for at in range(len(reading.tokens)):
        for degree, adjective, last, is_upward in _parse_degrees(reading, at):
            schema = get_schema_words(index).numbers
            if last > at and index.find_word(stem_word(adjective)) in schema:
                continue  # "the most available bikes" of a property "available bikes"
            nouns = [
                related
                for related in find_related_words(adjective)
                if related.how in ("more", "less")
                and related.weight >= _MIN_SCALE_WEIGHT
                and index.find_word(related.words[0]) in schema
            ]
            if nouns:
                direction = nouns[0].how
                measures = tuple(related.words[0] for related in nouns if related.how == direction)
                phrase, has_more = reading.folded_words[at : last + 1], direction == "more"
                yield at, Measure(phrase, degree, is_upward == has_more, measures, ())


def _parse_degrees(reading: TokenizedQuestion, at: int) -> Iterator[tuple[str, str, int, bool]]:
    """Yield the degree of an adjective, its base form, its last token, and its direction."""
    words, degrees = reading.folded_words, reading.word_list.degrees
    listed_phrases = (
        measure.phrase for measure in reading.word_list.measures_by_first_word.get(words[at], ())
    )
    if reading.tokens[at].quote is not None or any(
        reading.has_phrase_at(phrase, at) for phrase in listed_phrases
    ):
        return
    for name, degree, is_upward in (
        ("more", "comparative", True),
        ("less", "comparative", False),
        ("most", "superlative", True),
        ("least", "superlative", False),
    ):
        if words[at] in degrees[name] and at + 1 < len(words) and not reading.is_stop(at + 1):
            yield degree, words[at + 1], at + 1, is_upward
    for degree in ("comparative", "superlative"):
        for ending in degrees[degree]:
            start = words[at].removesuffix(ending)
            if start != words[at] and len(start) > 2:
                for base in _restore_base_forms(start):
                    yield degree, base, at, True


def _restore_base_forms(start: str) -> Iterator[str]:
    """Yield possible base forms without an ending: heavi- of heavy, larg- of large."""
    yield start
    yield f"{start}e"
    if start[-1] == "i":
        yield f"{start[:-1]}y"
    if start[-1] == start[-2]:
        yield start[:-1]


ABBREVIATION_MATCHES: Final = frozenset(("short", "initials"))
"""Kinds of matches between a word and its abbreviation."""
_PREFIX_SCORE: Final = 0.78  # the quality of the first letters of a word, three or more of them
_SKELETON_SCORE: Final = 0.72  # the same of its consonants, or of some letters up to the last
_TWO_LETTER_SCORE: Final = 0.62  # the same of its first and one more consonant
_KNOWN_WORD_SCORE: Final = (
    0.62  # the same of the first four or more letters if they are a word, too
)
_INITIALS_SCORE: Final = 0.72
_MIN_FULL_WORD_LENGTH = 4  # minimum length of a word with an abbreviation
_MAX_INITIALED_WORDS = 5  # maximum number of words with initials
_VOWELS = frozenset("aeiouy")
_MAX_CODE_TEXTS = 20  # maximum number of texts that write one code differently
_WORD = re.compile(r"[^\W\d_]+")
_MAX_ABBREVIATION_LENGTH = 5  # letters of an abbreviation at most
_AFTER_LETTERS = "{"  # sorts after all letters without accents
_MAX_INSPECTED_NAMES = 50  # names with a word to inspect for its spelling


def find_abbreviations(word: str, index: NameIndex) -> Iterator[WordMatch]:
    """Yield the words in names of classes and predicates that may abbreviate a word.

    Also those of a name with these initials: GPA, DOB.
    """
    for numbers in get_schema_words(index).initials.get(word, ()):
        yield from ((number, _INITIALS_SCORE, "initials") for number in numbers)
    if len(word) < _MIN_FULL_WORD_LENGTH:
        return
    for number, short, is_known in get_schema_words(index).short.get(word[0], ()):
        if 2 <= len(short) <= len(word) - 2 or (
            len(short) == 3 and len(word) == _MIN_FULL_WORD_LENGTH
        ):
            quality = _score_abbreviation(word, short, is_known)
            if quality:
                yield number, quality, "short"


def _score_abbreviation(word: str, short: str, is_known: bool) -> float:
    """Return the quality of an abbreviation of a word, 0 if it is not one."""
    is_prefix = word.startswith(short) and len(short) >= 3
    letters = iter(word)
    if not is_prefix and (is_known or not all(letter in letters for letter in short)):
        return 0.0
    is_known = is_known or short in _load_listed_synonyms()
    if is_prefix:
        return (_KNOWN_WORD_SCORE if len(short) > 3 else 0.0) if is_known else _PREFIX_SCORE
    if is_known:
        return 0.0
    has_same_end = word[-1] == short[-1]
    skeleton = "".join(letter for letter in word[1:] if letter not in _VOWELS)
    short_skeleton = "".join(letter for letter in short[1:] if letter not in _VOWELS)
    if len(short) == 2:
        return (
            _TWO_LETTER_SCORE
            if short_skeleton and (has_same_end or skeleton.startswith(short_skeleton))
            else 0.0
        )
    has_same_start = skeleton.startswith(short_skeleton) or _remove_double_letters(
        skeleton
    ).startswith(_remove_double_letters(short_skeleton))
    return _SKELETON_SCORE if short_skeleton and (has_same_end or has_same_start) else 0.0


def _remove_double_letters(text: str) -> str:
    return "".join(b for a, b in zip(" " + text, text, strict=False) if a != b)


def find_initials(
    reading: TokenizedQuestion, at: int, free: Container[int], index: NameIndex
) -> Iterator[tuple[int, WordMatch]]:
    """Yield words of names that are the initials of words from a token on, with their positions.

    Function words between may count or not: "date of birth" is DOB or DB.

    Args:
        free: the tokens outside operators; content words must be among them.
    """
    words = reading.folded_words
    short_words = get_schema_words(index).short.get(words[at][0], ())
    short = {
        word: number for number, word, is_known in short_words if not is_known and len(word) > 2
    }
    positions = range(at, min(at + _MAX_INITIALED_WORDS, len(words)) if short else at)
    content = [position for position in positions if not reading.is_stop(position)]
    for end in content:
        if end not in free:
            return
        for initialed in {tuple(range(at, end + 1)), tuple(p for p in content if p <= end)}:
            letters = "".join(words[position][0] for position in initialed)
            if initialed[0] == at and letters in short and letters not in _load_listed_synonyms():
                for position in initialed:
                    quality = 1.0 if reading.is_stop(position) else _INITIALS_SCORE
                    yield position, (short[letters], quality, "initials")


def find_codes(
    reading: TokenizedQuestion, index: NameIndex
) -> Iterator[tuple[int, IndexedName, str]]:
    """Yield codes for words: the word's token, the name of a literal, the table of the code."""
    for at, token in enumerate(reading.tokens):
        if token.quote is None:
            for code in get_shared_words().codes:
                if token.stem in code.word_stems:
                    yield from ((at, name, code.table) for name in _find_spellings(code, index))


def _find_spellings(code: DataCode, index: NameIndex) -> Iterator[IndexedName]:
    for text in sorted(code.data_texts):
        word = index.find_word(text)
        if word is None:
            continue
        names_with_word = index.find_names(word)
        values = names_with_word[index.kinds[names_with_word] == ItemKind.VALUE]
        for number in values[np.argsort(index.lengths[values])][:_MAX_CODE_TEXTS].tolist():
            name = index.read_name(number)
            if stem_name(name.text) == (text,):
                yield name


def detect_abbreviations(reading: TokenizedQuestion, index: NameIndex) -> TokenizedQuestion:
    """Return a question with words marked that are spelt like function words, but are none."""
    # A word in capitals would be a pronoun otherwise, or is also in capitals in a name of the
    # graph, unless the question is all in capitals. Another one describes a thing: "is it *on*?".
    stated = {*_find_stated_words(reading, index)}
    candidates = (
        ()
        if reading.text.isupper()
        else (
            at
            for at, token in enumerate(reading.tokens)
            if len(token.text) > 1 and token.text.isupper() and token.quote is None
            if token.folded in reading.word_list.stop_words
        )
    )
    pronouns = get_shared_words().pronouns
    abbreviations = frozenset(
        at
        for at in candidates
        if (word := reading.tokens[at].folded) in pronouns
        or (
            (number := index.find_word(reading.tokens[at].stem)) is not None
            and _has_name_in_capitals(word, number, index)
        )
    ).union(stated)
    return replace(reading, abbreviations=abbreviations) if abbreviations else reading


def quote_function_words(reading: TokenizedQuestion, index: NameIndex) -> TokenizedQuestion:
    """Return a question with names made of function words as if in quotes: "Who directed Her?"."""
    # The words are those of a name of the graph, with its capitals, after the first word.
    tokens, number = [*reading.tokens], len(reading.tokens)
    is_function_word = [reading.is_stop(at) for at in range(number)]
    for phrase in find_phrases(reading.folded_words, index):
        run = range(phrase.first, phrase.end)
        if run[0] == 0 or not all(is_function_word[at] and tokens[at].quote is None for at in run):
            continue
        if not (tokens[run[0]].is_capitalized and tokens[run[-1]].is_capitalized):
            continue
        text = reading.text[tokens[run[0]].start : tokens[run[-1]].end]
        if len(text) > 1 and any(
            name.text == text and name.kind in (ItemKind.ENTITY, ItemKind.VALUE)
            for name in phrase.names
        ):
            tokens[run[0] : run[-1] + 1] = [
                replace(tokens[at], quote=number + run[0]) for at in run
            ]
    return reading if tokens == [*reading.tokens] else replace(reading, tokens=tuple(tokens))


def space_names(reading: TokenizedQuestion, index: NameIndex) -> TokenizedQuestion:
    """Split words of a script without spaces around the names of the graph; the text stays."""
    fillers = "|".join(get_shared_words().endings["unspaced"])
    text = reading.text

    def split_run(match: re.Match[str]) -> str:
        run, start, pieces = match[0], 0, [""]
        while start < len(run) <= _MAX_UNSPACED_RUN_LENGTH:
            ends = range(min(len(run), start + _MAX_UNSPACED_NAME_LENGTH), start + 1, -1)
            end = next(
                (end for end in ends if is_full_name(fold_word(run[start:end]), index)), start
            )
            if end > start:
                pieces += [run[start:end], ""]
            else:
                end = start + 1
                pieces[-1] += run[start]
            start = end
        pieces[::2] = [re.sub(fillers, " ", piece) for piece in pieces[::2]]
        return run if len(pieces) == 1 else " ".join(pieces).strip()

    spaced = text if text.isascii() else UNSPACED_RUN_PATTERN.sub(split_run, text)
    if spaced == text:
        return reading
    spaced_reading, end, tokens = tokenize(spaced, reading.language), 0, []
    for token in spaced_reading.tokens:
        start = text.index(token.text, end)
        end = start + len(token.text)
        tokens.append(replace(token, start=start, end=end))
    return replace(spaced_reading, text=text, tokens=tuple(tokens))


def _find_stated_words(reading: TokenizedQuestion, index: NameIndex) -> Iterator[int]:
    """Yield the function words in the place of a predicate, or of a verb that names a property."""
    # A predicate is the last word after "are" ("which lamps are on?") or in a question that begins
    # with "is"; it is a preposition or names anything. A verb is the last word in a question with
    # "does", or next to it ("who does not know Vera?").
    words, last = reading.folded_words, len(reading.tokens) - 1
    being, doing = reading.word_list.yes_or_no["being"], reading.word_list.yes_or_no["doing"]
    negations = {phrase[0] for phrase in reading.word_list.operators["not"] if len(phrase) == 1}
    for at in range(1, last + 1):
        if words[at] not in reading.word_list.stop_words:
            continue
        before = words[at - 2 : at] if words[at - 1] in negations else words[at - 1 : at]
        if not doing.isdisjoint(words[:at] if at == last else before):
            if is_full_name(reading.tokens[at].stem, index, ItemKind.PREDICATE):
                yield at
        elif at == last > 1 and not being.isdisjoint((words[0], *before)):
            is_preposition = words[at] in reading.word_list.clauses["restrict"]
            is_stated = is_preposition and not being.isdisjoint(before)
            if is_stated or is_full_name(reading.tokens[at].stem, index):
                yield at


def find_spelling_variants(token: QuestionToken, index: NameIndex) -> Iterator[int]:
    """Yield words of names that an abbreviation may match: with dots, or a letter more or less."""
    # US matches U.S. and USA, if these are in capitals.
    if not 1 < len(token.folded) <= _MAX_ABBREVIATION_LENGTH or not token.text.isupper():
        return
    if "." in token.text:
        letters = [index.find_word(letter) for letter in token.folded]
        yield from (letter for letter in letters if letter is not None)
    word, words = token.folded, index.sorted_tokens
    longer = words[bisect_left(words, word) : bisect_left(words, word + _AFTER_LETTERS)]
    for candidate in (word[:-1], *longer):
        if 1 < len(candidate) <= len(word) + 1 and candidate != word:
            number = index.vocabulary.get(candidate)
            if number is not None and _has_name_in_capitals(candidate, number, index):
                yield number


def _has_name_in_capitals(word: str, number: int, index: NameIndex) -> bool:
    names = (
        index.read_name(at).text for at in index.find_names(number)[:_MAX_INSPECTED_NAMES].tolist()
    )
    return any(word.upper() in _WORD.findall(name) for name in names)
