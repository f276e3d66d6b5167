"""Link nouns that name no class or thing by themselves: generic nouns, and kinds with a number.

A generic noun ("works by X", "tools written in Y") stands for the things that a graph is about: the
class whose instances it describes most, and classes that it describes nearly as much. A word that
names a class or predicate is none.

"Floor 2", "room R798" and "the fourth floor" name the instance whose local name has that number;
the index of names leaves out IRIs that differ only in their numbers.
"""

import heapq
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from askgraph.graph.arrays import Ids
from askgraph.index.names import ItemKind, split_tokens, stem_name, stem_word
from askgraph.search.expand import FULL_NAME_SHARE
from askgraph.search.expand.schema import Schema, remember
from askgraph.search.link import GlossaryWord, Link, LinkedQuestion, add_links
from askgraph.search.link.meaning_linking import find_unexplained
from askgraph.search.link.word_vectors import combine_words
from askgraph.search.tokenize import TokenizedQuestion
from askgraph.search.tokenize.question_operators import QuestionOperators, detect_operators
from askgraph.search.tokenize.word_lists import LANGUAGES_WITH_CAPITAL_NOUNS, load_kind_words
from askgraph.sparql.prefixes import split_local_name

_MIN_NAME_SCORE = 0.7  # a link from this score on says what a noun means
_GENERIC_NOUN_SCORE = 0.75  # how well a generic noun names a main class
_RECORD_SCORE = 0.8  # how well a noun names the property that names records
_MIN_WEIGHT_SHARE, _MAX_CLASSES = 0.5, 3
"""Share of the main class's weight from which another may be meant, and how many classes may be."""
_MAX_WEIGHED_CLASSES = 50  # so many classes, the largest ones, are compared
_MAX_HEAD_CLASSES = 24  # the last word of more classes says too little
_SAMPLE_SIZE = 20  # so many instances tell how much is said of all
_MAX_NUMBERED_INSTANCES = 5_000  # a class of more is not searched for numbers
_MIN_COSINE, _MIN_MARGIN = 0.35, 0.1  # of a word and a property, and more than of any other
NEIGHBOUR_SCORE = 0.6  # how well such a word names the property
_MAX_CODE_WORDS = 4  # "R 800 A" is a code of three words

Code = tuple[str, ...]


def keep_classes_of_nouns(linked: LinkedQuestion, frame: QuestionOperators) -> LinkedQuestion:
    """Leave out things that are named like a class after "a", "every" or a superlative."""
    # "The largest moon" is one of the moons, and not the thing "Moon".
    reading, words = linked.reading, linked.reading.word_list
    starts = words.agreement["each"] | {phrase[-1] for phrase in words.time_phrases["one"]}
    ends = {operator.last for operator in frame.get_operators("superlative")}
    nouns = {
        link.positions
        for link in linked.get_links(ItemKind.CLASS)
        if link.is_exact and (first := link.positions[0])
        if first - 1 in ends or reading.folded_words[first - 1] in starts
        if reading.tokens[first].text.islower() or words.language in LANGUAGES_WITH_CAPITAL_NOUNS
    }
    kinds = ItemKind.ENTITY, ItemKind.VALUE
    links = [x for x in linked.links if x.kind not in kinds or x.positions not in nouns]
    return replace(linked, links=tuple(links)) if len(links) < len(linked.links) else linked


def link_generic_nouns(linked: LinkedQuestion, schema: Schema) -> LinkedQuestion:
    """Add links of generic nouns to the main classes of a graph."""
    reading = linked.reading
    nouns = [at for at in range(len(reading.tokens)) if reading.is_generic_noun(at)]
    if not nouns:
        return linked
    named_links = linked.get_links(ItemKind.CLASS, ItemKind.PREDICATE)
    named = {at for link in named_links if link.score >= _MIN_NAME_SCORE for at in link.positions}
    class_words = {at for link in linked.get_links(ItemKind.CLASS) for at in link.positions}
    free = [
        at
        for at in nouns
        if at not in named
        and at - 1 not in named | class_words
        and not (reading.is_stop(at) and class_words)
    ]  # "log entries" are those of the log
    links = [
        Link(
            ItemKind.CLASS,
            iri,
            schema.get_name_hint(iri),
            _GENERIC_NOUN_SCORE,
            (at,),
            (_GENERIC_NOUN_SCORE,),
        )
        for at in free
        for iri in list_main_classes(schema)
    ]
    return replace(linked, links=(*linked.links, *links)) if links else linked


@remember
def list_main_classes(schema: Schema) -> tuple[str, ...]:
    """Return the classes that generic nouns may mean, the main class first."""
    # The weight of a class is the number of its instances times the squared number of their
    # properties: a few museum objects, each described in full, outweigh thousands of short notes.
    profiles = [profile for profile in schema.classes.values() if not profile.nary]
    largest = heapq.nlargest(_MAX_WEIGHED_CLASSES, profiles, key=lambda profile: profile.instances)
    weights = {
        profile.iri: _weigh_instances(schema.get_instances(profile.iri), schema)
        for profile in largest
    }
    ordered = sorted(weights, key=lambda iri: (-weights[iri], iri))[:_MAX_CLASSES]
    return tuple(
        iri for iri in ordered if weights[iri] >= _MIN_WEIGHT_SHARE * weights[ordered[0]] > 0
    )


def _weigh_instances(ids: Ids, schema: Schema) -> float:
    sample = ids[:: len(ids) // _SAMPLE_SIZE + 1]
    counts = [len(schema.graph.get_predicates(sample[at : at + 1])) for at in range(len(sample))]
    return len(ids) * (sum(counts) / len(counts)) ** 2 if counts else 0.0


def link_records(linked: LinkedQuestion, schema: Schema) -> LinkedQuestion:
    """Let the property of names stand for things without a class: "stations" by "Station name"."""
    # The words are all of its name but for "name", "number" and the like.
    reading, keys = linked.reading, load_kind_words().identifiers
    links = []
    for link in linked.links:
        number = schema.get_predicate_number(link.target)
        if link.kind is ItemKind.PREDICATE and number is not None and link.score < _RECORD_SCORE:
            key = {*stem_name(link.name)} - {reading.tokens[at].stem for at in link.positions}
            nodes = schema.graph.get_ends(number)
            sample = nodes[:: len(nodes) // _SAMPLE_SIZE + 1].tolist()
            if key and key <= keys and not any(map(schema.get_classes, sample)):
                link = replace(link, similarity=_RECORD_SCORE, how=("record",))
        links.append(link)
    return replace(linked, links=tuple(links))


def find_class_heads(linked: LinkedQuestion, schema: Schema) -> tuple[GlossaryWord, ...]:
    """Return the words that end the names of several classes and are the full name of nothing."""
    # "Sensors" are flow sensors and zone temperature sensors, if no class is that of all sensors.
    full_names = {link.positions for link in linked.links if link.score >= FULL_NAME_SHARE}
    words: dict[tuple[int, ...], GlossaryWord] = {}
    for link in linked.get_links(ItemKind.CLASS):
        stems = tuple(linked.reading.tokens[at].stem for at in link.positions)
        if link.positions not in full_names and stem_name(link.name)[-len(stems) :] == stems:
            classes = schema.find_classes_by_head(stems)
            if 1 < len(classes) <= _MAX_HEAD_CLASSES:
                text = " ".join(split_tokens(link.name)[-len(stems) :])
                words[link.positions] = GlossaryWord(text, (), classes, link.mask)
    return tuple(words.values())


def link_to_neighbours(linked: LinkedQuestion, schema: Schema) -> LinkedQuestion:
    """Link unexplained words to the property of the named thing that is nearest in meaning.

    A thing has few properties, so a weak likeness tells what "who runs X" asks for.
    """
    reading = linked.reading
    the = {phrase[-1] for phrase in reading.word_list.time_phrases["the"]}
    words = [
        at
        for at in find_unexplained(linked)  # a verb, and not a noun: "the director of X"
        if at and at - 1 not in reading.genitives and reading.folded_words[at - 1] not in the
    ]
    entities = [x for x in linked.get_links(ItemKind.ENTITY) if x.score >= FULL_NAME_SHARE]
    nodes = [node for entity in entities if (node := schema.find_link_node(entity)) is not None]
    ids = np.array(sorted({*nodes}), dtype=np.int32)
    if not words or not len(ids) or detect_operators(reading).asks == "number":
        return linked
    graph, likeness, links = schema.graph, dict[int, dict[int, float]](), list[Link]()
    numbers = graph.get_predicates(ids) | graph.get_predicates(ids, inverse=True)
    for number in numbers & schema.open_predicates & schema.predicates.keys():
        for name in schema.get_folded_names(number):
            vector = combine_words(name.split())
            for at in words if vector is not None else ():
                word = combine_words([reading.tokens[at].folded])
                cosine = 0.0 if word is None or vector is None else float(word @ vector)
                cosines = likeness.setdefault(at, {})
                cosines[number] = max(cosine, cosines.get(number, 0.0))
    for at, cosines in likeness.items():
        (best, number), *rivals = sorted(((x, n) for n, x in cosines.items()), reverse=True)
        if best >= max([_MIN_COSINE, *(_MIN_MARGIN + x for x, _ in rivals[:1])]):
            iri, quality = graph.get_predicate_iri(number), (NEIGHBOUR_SCORE,)
            name = schema.get_name_hint(iri)
            link = Link(ItemKind.PREDICATE, iri, name, *quality, (at,), quality, how=("near",))
            links.append(link)
    return add_links(linked, links) if links else linked


def link_numbered_names(linked: LinkedQuestion, schema: Schema) -> LinkedQuestion:
    """Add links to the instances that a class and a number name together."""
    reading = linked.reading
    if not any(
        _has_digit(word) or word in reading.word_list.ordinals for word in reading.folded_words
    ):
        return linked
    links: dict[tuple[str, tuple[int, ...]], Link] = {}
    for link in linked.get_links(ItemKind.CLASS):
        if min(link.score, link.quality) < _MIN_NAME_SCORE:
            continue
        for code, positions in _iterate_codes(reading, link):
            iri = _index_codes(schema, link.target).get(code)
            if iri is not None:
                name = schema.get_name_hint(iri)
                new = Link(ItemKind.ENTITY, iri, name, 1.0, positions, (1.0,) * len(positions))
                links.setdefault((iri, positions), new)
                break
    if not links:
        return linked
    masks = [link.mask for link in links.values()]
    unchanged_links = (
        link  # "room R798" is not another room with an R in its code
        for link in linked.links
        if link.kind is not ItemKind.ENTITY
        or link.is_exact
        or not any(link.mask & mask for mask in masks)
    )
    return replace(linked, links=(*links.values(), *unchanged_links))


def _iterate_codes(
    reading: TokenizedQuestion, link: Link
) -> Iterator[tuple[Code, tuple[int, ...]]]:
    """Yield the codes beside a class's name, longest first, with the tokens of both."""
    words, first, last = reading.folded_words, link.positions[0], link.positions[-1]
    for end in range(min(len(words), last + 1 + _MAX_CODE_WORDS), last + 1, -1):
        code = words[last + 1 : end]
        if any(map(_has_digit, code)) and all(
            set(reading.get_gap(at, at + 1)) <= {" ", "-", "_", "#"} for at in range(last, end - 1)
        ):
            yield tuple(code), (*link.positions, *range(last + 1, end))
    ordinal = reading.word_list.ordinals.get(words[first - 1]) if first else None
    if ordinal is not None:
        yield (str(ordinal),), (first - 1, *link.positions)


@remember
def _index_codes(schema: Schema, cls: str) -> dict[Code, str]:
    """Return the instances of a class by their local name without the class's name."""
    # A local name of digits alone is a key of a table and no name.
    instances = schema.get_instances(cls)
    terms, stems = schema.graph.terms, schema.get_lineage_stems(cls)
    codes: dict[Code, str] = {}
    for iri in terms.iterate_values(instances) if len(instances) <= _MAX_NUMBERED_INSTANCES else ():
        name = split_tokens(split_local_name(iri))
        start = next((at for at, word in enumerate(name) if stem_word(word) not in stems), 0)
        code = name[start:]
        if any(map(_has_digit, code)) and (start or not all(map(_has_digit, code))):
            codes.setdefault(code, iri)
    return codes


def _has_digit(word: str) -> bool:
    return word[0].isdigit()
