"""Answering one question in this process: the graphs that it needs are lent, its steps told."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass, field

from askgraph.methods import searches
from askgraph.server.graphs.graph_pool import Shelf, Verified
from askgraph.server.runs.request import RunRequest
from askgraph.trace import Step
from askgraph.trace.codec import Head
from askgraph.workspace import Workspace
from askgraph.workspace.graphs import only_services
from askgraph.workspace.models import Models
from askgraph.workspace.outcome import head_of, steps_of

Told = Head | Step
"""What is told of a run: how it is set up, then its steps, the last of which is the outcome."""


@dataclass(frozen=True)
class Job:
    """A question with what the server knows: verified answers, what may be reached, seconds.

    `services` are the graphs that a SERVICE may reach, None for all; `span` are the headers of the
    span of telemetry that its work belongs to.
    """

    asked: RunRequest
    timeout: float
    verified: Mapping[str, Verified] = field(default_factory=dict)
    services: frozenset[str] | None = None
    span: Mapping[str, str] = field(default_factory=dict)


class Answering:
    """Answers questions over the graphs of a workspace, many at a time."""

    def __init__(self, workspace: Workspace, shelf: Shelf, models: Models) -> None:
        self._workspace, self._shelf, self._models = workspace, shelf, models

    async def told(self, job: Job) -> AsyncGenerator[Told, None]:
        """Tell a question's head and steps; whoever stops reading closes it, which ends the work.

        Raises what making the method, opening the graphs and answering raise, and `TimedOut`.
        """
        asked = job.asked
        method = await asyncio.to_thread(asked.made, self._workspace, self._models)
        async with AsyncExitStack() as held:
            lent = (
                self._shelf.lease(
                    name, job.verified.get(name, Verified()), searched=searches(method)
                )
                for name in dict.fromkeys(asked.graphs)
            )
            graphs = tuple([await held.enter_async_context(one) for one in lent])
            yield head_of(method, graphs)
            with only_services(job.services):
                steps = steps_of(asked.question, method, graphs, timeout=job.timeout)
                async with aclosing(steps):
                    async for step in steps:
                        yield step

    async def each(self, job: Job) -> None:
        """Answer a question, so that its graphs are open."""
        async with aclosing(self.told(job)) as steps:
            async for _ in steps:
                pass

    def left_alone(self) -> int:
        """Return how many models are left alone, as their servers have just failed."""
        return len(self._models.left_alone())

    async def forget(self, name: str) -> None:
        """Let go of a graph that was removed or replaced."""
        await self._shelf.forget([name])

    async def close(self) -> None:
        """Do nothing: who made the parts closes them."""
