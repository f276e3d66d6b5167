"""Work that goes on without its caller, in the store: how far it is, and how it ended."""

from typing import Any

from sqlalchemy import Connection, Row, insert, select, update

from askgraph.serve.store.area import Area
from askgraph.serve.store.clock import now
from askgraph.serve.store.rows import UNDER_WAY, JobRow
from askgraph.serve.store.tables import jobs

__all__ = ["Jobs"]


class Jobs(Area):
    """Long work, as the building of a graph: each belongs to its owner."""

    async def put_job(self, job: JobRow) -> bool:
        """Keep a job as it is now; False, and nothing is kept, where it had ended before."""
        values = {
            "state": job.state,
            "about": dict(job.about),
            "progress": dict(job.progress),
            "problem": None if job.problem is None else dict(job.problem),
            "process": job.process,
            "changed": now(),
        }
        new = {
            "id": job.id,
            "owner": job.owner,
            "kind": job.kind,
            "graph": job.graph,
            "cancel_wanted": False,
            "created": job.created,
        }
        known = select(jobs.c.state).where(jobs.c.id == job.id).with_for_update()

        def put(connection: Connection) -> bool:
            state = connection.execute(known).scalar_one_or_none()
            if state is None:
                connection.execute(insert(jobs).values(**new, **values))
            elif state in UNDER_WAY:
                connection.execute(update(jobs).where(jobs.c.id == job.id).values(values))
            return state is None or state in UNDER_WAY

        return await self._database.write(put)

    async def job(self, id: str) -> JobRow | None:
        """Return a job, None where there is none."""
        row = await self._row(select(jobs).where(jobs.c.id == id))
        return None if row is None else _job(row)

    async def jobs(self, owner: str, *, limit: int = 50) -> list[JobRow]:
        """Return the jobs of an owner, the latest first."""
        wanted = select(jobs).where(jobs.c.owner == owner)
        wanted = wanted.order_by(jobs.c.created.desc(), jobs.c.id).limit(limit)
        return [_job(row) for row in await self._rows(wanted)]

    async def ask_to_cancel_job(self, id: str) -> bool:
        """Ask the process of a job to stop it; whether it was under way."""
        changed = update(jobs).where(jobs.c.id == id, jobs.c.state.in_(UNDER_WAY))
        return await self._changed(changed.values(cancel_wanted=True)) > 0

    async def job_cancel_wanted(self, id: str) -> bool:
        """Whether a job is to stop."""
        wanted = select(jobs.c.cancel_wanted).where(jobs.c.id == id)
        row = await self._row(wanted)
        return row is not None and row.cancel_wanted


def _job(row: Row[Any]) -> JobRow:
    return JobRow(
        id=row.id,
        owner=row.owner,
        kind=row.kind,
        graph=row.graph,
        state=row.state,
        about=row.about,
        progress=row.progress,
        problem=row.problem,
        process=row.process,
        created=row.created,
        changed=row.changed,
    )
