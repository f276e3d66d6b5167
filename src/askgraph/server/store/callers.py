"""Callers in the store: API keys, use, feedback, what they confirm, and boards of pinned answers.

Usage is counted for all processes together.
"""

import asyncio
import json
import zlib
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    Select,
    delete,
    func,
    insert,
    or_,
    select,
    text,
    update,
)

from askgraph.graph.examples import normalize_question
from askgraph.server.auth import OwnLimits
from askgraph.server.store.database import Area, pack, row_as, values_of
from askgraph.server.store.tables import (
    BoardRow,
    Feedback,
    Json,
    KeyRow,
    PinRow,
    Used,
    Verified,
    ago,
    boards,
    feedback,
    keys,
    now,
    pins,
    runs,
    usage,
    verified,
    verified_versions,
)

_TOUCHED = 60.0  # seconds; to the second it interests nobody, and each is a write
_ADDED = text(
    'INSERT INTO usage (principal, "window", requests, tokens, money) '
    "VALUES (:principal, :window, :requests, :tokens, :money) "
    'ON CONFLICT (principal, "window") DO UPDATE SET '
    "requests = usage.requests + excluded.requests, "
    "tokens = usage.tokens + excluded.tokens, money = usage.money + excluded.money "
    "RETURNING requests, tokens, money"
)
_RAISED = text(
    "INSERT INTO verified_versions (graph, version) VALUES (:graph, 1) "
    "ON CONFLICT (graph) DO UPDATE SET version = verified_versions.version + 1"
)


class CallerStore(Area):
    """What belongs to callers: keys, use, feedback, verified answers, boards."""

    # API keys, each with its scopes, graphs and limits.

    async def add_key(self, key: KeyRow) -> None:
        """Keep a new key."""
        values = values_of(
            key,
            keys,
            scopes=sorted(key.scopes),
            graphs=None if key.graphs is None else sorted(key.graphs),
            limits=asdict(key.limits),
        )
        await self._changed(insert(keys).values(values))

    async def keys(self) -> list[KeyRow]:
        """Return all keys, also those that are no longer valid, the oldest first."""
        return [
            _key(row) for row in await self._rows(select(keys).order_by(keys.c.created, keys.c.id))
        ]

    async def key(self, id: str) -> KeyRow | None:
        """Return the key of an id, None if there is none."""
        row = await self._row(select(keys).where(keys.c.id == id))
        return None if row is None else _key(row)

    async def revoke(self, id: str) -> bool:
        """Make a key worthless from now on; whether there was one that was not yet."""
        changed = update(keys).where(keys.c.id == id, keys.c.revoked.is_(None))
        return await self._changed(changed.values(revoked=now())) > 0

    async def touch(self, key: KeyRow) -> None:
        """Note that a key was used, to the minute."""
        if key.used is not None and key.used > ago(_TOUCHED):
            return
        await self._changed(update(keys).where(keys.c.id == key.id).values(used=now()))

    # Requests of this minute; requests, tokens and money of this day, by caller.

    async def count(self, principal: str, requests: int) -> Used:
        """Count requests of a caller and return the sums, this call's included.

        No two calls see the same sum of requests, in whatever processes.
        """
        return await self._database.write(
            lambda connection: add_usage(connection, principal, requests)
        )

    async def used(self, principal: str) -> Used:
        """Return the use of a caller, without adding to it."""
        minute, day = _windows(datetime.now(UTC))
        wanted = select(usage).where(usage.c.principal == principal)
        found = {row.window: row for row in await self._rows(wanted)}
        current, today = found.get(minute), found.get(day)
        return Used(
            current.requests if current else 0,
            today.requests if today else 0,
            today.tokens if today else 0,
            today.money if today else 0.0,
        )

    # Opinions on answers: one a person and run.

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

    # Queries that people confirmed; each graph has a version that grows with every change.

    async def put_verified(self, one: Verified) -> None:
        """Keep a verified answer, in place of its owner's for the same question on the graph."""
        plain = normalize_question(one.question)
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

    # Boards: each belongs to its owner, and its pins to it.

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
        row = await self._row(_boards().where(boards.c.id == id))
        return None if row is None else row_as(BoardRow, row)

    async def boards(self, owner: str) -> list[BoardRow]:
        """Return the boards of an owner, the one changed last first."""
        wanted = _boards().where(boards.c.owner == owner)
        rows = await self._rows(wanted.order_by(boards.c.changed.desc(), boards.c.id))
        return [row_as(BoardRow, row) for row in rows]

    async def add_pin(self, pin: PinRow, *, at_most: int) -> bool:
        """Keep a new pin at the end of its board; False without it, or with `at_most` pins."""
        values = values_of(pin, pins, base=await pack(pin.base), latest=None, checked=None)

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
        values = {"latest": await pack(latest), "checked": checked}
        return await self._changed(update(pins).where(pins.c.id == id).values(values)) > 0

    async def accept_latest(self, board: str) -> int:
        """Make the latest results of a board those that later ones are compared with.

        Returns for how many pins there was one.
        """
        fresh = update(pins).where(pins.c.board == board, pins.c.latest.is_not(None))
        return await self._changed(
            fresh.values(base=pins.c.latest, seen=pins.c.checked, latest=None, checked=None)
        )


def add_usage(
    connection: Connection, principal: str, requests: int, tokens: int = 0, money: float = 0.0
) -> Used:
    """Add to the use of a caller, in a transaction that does more than that."""
    spent = {"principal": principal, "requests": requests, "tokens": tokens, "money": money}
    minute, day = _windows(datetime.now(UTC))
    today = connection.execute(_ADDED, {**spent, "window": day}).one()
    current = connection.execute(_ADDED, {**spent, "window": minute}).one()
    if current.requests == requests:
        _forget(connection, principal, minute, day)
    return Used(current.requests, today.requests, today.tokens, today.money)


def _windows(time: datetime) -> tuple[str, str]:
    """Names of the minute and of the day that a time is in."""
    return time.strftime("minute %Y-%m-%dT%H:%M"), time.strftime("day %Y-%m-%d")


def _forget(connection: Connection, principal: str, minute: str, day: str) -> None:
    """Delete the caller's minutes that are over, and an address's days, once a minute."""
    windows = [usage.c.window.like("minute %") & (usage.c.window < minute)]
    if principal.startswith("address:"):  # of people without an account no more is kept than needed
        windows.append(usage.c.window.like("day %") & (usage.c.window < day))
    connection.execute(delete(usage).where(usage.c.principal == principal, or_(*windows)))


def _key(row: Row[Any]) -> KeyRow:
    return row_as(
        KeyRow,
        row,
        scopes=frozenset(row.scopes),
        graphs=None if row.graphs is None else frozenset(row.graphs),
        limits=OwnLimits(**row.limits),
    )


def _raise_version(connection: Connection, graph: str) -> None:
    connection.execute(_RAISED, {"graph": graph})


def _verified(row: Row[Any]) -> Verified:
    return row_as(Verified, row, language=row.language or None)


def _boards() -> Select[Any]:
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
