"""Write a synthetic graph of about N triples in the shape of Wikidata, as N-Triples.

    python benchmarks/generate_wikidata.py 1_000_000 graph.nt.gz --questions questions.jsonl

People, places, works, organisations and events with codes for names (Q12, P3), labels, descriptions
and aliases in English, German and Spanish, names that several things share, pages about things and
their number, and statements with ranks and qualifiers beside the direct claims. It is written as it
is made: a graph of any size takes the same memory, and the same size and seed give the same bytes.
With `--questions`, 80 questions with gold queries, ten of them about names that are shared (fewer
below 150,000 triples: no thing fits all of them).
"""

import argparse
import json
import random
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from string import Template
from typing import Any
from urllib.parse import quote

from _wikidata_world import LANGUAGES, SPEC, Amount, Claim, Day, Thing, Value, World, best
from generate_graph import RDF, RDFS, Triples, text, typed, written

BASE = "http://base.example.org/"
NAMESPACES = {
    "wd": f"{BASE}entity/",
    "wdt": f"{BASE}prop/direct/",
    "p": f"{BASE}prop/",
    "ps": f"{BASE}prop/statement/",
    "psv": f"{BASE}prop/statement/value/",
    "pq": f"{BASE}prop/qualifier/",
}
QUESTIONS: Sequence[Mapping[str, Any]] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
)["questions"]

_TRIES = 100
_SHARED = 4000  # things of a kind, the most linked first, among which a shared name is looked for
_STEP = re.compile(r"(\w+)\.(\w+)(@year)?(?:([=:>])(\w+))?")
_START = re.compile(r"(\w+)=(\w+)(?::(\w+))?")


class Numbers:
    """The codes of the things and properties of a world, in no order that tells anything."""

    def __init__(self, world: World) -> None:
        self._first = {}
        total = 0
        for kind, count in world.counts.items():
            self._first[kind] = total
            total += count
        self._total = total
        self._codes = _prime(4 * total)
        self._properties = {name: 7 + 41 * at % 997 for at, name in enumerate(SPEC["properties"])}

    def code(self, of: Thing | str) -> str:
        """The code of a thing, or of a property by its key."""
        if isinstance(of, Thing):
            return self._scattered(self._first[of.kind] + of.number)
        return f"P{self._properties[of]}"

    def _scattered(self, place: int) -> str:
        return f"Q{1 + (place + 1) * 1_000_003 % self._codes}"

    def iri(self, prefix: str, of: Thing | str) -> str:
        """The IRI of a thing or a property as N-Triples writes it."""
        return f"<{NAMESPACES[prefix]}{self.code(of)}>"

    def former(self, thing: Thing) -> str:
        """The IRI that a thing had before it was merged with another."""
        place = self._total + self._first[thing.kind] + thing.number
        return f"<{NAMESPACES['wd']}{self._scattered(place)}>"


def _prime(least: int) -> int:
    """The first prime number from here on."""
    while any(least % by == 0 for by in range(2, int(least**0.5) + 1)):
        least += 1
    return least


@dataclass(frozen=True)
class Asked:
    """A question, the things and years that it is about, and its gold query."""

    at: int
    picked: Mapping[str, Thing | int]
    spec: Mapping[str, Any]
    world: World = field(repr=False)

    @cached_property
    def mentioned(self) -> Mapping[str, Thing]:
        """The things that the question names."""
        found = {name: self.picked.get(name) for name in re.findall(r"\$(\w+)", self.spec["text"])}
        return {name: one for name, one in found.items() if isinstance(one, Thing)}

    @property
    def names(self) -> Mapping[str, str]:
        """The names in the question; "" for a thing that has none in its language."""
        return {
            name: self.world.label(thing, self.spec["lang"])
            for name, thing in self.mentioned.items()
        }

    @property
    def text(self) -> str:
        """The question."""
        return Template(self.spec["text"]).substitute({**self.picked, **self.names})

    def query(self, numbers: Numbers) -> str:
        """The gold query."""
        prefixes = "".join(f"PREFIX {name}: <{iri}>\n" for name, iri in NAMESPACES.items())
        query = re.sub(
            r"\b(wdt|p|ps|pq):(\w+)", lambda m: f"{m[1]}:{numbers.code(m[2])}", self.spec["gold"]
        )
        query = re.sub(
            r"\bclass:(\w+)", lambda m: f"wd:{numbers.code(self.world.of_key(m[1]))}", query
        )
        things = {
            name: f"wd:{numbers.code(one)}" if isinstance(one, Thing) else one
            for name, one in self.picked.items()
        }
        return prefixes + Template(query).substitute(things)


def questions(world: World) -> Iterator[dict[str, object]]:
    """The questions as lines of JSON that `askgraph evaluate` reads."""
    numbers = Numbers(world)
    for one in asked(world):
        yield {
            "id": f"wikidata-{one.at:02}",
            "question": one.text,
            "lang": one.spec["lang"],
            "sparql": one.query(numbers),
            "tags": ["homonym" if "homonym" in one.spec else "fact"],
        }


def asked(world: World) -> Iterator[Asked]:
    """The questions, each about the first things drawn for it whose names fit."""
    drawn = [list(_drawn(world, at, spec)) for at, spec in enumerate(QUESTIONS, 1)]
    shared = _shared(world, (name for some in drawn for one in some for name in one.names.values()))
    taken: set[Thing] = set()
    for tries in drawn:
        fitting = [one for one in tries if _fits(one, shared)]
        fresh = (one for one in fitting if taken.isdisjoint(one.mentioned.values()))
        chosen = next(fresh, next(iter(fitting), None))
        if chosen is not None:
            taken.update(chosen.mentioned.values())
            yield chosen


def _drawn(world: World, at: int, spec: Mapping[str, Any]) -> Iterator[Asked]:
    """Things that the question could be about."""
    chance = random.Random(f"{world.seed} question {at}")
    start = _START.fullmatch(spec["walk"][0]) if "homonym" in spec else None
    tries = min(_SHARED, world.counts[start[2]]) if start else _TRIES
    for number in range(tries):
        given = {start[1]: Thing(start[2], number)} if start else {}
        picked = _walked(world, spec["walk"][len(given) :], chance, given)
        if picked is not None:
            found = Asked(at, picked, spec, world)
            if all(found.names.values()):
                yield found


def _walked(
    world: World, walk: Sequence[str], chance: random.Random, given: Mapping[str, Thing]
) -> Mapping[str, Thing | int] | None:
    """What a walk comes by, beside what is given; None if it comes to an end too early."""
    picked: dict[str, Thing | int] = dict(given)
    for step in walk:
        start = _START.fullmatch(step)
        if start:
            name, kind, cls = start.groups()
            picked[name] = found = world.picked(kind, chance)
            if cls and world.of_key(cls) not in world.values(found, "instance"):
                return None
        elif not _stepped(world, step, picked, chance):
            return None
    return picked


def _stepped(
    world: World, step: str, picked: dict[str, Thing | int], chance: random.Random
) -> bool:
    """Whether a step along a claim can be taken; what it leads to is picked."""
    match = _STEP.fullmatch(step)
    if match is None:
        raise ValueError(f"not a step: {step!r}")
    name, prop, dated, sign, told = match.groups()
    thing = picked[name]
    assert isinstance(thing, Thing)
    claims = world.drawn(thing, prop)
    if dated:
        years = [year for claim in claims if (year := _year_of(claim))]
        picked["year"] = chance.choice(years) if years else 0
        return bool(years)
    values = [claim.value for claim in best(claims)]
    if sign == ":":
        return world.of_key(told) in values
    if sign == ">":
        return any(isinstance(value, Day) and value.year > int(told) for value in values)
    if sign == "=":
        things = [value for value in values if isinstance(value, Thing)]
        if things:
            picked[told] = chance.choice(things)
        return bool(things)
    return bool(values)


def _year_of(claim: Claim) -> int:
    """A year in which a claim held and no other one did; 0 if there is none."""
    at, start, end = (claim.qualifier(name) for name in ("at", "start", "end"))
    if isinstance(at, Day):
        return at.year
    return start.year + 1 if isinstance(start, Day) and isinstance(end, Day) else 0


def _shared(world: World, names: Iterator[str]) -> Mapping[str, list[Thing]]:
    """All things that have one of these names, in any language."""
    found: dict[str, list[Thing]] = {name.casefold(): [] for name in names}
    for thing in world.things():
        own = {
            name.casefold()
            for language in LANGUAGES
            for name in (world.label(thing, language), *world.aliases(thing, language))
        }
        for name in own & found.keys():
            found[name].append(thing)
    return found


def _fits(one: Asked, shared: Mapping[str, list[Thing]]) -> bool:
    """Whether the names of a question are its things' own, or shared as it wants them."""
    others = {
        name: [thing for thing in shared[label.casefold()] if thing != one.mentioned[name]]
        for name, label in one.names.items()
    }
    homonym = one.spec.get("homonym")
    if homonym is None:
        return not any(others.values())
    rivals, x = others.pop("x"), one.mentioned["x"]
    alike = [rival for rival in rivals if rival.kind == x.kind]
    if any(others.values()) or not rivals:
        return False
    if homonym == "kind":
        return not alike
    if homonym == "use":
        links = max((one.world.sitelinks(rival) for rival in alike), default=0)
        return bool(alike) and one.world.sitelinks(x) > 2 * links
    own = set(one.world.values(x, homonym))
    return bool(alike) and all(own.isdisjoint(one.world.values(r, homonym)) for r in alike)


OUT = Path(__file__).parents[1] / "build" / "benchmarks" / "wikidata.nt"
OWL, SCHEMA = "http://www.w3.org/2002/07/owl#", "http://schema.org/"
SKOS = "http://www.w3.org/2004/02/skos/core#"
WIKIBASE = "http://wikiba.se/ontology#"
TYPE, LABEL = f"<{RDF}type>", f"<{RDFS}label>"
TRIPLES_PER_THING = 81.6  # measured
ALWAYS = 3000  # triples of properties, classes and listed things
REDIRECTED = 0.02  # share of things that had another code before
MOST_PAGES = len(LANGUAGES)

_DATATYPES = {
    "item": "WikibaseItem",
    "time": "Time",
    "quantity": "Quantity",
    "string": "String",
}
_PREDICATES = {
    "directClaim": "wdt",
    "claim": "p",
    "statementProperty": "ps",
    "statementValue": "psv",
    "qualifier": "pq",
}


class Writer:
    """The triples of a world, thing by thing."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.numbers = Numbers(world)

    def triples(self) -> Triples:
        """All triples, in a fixed order."""
        for name in SPEC["properties"]:
            yield from self.property(name)
        for thing in self.world.things():
            yield from self.thing(thing)

    def property(self, name: str) -> Triples:
        """A property with its names and the predicates that it stands behind."""
        me, spec = self.numbers.iri("wd", name), SPEC["properties"][name]
        yield me, TYPE, f"<{WIKIBASE}Property>"
        yield me, f"<{WIKIBASE}propertyType>", f"<{WIKIBASE}{_DATATYPES[spec['type']]}>"
        for predicate, prefix in _PREDICATES.items():
            yield me, f"<{WIKIBASE}{predicate}>", self.numbers.iri(prefix, name)
        for language, label, also in zip(LANGUAGES, spec["label"], spec["also"], strict=True):
            yield me, LABEL, text(label, language)
            for alias in also:
                yield me, f"<{SKOS}altLabel>", text(alias, language)

    def thing(self, thing: Thing) -> Triples:
        """A thing with its names, pages, statements, and the code that it had before."""
        world, me = self.world, self.numbers.iri("wd", thing)
        yield from self.names(thing, me)
        links = world.sitelinks(thing)
        claims = list(world.claims(thing))
        yield me, f"<{WIKIBASE}sitelinks>", typed(links, "integer")
        yield me, f"<{WIKIBASE}statements>", typed(len(claims), "integer")
        for language in LANGUAGES[:links]:
            yield from self.page(thing, me, language)
        yield from self.claims(thing, me, claims)
        if world.chance(thing, "redirect").random() < REDIRECTED:
            yield self.numbers.former(thing), f"<{OWL}sameAs>", me

    def names(self, thing: Thing, me: str) -> Triples:
        """Labels, aliases and descriptions."""
        for language in LANGUAGES:
            label = self.world.label(thing, language)
            description = self.world.description(thing, language)
            if label:
                yield me, LABEL, text(label, language)
            for alias in self.world.aliases(thing, language):
                yield me, f"<{SKOS}altLabel>", text(alias, language)
            if description:
                yield me, f"<{SCHEMA}description>", text(description, language)

    def page(self, thing: Thing, me: str, language: str) -> Triples:
        """A page about a thing."""
        title = self.world.label(thing, language) or self.world.label(thing, "en")
        site = f"http://{language}.pages.example.org/"
        page = f"<{site}wiki/{quote(title.replace(' ', '_'))}_({self.numbers.code(thing)})>"
        yield page, TYPE, f"<{SCHEMA}Article>"
        yield page, f"<{SCHEMA}about>", me
        yield page, f"<{SCHEMA}inLanguage>", f'"{language}"'
        yield page, f"<{SCHEMA}isPartOf>", f"<{site}>"
        yield page, f"<{SCHEMA}name>", text(title, language)

    def claims(self, thing: Thing, me: str, claims: list[Claim]) -> Triples:
        """Each claim as a statement; the best ones of a property directly too."""
        by_property: dict[str, list[Claim]] = {}
        for claim in claims:
            by_property.setdefault(claim.property, []).append(claim)
        for name, group in by_property.items():
            chosen = best(group)
            for number, claim in enumerate(group):
                chance = self.world.chance(thing, f"statement {name} {number}")
                key = f"{self.numbers.code(thing)}-{chance.getrandbits(96):024x}"
                if claim in chosen:
                    yield me, self.numbers.iri("wdt", name), self.value(claim.value)
                    yield f"<{BASE}entity/statement/{key}>", TYPE, f"<{WIKIBASE}BestRank>"
                yield from self.statement(me, key, claim)

    def statement(self, me: str, key: str, claim: Claim) -> Triples:
        """The node of a statement: its value, rank and qualifiers."""
        node = f"<{BASE}entity/statement/{key}>"
        yield me, self.numbers.iri("p", claim.property), node
        yield node, self.numbers.iri("ps", claim.property), self.value(claim.value)
        yield node, f"<{WIKIBASE}rank>", f"<{WIKIBASE}{claim.rank}Rank>"
        if isinstance(claim.value, Amount | Day):
            full = f"<{BASE}value/{key}>"
            yield node, self.numbers.iri("psv", claim.property), full
            yield from self.full_value(full, claim.value)
        for name, value in (claim.qualifiers or {}).items():
            yield node, self.numbers.iri("pq", name), self.value(value)

    def full_value(self, node: str, value: Amount | Day) -> Triples:
        """The node of a value that has more to it: a unit, a precision."""
        if isinstance(value, Day):
            yield node, TYPE, f"<{WIKIBASE}TimeValue>"
            yield node, f"<{WIKIBASE}timeValue>", self.value(value)
            yield node, f"<{WIKIBASE}timePrecision>", typed(11, "integer")
        else:
            unit = value.unit and self.numbers.iri("wd", value.unit)
            yield node, TYPE, f"<{WIKIBASE}QuantityValue>"
            yield node, f"<{WIKIBASE}quantityAmount>", self.value(value)
            yield node, f"<{WIKIBASE}quantityUnit>", unit or f"<{WIKIBASE}noUnit>"

    def value(self, value: Value) -> str:
        """A value as N-Triples writes it."""
        match value:
            case Thing():
                return self.numbers.iri("wd", value)
            case Amount(number):
                return typed(number, "decimal")
            case Day(date):
                return typed(f"{date}T00:00:00Z", "dateTime")
            case _:
                return f'"{value}"'


def world_of(wanted: int, seed: int = 1) -> World:
    """The world that has about this many triples."""
    return World(max(300, round((wanted - ALWAYS) / TRIPLES_PER_THING)), seed)


def triples(world: World) -> Triples:
    """All triples of a world, in a fixed order."""
    return Writer(world).triples()


def lines(world: World) -> Iterator[str]:
    """The questions as lines of JSON."""
    return (json.dumps(one, ensure_ascii=False) + "\n" for one in questions(world))


def main() -> None:
    """Read the command line and write the files."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("triples", type=int, nargs="?", default=1_000_000, help="about how many")
    parser.add_argument("out", type=Path, nargs="?", default=OUT, help="graph.nt or graph.nt.gz")
    parser.add_argument("--seed", type=int, default=1, help="another one gives another world")
    parser.add_argument("--questions", type=Path, help="write questions with gold queries here")
    chosen = parser.parse_args()
    chosen.out.parent.mkdir(parents=True, exist_ok=True)
    world = world_of(chosen.triples, chosen.seed)
    count = written(triples(world), chosen.out)
    if chosen.questions:
        chosen.questions.write_text("".join(lines(world)), encoding="utf-8")
    print(f"{count:,} triples in {chosen.out}")


if __name__ == "__main__":
    main()
