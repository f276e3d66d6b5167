"""What all tests share."""

import signal
from functools import cache

import httpcore2
import pytest
from hypothesis import HealthCheck, settings

from askgraph.workspace import build

pytest_plugins = ["tests.servers.fixtures", "tests.servers.postgres"]

# A script's shell has what it starts in the background ignore Ctrl-C, and so would all that the
# tests start, and stop so.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Reading the certificates takes longer than most tests, and nearly every client of HTTP is new.
pytest.MonkeyPatch().setattr(httpcore2, "default_ssl_context", cache(httpcore2.default_ssl_context))

# A busy machine's endpoints are slow: `add` waits for them, and leaves no process behind that asks
# for the rest.
pytest.MonkeyPatch().setattr(build, "_FIRST", 240.0)

# How long an example takes says how busy the machine is.
settings.register_profile(
    "any-machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("any-machine")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files with slow tests come first, so that no worker is left alone with one at the end."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Bytes are called by their parameter: packed ones hold the time, and workers must agree."""
    return argname if isinstance(val, bytes) else None
