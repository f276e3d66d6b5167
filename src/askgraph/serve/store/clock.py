"""Times as the store keeps them, and ids that nobody guesses."""

import secrets
from datetime import UTC, datetime, timedelta

__all__ = ["ago", "new_id", "now", "time_text"]


def now() -> str:
    """Return the time in UTC, ISO 8601 to the microsecond: later ones sort behind."""
    return time_text(datetime.now(UTC))


def ago(seconds: float) -> str:
    """Return the time so many seconds ago."""
    return time_text(datetime.now(UTC) - timedelta(seconds=seconds))


def time_text(time: datetime) -> str:
    """Return a time as the store keeps it; one without a zone is taken to be UTC."""
    zoned = time if time.tzinfo else time.replace(tzinfo=UTC)
    return zoned.astimezone(UTC).isoformat(timespec="microseconds")


def new_id() -> str:
    """Return an id of 128 random bits, in letters that stand in an address as they are."""
    return secrets.token_urlsafe(16)
