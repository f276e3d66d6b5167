"""The part of a schema near a question, as lines for a model.

The lines show classes, predicates with the classes at their ends, times and units. Times and units
appear only if the question needs them and the graph has them.
"""

import asyncio
import re
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
from askgraph.graph.measures import Unit, detect_unit, find_temporal_predicates, match_unit
from askgraph.graph.names import is_informative_label
from askgraph.graph.profile import ClassProfile, Partition, PredicateProfile, Profile
from askgraph.graph.shapes import detect_kinds, get_end_kinds, select_common
from askgraph.index.names import ItemKind
from askgraph.llm import estimate_tokens
from askgraph.methods.tools import Context
from askgraph.methods.tools.hits import USUAL_PREDICATES, PropertyVariants, look_up_types
from askgraph.methods.tools.mentions import select_links
from askgraph.methods.tools.rendering import RenderedText, TermWriter
from askgraph.search.link import LinkedQuestion
from askgraph.search.pipeline import build_schema
from askgraph.search.query_pieces import format_number
from askgraph.search.tokenize import TokenizedQuestion
from askgraph.search.tokenize.question_operators import detect_operators
from askgraph.sparql import vocabulary as v
from askgraph.sparql.prefixes import get_local_name, get_namespace
from askgraph.sparql.vocabulary import DATE_DATATYPES, NUMERIC_DATATYPES, SCHEMA_NAMESPACES

_MAX_CLASSES = 20
_MAX_NEAR_PREDICATES = 45  # predicates to list with their ends
_MIN_NEAR_PREDICATES = 15  # number of those if words match fewer
_MAX_TYPED_PREDICATES = 12  # number of those with type and values
_MAX_FAR_PREDICATES = 40  # further predicates, by name
_LINK_OUT_FACTOR = 0.3  # nearness of a link to things that the graph does not describe
_MIN_NAME_SCORE = 0.9  # minimum score of a good link to a class or property
_USUAL_PREDICATES = (v.RDF_TYPE, *v.LABEL_PREDICATES)


@dataclass(frozen=True, eq=False)
class SchemaSlice:
    """Selects classes and predicates of a graph for a linked question; `used_iris` come first."""

    graph: KnowledgeGraph
    linked_question: LinkedQuestion
    used_iris: Sequence[str] = ()

    @cached_property
    def near(self) -> Sequence[PredicateProfile]:
        """Predicates that words name, and those at named entities; at least the most frequent ones.

        Of several predicates that are one property, only the most direct; the others are in
        `variants`.
        """
        close = sum(nearness > 0 for nearness in self._nearness.values())
        return self._ranked_predicates[
            : max(_MIN_NEAR_PREDICATES, min(close, _MAX_NEAR_PREDICATES))
        ]

    @property
    def far(self) -> Sequence[PredicateProfile]:
        """The next predicates."""
        return self._ranked_predicates[len(self.near) :][:_MAX_FAR_PREDICATES]

    @cached_property
    def variants(self) -> dict[str, tuple[str, ...]]:
        """Other predicates that are the same property, by the predicate that is shown."""
        informative_iris = (p.iri for p in self.graph.profile.predicates if _is_informative(p))
        return {
            first: tuple(further_iris)
            for first, *further_iris in self._property_variants.group(informative_iris)
        }

    @cached_property
    def classes(self) -> Sequence[ClassProfile]:
        """Classes that words name, those at the near predicates, then the largest ones."""
        ends = {iri for p in self.near for iri in _list_end_classes(p)}
        profile_classes = [
            c for c in self.graph.profile.classes if not c.iri.startswith(SCHEMA_NAMESPACES)
        ]

        def get_sort_key(cls: ClassProfile) -> tuple[bool, bool, int]:
            return cls.iri not in self._named_classes, cls.iri not in ends, -cls.instances

        return sorted(profile_classes, key=get_sort_key)[:_MAX_CLASSES]

    @cached_property
    def _property_variants(self) -> PropertyVariants:
        return PropertyVariants(self.graph.profile)

    @cached_property
    def _ranked_predicates(self) -> list[PredicateProfile]:
        shown_profiles = [self._property_variants.profiles[iri] for iri in self.variants]

        def get_sort_key(p: PredicateProfile) -> tuple[float, int]:
            leads_out = not (p.literal or self.is_relevant(p.iri)) and not get_end_kinds(
                p, self.graph.profile, inverse=False
            )
            return -self._nearness[p.iri] * (_LINK_OUT_FACTOR if leads_out else 1.0), -p.triples

        return sorted(shown_profiles, key=get_sort_key)

    @cached_property
    def _nearness(self) -> dict[str, float]:
        """Score of each shown predicate: the best of its variants."""
        # All predicates of a node that only links others score like the best of them.
        predicates = self.graph.profile.predicates
        own_scores = {
            p.iri: self._name_scores.get(p.iri, 0.0) * 1.5
            + (
                0.8 * (p.iri in self._adjacent_predicates)
                + 0.5 * any(iri in self._named_classes for iri in _list_end_classes(p))
                + 0.3 * any(iri in self.focus_classes for iri, _ in p.subject_classes)
                + 0.2 * any(iri in self.focus_classes for iri, _ in p.object_classes)
                + 0.3 * (p.iri in self._dated_predicates)
            )
            + 2.0 * (p.iri in self.used_iris)
            for p in predicates
        }
        linking_scores = {c.iri: 0.0 for c in self.graph.profile.classes if c.nary}
        for p in predicates:
            for iri, _ in p.subject_classes:
                if iri in linking_scores:
                    linking_scores[iri] = max(linking_scores[iri], own_scores[p.iri])
        scores = {
            p.iri: max(
                [
                    own_scores[p.iri],
                    *(0.6 * linking_scores.get(iri, 0.0) for iri, _ in p.subject_classes),
                ]
            )
            for p in predicates
        }
        return {
            first: max(scores[iri] for iri in (first, *variant_iris))
            for first, variant_iris in self.variants.items()
        }

    def is_relevant(self, predicate: str) -> bool:
        """Return whether words name a predicate, or a candidate query uses it."""
        return predicate in self.used_iris or predicate in self._name_scores

    @cached_property
    def required_classes(self) -> Sequence[str]:
        """Classes on the path of candidate queries, then those that words name well."""
        profiles = {item.iri: item for item in self.graph.profile.predicates}
        classes = {item.iri for item in self.graph.profile.classes}
        links = self.linked_question.links
        used_positions = {
            at for item in links if item.target in self.used_iris for at in item.positions
        }
        unused_links = (
            item
            for item in links
            if item.score >= _MIN_NAME_SCORE and not used_positions >= set(item.positions)
        )
        named_iris = [item.target for item in unused_links]
        required: dict[str, None] = {}
        for iri in dict.fromkeys((*self.used_iris, *named_iris)):
            if iri in classes:
                required[iri] = None
            elif iri in profiles:
                ends = get_end_kinds(profiles[iri], self.graph.profile, inverse=True)
                required |= dict.fromkeys(ends if len(ends) == 1 else ())
        return list(required)

    @cached_property
    def _name_scores(self) -> dict[str, float]:
        """Link score of each predicate that words name."""
        return {
            link.target: link.score
            for link in reversed(self.linked_question.get_links(ItemKind.PREDICATE))
        }

    @cached_property
    def _named_classes(self) -> set[str]:
        """Classes that words name, and the classes of named entities."""
        named_classes = {link.target for link in self.linked_question.get_links(ItemKind.CLASS)[:5]}
        arrays = self.graph.arrays
        for link in select_links(self.linked_question) if arrays is not None else ():
            if link.kind is ItemKind.ENTITY and arrays is not None:
                types = look_up_types(arrays, f"<{link.target}>")
                named_classes |= {cls for cls in types if not cls.startswith(SCHEMA_NAMESPACES)}
        return named_classes

    @cached_property
    def focus_classes(self) -> set[str]:
        """Named classes, and those at both ends of predicates that candidates or words use."""
        profile = self.graph.profile
        ends = {
            iri
            for p in profile.predicates
            if p.iri in self.used_iris or self._name_scores.get(p.iri, 0.0) >= _MIN_NAME_SCORE
            for inverse in (True, False)
            for iri in get_end_kinds(p, profile, inverse=inverse)
        }
        return self._named_classes | ends | set(self.used_iris)

    @cached_property
    def _dated_predicates(self) -> set[str]:
        """For a question with a date: the dates of focus classes and of classes one step away."""
        if all(q.days is None for q in self.linked_question.reading.quantities):
            return set()
        predicates, focus = self.graph.profile.predicates, self.focus_classes
        neighbours = {
            iri
            for p in predicates
            if focus & set(_list_end_classes(p))
            for iri in _list_end_classes(p)
        }
        dated = [p for p in predicates if not DATE_DATATYPES.isdisjoint(dict(p.datatypes))]
        dated = [p for p in dated if any(iri in neighbours for iri, _ in p.subject_classes)]
        sources = {iri for p in dated for iri, _ in p.subject_classes}
        steps = [p for p in predicates if any(iri in sources for iri, _ in p.object_classes)]
        leading = {p.iri for p in steps if any(iri in focus for iri, _ in p.subject_classes)}
        return leading | {p.iri for p in dated}

    @cached_property
    def _adjacent_predicates(self) -> set[str]:
        """Predicates at named entities and values of a local graph, in both directions."""
        arrays = self.graph.arrays
        if arrays is None:
            return set()
        ids = (
            arrays.terms.find(f"<{link.target}>" if link.kind is ItemKind.ENTITY else link.target)
            for link in select_links(self.linked_question)
        )
        nodes = np.array(sorted(at for at in ids if at is not None), dtype=np.int32)
        numbers_by_direction = (
            arrays.count_predicates(nodes, inverse=inverse)[0] for inverse in (False, True)
        )
        return {
            arrays.get_predicate_iri(number)
            for numbers in numbers_by_direction
            for number in numbers.tolist()
        }


def _list_end_classes(p: PredicateProfile) -> Iterator[str]:
    yield from (iri for iri, _ in (*p.subject_classes, *p.object_classes))


def _is_informative(p: PredicateProfile, usual: Sequence[str] = _USUAL_PREDICATES) -> bool:
    """Return whether a predicate is content: none of a schema's, unless instances have it."""
    is_of_instances = any(not iri.startswith(SCHEMA_NAMESPACES) for iri, _ in p.subject_classes)
    return p.iri not in usual and (is_of_instances or not p.iri.startswith(SCHEMA_NAMESPACES))


_MAX_LISTED_VALUES = 8  # show all values up to this number
_MIN_USES_PER_VALUE = 2  # and if they have this many uses on average
_MAX_LISTED_CHARACTERS = 120  # characters of all values of a property
_TEXT_SAMPLE_SIZE = 20  # texts to inspect for numbers and dates
_VALUES_CACHE: WeakKeyDictionary[GraphArrays, dict[str, tuple[str, ...]]] = WeakKeyDictionary()
_TIME_OPERATORS = ("now", "past", "during", "ongoing", "before", "after")
_MAX_SPANS = 4
_MAX_UNITS = 6


def list_terms(schema_slice: SchemaSlice) -> list[str]:
    """Return all IRIs that the lines of a slice show with labels."""
    predicates = (p.iri for p in (*schema_slice.near, *schema_slice.far))
    return [*predicates, *(cls.iri for cls in schema_slice.classes)]


@dataclass(frozen=True, eq=False)
class SchemaLines:
    """Writes the classes and predicates of a slice.

    Without `shows_values` no example values are written. With a masker, they are not either.
    With `only_relevant_types`, types and values are those of properties that words name or
    candidates use.
    """

    schema_slice: SchemaSlice
    writer: TermWriter
    shows_values: bool = True
    only_relevant_types: bool = False

    def write_lines(self, *, beside_full_schema: bool = False) -> Iterator[str]:
        """Yield all lines, names first; beside the full schema, only the lines that it lacks."""
        if not beside_full_schema:
            yield from self.write_names()
        literal_predicates = (p for p in self.schema_slice.near if p.literal)
        if self.only_relevant_types:
            is_relevant = self.schema_slice.is_relevant
            literal_predicates = (p for p in literal_predicates if is_relevant(p.iri))
        if line := self.write_value_types(islice(literal_predicates, _MAX_TYPED_PREDICATES)):
            yield line
        yield from self.write_times()

    def write_names(
        self, max_predicates: int = _MAX_NEAR_PREDICATES + _MAX_FAR_PREDICATES
    ) -> Iterator[str]:
        """Yield classes and predicates by name, and how many more the graph has."""
        predicates = [*self.schema_slice.near, *self.schema_slice.far][:max_predicates]
        classes = self.schema_slice.classes
        if max_predicates <= _MIN_NEAR_PREDICATES:
            classes = [cls for cls in classes if cls.iri in self.schema_slice.focus_classes]
        lines = write_schema_names(
            self.writer,
            predicates,
            classes,
            shows_values=self.shows_values,
            hidden=len(self.schema_slice.variants) - len(predicates),
        )
        if class_lines := [*lines]:
            yield from (f"{HEADING}{describe_naming(self.writer.context)}.", *class_lines)

    def write_times(self) -> Iterator[str]:
        """Yield how the graph expresses times and units, as far as the question needs it."""
        return write_time_lines(self.schema_slice, self.writer.write_short)

    def write_value_types(self, predicates: Iterable[PredicateProfile]) -> str:
        """Return the datatypes of predicates with frequent values; empty without literals."""
        entries = [
            f"{self.writer.write_short(p.iri)} {self._format_values(p)}"
            for p in predicates
            if p.literal
        ]
        return f"types and values near the question: {'; '.join(entries)}" if entries else ""

    def _format_values(self, p: PredicateProfile) -> str:
        prefixes, arrays = self.schema_slice.graph.prefixes, self.schema_slice.graph.arrays
        datatypes = "|".join(prefixes.shorten(datatype) for datatype, _ in p.datatypes[:2])
        shows_any = self.shows_values and self.writer.context.masker is None
        values = find_frequent_values(arrays, p) if shows_any else ()
        separator = ": " if len(values) == p.objects else " e.g. "
        return (
            f"{datatypes}{separator if values else ''}"
            f"{', '.join(map(self.writer.write_stored_literal, values))}"
        )


def find_frequent_values(arrays: GraphArrays | None, p: PredicateProfile) -> tuple[str, ...]:
    """Return values of a property as N-Triples, the most frequent first; the result is cached.

    If it has only a few, often repeated values, all of them. Empty if its objects are no literals
    or the graph is remote.
    """
    number = arrays.get_predicate_number(p.iri) if arrays is not None and p.literal else None
    if arrays is None or number is None:
        return ()
    cached_values = _VALUES_CACHE.setdefault(arrays, {})
    if p.iri not in cached_values:
        _, objects = arrays.get_edges(arrays.get_ends(number), number)
        values, counts = np.unique(objects, return_counts=True)
        order = np.argsort(-counts, kind="stable")
        is_enumeration = len(values) <= _MAX_LISTED_VALUES and len(
            objects
        ) >= _MIN_USES_PER_VALUE * len(values)
        value_ids = values[order[: _MAX_LISTED_VALUES if is_enumeration else 1]].tolist()
        cached_values[p.iri] = tuple(map(arrays.terms.get_text, value_ids))
    return cached_values[p.iri]


def write_time_lines(schema_slice: SchemaSlice, shorten: Callable[[str], str]) -> Iterator[str]:
    """Yield what a query needs for the times and units of a question; `shorten` writes an IRI."""
    linked_question, graph = schema_slice.linked_question, schema_slice.graph
    reading, near = linked_question.reading, schema_slice.near
    question_operators = detect_operators(reading)
    asks_age = any(
        operator.measure is not None and operator.measure.is_age
        for operator in question_operators.operators
    )
    values = {
        at for link in linked_question.get_links(ItemKind.VALUE) for at in link.positions
    }  # a year that is kept as a text
    dated = any(item.days is not None and item.first not in values for item in reading.quantities)
    if dated or asks_age or question_operators.get_operators(*_TIME_OPERATORS):
        yield from _write_times(graph, [p.iri for p in near], shorten)
    if question_operators.get_operators("lasting") or asks_age:
        from askgraph.sparql.elapsed import format_elapsed_time  # few questions ask for it

        expression = format_elapsed_time("years", Variable("from"), Variable("to"))
        yield f"whole years from a date to a later one: {expression}"
    yield from _write_units(reading, graph, near, shorten)


def _write_units(
    reading: TokenizedQuestion,
    graph: KnowledgeGraph,
    near: Sequence[PredicateProfile],
    shorten: Callable[[str], str],
) -> Iterator[str]:
    """Yield predicates' units in the question's dimensions, and its numbers in these units."""
    words = [token.folded for token in reading.tokens]
    dimensions = {q.unit.dimension for q in reading.quantities if q.unit is not None}
    for phrase in reading.word_list.time_phrases["in_unit"]:
        for at in range(len(words) - len(phrase)):
            match = match_unit(words, at + len(phrase))
            if tuple(words[at : at + len(phrase)]) == phrase and match is not None:
                dimensions.add(match[0].dimension)
    units: list[tuple[PredicateProfile, Unit]] = []
    schema = (
        build_schema(graph.arrays, graph.profile)
        if dimensions and graph.arrays is not None
        else None
    )
    for p in near if dimensions else ():
        if schema is None:
            unit = detect_unit([*(text for text, _ in p.names), get_local_name(p.iri)])
        else:
            number = schema.get_predicate_number(p.iri)
            unit = None if number is None else schema.get_unit(number)
        if unit is not None and unit.dimension in dimensions:
            units.append((p, unit))
    if units:
        units_text = "; ".join(
            f"{shorten(p.iri)} in {_format_unit(unit)}" for p, unit in units[:_MAX_UNITS]
        )
        yield f"units: {units_text}"
    for quantity in reading.quantities:
        fitting_units = [
            unit for _, unit in units if quantity.unit and unit.dimension == quantity.unit.dimension
        ]
        if fitting_units and quantity.unit is not None and quantity.value is not None:
            number_text = format_number(quantity.unit.convert(quantity.value, fitting_units[0]))
            original_text = f"{format_number(quantity.value)} {quantity.unit.name}"
            if (
                converted_text := f"{number_text} {_format_unit(fitting_units[0])}"
            ) != original_text:
                yield f"{original_text} is {converted_text}"


def _write_times(
    graph: KnowledgeGraph, near: Sequence[str], shorten: Callable[[str], str]
) -> Iterator[str]:
    times = find_temporal_predicates(graph.profile, graph.arrays)
    ranks = {iri: at for at, iri in enumerate(near)}
    spans = [span for span in times.spans if span.start in ranks or span.end in ranks]
    spans.sort(key=lambda span: min(ranks.get(span.start, len(ranks)), ranks.get(span.end, 0)))
    if spans:
        pairs = "; ".join(
            f"{shorten(span.start)} → {shorten(span.end)}" for span in spans[:_MAX_SPANS]
        )
        yield f"start → end: {pairs}"
        yield (
            "what has no end still holds; at a day it holds if it started by then and "
            "FILTER NOT EXISTS { ?x END ?e . FILTER(?e < DAY) }"
        )
    if times.rank is not None:
        yield (
            f"of several statements those with the best {shorten(times.rank)} count: Preferred, "
            "else Normal; never Deprecated"
        )


def _format_unit(unit: Unit) -> str:
    return f"{unit.scale:g} {unit.name}" if unit.scale != 1.0 else unit.name


HEADING = (
    "Schema: each class with its number of instances: its properties (share of instances if not "
    "all, * several values) → class of the object, if not as above"
)
_MAX_TERMS = 200  # maximum classes and properties of a graph to list in full
_MAX_SUBJECT_CLASSES = 3  # classes to list for a single predicate
_MAX_VARIANTS = 3  # other predicates shown that are the same property


async def render_full_schema(context: Context, *, max_tokens: int) -> RenderedText | None:
    """Return all classes with their properties; None if that takes more than `max_tokens`."""
    profile = context.graph.profile
    if not profile.predicates or len(profile.classes) + len(profile.predicates) > _MAX_TERMS:
        return None
    terms = [*(c.iri for c in profile.classes), *(p.iri for p in profile.predicates)]
    writer = await TermWriter.from_iris(context, terms)
    names = SchemaNames(writer, profile.classes, profile.predicates, shows_values=True)
    text = "\n".join(await asyncio.to_thread(lambda: list(names.write_lines())))
    return (
        RenderedText(text, tuple(writer.written_iris))
        if estimate_tokens(text) <= max_tokens
        else None
    )


def write_schema_names(
    writer: TermWriter,
    predicates: Sequence[PredicateProfile],
    classes: Sequence[ClassProfile] = (),
    *,
    shows_values: bool = False,
    hidden: int | None = None,
) -> Iterator[str]:
    """Yield the lines of some predicates with their classes, and of further classes.

    With the number of `hidden` properties, a last line counts the classes and properties left out.
    """
    ends = {iri for p in predicates for iri, _ in p.subject_classes[:_MAX_SUBJECT_CLASSES]}
    ends |= {cls.iri for cls in classes}
    shown_classes = [cls for cls in writer.context.graph.profile.classes if cls.iri in ends]
    is_short = hidden is not None
    yield from SchemaNames(writer, shown_classes, predicates, shows_values, is_short).write_lines()
    hidden_classes = (
        cls.iri
        for cls in writer.context.graph.profile.classes
        if cls.instances and cls.iri not in ends and not cls.iri.startswith(SCHEMA_NAMESPACES)
    )
    counts = {} if hidden is None else {"classes": len([*hidden_classes]), "properties": hidden}
    if hidden_counts := [f"{count} more {noun}" for noun, count in counts.items() if count]:
        yield f"… and {', '.join(hidden_counts)}"


def select_naming(profile: Profile) -> Sequence[PredicateProfile]:
    """Return the four main predicates that hold names."""
    label_predicates = {c.name_predicate for c in profile.classes}
    naming_predicates = sorted(
        (p for p in profile.predicates if p.naming), key=lambda p: p.iri not in label_predicates
    )
    main_predicates = [
        p for p in naming_predicates if p.iri in label_predicates or p.iri in USUAL_PREDICATES
    ]
    return (main_predicates or naming_predicates)[:4]


def describe_naming(context: Context) -> str:
    """Describe which predicates hold names of entities, and which texts have languages.

    Predicates that label the instances of some class come first, then other usual ones.
    """
    profile = context.graph.profile
    predicates = profile.predicates
    classes_by_predicate: dict[str, list[str]] = defaultdict(list)
    for c in profile.classes:
        if c.name_predicate is not None and not c.iri.startswith(SCHEMA_NAMESPACES):
            classes_by_predicate[c.name_predicate].append(c.iri)
    main = max(classes_by_predicate, key=lambda iri: len(classes_by_predicate[iri]), default="")
    shorten = context.graph.prefixes.shorten
    entries = []
    for p in select_naming(profile):
        classes = classes_by_predicate[p.iri][: 0 if p.iri == main else _MAX_SUBJECT_CLASSES]
        owners = f" of {'|'.join(map(shorten, classes))}" if classes else ""
        entries.append(f"{shorten(p.iri)}{_format_languages(p.languages)}{owners}")
    other_languages = dict(pair for p in predicates if not p.naming for pair in p.languages)
    naming_text = f"; names by {', '.join(entries)}" if entries else ""
    return f"{naming_text}" + (
        f"; other texts{_format_languages([*other_languages.items()])}" if other_languages else ""
    )


def _format_languages(languages: Sequence[tuple[str, int]]) -> str:
    return "".join(f" @{name}" for name, _ in languages[:5])


def format_variants(writer: TermWriter, iri: str, variants: Sequence[str]) -> str:
    """Return the variants of a property as the prefixes before the name that they share."""
    name = iri.removeprefix(get_namespace(iri))
    shorts = map(writer.write_short, variants[:_MAX_VARIANTS])
    prefixes = [short.removesuffix(name) if ":" in short else short for short in shorts]
    return f" (also {', '.join(prefixes)})" if prefixes else ""


@dataclass(frozen=True, eq=False)
class SchemaNames:
    """Writes classes and predicates of a graph by name; classes with equal properties share a line.

    With `shows_values`, properties with few values show all of them. With `is_short`, a superclass
    without further properties has no line.
    """

    writer: TermWriter
    classes: Sequence[ClassProfile]
    predicates: Sequence[PredicateProfile]
    shows_values: bool = False
    is_short: bool = False

    def write_lines(self) -> Iterator[str]:
        """Yield the lines of classes, the largest first, then that of untyped entities."""
        properties = self._properties_by_class
        classes_by_text: dict[tuple[str, str], list[ClassProfile]] = {}
        for cls in self._classes_by_iri.values():
            if cls.iri in properties or self._parents[cls.iri] is None:
                property_text = self._format_properties(properties.get(cls.iri, ()), cls, {})
                key = property_text, self._format_subclasses(cls)
                classes_by_text.setdefault(key, []).append(cls)
        ends: dict[str, str] = {}
        parents = {self._parents[iri] for iri in properties if iri}
        for (content, kinds), classes in classes_by_text.items():
            if self.is_short and not (content or kinds):  # lines of subclasses name a superclass
                classes = [item for item in classes if item.iri not in parents]
            if not classes:
                continue
            cls, heads = classes[0], ", ".join(map(self._format_class, classes))
            property_text = self._format_properties(properties.get(cls.iri, ()), cls, ends)
            yield f"{heads}{property_text and f': {property_text}'}{kinds and f'; {kinds}'}"
        if "" in properties:
            yield f"things of no class: {self._format_properties(properties[''], None, ends)}"

    @cached_property
    def _classes_by_iri(self) -> Mapping[str, ClassProfile]:
        populated_classes = [
            c for c in self.classes if c.instances and not c.iri.startswith(SCHEMA_NAMESPACES)
        ]
        return {c.iri: c for c in sorted(populated_classes, key=lambda c: (-c.instances, c.iri))}

    @cached_property
    def _properties_by_class(self) -> Mapping[str, Sequence[PredicateProfile]]:
        """Predicates by class, the most direct one of each property."""
        properties: dict[str, list[PredicateProfile]] = defaultdict(list)
        for p in sorted(self.predicates, key=lambda p: (-p.triples, p.iri)):
            for iri in self._find_subject_classes(p) if p.iri in self._variants else ():
                properties[iri].append(p)
        return properties

    @cached_property
    def _variants(self) -> Mapping[str, Sequence[str]]:
        """Other predicates that are the same property, by the predicate that is shown."""
        domain_iris = (p.iri for p in self.predicates if _is_informative(p, USUAL_PREDICATES))
        grouped = PropertyVariants(self.writer.context.graph.profile).group(domain_iris)
        return {first: variant_iris for first, *variant_iris in grouped}

    @cached_property
    def _main_naming(self) -> set[str]:
        """What the heading says of names, which classes do not repeat."""
        return {p.iri for p in select_naming(self.writer.context.graph.profile)}

    @cached_property
    def _partitions(self) -> Mapping[tuple[str, str], Partition]:
        """What the profile of a remote graph has of each property of each class."""
        graph = self.writer.context.graph
        partitions = graph.profile.partitions if graph.arrays is None else ()
        return {(item.cls, item.predicate): item for item in partitions}

    def _find_subject_classes(self, p: PredicateProfile) -> list[str]:
        """Return the narrowest classes that a predicate leads from; `` for untyped entities."""
        counts = {iri: n for iri, n in p.subject_classes if iri in self._classes_by_iri}
        ancestors = {iri: self._ancestors[iri] & counts.keys() for iri in counts}
        covering_ancestors = {
            ancestor
            for iri, ancestor_iris in ancestors.items()
            for ancestor in ancestor_iris
            if counts[iri] >= counts[ancestor]
        }
        return [
            iri
            for iri in counts
            if iri not in covering_ancestors and ancestors[iri] <= covering_ancestors
        ] or [""]

    @cached_property
    def _ancestors(self) -> Mapping[str, set[str]]:
        """All superclasses by class, at any distance."""
        return {iri: self._collect_ancestors(iri) for iri in self._classes_by_iri}

    def _collect_ancestors(self, iri: str) -> set[str]:
        ancestors: set[str] = set()
        queue = [iri]
        while queue:
            parents = set(self._classes_by_iri[queue.pop()].parents) & self._classes_by_iri.keys()
            queue += parents - ancestors
            ancestors |= parents
        return ancestors - {iri}

    @cached_property
    def _parents(self) -> Mapping[str, str | None]:
        """The superclass by class; None for two classes that are subclasses of each other."""
        parent_by_class: dict[str, str | None] = {}
        for c in self._classes_by_iri.values():
            parents = (iri for iri in c.parents if iri in self._classes_by_iri and iri != c.iri)
            parent_by_class[c.iri] = next(
                (iri for iri in parents if c.iri not in self._ancestors[iri]), None
            )
        return parent_by_class

    @cached_property
    def _subclasses(self) -> Mapping[str | None, Sequence[ClassProfile]]:
        subclasses: dict[str | None, list[ClassProfile]] = defaultdict(list)
        for c in self._classes_by_iri.values():
            subclasses[self._parents[c.iri]].append(c)
        return subclasses

    def _format_subclasses(self, parent: ClassProfile) -> str:
        subclasses = self._subclasses.get(parent.iri, ())
        without_properties = [cls for cls in subclasses if cls.iri not in self._properties_by_class]
        kinds: dict[bool, list[str]] = {}
        for cls in without_properties:
            inner = self._format_subclasses(cls)
            text = f"{self._format_class(cls)}{inner and f' ({inner})'}"
            kinds.setdefault(self._is_counted(cls.iri, parent.iri), []).append(text)
        headings = {True: "kinds", False: "kinds, not counted here"}
        return "; ".join(f"{headings[key]}: {', '.join(texts)}" for key, texts in kinds.items())

    def _format_class(self, c: ClassProfile) -> str:
        superclass = self._parents[c.iri] if c.iri in self._properties_by_class else None
        parent = ""
        if superclass:
            not_counted = "" if self._is_counted(c.iri, superclass) else ", not counted there"
            parent = f" (a {self.writer.write_short(superclass)}{not_counted})"
        note = " (no name)" if c.nary or (c.name_predicate is None and c.instances > 1) else ""
        count = f" {c.instances:,}" if self.writer.context.can_show_counts else ""
        return f"{self.writer.write_iri(c.iri)}{count}{parent}{note}"

    def _is_counted(self, cls: str, superclass: str) -> bool:
        """Return whether the instances of a class count as instances of its superclass too."""
        arrays = self.writer.context.graph.arrays
        if arrays is None or not self.writer.context.can_show_counts:
            return True
        counted, key = _COUNTED_CACHE.setdefault(arrays, {}), (cls, superclass)
        if key not in counted:
            instances, super_instances = (_find_instances(arrays, iri) for iri in key)
            counted[key] = not len(instances) or bool(np.isin(instances[:1], super_instances)[0])
        return counted[key]

    def _format_properties(
        self, predicates: Sequence[PredicateProfile], cls: ClassProfile | None, ends: dict[str, str]
    ) -> str:
        """Return properties, those with numbers or dates after the others."""
        context, names_by_kind = self.writer.context, defaultdict[str, list[str]](list)
        for p in predicates:
            if cls is not None and p.iri == cls.name_predicate and p.iri in self._main_naming:
                continue
            partition = self._partitions.get((cls.iri, p.iri)) if cls is not None else None
            use = measure_use(context.graph, p, cls, partition)
            main_datatype = p.datatypes[0][0] if p.literal else ""
            kind = "numbers" if main_datatype in NUMERIC_DATATYPES else ""
            kind = "dates" if main_datatype in DATE_DATATYPES else kind
            kind = kind or (find_text_kind(context.graph.arrays, p) if p.literal else "")
            # A property, its label if that adds information, and the classes of its objects.
            object_classes = [iri for iri in use.kinds if not iri.startswith(SCHEMA_NAMESPACES)]
            label = self.writer.labels.get(p.iri, "")
            shows_label = is_informative_label(
                label, (p.iri, *object_classes, *(iri for iri, _ in p.subject_classes))
            )
            name = self.writer.write_iri(p.iri) if shows_label else self.writer.write_short(p.iri)
            name += format_variants(self.writer, p.iri, self._variants[p.iri]) + (
                "+" if p.transitive else ""
            )
            name += "*" * use.has_several
            if use.share < _COMPLETE_SHARE and context.can_show_counts:
                name += f" {max(1, round(100 * use.share))}%"
            target = "|".join(map(self.writer.write_short, object_classes)) or "things"
            values = self._format_values(p) if p.literal and not kind else ""
            end = values if p.literal else f" → {target}"
            names_by_kind[kind].append(name if ends.get(p.iri) == end else f"{name}{end}")
            ends[p.iri] = end
        ordered_kinds = sorted(names_by_kind, key=lambda kind: (bool(kind), kind))
        return "; ".join(
            f"{kind}{kind and ' '}{', '.join(names_by_kind[kind])}" for kind in ordered_kinds
        )

    def _format_values(self, p: PredicateProfile) -> str:
        """Return all values of a property if they are few and short; none with a masker."""
        if not self.shows_values or self.writer.context.masker is not None:
            return ""
        values = find_frequent_values(self.writer.context.graph.arrays, p)
        texts = list(map(self.writer.write_stored_literal, values))
        is_closed = (
            len(values) == p.objects < p.triples and sum(map(len, texts)) <= _MAX_LISTED_CHARACTERS
        )
        return f" ({'|'.join(texts)})" if is_closed else ""


_COMPLETE_SHARE = 0.9  # share of a class's instances from which on a property is at all of them


@dataclass(frozen=True)
class PropertyUse:
    """How the instances of a class use a property."""

    share: float  # the share of instances that have it
    has_several: bool  # whether an instance has several values
    kinds: tuple[str, ...]  # the classes of its objects


_USE_CACHE: WeakKeyDictionary[GraphArrays, dict[tuple[str, str], PropertyUse]] = WeakKeyDictionary()
_COUNTED_CACHE: WeakKeyDictionary[GraphArrays, dict[tuple[str, str], bool]] = WeakKeyDictionary()


def measure_use(
    graph: KnowledgeGraph,
    p: PredicateProfile,
    cls: ClassProfile | None,
    partition: Partition | None = None,
) -> PropertyUse:
    """Count how a class uses a property, and cache it; of a remote graph by its partition, if any.

    Without a class, return the use of the whole graph.
    """
    kinds = get_end_kinds(p, graph.profile, inverse=False) if p.object_classes else ()
    if partition is not None and partition.subjects and cls is not None:
        if partition.targets:
            kinds = select_common(partition.targets, partition.triples, graph.profile)
        share = min(1.0, partition.subjects / max(1, cls.instances))
        return PropertyUse(share, partition.triples > partition.subjects * 1.02, kinds)
    if graph.arrays is None or cls is None:
        return PropertyUse(1.0, not p.functional, kinds)
    uses, key = _USE_CACHE.setdefault(graph.arrays, {}), (cls.iri, p.iri)
    if key not in uses:
        uses[key] = _count_use(graph.arrays, graph.profile, p, cls)
    return uses[key]


def _count_use(
    arrays: GraphArrays, profile: Profile, p: PredicateProfile, cls: ClassProfile
) -> PropertyUse:
    number, nodes = arrays.get_predicate_number(p.iri), _find_instances(arrays, cls.iri)
    type_number = arrays.get_predicate_number(v.RDF_TYPE)
    if number is None or type_number is None or not len(nodes):  # a virtual property
        return PropertyUse(1.0, not p.functional, get_end_kinds(p, profile, inverse=False))
    sources, targets = arrays.get_edges(nodes, number)
    having, ends = len(np.unique(sources)), np.unique(targets)
    kinds = () if p.literal else detect_kinds(profile, arrays, ends, type_number)
    return PropertyUse(min(1.0, having / len(nodes)), len(sources) > having * 1.02, kinds)


def _find_instances(arrays: GraphArrays, cls: str) -> np.ndarray:
    number, at = arrays.get_predicate_number(v.RDF_TYPE), arrays.terms.find_iri(cls)
    if number is None or at is None:
        return np.array([], dtype=np.int32)
    return np.sort(arrays.step(np.array([at], dtype=np.int32), number, inverse=True))


_TEXT_KINDS = {
    "numbers as text": re.compile(r'"[-+]?[0-9]+(?:\.[0-9]+)?"'),
    "dates as text": re.compile(r'"[0-9]{4}-[0-9]{2}(?:-[0-9]{2})?\b'),
}
_TEXT_KIND_CACHE: WeakKeyDictionary[GraphArrays, dict[str, str]] = WeakKeyDictionary()


def find_text_kind(arrays: GraphArrays | None, p: PredicateProfile) -> str:
    """Return which kind of value a property keeps as text; empty if none, or unknown."""
    number = arrays.get_predicate_number(p.iri) if arrays is not None else None
    if arrays is None or number is None:
        return ""
    kinds = _TEXT_KIND_CACHE.setdefault(arrays, {})
    if p.iri not in kinds:
        ends = arrays.get_ends(number, inverse=True)
        texts = [
            arrays.terms.get_text(at)
            for at in ends[:: max(1, len(ends) // _TEXT_SAMPLE_SIZE)].tolist()
        ]
        matching = (kind for kind, pattern in _TEXT_KINDS.items() if all(map(pattern.match, texts)))
        kinds[p.iri] = next(matching, "")
    return kinds[p.iri]
