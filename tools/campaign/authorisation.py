"""Who may do what: each kind of caller at each operation, and at what is another's.

    python tools/campaign/authorisation.py [--only PART ...] [--json FILE]

The operations are those of the server's own description and of its routers, the tools those that
it lists over MCP. `authorisation.json` has the scope that each needs, apart from the code that
holds it to that: one without such a rule counts as not survived.
"""

import asyncio
import http.client
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

sys.path.insert(0, str(Path(__file__).parents[2]))
sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))


from tools.campaign._tries import Tried, concluded, parser_of

from _served import served
from askgraph import sample
from askgraph.serve.app import create_app
from askgraph.serve.identity.api_keys import new_key
from askgraph.serve.identity.principal import SCOPES, Scope
from askgraph.serve.settings import ServeSettings
from askgraph.serve.store import Store
from askgraph.workspace import Workspace

QUESTION = "Which moons orbit Jupiter?"
RULES: dict[str, Scope | None] = {
    name: next((scope for scope in SCOPES if scope == needed), None)
    for needed, names in json.loads(Path(__file__).with_suffix(".json").read_text()).items()
    for name in names
}
"""The scope that an operation, tool or socket needs; None: it is open."""

SERVE = """
[serve]
anonymous = []
metrics = "admin"
requests_per_minute = 0
proxy_header = "X-Forwarded-User"
trusted_proxies = ["192.0.2.1"]
"""
GIVEN: dict[str, object] = {
    "question": QUESTION,
    "q": "moon",
    "graph": "space",
    "dataset": "space",
    "model": "graph-search",
    "messages": [{"role": "user", "content": QUESTION}],
    "query": "SELECT ?s { ?s ?p ?o } LIMIT 1",
    "name": "more",
    "url": "http://127.0.0.1:9/",
    "verdict": "right",
    "classes": [],
}
"""What a field or parameter gets, by its name."""


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
    """Yield method and path of routes that stand in no description; a socket's is WEBSOCKET."""
    for included in app.routes:
        router = getattr(included, "original_router", None)
        for route in router.routes if router is not None else [included]:
            methods = getattr(route, "methods", None) or ["WEBSOCKET"]
            if not getattr(route, "include_in_schema", False):
                yield from ((method, route.path) for method in methods if method != "HEAD")


async def keys(folder: Path) -> list[Kind]:
    """Put keys of each kind into the server's database; return these callers and those without."""
    store = await Store.open(str(folder / "serve.db"))
    known = []

    async def added(name: str, scopes: Any, **more: Any) -> Kind:
        row, text = new_key(name, scopes, **more)
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
    await store.revoke(known[-1].id)
    await store.close()
    good = callers[-2].headers["Authorization"]
    token = good.removeprefix("Bearer ")
    nobody: dict[str, dict[str, str]] = {
        "nobody": {},
        "a key unknown": {"Authorization": f"Bearer askgraph_{'a' * 12}_{'b' * 43}"},
        "half a key": {"Authorization": guessed[:40]},
        "a key without its end": {"Authorization": guessed[:-1]},
        "another service's token": {"Authorization": "Bearer sk-abcdef"},
        "a key as a password": {"Authorization": f"Basic {token}"},
        "a key as a cookie": {"Cookie": f"askgraph_key={token}; askgraph_visitor={token[:32]}"},
        "a visitor": {"Cookie": f"askgraph_visitor={'v' * 32}"},
        "a proxy's user": {"X-Forwarded-User": "root", "X-Forwarded-For": "192.0.2.1"},
        "another user": {"Remote-User": "root", "X-Remote-User": "root", "X-Real-IP": "127.0.0.1"},
        "forwarded from here": {"Forwarded": "for=127.0.0.1", "X-Forwarded-For": "127.0.0.1"},
        "another address": {"X-Original-URL": "/healthz", "X-Rewrite-URL": "/healthz"},
        "another method": {"X-HTTP-Method-Override": "OPTIONS", "X-Method-Override": "OPTIONS"},
    }
    return [
        *callers,
        Kind("by the other header", {"X-API-Key": token}, frozenset(every)),
        *(Kind(one.name, one.headers, None) for one in (expired, revoked)),
        *(Kind(name, headers, None) for name, headers in nobody.items()),
    ]


def told(part: str, who: str, what: str, got: object, *, fine: bool) -> Tried:
    """Return what was tried, with what came if that is not as it has to be."""
    return Tried(part, f"{who}, {what}", "" if fine else str(got)[:160], 0.0)


@dataclass(frozen=True)
class Campaign:
    """The server, its callers and its operations."""

    url: str
    client: httpx2.Client
    callers: list[Kind]
    operations: list[Operation]
    app: Any

    def caller(self, name: str) -> Kind:
        """The caller of a name."""
        return next(one for one in self.callers if one.name == name)

    def scopes(self) -> Iterator[Tried]:
        """Each caller at each operation: refused without the scope, and not with it."""
        for operation in self.operations:
            if operation.name not in RULES:
                yield told("scopes", "", operation.name, "no rule", fine=False)
                continue
            scope = RULES[operation.name]
            for caller in self.callers:
                removes = operation.name == "DELETE /api/v1/graphs/{graph}" and caller.may(scope)
                graph = "nowhere" if removes or caller.name == "elsewhere" else "space"
                status = operation.send(self.client, caller, graph=graph).status_code
                if caller.may(scope):
                    fine = status < 500 and status not in (401, 403, 405)
                    fine |= scope is None and status in caller.refused  # a key that is wrong
                    # A key for some graphs may add none.
                    fine |= caller.name == "elsewhere" and operation.name == "POST /api/v1/graphs"
                else:
                    fine = status in caller.refused
                yield told("scopes", caller.name, operation.name, status, fine=fine)

    def routes(self) -> Iterator[Tried]:
        """Routes that are in no description have a rule as well, and nobody gets past it."""
        for method, path in undescribed(self.app):
            if method == "WEBSOCKET":
                yield told("routes", "", path, "a socket", fine=f"WEBSOCKET {path}" in RULES)
                continue
            name = f"{method} {path}"
            rule = RULES.get(name, "none")
            body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"} if path == "/mcp" else None
            reply = Operation(method, path, {}, body).send(self.client, self.caller("nobody"))
            fine = reply.status_code == 401 if path == "/mcp" else "orbit" not in reply.text
            known = name in RULES or path == "/"
            yield told("routes", "nobody", name, (rule, reply.status_code), fine=fine and known)

    def graphs(self) -> Iterator[Tried]:
        """A key for other graphs: this one is as one that is not there."""
        caller = self.caller("elsewhere")
        for operation in self.operations:
            if "{graph}" not in operation.path or RULES.get(operation.name) is None:
                continue
            here, nowhere = (
                operation.send(self.client, caller, graph=name) for name in ("space", "nowhere")
            )
            same = here.text.replace("space", "nowhere") == nowhere.text
            fine = here.status_code == nowhere.status_code == 404 and same
            yield told("graphs", caller.name, operation.name, here.status_code, fine=fine)
        listed = self.client.get("/api/v1/graphs", headers=caller.headers).json()["graphs"]
        yield told("graphs", caller.name, "GET /api/v1/graphs", listed, fine=listed == [])
        body = {"question": QUESTION, "graphs": ["space"]}
        status = self.client.post("/api/v1/ask", json=body, headers=caller.headers).status_code
        yield told("graphs", caller.name, "POST /api/v1/ask", status, fine=status == 404)
        chat = {"model": "graph-search@space", "messages": GIVEN["messages"]}
        reply = self.client.post("/v1/chat/completions", json=chat, headers=caller.headers)
        fine = reply.status_code == 404
        yield told("graphs", caller.name, "chat", reply.status_code, fine=fine)

    def belongings(self) -> Iterator[Tried]:
        """What ann left, to everybody else: not there, and not changed."""
        ann = self.caller("ann")
        bob, mine = self.caller("bob"), self.left_by(self.caller("bob"))
        left = self.left_by(ann)
        before = self.seen_by(ann, left)
        others = [bob, *map(self.caller, ("elsewhere", "nobody", "a visitor"))]
        for operation in self.operations:
            kind = next((one for one in left if f"/{one}s/{{id}}" in operation.path), None)
            kind = "verified" if "/verified/{id}" in operation.path else kind
            if kind is None:
                continue
            for caller in others:
                places = {"id": left[kind], "pin": left["pin"]}
                status = operation.send(self.client, caller, **places).status_code
                allowed = {404, 403} if kind == "verified" else {404}
                allowed = {401} if caller.scopes is None else allowed
                fine = status in allowed
                yield told("belongings", caller.name, operation.name, status, fine=fine)
        follow = {"question": "And which of them?", "graphs": ["space"]}
        reply = {"model": "graph-search", "input": QUESTION}
        reply["previous_response_id"] = f"resp_{left['run']}"
        pins = "/api/v1/boards/{}/pins"
        for what, path, body in [
            ("a question after hers", "/api/v1/ask", {**follow, "after": left["run"]}),
            ("a question in her talk", "/api/v1/ask", {**follow, "session": left["session"]}),
            ("her answer on his board", pins.format(mine["board"]), {"run": left["run"]}),
            ("his answer on her board", pins.format(left["board"]), {"run": mine["run"]}),
            ("a reply to her reply", "/v1/responses", reply),
        ]:
            status = self.client.post(path, json=body, headers=bob.headers).status_code
            yield told("belongings", "bob", what, status, fine=status in (400, 404))
        ids = {id for name, id in left.items()}
        for path in ("runs", "sessions", "boards", "jobs"):
            for caller in (bob, self.caller("elsewhere")):
                text = self.client.get(f"/api/v1/{path}", headers=caller.headers).text
                fine = not any(id in text for id in ids)
                yield told("belongings", caller.name, f"GET /api/v1/{path}", len(text), fine=fine)
        fine = self.seen_by(ann, left) == before
        yield told("belongings", "all", "what ann has is as it was", fine, fine=fine)
        yield from self.shares(left)

    def shares(self, left: dict[str, str]) -> Iterator[Tried]:
        """What ann shares is read by those who may ask its graphs, and changed by her alone."""
        ann, run, board = self.caller("ann"), left["run"], left["board"]
        parts = ("", "/events", "/trace", "/result", "/next")
        reads = {f"GET /api/v1/runs/{{id}}{part}" for part in parts}
        reads |= {"GET /api/v1/boards/{id}", "POST /api/v1/boards/{id}/refresh"}
        # What these leave is the reader's own.
        reads |= {f"POST /api/v1/runs/{{id}}/{what}" for what in ("edit", "feedback", "confirm")}
        reads.add("DELETE /api/v1/runs/{id}/confirm")
        about = [
            one for one in self.operations if "/runs/{id}" in one.path or "/boards/{id}" in one.path
        ]
        for shared in (True, False):
            for path in (f"runs/{run}", f"boards/{board}"):
                body = {"shared": shared}
                self.client.post(f"/api/v1/{path}/share", json=body, headers=ann.headers)
            for operation in about:
                id = run if "/runs/" in operation.path else board
                for name in ("bob", "only ask", "no scope", "nobody", "elsewhere"):
                    caller = self.caller(name)
                    if not caller.may(RULES[operation.name]):
                        wanted = caller.refused
                    elif shared and operation.name in reads and name != "elsewhere":
                        wanted = {200}
                    elif shared and operation.name in reads and "/boards/" in operation.path:
                        wanted = {200}  # without its pins, which are of a graph not to be seen
                    else:
                        wanted = {404}
                    reply = operation.send(self.client, caller, id=id, pin=left["pin"])
                    fine = reply.status_code in wanted
                    fine &= name != "elsewhere" or "orbit" not in reply.text
                    what = f"{operation.name}, {'shared' if shared else 'no longer shared'}"
                    yield told("shares", name, what, reply.status_code, fine=fine)
        held = self.client.get("/api/v1/graphs/space/verified", headers=ann.headers).text
        view = self.client.get(f"/api/v1/runs/{run}", headers=ann.headers).json()
        fine = left["verified"] in held and view["feedback"] is None
        yield told("shares", "all", "ann's own verdicts stand", view["feedback"], fine=fine)

    def left_by(self, caller: Kind) -> dict[str, str]:
        """Let a caller ask, begin a board and a graph, confirm and pin; the ids of what is left."""

        def posted(path: str, body: dict[str, Any]) -> Any:
            reply = self.client.post(f"/api/v1/{path}", json=body, headers=caller.headers)
            return reply.raise_for_status().json()

        run = posted("ask", {"question": QUESTION, "graphs": ["space"]})
        board = posted("boards", {"title": f"The board of {caller.name}"})["id"]
        pinned = posted(f"boards/{board}/pins", {"run": run["id"]})
        content = b"<http://e.org/a> <http://e.org/p> <http://e.org/b> ."
        job = self.client.post(
            "/api/v1/graphs/upload",
            data={"name": f"of-{run['id'][:12]}"},
            files=[("files", ("a.nt", content))],
            headers=caller.headers,
        ).raise_for_status()
        with self.client.stream(
            "GET", f"/api/v1/jobs/{job.json()['id']}/events", headers=caller.headers
        ) as events:
            events.read()
        posted(f"runs/{run['id']}/confirm", {})
        verified = self.client.get("/api/v1/graphs/space/verified", headers=caller.headers).json()
        left = {"run": run["id"], "session": run["session"], "board": board}
        left |= {"pin": pinned["content"][0]["id"], "job": job.json()["id"]}
        return {**left, "verified": verified["verified"][0]["id"]}

    def seen_by(self, caller: Kind, left: dict[str, str]) -> list[str]:
        """What a caller sees of what is theirs."""
        paths = ["runs", "boards", "sessions", "jobs", "graphs", "graphs/space/verified"]
        paths += [f"{kind}s/{left[kind]}" for kind in ("run", "board", "session", "job")]
        replies = [self.client.get(f"/api/v1/{path}", headers=caller.headers) for path in paths]
        return [reply.raise_for_status().text for reply in replies]

    def tools(self) -> Iterator[Tried]:
        """Each caller at each tool that is listed over MCP."""
        everything = self.caller("only admin")
        listed = self.spoken(everything, "tools/list", {}).json()["result"]["tools"]
        for tool in listed:
            given = {
                name: filled(name, said, tool["inputSchema"].get("$defs", {}))
                for name, said in tool["inputSchema"]["properties"].items()
                if name in tool["inputSchema"].get("required", ()) or name == "graph"
            }
            for caller in self.callers:
                if (rule := f"TOOL {tool['name']}") not in RULES:
                    yield told("tools", "", tool["name"], "no rule", fine=False)
                    break
                asked = {"name": tool["name"], "arguments": given}
                reply = self.spoken(caller, "tools/call", asked)
                refused = "needs the scope" in reply.text
                if not caller.may("ask"):
                    fine = reply.status_code in caller.refused
                elif caller.name == "elsewhere":
                    fine = "Jupiter" not in reply.text.replace(QUESTION, "")
                else:
                    fine = reply.status_code == 200 and refused != caller.may(RULES[rule])
                yield told("tools", caller.name, tool["name"], reply.text[:80], fine=fine)
        for method in ("tools/list", "resources/list", "prompts/list", "ping"):
            for caller in (one for one in self.callers if not one.may("ask")):
                status = self.spoken(caller, method, {}).status_code
                fine = status in caller.refused
                yield told("tools", caller.name, method, status, fine=fine)

    def spoken(self, caller: Kind, method: str, params: dict[str, Any]) -> httpx2.Response:
        """Send a message of MCP."""
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        headers = {**caller.headers, "Accept": "application/json, text/event-stream"}
        reply = self.client.post("/mcp", json=message, headers=headers)
        for line in reply.text.splitlines():
            if line.startswith("data: "):
                return httpx2.Response(reply.status_code, text=line[6:])
        return reply

    def sockets(self) -> Iterator[Tried]:
        """Each caller over each WebSocket: a question, and what is another's; another site."""
        left = self.left_by(self.caller("ann"))
        ask = {"type": "ask", "question": QUESTION, "graphs": ["space"]}
        kinds = ("cancel", "listen", "choose")
        hers = [{"type": kind, "id": left["run"], "option": 0} for kind in kinds]
        for path in (name.split()[1] for name in RULES if name.startswith("WEBSOCKET")):
            address = self.url.replace("http", "ws", 1) + path.replace("{id}", left["session"])
            for caller in self.callers:
                mine = caller.name in ("ann", "only admin")
                for message in (ask, *(() if mine else hers)):
                    status = status_of(address, caller.headers, message)
                    wanted = {404} if caller.may("ask") else caller.refused
                    if mine or (message is ask and "{id}" not in path and wanted == {404}):
                        wanted = {200, 404} if caller.name in ("only admin", "elsewhere") else {200}
                    what = f"{path} {message['type']}"
                    yield told("sockets", caller.name, what, status, fine=status in wanted)
            for site in ({"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
                status = status_of(address, {**self.caller("ann").headers, **site}, ask)
                yield told("sockets", "another site", path, status, fine=status == 403)

    def paths(self) -> Iterator[Tried]:
        """Nobody, at addresses that are almost those of operations: nothing behind them is told."""
        place = urlsplit(self.url)
        connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=60)
        for operation in self.operations:
            if RULES.get(operation.name) is None or operation.path == "/":
                continue
            path = operation.path.replace("{graph}", "space").replace("{", "").replace("}", "")
            body = json.dumps(operation.body) if operation.body is not None else None
            headers = {"Content-Type": "application/json"} if body else {}
            for odd in odd_paths(path):
                connection.request(operation.method, odd, body=body, headers=headers)
                reply = connection.getresponse()
                text = reply.read().decode(errors="replace")
                fine = 300 <= reply.status < 500 and "Jupiter" not in text.replace(QUESTION, "")
                yield told("paths", "nobody", f"{operation.method} {odd}", reply.status, fine=fine)
        connection.close()


def status_of(address: str, headers: dict[str, str], message: dict[str, Any]) -> int:
    """Return the status that a message over a WebSocket comes to."""
    try:
        with connect(address, additional_headers=headers) as connection:
            connection.send(json.dumps(message))
            event = json.loads(connection.recv(timeout=30))
    except InvalidStatus as refused:
        return refused.response.status_code
    return int(event.get("problem", {}).get("status", 200))


def odd_paths(path: str) -> Iterator[str]:
    """Yield spellings of a path that a proxy and a server may read in two ways."""
    first, _, rest = path.lstrip("/").partition("/")
    yield from (f"/{path}", f"{path}/", f"{path}.", f"{path}//", f"{path}/.", f"{path};a=b")
    yield from (f"{path}%00", f"{path}%20", f"{path}%2f", f"{path}.json", f"{path}?", f"{path}%3f")
    yield from (path.upper(), path.title(), f"/{first}%2F{rest}", f"/{first}%5C{rest}")
    yield from (f"/healthz/..{path}", f"/healthz/%2e%2e{path}", f"/assets/..%2f{path[1:]}")
    yield from (f"/healthz{path}", f"/healthz;{path}", f"/./{path[1:]}", f"/%2e{path}")
    yield from (f"/{first}/./{rest}", f"/{first}//{rest}", f"/{first}/x/../{rest}", f"{path}/../x")
    yield from (
        "/" + "".join(f"%{ord(letter):02x}" for letter in path[1:]),
        path.replace("a", "%61"),
    )
    yield from (
        path.replace("/", "%252f"),
        path.replace("a", "%ef%bd%81"),
        f"http://localhost{path}",
    )


PARTS: dict[str, Callable[[Campaign], Iterator[Tried]]] = {
    "scopes": Campaign.scopes,
    "routes": Campaign.routes,
    "graphs": Campaign.graphs,
    "belongings": Campaign.belongings,
    "tools": Campaign.tools,
    "sockets": Campaign.sockets,
    "paths": Campaign.paths,
}


def campaign(folder: Path, parts: Sequence[str]) -> list[Tried]:
    """Start a server that only lets in who has a key, and try the parts."""
    Workspace(folder).add("space", [sample.graph_path()])
    with (folder / "askgraph.toml").open("a") as file:
        file.write(SERVE)
    callers = asyncio.run(keys(folder))
    app = create_app(ServeSettings(), Workspace(folder))
    found: list[Tried] = []
    with served(folder) as (url, _), httpx2.Client(base_url=url, timeout=60) as client:
        described = client.get("/api/v1/openapi.json").json()
        tried = Campaign(url, client, callers, list(operations(described)), app)
        for name in parts:
            began = time.monotonic()
            found += PARTS[name](tried)
            print(name, f"{time.monotonic() - began:.1f} s", file=sys.stderr, flush=True)
    return found


def main() -> int:
    """Try all and print the table; return 1 if something was not survived."""
    given = parser_of(__doc__).parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = campaign(Path(folder), given.only or list(PARTS))
    return concluded(found, given.json)


if __name__ == "__main__":
    sys.exit(main())
