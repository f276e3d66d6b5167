"""A made-up world with Wikidata's kinds of facts: things, their names, and claims with ranks.

Nothing is kept: whatever is asked of a thing is drawn from its kind and number, each time alike.
The kinds, their names and claims stand in `_wikidata_world.toml`.
"""

import random
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from generate_graph import SYLLABLES

LANGUAGES = ("en", "de", "es")
SPEC: Mapping[str, Any] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
)
NOW = 2024  # no claim is about a later year

_COMMON, _FIRST_NAMES, _FAMILIES = 400, 160, 2500  # so many words serve many names
_UNTRANSLATED = {"en": 0.0, "de": 0.08, "es": 0.15}  # shares of things without a label
_DEPRECATED = 0.03  # share of claims beside which one stands that is wrong


class Thing(NamedTuple):
    """A thing by its kind and its number there: the lower, the more is linked with it."""

    kind: str
    number: int


class Amount(NamedTuple):
    """A number, as it is written, and its unit."""

    number: str
    unit: Thing | None


class Day(NamedTuple):
    """A day of the calendar, as 2001-12-31."""

    date: str

    @property
    def year(self) -> int:
        """The year it lies in."""
        return int(self.date[:4])


Value = Thing | Amount | Day | str
RANKS = ("Deprecated", "Normal", "Preferred")


@dataclass(frozen=True)
class Claim:
    """A property of a thing with its value, the rank and the qualifiers by property."""

    property: str
    value: Value
    rank: str = "Normal"
    qualifiers: Mapping[str, Value] | None = None

    def qualifier(self, name: str) -> Value | None:
        """The value of a qualifier."""
        return (self.qualifiers or {}).get(name)


def best(claims: Sequence[Claim]) -> list[Claim]:
    """Those of a property's claims that count: the preferred ones, else the normal ones."""
    highest = max((RANKS.index(claim.rank) for claim in claims), default=0)
    return [claim for claim in claims if highest and claim.rank == RANKS[highest]]


class World:
    """A world of about so many things, another one for each seed."""

    def __init__(self, things: int, seed: int = 1) -> None:
        self.seed = seed
        self.counts = {"class": len(SPEC["classes"])}
        self.counts |= {kind: len(listed["things"]) for kind, listed in SPEC["listed"].items()}
        self.counts |= {
            kind: max(kind_spec["least"], round(things * kind_spec["share"]))
            for kind, kind_spec in SPEC["kinds"].items()
        }
        self.drawn = lru_cache(maxsize=20_000)(self._drawn)
        self.label = lru_cache(maxsize=20_000)(self._label)

    @cached_property
    def fixed(self) -> Mapping[str, tuple[Thing, Sequence[str]]]:
        """The classes and the listed things by their keys, with their labels."""
        found = {
            key: (Thing("class", number), spec["label"])
            for number, (key, spec) in enumerate(SPEC["classes"].items())
        }
        for kind, listed in SPEC["listed"].items():
            for number, (key, labels) in enumerate(listed["things"].items()):
                found[key] = Thing(kind, number), labels
        return found

    @cached_property
    def _keys(self) -> Mapping[Thing, str]:
        return {thing: key for key, (thing, _) in self.fixed.items()}

    def of_key(self, key: str) -> Thing:
        """A class or a listed thing."""
        return self.fixed[key][0]

    def things(self) -> Iterator[Thing]:
        """All things, in a fixed order."""
        for kind, count in self.counts.items():
            for number in range(count):
                yield Thing(kind, number)

    def chance(self, thing: Thing, about: str) -> random.Random:
        """The source of all that is drawn for a thing in one respect."""
        return random.Random(f"{self.seed} {thing.kind} {thing.number} {about}")

    def picked(self, kind: str, chance: random.Random) -> Thing:
        """A thing of a kind; those with low numbers come by far the most often."""
        return Thing(kind, int(self.counts[kind] * chance.random() ** 2.5))

    # Claims

    def claims(self, thing: Thing) -> Iterator[Claim]:
        """All claims about a thing."""
        yield from self.drawn(thing, "instance")
        if thing.kind == "class":
            yield from self.drawn(thing, "subclass")
        for name in SPEC["kinds"].get(thing.kind, {}).get("claims", ()):
            yield from self.drawn(thing, name)

    def values(self, thing: Thing, name: str) -> list[Value]:
        """The values that count of a property of a thing."""
        return [claim.value for claim in best(self.drawn(thing, name))]

    def _drawn(self, thing: Thing, name: str) -> tuple[Claim, ...]:
        """The claims about a thing with one property."""
        chance = self.chance(thing, name)
        if name in ("instance", "subclass"):
            return tuple(self._classes(thing, name, chance))
        spec = SPEC["kinds"].get(thing.kind, {}).get("claims", {}).get(name)
        if spec is None or chance.random() >= spec.get("chance", 1):
            return ()
        if "same" in spec:
            ends: list[Value] = [thing]
            for step in spec["same"]:
                ends = [v for end in ends if isinstance(end, Thing) for v in self.values(end, step)]
            return tuple(Claim(name, end) for end in dict.fromkeys(ends))
        found = list(self._dated(thing, name, spec, chance))
        if found and chance.random() < _DEPRECATED:
            wrong = self._value(thing, spec, chance)
            if wrong is not None and wrong not in [claim.value for claim in found]:
                found.append(Claim(name, wrong, "Deprecated"))
        return tuple(found)

    def _classes(self, thing: Thing, name: str, chance: random.Random) -> Iterator[Claim]:
        if thing.kind == "class":
            above = SPEC["classes"][self._keys[thing]].get("above")
            if name == "subclass" and above:
                yield Claim(name, self.of_key(above))
        elif name == "instance":
            spec = SPEC["listed"].get(thing.kind) or SPEC["kinds"][thing.kind]
            rather = spec.get("rather", ())
            key = chance.choice(rather) if rather and chance.random() < 0.15 else spec["class"]
            yield Claim(name, self.of_key(key))

    def _dated(
        self, thing: Thing, name: str, spec: Mapping[str, Any], chance: random.Random
    ) -> Iterator[Claim]:
        """The claims with the times that they held at; the current one is preferred."""
        history, many = spec.get("history"), spec.get("many", 1)
        wanted = chance.randint(2, many) if history == "counted" else chance.randint(1, many)
        values = self._several(thing, spec, chance, wanted)
        if history is None:
            for value in values:
                yield Claim(name, value, qualifiers=self._told(spec, chance))
            return
        found = list(self._in_time(thing, name, spec, chance, values))
        for claim in found:
            current = claim is found[-1] and history != "dated" and claim.qualifier("end") is None
            yield replace(claim, rank="Preferred") if current and len(found) > 1 else claim

    def _several(
        self, thing: Thing, spec: Mapping[str, Any], chance: random.Random, wanted: int
    ) -> list[Value]:
        drawn = (self._value(thing, spec, chance) for _ in range(wanted))
        return list(dict.fromkeys(value for value in drawn if value is not None))

    def _in_time(
        self,
        thing: Thing,
        name: str,
        spec: Mapping[str, Any],
        chance: random.Random,
        values: Sequence[Value],
    ) -> Iterator[Claim]:
        year = self._first_year(thing, spec, chance)
        for value in values:
            last = year + chance.randint(3, 12)
            if year > NOW:
                return
            told: dict[str, Value] = dict(self._told(spec, chance))
            if spec["history"] == "held":
                told["start"] = _day(chance, year)
                if last < NOW and (value is not values[-1] or chance.random() < 0.4):
                    told["end"] = _day(chance, last)
            else:
                told["at"] = _day(chance, year)
            yield Claim(name, value, qualifiers=told)
            if spec["history"] == "held" and "end" not in told:
                return
            year = last + 1

    def _first_year(self, thing: Thing, spec: Mapping[str, Any], chance: random.Random) -> int:
        if "after" in spec:
            return self._year_after(thing, spec["after"], chance)
        return chance.randint(*spec.get("since", (1960, 2005)))

    def _year_after(self, thing: Thing, after: Sequence[Any], chance: random.Random) -> int:
        """A year so long after the year of a claim of the thing."""
        first = next(v for v in self.values(thing, after[0]) if isinstance(v, Day))
        return first.year + chance.randint(*after[1])

    def _told(self, spec: Mapping[str, Any], chance: random.Random) -> Mapping[str, Value]:
        """The qualifiers beside times: a thing of some kinds, or else a word."""
        return {
            name: self.picked(chance.choice(kinds), chance) if kinds else word(chance)
            for name, kinds in spec.get("with", {}).items()
        }

    def _value(self, thing: Thing, spec: Mapping[str, Any], chance: random.Random) -> Value | None:
        """A value of the sort that a claim has; None if there is none."""
        if "of" in spec:
            found = self.picked(chance.choice(spec["of"]), chance)
            return None if found == thing else found
        if "number" in spec:
            return self._amount(spec, chance)
        if "text" in spec:
            return f"{word(chance).upper()} {chance.randint(100, 9999)}"
        if "date" in spec:
            return _day(chance, chance.randint(*spec["date"]))
        year = self._year_after(thing, spec["after"], chance)
        return _day(chance, year) if year <= NOW else None

    def _amount(self, spec: Mapping[str, Any], chance: random.Random) -> Amount:
        low, high = spec["number"]
        number = low * (high / low) ** chance.random()
        unit = self.of_key(spec["unit"]) if "unit" in spec else None
        return Amount(f"{number:.{spec.get('digits', 0)}f}", unit)

    # Names

    def _label(self, thing: Thing, language: str) -> str:
        """The label of a thing in a language; "" if it has none there."""
        at = LANGUAGES.index(language)
        if thing in self._keys:
            return self.fixed[self._keys[thing]][1][at]
        chance = self.chance(thing, "label")
        if self.chance(thing, language).random() < _UNTRANSLATED[language]:
            return ""
        return self._worded(chance.choice(SPEC["kinds"][thing.kind]["names"])[at], thing, language)

    def aliases(self, thing: Thing, language: str) -> list[str]:
        """The other names of a thing in a language."""
        if thing in self._keys or self.chance(thing, f"also {language}").random() < 0.6:
            return []
        patterns = SPEC["kinds"][thing.kind]["also"]
        names = [self._worded(one[LANGUAGES.index(language)], thing, language) for one in patterns]
        return [name for name in names if name != self.label(thing, language)]

    def description(self, thing: Thing, language: str) -> str:
        """What a thing is, in a few words; "" if a word for it is missing."""
        at = LANGUAGES.index(language)
        if thing in self._keys:
            told = self.values(thing, "instance") or self.values(thing, "subclass")
            return self.label(told[0], language) if told and isinstance(told[0], Thing) else ""
        return self._worded(SPEC["kinds"][thing.kind]["about"][at], thing, language)

    def _worded(self, pattern: str, thing: Thing, language: str) -> str:
        """A pattern with the words of a thing in its places; "" if one of them is missing."""
        chance = self.chance(thing, "words")
        first = _at(chance, _FIRST_NAMES, "first")
        words = {
            "word": _at(chance, _COMMON, "word") if chance.random() < 0.5 else word(chance),
            "family": _at(chance, _FAMILIES, "family"),
            "first": first,
            "initial": first[0],
            "noun": chance.choice(SPEC["nouns"]["words"])[LANGUAGES.index(language)],
        }
        for name in SPEC["kinds"][thing.kind]["claims"]:
            if f"{{{name}}}" in pattern:
                found = self.values(thing, name)
                words[name] = (
                    self.label(found[0], language) if found and isinstance(found[0], Thing) else ""
                )
                if not words[name]:
                    return ""
        return pattern.format(**words)

    def sitelinks(self, thing: Thing) -> int:
        """How many pages are about a thing: few things have many."""
        if thing in self._keys:
            return 20
        share = (thing.number + 1) / self.counts[thing.kind]
        return min(300, int(1.5 * share**-0.9 * self.chance(thing, "pages").lognormvariate(0, 0.5)))


def word(chance: random.Random) -> str:
    """A made-up word."""
    return "".join(chance.choice(SYLLABLES) for _ in range(chance.choice((3, 3, 4)))).title()


def _at(chance: random.Random, pool: int, name: str) -> str:
    """One of so many words that are drawn again and again, the first ones most often."""
    return word(random.Random(f"{name} {int(pool * chance.random() ** 1.5)}"))


def _day(chance: random.Random, year: int) -> Day:
    return Day(f"{year}-{chance.randint(1, 12):02}-{chance.randint(1, 28):02}")
