"""Feedback in the store: opinions on answers, and the queries that people confirm."""

from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, delete, insert, select, text

from askgraph.metadata.examples.similar import plain_question
from askgraph.serve.store.database import Area, row_as, values_of
from askgraph.serve.store.tables import (
    Feedback,
    Verified,
    feedback,
    runs,
    verified,
    verified_versions,
)

_RAISED = text(
    "INSERT INTO verified_versions (graph, version) VALUES (:graph, 1) "
    "ON CONFLICT (graph) DO UPDATE SET version = verified_versions.version + 1"
)


class FeedbackStore(Area):
    """Opinions on answers: one a person and run."""

    async def put_feedback(self, given: Feedback) -> bool:
        """Keep an opinion on a run, in place of the person's last; False without the run."""
        before = delete(feedback).where(
            feedback.c.run == given.run, feedback.c.owner == given.owner
        )

        def put(connection: Connection) -> bool:
            there = select(runs.c.id).where(runs.c.id == given.run)
            if connection.execute(there).first() is None:
                return False
            connection.execute(before)
            connection.execute(insert(feedback).values(values_of(given, feedback)))
            return True

        return await self._database.write(put)

    async def feedback(self, run: str) -> list[Feedback]:
        """Return the opinions on a run, the latest first."""
        wanted = select(feedback).where(feedback.c.run == run).order_by(feedback.c.created.desc())
        return [row_as(Feedback, row) for row in await self._rows(wanted)]


class VerifiedStore(Area):
    """Queries that people confirmed; each graph has a version that grows with every change."""

    async def put_verified(self, one: Verified) -> None:
        """Keep a verified answer, in place of its owner's for the same question on the graph."""
        plain = plain_question(one.question)
        language = one.language or ""
        values = values_of(one, verified, plain=plain, language=language)
        same = delete(verified).where(
            verified.c.graph == one.graph,
            verified.c.plain == plain,
            verified.c.language == language,
            verified.c.owner == one.owner,
        )

        def put(connection: Connection) -> None:
            _raise_version(connection, one.graph)  # first: it is what two writers wait for
            connection.execute(same)
            connection.execute(insert(verified).values(values))

        await self._database.write(put)

    async def withdraw(self, id: str) -> bool:
        """Delete a verified answer; whether there was one."""
        return bool(await self._withdrawn(verified.c.id == id))

    async def withdraw_run(self, run: str, owner: str | None = None) -> int:
        """Delete the verified answers of a run, by this owner or by all; returns how many."""
        wanted = verified.c.run == run
        return await self._withdrawn(
            wanted if owner is None else wanted & (verified.c.owner == owner)
        )

    async def withdraw_graph(self, graph: str) -> int:
        """Delete all verified answers of a graph; returns how many there were."""
        return await self._withdrawn(verified.c.graph == graph)

    async def verified(self, graph: str) -> list[Verified]:
        """Return the verified answers of a graph, the latest last."""
        wanted = select(verified).where(verified.c.graph == graph)
        return [
            _verified(row)
            for row in await self._rows(wanted.order_by(verified.c.when, verified.c.id))
        ]

    async def verified_of(self, runs: list[str]) -> list[Verified]:
        """Return the verified answers of some runs."""
        wanted = select(verified).where(verified.c.run.in_(runs))
        return [_verified(row) for row in await self._rows(wanted)]

    async def verified_version(self, graph: str) -> int:
        """Return a number that is another one whenever the verified answers of a graph are."""
        wanted = select(verified_versions.c.version).where(verified_versions.c.graph == graph)
        row = await self._row(wanted)
        return 0 if row is None else row.version

    async def _withdrawn(self, wanted: ColumnElement[bool]) -> int:
        graphs = select(verified.c.graph).where(wanted).distinct().order_by(verified.c.graph)

        def withdrawn(connection: Connection) -> int:
            for graph in connection.execute(graphs).scalars().all():
                _raise_version(connection, graph)
            return connection.execute(delete(verified).where(wanted)).rowcount

        return await self._database.write(withdrawn)


def _raise_version(connection: Connection, graph: str) -> None:
    connection.execute(_RAISED, {"graph": graph})


def _verified(row: Row[Any]) -> Verified:
    return row_as(Verified, row, language=row.language or None)
