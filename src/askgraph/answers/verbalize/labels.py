"""What a graph tells of terms: labels and descriptions, what properties lead to, who is a person.

Labels come from the arrays if they lie here, else from the endpoint; facts from the profile.
"""

from __future__ import annotations

import contextlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from textwrap import shorten

import numpy as np
from pyoxigraph import Literal, NamedNode, Variable

from askgraph.answers.verbalize.phrases import is_person_noun, trim_definition
from askgraph.errors import ErrorReply, MalformedReply, QueryError, ServiceError, TimedOut
from askgraph.graph import KnowledgeGraph
from askgraph.graph.arrays import GraphArrays
from askgraph.graph.glossary import TermWording
from askgraph.graph.literals import split_literal
from askgraph.graph.measures import Unit, detect_unit
from askgraph.graph.profile import ClassProfile, PredicateProfile, Profile
from askgraph.graph.vocabularies import load_packaged_individuals
from askgraph.sparql import Group, Pattern, Query, Values
from askgraph.sparql import vocabulary as v
from askgraph.sparql.prefixes import choose_label, split_local_name
from askgraph.sparql.results import to_plain_value
from askgraph.sparql.serializer import to_text
from askgraph.sparql.vocabulary import RDF_TYPE

MAX_LABELS = 500
"""Things whose labels one query asks for."""
_MAX_NAMESAKES = 20  # things of one name that a difference tells apart
_MAX_CHARACTERS = 60  # characters of what tells namesakes apart
_MAX_TEXTS = 20  # names or descriptions of one thing
PERSON_CLASSES = frozenset(
    """http://xmlns.com/foaf/0.1/Person http://schema.org/Person https://schema.org/Person
    http://dbpedia.org/ontology/Person http://www.wikidata.org/entity/Q5""".split()
)
_MAX_ANCESTORS = 50


async def fetch_term_labels(
    iris: Iterable[str],
    graph: KnowledgeGraph,
    languages: Sequence[str],
    *,
    timeout: float | None = None,
    near: GraphArrays | None = None,
) -> dict[str, str]:
    """Return the best label of each IRI that has one, for the first 500 of them.

    A remote graph gets one query of at most `timeout` seconds, without the terms in the arrays
    `near`. If it does not answer, only the labels known before come back: they are a courtesy.
    """
    distinct = list(dict.fromkeys(iris))[:MAX_LABELS]
    every = set(distinct)
    texts: dict[str, list[tuple[str, str | None]]] = {}
    schema: list[ClassProfile | PredicateProfile] = [*graph.profile.classes]
    for item in [*schema, *graph.profile.predicates]:
        if item.iri in every and item.names:
            texts[item.iri] = [(text, language or None) for text, language in item.names]
    missing = [iri for iri in distinct if iri not in texts]
    arrays = near if graph.arrays is None else graph.arrays
    if arrays is not None and missing:
        naming = list_name_predicates(graph)
        texts |= {iri: list_texts(iri, arrays, naming) for iri in missing}
        missing = [iri for iri in missing if not texts[iri]]
    if graph.arrays is None and missing:
        with contextlib.suppress(QueryError, ServiceError, ValueError):
            texts |= await _fetch_texts(missing, list_name_predicates(graph), graph, timeout)
    for iri in distinct:
        if not texts.get(iri) and (term := load_packaged_individuals().get(iri)):
            texts[iri] = [*term.names]
    labels = {iri: choose_label(texts.get(iri, ()), languages) for iri in distinct}
    for predicate in graph.profile.predicates:
        tags = {language for _, language in texts.get(predicate.iri, ()) if language}
        is_foreign = bool(tags) and tags.isdisjoint({*languages, "en", "mul"})
        label, name = labels.get(predicate.iri) or "", split_local_name(predicate.iri)
        if is_foreign and _LATIN_WORD.search(name) and not _LATIN_WORD.search(label):
            labels[predicate.iri] = None  # the words of the IRI are nearer to the asker's language
    return {iri: label for iri, label in labels.items() if label is not None}


_LATIN_WORD = re.compile("[A-Za-z]{3}")


def detect_label_language(graph: KnowledgeGraph, language: str) -> str | None:
    """Return the language of a graph's labels for an asker if it is another one.

    English if the graph has any English labels, empty if its labels have other tags or none; None
    if it has labels in the asker's own language.
    """
    base = language.lower().partition("-")[0]
    tags = {tag.lower().partition("-")[0] for tag, _ in graph.profile.languages}
    if base in tags or base == "en":
        return None
    return "en" if "en" in tags else ""


def list_name_predicates(graph: KnowledgeGraph) -> tuple[str, ...]:
    """Return the predicates that name the things of a graph, the standard ones first."""
    own = [p.iri for p in graph.profile.predicates if p.naming == "name"]
    standard = [iri for iri in v.LABEL_PREDICATES if iri in own]
    return (*standard, *(iri for iri in own if iri not in standard))


def list_texts(
    iri: str, arrays: GraphArrays, predicates: Sequence[str]
) -> list[tuple[str, str | None]]:
    """Return the texts, with their languages, that the first of some predicates gives a thing."""
    node = arrays.terms.find_iri(iri)
    if node is None:
        return []
    for predicate in predicates:
        if (number := arrays.get_predicate_number(predicate)) is None:
            continue
        values = arrays.step(np.array([node], dtype=np.int32), number).tolist()
        texts = [
            split_literal(arrays.terms.get_text(value))
            for value in values
            if arrays.terms.is_literal(value)
        ]
        if texts:
            return [(text, language) for text, _, language in texts]
    return []


async def _fetch_texts(
    things: Sequence[str], predicates: Sequence[str], graph: KnowledgeGraph, timeout: float | None
) -> dict[str, list[tuple[str, str | None]]]:
    texts = defaultdict[str, dict[str, list[tuple[str, str | None]]]](
        lambda: {iri: [] for iri in predicates}
    )
    if not things or not predicates:
        return {}
    thing, predicate, text = (Variable(name) for name in ("thing", "predicate", "text"))
    values = (
        Values((name,), tuple((NamedNode(iri),) for iri in iris))
        for name, iris in ((thing, things), (predicate, predicates))
    )
    where = Group((*values, Pattern(thing, predicate, text)))
    columns = tuple((name, None) for name in (thing, predicate, text))
    query = Query("SELECT", where, columns, limit=_MAX_TEXTS * len(things))
    result = await graph.endpoint.select(to_text(query), timeout=timeout)
    for subject, by, literal in result.rows:
        if isinstance(literal, Literal):
            pair = (literal.value, literal.language)
            texts[str(to_plain_value(subject))][str(to_plain_value(by))].append(pair)
    return {iri: next(filter(None, by.values()), []) for iri, by in texts.items()}


async def fetch_term_descriptions(
    iris: Iterable[str],
    graph: KnowledgeGraph,
    languages: Sequence[str],
    *,
    timeout: float | None = None,
) -> dict[str, str]:
    """Return the best description of each IRI that has one, for the first 500 of them.

    One query of at most `timeout` seconds; without an answer nothing has a description.

    Raises:
        ServiceError: The graph cannot be reached at all.
    """
    carrying = {p.iri for p in graph.profile.predicates}
    predicates = [iri for iri in v.DESCRIPTION_PREDICATES if iri in carrying]
    distinct = list(dict.fromkeys(iris))[:MAX_LABELS]
    try:
        texts = await _fetch_texts(distinct, predicates, graph, timeout)
    except (TimedOut, ErrorReply, MalformedReply, ValueError):
        return {}
    best = {iri: choose_label(options, languages) for iri, options in texts.items()}
    return {iri: text for iri, text in best.items() if text is not None}


async def distinguish_labels(
    labels: Mapping[str, str],
    graph: KnowledgeGraph,
    languages: Sequence[str],
    *,
    timeout: float | None = None,
    near: GraphArrays | None = None,
) -> dict[str, str]:
    """Return labels, with a description where several things share one.

    Without descriptions they get a value by which all of them differ, from the graph's arrays or
    those `near`. Classes and predicates stay. Nothing is fetched if no label is shared.

    Raises:
        ServiceError: The graph cannot be reached at all.
    """
    schema = {p.iri for p in graph.profile.predicates}
    schema.update(cls.iri for cls in graph.profile.classes)
    things = {iri: text.casefold() for iri, text in labels.items() if iri not in schema}
    counts = Counter(things.values())
    shared = [iri for iri, text in things.items() if counts[text] > 1]
    if len(shared) < 2:
        return dict(labels)
    descriptions = await fetch_term_descriptions(shared, graph, languages, timeout=timeout)
    changed = {
        iri: f"{labels[iri]} ({shorten(text, _MAX_CHARACTERS, placeholder='…')})"
        for iri, text in descriptions.items()
    }
    arrays = near if graph.arrays is None else graph.arrays
    if arrays is not None and len(descriptions) < len(shared):
        groups: dict[str, list[str]] = defaultdict(list)
        for iri in shared:
            groups[things[iri]].append(iri)
        for namesakes in groups.values():
            if not descriptions.keys() & namesakes and len(namesakes) <= _MAX_NAMESAKES:
                values = _find_differing(namesakes, graph, arrays, languages)
                changed |= {iri: f"{labels[iri]} ({value})" for iri, value in values.items()}
    return {**labels, **changed}


def _find_differing(
    namesakes: Sequence[str], graph: KnowledgeGraph, arrays: GraphArrays, languages: Sequence[str]
) -> Mapping[str, str]:
    """Return a value of one predicate for each of some things, if they differ by it."""
    # Links go before literals, and predicates that more of the things have before others.
    naming = list_name_predicates(graph)
    ignored = {RDF_TYPE, v.OWL_SAME_AS, *v.DESCRIPTION_PREDICATES}
    ignored.update(p.iri for p in graph.profile.predicates if p.naming)
    values: dict[int, dict[str, str]] = defaultdict(dict)
    links: set[int] = set()
    for iri in namesakes:
        if (number := arrays.terms.find_iri(iri)) is None:
            continue
        node = np.array([number], dtype=np.int32)
        for predicate in arrays.get_predicates(node):
            ends = arrays.step(node, predicate).tolist()
            if len(ends) != 1 or arrays.get_predicate_iri(predicate) in ignored:
                continue
            text: str | None = arrays.terms.get_value(ends[0])
            if arrays.terms.is_iri(ends[0]):
                text = choose_label(list_texts(text or "", arrays, naming), languages)
                links.add(predicate)
            if text and len(text) <= _MAX_CHARACTERS and ends[0] < arrays.terms.first_blank:
                values[predicate][iri] = text
    differing = [
        (len(texts), predicate in links, -predicate)
        for predicate, texts in values.items()
        if len(texts) == len({*texts.values()}) > 1
    ]
    return values[-max(differing)[2]] if differing else {}


@dataclass(frozen=True)
class PropertyFacts:
    """What a graph shows of a property.

    Attributes:
        values: The kind of its values: `thing`, `integer`, `number`, `date`, `boolean`, `text`;
            empty if unknown.
    """

    values: str = ""
    noun: str = ""  # class of all that it leads to; empty if there are several
    leads_to_person: bool = False  # whether everything that it leads to is a person
    is_of_person: bool = False  # whether everything that has it is a person
    is_of_node: bool = False  # whether all that has it is a nameless node that links others
    unit: Unit | None = None  # the unit of its numbers
    has_several: bool = False  # whether something has several values of it


NO_FACTS = PropertyFacts()


@dataclass(frozen=True)
class SchemaFacts:
    """What a graph shows of the terms of one query.

    Attributes:
        types: The standard predicate that each of the graph's own predicates for types stands for.
    """

    properties: Mapping[str, PropertyFacts] = field(default_factory=dict)  # by IRI
    persons: frozenset[str] = frozenset()  # classes whose instances are people
    types: Mapping[str, str] = field(default_factory=dict)
    wordings: Mapping[str, TermWording] = field(default_factory=dict)  # of the glossary, by IRI
    instance_counts: Mapping[str, int] = field(default_factory=dict)  # of classes, by IRI


def collect_facts(
    iris: Iterable[str], graph: KnowledgeGraph, language: str, near: GraphArrays | None = None
) -> SchemaFacts:
    """Return what a graph shows of some terms; the endpoint gets no request."""
    classes, predicates = _index_profile(graph.profile)
    wordings = graph.glossary.wordings if graph.glossary else {}
    arrays = near if graph.arrays is None else graph.arrays
    properties = {}
    people = set[str]()
    instance_counts = dict[str, int]()
    for iri in iris:
        if iri in classes:
            instance_counts[iri] = classes[iri].instances
        if (predicate := predicates.get(iri)) is not None:
            cls = _find_common(predicate.object_classes, predicate.objects, classes)
            domain = _find_common(predicate.subject_classes, predicate.subjects, classes)
            properties[iri] = PropertyFacts(
                _classify_values(predicate),
                _name_class(cls, language) if cls else "",
                cls is not None and _is_person(cls.iri, classes, wordings),
                domain is not None
                and not domain.nary
                and _is_person(domain.iri, classes, wordings),
                domain is not None and domain.nary,
                find_unit(predicate, arrays),
                predicate.triples > predicate.subjects,
            )
        if _is_person(iri, classes, wordings):
            people.add(iri)
    types = {own: standard for standard, own in graph.profile.types}
    return SchemaFacts(properties, frozenset(people), types, wordings, instance_counts)


def find_unit(predicate: PredicateProfile, arrays: GraphArrays | None) -> Unit | None:
    """Return the unit of a predicate's numbers; None if neither names nor descriptions have one."""
    if not predicate.datatypes:
        return None
    names = [*(text for text, _ in predicate.names), predicate.iri]
    texts = [] if arrays is None else list_texts(predicate.iri, arrays, v.DESCRIPTION_PREDICATES)
    return detect_unit(names, [text for text, _ in texts])


@lru_cache(maxsize=16)
def _index_profile(
    profile: Profile,
) -> tuple[Mapping[str, ClassProfile], Mapping[str, PredicateProfile]]:
    return (
        {cls.iri: cls for cls in profile.classes},
        {predicate.iri: predicate for predicate in profile.predicates},
    )


def _classify_values(predicate: PredicateProfile) -> str:
    datatypes = {name for name, _ in predicate.datatypes}
    if predicate.object_classes or not datatypes:
        return "thing" if not datatypes else ""
    for kind, members in (
        ("boolean", frozenset([v.XSD_BOOLEAN])),
        ("date", v.DATE_DATATYPES | {v.XSD_TIME}),
        ("duration", v.DURATION_DATATYPES),
        ("integer", v.INTEGER_DATATYPES),
        ("number", v.NUMERIC_DATATYPES),
    ):
        if datatypes <= members:
            return kind
    return "text"


def _find_common(
    counts: Iterable[tuple[str, int]], total: int, classes: Mapping[str, ClassProfile]
) -> ClassProfile | None:
    every = (
        classes[iri]
        for iri, count in counts
        if count >= total and iri in classes and not iri.startswith((v.OWL, v.RDFS))
    )
    return min(every, key=lambda cls: (cls.instances, cls.iri), default=None)


def _name_class(cls: ClassProfile, language: str) -> str:
    own = [(text, tag) for text, tag in cls.names if tag.split("-")[0] in (language, "")]
    if own:
        name = choose_label(own, [language]) or ""
    else:
        name = "" if language != "en" or cls.names else split_local_name(cls.iri)
    name = trim_definition(name)
    is_plain = language != "de" and name[1:2].islower()
    return name[:1].lower() + name[1:] if is_plain else name


def _is_person(
    iri: str, classes: Mapping[str, ClassProfile], wordings: Mapping[str, TermWording]
) -> bool:
    """Return whether a class has people, by vocabulary, glossary, noun or superclass."""
    waiting, seen = [iri], set[str]()
    while waiting and len(seen) < _MAX_ANCESTORS:
        iri = waiting.pop()
        if iri in seen:
            continue
        seen.add(iri)
        if iri in PERSON_CLASSES or (iri in wordings and wordings[iri].person):
            return True
        if (cls := classes.get(iri)) is not None:
            english = [text for text, tag in cls.names if tag.split("-")[0] in ("en", "")]
            if any(map(is_person_noun, english or [split_local_name(iri)])):
                return True
            waiting += cls.parents
    return False
