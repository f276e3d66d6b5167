"""The picture of a graph: its largest classes, and the predicate that links each two most."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from askgraph.graph.profile import ClassProfile, PredicateProfile, Profile
from askgraph.sparql import vocabulary as v

_FEW, _NEARLY = 5, 0.8  # classes that say all of one above them, and the share that is nearly all


@dataclass(frozen=True)
class Link:
    """The triples that lead from instances of a class to those of another by one predicate."""

    source: str
    predicate: str
    target: str
    triples: int


@dataclass(frozen=True)
class Picture:
    """The largest classes, largest first, and the links between them, most used first."""

    classes: tuple[ClassProfile, ...]
    links: tuple[Link, ...]


def largest_classes(profile: Profile) -> list[ClassProfile]:
    """Return the classes of a graph's things, largest first.

    Left out are those of its schema, and a class of which a few of its own say all: people, where
    nearly all of them are astronauts or scientists.
    """
    found = [one for one in profile.classes if one.instances and not is_schema(one.iri)]
    below: dict[str, list[int]] = {}
    for one in found:
        for parent in one.parents:
            below.setdefault(parent, []).append(one.instances)
    said = (sum(sorted(below.get(one.iri, ()))[-_FEW:]) for one in found)
    kept = [one for one, few in zip(found, said, strict=True) if few < _NEARLY * one.instances]
    return sorted(kept, key=lambda one: (-one.instances, one.iri))


def is_schema(iri: str) -> bool:
    """Whether a term is of a vocabulary in which schemas are written."""
    return iri.startswith(v.SCHEMA_SPACES)


def picture_of(profile: Profile, *, classes: int = 12, links: int = 20) -> Picture:
    """Return the picture of a profile; it is made of its counts, nothing is asked.

    Between two classes there is one link, of the predicate with the most triples. Where a profile
    has no partitions, classes are linked that stand at most ends of a predicate.
    """
    shown = tuple(largest_classes(profile)[:classes])
    names = {one.iri for one in shown}
    known = {one.iri: one for one in profile.predicates}
    best: dict[frozenset[str], Link] = {}
    for link in _links(profile, known):
        ends = frozenset((link.source, link.target))
        if ends <= names and link.triples > getattr(best.get(ends), "triples", 0):
            best[ends] = link
    ordered = sorted(best.values(), key=lambda one: (-one.triples, one.source, one.target))
    return Picture(shown, tuple(ordered[:links]))


def _links(profile: Profile, known: Mapping[str, PredicateProfile]) -> Iterator[Link]:
    counted: Counter[tuple[str, str, str]] = Counter()
    for one in profile.partitions:
        if is_schema(one.predicate) or (one.predicate in known and known[one.predicate].steps > 1):
            continue
        for target, triples in one.targets:
            counted[one.cls, one.predicate, target] += triples or one.triples or 1
    if not counted:
        for predicate in profile.predicates:
            ends = (predicate.subject_classes[:1], predicate.object_classes[:1])
            for (source, _), (target, _) in zip(*ends, strict=False):
                counted[source, predicate.iri, target] = predicate.triples or 1
    for (source, name, target), triples in counted.items():
        yield Link(source, name, target, triples)
