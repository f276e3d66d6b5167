"""Data of callers in the store: API keys, usage, feedback, verified answers, and boards.

Usage is counted over all processes.
"""

import asyncio
import json
import zlib
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from askgraph.graph.examples import normalize_question
from askgraph.server.auth import LimitOverrides
from askgraph.server.store.database import BaseStore, compress, to_record, to_values
from askgraph.server.store.tables import (
    BoardRow,
    CallerUsage,
    Feedback,
    Json,
    KeyRow,
    PinRow,
    VerifiedAnswer,
    boards,
    feedback,
    get_timestamp,
    get_timestamp_before,
    keys,
    pins,
    runs,
    usage,
    verified,
    verified_versions,
)

_KEY_USE_INTERVAL_SECONDS = 60.0  # seconds; each update is a write
_ADD_USAGE = sa.text(
    'INSERT INTO usage (principal, "window", requests, tokens, money) '
    "VALUES (:principal, :window, :requests, :tokens, :money) "
    'ON CONFLICT (principal, "window") DO UPDATE SET '
    "requests = usage.requests + excluded.requests, "
    "tokens = usage.tokens + excluded.tokens, money = usage.money + excluded.money "
    "RETURNING requests, tokens, money"
)
_RAISE_VERSION = sa.text(
    "INSERT INTO verified_versions (graph, version) VALUES (:graph, 1) "
    "ON CONFLICT (graph) DO UPDATE SET version = verified_versions.version + 1"
)


class CallerStore(BaseStore):
    """Data of callers: keys, usage, feedback, verified answers, boards."""

    # API keys, each with its scopes, graphs and limits.

    async def add_key(self, key: KeyRow) -> None:
        """Store a new key."""
        values = to_values(
            key,
            keys,
            scopes=sorted(key.scopes),
            graphs=None if key.graphs is None else sorted(key.graphs),
            limits=asdict(key.limits),
        )
        await self._execute(sa.insert(keys).values(values))

    async def list_keys(self) -> list[KeyRow]:
        """Return all keys, including invalid ones, the oldest first."""
        return [
            _to_key(row)
            for row in await self._fetch_rows(sa.select(keys).order_by(keys.c.created, keys.c.id))
        ]

    async def get_key(self, id: str) -> KeyRow | None:
        """Return the key with an id, or None if it does not exist."""
        row = await self._fetch_row(sa.select(keys).where(keys.c.id == id))
        return None if row is None else _to_key(row)

    async def revoke_key(self, id: str) -> bool:
        """Revoke a key; return whether it existed and was not revoked yet."""
        statement = sa.update(keys).where(keys.c.id == id, keys.c.revoked.is_(None))
        return await self._execute(statement.values(revoked=get_timestamp())) > 0

    async def record_key_use(self, key: KeyRow) -> None:
        """Record the time of a key's use, to the minute."""
        if key.used is not None and key.used > get_timestamp_before(_KEY_USE_INTERVAL_SECONDS):
            return
        await self._execute(sa.update(keys).where(keys.c.id == key.id).values(used=get_timestamp()))

    # Requests of this minute; requests, tokens and money of this day, by caller.

    async def count_requests(self, principal: str, requests: int) -> CallerUsage:
        """Add requests of a caller and return the sums including them.

        No two calls return the same sum of requests, in any process.
        """
        return await self._database.write(
            lambda connection: add_usage(connection, principal, requests)
        )

    async def get_usage(self, principal: str) -> CallerUsage:
        """Return the usage of a caller."""
        minute, day = _get_windows(datetime.now(UTC))
        statement = sa.select(usage).where(usage.c.principal == principal)
        rows_by_window = {row.window: row for row in await self._fetch_rows(statement)}
        current, today = rows_by_window.get(minute), rows_by_window.get(day)
        return CallerUsage(
            current.requests if current else 0,
            today.requests if today else 0,
            today.tokens if today else 0,
            today.money if today else 0.0,
        )

    # Opinions on answers: one a person and run.

    async def put_feedback(self, new_feedback: Feedback) -> bool:
        """Store a person's feedback on a run in place of the last; return False without the run."""
        delete_statement = sa.delete(feedback).where(
            feedback.c.run == new_feedback.run, feedback.c.owner == new_feedback.owner
        )

        def replace_feedback(connection: sa.Connection) -> bool:
            run_statement = sa.select(runs.c.id).where(runs.c.id == new_feedback.run)
            if connection.execute(run_statement).first() is None:
                return False
            connection.execute(delete_statement)
            connection.execute(sa.insert(feedback).values(to_values(new_feedback, feedback)))
            return True

        return await self._database.write(replace_feedback)

    async def list_feedback(self, run: str) -> list[Feedback]:
        """Return the feedback on a run, the latest first."""
        statement = (
            sa.select(feedback).where(feedback.c.run == run).order_by(feedback.c.created.desc())
        )
        return [to_record(Feedback, row) for row in await self._fetch_rows(statement)]

    # Queries that people confirmed; each graph has a version that grows with every change.

    async def put_verified(self, answer: VerifiedAnswer) -> None:
        """Store a verified answer, replacing its owner's one for the same question on the graph."""
        plain = normalize_question(answer.question)
        language = answer.language or ""
        values = to_values(answer, verified, plain=plain, language=language)
        delete_statement = sa.delete(verified).where(
            verified.c.graph == answer.graph,
            verified.c.plain == plain,
            verified.c.language == language,
            verified.c.owner == answer.owner,
        )

        def replace_answer(connection: sa.Connection) -> None:
            _raise_version(connection, answer.graph)  # first: it is what two writers wait for
            connection.execute(delete_statement)
            connection.execute(sa.insert(verified).values(values))

        await self._database.write(replace_answer)

    async def delete_verified(self, id: str) -> bool:
        """Delete a verified answer; return whether it existed."""
        return bool(await self._delete_verified(verified.c.id == id))

    async def delete_verified_of_run(self, run: str, owner: str | None = None) -> int:
        """Delete the verified answers of a run, of one owner or all; return their number."""
        condition = verified.c.run == run
        return await self._delete_verified(
            condition if owner is None else condition & (verified.c.owner == owner)
        )

    async def delete_verified_of_graph(self, graph: str) -> int:
        """Delete all verified answers of a graph; return their number."""
        return await self._delete_verified(verified.c.graph == graph)

    async def list_verified(self, graph: str) -> list[VerifiedAnswer]:
        """Return the verified answers of a graph, the latest last."""
        statement = sa.select(verified).where(verified.c.graph == graph)
        return [
            _to_verified(row)
            for row in await self._fetch_rows(statement.order_by(verified.c.when, verified.c.id))
        ]

    async def list_verified_of_runs(self, run_ids: list[str]) -> list[VerifiedAnswer]:
        """Return the verified answers of the given runs."""
        statement = sa.select(verified).where(verified.c.run.in_(run_ids))
        return [_to_verified(row) for row in await self._fetch_rows(statement)]

    async def get_verified_version(self, graph: str) -> int:
        """Return a number that grows with each change of a graph's verified answers."""
        statement = sa.select(verified_versions.c.version).where(verified_versions.c.graph == graph)
        row = await self._fetch_row(statement)
        return 0 if row is None else row.version

    async def _delete_verified(self, condition: sa.ColumnElement[bool]) -> int:
        graphs = sa.select(verified.c.graph).where(condition).distinct().order_by(verified.c.graph)

        def delete_rows(connection: sa.Connection) -> int:
            for graph in connection.execute(graphs).scalars().all():
                _raise_version(connection, graph)
            return connection.execute(sa.delete(verified).where(condition)).rowcount

        return await self._database.write(delete_rows)

    # Boards: each belongs to its owner, and its pins to it.

    async def add_board(self, board: BoardRow, *, limit: int) -> bool:
        """Store a new board; return False if its owner has `limit` boards already."""

        def insert_board(connection: sa.Connection) -> bool:
            statement = sa.select(sa.func.count()).where(boards.c.owner == board.owner)
            if connection.execute(statement).scalar_one() >= limit:
                return False
            connection.execute(sa.insert(boards).values(to_values(board, boards)))
            return True

        return await self._database.write(insert_board)

    async def get_board(self, id: str) -> BoardRow | None:
        """Return a board, or None if it does not exist."""
        row = await self._fetch_row(_select_boards().where(boards.c.id == id))
        return None if row is None else to_record(BoardRow, row)

    async def list_boards(self, owner: str) -> list[BoardRow]:
        """Return the boards of an owner, the most recently changed first."""
        statement = _select_boards().where(boards.c.owner == owner)
        rows = await self._fetch_rows(statement.order_by(boards.c.changed.desc(), boards.c.id))
        return [to_record(BoardRow, row) for row in rows]

    async def add_pin(self, pin: PinRow, *, limit: int) -> bool:
        """Append a pin to its board; return False without the board or with `limit` pins."""
        values = to_values(pin, pins, base=await compress(pin.base), latest=None, checked=None)

        def insert_pin(connection: sa.Connection) -> bool:
            if not _touch_board(connection, pin.board):
                return False
            position = len(_list_pin_ids(connection, pin.board))
            if position >= limit:
                return False
            connection.execute(sa.insert(pins).values({**values, "place": position}))
            return True

        return await self._database.write(insert_pin)

    async def list_pins(self, board: str) -> list[PinRow]:
        """Return the pins of a board in their order."""
        rows = await self._fetch_rows(
            sa.select(pins).where(pins.c.board == board).order_by(pins.c.place)
        )
        return await asyncio.to_thread(_to_pins, rows)

    async def update_pin(self, board: str, id: str, **values: object) -> bool:
        """Change the `title` or `shown` of a pin; return whether the board has it."""
        statement = sa.update(pins).where(pins.c.board == board, pins.c.id == id).values(**values)
        return await self._execute(statement) > 0

    async def move_pin(self, board: str, id: str, position: int) -> bool:
        """Move a pin to a position of its board, from 0; return whether the board has it."""

        def reorder(connection: sa.Connection) -> bool:
            _touch_board(connection, board)
            order = _list_pin_ids(connection, board)
            if id not in order:
                return False
            order.remove(id)
            order.insert(position, id)
            _write_order(connection, order)
            return True

        return await self._database.write(reorder)

    async def delete_pin(self, board: str, id: str) -> bool:
        """Delete a pin; return whether the board had it."""

        def delete_row(connection: sa.Connection) -> bool:
            _touch_board(connection, board)
            statement = sa.delete(pins).where(pins.c.board == board, pins.c.id == id)
            if not connection.execute(statement).rowcount:
                return False
            _write_order(connection, _list_pin_ids(connection, board))
            return True

        return await self._database.write(delete_row)

    async def put_latest(self, id: str, latest: Json, checked: str) -> bool:
        """Store the result and time of a check of a pin; return whether the pin exists."""
        values = {"latest": await compress(latest), "checked": checked}
        return await self._execute(sa.update(pins).where(pins.c.id == id).values(values)) > 0

    async def accept_latest(self, board: str) -> int:
        """Make the latest results of a board the base of comparisons; return their number."""
        statement = sa.update(pins).where(pins.c.board == board, pins.c.latest.is_not(None))
        return await self._execute(
            statement.values(base=pins.c.latest, seen=pins.c.checked, latest=None, checked=None)
        )


def add_usage(
    connection: sa.Connection, principal: str, requests: int, tokens: int = 0, money: float = 0.0
) -> CallerUsage:
    """Add to the usage of a caller within a running transaction, and return the sums."""
    parameters = {"principal": principal, "requests": requests, "tokens": tokens, "money": money}
    minute, day = _get_windows(datetime.now(UTC))
    today = connection.execute(_ADD_USAGE, {**parameters, "window": day}).one()
    current = connection.execute(_ADD_USAGE, {**parameters, "window": minute}).one()
    if current.requests == requests:
        windows = [usage.c.window.like("minute %") & (usage.c.window < minute)]
        if principal.startswith("address:"):  # keep little about people without an account
            windows.append(usage.c.window.like("day %") & (usage.c.window < day))
        connection.execute(sa.delete(usage).where(usage.c.principal == principal, sa.or_(*windows)))
    return CallerUsage(current.requests, today.requests, today.tokens, today.money)


def _get_windows(time: datetime) -> tuple[str, str]:
    return time.strftime("minute %Y-%m-%dT%H:%M"), time.strftime("day %Y-%m-%d")


def _to_key(row: sa.Row[Any]) -> KeyRow:
    return to_record(
        KeyRow,
        row,
        scopes=frozenset(row.scopes),
        graphs=None if row.graphs is None else frozenset(row.graphs),
        limits=LimitOverrides(**row.limits),
    )


def _raise_version(connection: sa.Connection, graph: str) -> None:
    connection.execute(_RAISE_VERSION, {"graph": graph})


def _to_verified(row: sa.Row[Any]) -> VerifiedAnswer:
    return to_record(VerifiedAnswer, row, language=row.language or None)


def _select_boards() -> sa.Select[Any]:
    count = sa.select(sa.func.count()).where(pins.c.board == boards.c.id).scalar_subquery()
    return sa.select(boards, count.label("pins"))


def _touch_board(connection: sa.Connection, board: str) -> bool:
    """Update a board's time of change, which locks it; return whether it exists."""
    statement = sa.update(boards).where(boards.c.id == board).values(changed=get_timestamp())
    return connection.execute(statement).rowcount > 0


def _list_pin_ids(connection: sa.Connection, board: str) -> list[str]:
    statement = sa.select(pins.c.id).where(pins.c.board == board).order_by(pins.c.place)
    return list(connection.execute(statement).scalars())


def _write_order(connection: sa.Connection, order: list[str]) -> None:
    for position, id in enumerate(order):
        connection.execute(sa.update(pins).where(pins.c.id == id).values(place=position))


def _to_pins(rows: Sequence[sa.Row[Any]]) -> list[PinRow]:
    return [
        to_record(
            PinRow,
            row,
            base=json.loads(zlib.decompress(row.base)),
            latest=json.loads(zlib.decompress(row.latest)) if row.latest else None,
        )
        for row in rows
    ]
