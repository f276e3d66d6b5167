"""Rejection of answers: the wrong ones that it catches, the right ones that it loses.

Punishes wrong answers that are given and right ones that are held back, each in a figure of its
own: who rejects everything catches all wrong answers and loses all right ones. Does not punish how
wrong an answer is.

The share caught is the measure of Alekseev et al. (NLDB 2025), section 7, table 6, which leaves out
the share lost.
"""

from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["Rejection", "rejection"]


@dataclass(frozen=True)
class Rejection:
    """Counts of wrong and right answers, and of those among them that were rejected."""

    wrong: int
    wrong_rejected: int
    right: int
    right_rejected: int

    @property
    def caught(self) -> float | None:
        """The share of the wrong answers that was rejected; `None` if none was wrong."""
        return self.wrong_rejected / self.wrong if self.wrong else None

    @property
    def lost(self) -> float | None:
        """The share of the right answers that was rejected; `None` if none was right."""
        return self.right_rejected / self.right if self.right else None


def rejection(answers: Iterable[tuple[bool, bool]]) -> Rejection:
    """Count answers, each given as (was it rejected, would it have been right)."""
    pairs = list(answers)
    wrong = [rejected for rejected, was_right in pairs if not was_right]
    right = [rejected for rejected, was_right in pairs if was_right]
    return Rejection(len(wrong), sum(wrong), len(right), sum(right))
