"""A question that follows others in the same conversation."""

from askgraph.errors import SetupError
from askgraph.trace import Answer, Earlier, Outcome, Question

__all__ = ["attempt_of", "follow_up"]


def attempt_of(outcome: Outcome) -> Answer | None:
    """Return the answer, or the best attempt of a refusal or question back that has one."""
    return outcome if isinstance(outcome, Answer) else outcome.best


def follow_up(
    text: str, earlier: Question, outcome: Outcome, *, language: str | None = None
) -> Question:
    """Return a question that comes after another one, of which `outcome` came.

    What was asked before that one comes before it, too. Raises `SetupError` where the outcome has
    no query: then there is nothing to refer to.
    """
    attempt = attempt_of(outcome)
    if attempt is None:
        raise SetupError(
            f"nothing can be asked after {earlier.text!r}: it came to no query. Ask on its own"
        )
    before = (*earlier.before, Earlier(earlier.text, attempt.query))
    return Question(text, language, before)
