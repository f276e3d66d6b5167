"""Questions and answers in the store, their sessions, and the processes and jobs that work.

A process that is silent is taken to be dead, and what it was doing is handed back.
"""

import json
import os
import platform
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    Select,
    Table,
    bindparam,
    delete,
    func,
    insert,
    or_,
    select,
    text,
    update,
)

from askgraph.server.store.callers import add_usage
from askgraph.server.store.database import Area, pack, row_as, unpack, values_of
from askgraph.server.store.tables import (
    UNDER_WAY,
    JobRow,
    Json,
    RunRow,
    RunState,
    SessionRow,
    ago,
    jobs,
    now,
    processes,
    runs,
    sessions,
    time_text,
)

_LISTED = [column for column in runs.c if column.name not in ("answer", "trace", "folded")]
# What each question executes, made once: SQLAlchemy takes longer to make it than to execute it.
_BEGUN, _SESSION = insert(runs), insert(sessions)
_CHANGED = (
    update(sessions).where(sessions.c.id == bindparam("which")).values(changed=bindparam("at"))
)
_STARTED = (
    update(runs)
    .where(runs.c.id == bindparam("which"), runs.c.state == "queued")
    .values(state="running", process=bindparam("by"))
)
_FINISHED = (
    update(runs)
    .where(runs.c.id == bindparam("which"), runs.c.state.in_((*UNDER_WAY, "handed_back")))
    .returning(runs.c.counted_as)
)
_LISTED_JOBS = 50
_LATEST = 200  # runs that costs are averaged over


@dataclass(frozen=True)
class Cost:
    """Averages a question: seconds, tokens and money, over so many `questions`."""

    questions: int
    seconds: float
    tokens: float
    money: float


SILENT = 30.0
"""Seconds without a beat after which a process is taken to be dead."""
_PROGRESS = ("state", "about", "progress", "problem", "process", "changed")


class RunStore(Area):
    """Sessions, runs and jobs, and the processes that work on them."""

    # Conversations: each belongs to its owner.

    async def add_session(self, session: SessionRow) -> None:
        """Keep a new session."""
        values = values_of(session, sessions)
        await self._database.write(lambda connection: connection.execute(_SESSION, values))

    async def session(self, id: str) -> SessionRow | None:
        """Return a session, None if there is none."""
        row = await self._row(_selected().where(sessions.c.id == id))
        return None if row is None else row_as(SessionRow, row)

    async def sessions(self, owner: str, *, limit: int = 50) -> list[SessionRow]:
        """Return the sessions of an owner, the one changed last first."""
        wanted = _selected().where(sessions.c.owner == owner)
        wanted = wanted.order_by(sessions.c.changed.desc(), sessions.c.id).limit(limit)
        return [row_as(SessionRow, row) for row in await self._rows(wanted)]

    # Questions, asked or being asked: each belongs to its owner.

    async def begin_run(
        self, run: RunRow, *, at_most: int = 0, session: SessionRow | None = None
    ) -> bool:
        """Keep a new run; False, and nothing is kept, if `at_most` are under way already.

        With `session`, that is kept as well: the new one which the run begins.

        Those are counted that have the same `counted_as`, in all processes, and no two of them
        pass the limit together. 0 is no limit.
        """

        def begun(connection: Connection) -> bool:
            if at_most and self._under_way(connection, run.counted_as or run.owner) >= at_most:
                return False
            if session is not None:
                values = values_of(session, sessions, changed=run.created)
                connection.execute(_SESSION, values)
            elif run.session is not None:
                connection.execute(_CHANGED, {"which": run.session, "at": run.created})
            values = values_of(
                run,
                runs,
                folded=run.question.casefold(),
                counted_as=run.counted_as or run.owner,
                answer=None,
                cancel_wanted=False,
            )
            connection.execute(_BEGUN, values)
            return True

        return await self._database.write(begun)

    async def run_started(self, id: str, process: str) -> bool:
        """Keep that a run has left the queue of a process; whether it was still waiting."""
        values = {"which": id, "by": process}
        return await self._database.write(
            lambda connection: connection.execute(_STARTED, values).rowcount > 0
        )

    async def finish_run(
        self,
        id: str,
        state: RunState,
        *,
        status: str | None = None,
        answer: Json | None = None,
        trace: str | None = None,
        problem: Json | None = None,
        seconds: float | None = None,
        tokens: int = 0,
        money: float = 0.0,
    ) -> bool:
        """Keep the end of a run; False if it was deleted or had ended before.

        Its costs are counted with it. A run that was handed back, since its process was thought
        dead, may still end.
        """
        values = {
            "state": state,
            "status": status,
            "answer": None if answer is None else await pack(answer),
            "trace": None if trace is None else await pack(trace),
            "problem": None if problem is None else dict(problem),
            "seconds": seconds,
            "tokens": tokens,
            "money": money,
            "finished": now(),
        }

        def finished(connection: Connection) -> bool:
            found = connection.execute(_FINISHED, {"which": id, **values})
            whose = found.scalar_one_or_none()
            if whose is not None and (tokens or money):
                add_usage(connection, whose, 0, tokens, money)
            return whose is not None

        return await self._database.write(finished)

    async def run(self, id: str) -> RunRow | None:
        """Return a run with its answer, None if there is none."""
        wanted: Select[Any] = select(*_LISTED, runs.c.answer).where(runs.c.id == id)
        row = await self._row(wanted)
        if row is None:
            return None
        run = _run(row)
        if row.answer is None:
            return run
        answer: Json = json.loads(await unpack(row.answer))
        return replace(run, answer=answer)

    async def trace(self, id: str) -> str | None:
        """Return the trace of a run as `askgraph trace` reads it, None if none was kept."""
        row = await self._row(select(runs.c.trace).where(runs.c.id == id))
        return None if row is None or row.trace is None else await unpack(row.trace)

    async def runs(
        self,
        owner: str,
        *,
        session: str | None = None,
        limit: int = 50,
        before: datetime | None = None,
        search: str = "",
    ) -> list[RunRow]:
        """Return the runs of an owner without their answers, the latest first.

        `search` is part of the question, whatever the letter case.
        """
        wanted: Select[Any] = select(*_LISTED).where(runs.c.owner == owner)
        if session is not None:
            wanted = wanted.where(runs.c.session == session)
        if before is not None:
            wanted = wanted.where(runs.c.created < time_text(before))
        if search:
            wanted = wanted.where(runs.c.folded.contains(search.casefold(), autoescape=True))
        wanted = wanted.order_by(runs.c.created.desc(), runs.c.id).limit(limit)
        return [_run(row) for row in await self._rows(wanted)]

    async def questions(self, ids: Collection[str], owner: str) -> dict[str, str]:
        """Return the questions of those of some runs that belong to an owner, by id."""
        wanted: Select[Any] = select(runs.c.id, runs.c.question).where(
            runs.c.id.in_(ids), runs.c.owner == owner
        )
        return {row.id: row.question for row in await self._rows(wanted)} if ids else {}

    async def under_way(
        self, owner: str, *, session: str | None = None, run: str | None = None
    ) -> list[str]:
        """Return the ids of an owner's runs that have not ended: all, of a session, or that one."""
        wanted: Select[Any] = select(runs.c.id).where(
            runs.c.owner == owner, runs.c.state.in_(UNDER_WAY)
        )
        if session is not None:
            wanted = wanted.where(runs.c.session == session)
        if run is not None:
            wanted = wanted.where(runs.c.id == run)
        return [row.id for row in await self._rows(wanted)]

    async def delete_runs(self, owner: str) -> int:
        """Delete all runs and sessions of an owner; returns how many runs there were."""

        def deleted(connection: Connection) -> int:
            done = connection.execute(delete(runs).where(runs.c.owner == owner))
            connection.execute(delete(sessions).where(sessions.c.owner == owner))
            return done.rowcount

        return await self._database.write(deleted)

    async def cancel_wanted(self, process: str) -> list[str]:
        """Return the ids of the runs that a process is asked to stop."""
        wanted: Select[Any] = select(runs.c.id).where(
            runs.c.process == process, runs.c.state.in_(UNDER_WAY), runs.c.cancel_wanted
        )
        return [row.id for row in await self._rows(wanted)]

    async def costs(self) -> dict[str, Cost]:
        """Return the average costs of a question by method, of the latest that were answered."""
        latest = (
            select(runs.c.method, runs.c.seconds, runs.c.tokens, runs.c.money)
            .where(runs.c.state == "done", runs.c.seconds.is_not(None))
            .order_by(runs.c.created.desc())
            .limit(_LATEST)
            .subquery()
        )
        wanted = select(
            latest.c.method,
            func.count().label("questions"),
            func.avg(latest.c.seconds).label("seconds"),
            func.avg(latest.c.tokens).label("tokens"),
            func.avg(latest.c.money).label("money"),
        ).group_by(latest.c.method)
        return {
            row.method: Cost(row.questions, float(row.seconds), float(row.tokens), float(row.money))
            for row in await self._rows(wanted)
        }

    def _under_way(self, connection: Connection, whose: str) -> int:
        """Count the runs under way; until this transaction ends, nobody else does."""
        if not self._database.is_sqlite:  # there only one writes anyway
            lock = text("SELECT pg_advisory_xact_lock(hashtext(:whose))")
            connection.execute(lock, {"whose": whose})
        counted = runs.c.counted_as == whose
        wanted = select(func.count()).where(counted, runs.c.state.in_(UNDER_WAY))
        return connection.execute(wanted).scalar_one()

    # Server processes: each beats every few seconds; a silent one's work is handed back.

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

    async def leave(self, process: str) -> None:
        """Report that a process ends; its unfinished work is handed back."""

        def left(connection: Connection) -> None:
            connection.execute(delete(processes).where(processes.c.id == process))
            _hand_back(connection, lambda table: table.c.process == process)

        await self._database.write(left)

    async def hand_back_orphans(self, *, silent: float = SILENT) -> tuple[str, ...]:
        """Hand back the work of processes that have not beaten for `silent` seconds.

        Returns the ids of its jobs, whose uploads nobody clears. A process beats before it begins
        anything; work of no process is handed back once it is that old.
        """
        since = ago(silent)
        living = select(processes.c.id)

        def left(table: Table) -> ColumnElement[bool]:
            return or_(
                (table.c.process != "") & table.c.process.not_in(living),
                (table.c.process == "") & (table.c.created <= since),
            )

        def handed_back(connection: Connection) -> tuple[str, ...]:
            connection.execute(delete(processes).where(processes.c.beat <= since))
            return _hand_back(connection, left)

        return await self._database.write(handed_back)

    # Long work, as the building of a graph: each belongs to its owner.

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

    async def jobs(self, owner: str) -> list[JobRow]:
        """Return the jobs of an owner, the latest first."""
        wanted = select(jobs).where(jobs.c.owner == owner)
        wanted = wanted.order_by(jobs.c.created.desc(), jobs.c.id).limit(_LISTED_JOBS)
        return [row_as(JobRow, row) for row in await self._rows(wanted)]

    async def job_cancel_wanted(self, id: str) -> bool:
        """Whether a job is to stop."""
        wanted = select(jobs.c.cancel_wanted).where(jobs.c.id == id)
        row = await self._row(wanted)
        return row is not None and row.cancel_wanted


def _selected() -> Select[Any]:
    count = (
        select(func.count()).where(runs.c.session == sessions.c.id).scalar_subquery().label("runs")
    )
    return select(sessions, count)


def _run(row: Row[Any]) -> RunRow:
    counted_as = "" if row.counted_as == row.owner else row.counted_as
    return row_as(RunRow, row, graphs=tuple(row.graphs), counted_as=counted_as, answer=None)


def _hand_back(
    connection: Connection, whose: Callable[[Table], ColumnElement[bool]]
) -> tuple[str, ...]:
    """Hand back the runs and jobs of processes, and return the ids of the jobs."""
    times = {"runs": "finished", "jobs": "changed"}
    ids: tuple[str, ...] = ()
    for table in (runs, jobs):
        under_way = table.c.state.in_(UNDER_WAY)
        ended = update(table).where(under_way, whose(table)).returning(table.c.id)
        values = {"state": "handed_back", times[table.name]: now()}
        ids = tuple(connection.execute(ended.values(values)).scalars())
    return ids
