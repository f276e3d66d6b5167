"""Boards in the store, and the answers that are pinned to them, in an order."""

import asyncio
import json
import zlib
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Row, Select, delete, func, insert, select, update

from askgraph.server.store.database import Area, packed, row_as, values_of
from askgraph.server.store.tables import BoardRow, Json, PinRow, boards, now, pins


class BoardStore(Area):
    """Boards: each belongs to its owner, and its pins to it."""

    async def add_board(self, board: BoardRow, *, at_most: int) -> bool:
        """Keep a new board; False, and nothing is kept, if its owner has `at_most` already."""

        def added(connection: Connection) -> bool:
            owned = select(func.count()).where(boards.c.owner == board.owner)
            if connection.execute(owned).scalar_one() >= at_most:
                return False
            connection.execute(insert(boards).values(values_of(board, boards)))
            return True

        return await self._database.write(added)

    async def board(self, id: str) -> BoardRow | None:
        """Return a board, None if there is none."""
        row = await self._row(_selected().where(boards.c.id == id))
        return None if row is None else row_as(BoardRow, row)

    async def boards(self, owner: str) -> list[BoardRow]:
        """Return the boards of an owner, the one changed last first."""
        wanted = _selected().where(boards.c.owner == owner)
        rows = await self._rows(wanted.order_by(boards.c.changed.desc(), boards.c.id))
        return [row_as(BoardRow, row) for row in rows]

    async def change_board(self, id: str, **values: str | bool) -> bool:
        """Give a board another `title`, or another `shared`; whether there is one."""
        changed = update(boards).where(boards.c.id == id).values(**values, changed=now())
        return await self._changed(changed) > 0

    async def delete_board(self, id: str) -> bool:
        """Delete a board with its pins; whether there was one."""
        return await self._changed(delete(boards).where(boards.c.id == id)) > 0

    async def add_pin(self, pin: PinRow, *, at_most: int) -> bool:
        """Keep a new pin at the end of its board; False without it, or with `at_most` pins."""
        values = values_of(pin, pins, base=await _packed(pin.base), latest=None, checked=None)

        def added(connection: Connection) -> bool:
            if not _touched(connection, pin.board):
                return False
            place = len(_order(connection, pin.board))
            if place >= at_most:
                return False
            connection.execute(insert(pins).values({**values, "place": place}))
            return True

        return await self._database.write(added)

    async def pins(self, board: str) -> list[PinRow]:
        """Return the pins of a board in their order."""
        rows = await self._rows(select(pins).where(pins.c.board == board).order_by(pins.c.place))
        return await asyncio.to_thread(_read, rows)

    async def change_pin(self, board: str, id: str, **values: object) -> bool:
        """Give a pin another `title` or `shown`; whether the board has it."""
        changed = update(pins).where(pins.c.board == board, pins.c.id == id).values(**values)
        return await self._changed(changed) > 0

    async def move_pin(self, board: str, id: str, place: int) -> bool:
        """Put a pin at a place of its board, from 0, or the last; whether the board has it."""

        def moved(connection: Connection) -> bool:
            _touched(connection, board)
            order = _order(connection, board)
            if id not in order:
                return False
            order.remove(id)
            order.insert(place, id)
            _put_in_order(connection, order)
            return True

        return await self._database.write(moved)

    async def delete_pin(self, board: str, id: str) -> bool:
        """Delete a pin; whether the board had it."""

        def deleted(connection: Connection) -> bool:
            _touched(connection, board)
            gone = delete(pins).where(pins.c.board == board, pins.c.id == id)
            if not connection.execute(gone).rowcount:
                return False
            _put_in_order(connection, _order(connection, board))
            return True

        return await self._database.write(deleted)

    async def put_latest(self, id: str, latest: Json, checked: str) -> bool:
        """Keep what the query of a pin gave at a time; whether there is the pin."""
        values = {"latest": await _packed(latest), "checked": checked}
        return await self._changed(update(pins).where(pins.c.id == id).values(values)) > 0

    async def accept_latest(self, board: str) -> int:
        """Make the latest results of a board those that later ones are compared with.

        Returns for how many pins there was one.
        """
        fresh = update(pins).where(pins.c.board == board, pins.c.latest.is_not(None))
        return await self._changed(
            fresh.values(base=pins.c.latest, seen=pins.c.checked, latest=None, checked=None)
        )


def _selected() -> Select[Any]:
    count = select(func.count()).where(pins.c.board == boards.c.id).scalar_subquery()
    return select(boards, count.label("pins"))


def _touched(connection: Connection, board: str) -> bool:
    """Note that a board is changed, for which others that change it wait; whether it is there."""
    changed = update(boards).where(boards.c.id == board).values(changed=now())
    return connection.execute(changed).rowcount > 0


def _order(connection: Connection, board: str) -> list[str]:
    wanted = select(pins.c.id).where(pins.c.board == board).order_by(pins.c.place)
    return list(connection.execute(wanted).scalars())


def _put_in_order(connection: Connection, order: list[str]) -> None:
    for place, id in enumerate(order):
        connection.execute(update(pins).where(pins.c.id == id).values(place=place))


async def _packed(content: Json) -> bytes:
    return await packed(json.dumps(content, ensure_ascii=False))


def _read(rows: Sequence[Row[Any]]) -> list[PinRow]:
    """The pins of rows; that takes a while, if they have many answers with many rows."""
    return [
        row_as(
            PinRow,
            row,
            base=json.loads(zlib.decompress(row.base)),
            latest=json.loads(zlib.decompress(row.latest)) if row.latest else None,
        )
        for row in rows
    ]
