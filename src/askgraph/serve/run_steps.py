"""The steps of a question that runs here, for readers who translate them into another protocol."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

import anyio

from askgraph.errors import ServiceError
from askgraph.serve.hub import Hub
from askgraph.serve.problems import Failed, Problem
from askgraph.serve.runs import Run
from askgraph.trace import Step

__all__ = ["steps_read"]


async def steps_read(hub: Hub, run: Run) -> AsyncGenerator[Step, None]:
    """Yield the steps of a run up to its outcome; closed early, the run is stopped.

    Raises `Failed` with the problem of a run that failed, `ServiceError` where it was stopped.
    """
    told = 0
    try:
        async with aclosing(hub.runs.read(run)) as events:
            async for event in events:
                match event["event"]:
                    case "step":
                        yield run.steps[told]
                        told += 1
                    case "outcome":
                        yield run.steps[-1]
                    case "problem":
                        raise Failed(Problem.model_validate(event["problem"]))
                    case "cancelled":
                        raise ServiceError("the question was stopped before it came to an end")
                    case "handed_back":
                        raise ServiceError("this server shuts down: ask the question again")
    finally:
        if not run.events.ended:
            with anyio.CancelScope(shield=True):
                await hub.runs.cancel(run.id)
