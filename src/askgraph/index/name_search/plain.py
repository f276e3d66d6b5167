"""Plain SPARQL, for any endpoint: labels that are the text itself, in the languages asked for."""

from collections.abc import Sequence

from askgraph.index.name_search import SparqlNameSearch, Wanted, text_term

__all__ = ["PlainNames"]


class PlainNames(SparqlNameSearch):
    """Exact labels; within a class, which bounds what has to be read, also their beginnings."""

    def pattern(self, words: Sequence[str], wanted: Wanted) -> str:
        """Return the pattern for labels of a class that begin with the words."""
        beginning = text_term(" ".join(words).lower())
        test = f"FILTER(STRSTARTS(LCASE(STR(?name)), {beginning}))"
        return f"{self.named()} {test}" if wanted.within else ""
