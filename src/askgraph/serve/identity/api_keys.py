"""API keys as their owners hold them: `askgraph_ID_SECRET`, of which the store has no secret."""

import hashlib
import hmac
import secrets
from collections.abc import Iterable
from datetime import datetime

from askgraph.serve.identity.principal import OwnLimits, Scope
from askgraph.serve.store import KeyRow, time_text

__all__ = ["PREFIX", "given_parts", "is_of", "new_key"]

PREFIX = "askgraph_"
_LETTERS = "abcdefghijklmnopqrstuvwxyz234567"
_ID_LETTERS = 12
_SECRET_BYTES = 32
_LONGEST = 200  # characters; longer ones are not looked at


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
    """Return the id and the secret of a key's text, None where it is none."""
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
