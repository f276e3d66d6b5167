"""Questions over any graph with the queries they stand for: graph search's operators run backwards.

A class is chosen, restrictions are laid on its things, and something is asked of them. Each part
of the query brings its words, in one of many ways, with the operators' words from the same closed
lists that questions are read with.

Graphs are made up, too, with other classes, predicates, names and habits in each. What such a world
is about means nothing; how it is put together varies as graphs do: with labels or without, with
words or with tables and columns in its IRIs, things with and without names, links of one or of
many, numbers, dates, years and words that come again.
"""

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from random import Random

from askgraph.graph.profile import PredicateProfile
from askgraph.search.expand.schema import Schema
from askgraph.search.query_pieces import aggregate, pattern, query_of, term_of, variable
from askgraph.sparql import Query
from askgraph.sparql.vocabulary import (
    RDF_TYPE,
    RDFS_LABEL,
    XSD_DATE,
    XSD_DECIMAL,
    XSD_G_YEAR,
    XSD_INTEGER,
)
from askgraph.training.pointer._restrictions import THING, Facts, Restricted, called, phrased

_OPEN = (
    "What are", "Show", "List", "Find", "Give me", "Return", "Tell me", "Please list", "Display",
    "Which are", "I want", "Can you show me", "Provide", "Give", "Get",
)  # fmt: skip
_SUMS = {"average": "AVG", "sum": "SUM", "minimum": "MIN", "maximum": "MAX"}
_TYPOS = 0.04


@dataclass(frozen=True)
class Asked:
    """A generated question and its query."""

    text: str
    query: Query


def asked(schema: Schema, seed: int, number: int) -> Iterator[Asked]:
    """Yield so many questions, the same for the same graph and seed; none if nothing fits."""
    chance = Random(seed)
    facts = Facts(schema, chance)
    classes = facts.classes()
    given = 0
    for _ in range(number * 8 if classes else 0):
        found = _Asker(facts, chance.choice(classes), chance).asked()
        if found is not None:
            yield found
            given += 1
        if given == number:
            return


class _Asker(Restricted):
    """Makes one question over the things of a class."""

    def asked(self) -> Asked | None:
        kinds: list[tuple[Callable[[], Asked | None], float]] = [
            (self.things, 2), (self.attributes, 4), (self.count, 2.5), (self.aggregate, 1.5),
            (self.each, 2), (self.extreme, 2), (self.most, 1.5), (self.sorted, 1.2),
            (self.of_thing, 2), (self.whether, 0.7), (self.values, 1), (self.across, 2),
        ]  # fmt: skip
        made = self.chance.choices([k for k, _ in kinds], [w for _, w in kinds])[0]()
        if made is None:
            return None
        return Asked(_noisy(made.text, self.chance), made.query)

    def things(self) -> Asked | None:
        rest = self.restricted()
        number = self.plural
        text = self.say(
            f"Which {number}{rest} are there?",
            f"{self.say(*_OPEN)} all {number}{rest}.",
            f"{self.say(*_OPEN)} the {number}{rest}.",
            f"{number}{rest}",
        )
        return Asked(text, self.query(THING)) if rest or self.chance.random() < 0.3 else None

    def shown(self, most: int = 3) -> list[PredicateProfile]:
        own = self.facts.own(self.cls)
        return self.chance.sample(own, min(len(own), self.chance.choice([1, 1, 2, 2, 3]), most))

    def listed(self, predicates: list[PredicateProfile]) -> str:
        said = [called(p) for p in predicates]
        return ", ".join(said[:-1]) + f" and {said[-1]}" if len(said) > 1 else said[0]

    def attributes(self) -> Asked | None:
        shown = self.shown()
        rest = self.restricted()
        columns = [self.build.value(p.iri) for p in shown]
        said, things = self.listed(shown), self.say("all ", "the ", "") + self.plural
        text = self.say(
            f"{self.say(*_OPEN)} the {said} of {things}{rest}.",
            f"What are the {said} of {things}{rest}?",
            f"What is the {said} of {things}{rest}?",
            f"For each {called(self.cls)}{rest}, show its {said}.",
            f"{self.say(*_OPEN)} {said} for {things}{rest}.",
            f"{self.say(*_OPEN)} the {said} of each {called(self.cls)}{rest}.",
        )
        return Asked(text, self.query(*columns))

    def count(self) -> Asked | None:
        rest = self.restricted(1) if self.chance.random() < 0.8 else ""
        if self.build.having:
            return None
        text = self.say(
            f"How many {self.plural}{rest} are there?", f"How many {self.plural} are there{rest}?",
            f"Count the {self.plural}{rest}.", f"What is the number of {self.plural}{rest}?",
            f"Find the number of {self.plural}{rest}.", f"How many {self.plural} do we have{rest}?",
            f"What is the total number of {self.plural}{rest}?",
        )  # fmt: skip
        return Asked(text, self.query(aggregate("COUNT", THING, distinct=True)))

    def aggregate(self) -> Asked | None:
        predicate = self.facts.one_of(self.facts.numeric(self.cls))
        if predicate is None:
            return None
        names = self.chance.sample(list(_SUMS), self.chance.choice([1, 1, 2, 3]))
        rest = self.restricted(1)
        if self.build.having:
            return None
        value = self.build.value(predicate.iri)
        said = [self.chance.choice([" ".join(p) for p in self.words.operators[n] if len(p) == 1])
                for n in names]  # fmt: skip
        listed = ", ".join(said[:-1]) + f" and {said[-1]}" if len(said) > 1 else said[0]
        text = self.say(
            f"What is the {listed} {called(predicate)} of {self.plural}{rest}?",
            f"{self.say(*_OPEN)} the {listed} {called(predicate)} of all {self.plural}{rest}.",
            f"{listed} {called(predicate)} for {self.plural}{rest}",
        )
        return Asked(text, self.query(*(aggregate(_SUMS[n], value) for n in names)))

    def each(self) -> Asked | None:
        by = self.facts.one_of([p for p in self.facts.own(self.cls) if p.objects < p.triples])
        if by is None:
            return None
        rest = self.restricted(1) if self.chance.random() < 0.3 else ""
        if self.build.having:
            return None
        group, label = self.build.value(by.iri), called(by)
        per = self.say("for each", "in each", "per", "for every", "of each", "by")
        number = self.facts.one_of(self.facts.numeric(self.cls))
        if number is not None and number is not by and self.chance.random() < 0.4:
            name = self.chance.choice(list(_SUMS))
            word = self.say(*[" ".join(p) for p in self.words.operators[name] if len(p) == 1])
            value = aggregate(_SUMS[name], self.build.value(number.iri))
            text = self.say(
                f"What is the {word} {called(number)} of {self.plural}{rest} {per} {label}?",
                f"Show each {label} and the {word} {called(number)} of its {self.plural}{rest}.",
            )
        else:
            value = aggregate("COUNT", THING, distinct=True)
            text = self.say(
                f"How many {self.plural}{rest} are there {per} {label}?",
                f"Show the {label} and the number of {self.plural}{rest} {per} {label}.",
                f"{self.say(*_OPEN)} the number of {self.plural}{rest} {per} {label}.",
                f"What are the different {label}s and how many {self.plural}{rest} has each?",
            )
        return Asked(text, self.query(group, value, group=(group,)))

    def superlative(self, predicate: PredicateProfile, up: bool) -> str:
        """Words for the most or the least of a number: "the highest price", "the oldest"."""
        label = called(predicate)
        fitting = [m for m in self.words.measures
                   if m.degree == "superlative" and m.up is up and label in m.measures]  # fmt: skip
        if fitting and self.chance.random() < 0.5:
            return " ".join(self.chance.choice(fitting).phrase)
        return f"with the {self.operator('maximum' if up else 'minimum')} {label}"

    def extreme(self) -> Asked | None:
        predicate = self.facts.one_of(self.facts.numeric(self.cls))
        if predicate is None:
            return None
        up, rest = self.chance.random() < 0.6, self.restricted(1)
        if self.build.having:
            return None
        said = self.superlative(predicate, up)
        key = (self.build.value(predicate.iri), up)
        number = self.chance.choice([1, 1, 1, 1, 3, 5])
        noun = called(self.cls) if number == 1 else self.plural
        digits = "" if number == 1 else f"{number} "
        noun = f"{digits}{noun} {said}" if said.startswith("with") else f"{said} {digits}{noun}"
        shown = [p for p in self.shown(2) if p is not predicate]
        if shown and self.chance.random() < 0.7:
            columns = [self.build.value(p.iri) for p in shown]
            text = self.say(
                f"What is the {self.listed(shown)} of the {noun}{rest}?",
                f"{self.say(*_OPEN)} the {self.listed(shown)} of the {noun}{rest}.",
            )
            return Asked(text, self.query(*columns, order=(key,), limit=number))
        text = self.say(
            f"Which is the {noun}{rest}?",
            f"What is the {noun}{rest}?",
            f"{self.say(*_OPEN)} the {noun}{rest}.",
        )
        return Asked(text, self.query(THING, order=(key,), limit=number))

    def most(self) -> Asked | None:
        into = self.facts.into(self.cls)
        if not into:
            return None
        predicate, other = self.chance.choice(into)
        counted, up = self.build.variable(), self.chance.random() < 0.75
        self.build.patterns.append(pattern(counted, predicate.iri, THING))
        word, nouns = self.operator("most" if up else "fewest"), self.facts.plural(other)
        key = (aggregate("COUNT", counted, distinct=True), up)
        shown = self.shown(1)
        if shown and self.chance.random() < 0.5:
            column = self.build.value(shown[0].iri)
            text = f"What is the {called(shown[0])} of the {called(self.cls)} with {word} {nouns}?"
            return Asked(text, self.query(column, group=(THING, column), order=(key,), limit=1))
        text = self.say(
            f"Which {called(self.cls)} has {word} {nouns}?",
            f"{self.say(*_OPEN)} the {called(self.cls)} that has {word} {nouns}.",
        )
        return Asked(text, self.query(THING, group=(THING,), order=(key,), limit=1))

    def sorted(self) -> Asked | None:
        by = self.facts.one_of([*self.facts.numeric(self.cls), *self.facts.literal(self.cls)])
        if by is None:
            return None
        shown = self.shown()
        rest, down = self.restricted(1), self.chance.random() < 0.5
        if self.build.having:
            return None
        columns = [self.build.value(p.iri) for p in shown]
        how = self.operator("descending" if down else "ascending")
        how = self.say(" ", ", ") + how if down else self.say("", " " + how)
        order = self.say("ordered by", "sorted by", "in order of", "and sort them by")
        text = self.say(
            f"{self.say(*_OPEN)} the {self.listed(shown)} of all {self.plural}{rest} "
            f"{order} {called(by)}{how}."
        )
        return Asked(text, self.query(*columns, order=((self.build.value(by.iri), down),)))

    def of_thing(self) -> Asked | None:
        things = self.facts.schema.instances(self.cls.iri)
        node = int(self.chance.choice(things.tolist())) if len(things) else None
        named = None if node is None else self.facts.named(node)
        shown = self.shown()
        if not named or not shown:
            return None
        said, noun = self.listed(shown), self.say("", called(self.cls) + " ")
        thing, values = term_of(named[0]), [variable(at) for at in range(len(shown))]
        patterns = [pattern(thing, p.iri, at) for p, at in zip(shown, values, strict=True)]
        text = self.say(
            f"What is the {said} of {noun}{named[1]}?",
            f"{said} of {named[1]}",
            f"Which {said} does {noun}{named[1]} have?",
            f"{named[1]}'s {said}?",
        )
        return Asked(text, query_of(patterns, values))

    def whether(self) -> Asked | None:
        said = self.equal() or self.compared()
        if said is None:
            return None
        text = self.say(
            f"Is there a {called(self.cls)} {said}?",
            f"Are there any {self.plural} {said}?",
            f"Do any {self.plural} exist {said}?",
        )
        return Asked(text, self.query(ask=True))

    def values(self) -> Asked | None:
        predicate = self.facts.one_of(
            [p for p in self.facts.own(self.cls) if p.objects < p.triples]
        )
        if predicate is None:
            return None
        value, label = self.build.value(predicate.iri), called(predicate)
        if self.chance.random() < 0.4:
            text = self.say(
                f"How many different {label}s do {self.plural} have?",
                f"Count the number of distinct {label}s of {self.plural}.",
            )
            return Asked(text, self.query(aggregate("COUNT", value, distinct=True)))
        text = self.say(
            f"What are the different {label}s of {self.plural}?",
            f"{self.say(*_OPEN)} all distinct {label}s of {self.plural}.",
        )
        return Asked(text, self.query(value))

    def across(self) -> Asked | None:
        """What is asked of things that a restricted link leads to, or that lead there."""
        into = self.facts.into(self.cls)
        if not into:
            return None
        predicate, other = self.chance.choice(into)
        there = self.build.variable()
        self.build.patterns.append(pattern(there, predicate.iri, THING))
        own = self.facts.one_of([*self.facts.literal(other), *self.facts.links(other)])
        said = f"that have {self.facts.plural(other)}"
        picked = own and self.facts.pick(other, own)
        if own is not None and picked and self.chance.random() < 0.7:
            self.build.patterns.append(pattern(there, own.iri, term_of(picked[0])))
            said = (
                self.say("of", "with", "that have", "for", "that belong to")
                + " "
                + f"{self.facts.plural(other)} {phrased(called(own), picked[1], self.chance)}"
            )
        shown = self.shown(2)
        if self.chance.random() < 0.3:
            text = self.say(
                f"How many {self.plural} are there {said}?", f"Count the {self.plural} {said}."
            )
            return Asked(text, self.query(aggregate("COUNT", THING, distinct=True)))
        columns = [self.build.value(p.iri) for p in shown]
        text = self.say(
            f"What are the {self.listed(shown)} of {self.plural} {said}?",
            f"{self.say(*_OPEN)} the {self.listed(shown)} of the {self.plural} {said}.",
        )
        return Asked(text, self.query(*columns))


def _noisy(text: str, chance: Random) -> str:
    """A question as people type it: now and then a letter too many, no capital, no mark."""
    text = " ".join(text.split())
    if chance.random() < _TYPOS and len(text) > 12:
        at = chance.randrange(4, len(text) - 4)
        text = text[:at] + text[at + 1 :]
    if chance.random() < 0.15:
        text = text.lower().rstrip(".?")
    return text


_NAMES: Mapping[str, Sequence[str]] = tomllib.loads(
    files("askgraph.training.pointer").joinpath("names.toml").read_text("utf-8")
)


@dataclass(frozen=True)
class _Style:
    """How a world writes: its namespace, labels or not, what names things, how links are called."""

    space: str
    labels: bool
    tables: bool
    naming: str
    named_links: bool
    camel: bool


def world(seed: int) -> str:
    """Return a made-up graph as N-Triples; the same seed gives the same text."""
    maker = _Maker(Random(seed))
    return "".join(f"{s} {p} {o} .\n" for s, p, o in dict.fromkeys(maker.triples()))


class _Maker:
    def __init__(self, chance: Random) -> None:
        self.chance = chance
        tables = chance.random() < 0.4
        self.style = _Style(
            f"http://example.org/w{chance.randrange(10**6)}/",
            labels=not tables and chance.random() < 0.6,
            tables=tables,
            naming=chance.choice(["name", "name", "title"])
            if tables or chance.random() < 0.3
            else "",
            named_links=chance.random() < 0.6,
            camel=chance.random() < 0.6,
        )

    def triples(self) -> Iterator[tuple[str, str, str]]:
        chance = self.chance
        nouns = chance.sample(_NAMES["nouns"], chance.randint(3, 7))
        things = {noun: [f"{noun}_{n}" for n in range(chance.randint(8, 40))] for noun in nouns}
        for noun in nouns:
            yield from self.described(self.cls(noun), noun)
            nameless = chance.random() < 0.15
            for thing in things[noun]:
                yield self.iri(thing), f"<{RDF_TYPE}>", self.cls(noun)
                if not nameless:
                    yield self.iri(thing), self.naming(noun), f'"{self.name(thing)}"'
            yield from self.attributes(noun, things[noun])
            yield from self.links(noun, nouns, things)

    def attributes(self, noun: str, things: list[str]) -> Iterator[tuple[str, str, str]]:
        chance = self.chance
        for make in chance.choices(
            [self.numbers, self.years, self.dates, self.kinds, self.codes],
            weights=[4, 1, 1, 4, 1.5], k=chance.randint(2, 6),
        ):  # fmt: skip
            label, values = make(len(things))
            predicate = self.predicate(noun, label)
            yield from self.described(predicate, label)
            missing = 0.0 if chance.random() < 0.6 else 0.2
            for thing, value in zip(things, values, strict=True):
                if chance.random() >= missing:
                    yield self.iri(thing), predicate, value

    def numbers(self, n: int) -> tuple[str, list[str]]:
        chance = self.chance
        top = chance.choice([10, 100, 1000, 100_000])
        whole = chance.random() < 0.7
        datatype = XSD_INTEGER if whole else XSD_DECIMAL
        values = [chance.randint(1, top) if whole else chance.random() * top for _ in range(n)]
        label = chance.choice(_NAMES["numbers"]).replace("_", " ")
        text = [str(v) if whole else f"{v:.2f}" for v in values]
        return label, [f'"{value}"^^<{datatype}>' for value in text]

    def years(self, n: int) -> tuple[str, list[str]]:
        plain = self.style.tables
        datatype = XSD_INTEGER if plain else XSD_G_YEAR
        values = [self.chance.randint(1900, 2020) for _ in range(n)]
        return self.chance.choice(_NAMES["years"]), [f'"{value}"^^<{datatype}>' for value in values]

    def dates(self, n: int) -> tuple[str, list[str]]:
        chance = self.chance
        days = [(chance.randint(1960, 2020), chance.randint(1, 12), chance.randint(1, 28))
                for _ in range(n)]  # fmt: skip
        text = [f'"{year}-{month:02}-{day:02}"^^<{XSD_DATE}>' for year, month, day in days]
        return chance.choice(_NAMES["dates"]), text

    def kinds(self, n: int) -> tuple[str, list[str]]:
        values = self.chance.sample(_NAMES["words"], self.chance.randint(3, 7))
        values = [value.title() if self.chance.random() < 0.5 else value for value in values]
        label = self.chance.choice(_NAMES["kinds"]).replace("_", " ")
        return label, [f'"{self.chance.choice(values)}"' for _ in range(n)]

    def codes(self, n: int) -> tuple[str, list[str]]:
        texts = [
            f"{self.chance.choice(_NAMES['syllables'])}{self.chance.randrange(10**5)}"
            for _ in range(n)
        ]
        return self.chance.choice(_NAMES["codes"]), [f'"{text}"' for text in texts]

    def links(
        self, noun: str, nouns: list[str], things: dict[str, list[str]]
    ) -> Iterator[tuple[str, str, str]]:
        chance = self.chance
        for other in chance.sample(nouns, min(len(nouns), chance.randint(1, 2))):
            label = other if not self.style.named_links else chance.choice(_NAMES["links"])
            label = "parent " + other if other == noun else label
            predicate = self.predicate(noun, f"ref {label}" if self.style.tables else label)
            yield from self.described(predicate, label)
            pool = chance.sample(things[other], max(2, int(len(things[other]) * 0.7)))
            for at, thing in enumerate(things[noun]):
                number = 1 if chance.random() < 0.8 or other == noun else chance.randint(0, 3)
                earlier = things[noun][:at] if other == noun else pool
                for target in chance.sample(earlier, min(number, len(earlier))):
                    yield self.iri(thing), predicate, self.iri(target)

    def described(self, term: str, label: str) -> Iterator[tuple[str, str, str]]:
        if self.style.labels:
            yield term, f"<{RDFS_LABEL}>", f'"{label}"@en'

    def naming(self, noun: str) -> str:
        style = self.style
        return self.predicate(noun, style.naming) if style.naming else f"<{RDFS_LABEL}>"

    def name(self, thing: str) -> str:
        chance = Random(f"{self.style.space}{thing}")
        words = ["".join(chance.choices(_NAMES["syllables"], k=chance.randint(2, 3))).title()
                 for _ in range(chance.choice([1, 1, 2]))]  # fmt: skip
        return " ".join(words)

    def iri(self, thing: str) -> str:
        return f"<{self.style.space}item/{thing}>"

    def cls(self, noun: str) -> str:
        local = noun + "s" if self.style.tables and len(noun) % 2 else noun
        return f"<{self.style.space}{local if self.style.tables else noun.title()}>"

    def predicate(self, noun: str, label: str) -> str:
        words = label.split()
        if self.style.tables:
            return f"{self.cls(noun)[:-1]}#{'_'.join(words)}>"
        camel = words[0] + "".join(word.title() for word in words[1:])
        return f"<{self.style.space}{camel if self.style.camel else '_'.join(words)}>"
