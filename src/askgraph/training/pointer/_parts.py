"""The parts that generated questions are put together from: a class, what is said of its things."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

import numpy as np

from askgraph.metadata import ClassProfile, PredicateProfile
from askgraph.metadata.names import local_name, standard_naming
from askgraph.rdf.labels import best_label, words_of_local_name
from askgraph.rdf.nouns import english_plural, english_singular, within_sentence
from askgraph.rdf.vocabulary import RDF_TYPE
from askgraph.search.form import Aggregate, Average, Filter, Having, Pattern
from askgraph.search.grow.schema import Schema
from askgraph.traversal.arrays import Ids
from askgraph.traversal.literals import Sort, split_literal

__all__ = ["Build", "Facts", "called", "phrased"]

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


@dataclass
class Build:
    """A query under construction: the patterns of variable 0 and what hangs on it."""

    patterns: list[Pattern] = field(default_factory=list)
    filters: list[Filter] = field(default_factory=list)
    having: list[Having] = field(default_factory=list)
    without: list[tuple[tuple[Pattern, ...], tuple[Filter, ...]]] = field(default_factory=list)
    variables: int = 1
    hung: dict[str, int] = field(default_factory=dict)

    def variable(self) -> int:
        """A new variable."""
        self.variables += 1
        return self.variables - 1

    def value(self, predicate: str, of: int = 0) -> int:
        """The variable of a predicate's values, hung on a variable once."""
        key = f"{of} {predicate}"
        if key not in self.hung:
            self.hung[key] = self.variable()
            self.patterns.append(Pattern(of, predicate, self.hung[key]))
        return self.hung[key]

    def counted(self, other: int, sign: str, number: str) -> None:
        """A condition on how many of a variable there are."""
        self.having.append(Having(Aggregate("COUNT", other, distinct=True), sign, number))

    def average(self, cls: str, predicate: str, sign: str) -> None:
        """A condition against the average of a predicate over a class."""
        thing, value = self.variable(), self.variable()
        inner = (Pattern(thing, RDF_TYPE, f"<{cls}>"), Pattern(thing, predicate, value))
        mine = self.value(predicate)
        self.filters.append(Filter(mine, sign, (Average(value, inner),)))


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
