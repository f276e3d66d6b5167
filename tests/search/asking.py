"""From a question to its candidates and their rows, over a graph in memory."""

import re
from collections.abc import Sequence

from pyoxigraph import QueryBoolean, QuerySolutions, Store

from askgraph.graph.arrays import build_arrays
from askgraph.graph.local_profile import build_profile
from askgraph.graph.names import iterate_names
from askgraph.index.names import NameIndex
from askgraph.search.operators.query_builder import QueryCandidate
from askgraph.search.pipeline import build_schema, link_text, propose_from_links
from askgraph.search.rank import RankedCandidates, cluster_candidates
from askgraph.sparql import Query
from askgraph.sparql.prefixes import PrefixMap
from askgraph.sparql.serializer import render_query

__all__ = ["Known"]


def plain_cell(term: str | None) -> str:
    """Return the local name of an IRI, the text of a literal, a number without its zeros."""
    if term is None or term.startswith("_:"):
        return ""
    if term.startswith("<"):
        return re.split(r"[/#]", term[1:-1])[-1]
    text = term[1 : term.rindex('"')]
    return f"{float(text):g}" if re.fullmatch(r"-?\d+\.\d+", text) else text


class Known:
    """A graph in memory with all that the candidates are made from."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.arrays = build_arrays(store)
        self.profile = build_profile(self.arrays)
        self.names = NameIndex.from_names(iterate_names(self.arrays, self.profile))
        self.prefixes = PrefixMap(dict(self.profile.prefixes))
        self._proposals: dict[tuple[str, str | None], RankedCandidates] = {}

    def proposal(self, question: str, language: str | None = None) -> RankedCandidates:
        """Return the candidates for a question, computed once."""
        if (question, language) not in self._proposals:
            self._proposals[question, language] = self.propose(question, language)
        return self._proposals[question, language]

    def propose(self, question: str, language: str | None = None) -> RankedCandidates:
        """Compute the candidates for a question."""
        linked = link_text(question, language, self.names)
        return propose_from_links(linked, build_schema(self.arrays, self.profile))

    def best(self, question: str, language: str | None = None) -> QueryCandidate:
        """Return the best candidate for a question."""
        return cluster_candidates(self.proposal(question, language).candidates)[0].best

    def best_query(self, question: str, language: str | None = None) -> str:
        """Return the text of the best query for a question."""
        return self.query(self.best(question, language).query)

    def best_rows(self, question: str, language: str | None = None) -> list[tuple[str, ...]]:
        """Return the rows of the best query: local names of IRIs, texts, numbers in short."""
        rows = self.rows(self.best_query(question, language))
        assert not isinstance(rows, bool)
        return [tuple(map(plain_cell, row)) for row in rows]

    def named_rows(self, query: str) -> tuple[list[str], list[tuple[str | None, ...]]]:
        """Return the names of the columns of a query, and its rows."""
        result = self.store.query(query)
        assert isinstance(result, QuerySolutions)
        names = [variable.value for variable in result.variables]
        return names, [tuple(term and str(term) for term in row) for row in result]

    def query(self, query: Query) -> str:
        """The text of a query."""
        return render_query(query, self.prefixes)

    def rows(self, query: str) -> bool | Sequence[tuple[str | None, ...]]:
        """What a query gives: the truth of an ASK, else rows of N-Triples terms."""
        result = self.store.query(query)
        if isinstance(result, QueryBoolean):
            return bool(result)
        assert isinstance(result, QuerySolutions)
        return [tuple(None if term is None else str(term) for term in row) for row in result]
