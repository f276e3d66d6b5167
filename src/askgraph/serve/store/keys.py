"""API keys in the store: all but their secrets."""

from dataclasses import asdict
from typing import Any

from sqlalchemy import Row, insert, select, update

from askgraph.serve.identity.principal import OwnLimits
from askgraph.serve.store.area import Area
from askgraph.serve.store.clock import ago, now
from askgraph.serve.store.rows import KeyRow
from askgraph.serve.store.tables import keys

__all__ = ["Keys"]

_TOUCHED = 60.0  # seconds; to the second it interests nobody, and each is a write


class Keys(Area):
    """API keys, each with what it allows."""

    async def add_key(self, key: KeyRow) -> None:
        """Keep a new key."""
        values = {
            "id": key.id,
            "name": key.name,
            "digest": key.digest,
            "scopes": sorted(key.scopes),
            "graphs": None if key.graphs is None else sorted(key.graphs),
            "limits": asdict(key.limits),
            "created": key.created,
            "expires": key.expires,
        }
        await self._changed(insert(keys).values(values))

    async def keys(self) -> list[KeyRow]:
        """Return all keys, also those that are no longer valid, the oldest first."""
        return [
            _key(row) for row in await self._rows(select(keys).order_by(keys.c.created, keys.c.id))
        ]

    async def key(self, id: str) -> KeyRow | None:
        """Return the key of an id, None where there is none."""
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


def _key(row: Row[Any]) -> KeyRow:
    return KeyRow(
        id=row.id,
        name=row.name,
        digest=row.digest,
        scopes=frozenset(row.scopes),
        graphs=None if row.graphs is None else frozenset(row.graphs),
        limits=OwnLimits(**row.limits),
        created=row.created,
        expires=row.expires,
        revoked=row.revoked,
        used=row.used,
    )
