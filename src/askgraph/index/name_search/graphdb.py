"""GraphDB's full text: the index of all literals, or a Lucene connector if one is named."""

from collections.abc import Sequence
from typing import ClassVar

from askgraph.errors import SetupError
from askgraph.index.name_search import Naming, SparqlNameSearch, Wanted, all_of, words_of

__all__ = ["GraphdbNames"]

_FULL_TEXT = "http://www.ontotext.com/fts"
_LUCENE = "http://www.ontotext.com/connectors/lucene"


class GraphdbNames(SparqlNameSearch):
    """Labels in `onto:fts`; `graphdb:NAME` asks the connector of that name for things."""

    servers: ClassVar = ("graphdb",)

    def __init__(self, naming: Naming) -> None:
        super().__init__(naming)
        if naming.place and not words_of(naming.place) == [*naming.place.split("_")]:
            raise SetupError(f"{naming.place!r} cannot be the name of a Lucene connector")

    def pattern(self, words: Sequence[str], wanted: Wanted) -> str:
        """Return the pattern for labels, or for the things of a connector and their labels."""
        if not self.naming.place:
            return f'?name <{_FULL_TEXT}> ({all_of(words)} "*") . {self.named()}'
        return (
            f"?q a <{_LUCENE}/instance#{self.naming.place}> ; <{_LUCENE}#query> {all_of(words)} ; "
            f"<{_LUCENE}#entities> ?s . {self.named()}"
        )
