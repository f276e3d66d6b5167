"""The bounded queue of runs: so many at once, first come, first served."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import islice

from askgraph.server.auth.principal import TooMany

Report = Callable[[int], None]
_FIRST = 10  # of those that wait get their place each time


class Queue:
    """Lets `parallel` in at once; up to `queue` wait.

    Those that wait hear how many are ahead: at the start, and each time among the first ten.
    """

    def __init__(self, parallel: int, queue: int, *, what: str = "questions") -> None:
        self._parallel = parallel
        self._queue = queue
        self._what = what
        self._inside = 0
        self._waiting: deque[tuple[asyncio.Future[None], Report]] = deque()

    @property
    def inside(self) -> int:
        """The number of those whose turn it is."""
        return self._inside

    @property
    def waiting(self) -> int:
        """The number of those that wait."""
        return len(self._waiting)

    @property
    def full(self) -> bool:
        """Whether the next one has to wait."""
        return self._inside >= self._parallel or bool(self._waiting)

    @asynccontextmanager
    async def turn(self, report: Report) -> AsyncIterator[None]:
        """Wait for a turn and hold it; `report` gets its place, from 1.

        Raises `TooMany` if too many wait already.
        """
        if self.full:
            if len(self._waiting) >= self._queue:
                raise TooMany(
                    f"{len(self._waiting):,} {self._what} wait already; ask again a little later",
                    retry_after=10.0,
                )
            place = asyncio.get_running_loop().create_future(), report
            self._waiting.append(place)
            report(len(self._waiting))
            try:
                await place[0]
            except asyncio.CancelledError:
                if place in self._waiting:
                    self._waiting.remove(place)
                    self._report_first()
                elif place[0].done() and not place[0].cancelled():
                    self._inside -= 1  # it was let in while it gave up
                    self._let_in()
                raise
        else:
            self._inside += 1
        try:
            yield
        finally:
            self._inside -= 1
            self._let_in()

    def _let_in(self) -> None:
        let = False
        while self._waiting and self._inside < self._parallel:
            waiter, _ = self._waiting.popleft()
            if not waiter.done():
                waiter.set_result(None)
                self._inside += 1
                let = True
        if let:
            self._report_first()

    def _report_first(self) -> None:
        for ahead, (_, report) in enumerate(islice(self._waiting, _FIRST), 1):
            report(ahead)
