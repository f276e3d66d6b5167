"""API keys as their owners hold them: `askgraph_ID_SECRET`; the store holds no secret."""

import hashlib
import hmac
import re
import secrets
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Literal

from askgraph.errors import SetupError
from askgraph.server.auth import SCOPES, LimitOverrides, Scope
from askgraph.server.store import Store
from askgraph.server.store.tables import KeyRow, format_timestamp, get_timestamp

KEY_PREFIX = "askgraph_"
_ID_ALPHABET = "abcdefghijklmnopqrstuvwxyz234567"
_ID_LENGTH = 12
_SECRET_BYTES = 32
_MAX_KEY_CHARACTERS = 200  # longer keys are rejected unchecked
KeyState = Literal["valid", "expired", "revoked"]
_UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}
_DURATION = re.compile(r"(\d{1,4})([hdw])")


def generate_key(
    name: str,
    scopes: Iterable[Scope],
    *,
    graphs: Iterable[str] | None = None,
    limits: LimitOverrides | None = None,
    expires: datetime | None = None,
) -> tuple[KeyRow, str]:
    """Generate a key, and the text for its owner, which cannot be restored later."""
    id = "".join(secrets.choice(_ID_ALPHABET) for _ in range(_ID_LENGTH))
    secret = secrets.token_urlsafe(_SECRET_BYTES)
    key = KeyRow(
        id,
        name,
        _hash_secret(secret),
        frozenset(scopes),
        None if graphs is None else frozenset(graphs),
        limits or LimitOverrides(),
        expires=None if expires is None else format_timestamp(expires),
    )
    return key, f"{KEY_PREFIX}{id}_{secret}"


def parse_key(text: str) -> tuple[str, str] | None:
    """Return the id and the secret of a key's text, or None if it is malformed."""
    id, separator, secret = text.removeprefix(KEY_PREFIX).partition("_")
    if not text.startswith(KEY_PREFIX) or not separator or len(text) > _MAX_KEY_CHARACTERS:
        return None
    if len(id) != _ID_LENGTH or not set(id) <= set(_ID_ALPHABET) or not secret.isascii():
        return None
    return id, secret


def is_secret_of(key: KeyRow, secret: str) -> bool:
    """Return whether a secret belongs to a key, in constant time."""
    # One round is enough: the secret has 256 random bits, and is no word that somebody chose.
    return hmac.compare_digest(_hash_secret(secret), key.digest)


def _hash_secret(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def parse_scopes(names: Sequence[str]) -> frozenset[Scope]:
    """Parse scopes by name; raise `SetupError` if a name is not a scope."""
    scopes_by_name: dict[str, Scope] = {scope: scope for scope in SCOPES}
    for name in names:
        if name not in scopes_by_name:
            raise SetupError(f"{name!r} is not a scope; available: {', '.join(SCOPES)}")
    return frozenset(scopes_by_name[name] for name in names)


def parse_expiry(text: str, *, today: datetime | None = None) -> datetime:
    """Return the time when a key expires: after `90d`, `12h`, `4w`, or at a date in UTC.

    Raises:
        SetupError: the text is neither a duration nor a date, or the time is past.
    """
    start = today or datetime.now(UTC)
    if duration := _DURATION.fullmatch(text.strip()):
        expires = start + int(duration[1]) * _UNITS[duration[2]]
    else:
        try:
            time = datetime.fromisoformat(text.strip())
        except ValueError as error:
            raise SetupError(
                f"{text!r} is not a time to expire: write it as 90d, 12h or 2030-01-31"
            ) from error
        expires = time if time.tzinfo else time.replace(tzinfo=UTC)
    if expires <= start:
        raise SetupError(f"{text!r} is in the past: name a later time for the key to expire")
    return expires


def get_key_state(key: KeyRow) -> KeyState:
    """Return whether a key is valid, expired or revoked."""
    if key.revoked is not None:
        return "revoked"
    return "expired" if key.expires is not None and key.expires <= get_timestamp() else "valid"


async def find_key(store: Store, text: str) -> KeyRow:
    """Return the key with an id or a name, or the key whose text is given.

    Raises:
        SetupError: there is no such key, or there are several.
    """
    parts = parse_key(text) if text.startswith(KEY_PREFIX) else None
    id = parts[0] if parts else text
    keys = await store.list_keys()
    matches = [key for key in keys if key.id == id]
    matches = matches or [key for key in keys if key.name == text and key.revoked is None]
    if len(matches) == 1:
        return matches[0]
    if matches:
        ids = ", ".join(key.id for key in matches)
        raise SetupError(f"{len(matches)} keys have the name {text!r}: say which by its id, {ids}")
    raise SetupError("no key matches; 'askgraph keys list' shows all keys")
