"""RDF4J's LuceneSail: things one of whose texts matches."""

from collections.abc import Sequence
from typing import ClassVar

from askgraph.index.name_search import SparqlNameSearch, Wanted, all_of

__all__ = ["Rdf4jNames"]

_SAIL = "http://www.openrdf.org/contrib/lucenesail#"


class Rdf4jNames(SparqlNameSearch):
    """Things with all words in one text, by their labels; with one label, only in that."""

    servers: ClassVar = ("graphdb",)  # their replies are alike

    def pattern(self, words: Sequence[str], wanted: Wanted) -> str:
        """Return the pattern for things whose texts hold all of these words."""
        names = self.naming.predicates
        within = f" ; <{_SAIL}property> <{names[0]}>" if len(names) == 1 else ""
        return f"?s <{_SAIL}matches> [ <{_SAIL}query> {all_of(words)}{within} ] . {self.named()}"
