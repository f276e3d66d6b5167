"""Link words of a graph's glossary as if they were names of the graph.

A word for several classes becomes a virtual class above them during the search; the resulting
queries contain the classes themselves.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, reduce
from typing import Any, Final

import numpy as np
from pyoxigraph import NamedNode, Variable

from askgraph.graph import KnowledgeGraph
from askgraph.graph.glossary import Glossary, GlossaryEntry
from askgraph.graph.profile import ClassProfile, Profile
from askgraph.index.names import IndexedName, ItemKind, NameIndex, find_phrases, stem_name
from askgraph.search.expand.schema import Schema, build_schema
from askgraph.search.link import GlossaryWord, Link, LinkedQuestion, add_links, link_question
from askgraph.search.operators.query_builder import QueryCandidate
from askgraph.search.query_pieces import build_pattern
from askgraph.search.tokenize import TokenizedQuestion, tokenize
from askgraph.sparql import Element, Group, Pattern, Query, Term, Union, transform
from askgraph.sparql.vocabulary import RDF_TYPE

_FULL_MATCH_SHARE: Final = 0.9
"""Minimum similarity of a word that is exactly the glossary's and means nothing else."""
_MIN_MATCH_SHARE: Final = 0.75  # it may be from this position on


def link_glossary(linked: LinkedQuestion, graph: KnowledgeGraph) -> LinkedQuestion:
    """Add the links of a graph's glossary to a question, ahead of all other links."""
    words = _index_glossary(graph.glossary or Glossary(), graph.names, graph.profile)
    glossary_links = [
        link
        for link in _link_words(linked.reading, words.names)
        if link.similarity >= _MIN_MATCH_SHARE
    ]
    if not glossary_links:
        return linked
    exact = [{*link.positions} for link in glossary_links if link.similarity >= _FULL_MATCH_SHARE]
    remaining = (
        link
        for link in linked.links
        if not any({*link.positions} <= positions for positions in exact)
    )
    glossary_words = {
        link.positions: GlossaryWord(link.name, *words.targets[link.name], link.mask)
        for link in sorted(glossary_links, key=lambda link: link.similarity)
    }
    linked = add_links(replace(linked, links=tuple(remaining)), glossary_links)
    return replace(linked, glossary_words=tuple(glossary_words.values()))


_HEAD_SCORE: Final = 0.9  # score of the last words of several classes' names, for all of them


def unite_class_heads(
    linked: LinkedQuestion, words: Sequence[GlossaryWord], schema: Schema
) -> tuple[LinkedQuestion, Schema]:
    """Return a question and a schema in which last words of names name a virtual class.

    Args:
        linked: the question.
        words: the words; see `askgraph.search.expand.generic_nouns.find_class_heads`.
    """
    linked = unite_classes(replace(linked, glossary_words=tuple(words)))
    targets = {word.iri: word.word for word in words}
    links = tuple(
        replace(link, name=targets[link.target], similarity=_HEAD_SCORE)
        if link.target in targets
        else link
        for link in linked.links
    )
    united = replace(linked, links=links, glossary_words=())
    placeless = tuple(replace(word, mask=0) for word in words)  # found again in other questions
    return united, build_schema(schema.graph, add_superclasses(schema.profile, placeless))


def unite_classes(linked: LinkedQuestion) -> LinkedQuestion:
    """Replace the links of a word for several classes by one link to a virtual class above them."""
    links = list(linked.links)
    for word in linked.glossary_words:
        class_links = [
            at
            for at, link in enumerate(links)
            if link.mask == word.mask and link.target in word.classes
        ]
        if class_links:
            links[class_links[0]] = replace(links[class_links[0]], target=word.iri)
            links = [link for at, link in enumerate(links) if at not in class_links[1:]]
    return replace(linked, links=tuple(links))


@dataclass(frozen=True, eq=False)
class _GlossaryIndex:
    """The words of a glossary as names, with the IRIs that each stands for; see `GlossaryWord`."""

    names: NameIndex
    targets: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]


@lru_cache(maxsize=8)
def _index_glossary(glossary: Glossary, names: NameIndex, profile: Profile) -> _GlossaryIndex:
    targets = {
        entry.word: resolve_entry(entry, glossary, names)
        for entry in glossary.entries
        if not entry.query
    }
    classes = {
        entry.word: resolved.means
        if len((resolved := glossary.resolve_synonyms(entry)).means) > 1
        else ()
        for entry in glossary.entries
    }
    return _GlossaryIndex(
        NameIndex.from_names(
            IndexedName(word, iri, classify_iri(iri, profile))
            for word, iris in targets.items()
            for iri in iris
        ),
        {word: (iris, classes[word]) for word, iris in targets.items()},
    )


def _link_words(reading: TokenizedQuestion, names: NameIndex) -> tuple[Link, ...]:
    return link_question(reading, names).links if len(names) else ()


def resolve_entry(entry: GlossaryEntry, glossary: Glossary, names: NameIndex) -> tuple[str, ...]:
    """Return the IRIs of a glossary entry, of its synonym if it refers to one.

    A fixed query has none.

    Raises:
        SetupError: the synonyms form a cycle.
    """
    resolved = glossary.resolve_synonyms(entry)
    return resolved.means or tuple(
        dict.fromkeys(name.target for name in find_exact_names(resolved.same_as, names))
    )


def find_exact_names(text: str, names: NameIndex) -> tuple[IndexedName, ...]:
    """Return the classes, predicates and things with this name, ignoring plural endings."""
    words = stem_name(text)
    return tuple(
        name
        for phrase in find_phrases(words, names, inflected=True)
        if (phrase.first, phrase.end) == (0, len(words))
        for name in phrase.names
        if name.kind is not ItemKind.VALUE
    )


def suggest_names(text: str, names: NameIndex, limit: int = 5) -> tuple[str, ...]:
    """Return the names of a graph nearest to a text, by spelling or meaning, best first."""
    links = _link_words(tokenize(text), names)
    return tuple(dict.fromkeys(link.name for link in links if link.kind is not ItemKind.VALUE))[
        :limit
    ]


def classify_iri(iri: str, profile: Profile) -> ItemKind:
    """Return whether an IRI is a class, a predicate or else a thing of a graph."""
    if any(
        profile_entry.iri == iri or iri in profile_entry.parents
        for profile_entry in profile.classes
    ):
        return ItemKind.CLASS
    return (
        ItemKind.PREDICATE
        if any(profile_entry.iri == iri for profile_entry in profile.predicates)
        else ItemKind.ENTITY
    )


@lru_cache(maxsize=16)
def add_superclasses(profile: Profile, words: tuple[GlossaryWord, ...]) -> Profile:
    """Return a profile with a virtual class above the classes of each such word."""
    words_by_iri = {item.iri: item for item in words if item.classes}
    parents: dict[str, list[str]] = {}
    for iri, word in words_by_iri.items():
        for item in word.classes:
            parents.setdefault(item, []).append(iri)
    known_iris = {item.iri for item in profile.classes}
    missing = (ClassProfile(iri, 0) for iri in parents if iri not in known_iris)
    classes = [
        replace(item, parents=(*item.parents, *parents.get(item.iri, ())))
        for item in (*profile.classes, *missing)
    ]
    virtual = (ClassProfile(iri, 0, names=((item.word, ""),)) for iri, item in words_by_iri.items())
    return replace(profile, classes=(*classes, *virtual))


def restore_classes(
    candidates: Iterable[QueryCandidate], words: Sequence[GlossaryWord], schema: Schema
) -> Iterator[QueryCandidate]:
    """Yield the candidates with each virtual class replaced by a union of its classes."""
    classes_by_iri = {item.iri: item.classes for item in words if item.classes}

    def replace_virtual_class(node: Any) -> Any:
        if isinstance(node, Pattern) and isinstance(node.object, NamedNode):
            patterns = [
                _build_type_pattern(node.subject, cls, schema)
                for cls in classes_by_iri.get(node.object.value, ())
            ]
            return _build_union(patterns, schema) if patterns else node
        return node

    for item in candidates:
        tree, window = transform((item.tree, item.window), replace_virtual_class)
        yield replace(item, tree=tree, window=window)


def _build_type_pattern(subject: Term, cls: str, schema: Schema) -> Pattern:
    return build_pattern(
        subject, RDF_TYPE, NamedNode(cls), is_transitive=schema.has_subclass_instances(cls)
    )


def _build_union(patterns: Sequence[Pattern], schema: Schema) -> Element:
    """Return what matches any of these patterns, each subject once."""
    union = Union(tuple(Group((item,)) for item in patterns))
    members = [
        schema.get_instances(item.object.value)
        for item in patterns
        if isinstance(item.object, NamedNode)
    ]
    is_disjoint = sum(map(len, members)) == len(reduce(np.union1d, members))
    subject = patterns[0].subject
    if is_disjoint or not isinstance(subject, Variable):
        return union
    return Query("SELECT", Group((union,)), ((subject, None),), distinct=True)
