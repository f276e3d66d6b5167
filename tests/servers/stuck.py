"""A server whose graph never answers, to see what becomes of questions that are left alone."""

import json
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

from pyoxigraph import RdfFormat, Store
from tests.servers.faults import slow_first_byte
from tests.servers.served import ServedThread
from tests.servers.sparql import SparqlServer

from askgraph.sample import graph_path
from askgraph.workspace import Workspace

__all__ = ["assert_given_up", "becomes", "stuck_server"]


@contextmanager
def stuck_server(folder: Path) -> Iterator[ServedThread]:
    """Serve an endpoint that is silent for a minute; readers may come back for as long."""
    store = Store()
    store.load(graph_path().read_bytes(), RdfFormat.TURTLE)
    with SparqlServer(store) as endpoint:
        workspace = Workspace(folder)
        workspace.add("slow", [endpoint.url], settings={"cache_mb": 0, "timeout": 120.0})
        endpoint.always = slow_first_byte(60)
        with ServedThread(workspace, database=str(folder / "serve.db"), patience=60.0) as served:
            yield served
        endpoint.always = None


def becomes(server: ServedThread, *, running: bool) -> bool:
    """Return whether a question is under way, or none is any more, within some seconds."""
    runs = server.app.state.hub.runs
    end = time.monotonic() + 120
    while bool(runs.running_count) != running and time.monotonic() < end:
        time.sleep(0.05)
    return bool(runs.running_count) == running


def assert_given_up(server: ServedThread, path: str, body: object) -> None:
    """Fail unless what is sent begins a question, which ends when its sender hangs up."""
    kinds = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
    with closing(HTTPConnection(urlsplit(server.url).netloc, timeout=600)) as connection:
        connection.request("POST", path, json.dumps(body), kinds)
        assert becomes(server, running=True)
    assert becomes(server, running=False)
