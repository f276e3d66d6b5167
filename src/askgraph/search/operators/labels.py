"""Answer questions about labels: "the German name of X", "other names", "without a label"."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from pyoxigraph import Literal, Variable

from askgraph.graph.literals import split_literal
from askgraph.index.names import ItemKind, stem_word
from askgraph.search.expand import GainWeight, Node, PartialMatch
from askgraph.search.expand.beam_search import BeamSearch
from askgraph.search.link import Link
from askgraph.search.operators.query_builder import GraphLookup, QueryCandidate, QueryDraft
from askgraph.search.query_pieces import build_not_exists, build_pattern
from askgraph.search.tokenize import TokenizedQuestion, to_bit_mask
from askgraph.search.tokenize.question_operators import QuestionOperators
from askgraph.search.tokenize.word_lists import load_language_names
from askgraph.sparql import Call, Filter

_MIN_LINK_SCORE = 0.6  # words name the thing or the class so well
_MAX_LINKS = 3  # so many things and classes are tried
_LANGUAGE_OPERATOR_COUNT = 3  # a word for a label beside a language that it has means nothing else
_MAX_WORDS_BETWEEN = 6  # so many words lie between a language and a word for a label


@dataclass(frozen=True)
class LabelRequest:
    """A request for labels."""

    words: int  # its tokens, as a bit mask
    languages: tuple[str, ...] = ()  # of the labels; none for names beside the first one
    is_missing: bool = False  # whether things without such a label are asked for


def detect_label_request(reading: TokenizedQuestion) -> LabelRequest | None:
    """Return the request for labels that a question makes, if there is one."""
    phrases, words = reading.word_list.label_phrases, reading.folded_words
    other_positions = {
        position
        for at in range(len(words))
        for phrase in phrases["other"]
        if reading.has_phrase_at(phrase, at)
        for position in range(at, at + len(phrase))
    }
    if other_positions:
        return LabelRequest(to_bit_mask(other_positions))
    label_words = {phrase[0] for phrase in phrases["words"]}
    labels = [at for at, word in enumerate(words) if word in label_words]
    mask, languages, is_missing = 0, list[str](), False
    for at, word in enumerate(words):
        names = load_language_names()
        language = names.get(word) or names.get(stem_word(word))  # "what do Italians call it"
        if language is None or reading.tokens[at].quote is not None:
            continue
        is_in_language = at > 0 and (words[at - 1],) in phrases["in"]
        nearest = min(labels, key=lambda label: abs(label - at), default=at)
        is_end = is_in_language and all(  # "X in Italian and French"
            reading.is_stop(after) or words[after] in names for after in range(at + 1, len(words))
        )
        if abs(nearest - at) > _MAX_WORDS_BETWEEN or not (nearest != at or is_end or languages):
            continue
        if abs(nearest - at) == 1 or is_in_language or languages:
            positions = {at, nearest, *([at - 1] if is_in_language else [])}
            if any((item,) in phrases["without"] for item in words[max(0, at - 2) : at]):
                is_missing = True
                positions |= {*range(max(0, at - 2), at)}
            mask |= to_bit_mask(positions)
            languages.append(language)
    return LabelRequest(mask, tuple(languages), is_missing) if languages else None


def build_label_queries(
    search: BeamSearch, operators: QuestionOperators
) -> Iterator[QueryCandidate]:
    """Yield the queries for the labels that a question requests."""
    request = detect_label_request(operators.reading)
    if request is None:
        return
    kind = ItemKind.CLASS if request.is_missing else ItemKind.ENTITY
    links = [
        link
        for link in search.linked.get_links(kind)
        if link.score >= _MIN_LINK_SCORE and not link.mask & request.words
    ]
    links.sort(key=lambda link: -search.compute_gain(link, 0))
    for link in links[:_MAX_LINKS]:
        candidate = (
            _build_missing_label(search, link, request)
            if request.is_missing
            else _build_label(search, operators, link, request)
        )
        if candidate is not None:
            yield candidate


def _build_label(
    search: BeamSearch, operators: QuestionOperators, link: Link, request: LabelRequest
) -> QueryCandidate | None:
    entity = GraphLookup(search, operators).find_entity(link)
    if entity is None:
        return None
    node = Node(np.array([entity], dtype=np.int32), terms=(entity,), link=link)
    draft = QueryDraft(search.schema)
    term = draft.add_match(node).term
    for language in request.languages or ("",):
        predicates = _find_label_predicates(search, entity, language)
        if not predicates:
            return None
        label = draft.create_variable("label")
        draft.patterns.append(build_pattern(term, predicates[0], label))
        draft.filters += [_require_language(label, language)] if language else []
        draft.columns = [*draft.columns, label]
    return _build_candidate(search, link, request, draft, node, label)


def _find_label_predicates(search: BeamSearch, entity: int, language: str) -> list[str]:
    """Return the predicates of the requested labels of a thing, names before other labels."""
    # A graph's own predicate of other names is known by its name: "alias".
    graph, predicates = search.graph, search.schema.predicates
    phrases = search.frame.reading.word_list.label_phrases["other"]
    other_stems = {stem_word(phrase[0]) for phrase in phrases if len(phrase) == 1}
    numbers, _ = graph.count_predicates(np.array([entity], dtype=np.int32))
    found: list[tuple[str, str]] = []
    for number in numbers.tolist():
        profile = predicates.get(number)
        is_other = bool(other_stems & set(search.schema.get_name_stems(number)))
        if profile is None or not (profile.naming or is_other):
            continue
        languages = {
            split_literal(graph.terms.get_text(int(value)))[2] or ""
            for value in graph.step(np.array([entity], dtype=np.int32), number)
            if value < graph.terms.first_iri
        }
        is_requested = (
            any(tag.partition("-")[0].lower() == language for tag in languages)
            if language
            else is_other or profile.naming == "alternative"
        )
        if is_requested:
            found.append((profile.naming, profile.iri))
    return [iri for naming, iri in sorted(found, key=lambda item: item[0] != "name")]


def _build_missing_label(
    search: BeamSearch, link: Link, request: LabelRequest
) -> QueryCandidate | None:
    """Build the query for the things of a class without a label in a language."""
    ids = search.schema.get_instances(link.target)
    numbers, counts = search.graph.count_predicates(ids)
    names = [
        (count, number)
        for number, count in zip(numbers.tolist(), counts.tolist(), strict=True)
        if (profile := search.schema.predicates.get(number)) and profile.naming == "name"
    ]
    if not names:
        return None
    node = Node(ids, cls=link.target, cls_link=link)
    draft = QueryDraft(search.schema)
    term, label = draft.add_match(node).term, draft.create_variable("label")
    if not isinstance(term, Variable):
        return None
    iri = search.graph.get_predicate_iri(max(names)[1])
    draft.negations.append(
        build_not_exists(
            build_pattern(term, iri, label), _require_language(label, request.languages[0])
        )
    )
    draft.columns = [term]
    return _build_candidate(search, link, request, draft, node, term)


def _require_language(label: Variable, language: str) -> Filter:
    """Build the filter for labels in a language, also of a region: "de" and "de-AT"."""
    return Filter(Call("LANGMATCHES", (Call("LANG", (label,)), Literal(language))))


def _build_candidate(
    search: BeamSearch,
    link: Link,
    request: LabelRequest,
    draft: QueryDraft,
    node: Node,
    column: Variable,
) -> QueryCandidate:
    gain = search.compute_gain(link, 0) + search.sum_weights(request.words)
    gain += GainWeight.OPERATOR * (_LANGUAGE_OPERATOR_COUNT if request.languages else 1)
    state = PartialMatch(node, link.mask | request.words, gain, patterns=1, anchored=True)
    return QueryCandidate(
        draft.to_query(),
        (column,),
        draft.hints,
        state,
        column,
        node.ids,
        state.used,
        gain,
        0.0,
        1,
        ("label",),
        link.mask,
    )
