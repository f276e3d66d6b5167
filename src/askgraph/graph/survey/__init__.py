"""The survey of a big graph: facts that its endpoint returned, until they make a profile."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from pyoxigraph import Literal

from askgraph.graph.names import NameShape, naming_role, standard_naming
from askgraph.graph.profile import (
    ClassProfile,
    Part,
    Partition,
    PredicateProfile,
    Profile,
    with_parts,
)
from askgraph.sparql import vocabulary as v
from askgraph.sparql.results import Term, value_of

Tally = dict[str, Counter[str]]


@dataclass
class Facts:
    """The facts known so far, by IRI of classes and predicates.

    `sampled` are the predicates of which a kind of ends is that of a sample, scaled up.
    """

    classes: dict[str, int] = field(default_factory=dict)
    triples: dict[str, int] = field(default_factory=dict)
    subjects: dict[str, int] = field(default_factory=dict)
    objects: dict[str, int] = field(default_factory=dict)
    subject_classes: Tally = field(default_factory=lambda: defaultdict(Counter))
    object_classes: Tally = field(default_factory=lambda: defaultdict(Counter))
    datatypes: Tally = field(default_factory=lambda: defaultdict(Counter))
    languages: Tally = field(default_factory=lambda: defaultdict(Counter))
    texts: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    described: dict[str, list[tuple[str, Term]]] = field(default_factory=lambda: defaultdict(list))
    sampled: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    chains: set[str] = field(default_factory=set)
    mirrored: set[tuple[str, str]] = field(default_factory=set)
    partitions: dict[tuple[str, str], Partition] = field(default_factory=dict)
    parts: dict[str, Part] = field(default_factory=dict)
    cuts: list[str] = field(default_factory=list)
    properties: dict[str, str] = field(default_factory=dict)  # that have a predicate's names
    types: dict[str, str] = field(default_factory=dict)  # own predicates by the standard ones

    def predicates(self) -> list[str]:
        """Predicates, the most frequent first."""
        return sorted(self.triples, key=lambda iri: (-self.triples[iri], iri))

    def count_own_types(self) -> None:
        """Give the standard predicates the numbers of those that stand for them."""
        for standard, own in self.types.items():
            for tally in (self.triples, self.subjects, self.objects):
                tally.pop(standard, None)
                if own in tally:
                    tally[standard] = tally[own]

    def profile(self, total: int | None, *, source: str, created: str) -> Profile:
        """Return all of it as a profile."""
        cuts = list(self.cuts)
        if total is None:
            total = sum(self.triples.values())
            cuts.append("the number of triples is the sum of what is known of its predicates")
        predicates = tuple(_predicate(self, iri) for iri in self.predicates())
        leaving: dict[str, list[tuple[PredicateProfile, int]]] = defaultdict(list)
        for predicate in predicates:
            for cls, number in predicate.subject_classes:
                leaving[cls].append((predicate, number))
        classes = [_class(self, iri, leaving[iri]) for iri in self.classes]
        languages: Counter[str] = Counter()
        for tally in self.languages.values():
            languages.update(tally)
        return Profile(
            triples=total,
            classes=tuple(sorted(classes, key=lambda c: (-c.instances, c.iri))),
            predicates=predicates,
            languages=tuple(languages.most_common()),
            cuts=tuple(cuts),
            source=source,
            created=created,
            partitions=tuple(self.partitions[key] for key in sorted(self.partitions)),
            completeness=with_parts((), self.parts),
            types=tuple(self.types.items()),
        )


def _predicate(facts: Facts, iri: str) -> PredicateProfile:
    triples = facts.triples[iri]
    objects = facts.object_classes[iri].most_common()
    resources = triples - sum(facts.datatypes[iri].values())
    lost = len(facts.datatypes[iri]) if any(iri in some for some in facts.sampled.values()) else 0
    if not objects and (resources > lost or not facts.datatypes[iri]):
        objects = [(v.RDFS_RESOURCE, max(1, resources))]
    described = facts.described[iri]
    declared = [value_of(term) or "" for p, term in described if p == v.OWL_INVERSE_OF]
    declared += [q for p, q in facts.mirrored if p == iri]
    transitive = any(value_of(term) == v.OWL_TRANSITIVE_PROPERTY for _, term in described)
    draft = PredicateProfile(
        iri=iri,
        triples=triples,
        subjects=facts.subjects.get(iri, triples),
        objects=facts.objects.get(iri, triples),
        names=_names(described),
        subject_classes=tuple(facts.subject_classes[iri].most_common()),
        object_classes=tuple(objects),
        datatypes=tuple(facts.datatypes[iri].most_common()),
        languages=tuple(facts.languages[iri].most_common()),
        transitive=transitive or iri in facts.chains,
        inverse_of=tuple(sorted(set(declared))),
    )
    if facts.properties:  # in a Wikibase things have labels, and pages `schema:name`
        role = standard_naming(iri) if iri != v.SCHEMA_NAME else ""
    else:
        role = naming_role(draft, facts.texts[iri]) if facts.texts[iri] else standard_naming(iri)
    things = facts.object_classes[iri] and not draft.datatypes
    return replace(draft, naming="" if things else role)


def _class(facts: Facts, iri: str, leaving: Sequence[tuple[PredicateProfile, int]]) -> ClassProfile:
    instances = facts.classes[iri]
    named = [
        (_shape(p, iri, bearers / instances).score, p.iri)
        for p, bearers in leaving
        if p.naming == "name" and bearers >= 0.5 * instances > 0
    ]
    name = max(named)[1] if named else None
    unsure = any(standard_naming(p) == "name" for some in facts.sampled.values() for p in some)
    links = sum(
        min(number, instances)
        for p, number in leaving
        if p.object_classes and p.iri not in (v.RDF_TYPE, v.OWL_SAME_AS)
    )
    described = facts.described[iri]
    return ClassProfile(
        iri=iri,
        instances=instances,
        names=_names(described),
        parents=tuple(value_of(t) or "" for p, t in described if p == v.RDFS_SUB_CLASS_OF),
        name_predicate=name,
        nary=name is None and not unsure and links >= 2 * instances > 0,
    )


def _shape(predicate: PredicateProfile, cls: str, coverage: float) -> NameShape:
    distinct = predicate.objects / max(1, predicate.triples)
    return NameShape(predicate.iri, cls, min(1.0, coverage), min(1.0, distinct))


def _names(described: Sequence[tuple[str, Term]]) -> tuple[tuple[str, str], ...]:
    order = {iri: at for at, iri in enumerate(_LABELLING)}
    labels = [
        (order[predicate], term)
        for predicate, term in described
        if predicate in order and isinstance(term, Literal)
    ]
    labels.sort(key=lambda item: item[0])
    return tuple(dict.fromkeys((term.value, term.language or "") for _, term in labels))


_LABELLING = v.LABEL_PREDICATES + v.ALTERNATIVE_LABEL_PREDICATES
