"""The things and values that a question may name: by links, and by search if links are loose."""

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
from pyoxigraph import NamedNode
from rapidfuzz import fuzz

from askgraph.graph.literals import resource_term
from askgraph.index.names import Kind, name_tokens, stem, tokens
from askgraph.methods.tools import Context
from askgraph.methods.tools.hits import Found, found_anywhere, key_of, own_types
from askgraph.search.link import Link, LinkedQuestion
from askgraph.sparql.prefixes import words_of_local_name
from askgraph.sparql.vocabulary import SCHEMA_SPACES

_READINGS = 3  # shown of the same words
_FORMS = 2  # and so many more ways in which they are stored: a code, what a people is called after
_MOST = 8
_WHOLE = 0.9  # the score of a link to a name that the words hold, but for a small word
_SEARCHED = 3  # stretches of words that are searched
_HITS = 2
_COUNTED = 500  # names that are looked at to tell how many hold some words
_HUBS, _DEGREE = 2, 2_000  # nodes that link things, and edges at a thing up to which it is tried
_LONG, _NEARLY = 5, 75  # letters of a word that may be written wrongly, and how alike it is then


def named_links(linked: LinkedQuestion) -> list[Link]:
    """Return the best few links of words to entities and values, each thing once.

    Words that are part of more words with a name of their own, or are as good as the name of a
    class or property, are taken to mean that. Of the same words the first readings count, and other
    forms in which what they mean is stored.
    """

    def by_score(link: Link) -> tuple[float, int]:
        return -link.score, -len(link.positions)

    good = [other for other in linked.links if other.score >= _WHOLE]
    kept: dict[tuple[int, ...], list[Link]] = {}
    for link in linked.of(Kind.ENTITY, Kind.VALUE):
        if not any(
            set(link.positions) <= set(other.positions)
            and (
                len(other.positions) > len(link.positions)
                or (other.kind in (Kind.CLASS, Kind.PREDICATE) and link.score < _WHOLE)
            )
            for other in good
        ):
            kept.setdefault(link.positions, []).append(link)
    best: list[Link] = []
    for links in kept.values():
        links.sort(key=by_score)
        forms = [link for link in links[_READINGS:] if {"code", "demonym"} & set(link.how)]
        best += [*links[:_READINGS], *forms[:_FORMS]]
    listed = sorted(best, key=by_score)
    return list({link.target: link for link in reversed(listed)}.values())[::-1][:_MOST]


async def mentioned(context: Context, linked: LinkedQuestion) -> list[Found]:
    """Return what the links name, then what the indices find for words without a good link.

    Under a veil only what the links name: the question would still say what else is found.
    """
    links = named_links(linked)
    if context.veil is not None:
        return [_named(context, linked, link) for link in links]
    firsts = {link.positions: link for link in reversed(links)}.values()
    found = [_named(context, linked, link, counted=link in firsts) for link in links]
    found += _hubs(context, links)
    there = {one.term for one in found}
    for stretch in list(_loose(linked))[:_SEARCHED]:
        words = _words(linked, stretch)
        hits = await found_anywhere(context, words, "entities")
        note = f"{_note(context, words)}{_in_iris(words, hits, context.limits.hits)}"
        for hit in hits[:_HITS]:
            if hit.term in there or key_of(hit.term).startswith(SCHEMA_SPACES):
                continue
            if _alike(words, hit.name) and not _of_class(context, hit, words):
                there.add(hit.term)
                found.append(Found(hit.term, hit.resource, hit.name, note, hit.nameless))
                note = _note(context, words)
    return found


def _in_iris(words: str, hits: Sequence[Found], most: int) -> str:
    """How many of the hits have a word in their IRI alone, and how to ask for it; "" for one."""
    said = Counter[str]()
    asked = set(tokens(words))
    for hit in hits:
        if isinstance(hit.term, NamedNode) and hit.resource is not None:
            local = words_of_local_name(hit.term.value)
            other = [name for name in hit.resource.names if tokens(name) != tokens(local)]
            named = {word for name in other for word in tokens(name)}
            written = {one for one in local.split() if one in hit.term.value}
            said.update(one for one in written if set(tokens(one)) & asked - named)
    word, count = max(said.items(), key=lambda pair: pair[1], default=("", 0))
    over = "at least " if len(hits) == most else ""
    return f' (in {over}{count} IRIs: CONTAINS(STR(?x), "{word}"))' if count > 1 else ""


def _named(context: Context, linked: LinkedQuestion, link: Link, *, counted: bool = False) -> Found:
    words = _words(linked, link.positions)
    more = _further_names(context, link, words) if counted and link.kind is Kind.ENTITY else ""
    return Found(resource_term(link.target), note=f"{_note(context, words)}{more}")


def _further_names(context: Context, link: Link, words: str) -> str:
    """How many things besides the one that is linked have the same words in their names."""
    index, asked, own = context.graph.names, set(name_tokens(words)), name_tokens(link.name)
    held = [index.word_id(token) for token in own if token in asked]
    numbers = [index.bearing(word) for word in held if word is not None]
    if not numbers:
        return ""
    common = sorted(numbers, key=len)[0]
    for other in numbers:
        common = np.intersect1d(common, other, assume_unique=True)
    listed = map(index.name, common[:_COUNTED].tolist())
    names = [name for name in listed if name.kind is Kind.ENTITY]
    whole = len(held) == len(own)
    longer = {n.target for n in names if not whole or len(name_tokens(n.text)) > len(own)}
    count = len(longer - {link.target})
    over = "over " if len(common) > _COUNTED else ""
    which = "longer names" if whole else "more names"
    return f" (also in {over}{count:,} {which if count > 1 else which[:-1]})" if count else ""


def _hubs(context: Context, links: Sequence[Link]) -> list[Found]:
    """The nodes without name that are linked to things of several words: events, memberships."""
    arrays = context.graph.arrays
    profile = context.graph.profile
    nameless = {one.iri for one in profile.classes if one.nary or one.name_predicate is None}
    things = {link.target: link.positions for link in links if link.kind is Kind.ENTITY}
    if arrays is None or len(set(things.values())) < 2:
        return []
    met: dict[int, dict[str, None]] = {}
    for iri in things:
        node = arrays.terms.iri(iri)
        if node is None or arrays.degree(node) > _DEGREE:
            continue
        here = np.array([node], dtype=np.int32)
        for inverse in (False, True):
            for number in arrays.predicates_of(here, inverse=inverse)[0].tolist():
                for other in arrays.step(here, number, inverse=inverse).tolist():
                    met.setdefault(other, {})[iri] = None
    hubs = [
        (node, near)
        for node, near in met.items()
        if len({things[iri] for iri in near}) > 1
        and arrays.terms.is_iri(node)
        and nameless & set(own_types(arrays, f"<{arrays.terms.value(node)}>"))
    ]
    hubs.sort(key=lambda pair: (-len(pair[1]), pair[0]))
    short = context.graph.prefixes.shorten
    return [
        Found(NamedNode(arrays.terms.value(node)), note=f"linked to {', '.join(map(short, near))}")
        for node, near in hubs[:_HUBS]
    ]


def _note(context: Context, words: str) -> str:
    return f"for {words!r}" if context.veil is None else f"for {context.veil.words(words)!r}"


def _loose(linked: LinkedQuestion) -> Iterator[tuple[int, ...]]:
    """Stretches of telling words that no name holds well, in the order of the question."""
    held = {at for link in linked.links if link.score >= _WHOLE for at in link.positions}
    stretch: list[int] = []
    for at, weight in enumerate(linked.weights):
        if weight and at not in held:
            stretch.append(at)
        elif stretch:
            yield tuple(stretch)
            stretch = []
    if stretch:
        yield tuple(stretch)


def _alike(words: str, name: str) -> bool:
    """Whether a name holds one of the words, or a long one but for a slip; numbers do not tell."""
    of_name = [stem(token) for token in tokens(name)]
    return any(
        word in of_name
        or (
            len(word) >= _LONG
            and any(len(one) >= _LONG and fuzz.ratio(word, one) >= _NEARLY for one in of_name)
        )
        for word in (stem(token) for token in tokens(words) if not token[0].isdigit())
    )


def _of_class(context: Context, hit: Found, words: str) -> bool:
    """Whether a name holds no more of the words than the name of its class: "invoice 7"."""
    arrays = context.graph.arrays
    types = own_types(arrays, str(hit.term)) if arrays is not None else ()
    held = set(name_tokens(words)) & set(name_tokens(hit.name))
    named = [one for one in context.graph.profile.classes if one.iri in types]
    called = {word for one in named for text, _ in one.names for word in name_tokens(text)}
    called |= {word for iri in types for word in name_tokens(words_of_local_name(iri))}
    return bool(held) and held <= called


def _words(linked: LinkedQuestion, positions: Sequence[int]) -> str:
    return " ".join(linked.reading.tokens[at].text for at in positions)
