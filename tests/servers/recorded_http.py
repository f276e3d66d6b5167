"""Recorded exchanges over HTTP, played back on loopback: each request has to be the next one."""

import json
import threading
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

Exchange = dict[str, Any]
"""`method`, `path` and `body` (JSON, or a list of lines of JSON), then `status` and `reply`."""


class RecordedServer(ThreadingHTTPServer):
    """Answers the requests of a record in their order, and anything else with a 500."""

    daemon_threads = True

    def __init__(self, exchanges: Sequence[Exchange]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.waiting = list(exchanges)
        self.unexpected: list[Exchange] = []
        self.authorizations: list[str | None] = []

    @property
    def url(self) -> str:
        """The address."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def __enter__(self) -> Self:
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        trace: TracebackType | None = None,
    ) -> None:
        self.shutdown()
        self.server_close()
        if error is None:
            assert self.unexpected == []
            assert self.waiting == [], "requests that did not come"

    def reply(self, method: str, path: str, text: str) -> tuple[int, str]:
        """Return the status and body for a request."""
        lines = [json.loads(line) for line in text.splitlines()]
        body = lines if path.endswith("_bulk") else lines[0] if lines else None
        asked = {"method": method, "path": path, "body": body}
        if not self.waiting or any(self.waiting[0][key] != asked[key] for key in asked):
            self.unexpected.append(asked)
            return 500, json.dumps({"error": f"not the next one of the record: {asked}"})
        found = self.waiting.pop(0)
        reply = found["reply"]
        return found["status"], reply if isinstance(reply, str) else json.dumps(reply)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: RecordedServer

    def _answer(self) -> None:
        size = int(self.headers.get("Content-Length") or 0)
        text = self.rfile.read(size).decode()
        self.server.authorizations.append(self.headers.get("Authorization"))
        status, reply = self.server.reply(self.command, self.path, text)
        raw = reply.encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    do_GET = do_PUT = do_POST = do_DELETE = _answer  # noqa: N815

    def log_message(self, format: str, *args: object) -> None:
        pass
