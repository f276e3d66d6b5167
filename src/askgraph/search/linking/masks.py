"""Masks of questions: operators and function words in their order, whatever is asked about."""

from collections import Counter
from functools import lru_cache

from rapidfuzz.distance import Indel

from askgraph.search.linking import Reading, read
from askgraph.search.linking.word_lists import Measure

_THING, _NUMBER, _QUOTED = "_", "<number>", "<quoted>"


@lru_cache(maxsize=65_536)
def question_form(text: str, language: str | None = None) -> tuple[str, ...]:
    """Return what is left of a question when the things that it names are taken away.

    Words of an operator become its name in capitals, comparatives and superlatives their degree
    and direction, numbers and quotations one placeholder each, and a run of other content words
    `_`. Function words stay.

    >>> question_form("How many moons are larger than Europa?")
    ('COUNT', '_', 'are', 'MORE_THAN', '_')
    """
    reading = read(text, language)
    found: list[str] = []
    at = 0
    while at < len(reading.tokens):
        piece, length = _piece(reading, at)
        if piece not in (_THING, _QUOTED) or found[-1:] != [piece]:
            found.append(piece)
        at += length
    return tuple(found)


def form_likeness(one: tuple[str, ...], other: tuple[str, ...]) -> float:
    """Return how alike two forms are, between 0 and 1.

    Half of it is the share of the pieces that stand in both in the same order, half the share of
    operators and placeholders for values that both have, however placed.
    """
    mine, theirs = _operators(one), _operators(other)
    all_, both = (mine | theirs).total(), (mine & theirs).total()
    shared = both / all_ if all_ else 1.0
    return (Indel.normalized_similarity(one, other) + shared) / 2


def _piece(reading: Reading, at: int) -> tuple[str, int]:
    """What stands for the words from a place on, and how many these are."""
    token = reading.tokens[at]
    if token.quote is not None:
        return _QUOTED, 1
    operator, length = _operator(reading, at)
    degree = _degree(reading, at)
    if degree is not None and len(degree.phrase) >= length:
        return degree.degree.upper() + ("+" if degree.up else "-"), len(degree.phrase)
    if operator:
        return operator.upper(), length
    if token.text[0].isdigit():
        return _NUMBER, 1
    return (token.folded if reading.is_stop(at) else _THING), 1


def _operator(reading: Reading, at: int) -> tuple[str, int]:
    for phrase, name in reading.words.phrases.get(reading.tokens[at].folded, ()):
        opens = name != "exists" or not at  # "is" and "did" ask for yes or no at the start only
        if opens and reading.says(phrase, at):
            return name, len(phrase)
    return "", 0


def _degree(reading: Reading, at: int) -> Measure | None:
    for measure in reading.words.adjectives.get(reading.tokens[at].folded, ()):
        if measure.degree != "plain" and reading.says(measure.phrase, at):
            return measure
    return None


def _operators(form: tuple[str, ...]) -> Counter[str]:
    return Counter(piece for piece in form if piece.isupper() or piece in (_NUMBER, _QUOTED))
