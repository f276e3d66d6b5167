"""A Wikibase's own search in SPARQL: EntitySearch of its MediaWiki API, as Blazegraph calls it."""

from collections.abc import Sequence
from typing import ClassVar

from askgraph.errors import SetupError
from askgraph.index.name_search import Naming, SparqlNameSearch, Wanted, text_term
from askgraph.sparql.vocabulary import WIKIBASE

__all__ = ["WikibaseNames"]

_API = "https://www.mediawiki.org/ontology#API/"
_GIVEN = "<http://www.bigdata.com/rdf#serviceParam>"
_MOST = 50


class WikibaseNames(SparqlNameSearch):
    """Things by label or alias, the best known first; `wikibase:HOST` says of which wiki.

    The query service asks the wiki itself, by a SERVICE that leads to no other server.
    """

    servers: ClassVar = ("blazegraph",)
    services: ClassVar = frozenset({f"{WIKIBASE}mwapi"})
    wants_host: ClassVar = True

    def __init__(self, naming: Naming) -> None:
        super().__init__(naming)
        if not naming.place:
            raise SetupError("the search 'wikibase' has to know its wiki: write wikibase:HOST")

    def pattern(self, words: Sequence[str], wanted: Wanted) -> str:
        """Return the pattern for the things that the wiki finds, with their names."""
        tags = wanted.languages or ("en",)
        given = {
            f"{WIKIBASE}api": "EntitySearch",
            f"{WIKIBASE}endpoint": self.naming.place,
            f"{_API}search": " ".join(words),
            f"{_API}language": tags[0],
            f"{_API}limit": str(min(_MOST, wanted.limit)),
        }
        asked = " ".join(f"{_GIVEN} <{key}> {text_term(value)} ." for key, value in given.items())
        listed = ", ".join(text_term(tag) for tag in dict.fromkeys((*tags, "mul")))
        return (
            f"SERVICE <{WIKIBASE}mwapi> {{ {asked} ?s <{WIKIBASE}apiOutputItem> <{_API}item> . }} "
            f"{self.named()} FILTER(LANG(?name) IN ({listed}))"
        )
