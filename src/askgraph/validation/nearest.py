"""Likeness of names, and the names of a graph that come nearest to one it does not have."""

from collections.abc import Iterator
from typing import Literal

from rapidfuzz import fuzz
from rapidfuzz.distance import OSA
from rapidfuzz.process import extract

from askgraph.graph import KnowledgeGraph
from askgraph.index.names import Kind, NameIndex
from askgraph.index.tokens import stem, tokens
from askgraph.metadata import ClassProfile, PredicateProfile
from askgraph.rdf.labels import words_of_local_name
from askgraph.rdf.prefixes import namespace_of

Sort = Literal["entities", "properties", ""]
"""Where to look: among things and classes, among properties, or among all."""

_MOST = 3
_LOOKED_AT = 20
_ALIKE = 62.0
_NEIGHBOUR = 6.0
_TYPOS = 2
_LONGEST = 200  # characters of a name that are compared


def nearest_names(graph: KnowledgeGraph, name: str, *, sort: Sort = "") -> tuple[str, ...]:
    """Return the at most three IRIs of the graph whose names come nearest to an IRI or a text."""
    is_iri = ":" in name and not any(letter.isspace() for letter in name)
    text = words_of_local_name(name) if is_iri else name
    words = " ".join(tokens(text[:_LONGEST]))
    if not any(len(word) > 2 and word[0].isalpha() for word in words.split()):
        return ()  # codes and empty texts are like nothing else
    space = namespace_of(name) if is_iri else ""
    scores: dict[str, float] = {}
    for iri, other in _named(graph, words, sort):
        score = likeness(words, " ".join(tokens(other[:_LONGEST])))
        score += _NEIGHBOUR if space and iri.startswith(space) else 0.0
        if iri != name and score > max(_ALIKE, scores.get(iri, 0.0)):
            scores[iri] = score
    return tuple(sorted(scores, key=lambda iri: (-scores[iri], len(iri), iri))[:_MOST])


def likeness(words: str, other: str) -> float:
    """Return how alike two texts are by characters, 0 to 100; the order of words counts a fifth."""
    return max(fuzz.ratio(words, other), 0.8 * fuzz.token_set_ratio(words, other))


def _named(graph: KnowledgeGraph, words: str, sort: Sort) -> Iterator[tuple[str, str]]:
    """IRIs with their names: all of the profile, and what the indices find."""
    schema: list[ClassProfile | PredicateProfile] = [
        *(graph.profile.predicates if sort != "entities" else ()),
        *(graph.profile.classes if sort != "properties" else ()),
    ]
    for item in schema:
        yield item.iri, words_of_local_name(item.iri)
        yield from ((item.iri, text) for text, _ in item.names)
    found = False
    for key in (sort,) if sort else ("entities", "properties"):
        if key in graph.indices:
            found = True
            for hit in graph.indices[key].search(words, limit=_LOOKED_AT):
                yield hit.item.iri, words_of_local_name(hit.item.iri)
                yield from ((hit.item.iri, text) for text in hit.item.names)
    if not found and sort != "properties":
        yield from _in_names(graph.names, words)


def _in_names(names: NameIndex, words: str) -> Iterator[tuple[str, str]]:
    hits: list[tuple[int, int, float]] = []
    vocabulary = list(names.vocabulary)
    for at, word in enumerate(words.split()):
        exact = names.word_id(stem(word))
        if exact is not None:
            hits.append((at, exact, 1.0))
        elif len(word) > 3:
            alike = extract(
                stem(word), vocabulary, scorer=OSA.distance, score_cutoff=_TYPOS, limit=_MOST
            )
            hits += [(at, place, 0.8) for _, _, place in alike]
    for match in names.search(hits, limit=_LOOKED_AT):
        if match.name.kind is not Kind.VALUE:
            yield match.name.target, match.name.text
