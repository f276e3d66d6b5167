"""What is said of API keys when they are made and revoked: scopes, expiry, which one."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Literal

from askgraph.errors import SetupError
from askgraph.serve.identity.api_keys import PREFIX, given_parts
from askgraph.serve.identity.principal import SCOPES, Scope
from askgraph.serve.store import KeyRow, Store, now

__all__ = ["KeyState", "expiry", "found_key", "read_scopes", "state_of"]

KeyState = Literal["valid", "expired", "revoked"]

_UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}
_FOR = re.compile(r"(\d{1,4})([hdw])")


def read_scopes(names: Sequence[str]) -> frozenset[Scope]:
    """Return scopes by name; `SetupError` where one is none."""
    known: dict[str, Scope] = {scope: scope for scope in SCOPES}
    for name in names:
        if name not in known:
            raise SetupError(f"{name!r} is no scope; there are {', '.join(SCOPES)}")
    return frozenset(known[name] for name in names)


def expiry(text: str, *, today: datetime | None = None) -> datetime:
    """Return when a key expires: after `90d`, `12h`, `4w`, or at a date as `2030-01-31` (UTC).

    Raises `SetupError` where it says neither, or is over.
    """
    start = today or datetime.now(UTC)
    if told := _FOR.fullmatch(text.strip()):
        until = start + int(told[1]) * _UNITS[told[2]]
    else:
        until = _date(text)
    if until <= start:
        raise SetupError(f"a key that expires at {text!r} would be of no use: that is over")
    return until


def state_of(key: KeyRow) -> KeyState:
    """Return whether a key is of use now."""
    if key.revoked is not None:
        return "revoked"
    return "expired" if key.expires is not None and key.expires <= now() else "valid"


async def found_key(store: Store, text: str) -> KeyRow:
    """Return a key by its id, its name or the key itself; `SetupError` where it is not one."""
    parts = given_parts(text) if text.startswith(PREFIX) else None
    wanted = parts[0] if parts else text
    keys = await store.keys()
    found = [key for key in keys if key.id == wanted]
    found = found or [key for key in keys if key.name == text and key.revoked is None]
    if len(found) == 1:
        return found[0]
    if found:
        ids = ", ".join(key.id for key in found)
        raise SetupError(f"{len(found)} keys have the name {text!r}: say which by its id, {ids}")
    raise SetupError("there is no such key; askgraph keys list shows those there are")


def _date(text: str) -> datetime:
    try:
        read = datetime.fromisoformat(text.strip())
    except ValueError as error:
        raise SetupError(
            f"{text!r} is no time to expire; one is like 90d, 12h, or 2030-01-31"
        ) from error
    return read if read.tzinfo else read.replace(tzinfo=UTC)
