"""Made-up graphs to learn from: other classes, predicates, names and habits in each.

A world is N-Triples text. What it is about means nothing; how it is put together varies as graphs
do: with labels or without, with words or with tables and columns in its IRIs, things with and
without names, links of one or of many, numbers, dates, years and words that come again.
"""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from random import Random

from askgraph.rdf.vocabulary import (
    RDF_TYPE,
    RDFS_LABEL,
    XSD_DATE,
    XSD_DECIMAL,
    XSD_G_YEAR,
    XSD_INTEGER,
)

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
