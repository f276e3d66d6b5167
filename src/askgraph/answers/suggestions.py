"""Names in the place of words that a graph knows nothing by: spelled alike, or what a thing has."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from difflib import get_close_matches

import numpy as np

from askgraph.answers.example_questions import is_noun, is_spoken
from askgraph.answers.resource import classes_of
from askgraph.deadline import limit_to_deadline
from askgraph.graph import KnowledgeGraph
from askgraph.index.names import Kind, NameIndex, tokens
from askgraph.search.rank import RankedCandidates
from askgraph.sparql import vocabulary as v
from askgraph.sparql.prefixes import best_label, words_of_local_name
from askgraph.trace import Missing

_WORDS = 3  # words that are looked into
_NAMES = 4  # offered for each
_ALIKE = 0.8  # how far, of 1, a word has the letters of another one in their order
_LOOKED_AT = 3_000  # words of the graph that begin like it
_OF_A_WORD = 20  # names that hold a word


def missing_of(
    words: Sequence[str], proposal: RankedCandidates, graph: KnowledgeGraph
) -> tuple[Missing, ...]:
    """Return words of a question that its reading leaves out, with names to put in their place.

    Those are names that are spelled alike; for what is asked of a thing or class ("population of"),
    also what these have.
    """
    reading = proposal.question
    operators = [
        reading.text[reading.tokens[one.first].start : reading.tokens[one.last].end]
        for one in proposal.operators.operators
    ]
    found = []
    for word in words[:_WORDS]:
        names = list(_had(word, proposal, graph))
        if not any(word in said for said in operators):
            names = [*_alike(word, graph.names), *names]
        found.append(Missing(word, tuple(dict.fromkeys(names))[:_NAMES]))
    return tuple(found)


def _alike(word: str, names: NameIndex) -> Iterator[str]:
    """The names that hold a word that is spelled nearly as this one."""
    sought = "".join(tokens(word))
    if len(sought) < 4:
        return
    listed = names.listed
    for begin in (sought[:1], sought[:2]):
        first, last = bisect_left(listed, begin), bisect_left(listed, begin + "\uffff")
        if last - first <= _LOOKED_AT:
            break
    last = min(last, first + _LOOKED_AT)
    near = get_close_matches(sought, listed[first:last], n=2, cutoff=_ALIKE)
    for one in near:
        number = names.word_id(one)
        held = [] if number is None else names.bearing(number)[:_OF_A_WORD].tolist()
        own = sorted((names.name(at) for at in held), key=lambda name: (len(name.text), name.text))
        yield from (name.text for name in own[:1] if is_spoken(name.text))


def _had(word: str, proposal: RankedCandidates, graph: KnowledgeGraph) -> Iterator[str]:
    """What the thing or the class has of which a word is asked: "the … of Mars"."""
    reading = proposal.question
    at = next((n for n, token in enumerate(reading.tokens) if token.text == word), None)
    if at is None or at + 1 >= len(reading.tokens):
        return
    if (reading.folded_words[at + 1],) not in reading.word_list.follow_up_phrases["of"]:
        return
    links = (one for one in proposal.linked.links if at not in one.positions)
    about = next((one for one in links if one.kind in (Kind.ENTITY, Kind.CLASS)), None)
    if about is None:
        return
    own = {about.target, *(one.iri for one in classes_of(about.target, graph)[:1])}
    has = _has(about.target, graph)
    for one in limit_to_deadline(graph.profile.predicates):
        if one.naming or (has is not None and one.iri not in has):
            continue
        counted = any(iri in own for iri, _ in one.subject_classes)
        if not counted or one.iri.startswith((v.RDF, v.RDFS, v.OWL)):
            continue
        label = best_label(one.names, [reading.language]) or words_of_local_name(one.iri)
        if is_noun(label, reading.language):
            yield label


def _has(thing: str, graph: KnowledgeGraph) -> frozenset[str] | None:
    """The predicates of a thing; None of a class, and of what does not lie here: any it may be."""
    arrays = graph.arrays
    at = arrays.terms.find_iri(thing) if arrays else None
    if arrays is None or at is None or not classes_of(thing, graph):
        return None
    present = arrays.get_predicates(np.array([at], dtype=np.int32))
    return frozenset(map(arrays.get_predicate_iri, present))
