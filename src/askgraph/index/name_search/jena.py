"""Jena's text index: things whose indexed property matches."""

from collections.abc import Sequence
from typing import ClassVar

from askgraph.index.name_search import SparqlNameSearch, Wanted, all_of

__all__ = ["JenaNames"]

_QUERY = "http://jena.apache.org/text#query"


class JenaNames(SparqlNameSearch):
    """Things whose first naming property, which the index must have, holds all words."""

    servers: ClassVar = ("fuseki",)

    def pattern(self, words: Sequence[str], wanted: Wanted) -> str:
        """Return the pattern for things whose label holds all of these words."""
        label = self.naming.predicates[0]
        asked = f"(<{label}> {all_of(words)} {wanted.limit})"
        return f"(?s ?score) <{_QUERY}> {asked} . {self.named()}"
