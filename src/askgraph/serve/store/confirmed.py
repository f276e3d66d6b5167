"""Verified answers in the store: what the same question on the same graph is answered with."""

from typing import Any

from sqlalchemy import ColumnElement, Row, delete, insert, select, text
from sqlalchemy.ext.asyncio import AsyncConnection

from askgraph.metadata.examples.repeats import plain_question
from askgraph.serve.store.area import Area, transaction
from askgraph.serve.store.rows import Verified
from askgraph.serve.store.tables import verified, verified_versions

__all__ = ["Confirmed"]

_RAISED = text(
    "INSERT INTO verified_versions (graph, version) VALUES (:graph, 1) "
    "ON CONFLICT (graph) DO UPDATE SET version = verified_versions.version + 1"
)


class Confirmed(Area):
    """Queries that people confirmed; each graph has a version that grows with every change."""

    @transaction
    async def put_verified(self, one: Verified) -> None:
        """Keep a verified answer, in place of its owner's for the same question on the graph."""
        plain = plain_question(one.question)
        language = one.language or ""
        values = {
            "id": one.id,
            "graph": one.graph,
            "question": one.question,
            "plain": plain,
            "language": language,
            "query": one.query,
            "owner": one.owner,
            "rows": one.rows,
            "snapshot": one.snapshot,
            "digest": one.digest,
            "by": one.by,
            "run": one.run,
            "when": one.when,
        }
        same = delete(verified).where(
            verified.c.graph == one.graph,
            verified.c.plain == plain,
            verified.c.language == language,
            verified.c.owner == one.owner,
        )
        async with self._database.writing() as connection:
            await _raise_version(connection, one.graph)  # first: it is what two writers wait for
            await connection.execute(same)
            await connection.execute(insert(verified).values(values))

    @transaction
    async def withdraw(self, id: str) -> bool:
        """Take a verified answer away; whether there was one."""
        return bool(await self._withdrawn(verified.c.id == id))

    @transaction
    async def withdraw_run(self, run: str, owner: str | None = None) -> int:
        """Take away what was verified of a run, by this owner or by all; returns how many."""
        wanted = verified.c.run == run
        return await self._withdrawn(
            wanted if owner is None else wanted & (verified.c.owner == owner)
        )

    @transaction
    async def verified(self, graph: str) -> list[Verified]:
        """Return the verified answers of a graph, the latest last."""
        wanted = select(verified).where(verified.c.graph == graph)
        async with self._database.reading() as connection:
            found = await connection.execute(wanted.order_by(verified.c.when, verified.c.id))
            return [_verified(row) for row in found]

    @transaction
    async def verified_of(self, runs: list[str]) -> list[Verified]:
        """Return what was verified of some runs."""
        wanted = select(verified).where(verified.c.run.in_(runs))
        async with self._database.reading() as connection:
            return [_verified(row) for row in await connection.execute(wanted)]

    @transaction
    async def verified_version(self, graph: str) -> int:
        """Return a number that is another one whenever the verified answers of a graph are."""
        wanted = select(verified_versions.c.version).where(verified_versions.c.graph == graph)
        async with self._database.reading() as connection:
            return (await connection.execute(wanted)).scalar_one_or_none() or 0

    async def _withdrawn(self, wanted: ColumnElement[bool]) -> int:
        graphs = select(verified.c.graph).where(wanted).distinct().order_by(verified.c.graph)
        async with self._database.writing() as connection:
            for graph in list((await connection.execute(graphs)).scalars()):
                await _raise_version(connection, graph)
            done = await connection.execute(delete(verified).where(wanted))
        return done.rowcount


async def _raise_version(connection: AsyncConnection, graph: str) -> None:
    await connection.execute(_RAISED, {"graph": graph})


def _verified(row: Row[Any]) -> Verified:
    return Verified(
        id=row.id,
        graph=row.graph,
        question=row.question,
        query=row.query,
        owner=row.owner,
        rows=row.rows,
        language=row.language or None,
        snapshot=row.snapshot,
        digest=row.digest,
        by=row.by,
        run=row.run,
        when=row.when,
    )
