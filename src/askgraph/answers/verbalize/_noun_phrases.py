"""Noun phrases for the variables of one group: what they are, and what holds of them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pyoxigraph import Literal, NamedNode, Variable

from askgraph.answers.verbalize._nouns import ValueWords
from askgraph.answers.verbalize.phrases import Relation, Scope, scope_of
from askgraph.sparql import Call, Pattern, Query, Term, find_variables
from askgraph.sparql.vocabulary import RDF_TYPE

_DEPTH = 12
_FORWARD = {"noun": "is", "any": "any link", "place": "place"}
_BACKWARD = {
    "noun": "inverse",
    "any": "any link",
    "place": "inverse place",
    "verb": "inverse verb",
}


class Teller(ValueWords):
    """Tells a group of patterns, each of them once."""

    def phrase(self, variable: Variable, *, many: bool) -> str:
        """A variable with all that holds of it: `singers whose country is France`."""
        noun = self.noun(variable)
        head = self.head(variable, noun, many=many)
        self.known.setdefault(variable.value, noun)
        between = [self.superlative] if self.superlative else []
        self.superlative = ""
        return " ".join([head, *between, *self.clauses(variable, many=many)])

    def head(self, variable: Variable, noun: str, *, many: bool) -> str:
        """The noun with its article or in the plural; with whose it is where that makes it one."""
        if noun == self.say("thing"):
            return self.say("things" if many else "something")
        of = self.is_noun_of(variable, noun)
        if of is None:
            return self.phrases.plural(noun) if many else self.phrases.one(noun)
        text = self.head_of(of, noun, many=many)
        return self.phrases.stepped(text, self.names.relation(of.predicate))

    def head_of(self, pattern: Pattern, noun: str, *, many: bool) -> str:
        """`discoverer of Pluto`, `suppliers if the customer is Intel`."""
        source = pattern.subject
        own = self.phrases.plural(noun) if many else noun
        if not isinstance(source, Variable):
            text = self.say("of", noun, self.names.term(source))
            return text if many else self.say("the", text)
        if source.value in self.known:
            whose = self.noun(source)
            return (
                own if whose == self.say("thing") else self.say("of", own, self.say("that", whose))
            )
        if self.noun(source) != self.say("thing"):
            return self.say("of", own, self.phrase(source, many=False))
        self.known[source.value] = self.say("thing")
        plural = self.phrases.plural(noun) if many else self.phrases.one(noun)
        text = self.where_they(plural, source)
        return text if text == plural else text + ","

    def clauses(self, variable: Term, *, many: bool) -> list[str]:
        """The clauses on a variable as one text in a list, or an empty list."""
        self.depth += 1
        found: list[str] = []
        if self.depth <= _DEPTH:
            found += self.own_conditions(variable)
            found += self.link_clauses(variable, many=many)
            found += self.union_clauses(variable, many=many)
            found += self.scope_clauses(variable, many=many)
        self.depth -= 1
        if not many and self.phrases.language == "en":
            found = [re.sub("^that (are|have) ", _singular, text) for text in found]
        return [self.together(found)] if found else []

    def together(self, clauses: Iterable[str]) -> str:
        """Clauses as a list, those on what is left out after the others."""
        start = self.say("not those", "")
        unique = list(dict.fromkeys(clauses))
        left_out = [clause for clause in unique if clause.startswith(start)]
        others = [clause for clause in unique if clause not in left_out]
        return " ".join([self.listed(others), *left_out]).strip()

    def where_they(self, nouns: str, source: Variable) -> str:
        """`customers if the supplier is Intel`, `discoverers of the things that orbit Mars`."""
        if self.has_values_only(source):
            statements = self.statements(source)
            return self.say("where they", nouns, statements) if statements else nouns
        return self.say("of those", nouns, " ".join(self.clauses(source, many=True)))

    def has_values_only(self, variable: Variable) -> bool:
        """Whether all that is left to tell of a variable are its own values, by their nouns."""
        for pattern in self.untold(variable):
            target = pattern.object
            is_silent = isinstance(target, Variable) and target.value in self.silent | set(
                self.known
            )
            kind = self.names.relation(pattern.predicate).kind
            if target == variable or (kind != "noun" and not is_silent):
                return False
        groups = (*self.scope.without, *self.scope.present)
        return not any(variable.value in inner.names() for inner in groups)

    def statements(self, variable: Variable) -> str:
        """All that holds of a variable without a name: `the mission is Apollo 11 and …`."""
        found = [
            *self.link_clauses(variable, many=False),
            *self.union_clauses(variable, many=False),
            *self.scope_clauses(variable, many=False),
        ]
        texts = [re.sub("^whose ", self.say("the", ""), text) for text in found]
        return self.together(texts)

    def own_conditions(self, variable: Term) -> list[str]:
        """Filters, VALUES and sub-selects on the variable itself."""
        text = self.conditions(variable)
        if not text or not isinstance(variable, Variable):
            return []
        pattern = self.owner(variable)
        if pattern is not None and variable.value not in self.known:
            return []
        return [self.that_is(text, many=True)]

    def that_is(self, condition: str, *, many: bool = False) -> str:
        """`that is more than 5`, `that contains “a”`."""
        if self.phrases.language != "en":
            return self.say("that are", condition)
        verb, _, rest = condition.partition(" ")
        if many:
            verb = {"is": "are", "has": "have", "does": "do"}.get(verb, verb.removesuffix("s"))
        return f"that {verb} {rest}"

    def link_clauses(self, variable: Term, *, many: bool) -> list[str]:
        """A clause for every pattern at the variable that is not told yet."""
        found = []
        for pattern in self.untold(variable):
            if pattern in self.told:  # within another clause meanwhile
                continue
            self.told.add(pattern)
            relation = self.names.relation(pattern.predicate)
            if pattern.subject == variable:
                text = self.forward(pattern, relation, many=many)
            else:
                text = self.backward(pattern, relation)
            if text:
                found.append(self.phrases.stepped(text, relation))
        return found

    def forward(self, pattern: Pattern, relation: Relation, *, many: bool) -> str:
        """The clause of a pattern whose subject is spoken of; empty if nothing is to be said."""
        target = pattern.object
        if not isinstance(target, Variable):
            said = self.names.said_of(relation, f"is {self.names.term(target)}")
            if said and isinstance(target, Literal):
                return self.that_is(said, many=many)
            return self.linked(relation, self.names.term(target), many=many)
        if target.value in self.known:
            if relation.kind == "noun" and relation.text == self.noun(target):
                return ""  # "for each country … whose country is that country"
            if self.phrases.language != "en":
                return f"({relation.text})"  # "dieser" or "diese" would need its gender
            return self.linked(relation, self.say("that", self.noun(target)), many=many)
        conditions = self.conditions(target)
        if self.untold(target):
            value = self.target_phrase(target, relation, conditions)
            return self.linked(relation, value, many=many)
        if conditions:
            extreme = self.extreme_of(pattern, relation, conditions)
            return extreme or self.conditioned(relation, conditions, many=many)
        return "" if target.value in self.silent else self.existing(relation, many=many)

    def extreme_of(self, pattern: Pattern, relation: Relation, conditions: str) -> str:
        """`with the highest mass`, of a value that is the highest of its kind; else empty."""
        keys = {"max": "highest", "min": "lowest", "last": "latest", "first": "earliest"}
        if len(self.scope.selects) > 1:
            return self.both_extremes_of(relation, conditions)
        for aggregate, key in keys.items():
            start = self.say("=", self.say(aggregate, relation.text))
            if relation.kind != "noun" or not conditions.startswith(start):
                continue
            rest = conditions[len(start) :].strip()
            if self.is_among_the_same(self.scope.selects[0]):
                return self.say(f"by {key}", relation.text, "")
            noun = self.noun(pattern.subject) if isinstance(pattern.subject, Variable) else ""
            every = self.phrases.of_many("", self.phrases.plural(noun)).strip()
            return f"{self.say(f'by {key}', relation.text, '')} {rest.removeprefix(every).strip()}"
        return ""

    def both_extremes_of(self, relation: Relation, conditions: str) -> str:
        """`with the highest or the lowest mass`, of all that is spoken of; else empty."""
        values = [value for one in self.scope.selects for _, value in one.columns]
        made = sorted(value.name for value in values if isinstance(value, Call))
        same = all(self.is_among_the_same(one) for one in self.scope.selects)
        if relation.kind != "noun" or made != ["MAX", "MIN"] or not same:
            return ""
        for aggregate, key in (("max", "highest or lowest"), ("last", "latest or earliest")):
            other = "min" if aggregate == "max" else "first"
            starts = [self.say("=", self.say(one, relation.text)) for one in (aggregate, other)]
            if conditions.startswith(tuple(starts)):
                return self.say(f"by {key}", relation.text)
        return ""

    def is_among_the_same(self, select: Query) -> bool:
        """Whether what a sub-select looks at is what is spoken of, said once more."""
        if select.group_by:
            return False
        inner = scope_of(select.where)
        here, there = (
            {
                (one.predicate, None if isinstance(one.object, Variable) else one.object)
                for one in scope.patterns
            }
            for scope in (self.scope, inner)
        )
        return there <= here and len(inner.filters) == len(self.scope.filters) - 1

    def conditioned(self, relation: Relation, conditions: str, *, many: bool) -> str:
        """A value with a condition: `whose age is more than 20`, `that are written by “Bob”`."""
        said = self.names.said_of(relation, conditions)
        if said:
            return self.that_is(said, many=many)
        if relation.kind == "noun":
            return self.say("cond", relation.text, conditions)
        value = self.say("something") + " " + self.that_is(conditions)
        if self.phrases.language != "en" and conditions in self.values:
            value = conditions
        elif self.phrases.language == "en" and conditions.startswith("is "):
            value = conditions.removeprefix("is ")
        return self.linked(relation, value, many=many)

    def existing(self, relation: Relation, *, many: bool) -> str:
        """A value of which no more is said than that it is there."""
        if relation.kind == "any":
            return self.say("any value")
        if relation.kind == "noun":
            return self.say("has", self.phrases.one(relation.text))
        return self.linked(relation, self.say("something"), many=many)

    def target_phrase(self, target: Variable, relation: Relation, conditions: str) -> str:
        """The other end of a link, with its own clauses."""
        classes = self.classes(target)
        noun = " ".join(classes)
        self.known.setdefault(target.value, noun or relation.text)
        clauses = self.clauses(target, many=False)
        if conditions:
            clauses = [self.that_is(conditions), *clauses]
        if noun and noun != relation.text:
            return " ".join([self.phrases.one(noun), *clauses])
        if clauses and relation.kind == "verb" and self.phrases.language != "en":
            return " ".join([self.say("something"), *clauses])
        if clauses:
            return self.say("one that", self.listed(clauses))
        return self.phrases.one(noun) if noun else self.say("something")

    def linked(self, relation: Relation, value: str, *, many: bool) -> str:
        """The clause of a relation to a value."""
        if relation.kind == "verb":
            return self.phrases.relative(relation.text, value, many=many)
        text = relation.text
        if relation.kind == "place":
            text = self.phrases.instead(text, self.say("in a place"))
        return self.say(_FORWARD.get(relation.kind, "relation"), text, value)

    def backward(self, pattern: Pattern, relation: Relation) -> str:
        """The clause of a pattern whose object is spoken of."""
        source = pattern.subject
        if not isinstance(source, Variable):
            value = self.names.term(source)
        elif source.value in self.known:
            value = self.say("that", self.noun(source))
        else:
            value = self.phrase(source, many=False)
        return self.say(_BACKWARD.get(relation.kind, "inverse relation"), relation.text, value)

    def union_clauses(self, variable: Term, *, many: bool) -> list[str]:
        found = []
        for number, scopes in enumerate(self.scope.unions):
            if number in self.told_unions or not isinstance(variable, Variable):
                continue
            if not all(variable.value in inner.names() for inner in scopes):
                continue
            self.told_unions.add(number)
            texts = []
            for inner in scopes:
                teller = self.inside(inner)
                about = inner.resolved(variable)
                teller.known.setdefault(about.value, self.noun(variable))
                classes = teller.classes(about)
                texts += [
                    self.say("that are", self.phrases.plural(noun) if many else noun)
                    for noun in classes
                    if noun not in self.phrases.alternatives(self.noun(variable))
                ]
                texts += teller.clauses(about, many=many)
            if texts:
                found.append(self.listed(list(dict.fromkeys(texts)), "or"))
        return found

    def inside(self, inner: Scope) -> Teller:
        """A teller of a group within this one, which knows what this one knows."""
        return Teller(
            inner, self.names, silent=self.silent, known=self.known, of_select=self.of_select
        )

    def scope_clauses(self, variable: Term, *, many: bool) -> list[str]:
        """Clauses of NOT EXISTS, MINUS and EXISTS groups that hold this very variable."""
        found = []
        for scopes, negative in ((self.scope.without, True), (self.scope.present, False)):
            for inner in list(scopes):
                text = self.inner_clause(inner, variable, negative=negative, many=many)
                if text:
                    scopes.remove(inner)
                    found.append(text)
        return found

    def inner_clause(self, inner: Scope, variable: Term, *, negative: bool, many: bool) -> str:
        if not isinstance(variable, Variable):
            return ""
        if variable.value in inner.names():
            return self.shared_clause(inner, variable, negative=negative, many=many)
        named = {name.value for name in find_variables(tuple(inner.filters))}
        outside = named & self.reachable(variable)
        if not outside - inner.names():
            return ""
        teller = self.inside(inner)
        for name in outside - inner.names():
            teller.known[name] = self.noun(Variable(name))
        # The variable that a group is mainly about: the first subject that is nobody's object.
        subjects = [p.subject for p in inner.patterns if isinstance(p.subject, Variable)]
        objects = {p.object for p in inner.patterns}
        free = [subject for subject in subjects if subject not in objects]
        start = next(iter([*free, *subjects]), None)
        if start is None:
            return ""
        return self.there_is(teller.phrase(start, many=False), negative=negative)

    def there_is(self, text: str, *, negative: bool) -> str:
        if not negative:
            return self.say("there is", text)
        plain = _without_article(text) if self.phrases.language == "en" else text
        return self.say("there is no", self.phrases.of_thing(plain))

    def shared_clause(self, inner: Scope, variable: Variable, *, negative: bool, many: bool) -> str:
        teller = self.inside(inner)
        about = inner.resolved(variable)
        noun = self.noun(variable)
        teller.known[about.value] = noun
        at = [p for p in inner.patterns if about in (p.subject, p.object)]
        if len(inner.patterns) == 1 and at and at[0].subject == about and not inner.filters:
            return self.plain_negation(at[0], negative=negative, many=many)
        if len(at) == 1 and at[0].object == about and isinstance(at[0].subject, Variable):
            if negative and (text := teller.of_no(at[0], noun)):
                return text
            text = teller.phrase(at[0].subject, many=False)
            return self.there_is(text, negative=negative)
        clauses = teller.clauses(about, many=many)
        nouns = [
            self.say("that are", self.phrases.plural(found))
            for found in Teller(inner, self.names).classes(about)
            if found != noun
        ]
        text = self.listed([*nouns, *clauses])
        if not text:
            return ""
        return self.say("not those", text) if negative else text

    def of_no(self, pattern: Pattern, own: str) -> str:
        """`that are the destination of no mission`, `that no moon orbits`, `without any climber`.

        Empty where no phrase does; `own` is the noun of the pattern's object.
        """
        source, relation = pattern.subject, self.names.relation(pattern.predicate)
        key = {"noun": "of no", "verb": "no verb"}.get(relation.kind, "")
        if not key or relation.steps or not isinstance(source, Variable):
            return ""
        if not self.phrases.knows(key):
            return ""
        noun = self.noun(source)
        if relation.text in (own, self.phrases.plural(own)) and noun != self.say("thing"):
            key = "without any"
        self.known[source.value] = noun
        self.told.add(pattern)
        rest = " ".join(self.clauses(source, many=False))
        if noun == self.say("thing") and (self.phrases.language == "en" or not rest):
            key = "nothing verb" if relation.kind == "verb" else "of nothing"
            return self.say(key, relation.text.strip("«»„“ "), rest)
        return self.say(key, relation.text, f"{noun} {rest}".strip())

    def plain_negation(self, pattern: Pattern, *, negative: bool, many: bool) -> str:
        relation = self.names.relation(pattern.predicate)
        if isinstance(pattern.object, Variable):
            text = self.say("any property") if relation.kind == "any" else relation.text
            if negative:
                is_noun = relation.kind == "noun"
                return self.say("none", self.phrases.one(text) if is_noun else text)
            return self.say("has", self.phrases.one(text))
        value = self.names.term(pattern.object)
        if pattern.predicate == NamedNode(RDF_TYPE) and isinstance(pattern.object, NamedNode):
            noun = self.phrases.plural(self.names.type_noun(pattern.object.value))
            text = self.say("that are", noun)
        elif negative and relation.kind == "noun":
            if many and self.phrases.knows("is not"):
                return self.say("is not", relation.text, value)
            return self.say("cond", relation.text, self.say("!=", value))
        else:
            text = self.linked(relation, value, many=many)
        return self.say("not those", text) if negative else text


def _singular(start: re.Match[str]) -> str:
    """How an English clause on many starts as a clause on one."""
    return "that is " if start[1] == "are" else "that has "


def _without_article(text: str) -> str:
    return re.sub(r"^(?:an? |some(?=thing\b))", "", text)
