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
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from _wikidata_questions import BASE, Numbers, questions
from _wikidata_world import LANGUAGES, SPEC, Amount, Claim, Day, Thing, Value, World, best
from generate_graph import RDF, RDFS, Triples, text, typed, written

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
