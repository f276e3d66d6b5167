"""The things and values that a question may name: by links, and by search if links are loose."""

from collections.abc import Iterator, Sequence

from rapidfuzz import fuzz

from askgraph.index.names import Kind
from askgraph.index.tokens import stem, tokens
from askgraph.rdf.vocabulary import SCHEMA_SPACES
from askgraph.search.linking.link import Link, Linked
from askgraph.tools import Context
from askgraph.tools.hits import Found, found_anywhere, key_of
from askgraph.tools.named import term_of

_READINGS = 3  # shown of the same words
_MOST = 8
_WHOLE = 0.9  # the score of a link to a name that the words hold, but for a small word
_SEARCHED = 3  # stretches of words that are searched
_HITS = 2
_LONG, _NEARLY = 5, 75  # letters of a word that may be written wrongly, and how alike it is then


def named_links(linked: Linked) -> list[Link]:
    """Return the best few links of words to entities and values, each thing once.

    Words that are part of more words with a name of their own, or are as good as the name of a
    class or property, are taken to mean that.
    """
    kept: dict[tuple[int, ...], list[Link]] = {}
    for link in linked.of(Kind.ENTITY, Kind.VALUE):
        if not any(_explains(other, link) for other in linked.links):
            kept.setdefault(link.positions, []).append(link)
    best = [link for links in kept.values() for link in sorted(links, key=_by_score)[:_READINGS]]
    listed = sorted(best, key=_by_score)
    return list({link.target: link for link in reversed(listed)}.values())[::-1][:_MOST]


async def mentioned(context: Context, linked: Linked) -> list[Found]:
    """Return what the links name, then what the indices find for words without a good link.

    Under a veil only what the links name: the question would still say what else is found.
    """
    found = [
        Found(term_of(link.target), note=_note(context, _words(linked, link.positions)))
        for link in named_links(linked)
    ]
    if context.veil is not None:
        return found
    there = {one.term for one in found}
    for stretch in list(_loose(linked))[:_SEARCHED]:
        words = _words(linked, stretch)
        for hit in (await found_anywhere(context, words, "entities"))[:_HITS]:
            if hit.term in there or key_of(hit.term).startswith(SCHEMA_SPACES):
                continue
            if _alike(words, hit.name):
                there.add(hit.term)
                found.append(
                    Found(hit.term, hit.resource, hit.name, _note(context, words), hit.nameless)
                )
    return found


def _note(context: Context, words: str) -> str:
    return f"for {words!r}" if context.veil is None else f"for {context.veil.words(words)!r}"


def _loose(linked: Linked) -> Iterator[tuple[int, ...]]:
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
        word in of_name or (len(word) >= _LONG and _slip(word, of_name))
        for word in (stem(token) for token in tokens(words) if not token[0].isdigit())
    )


def _slip(word: str, others: Sequence[str]) -> bool:
    return any(len(one) >= _LONG and fuzz.ratio(word, one) >= _NEARLY for one in others)


def _words(linked: Linked, positions: Sequence[int]) -> str:
    return " ".join(linked.reading.tokens[at].text for at in positions)


def _explains(other: Link, link: Link) -> bool:
    if not set(link.positions) <= set(other.positions) or other.score < _WHOLE:
        return False
    longer = len(other.positions) > len(link.positions)
    term = other.kind in (Kind.CLASS, Kind.PREDICATE) and link.score < _WHOLE
    return longer or term


def _by_score(link: Link) -> tuple[float, int]:
    return -link.score, -len(link.positions)
