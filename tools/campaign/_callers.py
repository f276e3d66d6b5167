"""Kinds of callers of a server, and its operations with the scope and fields that each needs."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2

from askgraph.server.auth.api_keys import new_key
from askgraph.server.auth.principal import SCOPES, Scope
from askgraph.server.store import Store

QUESTION = "Which moons orbit Jupiter?"
RULES: dict[str, Scope | None] = {
    name: next((scope for scope in SCOPES if scope == needed), None)
    for needed, names in json.loads(
        Path(__file__).with_name("authorisation.json").read_text()
    ).items()
    for name in names
}
"""The scope that an operation or tool needs; None: it is open."""

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
