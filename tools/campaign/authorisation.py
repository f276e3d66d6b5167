"""Who may do what: each kind of caller at each operation, and at what is another's.

    python -m tools.campaign.authorisation [--only PART ...] [--json FILE]

The operations are those of the server's own description and of its routers, the tools those that
it lists over MCP. `authorisation.json` has the scope that each needs, apart from the code that
holds it to that: one without such a rule counts as not survived.
"""

import asyncio
import http.client
import json
import sys
import tomllib
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
from tools.campaign import _tries as tries

from askgraph.server.app import create_app
from askgraph.server.settings import ServeSettings
from askgraph.workspace import Workspace

SERVE: str = tomllib.loads(Path(__file__).with_name("calls.toml").read_text("utf-8"))["serve"]

ADDING = ("POST /api/v1/graphs", "POST /api/v1/graphs/sample")
"""Operations that add a graph, which a key for some graphs may not."""
_READER_PARTS = ("edit", "feedback", "confirm", "lessons")  # lessons are only proposed


def told(part: str, who: str, what: str, got: object, *, fine: bool) -> tries.Tried:
    """Return what was tried, with what came if that is not as it has to be."""
    return tries.Tried(part, f"{who}, {what}", "" if fine else str(got)[:160])


@dataclass(frozen=True)
class Campaign:
    """The server, its callers and its operations."""

    client: httpx2.Client
    callers: dict[str, tries.Kind]
    operations: list[tries.Operation]
    app: Any

    def send(
        self, caller: tries.Kind, method: str, path: str, body: object = None, **more: Any
    ) -> httpx2.Response:
        """Send a request to the interface as a caller."""
        path = path if path.startswith("/") else f"/api/v1/{path}"
        return self.client.request(method, path, json=body, headers=caller.headers, **more)

    def scopes(self) -> Iterator[tries.Tried]:
        """Each caller at each operation: refused without the scope, and not with it."""
        for operation in self.operations:
            if operation.name not in tries.RULES:
                yield told("scopes", "", operation.name, "no rule", fine=False)
                continue
            scope = tries.RULES[operation.name]
            for caller in self.callers.values():
                removes = operation.name == "DELETE /api/v1/graphs/{graph}" and caller.may(scope)
                graph = "nowhere" if removes or caller.name == "elsewhere" else "space"
                status = operation.send(self.client, caller, graph=graph).status_code
                if caller.may(scope):
                    fine = status < 500 and status not in (401, 403, 405)
                    fine |= scope is None and status in caller.refused  # a key that is wrong
                    if caller.name == "elsewhere" and operation.name in ADDING:
                        fine = status == 403
                else:
                    fine = status in caller.refused
                yield told("scopes", caller.name, operation.name, status, fine=fine)

    def routes(self) -> Iterator[tries.Tried]:
        """Routes that are in no description have a rule as well, and nobody gets past it."""
        for method, path in tries.undescribed(self.app):
            name = f"{method} {path}"
            rule = tries.RULES.get(name, "none")
            body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"} if path == "/mcp" else None
            reply = tries.Operation(method, path, {}, body).send(
                self.client, self.callers["nobody"]
            )
            fine = reply.status_code == 401 if path == "/mcp" else "orbit" not in reply.text
            known = name in tries.RULES or path == "/"
            yield told("routes", "nobody", name, (rule, reply.status_code), fine=fine and known)

    def graphs(self) -> Iterator[tries.Tried]:
        """A key for other graphs: this one is as one that is not there."""
        caller = self.callers["elsewhere"]
        for operation in self.operations:
            if "{graph}" not in operation.path or tries.RULES.get(operation.name) is None:
                continue
            here, nowhere = (
                operation.send(self.client, caller, graph=name) for name in ("space", "nowhere")
            )
            same = here.text.replace("space", "nowhere") == nowhere.text
            fine = here.status_code == nowhere.status_code == 404 and same
            yield told("graphs", caller.name, operation.name, here.status_code, fine=fine)
        listed = self.send(caller, "GET", "graphs").json()["graphs"]
        yield told("graphs", caller.name, "GET /api/v1/graphs", listed, fine=listed == [])
        chat = {"model": "graph-search@space", "messages": tries.GIVEN["messages"]}
        body = {"question": tries.QUESTION, "graphs": ["space"]}
        for path, asked in (("/api/v1/ask", body), ("/v1/chat/completions", chat)):
            status = self.send(caller, "POST", path, asked).status_code
            yield told("graphs", caller.name, f"POST {path}", status, fine=status == 404)

    def belongings(self) -> Iterator[tries.Tried]:
        """What ann left, to everybody else: not there, and not changed."""
        ann = self.callers["ann"]
        bob, mine = self.callers["bob"], self.left_by(self.callers["bob"])
        left = self.left_by(ann)
        before = self.seen_by(ann, left)
        others = [bob, *(self.callers[name] for name in ("elsewhere", "nobody", "a visitor"))]
        for operation in self.operations:
            kind = next((one for one in left if f"/{one}s/{{id}}" in operation.path), None)
            kind = "verified" if "/verified/{id}" in operation.path else kind
            if kind is None:
                continue
            for caller in others:
                places = {"id": left[kind], "pin": left["pin"]}
                status = operation.send(self.client, caller, **places).status_code
                allowed = {404, 403} if kind == "verified" else {404}
                # What people confirm is judged by all who may confirm: an opinion of their own.
                is_judged = operation.method == "POST" and kind == "verified" and caller is bob
                allowed = {401} if caller.scopes is None else {200} if is_judged else allowed
                fine = status in allowed
                yield told("belongings", caller.name, operation.name, status, fine=fine)
        follow = {"question": "And which of them?", "graphs": ["space"]}
        reply = {"model": "graph-search", "input": tries.QUESTION}
        reply["previous_response_id"] = f"resp_{left['run']}"
        pins = "/api/v1/boards/{}/pins"
        for what, path, body in [
            ("a question after hers", "/api/v1/ask", {**follow, "after": left["run"]}),
            ("a question in her talk", "/api/v1/ask", {**follow, "session": left["session"]}),
            ("her answer on his board", pins.format(mine["board"]), {"run": left["run"]}),
            ("his answer on her board", pins.format(left["board"]), {"run": mine["run"]}),
            ("a reply to her reply", "/v1/responses", reply),
        ]:
            status = self.send(bob, "POST", path, body).status_code
            yield told("belongings", "bob", what, status, fine=status in (400, 404))
        for path in ("runs", "sessions", "boards", "jobs"):
            for caller in (bob, self.callers["elsewhere"]):
                text = self.send(caller, "GET", path).text
                fine = not any(id in text for id in left.values())
                yield told("belongings", caller.name, f"GET /api/v1/{path}", len(text), fine=fine)
        fine = self.seen_by(ann, left) == before
        yield told("belongings", "all", "what ann has is as it was", fine, fine=fine)
        yield from self.shares(left)

    def shares(self, left: dict[str, str]) -> Iterator[tries.Tried]:
        """What ann shares is read by those who may ask its graphs, and changed by her alone."""
        ann, run, board = self.callers["ann"], left["run"], left["board"]
        parts = ("", "/events", "/trace", "/result", "/next", "/context")
        reads = {f"GET /api/v1/runs/{{id}}{part}" for part in parts}
        reads |= {"GET /api/v1/boards/{id}", "POST /api/v1/boards/{id}/refresh"}
        # What these leave is the reader's own.
        reads |= {f"POST /api/v1/runs/{{id}}/{what}" for what in _READER_PARTS}
        reads.add("DELETE /api/v1/runs/{id}/confirm")
        about = [
            (operation, kind)
            for operation in self.operations
            for kind in ("run", "board")
            if f"/{kind}s/{{id}}" in operation.path
        ]
        for shared in (True, False):
            for path in (f"runs/{run}", f"boards/{board}"):
                self.send(ann, "POST", f"{path}/share", {"shared": shared})
            for operation, kind in about:
                is_read = shared and operation.name in reads
                for name in ("bob", "only ask", "no scope", "nobody", "elsewhere"):
                    caller = self.callers[name]
                    if not caller.may(tries.RULES[operation.name]):
                        wanted = caller.refused
                    else:  # elsewhere sees a board without its pins, which are of another graph
                        sees = is_read and (name != "elsewhere" or kind == "board")
                        wanted = {200 if sees else 404}
                    reply = operation.send(self.client, caller, id=left[kind], pin=left["pin"])
                    fine = reply.status_code in wanted
                    fine &= name != "elsewhere" or "orbit" not in reply.text
                    what = f"{operation.name}, {'shared' if shared else 'no longer shared'}"
                    yield told("shares", name, what, reply.status_code, fine=fine)
        held = self.send(ann, "GET", "graphs/space/verified").text
        view = self.send(ann, "GET", f"runs/{run}").json()
        fine = left["verified"] in held and view["feedback"] is None
        yield told("shares", "all", "ann's own verdicts stand", view["feedback"], fine=fine)

    def left_by(self, caller: tries.Kind) -> dict[str, str]:
        """Let a caller ask, begin a board and a graph, confirm and pin; the ids of what is left."""

        def post(path: str, body: object = None, **more: Any) -> Any:
            return self.send(caller, "POST", path, body, **more).raise_for_status().json()

        run = post("ask", {"question": tries.QUESTION, "graphs": ["space"]})
        board = post("boards", {"title": f"The board of {caller.name}"})["id"]
        pinned = post(f"boards/{board}/pins", {"run": run["id"]})
        files = [("files", ("a.nt", b"<http://e.org/a> <http://e.org/p> <http://e.org/b> ."))]
        job = post("graphs/upload", data={"name": f"of-{run['id'][:12]}"}, files=files)["id"]
        with self.client.stream(
            "GET", f"/api/v1/jobs/{job}/events", headers=caller.headers
        ) as events:
            events.read()
        post(f"runs/{run['id']}/confirm", {})
        verified = self.send(caller, "GET", "graphs/space/verified").json()["verified"]
        left = {"run": run["id"], "session": run["session"], "board": board, "job": job}
        return {**left, "pin": pinned["content"][0]["id"], "verified": verified[0]["id"]}

    def seen_by(self, caller: tries.Kind, left: dict[str, str]) -> list[str]:
        """What a caller sees of what is theirs."""
        paths = ["runs", "boards", "sessions", "jobs", "graphs"]
        paths += [f"{kind}s/{left[kind]}" for kind in ("run", "board", "session", "job")]
        seen = [self.send(caller, "GET", path).raise_for_status().text for path in paths]
        verified = self.send(caller, "GET", "graphs/space/verified").json()["verified"]
        own = ("id", "question", "query", "disputed", "when")  # not how many agree
        return [*seen, *(str([row[name] for name in own]) for row in verified if row["mine"])]

    def tools(self) -> Iterator[tries.Tried]:
        """Each caller at each tool that is listed over MCP."""
        everything = self.callers["only admin"]
        listed = self.spoken(everything, "tools/list", {}).json()["result"]["tools"]
        for tool in listed:
            given = {
                name: tries.filled(name, said, tool["inputSchema"].get("$defs", {}))
                for name, said in tool["inputSchema"]["properties"].items()
                if name in tool["inputSchema"].get("required", ()) or name == "graph"
            }
            for caller in self.callers.values():
                if (rule := f"TOOL {tool['name']}") not in tries.RULES:
                    yield told("tools", "", tool["name"], "no rule", fine=False)
                    break
                asked = {"name": tool["name"], "arguments": given}
                reply = self.spoken(caller, "tools/call", asked)
                refused = "needs the scope" in reply.text
                if not caller.may("ask"):
                    fine = reply.status_code in caller.refused
                elif caller.name == "elsewhere":
                    fine = "Jupiter" not in reply.text.replace(tries.QUESTION, "")
                else:
                    fine = reply.status_code == 200 and refused != caller.may(tries.RULES[rule])
                yield told("tools", caller.name, tool["name"], reply.text[:80], fine=fine)
        for method in ("tools/list", "resources/list", "prompts/list", "ping"):
            for caller in (one for one in self.callers.values() if not one.may("ask")):
                status = self.spoken(caller, method, {}).status_code
                fine = status in caller.refused
                yield told("tools", caller.name, method, status, fine=fine)

    def spoken(self, caller: tries.Kind, method: str, params: dict[str, Any]) -> httpx2.Response:
        """Send a message of MCP."""
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        headers = {**caller.headers, "Accept": "application/json, text/event-stream"}
        reply = self.client.post("/mcp", json=message, headers=headers)
        data = [line[6:] for line in reply.text.splitlines() if line.startswith("data: ")]
        return httpx2.Response(reply.status_code, text=data[0]) if data else reply

    def paths(self) -> Iterator[tries.Tried]:
        """Nobody, at addresses that are almost those of operations: nothing behind them is told."""
        place = self.client.base_url
        connection = http.client.HTTPConnection(place.host, place.port, timeout=60)
        for operation in self.operations:
            if tries.RULES.get(operation.name) is None or operation.path == "/":
                continue
            path = operation.path.replace("{graph}", "space").replace("{", "").replace("}", "")
            body = json.dumps(operation.body) if operation.body is not None else None
            headers = {"Content-Type": "application/json"} if body else {}
            for odd in tries.odd_paths(path):
                connection.request(operation.method, odd, body=body, headers=headers)
                reply = connection.getresponse()
                text = reply.read().decode(errors="replace")
                fine = 300 <= reply.status < 500 and "Jupiter" not in text.replace(
                    tries.QUESTION, ""
                )
                yield told("paths", "nobody", f"{operation.method} {odd}", reply.status, fine=fine)
        connection.close()


PARTS = ("scopes", "routes", "graphs", "belongings", "tools", "paths")  # methods of `Campaign`


def campaign(folder: Path, given: Namespace) -> Iterator[tries.Tried]:
    """Start a server that only lets in who has a key, and try the parts."""
    tries.workspace(folder, SERVE)
    callers = {caller.name: caller for caller in asyncio.run(tries.keys(folder))}
    app = create_app(ServeSettings(), Workspace(folder))
    with tries.serve(folder) as (client, _):
        described = client.get("/api/v1/openapi.json").json()
        tried = Campaign(client, callers, list(tries.operations(described)), app)
        for name in given.only:
            yield from getattr(tried, name)()


if __name__ == "__main__":
    sys.exit(tries.main(__doc__, campaign, PARTS))
