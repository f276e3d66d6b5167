"""Settings that make no sense are refused when a method is made, not when it runs."""

from askgraph.errors import SetupError


def one_of(method: object, **known: tuple[str, ...]) -> None:
    """Raise `SetupError` if a setting is none of its known values."""
    for setting, values in known.items():
        if (value := getattr(method, setting)) not in values:
            raise SetupError(f"{setting!r} is one of {', '.join(values)}, not {value!r}")


def at_least(method: object, least: int, *settings: str) -> None:
    """Raise `SetupError` if a setting is less than `least`."""
    for setting in settings:
        if (value := getattr(method, setting)) < least:
            raise SetupError(f"{setting!r} is {least} or more, not {value!r}")


def within(timeout: float, seconds: float | None) -> float:
    """Return the seconds that a query may take if the whole question has `seconds`."""
    return timeout if seconds is None else min(timeout, seconds)


def above_zero(method: object, *settings: str) -> None:
    """Raise `SetupError` if a setting is given and is not more than zero."""
    for setting in settings:
        value = getattr(method, setting)
        if value is not None and not value > 0:
            raise SetupError(f"{setting!r} is more than 0, not {value!r}")


def shares(method: object, *settings: str) -> None:
    """Raise `SetupError` if a setting is not between 0 and 1."""
    for setting in settings:
        if not 0 <= (value := getattr(method, setting)) <= 1:
            raise SetupError(f"{setting!r} is from 0 to 1, not {value!r}")
