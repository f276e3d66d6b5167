"""Requests that a server is to make for somebody: to itself, to its network, by whatever spelling.

    python -m tools.campaign.forgery [--only DOOR ...] [--json FILE]

A server is run that may reach 127.0.0.2 and no other private address, with a resolver whose names
change what they stand for. At 127.0.0.2 lies a graph that redirects where it is told to; at
127.0.0.1 and ::1, on the same port, lies what nobody may reach. Something is survived if nothing
comes there, and the reply is a refusal in words.
"""

import contextlib
import json
import os
import socket
import sys
import threading
import tomllib
from argparse import Namespace
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
from pyoxigraph import QueryBoolean, QueryResultsFormat, QuerySolutions, RdfFormat, Store
from tools.campaign._tries import Tried, main, send_query, serve, workspace

OPEN, SHUT = "127.0.0.2", ("127.0.0.1", "::1")
_ADDRESSES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
HOSTS, ELSEWHERE = (*_ADDRESSES["hosts"], socket.gethostname()), _ADDRESSES["elsewhere"]
SERVE: str = _ADDRESSES["serve"].replace("OPEN", OPEN)
RESOLVER = """
import itertools, socket
_own, _asked = socket.getaddrinfo, {}
_names = {
    "inside.test": ["127.0.0.1"], "mixed.test": ["127.0.0.2 127.0.0.1"],
    "once.test": ["127.0.0.2", "127.0.0.1"], "twice.test": ["127.0.0.2"] * 2 + ["127.0.0.1"],
    "turns.test": ["127.0.0.2", "127.0.0.1"] * 99,
}
_here = {"localhost", socket.gethostname().lower()}
def getaddrinfo(host, *given, **more):
    name = host.decode() if isinstance(host, bytes) else str(host)
    bare = name.rstrip(".").lower()
    answers = _names.get(bare)
    if answers is None:
        if bare not in _here and len(given) < 5:  # nobody else is asked what a name stands for
            more["flags"] = more.get("flags", 0) | socket.AI_NUMERICHOST
        return _own(host, *given, **more)
    at = _asked[name] = _asked.get(name, -1) + 1
    told = answers[min(at, len(answers) - 1)].split()
    return [one for address in told for one in _own(address, *given, **more)]
socket.getaddrinfo = getaddrinfo
"""
"""A `sitecustomize` whose names stand for one address after the other."""


class Place:
    """The graph that may be reached, and what came where nothing may."""

    def __init__(self) -> None:
        self.port, self.status, self.goes_to = 0, 307, ""
        self.hits: list[str] = []
        self._store = Store()
        self._store.update("INSERT DATA { <http://e/a> a <http://e/C> ; <http://e/p> 'x' }")

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """Listen at the open address and at the shut ones, on one port."""
        servers = [self._serve(OPEN, 0)]
        self.port = servers[0].server_address[1]
        for host in SHUT:
            with contextlib.suppress(OSError):  # a machine without IPv6
                servers.append(self._serve(host, self.port))
        yield
        for one in servers:
            one.shutdown()

    def _serve(self, host: str, port: int) -> ThreadingHTTPServer:
        place = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                place.answer(self, host)

            do_POST = do_HEAD = do_GET  # noqa: N815 - the names that it looks for

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        class Server(ThreadingHTTPServer):
            address_family = socket.AF_INET6 if ":" in host else socket.AF_INET

        server = Server((host, port), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return server

    def answer(self, request: BaseHTTPRequestHandler, host: str) -> None:
        """Note a request to a shut address; redirect, or answer a query, at the open one."""
        content = request.rfile.read(int(request.headers.get("Content-Length") or 0)).decode()
        if host != OPEN:
            self.hits.append(f"{host} {request.command} {request.path}")
        status, body, head = self.status, b"", {"Location": self.goes_to}
        if not self.goes_to or host != OPEN:
            told = parse_qs(urlsplit(request.path).query) | parse_qs(content)
            status, (kind, body) = 200, self._result(told.get("query", ["ASK {}"])[0])
            head = {"Content-Type": kind}
        request.send_response(status)
        for name, value in {**head, "Content-Length": str(len(body))}.items():
            request.send_header(name, value)
        request.end_headers()
        request.wfile.write(body)

    def _result(self, query: str) -> tuple[str, bytes]:
        result = self._store.query(query)
        if isinstance(result, QuerySolutions | QueryBoolean):
            form = QueryResultsFormat.JSON
            return form.media_type, result.serialize(format=form) or b""
        return "text/turtle", result.serialize(format=RdfFormat.TURTLE) or b""


@dataclass(frozen=True)
class Campaign:
    """The server to try, and the place that it is to be led to."""

    client: httpx2.Client
    place: Place

    def told(
        self, door: str, what: str, act: Callable[..., str], *given: Any, **more: Any
    ) -> Tried:
        """Try it: `act` returns what is wrong with the reply. Nothing may come to what is shut."""
        before = len(self.place.hits)
        fault = act(*given, **more)
        if came := self.place.hits[before:]:
            fault = f"reached {came[:3]} {fault}"
        return Tried(door, repr(what), fault)

    def addresses(self) -> Iterator[str]:
        """Yield addresses that nobody may reach."""
        port = self.place.port
        for host in HOSTS:
            yield f"http://{host}:{port}/sparql"
        yield from (one.replace("{}", f"127.0.0.1:{port}") for one in ELSEWHERE)
        yield f"http://127.0.0.1:{port}/#http://{OPEN}:{port}/"
        yield f"https://127.0.0.1:{port}/"

    def added(self, address: str, name: str = "inside") -> str:
        """Add a graph by an address; return what is wrong with the reply."""
        reply = self.client.post("/api/v1/graphs", json={"name": name, "url": address})
        if reply.status_code == 202:
            job = self.ended(reply.json()["id"])
            return "it was added" if job["state"] == "done" else ""
        return "" if reply.status_code == 422 else f"{reply.status_code} {reply.text[:100]}"

    def ended(self, id: str) -> dict[str, Any]:
        """Wait for a job."""
        with self.client.stream("GET", f"/api/v1/jobs/{id}/events") as response:
            lines = [line for line in response.iter_lines() if line.startswith("data: ")]
        job: dict[str, Any] = json.loads(lines[-1][6:])["job"]
        return job

    def adding(self) -> Iterator[Tried]:
        """Graphs that are added by an address."""
        for address in self.addresses():
            yield self.told("adding", address, self.added, address)

    def queried(self, query: str, **more: str) -> str:
        """Send a query by each door; return what is wrong with the replies."""
        return "; ".join(
            f"{route} {reply.status_code} {reply.text[:100]}"
            for route, reply in send_query(self.client, query, **more)
            if reply.status_code >= 500 or "root:" in reply.text
        )

    def queries(self) -> Iterator[Tried]:
        """Queries that name an address."""
        port = self.place.port
        hosts = ("127.0.0.1", "2130706433", "[::1]", "localhost", "inside.test", OPEN)
        for form in _ADDRESSES["queries"]:
            for address in (*(f"http://{host}:{port}/" for host in hosts), "file:///etc/passwd"):
                query = form.replace("ADDRESS", address)
                yield self.told("queries", query, self.queried, query)
        for name in ("default-graph-uri", "named-graph-uri", "using-graph-uri"):
            given, query = {name: f"http://127.0.0.1:{port}/"}, "SELECT * { ?s ?p ?o } LIMIT 1"
            yield self.told("queries", name, self.queried, query, **given)

    def redirects(self) -> Iterator[Tried]:
        """A graph at an address that may be reached, which sends every query on."""
        here = f"http://{OPEN}:{self.place.port}/ok"
        fault = "" if self.added(here, "ok") == "it was added" else "it was refused"
        yield Tried("redirects", "a graph that may be added", fault)
        for status in (301, 302, 303, 307, 308):
            for at, address in enumerate(self.addresses()):
                if any(ord(one) < 32 or ord(one) > 255 for one in address):
                    continue  # no server can write that into a header
                self.place.goes_to, self.place.status = address, status
                data = {"query": f"SELECT ?s {{ ?s ?p {status}, {at} }}"}
                what, fine = f"{status} to {address}", range(400, 600)
                yield self.told("redirects", what, self.posted, "/sparql/ok", fine, data=data)
        self.place.goes_to = ""

    def posted(self, path: str, fine: Collection[int], **content: Any) -> str:
        """Send a request; return what is wrong with the status of the reply."""
        reply = self.client.post(path, **content)
        return "" if reply.status_code in fine else f"{reply.status_code} {reply.text[:100]}"

    def names(self) -> Iterator[Tried]:
        """Names that stand for another address when they are looked up again."""
        for name in ("once.test", "twice.test", "turns.test"):
            address, graph = f"http://{name}:{self.place.port}/ok", name.partition(".")[0]
            tried = self.told("names", address, self.added, address, graph)
            yield replace(tried, fault=tried.fault.replace("it was added", "").strip())
            for at in range(8):  # the graph may be there or not
                data = {"query": f"SELECT ?s {{ ?s ?p {at}, {at} }}"}
                what, fine = f"{name}, query {at}", {*range(200, 600)} - {500}
                yield self.told("names", what, self.posted, f"/sparql/{graph}", fine, data=data)

    def settings(self) -> Iterator[Tried]:
        """What only an operator may set, given with a graph or a question."""
        there, path = f"http://127.0.0.1:{self.place.port}/v1", "/api/v1/graphs"
        operators = "token_env private_addresses public_only sources examples proxy"
        for name in operators.split():
            body = {"name": "inside", "url": f"http://{OPEN}:{self.place.port}/", name: there}
            yield self.told("settings", f"{name} of a graph", self.posted, path, {422}, json=body)
        path, fine = "/api/v1/ask", range(400, 500)
        for name in ("base_url", "key_env", "provider", "ranking", "examples", "model", "proxy"):
            asked = {"question": "Which moons?", "method": "grasp", "settings": {name: there}}
            yield self.told("settings", f"{name} of a method", self.posted, path, fine, json=asked)


DOORS = ("adding", "queries", "settings", "redirects", "names")  # methods of `Campaign`


def campaign(folder: Path, given: Namespace) -> Iterator[Tried]:
    """Start the server and the places, and try the doors."""
    workspace(folder, SERVE)
    (folder / "site").mkdir()
    (folder / "site" / "sitecustomize.py").write_text(RESOLVER)
    before = os.environ.get("PYTHONPATH", "")
    os.environ["PYTHONPATH"] = f"{folder / 'site'}{os.pathsep}{before}"
    place = Place()
    with place.listening(), serve(folder) as (client, _):
        tried = Campaign(client, place)
        for door in given.only:
            yield from getattr(tried, door)()
        there = client.get("/healthz").status_code == 200
        yield Tried("the server", "lives on", "" if there else "it is gone")


if __name__ == "__main__":
    sys.exit(main(__doc__, campaign, DOORS))
