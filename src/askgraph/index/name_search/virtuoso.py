"""Virtuoso's full-text index: `bif:contains`, an expression of quoted words."""

from collections.abc import Sequence
from typing import ClassVar

from askgraph.index.name_search import SparqlNameSearch, Wanted, text_term

__all__ = ["VirtuosoNames"]


class VirtuosoNames(SparqlNameSearch):
    """Labels that hold all words; the server needs a rule that indexes their predicate."""

    servers: ClassVar = ("virtuoso",)

    def pattern(self, words: Sequence[str], wanted: Wanted) -> str:
        """Return the pattern for labels with all of these words, in any order."""
        expression = " AND ".join(f'"{word}"' for word in words)
        return f"{self.named()} ?name <bif:contains> {text_term(expression)} ."
