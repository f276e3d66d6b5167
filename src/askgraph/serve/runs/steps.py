"""The steps of a question that runs here, for readers who translate them into another protocol."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

import anyio

from askgraph.serve.hub import Hub
from askgraph.serve.problems import Failed, Problem
from askgraph.serve.runs.lifecycle import Run
from askgraph.trace import Step, Thought

__all__ = ["steps_read"]


def steps_read(hub: Hub, run: Run) -> AsyncGenerator[Step, None]:
    """Yield the steps of a run up to its outcome; closed early, the run is stopped.

    Before them, its places in the line where it has to wait, as thoughts.

    Raises `Failed` with the problem of a run that failed or was stopped.
    """
    return _steps(hub, run, run.steps)  # this list, which a run that has ended lets go of


async def _steps(hub: Hub, run: Run, steps: list[Step]) -> AsyncGenerator[Step, None]:
    told = 0
    try:
        async with aclosing(hub.runs.read(run)) as events:
            async for event in events:
                match event["event"]:
                    case "queued":
                        yield Thought(_waiting(event["ahead"]))
                    case "step":
                        yield steps[told]
                        told += 1
                    case "outcome":
                        yield steps[-1]
                    case "problem":
                        raise Failed(Problem.model_validate(event["problem"]))
                    case "cancelled" | "handed_back":
                        raise Failed(Problem.stopped())
    finally:
        if not run.events.ended:
            with anyio.CancelScope(shield=True):
                await hub.runs.cancel(run.id)


def _waiting(ahead: object) -> str:
    return "waits: one question is before it" if ahead == 1 else f"waits: {ahead} are before it"
