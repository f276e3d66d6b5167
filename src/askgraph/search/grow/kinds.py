"""Kinds of what a graph's classes and predicates hold: persons, bodies, places, times.

Words in their names tell, those of the classes above, and predicates that only one kind has.
"""

from collections.abc import Callable, Hashable
from typing import TypeVar

import numpy as np

from askgraph.rdf.labels import words_of_local_name
from askgraph.rdf.vocabulary import GEO
from askgraph.search.grow.schema import Schema
from askgraph.search.linking.kind_words import NONE, Kinds, kinds_of_names, signs_in
from askgraph.search.linking.word_lists import shared_words
from askgraph.traversal.arrays import Ids

_LOOKED_AT = 20
"""So many nodes tell the classes of all."""
_CLASSES = 4
"""So many classes of what a predicate leads to, the most frequent ones."""

_FIRST, _LAST = 1000, 2100
"""Whole numbers between these may all be years."""

_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value")


def _kept(schema: Schema, name: str, key: _Key, find: Callable[[Schema, _Key], _Value]) -> _Value:
    """What a function finds in a schema, looked up once."""
    known = schema.found[name]
    if key not in known:
        known[key] = find(schema, key)
    found: _Value = known[key]
    return found


def kinds_of_class(schema: Schema, cls: str) -> Kinds:
    """Return the kinds of a class's instances; none if nothing tells."""
    return _kept(schema, "kinds_of_class", cls, _of_class)


def _of_class(schema: Schema, cls: str) -> Kinds:
    found: Kinds = NONE
    listed = [cls]
    for one in listed:
        profile = schema.classes.get(one)
        if profile is not None:
            found |= kinds_of_names(profile.names or ((words_of_local_name(one), ""),))
            listed += [above for above in profile.parents if above not in listed]
    signs = _signs(schema)
    told = NONE.union(*(signs.get(one, NONE) for one in listed))
    return found or (told if len(told) == 1 else NONE)


def _signs(schema: Schema) -> dict[str, Kinds]:
    """The kinds that a class's predicates tell of."""
    known = schema.found["signs_of_classes"]
    if not known:
        known[""] = NONE
        for number, profile in schema.predicates.items():
            told = signs_in(schema.words(number))
            if any(name.startswith(GEO) for name, _ in profile.datatypes):
                told |= {"places"}
            for cls, _ in profile.subject_classes if told else ():
                known[cls] = known.get(cls, NONE) | told
    return known


def kinds_of_predicate(schema: Schema, number: int) -> Kinds:
    """Return the kinds that a predicate's own names tell of: place for "birth place"."""
    return _kept(schema, "kinds_of_predicate", number, _of_predicate)


def _of_predicate(schema: Schema, number: int) -> Kinds:
    profile = schema.predicates[number]
    return kinds_of_names((*profile.names, (words_of_local_name(profile.iri), "")))


def kinds_of_objects(schema: Schema, number: int) -> Kinds:
    """Return the kinds of what a predicate leads to, by its names and by the classes."""
    return _kept(schema, "kinds_of_objects", number, _of_objects)


def _of_objects(schema: Schema, number: int) -> Kinds:
    classes = schema.predicates[number].object_classes[:_CLASSES]
    own = kinds_of_predicate(schema, number)
    return own.union(*(kinds_of_class(schema, cls) for cls, _ in classes))


def kinds_of_nodes(schema: Schema, ids: Ids) -> Kinds:
    """Return the kinds of some nodes, by the classes of a few of them."""
    first = schema.graph.terms.first_iri
    sample = ids[:: len(ids) // _LOOKED_AT + 1].tolist()
    classes = {cls for at in sample if at >= first for cls in schema.classes_of(at)}
    return NONE.union(*(kinds_of_class(schema, cls) for cls in classes))


def has_kind(schema: Schema, kind: str) -> bool:
    """Return whether instances of any class of the graph are of a kind."""
    return _kept(schema, "has_kind", kind, _has_kind)


def _has_kind(schema: Schema, kind: str) -> bool:
    return any(kind in kinds_of_class(schema, cls) for cls in schema.classes)


def holds_years(schema: Schema, number: int) -> bool:
    """Return whether a predicate's numbers may be years, by their size or by its names."""
    return _kept(schema, "holds_years", number, _holds_years)


def _holds_years(schema: Schema, number: int) -> bool:
    if not schema.words(number).isdisjoint(shared_words().names["times"]):
        return True
    objects = schema.graph.ends(number, inverse=True)
    values = schema.graph.values[objects[objects < schema.graph.terms.first_iri]]
    whole = values == np.floor(values)
    return bool(len(values)) and bool((whole & (values > _FIRST) & (values < _LAST)).all())
