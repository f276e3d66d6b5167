"""What the parts of the campaign share: options and report, commands, workspaces, their states."""

import argparse
import asyncio
import json
import os
import resource
import socketserver
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import httpx2

from _measure import print_lines as print_lines
from _measure import served as served
from _measure import tree as tree
from askgraph import sample
from askgraph.server.auth import SCOPES, Scope
from askgraph.server.auth.api_keys import generate_key
from askgraph.server.store import Store
from askgraph.workspace import Workspace

MARK = "ASKGRAPH_CAMPAIGN"
"""A variable of the environment, by which the processes of one try are found."""
QUESTION = "Which moons orbit Jupiter?"
OLD, NEW = 8132, 8133  # triples of the sample graph, and of `more.ttl`, which takes its place
ROUTES: Mapping[str, Mapping[str, int]] = {
    **{name: {} for name in ("query", "answer", "validate", "format", "parts", "refine")},
    "evidence": {"row": 0},
}
"""The routes of a graph that read a query, each with what else it needs."""


@dataclass(frozen=True)
class Tried:
    """Something that was tried, the `fault` that was found (empty: survived), and its seconds."""

    what: str
    how: str
    fault: str
    seconds: float = 0.0
    words: str = ""


def attempt(what: str, how: str, act: Callable[[], str]) -> Tried:
    """Try something: `act` returns what is wrong; whatever it raises is wrong, too."""
    began = time.monotonic()
    try:
        fault = act()
    except Exception as error:  # noqa: BLE001 - that is what is looked for
        fault = f"{type(error).__name__}: {error}"
    return Tried(what, how, fault[:600], time.monotonic() - began)


def wait_until(is_done: Callable[[], bool], seconds: float) -> bool:
    """Wait until something is done; return whether it came to that in time."""
    until = time.monotonic() + seconds
    while not is_done():
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True


@dataclass(frozen=True)
class Ran:
    """A command that has ended: its exit code (of a signal, negative) and all that it wrote."""

    code: int
    out: str
    said: str
    seconds: float
    mb: float = 0.0  # the most memory that one of its processes had, as far as was seen

    @property
    def last(self) -> str:
        """The last line on standard error."""
        return (self.said.strip().splitlines() or [""])[-1]


def askgraph(
    place: Path,
    *arguments: object,
    program: Sequence[str] = (sys.executable, "-m", "askgraph"),
    mark: str = "",
    seconds: float = 60.0,
    before: Callable[[], object] | None = None,
    stop: tuple[float, int] | None = None,
    output: int = subprocess.PIPE,
) -> Ran:
    """Run a command on a workspace; one that takes longer is killed, and its code is 124.

    `before` is called in its process; `stop` sends a signal after so many seconds.
    """
    began, most, late = time.monotonic(), 0.0, False
    command = [*program, *map(str, arguments)]
    own = {"ASKGRAPH_WORKSPACE": str(place), MARK: mark, "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(
        command, cwd=place, env={**os.environ, **own}, stdin=subprocess.DEVNULL,
        stdout=output, stderr=output, text=True, preexec_fn=before,
    ) as process:  # fmt: skip
        if stop:
            time.sleep(stop[0])
            process.send_signal(stop[1])
        while True:
            try:
                out, said = process.communicate(timeout=0.1)
                break
            except subprocess.TimeoutExpired:
                most = max(most, *map(peak, tree(process.pid)))
                if time.monotonic() - began > seconds + 10:
                    raise TimeoutError("a process that it started holds its output") from None
                if time.monotonic() - began > seconds:
                    process.kill()
                    late = True
    code, seconds = 124 if late else process.returncode, time.monotonic() - began
    return Ran(code, out or "", said or "", seconds, most)


def peak(pid: int) -> float:
    """Return the most memory that a process ever had, in MB; 0 for one that has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM:"))


@contextmanager
def serve(
    place: Path, *options: str, timeout: float = 60, cookies: Mapping[str, str] | None = None
) -> Iterator[tuple[httpx2.Client, int]]:
    """Serve a workspace; give a client of the server and the server's process."""
    with (
        served(place, *options) as (url, pid),
        httpx2.Client(base_url=url, timeout=timeout, cookies=dict(cookies or {})) as client,
    ):
        yield client, pid


@contextmanager
def listen() -> Iterator[tuple[str, list[object]]]:
    """Listen on loopback and hang up on everybody; give the address, and who connected."""
    hits: list[object] = []

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            hits.append(self.client_address)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}", hits
        server.shutdown()


def send_query(
    client: httpx2.Client, query: str, graph: str = "space", *, whole: str = "", **more: str
) -> Iterator[tuple[str, httpx2.Response]]:
    """Send a query to every route that reads one; yield the replies.

    The SPARQL endpoint gets the `whole` query, if there is one, and `more`.
    """
    for route, body in ROUTES.items():
        path = f"/api/v1/graphs/{graph}/{route}"
        yield route, client.post(path, json={"query": query, **body})
    yield "sparql", client.post(f"/sparql/{graph}", data={"query": whole or query, **more})


def uploaded(client: httpx2.Client, graph: str, name: str, content: bytes) -> tuple[int, str]:
    """Upload a file as a graph; return 200, or the status and text of why it was not added."""
    files = [("files", (name, content))]
    reply = client.post("/api/v1/graphs/upload", data={"name": graph}, files=files)
    if reply.status_code >= 400:
        return reply.status_code, reply.text
    path = f"/api/v1/jobs/{reply.json()['id']}"
    if not wait_until(lambda: client.get(path).json()["state"] not in ("queued", "running"), 90):
        return 0, "it does not end"
    problem = client.get(path).json()["problem"]
    return (problem["status"], json.dumps(problem)) if problem else (200, "")


def workspace(place: Path, settings: str = "") -> Path:
    """Make a workspace with the sample graph `space` and these settings; return its folder."""
    Workspace(place).add("space", [sample.graph_path()])
    with (place / "askgraph.toml").open("a") as file:
        file.write(settings)
    return place


def base(place: Path, settings: str = "") -> Path:
    """Make such a workspace with some questions, and another graph to add."""
    workspace(place, settings)
    known = sample.questions_path().with_suffix(".jsonl").read_text(encoding="utf-8")
    (place / "questions.jsonl").write_text("\n".join(known.splitlines()[:12]) + "\n")
    more = sample.graph_path().read_text(encoding="utf-8")
    (place / "more.ttl").write_text(more + "\n<http://e/a> <http://e/b> <http://e/c> .\n")
    return place


def triples(place: Path, name: str) -> int | None:
    """Return how many triples a graph gives when it is asked; None if there is no such graph."""
    if name not in Workspace(place).graphs():
        return None
    graph = Workspace(place).graph(name)

    async def count() -> int:
        try:
            found = await graph.endpoint.select("SELECT (COUNT(*) AS ?n) { ?s ?p ?o }")
            number = int(found.rows[0][0].value)  # type: ignore[union-attr]
            return number if number == graph.profile.triples else -1
        finally:
            await graph.endpoint.close()

    return asyncio.run(count())


def left_over(place: Path) -> str:
    """Return what lies in a workspace that is no one's: files and folders on their way."""
    found = [
        path.relative_to(place).as_posix()
        for path in place.rglob("*")
        if (path.name.startswith(".") or path.name.endswith(".partial"))
        and path.name not in (".lock", ".locks")
        and not any(part.startswith(".") for part in path.relative_to(place).parts[:-1])
    ]
    return f"left over: {', '.join(sorted(found))}" if found else ""


def is_gone(mark: str, seconds: float = 5.0) -> bool:
    """Wait until no process has the mark in its environment; return whether it came to that."""
    wanted = f"{MARK}={mark}".encode()

    def has_mark(process: Path) -> bool:
        try:
            return wanted in (process / "environ").read_bytes().split(b"\0")
        except OSError:
            return False  # it has ended, or is another's

    return wait_until(lambda: not any(map(has_mark, Path("/proc").glob("[0-9]*"))), seconds)


Campaign = Callable[[Path, argparse.Namespace], Iterable[Tried]]
"""What is tried, in a folder of its own and as the options say."""


def main(
    about: str | None,
    campaign: Campaign,
    known: Iterable[str] = (),
    numbers: Mapping[str, tuple[int | Sequence[int], str]] = MappingProxyType({}),
) -> int:
    """Try all, or those of `known` that `--only` names, and print the report; return the exit code.

    `numbers` are its options: what each is if it is not given, and what it means.
    """
    parser = argparse.ArgumentParser(description=about)
    if known := tuple(known):
        parser.add_argument("--only", nargs="*", choices=known, default=known, metavar="WHAT")
    for name, (number, what) in numbers.items():
        many = None if isinstance(number, int) else "*"
        parser.add_argument(f"--{name}", type=int, nargs=many, default=number, help=what)
    parser.add_argument("--json", type=Path, help="also write what came to this file")
    given = parser.parse_args()
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for one in campaign(Path(folder), given):
            found.append(one)
            if one.seconds > 0.5:
                told = (one.what, one.how, f"{one.seconds:.1f} s", one.fault or one.words)
                print(*told, sep=" | ", file=sys.stderr, flush=True)
    by_kind: dict[str, list[Tried]] = {}
    for one in found:
        by_kind.setdefault(one.what, []).append(one)
        if one.fault:
            print(f"{one.what}, {one.how}: {one.fault} {one.words}".rstrip())
    rows = (
        (what, len(own), sum(not one.fault for one in own), f"{max(o.seconds for o in own):.1f}")
        for what, own in by_kind.items()
    )
    print_lines(("what", "tried", "survived", "slowest"), *rows)
    if given.json:
        given.json.write_text(json.dumps([asdict(one) for one in found], indent=1))
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    print(f"{sum(one.ru_utime + one.ru_stime for one in used):.0f} s of the processor")
    lost = sum(bool(one.fault) for one in found)
    print(f"tried {len(found)}, survived {len(found) - lost}")
    return int(lost > 0)


RULES: dict[str, Scope | None] = {
    name: needed if needed in SCOPES else None
    for needed, names in json.loads(
        Path(__file__).with_name("authorisation.json").read_text()
    ).items()
    for name in names
}
"""The scope that an operation or tool needs; None: it is open."""

_CALLS = tomllib.loads(Path(__file__).with_name("calls.toml").read_text("utf-8"))
GIVEN: dict[str, object] = _CALLS["given"]  # what a field or parameter gets, by its name


@dataclass(frozen=True)
class Kind:
    """A kind of caller: the headers sent, and the scopes that they should have; None: nobody."""

    name: str
    headers: dict[str, str]
    scopes: frozenset[Scope] | None

    def may(self, scope: Scope | None) -> bool:
        """Whether the caller has a scope."""
        return scope is None or bool({scope, "admin"} & (self.scopes or set()))

    @property
    def refused(self) -> set[int]:
        """The statuses of a refusal."""
        if self.scopes is not None:
            return {403}
        guesses = self.headers.get("Authorization", "").startswith("Bearer askgraph_")
        return {401, 429} if guesses else {401}


@dataclass(frozen=True)
class Operation:
    """An operation of the interface, with a request that it can take."""

    method: str
    path: str
    query: dict[str, Any]
    body: dict[str, Any] | None
    form: bool = False

    @property
    def name(self) -> str:
        """What `RULES` call it."""
        return f"{self.method} {self.path}"

    def send(self, client: httpx2.Client, caller: Kind, **places: str) -> httpx2.Response:
        """Send it as a caller, with the places of its path filled."""
        known = {"graph": "space", "model": "graph-search", "name": "app.js", **places}
        path = self.path
        for name in ("graph", "model", "name", "id", "pin", "run", "board"):
            path = path.replace(f"{{{name}}}", known.get(name, "none"))
        json, data = (None, self.body) if self.form else (self.body, None)
        return client.request(
            self.method, path, headers=caller.headers, params=self.query, json=json, data=data
        )


def operations(described: dict[str, Any]) -> Iterator[Operation]:
    """Yield the operations of a description, each with what it needs."""
    schemas = described["components"]["schemas"]
    for path, methods in described["paths"].items():
        for method, said in methods.items():
            query = {
                one["name"]: filled(one["name"], one["schema"], schemas)
                for one in said.get("parameters", ())
                if one["in"] == "query" and (one.get("required") or one["name"] in GIVEN)
            }
            content = said.get("requestBody", {}).get("content", {})
            form = bool(content) and "application/json" not in content
            body = {"query": GIVEN["query"]} if form else None
            if "application/json" in content:
                body = filled("", content["application/json"]["schema"], schemas)
            yield Operation(method.upper(), path, query, body, form)


def filled(name: str, schema: dict[str, Any], schemas: dict[str, Any]) -> Any:
    """Return a value that a schema takes: the fields that it requires, and those of `GIVEN`."""
    if name in GIVEN:
        return GIVEN[name]
    if "$ref" in schema:
        return filled(name, schemas[schema["$ref"].rpartition("/")[2]], schemas)
    if "anyOf" in schema:
        return filled(name, schema["anyOf"][0], schemas)
    if "enum" in schema or "const" in schema:
        return schema.get("const", schema.get("enum", [None])[0])
    if schema.get("type") == "object":
        wanted = schema.get("required", ())
        return {one: filled(one, schema["properties"][one], schemas) for one in wanted}
    plain = {"string": "x", "integer": 1, "number": 1, "boolean": True, "array": []}
    return plain.get(schema.get("type", "string"))


def undescribed(app: Any) -> Iterator[tuple[str, str]]:
    """Yield method and path of routes that stand in no description."""
    for included in app.routes:
        router = getattr(included, "original_router", None)
        for route in router.routes if router is not None else [included]:
            methods = getattr(route, "methods", None) or ()
            if not getattr(route, "include_in_schema", False):
                yield from ((method, route.path) for method in methods if method != "HEAD")


async def keys(folder: Path) -> list[Kind]:
    """Put keys of each kind into the server's database; return these callers and those without."""
    store = await Store.open(str(folder / "serve.db"))
    known = []

    async def added(name: str, scopes: Any, **more: Any) -> Kind:
        row, text = generate_key(name, scopes, **more)
        await store.add_key(row)
        known.append(row)
        return Kind(name, {"Authorization": f"Bearer {text}"}, frozenset(scopes))

    every = [one for one in SCOPES if one != "admin"]
    callers = [await added(f"only {scope}", [scope]) for scope in SCOPES]
    callers += [await added("no scope", []), await added("ann", every), await added("bob", every)]
    callers.append(await added("elsewhere", every, graphs=["rocks"]))
    guessed = (await added("guessed at", every)).headers["Authorization"]
    before = datetime.now(UTC) - timedelta(days=1)
    expired = await added("expired", SCOPES, expires=before)
    revoked = await added("revoked", SCOPES)
    await store.revoke_key(known[-1].id)
    await store.close()
    good = callers[-2].headers["Authorization"]
    token = good.removeprefix("Bearer ")
    parts = {"token": token, "visitor": token[:32], "half": guessed[:40], "most": guessed[:-1]}
    return [
        *callers,
        Kind("by the other header", {"X-API-Key": token}, frozenset(every)),
        *(Kind(one.name, one.headers, None) for one in (expired, revoked)),
        *(
            Kind(name, {head: text.format(**parts) for head, text in headers.items()}, None)
            for name, headers in _CALLS["nobody"].items()
        ),
    ]


def odd_paths(path: str) -> Iterator[str]:
    """Yield spellings of a path that a proxy and a server may read in two ways."""
    first, _, rest = path.lstrip("/").partition("/")
    spelled = {
        "upper": path.upper(),
        "title": path.title(),
        "coded": "/" + "".join(f"%{ord(letter):02x}" for letter in path[1:]),
        "letters": path.replace("a", "%61"),
        "twice": path.replace("/", "%252f"),
        "wide": path.replace("a", "%ef%bd%81"),
    }
    places = {"path": path, "tail": path[1:], "first": first, "rest": rest}
    yield from (form.format(**spelled, **places) for form in _CALLS["odd_paths"])
