"""Server processes in the store, and the jobs that they work on.

A process that is silent is taken to be dead, and what it was doing is handed back.
"""

import os
import platform
from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, Table, delete, insert, or_, select, update

from askgraph.server.store.database import Area, row_as, values_of
from askgraph.server.store.tables import UNDER_WAY, JobRow, ago, jobs, now, processes, runs

SILENT = 30.0
"""Seconds without a beat after which a process is taken to be dead."""

_PROGRESS = ("state", "about", "progress", "problem", "process", "changed")


@dataclass(frozen=True)
class HandedBack:
    """Ids of runs and jobs that no process works on any more."""

    runs: tuple[str, ...] = ()
    jobs: tuple[str, ...] = ()


class ProcessStore(Area):
    """Server processes: each beats every few seconds; a silent one's work is handed back."""

    async def beat(self, process: str) -> None:
        """Report that a process is alive, well within `SILENT` seconds."""
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
        """Report that a process ends; its unfinished work is handed back."""

        def left(connection: Connection) -> HandedBack:
            connection.execute(delete(processes).where(processes.c.id == process))
            return _hand_back(connection, lambda table: table.c.process == process)

        return await self._database.write(left)

    async def hand_back_orphans(self, *, silent: float = SILENT) -> HandedBack:
        """Hand back the work of processes that have not beaten for `silent` seconds.

        A process beats before it begins anything; work of no process is handed back once it is
        that old.
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


class JobStore(Area):
    """Long work, as the building of a graph: each belongs to its owner."""

    async def put_job(self, job: JobRow) -> bool:
        """Keep a job as it is now; False, and nothing is kept, if it had ended before."""
        values = values_of(job, jobs, changed=now(), cancel_wanted=False)
        progress = {name: values[name] for name in _PROGRESS}
        known = select(jobs.c.state).where(jobs.c.id == job.id).with_for_update()

        def put(connection: Connection) -> bool:
            state = connection.execute(known).scalar_one_or_none()
            if state is None:
                connection.execute(insert(jobs).values(values))
            elif state in UNDER_WAY:
                connection.execute(update(jobs).where(jobs.c.id == job.id).values(progress))
            return state is None or state in UNDER_WAY

        return await self._database.write(put)

    async def job(self, id: str) -> JobRow | None:
        """Return a job, None if there is none."""
        row = await self._row(select(jobs).where(jobs.c.id == id))
        return None if row is None else row_as(JobRow, row)

    async def jobs(self, owner: str, *, limit: int = 50) -> list[JobRow]:
        """Return the jobs of an owner, the latest first."""
        wanted = select(jobs).where(jobs.c.owner == owner)
        wanted = wanted.order_by(jobs.c.created.desc(), jobs.c.id).limit(limit)
        return [row_as(JobRow, row) for row in await self._rows(wanted)]

    async def ask_to_cancel_job(self, id: str) -> bool:
        """Ask the process of a job to stop it; whether it was under way."""
        changed = update(jobs).where(jobs.c.id == id, jobs.c.state.in_(UNDER_WAY))
        return await self._changed(changed.values(cancel_wanted=True)) > 0

    async def job_cancel_wanted(self, id: str) -> bool:
        """Whether a job is to stop."""
        wanted = select(jobs.c.cancel_wanted).where(jobs.c.id == id)
        row = await self._row(wanted)
        return row is not None and row.cancel_wanted


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
