"""Nouns for the variables of a group, and the conditions and expressions on them as phrases."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from pyoxigraph import Literal, NamedNode, Variable

from askgraph.answers.verbalize.phrases import Names, Phrases, Scope, is_date
from askgraph.sparql import Call, Expression, Group, Pattern, Query, Term, find_variables
from askgraph.sparql.vocabulary import DATE_DATATYPES, NUMERIC_DATATYPES, RDF_TYPE

_LISTED = 5  # values that are named one by one
_COMPARISONS = {"=": "=", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<="}
_OPPOSITE = {"=": "!=", "!=": "=", "contains": "contains not", "bound": "unbound", "in": "not in"}
_TRANSPARENT = frozenset(["STR", "LCASE", "UCASE", "IRI", "URI"])
_TESTS = {
    "BOUND": "bound",
    "ISIRI": "resource",
    "ISURI": "resource",
    "ISLITERAL": "literal",
    "ISNUMERIC": "number value",
}
_TEXT = {"CONTAINS": "contains", "STRSTARTS": "starts", "STRENDS": "ends"}


@dataclass(frozen=True)
class Condition:
    """What a variable must be: a phrase's key, and the words to fill in."""

    variable: Variable
    key: str
    value: str


def unwrapped(expression: Expression) -> Expression:
    """Return what an expression is about: without STR, LCASE, casts to a datatype."""
    while isinstance(expression, Call) and len(expression.arguments) == 1:
        is_cast = expression.name.startswith("<") and "XMLSchema#" in expression.name
        if expression.name not in _TRANSPARENT and not is_cast:
            break
        expression = expression.arguments[0]
    return expression


@dataclass(frozen=True)
class Conditions:
    """Filters as conditions on one variable; `words` puts the other side of a comparison so."""

    words: Callable[[Expression], str]
    phrases: Phrases

    def on(self, expression: Expression) -> Condition | None:
        """Return a filter as a condition on its one variable; None if it is no such thing."""
        match expression:
            case Call(name=name, arguments=(left, right)) if name in _COMPARISONS:
                return self.comparison(name, left, right)
            case Call(name="IN" | "NOT IN" as name, arguments=(left, *items)):
                return self.membership(name, left, items)
            case Call(name="||") if len(sides := _equals(expression)) > _LISTED:
                return self.membership("IN", sides[0][0], [value for _, value in sides])
            case Call(name="||" | "&&" as name, arguments=(left, right)):
                parts = [self.on(part) for part in (left, right)]
                return self.joined(parts, "or" if name == "||" else "and")
            case Call(name="!", arguments=(inner,)):
                return self.negated(self.on(inner))
            case Call(name=name, arguments=(subject, *rest)):
                return self.test(name, unwrapped(subject), rest)
            case _:
                return None

    def any_of(self, items: Sequence[Expression]) -> str:
        """Return values as `a, b or c`; many by their number, with the least and the most."""
        if len(items) <= _LISTED:
            return self.phrases.listed([self.words(item) for item in items], "or")
        # Dates or numbers from the least to the most; none if there is anything else.
        literals = [one for one in map(unwrapped, items) if isinstance(one, Literal)]
        kinds = {one.datatype.value for one in literals}
        dated, counted = kinds <= DATE_DATATYPES, kinds <= NUMERIC_DATATYPES
        if len(literals) == len(items) and (dated or counted):
            literals.sort(key=lambda one: one.value if dated else float(one.value))
            ends = (self.words(literals[at]) for at in (0, -1))
            return self.phrases.say("one of", len(items), *ends)
        shown = self.phrases.listed([self.words(item) for item in items[:2]])
        return self.phrases.say("one of many", len(items), shown)

    def text(self, conditions: Iterable[Condition]) -> str:
        """Return the conditions on one variable as one phrase; two bounds as a range."""
        found = list(conditions)
        for low, high in ((">=", "<="), ("date >=", "date <="), ("date >=", "date <")):
            ends = [next((c for c in found if c.key == key), None) for key in (low, high)]
            if (both := _range(*ends)) is not None:
                found = [*(c for c in found if not any(c is end for end in ends)), both]
        return self.phrases.listed([self.said(condition) for condition in found])

    def said(self, condition: Condition) -> str:
        if condition.key == "said":
            return condition.value
        return self.phrases.say(condition.key, *condition.value.split("\0"))

    def comparison(self, name: str, left: Expression, right: Expression) -> Condition | None:
        if isinstance(unwrapped(left), Literal | NamedNode):
            left, right, name = right, left, _COMPARISONS[name]
        subject = unwrapped(left)
        other = unwrapped(right)
        match subject:
            case Variable():
                dated = isinstance(other, Literal) and other.datatype.value in DATE_DATATYPES
                key = f"date {name}" if dated and name not in ("=", "!=") else name
                return Condition(subject, key, self.words(other))
            case Call(name="YEAR", arguments=(inner,)) if isinstance(unwrapped(inner), Variable):
                key = f"year {name}" if name in ("=", "!=") else f"date {name}"
                found = unwrapped(inner)
                assert isinstance(found, Variable)
                return Condition(found, key, self.words(other))
            case Call(name="LANG", arguments=(Variable() as inner,)) if name == "=":
                return Condition(inner, "language", self.bare(other))
            case Call(name="DATATYPE", arguments=(Variable() as inner,)) if name == "=":
                return Condition(inner, "datatype", self.words(other))
            case _:
                return None

    def bare(self, expression: Expression) -> str:
        return expression.value if isinstance(expression, Literal) else self.words(expression)

    def membership(
        self, name: str, left: Expression, items: Sequence[Expression]
    ) -> Condition | None:
        subject = unwrapped(left)
        if not isinstance(subject, Variable):
            return None
        few, many = ("in", "=") if name == "IN" else ("not in", "!=")
        return Condition(subject, few if len(items) <= _LISTED else many, self.any_of(items))

    def joined(self, parts: list[Condition | None], word: str) -> Condition | None:
        first, second = parts
        if first is None or second is None or first.variable != second.variable:
            return None
        if word == "or" and first.key == second.key:
            value = self.phrases.say("or", first.value, second.value)
            return Condition(first.variable, first.key, value)
        if word == "and":
            return Condition(first.variable, "said", self.text([first, second]))
        text = self.phrases.say(word, self.said(first), self.said(second))
        return Condition(first.variable, "said", text)

    def negated(self, condition: Condition | None) -> Condition | None:
        if condition is None:
            return None
        if condition.key in _OPPOSITE:
            return Condition(condition.variable, _OPPOSITE[condition.key], condition.value)
        return Condition(condition.variable, "said", self.phrases.say("not", self.said(condition)))

    def test(self, name: str, subject: Expression, rest: list[Expression]) -> Condition | None:
        """A function that is true or false of its first argument."""
        match subject:
            case Variable() if name in _TESTS:
                return Condition(subject, _TESTS[name], "")
            case Variable() if name in _TEXT and rest:
                return Condition(subject, _TEXT[name], self.words(unwrapped(rest[0])))
            case Variable() if name == "REGEX" and rest:
                return self.pattern(subject, unwrapped(rest[0]))
            case Call(name="LANG", arguments=(Variable() as inner,)) if (
                name == "LANGMATCHES" and rest
            ):
                return Condition(inner, "language", self.bare(unwrapped(rest[0])))
            case _:
                return None

    def pattern(self, subject: Variable, pattern: Expression) -> Condition:
        """A regular expression; a mere text in it as such."""
        if not isinstance(pattern, Literal):
            return Condition(subject, "matches", self.words(pattern))
        plain = re.fullmatch(r"(\^?)((?:[\w\s,;:'/-]|\\.)*)(\$?)", pattern.value)
        if not plain or (plain[1] and plain[3]):
            return Condition(subject, "matches", self.words(pattern))
        key = "starts" if plain[1] else "ends" if plain[3] else "contains"
        return Condition(subject, key, self.words(Literal(re.sub(r"\\(.)", r"\1", plain[2]))))


def _range(least: Condition | None, most: Condition | None) -> Condition | None:
    """Two bounds as one; those at the turns of years as these: `is in 1969`."""
    if least is None or most is None:
        return None
    value = f"{least.value}\0{most.value}"
    if most.key == "date <":
        turns = re.fullmatch(r"(\d{4})-01-01\0(\d{4})-01-01", value)
        if turns is None:
            return None
        first, last = int(turns[1]), int(turns[2]) - 1
        if first == last:
            return Condition(least.variable, "year =", str(first))
        value = f"{first}\0{last}"
    return Condition(least.variable, "between", value)


def parts_of(condition: Expression, operator: str) -> Iterator[Expression]:
    """Yield the conditions that `&&` or `||` puts together, in order, however many there are."""
    waiting = [condition]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Call) and part.name == operator:
            waiting += reversed(part.arguments)
        else:
            yield part


def _equals(expression: Expression) -> list[tuple[Expression, Expression]]:
    """The sides of `?x = 1 || ?x = 2 || …`; none if it is anything else."""
    sides = list[tuple[Expression, Expression]]()
    for part in parts_of(expression, "||"):
        match part:
            case Call("=", (left, Literal() | NamedNode() as value)):
                sides.append((left, value))
            case _:
                return []
    return sides if len({left for left, _ in sides}) == 1 else []


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
        self.say, self.listed = self.phrases.say, self.phrases.listed
        self.silent = set(silent)
        self.known = dict(known or {})
        self.of_select = of_select
        self.told: set[Pattern] = set()
        self.told_filters: set[int] = set()
        self.told_unions: set[int] = set()
        self.values: set[str] = set()  # conditions that are nothing but values
        self.superlative = ""
        self.depth = 0

    def classes(self, variable: Term) -> list[str]:
        """The classes that a variable is said to be of, in words."""
        found = []
        for pattern in self.scope.patterns:
            is_type = pattern.predicate == NamedNode(RDF_TYPE)
            if is_type and pattern.subject == variable and isinstance(pattern.object, NamedNode):
                found.append(self.names.type_noun(pattern.object.value))
                self.told.add(pattern)
        return list(dict.fromkeys(found))

    def noun(self, variable: Variable) -> str:
        """A singular noun for a variable: its class, or what it is to something else."""
        if variable.value in self.known:
            return self.known[variable.value]
        if classes := self.classes(variable):
            return " ".join(classes)
        for pattern in self.scope.patterns:
            if pattern.predicate == variable:
                return self.say("property")
            if pattern.object == variable and (noun := self.noun_as_object(pattern)):
                return noun
        for scopes in self.scope.unions:
            classes = [n for inner in scopes for n in Nouns(inner, self.names).classes(variable)]
            if classes:
                return self.listed(list(dict.fromkeys(classes)), "or")
        return self.say("thing")

    def noun_as_object(self, pattern: Pattern) -> str:
        """A noun for the object of a pattern; empty if a phrase would be a poor one."""
        if pattern.predicate == NamedNode(RDF_TYPE):
            return self.say("class")
        is_subject = any(other.subject == pattern.object for other in self.scope.patterns)
        relation = self.names.relation(pattern.predicate)
        if relation.kind == "any" or (relation.kind != "noun" and is_subject):
            return ""
        return self.noun_of(pattern)

    def noun_of(self, pattern: Pattern) -> str:
        """What the object of a pattern is to its subject."""
        relation = self.names.relation(pattern.predicate)
        if relation.kind == "any":
            return self.say("thing")
        if relation.kind == "place":
            return self.say("place noun")
        return relation.text if relation.kind == "noun" else self.phrases.quoted(relation.text)

    def owner(self, variable: Variable) -> Pattern | None:
        """The first pattern in which a variable is the object."""
        patterns = [*self.scope.patterns, *(p for o in self.scope.optional for p in o.patterns)]
        return next((pattern for pattern in patterns if pattern.object == variable), None)

    def is_noun_of(self, variable: Variable, noun: str) -> Pattern | None:
        """The pattern by which a variable is the `noun` of something else; it counts as told."""
        for pattern in self.untold(variable):
            relation = self.names.relation(pattern.predicate)
            if pattern.object == variable and (relation.kind, relation.text) == ("noun", noun):
                self.told.add(pattern)
                return pattern
        return None

    def untold(self, term: Term | None) -> list[Pattern]:
        """The patterns with a term at an end that nothing has told yet."""
        ends = ((one, (one.subject, one.object)) for one in self.scope.patterns)
        return [one for one, both in ends if term in both and one not in self.told]

    def reachable(self, variable: Term) -> set[str]:
        """The names of a variable and of the values that hang on it."""
        ends = [variable, *(one.object for one in self.scope.patterns if one.subject == variable)]
        return {end.value for end in ends if isinstance(end, Variable)}


_FUNCTIONS = {
    **{name: name.lower() for name in "YEAR MONTH DAY STRLEN LANG ABS ROUND".split()},
    **dict.fromkeys(["CEIL", "FLOOR"], "round"),
}


class ValueWords(Nouns, ABC):
    """Phrases for the values that variables must have, or that are computed of them."""

    @abstractmethod
    def phrase(self, variable: Variable, *, many: bool) -> str:
        """A variable with all that holds of it."""

    @property
    def tests(self) -> Conditions:
        return Conditions(self.words, self.phrases)

    def conditions(self, variable: Term) -> str:
        """All conditions on one variable, as what it `is`; they count as told."""
        if not isinstance(variable, Variable):
            return ""
        found = []
        for number, expression in enumerate(self.scope.filters):
            if number in self.told_filters or not self.mentions(expression, variable):
                continue
            self.told_filters.add(number)
            condition = self.tests.on(expression)
            if condition is not None and condition.variable == variable:
                found.append(self.dated(condition))
            else:
                self.told_filters.discard(number)
        for values in self.scope.values:
            if variable in values.variables:
                at = values.variables.index(variable)
                cells = (row[at] for row in values.rows)
                if known := [cell for cell in cells if cell is not None]:
                    found.append(Condition(variable, "in", self.tests.any_of(known)))
        found += [
            Condition(variable, "=", self.of_select(select, variable.value))
            for select in self.scope.selects
            if variable.value in {name.value for name in find_variables(select)}
            and variable not in [key for key, _ in select.group_by]
        ]
        text = self.tests.text(found)
        if all(one.key in ("=", "in") for one in found):
            self.values.add(text)
        return text

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
        names |= {name.value for select in self.scope.selects for name in find_variables(select)}
        return variable.value in names or any(
            self.mentions(condition, variable) for condition in self.scope.filters
        )

    def mentions(self, expression: Expression, variable: Variable) -> bool:
        """Whether a filter is about this variable, not merely compared with it."""
        plain = Conditions(lambda _: "", self.phrases).on(expression)
        return plain is not None and plain.variable == variable

    def words(self, expression: Expression) -> str:
        """An expression as a noun phrase."""
        match unwrapped(expression):
            case Variable() as variable:
                return self.reference(self.scope.resolved(variable))
            case Call() as call:
                return self.elapsed_words(call) or self.call_words(call)
            case Group():
                return self.say("something")
            case term:
                return self.names.term(term)

    def call_words(self, call: Call) -> str:
        texts = [self.words(argument) for argument in call.arguments]
        if call.name in _FUNCTIONS and texts:
            return self.say(_FUNCTIONS[call.name], texts[0])
        if call.name in ("+", "-", "*", "/") and len(texts) == 2:
            return self.say(call.name, *texts)
        if call.name == "IF" and len(texts) == 3:
            return self.say("if", *texts)
        if call.name in ("COALESCE", "CONCAT") and len(texts) > 1:
            key = call.name.lower()
            return self.say(key, texts[0], self.listed(texts[1:]))
        condition = self.tests.on(call)
        if condition is not None:
            subject = self.reference(condition.variable)
            return f"{subject} {self.tests.text([self.dated(condition)])}"
        if call.name in _COMPARISONS and len(texts) == 2:
            return f"{texts[0]} {self.say(call.name, texts[1])}"
        if call.name in ("&&", "||"):
            return self.listed(texts, "and" if call.name == "&&" else "or")
        name = self.names.iri(call.name[1:-1]) if call.name.startswith("<") else call.name.lower()
        about = self.listed(texts) or self.say("something")
        return self.say("function", name, about)

    def elapsed_words(self, call: Call) -> str:
        """The time between two dates, if an expression computes that; else empty."""
        from askgraph.sparql.elapsed import parse_elapsed_time  # few queries subtract

        elapsed = parse_elapsed_time(call) if call.name in ("-", "+") else None
        if elapsed is None:
            return ""
        start, end = self.words(elapsed.start), self.words(elapsed.end)
        return self.say(f"elapsed {elapsed.unit.split()[-1]}", start, end)

    def reference(self, variable: Variable) -> str:
        """A noun phrase for a variable that stands in an expression."""
        if variable.value in self.scope.binds:
            self.names.follow()
            return self.words(self.scope.binds[variable.value])
        for select in self.scope.selects:
            if variable.value in {name.value for name in find_variables(select)}:
                return self.of_select(select, variable.value)
        if variable.value in self.known:
            return self.say("that", self.known[variable.value])
        pattern = self.owner(variable)
        if pattern is None:
            return self.say("that", self.noun(variable))
        return self.value_of_owner(pattern, variable)

    def value_of_owner(self, pattern: Pattern, variable: Variable) -> str:
        """`the diameter of Mercury`, `their diameter`, `the diameter of a planet that …`."""
        text = self.names.relation(pattern.predicate).text
        source = pattern.subject
        if not isinstance(source, Variable):
            self.told.add(pattern)
            known = self.names.values.get(variable.value)
            whose = self.names.term(source) + (f" ({known})" if known else "")
            return self.say("of", self.say("the", text), whose)
        if source.value in self.known:
            return self.say("their", text)
        self.known[variable.value] = text
        self.told.add(pattern)
        inner = self.phrase(source, many=False)
        del self.known[variable.value]
        return self.say("of", self.say("the", text), inner)
