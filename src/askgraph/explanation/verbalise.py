"""A query read back in plain words, without a model: by the tree of the query and by templates."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from pyoxigraph import NamedNode

from askgraph.errors import QuerySyntaxError
from askgraph.explanation._names import Names
from askgraph.explanation._phrases import phrases_in
from askgraph.explanation._sentence import Sentence
from askgraph.rdf.vocabulary import RDF_TYPE
from askgraph.sparql.read import read
from askgraph.sparql.tree import Call

__all__ = ["in_words", "iris_in", "iris_of", "written_out"]

_MOST = 10_000  # characters: the time grows with the square of the patterns


def in_words(query: str, labels: Mapping[str, str], *, language: str = "en") -> str:
    """Return a query in one or two sentences of plain words.

    `labels` (IRI -> label) name what stands in the query; see `iris_of`. An IRI without a label is
    named by the words in it. English, German, Spanish and French; English for other languages. A
    query that cannot be read, or has more than 10,000 characters, gives a phrase that says that it
    cannot be put into words; nothing is raised.

    >>> in_words("SELECT ?s { ?s a <http://x/Singer> ; <http://x/country> 'France' }", {})
    'The singers whose country is “France”.'
    """
    return written_out(query, Names(labels, phrases_in(language)))


def written_out(query: str, names: Names) -> str:
    """Return a query in words by these names for its terms, in their language."""
    return names.phrases.punctuated(_sentence(query, names))


@lru_cache(maxsize=1024)
def iris_of(query: str) -> tuple[str, ...]:
    """Return the IRIs in a query that `in_words` names, each once, in order; none if unreadable."""
    try:
        tree = read(query)
    except QuerySyntaxError:
        return ()
    return iris_in(tree)


def iris_in(part: object) -> tuple[str, ...]:
    """Return the IRIs in a part of a query's tree that words name, each once, in order."""
    return tuple(dict.fromkeys(iri for iri in _iris(part) if iri != RDF_TYPE))


def _iris(part: object) -> list[str]:
    if isinstance(part, NamedNode):
        return [part.value]
    if isinstance(part, tuple):
        return [iri for inner in part for iri in _iris(inner)]
    if isinstance(part, Call) and part.name.startswith("<") and part.name.endswith(">"):
        return [part.name[1:-1], *_iris(part.arguments)]
    names = getattr(part, "__dataclass_fields__", ())
    return [iri for name in names for iri in _iris(getattr(part, name))]


def _sentence(query: str, names: Names) -> str:
    if len(query) > _MOST:
        return names.phrases.say("unreadable")
    try:
        return Sentence(read(query), names).text()
    except (QuerySyntaxError, RecursionError):
        return names.phrases.say("unreadable")
