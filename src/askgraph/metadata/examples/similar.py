"""Examples whose questions are like a question, for few-shot prompts and tools."""

import unicodedata
from collections.abc import Sequence
from random import Random

from rapidfuzz import fuzz, process

from askgraph.index.tokens import stem, tokens
from askgraph.metadata.examples import QueryExample


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


_QUOTES = str.maketrans("‘’‚“”„«»`´", "'''\"\"\"\"\"''")


def confirmed_repeat(
    question: str, language: str | None, examples: Sequence[QueryExample]
) -> QueryExample | None:
    """Return the confirmed example of the same question, the one confirmed last of several.

    Questions are the same if their words are, in one order and one language; letter case, white
    space, the kind of quotation marks and the punctuation at the end do not count. A question that
    is only similar is another one. A language that is not known may be any.
    """
    wanted = plain_question(question)
    found = [
        example
        for example in examples
        if example.origin == "confirmed"
        and any(
            plain_question(wording.text) == wanted and same_language(language, wording.language)
            for wording in example.wordings
        )
    ]
    return max(found, key=_confirmed_when, default=None)


def plain_question(text: str) -> str:
    """Return a question as it is compared with others, the same for all its spellings."""
    folded = unicodedata.normalize("NFKC", text).casefold().translate(_QUOTES)
    return " ".join(folded.split()).rstrip(" ?!.。？！؟;…").lstrip("¿¡ ")


def same_language(one: str | None, other: str | None) -> bool:
    """Return whether two tags are of one language, whatever its region; unknown may be any."""
    bases = [tag.lower().partition("-")[0] for tag in (one, other) if tag]
    return len(set(bases)) < 2


def _confirmed_when(example: QueryExample) -> str:
    return example.confirmation.when if example.confirmation else ""
