"""A query under construction: the pattern of a state, and what is hung on its variables.

A draft is sound if it neither contradicts itself nor says a thing twice: a pattern beside its own
denial has no result; a denial that nothing could break, and a pattern that repeats another under a
second variable, add nothing.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from datetime import date, timedelta

from pyoxigraph import Literal, Variable

from askgraph.graph.literals import Sort, day_number, split_literal
from askgraph.search import (
    TEXT,
    Value,
    condition,
    denied,
    denied_in,
    pattern,
    patterns_in,
    predicate_of,
    query_of,
    term_of,
    variable,
)
from askgraph.search.grow import Edge, Node
from askgraph.search.grow.kinds import is_mirrored
from askgraph.search.grow.schema import Schema
from askgraph.search.linking.link import Link
from askgraph.search.linking.quantities import Quantity
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
        place = Place(end, node, below, self._words(node, edge), parent, edge)
        self.places.append(place)
        if node.cls is not None:
            self.patterns.append(self.typed(end, node.cls))
        for step, child in node.edges:
            self._step(place, step, child)
        if node.either:
            self.either.append(Union(tuple(self._group(end, one) for one in node.either)))
        for one in node.without:
            self._deny(end, one if one.cls != node.cls else replace(one, cls=None))
        return place

    def _words(self, node: Node, edge: Edge | None) -> tuple[int, ...]:
        """The first tokens of a node's names."""
        return tuple(link.positions[0] for link in self.naming(node, edge))

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
            self._restrict(place.end, child)
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

    def _restrict(self, restricted: Variable, node: Node) -> None:
        if node.quantity is not None:
            self.filters += self.equal(restricted, node, node.quantity)
        elif node.terms and not node.edges:
            self.filters.append(self._among(restricted, node))

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

    def _deny(self, end: Term, node: Node) -> None:
        group = self._group(end, node)
        if group.elements:
            self.denied.append(denied(*group.elements))

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
