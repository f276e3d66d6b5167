"""A schema by name: classes with their properties, of a small graph all, the same for any question.

    ont:CelestialBody 95: ont:mass, ont:orbits → ont:CelestialBody; kinds: ont:Moon 55, ont:Planet 8

A property stands at the narrowest class that has all of it, one of numbers or dates behind the
others; a class without one of its own stands
behind what it is a kind of.
"""

import asyncio
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from askgraph.graph.names import tells_more
from askgraph.graph.profile import ClassProfile, PredicateProfile
from askgraph.graph.shapes import ends_of
from askgraph.llm.budget import estimated_tokens
from askgraph.methods.tools import Context
from askgraph.methods.tools._facts import Variants
from askgraph.methods.tools.hits import USUAL
from askgraph.methods.tools.rendering import Shown, Writer
from askgraph.sparql.prefixes import namespace_of
from askgraph.sparql.vocabulary import DATE_DATATYPES, NUMERIC_DATATYPES, SCHEMA_SPACES

HEADING = "Schema: each class with its number of instances: its properties, → class of the object"
_TERMS = 200  # classes and properties of a graph that is told whole, at most
_HOLDERS = 3  # classes of a predicate that is told alone
_ALSO = 3  # other predicates shown that are the same property


async def whole_schema(context: Context, *, most: int) -> Shown | None:
    """Return all classes with their properties, if so many tokens hold them."""
    profile = context.graph.profile
    if not profile.predicates or len(profile.classes) + len(profile.predicates) > _TERMS:
        return None
    terms = [*(c.iri for c in profile.classes), *(p.iri for p in profile.predicates)]
    writer = await Writer.knowing(context, terms)
    names = SchemaNames(writer, profile.classes, profile.predicates)
    text = "\n".join(await asyncio.to_thread(lambda: list(names.lines())))
    return Shown(text, tuple(writer.seen)) if estimated_tokens(text) <= most else None


def named(
    writer: Writer, predicates: Sequence[PredicateProfile], classes: Sequence[ClassProfile] = ()
) -> Iterator[str]:
    """Return the lines of some predicates with the classes that have them, and of more classes."""
    ends = {iri for p in predicates for iri, _ in p.subject_classes[:_HOLDERS]}
    ends |= {one.iri for one in classes}
    every = [one for one in writer.context.graph.profile.classes if one.iri in ends]
    return SchemaNames(writer, every, predicates).lines()


def naming(context: Context) -> str:
    """Return in words which predicates hold the names of things, and which texts have languages.

    Those by which the instances of some class are called come first, then other usual ones.
    """
    profile = context.graph.profile
    predicates, calling = profile.predicates, {c.name_predicate for c in profile.classes}
    naming = sorted((p for p in predicates if p.naming), key=lambda p: p.iri not in calling)
    named = [p for p in naming if p.iri in calling or p.iri in USUAL] or naming
    told = [f"{context.graph.prefixes.shorten(p.iri)}{_tags(p.languages)}" for p in named[:4]]
    others = dict(pair for p in predicates if not p.naming for pair in p.languages)
    names = f"; names by {', '.join(told)}" if told else ""
    return f"{names}{f'; other texts{_tags([*others.items()])}' if others else ''}"


def _tags(languages: Sequence[tuple[str, int]]) -> str:
    return "".join(f" @{name}" for name, _ in languages[:5])


def also(writer: Writer, iri: str, variants: Sequence[str]) -> str:
    """Return the variants of a property by what stands before the name that they share."""
    name = iri.removeprefix(namespace_of(iri))
    shorts = map(writer.short, variants[:_ALSO])
    before = [short.removesuffix(name) if ":" in short else short for short in shorts]
    return f" (also {', '.join(before)})" if before else ""


@dataclass(frozen=True, eq=False)
class SchemaNames:
    """Writes classes and predicates of a graph by name."""

    writer: Writer
    classes: Sequence[ClassProfile]
    predicates: Sequence[PredicateProfile]

    def lines(self) -> Iterator[str]:
        """A line for each class with properties, the largest first; then of things of no class."""
        own = self._properties
        for c in self._known.values():
            if c.iri in own or self._parents[c.iri] is None:
                told = self._listed(own.get(c.iri, ()))
                kinds = self._kinds(c)
                yield f"{self._class(c)}{told and f': {told}'}{kinds and f'; kinds: {kinds}'}"
        if "" in own:
            yield f"things of no class: {self._listed(own[''])}"

    @cached_property
    def _known(self) -> Mapping[str, ClassProfile]:
        known = [c for c in self.classes if c.instances and not c.iri.startswith(SCHEMA_SPACES)]
        return {c.iri: c for c in sorted(known, key=lambda c: (-c.instances, c.iri))}

    @cached_property
    def _properties(self) -> Mapping[str, Sequence[PredicateProfile]]:
        """By class, the predicates that stand there, the most direct one of each property."""
        found: dict[str, list[PredicateProfile]] = defaultdict(list)
        for p in sorted(self.predicates, key=lambda p: (-p.triples, p.iri)):
            for iri in self._holders(p) if p.iri in self._variants else ():
                found[iri].append(p)
        return found

    @cached_property
    def _variants(self) -> Mapping[str, Sequence[str]]:
        """By the predicates that are told, the others that are the same property."""
        told = (p.iri for p in self.predicates if p.iri not in USUAL)
        own = (iri for iri in told if not iri.startswith(SCHEMA_SPACES))
        grouped = Variants(self.writer.context.graph.profile).grouped(own)
        return {first: rest for first, *rest in grouped}

    def _holders(self, p: PredicateProfile) -> list[str]:
        """The classes that a predicate leads from, none below one that has more of it; or ""."""
        counted = {iri: n for iri, n in p.subject_classes if iri in self._known}
        above = {iri: self._above[iri] & counted.keys() for iri in counted}
        wide = {a for iri, listed in above.items() for a in listed if counted[iri] >= counted[a]}
        return [iri for iri in counted if iri not in wide and above[iri] <= wide] or [""]

    @cached_property
    def _above(self) -> Mapping[str, set[str]]:
        """By class, all that it is a kind of, at any distance."""
        return {iri: self._climbed(iri) for iri in self._known}

    def _climbed(self, iri: str) -> set[str]:
        found: set[str] = set()
        rest = [iri]
        while rest:
            parents = set(self._known[rest.pop()].parents) & self._known.keys()
            rest += parents - found
            found |= parents
        return found - {iri}

    @cached_property
    def _parents(self) -> Mapping[str, str | None]:
        """By class, what it is a kind of; of two that are kinds of each other neither is."""
        found: dict[str, str | None] = {}
        for c in self._known.values():
            parents = (iri for iri in c.parents if iri in self._known and iri != c.iri)
            found[c.iri] = next((iri for iri in parents if c.iri not in self._above[iri]), None)
        return found

    @cached_property
    def _below(self) -> Mapping[str | None, Sequence[ClassProfile]]:
        """By class, its kinds."""
        found: dict[str | None, list[ClassProfile]] = defaultdict(list)
        for c in self._known.values():
            found[self._parents[c.iri]].append(c)
        return found

    def _kinds(self, c: ClassProfile) -> str:
        below = self._below.get(c.iri, ())
        bare = [one for one in below if one.iri not in self._properties]
        inner = ((self._class(one), self._kinds(one)) for one in bare)
        return ", ".join(f"{name} ({kinds})" if kinds else name for name, kinds in inner)

    def _class(self, c: ClassProfile) -> str:
        above = self._parents[c.iri] if c.iri in self._properties else None
        parent = f" (a {self.writer.short(above)})" if above else ""
        nameless = c.nary or (c.name_predicate is None and c.instances > 1)
        note = " (without label)" if nameless else ""
        count = f" {c.instances:,}" if self.writer.context.shows_counts else ""
        return f"{self.writer.iri(c.iri)}{count}{parent}{note}"

    def _listed(self, predicates: Sequence[PredicateProfile]) -> str:
        """Properties, those behind the others that hold numbers or dates."""
        listed: dict[str, list[str]] = {"": [], "numbers ": [], "dates ": []}
        for p in predicates:
            main = p.datatypes[0][0] if p.literal else ""
            numbers, dates = main in NUMERIC_DATATYPES, main in DATE_DATATYPES
            listed["numbers " if numbers else "dates " if dates else ""].append(self._property(p))
        return "; ".join(f"{kind}{', '.join(names)}" for kind, names in listed.items() if names)

    def _property(self, p: PredicateProfile) -> str:
        """A property, with its label if that tells more, and what it leads to unless to values."""
        ends = ends_of(p, self.writer.context.graph.profile, inverse=False)
        things = [iri for iri in ends if p.object_classes and not iri.startswith(SCHEMA_SPACES)]
        label = self.writer.labels.get(p.iri, "")
        telling = tells_more(label, (p.iri, *things, *(iri for iri, _ in p.subject_classes)))
        name = self.writer.iri(p.iri) if telling else self.writer.short(p.iri)
        name += also(self.writer, p.iri, self._variants[p.iri]) + ("+" if p.transitive else "")
        target = "|".join(map(self.writer.short, things)) or "things"
        return name if p.literal else f"{name} → {target}"
