"""Whether a question is one that was asked and confirmed before, word for word."""

import unicodedata
from collections.abc import Sequence

from askgraph.metadata.examples import QueryExample

__all__ = ["confirmed_repeat", "plain_question", "same_language"]

_QUOTES = str.maketrans("‘’‚“”„«»`´", "'''\"\"\"\"\"''")


def confirmed_repeat(
    question: str, language: str | None, examples: Sequence[QueryExample]
) -> QueryExample | None:
    """Return the confirmed example of the same question, the one confirmed last of several.

    Questions are the same where their words are, in one order and one language; letter case, white
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
    """Return a question as it is compared with others: what the same questions have in common."""
    folded = unicodedata.normalize("NFKC", text).casefold().translate(_QUOTES)
    return " ".join(folded.split()).rstrip(" ?!.。？！؟;…").lstrip("¿¡ ")


def same_language(one: str | None, other: str | None) -> bool:
    """Whether two language tags are of one language, whatever its region; unknown may be any."""
    bases = [tag.lower().partition("-")[0] for tag in (one, other) if tag]
    return len(set(bases)) < 2


def _confirmed_when(example: QueryExample) -> str:
    return example.confirmation.when if example.confirmation else ""
