"""The outbox: ends of runs until the store has them; those it did not take are tried again."""

from collections.abc import Sequence
from dataclasses import dataclass

from askgraph.serve.middleware.masking import masked_lines, masked_value, without
from askgraph.serve.problems import Problem
from askgraph.serve.runs.views import State, answer_view
from askgraph.serve.store import Json, Store
from askgraph.trace import Trace, spent
from askgraph.trace.lines import Head, trace_text


@dataclass(frozen=True)
class Ending:
    """The end of a run as the store keeps it: without secrets."""

    id: str
    state: State
    status: str | None
    answer: Json | None
    trace: str
    problem: Json | None
    seconds: float
    tokens: int
    money: float


class Outbox:
    """Gives the ends of runs to the store; a run whose end is not there counts as under way."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._waiting: dict[str, Ending] = {}

    async def keep(self, ending: Ending) -> None:
        """Keep the end of a run; if the store fails, which is raised, `again` will."""
        self._waiting[ending.id] = ending
        await self._give(ending)

    async def again(self) -> None:
        """Keep the ends that could not be kept; `ServiceError` if the store fails still."""
        for ending in list(self._waiting.values()):
            await self._give(ending)

    async def _give(self, ending: Ending) -> None:
        await self._store.finish_run(**vars(ending))
        self._waiting.pop(ending.id, None)


def ending_of(
    run: str,
    state: State,
    trace: Trace,
    head: Head,
    *,
    problem: Problem | None,
    seconds: float,
    rows: int,
    secrets: Sequence[str],
) -> Ending:
    """Return the end of a run, with at most `rows` of its answer and without `secrets`.

    Nothing else is masked in an answer: text that looks like a secret there is data of a graph.
    """
    outcome = trace.outcome if state == "done" else None
    answer = answer_view(outcome, limit=rows).model_dump() if outcome else None
    usage = spent(trace.steps)
    return Ending(
        run,
        state,
        answer["status"] if answer else None,
        {key: without(value, secrets) for key, value in answer.items()} if answer else None,
        masked_lines(trace_text(trace, head), secrets),
        _masked(problem, secrets),
        seconds,
        usage.input_tokens + usage.output_tokens,
        usage.money,
    )


def _masked(problem: Problem | None, secrets: Sequence[str]) -> Json | None:
    if problem is None:
        return None
    told = problem.model_dump()
    return {**told, "detail": masked_value(told["detail"], secrets)}
