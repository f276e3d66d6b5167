"""Beam search for answer sets: from what a question mentions, step by step along the graph's edges.

A partial match is a set of nodes with the pattern that gives it. It starts at a linked entity,
value, class or number, walks along predicates, and is intersected with others that use other words.
So no pattern is ever guessed: its direction is right and its result is not empty. Names are told
apart by what stands beside them: the river Jordan, Paris in Texas.
"""

import heapq
import math
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

import numpy as np

from askgraph.deadline import in_time
from askgraph.graph.arrays import GraphArrays, Ids, in_both
from askgraph.graph.literals import Sort, split_literal
from askgraph.index.names import Kind, name_tokens, stem
from askgraph.search.expand import (
    BEAM_DOUBT,
    SURE,
    Doubt,
    Edge,
    Node,
    PartialMatch,
    Worth,
    combine,
    common_words,
    denied_words,
    named_steps,
    named_words,
)
from askgraph.search.expand.schema import (
    Schema,
    explained_codes,
    holds_codes,
    is_mirrored,
    kinds_of_objects,
    misdirected,
    shortened_values,
    stepped,
)
from askgraph.search.link import Link, LinkedQuestion
from askgraph.search.tokenize import Quantity, TokenizedQuestion, bits
from askgraph.search.tokenize.question_operators import Operator, QuestionOperators
from askgraph.search.tokenize.word_lists import shared_words

_LEAST_DOUBT = 0.5
"""What a step costs at least, about, if no word names it: less would have to be an obvious one."""
_REPEATED = 0.6
"""A predicate may repeat words that are used if its other words weigh so much of them."""
_ANY_NAME = 0.35  # the share of a link's worth that does not hang on how well the name fits
_MOST_KEPT = 1000
"""What predicates so many nodes have, and lead to, is kept; larger sets seldom come again."""
_OF_ONE_KIND: Final = 0.99
"""The quality from which on a word is the name's own, and not one akin to it."""
_MOST_HOPS = 4  # steps of a pattern in a row
_GUESSED_HOPS, _GUESSED_HOPS_NAMELESS = 2, 3
"""Steps after which none follows that no word names; from a node without a name one more."""
_WIDE = 2000  # nodes of an answer set from which only a first step may be one that no word names
_LINKS = 3  # readings of the words that name one predicate
_COMPARED, _MARKED = 32, 16
"""Answer sets smaller than the first are compared whole, others by as many nodes as the second."""


@dataclass
class BeamSearch:
    """Grows the states of one question over one graph; `weights` are those of the ranking."""

    graph: GraphArrays
    schema: Schema
    linked: LinkedQuestion
    frame: QuestionOperators
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
        worth = self.worth(state.gain, state.patterns, state.unknown)
        return worth + self._spread * state.spread

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
                total += (weight or Worth.LITTLE) * quality
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
            doubt += Doubt.DEEP if plus and not inverse else 0.0
            ways: list[Link | None] = [*links[:_LINKS]]
            if not links or predicate in self.schema.mixed or self.is_class_like(links[0]):
                ways.append(None)
            for one in ways:
                edge = Edge(predicate, not inverse, plus, one)
                unknown = doubt if one is None else self._mistaken(edge, ids, state)
                unknown += Doubt.BACK if back else 0.0
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
        return 0.0 if self.fits_noun(edge.link, named) else Doubt.MISTAKEN

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
            quantity = state.node.quantity
            if state.node.link is not None and state.node.link.code:
                return 0.0  # the code tells its predicate
            if quantity is None or quantity.days is None:
                return Doubt.VALUE
            dated = self.schema.sort(predicate) in (Sort.DATE, Sort.YEAR, Sort.TEXT_DATE)
            if not dated and self.schema.words(predicate).isdisjoint(shared_words().names["times"]):
                return Doubt.NOT_DATED
            is_end = any(predicate == end for _, end, _ in self.schema.spans)
            return Doubt.SPAN_END if is_end else Doubt.DATE
        objects = state.ids if inverse else ids
        by, relates = (edge.predicate for edge, _ in state.node.edges), self.schema.is_one_relation
        if any(relates(one, predicate, state.ids) for one in by):
            return 0.0  # the rest of a relation that goes by one name
        if self.schema.is_obvious(predicate, objects, self.said):
            return Doubt.OBVIOUS
        bridge = self.schema.is_nary(ids) or self.schema.is_nary(state.ids)
        single = self.schema.is_functional(predicate, inverse=not inverse)
        doubt = (Doubt.BRIDGE if bridge else Doubt.STEP) + (0.0 if single else Doubt.SEVERAL)
        return doubt + Doubt.FURTHER * (self.schema.predicates[predicate].steps - 1)

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
                doubt = Doubt.NAMED_AND_CLASSED if named and one.mask & ~state.used else 0.0
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
        return Worth.AGAIN if said else 0.0

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
GROWING = 0.5  # the share of the seconds for searching after which nothing more is grown
_WHOLE = 0.9  # from this similarity on all of a name is there, but for a bent word


def without_chance(linked: LinkedQuestion, frame: QuestionOperators) -> tuple[Link, ...]:
    """Return the links but those of things whose names only words in other use match.

    Words of an operator, units after their number, and single letters are such words; so are those
    that are wholly a class's or predicate's name where they are but a part of a thing's, and
    numbers, which find texts as well. What is quoted or stands in capitals may always be a name.
    """
    tokens = linked.reading.tokens
    found = {at for one in frame.of(*_EXPLAINING) for at in one.positions}
    for quantity in linked.reading.quantities:
        if quantity.unit is not None:
            found |= set(range(quantity.last + 1, quantity.measured.stop))
    found |= {at for at, token in enumerate(tokens) if len(token.text) == 1}
    used = frozenset(at for at in found if not tokens[at].text[0].isdigit())
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


def _may_be_name(link: Link, linked: LinkedQuestion) -> bool:
    """Whether words are quoted, or in capitals within the question."""
    tokens = [linked.reading.tokens[at] for at in link.positions]
    return any(
        token.quote is not None or (token.capital and at > 0)
        for at, token in zip(link.positions, tokens, strict=True)
    )


_STEPS = 3  # steps from a seed before states are joined
_POOL, _JOINED, _GROWN = 4, 2, 6
"""Beams kept of what was walked, of what was joined, and of both after walking on."""
_ALTERNATIVE: Final = 0.6  # a name beside "or" is one alternative from this similarity on
_SHORTENED: Final = 0.6  # how well a word fits a value that is what is left of it
_EACH_SIDE = 4  # readings of each side of "or"
_SIDES = 24  # patterns of each side of "or"
_HEAD = 0.7  # the first noun names a class so well that all that is found is of it
_BEFORE_OR, _AFTER_OR = 2, 4  # tokens that a name may be away from "or"
_LISTED = 50
"""Constants that stand for one number at most; more differ only in how they are written."""
_EXACTLY: Final = 0.95  # a class is called exactly so from this similarity on
_MOST_ALIKE, _MUCH_MORE = 6, 3
"""So many things of one name may be meant together, if none has so many times the edges."""
_LIKE_IT = 2  # steps of a pattern that a thing may fail to fit
_SAME_WORDS = 8  # states joined that use the same words
_DENIED_WITHIN = 4  # words of content after "not" within which what it denies is named
_ALIKE = 0.05  # how much worse a name may fit and still be called the same
_WITHIN = 2  # function words between a name and the place that tells it apart
_FEW = 64  # sets of so few nodes are told to have none in common faster as sets of Python


@dataclass(frozen=True, eq=False)
class Expansion:
    """The best partial matches of a question, and the search that keeps what it looked up."""

    search: BeamSearch
    matches: tuple[PartialMatch, ...]


def expand(
    linked: LinkedQuestion,
    operators: QuestionOperators,
    schema: Schema,
    weights: Mapping[str, float],
    *,
    limit: int | None = None,
) -> Expansion:
    """Expand what a question mentions to partial matches; the best are returned, up to a limit."""
    search = BeamSearch(schema.graph, schema, linked, operators, weights)
    return Expansion(search, tuple(_grow(search)[:limit]))


def _grow(search: BeamSearch) -> list[PartialMatch]:
    """Grow all states; best first."""
    things = list(_seeds(search))
    classes: list[PartialMatch] = []
    # A state for each class that words name: its instances; more after "no", "each", "how many".
    indefinite = {one.last + 1 for one in search.frame.of("not", "each", "count")}
    for one in search.linked.of(Kind.CLASS):
        ids = search.schema.instances(one.target)
        if len(ids):
            node = Node(ids, cls=one.target, cls_link=one)
            exact = Worth.EXACT if one.similarity > _EXACTLY else 1.0
            exact += Worth.INDEFINITE if one.positions[0] in indefinite else 0.0
            classes.append(PartialMatch(node, one.mask, exact * search.gain(one, 0), patterns=1))
    pool = things + classes
    level = things + [c for c in classes if len(c.ids) <= search.widest]
    for _ in range(_STEPS):
        level = search.kept(search.level(level))
        level = search.kept(search.classed(level))
        pool += level
    pool = search.kept(pool, limit=_POOL * search.beam)
    if search.frame.of("or"):
        pool = [*united(search, pool), *pool]
    joined = search.kept(joins(search, pool), limit=_JOINED * search.beam)
    if joined:
        joined += turned_about(search, joined, pool)
        further = [
            grown
            for state in in_time(joined[: search.beam], share=GROWING)
            for grown in search.hops(state, linked=not search.schema.is_nameless(state.ids))
        ]
        further = search.kept(search.classed(further))
        pool = search.kept(pool + joined + further, limit=_GROWN * search.beam)
        again = search.kept(joins(search, pool[: _JOINED * search.beam]), limit=search.beam)
        pool = search.kept(pool + again, limit=_GROWN * search.beam)
    if search.frame.of("not"):
        pool = search.kept([*pool, *lacking(search, classes, pool)], limit=_GROWN * search.beam)
    if search.frame.exists:
        pool = [*search.kept(unmet(search, things, pool)), *pool]
    return pool


def _seeds(search: BeamSearch) -> Iterator[PartialMatch]:
    """A state for each thing, value and number that words name, and for values said as either."""
    named: dict[tuple[Kind, tuple[int, ...]], list[Link]] = {}
    for one in search.linked.of(Kind.ENTITY, Kind.VALUE):
        named.setdefault((one.kind, one.positions), []).append(one)
    for listed in named.values():
        alike = _namesakes(search, listed)
        yield from filter(None, [_seed(search, *alike)])
        for one in listed:
            found = _seed(search, one)
            if found is not None:
                if one not in alike:
                    yield found
                yield from with_apposition(search, found)
    yield from _alternatives(search)
    yield from _shortened(search)
    for quantity in (*search.linked.reading.quantities, *_numbered(search)):
        # Things with a number or a date: one state for each predicate that carries it.
        if search.frame.takes(quantity):
            continue
        literals = _equal(search, quantity)
        if not len(literals):
            continue
        gain = sum(search.linked.weights[at] for at in quantity.positions)
        gain *= Worth.SPELLED if quantity.spelled else 1.0
        node = Node(literals, terms=tuple(literals[:_LISTED].tolist()), quantity=quantity)
        yield PartialMatch(node, bits(quantity.positions), gain, anchored=True)


def _numbered(search: BeamSearch) -> Iterator[Quantity]:
    """ "The second floor": an ordinal before a property of numbers is one of its values."""
    reading, taken = search.linked.reading, search.frame.mask | search.frame.quantified
    numbers = {
        one.positions[0]
        for number, links in search.by_predicate.items()
        if search.schema.sort(number) in (Sort.NUMBER, Sort.TEXT_NUMBER)
        for one in links
    }
    for at, token in enumerate(reading.tokens):
        value = reading.words.ordinals.get(token.folded)
        if value is not None and at + 1 in numbers and not taken >> at & 1:
            yield Quantity(at, at, token.folded, float(value))


def _namesakes(search: BeamSearch, links: Sequence[Link]) -> list[Link]:
    """The things that words name as well as any other, if all are of a kind: all are meant.

    If one is much better known than another, that one is.
    """
    first = links[0]
    if len(links) < 2 or first.kind is not Kind.ENTITY or first.similarity < _EXACTLY:
        return []
    called = name_tokens(first.name)
    alike = [one for one in links if name_tokens(one.name) == called and one.score == first.score]
    found = {one.target: search.schema.node(one.target) for one in alike}
    nodes = [at for at in found.values() if at is not None]
    if not 2 <= len(nodes) <= _MOST_ALIKE or len(nodes) < len(found):
        return []
    known = [search.schema.known(at) for at in nodes]
    kinds = {search.schema.classes_of(at) for at in nodes}
    same = len(kinds) == 1 and max(known) <= _MUCH_MORE * min(known)
    return alike if same else []


def _seed(search: BeamSearch, *links: Link) -> PartialMatch | None:
    """A state for the thing or value that words name, or for several things of one name."""
    found = {at for one in links if (at := search.schema.node_of(one)) is not None}
    if not found:
        return None
    nodes, first = sorted(found), links[0]
    node = Node(np.array(nodes, dtype=np.int32), terms=tuple(nodes), link=first)
    known = Worth.KNOWN * float(np.log10(1 + max(map(search.schema.known, nodes))))
    return PartialMatch(node, first.mask, search.gain(first, 0) * (1 + known), anchored=True)


def _shortened(search: BeamSearch) -> Iterator[PartialMatch]:
    """A value that a word stands for, which means nothing else in the graph.

    Its predicate's description explains it, or it has the initials that the word is; then other
    words name the predicate. No other value of the predicate fits.
    """
    linked = search.linked
    told = {
        at
        for one in linked.links
        for at, quality in zip(one.positions, one.qualities, strict=True)
        if quality >= SURE
    }
    told.update(at for at, weight in enumerate(linked.weights) if not weight)
    busy = search.frame.mask | search.frame.quantified
    for at, token in enumerate(linked.reading.tokens):
        if at in told or busy >> at & 1 or token.quote is not None:
            continue
        for term, predicate in explained_codes(search.schema).get(token.stem, ()):
            yield from _short_seed(search, at, term, predicate)
        for number in search.by_predicate:
            found = shortened_values(search.schema, number, token.text)
            if len(found) == 1:
                yield from _short_seed(search, at, found[0])


def _short_seed(
    search: BeamSearch, at: int, term: str, explained: str = ""
) -> Iterator[PartialMatch]:
    """A value that a word stands for, less sure if no predicate's description explains it."""
    fits = SURE if explained else _SHORTENED
    name = split_literal(term)[0]
    seed = _seed(
        search, Link(Kind.VALUE, term, name, fits, (at,), (fits,), code=explained, how=("short",))
    )
    if seed is not None:
        yield replace(seed, unknown=0.0 if explained else Doubt.STEP)


def _alternatives(search: BeamSearch) -> Iterator[PartialMatch]:
    """Values joined by "or" make one seed that stands for any of them."""
    whole = [
        one for one in search.linked.of(Kind.ENTITY, Kind.VALUE) if one.similarity > _ALTERNATIVE
    ]
    joins = ("or",) if search.frame.of("both") else ("or", "and")
    for operator in search.frame.of(*joins):
        left = [one for one in whole if 0 < operator.first - one.positions[-1] <= _BEFORE_OR]
        right = [one for one in whole if _follows(search, operator, one.positions[0])]
        for one in left[:_EACH_SIDE]:
            for other in right[:_EACH_SIDE]:
                if one.kind is other.kind and one.target != other.target:
                    mask = bits(range(operator.first, other.positions[0]))
                    yield from _either(search, one, other, mask, operator.name)
        yield from _either_number(search, operator)


def _follows(search: BeamSearch, operator: Operator, position: int) -> bool:
    """Whether only function words, or words said before, stand between ("or the state of")."""
    tokens = search.linked.reading.tokens
    said = {token.stem for token in tokens[: operator.first]}
    between = range(operator.last + 1, position)
    return 0 < position - operator.last <= _AFTER_OR and all(
        search.linked.reading.is_stop(at) or tokens[at].stem in said for at in between
    )


def _either_number(search: BeamSearch, operator: Operator) -> Iterator[PartialMatch]:
    """ "9 or 10": one seed for both numbers."""
    quantities = search.linked.reading.quantities
    left = [q for q in quantities if q.last + 1 == operator.first]
    right = [q for q in quantities if q.first == operator.last + 1]
    for one, other in zip(left, right, strict=False):
        if search.frame.takes(one) or search.frame.takes(other):
            continue
        ids = np.union1d(_equal(search, one), _equal(search, other))
        if len(ids):
            mask = bits((*one.positions, *operator.positions, *other.positions))
            node = Node(ids, terms=tuple(ids[:_LISTED].tolist()))
            gain = search.weight_of(mask) + Worth.ALTERNATIVES
            doubt = Doubt.ALTERNATIVES if operator.name == "or" else Doubt.ENUMERATED
            yield PartialMatch(node, mask, gain, unknown=doubt, anchored=True)


def _either(
    search: BeamSearch, one: Link, other: Link, mask: int, name: str
) -> Iterator[PartialMatch]:
    first, second = _seed(search, one), _seed(search, other)
    if first is None or second is None:
        return
    ids = np.union1d(first.ids, second.ids)
    node = Node(ids, terms=tuple(ids.tolist()), link=one)
    yield PartialMatch(
        node,
        first.used | second.used | mask,
        first.gain + second.gain,
        unknown=Doubt.ALTERNATIVES if name == "or" else Doubt.AND,
        anchored=True,
    )


def _equal(search: BeamSearch, quantity: Quantity) -> Ids:
    sorts, values = search.graph.sorts, search.graph.values
    found = np.zeros(len(sorts), dtype=np.bool_)
    if quantity.days is not None:
        low, high = quantity.days
        dated = np.isin(sorts, (Sort.DATE, Sort.YEAR, Sort.TEXT_DATE))
        found |= dated & (values >= low) & (values < high + 1)
    if quantity.value is not None:
        numeric = np.isin(sorts, (Sort.NUMBER, Sort.TEXT_NUMBER))
        found |= numeric & (values == quantity.value)
    return np.flatnonzero(found).astype(np.int32)


def lacking(
    search: BeamSearch, seeds: Sequence[PartialMatch], pool: Sequence[PartialMatch]
) -> Iterator[PartialMatch]:
    """All of a class but those that fit a state: of the class named, of theirs if none is.

    `seeds` are the classes that words name.
    """
    named = {seed.node.cls_link: seed for seed in seeds}
    for other in pool[: search.beam]:
        if not len(other.ids) or not other.patterns:
            continue
        base = named.get(other.node.cls_link)
        if base is not None and other.node.edges:
            fits = replace(
                other,
                node=replace(other.node, cls=None, cls_link=None),
                used=other.used & ~base.used,
                gain=other.gain - base.gain,
            )
            yield from _negated(search, base, fits)
        for cls in search.schema.classes_of(int(other.ids[0]))[:1]:
            node = Node(search.schema.instances(cls), cls=cls)
            base = PartialMatch(node, 0, 0.0, patterns=1, unknown=Doubt.CLASS_GUESSED)
            yield from _negated(search, base, other)


def united(search: BeamSearch, pool: Sequence[PartialMatch]) -> Iterator[PartialMatch]:
    """What fits one of two patterns that "or" stands between: "born in A or died in B".

    Both may be about one thing: "directed or written by A".
    """
    plain = [one for one in pool if one.anchored and _is_one_step(search, one.node)]
    head = min((at for at, weight in enumerate(search.linked.weights) if weight), default=0)
    if any(head in one.positions and one.score >= _HEAD for one in search.linked.of(Kind.CLASS)):
        plain = [one for one in plain if one.node.cls_link is not None]
    for operator in search.frame.of("or"):
        before = bits(range(operator.first))
        free = [one for one in plain if not one.used & operator.mask]
        first = [one for one in free if not _step(one.node)[0] & ~before][:_SIDES]
        second = [one for one in free if not _step(one.node)[0] & before][:_SIDES]
        yield from (
            _one_of(search, one, other, operator)
            for one in first
            for other in second
            if one.node.cls_link == other.node.cls_link
            and one.node.edges[0][0].predicate != other.node.edges[0][0].predicate
            and (
                _step(one.node)[1] == _step(other.node)[1]  # "directed or written by A"
                or not (_step(one.node)[1] & ~before or _step(other.node)[1] & before)
            )
            and not search.linked.reading.parted(operator.last, other.used.bit_length() - 1)
        )


def _is_one_step(search: BeamSearch, node: Node) -> bool:
    """Whether one step that words name, other than a class, leads to all else said of a node."""
    if node.terms or node.without or node.either or len(node.edges) != 1 or not all(_step(node)):
        return False
    link = node.edges[0][0].link
    return link is not None and not search.is_class_like(link)


def _step(node: Node) -> tuple[int, int]:
    """The words for the first step from a node, and those for what it leads to."""
    edge, child = node.edges[0]
    return edge.link.mask if edge.link is not None else 0, named_words(child)


def _one_of(
    search: BeamSearch, one: PartialMatch, other: PartialMatch, operator: Operator
) -> PartialMatch:
    """What fits one of two states; they have the same class, or none."""
    link = one.node.cls_link
    sides = tuple(replace(side.node, cls=None) for side in (one, other))
    node = replace(one.node, ids=np.union1d(one.ids, other.ids), edges=(), either=sides)
    repeated = search.weight_of(one.used & other.used)
    state = combine(one, other, node, repeated=repeated)
    return replace(
        state,
        used=state.used | operator.mask,
        gain=state.gain + search.weight_of(operator.mask) + Worth.OPERATOR,
        patterns=state.patterns - (link is not None),
    )


def unmet(
    search: BeamSearch, seeds: Sequence[PartialMatch], pool: Sequence[PartialMatch]
) -> Iterator[PartialMatch]:
    """What holds for others like a thing, but not for it: the answer to "does it …" is no."""
    for seed in seeds:
        sure = seed.node.link is not None and seed.node.link.similarity > SURE
        classes = search.schema.classes_of(int(seed.ids[0])) if len(seed.ids) == 1 else ()
        if not (sure and classes):
            continue
        alike = search.schema.instances(classes[0])
        for other in pool:
            if (
                other.used & seed.used & search.content
                or not other.patterns
                or other.hops > _LIKE_IT
            ):
                continue
            bare = other.node.cls is not None and not other.node.edges
            if bare and not _opens_with_be(search):  # "is A a B", but not "has A a B"
                continue
            if len(in_both(seed.ids, other.ids)) or not (bare or len(in_both(alike, other.ids))):
                continue
            node = replace(other.node, ids=seed.ids, terms=seed.node.terms, link=seed.node.link)
            state = combine(seed, other, node)
            doubt = Doubt.KIND if bare else Doubt.STEP
            yield replace(state, unknown=state.unknown + doubt, denied=True)


def joins(search: BeamSearch, pool: list[PartialMatch]) -> Iterator[PartialMatch]:
    """What fits two states that use other words, or one and not the other if that is denied."""
    bare = search.frame.exists  # "is A a B": the thing itself is one side of the join
    fits = [state for state in pool if (state.patterns or bare) and len(state.ids)]
    chosen = _varied(search, fits)
    content, denies = search.content, bool(search.frame.of("not"))
    both = bool(search.frame.of("both", "and"))
    steps = [named_steps(state.node) if both else {} for state in chosen]
    denying = sum(operator.mask for operator in search.frame.of("not"))
    uses = [state.used & content for state in chosen]
    spans = [(int(state.ids[0]), int(state.ids[-1])) for state in chosen]
    few = [frozenset(state.ids.tolist() if len(state.ids) <= _FEW else ()) for state in chosen]
    for at, one in in_time(enumerate(chosen), share=GROWING):
        first, last = spans[at]
        for there in range(at + 1, len(chosen)):
            if last < spans[there][0] or spans[there][1] < first:
                continue
            if few[at] and few[there] and few[at].isdisjoint(few[there]) and not denies:
                continue
            other, shared = chosen[there], uses[at] & uses[there]
            if shared and shared & ~(
                common_words(steps[at], steps[there]) | _relation(search, one.node, other.node)
            ):
                continue
            if one.node.without and other.node.without and denying & one.used & other.used:
                continue  # one "not" denies one thing
            pairs = ((one, other), (other, one)) if denies else ()
            denied = [state for pair in pairs for state in _negated(search, *pair)]
            yield from denied
            joined = None if denied else _joined(search, one, other)
            if joined is not None:
                yield joined


def _relation(search: BeamSearch, one: Node, other: Node) -> int:
    """The words for a relation that two patterns meet at, by one of its predicates each."""
    if not (one.edges and other.edges):
        return 0
    first, second = one.edges[0][0], other.edges[0][0]
    if first.link is None or second.link is None:
        return 0
    same = search.schema.is_one_relation(first.predicate, second.predicate, one.ids)
    return first.link.mask & second.link.mask if same else 0


def turned_about(
    search: BeamSearch, joined: Sequence[PartialMatch], pool: Sequence[PartialMatch]
) -> list[PartialMatch]:
    """Joined states again, seen from a class at their far end if words name it first.

    So a thing and a class are linked by four steps that no word names; only if nothing better
    leads from as many words to that class, and there and back only if words ask for others.
    """
    told: dict[str | None, tuple[float, float]] = {}
    for state in (*pool, *joined):
        told[state.node.cls] = max(told.get(state.node.cls, (0.0, 0.0)), _explained(search, state))
    found, back = [], bool(search.frame.of("other", "same"))
    for state in joined:
        if state.unknown >= Doubt.STEP and not (state.node.terms or state.node.without):
            for node in _from_classes(search, state.node, len(state.node.edges)):
                turned = replace(state, node=node)
                better = _explained(search, turned) > told.get(node.cls, (0.0, 0.0))
                if better and len(node.ids) and (back or not _leads_back(node)):
                    found.append(turned)
    return search.kept(found)


def _leads_back(node: Node) -> bool:
    """Whether a pattern has two steps in a row along one predicate, there and back."""
    return any(
        _leads_back(child)
        or any(
            edge.predicate == on.predicate and edge.inverse != on.inverse for on, _ in child.edges
        )
        for edge, child in node.edges
    )


def _explained(search: BeamSearch, state: PartialMatch) -> tuple[float, float]:
    """How much of the question a state explains, and how well."""
    return search.weight_of(state.used), search.score(state)


def _from_classes(search: BeamSearch, node: Node, own: int) -> Iterator[Node]:
    """A pattern seen from each class that words name below its root, along its first edges."""
    for at, (edge, child) in enumerate(node.edges[:own]):
        ids = search.reached(node.ids, edge.predicate, inverse=edge.inverse, plus=edge.plus)
        rest = replace(node, edges=node.edges[:at] + node.edges[at + 1 :])
        edges = (*child.edges, (edge._replace(inverse=not edge.inverse), rest))
        turned = replace(child, ids=in_both(child.ids, ids), edges=edges)
        if child.cls_link is None:
            yield from _from_classes(search, turned, len(child.edges))
        elif node.cls_link is None or child.cls_link.positions < node.cls_link.positions:
            yield turned


def _varied(search: BeamSearch, states: list[PartialMatch]) -> list[PartialMatch]:
    """The best few states for each set of words used."""
    counts: dict[int, int] = {}
    chosen = []
    for state in states:
        counts[state.used] = counts.get(state.used, 0) + 1
        if counts[state.used] <= _SAME_WORDS and search.content & ~state.used:
            chosen.append(state)
    simple = [state for state in chosen[search.beam :] if state.patterns == 1]
    return chosen[: search.beam] + simple[: search.beam // 2]


def _joined(search: BeamSearch, one: PartialMatch, other: PartialMatch) -> PartialMatch | None:
    ids = in_both(one.ids, other.ids)
    if not len(ids) or (one.node.either and other.node.either):
        return None
    node = _merged(search, one.node, other.node, ids)
    if any(not len(in_both(side.ids, ids)) for side in node.either):
        return None
    repeated = search.weight_of(one.used & other.used)
    shared = 0.0
    if one.node.edges and other.node.edges:
        first, second = one.node.edges[0][0], other.node.edges[0][0]
        bare = first.link is not None and not first.link.mask & search.content  # "who"
        same = (first.predicate, first.inverse) == (second.predicate, second.inverse)
        if same and search.schema.identifies((first.predicate, first.inverse)):
            return None  # what they lead to is the same, too
        same = same or search.schema.is_one_relation(first.predicate, second.predicate, ids)
        if same and not bare:
            shared = min(1.0, max(one.unknown, other.unknown))
    return combine(one, other, node, repeated=repeated, shared=shared)


def _negated(search: BeamSearch, base: PartialMatch, other: PartialMatch) -> Iterator[PartialMatch]:
    """What fits one state and not the other, if a word denies what the other is about."""
    denied = min(denied_words(other.node), default=-1)
    if denied < 0 or base.node.without or other.node.without:
        return  # what a word denies is found already
    for operator in search.frame.of("not"):
        between = range(operator.last + 1, denied)
        words = sum(not search.linked.reading.is_stop(at) for at in between)
        if denied <= operator.last or words >= _DENIED_WITHIN:
            continue
        if not _denies(search, operator, base.node, other.node, denied):
            continue
        if not 0 < len(in_both(base.ids, other.ids)) < len(base.ids):
            continue
        ids = np.setdiff1d(base.ids, other.ids, assume_unique=True)
        node = replace(base.node, ids=ids, without=(*base.node.without, other.node))
        state = combine(base, other, node)
        weight = sum(search.linked.weights[at] for at in operator.positions)
        yield replace(
            state, used=state.used | operator.mask, gain=state.gain + weight + Worth.OPERATOR
        )


def _denies(search: BeamSearch, operator: Operator, base: Node, other: Node, denied: int) -> bool:
    """Whether "no" stands between the words of a thing and all the words of what it is denied.

    Only a thing of which no word says what it is may have none before.
    """
    if search.linked.reading.parted(operator.last, denied):
        return False
    last = named_words(other).bit_length()
    if _clause_ends(search.linked.reading, operator, last):
        return False
    kept, before = named_words(base), bits(range(operator.first))
    if kept & bits(range(operator.last + 1, last)):
        return False
    own = 0
    for link in (base.cls_link, base.link, *(edge.link for edge, _ in base.edges)):
        own |= link.mask if link is not None else 0
    for _, child in base.edges:
        own |= named_words(child) if not child.edges else 0
    return bool(own & before) or not (own or kept & before)


def _clause_ends(reading: TokenizedQuestion, operator: Operator, last: int) -> bool:
    """Whether the clause of a "not" ends before a token: "that do not orbit X were found by Y"."""
    words = reading.folded
    opening, before = reading.words.clauses["restrict"], operator.first - 1
    if before < 1 or words[before] not in opening:
        return False
    being, after = reading.words.yes_or_no["being"], range(operator.last + 2, last)
    return any(words[at] in being and words[at - 1] not in opening for at in after)


def _merged(search: BeamSearch, one: Node, other: Node, ids: Ids) -> Node:
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
        either=one.either + other.either,
    )


def _opens_with_be(search: BeamSearch) -> bool:
    reading = search.linked.reading
    first = reading.tokens[0].folded if reading.tokens else ""
    return first in reading.words.yes_or_no["being"]


def with_apposition(search: BeamSearch, seed: PartialMatch) -> Iterator[PartialMatch]:
    """Yield a named thing again with the words beside its name that are true of it.

    These are a class of it, and, of things that share a name, another thing that it is linked to.
    """
    link = seed.node.link
    if link is None or link.kind is not Kind.ENTITY or len(seed.ids) != 1:
        return
    told = [
        one
        for one in search.linked.of(Kind.CLASS)
        if one.similarity > SURE
        and _is_beside(search, one, link)
        and np.isin(seed.ids, search.schema.instances(one.target)).all()
    ]
    if _shares_name(search, link):
        told += [
            one
            for one in search.linked.of(Kind.ENTITY, Kind.VALUE)
            if one.similarity > SURE
            and _comes_after(search, one, link)
            and _are_linked(search, int(seed.ids[0]), one)
        ]
    for one in told:
        gain = search.gain(one, seed.used)
        if gain:
            yield replace(seed, used=seed.used | one.mask, gain=seed.gain + gain)


def _is_beside(search: BeamSearch, cls: Link, link: Link) -> bool:
    """Whether a class stands right before a name ("the city of Paris") or right after it."""
    if cls.positions[0] == link.positions[-1] + 1:
        return True
    reading = search.linked.reading
    between = range(cls.positions[-1] + 1, link.positions[0])
    of = {phrase[0] for phrase in reading.words.following["of"]}
    return cls.positions[-1] < link.positions[0] and all(
        reading.tokens[at].folded in of or reading.tokens[at].stem in reading.words.naming
        for at in between
    )


def _shares_name(search: BeamSearch, link: Link) -> bool:
    """Whether other things bear the same name."""
    return any(
        other.target != link.target
        and other.positions == link.positions
        and abs(other.score - link.score) < _ALIKE
        for other in search.linked.of(Kind.ENTITY)
    )


def _comes_after(search: BeamSearch, other: Link, link: Link) -> bool:
    """Whether only a comma or function words part a name from another after it."""
    between = range(link.positions[-1] + 1, other.positions[0])
    apart = other.positions[0] - link.positions[-1] - 1
    return 0 <= apart <= _WITHIN and all(search.linked.reading.is_stop(at) for at in between)


def _are_linked(search: BeamSearch, node: int, other: Link) -> bool:
    """Whether an edge leads from a thing to another, or several of one transitive predicate."""
    graph, schema = search.graph, search.schema
    at = schema.node_of(other)
    if at is None:
        return False
    nodes = np.array([node], dtype=np.int32)
    for inverse in (False, True):
        for predicate in sorted(schema.open & graph.present(nodes, inverse=inverse)):
            step = graph.closure if predicate in schema.transitive else graph.step
            if at in step(nodes, predicate, inverse=inverse):
                return True
    return False
