"""Conversations in the store."""

from datetime import datetime
from typing import Any

from sqlalchemy import Insert, Row, Select, delete, func, insert, select, update

from askgraph.serve.store.area import Area
from askgraph.serve.store.clock import now, time_text
from askgraph.serve.store.rows import Json, SessionRow
from askgraph.serve.store.tables import runs, sessions

__all__ = ["Sessions", "added_session"]


class Sessions(Area):
    """Conversations: each belongs to its owner."""

    async def add_session(self, session: SessionRow) -> None:
        """Keep a new session."""
        await self._changed(added_session(session))

    async def session(self, id: str) -> SessionRow | None:
        """Return a session, None where there is none."""
        row = await self._row(_selected().where(sessions.c.id == id))
        return None if row is None else _session(row)

    async def sessions(
        self, owner: str, *, limit: int = 50, before: datetime | None = None
    ) -> list[SessionRow]:
        """Return the sessions of an owner, the one changed last first."""
        wanted = _selected().where(sessions.c.owner == owner)
        if before is not None:
            wanted = wanted.where(sessions.c.changed < time_text(before))
        wanted = wanted.order_by(sessions.c.changed.desc(), sessions.c.id).limit(limit)
        return [_session(row) for row in await self._rows(wanted)]

    async def change_session(
        self, id: str, *, title: str | None = None, about: Json | None = None
    ) -> bool:
        """Give a session another title or other things to keep; whether there is one."""
        values: dict[str, object] = {"changed": now()}
        if title is not None:
            values["title"] = title
        if about is not None:
            values["about"] = dict(about)
        return await self._changed(update(sessions).where(sessions.c.id == id).values(values)) > 0

    async def delete_session(self, id: str) -> bool:
        """Delete a session with its runs; whether there was one."""
        return await self._changed(delete(sessions).where(sessions.c.id == id)) > 0


def added_session(session: SessionRow) -> Insert:
    """Return the statement that keeps a new session."""
    return insert(sessions).values(
        id=session.id,
        owner=session.owner,
        title=session.title,
        about=dict(session.about),
        created=session.created,
        changed=session.changed,
    )


def _selected() -> Select[Any]:
    count = (
        select(func.count()).where(runs.c.session == sessions.c.id).scalar_subquery().label("runs")
    )
    return select(sessions, count)


def _session(row: Row[Any]) -> SessionRow:
    return SessionRow(row.id, row.owner, row.title, row.about, row.created, row.changed, row.runs)
