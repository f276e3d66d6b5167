"""A query under construction: the pattern of a match, and what is hung on its variables.

A draft is sound if it neither contradicts itself nor says a thing twice: a pattern beside its own
denial has no result; a denial that nothing could break, and a pattern that repeats another under a
second variable, add nothing.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from functools import cached_property

import numpy as np
from pyoxigraph import Literal, Variable

from askgraph.graph.arrays import Ids, in_both
from askgraph.graph.literals import Sort, day_number, split_literal
from askgraph.index.names import Kind
from askgraph.search.expand import BESIDE, NEAR, Doubt, Edge, Node, PartialMatch
from askgraph.search.expand.beam_search import BeamSearch
from askgraph.search.expand.schema import Schema, is_mirrored, kinds_of_nodes, leaving, spread
from askgraph.search.link import Link
from askgraph.search.query_pieces import (
    TEXT,
    Value,
    alias_of,
    condition,
    denied,
    denied_in,
    named,
    names_of,
    pattern,
    patterns_in,
    predicate_of,
    query_of,
    term_of,
    variable,
)
from askgraph.search.tokenize import Quantity
from askgraph.search.tokenize.question_operators import Operator, QuestionOperators, Zones
from askgraph.search.tokenize.word_lists import shared_words
from askgraph.sparql import (
    Bind,
    Call,
    Element,
    Expression,
    Filter,
    Group,
    Nested,
    Path,
    Pattern,
    Query,
    Term,
    Union,
    Values,
    variables_of,
)
from askgraph.sparql import vocabulary as v
from askgraph.sparql.vocabulary import (
    XSD_DATE_TIME,
    XSD_DATE_TIME_STAMP,
    XSD_G_YEAR,
    XSD_G_YEAR_MONTH,
    XSD_STRING,
)

FIRST_DAY = day_number(1)
"""The first day of year 1, the earliest that the calendar of this module knows."""
_LAST_DAY = day_number(9999, 12, 31)


@dataclass(slots=True, eq=False)
class Place:
    """An end of a draft's patterns and the node that it stands for, `below` steps from the root.

    Never changed, but not frozen, as `Node`. `words` are the first tokens of the names that the
    question has for it; `edge` leads to it from its `parent`.
    """

    end: Term
    node: Node
    below: int = 0
    words: tuple[int, ...] = ()
    parent: "Place | None" = None
    edge: Edge | None = None


@dataclass
class Draft:
    """The elements and modifiers of a query, which grow; `query()` freezes them.

    `hints` are words to name each variable from; those of the `columns` in `context` do not answer.
    """

    schema: Schema
    patterns: list[Pattern] = field(default_factory=list)
    filters: list[Filter] = field(default_factory=list)
    averages: list[Query] = field(default_factory=list)
    denied: list[Filter] = field(default_factory=list)
    optional: list[Group] = field(default_factory=list)
    given: list[Values] = field(default_factory=list)
    either: list[Union] = field(default_factory=list)
    computed: list[Bind] = field(default_factory=list)
    columns: list[Value] = field(default_factory=list)
    context: list[Variable] = field(default_factory=list)
    group: list[Variable] = field(default_factory=list)
    having: list[Call] = field(default_factory=list)
    order: list[tuple[Expression, bool]] = field(default_factory=list)
    limit: int | None = None
    offset: int = 0
    ask: bool = False
    hints: dict[Variable, str] = field(default_factory=dict)
    places: list[Place] = field(default_factory=list)
    attached: dict[tuple[Term, int, bool], Variable] = field(default_factory=dict)

    def variable(self, hint: str) -> Variable:
        """Return a new variable; it will be named after the hint."""
        new = variable(len(self.hints))
        self.hints[new] = hint
        return new

    def grow(self, root: Node) -> Place:
        """Lay down a state's whole pattern; the root is place 0."""
        place = self._lay(root, 0, None, None)
        if isinstance(place.end, Variable) and root.quantity is None and len(root.terms) > 1:
            self.filters.append(self._among(place.end, root))
        return place

    def _lay(self, node: Node, below: int, edge: Edge | None, parent: Place | None) -> Place:
        end = self.constant(node) or self.variable(self._hint(node, edge))
        place = Place(
            end,
            node,
            below,
            tuple(link.positions[0] for link in self.naming(node, edge)),
            parent,
            edge,
        )
        self.places.append(place)
        if node.cls is not None:
            self.patterns.append(self.typed(end, node.cls))
        for step, child in node.edges:
            self._step(place, step, child)
        if node.either:
            self.either.append(Union(tuple(self._group(end, one) for one in node.either)))
        for one in node.without:
            group = self._group(end, one if one.cls != node.cls else replace(one, cls=None))
            if group.elements:
                self.denied.append(denied(*group.elements))
        return place

    def place_at(self, end: Term | None) -> Place | None:
        """Return the place that an end of patterns is at."""
        return next((one for one in self.places if one.end == end), None)

    def naming(self, node: Node, edge: Edge | None) -> list[Link]:
        """Return what names a node to which an edge leads.

        A noun names its predicate's object, a name that ends in "of" its subject.
        """
        named = [link for link in (node.cls_link, node.link) if link is not None]
        subject = self.schema.names_subject
        if edge is not None and edge.link is not None:
            named += [edge.link] if subject(edge.predicate) == edge.inverse else []
        for step, _ in node.edges:
            if step.link is not None and subject(step.predicate) != step.inverse:
                named.append(step.link)
        return named

    def _step(self, parent: Place, edge: Edge, child: Node) -> None:
        constant = self.constant(child)
        if constant is not None and not (child.edges or child.cls or child.without):
            self.patterns.append(self._edge(parent.end, edge, constant))
            return
        at = len(self.patterns)
        place = self._lay(child, parent.below + 1, edge, parent)
        self.patterns.insert(at, self._edge(parent.end, edge, place.end))
        if isinstance(place.end, Variable):
            restricted = place.end
            if child.quantity is not None:
                self.filters += self.equal(restricted, child, child.quantity)
            elif child.terms and not child.edges:
                self.filters.append(self._among(restricted, child))
            self.attached.setdefault((parent.end, edge.predicate, edge.inverse), place.end)

    def _edge(self, start: Term, edge: Edge, end: Term) -> Pattern:
        ends = (end, start) if edge.inverse else (start, end)
        iri = self.schema.graph.iri_of(edge.predicate)
        either = is_mirrored(self.schema, edge.predicate)
        return pattern(ends[0], iri, ends[1], walked=edge.plus, either=either)

    def constant(self, node: Node) -> Term | None:
        """Return the one thing that a node is; None if it is several, or a number."""
        if len(node.terms) != 1 or node.quantity is not None:
            return None
        return self._term(node.terms[0])

    def _term(self, at: int) -> Term:
        return term_of(self.schema.graph.terms.text(int(at)))

    def equal(self, number: Variable, node: Node, quantity: Quantity) -> list[Filter]:
        """Conditions that a variable equals a number, or lies on a day or in a year."""
        text = self.schema.graph.terms.text(int(node.ids[0]))
        sort = Sort(int(self.schema.graph.sorts[node.ids[0]]))
        span = quantity.days is not None and quantity.days[0] < quantity.days[1]
        if len(node.terms) == 1 and not (span and sort is Sort.DATE):
            return [condition(number, "=", term_of(text))]
        if sort not in (Sort.DATE, Sort.YEAR) or quantity.days is None:
            return [self._among(number, node)]
        texts = (self.schema.graph.terms.text(int(one)) for one in node.ids)
        datatypes = {split_literal(text)[1] for text in texts}
        if quantity.value is not None and sort is Sort.DATE and len(datatypes) == 1:
            return [condition(number, "YEAR", term_of(str(int(quantity.value))))]
        bounds = zip((">=", "<="), quantity.days, strict=True)
        return [bounding_day(number, sign, day, datatypes) for sign, day in bounds]

    def _among(self, one: Variable, node: Node) -> Filter:
        return condition(one, "IN", *(self._term(at) for at in node.ids))

    def _group(self, end: Term, node: Node) -> Group:
        """What is said of a thing, apart from all else."""
        inner = Draft(self.schema, hints=self.hints)
        inner.patterns += [inner.typed(end, node.cls)] if node.cls else []
        for step, child in node.edges:
            inner._step(Place(end, node), step, child)
        return Group((*inner.patterns, *inner.filters))

    def attach(self, place: Place, predicate: int, *, inverse: bool = False) -> Variable:
        """Hang a predicate on a place; the same one twice is one variable."""
        key = place.end, predicate, inverse
        if key not in self.attached:
            hint = self.hint_of(self.schema.graph.iri_of(predicate))
            new = self.variable(self._subject_hint(predicate) if inverse else hint)
            self.patterns.append(self._edge(place.end, Edge(predicate, inverse), new))
            self.attached[key] = new
        return self.attached[key]

    def beside(self, end: Term, predicate: int, *, inverse: bool = False) -> Pattern:
        """Return the pattern of a predicate of something with a new variable."""
        new = self.variable(self.hint_of(self.schema.graph.iri_of(predicate)))
        return self._edge(end, Edge(predicate, inverse), new)

    def _subject_hint(self, predicate: int) -> str:
        """Return words for a predicate's subject: its class, else the predicate."""
        subjects = self.schema.graph.ends(predicate)
        classes = self.schema.classes_of(int(subjects[0])) if len(subjects) else ()
        return self.hint_of(classes[0] if classes else self.schema.graph.iri_of(predicate))

    def compute(self, hint: str, value: Expression) -> Variable:
        """Return a variable for what is computed: a new one, but for the same value again."""
        for known in self.computed:
            if known.value == value:
                return known.variable
        new = self.variable(hint)
        self.computed.append(Bind(value, new))
        return new

    def typed(self, one: Term, cls: str) -> Pattern:
        """Return the pattern that something is an instance of a class or of one below it."""
        return pattern(one, v.RDF_TYPE, term_of(f"<{cls}>"), walked=self.schema.below(cls))

    def hint_of(self, iri: str) -> str:
        """Return words to name a variable from: a label, or the local name."""
        return self.schema.hint_of(iri)

    def _hint(self, node: Node, edge: Edge | None) -> str:
        if node.cls is not None:
            return self.hint_of(node.cls)
        classes = self.schema.classes_of(int(node.ids[0])) if len(node.ids) else ()
        if edge is not None and not edge.inverse:
            return self.hint_of(self.schema.graph.iri_of(edge.predicate))
        return self.hint_of(classes[0]) if classes else "thing"

    def query(self) -> Query:
        """Freeze the draft."""
        elements: tuple[Element, ...] = (
            *dict.fromkeys(self.patterns),
            *(Nested("OPTIONAL", one) for one in dict.fromkeys(self.optional)),
            *dict.fromkeys(self.given),
            *self.either,
            *self.computed,
            *self.averages,
            *dict.fromkeys(self.filters),
            *self.denied,
        )
        return query_of(
            elements,
            None if self.ask else self.columns,
            group=self.group,
            having=self.having,
            order=() if self.ask else self.order,
            limit=None if self.ask else self.limit,
            offset=self.offset,
        )


def day_literal(day: float, datatype: str, *, end: bool = False) -> str:
    """Return a day (days from 1970-01-01) as an N-Triples literal of a date's or year's datatype.

    Of a date with a time it is the first second, or the last one with `end`. Years before 1 are
    written with their sign (ISO 8601); before 1 and after 9999 only the year is right.
    """
    if not FIRST_DAY <= day < _LAST_DAY + 1:
        year, month, of_month = year_of(day), 1, 1
    else:
        at = date(1970, 1, 1) + timedelta(days=int(day))
        year, month, of_month = at.year, at.month, at.day
    text = f"{year:05}" if year < 0 else f"{year:04}"
    if datatype == XSD_G_YEAR:
        return f'"{text}"^^<{datatype}>'
    if datatype == XSD_G_YEAR_MONTH:
        return f'"{text}-{month:02}"^^<{datatype}>'
    text = f"{text}-{month:02}-{of_month:02}"
    if datatype in (XSD_DATE_TIME, XSD_DATE_TIME_STAMP):
        return f'"{text}T{"23:59:59" if end else "00:00:00"}"^^<{XSD_DATE_TIME}>'
    return f'"{text}"^^<{datatype}>'


def day_term(day: float, datatype: str, *, end: bool = False) -> Term:
    """Return a day as a term; see `day_literal`."""
    return term_of(day_literal(day, datatype, end=end))


def bounding_day(one: Variable, sign: str, day: float, datatypes: Set[str]) -> Filter:
    """Return the bound of a day; as text if the values are text, or of several datatypes."""
    upper = sign in (">", "<=")
    if FIRST_DAY <= day < _LAST_DAY and (len(datatypes) > 1 or XSD_STRING in datatypes):
        text = str(day_term(day + upper, XSD_STRING).value)  # "1990" is before "1990-12-31"
        text = text.removesuffix("-01").removesuffix("-01")
        sign = {">": ">=", "<=": "<"}.get(sign, sign)
        return condition(one, sign, Literal(text), cast=TEXT if len(datatypes) > 1 else "")
    return condition(one, sign, day_term(day, min(datatypes), end=upper))


def year_of(day: float) -> int:
    """Return the year that a day lies in; outside of 1 to 9999 by the mean length of years."""
    if FIRST_DAY <= day < _LAST_DAY + 1:
        return (date(1970, 1, 1) + timedelta(days=int(day))).year
    return 1970 + math.floor(day / 365.2425 + 0.5)


def is_sound(draft: Draft) -> bool:
    """Whether a draft can have a result, and says nothing twice."""
    apart = {one.predicate for one in draft.patterns}
    if not draft.denied and len(apart) == len(draft.patterns):
        return True
    patterns = list(dict.fromkeys(draft.patterns))
    denied = [group for one in draft.denied for group in denied_in(Group((one,)))]
    return not (
        any(_is_said(one, patterns) or _is_idle(one, patterns, draft.schema) for one in denied)
        or _repeats(patterns, draft)
        or _doubles(patterns, draft.schema)
    )


def _is_said(denied: Group, patterns: list[Pattern]) -> bool:
    """Whether the pattern holds all that is denied, whatever its own variables stand for."""
    said = patterns_in(denied)
    if len(said) != len(denied.elements):
        return False
    outside = set(variables_of(tuple(patterns)))
    return any(True for _ in _fits(said, patterns, {one: one for one in outside}))


def _fits(
    left: list[Pattern], among: list[Pattern], known: Mapping[Term, Term]
) -> Iterator[Mapping[Term, Term]]:
    """Ways to take the first patterns for some of the others."""
    if not left:
        yield known
        return
    first, *others = left
    for one in among:
        if one.predicate == first.predicate:
            found = _bound(_bound(known, first.subject, one.subject), first.object, one.object)
            if found is not None:
                yield from _fits(others, among, found)


def _bound(
    known: Mapping[Term, Term] | None, part: Term, target: Term
) -> Mapping[Term, Term] | None:
    if known is None:
        return None
    if not isinstance(part, Variable):
        return known if part == target else None
    if part in known:
        return known if known[part] == target else None
    return {**known, part: target}


def _is_idle(denied: Group, patterns: list[Pattern], schema: Schema) -> bool:
    """Whether a thing is denied a value of a predicate of which it has its only other one."""
    said = patterns_in(denied)
    if len(said) != 1 or len(denied.elements) != 1 or isinstance(said[0].object, Variable):
        return False
    number = schema.number(predicate_of(said[0]))
    return any(
        (one.subject, one.predicate) == (said[0].subject, said[0].predicate)
        and not isinstance(one.object, Variable)
        and one.object != said[0].object
        and number is not None
        and schema.is_functional(number)
        for one in patterns
    )


def _repeats(patterns: list[Pattern], draft: Draft) -> bool:
    """Whether a variable that nothing else is about could be another one all along."""
    by_end: dict[object, list[Pattern]] = {}
    for one in patterns:
        by_end.setdefault((one.subject, one.predicate), []).append(one)
        by_end.setdefault((one.predicate, one.object, None), []).append(one)
    pairs = [listed for listed in by_end.values() if len(listed) > 1]
    if not pairs:
        return False
    needed = set(_needed(draft))
    every = set(patterns)
    return any(
        _folds(mine, theirs, patterns, every)
        for listed in pairs
        for mine, theirs in _ends(listed)
        if isinstance(mine, Variable) and mine not in needed
    )


def _doubles(patterns: list[Pattern], schema: Schema) -> bool:
    """Whether two ends stand for the only value that a predicate has of a thing."""
    ends: dict[tuple[Term, object], Term] = {}
    for one in patterns:
        if isinstance(one.predicate, Path):
            continue
        other = ends.setdefault((one.subject, one.predicate), one.object)
        if other != one.object:
            number = schema.number(predicate_of(one))
            if number is not None and schema.is_functional(number):
                return True
    return False


def _ends(listed: Iterable[Pattern]) -> Iterator[tuple[Term, Term]]:
    """The other ends of patterns that share a predicate and one end, in pairs."""
    listed = list(listed)
    for one in listed:
        for other in listed:
            if one.subject == other.subject and one.object != other.object:
                yield one.object, other.object
            elif one.object == other.object and one.subject != other.subject:
                yield one.subject, other.subject


def _folds(mine: Term, theirs: Term, patterns: list[Pattern], every: set[Pattern]) -> bool:
    """Whether all that is said of a variable is said of another end, too."""
    about = [one for one in patterns if mine in (one.subject, one.object)]
    return all(
        Pattern(
            theirs if one.subject == mine else one.subject,
            one.predicate,
            theirs if one.object == mine else one.object,
        )
        in every
        for one in about
    )


def _needed(draft: Draft) -> Iterator[Variable]:
    """The variables that anything but the pattern is about."""
    rest: tuple[object, ...] = (
        *draft.filters, *draft.denied, *draft.averages, *draft.optional, *draft.given,
        *draft.either, *draft.computed, *draft.columns, *draft.context, *draft.group, *draft.having,
        *(key for key, _ in draft.order),
    )  # fmt: skip
    for one in rest:
        yield from variables_of(one.condition if isinstance(one, Filter) else one)


NUMERIC = (Sort.NUMBER, Sort.TEXT_NUMBER)
DATED = (Sort.DATE, Sort.YEAR, Sort.TEXT_DATE)

COST_FIT = 0.9
"""What a fitting name is worth to a place, less than 1: the near place wins over a better name."""
COST_BELOW = 0.25  # each step from the root; a guessed one costs twice that
COST_SORT = 0.5  # a foreign key; gained by a predicate of the sort that is asked for

_STARTS = 400  # from so many nodes, spread over all, a path has to lead on
_NAMED, _NAMED_AFAR = 16, 8  # so many of a slot's links are tried near by, and afar

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

    def __init__(self, search: BeamSearch, frame: QuestionOperators) -> None:
        self.search, self.frame = search, frame
        self.graph, self.schema, self.linked = search.graph, search.schema, search.linked
        self.reading, self.weights = search.linked.reading, search.linked.weights
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
            content = links[0].mask & self.search.content
            loud = all(self.frame.is_loud(at) for at in positions if self.weights[at])
            if not content or content & taken or (loud and not fits[positions]):
                continue
            taken |= content
            yield Slot(positions[0], positions[-1], links)

    def _free(self, used: int) -> dict[tuple[int, ...], tuple[tuple[Link, ...], float]]:
        """The predicate links that some words leave, best first, by position, and their worth."""
        if used not in self._left:
            found: dict[tuple[int, ...], list[Link]] = {}
            for number, links in self.search.left_links(used).items():
                for one in links if number not in self.schema.claims else ():
                    found.setdefault(one.positions, []).append(one)
            self._left[used] = {
                positions: (ordered, self.search.weight_of(ordered[0].mask) * _fit(ordered[0]))
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
        return self.search.present(spread(ids), inverse=inverse)

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
        return self.search.reached(ids, edge.predicate, inverse=inverse, plus=edge.plus)

    def is_key(self, number: int, link: Link) -> bool:
        """Whether a predicate holds the number of a thing that the words name: a foreign key."""
        return self.schema.sort(number) is Sort.NUMBER and self.search.is_class_like(link)

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


_COST_TURNED = 0.35  # a predicate that is read backwards, other than its name says
_COST_OTHER = 0.5  # a predicate of another thing than the one whose property the words say it is
_COST_DOUBT = 0.3  # what a doubt about a noun costs a place, less than it costs the whole query

_FIRST, _SHOWN, _NARY = 300, 200, 50
"""So many nodes stand for all: for the predicates of a place, for names, for kinds of nodes."""
_STANDING = frozenset(("persons", "bodies", "places"))
"""Kinds of things whose dates are not of what happens with them."""
_KEY = 0.9  # words that fit a predicate so well name it, and not only the class of what it leads to
_COMPARES = {
    ">": np.greater,
    "<": np.less,
    ">=": np.greater_equal,
    "<=": np.less_equal,
    "=": np.equal,
    "!=": np.not_equal,
}

PAIRED = "paired"  # the note that two things are compared or reckoned with
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
        self.search, self.frame, self.zones = lookups.search, lookups.frame, lookups.zones
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
        self.take(mask, self.search.weight_of(mask))

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
                doubt = Doubt.MISTAKEN if turned and not self.search.fits_noun(link, ids) else 0.0
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
            known = self.draft.place_at(variable)
            self._narrow(place, edge.predicate, edge.inverse)
            ids = self.lookups.along(self.ids_at(place), edge)
            place = known or Place(variable, Node(ids), place.below + 1, parent=place, edge=edge)
            if known is None:
                self.draft.places.append(place)
                self.unknown += Doubt.STEP
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
            self.unknown += Doubt.KEY
        elif self.search.is_class_like(link):
            self.unknown += Doubt.CLASS_LIKE
        self.done.add(slot)
        self.links.append(link)
        self.take(slot.mask, self.search.gain(link, self.used))

    def take_link(self, link: Link) -> None:
        """Count a link's words as used: they name nothing else to show."""
        self.links.append(link)
        self.take(link.mask, self.search.gain(link, self.used))
        self.done |= {slot for slot in self.slots if not slot.mask & ~link.mask}

    def next_slot(self, after: int, within: int = BESIDE) -> Slot | None:
        """The first slot not yet used that starts within some words after a place."""
        fits = [s for s in self.slots if self.is_left(s) and 0 < s.first - after <= within]
        return min(fits, key=lambda slot: slot.first) if fits else None

    def last_slot(self, before: int, within: int = NEAR) -> Slot | None:
        """The last slot not yet used that ends within some words before a place."""
        fits = [s for s in self.slots if self.is_left(s) and 0 < before - s.last <= within]
        return max(fits, key=lambda slot: slot.last) if fits else None

    def named_before(self, operator: Operator) -> list[Place]:
        """The places of the pattern that words before an operator name."""
        places = self.draft.places
        return [one for one in places if any(at < operator.first for at in one.words)]

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
        return sorted(self.search.present(place.node.ids[:_FIRST]))

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
                self.unknown += Doubt.OTHER_FITS * (len(fits) - 1)
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


def unnamed_spot(place: Place, predicate: int) -> Spot:
    """Return a predicate at a place that no word of the question names."""
    return Spot(place, predicate, False, _UNNAMED)
