"""The things and values that a question may name: by links, and by search where links are loose."""

from collections.abc import Iterator, Sequence

from askgraph.index.names import Kind
from askgraph.linking.link import Link, Linked
from askgraph.tools import Context
from askgraph.tools._candidates import found_anywhere
from askgraph.tools.hits import Found, term_of

__all__ = ["mentioned", "named_links"]

_READINGS = 3  # shown of the same words
_MOST = 8
_WHOLE = 0.9  # the score of a link to a name that the words hold, but for a small word
_SEARCHED = 3  # stretches of words that are searched
_HITS = 2


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
    """Return what the links name, then what the indices find for words without a good link."""
    found = [
        Found(term_of(link.target), note=f"for {_words(linked, link.positions)!r}")
        for link in named_links(linked)
    ]
    there = {one.term for one in found}
    for stretch in list(_loose(linked))[:_SEARCHED]:
        words = _words(linked, stretch)
        for hit in (await found_anywhere(context, words, "entities"))[:_HITS]:
            if hit.term not in there:
                there.add(hit.term)
                found.append(
                    Found(hit.term, hit.resource, hit.name, f"for {words!r}", hit.nameless)
                )
    return found


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
