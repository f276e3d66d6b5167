"""Triples and patterns read out in English, with labels that keep their case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyoxigraph import BlankNode, Literal, NamedNode, Variable

from askgraph.answers.verbalize.names import Names
from askgraph.answers.verbalize.nouns import Nouns
from askgraph.answers.verbalize.phrases import load_phrases
from askgraph.answers.verbalize.scope import make_scope
from askgraph.sparql import Group, Pattern
from askgraph.sparql.vocabulary import RDF_TYPE


class TripleReader:
    """Reads patterns out as `subject · predicate · object`, by labels that keep their case."""

    def __init__(self, labels: Mapping[str, str], where: Group | None = None) -> None:
        self._names = Names(labels, load_phrases("en"), keeps_case=True)
        self._nouns = Nouns(make_scope(where or Group()), self._names)

    def read(self, pattern: Pattern) -> str:
        """Return `subject · predicate · object`; a variable is `something`, or its name."""
        return " · ".join(
            [self.read_term(pattern.subject), self._name(pattern), self.read_term(pattern.object)]
        )

    def read_absence(self, patterns: Sequence[Pattern]) -> str:
        """Return what a graph does not hold: `nothing · orbits · Mercury`."""
        match patterns:
            case [Pattern(Variable() as subject, _, object_) as pattern]:
                noun = self.name(subject)
                who = "nothing" if noun == "thing" else f"no {noun}"
                return " · ".join([who, self._name(pattern), self.read_term(object_)])
            case [Pattern(subject, _, Variable()) as pattern]:
                return " · ".join([self.read_term(subject), self._name(pattern), "nothing"])
        listed = [self.read(pattern) for pattern in patterns]
        return f"not in the graph: {' together with '.join(listed)}"

    def _name(self, pattern: Pattern) -> str:
        if pattern.predicate == NamedNode(RDF_TYPE):
            return "is a"
        entry = self._names.find_entry(pattern.predicate)
        name = entry.label or entry.text
        if isinstance(pattern.predicate, NamedNode):
            name = self._names.name_class(pattern.predicate.value)
        return self._names.phrases.say("path " + entry.steps, name) if entry.steps else name

    def read_term(self, term: object) -> str:
        """Return a term in words; values as they are written."""
        match term:
            case Variable():
                noun = self.name(term)
                return "something" if noun == "thing" else f"some {noun}"
            case Literal():
                return term.value
            case NamedNode():
                return self._names.name_iri(term.value)
            case BlankNode():
                return "a node without a name"
            case _:
                return str(term)

    def name(self, variable: Variable) -> str:
        """Return the noun of a variable: its class, its predicate, else its name."""
        noun = self._nouns.find_noun(variable)
        is_name = len(variable.value) > 2 and not variable.value.startswith("__")
        if noun != "thing" or not is_name:
            return noun
        return " ".join(variable.value.replace("_", " ").split())
