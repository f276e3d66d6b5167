"""A server that loses all solutions of some queries and says nothing of it, as busy ones do."""

import json
import re
from dataclasses import replace

from pyoxigraph import Store
from tests.servers.sparql import Reply, Request, SparqlServer

__all__ = ["LossyServer"]


class LossyServer(SparqlServer):
    """Gives no rows, with status 200, where a query matches `pattern`."""

    def __init__(self, store: Store, pattern: str) -> None:
        super().__init__(store)
        self._lost = re.compile(pattern, re.DOTALL)

    def honest(self, request: Request) -> Reply:
        reply = super().honest(request)
        if not self._lost.search(request.parameters["query"][0]):
            return reply
        content = json.loads(reply.body)
        content["results"]["bindings"] = []
        return replace(reply, body=json.dumps(content).encode())
