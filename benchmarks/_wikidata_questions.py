"""Questions about the world of `_wikidata_world`, with gold queries.

Their texts and queries stand in `_wikidata_questions.toml`.
A question is about things whose names nothing else has, unless it is about a shared name.
"""

import random
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from string import Template
from typing import Any

from _wikidata_world import LANGUAGES, SPEC, Claim, Day, Thing, World, best

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
