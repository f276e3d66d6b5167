"""Suggest names for words that are unknown to a graph: similar names, or related predicates."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from difflib import get_close_matches

import numpy as np

from askgraph.answers.example_questions import is_noun, is_spoken
from askgraph.answers.resource import list_classes
from askgraph.deadline import limit_to_deadline
from askgraph.graph import KnowledgeGraph
from askgraph.index.names import ItemKind, NameIndex, split_tokens
from askgraph.search.rank import RankedCandidates
from askgraph.sparql import vocabulary as v
from askgraph.sparql.prefixes import choose_label, split_local_name
from askgraph.trace import UnmatchedWords

_MAX_WORDS = 3  # words to look up
_MAX_NAMES_PER_WORD = 4  # offered for each
_MIN_SIMILARITY_RATIO = 0.8  # share of letters that two words have in common, in order
_MAX_COMPARED_WORDS = 3_000  # words of the graph with the same beginning
_MAX_NAMES_PER_SPELLING = 20  # names that hold a word


def suggest_names(
    words: Sequence[str], proposal: RankedCandidates, graph: KnowledgeGraph
) -> tuple[UnmatchedWords, ...]:
    """Return words that the interpretation ignores, each with names that could replace it.

    The names are spelled similarly; for a property of a resource or class ("population of"),
    the predicates of that resource or class are included.
    """
    reading = proposal.question
    operators = [
        reading.text[reading.tokens[operator.first].start : reading.tokens[operator.last].end]
        for operator in proposal.operators.operators
    ]
    suggestions = []
    for word in words[:_MAX_WORDS]:
        names = list(_list_predicate_labels(word, proposal, graph))
        if not any(word in operator_text for operator_text in operators):
            names = [*_find_similar_names(word, graph.names), *names]
        suggestions.append(UnmatchedWords(word, tuple(dict.fromkeys(names))[:_MAX_NAMES_PER_WORD]))
    return tuple(suggestions)


def _find_similar_names(word: str, names: NameIndex) -> Iterator[str]:
    token_text = "".join(split_tokens(word))
    if len(token_text) < 4:
        return
    listed = names.sorted_tokens
    for begin in (token_text[:1], token_text[:2]):
        first, last = bisect_left(listed, begin), bisect_left(listed, begin + "\uffff")
        if last - first <= _MAX_COMPARED_WORDS:
            break
    last = min(last, first + _MAX_COMPARED_WORDS)
    near = get_close_matches(token_text, listed[first:last], n=2, cutoff=_MIN_SIMILARITY_RATIO)
    for spelling in near:
        number = names.find_word(spelling)
        name_ids = (
            [] if number is None else names.find_names(number)[:_MAX_NAMES_PER_SPELLING].tolist()
        )
        matches = sorted(
            (names.read_name(name_id) for name_id in name_ids),
            key=lambda name: (len(name.text), name.text),
        )
        yield from (name.text for name in matches[:1] if is_spoken(name.text))


def _list_predicate_labels(
    word: str, proposal: RankedCandidates, graph: KnowledgeGraph
) -> Iterator[str]:
    reading = proposal.question
    position = next((n for n, token in enumerate(reading.tokens) if token.text == word), None)
    if position is None or position + 1 >= len(reading.tokens):
        return
    if (reading.folded_words[position + 1],) not in reading.word_list.follow_up_phrases["of"]:
        return
    links = (
        predicate for predicate in proposal.linked.links if position not in predicate.positions
    )
    owner_link = next(
        (predicate for predicate in links if predicate.kind in (ItemKind.ENTITY, ItemKind.CLASS)),
        None,
    )
    if owner_link is None:
        return
    owner_iris = {
        owner_link.target,
        *(predicate.iri for predicate in list_classes(owner_link.target, graph)[:1]),
    }
    iri = owner_link.target
    arrays = graph.arrays
    node = arrays.terms.find_iri(iri) if arrays else None
    if arrays is None or node is None or not list_classes(iri, graph):
        present_predicates = None
    else:
        present = arrays.get_predicates(np.array([node], dtype=np.int32))
        present_predicates = frozenset(map(arrays.get_predicate_iri, present))
    for predicate in limit_to_deadline(graph.profile.predicates):
        if predicate.naming or (
            present_predicates is not None and predicate.iri not in present_predicates
        ):
            continue
        is_used = any(iri in owner_iris for iri, _ in predicate.subject_classes)
        if not is_used or predicate.iri.startswith((v.RDF, v.RDFS, v.OWL)):
            continue
        label = choose_label(predicate.names, [reading.language]) or split_local_name(predicate.iri)
        if is_noun(label, reading.language):
            yield label
