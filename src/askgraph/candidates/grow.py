"""Growing answer sets: from what a question mentions, step by step over the graph's own edges.

A state is a set of nodes with the pattern that gives it. It starts at a linked entity, value, class
or number, walks along predicates, and is intersected with others that use other words. So no
pattern is ever guessed: its direction is right and its result is not empty.
"""

import heapq
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from askgraph.candidates.operators import Frame, Operator
from askgraph.candidates.schema import Schema
from askgraph.index.names import Kind
from askgraph.linking.link import Link, Linked
from askgraph.linking.quantities import Quantity
from askgraph.traversal.arrays import GraphArrays, Ids
from askgraph.traversal.literals import Sort

__all__ = ["Edge", "Grower", "Node", "State"]


@dataclass(frozen=True, slots=True)
class Edge:
    """A step along a predicate (its number); `link` where words of the question name it."""

    predicate: int
    inverse: bool
    plus: bool = False
    link: Link | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """A variable or constant of a pattern, with the edges that lead on from it.

    `terms` are constants (one, or several meant as alternatives); `ids` the nodes that it stood for
    when it was grown.
    """

    ids: Ids
    edges: tuple[tuple[Edge, "Node"], ...] = ()
    terms: tuple[int, ...] = ()
    link: Link | None = None
    quantity: Quantity | None = None
    cls: str | None = None
    cls_link: Link | None = None
    without: tuple["Node", ...] = ()

    def walk(self) -> Iterator["Node"]:
        """This node and all below it."""
        yield self
        for _, child in self.edges:
            yield from child.walk()


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """An answer set and the words it uses: `used` as bits, `gain` as the weight they bring.

    `denied` marks a pattern that does not hold: only the answer "no" can come of it.
    """

    node: Node
    used: int
    gain: float
    patterns: int = 0
    unknown: float = 0.0
    spread: float = 0.0
    hops: int = 0
    anchored: bool = False
    denied: bool = False

    @property
    def ids(self) -> Ids:
        """The answer set."""
        return self.node.ids


_BE = frozenset("is are was were ist sind war waren es son era eran fue est sont etait".split())
_TIMES = frozenset("year date time day month jahr datum ano fecha annee".split())
_LITTLE = 0.1
"""What a function word within a name tells: "very" of "very large"."""


@dataclass
class Grower:
    """Grows the states of one question over one graph."""

    graph: GraphArrays
    schema: Schema
    linked: Linked
    frame: Frame
    beam: int = 48
    widest: int = 20_000
    by_predicate: dict[int, list[Link]] = field(default_factory=dict)
    total: float = 1.0

    def __post_init__(self) -> None:
        self.linked = replace(
            self.linked, links=tuple(one for one in self.linked.links if self._plausible(one))
        )
        for one in self.linked.of(Kind.PREDICATE):
            number = self.schema.number(one.target)
            if number is None or number in self.schema.hidden:
                continue
            if not (self.schema.leads_on(number) and self._is_value_named(one)):
                self.by_predicate.setdefault(number, []).append(one)
        self.total = sum(self.linked.weights) or 1.0

    def _plausible(self, link: Link) -> bool:
        """Whether a link's words are free for it: an operator's words name things only exactly."""
        operators = self.frame.mask
        inside = [
            quality
            for at, quality in zip(link.positions, link.qualities, strict=True)
            if operators >> at & 1 and self.frame.is_loud(at)
        ]
        if not inside:
            return True
        if min(inside) < 0.99:
            return False
        return len(inside) < len(link.positions) or (link.preferred and link.similarity >= 0.9)

    def _is_value_named(self, link: Link) -> bool:
        """Whether the same words name a predicate of numbers better: an id rather than a link."""
        for other in self.linked.of(Kind.PREDICATE):
            if other.positions == link.positions and other.score > link.score:
                number = self.schema.number(other.target)
                if number is not None and self.schema.sort(number) is Sort.NUMBER:
                    return True
        return False

    def states(self) -> list[State]:
        """Grow all states; best first."""
        seeds = list(self._seeds())
        classes = list(self._classes())
        pool = seeds + classes
        level = seeds + [c for c in classes if len(c.ids) <= self.widest]
        for _ in range(3):
            level = self._kept(self._level(level))
            level = self._kept(self._classed(level))
            pool += level
        pool = self._kept(pool, limit=4 * self.beam)
        joined = self._kept(self._joins(pool), limit=2 * self.beam)
        if joined:
            further = [
                grown
                for state in joined[: self.beam]
                for grown in self._hops(state, linked=not self.schema.is_nameless(state.ids))
            ]
            further = self._kept(self._classed(further))
            pool = self._kept(pool + joined + further, limit=6 * self.beam)
            again = self._kept(self._joins(pool[: 2 * self.beam]), limit=self.beam)
            pool = self._kept(pool + again, limit=6 * self.beam)
        if self.frame.of("not"):
            pool = self._kept([*pool, *self._lacking(pool)], limit=6 * self.beam)
        if self.frame.exists:
            pool = [*self._kept(self._unmet(seeds, pool)), *pool]
        return pool

    def _lacking(self, pool: Sequence[State]) -> Iterator[State]:
        """All of a class but those that fit a state, where no word names the class."""
        for other in pool[: self.beam]:
            classes = self.schema.classes_of(int(other.ids[0])) if len(other.ids) else ()
            if not classes or not other.patterns:
                continue
            members = self.schema.instances(classes[0])
            base = State(Node(members, cls=classes[0]), 0, 0.0, patterns=1, unknown=0.5)
            yield from self._negated(base, other)

    def _unmet(self, seeds: Sequence[State], pool: Sequence[State]) -> Iterator[State]:
        """What holds for others like a thing, but not for it: the answer to "does it …" is no."""
        for seed in seeds:
            sure = seed.node.link is not None and seed.node.link.similarity > 0.9
            classes = self.schema.classes_of(int(seed.ids[0])) if len(seed.ids) == 1 else ()
            if not (sure and classes):
                continue
            alike = self.schema.instances(classes[0])
            for other in pool:
                if other.used & seed.used & self.content or not other.patterns or other.hops > 2:
                    continue
                bare = other.node.cls is not None and not other.node.edges
                if bare and not self._opens_with_be:  # "is A a B", but not "has A a B"
                    continue
                if np.isin(seed.ids, other.ids).any() or not (
                    bare or len(np.intersect1d(alike, other.ids, assume_unique=True))
                ):
                    continue
                node = replace(other.node, ids=seed.ids, terms=seed.node.terms, link=seed.node.link)
                state = _together(seed, other, node)
                doubt = 0.6 if bare else 1.0
                yield replace(state, unknown=state.unknown + doubt, denied=True)

    def score(self, state: State) -> float:
        """How good a state is to go on with."""
        return (
            2 * state.gain / self.total
            - 0.05 * state.patterns
            - 0.16 * state.unknown
            - 0.01 * state.spread
        )

    def gain(self, link: Link, used: int) -> float:
        """What a link's words bring that are not used yet.

        It is 0 where words of content overlap; only a predicate may repeat a lesser part that is
        used ("pet type" of pets).
        """
        total, repeated = 0.0, 0.0
        for at, quality in zip(link.positions, link.qualities, strict=True):
            weight = self.linked.weights[at]
            if used >> at & 1:
                repeated += weight
            else:
                total += (weight or _LITTLE) * quality
        if repeated and (link.kind is not Kind.PREDICATE or total < 0.6 * repeated):
            return 0.0
        return total * (0.35 + 0.65 * link.score)

    # seeds

    def _seeds(self) -> Iterator[State]:
        named: dict[tuple[Kind, tuple[int, ...]], list[Link]] = {}
        for one in self.linked.of(Kind.ENTITY, Kind.VALUE):
            named.setdefault((one.kind, one.positions), []).append(one)
        for listed in named.values():
            for one in listed:
                found = self._seed(one)
                if found is not None:
                    yield found
        yield from self._alternatives()
        for quantity in self.linked.reading.quantities:
            yield from self._measured(quantity)

    def _seed(self, link: Link) -> State | None:
        text = f"<{link.target}>" if link.kind is Kind.ENTITY else link.target
        at = self.graph.terms.find(text)
        if at is None:
            return None
        ids = np.array([at], dtype=np.int32)
        node = Node(ids, terms=(at,), link=link)
        known = 0.04 * float(np.log10(1 + self.graph.degree(at)))
        return State(node, link.mask, self.gain(link, 0) * (1 + known), anchored=True)

    def _alternatives(self) -> Iterator[State]:
        """Values joined by "or" make one seed that stands for any of them."""
        whole = [one for one in self.linked.of(Kind.ENTITY, Kind.VALUE) if one.similarity > 0.6]
        joins = ("or",) if self.frame.of("both") else ("or", "and")
        for operator in self.frame.of(*joins):
            left = [one for one in whole if 0 < operator.first - one.positions[-1] <= 2]
            right = [one for one in whole if self._follows(operator, one.positions[0])]
            for one in left[:4]:
                for other in right[:4]:
                    if one.kind is other.kind and one.target != other.target:
                        between = range(operator.first, other.positions[0])
                        mask = sum(1 << at for at in between)
                        yield from self._either(one, other, mask, operator.name)
            yield from self._either_number(operator)

    @property
    def _opens_with_be(self) -> bool:
        tokens = self.linked.reading.tokens
        return bool(tokens) and tokens[0].folded in _BE

    def _follows(self, operator: Operator, position: int) -> bool:
        """Whether only function words, or words said before, stand between ("or the state of")."""
        tokens = self.linked.reading.tokens
        said = {token.stem for token in tokens[: operator.first]}
        between = range(operator.last + 1, position)
        return 0 < position - operator.last <= 4 and all(
            self.linked.reading.is_stop(at) or tokens[at].stem in said for at in between
        )

    def _either_number(self, operator: Operator) -> Iterator[State]:
        """ "9 or 10": one seed for both numbers."""
        quantities = self.linked.reading.quantities
        left = [q for q in quantities if q.last + 1 == operator.first]
        right = [q for q in quantities if q.first == operator.last + 1]
        for one, other in zip(left, right, strict=False):
            if self.frame.takes(one) or self.frame.takes(other):
                continue
            ids = np.union1d(self._equal(one), self._equal(other))
            if len(ids):
                mask = sum(
                    1 << at for at in (*one.positions, *operator.positions, *other.positions)
                )
                node = Node(ids, terms=tuple(int(at) for at in ids[:50]))
                doubt = 0.0 if operator.name == "or" else 0.5  # "in 1990 and 1991"
                yield State(node, mask, self.weight_of(mask) + 0.5, unknown=doubt, anchored=True)

    def weight_of(self, mask: int) -> float:
        """How much some words tell."""
        return sum(weight for at, weight in enumerate(self.linked.weights) if mask >> at & 1)

    def _either(self, one: Link, other: Link, mask: int, name: str) -> Iterator[State]:
        first, second = self._seed(one), self._seed(other)
        if first is None or second is None:
            return
        ids = np.union1d(first.ids, second.ids)
        node = Node(ids, terms=tuple(int(at) for at in ids), link=one)
        yield State(
            node,
            first.used | second.used | mask,
            first.gain + second.gain,
            unknown=0.0 if name == "or" else 0.9,
            anchored=True,
        )

    def _measured(self, quantity: Quantity) -> Iterator[State]:
        """Things with a number or a date: one state for each predicate that carries it."""
        if self.frame.takes(quantity):
            return
        literals = self._equal(quantity)
        if not len(literals):
            return
        mask = sum(1 << at for at in quantity.positions)
        gain = sum(self.linked.weights[at] for at in quantity.positions)
        gain *= 0.6 if quantity.spelled else 1.0
        node = Node(literals, terms=tuple(int(at) for at in literals[:50]), quantity=quantity)
        yield State(node, mask, gain, anchored=True)

    def _equal(self, quantity: Quantity) -> Ids:
        sorts, values = self.graph.sorts, self.graph.values
        found = np.zeros(len(sorts), dtype=np.bool_)
        if quantity.days is not None:
            low, high = quantity.days
            dated = np.isin(sorts, (Sort.DATE, Sort.YEAR, Sort.TEXT_DATE))
            found |= dated & (values >= low) & (values < high + 1)
        if quantity.value is not None:
            numeric = np.isin(sorts, (Sort.NUMBER, Sort.TEXT_NUMBER))
            found |= numeric & (values == quantity.value)
        return np.flatnonzero(found).astype(np.int32)

    def _classes(self) -> Iterator[State]:
        for one in self.linked.of(Kind.CLASS):
            ids = self.schema.instances(one.target)
            if len(ids):
                node = Node(ids, cls=one.target, cls_link=one)
                exact = 1.05 if one.similarity > 0.95 else 1.0
                exact += 0.05 if self._is_indefinite(one) else 0.0
                yield State(node, one.mask, exact * self.gain(one, 0), patterns=1)

    def _is_indefinite(self, link: Link) -> bool:
        """Whether a word stands before a class that asks for any of it: no, each, how many."""
        before = link.positions[0] - 1
        return any(op.last == before for op in self.frame.of("not", "each", "count"))

    # steps

    def _level(self, states: Sequence[State]) -> Iterator[State]:
        """All steps from some states, without those that cannot be among the best of the level."""
        best: list[float] = []
        for state in sorted(states, key=lambda s: -self.score(s)):
            unnamed = self.score(state) - 0.05 - 0.16 * 0.5
            hopeless = len(best) >= self.beam and unnamed < best[0]
            for grown in self._hops(state, linked=hopeless):
                yield grown
                score = self.score(grown)
                if len(best) < self.beam:
                    heapq.heappush(best, score)
                elif score > best[0]:
                    heapq.heapreplace(best, score)

    def _hops(self, state: State, *, linked: bool = False) -> Iterator[State]:
        if len(state.ids) > self.widest or state.hops >= 4:
            return
        literal = bool(len(state.ids)) and int(state.ids[0]) < self.graph.terms.first_iri
        done = not self.content & ~state.used
        linked = linked or self._is_wide(state)
        linked = linked or (done and state.hops > 0 and not self.schema.is_nameless(state.ids))
        wanted = self.by_predicate.keys() if linked else None
        for inverse in (True,) if literal else (False, True):
            for number in self.graph.predicates_of(state.ids, inverse=inverse)[0].tolist():
                if number in self.schema.hidden or (wanted is not None and number not in wanted):
                    continue
                if inverse or self.schema.leads_on(number):
                    yield from self._hop(state, number, inverse, linked, literal)

    def _hop(
        self, state: State, predicate: int, inverse: bool, linked: bool, literal: bool
    ) -> Iterator[State]:
        back = any(
            edge.predicate == predicate and edge.inverse == inverse for edge, _ in state.node.edges
        )
        named = [] if back else self.by_predicate.get(predicate, [])
        links = [one for one in named if self.gain(one, state.used)]
        if not links and linked:
            return
        for plus in self._ways(predicate, inverse):
            step = self.graph.closure if plus else self.graph.step
            ids = step(state.ids, predicate, inverse=inverse)
            if not len(ids) or (len(ids) == 1 and np.array_equal(ids, state.ids)):
                continue
            doubt = self._doubt(state, ids, predicate, inverse, literal)
            doubt += 0.4 if plus and not inverse else 0.0
            ways: list[Link | None] = [*links[:3]]
            if not links or self.is_class_like(links[0]):
                ways.append(None)
            for one in ways:
                edge = Edge(predicate, not inverse, plus, one)
                unknown = doubt if one is None else self._mistaken(edge, ids, state)
                unknown += 0.8 if back else 0.0
                yield self._stepped(state, edge, ids, unknown, literal)

    def _mistaken(self, edge: Edge, ids: Ids, state: State) -> float:
        """Whether a noun that is a class too ("moon of") is said of what is not of that class."""
        if edge.link is None:
            return 0.0
        subjects = self.schema.names_subject(edge.predicate)
        named = ids if subjects != edge.inverse else state.ids
        return 0.0 if self.fits_noun(edge.link, named) else 2.0

    def fits_noun(self, link: Link, ids: Ids) -> bool:
        """Whether nodes are of the class that the same words name, where they name one."""
        classes = [
            one.target
            for one in self.linked.of(Kind.CLASS)
            if one.positions == link.positions and one.similarity > 0.9
        ]
        return not classes or any(self.schema.all_are(ids, cls) for cls in classes)

    def is_class_like(self, link: Link) -> bool:
        """Whether a class is called by the same words."""
        return any(
            one.positions == link.positions and one.similarity > 0.9
            for one in self.linked.of(Kind.CLASS)
        )

    def _is_wide(self, state: State) -> bool:
        """Whether a state has walked far enough, or is too large, for a step that no word names."""
        if state.hops >= 2 and not self.schema.is_nameless(state.ids):
            return True
        return state.hops >= 3 or (len(state.ids) > 2000 and state.hops > 0)

    def _ways(self, predicate: int, inverse: bool) -> tuple[bool, ...]:
        """Once, or once and more: what lies in a place lies there at any depth."""
        if predicate not in self.schema.transitive:
            return (False,)
        return (True,) if inverse else (True, False)

    def _stepped(self, state: State, edge: Edge, ids: Ids, unknown: float, literal: bool) -> State:
        below, one = state.node, edge.link
        if literal and len(below.terms) > 1:
            objects = self.graph.ends(edge.predicate, inverse=True)
            fits = np.intersect1d(below.ids, objects, assume_unique=True)
            below = replace(below, ids=fits, terms=tuple(int(at) for at in fits))
        return State(
            Node(ids, edges=((edge, below),)),
            state.used | (one.mask if one else 0),
            state.gain + (self.gain(one, state.used) if one else 0.0),
            state.patterns + 1,
            state.unknown + unknown,
            state.spread + math.log2(max(1.0, len(ids) / len(state.ids))),
            state.hops + (0 if literal else 1),
            state.anchored,
        )

    def _doubt(self, state: State, ids: Ids, predicate: int, inverse: bool, literal: bool) -> float:
        """How much is guessed by a predicate that no word names; less if each has just one."""
        if literal:
            return self._doubt_of_value(state, predicate)
        objects = state.ids if inverse else ids
        if self.schema.is_obvious(predicate, objects, self.said):
            return 0.4
        bridge = self.schema.is_nary(ids) or self.schema.is_nary(state.ids)
        single = self.schema.is_functional(predicate, inverse=not inverse)
        return (0.6 if bridge else 1.0) + (0.0 if single else 0.15)

    def _doubt_of_value(self, state: State, predicate: int) -> float:
        """A year is looked for where dates are, other values where they occur."""
        quantity = state.node.quantity
        if quantity is None or quantity.days is None:
            return 0.5
        dated = self.schema.sort(predicate) in (Sort.DATE, Sort.YEAR, Sort.TEXT_DATE)
        return 0.3 if dated or self.schema.words(predicate) & _TIMES else 0.9

    def _classed(self, states: Iterable[State]) -> Iterator[State]:
        """Each state, and again with every class that words name and that it meets."""
        links = self.linked.of(Kind.CLASS)
        for state in states:
            for one in links:
                gain = self.gain(one, state.used) or self._again(one, state)
                if not gain:
                    continue
                members = self.schema.instances(one.target)
                ids = np.intersect1d(state.ids, members, assume_unique=True)
                if not len(ids):
                    continue
                whole = len(ids) == len(state.ids)
                node = replace(state.node, ids=ids, cls=one.target, cls_link=one)
                named = any(self.is_role(edge, root=True) for edge, _ in node.edges)
                yield replace(
                    state,
                    node=node,
                    used=state.used | one.mask,
                    gain=state.gain + gain,
                    patterns=state.patterns + (0 if whole else 1),
                    unknown=state.unknown + (1.5 if named and one.mask & ~state.used else 0.0),
                )
            yield state

    def _again(self, link: Link, state: State) -> float:
        """A class whose words the last step has used for the same thing: "moons" that are moons."""
        said = any(
            edge.link is not None
            and link.similarity > 0.9
            and edge.link.positions == link.positions
            and self.is_role(edge, root=True)
            for edge, _ in state.node.edges
        )
        return 0.3 if said else 0.0

    def is_role(self, edge: Edge, *, root: bool) -> bool:
        """Whether a named predicate says what its root end (or its far end) is.

        "supplier" says it of the object, "supplier of" and "is a supplier of" of the subject.
        """
        if edge.link is None or not self.schema.is_noun(edge.link.name):
            return False
        subject = self.schema.names_subject(edge.predicate)
        return (subject != edge.inverse) == root

    # joins

    def _joins(self, pool: list[State]) -> Iterator[State]:
        bare = self.frame.exists  # "is A a B": the thing itself is one side of the join
        fits = [state for state in pool if (state.patterns or bare) and len(state.ids)]
        chosen = self._varied(fits)
        content, denies = self.content, bool(self.frame.of("not"))
        both = bool(self.frame.of("both", "and"))
        for at, one in enumerate(chosen):
            for other in chosen[at + 1 :]:
                shared = one.used & other.used & content
                if shared and not (both and shared == _common(one.node, other.node) & content):
                    continue
                if one.ids[-1] < other.ids[0] or other.ids[-1] < one.ids[0]:
                    continue
                denied = [*self._negated(one, other), *self._negated(other, one)] if denies else []
                yield from denied
                joined = None if denied else self._joined(one, other)
                if joined is not None:
                    yield joined

    @cached_property
    def said(self) -> frozenset[str]:
        """The classes that the question names."""
        return frozenset(one.target for one in self.linked.of(Kind.CLASS) if one.score > 0.9)

    @cached_property
    def content(self) -> int:
        """The tokens that carry content, as bits."""
        return sum(1 << at for at, weight in enumerate(self.linked.weights) if weight)

    def _varied(self, states: list[State]) -> list[State]:
        """The best few states for each set of words used."""
        counts: dict[int, int] = {}
        chosen = []
        for state in states:
            counts[state.used] = counts.get(state.used, 0) + 1
            if counts[state.used] <= 8 and self.content & ~state.used:
                chosen.append(state)
        simple = [state for state in chosen[self.beam :] if state.patterns == 1]
        return chosen[: self.beam] + simple[: self.beam // 2]

    def _joined(self, one: State, other: State) -> State | None:
        ids = np.intersect1d(one.ids, other.ids, assume_unique=True)
        if not len(ids):
            return None
        node = self._merged(one.node, other.node, ids)
        state = _together(one, other, node)
        repeated = one.used & other.used
        state = replace(
            state,
            gain=state.gain
            - sum(w for at, w in enumerate(self.linked.weights) if repeated >> at & 1),
        )
        if one.node.edges and other.node.edges:
            first, second = one.node.edges[0][0], other.node.edges[0][0]
            if (first.predicate, first.inverse) == (second.predicate, second.inverse):
                shared = min(1.0, max(one.unknown, other.unknown))
                state = replace(state, unknown=max(0.0, state.unknown - shared))
        return state

    def _negated(self, base: State, other: State) -> Iterator[State]:
        """What fits one state and not the other, where a word denies what the other is about."""
        denied, kept = _named(other.node), _named(base.node)
        for operator in self.frame.of("not"):
            if not denied or min(denied) < operator.first or min(denied) - operator.last > 5:
                continue
            if any(operator.last < at < min(denied) for at in kept):
                continue
            ids = np.setdiff1d(base.ids, other.ids, assume_unique=True)
            if not len(ids) or len(ids) == len(base.ids):
                continue
            node = replace(base.node, ids=ids, without=(*base.node.without, other.node))
            state = _together(base, other, node)
            weight = sum(self.linked.weights[at] for at in operator.positions)
            yield replace(state, used=state.used | operator.mask, gain=state.gain + weight + 0.6)

    def _merged(self, one: Node, other: Node, ids: Ids) -> Node:
        cls, link = (one.cls, one.cls_link) if one.cls else (other.cls, other.cls_link)
        return Node(
            ids,
            edges=one.edges + other.edges,
            terms=one.terms or other.terms,
            link=one.link or other.link,
            quantity=one.quantity or other.quantity,
            cls=cls,
            cls_link=link,
            without=one.without + other.without,
        )

    def _kept(self, states: Iterable[State], limit: int | None = None) -> list[State]:
        """The best states; of those with equal sets and words only the best."""
        best: dict[tuple[int, int, bytes], tuple[float, State]] = {}
        for state in states:
            ids, score = state.ids, self.score(state)
            size = len(ids)
            key = (state.used, size, ids.tobytes() if size < 32 else ids[:: size // 16].tobytes())
            known = best.get(key)
            if known is None or score > known[0]:
                best[key] = score, state
        ranked = sorted(best.values(), key=lambda pair: (-pair[0], len(pair[1].ids)))
        return [state for _, state in ranked[: limit or self.beam]]


def _together(one: State, other: State, node: Node) -> State:
    return State(
        node,
        one.used | other.used,
        one.gain + other.gain,
        one.patterns + other.patterns,
        one.unknown + other.unknown,
        one.spread + other.spread,
        max(one.hops, other.hops),
        one.anchored or other.anchored,
    )


def _common(one: Node, other: Node) -> int:
    """The words that two patterns use for the same: "operated by both A and B"."""
    mine = {(link.target, link.positions): link.mask for link in _links(one)}
    mask = 0
    for link in _links(other):
        mask |= mine.get((link.target, link.positions), 0)
    return mask


def _links(node: Node) -> Iterator[Link]:
    for part in node.walk():
        for link in (part.cls_link, *(edge.link for edge, _ in part.edges)):
            if link is not None:
                yield link


def _bits(mask: int) -> Iterator[int]:
    at = 0
    while mask:
        if mask & 1:
            yield at
        mask >>= 1
        at += 1


def _named(node: Node) -> list[int]:
    """The first words of the things, values and classes that a pattern names."""
    links = (link for part in node.walk() for link in (part.link, part.cls_link))
    numbers = [part.quantity.first for part in node.walk() if part.quantity is not None]
    return [link.positions[0] for link in links if link is not None] + numbers
