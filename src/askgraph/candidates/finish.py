"""From a state to whole queries: which words are asked for, and what the operators do.

Words that no state used name predicates to show, to order or filter by. Each operator looks for
its argument among the words around it; what it takes up counts as used.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from askgraph.candidates.draft import Draft, Place
from askgraph.candidates.form import Aggregate, Average, Column, Filter, Form, Having, Key, Pattern
from askgraph.candidates.grow import Edge, Grower, Node, State
from askgraph.candidates.operators import COMPARING, Frame, Operator
from askgraph.candidates.zones import Zones
from askgraph.index.names import Kind
from askgraph.linking.link import Link
from askgraph.linking.lists import Measure
from askgraph.linking.quantities import Quantity
from askgraph.traversal.arrays import Ids
from askgraph.traversal.literals import Sort

__all__ = ["Candidate", "Finisher"]


_BEHIND = 0.5
_AFAR = 50


@dataclass(frozen=True, eq=False)
class Candidate:
    """A whole query with what speaks for and against it."""

    form: Form
    state: State
    used: int
    gain: float
    unknown: float
    patterns: int
    notes: tuple[str, ...] = ()
    shown_words: int = 0
    score: float = 0.0
    features: dict[str, float] = field(default_factory=dict)


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


@dataclass(frozen=True, eq=False)
class Spot:
    """A predicate in its place in a draft."""

    place: Place
    predicate: int
    inverse: bool
    link: Link
    path: tuple[Edge, ...] = ()


@dataclass(eq=False)
class Work:
    """One candidate in the making."""

    draft: Draft
    state: State
    root: Place
    slots: list[Slot]
    used: int
    gain: float
    unknown: float
    done: set[int] = field(default_factory=set)
    projected: list[tuple[int, int]] = field(default_factory=list)  # (position, variable)
    shown_words: int = 0
    grouped: bool = False
    notes: list[str] = field(default_factory=list)
    afar: bool = True
    missed: bool = False

    def take(self, mask: int, gain: float) -> None:
        """Count words as used."""
        if mask & ~self.used:
            self.used |= mask
            self.gain += gain


class Finisher:
    """Finishes the states of one question."""

    def __init__(self, grower: Grower, frame: Frame) -> None:
        self.grower, self.frame = grower, frame
        self.graph, self.schema = grower.graph, grower.schema
        self.linked = grower.linked
        self.reading = grower.linked.reading
        self.weights = grower.linked.weights
        self.zones = Zones.of(self.reading, frame)
        self.usable = frame.mask | frame.quantified
        for links in grower.by_predicate.values():
            for one in links:
                self.usable |= one.mask
        self.applies: dict[tuple[int, int, bool], bool] = {}
        self.kept: list[Ids] = []
        self.far: dict[object, list[tuple[float, int, tuple[Edge, ...], int, Link]]] = {}

    def candidates(self, states: Sequence[State]) -> Iterator[Candidate]:
        """Finish each state; states that cannot be an answer, or not a good one, give none."""
        best = float("-inf")
        for place, state in enumerate([*states, *self._domains(states)]):
            if self._hope(state) < best - _BEHIND:
                continue
            for candidate in self.finish(state, afar=place < _AFAR or place >= len(states)):
                reached = 2 * candidate.gain / self.grower.total
                best = max(
                    best, reached - 0.05 * candidate.patterns - 0.16 * candidate.unknown
                )
                yield candidate

    def _hope(self, state: State) -> float:
        """The score of a state if all words left were put to use for nothing."""
        left = sum(
            weight
            for at, weight in enumerate(self.weights)
            if self.usable >> at & 1 and not state.used >> at & 1
        )
        return self.grower.score(state) + 2 * left / self.grower.total + 0.3

    def _domains(self, states: Sequence[State]) -> Iterator[State]:
        """The subjects of linked predicates: the members where no class or thing is named."""
        for number, links in self.grower.by_predicate.items():
            best = max(link.score for link in links)
            if best < 0.6:
                continue
            ids = self.graph.ends(number)
            yield State(Node(ids), 0, 0.0, unknown=0.5)

    def finish(self, state: State, *, afar: bool = True) -> Iterator[Candidate]:
        """Build the queries of one state: without the predicates that lie afar, and with them."""
        if not len(state.ids) or int(state.ids[0]) < self.graph.terms.first_iri and not state.hops:
            if not (len(state.ids) and state.node.edges):
                return
        for far in (False, True) if afar else (False,):
            draft = Draft(self.schema)
            root = draft.grow(state.node)
            slots = list(self._slots(state))
            work = Work(draft, state, root, slots, state.used, state.gain, state.unknown, afar=far)
            self._operators(work)
            self._rest(work)
            self._columns(work)
            candidate = self._closed(work)
            if candidate is not None:
                yield candidate
            if not work.missed:
                return

    # slots

    def _slots(self, state: State) -> Iterator[Slot]:
        free: dict[tuple[int, ...], list[Link]] = {}
        for number, links in self.grower.by_predicate.items():
            for one in links:
                if self.grower.gain(one, state.used):
                    free.setdefault(one.positions, []).append(one)
        def worth(positions: tuple[int, ...]) -> float:
            fits = any(self._spots_at_root(state.node.ids, link) for link in free[positions])
            best = max(link.score * link.quality for link in free[positions])
            return sum(self.weights[at] for at in positions) * best * (2.0 if fits else 1.0)

        taken = 0
        for positions in sorted(free, key=lambda p: (-worth(p), p)):
            mask = free[positions][0].mask
            content = sum(1 << at for at in positions if self.weights[at])
            if content & taken:
                continue
            taken |= content
            links = sorted(free[positions], key=lambda link: -link.score * link.quality)
            yield Slot(positions[0], positions[-1], tuple(links))

    def _spots_at_root(self, ids: Ids, link: Link) -> bool:
        number = self.schema.number(link.target)
        return number is not None and self._applies(ids, number, False)

    def _is_resource(self, ids: Ids) -> bool:
        return len(ids) > 0 and int(ids[0]) >= self.graph.terms.first_iri

    def _applies(self, ids: Ids, predicate: int, inverse: bool) -> bool:
        key = id(ids), predicate, inverse
        if key not in self.applies:
            sample = ids if len(ids) <= 400 else ids[:: len(ids) // 400]
            self.kept.append(ids)  # so that no other array takes over its id
            self.applies[key] = len(self.graph.pairs(sample, predicate, inverse=inverse)[0]) > 0
        return self.applies[key]

    def _asked(self, predicate: int, prefer: bool) -> float:
        """Whether a predicate's objects are of the sort that the question word asks for."""
        sort = self._sort(predicate)
        if not prefer or self.frame.asks is None:
            return 0.0
        fits = {
            "date": sort in (Sort.DATE, Sort.YEAR, Sort.TEXT_DATE),
            "year": sort in (Sort.DATE, Sort.YEAR, Sort.TEXT_DATE),
            "number": sort in (Sort.NUMBER, Sort.TEXT_NUMBER),
            "person": sort in (Sort.NONE, Sort.TEXT),
            "place": sort in (Sort.NONE, Sort.TEXT),
        }
        return 0.5 if fits[self.frame.asks] else 0.0

    def spot(
        self, work: Work, slot: Slot, *, sorts: Sequence[Sort] = (), prefer: bool = False
    ) -> Spot | None:
        """Find where a slot's predicate hangs: at the root, in the pattern, or a step or two away.

        With `prefer`, predicates of the sort that the question asks for go first.
        """
        options: list[tuple[float, int, Spot]] = []
        for order, link in enumerate(slot.links[:16]):
            number = self.schema.number(link.target)
            if number is None or sorts and self._sort(number) not in sorts:
                continue
            for place in work.draft.places:
                if not self._is_resource(place.node.ids):
                    continue
                for inverse in (False, True):
                    if inverse and (sorts or place.below):
                        continue
                    if any(
                        edge.predicate == number and edge.inverse == inverse
                        for edge, _ in place.node.edges
                    ):
                        continue
                    if self._applies(place.node.ids, number, inverse):
                        turned = inverse != self.schema.names_subject(number)
                        if turned and inverse and self.schema.is_nary(
                            self.graph.step(place.node.ids[:1], number, inverse=True)
                        ):
                            continue
                        cost = 0.25 * place.below + (0.35 if turned else 0.0)
                        cost -= 0.9 * link.score * link.quality + self._asked(number, prefer)
                        options.append((cost, order, Spot(place, number, inverse, link)))
        if not options and not work.afar:
            work.missed = True
        elif not options:
            options = list(self._afar(work, slot, sorts))
        return min(options, key=lambda option: option[:2])[2] if options else None

    def _afar(
        self, work: Work, slot: Slot, sorts: Sequence[Sort]
    ) -> Iterator[tuple[float, int, Spot]]:
        """A predicate of things one or two unnamed steps from the root."""
        ids = work.root.node.ids
        classes = self.schema.classes_of(int(ids[0])) if len(ids) else ()
        key = classes[:1], id(ids) if not classes else 0, slot.links[0].positions, tuple(sorts)
        if key not in self.far:
            self.kept.append(ids)
            self.far[key] = list(self._reachable(ids, slot, sorts))
        for cost, order, path, number, link in self.far[key]:
            yield cost, order, Spot(work.root, number, False, link, path)

    def _reachable(
        self, ids: Ids, slot: Slot, sorts: Sequence[Sort]
    ) -> Iterator[tuple[float, int, tuple[Edge, ...], int, Link]]:
        for steps, found in self.schema.around(ids):
            path = tuple(Edge(predicate, inverse) for predicate, inverse in steps)
            for order, link in enumerate(slot.links[:8]):
                number = self.schema.number(link.target)
                if number is None or sorts and self._sort(number) not in sorts:
                    continue
                if self._applies(found, number, False):
                    yield 0.5 * len(path) - 0.9 * link.score * link.quality, order, path, number, link

    def _sort(self, predicate: int) -> Sort:
        return self.schema.sort(predicate)

    def hang(self, work: Work, spot: Spot) -> int:
        """Attach a spot's predicate (and the steps to it) to the draft; returns its variable."""
        place = spot.place
        for edge in spot.path:
            variable = work.draft.attach(place, edge.predicate, inverse=edge.inverse)
            known = [p for p in work.draft.places if p.variable == variable]
            ids = self.graph.step(place.node.ids, edge.predicate, inverse=edge.inverse)
            place = known[0] if known else Place(variable, Node(ids), place.below + 1)
            if not known:
                work.draft.places.append(place)
                work.unknown += 1.0
        return work.draft.attach(place, spot.predicate, inverse=spot.inverse)

    def use(self, work: Work, slot: Slot, link: Link) -> None:
        """Count a slot as used."""
        work.done.add(id(slot))
        work.take(slot.mask, self.grower.gain(link, work.used))

    # operators

    def _operators(self, work: Work) -> None:
        slots = 0
        for slot in work.slots:
            slots |= slot.mask
        for operator in self.frame.operators:
            taken = work.used if operator.name == "exists" else work.used | slots
            if operator.mask & taken & (self.grower.content if operator.name == "exists" else -1):
                continue
            handler = getattr(self, f"_{operator.name}", None)
            if handler is not None and handler(work, operator):
                weight = sum(self.weights[at] for at in operator.positions)
                work.take(operator.mask, weight)
                work.gain += 0.6
                work.notes.append(operator.name)

    def _next_slot(self, work: Work, after: int, within: int = 3) -> Slot | None:
        """The first slot not yet used that starts within some words after a place."""
        fits = [s for s in work.slots if id(s) not in work.done and 0 < s.first - after <= within]
        return min(fits, key=lambda slot: slot.first) if fits else None

    def _last_slot(self, work: Work, before: int, within: int = 4) -> Slot | None:
        fits = [s for s in work.slots if id(s) not in work.done and 0 < before - s.last <= within]
        return max(fits, key=lambda slot: slot.last) if fits else None

    def _next_place(self, work: Work, after: int, within: int = 4) -> Place | None:
        """The place of the pattern whose words start soonest after a token."""
        best: tuple[int, int, Place] | None = None
        for place in work.draft.places:
            for first in _positions(place):
                if 0 < first - after <= within and (best is None or (first, place.below) < best[:2]):
                    best = first, place.below, place
        return best[2] if best is not None else None

    def _each(self, work: Work, operator: Operator) -> bool:
        slot = self._next_slot(work, operator.last)
        place = self._next_place(work, operator.last)
        if place is not None and (slot is None or min(_positions(place)) <= slot.first):
            self._group_by_place(work, place)
            return True
        if slot is None:
            return False
        spot = self.spot(work, slot)
        if spot is None:
            return False
        variable = self.hang(work, spot)
        self.use(work, slot, spot.link)
        work.draft.group.append(self.shown(work, variable, spot))
        work.grouped = True
        work.projected.append((slot.first, self.shown(work, variable, spot)))
        return True

    def _group_by_place(self, work: Work, place: Place) -> None:
        if isinstance(place.variable, int):
            work.draft.group.append(place.variable)
            work.grouped = True
            if place is not work.root:
                at = min(_positions(place), default=0)
                work.projected.append((at, self._named(work, place)))

    def shown(self, work: Work, variable: int, spot: Spot) -> int:
        """The variable to show for a predicate's object: its name where the graph has its own."""
        if self._sort(spot.predicate) is not Sort.NONE and not spot.inverse:
            return variable
        ids = self.graph.step(spot.place.node.ids[:200], spot.predicate, inverse=spot.inverse)
        name = self.schema.name_predicate(ids)
        if name is None:
            return variable
        return work.draft.attach(Place(variable, Node(ids), 1), name)

    def _count(self, work: Work, operator: Operator) -> bool:
        slot = self._next_slot(work, operator.last)
        place = self._next_place(work, operator.last)
        if slot is not None and (place is None or slot.first <= min(_positions(place))):
            spot = self.spot(work, slot)
            if spot is None:
                return False
            if self._sort(spot.predicate) is Sort.NUMBER and not self._counts_values(operator):
                return False
            variable = self.hang(work, spot)
            self.use(work, slot, spot.link)
            work.draft.columns.append(Column(Aggregate("COUNT", variable, distinct=True)))
            return True
        before = self._last_slot(work, operator.first, 1)
        if place is None and before is not None:
            spot = self.spot(work, before, sorts=(Sort.NUMBER, Sort.TEXT_NUMBER))
            if spot is not None:
                return True  # "employee count": the slot itself is shown
        place = place or work.root
        if not isinstance(place.variable, int):
            return False
        work.draft.columns.append(Column(Aggregate("COUNT", place.variable, distinct=True)))
        return True

    def _counts_values(self, operator: Operator) -> bool:
        words = [self.reading.tokens[at].folded for at in operator.positions]
        distinct = {p[0] for p in self.reading.words.operators["distinct"]}
        return any(word in distinct for word in words)

    def _average(self, work: Work, operator: Operator) -> bool:
        return self._aggregated(work, operator, "AVG")

    def _sum(self, work: Work, operator: Operator) -> bool:
        return self._aggregated(work, operator, "SUM")

    def _minimum(self, work: Work, operator: Operator) -> bool:
        return self._aggregated(work, operator, "MIN") if self._alone(work, operator) else (
            self._extreme(work, operator, descending=False)
        )

    def _maximum(self, work: Work, operator: Operator) -> bool:
        return self._aggregated(work, operator, "MAX") if self._alone(work, operator) else (
            self._extreme(work, operator, descending=True)
        )

    def _alone(self, work: Work, operator: Operator) -> bool:
        """Whether nothing else is asked for before the operator: "what is the maximum …"."""
        asked = [s for s in work.slots if s.first < operator.first and id(s) not in work.done]
        places = [
            p for p in work.draft.places for at in _positions(p) if at < operator.first
        ]
        return not asked and not places and self.zones.is_head(operator.first)

    def _aggregated(self, work: Work, operator: Operator, function: str) -> bool:
        variable = self._aggregand(work, operator)
        if variable is None:
            return False
        work.draft.columns.append(Column(Aggregate(function, variable)))
        return True

    def _aggregand(self, work: Work, operator: Operator) -> int | None:
        """The number that an aggregate is over; several aggregates may share one."""
        measurable = (Sort.NUMBER, Sort.TEXT_NUMBER, Sort.DATE, Sort.YEAR)
        slot = self._next_slot(work, operator.last, 8)
        if slot is not None:
            spot = self.spot(work, slot, sorts=measurable)
            if spot is not None:
                shared = [
                    op for op in self.frame.of("average", "sum", "minimum", "maximum")
                    if op is not operator and 0 < op.first - operator.last <= 3
                    and op.last < slot.first
                ]
                variable = self.hang(work, spot)
                if not shared:
                    self.use(work, slot, spot.link)
                return variable
        for column in work.draft.columns:
            if isinstance(column.value, Aggregate) and column.value.function != "COUNT":
                return column.value.variable
        return None

    def _superlative(self, work: Work, operator: Operator) -> bool:
        measure = operator.measure
        if measure is None:
            return False
        slot = self._next_slot(work, operator.last, 2)
        if slot is not None and self._alone(work, operator) and self.frame.asks is None:
            if self.spot(work, slot, sorts=(Sort.NUMBER, Sort.TEXT_NUMBER)) is not None:
                return self._aggregated(work, operator, "MAX" if measure.up else "MIN")
        return self._extreme(work, operator, descending=measure.up, measure=measure)

    def _extreme(
        self, work: Work, operator: Operator, *, descending: bool, measure: Measure | None = None
    ) -> bool:
        key = self._measured_by(work, operator, measure)
        if key is None:
            if measure is None:
                return self._most_of(work, operator, descending=descending)
            return False
        variable, dated = key
        if dated and measure is not None:
            descending = not descending
        work.draft.order.append(Key(variable, descending))
        self._limit(work, operator)
        return True

    def _measured_by(
        self, work: Work, operator: Operator, measure: Measure | None
    ) -> tuple[int, bool] | None:
        """The number or date that an adjective of measure is about."""
        numeric = (Sort.NUMBER, Sort.TEXT_NUMBER)
        every = (*numeric, Sort.DATE, Sort.YEAR, Sort.TEXT_DATE)
        slot = self._next_slot(work, operator.last, 5)
        if slot is None and measure is not None and measure.dates:
            slot = self._last_slot(work, operator.first, 2)
        if slot is not None:
            spot = self.spot(work, slot, sorts=every)
            if spot is not None:
                variable = self.hang(work, spot)
                self.use(work, slot, spot.link)
                return variable, self._sort(spot.predicate) not in numeric
        if measure is not None:
            for words, sorts in ((measure.measures, numeric), (measure.dates, every)):
                found = self._by_words(work, words, sorts)
                if found is not None:
                    dated = words is measure.dates
                    return self.hang(work, found), dated
        return None

    def _by_words(
        self, work: Work, words: Sequence[str], sorts: Sequence[Sort]
    ) -> Spot | None:
        """A predicate of the root (or of another place) whose name holds one of the words."""
        for place in work.draft.places:
            present = [int(p) for p in self.graph.predicates_of(place.node.ids[:300])[0]]
            for word in words:
                for number in present:
                    if self._sort(number) in sorts and word in self.schema.words(number):
                        link = Link(Kind.PREDICATE, "", "", 1.0, (), ())
                        return Spot(place, number, False, link)
        return None

    def _measure(self, work: Work, operator: Operator) -> bool:
        """"How old": the age is what is asked for."""
        measure = operator.measure
        numeric = (Sort.NUMBER, Sort.TEXT_NUMBER)
        if measure is None:
            return False
        found = self._by_words(work, measure.measures, numeric) or self._by_words(
            work, measure.dates, (Sort.DATE, Sort.YEAR, *numeric)
        )
        if found is None:
            return False
        work.projected.append((operator.first, self.hang(work, found)))
        return True

    def _limit(self, work: Work, operator: Operator) -> None:
        count, offset = 1, 0
        before = [self.reading.tokens[at].folded for at in (operator.first - 1,) if at >= 0]
        after = [
            self.reading.tokens[at].folded
            for at in (operator.last + 1,)
            if at < len(self.reading.tokens)
        ]
        for word in before + after:
            if word in self.reading.words.ordinals and word in before:
                offset = self.reading.words.ordinals[word] - 1
                work.take(1 << (operator.first - 1), self.weights[operator.first - 1])
        for quantity in self.reading.quantities:
            if quantity.value is None or not float(quantity.value).is_integer():
                continue
            if (
                abs(quantity.first - operator.last) == 1
                or operator.first - quantity.last == 1
                or quantity.last + 1 in work.root.words
            ):
                count = max(1, int(quantity.value))
                mask = sum(1 << at for at in quantity.positions)
                work.take(mask, sum(self.weights[at] for at in quantity.positions))
        work.draft.limit, work.draft.offset = count, offset

    def _top(self, work: Work, operator: Operator) -> bool:
        quantity = self.frame.quantity_after(operator, 1)
        if quantity is None or quantity.value is None:
            return False
        work.draft.limit = int(quantity.value)
        mask = sum(1 << at for at in quantity.positions)
        work.take(mask, sum(self.weights[at] for at in quantity.positions))
        return True

    def _most(self, work: Work, operator: Operator) -> bool:
        return self._extreme(work, operator, descending=True)

    def _fewest(self, work: Work, operator: Operator) -> bool:
        return self._extreme(work, operator, descending=False)

    def _most_of(self, work: Work, operator: Operator, *, descending: bool) -> bool:
        """"The most X": the member with the most things that X names."""
        place = self._next_place(work, operator.last, 4)
        counted: int | None = None
        if place is not None and place is not work.root and isinstance(place.variable, int):
            counted = place.variable
        else:
            slot = self._next_slot(work, operator.last, 4)
            spot = self.spot(work, slot) if slot is not None else None
            if slot is not None and spot is not None:
                variable = self.hang(work, spot)
                self.use(work, slot, spot.link)
                if self.schema.is_functional(spot.predicate) and not spot.inverse:
                    return self._most_common(work, operator, variable, spot, descending)
                counted = variable
        if counted is None:
            return self._most_frequent(work, operator, descending)
        work.draft.order.append(Key(Aggregate("COUNT", counted, distinct=True), descending))
        self._group_by_place(work, work.root)
        work.grouped = True
        self._limit(work, operator)
        return True

    def _most_common(
        self, work: Work, operator: Operator, variable: int, spot: Spot, descending: bool
    ) -> bool:
        """"The most common X": the value that most members share."""
        shown = self.shown(work, variable, spot)
        work.draft.group.append(shown)
        work.grouped = True
        work.projected.append((operator.last, shown))
        if not isinstance(work.root.variable, int):
            return False
        counted = Aggregate("COUNT", work.root.variable, distinct=True)
        work.draft.order.append(Key(counted, descending))
        self._limit(work, operator)
        return True

    def _most_frequent(self, work: Work, operator: Operator, descending: bool) -> bool:
        """A slot before the operator is the key, the members are counted."""
        slot = self._last_slot(work, operator.first, 6)
        place = self._next_place(work, operator.last, 4)
        if slot is None or place is not work.root:
            return False
        spot = self.spot(work, slot)
        if spot is None:
            return False
        variable = self.hang(work, spot)
        self.use(work, slot, spot.link)
        shown = self.shown(work, variable, spot)
        work.draft.group.append(shown)
        work.grouped = True
        work.projected.append((slot.first, shown))
        if not isinstance(work.root.variable, int):
            return False
        counted = Aggregate("COUNT", work.root.variable, distinct=True)
        work.draft.order.append(Key(counted, descending))
        self._limit(work, operator)
        return True

    def _order(self, work: Work, operator: Operator) -> bool:
        slot = self._next_slot(work, operator.last, 5)
        if slot is None:
            return self._ordered_by_shown(work, operator)
        return self._ordered(work, slot, self._descends(operator))

    def _ordered_by_shown(self, work: Work, operator: Operator) -> bool:
        work.notes.append("order_shown_desc" if self._descends(operator) else "order_shown")
        return True

    def _descends(self, operator: Operator) -> bool:
        after = [op for op in self.frame.of("descending") if abs(op.first - operator.last) <= 8]
        return bool(after)

    def _ordered(self, work: Work, slot: Slot, descending: bool) -> bool:
        spot = self.spot(work, slot)
        if spot is None:
            return False
        variable = self.hang(work, spot)
        again = [s for s in work.slots if s is not slot and s.links[0].target == spot.link.target]
        self.use(work, slot, spot.link)
        work.draft.order.append(Key(self.shown(work, variable, spot), descending))
        del again
        return True

    def _ascending(self, work: Work, operator: Operator) -> bool:
        return self._directed(work, operator, descending=False)

    def _descending(self, work: Work, operator: Operator) -> bool:
        return self._directed(work, operator, descending=True)

    def _directed(self, work: Work, operator: Operator, *, descending: bool) -> bool:
        if work.draft.order:
            return True
        slot = self._next_slot(work, operator.last, 3)
        if slot is not None and self._ordered(work, slot, descending):
            return True
        work.notes.append("order_shown_desc" if descending else "order_shown")
        return True

    # comparisons

    def _comparison(self, work: Work, operator: Operator) -> bool:
        after, before = self.frame.quantity_after(operator), self.frame.quantity_before(operator)
        quantity = before if operator.name in ("at_least", "at_most") and before else after
        sign = COMPARING.get(operator.name)
        if quantity is not None and any(work.used >> at & 1 for at in quantity.positions):
            return False
        if quantity is None or sign is None:
            return self._against(work, operator, sign)
        taken = operator.mask | sum(1 << at for at in quantity.positions)
        temporal = operator.name in ("before", "after")
        spot = self._compared(work, operator, quantity, temporal)
        if spot is None:
            return not temporal and self._counted_against(work, operator, quantity, sign)
        variable = self.hang(work, spot)
        since = self.reading.tokens[operator.first].folded in _SINCE
        work.draft.filters += self._bounds(spot.predicate, variable, quantity, sign, since)
        work.take(taken, sum(self.weights[at] for at in quantity.positions))
        return True

    _more_than = _less_than = _at_least = _at_most = _before = _after = _comparison

    def _bounds(
        self, predicate: int, variable: int, quantity: Quantity, sign: str, since: bool
    ) -> list[Filter]:
        sort = self._sort(predicate)
        if sort in (Sort.DATE, Sort.YEAR) and quantity.days is not None:
            low, high = quantity.days
            day = high if sign in (">", "<=") else low
            if since and sign == ">":
                day, sign = low, ">="
            return [Filter(variable, sign, (_date(day, sort),))]
        if quantity.value is None:
            return []
        if since and sign == ">":
            sign = ">="
        return [Filter(variable, sign, (_plain(quantity.value),))]

    def _compared(
        self, work: Work, operator: Operator, quantity: Quantity, temporal: bool
    ) -> Spot | None:
        """The predicate whose value is compared: named before, named after, or by its measure."""
        numeric = (Sort.NUMBER, Sort.TEXT_NUMBER)
        dated = (Sort.DATE, Sort.YEAR, Sort.TEXT_DATE)
        sorts = numeric + dated if quantity.days is not None else numeric
        near = [
            self._last_slot(work, operator.first, 5),
            self._next_slot(work, quantity.last, 3),
            self._next_slot(work, operator.last, 2),
        ]
        for slot in near:
            spot = self.spot(work, slot, sorts=sorts) if slot is not None else None
            if slot is not None and spot is not None:
                self.use(work, slot, spot.link)
                return spot
        if operator.measure is not None:
            words = (*operator.measure.measures, *operator.measure.dates)
            return self._by_words(work, words, sorts)
        if temporal:
            return self._only(work, dated) or self._by_words(work, ("year", "date"), sorts)
        reused = [
            Spot(place, predicate, inverse, Link(Kind.PREDICATE, "", "", 1.0, (), ()))
            for (variable, predicate, inverse) in work.draft.attached
            for place in work.draft.places
            if place.variable == variable and self._sort(predicate) in sorts
        ]
        return reused[0] if reused else None

    def _only(self, work: Work, sorts: Sequence[Sort]) -> Spot | None:
        """The only predicate of its sort at the root or elsewhere in the pattern."""
        for place in work.draft.places:
            if not self._is_resource(place.node.ids):
                continue
            present = [int(p) for p in self.graph.predicates_of(place.node.ids[:300])[0]]
            fits = [number for number in present if self._sort(number) in sorts]
            if fits:
                named = [n for n in fits if {"start", "begin", "date"} & self.schema.words(n)]
                link = Link(Kind.PREDICATE, "", "", 1.0, (), ())
                work.unknown += 0.1 * (len(fits) - 1)
                return Spot(place, (named or fits)[0], False, link)
        return None

    def _counted_against(
        self, work: Work, operator: Operator, quantity: Quantity, sign: str
    ) -> bool:
        """"More than two X": a condition on how many things X names."""
        if quantity.value is None:
            return False
        place = self._next_place(work, quantity.last, 3)
        counted: int | None = None
        if place is not None and place is not work.root and isinstance(place.variable, int):
            counted = place.variable
        else:
            slot = self._next_slot(work, quantity.last, 3)
            spot = self.spot(work, slot) if slot is not None else None
            if slot is not None and spot is not None:
                counted = self.hang(work, spot)
                self.use(work, slot, spot.link)
        if counted is None:
            return False
        aggregate = Aggregate("COUNT", counted, distinct=True)
        work.draft.having.append(Having(aggregate, sign, _plain(quantity.value)))
        if not work.draft.group:
            self._group_by_place(work, work.root)
        work.grouped = True
        work.take(
            sum(1 << at for at in quantity.positions),
            sum(self.weights[at] for at in quantity.positions),
        )
        return True

    def _comparative(self, work: Work, operator: Operator) -> bool:
        measure = operator.measure
        if measure is None:
            return False
        up = measure.up
        quantity = self.frame.quantity_after(operator)
        if quantity is not None:
            spot = self._compared(work, operator, quantity, False)
            if spot is None:
                return False
            variable = self.hang(work, spot)
            dated = self._sort(spot.predicate) in (Sort.DATE, Sort.YEAR)
            sign = "<" if up == dated else ">"
            work.draft.filters += self._bounds(spot.predicate, variable, quantity, sign, False)
            work.take(
                sum(1 << at for at in quantity.positions),
                sum(self.weights[at] for at in quantity.positions),
            )
            return True
        return self._against(work, operator, ">" if up else "<")

    def _against(self, work: Work, operator: Operator, sign: str | None) -> bool:
        """Compared with the average, or with the value of another thing."""
        if sign is None:
            return False
        mean = [op for op in self.frame.of("average") if 0 < op.first - operator.last <= 2]
        if mean:
            return self._against_average(work, operator, mean[0], sign)
        for link in self.linked.of(Kind.ENTITY, Kind.VALUE):
            if 0 < link.positions[0] - operator.last <= 3 and self.grower.gain(link, work.used):
                if self._against_thing(work, operator, link, sign):
                    return True
        return False

    def _against_average(
        self, work: Work, operator: Operator, mean: Operator, sign: str
    ) -> bool:
        numeric = (Sort.NUMBER, Sort.TEXT_NUMBER)
        spot: Spot | None = None
        for slot in (
            self._next_slot(work, mean.last, 3),
            self._last_slot(work, operator.first, 5),
        ):
            spot = self.spot(work, slot, sorts=numeric) if slot is not None else None
            if slot is not None and spot is not None:
                self.use(work, slot, spot.link)
                break
        if spot is None and operator.measure is not None:
            spot = self._by_words(work, operator.measure.measures, numeric)
        if spot is None:
            return False
        variable = self.hang(work, spot)
        other = work.draft.variable(work.draft.hints[variable])
        member = work.draft.variable("other")
        iri = self.graph.iri_of(spot.predicate)
        average = Average(other, (Pattern(member, iri, other),))
        work.draft.filters.append(Filter(variable, sign, (average,)))
        work.take(mean.mask, sum(self.weights[at] for at in mean.positions))
        return True

    def _against_thing(self, work: Work, operator: Operator, link: Link, sign: str) -> bool:
        at = self.graph.terms.find(f"<{link.target}>" if link.kind is Kind.ENTITY else link.target)
        if at is None:
            return False
        numeric = (Sort.NUMBER, Sort.TEXT_NUMBER, Sort.DATE, Sort.YEAR)
        thing = np.array([at], dtype=np.int32)
        slot = self._next_slot(work, operator.last, 6) or self._last_slot(work, operator.first, 4)
        spot = self.spot(work, slot, sorts=numeric) if slot is not None else None
        if spot is None and operator.measure is not None:
            words = (*operator.measure.measures, *operator.measure.dates)
            spot = self._by_words(work, words, numeric)
            slot = None
        if spot is None:
            return False
        mine = self.hang(work, spot)
        if link.kind is Kind.VALUE:
            bearers = self.graph.ends(spot.predicate)
            named = [
                int(p) for p in self.graph.predicates_of(thing, inverse=True)[0]
            ]
            carriers = [
                p for p in named
                if len(np.intersect1d(self.graph.step(thing, p, inverse=True), bearers))
            ]
            if not carriers:
                return False
            subject: int | str = work.draft.variable(link.name)
            work.draft.patterns.append(
                Pattern(subject, self.graph.iri_of(carriers[0]), self.graph.terms.text(at))
            )
        elif self._applies(thing, spot.predicate, False):
            subject = self.graph.terms.text(at)
        else:
            return False
        other = work.draft.variable("their " + work.draft.hints[mine])
        work.draft.patterns.append(Pattern(subject, self.graph.iri_of(spot.predicate), other))
        if self._sort(spot.predicate) in (Sort.DATE, Sort.YEAR) and operator.measure is not None:
            sign = "<" if sign == ">" else ">"
        work.draft.filters.append(Filter(mine, sign, (other,)))
        if slot is not None:
            self.use(work, slot, spot.link)
        work.take(link.mask, self.grower.gain(link, work.used))
        return True

    def _between(self, work: Work, operator: Operator) -> bool:
        first = self.frame.quantity_after(operator, 2)
        if first is None:
            return False
        later = [q for q in self.reading.quantities if 0 < q.first - first.last <= 3]
        if not later:
            return False
        spot = self._compared(work, operator, first, first.days is not None)
        if spot is None:
            return False
        variable = self.hang(work, spot)
        work.draft.filters += self._bounds(spot.predicate, variable, first, ">=", True)
        work.draft.filters += self._bounds(spot.predicate, variable, later[0], "<=", False)
        for quantity in (first, later[0]):
            mask = sum(1 << at for at in quantity.positions)
            work.take(mask, sum(self.weights[at] for at in quantity.positions))
        return True

    def _containing(self, work: Work, operator: Operator) -> bool:
        return self._text_condition(work, operator, "CONTAINS")

    def _starting(self, work: Work, operator: Operator) -> bool:
        return self._text_condition(work, operator, "STRSTARTS")

    def _ending(self, work: Work, operator: Operator) -> bool:
        return self._text_condition(work, operator, "STRENDS")

    def _text_condition(self, work: Work, operator: Operator, function: str) -> bool:
        quoted = [t for t in self.reading.tokens if t.quote is not None]
        following = [
            at for at, t in enumerate(self.reading.tokens)
            if t.quote is not None and 0 < at - operator.last <= 3
        ]
        if not following:
            return False
        number = self.reading.tokens[following[0]].quote
        inside = [t for t in quoted if t.quote == number]
        text = self.reading.text[inside[0].start : inside[-1].end]
        slot = self._last_slot(work, operator.first, 4)
        spot = self.spot(work, slot) if slot is not None else None
        if slot is not None and spot is not None:
            variable = self.hang(work, spot)
            self.use(work, slot, spot.link)
        else:
            name = self.schema.any_name(work.root.node.ids)
            if name is None:
                return False
            variable = work.draft.attach(work.root, name)
        work.draft.filters.append(Filter(variable, function, (_quoted(text),)))
        positions = [at for at, t in enumerate(self.reading.tokens) if t.quote == number]
        work.take(sum(1 << at for at in positions), sum(self.weights[at] for at in positions))
        return True

    def _exists(self, work: Work, operator: Operator) -> bool:
        if self.frame.asks is not None or work.draft.columns:
            return False
        work.draft.ask = True
        return True

    def _not(self, work: Work, operator: Operator) -> bool:
        slot = self._next_slot(work, operator.last, 4)
        if slot is None:
            return False
        spot = self.spot(work, slot)
        if spot is None or spot.path:
            return False
        iri = self.graph.iri_of(spot.predicate)
        other = work.draft.variable(work.draft.hint_of(iri))
        ends = (other, spot.place.variable) if spot.inverse else (spot.place.variable, other)
        work.draft.without.append(((Pattern(ends[0], iri, ends[1]),), ()))
        self.use(work, slot, spot.link)
        return True

    # what is shown

    def _rest(self, work: Work) -> None:
        """Slots that no operator took: shown where they are asked for, else required."""
        for slot in sorted(work.slots, key=lambda s: s.first):
            if id(slot) in work.done:
                continue
            spot = self.spot(work, slot, prefer=self.zones.is_head(slot.first))
            if spot is None:
                continue
            variable = self.hang(work, spot)
            self.use(work, slot, spot.link)
            if spot.path:
                work.unknown += 0.3 * len(spot.path)
            if self.zones.is_head(slot.first):
                work.shown_words |= slot.mask
                work.projected.append((slot.first, self.shown(work, variable, spot)))
            else:
                work.notes.append("required")

    def _columns(self, work: Work) -> None:
        draft = work.draft
        aggregates = list(draft.columns)
        shown = [variable for _, variable in sorted(work.projected)]
        for place in draft.places:
            if place is not work.root and isinstance(place.variable, int):
                if self._is_asked(place, work):
                    shown.append(self._named(work, place))
        root_shown = not self._answers_when(work, shown, aggregates) and self._root_is_shown(work, bool(shown), bool(aggregates))
        if root_shown and isinstance(work.root.variable, int):
            shown.insert(0, self._named(work, work.root))
        shown = list(dict.fromkeys(shown))
        context = [] if aggregates else self._context(work, shown)
        draft.columns = context + [Column(variable) for variable in shown] + aggregates
        if aggregates and shown or work.grouped and not aggregates:
            draft.group += [variable for variable in shown if variable not in draft.group]
        self._ordered_by_column(work)
        self._naming_words(work)

    def _answers_when(
        self, work: Work, shown: list[int], aggregates: Sequence[Column]
    ) -> bool:
        """"When …" that names no date: the date of what was found is shown."""
        if self.frame.asks not in ("date", "year") or shown or aggregates or work.draft.ask:
            return False
        dated = (Sort.DATE, Sort.YEAR, Sort.TEXT_DATE)
        spot = self._only(work, dated)
        if spot is None:
            return False
        work.unknown += 0.6
        shown.append(self.hang(work, spot))
        return True

    def _context(self, work: Work, shown: Sequence[int]) -> list[Column]:
        """The nameless nodes that shown values hang on: a value alone would say nothing."""
        found = []
        for (end, predicate, inverse), variable in work.draft.attached.items():
            if variable not in shown or inverse or self._sort(predicate) is Sort.NONE:
                continue
            for place in work.draft.places:
                if place.variable == end and isinstance(end, int) and end not in shown:
                    if self.schema.is_nameless(place.node.ids):
                        found.append(Column(end, answer=False))
        return list(dict.fromkeys(found))

    def _is_asked(self, place: Place, work: Work) -> bool:
        """Whether a thing in the pattern is asked for beside the root."""
        link = place.node.cls_link
        if link is None or not self.zones.is_head(link.positions[0]):
            return False
        if any(p == link.positions[0] - 1 for p, _ in work.projected):
            return False
        counted = [
            c.value.variable for c in work.draft.columns if isinstance(c.value, Aggregate)
        ] + [k.value.variable for k in work.draft.order if isinstance(k.value, Aggregate)]
        if place.variable in counted:
            return False
        return self.zones.is_listed(link.positions[0])

    def _root_is_shown(self, work: Work, shown: bool, aggregates: bool) -> bool:
        if work.draft.ask:
            return False
        if work.root.variable in work.draft.group:
            slots_at_root = shown and any(
                key[0] == work.root.variable and value in [x for _, x in work.projected]
                for key, value in work.draft.attached.items()
            )
            return not slots_at_root
        if aggregates:
            return False
        if not shown:
            return True
        link = work.root.node.cls_link
        return (
            link is not None
            and self.zones.is_head(link.positions[0])
            and self.zones.is_listed(link.positions[0])
            and bool(work.projected)
            and link.positions[0] < min(p for p, _ in work.projected)
            and self.zones.is_listed(min(p for p, _ in work.projected))
        )

    def _named(self, work: Work, place: Place) -> int:
        name = self.schema.name_predicate(place.node.ids)
        if name is None and isinstance(place.variable, int):
            return place.variable
        return work.draft.attach(place, name or 0)

    def _ordered_by_column(self, work: Work) -> None:
        draft = work.draft
        if draft.order or not draft.columns:
            return
        if "order_shown" in work.notes or "order_shown_desc" in work.notes:
            answers = [c for c in draft.columns if c.answer]
            draft.order.append(Key(answers[0].value, "order_shown_desc" in work.notes))

    def _naming_words(self, work: Work) -> None:
        for at, token in enumerate(self.reading.tokens):
            if token.stem in self.reading.words.naming and not work.used >> at & 1:
                work.take(1 << at, self.weights[at] * 0.8)

    def _closed(self, work: Work) -> Candidate | None:
        draft = work.draft
        if not draft.patterns or not (draft.columns or draft.ask):
            return None
        if work.grouped and len(draft.columns) == 1 and not draft.order and not draft.having:
            draft.group = []
        if not any(isinstance(c.value, Aggregate) for c in draft.columns) and not (
            draft.having or any(isinstance(k.value, Aggregate) for k in draft.order)
        ):
            draft.group = []
        else:
            plain = [c.value for c in draft.columns if isinstance(c.value, int)]
            draft.group += [variable for variable in plain if variable not in draft.group]
            keys = [k.value for k in draft.order if isinstance(k.value, int)]
            draft.group += [k for k in keys if draft.group and k not in draft.group]
        return Candidate(
            draft.form(),
            work.state,
            work.used,
            work.gain,
            work.unknown,
            len(draft.patterns),
            tuple(work.notes),
            work.shown_words,
        )


_SINCE = frozenset(["since", "seit", "desde", "depuis"])


def _positions(place: Place) -> tuple[int, ...]:
    """The first tokens of the words that name a place."""
    return place.words


def _plain(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else repr(value)


def _date(day: float, sort: Sort) -> str:
    from datetime import date, timedelta

    at = date(1970, 1, 1) + timedelta(days=int(day))
    if sort is Sort.YEAR:
        return f'"{at.year:04}"^^<http://www.w3.org/2001/XMLSchema#gYear>'
    return f'"{at.isoformat()}"^^<http://www.w3.org/2001/XMLSchema#date>'


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
