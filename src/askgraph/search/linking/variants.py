"""Variants of a question's tokens: those of the names that they may stand for, and how well.

A word matches itself and its plural; a typing error of one letter; a longer or shorter word of the
same root; a synonym; two words written as one or one as two; and, in names of predicates and
classes, an abbreviation ("stuid" for "student id").
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rapidfuzz.distance import OSA
from rapidfuzz.process import extract

from askgraph.index.names import NameIndex
from askgraph.search.linking.text import Reading, Token
from askgraph.search.linking.word_lists import shared_words

_EXACT, _JOINED, _TYPO, _SYNONYM, _SHORT = 1.0, 0.95, 0.8, 0.75, 0.8
_ROOT = 5
_LONGEST = 60


@dataclass(frozen=True)
class Variant:
    """A token of the vocabulary that the question's token may stand for."""

    position: int
    word: int
    quality: float
    how: str  # exact, joined, split, root, typo, synonym, short


def variants(reading: Reading, index: NameIndex) -> list[Variant]:
    """Return all variants of all tokens of a question."""
    words = list(index.vocabulary)
    found: list[Variant] = []
    for at, token in enumerate(reading.tokens):
        exact = list(_exact(at, token, index))
        found += exact
        found += _joined(reading.tokens, at, index)
        if reading.is_stop(at) or not token.folded[0].isalpha() or len(token.folded) > _LONGEST:
            continue
        found += _synonyms(at, token, reading, index)
        found += _shortened(reading, at, index)
        alike = list(_same_root(at, token, words, index))
        found += alike
        if not exact:
            found += _split(at, token, index)
            if not alike:
                found += _typos(at, token, words)
    return found


def _exact(at: int, token: Token, index: NameIndex) -> Iterator[Variant]:
    word = index.word_id(token.stem)
    if word is not None:
        yield Variant(at, word, _EXACT, "exact")


def _joined(tokens: Sequence[Token], at: int, index: NameIndex) -> Iterator[Variant]:
    """Two words of the question that a name writes as one."""
    if at + 1 >= len(tokens):
        return
    word = index.word_id(tokens[at].folded + tokens[at + 1].stem)
    if word is not None and len(tokens[at].folded) > 1:
        yield Variant(at, word, _JOINED, "joined")
        yield Variant(at + 1, word, _JOINED, "joined")


def _split(at: int, token: Token, index: NameIndex) -> Iterator[Variant]:
    """One word of the question that a name writes as two."""
    for cut in range(3, len(token.stem) - 2):
        first, second = index.word_id(token.stem[:cut]), index.word_id(token.stem[cut:])
        if first is not None and second is not None:
            yield Variant(at, first, _JOINED, "split")
            yield Variant(at, second, _JOINED, "split")


def _synonyms(at: int, token: Token, reading: Reading, index: NameIndex) -> Iterator[Variant]:
    for other in reading.words.synonyms.get(token.stem, ()):
        word = index.word_id(other)
        if word is not None:
            yield Variant(at, word, _SYNONYM, "synonym")


def _shortened(reading: Reading, at: int, index: NameIndex) -> Iterator[Variant]:
    """Two words of which a name keeps the first letters of one, and the other whole."""
    following = at + 1
    if following >= len(reading.tokens) or reading.is_stop(following):
        return
    first, second = reading.tokens[at], reading.tokens[following]
    if len(second.stem) < 2 or not second.stem.isalpha():
        return
    for length in range(1, len(first.folded)):
        word = index.word_id(first.folded[:length] + second.stem)
        if word is not None:
            yield Variant(at, word, _SHORT, "short")
            yield Variant(following, word, _SHORT, "short")


def _same_root(at: int, token: Token, words: Sequence[str], index: NameIndex) -> Iterator[Variant]:
    """Words that share a long beginning: launch and launched, photo and photograph."""
    own = token.stem
    if len(own) < 4:
        return
    start = own[: min(_ROOT, len(own))]
    place = bisect_left(words, start)
    while place < len(words) and words[place].startswith(start):
        word = words[place]
        quality = _alikeness(own, word)
        if quality and word != own:
            yield Variant(at, place, quality, "root")
        place += 1
    if len(own) >= _ROOT:
        short = index.word_id(own[:4])
        if short is not None and _alikeness(own, own[:4]):
            yield Variant(at, short, _alikeness(own, own[:4]), "root")


def _alikeness(own: str, word: str) -> float:
    shared = _shared(own, word)
    left, right = len(own) - shared, len(word) - shared
    ending = own[shared:] or word[shared:]
    if min(left, right) == 0 and shared >= 4 and ending in shared_words().endings["words"]:
        return 0.95
    if shared >= _ROOT and left <= 4 and right <= 4 and shared > 0.6 * max(len(own), len(word)):
        return 0.9 - 0.05 * (left + right)
    if shared >= 4 and min(left, right) == 0 and left + right <= 3:
        return 0.8 - 0.05 * (left + right)
    if shared >= _ROOT and left == 0 and len(word) <= 2 * len(own):
        return 0.6
    if shared >= _ROOT and right == 0 and len(own) <= 2 * len(word):
        return 0.7
    return 0.0


def _typos(at: int, token: Token, words: Sequence[str]) -> Iterator[Variant]:
    if len(token.stem) < 5:
        return
    for _, _, place in extract(
        token.stem, words, scorer=OSA.distance, score_cutoff=1, limit=5, processor=None
    ):
        if len(words[place]) >= 4:
            yield Variant(at, place, _TYPO, "typo")


def _shared(one: str, other: str) -> int:
    """The number of letters that two words begin with alike."""
    for at, (first, second) in enumerate(zip(one, other, strict=False)):
        if first != second:
            return at
    return min(len(one), len(other))
