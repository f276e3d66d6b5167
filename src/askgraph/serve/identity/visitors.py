"""Browsers without an account: a cookie that nobody guesses makes their history theirs."""

import hashlib
import re
import secrets

__all__ = ["VISITOR", "new_visitor", "visitor_id"]

VISITOR = "askgraph_visitor"
"""The name of the cookie; it is set HttpOnly and SameSite=Lax."""

_BYTES = 24
_TOKEN = re.compile(r"[\w-]{32}", re.ASCII)


def new_visitor() -> str:
    """Return the cookie's value for a browser that has none."""
    return secrets.token_urlsafe(_BYTES)


def visitor_id(token: str) -> str | None:
    """Return the id of the visitor with this cookie, None where no such cookie is ever set.

    Who reads the id in a log or in a database cannot make the cookie of it.
    """
    if not _TOKEN.fullmatch(token):
        return None
    return f"visitor:{hashlib.sha256(token.encode()).hexdigest()[:32]}"
