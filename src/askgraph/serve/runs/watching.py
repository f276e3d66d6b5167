"""What a server looks at now and then: what other processes ask of its questions, or left."""

import asyncio
import logging

from askgraph.errors import ServiceError
from askgraph.serve.runs.kept import KeptRuns
from askgraph.serve.runs.lifecycle import Runs

__all__ = ["watch"]

_log = logging.getLogger("askgraph.serve")
_LOOK = 1.0  # seconds between two looks
_BEAT = 5  # looks between two signs of life


async def watch(runs: Runs, kept: KeptRuns) -> None:
    """Stop what other processes were asked to stop, and take over what they left; for ever.

    How a question ended is kept here where the store failed when it did.
    """
    looks = 0
    while True:
        try:
            if looks % _BEAT == 0:
                await kept.beat()
            for id in await kept.to_cancel() if runs.known else []:
                await runs.cancel(id)
        except ServiceError as error:
            _log.warning("the store cannot be asked what to stop: %s", error)
        looks += 1
        await asyncio.sleep(_LOOK)
