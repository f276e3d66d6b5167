"""Feedback in the store: what people say of answers."""

from typing import Any

from sqlalchemy import Delete, Row, delete, insert, select

from askgraph.serve.store.area import Area, transaction
from askgraph.serve.store.rows import Feedback
from askgraph.serve.store.tables import feedback, runs

__all__ = ["Opinions"]


class Opinions(Area):
    """What people say of answers: one opinion a person and run."""

    @transaction
    async def put_feedback(self, given: Feedback) -> bool:
        """Keep what somebody says of a run, in place of what they said; False without the run."""
        values = {
            "run": given.run,
            "owner": given.owner,
            "verdict": given.verdict,
            "comment": given.comment,
            "created": given.created,
        }
        async with self._database.writing() as connection:
            there = select(runs.c.id).where(runs.c.id == given.run)
            if (await connection.execute(there)).first() is None:
                return False
            await connection.execute(_of(given.run, given.owner))
            await connection.execute(insert(feedback).values(values))
        return True

    @transaction
    async def feedback(self, run: str) -> list[Feedback]:
        """Return what people say of a run, the latest first."""
        wanted = select(feedback).where(feedback.c.run == run)
        async with self._database.reading() as connection:
            found = await connection.execute(wanted.order_by(feedback.c.created.desc()))
            return [_feedback(row) for row in found]

    @transaction
    async def delete_feedback(self, run: str, owner: str) -> bool:
        """Take back what somebody said of a run; whether they had said anything."""
        async with self._database.writing() as connection:
            done = await connection.execute(_of(run, owner))
        return done.rowcount > 0


def _of(run: str, owner: str) -> Delete:
    return delete(feedback).where(feedback.c.run == run, feedback.c.owner == owner)


def _feedback(row: Row[Any]) -> Feedback:
    return Feedback(row.run, row.owner, row.verdict, row.comment, row.created)
