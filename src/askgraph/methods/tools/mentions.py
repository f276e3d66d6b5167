"""Entities and values that a question may mention: from links, and from search for other words."""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial, reduce

import numpy as np
from pyoxigraph import NamedNode
from rapidfuzz import fuzz

from askgraph.graph.literals import parse_resource_term
from askgraph.index.names import ItemKind, split_tokens, stem_name, stem_word
from askgraph.methods.tools import Context
from askgraph.methods.tools.hits import SearchHit, get_term_key, look_up_types, search_graph
from askgraph.search.link import Link, LinkedQuestion
from askgraph.sparql.prefixes import split_local_name
from askgraph.sparql.vocabulary import SCHEMA_NAMESPACES

_MAX_READINGS = 3  # shown of the same words
_MAX_OTHER_FORMS = 2  # and additional stored forms: a code, the origin of a people's name
_MAX_LINKS = 8
# The score of a link to a name that the words hold, but for a small word.
_MIN_FULL_NAME_SCORE = 0.9
_MIN_SCHEMA_SCORE = 0.6  # minimum score of a link to a class or property that explains a word
_MAX_SEARCHES = 3  # stretches of words that are searched
_MAX_HITS_PER_SEARCH = 2
_MAX_COUNTED_NAMES = 500  # names to inspect to estimate how many contain some words
_MAX_HUBS, _MAX_DEGREE = (2, 2_000)  # link nodes, and maximum edges of a thing to try
_MAX_NAME_WORDS = 3  # words of a name that one common word suffices for
_MIN_FUZZY_CHARACTERS, _MIN_FUZZY_SCORE = (
    5,
    75,
)  # minimum letters of a word with a typo, and its minimum similarity


def select_links(linked: LinkedQuestion) -> list[Link]:
    """Return the best few links of words to entities and values, each target once.

    Words that are part of a longer full name, or that name a class or property as well, are
    dropped. For the same words only the first readings count, plus other forms in which they are
    stored.
    """

    def get_sort_key(link: Link) -> tuple[float, int, bool]:
        return -link.score, -len(link.positions), link.kind is ItemKind.VALUE

    full_links = [
        full_link for full_link in linked.links if full_link.score >= _MIN_FULL_NAME_SCORE
    ]
    links_by_positions: dict[tuple[int, ...], list[Link]] = {}
    for link in linked.get_links(ItemKind.ENTITY, ItemKind.VALUE):
        if not any(
            set(link.positions) <= set(full_link.positions)
            and (
                len(full_link.positions) > len(link.positions)
                or (
                    full_link.kind in (ItemKind.CLASS, ItemKind.PREDICATE)
                    and link.score < _MIN_FULL_NAME_SCORE
                )
            )
            for full_link in full_links
        ):
            links_by_positions.setdefault(link.positions, []).append(link)
    first: list[Link] = []
    others: list[Link] = []
    for links in links_by_positions.values():
        links.sort(key=get_sort_key)
        forms = [link for link in links[_MAX_READINGS:] if {"code", "demonym"} & set(link.how)]
        first.append(links[0])
        others += [*links[1:_MAX_READINGS], *forms[:_MAX_OTHER_FORMS]]
    ranked_links = sorted(first, key=get_sort_key) + sorted(others, key=get_sort_key)
    return list({link.target: link for link in reversed(ranked_links)}.values())[::-1][:_MAX_LINKS]


async def find_mentions(context: Context, linked: LinkedQuestion) -> list[SearchHit]:
    """Return the targets of the links, then search hits for words without a good link.

    Under a masker, only the targets of the links: the question would still reveal the others.
    """
    links = select_links(linked)
    if context.masker is not None:
        return [_build_mention(context, linked, link) for link in links]
    links = [link for link in links if not _is_schema_word(linked, link)]
    links = _drop_mere_references(context, links)
    first_links = {link.positions: link for link in reversed(links)}.values()
    mentions = [
        _build_mention(context, linked, link, count_names=link in first_links) for link in links
    ]
    mentions += _find_hubs(context, links)
    terms = {mention.term for mention in mentions}
    for positions in list(_find_unlinked_words(linked))[:_MAX_SEARCHES]:
        words = _join_words(linked, positions)
        hits = await search_graph(context, words, "entities")
        note = (
            f"{_build_note(context, words)}{_describe_iri_words(words, hits, context.limits.hits)}"
        )
        for hit in hits[:_MAX_HITS_PER_SEARCH]:
            if hit.term in terms or get_term_key(hit.term).startswith(SCHEMA_NAMESPACES):
                continue
            if _is_similar(words, hit.name) and not _is_class_name(context, hit, words):
                terms.add(hit.term)
                mentions.append(SearchHit(hit.term, hit.resource, hit.name, note))
                note = _build_note(context, words)
    return mentions


def _drop_mere_references(context: Context, links: Sequence[Link]) -> list[Link]:
    """Drop links to nodes without facts of their own if a described one has the same words."""
    if (arrays := context.graph.arrays) is None:
        return [*links]
    nodes = [arrays.terms.find_iri(link.target) for link in links]
    described = [
        link
        for link, node in zip(links, nodes, strict=True)
        if node is None or arrays.get_predicates(np.array([node], dtype=np.int32))
    ]
    positions = {link.positions for link in described}
    return [link for link in links if link in described or link.positions not in positions]


def _describe_iri_words(words: str, hits: Sequence[SearchHit], max_hits: int) -> str:
    """Describe how many hits have a word only in their IRI, with a filter; empty for one hit."""
    word_counts = Counter[str]()
    search_tokens = set(split_tokens(words))
    for hit in hits:
        if isinstance(hit.term, NamedNode) and hit.resource is not None:
            local = split_local_name(hit.term.value)
            other_names = [
                name for name in hit.resource.names if split_tokens(name) != split_tokens(local)
            ]
            name_words = {word for name in other_names for word in split_tokens(name)}
            iri_words = {part for part in local.split() if part in hit.term.value}
            word_counts.update(
                part for part in iri_words if set(split_tokens(part)) & search_tokens - name_words
            )
    word, count = max(word_counts.items(), key=lambda pair: pair[1], default=("", 0))
    qualifier = "at least " if len(hits) == max_hits else ""
    return f' (in {qualifier}{count} IRIs: CONTAINS(STR(?x), "{word}"))' if count > 1 else ""


def _build_mention(
    context: Context, linked: LinkedQuestion, link: Link, *, count_names: bool = False
) -> SearchHit:
    words = _join_words(linked, link.positions)
    further_names = (
        _describe_further_names(context, link, words)
        if count_names and link.kind is ItemKind.ENTITY
        else ""
    )
    return SearchHit(
        parse_resource_term(link.target), note=f"{_build_note(context, words)}{further_names}"
    )


def _describe_further_names(context: Context, link: Link, words: str) -> str:
    index = context.graph.names
    search_tokens = set(stem_name(words))
    link_tokens = stem_name(link.name)
    word_ids = [index.find_word(token) for token in link_tokens if token in search_tokens]
    numbers = [index.find_names(word) for word in word_ids if word is not None]
    if not numbers:
        return ""
    name_ids = reduce(partial(np.intersect1d, assume_unique=True), sorted(numbers, key=len))
    indexed_names = map(index.read_name, name_ids[:_MAX_COUNTED_NAMES].tolist())
    names = [name for name in indexed_names if name.kind is ItemKind.ENTITY]
    is_full = len(word_ids) == len(link_tokens)
    targets = {
        indexed_name.target
        for indexed_name in names
        if not is_full or len(stem_name(indexed_name.text)) > len(link_tokens)
    }
    count = len(targets - {link.target})
    qualifier = "over " if len(name_ids) > _MAX_COUNTED_NAMES else ""
    noun = "longer names" if is_full else "more names"
    return f" (also in {qualifier}{count:,} {noun if count > 1 else noun[:-1]})" if count else ""


def _find_hubs(context: Context, links: Sequence[Link]) -> list[SearchHit]:
    """Return unnamed nodes that link entities of several words: events, memberships."""
    arrays = context.graph.arrays
    profile = context.graph.profile
    nameless = {cls.iri for cls in profile.classes if cls.nary or cls.name_predicate is None}
    positions_by_iri = {
        link.target: link.positions for link in links if link.kind is ItemKind.ENTITY
    }
    if arrays is None or len(set(positions_by_iri.values())) < 2:
        return []
    neighbours: dict[int, dict[str, None]] = {}
    for iri in positions_by_iri:
        node = arrays.terms.find_iri(iri)
        if node is None or arrays.get_degree(node) > _MAX_DEGREE:
            continue
        node_ids = np.array([node], dtype=np.int32)
        for inverse in (False, True):
            for number in arrays.count_predicates(node_ids, inverse=inverse)[0].tolist():
                for neighbour in arrays.step(node_ids, number, inverse=inverse).tolist():
                    neighbours.setdefault(neighbour, {})[iri] = None
    hubs = [
        (node, linked_iris)
        for node, linked_iris in neighbours.items()
        if len({positions_by_iri[iri] for iri in linked_iris}) > 1
        and arrays.terms.is_iri(node)
        and nameless & set(look_up_types(arrays, f"<{arrays.terms.get_value(node)}>"))
    ]
    hubs.sort(key=lambda pair: (-len(pair[1]), pair[0]))
    short = context.graph.prefixes.shorten
    return [
        SearchHit(
            NamedNode(arrays.terms.get_value(node)),
            note=f"linked to {', '.join(map(short, linked_iris))}",
        )
        for node, linked_iris in hubs[:_MAX_HUBS]
    ]


def _build_note(context: Context, words: str) -> str:
    return f"for {words if context.masker is None else context.masker.mask_words(words)!r}"


def _list_schema_words(linked: LinkedQuestion) -> set[int]:
    """Return the words without a capital that name a class or property rather than a thing."""
    links = linked.get_links(ItemKind.CLASS, ItemKind.PREDICATE)
    words = {at for link in links if link.score >= _MIN_SCHEMA_SCORE for at in link.positions}
    return {at for at in words if linked.reading.tokens[at].text.islower()}


def _is_schema_word(linked: LinkedQuestion, link: Link) -> bool:
    """Return whether the words of a link name a class or property, and are not its exact name."""
    is_exact = link.name == _join_words(linked, link.positions)
    return not is_exact and set(link.positions) <= _list_schema_words(linked)


def _find_unlinked_words(linked: LinkedQuestion) -> Iterator[tuple[int, ...]]:
    """Yield runs of content words that no name matches well, in the order of the question."""
    # A number begins with the word before it: "floor 8".
    linked_tokens = _list_schema_words(linked)
    for link in linked.links:
        is_part = link.kind is ItemKind.VALUE and len(link.positions) < len(stem_name(link.name))
        if link.score >= _MIN_FULL_NAME_SCORE and not is_part:
            linked_tokens.update(link.positions)
    positions: list[int] = []
    for at, weight in enumerate(linked.weights):
        if weight and at not in linked_tokens:
            is_number = at > 0 and linked.reading.tokens[at].text.isdigit()
            positions += [at - 1] if is_number and linked.weights[at - 1] and not positions else []
            positions.append(at)
        elif positions:
            yield tuple(positions)
            positions = []
    if positions:
        yield tuple(positions)


def _is_similar(words: str, name: str) -> bool:
    """Return whether a short name contains one of the words, allowing a typo; no numbers."""
    name_stems = [stem_word(token) for token in split_tokens(name)]
    if len(name_stems) > _MAX_NAME_WORDS and words.isalpha() and words.islower():
        return False
    return any(
        word in name_stems
        or (
            len(word) >= _MIN_FUZZY_CHARACTERS
            and any(
                len(name_stem) >= _MIN_FUZZY_CHARACTERS
                and word[0] == name_stem[0]
                and fuzz.ratio(word, name_stem) >= _MIN_FUZZY_SCORE
                for name_stem in name_stems
            )
        )
        for word in (stem_word(token) for token in split_tokens(words) if not token[0].isdigit())
    )


def _is_class_name(context: Context, hit: SearchHit, words: str) -> bool:
    """Return whether a name shares only words with the name of its class: "invoice 7"."""
    arrays = context.graph.arrays
    types = look_up_types(arrays, str(hit.term)) if arrays is not None else ()
    shared_words = set(stem_name(words)) & set(stem_name(hit.name))
    classes = [cls for cls in context.graph.profile.classes if cls.iri in types]
    class_words = {word for cls in classes for text, _ in cls.names for word in stem_name(text)}
    class_words |= {word for iri in types for word in stem_name(split_local_name(iri))}
    return bool(shared_words) and shared_words <= class_words


def _join_words(linked: LinkedQuestion, positions: Sequence[int]) -> str:
    return " ".join(linked.reading.tokens[at].text for at in positions)
