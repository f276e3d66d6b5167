"""Queries read back in plain words, without a model: by their trees and by templates."""

from __future__ import annotations

from collections.abc import Mapping

from pyoxigraph import BlankNode, Literal, NamedNode, Variable

from askgraph.errors import QuerySyntaxError
from askgraph.explanation._names import Names, phrases_in, scope_of
from askgraph.explanation._nouns import Nouns
from askgraph.explanation._sentence import Sentence
from askgraph.rdf.vocabulary import RDF_TYPE
from askgraph.sparql import Call, Group, Pattern, Query, walk
from askgraph.sparql.write import tree_of

_MOST = 10_000  # characters: the time grows with the square of the patterns


def in_words(
    query: Query | str,
    labels: Mapping[str, str],
    *,
    language: str = "en",
    nouns: str | None = None,
) -> str:
    """Return a query in one or two sentences of plain words.

    `labels` (IRI -> label) name what stands in the query; see `iris_of`. An IRI without a label is
    named by the words in it. English, German, Spanish and French; English for other languages.
    `nouns` is the language of the labels if it is another one, empty if nobody knows. A
    text that cannot be read, or has more than 10,000 characters, gives a phrase that says that it
    cannot be put into words; nothing is raised.

    >>> in_words("SELECT ?s { ?s a <http://x/Singer> ; <http://x/country> 'France' }", {})
    'The singers whose country is “France”.'
    """
    return written_out(query, Names(labels, phrases_in(language, nouns)))


def written_out(query: Query | str, names: Names) -> str:
    """Return a query in words by these names for its terms, in their language."""
    return names.phrases.punctuated(_sentence(query, names))


def iris_of(query: Query | str) -> tuple[str, ...]:
    """Return the IRIs in a query that `in_words` names, each once, in order; none if unreadable."""
    try:
        return iris_in(tree_of(query))
    except QuerySyntaxError:
        return ()


def iris_in(part: object) -> tuple[str, ...]:
    """Return the IRIs in a part of a query's tree that words name, each once, in order."""
    found: dict[str, None] = {}
    for node in walk(part):
        if isinstance(node, NamedNode):
            found[node.value] = None
        elif isinstance(node, Call) and node.name[0] == "<" and node.name[-1] == ">":
            found[node.name[1:-1]] = None
    found.pop(RDF_TYPE, None)
    return tuple(found)


def _sentence(query: Query | str, names: Names) -> str:
    if isinstance(query, str) and len(query) > _MOST:
        return names.phrases.say("unreadable")
    try:
        return Sentence(tree_of(query), names).text()
    except (QuerySyntaxError, RecursionError):
        return names.phrases.say("unreadable")


class Statements:
    """Reads patterns out by label, in English; labels keep their case."""

    def __init__(self, labels: Mapping[str, str], where: Group | None = None) -> None:
        self._names = Names(labels, phrases_in("en"), own_case=True)
        self._nouns = Nouns(scope_of(where or Group()), self._names)

    def of(self, pattern: Pattern) -> str:
        """Return `subject · predicate · object`; a variable is `something`, or its name."""
        if pattern.predicate == NamedNode(RDF_TYPE):
            relation = "is a"
        else:
            found = self._names.relation(pattern.predicate)
            relation = found.text.strip("“”")
            if found.steps:
                relation = self._names.phrases.say("path " + found.steps, relation)
        return " · ".join([self.term(pattern.subject), relation, self.term(pattern.object)])

    def term(self, term: object) -> str:
        """Return a term in words; values as they are written."""
        match term:
            case Variable():
                noun = self.noun(term)
                return "something" if noun == "thing" else f"some {noun}"
            case Literal():
                return term.value
            case NamedNode():
                return self._names.iri(term.value)
            case BlankNode():
                return "a node without a name"
            case _:
                return str(term)

    def noun(self, variable: Variable) -> str:
        """Return what a variable is called: by its class, by its predicate, else by its name."""
        noun = self._nouns.noun(variable)
        is_name = len(variable.value) > 2 and not variable.value.startswith("__")
        return (
            " ".join(variable.value.replace("_", " ").split())
            if noun == "thing" and is_name
            else noun
        )


_WORDS = ((0.85, "sure"), (0.6, "fairly sure"), (0.35, "unsure"), (0.0, "a guess"))


def confidence_in_words(confidence: float) -> str:
    """Return a confidence between 0 and 1 as words and a number."""
    words = next(words for least, words in _WORDS if confidence >= least)
    return f"{words} ({confidence:.2f})"
