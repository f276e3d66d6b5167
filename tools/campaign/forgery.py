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
from argparse import Namespace
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
from pyoxigraph import QueryBoolean, QueryResultsFormat, QuerySolutions, RdfFormat, Store
from tools.campaign._tries import Tried, main, served, workspace

OPEN, SHUT = "127.0.0.2", ("127.0.0.1", "::1")
HOSTS = (
    "127.0.0.1", "127.1", "127.0.1", "2130706433", "0x7f000001", "0x7f.1", "0x7F.0.0.0x1",
    "0177.0.0.1", "017700000001", "00000000177.1", "0", "0.0.0.0", "0x0", "127.0.0.1.", "127.0.0.3",
    "127.255.255.254", "[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]",
    "[0:0:0:0:0:0:0:1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "[::1%25lo]", "localhost",
    "LOCALHOST", "localhost.", "１２７.0.0.1", "①②⑦.0.0.1", "127。0。0。1", "127%2e0%2e0%2e1",
    "example.org@127.0.0.1", "127.0.0.1#@example.org", "127.0.0.1?@example.org", "127.0.0.1\\@a.b",
    "127.0.0.2@127.0.0.1", "127.0.0.1\t", "\t127.0.0.1", "127.0.0.1%00.example.org", "127.0.0.1 ",
    "inside.test", "mixed.test", socket.gethostname(),
)  # fmt: skip
ELSEWHERE = (
    "http://10.0.0.1/", "http://172.16.0.1/", "http://192.168.0.1/", "http://169.254.169.254/",
    "http://2852039166/", "http://0xa9fea9fe/", "http://[fd00:ec2::254]/", "http://[fe80::1%25lo]/",
    "http://100.64.0.1/", "http://[64:ff9b::a9fe:a9fe]/", "http://metadata.google.internal/",
    "file:///etc/passwd", "file://localhost/etc/passwd", "FILE:/etc/passwd", "/etc/passwd",
    "ftp://{}/", "gopher://{}/_GET", "dict://{}/", "ldap://{}/", "jar:http://{}!/", "data:,",
    "javascript:alert(1)", "ws://{}/", "unix:///tmp/x", "//{}/", "http:{}", "http:///{}/", "http://",
    "http://[::1", "http://{}:99999/", "http://a\r\nHost: {}/", "view-source:http://{}/", " ", "\0",
)  # fmt: skip
SERVE = f"""
[serve]
private_addresses = ["{OPEN}"]
requests_per_minute = 0
query_timeout = 5
upload_seconds = 20
graphs_per_caller = 0
"""
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


@dataclass
class Place:
    """The graph that may be reached, and what came where nothing may."""

    port: int = 0
    goes_to: str = ""
    status: int = 307
    hits: list[str] = field(default_factory=list)
    store: Store = field(default_factory=Store)

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """Listen at the open address and at the shut ones, on one port."""
        self.store.update("INSERT DATA { <http://e/a> a <http://e/C> ; <http://e/p> 'x' }")
        servers = [self._server(OPEN, 0)]
        self.port = servers[0].server_address[1]
        for host in SHUT:
            with contextlib.suppress(OSError):  # a machine without IPv6
                servers.append(self._server(host, self.port))
        for one in servers:
            threading.Thread(target=one.serve_forever, daemon=True).start()
        yield
        for one in servers:
            one.shutdown()

    def _server(self, host: str, port: int) -> ThreadingHTTPServer:
        place = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                place.answer(self, host)

            do_POST = do_HEAD = do_GET  # noqa: N815 - the names that it looks for

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        class Server(ThreadingHTTPServer):
            address_family = socket.AF_INET6 if ":" in host else socket.AF_INET

        return Server((host, port), Handler)

    def answer(self, request: BaseHTTPRequestHandler, host: str) -> None:
        """Note a request to a shut address; redirect, or answer a query, at the open one."""
        content = request.rfile.read(int(request.headers.get("Content-Length") or 0)).decode()
        if host != OPEN:
            self.hits.append(f"{host} {request.command} {request.path}")
        if self.goes_to and host == OPEN:
            request.send_response(self.status)
            request.send_header("Location", self.goes_to)
            request.send_header("Content-Length", "0")
            request.end_headers()
            return
        told = parse_qs(urlsplit(request.path).query) | parse_qs(content)
        kind, body = self._given(told.get("query", ["ASK {}"])[0])
        request.send_response(200)
        request.send_header("Content-Type", kind)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)

    def _given(self, query: str) -> tuple[str, bytes]:
        result = self.store.query(query)
        if isinstance(result, QuerySolutions | QueryBoolean):
            form = QueryResultsFormat.JSON
            return form.media_type, result.serialize(format=form) or b""
        return "text/turtle", result.serialize(format=RdfFormat.TURTLE) or b""


@dataclass(frozen=True)
class Campaign:
    """The server to try, and the place that it is to be led to."""

    client: httpx2.Client
    place: Place

    def told(self, door: str, what: str, act: Callable[[], str]) -> Tried:
        """Try it: `act` returns what is wrong with the reply. Nothing may come to what is shut."""
        before = len(self.place.hits)
        fault = act()
        if came := self.place.hits[before:]:
            fault = f"reached {came[:3]} {fault}"
        return Tried(door, repr(what), fault, 0.0)

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
            yield self.told("adding", address, lambda address=address: self.added(address))  # type: ignore[misc]

    def queried(self, query: str, graph: str = "space", **more: str) -> str:
        """Send a query by each door; return what is wrong with the replies."""
        faults = []
        for route in ("query", "answer", "evidence", "validate", "parts", "format", "sparql"):
            body = {"query": query, **({"row": 0} if route == "evidence" else {})}
            if route == "sparql":
                reply = self.client.post(f"/sparql/{graph}", data={"query": query, **more})
            else:
                reply = self.client.post(f"/api/v1/graphs/{graph}/{route}", json=body)
            if reply.status_code >= 500 or "root:" in reply.text:
                faults.append(f"{route} {reply.status_code} {reply.text[:100]}")
        return "; ".join(faults)

    def queries(self) -> Iterator[Tried]:
        """Queries that name an address."""
        forms = (
            "SELECT * {{ SERVICE <{0}> {{ ?s ?p ?o }} }}",
            "SELECT * {{ SERVICE SILENT <{0}> {{ ?s ?p ?o }} }}",
            "SELECT * {{ VALUES ?x {{ <{0}> }} SERVICE ?x {{ ?s ?p ?o }} }}",
            "BASE <{0}> SELECT * {{ {{ SELECT * {{ OPTIONAL {{ SERVICE <> {{}} }} }} }} }}",
            "PREFIX s: <{0}> ASK {{ FILTER EXISTS {{ SERVICE s: {{ ?s ?p ?o }} }} }}",
            "SELECT*{{{{}}SERVICE<{0}>{{}}}}",
            "SELECT * {{ S\\u0045RVICE <{0}> {{ ?s ?p ?o }} }}",
            "SELECT * {{ SERVICE#\n<{0}>{{ }} }}",
            "SELECT * FROM <{0}> {{ ?s ?p ?o }}",
            "SELECT * FROM NAMED <{0}> {{ GRAPH ?g {{ ?s ?p ?o }} }}",
            "LOAD <{0}>",
            "LOAD SILENT <{0}> INTO GRAPH <http://e/g>",
            "DESCRIBE <{0}>",
        )
        port = self.place.port
        hosts = ("127.0.0.1", "2130706433", "[::1]", "localhost", "inside.test", OPEN)
        for form in forms:
            for address in (*(f"http://{host}:{port}/" for host in hosts), "file:///etc/passwd"):
                query = form.format(address)
                yield self.told("queries", query, lambda query=query: self.queried(query))  # type: ignore[misc]
        for name in ("default-graph-uri", "named-graph-uri", "using-graph-uri"):
            given = {name: f"http://127.0.0.1:{port}/"}
            act = lambda given=given: self.queried("SELECT * { ?s ?p ?o } LIMIT 1", **given)  # noqa: E731
            yield self.told("queries", name, act)

    def redirects(self) -> Iterator[Tried]:
        """A graph at an address that may be reached, which sends every query on."""
        here = f"http://{OPEN}:{self.place.port}/ok"
        fault = "" if self.added(here, "ok") == "it was added" else "it was refused"
        yield Tried("redirects", "a graph that may be added", fault, 0.0)
        for status in (301, 302, 303, 307, 308):
            for at, address in enumerate(self.addresses()):
                if any(ord(one) < 32 or ord(one) > 255 for one in address):
                    continue  # no server can write that into a header
                self.place.goes_to, self.place.status = address, status
                query = f"SELECT ?s {{ ?s ?p {status}, {at} }}"

                def act(query: str = query) -> str:
                    reply = self.client.post("/sparql/ok", data={"query": query})
                    return "" if reply.status_code >= 400 else f"{reply.status_code} {reply.text}"

                yield self.told("redirects", f"{status} to {address}", act)
        self.place.goes_to = ""

    def names(self) -> Iterator[Tried]:
        """Names that stand for another address when they are looked up again."""
        for name in ("once.test", "twice.test", "turns.test"):
            address = f"http://{name}:{self.place.port}/ok"
            graph = name.partition(".")[0]
            act = lambda address=address, graph=graph: self.added(address, graph)  # noqa: E731
            tried = self.told("names", address, act)
            yield Tried("names", tried.how, tried.fault.replace("it was added", "").strip(), 0.0)
            for at in range(8):
                query = f"SELECT ?s {{ ?s ?p {at}, {at} }}"
                again = lambda query=query, graph=graph: self.queried_at(query, graph)  # noqa: E731
                yield self.told("names", f"{name}, query {at}", again)

    def queried_at(self, query: str, graph: str) -> str:
        """Query a graph that may be there or not; return what is wrong with the reply."""
        reply = self.client.post(f"/sparql/{graph}", data={"query": query})
        return f"500 {reply.text[:100]}" if reply.status_code == 500 else ""

    def settings(self) -> Iterator[Tried]:
        """What only an operator may set, given with a graph or a question."""
        there = f"http://127.0.0.1:{self.place.port}/v1"
        for name in (
            "token_env",
            "private_addresses",
            "public_only",
            "sources",
            "examples",
            "proxy",
        ):
            body = {"name": "inside", "url": f"http://{OPEN}:{self.place.port}/", name: there}

            def add(body: dict[str, str] = body) -> str:
                status = self.client.post("/api/v1/graphs", json=body).status_code
                return "" if status == 422 else str(status)

            yield self.told("settings", f"{name} of a graph", add)
        for name in ("base_url", "key_env", "provider", "ranking", "examples", "model", "proxy"):
            asked = {"question": "Which moons?", "method": "grasp", "settings": {name: there}}

            def ask(asked: dict[str, Any] = asked) -> str:
                reply = self.client.post("/api/v1/ask", json=asked)
                return "" if 400 <= reply.status_code < 500 else f"{reply.status_code}"

            yield self.told("settings", f"{name} of a method", ask)


DOORS: dict[str, Callable[[Campaign], Iterator[Tried]]] = {
    "adding": Campaign.adding,
    "queries": Campaign.queries,
    "settings": Campaign.settings,
    "redirects": Campaign.redirects,
    "names": Campaign.names,
}


def campaign(folder: Path, given: Namespace) -> Iterator[Tried]:
    """Start the server and the places, and try the doors."""
    workspace(folder, SERVE)
    (folder / "site").mkdir()
    (folder / "site" / "sitecustomize.py").write_text(RESOLVER)
    before = os.environ.get("PYTHONPATH", "")
    os.environ["PYTHONPATH"] = f"{folder / 'site'}{os.pathsep}{before}"
    place = Place()
    with (
        place.listening(),
        served(folder) as (url, _),
        httpx2.Client(base_url=url, timeout=60) as client,
    ):
        tried = Campaign(client, place)
        for door in given.only:
            yield from DOORS[door](tried)
        there = client.get("/healthz").status_code == 200
        yield Tried("the server", "lives on", "" if there else "it is gone", 0.0)


if __name__ == "__main__":
    sys.exit(main(__doc__, campaign, DOORS))
