"""The nouns that a question asks for side by side: "the name, the date and the result of …"."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from askgraph.index.names import Kind
from askgraph.search.linking.link import Link, Linked
from askgraph.search.linking.operators import Frame, Zones
from askgraph.search.linking.text import Reading
from askgraph.search.linking.word_lists import WordList

AGGREGATING = ("average", "sum", "minimum", "maximum")
_SURE = 0.7
_NEAR = 0.15


class Run(NamedTuple):
    """Content words beside each other, the operators before them, and where it all starts."""

    positions: list[int]
    operators: tuple[str, ...]
    start: int


@dataclass(frozen=True)
class Item:
    """One noun that is asked for: its tokens, the operators before it, and what it may mean."""

    positions: tuple[int, ...]
    operators: tuple[str, ...]
    classes: tuple[str, ...] = ()
    predicates: tuple[str, ...] = ()
    naming: bool = False

    @property
    def first(self) -> int:
        """Its first token."""
        return self.positions[0]

    @cached_property
    def iris(self) -> tuple[str, ...]:
        """All that it may mean."""
        return self.classes + self.predicates

    @property
    def is_property(self) -> bool:
        """Whether it fills a column of its own: a property, a name, a count or an aggregate."""
        aggregated = "count" in self.operators or any(o in AGGREGATING for o in self.operators)
        return aggregated or self.naming or (bool(self.predicates) and not self.classes)

    @property
    def width(self) -> int:
        """The columns it fills: one for each aggregate of it."""
        return max(1, sum(name in AGGREGATING for name in self.operators))


def items_of(linked: Linked, frame: Frame) -> tuple[Item, ...]:
    """Return the head noun and those that are listed with it, in their order.

    What is only put in front ("for model X, how many …") is none of them.
    """
    zones = Zones.of(linked.reading, frame)
    runs = list(_runs(linked.reading, frame))
    first, *others = _by_sentence(runs, linked.reading)
    items = _listed(first, linked, frame, zones)
    for sentence in others:
        more = _listed(sentence, linked, frame, zones)
        properties = [item.is_property for item in more]
        if more and (all(properties) or (any(properties) and len(more) > 1)):
            return more
    return items


def _by_sentence(runs: Sequence[Run], reading: Reading) -> list[list[Run]]:
    """Runs parted at the ends of sentences; at least one part."""
    parts: list[list[Run]] = [[]]
    for run in runs:
        first = parts[-1][0].start if parts[-1] else run.start
        between = reading.text[reading.tokens[first].start : reading.tokens[run.start].start]
        if any(mark in between for mark in ".?!;"):
            parts.append([])
        parts[-1].append(run)
    return parts


def _listed(runs: Sequence[Run], linked: Linked, frame: Frame, zones: Zones) -> tuple[Item, ...]:
    """The head noun of a sentence and those that are listed with it."""
    reading = linked.reading
    found: list[Item] = []
    end = _start_of_sentence(runs[0].start, reading) - 1 if runs else -1
    for run in runs:
        start = run.start
        between = range(end + 1, start)
        if found and not (zones.is_head(start) and _joined(between, start, zones, frame)):
            break
        end = run.positions[-1]
        if found or not _is_put_in_front(between, reading):
            found.append(_item(run.positions, run.operators, linked))
    return tuple(found)


def _start_of_sentence(at: int, reading: Reading) -> int:
    """The first token of the sentence that a token stands in."""
    tokens = reading.tokens
    while at > 0 and not any(
        mark in reading.text[tokens[at - 1].end : tokens[at].start] for mark in ".?!;"
    ):
        at -= 1
    return at


def interrogative(reading: Reading, *, within: range | None = None) -> int | None:
    """Return the place of a question word, among the first three tokens or in another range."""
    among = range(min(3, len(reading.tokens))) if within is None else within
    asking = _interrogatives(reading.words)
    places = (at for at in among if reading.is_stop(at))
    return next((at for at in places if reading.tokens[at].folded in asking), None)


def _interrogatives(words: WordList) -> frozenset[str]:
    """The words that ask by themselves ("who"), or before a noun ("which year", "how old")."""
    phrases = [phrase for listed in words.asks.values() for phrase in listed]
    found = {phrase[0] for phrase in phrases if len(phrase) == 1}
    for phrase in phrases:
        nouns = [at for at, word in enumerate(phrase) if word not in words.stop]
        found |= {phrase[at - 1] for at in nouns[:1] if at}
    return frozenset(found)


def _is_put_in_front(before: range, reading: Reading) -> bool:
    """Whether a preposition, and no question word, stands before the first noun."""
    restrict = reading.words.clauses["restrict"]
    restricts = any(reading.tokens[at].folded in restrict for at in before)
    return restricts and interrogative(reading, within=before) is None


def _joined(between: range, start: int, zones: Zones, frame: Frame) -> bool:
    """Whether a comma, a conjunction or a possessive, and no other content, parts two nouns."""
    reading = frame.reading
    if not all(reading.is_stop(at) for at in between):
        return False
    gap = reading.text[reading.tokens[between.start - 1].end : reading.tokens[start].start]
    if any(mark in gap for mark in ".?!;:"):
        return False
    operators = [one.name for one in frame.operators if one.first in between]
    return "," in gap or "and" in operators or (not operators and zones.is_listed(start))


def _runs(reading: Reading, frame: Frame) -> Iterator[Run]:
    """Runs of content words that own nothing, with the operators before each and where it starts.

    A run ends at a function word, a comma, or an operator; "Intel's" in "Intel's sites" is none.
    """
    run: list[int] = []
    operators: list[str] = []
    start: int | None = None
    by_place = {at: one for one in frame.operators for at in one.positions}
    for at in range(len(reading.tokens)):
        operator = by_place.get(at)
        content = operator is None and not reading.is_stop(at) and not _is_number(at, reading)
        if run and not (content and _touches(at, reading)):
            if run[-1] not in reading.genitives:
                yield Run(run, tuple(operators), start if start is not None else run[0])
            run, operators, start = [], [], None
        if operator is not None and operator.first == at:
            operators.append(operator.name)
            start = at if start is None and operator.name in (*AGGREGATING, "count") else start
        if content:
            run.append(at)
    if run:
        yield Run(run, tuple(operators), start if start is not None else run[0])


def _touches(at: int, reading: Reading) -> bool:
    gap = reading.text[reading.tokens[at - 1].end : reading.tokens[at].start]
    return not any(mark in gap for mark in ",;:.?!") and at - 1 not in reading.genitives


def _is_number(at: int, reading: Reading) -> bool:
    return any(at in quantity.positions for quantity in reading.quantities)


def _item(run: Sequence[int], operators: tuple[str, ...], linked: Linked) -> Item:
    reading = linked.reading
    best = list(_best(run, linked.of(Kind.CLASS, Kind.PREDICATE)))
    naming = any(reading.tokens[at].stem in reading.words.naming for at in run)
    return Item(
        tuple(run),
        operators,
        tuple(dict.fromkeys(link.target for link in best if link.kind is Kind.CLASS)),
        tuple(dict.fromkeys(link.target for link in best if link.kind is Kind.PREDICATE)),
        naming,
    )


def _best(run: Sequence[int], links: Sequence[Link]) -> Iterator[Link]:
    """The sure links in a run; of those that share words, the ones that hold the most."""
    left = set(run)
    inside = [(link, set(link.positions) & left) for link in links if link.score >= _SURE]
    while held := [(link, words) for link, words in inside if words and words <= left]:
        most = max(len(words) for _, words in held)
        best = max(link.score for link, words in held if len(words) == most)
        widest = [
            (link, words)
            for link, words in held
            if len(words) == most and link.score > best - _NEAR
        ]
        taken = widest[0][1]
        yield from (link for link, words in widest if words & taken)
        left -= taken
