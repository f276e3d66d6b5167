"""Weigh the words of a question that a query does not use: a name matters, a filler hardly does.

Light words ("took place") weigh nothing, faint ones ("people", "make", "everyone") little. But a
word for what is asked always matters: a query without it answers another question,
however well the rest fits ("how many *committers* has X", "who *taught* X").
"""

from collections.abc import Sequence
from itertools import product

from pyoxigraph import Literal, NamedNode

from askgraph.index.names import ItemKind, fold_word
from askgraph.search.link import Link
from askgraph.search.link.word_vectors import combine_words
from askgraph.search.rank.expected_answer_type import (
    RequestedNoun,
    find_question_word,
    find_requested_nouns,
)
from askgraph.search.rank.faults import FaultContext
from askgraph.search.tokenize import TokenizedQuestion
from askgraph.search.tokenize.word_lists import Phrase, get_shared_words
from askgraph.sparql import walk
from askgraph.sparql.prefixes import split_local_name

_FAINT_WEIGHT = 0.25  # how much a faint word matters, as a share of another one
_MIN_LINKED_WORD_SCORE = 0.75
"""Minimum quality of a word linked to an element of the query to count as included."""
_MIN_NEAR_CLASS_SCORE = 0.6  # the same for a word near a class that the things of the query share
_MIN_COSINE = 0.5  # minimum cosine of a word and one of a relation's name to be related


def find_linked_tokens(subject: FaultContext) -> set[int]:
    """Return the tokens linked to an element of the query, or to a class that things share."""
    nodes = [node for node in subject.candidate.state.node.walk() if len(node.ids)]
    samples = [subject.proposal.schema.sample_classes(node.ids) for node in nodes]
    classes = {iri for sample in samples for iri in set.intersection(*sample)}
    return {
        at
        for link in subject.linked.links
        for at, quality in zip(link.positions, link.qualities, strict=True)
        if (quality >= _MIN_LINKED_WORD_SCORE and subject.has_link_target(link))
        or (link.target in classes and (quality >= _MIN_NEAR_CLASS_SCORE or link.how != ("near",)))
    }


def find_light_tokens(reading: TokenizedQuestion) -> set[int]:
    """Return the tokens without content of their own: "happened", "took place"."""
    return _find_phrases(reading, reading.word_list.light_phrases)


def weigh_content(reading: TokenizedQuestion) -> list[float]:
    """Return how much each token matters if a query does not use it, from 0 to 1."""
    light = find_light_tokens(reading)
    faint = _find_phrases(reading, reading.word_list.faint_phrases)
    return [
        0.0 if at in light else _FAINT_WEIGHT if at in faint else 1.0
        for at in range(len(reading.tokens))
    ]


def find_unheard_request(subject: FaultContext) -> tuple[int, ...]:
    """Return the words for what is asked, if the query uses none of them.

    Words without weight do not count: another graph answers them.
    """
    weights = subject.linked.weights
    asked = tuple(at for at in find_requested_tokens(subject) if weights[at])
    used = subject.candidate.used | subject.candidate.shown_words
    linked = find_linked_tokens(subject)
    is_heard = any(used >> at & 1 or at in linked for at in asked)
    return () if is_heard or _is_close_to_relation(asked, subject) else asked


def _is_close_to_relation(positions: Sequence[int], subject: FaultContext) -> bool:
    """Return whether a word is close to a used relation: "temperature" and "melting point"."""
    links = [x for x in subject.candidate.iterate_links() if x.kind is ItemKind.PREDICATE]
    names = [x.name for x in links if min(x.qualities) >= _MIN_LINKED_WORD_SCORE]
    words = [subject.linked.reading.tokens[at].folded for at in positions]
    pairs = product(words, " ".join(names).split())
    vectors = ((combine_words([word]), combine_words([name])) for word, name in pairs)
    return any(a is not None and b is not None and a @ b >= _MIN_COSINE for a, b in vectors)


def has_unheard_sex(subject: FaultContext) -> bool:
    """Return whether a question asks for women, and no value of the query says so."""
    [code] = [item for item in get_shared_words().codes if "female" in item.word_stems]
    tokens = {at for at, x in enumerate(subject.linked.reading.tokens) if x.stem in code.word_stems}
    terms = (part for part in walk(subject.tree) if isinstance(part, Literal | NamedNode))
    texts = {fold_word(split_local_name(term.value)) for term in terms}
    return bool(tokens - find_linked_tokens(subject)) and not texts & code.data_texts


def find_requested_tokens(subject: FaultContext) -> tuple[int, ...]:
    """Return the words for what is asked; none for yes or no and for bare classes.

    After "which", "what" or "how many" these are the noun ("how many *moons* has X"), after other
    question words the first words that name nothing ("what did X *study*"), and without one the
    noun before an owner ("*price* of X").
    """
    reading, operators = subject.linked.reading, subject.operators
    word = find_question_word(reading)
    counts, shares = operators.get_operators("count"), weigh_content(reading)
    nouns = find_requested_nouns(subject.linked, operators)
    if word is None and not (counts and counts[0].first == 0):
        return nouns[0].positions if nouns and _has_owner(nouns[0], reading) else ()
    last = max([-1 if word is None else word, *(item.last for item in counts[:1])])
    names = {
        at
        for link in subject.linked.get_links(ItemKind.ENTITY, ItemKind.VALUE)
        if subject.has_link_target(link)
        for at in link.positions
    }
    for noun in [noun for noun in nouns if noun.first_position > last][:1]:
        between = range(last + 1, noun.first_position)
        if _is_measure(noun, reading):
            last = noun.positions[-1]
        elif all(operators.mask >> at & 1 for at in between):
            head = noun.positions[0]  # later generic nouns are not asked for: "shows with works"
            asked = [at for at in noun.positions if at not in names and shares[at]]
            verbs = _find_verbs(head, subject)  # "which *women* flew to X"
            plain = [
                at for at in asked if at == head or not (at in verbs or reading.is_generic_noun(at))
            ]
            after = reading.folded_words[noun.positions[-1] + 1 :][:1]
            if not reading.word_list.clauses["parting"].isdisjoint(after):
                plain = asked  # no verb is among them: "in which storage *bin* do I find X"
            return tuple(plain or asked) or noun.positions
    silent = names | {at for at, share in enumerate(shares) if share < 1}
    free = (
        at
        for at in range(last + 1, len(reading.tokens))
        if not reading.is_stop(at) and not operators.mask >> at & 1 and at not in silent
    )
    return tuple(free)[:1]


def _find_verbs(noun: int, subject: FaultContext) -> set[int]:
    """Return the words after a noun that name properties better than anything else."""
    links = [link for link in subject.linked.links if noun not in link.positions]
    best = dict[int, Link]()
    for link in sorted(links, key=lambda link: (link.score, link.kind is not ItemKind.PREDICATE)):
        best.update(dict.fromkeys(link.positions, link))
    return {at for at, link in best.items() if link.kind is ItemKind.PREDICATE}


def _is_measure(noun: RequestedNoun, reading: TokenizedQuestion) -> bool:
    """Return whether a noun only measures the next one: "pieces of software"."""
    faint = _find_phrases(reading, reading.word_list.faint_phrases)
    return faint.issuperset(noun.positions) and _has_owner(noun, reading)


def _has_owner(noun: RequestedNoun, reading: TokenizedQuestion) -> bool:
    """Return whether "of" follows a noun."""
    last = noun.positions[-1]
    following = reading.folded_words[last + 1 : last + 2]
    return not reading.word_list.clauses["owner"].isdisjoint(following)


def _find_phrases(reading: TokenizedQuestion, phrases: Sequence[Phrase]) -> set[int]:
    words = set(reading.folded_words)
    return {
        position
        for phrase in phrases
        if phrase[0] in words
        for at in range(len(reading.tokens))
        if reading.has_phrase_at(phrase, at)
        for position in range(at, at + len(phrase))
    }
