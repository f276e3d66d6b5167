"""What every area of the store has: a database, and transactions of a single statement."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Row, Select
from sqlalchemy.sql.dml import UpdateBase

from askgraph.serve.store.database import Database

__all__ = ["Area"]


class Area:
    """Methods on some tables of a database; each is one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def _rows(self, wanted: Select[Any]) -> Sequence[Row[Any]]:
        return await self._database.read(lambda connection: connection.execute(wanted).all())

    async def _row(self, wanted: Select[Any]) -> Row[Any] | None:
        return await self._database.read(lambda connection: connection.execute(wanted).first())

    async def _changed(self, statement: UpdateBase) -> int:
        """Do what a statement says and return of how many rows it was true."""
        return await self._database.write(lambda connection: connection.execute(statement).rowcount)
