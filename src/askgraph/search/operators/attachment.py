"""Attachment of a question's words to a pattern: predicates at its places, near or afar."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from pyoxigraph import Variable

from askgraph.index.names import Kind
from askgraph.search.grow.partial_match import Edge, Node, PartialMatch
from askgraph.search.grow.steps import Grower
from askgraph.search.grow.weights import (
    DOUBT_CLASS_LIKE,
    DOUBT_KEY,
    DOUBT_MISTAKEN,
    DOUBT_OTHER_FITS,
    DOUBT_STEP,
)
from askgraph.search.linking.link import Link
from askgraph.search.linking.operators import Frame, Zones
from askgraph.search.linking.quantities import Quantity
from askgraph.search.operators.draft import Place
from askgraph.search.operators.query_builder import QueryBuilder, Slot, Spot
from askgraph.traversal.arrays import Ids, in_both
from askgraph.traversal.literals import Sort

NUMERIC = (Sort.NUMBER, Sort.TEXT_NUMBER)
DATED = (Sort.DATE, Sort.YEAR, Sort.TEXT_DATE)

# Of several places for a word the one with the least cost is taken; a name that fits wholly is
# worth a little less than 1, so that the near place wins over a slightly better name.
_COST_FIT = 0.9
_COST_BELOW = 0.25  # each step from the root; a guessed one costs twice that
_COST_TURNED = 0.35  # backwards, other than its name says
_COST_SORT = 0.5  # a foreign key; gained by a predicate of the sort that is asked for
_COST_DOUBT = 0.3

_MOST_KEPT = 1000
"""What lies a step from so many nodes is kept; larger sets seldom come again."""

_COMPARES = {">": np.greater, "<": np.less, ">=": np.greater_equal, "<=": np.less_equal}

_UNNAMED = Link(Kind.PREDICATE, "", "", 1.0, (), ())
"""Stands for the words of a predicate that no word of the question names."""


class Places:
    """Finds places for the words of one question; what it looked up is kept for all its states."""

    def __init__(self, grower: Grower, frame: Frame) -> None:
        self.grower, self.frame = grower, frame
        self.graph, self.schema, self.linked = grower.graph, grower.schema, grower.linked
        self.reading, self.weights = grower.linked.reading, grower.linked.weights
        self.zones = Zones.of(self.reading, frame)
        self._steps: dict[tuple[bytes, int, bool, bool], Ids] = {}
        self._far: dict[object, list[tuple[float, int, tuple[Edge, ...], int, Link]]] = {}
        self._left: dict[int, dict[tuple[int, ...], tuple[tuple[Link, ...], float]]] = {}

    def weight_of(self, mask: int) -> float:
        """How much some words tell."""
        return self.grower.weight_of(mask)

    def take_quantity(self, work: QueryBuilder, quantity: Quantity) -> None:
        """Count a quantity's words as used."""
        self.take_tokens(work, quantity.positions)

    def take_tokens(self, work: QueryBuilder, positions: Iterable[int]) -> None:
        """Count tokens as used."""
        mask = sum(1 << at for at in positions)
        work.take(mask, self.weight_of(mask))

    def slots(self, state: PartialMatch) -> Iterator[Slot]:
        """The stretches of words that name predicates and that a state has not used."""
        free = self._free(state.used)
        present = self._present(state.ids) if free else frozenset()
        fits = {
            positions: any(self.schema.number(link.target) in present for link in links)
            for positions, (links, _) in free.items()
        }
        taken = 0
        for positions in sorted(free, key=lambda p: (-free[p][1] * (1 + fits[p]), p)):
            links = free[positions][0]
            content = links[0].mask & self.grower.content
            loud = all(self.frame.is_loud(at) for at in positions if self.weights[at])
            if content & taken or (loud and not fits[positions]):
                continue
            taken |= content
            yield Slot(positions[0], positions[-1], links)

    def _free(self, used: int) -> dict[tuple[int, ...], tuple[tuple[Link, ...], float]]:
        """The predicate links that some words leave, best first, by position, and their worth."""
        if used not in self._left:
            found: dict[tuple[int, ...], list[Link]] = {}
            for links in self.grower.left_links(used).values():
                for one in links:
                    found.setdefault(one.positions, []).append(one)
            self._left[used] = {
                positions: (ordered, self.weight_of(ordered[0].mask) * _fit(ordered[0]))
                for positions, links in found.items()
                if (ordered := tuple(sorted(links, key=lambda link: -_fit(link))))
            }
        return self._left[used]

    def is_resource(self, ids: Ids) -> bool:
        """Whether nodes are resources rather than literals."""
        return len(ids) > 0 and int(ids[0]) >= self.graph.terms.first_iri

    def applies(self, ids: Ids, predicate: int, inverse: bool) -> bool:
        """Whether some of the nodes (a sample of them) have a predicate."""
        return predicate in self._present(ids, inverse=inverse)

    def _present(self, ids: Ids, *, inverse: bool = False) -> frozenset[int]:
        """The predicates of some nodes, or of a sample of them."""
        sample = ids if len(ids) <= 400 else ids[:: len(ids) // 400]
        return self.grower.present(sample, inverse=inverse)

    def _wanted(self, predicate: int, prefer: bool) -> float:
        """Whether a predicate's objects are of the sort that the question word asks for."""
        sort = self.sort(predicate)
        if not prefer or self.frame.asks is None:
            return 0.0
        fits = {
            "date": sort in DATED,
            "year": sort in DATED,
            "number": sort in NUMERIC,
            "person": sort in (Sort.NONE, Sort.TEXT),
            "place": sort in (Sort.NONE, Sort.TEXT),
        }
        return _COST_SORT if fits[self.frame.asks] else 0.0

    def spot(
        self, work: QueryBuilder, slot: Slot, *, sorts: Sequence[Sort] = (), prefer: bool = False
    ) -> Spot | None:
        """Find where a slot's predicate hangs: at the root, in the pattern, or a step or two away.

        With `prefer`, predicates of the sort that the question asks for go first.
        """
        options = [
            option
            for order, link, number in self._named(slot, sorts)
            for place in work.draft.places
            if self.is_resource(place.node.ids)
            for option in self._at(work, place, number, link, order, bool(sorts), prefer)
        ]
        if not options and not work.afar:
            work.missed = True
        elif not options:
            options = list(self._afar(work, slot, sorts))
        return min(options, key=lambda option: option[:2])[2] if options else None

    def _named(self, slot: Slot, sorts: Sequence[Sort]) -> Iterator[tuple[int, Link, int]]:
        """The predicates that a slot names, best first, with their order."""
        for order, link in enumerate(slot.links[:16]):
            number = self.schema.number(link.target)
            if number is None or (sorts and self.sort(number) not in sorts):
                continue
            if not (sorts and self._is_key(number, link)):
                yield order, link, number

    def ids_at(self, work: QueryBuilder, place: Place) -> Ids:
        """The nodes that a place stands for within the whole pattern and what was hung on it."""
        if place not in work.standing:
            ids = place.node.ids
            if place.parent is not None and place.edge is not None:
                reached = self._along(self.ids_at(work, place.parent), place.edge)
                ids = in_both(reached, ids)
            if place in work.narrowed:
                ids = in_both(ids, work.narrowed[place])
            work.standing[place] = ids
        return work.standing[place]

    def _along(self, ids: Ids, edge: Edge, *, back: bool = False) -> Ids:
        if len(ids) > _MOST_KEPT:
            return self._stepped(ids, edge, back=back)
        key = ids.tobytes(), edge.predicate, edge.inverse != back, edge.plus
        if key not in self._steps:
            self._steps[key] = self._stepped(ids, edge, back=back)
        return self._steps[key]

    def _stepped(self, ids: Ids, edge: Edge, *, back: bool) -> Ids:
        step = self.graph.closure if edge.plus else self.graph.step
        return step(ids, edge.predicate, inverse=edge.inverse != back)

    def _narrow(self, work: QueryBuilder, place: Place, predicate: int, inverse: bool) -> None:
        """Keep the nodes at a place that have a predicate."""
        ids = self.ids_at(work, place)
        self.keep(work, place, self.graph.bearers(ids, predicate, inverse=inverse))

    def keep_where(self, work: QueryBuilder, spot: Spot, sign: str, bound: float) -> None:
        """Keep the nodes whose value compares to a bound as the sign says, if there are any."""
        if spot.path:
            return
        ids = self.ids_at(work, spot.place)
        bearers, objects = self.graph.pairs(ids, spot.predicate)
        literal = objects < self.graph.terms.first_iri
        values = self.graph.values[objects[literal]]
        kept = np.unique(bearers[literal][_COMPARES[sign](values, bound)])
        if len(kept):
            self.keep(work, spot.place, kept)

    def keep(self, work: QueryBuilder, place: Place, bearers: Ids) -> None:
        """Narrow a place, and those above it to what leads there."""
        if len(bearers) == len(self.ids_at(work, place)):
            return
        while True:
            work.standing.clear()
            work.narrowed[place] = bearers
            if place.parent is None or place.edge is None:
                return
            above = self.ids_at(work, place.parent)
            leading = self._along(bearers, place.edge, back=True)
            bearers = in_both(above, leading)
            place = place.parent

    def _at(
        self,
        work: QueryBuilder,
        place: Place,
        number: int,
        link: Link,
        order: int,
        valued: bool,
        prefer: bool,
    ) -> Iterator[tuple[float, int, Spot]]:
        """A predicate at one place, forwards, and backwards if it may be."""
        ids = self.ids_at(work, place)
        for inverse in (False,) if valued or place.below else (False, True):
            repeated = any(
                edge.predicate == number and edge.inverse == inverse for edge, _ in place.node.edges
            )
            if repeated or not self.applies(ids, number, inverse):
                continue
            turned = inverse != self.schema.names_subject(number)
            if (
                turned
                and inverse
                and self.schema.is_nary(self.graph.step(ids[:50], number, inverse=True))
            ):
                continue
            cost = _COST_BELOW * place.below + (_COST_TURNED if turned else 0.0)
            cost += _COST_SORT if self._is_key(number, link) else 0.0
            said_of_place = self.schema.names_subject(number) != inverse
            doubt = (
                DOUBT_MISTAKEN if said_of_place and not self.grower.fits_noun(link, ids) else 0.0
            )
            cost += (
                _COST_DOUBT * doubt
                - _COST_FIT * link.score * link.quality
                - self._wanted(number, prefer)
            )
            yield cost, order, Spot(place, number, inverse, link, doubt=doubt)

    def _is_key(self, number: int, link: Link) -> bool:
        """Whether a predicate holds the number of a thing that the words name: a foreign key."""
        return self.sort(number) is Sort.NUMBER and self.grower.is_class_like(link)

    def _afar(
        self, work: QueryBuilder, slot: Slot, sorts: Sequence[Sort]
    ) -> Iterator[tuple[float, int, Spot]]:
        """A predicate of things one or two unnamed steps from the root."""
        ids = self.ids_at(work, work.root)
        classes = self.schema.classes_of(int(ids[0])) if len(ids) else ()
        among: object = classes[0] if classes else ids.tobytes()
        key = among, slot.links[0].positions, tuple(sorts)
        if key not in self._far:
            self._far[key] = list(self._reachable(ids, slot, sorts))
        for cost, order, path, number, link in self._far[key]:
            if self._is_there(ids, path, number):
                yield cost, order, Spot(work.root, number, False, link, path)

    def _is_there(self, ids: Ids, path: Sequence[Edge], number: int) -> bool:
        """Whether a path from these very nodes leads to a predicate."""
        sample = ids[:: len(ids) // 400 + 1]
        for edge in path:
            sample = self.graph.step(sample, edge.predicate, inverse=edge.inverse)
        return len(sample) > 0 and len(self.graph.pairs(sample, number)[0]) > 0

    def _reachable(
        self, ids: Ids, slot: Slot, sorts: Sequence[Sort]
    ) -> Iterator[tuple[float, int, tuple[Edge, ...], int, Link]]:
        named = [
            (order, link, number)
            for order, link in enumerate(slot.links[:8])
            if (number := self.schema.number(link.target)) is not None
            and not (sorts and self.sort(number) not in sorts)
        ]
        for steps, found in self.schema.around(ids) if named else ():
            present = self._present(found)
            for order, link, number in named:
                if number in present:
                    path = tuple(Edge(predicate, inverse) for predicate, inverse in steps)
                    cost = 2 * _COST_BELOW * len(path) - _COST_FIT * link.score * link.quality
                    yield cost, order, path, number, link

    def sort(self, predicate: int) -> Sort:
        """The sort of a predicate's values."""
        return self.schema.sort(predicate)

    def hang(self, work: QueryBuilder, spot: Spot) -> Variable:
        """Attach a spot's predicate (and the steps to it) to the draft; returns its variable."""
        place = spot.place
        work.unknown += spot.doubt
        for edge in spot.path:
            variable = work.draft.attach(place, edge.predicate, inverse=edge.inverse)
            known = [p for p in work.draft.places if p.end == variable]
            self._narrow(work, place, edge.predicate, edge.inverse)
            ids = self._along(self.ids_at(work, place), edge)
            place = (
                known[0]
                if known
                else Place(variable, Node(ids), place.below + 1, parent=place, edge=edge)
            )
            if not known:
                work.draft.places.append(place)
                work.unknown += DOUBT_STEP
        self._narrow(work, place, spot.predicate, spot.inverse)
        return work.draft.attach(place, spot.predicate, inverse=spot.inverse)

    def use(self, work: QueryBuilder, slot: Slot, link: Link) -> None:
        """Count a slot as used."""
        number = self.schema.number(link.target)
        if number is not None and self._is_key(number, link):
            work.unknown += DOUBT_KEY
        elif self.grower.is_class_like(link):
            work.unknown += DOUBT_CLASS_LIKE
        work.done.add(slot)
        work.take(slot.mask, self.grower.gain(link, work.used))

    def next_slot(self, work: QueryBuilder, after: int, within: int = 3) -> Slot | None:
        """The first slot not yet used that starts within some words after a place."""
        fits = [s for s in work.slots if work.is_left(s) and 0 < s.first - after <= within]
        return min(fits, key=lambda slot: slot.first) if fits else None

    def last_slot(self, work: QueryBuilder, before: int, within: int = 4) -> Slot | None:
        """The last slot not yet used that ends within some words before a place."""
        fits = [s for s in work.slots if work.is_left(s) and 0 < before - s.last <= within]
        return max(fits, key=lambda slot: slot.last) if fits else None

    def next_place(self, work: QueryBuilder, after: int, within: int = 4) -> Place | None:
        """The place of the pattern whose words start soonest after a token."""
        best: tuple[int, int, Place] | None = None
        for place in work.draft.places:
            for first in place.words:
                near = 0 < first - after <= within
                if near and (best is None or (first, place.below) < best[:2]):
                    best = first, place.below, place
        return best[2] if best is not None else None

    def group_by(self, work: QueryBuilder, place: Place) -> None:
        """Make one row for each thing at a place."""
        if isinstance(place.end, Variable):
            work.draft.group.append(place.end)
            work.grouped = True
            if place is not work.root:
                at = min(place.words, default=0)
                work.projected.append((at, self.named(work, place)))

    def shown(self, work: QueryBuilder, variable: Variable, spot: Spot) -> Variable:
        """The variable to show for a predicate's object: its name if the graph has its own."""
        if self.sort(spot.predicate) is not Sort.NONE and not spot.inverse:
            return variable
        ids = self.graph.step(spot.place.node.ids[:200], spot.predicate, inverse=spot.inverse)
        name = self.schema.name_predicate(ids)
        if name is None and not spot.inverse:
            name = self.schema.stated(ids, spot.predicate)
        if name is None:
            return variable
        return work.draft.attach(Place(variable, Node(ids), 1), name)

    def by_words(
        self,
        work: QueryBuilder,
        words: Sequence[str],
        sorts: Sequence[Sort],
        *,
        named: bool = False,
    ) -> Spot | None:
        """A predicate of the root (or of another place) whose name holds one of the words.

        With `named`, things without a name do not count.
        """
        for place in work.draft.places:
            if named and self.schema.is_nameless(place.node.ids):
                continue
            present = [int(p) for p in self.graph.predicates_of(place.node.ids[:300])[0]]
            for word in words:
                for number in present:
                    if self.sort(number) in sorts and word in self.schema.words(number):
                        return unnamed_spot(place, number)
        return None

    def only(self, work: QueryBuilder, sorts: Sequence[Sort]) -> Spot | None:
        """The only predicate of its sort at the root or elsewhere in the pattern."""
        for place in work.draft.places:
            if not self.is_resource(place.node.ids):
                continue
            present = [int(p) for p in self.graph.predicates_of(place.node.ids[:300])[0]]
            fits = [number for number in present if self.sort(number) in sorts]
            if fits:
                named = [n for n in fits if {"start", "begin", "date"} & self.schema.words(n)]
                work.unknown += DOUBT_OTHER_FITS * (len(fits) - 1)
                return unnamed_spot(place, (named or fits)[0])
        return None

    def thing_of(self, link: Link) -> int | None:
        """The one thing that a link names, itself or by a text that is its name."""
        if link.kind is Kind.ENTITY:
            return self.graph.terms.iri(link.target)
        text = self.graph.terms.find(link.target)
        if text is None:
            return None
        node = np.array([text], dtype=np.int32)
        found = [self.graph.step(node, number, inverse=True) for number in self.schema.naming]
        things = np.unique(np.concatenate(found)) if found else node[:0]
        return int(things[0]) if len(things) == 1 else None

    def named(self, work: QueryBuilder, place: Place) -> Variable:
        """The variable to show for a thing: its name if the graph has its own."""
        ids, name = place.node.ids, self.schema.name_predicate(place.node.ids)
        if name is None:
            leading = [edge.predicate for edge, _ in place.node.edges if edge.inverse]
            leading += [place.edge.predicate] if place.edge and not place.edge.inverse else []
            values = (self.schema.stated(ids, number) for number in leading)
            name = next((number for number in values if number is not None), None)
        if name is None and isinstance(place.end, Variable):
            return place.end
        return work.draft.attach(place, name or 0)


def unnamed_spot(place: Place, predicate: int) -> Spot:
    """Return a predicate at a place that no word of the question names."""
    return Spot(place, predicate, False, _UNNAMED)


def _fit(link: Link) -> float:
    """How well words fit a predicate's name."""
    return link.score * link.quality
