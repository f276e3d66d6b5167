"""A server that gives so many rows at most and says nothing of it, as public ones do."""

import json
from dataclasses import replace

from pyoxigraph import Store
from tests.servers.sparql import Reply, Request, SparqlServer

__all__ = ["CappedServer"]


class CappedServer(SparqlServer):
    """Cuts every result at `cap` rows; `renames` gives blank nodes new names in each reply."""

    def __init__(self, store: Store, *, cap: int, renames: bool = False) -> None:
        super().__init__(store)
        self.cap = cap
        self.renames = renames

    def honest(self, request: Request) -> Reply:
        reply = super().honest(request)
        if reply.status != 200 or "json" not in reply.headers["Content-Type"]:
            return reply
        content = json.loads(reply.body)
        if "results" in content:
            rows = content["results"]["bindings"] = content["results"]["bindings"][: self.cap]
            if self.renames:
                _rename(rows)
        return replace(reply, body=json.dumps(content).encode())


def _rename(rows: list[dict[str, dict[str, str]]]) -> None:
    names: dict[str, str] = {}
    for row in rows:
        for term in row.values():
            if term["type"] == "bnode":
                term["value"] = names.setdefault(term["value"], f"b{len(names)}")
