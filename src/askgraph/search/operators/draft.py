"""A form under construction: the pattern of a state, and what is hung on its variables."""

import math
from dataclasses import dataclass, field
from datetime import date, timedelta

from askgraph.rdf import vocabulary as v
from askgraph.rdf.vocabulary import XSD_DATE_TIME, XSD_DATE_TIME_STAMP, XSD_G_YEAR, XSD_G_YEAR_MONTH
from askgraph.search.form import Column, Computed, Filter, Form, Given, Having, Key, Pattern
from askgraph.search.grow.partial_match import Edge, Node
from askgraph.search.grow.schema import Schema
from askgraph.search.linking.quantities import Quantity
from askgraph.traversal.literals import Sort, day_number, split_literal


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """An end of a draft's patterns and the node that it stands for, `below` steps from the root.

    `words` are the first tokens of the names that the question has for it; `edge` leads to it from
    its `parent`.
    """

    variable: int | str
    node: Node
    below: int = 0
    words: tuple[int, ...] = ()
    parent: "Place | None" = None
    edge: Edge | None = None


@dataclass
class Draft:
    """Patterns and modifiers that grow; `form()` freezes them."""

    schema: Schema
    patterns: list[Pattern] = field(default_factory=list)
    filters: list[Filter] = field(default_factory=list)
    without: list[tuple[tuple[Pattern, ...], tuple[Filter, ...]]] = field(default_factory=list)
    optional: list[Pattern] = field(default_factory=list)
    given: list[Given] = field(default_factory=list)
    computed: list[Computed] = field(default_factory=list)
    columns: list[Column] = field(default_factory=list)
    group: list[int] = field(default_factory=list)
    having: list[Having] = field(default_factory=list)
    order: list[Key] = field(default_factory=list)
    limit: int | None = None
    offset: int = 0
    ask: bool = False
    hints: dict[int, str] = field(default_factory=dict)
    places: list[Place] = field(default_factory=list)
    attached: dict[tuple[int | str, int, bool], int] = field(default_factory=dict)

    def variable(self, hint: str) -> int:
        """Return a new variable; it will be named after the hint."""
        number = len(self.hints)
        self.hints[number] = hint
        return number

    def grow(self, root: Node) -> Place:
        """Lay down a state's whole pattern; the root is place 0."""
        return self._lay(root, 0, None, None)

    def _lay(self, node: Node, below: int, edge: Edge | None, parent: Place | None) -> Place:
        constant = self._constant(node)
        variable = constant or self.variable(self._hint(node, edge))
        place = Place(variable, node, below, self._words(node, edge), parent, edge)
        self.places.append(place)
        if node.cls is not None:
            self.patterns.append(self.typed(variable, node.cls))
        for step, child in node.edges:
            self._step(place, step, child)
        for denied in node.without:
            self._deny(variable, denied)
        return place

    def _words(self, node: Node, edge: Edge | None) -> tuple[int, ...]:
        """The first tokens of a node's names.

        A noun names its predicate's object, a name that ends in "of" its subject.
        """
        named = [link for link in (node.cls_link, node.link) if link is not None]
        subject = self.schema.names_subject
        if edge is not None and edge.link is not None:
            named += [edge.link] if subject(edge.predicate) == edge.inverse else []
        for step, _ in node.edges:
            if step.link is not None and subject(step.predicate) != step.inverse:
                named.append(step.link)
        return tuple(link.positions[0] for link in named)

    def _step(self, parent: Place, edge: Edge, child: Node) -> None:
        variable = parent.variable
        predicate = self.schema.graph.iri_of(edge.predicate)
        constant = self._constant(child)
        if constant is not None and not (child.edges or child.cls or child.without):
            self._put(variable, predicate, constant, edge)
            return
        at = len(self.patterns)
        place = self._lay(child, parent.below + 1, edge, parent)
        pattern = _pattern(variable, predicate, place.variable, edge)
        self.patterns.insert(at, pattern)
        if isinstance(place.variable, int):
            self._restrict(place.variable, child)
            self.attached.setdefault((variable, edge.predicate, edge.inverse), place.variable)

    def _put(self, variable: int | str, predicate: str, constant: str, edge: Edge) -> None:
        self.patterns.append(_pattern(variable, predicate, constant, edge))

    def _constant(self, node: Node) -> str | None:
        if len(node.terms) != 1 or node.quantity is not None:
            return None
        return self.schema.graph.terms.text(node.terms[0])

    def _restrict(self, variable: int, node: Node) -> None:
        if node.quantity is not None:
            self.filters += self.equal(variable, node, node.quantity)
        elif node.terms and not node.edges:
            self.filters.append(self._among(variable, node))

    def equal(self, variable: int, node: Node, quantity: Quantity) -> list[Filter]:
        """Conditions that a variable equals a number, or lies on a day or in a year."""
        text = self.schema.graph.terms.text(int(node.ids[0]))
        sort = Sort(int(self.schema.graph.sorts[node.ids[0]]))
        span = quantity.days is not None and quantity.days[0] < quantity.days[1]
        if len(node.terms) == 1 and not (span and sort is Sort.DATE):
            return [Filter(variable, "=", (text,))]
        if sort not in (Sort.DATE, Sort.YEAR) or quantity.days is None:
            return [self._among(variable, node)]
        if quantity.value is not None and sort is Sort.DATE:
            return [Filter(variable, "YEAR", (str(int(quantity.value)),))]
        datatype = split_literal(text)[1]
        first, last = quantity.days
        return [
            Filter(variable, ">=", (day_literal(first, datatype),)),
            Filter(variable, "<=", (day_literal(last, datatype, end=True),)),
        ]

    def _among(self, variable: int, node: Node) -> Filter:
        return Filter(
            variable, "IN", tuple(self.schema.graph.terms.text(int(at)) for at in node.ids)
        )

    def _deny(self, variable: int | str, denied: Node) -> None:
        inner = Draft(self.schema, hints=self.hints)
        inner.patterns += [inner.typed(variable, denied.cls)] if denied.cls else []
        for step, child in denied.edges:
            inner._step(Place(variable, denied), step, child)
        self.without.append((tuple(inner.patterns), tuple(inner.filters)))

    def attach(self, place: Place, predicate: int, *, inverse: bool = False) -> int:
        """Hang a predicate on a place; the same one twice is one variable."""
        key = place.variable, predicate, inverse
        if key not in self.attached:
            iri = self.schema.graph.iri_of(predicate)
            variable = self.variable(
                self._subject_hint(predicate) if inverse else self.hint_of(iri)
            )
            self.patterns.append(_pattern(place.variable, iri, variable, Edge(predicate, inverse)))
            self.attached[key] = variable
        return self.attached[key]

    def _subject_hint(self, predicate: int) -> str:
        """Return words for a predicate's subject: its class, else the predicate."""
        subjects = self.schema.graph.ends(predicate)
        classes = self.schema.classes_of(int(subjects[0])) if len(subjects) else ()
        return self.hint_of(classes[0] if classes else self.schema.graph.iri_of(predicate))

    def compute(self, hint: str, operation: str, *operands: int | str) -> int:
        """Return a new variable for what is computed."""
        known = {(one.operation, one.operands): one.variable for one in self.computed}
        if (operation, operands) not in known:
            variable = self.variable(hint)
            self.computed.append(Computed(variable, operation, operands))
            return variable
        return known[operation, operands]

    def typed(self, variable: int | str, cls: str) -> Pattern:
        """Return the pattern that a variable is an instance of a class or of one below it."""
        deep = self.schema.below(cls)
        return Pattern(variable, v.RDF_TYPE, f"<{cls}>", plus=deep)

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

    def form(self) -> Form:
        """Freeze the draft."""
        return Form(
            patterns=tuple(dict.fromkeys(self.patterns)),
            columns=tuple(dict.fromkeys(self.columns)),
            filters=tuple(dict.fromkeys(self.filters)),
            without=tuple(self.without),
            optional=tuple(dict.fromkeys(self.optional)),
            given=tuple(dict.fromkeys(self.given)),
            computed=tuple(self.computed),
            group=tuple(dict.fromkeys(self.group)),
            having=tuple(self.having),
            order=tuple(self.order),
            limit=self.limit,
            offset=self.offset,
            ask=self.ask,
            hints=dict(self.hints),
        )


def _pattern(variable: int | str, predicate: str, other: int | str, edge: Edge) -> Pattern:
    if edge.inverse:
        return Pattern(other, predicate, variable, edge.plus)
    return Pattern(variable, predicate, other, edge.plus)


FIRST_DAY = day_number(1)
"""The first day of year 1, the earliest that the calendar of this module knows."""

_LAST_DAY = day_number(9999, 12, 31)


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


def year_of(day: float) -> int:
    """Return the year that a day lies in; outside of 1 to 9999 by the mean length of years."""
    if FIRST_DAY <= day < _LAST_DAY + 1:
        return (date(1970, 1, 1) + timedelta(days=int(day))).year
    return 1970 + math.floor(day / 365.2425 + 0.5)
