"""Taught words: what a graph's glossary says of a question's words is linked as names are.

A word that stands for several classes is that of a class above them, for the time of the search;
the queries that are made have the classes themselves.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, reduce
from typing import Any, Final

import numpy as np
from pyoxigraph import NamedNode, Variable

from askgraph.graph import KnowledgeGraph
from askgraph.graph.glossary import Entry, Glossary
from askgraph.graph.profile import ClassProfile, Profile
from askgraph.index.names import Kind, Name, NameIndex, name_tokens, phrases
from askgraph.search.expand.schema import Schema
from askgraph.search.link import Link, LinkedQuestion, Meant, joined, link_question
from askgraph.search.operators.query_builder import Candidate
from askgraph.search.query_pieces import pattern
from askgraph.search.tokenize import TokenizedQuestion, tokenize
from askgraph.sparql import Element, Group, Pattern, Query, Term, Union, transform
from askgraph.sparql.vocabulary import RDF_TYPE

_WHOLE: Final = 0.9
"""From this similarity on a word is the one that was taught, and means nothing else."""
_MISSPELT: Final = 0.75  # from this one on it may be


def link_glossary(linked: LinkedQuestion, graph: KnowledgeGraph) -> LinkedQuestion:
    """Return the links with those that a graph's glossary says, which go before all others."""
    words = _words(graph.glossary or Glossary(), graph.names, graph.profile)
    own = [one for one in _links(linked.reading, words.names) if one.similarity >= _MISSPELT]
    if not own:
        return linked
    whole = [{*one.positions} for one in own if one.similarity >= _WHOLE]
    kept = (one for one in linked.links if not any({*one.positions} <= some for some in whole))
    meant = {
        one.positions: Meant(one.name, *words.meant[one.name], one.mask)
        for one in sorted(own, key=lambda one: one.similarity)
    }
    linked = joined(replace(linked, links=tuple(kept)), own)
    return replace(linked, taught=tuple(meant.values()))


def unite_classes(linked: LinkedQuestion) -> LinkedQuestion:
    """Return the links with one to a class above for words that stand for several classes."""
    links = list(linked.links)
    for meant in linked.taught:
        every = [
            at
            for at, one in enumerate(links)
            if one.mask == meant.mask and one.target in meant.classes
        ]
        if every:
            links[every[0]] = replace(links[every[0]], target=meant.iri)
            links = [one for at, one in enumerate(links) if at not in every[1:]]
    return replace(linked, links=tuple(links))


@dataclass(frozen=True, eq=False)
class _Words:
    """The words of a glossary as names, and by them what each stands for; see `Meant`."""

    names: NameIndex
    meant: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]


@lru_cache(maxsize=8)
def _words(glossary: Glossary, names: NameIndex, profile: Profile) -> _Words:
    found = {one.word: meanings(one, glossary, names) for one in glossary.entries if not one.query}
    several = {
        one.word: last.means if len((last := glossary.last(one)).means) > 1 else ()
        for one in glossary.entries
    }
    return _Words(
        NameIndex.of(
            Name(word, iri, kind_of(iri, profile)) for word, iris in found.items() for iri in iris
        ),
        {word: (iris, several[word]) for word, iris in found.items()},
    )


def _links(reading: TokenizedQuestion, names: NameIndex) -> tuple[Link, ...]:
    return link_question(reading, names).links if len(names) else ()


def meanings(entry: Entry, glossary: Glossary, names: NameIndex) -> tuple[str, ...]:
    """Return the IRIs that an entry stands for, those of its synonym if it is one.

    A fixed query stands for none. Raises `SetupError` for a cycle of synonyms.
    """
    last = glossary.last(entry)
    return last.means or tuple(dict.fromkeys(one.target for one in called(last.same_as, names)))


def called(text: str, names: NameIndex) -> tuple[Name, ...]:
    """Return the classes, predicates and things whose name a text is, but for plural endings."""
    words = name_tokens(text)
    return tuple(
        name
        for one in phrases(words, names, inflected=True)
        if (one.first, one.end) == (0, len(words))
        for name in one.names
        if name.kind is not Kind.VALUE
    )


def near(text: str, names: NameIndex, most: int = 5) -> tuple[str, ...]:
    """Return the names of a graph that are nearest to a text, in writing or meaning, best first."""
    found = _links(tokenize(text), names)
    return tuple(dict.fromkeys(one.name for one in found if one.kind is not Kind.VALUE))[:most]


def kind_of(iri: str, profile: Profile) -> Kind:
    """Return what an IRI is in a graph: a class, a predicate, else a thing."""
    if any(one.iri == iri or iri in one.parents for one in profile.classes):
        return Kind.CLASS
    return Kind.PREDICATE if any(one.iri == iri for one in profile.predicates) else Kind.ENTITY


@lru_cache(maxsize=16)
def add_superclasses(profile: Profile, taught: tuple[Meant, ...]) -> Profile:
    """Return a profile with a class above those that a word stands for, for each such word."""
    above = {one.iri: one for one in taught if one.classes}
    over: dict[str, list[str]] = {}
    for iri, meant in above.items():
        for one in meant.classes:
            over.setdefault(one, []).append(iri)
    known = {one.iri for one in profile.classes}
    more = (ClassProfile(iri, 0) for iri in over if iri not in known)
    classes = [
        replace(one, parents=(*one.parents, *over.get(one.iri, ())))
        for one in (*profile.classes, *more)
    ]
    made = (ClassProfile(iri, 0, names=((one.word, ""),)) for iri, one in above.items())
    return replace(profile, classes=(*classes, *made))


def restore_classes(
    candidates: Iterable[Candidate], taught: Sequence[Meant], schema: Schema
) -> Iterator[Candidate]:
    """Yield candidates with a union of classes for each class above them."""
    above = {one.iri: one.classes for one in taught if one.classes}

    def change(node: Any) -> Any:
        if isinstance(node, Pattern) and isinstance(node.object, NamedNode):
            typed = [_typed(node.subject, one, schema) for one in above.get(node.object.value, ())]
            return _either(typed, schema) if typed else node
        return node

    for one in candidates:
        yield replace(one, tree=transform(one.tree, change))


def _typed(subject: Term, cls: str, schema: Schema) -> Pattern:
    return pattern(subject, RDF_TYPE, NamedNode(cls), walked=schema.below(cls))


def _either(typed: Sequence[Pattern], schema: Schema) -> Element:
    """What fits one of some patterns, each thing once."""
    union = Union(tuple(Group((one,)) for one in typed))
    members = [
        schema.instances(one.object.value) for one in typed if isinstance(one.object, NamedNode)
    ]
    apart = sum(map(len, members)) == len(reduce(np.union1d, members))
    subject = typed[0].subject
    if apart or not isinstance(subject, Variable):
        return union
    return Query("SELECT", Group((union,)), ((subject, None),), distinct=True)
