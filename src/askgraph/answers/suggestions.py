"""Say what a graph lacks for a question, and suggest names, properties and other graphs instead."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import pairwise

import numpy as np

from askgraph.answers.example_questions import add_the, describe_content, is_noun, is_spoken
from askgraph.answers.resource import list_classes
from askgraph.answers.verbalize.phrases import Phrases, load_phrases
from askgraph.deadline import limit_to_deadline
from askgraph.graph import KnowledgeGraph
from askgraph.index.names import ItemKind, NameIndex, split_tokens, stem_word
from askgraph.search.link import Link
from askgraph.search.pipeline import link_text
from askgraph.search.rank import RankedCandidates
from askgraph.search.tokenize.question_operators import detect_operators
from askgraph.sparql import vocabulary as v
from askgraph.sparql.prefixes import choose_label, split_local_name
from askgraph.trace import Question, UnmatchedWords

_MAX_WORDS = 3  # words to look up
_MAX_QUOTED_WORDS = 8
_MAX_THINGS, _MAX_PROPERTIES = 2, 4  # things whose properties are listed, properties of each
_MAX_GRAPHS = 3  # other graphs to offer
_MIN_NAME_QUALITY = 0.9  # how well words match a name by which a graph knows them
_MAX_NAMES_PER_WORD = 4  # offered for each
_MIN_SIMILARITY_RATIO = 0.8  # share of letters that two words have in common, in order
_MAX_COMPARED_WORDS = 3_000  # words of the graph with the same beginning
_MAX_NAMES_PER_SPELLING = 20  # names that hold a word


@dataclass(frozen=True)
class Gap:
    """What no reading of a question covers.

    Attributes:
        reason: why there is no answer, and what the graph has, in words.
        missing: words that no reading uses, each with names that could replace it.
        full_names: those that are the full name of a thing or class.
    """

    reason: str
    missing: tuple[UnmatchedWords, ...]
    full_names: frozenset[str]


def describe_gap(words: Sequence[str], proposal: RankedCandidates, graph: KnowledgeGraph) -> Gap:
    """Describe the gap for words that the best reading ignores, or all words without a reading.

    The names are spelled similarly; for a property of a resource or class ("population of"),
    the predicates of that resource or class are included.
    """
    language = proposal.question.language
    phrases = load_phrases(language)
    links = {word: link for word in words if (link := _find_exact_link(word, proposal))}
    owners = {
        word: owner
        for word in words
        if word not in links and (owner := _find_owner(word, proposal))
    }
    properties = {
        link: _list_properties(link, proposal, graph)
        for link in dict.fromkeys((*owners.values(), *links.values()))
    }
    tokens, text = proposal.question.tokens, proposal.question.text
    spans = [text[tokens[x.first].start : tokens[x.last].end] for x in proposal.operators.operators]
    operators = [word for word in words if any(word in span for span in spans)]
    missing = []
    for word in words[:_MAX_WORDS]:
        names = properties[owners[word]] if word in owners else []
        if word not in operators and word not in links:
            names = [*_find_similar_names(word, graph.names), *names]
        missing.append(UnmatchedWords(word, tuple(dict.fromkeys(names))[:_MAX_NAMES_PER_WORD]))

    def say(key: str, part: Sequence[str]) -> str:
        return phrases.say(f"refuse {key}", _quote_words(part, proposal, phrases))

    present_words = [
        item.words for item in missing if item.words not in owners and _is_in_names(item)
    ]
    if not proposal.candidates:
        content = describe_content(graph.profile, language, "refuse about")
        absent_words = [word for word in words if word not in present_words]
        pairs = (("unknown", absent_words), ("found", present_words))
        reasons = [say(key, part) for key, part in pairs if part]
        reason = " ".join((*reasons, content)) if words else phrases.say("refuse nothing")
        return Gap(reason, tuple(missing), frozenset())
    sentences = [
        phrases.say(
            "refuse lacks", _quote_words([word], proposal, phrases), add_the(owner.name, phrases)
        )
        for word, owner in owners.items()
    ]
    unused = [word for word in words if word in links or word in operators]
    explained = {*unused, *owners, *present_words}
    unknown = [word for word in words if word not in explained]
    parts = (("missing", unknown), ("found", present_words), ("unused", unused))
    sentences += [say(key, part) for key, part in parts if part]
    for link, labels in [*properties.items()][:_MAX_THINGS]:
        if labels:
            listed = phrases.join_list(labels[:_MAX_PROPERTIES])
            sentences.append(phrases.say("refuse knows", add_the(link.name, phrases), listed))
    reason = " ".join(sentences) or phrases.say("refuse unsure")
    return Gap(reason, tuple(missing), frozenset(links))


def find_fitting_graphs(
    question: Question,
    current: Iterable[NameIndex],
    indices: Mapping[str, NameIndex],
    *,
    only_better: bool,
) -> tuple[str, ...]:
    """Return the graphs among `indices` that have names for all content words of a question.

    They match the most words by full names, and no fewer than the graphs that were asked;
    more, with `only_better`.
    """
    counts = {name: _count_full_names(question, index) for name, index in indices.items()}
    least = max([1, *(_count_full_names(question, index) + only_better for index in current)])
    best = max(counts.values(), default=0)
    return tuple((name for name, count in counts.items() if count == best >= least))[:_MAX_GRAPHS]


def _count_full_names(question: Question, names: NameIndex) -> int:
    """Return how many content words of a question belong to full names; 0 if one has no name."""
    linked = link_text(question.text, question.language, names)
    operators = detect_operators(linked.reading).mask
    content = {at for at, weight in enumerate(linked.weights) if weight and not operators >> at & 1}
    near_links = [link for link in linked.links if link.quality >= _MIN_NAME_QUALITY]
    if not content.issubset(at for link in near_links for at in link.positions):
        return 0
    return len(content & {at for link in near_links if link.is_exact for at in link.positions})


def _quote_words(words: Sequence[str], proposal: RankedCandidates, phrases: Phrases) -> str:
    """Quote words; those that follow each other in the question stay together."""
    pairs = {*pairwise(token.text for token in proposal.question.tokens)}
    texts: list[str] = []
    for previous_word, word in pairwise(("", *words[:_MAX_QUOTED_WORDS])):
        if (previous_word, word) in pairs:
            texts[-1] += f" {word}"
        else:
            texts.append(word)
    return (
        repr(", ".join(texts)) if phrases.language == "en" else ", ".join(map(phrases.quote, texts))
    )


def _find_exact_link(word: str, proposal: RankedCandidates) -> Link | None:
    tokens = proposal.question.tokens
    for link in proposal.linked.get_links(ItemKind.ENTITY, ItemKind.CLASS):
        if link.is_exact and [tokens[at].text for at in link.positions] == [word]:
            return link
    return None


def _is_in_names(item: UnmatchedWords) -> bool:
    """Return whether a name that is offered in place of words has one of them."""
    stems = {stem_word(word) for word in split_tokens(item.words)}
    return any(stem_word(word) in stems for name in item.names for word in split_tokens(name))


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


def _find_owner(word: str, proposal: RankedCandidates) -> Link | None:
    """Return the thing or class that a word is asked of: "population of Mars"."""
    reading = proposal.question
    position = next((n for n, token in enumerate(reading.tokens) if token.text == word), None)
    if position is None or position + 1 >= len(reading.tokens):
        return None
    if (reading.folded_words[position + 1],) not in reading.word_list.follow_up_phrases["of"]:
        return None
    links = proposal.linked.get_links(ItemKind.ENTITY, ItemKind.CLASS)
    return next((link for link in links if position not in link.positions), None)


def _list_properties(owner: Link, proposal: RankedCandidates, graph: KnowledgeGraph) -> list[str]:
    """Return the nouns for the facts of a thing or class, frequent ones first."""
    iri, language = owner.target, proposal.question.language
    classes = list_classes(iri, graph)
    owner_iris = {iri, *(cls.iri for cls in classes[:1])}
    arrays = graph.arrays
    node = arrays.terms.find_iri(iri) if arrays else None
    present_predicates: frozenset[str] | None = None
    if arrays is not None and node is not None and classes:
        present = arrays.get_predicates(np.array([node], dtype=np.int32))
        present_predicates = frozenset(map(arrays.get_predicate_iri, present))
    labels = [
        choose_label(predicate.names, [language]) or split_local_name(predicate.iri)
        for predicate in limit_to_deadline(graph.profile.predicates)
        if not predicate.naming
        and (present_predicates is None or predicate.iri in present_predicates)
        and any(iri in owner_iris for iri, _ in predicate.subject_classes)
        and not predicate.iri.startswith((v.RDF, v.RDFS, v.OWL))
    ]
    return [label for label in labels if is_noun(label, language)]
