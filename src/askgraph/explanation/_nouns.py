"""What the variables of one group are called, and which of them filters speak of."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pyoxigraph import NamedNode, Variable

from askgraph.explanation._names import Names
from askgraph.explanation._scope import Scope
from askgraph.rdf.vocabulary import RDF_TYPE
from askgraph.sparql.tree import Pattern, Query, Term

__all__ = ["Nouns"]


class Nouns:
    """Nouns for the variables of one group.

    `silent` are the names of variables that the sentence around speaks of already (columns, keys,
    sort keys): a plain link to one of those needs no clause. `known` are variables with a noun to
    refer to them by. `of_select` puts a column of a sub-select into words.
    """

    def __init__(
        self,
        scope: Scope,
        names: Names,
        *,
        silent: Iterable[str] = (),
        known: dict[str, str] | None = None,
        of_select: Callable[[Query, str], str] = lambda _select, name: name,
    ) -> None:
        self.scope = scope
        self.names = names
        self.phrases = names.phrases
        self.silent = set(silent)
        self.known = dict(known or {})
        self.of_select = of_select
        self.told: set[int] = set()
        self.told_filters: set[int] = set()
        self.told_unions: set[int] = set()
        self.superlative = ""
        self.depth = 0

    def classes(self, variable: Term) -> list[str]:
        """The classes that a variable is said to be of, in words."""
        found = []
        for number, pattern in enumerate(self.scope.patterns):
            is_type = pattern.predicate == NamedNode(RDF_TYPE)
            if is_type and pattern.subject == variable and isinstance(pattern.object, NamedNode):
                found.append(self.names.type_noun(pattern.object.value))
                self.told.add(number)
        return list(dict.fromkeys(found))

    def noun(self, variable: Variable) -> str:
        """A singular noun for a variable: its class, or what it is to something else."""
        if variable.value in self.known:
            return self.known[variable.value]
        if classes := self.classes(variable):
            return " ".join(classes)
        for pattern in self.scope.patterns:
            if pattern.predicate == variable:
                return self.phrases.say("property")
            if pattern.object == variable and (noun := self.noun_as_object(pattern)):
                return noun
        for scopes in self.scope.unions:
            classes = [n for inner in scopes for n in Nouns(inner, self.names).classes(variable)]
            if classes:
                return self.phrases.listed(list(dict.fromkeys(classes)), "or")
        return self.phrases.say("thing")

    def noun_as_object(self, pattern: Pattern) -> str:
        """A noun for the object of a pattern; empty where a phrase would be a poor one."""
        if pattern.predicate == NamedNode(RDF_TYPE):
            return self.phrases.say("class")
        is_subject = any(other.subject == pattern.object for other in self.scope.patterns)
        relation = self.names.relation(pattern.predicate)
        if relation.kind == "any" or (relation.kind != "noun" and is_subject):
            return ""
        return self.noun_of(pattern)

    def noun_of(self, pattern: Pattern) -> str:
        """What the object of a pattern is to its subject."""
        relation = self.names.relation(pattern.predicate)
        if relation.kind == "any":
            return self.phrases.say("thing")
        return relation.text if relation.kind == "noun" else self.phrases.quoted(relation.text)

    def owner(self, variable: Variable) -> Pattern | None:
        """The first pattern in which a variable is the object."""
        patterns = [*self.scope.patterns, *(p for o in self.scope.optional for p in o.patterns)]
        return next((pattern for pattern in patterns if pattern.object == variable), None)

    def is_noun_of(self, variable: Variable, noun: str) -> Pattern | None:
        """The pattern by which a variable is the `noun` of something else; it counts as told."""
        for number, pattern in enumerate(self.scope.patterns):
            if number in self.told or pattern.object != variable:
                continue
            relation = self.names.relation(pattern.predicate)
            if relation.kind == "noun" and relation.text == noun:
                self.told.add(number)
                return pattern
        return None

    def is_subject(self, variable: Variable) -> bool:
        """Whether there is more to say of a variable than what it is the object of."""
        links = [
            number
            for number, pattern in enumerate(self.scope.patterns)
            if number not in self.told and variable in (pattern.subject, pattern.object)
        ]
        return bool(links)

    def reachable(self, variable: Term) -> set[str]:
        """The names of a variable and of the values that hang on it."""
        found = {variable.value} if isinstance(variable, Variable) else set()
        for pattern in self.scope.patterns:
            if pattern.subject == variable and isinstance(pattern.object, Variable):
                found.add(pattern.object.value)
        return found
