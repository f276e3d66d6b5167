"""A Wikibase's search over HTTP: `wbsearchentities` of the MediaWiki API."""

from collections.abc import Iterator, Mapping

from askgraph.index.name_search import Thing
from askgraph.index.name_search._http import HttpNameSearch, listed

__all__ = ["WikibaseApi"]

_MOST = 50


class WikibaseApi(HttpNameSearch):
    """Things whose label or alias begins with the text, the best known first.

    The address is that of the wiki's `api.php`.
    """

    def parameters(self, text: str, language: str, limit: int) -> Mapping[str, str]:
        """Return the parameters of the request for a text."""
        return {
            "action": "wbsearchentities",
            "format": "json",
            "type": "item",
            "search": text,
            "language": language,
            "uselang": language,
            "limit": str(min(_MOST, limit)),
        }

    def things(self, content: object, language: str) -> Iterator[Thing]:
        """Yield the things of a reply by the names that matched, and by their labels."""
        found = listed(content, "search")
        for place, one in enumerate(found):
            match = one.get("match")
            texts = [one.get("label")]
            if isinstance(match, dict):
                texts.insert(0, match.get("text"))
            names = dict.fromkeys((text, language) for text in texts if isinstance(text, str))
            iri = one.get("concepturi")
            if isinstance(iri, str) and names:
                yield Thing(iri, tuple(names), weight=float(len(found) - place))
