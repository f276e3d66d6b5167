"""One candidate in the making: its draft, the words left over, and where predicates hang on it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from pyoxigraph import Variable

from askgraph.graph.arrays import Ids, in_both
from askgraph.graph.literals import Sort
from askgraph.index.names import Kind
from askgraph.search import Value, alias_of, named, names_of
from askgraph.search.grow import (
    BESIDE,
    DOUBT_CLASS_LIKE,
    DOUBT_KEY,
    DOUBT_MISTAKEN,
    DOUBT_OTHER_FITS,
    DOUBT_STEP,
    NEAR,
    Edge,
    Node,
    PartialMatch,
)
from askgraph.search.grow.kinds import is_mirrored, kinds_of_nodes, leaving
from askgraph.search.linking.link import Link
from askgraph.search.linking.operators import Operator
from askgraph.search.linking.quantities import Quantity
from askgraph.search.linking.word_lists import shared_words
from askgraph.search.operators import COST_BELOW, COST_FIT, COST_SORT, Lookups, Slot
from askgraph.search.operators.draft import Draft, Place
from askgraph.sparql import Filter, Query, Term

_COST_TURNED = 0.35
"""A predicate that is read backwards, other than its name says."""
_COST_OTHER = 0.5
"""A predicate of another thing than the one whose property the words say it is."""
_COST_DOUBT = 0.3
"""What a doubt about a noun costs a place, less than it costs the whole query."""

_FIRST, _SHOWN, _NARY = 300, 200, 50
"""So many nodes stand for all: for the predicates of a place, for names, for kinds of nodes."""
_STANDING = frozenset(("persons", "bodies", "places"))
"""Kinds of things whose dates are not of what happens with them."""
_KEY = 0.9
"""Words that fit a predicate so well name it, and not only the class of what it leads to."""
_COMPARES = {
    ">": np.greater,
    "<": np.less,
    ">=": np.greater_equal,
    "<=": np.less_equal,
    "=": np.equal,
    "!=": np.not_equal,
}

PAIRED = "paired"
"""The note that two things are compared or reckoned with."""
LISTED = "listed"
"""The note that there is a row for each value that words list, or a count beside an aggregate."""

_UNNAMED = Link(Kind.PREDICATE, "", "", 1.0, (), ())
"""Stands for the words of a predicate that no word of the question names."""


@dataclass(eq=False)
class Candidate:
    """A whole query with what speaks for and against it; never changed, but not frozen, as `Node`.

    `tree` is the query with numbered variables, with `hints` to name each from; `shown` is what
    those columns hold that answer, the others being context. `root` is what the pattern starts at,
    `ids` the nodes that it can be. `used` are the words it uses, as bits; `shown_words` those that
    name what is shown. `links` are the readings of words that operators and columns took, beside
    those of `state`.
    """

    tree: Query
    shown: tuple[Value, ...]
    hints: Mapping[Variable, str]
    state: PartialMatch
    root: Term
    ids: Ids
    used: int
    gain: float
    unknown: float
    patterns: int
    notes: tuple[str, ...] = ()
    shown_words: int = 0
    links: tuple[Link, ...] = ()
    score: float = 0.0
    features: dict[str, float] = field(default_factory=dict)

    @property
    def asks(self) -> bool:
        """Whether the answer is yes or no."""
        return self.tree.form == "ASK"

    @cached_property
    def query(self) -> Query:
        """The query with its variables named, as a person reads it."""
        return named(self.tree, names_of(self.hints))

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns that answer the question; none if it is yes or no."""
        if self.asks:
            return ()
        pairs = zip(self.tree.columns, self.query.columns, strict=True)
        names = {alias: called.value for (alias, _), (called, _) in pairs}
        return tuple(names[alias_of(one)] for one in self.shown)


@dataclass(slots=True, eq=False)
class Spot:
    """A predicate in its place in a draft, after the steps of `path` if it lies afar.

    Never changed, but not frozen, as `Node`.
    `doubt` is what speaks against its standing there, `slot` are the words that name it.
    """

    place: Place
    predicate: int
    inverse: bool
    link: Link
    path: tuple[Edge, ...] = ()
    doubt: float = 0.0
    slot: Slot | None = None


class QueryBuilder:
    """One candidate in the making.

    `projected` are (token, variable) pairs of what is shown; `afar` allows predicates of things
    that lie a step or two from the pattern, `missed` says that one was passed over. `narrowed` are
    the nodes at a place that have what was hung on it; `standing` keeps what was worked out of it;
    `made` are the conditions of each operator.
    """

    def __init__(
        self, lookups: Lookups, state: PartialMatch, slots: list[Slot], *, afar: bool = True
    ) -> None:
        self.lookups, self.state, self.slots, self.afar = lookups, state, slots, afar
        self.grower, self.frame, self.zones = lookups.grower, lookups.frame, lookups.zones
        self.graph, self.schema, self.linked = lookups.graph, lookups.schema, lookups.linked
        self.reading, self.weights = lookups.reading, lookups.weights
        self.draft = Draft(lookups.schema)
        self.root = self.draft.grow(state.node)
        self.used, self.gain, self.unknown = state.used, state.gain, state.unknown
        self.missed = self.grouped = False
        self.done: set[Slot] = set()
        self.links: list[Link] = []
        self.projected: list[tuple[int, Variable]] = []
        self.shown_words = 0
        self.notes: list[str] = []
        self.made: dict[Operator, tuple[Filter, ...]] = {}
        self.narrowed: dict[Place, Ids] = {}
        self.standing: dict[Place, Ids] = {}

    def take(self, mask: int, gain: float) -> None:
        """Count words as used."""
        if mask & ~self.used:
            self.used |= mask
            self.gain += gain

    def is_left(self, slot: Slot) -> bool:
        """Whether no operator has taken a slot."""
        return slot not in self.done

    def take_quantity(self, quantity: Quantity) -> None:
        """Count a quantity's words as used."""
        self.take_tokens(quantity.positions)

    def take_tokens(self, positions: Iterable[int]) -> None:
        """Count tokens as used."""
        mask = sum(1 << at for at in positions)
        self.take(mask, self.grower.weight_of(mask))

    def spot(
        self,
        slot: Slot | None,
        *,
        sorts: Sequence[Sort] = (),
        prefer: bool = False,
        owner: Place | None = None,
    ) -> Spot | None:
        """Find where a slot's predicate hangs: at the root, in the pattern, or a step or two away.

        With `prefer`, predicates of the sort that the question asks for go first, and those of the
        `owner`, of which they are said. None for no slot.
        """
        if slot is None:
            return None
        links = list(self.lookups.named_by(slot, sorts))
        options = [
            (cost - (_COST_OTHER if place is owner else 0.0), order, found)
            for place in (self.draft.places if links else ())
            if self.lookups.is_resource(place.node.ids)
            for cost, order, found in self._at(place, links, slot, bool(sorts), prefer)
        ]
        if not options and not self.afar:
            self.missed = True
        elif not options:
            options = list(self._afar(slot, sorts))
        return min(options, key=lambda option: option[:2])[2] if options else None

    def ids_at(self, place: Place) -> Ids:
        """The nodes that a place stands for within the whole pattern and what was hung on it."""
        if place not in self.standing:
            ids = place.node.ids
            if place.parent is not None and place.edge is not None:
                reached = self.lookups.along(self.ids_at(place.parent), place.edge)
                ids = in_both(reached, ids)
            if place in self.narrowed:
                ids = in_both(ids, self.narrowed[place])
            self.standing[place] = ids
        return self.standing[place]

    def _narrow(self, place: Place, predicate: int, inverse: bool) -> None:
        """Keep the nodes at a place that have a predicate."""
        ids = self.ids_at(place)
        self.keep(place, leaving(self.schema, ids, predicate, inverse=inverse))

    def keep_where(self, spot: Spot, sign: str, bound: float) -> None:
        """Keep the nodes whose value compares to a bound as the sign says, if there are any."""
        if spot.path:
            return
        ids = self.ids_at(spot.place)
        bearers, objects = self.graph.pairs(ids, spot.predicate)
        literal = objects < self.graph.terms.first_iri
        values = self.graph.values[objects[literal]]
        kept = np.unique(bearers[literal][_COMPARES[sign](values, bound)])
        if len(kept):
            self.keep(spot.place, kept)

    def keep(self, place: Place, bearers: Ids) -> None:
        """Narrow a place, and those above it to what leads there."""
        if len(bearers) == len(self.ids_at(place)):
            return
        while True:
            self.standing.clear()
            self.narrowed[place] = bearers
            if place.parent is None or place.edge is None:
                return
            above = self.ids_at(place.parent)
            leading = self.lookups.along(bearers, place.edge, back=True)
            bearers = in_both(above, leading)
            place = place.parent

    def _at(
        self,
        place: Place,
        links: Sequence[tuple[int, Link, int]],
        slot: Slot,
        valued: bool,
        prefer: bool,
    ) -> Iterator[tuple[float, int, Spot]]:
        """The predicates of some links at one place, forwards, and backwards if they may be."""
        ids = self.ids_at(place)
        for inverse in (False,) if valued or place.below else (False, True):
            present = self.lookups.present(ids, inverse=inverse)
            there = [one for one in links if one[2] in present]
            if not there:
                continue
            taken = {edge.predicate for edge, _ in place.node.edges if edge.inverse == inverse}
            for order, link, number in there:
                if number in taken:
                    continue
                if inverse and self._leads_back(ids, number):
                    continue
                turned = inverse != self.schema.names_subject(number)
                cost = COST_BELOW * place.below + (_COST_TURNED if turned else 0.0)
                cost += COST_SORT if self.lookups.is_key(number, link) else 0.0
                doubt = DOUBT_MISTAKEN if turned and not self.grower.fits_noun(link, ids) else 0.0
                cost += (
                    _COST_DOUBT * doubt
                    - COST_FIT * link.score * link.quality
                    - self.lookups.wanted(number, prefer)
                )
                yield cost, order, Spot(place, number, inverse, link, doubt=doubt, slot=slot)

    def _leads_back(self, ids: Ids, number: int) -> bool:
        """Whether a predicate backwards is the same as forwards, or leads to mere relations."""
        if is_mirrored(self.schema, number) and self.lookups.applies(ids, number, False):
            return True
        if self.schema.names_subject(number):
            return False
        return self.schema.is_nary(self.graph.step(ids[:_NARY], number, inverse=True))

    def _afar(self, slot: Slot, sorts: Sequence[Sort]) -> Iterator[tuple[float, int, Spot]]:
        """A predicate of things one or two unnamed steps from the root."""
        for cost, order, path, number, link in self.lookups.far(
            self.ids_at(self.root), slot, sorts
        ):
            yield cost, order, Spot(self.root, number, False, link, path, slot=slot)

    def hang(self, spot: Spot) -> Variable:
        """Attach a spot's predicate (and the steps to it) to the draft; returns its variable."""
        place = spot.place
        self.unknown += spot.doubt
        for edge in spot.path:
            variable = self.draft.attach(place, edge.predicate, inverse=edge.inverse)
            known = [p for p in self.draft.places if p.end == variable]
            self._narrow(place, edge.predicate, edge.inverse)
            ids = self.lookups.along(self.ids_at(place), edge)
            place = (
                known[0]
                if known
                else Place(variable, Node(ids), place.below + 1, parent=place, edge=edge)
            )
            if not known:
                self.draft.places.append(place)
                self.unknown += DOUBT_STEP
        self._narrow(place, spot.predicate, spot.inverse)
        return self.draft.attach(place, spot.predicate, inverse=spot.inverse)

    def take_spot(self, spot: Spot) -> Variable:
        """Hang a spot on the draft and count its words as used; return its variable."""
        variable = self.hang(spot)
        self.use_spot(spot)
        return variable

    def use_spot(self, spot: Spot) -> None:
        """Count the words that name a spot as used, if any do."""
        if spot.slot is not None:
            self.use(spot.slot, spot.link)

    def use(self, slot: Slot, link: Link) -> None:
        """Count a slot as used."""
        number = self.schema.number(link.target)
        if number is not None and self.lookups.is_key(number, link):
            self.unknown += DOUBT_KEY
        elif self.grower.is_class_like(link):
            self.unknown += DOUBT_CLASS_LIKE
        self.done.add(slot)
        self.links.append(link)
        self.take(slot.mask, self.grower.gain(link, self.used))

    def take_link(self, link: Link) -> None:
        """Count a link's words as used: they name nothing else to show."""
        self.links.append(link)
        self.take(link.mask, self.grower.gain(link, self.used))
        self.done |= {slot for slot in self.slots if not slot.mask & ~link.mask}

    def next_slot(self, after: int, within: int = BESIDE) -> Slot | None:
        """The first slot not yet used that starts within some words after a place."""
        fits = [s for s in self.slots if self.is_left(s) and 0 < s.first - after <= within]
        return min(fits, key=lambda slot: slot.first) if fits else None

    def last_slot(self, before: int, within: int = NEAR) -> Slot | None:
        """The last slot not yet used that ends within some words before a place."""
        fits = [s for s in self.slots if self.is_left(s) and 0 < before - s.last <= within]
        return max(fits, key=lambda slot: slot.last) if fits else None

    def next_place(self, after: int, within: int = NEAR) -> Place | None:
        """The place of the pattern whose words start soonest after a token."""
        best: tuple[int, int, Place] | None = None
        for place in self.draft.places:
            for first in (*place.words, *self.said_again(place)):
                near = 0 < first - after <= within
                if near and (best is None or (first, place.below) < best[:2]):
                    best = first, place.below, place
        return self._headed(best[2]) if best is not None else None

    def _headed(self, place: Place) -> Place:
        """The place that the noun right behind a place's noun names: "pet" before "owners"."""
        link = place.node.cls_link
        last = self.reading.tokens[link.positions[-1]] if link is not None else None
        if link is None or last is None or last.stem != last.folded:
            return place  # "instructors teach"
        behind = link.positions[-1] + 1
        heads = (one for one in self.draft.places if one.node.cls_link is not None)
        return next((one for one in heads if one.words[0] == behind), place)

    def said_again(self, place: Place) -> Iterator[int]:
        """Yield the tokens that name a place's class once more: "moons of … the most moons"."""
        link = place.node.cls_link if place is not self.root else None
        for at in range(
            link.positions[-1] + 1 if link else len(self.reading.tokens), len(self.reading.tokens)
        ):
            if (
                link
                and self.reading.tokens[at].stem == self.reading.tokens[link.positions[-1]].stem
            ):
                yield at

    def group_by(self, place: Place) -> None:
        """Make one row for each thing at a place."""
        if isinstance(place.end, Variable):
            self.draft.group.append(place.end)
            self.grouped = True
            if place is not self.root:
                at = min(place.words, default=0)
                self.projected.append((at, self.named(place)))

    def group_by_value(self, shown: Variable, token: int, *, asked: bool = True) -> None:
        """Make one row for each value that is shown for a word; unless `asked`, only for that."""
        self.draft.group.append(shown)
        self.grouped = True
        self.projected.append((token, shown))
        self.shown_words |= asked << token

    def shown(self, variable: Variable, spot: Spot) -> Variable:
        """The variable to show for a predicate's object: its name if the graph has its own."""
        ids = self.graph.step(spot.place.node.ids[:_SHOWN], spot.predicate, inverse=spot.inverse)
        if not self.lookups.is_resource(ids):
            return variable
        if not spot.inverse and self.schema.is_key_of(ids, spot.predicate):
            return self.draft.attach(Place(variable, Node(ids), 1), spot.predicate)
        name = self.schema.name_predicate(ids)
        if name is None and not spot.inverse:
            name = self.schema.stated(ids, spot.predicate)
        if name is None:
            return variable
        return self.draft.attach(Place(variable, Node(ids), 1), name)

    def predicates_at(self, place: Place) -> list[int]:
        """The predicates of the first nodes at a place."""
        return sorted(self.grower.present(place.node.ids[:_FIRST]))

    def by_words(
        self,
        words: Sequence[str],
        sorts: Sequence[Sort],
        *,
        named: bool = False,
        several: bool = False,
        first: Place | None = None,
        lives: bool = True,
    ) -> Spot | None:
        """A predicate of the root (or of another place) whose name holds one of the words.

        The place `first` is looked at before the root. With `named`, things without a name do not
        count, with `several` no single thing does. Without `lives` births and deaths do not, nor
        what dates of persons, bodies and places beside the root tell: the first member of a club
        need not be the oldest, nor that of the oldest club.
        """
        life = {one for *ends, life in self.schema.spans if life and not lives for one in ends}
        for place in sorted(self.draft.places, key=lambda one: one is not first):
            if several and not isinstance(place.end, Variable):
                continue
            if named and self.schema.is_nameless(place.node.ids):
                continue
            if not (lives or place is self.root) and _STANDING & kinds_of_nodes(
                self.schema, place.node.ids
            ):
                continue
            ends = {end for _, end, _ in self.schema.spans}  # "the latest" began last
            present = sorted(self.predicates_at(place), key=ends.__contains__)
            for word in words:
                for number in present:
                    fits = self.schema.sort(number) in sorts and number not in life
                    if fits and word in self.schema.words(number):
                        return unnamed_spot(place, number)
        return None

    def only(self, sorts: Sequence[Sort]) -> Spot | None:
        """The only predicate of its sort: of an event in the pattern, at the root or elsewhere.

        Of a start and an end it is the end if a word says that something ended, or "until when".
        """
        times, asked = self.reading.words.times, self.frame.asked_at
        endings = {phrase[0] for phrase in times["ending"]}
        until = {phrase[0] for phrase in times["until"]}
        begins = shared_words().names["begins"] | shared_words().names["dates"]
        ended = not endings.isdisjoint(self.reading.folded) or (
            asked is not None and self.reading.folded[asked[1]] in until
        )
        for place in sorted(self.draft.places, key=lambda one: not self.is_event(one)):
            if not self.lookups.is_resource(place.node.ids):
                continue
            fits = [n for n in self.predicates_at(place) if self.schema.sort(n) in sorts]
            spans = [(start, end) for start, end, _ in self.schema.spans if start in fits]
            own = {end if ended else start for start, end in spans}
            fits = [n for n in fits if n in own or not any(n in span for span in spans)]
            if fits:
                named = [n for n in fits if begins & self.schema.words(n)]
                self.unknown += DOUBT_OTHER_FITS * (len(fits) - 1)
                return unnamed_spot(place, [*(n for n in fits if n in own), *named, *fits][0])
        return None

    def is_event(self, place: Place) -> bool:
        """Whether what stands at a place only relates others."""
        is_resource = self.lookups.is_resource(place.node.ids)
        return is_resource and (self.is_statement(place) or self.schema.is_nary(place.node.ids))

    def is_statement(self, place: Place) -> bool:
        """Whether what stands at a place is a statement: what it says is asked for, not itself."""
        return self.schema.is_statement(place.node.ids)

    def named(self, place: Place) -> Variable:
        """The variable to show for a thing: its name if the graph has its own."""
        ids = place.node.ids
        leading = [edge for edge, _ in place.node.edges if edge.inverse]
        leading += [place.edge] if place.edge and not place.edge.inverse else []
        name = next((one.predicate for one in leading if self._is_said_key(one, ids)), None)
        if name is None:
            name = self.schema.name_predicate(ids)
        if name is None:
            values = (self.schema.stated(ids, one.predicate) for one in leading)
            name = next((number for number in values if number is not None), None)
        if name is None and isinstance(place.end, Variable):
            return place.end
        return self.draft.attach(place, name or 0)

    def _is_said_key(self, edge: Edge, ids: Ids) -> bool:
        """Whether words name the key of the things that an edge leads to: "customer id"."""
        link = edge.link
        said = link is not None and link.score * link.quality >= _KEY
        return said and self.schema.is_key_of(ids, edge.predicate)


Handlers = Mapping[str, Callable[[QueryBuilder, Operator], bool]]
"""What serves each operator by its name: it says whether the operator found what it is about."""


def unnamed_spot(place: Place, predicate: int) -> Spot:
    """Return a predicate at a place that no word of the question names."""
    return Spot(place, predicate, False, _UNNAMED)
