"""API keys as their owners hold them: `askgraph_ID_SECRET`, of which the store has no secret."""

import hashlib
import hmac
import re
import secrets
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Literal

from askgraph.errors import SetupError
from askgraph.server.auth import SCOPES, OwnLimits, Scope
from askgraph.server.store import Store
from askgraph.server.store.tables import KeyRow, now, time_text

PREFIX = "askgraph_"
_LETTERS = "abcdefghijklmnopqrstuvwxyz234567"
_ID_LETTERS = 12
_SECRET_BYTES = 32
_LONGEST = 200  # characters; longer ones are not looked at
KeyState = Literal["valid", "expired", "revoked"]
_UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}
_FOR = re.compile(r"(\d{1,4})([hdw])")


def new_key(
    name: str,
    scopes: Iterable[Scope],
    *,
    graphs: Iterable[str] | None = None,
    limits: OwnLimits | None = None,
    expires: datetime | None = None,
) -> tuple[KeyRow, str]:
    """Return a new key, and the text to hand to its owner: nobody can make it again."""
    id = "".join(secrets.choice(_LETTERS) for _ in range(_ID_LETTERS))
    secret = secrets.token_urlsafe(_SECRET_BYTES)
    key = KeyRow(
        id,
        name,
        _digest(secret),
        frozenset(scopes),
        None if graphs is None else frozenset(graphs),
        limits or OwnLimits(),
        expires=None if expires is None else time_text(expires),
    )
    return key, f"{PREFIX}{id}_{secret}"


def given_parts(text: str) -> tuple[str, str] | None:
    """Return the id and the secret of a key's text, None if it is none."""
    id, mark, secret = text.removeprefix(PREFIX).partition("_")
    if not text.startswith(PREFIX) or not mark or len(text) > _LONGEST:
        return None
    if len(id) != _ID_LETTERS or not set(id) <= set(_LETTERS) or not secret.isascii():
        return None
    return id, secret


def is_of(key: KeyRow, secret: str) -> bool:
    """Whether a secret is that of a key; it takes as long whatever it is like."""
    # One round is enough: the secret has 256 random bits, and is no word that somebody chose.
    return hmac.compare_digest(_digest(secret), key.digest)


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def read_scopes(names: Sequence[str]) -> frozenset[Scope]:
    """Return scopes by name; `SetupError` if one is none."""
    known: dict[str, Scope] = {scope: scope for scope in SCOPES}
    for name in names:
        if name not in known:
            raise SetupError(f"{name!r} is no scope; there are {', '.join(SCOPES)}")
    return frozenset(known[name] for name in names)


def expiry(text: str, *, today: datetime | None = None) -> datetime:
    """Return when a key expires: after `90d`, `12h`, `4w`, or at a date as `2030-01-31` (UTC).

    Raises `SetupError` if it says neither, or is over.
    """
    start = today or datetime.now(UTC)
    if told := _FOR.fullmatch(text.strip()):
        until = start + int(told[1]) * _UNITS[told[2]]
    else:
        try:
            read = datetime.fromisoformat(text.strip())
        except ValueError as error:
            raise SetupError(
                f"{text!r} is no time to expire; one is like 90d, 12h, or 2030-01-31"
            ) from error
        until = read if read.tzinfo else read.replace(tzinfo=UTC)
    if until <= start:
        raise SetupError(f"a key that expires at {text!r} would be of no use: that is over")
    return until


def state_of(key: KeyRow) -> KeyState:
    """Return whether a key is of use now."""
    if key.revoked is not None:
        return "revoked"
    return "expired" if key.expires is not None and key.expires <= now() else "valid"


async def found_key(store: Store, text: str) -> KeyRow:
    """Return a key by its id, its name or the key itself; `SetupError` if it is not one."""
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
