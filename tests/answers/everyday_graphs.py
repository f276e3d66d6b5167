"""Small graphs of everyday domains, and queries of every kind over each, made by seed.

`everyday_domains.txt` describes a domain by its classes, a line each: `Class (person) | names:
property -> Class, property = values`. A `(node)` has no name of its own: it joins what it leads to.
The labels of a domain with a language behind its name are in that language.
"""

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pyoxigraph import QueryBoolean, QuerySolutions, Store
from tests.graphs import store_of

from askgraph.endpoint import FormEndpoint
from askgraph.graph import KnowledgeGraph
from askgraph.graph.arrays import build_arrays
from askgraph.graph.local_profile import build_profile
from askgraph.index.names import NameIndex
from askgraph.sparql.judge import EndpointRequest
from askgraph.sparql.prefixes import PrefixMap
from askgraph.sparql.results import Result, SelectResult

__all__ = ["Domain", "EverydayClass", "EverydayProperty", "open_graph", "read_domains"]

Kind = TypeVar("Kind", bound=Result)

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
    language: str = "en"

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
                    lines.append(f'{subject} rdfs:label "{name}"@{self.language} .')
                for p in item.properties:
                    chance = self.seed.random()
                    values = 0 if chance > 0.85 else 2 if p.is_link and chance < 0.12 else 1
                    lines += [
                        f"{subject} {self.property_iri(p)} {self.make_value(p, name)} ."
                        for _ in range(values)
                    ]
        return "\n".join(lines)

    def describe_schema(self, item: EverydayClass) -> list[str]:
        """Return the labels of a class and its properties, where the style has any."""
        if self.style in (1, 2) and self.language == "en":
            return []
        shown = str.capitalize if self.style == 3 else str
        name = item.name if self.language == "de" else _words(item.name)
        labels = {self.iri(item.name): shown(name)}
        labels |= {self.property_iri(p): p.words for p in item.properties}
        return [f'{iri} rdfs:label "{text}"@{self.language} .' for iri, text in labels.items()]

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
            for section, terms in self.list_sections(item):
                for kind, template in QUERIES[section]:
                    yield kind, HEADER + template.format_map(terms)

    def list_sections(self, item: EverydayClass) -> Iterator[tuple[str, dict[str, str]]]:
        """Yield the sections of queries that a class allows, with the terms to fill in."""
        cls, links = self.iri(item.name), item.select(link=True)
        terms = {"cls": cls, "a": f"?x a {cls}", "thing": self.iri(item.names[0])}
        terms["other"] = self.iri(item.names[-1])
        for one, two in [(links[0], links[1])] if len(links) > 1 else []:
            third = [p for p in item.properties if p not in (one, two)]
            pair = {"p": self.property_iri(one), "q": self.property_iri(two)}
            pair |= {"start": self.first_of(one), "last": self.first_of(two)}
            pair |= {"ends": self.iri(one.target)}
            pair["third"] = self.property_iri(third[0]) if third else pair["q"]
            yield ("node" if item.kind == "node" else "two links"), terms | pair
        if item.kind == "node":
            return
        yield "class", terms
        for p in item.select(link=False):
            own = terms | {"p": self.property_iri(p)}
            is_number = p.target[:1].isdigit()
            low, high = map(int, p.target.split("..")) if is_number else (0, 0)
            own |= {"low": str(low), "middle": str((low + high) // 2)}
            yield "value", own
            yield ("number" if is_number else p.target), own
            if p.target != "boolean":
                yield "measured", own
        for p in links:
            target = self.find_class(p.target)
            own = terms | {"p": self.property_iri(p), "ends": self.iri(p.target)}
            own["end"] = self.iri(target.names[-1])
            yield "link", own
            for q in target.select(link=True)[:2]:
                yield "link link", own | {"q": self.property_iri(q), "last": self.first_of(q)}
            for q in target.select(link=False)[:1]:
                yield "link value", own | {"q": self.property_iri(q)}
            for q in item.select(link=False)[:1]:
                if q.target[:1].isdigit():
                    middle = str(sum(map(int, q.target.split(".."))) // 2)
                    yield "own value", own | {"q": self.property_iri(q), "middle": middle}

    def first_of(self, link: EverydayProperty) -> str:
        """Return the first thing of the class that a link leads to."""
        return self.iri(self.find_class(link.target).names[0])


def _read_queries(path: Path) -> dict[str, list[tuple[str, str]]]:
    sections: dict[str, list[tuple[str, str]]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            queries = sections.setdefault(line[2:], [])
        else:
            kind, _, query = line.partition(": ")
            queries.append((kind, query))
    return sections


QUERIES = _read_queries(Path(__file__).with_name("everyday_queries.txt"))


def read_domains(path: Path, rounds: int) -> Iterator[Domain]:
    """Read the domains of a file, in each round with another style and seed."""
    blocks = re.split(r"(?m)^# ", path.read_text(encoding="utf-8"))[1:]
    for number in range(rounds):
        for at, block in enumerate(blocks):
            head, *lines = block.strip().splitlines()
            name, _, language = head.rstrip(")").partition(" (")
            seed = random.Random(at + number * len(blocks))
            people = [f"{first} {last}" for first in FIRST_NAMES for last in LAST_NAMES]
            seed.shuffle(people)
            classes = tuple(_read_class(line, people) for line in lines)
            full = f"{name}-{number + 1}" if number else name
            yield Domain(full, classes, (at + number) % 4, seed, language or "en")


class StoreEndpoint(FormEndpoint):
    """Answers queries over a store in this process."""

    address = "store"

    def __init__(self, store: Store) -> None:
        self.store = store

    async def close(self) -> None:
        """Do nothing: no worker runs."""

    async def _answer(self, request: EndpointRequest, kind: type[Kind]) -> Kind:
        found = self.store.query(request.query)
        result: Result | None = None
        if isinstance(found, QueryBoolean):
            result = bool(found)
        elif isinstance(found, QuerySolutions):
            names = tuple(variable.value for variable in found.variables)
            result = SelectResult(names, tuple(tuple(row[name] for name in names) for row in found))
        assert isinstance(result, kind)
        return result


def open_graph(name: str, turtle: str) -> KnowledgeGraph:
    """Return a graph in memory."""
    store = store_of(turtle)
    arrays = build_arrays(store)
    return KnowledgeGraph(
        name=name,
        endpoint=StoreEndpoint(store),
        profile=build_profile(arrays),
        names=NameIndex.from_names([]),
        prefixes=PrefixMap({}),
        arrays=arrays,
    )


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
