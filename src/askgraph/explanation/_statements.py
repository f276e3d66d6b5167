"""Triples and patterns as short statements: `Titan · orbits · Saturn`."""

from collections.abc import Mapping

from pyoxigraph import BlankNode, Literal, NamedNode, Variable

from askgraph.explanation._names import Names
from askgraph.explanation._nouns import Nouns
from askgraph.explanation._phrases import phrases_in
from askgraph.explanation._scope import scope_of
from askgraph.rdf.vocabulary import RDF_TYPE
from askgraph.sparql.tree import Group, Pattern

__all__ = ["Statements"]


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
