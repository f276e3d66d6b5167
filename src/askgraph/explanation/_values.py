"""Conditions on variables, and expressions over them, as phrases."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace

from pyoxigraph import Variable

from askgraph.explanation._conditions import (
    Condition,
    any_of,
    condition_on,
    conditions_text,
    unwrapped,
)
from askgraph.explanation._names import is_date
from askgraph.explanation._nouns import Nouns
from askgraph.sparql.elapsed import elapsed_in
from askgraph.sparql.tree import Call, Expression, Group, Pattern, Term, variables_of

__all__ = ["ValueWords"]

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
        """A comparison in the words for dates, where the predicate's name tells of one."""
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
        """The time between two dates, where an expression computes that; else empty."""
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
