"""Conditions on variables, and expressions over them, as phrases."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import replace

from pyoxigraph import NamedNode, Variable

from askgraph.explanation._conditions import (
    Condition,
    any_of,
    condition_on,
    conditions_text,
    unwrapped,
)
from askgraph.explanation._names import Names, is_date
from askgraph.explanation._scope import Scope
from askgraph.rdf.vocabulary import RDF_TYPE
from askgraph.sparql.elapsed import elapsed_in
from askgraph.sparql.tree import Call, Expression, Group, Pattern, Query, Term, variables_of


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
        """A noun for the object of a pattern; empty if a phrase would be a poor one."""
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


_FUNCTIONS = {
    "YEAR": "year",
    "MONTH": "month",
    "DAY": "day",
    "STRLEN": "strlen",
    "LANG": "lang",
    "ABS": "abs",
    "ROUND": "round",
    "CEIL": "round",
    "FLOOR": "round",
}
_COMPARED = frozenset(["=", "!=", "<", ">", "<=", ">="])


class ValueWords(Nouns, ABC):
    """Phrases for the values that variables must have, or that are computed of them."""

    @abstractmethod
    def phrase(self, variable: Variable, *, many: bool) -> str:
        """A variable with all that holds of it."""

    def conditions(self, variable: Term) -> str:
        """All conditions on one variable, as what it `is`; they count as told."""
        if not isinstance(variable, Variable):
            return ""
        found = []
        for number, expression in enumerate(self.scope.filters):
            if number in self.told_filters:
                continue
            if not self.mentions(expression, variable):
                continue
            self.told_filters.add(number)
            condition = condition_on(expression, self.words, self.phrases)
            if condition is not None and condition.variable == variable:
                found.append(self.dated(condition))
            else:
                self.told_filters.discard(number)
        found += self.given_values(variable)
        found += [
            Condition(variable, "=", self.of_select(select, variable.value))
            for select in self.scope.selects
            if variable.value in {name.value for name in variables_of(select)}
        ]
        return conditions_text(found, self.phrases)

    def dated(self, condition: Condition) -> Condition:
        """A comparison in the words for dates, if the predicate's name tells of one."""
        owner = self.owner(condition.variable)
        compares = condition.key in ("<", ">", "<=", ">=") and owner is not None
        if compares and owner and is_date(self.names.relation(owner.predicate).text):
            return replace(condition, key=f"date {condition.key}")
        return condition

    def is_filtered(self, variable: Variable) -> bool:
        """Whether any filter, VALUES or sub-select says something of a variable."""
        names = {name.value for values in self.scope.values for name in values.variables}
        names |= {name.value for select in self.scope.selects for name in variables_of(select)}
        return variable.value in names or any(
            self.mentions(condition, variable) for condition in self.scope.filters
        )

    def mentions(self, expression: Expression, variable: Variable) -> bool:
        """Whether a filter is about this variable, not merely compared with it."""
        plain = condition_on(expression, lambda _: "", self.phrases)
        return plain is not None and plain.variable == variable

    def given_values(self, variable: Variable) -> list[Condition]:
        found = []
        for values in self.scope.values:
            if variable in values.variables:
                at = values.variables.index(variable)
                cells = [row[at] for row in values.rows]
                known = [cell for cell in cells if cell is not None]
                if known:
                    text = any_of(known, self.words, self.phrases)
                    found.append(Condition(variable, "in", text))
        return found

    def words(self, expression: Expression) -> str:
        """An expression as a noun phrase."""
        match unwrapped(expression):
            case Variable() as variable:
                return self.reference(self.scope.resolved(variable))
            case Call() as call:
                return self.elapsed_words(call) or self.call_words(call)
            case Group():
                return self.phrases.say("something")
            case term:
                return self.names.term(term)

    def call_words(self, call: Call) -> str:
        texts = [self.words(argument) for argument in call.arguments]
        if call.name in _FUNCTIONS and texts:
            return self.phrases.say(_FUNCTIONS[call.name], texts[0])
        if call.name in ("+", "-", "*", "/") and len(texts) == 2:
            return self.phrases.say(call.name, *texts)
        if call.name == "IF" and len(texts) == 3:
            return self.phrases.say("if", *texts)
        if call.name in ("COALESCE", "CONCAT") and len(texts) > 1:
            key = call.name.lower()
            return self.phrases.say(key, texts[0], self.phrases.listed(texts[1:]))
        condition = condition_on(call, self.words, self.phrases)
        if condition is not None:
            subject = self.reference(condition.variable)
            return f"{subject} {conditions_text([condition], self.phrases)}"
        if call.name in _COMPARED and len(texts) == 2:
            return f"{texts[0]} {self.phrases.say(call.name, texts[1])}"
        if call.name in ("&&", "||"):
            return self.phrases.listed(texts, "and" if call.name == "&&" else "or")
        name = self.names.iri(call.name[1:-1]) if call.name.startswith("<") else call.name.lower()
        about = self.phrases.listed(texts) or self.phrases.say("something")
        return self.phrases.say("function", name, about)

    def elapsed_words(self, call: Call) -> str:
        """The time between two dates, if an expression computes that; else empty."""
        elapsed = elapsed_in(call)
        if elapsed is None:
            return ""
        start, end = self.words(elapsed.start), self.words(elapsed.end)
        return self.phrases.say(f"elapsed {elapsed.unit.split()[-1]}", start, end)

    def reference(self, variable: Variable) -> str:
        """A noun phrase for a variable that stands in an expression."""
        if variable.value in self.scope.binds:
            return self.words(self.scope.binds[variable.value])
        for select in self.scope.selects:
            if variable.value in {name.value for name in variables_of(select)}:
                return self.of_select(select, variable.value)
        if variable.value in self.known:
            return self.phrases.say("that", self.known[variable.value])
        pattern = self.owner(variable)
        if pattern is None:
            return self.phrases.say("that", self.noun(variable))
        return self.value_of_owner(pattern, variable)

    def value_of_owner(self, pattern: Pattern, variable: Variable) -> str:
        """`the diameter of Mercury`, `their diameter`, `the diameter of a planet that …`."""
        text = self.names.relation(pattern.predicate).text
        source = pattern.subject
        if not isinstance(source, Variable):
            self.told |= {n for n, p in enumerate(self.scope.patterns) if p == pattern}
            return self.phrases.say("of", self.phrases.say("the", text), self.names.term(source))
        if source.value in self.known:
            return self.phrases.say("their", text)
        self.known[variable.value] = text
        self.told |= {n for n, p in enumerate(self.scope.patterns) if p == pattern}
        inner = self.phrase(source, many=False)
        del self.known[variable.value]
        return self.phrases.say("of", self.phrases.say("the", text), inner)
