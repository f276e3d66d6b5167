"""Question to links: which words may name which thing in the graph, and how well."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from askgraph.index.names import Kind, Match, NameIndex, rarity
from askgraph.index.tokens import tokens
from askgraph.search.linking.text import Reading
from askgraph.search.linking.variants import Variant, variants

_AT_LEAST = {Kind.ENTITY: 0.34, Kind.CLASS: 0.45, Kind.PREDICATE: 0.4, Kind.VALUE: 0.8}
_BEST = {Kind.ENTITY: 6, Kind.CLASS: 8, Kind.PREDICATE: 30, Kind.VALUE: 8}
_CLOSE = 0.55
_THINGS = (Kind.ENTITY, Kind.VALUE)
_DOUBTFUL = frozenset({"short"})


@dataclass(frozen=True)
class Link:
    """A reading of some words: `positions` are their tokens, `quality` how well each fits.

    `similarity` is the share of the name that the words hold; `target` is an IRI, or a literal as
    N-Triples text.
    """

    kind: Kind
    target: str
    name: str
    similarity: float
    positions: tuple[int, ...]
    qualities: tuple[float, ...]
    preferred: bool = True

    @cached_property
    def quality(self) -> float:
        """The mean quality of its words."""
        return sum(self.qualities) / len(self.qualities)

    @cached_property
    def score(self) -> float:
        """How likely the words mean this: the share of the name held, times the words' quality."""
        return self.similarity * (1.0 if self.preferred else 0.95)

    @cached_property
    def mask(self) -> int:
        """The positions as bits."""
        return sum(1 << at for at in self.positions)


@dataclass(frozen=True)
class Linked:
    """All links of a question, best first, and how much each of its words tells."""

    reading: Reading
    links: tuple[Link, ...]
    weights: tuple[float, ...] = field(default=())

    def of(self, *kinds: Kind) -> tuple[Link, ...]:
        """Return the links of some kinds."""
        return tuple(found for found in self.links if found.kind in kinds)


def link(reading: Reading, index: NameIndex) -> Linked:
    """Link a question's words to the names of a graph."""
    found = variants(reading, index)
    sure = [(v.position, v.word, v.quality) for v in found if v.how not in _DOUBTFUL]
    every = [(v.position, v.word, v.quality) for v in found]
    matches = index.search(sure, at_least=0.3)
    if len(every) > len(sure):
        known = {match.name for match in matches}
        matches += [
            match
            for match in index.search(every, at_least=0.4)
            if match.name.kind in (Kind.CLASS, Kind.PREDICATE) and match.name not in known
        ]
    links = [one for match in matches for one in _links(match, reading, index)]
    return Linked(reading, tuple(_best(links)), _weights(reading, found, index))


def _links(match: Match, reading: Reading, index: NameIndex) -> Iterator[Link]:
    """One link for each stretch of the question that holds (enough of) the name."""
    kind = match.name.kind
    for run in _runs(sorted({hit[0] for hit in match.hits}), reading, kind):
        if all(reading.is_stop(at) for at in run):
            continue
        words: dict[int, float] = {}
        best: dict[int, float] = {}
        for position, word, quality in match.hits:
            if position in run:
                words[word] = max(quality, words.get(word, 0.0))
                best[position] = max(quality, best.get(position, 0.0))
        held = sum(quality * index.rarity_of(word) for word, quality in words.items())
        similarity = min(1.0, held / match.length)
        bent = _bent(match, run, reading)
        similarity *= 1.0 - bent * (0.1 if similarity > 0.9 else 0.4)
        if similarity < 0.9 and not any(reading.tokens[at].text[0].isalpha() for at in run):
            continue
        held_by = sum(index.rarity_of(word) for word in words) / match.length
        surest = max(quality for at, quality in best.items() if not reading.is_stop(at))
        if held_by < 0.99 and kind in _THINGS and surest < 0.85:
            continue  # a part of a name, and that by words only akin to it
        if similarity >= _AT_LEAST[kind]:
            yield Link(
                kind,
                match.name.target,
                match.name.text,
                similarity,
                tuple(run),
                tuple(best[at] for at in run),
                match.name.preferred,
            )


def _bent(match: Match, run: Sequence[int], reading: Reading) -> float:
    """The share of words in another form than in a thing's name: "moons" is less the Moon."""
    if match.name.kind not in _THINGS:
        return 0.0
    own = set(tokens(match.name.text))
    words = [reading.tokens[at] for at in run]
    return sum(w.stem != w.folded and w.folded not in own for w in words) / len(run)


def _runs(positions: Sequence[int], reading: Reading, kind: Kind) -> Iterator[list[int]]:
    """Cut positions if a word of content, or more than two function words, lie between.

    Names of classes and predicates do not reach over a comma or a conjunction either.
    """
    run: list[int] = []
    for at in positions:
        if run and _parted(run[-1], at, reading, kind):
            yield run
            run = []
        run.append(at)
    if run:
        yield run


def _parted(last: int, at: int, reading: Reading, kind: Kind) -> bool:
    between = range(last + 1, at)
    if len(between) > 2 or any(not reading.is_stop(word) for word in between):
        return True
    joins = {phrase[0] for name in ("and", "or") for phrase in reading.words.operators[name]}
    if any(reading.tokens[word].folded in joins for word in between):
        return True
    gap = reading.text[reading.tokens[last].end : reading.tokens[at].start]
    return kind in (Kind.CLASS, Kind.PREDICATE) and any(mark in gap for mark in ",;?")


def _best(links: Iterable[Link]) -> Iterator[Link]:
    """Keep the best few of each kind on each stretch; a thing is named by its best name."""
    grouped: dict[tuple[Kind, tuple[int, ...]], list[Link]] = defaultdict(list)
    seen: dict[tuple[Kind, str, tuple[int, ...]], float] = {}
    for one in sorted(links, key=lambda found: (-found.score, found.name, found.target)):
        key = (one.kind, one.target, one.positions)
        if key in seen:
            continue
        seen[key] = one.score
        group = grouped[one.kind, one.positions]
        close = not group or one.score >= _CLOSE * group[0].score
        if close and len(group) < _BEST[one.kind]:
            group.append(one)
    every = [one for group in grouped.values() for one in group]
    yield from sorted(every, key=lambda found: (-found.score, found.positions, found.target))


def _weights(reading: Reading, found: Sequence[Variant], index: NameIndex) -> tuple[float, ...]:
    """How much each word of the question tells: nothing for function words, more if rare."""
    told = [0.0] * len(reading.tokens)
    for variant in found:
        tells = index.rarity_of(variant.word)
        told[variant.position] = max(told[variant.position], tells)
    unknown = rarity(0, len(index))
    return tuple(
        0.0 if reading.is_stop(at) else (weight or unknown) for at, weight in enumerate(told)
    )


def also_meant(linked: Linked, target: str) -> tuple[str, ...]:
    """Return the other things of the same kind that words linked to `target` may name, best first.

    `target` is an IRI, or a literal as N-Triples text. None if no word is linked to it.
    """
    found: dict[str, None] = {}
    for own in linked.links:
        if own.target == target:
            words = set(own.positions)
            for other in linked.of(own.kind):
                if other.target != target and words & set(other.positions):
                    found[other.target] = None
    return tuple(found)
