"""The classes that tell most of what lies at an end of a predicate, where there are many."""

from collections.abc import Iterable, Sequence

from askgraph.metadata import PredicateProfile, Profile
from askgraph.metadata.names import SCHEMA_SPACES
from askgraph.rdf import vocabulary as v

__all__ = ["common", "ends_of", "narrowest"]


def narrowest(types: Iterable[str], profile: Profile, *, most: int = 2) -> tuple[str, ...]:
    """Return the classes that tell most: none above another of them, the smallest first."""
    known = {cls.iri: cls for cls in profile.classes}
    own = [iri for iri in dict.fromkeys(types) if not iri.startswith(SCHEMA_SPACES)]
    above = {
        parent for iri in own if iri in known for parent in known[iri].parents if parent != iri
    }
    told = [iri for iri in own if iri not in above] or own
    told.sort(key=lambda iri: known[iri].instances if iri in known else 0)
    return tuple(told[:most]) or tuple(dict.fromkeys(types))[:1]


def common(
    counted: Sequence[tuple[str, int]], total: int, profile: Profile, *, most: int = 2
) -> tuple[str, ...]:
    """Return the narrowest class that (nearly) all are of, else the most frequent classes.

    `counted` are classes or datatypes with their numbers, out of a `total`.
    """
    telling = [(iri, n) for iri, n in counted if not iri.startswith((v.RDFS, v.OWL, v.RDF))]
    whole = [iri for iri, n in telling if n >= 0.99 * total]
    if whole:
        return narrowest(whole, profile, most=1)
    few = telling[: most + 1]
    parents = {cls.iri: cls.parents for cls in profile.classes}
    above = {
        iri
        for iri, n in few
        for other, m in few
        if iri in parents.get(other, ()) and iri != other and m >= 0.9 * n
    }
    return tuple(iri for iri, _ in few if iri not in above)[:most]


def ends_of(p: PredicateProfile, profile: Profile, *, inverse: bool) -> tuple[str, ...]:
    """Return the classes (or datatypes) that a predicate leads to; those it leads from, inverse."""
    if inverse:
        return common(p.subject_classes, p.subjects, profile)
    if p.object_classes and not p.datatypes:
        return common(p.object_classes, p.objects, profile)
    return tuple(iri for iri, _ in (*p.datatypes, *p.object_classes))[:2]
