"""What restricts the things that a generated question asks of, in words and in its query."""

from random import Random

from askgraph.metadata import ClassProfile
from askgraph.rdf.vocabulary import RDF_TYPE
from askgraph.search.form import Aggregate, Column, Filter, Form, Key, Pattern
from askgraph.search.linking.word_lists import word_list
from askgraph.training.pointer._parts import Build, Facts, called, phrased

__all__ = ["Restricted"]

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
        self.build.patterns.append(Pattern(0, predicate.iri, picked[0]))
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
        self.build.filters.append(Filter(value, _SIGNS[name], (number,)))
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
        self.build.filters.append(Filter(value, ">" if later else "<", (bound,)))
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
            self.build.without.append(((Pattern(self.build.variable(), predicate.iri, 0),), ()))
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
        self.build.without.append(((Pattern(0, predicate_.iri, self.build.variable()),), ()))
        label = called(predicate_)
        return self.say(f"without a {label}", f"that have no {label}", f"with no {label}")

    def other_than(self) -> str | None:
        """Things that do not have a value."""
        predicate = self.facts.one_of(self.facts.links(self.cls) or self.facts.literal(self.cls))
        picked = predicate and self.facts.pick(self.cls, predicate)
        if predicate is None or not picked:
            return None
        self.build.without.append(((Pattern(0, predicate.iri, picked[0]),), ()))
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
        self.build.filters.append(Filter(value, "IN", (one[0], other[0])))
        return phrased(called(predicate), f"{one[1]} or {other[1]}", self.chance)

    def many(self) -> str | None:
        """Things that several others lead to."""
        into = self.facts.into(self.cls)
        if not into or self.build.having:
            return None
        predicate, other = self.chance.choice(into)
        name, number = self.chance.choice(["more_than", "at_least"]), self.chance.randint(1, 4)
        variable = self.build.variable()
        self.build.patterns.append(Pattern(variable, predicate.iri, 0))
        self.build.counted(variable, _SIGNS[name], str(number))
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

    def form(
        self,
        *columns: int | Aggregate,
        group: tuple[int, ...] = (),
        order: tuple[Key, ...] = (),
        limit: int | None = None,
        ask: bool = False,
    ) -> Form:
        """The query so far, with what it shows."""
        build = self.build
        kind = Pattern(0, RDF_TYPE, f"<{self.cls.iri}>")
        if build.having and not group:
            group = tuple(c for c in columns if isinstance(c, int)) or (0,)
            group = tuple(dict.fromkeys([0, *group]))
        shown = tuple(Column(column) for column in columns)
        return Form(
            (kind, *build.patterns),
            shown,
            tuple(build.filters),
            tuple(build.without),
            group=group,
            having=tuple(build.having),
            order=order,
            limit=limit,
            ask=ask,
        )
