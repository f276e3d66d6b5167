"""DBpedia Lookup over HTTP, which serves other graphs, too."""

import re
from collections.abc import Iterator, Mapping

from askgraph.index.name_search import Thing
from askgraph.index.name_search._http import HttpNameSearch, listed

__all__ = ["LookupNames"]

_MARKED = re.compile(r"</?[A-Za-z]+>")  # what matched stands in <B>


class LookupNames(HttpNameSearch):
    """Things by label and redirect, with their classes; the weight is how many refer to them.

    The address is that of the service's `api/search`.
    """

    def parameters(self, text: str, language: str, limit: int) -> Mapping[str, str]:
        """Return the parameters of the request for a text."""
        return {"query": text, "format": "JSON", "maxResults": str(limit)}

    def things(self, content: object, language: str) -> Iterator[Thing]:
        """Yield the things of a reply."""
        for one in listed(content, "docs"):
            names = (*_texts(one, "label"), *_texts(one, "redirectlabel"))
            weight = next((text for text in _texts(one, "refCount") if text.isdigit()), "0")
            for iri in _texts(one, "resource")[:1]:
                if names:
                    tagged = tuple((name, "") for name in dict.fromkeys(names))
                    yield Thing(iri, tagged, tuple(_texts(one, "type")), float(weight))


def _texts(one: Mapping[str, object], key: str) -> list[str]:
    found = one.get(key)
    texts = found if isinstance(found, list) else [found]
    return [_MARKED.sub("", text) for text in texts if isinstance(text, str)]
