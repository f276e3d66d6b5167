"""The schema near a question: a slice of it, and its lines for a model.

Lines are of classes, of predicates with their ends, of times and units. These are told only if the
question calls for them: a graph without dates, or a question without a time, has none.

The schema of a small graph is written whole, the same for any question: its classes by name, each
with the properties that stand at no narrower class, those of numbers or dates last.

    ont:CelestialBody 95: ont:mass, ont:orbits → ont:CelestialBody; kinds: ont:Moon 55, ont:Planet 8
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from weakref import WeakKeyDictionary

import numpy as np
from pyoxigraph import Variable

from askgraph.graph import KnowledgeGraph
from askgraph.graph.arrays import GraphArrays
from askgraph.graph.measures import Unit, times_of, unit_at, unit_said
from askgraph.graph.names import tells_more
from askgraph.graph.profile import ClassProfile, PredicateProfile
from askgraph.graph.shapes import ends_of
from askgraph.index.names import Kind
from askgraph.llm import estimated_tokens
from askgraph.methods.tools import Context
from askgraph.methods.tools.hits import USUAL, Variants, own_types
from askgraph.methods.tools.mentions import named_links
from askgraph.methods.tools.rendering import Shown, Writer
from askgraph.search.link import LinkedQuestion
from askgraph.search.pipeline import build_schema
from askgraph.search.query_pieces import plain
from askgraph.search.tokenize import TokenizedQuestion
from askgraph.search.tokenize.question_operators import detect_operators
from askgraph.sparql import vocabulary as v
from askgraph.sparql.prefixes import local_name, namespace_of
from askgraph.sparql.vocabulary import DATE_DATATYPES, NUMERIC_DATATYPES, SCHEMA_SPACES

_CLASSES = 20
_NEAR = 45  # predicates told with their ends
_LEAST = 15  # of them, where words lead to fewer
_TYPED = 12  # of them, with type and values
_FAR = 40  # further predicates, by name
_SMALL = 8  # instances of a class up to which all are told
_MEMBERS = 20  # of all small classes together
_NAMED = 0.9  # the score of a link by which words name a class or property well
_USUAL = (v.RDF_TYPE, *v.LABEL_PREDICATES)


@dataclass(frozen=True, eq=False)
class Slice:
    """Chooses classes and predicates of a graph for a linked question; `used` ones come first."""

    graph: KnowledgeGraph
    linked: LinkedQuestion
    used: Sequence[str] = ()

    @cached_property
    def near(self) -> Sequence[PredicateProfile]:
        """The predicates that words name, and those at what they name; at least the frequent.

        Of several that are one property the most direct: the others are its `variants`.
        """
        close = sum(nearness > 0 for nearness in self._nearness.values())
        return self._ordered[: max(_LEAST, min(close, _NEAR))]

    @property
    def far(self) -> Sequence[PredicateProfile]:
        """The next predicates."""
        return self._ordered[len(self.near) :][:_FAR]

    @cached_property
    def variants(self) -> dict[str, tuple[str, ...]]:
        """By the predicates that are told, the others that are the same property."""
        telling = (p.iri for p in self.graph.profile.predicates if _telling(p.iri))
        return {first: tuple(rest) for first, *rest in self._same.grouped(telling)}

    @cached_property
    def classes(self) -> Sequence[ClassProfile]:
        """The classes that words name, those of the near predicates, then the largest."""
        ends = {iri for p in self.near for iri in _ends(p)}
        known = [c for c in self.graph.profile.classes if not c.iri.startswith(SCHEMA_SPACES)]

        def order(c: ClassProfile) -> tuple[bool, bool, int]:
            return c.iri not in self._classes, c.iri not in ends, -c.instances

        return sorted(known, key=order)[:_CLASSES]

    @cached_property
    def members(self) -> dict[str, tuple[str, ...]]:
        """All instances of classes that have few, if words name these or what leads to them."""
        arrays = self.graph.arrays
        kind = arrays.number(v.RDF_TYPE) if arrays else None
        if arrays is None or kind is None:
            return {}
        asked = (p for p in self.near if self.matters(p.iri))
        leading = {iri for p in asked for iri in ends_of(p, self.graph.profile, inverse=False)}
        classes = self.linked.of(Kind.CLASS)
        leading |= {link.target for link in classes if link.score >= _NAMED}
        found: dict[str, tuple[str, ...]] = {}
        room = _MEMBERS
        for c in self.classes:
            at = arrays.terms.iri(c.iri)
            if c.iri not in leading or not 1 < c.instances <= min(_SMALL, room) or at is None:
                continue
            ids = arrays.step(np.array([at], dtype=np.int32), kind, inverse=True).tolist()
            found[c.iri] = tuple(arrays.terms.value(one) for one in ids if arrays.terms.is_iri(one))
            room -= len(ids)
        return found

    @cached_property
    def _same(self) -> Variants:
        return Variants(self.graph.profile)

    @cached_property
    def _ordered(self) -> list[PredicateProfile]:
        told = [self._same.known[iri] for iri in self.variants]
        return sorted(told, key=lambda p: (-self._nearness[p.iri], -p.triples))

    @cached_property
    def _nearness(self) -> dict[str, float]:
        """How near each predicate or the nearest of its variants is.

        All predicates of a node that only links others are as near as one of them.
        """
        predicates = self.graph.profile.predicates
        alone = {
            p.iri: self._words.get(p.iri, 0.0) * 1.5
            + (0.8 * (p.iri in self._around) + 0.5 * (not self._classes.isdisjoint(_ends(p))))
            + 2.0 * (p.iri in self.used)
            for p in predicates
        }
        linking = {c.iri: 0.0 for c in self.graph.profile.classes if c.nary}
        for p in predicates:
            for iri, _ in p.subject_classes:
                if iri in linking:
                    linking[iri] = max(linking[iri], alone[p.iri])
        own = {
            p.iri: max(
                [alone[p.iri], *(0.6 * linking.get(iri, 0.0) for iri, _ in p.subject_classes)]
            )
            for p in predicates
        }
        return {
            first: max(own[iri] for iri in (first, *rest)) for first, rest in self.variants.items()
        }

    def matters(self, predicate: str) -> bool:
        """Return whether words name a predicate, or a candidate query has it."""
        return predicate in self.used or predicate in self._words

    @cached_property
    def needed(self) -> Sequence[str]:
        """The classes that candidate queries go through, then those that words name well."""
        known = {one.iri: one for one in self.graph.profile.predicates}
        classes = {one.iri for one in self.graph.profile.classes}
        links = self.linked.links
        used = {at for one in links if one.target in self.used for at in one.positions}
        telling = (one for one in links if one.score >= _NAMED and not used >= set(one.positions))
        named = [one.target for one in telling]
        found: dict[str, None] = {}
        for iri in dict.fromkeys((*self.used, *named)):
            if iri in classes:
                found[iri] = None
            elif iri in known:
                ends = ends_of(known[iri], self.graph.profile, inverse=True)
                found |= dict.fromkeys(ends if len(ends) == 1 else ())
        return list(found)

    @cached_property
    def _words(self) -> dict[str, float]:
        """How well words name each predicate."""
        return {link.target: link.score for link in reversed(self.linked.of(Kind.PREDICATE))}

    @cached_property
    def _classes(self) -> set[str]:
        """The classes that words name, and those of the things that they name."""
        found = {link.target for link in self.linked.of(Kind.CLASS)[:5]}
        arrays = self.graph.arrays
        for link in named_links(self.linked) if arrays is not None else ():
            if link.kind is Kind.ENTITY and arrays is not None:
                types = own_types(arrays, f"<{link.target}>")
                found |= {one for one in types if not one.startswith(SCHEMA_SPACES)}
        return found

    @cached_property
    def _around(self) -> set[str]:
        """The predicates at what words name, in both directions, if the triples lie here."""
        arrays = self.graph.arrays
        if arrays is None:
            return set()
        ids = (
            arrays.terms.find(f"<{one.target}>" if one.kind is Kind.ENTITY else one.target)
            for one in named_links(self.linked)
        )
        nodes = np.array(sorted(at for at in ids if at is not None), dtype=np.int32)
        both = (arrays.predicates_of(nodes, inverse=inverse)[0] for inverse in (False, True))
        return {arrays.iri_of(number) for numbers in both for number in numbers.tolist()}


def _ends(p: PredicateProfile) -> Iterator[str]:
    yield from (iri for iri, _ in (*p.subject_classes, *p.object_classes))


def _telling(iri: str) -> bool:
    return iri not in _USUAL and not iri.startswith(SCHEMA_SPACES)


_FEW, _AGAIN = 6, 3  # values up to which all are shown, and how often each is used, at least
_KNOWN: WeakKeyDictionary[GraphArrays, dict[str, tuple[str, ...]]] = WeakKeyDictionary()
_TIMED = ("now", "past", "during", "ongoing", "before", "after")
_SPANS = 4
_UNITS = 6


def terms_of(part: Slice) -> list[str]:
    """Return all that the lines of a slice name by label."""
    predicates = (p.iri for p in (*part.near, *part.far))
    members = (iri for listed in part.members.values() for iri in listed)
    return [*predicates, *(c.iri for c in part.classes), *members]


@dataclass(frozen=True, eq=False)
class SchemaLines:
    """Writes the classes and predicates of a slice.

    Without `values` no example values are told, and under a veil neither these nor members of
    classes.
    """

    slice: Slice
    writer: Writer
    values: bool = True

    def lines(self, *, beside: bool = False) -> Iterator[str]:
        """All lines, by name first; `beside` the whole schema by name only what is near."""
        if not beside:
            yield from self.names()
        yield from self.members()
        literal = (p for p in self.slice.near if p.literal)
        if typed := self.typed(islice(literal, _TYPED)):
            yield typed
        yield from self.times()

    def members(self) -> Iterator[str]:
        """All instances of small classes, none under a veil."""
        members = self.slice.members if self.writer.context.veil is None else {}
        for cls, listed in members.items():
            yield f"all {self.writer.short(cls)}: {', '.join(map(self.writer.iri, listed))}"

    def names(self, most: int = _NEAR + _FAR) -> Iterator[str]:
        """Classes and predicates by name, of these so many."""
        told = [*self.slice.near, *self.slice.far][:most]
        if lines := [*named(self.writer, told, self.slice.classes)]:
            yield from (f"{HEADING}.", *lines)

    def times(self) -> Iterator[str]:
        """How the graph says when things hold and in which units, as far as the question asks."""
        graph, reading = self.slice.graph, self.slice.linked.reading
        return time_lines(reading, graph, self.slice.near, self.writer.short)

    def typed(self, chosen: Iterable[PredicateProfile]) -> str:
        """The types of values that predicates lead to, with usual ones; "" if none does."""
        told = [f"{self.writer.short(p.iri)} {self._values(p)}" for p in chosen if p.literal]
        return f"types and values near the question: {'; '.join(told)}" if told else ""

    def _values(self, p: PredicateProfile) -> str:
        prefixes, arrays = self.slice.graph.prefixes, self.slice.graph.arrays
        kinds = "|".join(prefixes.shorten(datatype) for datatype, _ in p.datatypes[:2])
        told_of = self.values and self.writer.context.veil is None
        values = usual_values(arrays, p) if told_of else ()
        joint = ": " if len(values) == p.objects else " e.g. "
        return f"{kinds}{joint if values else ''}{', '.join(map(self.writer.stored, values))}"


def usual_values(arrays: GraphArrays | None, p: PredicateProfile) -> tuple[str, ...]:
    """Return values of a property, the most frequent first, as N-Triples; kept for next time.

    All if they are few that come again and again; none if its objects are things, or the triples
    do not lie here.
    """
    number = arrays.number(p.iri) if arrays is not None and p.literal else None
    if arrays is None or number is None:
        return ()
    known = _KNOWN.setdefault(arrays, {})
    if p.iri not in known:
        _, objects = arrays.pairs(arrays.ends(number), number)
        values, counts = np.unique(objects, return_counts=True)
        order = np.argsort(-counts, kind="stable")
        listed = len(values) <= _FEW and counts.sum() >= _AGAIN * len(values)
        most = values[order[: _FEW if listed else 1]].tolist()
        known[p.iri] = tuple(map(arrays.terms.text, most))
    return known[p.iri]


def time_lines(
    reading: TokenizedQuestion,
    graph: KnowledgeGraph,
    near: Sequence[PredicateProfile],
    short: Callable[[str], str],
) -> Iterator[str]:
    """Return what a query needs for the times and units of a question, a line each.

    `near` are the predicates that are shown, `short` writes an IRI.
    """
    frame = detect_operators(reading)
    asks_age = any(one.measure is not None and one.measure.is_age for one in frame.operators)
    dated = any(quantity.days is not None for quantity in reading.quantities)
    if dated or asks_age or frame.of(*_TIMED):
        yield from _times(graph, [p.iri for p in near], short)
    if frame.of("lasting") or asks_age:
        from askgraph.sparql.elapsed import elapsed_text  # few questions ask for it

        expression = elapsed_text("years", Variable("from"), Variable("to"))
        yield f"whole years from a date to a later one: {expression}"
    yield from _units(reading, graph, near, short)


def _units(
    reading: TokenizedQuestion,
    graph: KnowledgeGraph,
    near: Sequence[PredicateProfile],
    short: Callable[[str], str],
) -> Iterator[str]:
    """The units of predicates in the dimensions asked for, and the numbers in these units."""
    words = [token.folded for token in reading.tokens]
    asked = {q.unit.dimension for q in reading.quantities if q.unit is not None}
    for phrase in reading.words.times["in_unit"]:
        for at in range(len(words) - len(phrase)):
            found = unit_at(words, at + len(phrase))
            if tuple(words[at : at + len(phrase)]) == phrase and found is not None:
                asked.add(found[0].dimension)
    said: list[tuple[PredicateProfile, Unit]] = []
    schema = (
        build_schema(graph.arrays, graph.profile) if asked and graph.arrays is not None else None
    )
    for p in near if asked else ():
        if schema is None:
            unit = unit_said([*(text for text, _ in p.names), local_name(p.iri)])
        else:
            number = schema.number(p.iri)
            unit = None if number is None else schema.unit(number)
        if unit is not None and unit.dimension in asked:
            said.append((p, unit))
    if said:
        listed = "; ".join(f"{short(p.iri)} in {_told(unit)}" for p, unit in said[:_UNITS])
        yield f"units: {listed}"
    for quantity in reading.quantities:
        fits = [u for _, u in said if quantity.unit and u.dimension == quantity.unit.dimension]
        if fits and quantity.unit is not None and quantity.value is not None:
            number_text = plain(quantity.unit.converted(quantity.value, fits[0]))
            asked_in = f"{plain(quantity.value)} {quantity.unit.name}"
            if (told := f"{number_text} {_told(fits[0])}") != asked_in:
                yield f"{asked_in} is {told}"


def _times(
    graph: KnowledgeGraph, near: Sequence[str], short: Callable[[str], str]
) -> Iterator[str]:
    times = times_of(graph.profile, graph.arrays)
    order = {iri: at for at, iri in enumerate(near)}
    spans = [one for one in times.spans if one.start in order or one.end in order]
    spans.sort(key=lambda one: min(order.get(one.start, len(order)), order.get(one.end, 0)))
    if spans:
        pairs = "; ".join(f"{short(one.start)} → {short(one.end)}" for one in spans[:_SPANS])
        yield f"start → end: {pairs}"
        yield (
            "what has no end still holds; at a day it holds if it started by then and "
            "FILTER NOT EXISTS { ?x END ?e . FILTER(?e < DAY) }"
        )
    if times.rank is not None:
        yield (
            f"of several statements those with the best {short(times.rank)} count: Preferred, "
            "else Normal; never Deprecated"
        )


def _told(unit: Unit) -> str:
    return f"{unit.scale:g} {unit.name}" if unit.scale != 1.0 else unit.name


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
