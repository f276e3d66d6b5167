"""Examples whose questions are like a question: what few-shot prompts and tools choose from."""

from collections.abc import Sequence
from random import Random

from rapidfuzz import fuzz, process

from askgraph.index.tokens import stem, tokens
from askgraph.metadata.examples import QueryExample

__all__ = ["random_examples", "similar_examples"]


def similar_examples(
    question: str, examples: Sequence[QueryExample], *, limit: int = 3
) -> list[tuple[QueryExample, float]]:
    """Return the examples most similar to a question, with a similarity between 0 and 1.

    Similarity is by characters: half of it of the words in their order, half of the words that both
    have, whatever their order. Equal ones stay in the order given.
    """
    if not examples:
        return []
    wanted = _plain(question)
    texts = [_plain(example.question) for example in examples]
    ordered, shared = (
        process.cdist([wanted], texts, scorer=scorer)[0].tolist()
        for scorer in (fuzz.ratio, fuzz.token_set_ratio)
    )
    scores = [
        1.0 if text == wanted else (one + other) / 200
        for text, one, other in zip(texts, ordered, shared, strict=True)
    ]
    best = sorted(range(len(examples)), key=lambda at: -scores[at])[:limit]
    return [(examples[at], scores[at]) for at in best]


def random_examples(
    question: str, examples: Sequence[QueryExample], *, limit: int = 3
) -> list[QueryExample]:
    """Return some of the examples by chance; the same ones for the same question."""
    return Random(question).sample(list(examples), min(limit, len(examples)))


def _plain(text: str) -> str:
    return " ".join(stem(token) for token in tokens(text)) or text
