"""`askgraph serve` for tests: in a thread of this process, or as a process that can be killed."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx2

from askgraph.sample import graph_path
from askgraph.server.app import build_server
from askgraph.server.auth.identify import VISITOR_COOKIE, generate_visitor
from askgraph.server.settings import ServeSettings
from askgraph.workspace import Workspace

__all__ = [
    "ServedProcess", "ServedThread", "Visitor", "job_ended", "sample_workspace", "set_model",
    "upload",
]  # fmt: skip

_START = 60.0


def sample_workspace(folder: Path) -> Workspace:
    """Return a workspace with the sample graph, `space`."""
    workspace = Workspace(folder)
    workspace.add("space", [graph_path()])
    return workspace


def set_model(folder: Path, address: str, *lines: str) -> None:
    """Name a model of a workspace, with further lines of its settings."""
    with (folder / "askgraph.toml").open("a", encoding="utf-8") as file:
        table = ("", "[models.default]", 'model = "m"', f'base_url = "{address}"', *lines, "")
        file.write("\n".join(table))


class Visitor(httpx2.Client):
    """A browser that has not been at a server before."""

    def __init__(self, url: str) -> None:
        super().__init__(base_url=url, cookies={VISITOR_COOKIE: generate_visitor()}, timeout=600)

    def get_json(self, path: str, **parameters: Any) -> Any:
        """Return what an address below `/api/v1` gives."""
        return self._read(self.get(f"/api/v1/{path}", params=parameters))

    def post_json(self, path: str, **body: object) -> Any:
        """Return what an address below `/api/v1` replies to a body."""
        return self._read(self.post(f"/api/v1/{path}", json=body))

    def ask(self, question: str, **more: object) -> Any:
        """Return the run of a question."""
        return self.post_json("ask", question=question, **more)

    def _read(self, response: httpx2.Response) -> Any:
        assert response.status_code in (200, 201), response.text
        return response.json()


def upload(client: httpx2.Client, name: str, *files: tuple[str, bytes]) -> httpx2.Response:
    """Send files of a new graph, and return the reply."""
    parts = [("files", (file, content)) for file, content in files]
    return client.post("/api/v1/graphs/upload", data={"name": name}, files=parts)


def job_ended(client: httpx2.Client, id: str) -> dict[str, Any]:
    """Wait for the end of a job by its events, and return it."""
    job: dict[str, Any] = {}
    with client.stream("GET", f"/api/v1/jobs/{id}/events") as response:
        for line in response.iter_lines():
            if line.startswith("data: "):
                job = json.loads(line[6:])["job"]
    return job


class ServedThread:
    """The server on a free port of loopback, in a thread; `url` is its address, without a slash."""

    def __init__(self, workspace: Workspace, **settings: Any) -> None:
        chosen = ServeSettings.from_folder(workspace.folder, {"port": 0, "grace": 2, **settings})
        started = threading.Event()
        self.url = ""

        def tell(address: str, _: ServeSettings, __: object) -> None:
            self.url = address.rstrip("/")
            started.set()

        self._server, listening = build_server(chosen, workspace, report=tell)
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [listening]}, daemon=True
        )
        self._started = started

    @property
    def app(self) -> Any:
        """The application, for what cannot be seen from outside."""
        return self._server.config.app

    def client(self) -> httpx2.Client:
        """Return a client without a cookie, once it has started."""
        return httpx2.Client(base_url=self.url, timeout=600)

    def __enter__(self) -> Self:
        self._thread.start()
        if not self._started.wait(_START):
            raise RuntimeError("the server does not start")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.should_exit = True
        self._thread.join(30)
        if self._thread.is_alive():
            raise RuntimeError("the server does not stop")


@dataclass
class ServedProcess:
    """`askgraph serve` in a process of its own."""

    url: str
    process: "subprocess.Popen[str]"
    log: Path

    @classmethod
    @contextlib.contextmanager
    def start(
        cls,
        folder: Path,
        *options: str,
        env: Mapping[str, str] | None = None,
        program: Sequence[str] = (sys.executable, "-m", "askgraph"),
    ) -> Iterator[Self]:
        """Start it on a workspace, wait until it listens, and end it afterwards."""
        log = folder / f"serve-{time.monotonic_ns()}.log"
        command = [*program, "serve", "--workspace", str(folder)]
        with log.open("w") as errors:
            process = subprocess.Popen(
                [*command, "--port", "0", *options],
                stdout=subprocess.DEVNULL,
                stderr=errors,
                text=True,
                env={**os.environ, **(env or {})},
            )
        try:
            yield cls(_address(log, process), process, log)
        finally:
            if process.poll() is None:
                process.terminate()
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def kill(self) -> None:
        """End it at once, as a crash would (kill -9)."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> int:
        """Ask it to end, and return its exit code."""
        self.process.terminate()
        return self.process.wait(60)


def _address(log: Path, process: "subprocess.Popen[str]") -> str:
    end = time.monotonic() + _START
    while time.monotonic() < end:
        said = log.read_text(encoding="utf-8")
        if found := re.search(r"askgraph is at (http://\S+?)/\s", said):
            return found[1]
        if process.poll() is not None:
            raise RuntimeError(f"the server ended with {process.returncode}: {said}")
        time.sleep(0.05)
    raise RuntimeError(f"the server does not start: {log.read_text(encoding='utf-8')}")
