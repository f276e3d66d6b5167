"""Facts of a graph's schema for readings: what properties lead to, which classes are people."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from askgraph.answers.verbalize.labels import list_texts
from askgraph.answers.verbalize.phrases import is_person_noun
from askgraph.graph import KnowledgeGraph
from askgraph.graph.arrays import GraphArrays
from askgraph.graph.glossary import TermWording
from askgraph.graph.measures import Unit, detect_unit
from askgraph.graph.profile import ClassProfile, PredicateProfile, Profile
from askgraph.sparql import vocabulary as v
from askgraph.sparql.prefixes import choose_label, split_local_name

PERSON_CLASSES = frozenset(
    [
        "http://xmlns.com/foaf/0.1/Person",
        "http://schema.org/Person",
        "https://schema.org/Person",
        "http://dbpedia.org/ontology/Person",
        "http://www.wikidata.org/entity/Q5",
    ]
)
_MAX_ANCESTORS = 50


@dataclass(frozen=True)
class PropertyFacts:
    """What a graph shows of a property.

    Attributes:
        values: The kind of its values: `thing`, `integer`, `number`, `date`, `boolean`, `text`;
            empty if unknown.
        noun: The class of everything that it leads to, as a noun; empty if there are several.
        leads_to_person: Whether everything that it leads to is a person.
        is_of_person: Whether everything that has it is a person.
        is_of_node: Whether everything that has it is a node without a name that links others.
        unit: The unit of its numbers.
    """

    values: str = ""
    noun: str = ""
    leads_to_person: bool = False
    is_of_person: bool = False
    is_of_node: bool = False
    unit: Unit | None = None


NO_FACTS = PropertyFacts()


@dataclass(frozen=True)
class SchemaFacts:
    """What a graph shows of the terms of one query.

    Attributes:
        properties: The facts of each property, by its IRI.
        persons: The classes whose instances are people.
        types: The standard predicate that each of the graph's own predicates for types stands for.
        wordings: The wordings that the graph's glossary prescribes, by the IRI of the term.
    """

    properties: Mapping[str, PropertyFacts] = field(default_factory=dict)
    persons: frozenset[str] = frozenset()
    types: Mapping[str, str] = field(default_factory=dict)
    wordings: Mapping[str, TermWording] = field(default_factory=dict)


def collect_facts(
    iris: Iterable[str], graph: KnowledgeGraph, language: str, near: GraphArrays | None = None
) -> SchemaFacts:
    """Return what a graph shows of some terms; the endpoint gets no request."""
    classes, predicates = _index_profile(graph.profile)
    wordings = graph.glossary.wordings if graph.glossary else {}
    arrays = near if graph.arrays is None else graph.arrays
    properties = {}
    people = set[str]()
    for iri in iris:
        if (predicate := predicates.get(iri)) is not None:
            cls = _find_common(predicate.object_classes, predicate.objects, classes)
            domain = _find_common(predicate.subject_classes, predicate.subjects, classes)
            properties[iri] = PropertyFacts(
                _classify_values(predicate),
                _name_class(cls, language) if cls else "",
                cls is not None and _is_person(cls.iri, classes, wordings),
                domain is not None and _is_person(domain.iri, classes, wordings),
                domain is not None and domain.nary,
                find_unit(predicate, arrays),
            )
        if _is_person(iri, classes, wordings):
            people.add(iri)
    types = {own: standard for standard, own in graph.profile.types}
    return SchemaFacts(properties, frozenset(people), types, wordings)


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
        ("date", v.DATE_DATATYPES),
        ("integer", v.INTEGER_DATATYPES),
        ("number", v.NUMERIC_DATATYPES),
    ):
        if datatypes <= members:
            return kind
    return "text"


def _find_common(
    counts: Iterable[tuple[str, int]], total: int, classes: Mapping[str, ClassProfile]
) -> ClassProfile | None:
    """Return the smallest class that has all of the things at an end of a predicate."""
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
