"""QLever's text index of literals: records that hold words, and the literals in them."""

from collections.abc import Sequence
from typing import ClassVar

from askgraph.index.name_search import SparqlNameSearch, Wanted, text_term

__all__ = ["QleverNames"]

_TEXT = "http://qlever.cs.uni-freiburg.de/builtin-functions/"


class QleverNames(SparqlNameSearch):
    """Labels that hold all words; the index needs the words of literals in its text part."""

    servers: ClassVar = ("qlever",)

    def pattern(self, words: Sequence[str], wanted: Wanted) -> str:
        """Return the pattern for labels with all of these words, in any order."""
        words_said = text_term(" ".join(word.lower() for word in words))
        return (
            f"?t <{_TEXT}contains-word> {words_said} . ?t <{_TEXT}contains-entity> ?name . "
            f"{self.named()}"
        )
