"""From a question to its candidates and their rows, over a graph in memory."""

from collections.abc import Sequence
from dataclasses import dataclass

from pyoxigraph import QueryBoolean, QuerySolutions, Store

from askgraph.candidates.form import Form
from askgraph.candidates.propose import Proposal, proposed, read_and_linked, schema_of
from askgraph.candidates.render import rendered
from askgraph.index.names import NameIndex
from askgraph.metadata import Profile
from askgraph.metadata.names import names_in
from askgraph.metadata.profile import profile_of
from askgraph.rdf.prefixes import PrefixMap
from askgraph.traversal.arrays import GraphArrays
from askgraph.traversal.build import build_arrays

__all__ = ["Known", "known"]


@dataclass(frozen=True, eq=False, repr=False)
class Known:
    """A graph in memory with all that the candidates are made from."""

    store: Store
    arrays: GraphArrays
    profile: Profile
    names: NameIndex
    prefixes: PrefixMap

    def proposal(self, question: str, language: str | None = None) -> Proposal:
        """The candidates for a question."""
        linked = read_and_linked(question, language, self.names)
        return proposed(linked, schema_of(self.arrays, self.profile))

    def query(self, form: Form) -> str:
        """A candidate's query."""
        return rendered(form, self.prefixes)

    def rows(self, query: str) -> bool | Sequence[tuple[str | None, ...]]:
        """What a query gives: the truth of an ASK, else rows of N-Triples terms."""
        result = self.store.query(query)
        if isinstance(result, QueryBoolean):
            return bool(result)
        assert isinstance(result, QuerySolutions)
        return [tuple(None if term is None else str(term) for term in row) for row in result]


def known(store: Store) -> Known:
    """Learn all of a graph."""
    arrays = build_arrays(store)
    profile = profile_of(arrays)
    names = NameIndex.of(names_in(arrays, profile))
    return Known(store, arrays, profile, names, PrefixMap(dict(profile.prefixes)))
