"""Examples whose questions are like a question: what few-shot prompts and tools choose from."""

from collections.abc import Sequence
from random import Random

from rapidfuzz import fuzz, process

from askgraph.index.tokens import stem, tokens
from askgraph.metadata.examples import QueryExample

__all__ = ["random_examples", "similar_examples", "similarities"]


def similar_examples(
    question: str, examples: Sequence[QueryExample], *, limit: int = 3
) -> list[tuple[QueryExample, float]]:
    """Return the examples most similar to a question, with their `similarities`.

    Of several wordings that of the nearest counts. Equal ones stay in the order given.
    """
    owners = [at for at, example in enumerate(examples) for _ in example.wordings]
    texts = [wording.text for example in examples for wording in example.wordings]
    scores = [0.0] * len(examples)
    for owner, score in zip(owners, similarities(question, texts), strict=True):
        scores[owner] = max(scores[owner], score)
    best = sorted(range(len(examples)), key=lambda at: -scores[at])[:limit]
    return [(examples[at], scores[at]) for at in best]


def similarities(question: str, texts: Sequence[str]) -> list[float]:
    """Return how similar a question is to each text, between 0 and 1.

    Similarity is by characters: half of it of the words in their order, half of the words that both
    have, whatever their order. A text with the same words has 1.
    """
    if not texts:
        return []
    wanted, plain = _plain(question), [_plain(text) for text in texts]
    ordered, shared = (
        process.cdist([wanted], plain, scorer=scorer)[0].tolist()
        for scorer in (fuzz.ratio, fuzz.token_set_ratio)
    )
    return [
        1.0 if text == wanted else (one + other) / 200
        for text, one, other in zip(plain, ordered, shared, strict=True)
    ]


def random_examples(
    question: str, examples: Sequence[QueryExample], *, limit: int = 3
) -> list[QueryExample]:
    """Return some of the examples by chance; the same ones for the same question."""
    return Random(question).sample(list(examples), min(limit, len(examples)))


def _plain(text: str) -> str:
    return " ".join(stem(token) for token in tokens(text)) or text
