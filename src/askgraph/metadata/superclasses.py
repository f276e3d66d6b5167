"""Superclasses without instances of their own: they stand for the classes below them."""

from askgraph.metadata import ClassProfile, Profile
from askgraph.metadata.stated import names_of, objects_of
from askgraph.rdf import vocabulary as v
from askgraph.rdf.vocabulary import SCHEMA_SPACES
from askgraph.traversal.arrays import GraphArrays


def classes_above(graph: GraphArrays, profile: Profile) -> tuple[ClassProfile, ...]:
    """Return the classes above those of a profile that the profile does not have.

    They count no instances: all of theirs are instances of classes below them.
    """
    known = {one.iri for one in profile.classes}
    listed = [above for one in profile.classes for above in one.parents]
    found = {}
    for iri in listed:
        if iri not in known and not iri.startswith(SCHEMA_SPACES):
            known.add(iri)
            parents = objects_of(graph, iri, v.RDFS_SUB_CLASS_OF)
            found[iri] = ClassProfile(iri, 0, names=names_of(graph, iri), parents=parents)
            listed += parents
    return tuple(found.values())
