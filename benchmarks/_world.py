"""A synthetic graph of about N triples for million.py, the same bytes for the same N.

A world of people, towns, companies and their offices: labels in English and German, numbers, dates,
object predicates between all classes, a tree of regions (`within`, eight deep), and jobs as nodes
without a name (person, company, role, since). There are 30 questions with gold queries.
"""

import random
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

NS = "http://example.org/world/"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
XSD = "http://www.w3.org/2001/XMLSchema#"
SEED = 20250101
TRIPLES_PER_PERSON = 18.83  # with that person's share of all else; measured

_WORDS: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
FIRST, SYLLABLES, QUESTIONS = _WORDS["first"], _WORDS["syllables"], _WORDS["questions"]
ROLES, INDUSTRIES, ENDINGS = _WORDS["roles"], _WORDS["industries"], _WORDS["endings"]
OFFICE, CLASSES, PREDICATES = _WORDS["office"], _WORDS["classes"], _WORDS["predicates"]


class World:
    """The sizes, names and links of a world with this many people; nothing is kept in memory."""

    def __init__(self, people: int) -> None:
        self.people = people
        self.towns = max(20, people // 60)
        self.regions = max(15, people // 600)
        self.companies = max(10, people // 30)
        self.offices = max(10, people // 20)

    def name(self, kind: str, number: int, language: str = "en") -> str:
        """The label of a thing; people may share theirs."""
        chance = random.Random(f"{SEED} name {kind} {number}")
        word = "".join(chance.choice(SYLLABLES) for _ in range(chance.choice((3, 3, 4)))).title()
        match kind:
            case "Person":
                return f"{chance.choice(FIRST)} {word}"
            case "Office":
                return f"{word} {OFFICE[language]} {number}"
            case "Company" | "Region":
                return f"{word} {chance.choice(ENDINGS[kind])[language == 'de']}"
            case _:
                return word

    def chance(self, kind: str, number: int) -> random.Random:
        """The source of everything drawn for one thing."""
        return random.Random(f"{SEED} {kind} {number}")


def iri(name: str) -> str:
    """An IRI of the graph as N-Triples writes it."""
    return f"<{NS}{name}>"


def text(value: str, language: str) -> str:
    """A literal with a language tag; the words used here need no escapes."""
    return f'"{value}"@{language}'


def typed(value: object, datatype: str) -> str:
    """A typed literal."""
    return f'"{value}"^^<{XSD}{datatype}>'


def day(chance: random.Random, first: int, last: int) -> str:
    """A date literal in these years."""
    year, month, date = chance.randint(first, last), chance.randint(1, 12), chance.randint(1, 28)
    return typed(f"{year}-{month:02}-{date:02}", "date")


Triples = Iterator[tuple[str, str, str]]


def triples(world: World) -> Triples:
    """All triples of the world, in a fixed order."""
    yield from schema()
    yield from regions(world)
    makers: tuple[tuple[Callable[[World, int], Triples], int], ...] = (
        (town, world.towns),
        (company, world.companies),
        (office, world.offices),
        (person, world.people),
    )
    for maker, count in makers:
        for number in range(count):
            yield from maker(world, number)


def schema() -> Triples:
    """Classes, predicates, roles and industries with their labels."""
    for name, (english, german) in {**CLASSES, **PREDICATES}.items():
        yield iri(name), f"<{RDFS}label>", text(english, "en")
        yield iri(name), f"<{RDFS}label>", text(german, "de")
        kind = "Class" if name in CLASSES else "Property"
        base = RDFS if kind == "Class" else RDF
        yield iri(name), f"<{RDF}type>", f"<{base}{kind}>"
    for kind, pairs in (("Role", ROLES), ("Industry", INDUSTRIES)):
        for english, german in pairs.items():
            yield from named(f"{kind.lower()}/{english}", kind, english, german)


def named(name: str, kind: str, english: str, german: str) -> Triples:
    """The class and the two labels of a thing."""
    yield iri(name), f"<{RDF}type>", iri(kind)
    yield iri(name), f"<{RDFS}label>", text(english, "en")
    yield iri(name), f"<{RDFS}label>", text(german, "de")


def thing(world: World, kind: str, number: int) -> Triples:
    """The class and labels of a numbered thing."""
    english, german = world.name(kind, number), world.name(kind, number, "de")
    return named(f"{kind.lower()}/{number}", kind, english, german)


def regions(world: World) -> Triples:
    """A tree of regions, at most eight deep."""
    for number in range(world.regions):
        yield from thing(world, "Region", number)
        if number:
            parent = max(0, number - 1) // 3 if number > 24 else number // 2
            yield iri(f"region/{number}"), iri("within"), iri(f"region/{parent}")


def town(world: World, number: int) -> Triples:
    """A town in a region."""
    chance, me = world.chance("town", number), iri(f"town/{number}")
    yield from thing(world, "Town", number)
    yield me, iri("population"), typed(chance.randint(100, 2_000_000), "integer")
    yield me, iri("area"), typed(f"{chance.uniform(1, 900):.2f}", "decimal")
    yield me, iri("within"), iri(f"region/{chance.randrange(world.regions)}")


def company(world: World, number: int) -> Triples:
    """A company with its town, industry and, for some, an owner."""
    chance, me = world.chance("company", number), iri(f"company/{number}")
    yield from thing(world, "Company", number)
    yield me, iri("industry"), iri(f"industry/{chance.choice([*INDUSTRIES])}")
    yield me, iri("headquarters"), iri(f"town/{chance.randrange(world.towns)}")
    yield me, iri("founded"), day(chance, 1850, 2023)
    yield me, iri("revenue"), typed(f"{chance.lognormvariate(15, 2):.0f}", "integer")
    if number and chance.random() < 0.3:
        yield me, iri("ownedBy"), iri(f"company/{chance.randrange(number)}")


def office(world: World, number: int) -> Triples:
    """An office of a company in a town."""
    chance, me = world.chance("office", number), iri(f"office/{number}")
    yield from thing(world, "Office", number)
    yield me, iri("officeOf"), iri(f"company/{chance.randrange(world.companies)}")
    yield me, iri("locatedIn"), iri(f"town/{chance.randrange(world.towns)}")


def person(world: World, number: int) -> Triples:
    """A person, the people they know, and their jobs: nodes without a name."""
    chance, me = world.chance("person", number), iri(f"person/{number}")
    yield from thing(world, "Person", number)
    yield me, iri("livesIn"), iri(f"town/{chance.randrange(world.towns)}")
    yield me, iri("bornIn"), iri(f"town/{chance.randrange(world.towns)}")
    yield me, iri("birthDate"), day(chance, 1930, 2005)
    yield me, iri("height"), typed(f"{chance.gauss(1.7, 0.1):.2f}", "decimal")
    for other in sorted({chance.randrange(world.people) for _ in range(chance.randint(1, 9))}):
        yield me, iri("knows"), iri(f"person/{other}")
    for job in range(chance.choice((1, 1, 1, 2))):
        node = iri(f"job/{number}-{job}")
        yield node, f"<{RDF}type>", iri("Job")
        yield node, iri("worker"), me
        yield node, iri("employer"), iri(f"company/{chance.randrange(world.companies)}")
        yield node, iri("role"), iri(f"role/{chance.choice([*ROLES])}")
        yield node, iri("since"), day(chance, 1990, 2024)


def questions(world: World, count: int = 30) -> Iterator[dict[str, object]]:
    """Questions about things all over the graph, with gold queries."""
    chance = random.Random(f"{SEED} questions")
    for number in range(count):
        words, query = QUESTIONS[number % len(QUESTIONS)]
        p, t = chance.randrange(world.people), chance.randrange(world.towns)
        c = chance.randrange(world.companies)
        names: dict[str, str] = {}
        for kind, key, at in (("Person", "p", p), ("Town", "t", t), ("Company", "c", c)):
            names |= {kind.lower(): world.name(kind, at), key: iri(f"{kind.lower()}/{at}")}
        yield {
            "id": f"world-{number:02}",
            "question": words.format(**names),
            "lang": "de" if words.startswith("Wo ") else "en",
            "sparql": f"PREFIX : <{NS}>\n" + query.format(**names),
        }


def world_of(wanted: int) -> World:
    """The world that has about this many triples."""
    return World(max(50, round(wanted / TRIPLES_PER_PERSON)))


def write(wanted: int, path: Path) -> None:
    """Write the graph as N-Triples."""
    with path.open("w", encoding="utf-8") as lines:
        lines.writelines(f"{' '.join(triple)} .\n" for triple in triples(world_of(wanted)))
