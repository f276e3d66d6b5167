"""Queries of a writer run one after the other, and what comes of them: an answer or a refusal.

What fails and what is empty is no answer (Alekseev et al., NLDB 2025, section 4.4).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from askgraph.errors import QueryError, ServiceError, Unauthorised, Unreachable
from askgraph.sparql.results import GraphResult, SelectResult
from askgraph.tools import Context
from askgraph.tools.answered import built_answer
from askgraph.tools.running import Ran, ready, run
from askgraph.trace import Answer, Refusal
from askgraph.writing import Hypothesis

__all__ = ["Tried", "chosen_of", "tried"]

_UNSAID = 0.6  # what is believed of a query whose writer does not say
_PASSED = 0.8  # what is left of that for each query before it


@dataclass(frozen=True)
class Tried:
    """A query that was run: what it gave, or why it failed, and what is believed of it (0–1)."""

    query: str
    result: SelectResult | bool | None
    belief: float
    problem: str = ""

    @property
    def full(self) -> bool:
        """Whether it has a result that is not empty."""
        return isinstance(self.result, bool) or bool(self.result and self.result.rows)


async def tried(context: Context, one: Hypothesis, place: int, *, rows: int) -> Tried:
    """Run a query; a failed one says why. Raises `ServiceError` where the graph is down."""
    belief = min(1.0, math.exp(one.score)) if one.score is not None else _UNSAID * _PASSED**place
    try:
        ran = await run(context, ready(context, one.query).query, rows=rows)
    except (Unreachable, Unauthorised):
        raise
    except (QueryError, ServiceError) as error:
        return Tried(one.query, None, belief, str(error))
    if isinstance(ran.result, GraphResult):
        return Tried(one.query, None, belief, "it gives triples, and an answer is rows or yes, no")
    return Tried(ran.query, ran.result, belief)


async def chosen_of(
    context: Context, runs: Sequence[Tried], *, answer_from: float
) -> Answer | Refusal:
    """Return the answer of the last run, if it has a result and is believed enough.

    Else a refusal that says why, with the first query that ran as the best attempt.
    """
    ran = [one for one in runs if one.result is not None]
    if not ran:
        return Refusal(f"No query could be run: {runs[0].problem}")
    best = next((one for one in ran if one.full), ran[0])
    assert best.result is not None
    answer = await built_answer(context, Ran(best.query, best.result), confidence=best.belief)
    if not best.full:
        failed = [one.problem for one in runs if one.problem]
        said = f" {len(failed)} failed, the first: {failed[0]}" if failed else ""
        return Refusal(f"No query has a result.{said}", answer)
    if best.belief < answer_from:
        return Refusal("No query is sure enough; the nearest one is shown.", answer)
    return answer
