"""API keys as people and programs read them."""

from dataclasses import asdict

from askgraph.serve.identity.api_keys import state_of
from askgraph.serve.store import KeyRow

__all__ = ["HEADS", "cells", "key_object", "words_of"]

HEADS = ("id", "name", "state", "may", "graphs", "limits", "expires", "used")
_SHORT = {
    "requests_per_minute": "requests a minute",
    "parallel": "at once",
    "tokens_per_day": "tokens a day",
    "money_per_day": "money a day",
}
_MINUTE = len("2030-01-31T12:00")


def key_object(key: KeyRow) -> dict[str, object]:
    """Return a key for JSON: all but its secret."""

    return {
        "id": key.id,
        "name": key.name,
        "state": state_of(key),
        "scopes": sorted(key.scopes),
        "graphs": None if key.graphs is None else sorted(key.graphs),
        "limits": asdict(key.limits),
        "created": key.created,
        "expires": key.expires,
        "revoked": key.revoked,
        "used": key.used,
    }


def cells(key: KeyRow) -> tuple[str, ...]:
    """Return a key as the cells of a row under `HEADS`."""

    return (
        key.id,
        key.name,
        state_of(key),
        " ".join(sorted(key.scopes)),
        "all" if key.graphs is None else " ".join(sorted(key.graphs)),
        _limits(key) or "-",
        _time(key.expires),
        _time(key.used),
    )


def words_of(key: KeyRow) -> str:
    """Return a sentence on what a key allows."""
    may = ", ".join(sorted(key.scopes))
    where = "all graphs" if key.graphs is None else ", ".join(sorted(key.graphs))
    until = f", until {_time(key.expires)} UTC" if key.expires else ""
    limits = f", with {_limits(key)}" if _limits(key) else ""
    return f"The key {key.id} of {key.name} may {may} on {where}{until}{limits}."


def _limits(key: KeyRow) -> str:
    own = [(_SHORT[name], value) for name, value in asdict(key.limits).items() if value is not None]
    return ", ".join(f"{value:g} {what}" if value else f"any {what}" for what, value in own)


def _time(text: str | None) -> str:
    return "-" if text is None else text[:_MINUTE].replace("T", " ")
