"""A method and its settings as one word of a command line: `dfsl:n=3,choose=vote`."""

import json

from askgraph.errors import SetupError

__all__ = ["method_spec", "named_setting"]


def method_spec(spec: str) -> tuple[str, dict[str, object]]:
    """Return the name in `graph-search` or `graph-search:operators=false`, and the settings.

    Raises `SetupError` for a setting without a name or value.
    """
    name, _, own = spec.partition(":")
    return name, dict(named_setting(text) for text in own.split(",") if text.strip())


def named_setting(text: str) -> tuple[str, object]:
    """Return the name and the value of `NAME=VALUE`; the value is JSON where it can be, else text.

    Raises `SetupError` for another text.
    """
    name, equals, value = text.partition("=")
    if not name.strip() or not equals:
        raise SetupError(f"the setting {text!r} is not understood; write NAME=VALUE")
    try:
        return name.strip(), json.loads(value)
    except ValueError:
        return name.strip(), value
