"""Operators hung on a grown pattern, and look-ups for words: predicates, and where they lie."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from askgraph.graph.arrays import Ids
from askgraph.graph.literals import Sort
from askgraph.index.names import Kind
from askgraph.search.grow import Edge, PartialMatch
from askgraph.search.grow.schema import spread
from askgraph.search.grow.steps import Grower
from askgraph.search.linking.link import Link
from askgraph.search.linking.operators import Frame, Zones
from askgraph.search.linking.word_lists import shared_words

NUMERIC = (Sort.NUMBER, Sort.TEXT_NUMBER)
DATED = (Sort.DATE, Sort.YEAR, Sort.TEXT_DATE)

COST_FIT = 0.9
"""What a fitting name is worth to a place, less than 1: the near place wins over a better name."""
COST_BELOW = 0.25
"""Each step from the root; a guessed one costs twice that."""
COST_SORT = 0.5
"""A foreign key; gained by a predicate of the sort that is asked for."""

_STARTS = 400
"""From so many nodes, spread over all, a path has to lead on."""
_NAMED, _NAMED_AFAR = 16, 8
"""So many of a slot's links are tried near by, and afar."""

_Far = tuple[float, int, tuple[Edge, ...], int, Link]
"""A predicate afar: its cost, its link's place, the steps to it, its number, its link."""


@dataclass(frozen=True, eq=False)
class Slot:
    """A stretch of words that names predicates, none of them used by the state."""

    first: int
    last: int
    links: tuple[Link, ...]

    @property
    def mask(self) -> int:
        """The positions as bits."""
        return self.links[0].mask


class Lookups:
    """What words of one question mean in the graph; kept for all its states.

    `naming` are the tokens that ask for names.
    """

    def __init__(self, grower: Grower, frame: Frame) -> None:
        self.grower, self.frame = grower, frame
        self.graph, self.schema, self.linked = grower.graph, grower.schema, grower.linked
        self.reading, self.weights = grower.linked.reading, grower.linked.weights
        self.zones = Zones.of(self.reading, frame)
        naming = self.reading.words.naming
        self.naming = [at for at, one in enumerate(self.reading.tokens) if one.stem in naming]
        self._far: dict[object, list[_Far]] = {}
        self._left: dict[int, dict[tuple[int, ...], tuple[tuple[Link, ...], float]]] = {}

    def slots(self, state: PartialMatch) -> Iterator[Slot]:
        """The stretches of words that name predicates and that a state has not used."""
        free = self._free(state.used)
        present = self.present(state.ids) if free else frozenset()
        fits = {
            positions: any(self.schema.number(link.target) in present for link in links)
            for positions, (links, _) in free.items()
        }
        taken = 0
        for positions in sorted(free, key=lambda p: (-free[p][1] * (1 + fits[p]), p)):
            links = free[positions][0]
            content = links[0].mask & self.grower.content
            loud = all(self.frame.is_loud(at) for at in positions if self.weights[at])
            if not content or content & taken or (loud and not fits[positions]):
                continue
            taken |= content
            yield Slot(positions[0], positions[-1], links)

    def _free(self, used: int) -> dict[tuple[int, ...], tuple[tuple[Link, ...], float]]:
        """The predicate links that some words leave, best first, by position, and their worth."""
        if used not in self._left:
            found: dict[tuple[int, ...], list[Link]] = {}
            for number, links in self.grower.left_links(used).items():
                for one in links if number not in self.schema.claims else ():
                    found.setdefault(one.positions, []).append(one)
            self._left[used] = {
                positions: (ordered, self.grower.weight_of(ordered[0].mask) * _fit(ordered[0]))
                for positions, links in found.items()
                if (ordered := tuple(sorted(links, key=lambda link: -_fit(link))))
            }
        return self._left[used]

    def is_resource(self, ids: Ids) -> bool:
        """Whether nodes are resources rather than literals."""
        return len(ids) > 0 and int(ids[0]) >= self.graph.terms.first_iri

    def applies(self, ids: Ids, predicate: int, inverse: bool) -> bool:
        """Whether some of the nodes (a sample of them) have a predicate."""
        return predicate in self.present(ids, inverse=inverse)

    def present(self, ids: Ids, *, inverse: bool = False) -> frozenset[int]:
        """The predicates of some nodes, or of a sample of them."""
        return self.grower.present(spread(ids), inverse=inverse)

    def wanted(self, predicate: int, prefer: bool) -> float:
        """Whether a predicate's objects are of the sort that the question word asks for."""
        sort = self.schema.sort(predicate)
        if not prefer or self.frame.asks is None:
            return 0.0
        fits = {
            "date": sort in DATED,
            "year": sort in DATED,
            "number": sort in NUMERIC,
            "person": sort in (Sort.NONE, Sort.TEXT),
            "place": sort in (Sort.NONE, Sort.TEXT),
        }
        return COST_SORT if fits[self.frame.asks] else 0.0

    def named_by(self, slot: Slot, sorts: Sequence[Sort]) -> Iterator[tuple[int, Link, int]]:
        """The predicates that a slot names, best first, with their order."""
        for order, link in enumerate(slot.links[:_NAMED]):
            number = self.schema.number(link.target)
            if number is None or (sorts and self.schema.sort(number) not in sorts):
                continue
            if not (sorts and (self.is_key(number, link) or self.is_id(number, link))):
                yield order, link, number

    def is_id(self, number: int, link: Link) -> bool:
        """Whether a predicate's values only tell things apart, and no word says that they do."""
        ids = shared_words().names["ids"]
        if self.schema.sort(number) is Sort.NONE or ids.isdisjoint(self.schema.words(number)):
            return False
        return not any(self.reading.tokens[at].stem in ids for at in link.positions)

    def along(self, ids: Ids, edge: Edge, *, back: bool = False) -> Ids:
        """What a step leads to from some nodes."""
        inverse = edge.inverse != back
        return self.grower.reached(ids, edge.predicate, inverse=inverse, plus=edge.plus)

    def is_key(self, number: int, link: Link) -> bool:
        """Whether a predicate holds the number of a thing that the words name: a foreign key."""
        return self.schema.sort(number) is Sort.NUMBER and self.grower.is_class_like(link)

    def thing_of(self, link: Link) -> int | None:
        """The one thing that a link names, itself or by a text that is its name."""
        if link.kind is Kind.ENTITY:
            return self.schema.node(link.target)
        text = self.graph.terms.find(link.target)
        if text is None:
            return None
        node = np.array([text], dtype=np.int32)
        found = [self.graph.step(node, number, inverse=True) for number in self.schema.naming]
        things = np.unique(np.concatenate(found)) if found else node[:0]
        return int(things[0]) if len(things) == 1 else None

    def far(self, ids: Ids, slot: Slot, sorts: Sequence[Sort]) -> Iterator[_Far]:
        """The predicates that a slot names, one or two unnamed steps from some nodes."""
        classes = self.schema.classes_of(int(ids[0])) if len(ids) else ()
        among: object = classes[0] if classes else ids.tobytes()
        key = among, slot.links[0].positions, tuple(sorts)
        if key not in self._far:
            self._far[key] = list(self._reachable(ids, slot, sorts))
        return (one for one in self._far[key] if self._is_there(ids, one[2], one[3]))

    def _is_there(self, ids: Ids, path: Sequence[Edge], number: int) -> bool:
        """Whether a path from these very nodes leads to a predicate."""
        sample = ids[:: len(ids) // _STARTS + 1]
        for edge in path:
            sample = self.graph.step(sample, edge.predicate, inverse=edge.inverse)
        return len(sample) > 0 and len(self.graph.pairs(sample, number)[0]) > 0

    def _reachable(self, ids: Ids, slot: Slot, sorts: Sequence[Sort]) -> Iterator[_Far]:
        named = [
            (order, link, number)
            for order, link in enumerate(slot.links[:_NAMED_AFAR])
            if (number := self.schema.number(link.target)) is not None
            and not (sorts and self.schema.sort(number) not in sorts)
            and not (sorts and self.is_id(number, link))
        ]
        for steps, present in self.schema.around(ids) if named else ():
            for order, link, number in named:
                if number in present:
                    path = tuple(Edge(predicate, inverse) for predicate, inverse in steps)
                    cost = 2 * COST_BELOW * len(path) - COST_FIT * link.score * link.quality
                    yield cost, order, path, number, link


def _fit(link: Link) -> float:
    """How well words fit a predicate's name."""
    return link.score * link.quality
