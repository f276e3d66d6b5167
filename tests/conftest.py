"""What all tests share."""

import gc
import os
import re
import signal
from contextlib import suppress
from functools import cache
from pathlib import Path

import httpcore2
import pytest
from hypothesis import HealthCheck, settings
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling

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
pytest.MonkeyPatch().setattr(build, "_FIRST_SURVEY_SECONDS", 240.0)

# How long an example takes says how busy the machine is.
settings.register_profile(
    "any-machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("any-machine")


TESTS = Path(__file__).parent
# What starts a server of ours, where a file of tests imports it.
STARTS_SERVER = re.compile(
    r"^from tests\.(servers?\.(?!faults)|fleet|wikibase|deaf|methods\.tools\.|tool_graphs)", re.M
)
# Folders whose tests start processes, and what says so elsewhere.
SLOW_FOLDERS = ("acceptance", "repo_tools", "deploy", "upgrade")
SLOW = re.compile(r"^import subprocess", re.MULTILINE)
# What imports PyTorch, which takes seconds and half a gigabyte.
TORCH = re.compile(r"^from tests\.(tiny_models|late import .*\b(torch|xgrammar))\b", re.MULTILINE)
BROWSER_FOLDER = TESTS / "server" / "browser"
ORDER = ("torch", "slow", "browser", "server")  # of files; a browser keeps profilers from calls
SERVER_FIXTURES = {"llm_server", "sparql_server", "sample_endpoint", "postgres"}


@cache
def marks_of_file(path: Path) -> tuple[str, ...]:
    """Return the markers of all tests of a file: `torch`, `browser`, `slow` or `server`."""
    source, room = path.read_text(encoding="utf-8"), path.relative_to(TESTS).parts[0]
    marks = {
        "torch": bool(TORCH.search(source)),
        "browser": path.is_relative_to(BROWSER_FOLDER) or "playwright" in source,
        "slow": room in SLOW_FOLDERS or bool(SLOW.search(source) or TORCH.search(source)),
        "server": bool(STARTS_SERVER.search(source)),
    }
    return tuple(name for name, holds in marks.items() if holds)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave a file out, unread, whose tests `-m "not ..."` would leave out all."""
    if collection_path.suffix != ".py" or not collection_path.name.startswith("test_"):
        return None
    left_out = re.findall(r"\bnot (\w+)", config.getoption("markexpr"))
    return bool(set(left_out) & set(marks_of_file(collection_path))) or None


def pytest_collection(session: pytest.Session) -> None:
    """Import some files first, each worker others: what one compiles, the others only read."""
    config, worker = session.config, os.environ.get("PYTEST_XDIST_WORKER", "")
    if not worker or config.args != config.getini("testpaths"):
        return
    files = [path for path in sorted(TESTS.rglob("*.py")) if path.name.startswith("test_")]
    count = int(os.environ["PYTEST_XDIST_WORKER_COUNT"])
    for path in files[int(worker.removeprefix("gw")) :: count]:
        if not config.hook.pytest_ignore_collect(collection_path=path, config=config):
            with suppress(pytest.skip.Exception, pytest.Collector.CollectError):
                _ = pytest.Module.from_parent(session, path=path).obj


class FileScheduling(LoadFileScheduling):  # type: ignore[misc]
    """Gives a worker a file at a time; one worker has all that need PyTorch, and imports it."""

    def _split_scope(self, nodeid: str) -> str:
        file: str = super()._split_scope(nodeid)
        return "torch" if "torch" in marks_of_file(TESTS.parent / file) else file


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> FileScheduling:
    """Distribute files as `--dist loadfile` would."""
    return FileScheduling(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests by what they need; files that take long come first, so that none is last alone."""
    marks = {item.path: {*marks_of_file(item.path)} for item in items}
    for item in items:
        marks[item.path].update(mark.name for mark in item.iter_markers("slow"))
    items.sort(key=lambda item: [name not in marks[item.path] for name in ORDER])
    for item in items:
        for name in marks_of_file(item.path):
            item.add_marker(name)
        if SERVER_FIXTURES & set(getattr(item, "fixturenames", ())):
            item.add_marker("server")
    gc.freeze()  # what was imported stays; looking through it for garbage takes half a second


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Bytes are called by their parameter: packed ones hold the time, and workers must agree."""
    return argname if isinstance(val, bytes) else None
