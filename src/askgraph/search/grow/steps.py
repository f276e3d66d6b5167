"""Steps of growing: along predicates, to classes, and which states are worth going on with."""

import heapq
import math
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

import numpy as np

from askgraph.deadline import in_time
from askgraph.graph.arrays import GraphArrays, Ids, in_both
from askgraph.graph.literals import Sort
from askgraph.index import stem
from askgraph.index.names import Kind, name_tokens
from askgraph.search.grow import (
    BEAM_DOUBT,
    DOUBT_BACK,
    DOUBT_BRIDGE,
    DOUBT_DATE,
    DOUBT_DEEP,
    DOUBT_FURTHER,
    DOUBT_MISTAKEN,
    DOUBT_NAMED_AND_CLASSED,
    DOUBT_NOT_DATED,
    DOUBT_OBVIOUS,
    DOUBT_SEVERAL,
    DOUBT_SPAN_END,
    DOUBT_STEP,
    DOUBT_VALUE,
    SURE,
    WORTH_AGAIN,
    WORTH_LITTLE,
    Edge,
    Node,
    PartialMatch,
)
from askgraph.search.grow.kinds import (
    holds_codes,
    is_mirrored,
    kinds_of_objects,
    misdirected,
    stepped,
)
from askgraph.search.grow.schema import Schema
from askgraph.search.linking import bits
from askgraph.search.linking.link import Link, Linked
from askgraph.search.linking.operators import Frame
from askgraph.search.linking.word_lists import shared_words

_LEAST_DOUBT = 0.5
"""What a step costs at least, about, if no word names it: less would have to be an obvious one."""
_REPEATED = 0.6
"""A predicate may repeat words that are used if its other words weigh so much of them."""
_ANY_NAME = 0.35
"""The share of a link's worth that does not hang on how well the name fits."""
_MOST_KEPT = 1000
"""What predicates so many nodes have, and lead to, is kept; larger sets seldom come again."""
_OF_ONE_KIND: Final = 0.99
"""The quality from which on a word is the name's own, and not one akin to it."""
_MOST_HOPS = 4
"""Steps of a pattern in a row."""
_GUESSED_HOPS, _GUESSED_HOPS_NAMELESS = 2, 3
"""Steps after which none follows that no word names; from a node without a name one more."""
_WIDE = 2000
"""Nodes of an answer set from which only a first step may be one that no word names."""
_LINKS = 3
"""Readings of the words that name one predicate."""
_COMPARED, _MARKED = 32, 16
"""Answer sets smaller than the first are compared whole, others by as many nodes as the second."""


@dataclass
class Grower:
    """Grows the states of one question over one graph; `weights` are those of the ranking."""

    graph: GraphArrays
    schema: Schema
    linked: Linked
    frame: Frame
    weights: Mapping[str, float]
    beam: int = 48
    widest: int = 20_000
    by_predicate: dict[int, list[Link]] = field(default_factory=dict)
    total: float = 1.0
    _left: dict[int, dict[int, list[Link]]] = field(default_factory=dict)
    _by_mask: dict[int, float] = field(default_factory=dict)
    _deep: dict[int, bool] = field(default_factory=dict)
    _present: dict[tuple[bytes, bool], frozenset[int]] = field(default_factory=dict)
    _reached: dict[tuple[bytes, int, bool, bool], Ids] = field(default_factory=dict)

    def __post_init__(self) -> None:
        named = without_chance(self.linked, self.frame)
        self.linked = replace(
            self.linked, links=tuple(one for one in named if self._plausible(one))
        )
        for one in self.linked.of(Kind.PREDICATE):
            number = self.schema.number(one.target)
            if number is None or number in self.schema.hidden:
                continue
            if not (self.schema.leads_on(number) and self._is_rather_a_number(one)):
                self.by_predicate.setdefault(number, []).append(one)
        self.total = sum(self.linked.weights) or 1.0
        weights = self.weights
        self._covered, self._patterns = weights["covered"], weights["patterns"]
        self._unknown, self._spread = BEAM_DOUBT * weights["unknown"], weights["spread"]

    def _plausible(self, link: Link) -> bool:
        """Whether a link's words are free for it: an operator's words name things only exactly."""
        words = zip(link.positions, link.qualities, strict=True)
        inside = [quality for at, quality in words if self.frame.is_loud(at)]
        if min(inside, default=1.0) < _OF_ONE_KIND or self._is_counted(link):
            return False
        return len(inside) < len(link.positions) or (link.preferred and link.similarity >= SURE)

    def _is_counted(self, link: Link) -> bool:
        """ "The number of rooms" asks how many there are, and not for a room number."""
        tokens, own = self.linked.reading.tokens, name_tokens(link.name)
        if not own or stem(own[-1]) not in shared_words().names["keys"]:
            return False
        plural = [at for at in link.positions if tokens[at].stem != tokens[at].folded]
        return any(
            at > one.last and one.mask & link.mask and tokens[at].folded not in own
            for one in self.frame.of("count")
            for at in plural
        )

    def _is_rather_a_number(self, link: Link) -> bool:
        """Whether the same words name a predicate of numbers better: an id rather than a link."""
        numbers = (
            self.schema.number(other.target)
            for other in self.linked.of(Kind.PREDICATE)
            if other.positions == link.positions and other.score > link.score
        )
        return any(n is not None and self.schema.sort(n) is Sort.NUMBER for n in numbers)

    def score(self, state: PartialMatch) -> float:
        """How good a state is to go on with."""
        return (
            self._covered * state.gain / self.total
            + self._patterns * state.patterns
            + self._unknown * state.unknown
            + self._spread * state.spread
        )

    def worth(self, gain: float, patterns: int = 0, unknown: float = 0.0) -> float:
        """What words, patterns and doubts speak for or against, by the weights of the ranking."""
        return (
            self._covered * gain / self.total + self._patterns * patterns + self._unknown * unknown
        )

    def gain(self, link: Link, used: int) -> float:
        """What a link's words bring that are not used yet.

        It is 0 if words of content overlap; only a predicate may repeat a lesser part that is
        used ("pet type" of pets).
        """
        total, repeated = 0.0, 0.0
        for at, quality in zip(link.positions, link.qualities, strict=True):
            weight = self.linked.weights[at]
            if used >> at & 1:
                repeated += weight
            else:
                total += (weight or WORTH_LITTLE) * quality
        if repeated and (link.kind is not Kind.PREDICATE or total < _REPEATED * repeated):
            return 0.0
        return total * (_ANY_NAME + (1 - _ANY_NAME) * link.score)

    def weight_of(self, mask: int) -> float:
        """How much some words tell."""
        if mask not in self._by_mask:
            told = enumerate(self.linked.weights)
            self._by_mask[mask] = sum(weight for at, weight in told if mask >> at & 1)
        return self._by_mask[mask]

    def level(self, states: Sequence[PartialMatch]) -> Iterator[PartialMatch]:
        """All steps from some states, without those that cannot be among the best of the level."""
        best: list[float] = []
        for state in in_time(sorted(states, key=lambda s: -self.score(s)), share=GROWING):
            unnamed = self.score(state) + self.worth(0.0, 1, _LEAST_DOUBT)
            hopeless = len(best) >= self.beam and unnamed < best[0]
            for grown in self.hops(state, linked=hopeless):
                yield grown
                score = self.score(grown)
                if len(best) < self.beam:
                    heapq.heappush(best, score)
                elif score > best[0]:
                    heapq.heapreplace(best, score)

    def hops(self, state: PartialMatch, *, linked: bool = False) -> Iterator[PartialMatch]:
        """All steps from a state; with `linked` only those along predicates that words name."""
        ids = state.node.ids
        if len(ids) > self.widest or state.hops >= _MOST_HOPS:
            return
        literal = bool(len(ids)) and int(ids[0]) < self.graph.terms.first_iri
        done = not self.content & ~state.used
        linked = linked or self._is_wide(state)
        linked = linked or (done and state.hops > 0 and not self.schema.is_nameless(ids))
        wanted: Container[int] = self.schema.open
        if linked:
            named = self.left_links(state.used)
            wanted = [n for n in named if literal or n in self.schema.leading]
            if not wanted:
                return
        for inverse in (True,) if literal else (False, True):
            among = self.schema.open if inverse else self.schema.leading
            for number in sorted(among & self.present(ids, inverse=inverse)):
                if number in wanted:
                    yield from self._hop(state, number, inverse, linked, literal)

    def present(self, ids: Ids, *, inverse: bool = False) -> frozenset[int]:
        """The predicates that leave (or enter) some nodes; looked up once for small sets."""
        if len(ids) > _MOST_KEPT:
            return self.graph.present(ids, inverse=inverse)
        key = ids.tobytes(), inverse
        if key not in self._present:
            self._present[key] = self.graph.present(ids, inverse=inverse)
        return self._present[key]

    def reached(self, ids: Ids, predicate: int, *, inverse: bool, plus: bool = False) -> Ids:
        """The nodes one step from some, or more with `plus`; looked up once for small sets."""
        key = (ids.tobytes(), predicate, inverse, plus) if len(ids) <= _MOST_KEPT else None
        found = self._reached.get(key) if key is not None else None
        if found is None and plus:
            found = self.graph.closure(ids, predicate, inverse=inverse)
        elif found is None:
            found = stepped(self.schema, ids, predicate, inverse=inverse)
        if key is not None:
            self._reached[key] = found
        return found

    def _hop(
        self, state: PartialMatch, predicate: int, inverse: bool, linked: bool, literal: bool
    ) -> Iterator[PartialMatch]:
        mirrored = is_mirrored(self.schema, predicate)
        if mirrored and inverse and predicate in self.present(state.ids):
            return  # the same step as the other way round
        back = any(
            edge.predicate == predicate and (mirrored or edge.inverse == inverse)
            for edge, _ in state.node.edges
        )
        if back and self.schema.identifies((predicate, inverse)):
            return  # that leads to where it came from, and to nothing else
        links = [] if back else self._links(state, predicate, inverse)
        if (not links and linked) or (literal and self._is_other_code(state, predicate)):
            return
        for plus in self._ways(predicate, inverse, named=bool(links)):
            ids = self._onward(state.ids, predicate, inverse, plus)
            if not len(ids) or (len(ids) == 1 and np.array_equal(ids, state.ids)):
                continue
            doubt = self._doubt(state, ids, predicate, inverse, literal)
            doubt += misdirected(self.linked, self.schema, state.node, predicate)
            doubt += DOUBT_DEEP if plus and not inverse else 0.0
            ways: list[Link | None] = [*links[:_LINKS]]
            if not links or predicate in self.schema.mixed or self.is_class_like(links[0]):
                ways.append(None)
            for one in ways:
                edge = Edge(predicate, not inverse, plus, one)
                unknown = doubt if one is None else self._mistaken(edge, ids, state)
                unknown += DOUBT_BACK if back else 0.0
                yield self._stepped(state, edge, ids, unknown, literal)

    def _onward(self, ids: Ids, predicate: int, inverse: bool, plus: bool) -> Ids:
        """What a step leads to, without literals beside resources: from those none leads on.

        Nor does one from statements whose triples were not fetched.
        """
        found = self.reached(ids, predicate, inverse=inverse, plus=plus)
        if not inverse and self.schema.leads_nowhere(predicate, found):
            return found[:0]
        if predicate in self.schema.mixed:
            found = found[np.searchsorted(found, self.graph.terms.first_iri) :]
        return found

    def _is_other_code(self, state: PartialMatch, predicate: int) -> bool:
        """Whether words mean a code, and a predicate does not hold such codes, or not only."""
        meant = state.node.link
        if meant is None or not meant.code:
            return False
        if (explained := self.schema.number(meant.code)) is not None:
            return predicate != explained
        return not holds_codes(self.schema, predicate, meant.code)

    def _links(self, state: PartialMatch, predicate: int, inverse: bool) -> list[Link]:
        """The links of a step; a question word alone names only what a predicate leads to."""
        links = self.left_links(state.used).get(predicate, [])
        return [one for one in links if one.mask & self.content] if inverse else links

    def left_links(self, used: int) -> dict[int, list[Link]]:
        """The predicates that the words not yet used name, with their links."""
        if used not in self._left:
            left = {
                number: [one for one in links if self.gain(one, used)]
                for number, links in self.by_predicate.items()
            }
            self._left[used] = {number: links for number, links in left.items() if links}
        return self._left[used]

    def _mistaken(self, edge: Edge, ids: Ids, state: PartialMatch) -> float:
        """Whether a noun that is a class too ("moon of") is said of what is not of that class."""
        if edge.link is None:
            return 0.0
        subjects = self.schema.names_subject(edge.predicate)
        named = ids if subjects != edge.inverse else state.ids
        return 0.0 if self.fits_noun(edge.link, named) else DOUBT_MISTAKEN

    def fits_noun(self, link: Link, ids: Ids) -> bool:
        """Whether nodes are of the class that the same words name, if they name one."""
        classes = self._called.get(link.positions)
        return not classes or any(self.schema.all_are(ids, cls) for cls in classes)

    def is_class_like(self, link: Link) -> bool:
        """Whether a class is called by the same words."""
        return link.positions in self._called

    @cached_property
    def _called(self) -> dict[tuple[int, ...], list[str]]:
        """The classes that words surely name, by the positions of the words."""
        found: dict[tuple[int, ...], list[str]] = {}
        for one in self.linked.of(Kind.CLASS):
            if one.similarity > SURE:
                found.setdefault(one.positions, []).append(one.target)
        return found

    def _is_wide(self, state: PartialMatch) -> bool:
        """Whether a state has walked far enough, or is too large, for a step that no word names."""
        if state.hops >= _GUESSED_HOPS and not self.schema.is_nameless(state.ids):
            return True
        far = state.hops >= _GUESSED_HOPS_NAMELESS
        return far or (len(state.ids) > _WIDE and state.hops > 0)

    def _ways(self, predicate: int, inverse: bool, *, named: bool) -> tuple[bool, ...]:
        """Once, or once and more: what lies in a place lies there at any depth.

        A chain of another kind that words name is walked once: "whose manager is".
        """
        if predicate not in self.schema.transitive or is_mirrored(self.schema, predicate):
            return (False,)
        if named and not self._contains(predicate):
            return (False,)
        return (True,) if inverse else (True, False)

    def _contains(self, predicate: int) -> bool:
        """Whether what lies in something lies in what that lies in, too, as of places.

        A chain of things alone ("manager", "prerequisite") does not say so.
        """
        if predicate not in self._deep:
            schema = self.schema
            self._deep[predicate] = (
                "places" in kinds_of_objects(schema, predicate)
                or schema.names_subject(predicate)
                or schema.is_declared_transitive(predicate)
            )
        return self._deep[predicate]

    def _stepped(
        self, state: PartialMatch, edge: Edge, ids: Ids, unknown: float, literal: bool
    ) -> PartialMatch:
        below, one = state.node, edge.link
        if literal and len(below.terms) > 1:
            objects = self.graph.ends(edge.predicate, inverse=True)
            fits = in_both(below.ids, objects)
            below = replace(below, ids=fits, terms=tuple(fits.tolist()))
        return PartialMatch(
            Node(ids, edges=((edge, below),)),
            state.used | (one.mask if one else 0),
            state.gain + (self.gain(one, state.used) if one else 0.0),
            state.patterns + 1,
            state.unknown + unknown,
            state.spread + math.log2(max(1.0, len(ids) / len(state.ids))),
            state.hops + (0 if literal else 1),
            state.anchored,
        )

    def _doubt(
        self, state: PartialMatch, ids: Ids, predicate: int, inverse: bool, literal: bool
    ) -> float:
        """How much is guessed by a predicate that no word names; less if each has just one."""
        if literal:
            return self._doubt_of_value(state, predicate)
        objects = state.ids if inverse else ids
        by, relates = (edge.predicate for edge, _ in state.node.edges), self.schema.is_one_relation
        if any(relates(one, predicate, state.ids) for one in by):
            return 0.0  # the rest of a relation that goes by one name
        if self.schema.is_obvious(predicate, objects, self.said):
            return DOUBT_OBVIOUS
        bridge = self.schema.is_nary(ids) or self.schema.is_nary(state.ids)
        single = self.schema.is_functional(predicate, inverse=not inverse)
        doubt = (DOUBT_BRIDGE if bridge else DOUBT_STEP) + (0.0 if single else DOUBT_SEVERAL)
        return doubt + DOUBT_FURTHER * (self.schema.predicates[predicate].steps - 1)

    def _doubt_of_value(self, state: PartialMatch, predicate: int) -> float:
        """A year is looked for if dates are, other values if they occur."""
        quantity = state.node.quantity
        if state.node.link is not None and state.node.link.code:
            return 0.0  # the code tells its predicate
        if quantity is None or quantity.days is None:
            return DOUBT_VALUE
        dated = self.schema.sort(predicate) in (Sort.DATE, Sort.YEAR, Sort.TEXT_DATE)
        if not dated and self.schema.words(predicate).isdisjoint(shared_words().names["times"]):
            return DOUBT_NOT_DATED
        is_end = any(predicate == end for _, end, _ in self.schema.spans)
        return DOUBT_SPAN_END if is_end else DOUBT_DATE

    def classed(self, states: Iterable[PartialMatch]) -> Iterator[PartialMatch]:
        """Each state, and again with every class that words name and that it meets."""
        links = self.linked.of(Kind.CLASS)
        for state in states:
            for one in links:
                gain = self.gain(one, state.used) or self._again(one, state)
                if not gain:
                    continue
                ids = in_both(state.ids, self.schema.instances(one.target))
                if not len(ids):
                    continue
                named = any(self.is_role(edge, root=True) for edge, _ in state.node.edges)
                doubt = DOUBT_NAMED_AND_CLASSED if named and one.mask & ~state.used else 0.0
                yield replace(
                    state,
                    node=replace(state.node, ids=ids, cls=one.target, cls_link=one),
                    used=state.used | one.mask,
                    gain=state.gain + gain,
                    patterns=state.patterns + (len(ids) < len(state.ids)),
                    unknown=state.unknown + doubt,
                )
            yield state

    def _again(self, link: Link, state: PartialMatch) -> float:
        """A class whose words the last step has used for the same thing: "moons" that are moons."""
        said = any(
            edge.link is not None
            and link.similarity > SURE
            and edge.link.positions == link.positions
            and self.is_role(edge, root=True)
            for edge, _ in state.node.edges
        )
        return WORTH_AGAIN if said else 0.0

    def is_role(self, edge: Edge, *, root: bool) -> bool:
        """Whether a named predicate says what its root end (or its far end) is.

        "supplier" says it of the object, "supplier of" and "is a supplier of" of the subject.
        """
        if edge.link is None or not self.schema.is_noun(edge.link.name):
            return False
        subject = self.schema.names_subject(edge.predicate)
        return (subject != edge.inverse) == root

    @cached_property
    def said(self) -> frozenset[str]:
        """The classes that the question names."""
        return frozenset(one.target for one in self.linked.of(Kind.CLASS) if one.score > SURE)

    @cached_property
    def content(self) -> int:
        """The tokens that carry content, as bits."""
        return bits(at for at, weight in enumerate(self.linked.weights) if weight)

    def kept(self, states: Iterable[PartialMatch], limit: int | None = None) -> list[PartialMatch]:
        """The best states; of those with equal sets and words only the best."""
        best: dict[tuple[int, int, bytes], tuple[float, PartialMatch]] = {}
        for state in states:
            ids, score = state.node.ids, self.score(state)
            size = len(ids)
            told = ids if size < _COMPARED else ids[:: size // _MARKED]
            key = state.used, size, told.tobytes()
            known = best.get(key)
            if known is None or score > known[0]:
                best[key] = score, state
        ranked = sorted(best.values(), key=lambda pair: (-pair[0], len(pair[1].ids)))
        return [state for _, state in ranked[: limit or self.beam]]


_EXPLAINING = frozenset(
    "count average sum minimum maximum most fewest superlative comparative more_than less_than "
    "at_least at_most between each order ascending descending top distinct or and both not".split()
)
"""Operators whose words are no names of things."""
GROWING = 0.5
"""The share of the seconds for searching after which nothing more is grown."""
_WHOLE = 0.9
"""From this similarity on all of a name is there, but for a bent word."""


def without_chance(linked: Linked, frame: Frame) -> tuple[Link, ...]:
    """Return the links but those of things whose names only words in other use match.

    Words of an operator, units after their number, and single letters are such words; so are those
    that are wholly a class's or predicate's name where they are but a part of a thing's, and
    numbers, which find texts as well. What is quoted or stands in capitals may always be a name.
    """
    used = _in_use(linked, frame)
    counted = {tuple(one.positions) for one in linked.reading.quantities if one.value is not None}
    schema = {
        link.positions
        for link in linked.of(Kind.CLASS, Kind.PREDICATE)
        if link.similarity > _WHOLE and link.preferred
    }
    return tuple(
        link
        for link in linked.links
        if link.kind not in (Kind.ENTITY, Kind.VALUE)
        or _may_be_name(link, linked)
        or not (
            (link.kind is Kind.VALUE and link.positions in counted)
            or all(at in used or not linked.weights[at] for at in link.positions)
            or (link.similarity < _WHOLE and link.positions in schema)
        )
    )


def _in_use(linked: Linked, frame: Frame) -> frozenset[int]:
    """The tokens that operators, units and single letters take up."""
    tokens = linked.reading.tokens
    found = {at for one in frame.of(*_EXPLAINING) for at in one.positions}
    for quantity in linked.reading.quantities:
        if quantity.unit is not None:
            found |= set(range(quantity.last + 1, quantity.measured.stop))
    found |= {at for at, token in enumerate(tokens) if len(token.text) == 1}
    return frozenset(at for at in found if not tokens[at].text[0].isdigit())


def _may_be_name(link: Link, linked: Linked) -> bool:
    """Whether words are quoted, or in capitals within the question."""
    tokens = [linked.reading.tokens[at] for at in link.positions]
    return any(
        token.quote is not None or (token.capital and at > 0)
        for at, token in zip(link.positions, tokens, strict=True)
    )
