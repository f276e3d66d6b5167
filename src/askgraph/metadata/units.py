"""Predicates that tell in what a number is given: a unit, a currency."""

from askgraph.metadata import PredicateProfile
from askgraph.rdf import vocabulary as v

__all__ = ["is_unit_like"]

_OFTEN = 20  # times that each value is used, at least, in the mean
_TEXTS = (v.XSD_STRING, v.RDF_LANG_STRING)


def is_unit_like(profile: PredicateProfile) -> bool:
    """Return whether a predicate has few texts that come again and again, and that name nothing."""
    texts = sum(count for datatype, count in profile.datatypes if datatype in _TEXTS)
    few = profile.objects * _OFTEN <= profile.triples
    return few and texts * 2 > profile.triples and not profile.naming
