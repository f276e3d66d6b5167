"""Questions and answers in the store, their sessions, and server processes and jobs.

A process that sends no heartbeat counts as dead; its work is handed back.
"""

import json
import os
import platform
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from askgraph.server.store.callers import add_usage
from askgraph.server.store.database import BaseStore, compress, decompress, to_record, to_values
from askgraph.server.store.tables import (
    ACTIVE_STATES,
    JobRow,
    Json,
    RunRow,
    RunState,
    SessionRow,
    format_timestamp,
    get_timestamp,
    get_timestamp_before,
    jobs,
    processes,
    runs,
    sessions,
)

_LARGE_COLUMNS = ("answer", "trace", "folded", "picture")
_LIST_COLUMNS = [column for column in runs.c if column.name not in _LARGE_COLUMNS]
# Statements of every question, built once: building them takes longer than executing them.
_INSERT_RUN, _INSERT_SESSION = sa.insert(runs), sa.insert(sessions)
_TOUCH_SESSION = (
    sa.update(sessions)
    .where(sessions.c.id == sa.bindparam("which"))
    .values(changed=sa.bindparam("at"))
)
_START_RUN = (
    sa.update(runs)
    .where(runs.c.id == sa.bindparam("which"), runs.c.state == "queued")
    .values(state="running", process=sa.bindparam("by"))
)
_FINISH_RUN = (
    sa.update(runs)
    .where(runs.c.id == sa.bindparam("which"), runs.c.state.in_((*ACTIVE_STATES, "handed_back")))
    .returning(runs.c.counted_as)
)
_MAX_LISTED_JOBS = 50
_MAX_AVERAGED_RUNS = 200  # runs that costs are averaged over


@dataclass(frozen=True)
class AverageCost:
    """Average seconds, tokens and money of a question, over the given number of `questions`."""

    questions: int
    seconds: float
    tokens: float
    money: float


MAX_SILENCE_SECONDS = 30.0
"""Seconds without a heartbeat after which a process counts as dead."""
_JOB_PROGRESS_COLUMNS = ("state", "about", "progress", "problem", "process", "changed")


class RunStore(BaseStore):
    """Sessions, runs and jobs, and the processes that work on them."""

    # Conversations: each belongs to its owner.

    async def add_session(self, session: SessionRow) -> None:
        """Store a new session."""
        values = to_values(session, sessions)
        await self._database.write(lambda connection: connection.execute(_INSERT_SESSION, values))

    async def get_session(self, id: str) -> SessionRow | None:
        """Return a session, or None if it does not exist."""
        row = await self._fetch_row(_select_sessions().where(sessions.c.id == id))
        return None if row is None else to_record(SessionRow, row)

    async def list_sessions(self, owner: str, *, limit: int = 50) -> list[SessionRow]:
        """Return the sessions of an owner, the most recently changed first."""
        statement = _select_sessions().where(sessions.c.owner == owner)
        statement = statement.order_by(sessions.c.changed.desc(), sessions.c.id).limit(limit)
        return [to_record(SessionRow, row) for row in await self._fetch_rows(statement)]

    # Questions, asked or being asked: each belongs to its owner.

    async def begin_run(
        self, run: RunRow, *, limit: int = 0, session: SessionRow | None = None
    ) -> bool:
        """Store a new run, unless `limit` runs of the same caller are active already.

        Active runs of all processes count if they have the same `counted_as`. Concurrent calls
        cannot exceed the limit together; 0 means no limit.

        Args:
            session: a new session to store with the run.

        Returns:
            Whether the run was stored.
        """

        def insert_run(connection: sa.Connection) -> bool:
            if limit and self._count_active_runs(connection, run.counted_as or run.owner) >= limit:
                return False
            if session is not None:
                values = to_values(session, sessions, changed=run.created)
                connection.execute(_INSERT_SESSION, values)
            elif run.session is not None:
                connection.execute(_TOUCH_SESSION, {"which": run.session, "at": run.created})
            values = to_values(
                run,
                runs,
                folded=f"{run.question}\n{run.changed_from or ''}".casefold(),
                counted_as=run.counted_as or run.owner,
                answer=None,
                cancel_wanted=False,
            )
            connection.execute(_INSERT_RUN, values)
            return True

        return await self._database.write(insert_run)

    async def start_run(self, id: str, process: str) -> bool:
        """Mark a queued run as running in a process; return whether it was still queued."""
        values = {"which": id, "by": process}
        return await self._database.write(
            lambda connection: connection.execute(_START_RUN, values).rowcount > 0
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
        """Store the end of a run and count its costs.

        A run that was handed back, because its process seemed dead, may still finish.

        Returns:
            Whether the run was stored; False if it was deleted or had ended before.
        """
        values = {
            "state": state,
            "status": status,
            "answer": None if answer is None else await compress(answer),
            "trace": None if trace is None else await compress(trace),
            "problem": None if problem is None else dict(problem),
            "seconds": seconds,
            "tokens": tokens,
            "money": money,
            "finished": get_timestamp(),
        }

        def update_run(connection: sa.Connection) -> bool:
            updated = connection.execute(_FINISH_RUN, {"which": id, **values})
            principal = updated.scalar_one_or_none()
            if principal is not None and (tokens or money):
                add_usage(connection, principal, 0, tokens, money)
            return principal is not None

        return await self._database.write(update_run)

    async def get_run(self, id: str) -> RunRow | None:
        """Return a run with its answer, or None if it does not exist."""
        statement: sa.Select[Any] = sa.select(*_LIST_COLUMNS, runs.c.answer).where(runs.c.id == id)
        row = await self._fetch_row(statement)
        if row is None:
            return None
        run = _to_run(row)
        if row.answer is None:
            return run
        answer: Json = json.loads(await decompress(row.answer))
        return replace(run, answer=answer)

    async def get_trace(self, id: str) -> str | None:
        """Return the trace of a run in the format of `askgraph trace`, or None."""
        row = await self._fetch_row(sa.select(runs.c.trace).where(runs.c.id == id))
        return None if row is None or row.trace is None else await decompress(row.trace)

    async def get_picture(self, id: str) -> bytes | None:
        """Return the PNG for previews of a run, or None."""
        row = await self._fetch_row(sa.select(runs.c.picture).where(runs.c.id == id))
        return None if row is None else row.picture

    async def list_runs(
        self,
        owner: str,
        *,
        session: str | None = None,
        limit: int = 50,
        before: datetime | None = None,
        search: str = "",
    ) -> list[RunRow]:
        """Return the runs of an owner without their answers, the latest first.

        Args:
            before: only runs created before this time.
            search: a part of the question, in any letter case.
        """
        statement: sa.Select[Any] = sa.select(*_LIST_COLUMNS).where(runs.c.owner == owner)
        if session is not None:
            statement = statement.where(runs.c.session == session)
        if before is not None:
            statement = statement.where(runs.c.created < format_timestamp(before))
        if search:
            statement = statement.where(runs.c.folded.contains(search.casefold(), autoescape=True))
        statement = statement.order_by(runs.c.created.desc(), runs.c.id).limit(limit)
        return [_to_run(row) for row in await self._fetch_rows(statement)]

    async def get_questions(self, ids: Collection[str], owner: str) -> dict[str, str]:
        """Return the questions of the given runs that belong to an owner, by id."""
        statement: sa.Select[Any] = sa.select(runs.c.id, runs.c.question).where(
            runs.c.id.in_(ids), runs.c.owner == owner
        )
        return {row.id: row.question for row in await self._fetch_rows(statement)} if ids else {}

    async def list_active_runs(
        self, owner: str, *, session: str | None = None, run: str | None = None
    ) -> list[str]:
        """Return the ids of an owner's active runs: all, those of a session, or a single run."""
        statement: sa.Select[Any] = sa.select(runs.c.id).where(
            runs.c.owner == owner, runs.c.state.in_(ACTIVE_STATES)
        )
        if session is not None:
            statement = statement.where(runs.c.session == session)
        if run is not None:
            statement = statement.where(runs.c.id == run)
        return [row.id for row in await self._fetch_rows(statement)]

    async def delete_runs(self, owner: str) -> int:
        """Delete all runs and sessions of an owner; return the number of runs."""

        def delete_rows(connection: sa.Connection) -> int:
            deleted = connection.execute(sa.delete(runs).where(runs.c.owner == owner))
            connection.execute(sa.delete(sessions).where(sessions.c.owner == owner))
            return deleted.rowcount

        return await self._database.write(delete_rows)

    async def cancel_wanted(self, process: str) -> list[str]:
        """Return the ids of the active runs that a process should stop."""
        statement: sa.Select[Any] = sa.select(runs.c.id).where(
            runs.c.process == process, runs.c.state.in_(ACTIVE_STATES), runs.c.cancel_wanted
        )
        return [row.id for row in await self._fetch_rows(statement)]

    async def get_average_costs(self) -> dict[str, AverageCost]:
        """Return the average costs of a question by method, over the latest finished runs."""
        latest = (
            sa.select(runs.c.method, runs.c.seconds, runs.c.tokens, runs.c.money)
            .where(runs.c.state == "done", runs.c.seconds.is_not(None))
            .order_by(runs.c.created.desc())
            .limit(_MAX_AVERAGED_RUNS)
            .subquery()
        )
        statement = sa.select(
            latest.c.method,
            sa.func.count().label("questions"),
            sa.func.avg(latest.c.seconds).label("seconds"),
            sa.func.avg(latest.c.tokens).label("tokens"),
            sa.func.avg(latest.c.money).label("money"),
        ).group_by(latest.c.method)
        return {
            row.method: AverageCost(
                row.questions, float(row.seconds), float(row.tokens), float(row.money)
            )
            for row in await self._fetch_rows(statement)
        }

    def _count_active_runs(self, connection: sa.Connection, principal: str) -> int:
        """Count the active runs of a caller; other counts wait until this transaction ends."""
        if not self._database.is_sqlite:  # there only one writes anyway
            lock = sa.text("SELECT pg_advisory_xact_lock(hashtext(:whose))")
            connection.execute(lock, {"whose": principal})
        is_counted = runs.c.counted_as == principal
        statement = sa.select(sa.func.count()).where(is_counted, runs.c.state.in_(ACTIVE_STATES))
        return connection.execute(statement).scalar_one()

    # Server processes: each beats every few seconds; a silent one's work is handed back.

    async def record_heartbeat(self, process: str) -> None:
        """Record that a process is alive; call it well within `MAX_SILENCE_SECONDS`."""
        time = get_timestamp()
        values = {
            "id": process,
            "host": platform.node(),
            "pid": os.getpid(),
            "started": time,
            "beat": time,
        }
        statement = sa.update(processes).where(processes.c.id == process).values(beat=time)

        def upsert_process(connection: sa.Connection) -> None:
            if not connection.execute(statement).rowcount:
                connection.execute(sa.insert(processes).values(values))

        await self._database.write(upsert_process)

    async def list_live_processes(self, *, max_silence: float = MAX_SILENCE_SECONDS) -> list[str]:
        """Return the ids of the processes with a heartbeat in the last `max_silence` seconds."""
        statement = sa.select(processes.c.id).where(
            processes.c.beat > get_timestamp_before(max_silence)
        )
        return [row.id for row in await self._fetch_rows(statement.order_by(processes.c.id))]

    async def remove_process(self, process: str) -> None:
        """Remove a process that ends; its unfinished work is handed back."""

        def delete_process(connection: sa.Connection) -> None:
            connection.execute(sa.delete(processes).where(processes.c.id == process))
            _hand_back(connection, lambda table: table.c.process == process)

        await self._database.write(delete_process)

    async def hand_back_orphans(
        self, *, max_silence: float = MAX_SILENCE_SECONDS
    ) -> tuple[str, ...]:
        """Hand back the work of processes without a heartbeat for `max_silence` seconds.

        A process records a heartbeat before it starts any work. Work without a process is handed
        back once it is that old.

        Returns:
            The ids of the jobs that were handed back; their uploads have to be cleared.
        """
        cutoff = get_timestamp_before(max_silence)
        live_ids = sa.select(processes.c.id)

        def is_orphaned(table: sa.Table) -> sa.ColumnElement[bool]:
            return sa.or_(
                (table.c.process != "") & table.c.process.not_in(live_ids),
                (table.c.process == "") & (table.c.created <= cutoff),
            )

        def hand_back(connection: sa.Connection) -> tuple[str, ...]:
            connection.execute(sa.delete(processes).where(processes.c.beat <= cutoff))
            return _hand_back(connection, is_orphaned)

        return await self._database.write(hand_back)

    # Long work, as the building of a graph: each belongs to its owner.

    async def put_job(self, job: JobRow) -> bool:
        """Store the current state of a job; return False if it had ended before."""
        values = to_values(job, jobs, changed=get_timestamp(), cancel_wanted=False)
        progress = {name: values[name] for name in _JOB_PROGRESS_COLUMNS}
        state_statement = sa.select(jobs.c.state).where(jobs.c.id == job.id).with_for_update()

        def upsert_job(connection: sa.Connection) -> bool:
            state = connection.execute(state_statement).scalar_one_or_none()
            if state is None:
                connection.execute(sa.insert(jobs).values(values))
            elif state in ACTIVE_STATES:
                connection.execute(sa.update(jobs).where(jobs.c.id == job.id).values(progress))
            return state is None or state in ACTIVE_STATES

        return await self._database.write(upsert_job)

    async def get_job(self, id: str) -> JobRow | None:
        """Return a job, or None if it does not exist."""
        row = await self._fetch_row(sa.select(jobs).where(jobs.c.id == id))
        return None if row is None else to_record(JobRow, row)

    async def list_jobs(self, owner: str) -> list[JobRow]:
        """Return the jobs of an owner, the latest first."""
        statement = sa.select(jobs).where(jobs.c.owner == owner)
        statement = statement.order_by(jobs.c.created.desc(), jobs.c.id).limit(_MAX_LISTED_JOBS)
        return [to_record(JobRow, row) for row in await self._fetch_rows(statement)]

    async def is_job_cancelled(self, id: str) -> bool:
        """Return whether a job should stop."""
        row = await self._fetch_row(sa.select(jobs.c.cancel_wanted).where(jobs.c.id == id))
        return row is not None and row.cancel_wanted


def _select_sessions() -> sa.Select[Any]:
    count = (
        sa.select(sa.func.count())
        .where(runs.c.session == sessions.c.id)
        .scalar_subquery()
        .label("runs")
    )
    return sa.select(sessions, count)


def _to_run(row: sa.Row[Any]) -> RunRow:
    counted_as = "" if row.counted_as == row.owner else row.counted_as
    return to_record(RunRow, row, graphs=tuple(row.graphs), counted_as=counted_as, answer=None)


def _hand_back(
    connection: sa.Connection, is_affected: Callable[[sa.Table], sa.ColumnElement[bool]]
) -> tuple[str, ...]:
    times = {"runs": "finished", "jobs": "changed"}
    ids: tuple[str, ...] = ()
    for table in (runs, jobs):
        is_active = table.c.state.in_(ACTIVE_STATES)
        statement = sa.update(table).where(is_active, is_affected(table)).returning(table.c.id)
        values = {"state": "handed_back", times[table.name]: get_timestamp()}
        ids = tuple(connection.execute(statement.values(values)).scalars())
    return ids
