"""A confidence in words, for people who do not think in probabilities."""

__all__ = ["confidence_in_words"]

_WORDS = ((0.85, "sure"), (0.6, "fairly sure"), (0.35, "unsure"), (0.0, "a guess"))


def confidence_in_words(confidence: float) -> str:
    """Return a confidence between 0 and 1 as words and a number."""
    words = next(words for least, words in _WORDS if confidence >= least)
    return f"{words} ({confidence:.2f})"
