"""Stardog's full-text search: literals that match, with the things that have them."""

from collections.abc import Sequence
from typing import ClassVar

from askgraph.index.name_search import SparqlNameSearch, Wanted, all_of

__all__ = ["StardogNames"]

_MATCH = "tag:stardog:api:property:textMatch"


class StardogNames(SparqlNameSearch):
    """Labels that hold all words; the database needs `search.enabled`."""

    servers: ClassVar = ("generic",)

    def pattern(self, words: Sequence[str], wanted: Wanted) -> str:
        """Return the pattern for labels with all of these words."""
        return f"(?name ?score) <{_MATCH}> ({all_of(words)} {wanted.limit}) . {self.named()}"
