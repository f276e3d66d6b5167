"""Small graphs of everyday domains, and queries of every kind over each, made by seed.

`everyday_domains.txt` describes a domain by its classes, a line each: `Class (person) | names:
property -> Class, property = values`. A `(node)` has no name of its own: it joins what it leads to.
"""

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Domain", "EverydayClass", "EverydayProperty", "read_domains"]

BASE = "http://everyday.example/"
FIRST_NAMES = "Ada Ben Clara David Ella Felix Grace Hugo Ines Jonas Kira Leo".split()
LAST_NAMES = "Novak Hill Moreau Sand Bauer Costa Lind Okoye".split()
PREFIXES = """@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
HEADER = """PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
"""


@dataclass(frozen=True)
class EverydayProperty:
    """A property: its words, the class or the kind of value it leads to."""

    words: str
    target: str
    is_link: bool


@dataclass(frozen=True)
class EverydayClass:
    """A class: its name, the names of its instances, its properties."""

    name: str
    kind: str
    names: tuple[str, ...]
    properties: tuple[EverydayProperty, ...]

    def select(self, *, link: bool) -> list[EverydayProperty]:
        """Return the properties that lead to things, or those that have values."""
        return [item for item in self.properties if item.is_link == link]


@dataclass(frozen=True)
class Domain:
    """A domain: its graph as Turtle and queries over it. `style` is how IRIs and labels look."""

    name: str
    classes: tuple[EverydayClass, ...]
    style: int
    seed: random.Random

    def iri(self, words: str) -> str:
        """Return the IRI of a class, a property or a thing."""
        local = re.sub(r"\W+", "_", words)
        return f"<{BASE}{self.name}/{local}>"

    def property_iri(self, item: EverydayProperty) -> str:
        """Return the IRI of a property, in the style of the graph."""
        words = item.words.split()
        if self.style == 1 and item.is_link and len(words) == 1 and not words[0].endswith("s"):
            words = ["has", *words]
        if self.style == 2:
            return self.iri("_".join(words))
        return self.iri(words[0] + "".join(word.capitalize() for word in words[1:]))

    def find_class(self, name: str) -> EverydayClass:
        """Return the class of a name."""
        return next(item for item in self.classes if item.name == name)

    def make_turtle(self) -> str:
        """Return the graph, the same for the same seed."""
        lines = [PREFIXES]
        for item in self.classes:
            lines += self.describe_schema(item)
            for name in item.names:
                subject = self.iri(name)
                lines.append(f"{subject} a {self.iri(item.name)} .")
                if item.kind != "node":
                    lines.append(f'{subject} rdfs:label "{name}"@en .')
                lines += [
                    f"{subject} {self.property_iri(p)} {self.make_value(p, name)} ."
                    for p in item.properties
                    if self.seed.random() < 0.85
                ]
        return "\n".join(lines)

    def describe_schema(self, item: EverydayClass) -> list[str]:
        """Return the labels of a class and its properties, where the style has any."""
        if self.style in (1, 2):
            return []
        shown = str.capitalize if self.style == 3 else str
        lines = [f'{self.iri(item.name)} rdfs:label "{shown(_words(item.name))}"@en .']
        for p in item.properties:
            lines.append(f'{self.property_iri(p)} rdfs:label "{shown(p.words)}"@en .')
        return lines

    def make_value(self, item: EverydayProperty, subject: str) -> str:
        """Return a value that a property may have."""
        if item.is_link:
            others = [name for name in self.find_class(item.target).names if name != subject]
            return self.iri(self.seed.choice(others))
        year, month, day = (self.seed.randint(*ends) for ends in ((1940, 2020), (1, 12), (1, 28)))
        match item.target:
            case "date":
                return f'"{year}-{month:02}-{day:02}"^^xsd:date'
            case "year":
                return f'"{year}"^^xsd:gYear'
            case "boolean":
                return self.seed.choice(["true", "false"])
            case "text":
                return f'"{_words(subject).replace(" ", ".")}@mail.example"'
            case bounds:
                return str(self.seed.randint(*map(int, bounds.split(".."))))

    def make_queries(self) -> Iterator[tuple[str, str]]:
        """Yield kinds of queries with a query of each: those that the classes allow."""
        for item in self.classes:
            for kind, query in (*self.ask_values(item), *self.ask_links(item)):
                yield kind, HEADER + query

    def ask_values(self, item: EverydayClass) -> Iterator[tuple[str, str]]:
        """Yield queries on the values of a class."""
        a = f"?x a {self.iri(item.name)}"
        if item.kind == "node":
            return
        thing = self.iri(item.names[0])
        yield "list", f"SELECT ?x {{ {a} }}"
        yield "count", f"SELECT (COUNT(?x) AS ?n) {{ {a} }}"
        yield "language", f'SELECT ?l {{ {thing} rdfs:label ?l FILTER(LANG(?l) = "en") }}'
        for p in item.select(link=False):
            iri = self.property_iri(p)
            yield "lookup", f"SELECT ?v {{ {thing} {iri} ?v }}"
            if p.target == "boolean":
                yield "boolean", f"SELECT ?x {{ {a} ; {iri} true }}"
                yield "ask boolean", f"ASK {{ {thing} {iri} false }}"
                continue
            yield "ordered list", f"SELECT ?x ?v {{ {a} ; {iri} ?v }} ORDER BY DESC(?v)"
            yield "first", f"SELECT ?x {{ {a} ; {iri} ?v }} ORDER BY DESC(?v) LIMIT 1"
            yield "last three", f"SELECT ?x {{ {a} ; {iri} ?v }} ORDER BY ?v LIMIT 3"
            yield "optional", f"SELECT ?x ?v {{ {a} OPTIONAL {{ ?x {iri} ?v }} }}"
            yield "missing", f"SELECT ?x {{ {a} FILTER NOT EXISTS {{ ?x {iri} ?v }} }}"
            if p.target == "text":
                yield "text", f'SELECT ?x {{ {a} ; {iri} ?v FILTER(CONTAINS(?v, "a")) }}'
            elif p.target == "date":
                day = '"1980-01-01"^^xsd:date'
                yield "after", f"SELECT ?x {{ {a} ; {iri} ?v FILTER(?v > {day}) }}"
                yield "in a year", f"SELECT ?x {{ {a} ; {iri} ?v FILTER(YEAR(?v) = 1980) }}"
            elif p.target == "year":
                year = '"1980"^^xsd:gYear'
                yield "before", f"SELECT ?x {{ {a} ; {iri} ?v FILTER(?v < {year}) }}"
            else:
                low, high = map(int, p.target.split(".."))
                middle = (low + high) // 2
                other = self.iri(item.names[-1])
                yield "more than", f"SELECT ?x {{ {a} ; {iri} ?v FILTER(?v > {middle}) }}"
                two = f"FILTER(?v >= {low} && ?v <= {middle})"
                yield "between", f"SELECT (COUNT(?x) AS ?n) {{ {a} ; {iri} ?v {two} }}"
                yield "average", f"SELECT (AVG(?v) AS ?n) {{ {a} ; {iri} ?v }}"
                yield (
                    "compared",
                    f"SELECT ?x {{ {a} ; {iri} ?v . {other} {iri} ?w FILTER(?v > ?w) }}",
                )
                yield (
                    "above average",
                    f"SELECT ?x {{ {a} ; {iri} ?v FILTER(?v > ?m) {{ SELECT (AVG(?w) AS ?m) "
                    f"{{ ?y a {self.iri(item.name)} ; {iri} ?w }} }} }}",
                )
                yield "values", f"SELECT ?x {{ {a} ; {iri} ?v VALUES ?v {{ {low} {middle} }} }}"

    def ask_links(self, item: EverydayClass) -> Iterator[tuple[str, str]]:
        """Yield queries on the links of a class."""
        cls = self.iri(item.name)
        thing = self.iri(item.names[0])
        links = item.select(link=True)
        if item.kind == "node":
            yield from self.join(item)
            return
        for p in links:
            iri, target = self.property_iri(p), self.find_class(p.target)
            end, ends = self.iri(target.names[-1]), self.iri(p.target)
            yield "link", f"SELECT ?y {{ {thing} {iri} ?y }}"
            yield "reverse", f"SELECT ?x {{ ?x a {cls} ; {iri} {end} }}"
            yield "reverse without class", f"SELECT ?x {{ ?x {iri} {end} }}"
            yield "typed object", f"SELECT ?y {{ ?y a {ends} . {thing} {iri} ?y }}"
            yield "count reverse", f"SELECT (COUNT(?x) AS ?n) {{ ?x a {cls} ; {iri} {end} }}"
            yield "without", f"SELECT ?x {{ ?x a {cls} FILTER NOT EXISTS {{ ?x {iri} ?y }} }}"
            yield (
                "without reverse",
                f"SELECT ?y {{ ?y a {ends} FILTER NOT EXISTS {{ ?x a {cls} ; {iri} ?y }} }}",
            )
            yield (
                "without anything",
                f"SELECT ?y {{ ?y a {ends} FILTER NOT EXISTS {{ ?x {iri} ?y }} }}",
            )
            yield "excluded", f"SELECT ?x {{ ?x a {cls} MINUS {{ ?x {iri} {end} }} }}"
            yield "ask", f"ASK {{ {thing} {iri} {end} }}"
            yield "ask any", f"ASK {{ ?x a {cls} ; {iri} {end} }}"
            yield (
                "per",
                f"SELECT ?y (COUNT(?x) AS ?n) {{ ?x a {cls} ; {iri} ?y }} GROUP BY ?y",
            )
            yield (
                "most",
                f"SELECT ?y {{ ?x a {cls} ; {iri} ?y }} GROUP BY ?y "
                "ORDER BY DESC(COUNT(?x)) LIMIT 1",
            )
            yield (
                "at least",
                f"SELECT ?y {{ ?x a {cls} ; {iri} ?y }} GROUP BY ?y HAVING(COUNT(?x) >= 2)",
            )
            yield (
                "distinct",
                f"SELECT (COUNT(DISTINCT ?y) AS ?n) {{ ?x a {cls} ; {iri} ?y }}",
            )
            for q in target.select(link=True)[:2]:
                last = self.iri(self.find_class(q.target).names[0])
                yield (
                    "chain",
                    f"SELECT ?x {{ ?x a {cls} ; {iri} ?y . ?y {self.property_iri(q)} {last} }}",
                )
                yield (
                    "chain forwards",
                    f"SELECT ?z {{ {thing} {iri} ?y . ?y {self.property_iri(q)} ?z }}",
                )
            for q in target.select(link=False)[:1]:
                yield (
                    "value of link",
                    f"SELECT ?x ?v {{ ?x a {cls} ; {iri} ?y . ?y {self.property_iri(q)} ?v }}",
                )
            for q in item.select(link=False)[:1]:
                if q.target[:1].isdigit():
                    yield (
                        "average per",
                        f"SELECT ?y (AVG(?v) AS ?n) {{ ?x a {cls} ; {iri} ?y ; "
                        f"{self.property_iri(q)} ?v }} GROUP BY ?y",
                    )
                yield (
                    "first of linked",
                    f"SELECT ?x {{ ?x {iri} {end} ; {self.property_iri(q)} ?v }} "
                    "ORDER BY DESC(?v) LIMIT 1",
                )
        if len(links) > 1:
            (one, one_end), (two, two_end) = (
                (self.property_iri(p), self.iri(self.find_class(p.target).names[0]))
                for p in links[:2]
            )
            yield (
                "either",
                f"SELECT ?x {{ ?x a {cls} {{ ?x {one} {one_end} }} "
                f"UNION {{ ?x {two} {two_end} }} }}",
            )
            yield "both", f"SELECT ?x {{ ?x a {cls} ; {one} {one_end} ; {two} {two_end} }}"

    def join(self, item: EverydayClass) -> Iterator[tuple[str, str]]:
        """Yield queries on what nodes without names join."""
        first, second = (self.property_iri(p) for p in item.select(link=True)[:2])
        target = self.find_class(item.select(link=True)[1].target)
        source = self.find_class(item.select(link=True)[0].target)
        end = self.iri(target.names[0])
        yield "joined", f"SELECT ?x {{ ?n {first} ?x ; {second} {end} }}"
        yield (
            "joined things",
            f"SELECT ?x {{ ?x a {self.iri(source.name)} . ?n a {self.iri(item.name)} ; "
            f"{first} ?x ; {second} {end} }}",
        )
        yield (
            "joined back",
            f"SELECT ?y {{ ?n {first} {self.iri(source.names[0])} ; {second} ?y }}",
        )
        if third := [p for p in item.properties if self.property_iri(p) not in (first, second)]:
            yield (
                "joined value",
                f"SELECT ?v {{ ?n {first} {self.iri(source.names[0])} ; {second} {end} ; "
                f"{self.property_iri(third[0])} ?v }}",
            )
        for q in target.select(link=True)[:1]:
            last = self.iri(self.find_class(q.target).names[0])
            yield (
                "joined chain",
                f"SELECT ?x {{ ?x a {self.iri(source.name)} . ?n {first} ?x ; {second} ?y . "
                f"?y {self.property_iri(q)} {last} }}",
            )


def read_domains(path: Path) -> Iterator[Domain]:
    """Read the domains of a file, each with a style and a seed by its place."""
    blocks = re.split(r"(?m)^# ", path.read_text(encoding="utf-8"))[1:]
    for at, block in enumerate(blocks):
        name, *lines = block.strip().splitlines()
        seed = random.Random(at)
        people = [f"{first} {last}" for first in FIRST_NAMES for last in LAST_NAMES]
        seed.shuffle(people)
        classes = tuple(_read_class(line, people) for line in lines)
        yield Domain(name, classes, at % 4, seed)


def _read_class(line: str, people: list[str]) -> EverydayClass:
    head, _, rest = line.partition(":")
    head, _, given = head.partition("|")
    name, _, kind = head.strip().rstrip(")").partition(" (")
    names = [text.strip() for text in given.split(",") if text.strip()]
    if kind == "person":
        names = [people.pop() for _ in range(5)]
    if kind == "node":
        names = [f"{name} {at}" for at in range(6)]
    properties = []
    for text in filter(None, (part.strip() for part in rest.split(","))):
        words, mark, target = re.split(r" (->|=) ", text)
        properties.append(EverydayProperty(words, target, mark == "->"))
    return EverydayClass(name, kind, tuple(names), tuple(properties))


def _words(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()
