"""The literal values that a property usually has: all of few, the most frequent of many."""

from collections.abc import Iterator
from weakref import WeakKeyDictionary

import numpy as np

from askgraph.metadata import PredicateProfile
from askgraph.rdf import vocabulary as v
from askgraph.traversal.arrays import GraphArrays

__all__ = ["usual_values"]

_FEW = 6  # values up to which all are shown
_MANY, _SOME = 60, 3  # texts up to which so many are shown; of more, and of numbers, only one
_TEXTS = (v.XSD_STRING, v.RDF_LANG_STRING)
_KNOWN: WeakKeyDictionary[GraphArrays, dict[str, tuple[str, ...]]] = WeakKeyDictionary()


def usual_values(arrays: GraphArrays | None, p: PredicateProfile) -> tuple[str, ...]:
    """Return values of a property, the most frequent first, as N-Triples; kept for next time.

    None where its objects are things, or the triples do not lie here.
    """
    if arrays is None or not p.literal:
        return ()
    known = _KNOWN.setdefault(arrays, {})
    if p.iri not in known:
        known[p.iri] = tuple(_most_frequent(arrays, p))
    return known[p.iri]


def _most_frequent(arrays: GraphArrays, p: PredicateProfile) -> Iterator[str]:
    number = arrays.number(p.iri)
    if number is None:
        return
    _, objects = arrays.pairs(arrays.ends(number), number)
    values, counts = np.unique(objects, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    some = _SOME if len(values) <= _MANY and p.datatypes[0][0] in _TEXTS else 1
    yield from map(
        arrays.terms.text, values[order[: _FEW if len(values) <= _FEW else some]].tolist()
    )
