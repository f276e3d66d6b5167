"""From a question to its candidates and their rows, over a graph in memory."""

from collections.abc import Sequence

from pyoxigraph import QueryBoolean, QuerySolutions, Store

from askgraph.graph.arrays import build_arrays
from askgraph.graph.local_profile import profile_of
from askgraph.graph.names import names_in
from askgraph.index.names import NameIndex
from askgraph.search.pipeline import build_schema, link_text, propose_from_links
from askgraph.search.rank import Proposal
from askgraph.sparql import Query
from askgraph.sparql.prefixes import PrefixMap
from askgraph.sparql.write import plain_text

__all__ = ["Known"]


class Known:
    """A graph in memory with all that the candidates are made from."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.arrays = build_arrays(store)
        self.profile = profile_of(self.arrays)
        self.names = NameIndex.of(names_in(self.arrays, self.profile))
        self.prefixes = PrefixMap(dict(self.profile.prefixes))

    def proposal(self, question: str, language: str | None = None) -> Proposal:
        """The candidates for a question."""
        linked = link_text(question, language, self.names)
        return propose_from_links(linked, build_schema(self.arrays, self.profile))

    def query(self, query: Query) -> str:
        """The text of a query."""
        return plain_text(query, self.prefixes)

    def rows(self, query: str) -> bool | Sequence[tuple[str | None, ...]]:
        """What a query gives: the truth of an ASK, else rows of N-Triples terms."""
        result = self.store.query(query)
        if isinstance(result, QueryBoolean):
            return bool(result)
        assert isinstance(result, QuerySolutions)
        return [tuple(None if term is None else str(term) for term in row) for row in result]
