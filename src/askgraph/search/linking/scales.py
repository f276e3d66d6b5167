"""Adjectives that no list has, as the lexicon knows them: shallower, the most profitable.

An adjective lies on a scale that a noun names, with a direction. It is an operator only if the
graph's own names have a noun of its scale.
"""

from collections.abc import Iterator

from askgraph.index.names import NameIndex
from askgraph.search.linking.lexicon import LANGUAGE, relatives
from askgraph.search.linking.schema_words import schema_words
from askgraph.search.linking.text import Reading
from askgraph.search.linking.word_lists import Measure

_LEAST = 0.3
"""The weight below which a noun is not that of the scale."""


def scales(reading: Reading, index: NameIndex) -> Iterator[tuple[int, Measure]]:
    """Yield comparatives and superlatives of a question that its lists lack, with their places."""
    if reading.language != LANGUAGE:
        return
    for at in range(len(reading.tokens)):
        for degree, adjective, last, up in _degrees(reading, at):
            measure = _measure(reading, at, last, degree, adjective, up, index)
            if measure is not None:
                yield at, measure


def _degrees(reading: Reading, at: int) -> Iterator[tuple[str, str, int, bool]]:
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


def _measure(
    reading: Reading, at: int, last: int, degree: str, adjective: str, up: bool, index: NameIndex
) -> Measure | None:
    schema = schema_words(index).numbers
    nouns = [
        one
        for one in relatives(adjective)
        if one.how in ("more", "less")
        and one.weight >= _LEAST
        and index.word_id(one.words[0]) in schema
    ]
    if not nouns:
        return None
    way = nouns[0].how
    measures = tuple(one.words[0] for one in nouns if one.how == way)
    phrase = reading.folded[at : last + 1]
    return Measure(phrase, degree, up == (way == "more"), measures, ())
