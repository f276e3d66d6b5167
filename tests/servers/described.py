"""A server that publishes documents beside its endpoint: by path, and of itself by negotiation."""

from collections.abc import Mapping

from pyoxigraph import Store
from tests.servers.sparql import Reply, Request, SparqlServer

__all__ = ["DescribedServer"]


class DescribedServer(SparqlServer):
    """Gives the documents at their paths, (media type, text) each; queries it answers honestly."""

    def __init__(self, store: Store, documents: Mapping[str, tuple[str, str]]) -> None:
        super().__init__(store)
        self.documents = documents

    def honest(self, request: Request) -> Reply:
        if "query" in request.parameters:
            return super().honest(request)
        found = self.documents.get(request.target.partition("?")[0])
        if found is None:
            return Reply(404, {"Content-Type": "text/plain"}, b"not here")
        return Reply(200, {"Content-Type": found[0]}, found[1].encode())
