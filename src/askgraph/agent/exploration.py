"""The course of every run in which a model explores graphs: opened, taken turn by turn, ended."""

import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Protocol

from askgraph.agent.attempts import Attempts, ending
from askgraph.agent.conversation import Conversation, spent_on
from askgraph.errors import BudgetSpent, ServiceError
from askgraph.trace import Answer, Refusal, Step, ToolUse

__all__ = ["Explorer", "explored"]


class Explorer(Protocol):
    """How a method explores: what it looks up first, what it tells the model, its turns."""

    attempts: Attempts
    outcome: Answer | Refusal | None

    async def opening(self) -> Sequence[ToolUse]:
        """Look up what the model is shown first."""
        ...

    def conversation(self, uses: Sequence[ToolUse]) -> Conversation:
        """Return the conversation as it begins, with what was looked up."""
        ...

    def turns(self, talk: Conversation) -> AsyncGenerator[Step, None]:
        """Take turns until `outcome` is set, or nothing more can be hoped for."""
        ...


async def explored(explorer: Explorer) -> AsyncGenerator[Step, None]:
    """Give all steps of a run; the last is its outcome, with what everything has cost.

    Where the budget ends, the model's server fails or no turn brought an outcome, it is the best
    attempt so far, or a refusal that says why. Raises `SetupError` as model and tools do, and
    `ServiceError` where the server fails before the model said anything: what graph search alone
    makes of a question must not pass for what a model made of it.
    """
    started = time.perf_counter()
    attempts = explorer.attempts
    uses = await explorer.opening()
    for use in uses:
        attempts.note(use)
        yield use
    talk = explorer.conversation(uses)
    yield talk.prompt("question")
    why = "the model came to no answer"
    try:
        async with aclosing(explorer.turns(talk)) as turns:
            async for step in turns:
                yield step
    except BudgetSpent as problem:
        why = str(problem)
    except ServiceError as problem:
        if not talk.choices:
            raise
        why = str(problem)
    outcome: Answer | Refusal | None = explorer.outcome
    if outcome is None:
        fallback = await ending(attempts, why)
        outcome = fallback.outcome
        for use in fallback.uses:
            yield use
    seconds = time.perf_counter() - started
    usage = spent_on(talk.account, seconds=seconds, requests=attempts.toolbox.requests)
    yield replace(outcome, usage=usage)
