"""Every name in a graph: of its classes, predicates and entities, and its short literal values."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from askgraph.index.names import Kind, Name
from askgraph.index.tokens import stem, tokens
from askgraph.metadata import ClassProfile, PredicateProfile, Profile
from askgraph.metadata.naming import standard_naming
from askgraph.rdf import vocabulary as v
from askgraph.rdf.labels import words_of_local_name
from askgraph.traversal.arrays import GraphArrays
from askgraph.traversal.literals import Sort, split_literal

__all__ = ["SCHEMA_SPACES", "acronym", "local_name", "names_in", "schema_names", "short_value"]

SCHEMA_SPACES = (v.RDF, v.RDFS, v.OWL, v.XSD, v.SH, v.VOID)
_LONGEST_VALUE = 80
_MOST_VALUE_TOKENS = 8
_ALIKE = 5


def schema_names(profile: Profile) -> Iterator[Name]:
    """Names of classes and predicates: their labels, and their readable local names."""
    owners = _owners(profile)
    both: tuple[tuple[Sequence[ClassProfile | PredicateProfile], Kind], ...] = (
        (profile.classes, Kind.CLASS),
        (profile.predicates, Kind.PREDICATE),
    )
    for listed, kind in both:
        for item in listed:
            if item.iri.startswith(SCHEMA_SPACES):
                continue
            for text, _ in item.names:
                yield Name(text, item.iri, kind)
            local = local_name(item.iri)
            if local and not any(tokens(local) == tokens(text) for text, _ in item.names):
                yield Name(local, item.iri, kind, preferred=not item.names)
            if kind is Kind.PREDICATE:
                texts = [text for text, _ in item.names] + [local]
                yield from _shorter(item.iri, texts, owners.get(item.iri, frozenset()))


def _owners(profile: Profile) -> dict[str, frozenset[str]]:
    """The words of the class that alone uses a predicate: they add nothing to its name."""
    names = {c.iri: [text for text, _ in c.names] or [local_name(c.iri)] for c in profile.classes}
    return {
        p.iri: frozenset(
            stem(word) for text in names.get(p.subject_classes[0][0], []) for word in tokens(text)
        )
        for p in profile.predicates
        if len(p.subject_classes) == 1
    }


def _shorter(iri: str, texts: list[str], owner: frozenset[str]) -> Iterator[Name]:
    """A predicate's names without function words, and without the words of its class."""
    for text in texts:
        words = [word for word in tokens(text) if word not in _FUNCTION_WORDS]
        if words and len(words) < len(tokens(text)):
            yield Name(" ".join(words), iri, Kind.PREDICATE, preferred=False)
        own = [word for word in words if stem(word) not in owner]
        if own and len(own) < len(words):
            yield Name(" ".join(own), iri, Kind.PREDICATE, preferred=False)


_FUNCTION_WORDS = frozenset("a an the of in on at by to for has have had is are was be ref".split())


def names_in(graph: GraphArrays, profile: Profile) -> Iterator[Name]:
    """All names of a graph, schema first."""
    yield from schema_names(profile)
    schema = {c.iri for c in profile.classes} | {p.iri for p in profile.predicates}
    yield from _entities(graph, profile, schema)
    yield from _values(graph, profile)


def local_name(iri: str) -> str:
    """Return the words of an IRI's local part, or "" where it is a code."""
    words = words_of_local_name(iri)
    letters = sum(c.isalpha() for c in words)
    return words if letters >= 2 and letters > sum(c.isdigit() for c in words) else ""


def acronym(text: str) -> str:
    """Return the initials of a name of three words or more, else ""."""
    words = re.findall(r"[^\W\d_]+", text)
    initials = [word[0] for word in words if word[0].isupper()]
    short = all(word[0].isupper() or len(word) <= 3 for word in words)
    return "".join(initials) if len(initials) >= 3 and short else ""


def short_value(text: str) -> bool:
    """Whether a literal is short enough to be mentioned in a question."""
    return len(text) <= _LONGEST_VALUE and 0 < len(tokens(text)) <= _MOST_VALUE_TOKENS


def _entities(graph: GraphArrays, profile: Profile, schema: set[str]) -> Iterator[Name]:
    named = np.zeros(len(graph.terms), dtype=np.bool_)
    for predicate in profile.predicates:
        if not predicate.naming:
            continue
        number = graph.number(predicate.iri)
        if number is None:
            continue
        subjects, objects = graph.pairs(graph.ends(number), number)
        named[subjects] = True
        if standard_naming(predicate.iri):
            yield from _labelled(graph, subjects, objects, schema, predicate.naming == "name")
    yield from _readable(graph, named, schema)


def _labelled(
    graph: GraphArrays, subjects: np.ndarray, objects: np.ndarray, schema: set[str], main: bool
) -> Iterator[Name]:
    for subject, literal in zip(subjects.tolist(), objects.tolist(), strict=True):
        if not (graph.terms.is_iri(subject) and graph.terms.is_literal(literal)):
            continue
        target = graph.terms.value(subject)
        if target in schema:
            continue
        text = graph.terms.value(literal)
        yield Name(text, target, Kind.ENTITY, main)
        initials = acronym(text)
        if initials:
            yield Name(initials, target, Kind.ENTITY, preferred=False)


def _readable(graph: GraphArrays, named: np.ndarray, schema: set[str]) -> Iterator[Name]:
    """Local names of IRIs without a name, where they are words and not numbered alike."""
    nameless = []
    for at in range(graph.terms.first_iri, graph.terms.first_blank):
        if not named[at] and graph.out_offsets[at + 1] + graph.in_offsets[at + 1] > (
            graph.out_offsets[at] + graph.in_offsets[at]
        ):
            iri = graph.terms.value(at)
            if iri not in schema and not iri.startswith(SCHEMA_SPACES):
                nameless.append((iri, local_name(iri)))
    shapes = Counter(re.sub(r"\d+", "#", local) for _, local in nameless)
    for iri, local in nameless:
        if local and shapes[re.sub(r"\d+", "#", local)] <= _ALIKE:
            yield Name(local, iri, Kind.ENTITY, preferred=False)


def _values(graph: GraphArrays, profile: Profile) -> Iterator[Name]:
    wanted = np.zeros(graph.terms.first_iri, dtype=np.bool_)
    for predicate in profile.predicates:
        number = graph.number(predicate.iri)
        if number is None or standard_naming(predicate.iri) or _describes(predicate.iri):
            continue
        objects = graph.ends(number, inverse=True)
        wanted[objects[objects < graph.terms.first_iri]] = True
    texts = np.isin(graph.sorts, (Sort.TEXT, Sort.TEXT_NUMBER, Sort.TEXT_DATE))
    for at in np.flatnonzero(wanted & texts).tolist():
        value = split_literal(graph.terms.text(at))[0]
        if short_value(value):
            yield Name(value, graph.terms.text(at), Kind.VALUE)


def _describes(iri: str) -> bool:
    return iri in v.DESCRIPTION_PREDICATES
