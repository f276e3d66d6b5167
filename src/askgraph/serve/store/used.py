"""How much each caller used, counted in the store for all processes together."""

from datetime import UTC, datetime

from sqlalchemy import Connection, delete, or_, select, text

from askgraph.serve.store.area import Area
from askgraph.serve.store.rows import Used
from askgraph.serve.store.tables import usage

__all__ = ["Usage", "added"]

_ADDED = text(
    'INSERT INTO usage (principal, "window", requests, tokens, money) '
    "VALUES (:principal, :window, :requests, :tokens, :money) "
    'ON CONFLICT (principal, "window") DO UPDATE SET '
    "requests = usage.requests + excluded.requests, "
    "tokens = usage.tokens + excluded.tokens, money = usage.money + excluded.money "
    "RETURNING requests, tokens, money"
)


class Usage(Area):
    """Requests of this minute; requests, tokens and money of this day, by caller."""

    async def count(
        self, principal: str, *, requests: int = 0, tokens: int = 0, money: float = 0.0
    ) -> Used:
        """Add to what a caller used and return the sums, this call's included.

        No two calls in whatever processes see the same sum of requests.
        """
        return await self._database.write(
            lambda connection: added(connection, principal, requests, tokens, money)
        )

    async def used(self, principal: str) -> Used:
        """Return what a caller has used, without adding to it."""
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


def added(connection: Connection, principal: str, requests: int, tokens: int, money: float) -> Used:
    """Add to what a caller used, in a transaction that does more than that."""
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
