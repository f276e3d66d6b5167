"""Executable queries: the share of the questions that got one.

Punishes questions without a query as much as queries that fail. Does not punish wrong queries, nor
those that give nothing.
"""

from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["Executable", "executable"]


@dataclass(frozen=True)
class Executable:
    """Counts of questions, of those with a query, and of those whose query ran."""

    questions: int
    queries: int
    ran: int

    @property
    def share(self) -> float | None:
        """The share of all questions whose query ran; `None` without questions."""
        return self.ran / self.questions if self.questions else None


def executable(outcomes: Iterable[tuple[str | None, bool]]) -> Executable:
    """Count questions, each given as (its query or `None`, whether that ran)."""
    pairs = list(outcomes)
    queries = [ran for query, ran in pairs if query is not None]
    return Executable(len(pairs), len(queries), sum(queries))
