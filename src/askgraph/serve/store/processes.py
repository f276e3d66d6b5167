"""Server processes in the store: who is alive, and what the dead were doing."""

import os
import platform
from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, Table, delete, insert, or_, select, update

from askgraph.serve.store.area import Area
from askgraph.serve.store.clock import ago, now
from askgraph.serve.store.rows import UNDER_WAY
from askgraph.serve.store.tables import jobs, processes, runs

__all__ = ["SILENT", "HandedBack", "Processes"]

SILENT = 30.0
"""Seconds without a beat after which a process is taken to be dead."""


@dataclass(frozen=True)
class HandedBack:
    """Ids of runs and jobs that no process works on any more."""

    runs: tuple[str, ...] = ()
    jobs: tuple[str, ...] = ()


class Processes(Area):
    """Server processes: each beats every few seconds, and what a silent one did is handed back."""

    async def beat(self, process: str) -> None:
        """Say that a process is alive; it says so well within `SILENT` seconds."""
        time = now()
        values = {
            "id": process,
            "host": platform.node(),
            "pid": os.getpid(),
            "started": time,
            "beat": time,
        }
        changed = update(processes).where(processes.c.id == process).values(beat=time)

        def beaten(connection: Connection) -> None:
            if not connection.execute(changed).rowcount:
                connection.execute(insert(processes).values(values))

        await self._database.write(beaten)

    async def alive(self, *, silent: float = SILENT) -> list[str]:
        """Return the ids of the processes that beat in the last `silent` seconds."""
        wanted = select(processes.c.id).where(processes.c.beat > ago(silent))
        return [row.id for row in await self._rows(wanted.order_by(processes.c.id))]

    async def leave(self, process: str) -> HandedBack:
        """Say that a process ends; what it has not finished is handed back."""

        def left(connection: Connection) -> HandedBack:
            connection.execute(delete(processes).where(processes.c.id == process))
            return _hand_back(connection, lambda table: table.c.process == process)

        return await self._database.write(left)

    async def hand_back_orphans(self, *, silent: float = SILENT) -> HandedBack:
        """Hand back what processes were doing that have not beaten for `silent` seconds.

        A process beats before it begins anything; what belongs to no process is handed back once
        it is that old.
        """
        since = ago(silent)
        living = select(processes.c.id)

        def left(table: Table) -> ColumnElement[bool]:
            return or_(
                (table.c.process != "") & table.c.process.not_in(living),
                (table.c.process == "") & (table.c.created <= since),
            )

        def handed_back(connection: Connection) -> HandedBack:
            connection.execute(delete(processes).where(processes.c.beat <= since))
            return _hand_back(connection, left)

        return await self._database.write(handed_back)


def _hand_back(connection: Connection, whose: Callable[[Table], ColumnElement[bool]]) -> HandedBack:
    return HandedBack(
        _ended(connection, runs, whose(runs), finished=now()),
        _ended(connection, jobs, whose(jobs), changed=now()),
    )


def _ended(
    connection: Connection, table: Table, whose: ColumnElement[bool], **times: str
) -> tuple[str, ...]:
    ended = (
        update(table)
        .where(table.c.state.in_(UNDER_WAY), whose)
        .values(state="handed_back", **times)
        .returning(table.c.id)
    )
    return tuple(connection.execute(ended).scalars())
