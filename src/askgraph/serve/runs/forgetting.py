"""Questions that their owner deletes: stopped first, so that what they cost still counts."""

import asyncio
import contextlib

from askgraph.serve.hub import Hub

__all__ = ["forgotten", "stopped"]

_LOOK = 0.2  # seconds between two looks at whether another process has stopped them
_MOST = 10.0  # seconds; a process that takes longer is about to be given up for dead


async def forgotten(hub: Hub, owner: str) -> int:
    """Stop and delete all questions of an owner, with the sessions; returns how many there were."""
    await stopped(hub, owner)
    return await hub.store.delete_runs(owner)


async def stopped(
    hub: Hub, owner: str, *, session: str | None = None, run: str | None = None
) -> None:
    """Stop the questions of an owner that are under way, wherever they run, and wait for that.

    All of them, or those of a session, or one. A question that is deleted while it runs would go
    on without counting against its owner's limits.
    """
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_MOST):
            for id in await hub.store.under_way(owner, session=session, run=run):
                await hub.runs.cancel(id)
            # They may end in another process, which tells the store and nobody else.
            while await hub.store.under_way(owner, session=session, run=run):  # noqa: ASYNC110
                await asyncio.sleep(_LOOK)
