"""Feedback in the store: what people say of answers."""

from typing import Any

from sqlalchemy import Connection, Row, delete, insert, select

from askgraph.serve.store.area import Area
from askgraph.serve.store.rows import Feedback
from askgraph.serve.store.tables import feedback, runs

__all__ = ["Opinions"]


class Opinions(Area):
    """What people say of answers: one opinion a person and run."""

    async def put_feedback(self, given: Feedback) -> bool:
        """Keep what somebody says of a run, in place of what they said; False without the run."""
        values = {
            "run": given.run,
            "owner": given.owner,
            "verdict": given.verdict,
            "comment": given.comment,
            "created": given.created,
        }
        before = delete(feedback).where(
            feedback.c.run == given.run, feedback.c.owner == given.owner
        )

        def put(connection: Connection) -> bool:
            there = select(runs.c.id).where(runs.c.id == given.run)
            if connection.execute(there).first() is None:
                return False
            connection.execute(before)
            connection.execute(insert(feedback).values(values))
            return True

        return await self._database.write(put)

    async def feedback(self, run: str) -> list[Feedback]:
        """Return what people say of a run, the latest first."""
        wanted = select(feedback).where(feedback.c.run == run).order_by(feedback.c.created.desc())
        return [_feedback(row) for row in await self._rows(wanted)]


def _feedback(row: Row[Any]) -> Feedback:
    return Feedback(row.run, row.owner, row.verdict, row.comment, row.created)
