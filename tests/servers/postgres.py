"""A PostgreSQL server of our own on loopback, with fresh databases, for the tests."""

import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

import pytest

_STARTED = 60.0  # seconds
_USER = "postgres"  # whom Debian's package makes; the server does not run as root


class PostgresServer:
    """A cluster in a temporary folder, gone at the end; what it holds need not survive a crash."""

    def __init__(self, binaries: Path) -> None:
        self._binaries = binaries
        self._password = secrets.token_hex(8)
        self._folder = Path(tempfile.mkdtemp(prefix="askgraph-postgres-"))
        self._user = _USER if os.geteuid() == 0 else None
        self._port = free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self._made = 0

    def __enter__(self) -> Self:
        secret = self._folder / "password"
        secret.write_text(self._password)
        if self._user:
            shutil.chown(self._folder, _USER, _USER)
            shutil.chown(secret, _USER, _USER)
        self._run(
            "initdb", "-D", "data", "-U", _USER, "-A", "scram-sha-256", f"--pwfile={secret}",
            "-E", "UTF8", "--locale=C", "--no-sync",
        )  # fmt: skip
        options = (
            f"port={self._port}",
            "listen_addresses=127.0.0.1",
            f"unix_socket_directories={self._folder}",
            "fsync=off",
            "shared_buffers=16MB",
        )
        with (self._folder / "log").open("wb") as log:
            self._process = subprocess.Popen(
                [self._binaries / "postgres", "-D", "data", *(f"-c{one}" for one in options)],
                cwd=self._folder,
                stdout=subprocess.DEVNULL,
                stderr=log,
                user=self._user,
                group=self._user,
                extra_groups=[] if self._user else None,
            )
        self._wait()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._process is not None:
            self._process.send_signal(signal.SIGINT)  # it does not wait for those connected
            try:
                self._process.wait(timeout=_STARTED)
            finally:
                self._process.kill()
        shutil.rmtree(self._folder)

    def database(self) -> str:
        """Make a new, empty database and return its URL."""
        self._made += 1
        name = f"askgraph_{self._made}"
        self._run("createdb", "-h", "127.0.0.1", "-p", str(self._port), "-U", _USER, name)
        return f"postgresql://{_USER}:{self._password}@127.0.0.1:{self._port}/{name}"

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Let no process of it go on meanwhile: it takes connections and never answers."""
        assert self._process is not None
        children = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children")
        stopped = [*map(int, children.read_text().split()), self._process.pid]
        for one in stopped:
            os.kill(one, signal.SIGSTOP)
        try:
            yield
        finally:
            for one in stopped:
                os.kill(one, signal.SIGCONT)

    def _run(self, command: str, *arguments: str) -> None:
        subprocess.run(
            [self._binaries / command, *arguments],
            cwd=self._folder,
            env={**os.environ, "PGPASSWORD": self._password, "LC_ALL": "C"},
            check=True,
            stdout=subprocess.DEVNULL,
            user=self._user,
            group=self._user,
            extra_groups=[] if self._user else None,
        )

    def _wait(self) -> None:
        assert self._process is not None
        until = time.monotonic() + _STARTED
        ready = self._binaries / "pg_isready"
        while subprocess.run([ready, "-h", "127.0.0.1", "-p", str(self._port), "-q"]).returncode:
            if self._process.poll() is not None or time.monotonic() > until:
                raise RuntimeError((self._folder / "log").read_text())
            time.sleep(0.05)


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A server for the whole run; skipped where PostgreSQL is not installed, but never in CI."""
    # ASKGRAPH_TEST_POSTGRESQL may name the folder of another one's programs, one with pgvector.
    binaries = _binaries()
    if binaries is None:
        if os.environ.get("CI") == "true":
            pytest.fail("PostgreSQL is missing: on Debian, the package postgresql")
        pytest.skip("PostgreSQL is not installed")
    with PostgresServer(binaries) as server:
        yield server


@pytest.fixture(scope="session")
def index_database(postgres: PostgresServer) -> Iterator[str]:
    """The address of a database for indices, without its password, which is in the environment."""
    url = urlsplit(postgres.database())
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ASKGRAPH_INDEX_PASSWORD", url.password or "")
        yield url._replace(netloc=f"{url.username}@{url.hostname}:{url.port}").geturl()


def _binaries() -> Path | None:
    if named := os.environ.get("ASKGRAPH_TEST_POSTGRESQL"):
        return Path(named)
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=_version)
    on_path = shutil.which("initdb")
    if found:
        return found[-1].parent
    return None if on_path is None else Path(on_path).parent


def _version(path: Path) -> float:
    return float(path.parents[1].name)


def free_port() -> int:
    """Return a port of loopback that nothing listens on."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port
