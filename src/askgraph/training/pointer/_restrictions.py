"""Restrictions on the things that a generated question asks of, in words and in its query."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

import numpy as np
from pyoxigraph import NamedNode, Variable

from askgraph.graph.arrays import Ids
from askgraph.graph.literals import Sort, split_literal
from askgraph.graph.names import local_name, standard_naming
from askgraph.graph.profile import ClassProfile, PredicateProfile
from askgraph.search.expand.schema import Schema
from askgraph.search.query_pieces import (
    Value,
    aggregate,
    aggregate_of,
    alias_of,
    condition,
    denied,
    pattern,
    query_of,
    term_of,
    variable,
)
from askgraph.search.tokenize.word_lists import word_list
from askgraph.sparql import Call, Element, Expression, Filter, Pattern, Query
from askgraph.sparql.prefixes import (
    best_label,
    english_plural,
    english_singular,
    within_sentence,
    words_of_local_name,
)
from askgraph.sparql.vocabulary import RDF_TYPE

_NUMBERS = (Sort.NUMBER, Sort.TEXT_NUMBER)
_SAID = 8  # words of a value that a question repeats at most
_LOOSE = ("of", "in", "by", "for", "to", "at", "from", "with", "on")


def called(item: ClassProfile | PredicateProfile) -> str:
    """Return the English name of a class, in the singular, or of a predicate."""
    name = best_label(item.names, ["en"]) or words_of_local_name(local_name(item.iri))
    name = within_sentence(name.rpartition("#")[2] or "thing").replace("_", " ")
    if isinstance(item, ClassProfile):
        return english_singular(name)
    return name.removeprefix("ref ").removeprefix("has ") or name


def phrased(label: str, value: str, chance: Random) -> str:
    """Return words for things that have a value: "whose colour is red", "located in Oslo"."""
    if label.split()[-1] in _LOOSE:
        return chance.choice(
            [f"{label} {value}", f"that are {label} {value}", f"which are {label} {value}"]
        )
    ways = [
        f"whose {label} is {value}",
        f"with {label} {value}",
        f"with the {label} {value}",
        f"that have the {label} {value}",
        f"having {value} as {label}",
        f"with {value} as their {label}",
        f"of {label} {value}",
        f"where the {label} is {value}",
    ]
    return chance.choice([*ways, f"of {value}", f"from {value}", f"in {value}", f"for {value}"])


THING = variable(0)
"""The things that a question asks of."""


@dataclass
class Build:
    """A query under construction: the patterns of `THING` and what hangs on it."""

    patterns: list[Pattern] = field(default_factory=list)
    filters: list[Filter] = field(default_factory=list)
    averages: list[Query] = field(default_factory=list)
    having: list[Call] = field(default_factory=list)
    denied: list[Filter] = field(default_factory=list)
    variables: int = 1
    hung: dict[str, Variable] = field(default_factory=dict)

    def variable(self) -> Variable:
        """A new variable."""
        self.variables += 1
        return variable(self.variables - 1)

    def value(self, predicate: str) -> Variable:
        """The variable of a predicate's values, hung on the things once."""
        if predicate not in self.hung:
            self.hung[predicate] = self.variable()
            self.patterns.append(pattern(THING, predicate, self.hung[predicate]))
        return self.hung[predicate]

    def counted(self, other: Variable, sign: str, number: str) -> None:
        """A condition on how many of a variable there are."""
        count = aggregate("COUNT", other, distinct=True)
        self.having.append(Call(sign, (count, term_of(number))))

    def average(self, cls: str, predicate: str, sign: str) -> None:
        """A condition against the average of a predicate over a class."""
        thing, value = self.variable(), self.variable()
        inner = (pattern(thing, RDF_TYPE, NamedNode(cls)), pattern(thing, predicate, value))
        average = aggregate_of(value, inner, "AVG")
        self.averages.append(average)
        self.filters.append(condition(self.value(predicate), sign, alias_of(average)))


@dataclass
class Facts:
    """What there is to ask of a graph, found in its profile and its arrays."""

    schema: Schema
    chance: Random

    def classes(self) -> list[ClassProfile]:
        """The classes that have several things."""
        found = self.schema.classes.values()
        return [c for c in found if c.instances > 1 and len(self.own(c)) > 0]

    def own(self, cls: ClassProfile) -> list[PredicateProfile]:
        """The predicates of a class's things, but for those that name them."""
        return [
            p
            for number, p in self.schema.predicates.items()
            if number not in self.schema.hidden
            and not standard_naming(p.iri)
            and cls.iri in dict(p.subject_classes)
        ]

    def into(self, cls: ClassProfile) -> list[tuple[PredicateProfile, ClassProfile]]:
        """The predicates that lead to a class's things, with a class that they come from."""
        return [
            (p, self.schema.classes[other])
            for number, p in self.schema.predicates.items()
            if number not in self.schema.hidden and cls.iri in dict(p.object_classes)
            for other, _ in p.subject_classes[:1]
            if other in self.schema.classes and other != cls.iri
        ]

    def sort(self, predicate: PredicateProfile) -> Sort:
        """The sort of a predicate's values."""
        number = self.schema.number(predicate.iri)
        return Sort.NONE if number is None else self.schema.sort(number)

    def numeric(self, cls: ClassProfile) -> list[PredicateProfile]:
        """The predicates of numbers."""
        return [p for p in self.own(cls) if self.sort(p) in _NUMBERS]

    def dated(self, cls: ClassProfile) -> list[PredicateProfile]:
        """The predicates of dates and years."""
        return [p for p in self.own(cls) if self.sort(p) in (Sort.DATE, Sort.YEAR)]

    def literal(self, cls: ClassProfile) -> list[PredicateProfile]:
        """The predicates of literals."""
        return [p for p in self.own(cls) if p.literal]

    def links(self, cls: ClassProfile) -> list[PredicateProfile]:
        """The predicates that lead to things."""
        return [p for p in self.own(cls) if p.object_classes]

    def pick(self, cls: ClassProfile, predicate: PredicateProfile) -> tuple[str, str] | None:
        """A value that things of a class have: as a term, and in words; None if none has any."""
        number = self.schema.number(predicate.iri)
        things = self.schema.instances(cls.iri)
        if number is None or not len(things):
            return None
        found = self.schema.graph.pairs(things, number)[1]
        if not len(found):
            return None
        at = int(self.chance.choice(found.tolist()))
        return self.named(at)

    def named(self, node: int) -> tuple[str, str] | None:
        """A term and what it is called; None if it has no name."""
        graph = self.schema.graph
        text = graph.terms.text(node)
        if graph.terms.is_literal(node):
            words = split_literal(text)[0]
            return (text, words) if 0 < len(words.split()) <= _SAID else None
        name = self.name(node)
        return None if name is None else (text, name)

    def name(self, node: int) -> str | None:
        """What a thing is called."""
        graph = self.schema.graph
        ids = np.array([node], dtype=np.int32)
        for number in sorted(self.schema.naming & set(graph.predicates_of(ids)[0].tolist())):
            values: Ids = graph.step(ids, number)
            if len(values) and graph.terms.is_literal(int(values[0])):
                words = split_literal(graph.terms.text(int(values[0])))[0]
                return words if 0 < len(words.split()) <= _SAID else None
        return None

    def plural(self, cls: ClassProfile) -> str:
        """What things of a class are called."""
        return english_plural(called(cls))

    def one_of(self, items: Sequence[PredicateProfile]) -> PredicateProfile | None:
        """One of some predicates by chance; None of none."""
        return self.chance.choice(items) if items else None


_SIGNS = {"more_than": ">", "less_than": "<", "at_least": ">=", "at_most": "<="}


class Restricted:
    """The things of a class, under restrictions that bring their words along."""

    def __init__(self, facts: Facts, cls: ClassProfile, chance: Random) -> None:
        self.facts, self.cls, self.chance = facts, cls, chance
        self.build = Build()
        self.words = word_list("en")
        self.plural = facts.plural(cls)

    def say(self, *ways: str) -> str:
        """One of some wordings."""
        return self.chance.choice(ways)

    def operator(self, name: str) -> str:
        """A phrase for an operator, from the closed word lists."""
        return " ".join(self.chance.choice(self.words.operators[name][:12]))

    def restricted(self, most: int = 2) -> str:
        """Lay up to so many restrictions on the things; return their words, with a space before."""
        number = self.chance.choices([0, 1, 2], [3, 5, 1.5])[0]
        said = []
        for _ in range(min(number, most)):
            ways = [self.equal, self.equal, self.compared, self.dated, self.lacking, self.many,
                    self.beyond_average, self.other_than, self.either]  # fmt: skip
            found = self.chance.choice(ways)()
            if found:
                said.append(found)
        return " " + " and ".join(said) if said else ""

    def equal(self) -> str | None:
        """Things that have a value."""
        predicate = self.facts.one_of([*self.facts.literal(self.cls), *self.facts.links(self.cls)])
        picked = predicate and self.facts.pick(self.cls, predicate)
        if predicate is None or not picked:
            return None
        self.build.patterns.append(pattern(THING, predicate.iri, term_of(picked[0])))
        return phrased(called(predicate), self.quoted(picked[1]), self.chance)

    def quoted(self, text: str) -> str:
        """A value, now and then in quotation marks."""
        return self.chance.choice([text, text, text, f'"{text}"', f"'{text}'"])

    def compared(self) -> str | None:
        """Things with more or less of a number."""
        predicate = self.facts.one_of(self.facts.numeric(self.cls))
        picked = predicate and self.facts.pick(self.cls, predicate)
        if predicate is None or not picked:
            return None
        name = self.chance.choice(list(_SIGNS))
        value = self.build.value(predicate.iri)
        number = f"{float(picked[1]):.3g}" if "e" not in f"{float(picked[1]):.3g}" else picked[1]
        self.build.filters.append(condition(value, _SIGNS[name], term_of(number)))
        label, than = called(predicate), self.operator(name)
        if than.startswith("or "):
            return f"whose {label} is {number} {than}"
        return self.say(
            f"with {label} {than} {number}",
            f"whose {label} is {than} {number}",
            f"with a {label} {than} {number}",
            f"that have a {label} {than} {number}",
            f"having {than} {number} {label}",
        )

    def dated(self) -> str | None:
        """Things before or after a year."""
        predicate = self.facts.one_of(self.facts.dated(self.cls))
        picked = predicate and self.facts.pick(self.cls, predicate)
        if predicate is None or not picked:
            return None
        year = picked[1][:4]
        later = self.chance.random() < 0.5
        datatype = picked[0].rpartition("^^")[2]
        day = "" if "gYear" in datatype else "-12-31" if later else "-01-01"
        value = self.build.value(predicate.iri)
        bound = f'"{year}{day}"^^{datatype}' if "dateTime" not in datatype else picked[0]
        self.build.filters.append(condition(value, ">" if later else "<", term_of(bound)))
        than = self.operator("after" if later else "before")
        return self.say(
            f"with {called(predicate)} {than} {year}",
            f"whose {called(predicate)} is {than} {year}",
            f"{than} {year}",
        )

    def lacking(self) -> str | None:
        """Things that lack a value, or that nothing leads to."""
        into = self.facts.into(self.cls)
        if into and self.chance.random() < 0.6:
            predicate, other = self.chance.choice(into)
            self.build.denied.append(denied(pattern(self.build.variable(), predicate.iri, THING)))
            nouns = self.facts.plural(other)
            return self.say(
                f"without any {nouns}",
                f"that have no {nouns}",
                f"without {nouns}",
                f"that do not have any {nouns}",
                f"which have no {nouns}",
            )
        own = [p for p in self.facts.own(self.cls) if p.subjects < self.cls.instances]
        predicate_ = self.facts.one_of(own)
        if predicate_ is None:
            return None
        self.build.denied.append(denied(pattern(THING, predicate_.iri, self.build.variable())))
        label = called(predicate_)
        return self.say(f"without a {label}", f"that have no {label}", f"with no {label}")

    def other_than(self) -> str | None:
        """Things that do not have a value."""
        predicate = self.facts.one_of(self.facts.links(self.cls) or self.facts.literal(self.cls))
        picked = predicate and self.facts.pick(self.cls, predicate)
        if predicate is None or not picked:
            return None
        self.build.denied.append(denied(pattern(THING, predicate.iri, term_of(picked[0]))))
        label = called(predicate)
        return self.say(
            f"whose {label} is not {picked[1]}",
            f"that are not {label} {picked[1]}",
            f"not in {picked[1]}",
            f"that do not have the {label} {picked[1]}",
        )

    def either(self) -> str | None:
        """Things that have one of two values."""
        predicate = self.facts.one_of([*self.facts.literal(self.cls), *self.facts.links(self.cls)])
        one = predicate and self.facts.pick(self.cls, predicate)
        other = predicate and self.facts.pick(self.cls, predicate)
        if predicate is None or not one or not other or one == other:
            return None
        value = self.build.value(predicate.iri)
        self.build.filters.append(condition(value, "IN", term_of(one[0]), term_of(other[0])))
        return phrased(called(predicate), f"{one[1]} or {other[1]}", self.chance)

    def many(self) -> str | None:
        """Things that several others lead to."""
        into = self.facts.into(self.cls)
        if not into or self.build.having:
            return None
        predicate, other = self.chance.choice(into)
        name, number = self.chance.choice(["more_than", "at_least"]), self.chance.randint(1, 4)
        counted = self.build.variable()
        self.build.patterns.append(pattern(counted, predicate.iri, THING))
        self.build.counted(counted, _SIGNS[name], str(number))
        said = {1: "one", 2: "two", 3: "three"}.get(number, str(number))
        said = self.chance.choice([said, str(number)])
        nouns = self.facts.plural(other)
        return self.say(
            f"that have {self.operator(name)} {said} {nouns}",
            f"with {self.operator(name)} {said} {nouns}",
        )

    def beyond_average(self) -> str | None:
        """Things over or under the average."""
        predicate = self.facts.one_of(self.facts.numeric(self.cls))
        if predicate is None or self.chance.random() < 0.5:
            return None
        name = self.chance.choice(["more_than", "less_than"])
        self.build.average(self.cls.iri, predicate.iri, _SIGNS[name])
        than = self.chance.choice(["above", "higher than", "greater than"] if name == "more_than"
                                  else ["below", "lower than", "smaller than"])  # fmt: skip
        return f"whose {called(predicate)} is {than} {self.say('the average', 'average')}"

    def query(
        self,
        *columns: Value,
        group: tuple[Variable, ...] = (),
        order: tuple[tuple[Expression, bool], ...] = (),
        limit: int | None = None,
        ask: bool = False,
    ) -> Query:
        """The query so far, with what it shows."""
        build = self.build
        kind = pattern(THING, RDF_TYPE, NamedNode(self.cls.iri))
        if build.having and not group:
            group = tuple(one for one in columns if isinstance(one, Variable))
            group = tuple(dict.fromkeys([THING, *group]))
        elements: tuple[Element, ...] = (
            kind,
            *build.patterns,
            *build.averages,
            *build.filters,
            *build.denied,
        )
        shown = None if ask else columns
        having = build.having
        return query_of(elements, shown, group=group, having=having, order=order, limit=limit)
