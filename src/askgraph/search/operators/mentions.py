"""Look for words that name nothing in the texts of things: "drinks with rum", "without juice".

A word that occurs in the ingredients, the mission or the title of some of the things that are asked
for becomes a condition on that text. It is weaker than any link: the graph does not say what the
text says of the word.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from pyoxigraph import Literal, Variable

from askgraph.graph.arrays import Ids, intersect
from askgraph.graph.literals import ValueKind
from askgraph.graph.measures import match_unit
from askgraph.index.names import ItemKind
from askgraph.search.expand import GainWeight
from askgraph.search.expand.schema import Schema, remember
from askgraph.search.link import LinkedQuestion
from askgraph.search.operators.query_builder import QueryBuilder
from askgraph.search.query_pieces import build_filter, build_not_exists, build_pattern
from askgraph.search.tokenize import to_bit_mask
from askgraph.search.tokenize.question_operators import Operator, QuestionOperators
from askgraph.search.tokenize.word_lists import (
    LANGUAGES_WITH_CAPITAL_NOUNS,
    get_shared_words,
    load_kind_words,
    translate_word,
)

MENTION_NOTE = "mentioned"

_MIN_THING_SCORE, _MIN_SCHEMA_SCORE = 0.6, 0.3
"""A word with a link from this score on names a thing, or a class or property.

The thing that a common noun names ("rum") may be beside the things that are asked for.
"""
_MIN_WORD_LENGTH = 3
_MAX_TEXT_BYTES = 16_000_000  # a graph with more text is not searched
_MAX_OCCURRENCES = 20_000  # a word that occurs more often tells things hardly apart
_MAX_SHARE = 0.3  # the same for a word in the texts of more of the things
_GAIN_SHARE = 0.6  # how much a word in a text tells, as a share of one that names something


@dataclass(frozen=True)
class TextMention:
    """Words that name nothing, from `first` to `last`, as they stand in texts."""

    first: int  # the first token
    last: int  # the last token
    text: str  # the words as a text has them
    literals: Ids  # the literals that contain them, sorted
    negation: Operator | None = None  # the operator before them, as in "without juice"

    @property
    def mask(self) -> int:
        """The tokens as a bit mask, with the negation."""
        negated = self.negation.mask if self.negation is not None else 0
        return to_bit_mask(range(self.first, self.last + 1)) | negated


def find_mentions(
    linked: LinkedQuestion, operators: QuestionOperators, schema: Schema
) -> Iterator[TextMention]:
    """Yield the words of a question that name nothing in the graph but occur in its texts."""
    if not schema.graph.complete:
        return
    reading = linked.reading
    busy = operators.mask | operators.quantity_mask
    for link in linked.links:
        is_thing = link.kind in (ItemKind.ENTITY, ItemKind.VALUE)
        if link.score * link.quality < (_MIN_THING_SCORE if is_thing else _MIN_SCHEMA_SCORE):
            continue
        if not is_thing or any(reading.tokens[at].is_capitalized for at in link.positions):
            busy |= link.mask
    phrases = (*reading.word_list.light_phrases, *reading.word_list.faint_phrases)
    for at in range(len(reading.tokens)):
        for phrase in phrases:
            if reading.has_phrase_at(phrase, at):
                busy |= to_bit_mask(range(at, at + len(phrase)))
    free = [
        not (busy >> at & 1 or reading.is_stop(at) or reading.is_generic_noun(at))
        and len(token.stem) >= _MIN_WORD_LENGTH
        for at, token in enumerate(reading.tokens)
    ]
    topics, at = _find_topics(linked, operators), 0
    while at < len(free):
        if not free[at]:
            at += 1
            continue
        end = at + 1
        while end < len(free) and free[end] and not reading.get_gap(end - 1, end).strip(" -"):
            end += 1
        is_unit = match_unit(reading.folded_words, at) is not None
        if not is_unit and not topics.isdisjoint((at, end - 1)):
            yield from _find_in_texts(at, end, linked, operators, schema)
        at = end


def _find_topics(linked: LinkedQuestion, operators: QuestionOperators) -> set[int]:
    """Return the tokens that may begin words about things: "with rum", "Java libraries"."""
    reading = linked.reading
    before = {*reading.word_list.clauses["restrict"], *reading.word_list.conjunctions}
    topics = {at + 1 for at, word in enumerate(reading.folded_words) if word in before}
    topics |= {item.last + 1 for item in operators.get_operators("both", "not")}
    for link in linked.links:
        if link.kind is ItemKind.PREDICATE and link.score * link.quality >= _MIN_SCHEMA_SCORE:
            topics.add(link.positions[-1] + 1)
        elif link.kind is ItemKind.CLASS and link.score * link.quality >= _MIN_THING_SCORE:
            topics.add(link.positions[0] - 1)
            if reading.language not in load_kind_words().head_final_languages:
                topics.add(link.positions[-1] + 1)
    return topics


def _find_in_texts(
    first: int, end: int, linked: LinkedQuestion, operators: QuestionOperators, schema: Schema
) -> Iterator[TextMention]:
    """Yield the longest stretches of some words that occur in a text."""
    tokens, words = linked.reading.tokens, linked.reading.folded_words
    prepositions = linked.reading.word_list.clauses["restrict"]  # "without", but not "no"
    negations = {item.last + 1: item for item in operators.get_operators("not")}
    while first < end:
        for last in range(end - 1, first - 1, -1):
            parts = [*words[first:last], tokens[last].stem]
            variants = [separator.join(parts) for separator in (" ", "-", "")]
            if first == last:
                variants += translate_word(words[first], linked.reading.language)
            is_compound = linked.reading.language in LANGUAGES_WITH_CAPITAL_NOUNS
            options = [(find_literals(schema, text, is_compound), text) for text in variants]
            literals, text = max(options, key=lambda option: len(option[0]))
            if len(literals):
                negation = negations.get(first)
                if negation is None or words[negation.first] in prepositions:
                    yield TextMention(first, last, text, literals, negation)
                first = last
                break
        first += 1


@remember
def find_literals(schema: Schema, text: str, is_compound: bool) -> Ids:
    """Return the literals that have this word; none if there are too many.

    It may have an ending, or be the beginning of a compound: "Zitronensaft".
    """
    terms, nothing = schema.graph.terms, np.zeros(0, dtype=np.int32)
    texts = _lower_texts(schema)
    endings = "|".join(get_shared_words().endings["words"])
    pattern = rf"\b{re.escape(text)}" + ("" if is_compound else rf"(?:{endings})?\b")
    starts = [item.start() for item in re.finditer(pattern.encode(), texts)]
    if not 0 < len(starts) <= _MAX_OCCURRENCES:
        return nothing
    ids = np.searchsorted(terms.offsets[: terms.first_iri + 1], starts, side="right") - 1
    # Behind a quotation mark are only the language or datatype; an address is no text.
    ends = [texts.rfind(b'"', 0, int(end)) for end in terms.offsets[ids + 1]]
    return np.unique(ids[np.array(starts) < np.array(ends)]).astype(np.int32)


@remember
def _lower_texts(schema: Schema) -> bytes:
    terms = schema.graph.terms
    size = int(terms.offsets[terms.first_iri])
    return bytes(terms.blob[:size].data).lower() if size <= _MAX_TEXT_BYTES else b""


def require_mentions(query: QueryBuilder, mentions: Sequence[TextMention]) -> None:
    """Require that the texts of the things that are asked for have, or lack, unused words."""
    for mention in mentions:
        if query.used & mention.mask:
            continue
        predicate, bearers = _find_text(query, mention)
        if not len(bearers):
            continue
        draft, text = query.draft, Literal(mention.text)
        if mention.negation is not None:
            iri = query.graph.get_predicate_iri(predicate)
            value = draft.create_variable(draft.get_hint(iri))
            step = build_pattern(query.root.term, iri, value)
            draft.negations.append(build_not_exists(step, build_filter(value, "CONTAINS", text)))
            query.gain += GainWeight.OPERATOR
            query.notes.append(mention.negation.name)
        else:
            query.narrow_vertex(query.root, bearers)
            is_name = predicate in query.schema.naming_predicates
            attach = draft.attach_name if is_name else draft.attach_predicate
            draft.filters.append(build_filter(attach(query.root, predicate), "CONTAINS", text))
        share = _GAIN_SHARE if mention.negation is None else 1.0  # all such texts are excluded
        query.consume_words(mention.mask, share * query.search.sum_weights(mention.mask))
        query.notes.append(MENTION_NOTE)


def _find_text(query: QueryBuilder, mention: TextMention) -> tuple[int, Ids]:
    """Return the predicate of texts with the words, and the things with such a text."""
    # It is the name if some names have the words, else the text of most of the things.
    graph = query.graph
    predicates = graph.get_predicates(mention.literals, inverse=True)
    ids = query.get_vertex_ids(query.root)
    if not query.lookups.is_resource(ids) or not isinstance(query.root.term, Variable):
        return 0, ids[:0]
    name_predicate = query.schema.find_name_predicate(ids)
    present = predicates & query.lookups.find_predicates(ids)
    _, count, number, bearers = max(
        (
            (number == name_predicate, len(bearers), -number, bearers)
            for number in present - query.schema.hidden_predicates
            if query.schema.get_sort(number) is ValueKind.TEXT
            for bearers in [intersect(ids, graph.step(mention.literals, number, inverse=True))]
            if len(bearers)
        ),
        key=lambda option: option[:3],
        default=(False, 0, 0, ids[:0]),
    )
    return -number, bearers if count <= _MAX_SHARE * len(ids) else ids[:0]
