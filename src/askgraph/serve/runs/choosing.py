"""A question back is answered: the reading that the caller chose, as a run of its own."""

import asyncio
import time

from askgraph.answers.build import chosen_answer
from askgraph.errors import SetupError
from askgraph.serve.hub import Hub
from askgraph.serve.identity.principal import Principal
from askgraph.serve.runs.asking import Asked
from askgraph.serve.views.runs import RunView
from askgraph.trace import Clarification, Trace

__all__ = ["chosen"]


async def chosen(hub: Hub, id: str, option: int, caller: Principal) -> RunView:
    """Return a new run whose answer is the reading at a place in the options of another run.

    Raises `SetupError` where the run asked nothing back, or had no such option; `QueryError` and
    `ServiceError` where the reading's query fails.
    """
    row = await hub.kept.own(id, caller)
    trace, head, outcome = await hub.kept.outcome(id, caller)
    if not isinstance(outcome, Clarification):
        raise SetupError(f"question {id!r} asked nothing back: there is nothing to choose")
    if option >= len(outcome.options):
        raise SetupError(
            f"there is no option {option}: choose one from 0 to {len(outcome.options) - 1}"
        )
    graph = outcome.best.graph if outcome.best else row.graphs[0]
    began = time.perf_counter()
    languages = [row.language] if row.language else []
    async with hub.graphs.lease(graph, caller) as opened, hub.queries.turn(graph):
        answer = await chosen_answer(
            outcome.options[option],
            outcome,
            opened,
            languages=languages,
            timeout=hub.settings.query_timeout,
            limit=hub.settings.max_rows,
        )
    asked = Asked(
        trace.question,
        row.graphs,
        row.method,
        row.model,
        dict(row.settings),
        row.session or "",
        after=row.after,
    )
    now = Trace(trace.question, trace.method, (*trace.steps[:-1], answer))

    async def kept() -> RunView:
        new = await hub.kept.begin(asked, caller, "running")
        await hub.kept.ended(new, "done", now, head, seconds=round(time.perf_counter() - began, 6))
        return await hub.kept.view(new, caller)

    # A caller who goes away in the middle leaves no run that never ends.
    return await asyncio.shield(asyncio.create_task(kept()))
