"""The keyword ranking for texts that are in no index: values and nodes that a query gave.

As `askgraph.index.keyword` ranks names: a keyword that is a word of a text counts 1, one that
begins a word 0.75. Where no text holds any, a word that differs by one letter counts 0.5.
"""

from collections.abc import Sequence

from rapidfuzz.distance import Levenshtein

from askgraph.index.tokens import folded, tokens

__all__ = ["keyword_scores"]

_PREFIX = 0.75
_MISTYPED = 0.5
_SHORTEST_MISTYPED = 4


def keyword_scores(search: str, texts: Sequence[Sequence[str]]) -> list[float]:
    """Return for each thing the score of the best of its texts; 0 where nothing matches."""
    keywords = tuple(dict.fromkeys(_words(search)))
    scores = [max((_score(keywords, text) for text in own), default=0.0) for own in texts]
    if any(scores):
        return scores
    return [max((_near(keywords, text) for text in own), default=0.0) for own in texts]


def _words(text: str) -> tuple[str, ...]:
    return tokens(text) or tuple(folded(text).split())


def _score(keywords: Sequence[str], text: str) -> float:
    words = _words(text)
    return sum(_counted(keyword, words) for keyword in keywords)


def _counted(keyword: str, words: Sequence[str]) -> float:
    if keyword in words:
        return 1.0
    # A script without spaces has a sentence for a word: any part of it may be meant.
    inside = not keyword.isascii()
    begun = any(word.startswith(keyword) or (inside and keyword in word) for word in words)
    return _PREFIX if begun else 0.0


def _near(keywords: Sequence[str], text: str) -> float:
    words = _words(text)
    return sum(
        _MISTYPED
        for keyword in keywords
        if len(keyword) >= _SHORTEST_MISTYPED
        and any(Levenshtein.distance(keyword, word, score_cutoff=1) <= 1 for word in words)
    )
