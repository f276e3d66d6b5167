"""Build one query: the pattern of a partial match, and the predicates attached to its vertices.

A draft is sound if it neither contradicts nor repeats itself. A pattern beside its own negation
has no result. A negation that always holds, and a pattern that repeats another one with a second
variable, add nothing.
"""

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from functools import cached_property
from itertools import pairwise, permutations

import numpy as np
from pyoxigraph import Literal, NamedNode, Variable

from askgraph.graph.arrays import Ids, intersect
from askgraph.graph.literals import ValueKind, can_compare_durations, split_literal, to_day_number
from askgraph.index.names import ItemKind
from askgraph.search.expand import (
    MAX_TOKENS_BESIDE,
    MAX_TOKENS_NEAR,
    Edge,
    Node,
    PartialMatch,
    Penalty,
)
from askgraph.search.expand.beam_search import BeamSearch
from askgraph.search.expand.schema import (
    Schema,
    filter_by_edge,
    find_reverse,
    get_node_kinds,
    get_object_kinds,
    get_truth_terms,
    is_mirrored,
    sample_evenly,
)
from askgraph.search.link import Link
from askgraph.search.optional_names import add_node_values, identify_by_name, make_names_optional
from askgraph.search.query_pieces import (
    TEXT,
    Value,
    build_filter,
    build_not_exists,
    build_pattern,
    build_query,
    build_variable_names,
    get_alias,
    get_predicate,
    get_variable,
    list_negated_groups,
    list_patterns,
    name_variables,
    parse_term,
)
from askgraph.search.tokenize import Quantity
from askgraph.search.tokenize.question_operators import Operator, QuestionOperators, QuestionZones
from askgraph.search.tokenize.word_lists import get_shared_words, get_word_kinds
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
    Predicate,
    Query,
    Term,
    Union,
    Values,
    find_variables,
)
from askgraph.sparql import vocabulary as v
from askgraph.sparql.rewrite.virtual import DefinedTerm, expand_terms, sum_by_owner
from askgraph.sparql.vocabulary import (
    DATE_DATATYPES,
    XSD_DATE_TIME,
    XSD_DATE_TIME_STAMP,
    XSD_G_YEAR,
    XSD_G_YEAR_MONTH,
    XSD_STRING,
)

FIRST_DAY_NUMBER = to_day_number(1)
"""First day of year 1, the earliest that `datetime.date` can represent (days from 1970-01-01)."""
_LAST_DAY_NUMBER = to_day_number(9999, 12, 31)


@dataclass(slots=True, eq=False)
class Vertex:
    """A vertex of a draft's patterns: its term and the match node that it stands for.

    Treat it as immutable; like `Node` it is not frozen, for speed.

    Attributes:
        name_positions: First token of each name that the question has for the vertex.
    """

    term: Term  # term of the vertex in the patterns
    node: Node  # node of the partial match
    depth: int = 0  # number of steps from the root
    name_positions: tuple[int, ...] = ()
    parent: "Vertex | None" = None  # vertex that the edge starts at; None for the root
    edge: Edge | None = None  # edge that leads here from the parent


@dataclass
class QueryDraft:
    """The mutable elements and modifiers of a query; `to_query` freezes them.

    Attributes:
        context: Columns that give context and do not answer the question.
        order: Sort keys, each with whether it is descending.
        edge_variables: Variable at the end of an edge, by (term, predicate, is inverse).
        names: Thing that each variable for a name names.
    """

    schema: Schema
    patterns: list[Pattern] = field(default_factory=list)
    filters: list[Filter] = field(default_factory=list)
    subqueries: list[Query] = field(default_factory=list)  # sub-queries that compute aggregates
    negations: list[Filter] = field(default_factory=list)  # `FILTER NOT EXISTS` groups
    optionals: list[Group] = field(default_factory=list)  # groups of OPTIONAL
    value_blocks: list[Values] = field(default_factory=list)
    unions: list[Union] = field(default_factory=list)  # UNION elements
    bindings: list[Bind] = field(default_factory=list)  # BIND elements
    columns: list[Value] = field(default_factory=list)
    context: list[Variable] = field(default_factory=list)
    group_keys: list[Variable] = field(default_factory=list)  # variables of GROUP BY
    having: list[Call] = field(default_factory=list)  # conditions on groups
    order: list[tuple[Expression, bool]] = field(default_factory=list)
    limit: int | None = None  # maximum number of rows; None for all
    offset: int = 0  # number of rows to skip
    is_ask: bool = False
    hints: dict[Variable, str] = field(default_factory=dict)  # words to name each variable from
    vertices: list[Vertex] = field(default_factory=list)  # vertices of the patterns, the root first
    edge_variables: dict[tuple[Term, int, bool], Variable] = field(default_factory=dict)
    names: dict[Variable, Variable] = field(default_factory=dict)

    def create_variable(self, hint: str) -> Variable:
        """Create a variable that will be named after the hint."""
        fresh_variable = get_variable(len(self.hints))
        self.hints[fresh_variable] = hint
        return fresh_variable

    def add_match(self, root: Node) -> Vertex:
        """Add the whole pattern of a partial match and return its root vertex."""
        vertex = self._add_vertex(root, 0, None, None)
        if isinstance(vertex.term, Variable) and root.quantity is None and len(root.terms) > 1:
            self.filters.append(self._build_membership_filter(vertex.term, root))
        return vertex

    def _add_vertex(
        self, node: Node, depth: int, edge: Edge | None, parent: Vertex | None
    ) -> Vertex:
        term = self.get_constant(node) or self.create_variable(self._choose_hint(node, edge))
        vertex = Vertex(
            term,
            node,
            depth,
            tuple(link.positions[0] for link in self.find_naming_links(node, edge)),
            parent,
            edge,
        )
        self.vertices.append(vertex)
        if node.cls is not None:
            self.patterns.append(self.build_type_pattern(term, node.cls))
        for step, child in node.edges:
            self._add_edge(vertex, step, child)
        if node.alternatives:
            self.unions.append(
                Union(tuple(self._build_group(term, subnode) for subnode in node.alternatives))
            )
        for subnode in node.negated:
            group = self._build_group(
                term, subnode if subnode.cls != node.cls else replace(subnode, cls=None)
            )
            if group.elements:
                self.negations.append(build_not_exists(*group.elements))
        return vertex

    def find_vertex(self, term: Term | None) -> Vertex | None:
        """Return the vertex with this term, or None."""
        return next((vertex for vertex in self.vertices if vertex.term == term), None)

    def find_naming_links(self, node: Node, edge: Edge | None) -> list[Link]:
        """Return the links that name a node to which an edge leads.

        A noun names the object of its predicate; a name that ends in "of" names the subject.
        """
        links = [link for link in (node.cls_link, node.link) if link is not None]
        names_subject = self.schema.is_subject_name
        if edge is not None and edge.link is not None:
            links += [edge.link] if names_subject(edge.predicate) == edge.inverse else []
        for step, _ in node.edges:
            if step.link is not None and names_subject(step.predicate) != step.inverse:
                links.append(step.link)
        return links

    def _add_edge(self, parent: Vertex, edge: Edge, child: Node) -> None:
        constant = self.get_constant(child)
        if constant is not None and not (child.edges or child.cls or child.negated):
            self.patterns.append(self._build_edge_pattern(parent.term, edge, constant))
            return
        index = len(self.patterns)
        vertex = self._add_vertex(child, parent.depth + 1, edge, parent)
        self.patterns.insert(index, self._build_edge_pattern(parent.term, edge, vertex.term))
        if isinstance(vertex.term, Variable):
            variable = vertex.term
            if child.quantity is not None:
                self.filters += self.build_equality_filters(variable, child, child.quantity)
            elif child.terms and not child.edges:
                self.filters.append(self._build_membership_filter(variable, child))
            self.edge_variables.setdefault((parent.term, edge.predicate, edge.inverse), vertex.term)

    def _build_edge_pattern(self, start: Term, edge: Edge, end: Term) -> Pattern:
        ends = (end, start) if edge.inverse else (start, end)
        get_iri = self.schema.graph.get_predicate_iri
        reverse, iri = find_reverse(self.schema, edge.predicate), get_iri(edge.predicate)
        if reverse is None and not edge.united:
            return build_pattern(ends[0], iri, ends[1], is_transitive=edge.plus)
        steps: list[Predicate] = [NamedNode(get_iri(at)) for at in edge.united or (edge.predicate,)]
        steps += [] if reverse is None else [Path("^", (NamedNode(get_iri(reverse)),))]
        step = Path("|", tuple(steps))
        return Pattern(ends[0], Path("+", (step,)) if edge.plus else step, ends[1])

    def get_constant(self, node: Node) -> Term | None:
        """Return the single term of a node; None for a number or several terms."""
        if len(node.terms) != 1 or node.quantity is not None:
            return None
        return self._to_term(node.terms[0])

    def _to_term(self, node_id: int) -> Term:
        return parse_term(self.schema.graph.terms.get_text(int(node_id)))

    def build_equality_filters(
        self, number: Variable, node: Node, quantity: Quantity
    ) -> list[Filter]:
        """Build the filters that a variable equals a number, or lies on a day or in a year."""
        text = self.schema.graph.terms.get_text(int(node.ids[0]))
        sort = ValueKind(int(self.schema.graph.sorts[node.ids[0]]))
        is_span = quantity.days is not None and quantity.days[0] < quantity.days[1]
        if len(node.terms) == 1 and not (is_span and sort in DATE_SORTS):
            return [build_filter(number, "=", parse_term(text))]
        predicates = self.schema.graph.get_predicates(node.ids[:1], inverse=True)
        orders = filter(None, map(self.schema.get_day_order, predicates))
        day_order = "" if sort in DATE_SORTS else next(orders, "")
        if quantity.days is None or not (sort in DATE_SORTS or day_order):
            return [self._build_membership_filter(number, node)]
        texts = (self.schema.graph.terms.get_text(int(node_id)) for node_id in node.ids)
        datatypes = {split_literal(text)[1] for text in texts}
        datatypes |= {XSD_STRING} if sort is ValueKind.TEXT_DATE else set()
        if quantity.value is not None and sort is ValueKind.DATE and len(datatypes) == 1:
            return [build_filter(number, "YEAR", parse_term(str(int(quantity.value))))]
        bounds = zip((">=", "<="), quantity.days, strict=True)
        return [build_day_bound(number, sign, day, datatypes, day_order) for sign, day in bounds]

    def _build_membership_filter(self, member: Variable, node: Node) -> Filter:
        return build_filter(member, "IN", *(self._to_term(node_id) for node_id in node.ids))

    def _build_group(self, term: Term, node: Node) -> Group:
        """Build a separate group with everything that a node requires of a term."""
        inner = QueryDraft(self.schema, hints=self.hints)
        inner.patterns += [inner.build_type_pattern(term, node.cls)] if node.cls else []
        for step, child in node.edges:
            inner._add_edge(Vertex(term, node), step, child)
        return Group((*inner.patterns, *inner.filters))

    def attach_predicate(
        self, vertex: Vertex, predicate: int, *, inverse: bool = False, united: tuple[int, ...] = ()
    ) -> Variable:
        """Attach a predicate to a vertex unless it is attached, and return its variable.

        It leads along any of the `united` predicates.
        """
        key = vertex.term, predicate, inverse
        if key not in self.edge_variables:
            iri = self.schema.graph.get_predicate_iri(predicate)
            if inverse and len(subjects := self.schema.graph.get_ends(predicate)):
                # Name the subjects after their class.
                iri = next(iter(self.schema.get_classes(int(subjects[0]))), iri)
            fresh_variable = self.create_variable(self.get_hint(iri))
            self.patterns.append(
                self._build_edge_pattern(
                    vertex.term, Edge(predicate, inverse, united=united), fresh_variable
                )
            )
            self.edge_variables[key] = fresh_variable
        return self.edge_variables[key]

    def attach_name(self, vertex: Vertex, predicate: int) -> Variable:
        """Attach the name of a thing, which things without a name may lack."""
        name = self.attach_predicate(vertex, predicate)
        if isinstance(vertex.term, Variable):
            self.names[name] = vertex.term
        return name

    def build_new_edge(self, term: Term, predicate: int, *, inverse: bool = False) -> Pattern:
        """Build the pattern of a predicate from a term to a new variable."""
        fresh_variable = self.create_variable(
            self.get_hint(self.schema.graph.get_predicate_iri(predicate))
        )
        return self._build_edge_pattern(term, Edge(predicate, inverse), fresh_variable)

    def bind_expression(self, hint: str, value: Expression) -> Variable:
        """Return the variable of an expression, and bind it if it is new."""
        for binding in self.bindings:
            if binding.value == value:
                return binding.variable
        fresh_variable = self.create_variable(hint)
        self.bindings.append(Bind(value, fresh_variable))
        return fresh_variable

    def build_type_pattern(self, term: Term, cls: str) -> Pattern:
        """Build the pattern that a term is an instance of a class or of a subclass."""
        return build_pattern(
            term,
            v.RDF_TYPE,
            parse_term(f"<{cls}>"),
            is_transitive=self.schema.has_subclass_instances(cls),
        )

    def get_hint(self, iri: str) -> str:
        """Return words to name a variable from: the label of an IRI, or its local name."""
        return self.schema.get_name_hint(iri)

    def _choose_hint(self, node: Node, edge: Edge | None) -> str:
        if node.cls is not None:
            return self.get_hint(node.cls)
        classes = self.schema.get_classes(int(node.ids[0])) if len(node.ids) else ()
        if edge is not None and not edge.inverse:
            return self.get_hint(self.schema.graph.get_predicate_iri(edge.predicate))
        return self.get_hint(classes[0]) if classes else "thing"

    def to_query(self) -> Query:
        """Return the immutable query."""
        elements: tuple[Element, ...] = (
            *dict.fromkeys(self.patterns),
            *(Nested("OPTIONAL", group) for group in dict.fromkeys(self.optionals)),
            *dict.fromkeys(self.value_blocks),
            *self.unions,
            *self.bindings,
            *self.subqueries,
            *dict.fromkeys(self.filters),
            *self.negations,
        )
        return build_query(
            elements,
            None if self.is_ask else self.columns,
            group=self.group_keys,
            having=self.having,
            order=() if self.is_ask else self.order,
            limit=None if self.is_ask else self.limit,
            offset=self.offset,
        )


def format_day_literal(day: float, datatype: str, *, is_end: bool = False) -> str:
    """Format a day (days from 1970-01-01) as an N-Triples literal of a date or year datatype.

    A date with a time gets the first second of the day, or the last one with `is_end`; in UTC if
    all have a time zone (dateTimeStamp). Years before
    1 have a sign (ISO 8601). Before year 1 and after 9999 only the year is exact.
    """
    if not FIRST_DAY_NUMBER <= day < _LAST_DAY_NUMBER + 1:
        year, month, day_of_month = get_year(day), 1, 1
    else:
        calendar_date = date(1970, 1, 1) + timedelta(days=int(day))
        year, month, day_of_month = calendar_date.year, calendar_date.month, calendar_date.day
    text = f"{year:05}" if year < 0 else f"{year:04}"
    if datatype == XSD_G_YEAR:
        return f'"{text}"^^<{datatype}>'
    if datatype == XSD_G_YEAR_MONTH:
        return f'"{text}-{month:02}"^^<{datatype}>'
    text = f"{text}-{month:02}-{day_of_month:02}"
    if datatype in (XSD_DATE_TIME, XSD_DATE_TIME_STAMP):
        zone = "Z" if datatype == XSD_DATE_TIME_STAMP else ""
        return f'"{text}T{"23:59:59" if is_end else "00:00:00"}{zone}"^^<{XSD_DATE_TIME}>'
    return f'"{text}"^^<{datatype}>'


def build_day_term(day: float, datatype: str, *, is_end: bool = False) -> Term:
    """Build the term of a day; see `format_day_literal`."""
    return parse_term(format_day_literal(day, datatype, is_end=is_end))


def build_day_bound(
    variable: Variable, sign: str, day: float, datatypes: Set[str], day_order: str = ""
) -> Filter:
    """Build the filter that bounds a variable by a day.

    Values that are text, of several datatypes, or of one that SPARQL cannot compare, are compared
    as text.
    """
    is_text = len(datatypes) > 1 or not datatypes <= DATE_DATATYPES
    upper = sign in (">", "<=")
    if FIRST_DAY_NUMBER <= day < _LAST_DAY_NUMBER and is_text:
        text = str(build_day_term(day + upper, XSD_STRING).value)  # "1990" is before "1990-12-31"
        text = text.removesuffix("-01").removesuffix("-01")
        sign = {">": ">=", "<=": "<"}.get(sign, sign)
        return build_filter(variable, sign, Literal(text), cast=day_order or TEXT)
    return build_filter(variable, sign, build_day_term(day, min(datatypes), is_end=upper))


def get_year(day: float) -> int:
    """Return the year of a day; outside of 1 to 9999 by the mean length of a year."""
    if FIRST_DAY_NUMBER <= day < _LAST_DAY_NUMBER + 1:
        return (date(1970, 1, 1) + timedelta(days=int(day))).year
    return 1970 + math.floor((day - 0.9) / 365.2425)


def is_sound(draft: QueryDraft) -> bool:
    """Return whether a draft can have a result and repeats nothing."""
    predicates = {element.predicate for element in draft.patterns}
    if not draft.negations and len(predicates) == len(draft.patterns):
        return True
    patterns = list(dict.fromkeys(draft.patterns))
    negated_groups = [
        group for element in draft.negations for group in list_negated_groups(Group((element,)))
    ]
    return not (
        any(
            _is_entailed(element, patterns)
            or _is_redundant_negation(element, patterns, draft.schema)
            for element in negated_groups
        )
        or _has_redundant_variable(patterns, draft)
        or _has_duplicate_values(patterns, draft.schema)
    )


def _is_entailed(negated: Group, patterns: list[Pattern]) -> bool:
    """Return whether the patterns match everything that a group negates, for any binding."""
    negated_patterns = list_patterns(negated)
    if len(negated_patterns) != len(negated.elements):
        return False
    bindings: dict[Term, Term] = {term: term for term in find_variables(tuple(patterns))}
    return any(True for _ in _match_patterns(negated_patterns, patterns, bindings))


def _match_patterns(
    unmatched: list[Pattern], patterns: list[Pattern], bindings: Mapping[Term, Term]
) -> Iterator[Mapping[Term, Term]]:
    if not unmatched:
        yield bindings
        return
    first, *remaining = unmatched
    for triple in patterns:
        if triple.predicate == first.predicate:
            extended = _bind_term(
                _bind_term(bindings, first.subject, triple.subject), first.object, triple.object
            )
            if extended is not None:
                yield from _match_patterns(remaining, patterns, extended)


def _bind_term(
    bindings: Mapping[Term, Term] | None, term: Term, target: Term
) -> Mapping[Term, Term] | None:
    if bindings is None:
        return None
    if not isinstance(term, Variable):
        return bindings if term == target else None
    if term in bindings:
        return bindings if bindings[term] == target else None
    return {**bindings, term: target}


def _is_redundant_negation(negated: Group, patterns: list[Pattern], schema: Schema) -> bool:
    """Return whether a negated value differs from the only value that the subject can have."""
    negated_patterns = list_patterns(negated)
    if (
        len(negated_patterns) != 1
        or len(negated.elements) != 1
        or isinstance(negated_patterns[0].object, Variable)
    ):
        return False
    number = schema.get_predicate_number(get_predicate(negated_patterns[0]))
    return any(
        (triple.subject, triple.predicate)
        == (negated_patterns[0].subject, negated_patterns[0].predicate)
        and not isinstance(triple.object, Variable)
        and triple.object != negated_patterns[0].object
        and number is not None
        and schema.is_functional(number)
        for triple in patterns
    )


def _has_redundant_variable(patterns: list[Pattern], draft: QueryDraft) -> bool:
    """Return whether a variable that only patterns use could be merged into another term."""
    by_end: dict[object, list[Pattern]] = {}
    for triple in patterns:
        by_end.setdefault((triple.subject, triple.predicate), []).append(triple)
        by_end.setdefault((triple.predicate, triple.object, None), []).append(triple)
    pairs = [siblings for siblings in by_end.values() if len(siblings) > 1]
    if not pairs:
        return False
    other_parts = (
        *draft.filters, *draft.negations, *draft.subqueries, *draft.optionals, *draft.value_blocks,
        *draft.unions, *draft.bindings, *draft.columns, *draft.context, *draft.group_keys,
        *draft.having, *(key for key, _ in draft.order),
    )  # fmt: skip
    needed_variables = {*find_variables(other_parts)}
    pattern_set = set(patterns)
    return any(
        _can_merge(variable, target, patterns, pattern_set)
        for siblings in pairs
        for variable, target in _pair_terms(siblings)
        if isinstance(variable, Variable) and variable not in needed_variables
    )


def _has_duplicate_values(patterns: list[Pattern], schema: Schema) -> bool:
    """Return whether two terms stand for the only value of a functional predicate."""
    ends: dict[tuple[Term, object], Term] = {}
    for triple in patterns:
        if isinstance(triple.predicate, Path):
            continue
        first_object = ends.setdefault((triple.subject, triple.predicate), triple.object)
        if first_object != triple.object:
            number = schema.get_predicate_number(get_predicate(triple))
            if number is not None and schema.is_functional(number):
                return True
    return False


def _pair_terms(siblings: Iterable[Pattern]) -> Iterator[tuple[Term, Term]]:
    """Yield the differing ends of patterns that share a predicate and the other end, in pairs."""
    for first, second in permutations(siblings, 2):
        if first.subject == second.subject and first.object != second.object:
            yield first.object, second.object
        elif first.object == second.object and first.subject != second.subject:
            yield first.subject, second.subject


def _can_merge(
    variable: Term, target: Term, patterns: list[Pattern], pattern_set: set[Pattern]
) -> bool:
    return all(
        Pattern(
            target if triple.subject == variable else triple.subject,
            triple.predicate,
            target if triple.object == variable else triple.object,
        )
        in pattern_set
        for triple in patterns
        if variable in (triple.subject, triple.object)
    )


NUMERIC_SORTS = (ValueKind.NUMBER, ValueKind.TEXT_NUMBER)
DATE_SORTS = (ValueKind.DATE, ValueKind.YEAR, ValueKind.TEXT_DATE)
MEASURED_SORTS = (*NUMERIC_SORTS, ValueKind.DURATION)
TEMPORAL_SORTS = (*DATE_SORTS, ValueKind.TIME, ValueKind.DAY_TEXT)


def note_durations(query: "QueryBuilder", ids: Ids, predicate: int, bound: str = "") -> None:
    """Note that a query compares durations, and whether some have no order: P1M and P30D.

    Args:
        ids: Nodes with the durations.
        predicate: Predicate of the durations.
        bound: Duration that they are compared with; without one, they are ordered.
    """
    if query.schema.get_sort(predicate) is not ValueKind.DURATION:
        return
    terms, objects = query.graph.terms, np.unique(query.graph.get_edges(ids, predicate)[1])
    literals = objects[objects < terms.first_iri]
    literals = literals[query.graph.sorts[literals] == ValueKind.DURATION]
    nearest = literals[np.argsort(query.graph.values[literals])].tolist()
    texts = [split_literal(terms.get_text(literal))[0] for literal in nearest]
    pairs = [(text, bound) for text in texts] if bound else pairwise(texts)
    is_exact = all(can_compare_durations(*pair) for pair in pairs)
    query.notes.append(DURATIONS_NOTE if is_exact else INEXACT_DURATIONS_NOTE)


DURATIONS_NOTE, INEXACT_DURATIONS_NOTE = "durations", "inexact_durations"
OTHER_DURATION_NOTE = "other_duration"
NAME_FIT_WEIGHT = 0.9
"""Weight of a fitting name; below 1, so that a near vertex wins over a better name."""
DEPTH_PENALTY = 0.25  # each step from the root; a guessed one costs twice that
SORT_WEIGHT = 0.5  # a foreign key; bonus of a predicate of the requested sort

_MAX_START_NODES = 400  # nodes to sample from which a path must continue
_MAX_NEAR_LINKS, _MAX_DISTANT_LINKS = 16, 8  # links of a slot to try nearby and far away

_DistantPredicate = tuple[float, int, tuple[Edge, ...], int, Link]
"""A distant predicate: its cost, the rank of its link, the steps to it, its number, its link."""


@dataclass(frozen=True, eq=False)
class Slot:
    """A span of words that names predicates and that the partial match does not use."""

    first: int
    last: int
    links: tuple[Link, ...]

    @property
    def mask(self) -> int:
        """Bit mask of the token positions."""
        return self.links[0].mask


class GraphLookup:
    """Cached lookups of a question's words in the graph, shared by all partial matches.

    `name_positions` are the tokens that ask for names.
    """

    def __init__(self, search: BeamSearch, operators: QuestionOperators) -> None:
        self.search, self.operators = search, operators
        self.graph, self.schema, self.linked = search.graph, search.schema, search.linked
        self.question, self.weights = search.linked.reading, search.linked.weights
        self.zones = QuestionZones.from_question(self.question, operators)
        name_stems = self.question.word_list.naming
        self.name_positions = [
            position
            for position, token in enumerate(self.question.tokens)
            if token.stem in name_stems
        ]
        self._distant_by_key: dict[object, list[_DistantPredicate]] = {}
        self._links_by_used_words: dict[
            int, dict[tuple[int, ...], tuple[tuple[Link, ...], float]]
        ] = {}

    def find_slots(self, state: PartialMatch) -> Iterator[Slot]:
        """Yield the spans of words that name predicates and that a partial match has not used."""
        unused_links = self._find_unused_links(state.used)
        present = self.find_predicates(state.ids) if unused_links else frozenset()
        is_present = {
            positions: any(
                self.schema.get_predicate_number(link.target) in present for link in links
            )
            for positions, (links, _) in unused_links.items()
        }
        covered = 0
        for positions in sorted(
            unused_links, key=lambda span: (-unused_links[span][1] * (1 + is_present[span]), span)
        ):
            links = unused_links[positions][0]
            content = links[0].mask & self.search.content_mask
            is_operator_only = all(
                self.operators.is_strong_operator(at) for at in positions if self.weights[at]
            )
            if not content or content & covered or (is_operator_only and not is_present[positions]):
                continue
            covered |= content
            yield Slot(positions[0], positions[-1], links)

    def _find_unused_links(
        self, used: int
    ) -> dict[tuple[int, ...], tuple[tuple[Link, ...], float]]:
        """Return the predicate links of unused words by position, best first, with their weight."""
        if used not in self._links_by_used_words:
            links_by_positions: dict[tuple[int, ...], list[Link]] = {}
            for number, links in self.search.get_unused_links(used).items():
                for link in links if number not in self.schema.statement_predicates else ():
                    links_by_positions.setdefault(link.positions, []).append(link)
            self._links_by_used_words[used] = {
                positions: (
                    ordered,
                    self.search.sum_weights(ordered[0].mask) * _score_link(ordered[0]),
                )
                for positions, links in links_by_positions.items()
                if (ordered := tuple(sorted(links, key=lambda link: -_score_link(link))))
            }
        return self._links_by_used_words[used]

    def is_resource(self, ids: Ids) -> bool:
        """Return whether nodes are resources rather than literals."""
        return len(ids) > 0 and int(ids[0]) >= self.graph.terms.first_iri

    def has_predicate(self, ids: Ids, predicate: int, inverse: bool) -> bool:
        """Return whether some of the nodes (a sample of them) have a predicate."""
        return predicate in self.find_predicates(ids, inverse=inverse)

    def find_predicates(self, ids: Ids, *, inverse: bool = False) -> frozenset[int]:
        """Return the predicates of some nodes, or of a sample of them."""
        return self.search.get_predicates(sample_evenly(ids), inverse=inverse)

    def score_sort(self, predicate: int, prefer: bool) -> float:
        """Return a bonus if a predicate's objects are of the sort that the question asks for."""
        sort = self.schema.get_sort(predicate)
        if not prefer or self.operators.asks is None:
            return 0.0
        is_fitting = {
            "date": sort in TEMPORAL_SORTS,
            "year": sort in DATE_SORTS,
            "number": sort in MEASURED_SORTS,
            "person": sort in (ValueKind.NONE, ValueKind.TEXT),
            "place": sort in (ValueKind.NONE, ValueKind.TEXT),
        }
        return SORT_WEIGHT if is_fitting[self.operators.asks] else 0.0

    def iterate_slot_predicates(
        self, slot: Slot, sorts: Sequence[ValueKind]
    ) -> Iterator[tuple[int, Link, int]]:
        """Yield the predicates that a slot names, best first: their rank, link and number."""
        for order, link in enumerate(slot.links[:_MAX_NEAR_LINKS]):
            number = self.schema.get_predicate_number(link.target)
            if number is None or (sorts and self.schema.get_sort(number) not in sorts):
                continue
            if not sorts or not (
                self.is_foreign_key(number, link)
                or self.is_identifier(number, link)
                or get_truth_terms(self.schema, number)  # 0 and 1 are not measured
            ):
                yield order, link, number

    def is_identifier(self, number: int, link: Link) -> bool:
        """Return whether a predicate holds identifiers, without a word that asks for them."""
        identifier_words = get_shared_words().names["ids"]
        if self.schema.get_sort(number) is ValueKind.NONE or identifier_words.isdisjoint(
            self.schema.get_name_stems(number)
        ):
            return False
        return not any(
            self.question.tokens[position].stem in identifier_words for position in link.positions
        )

    def follow_edge(self, ids: Ids, edge: Edge, *, backwards: bool = False) -> Ids:
        """Return the nodes to which an edge leads from some nodes."""
        return self.search.get_neighbours(
            ids, edge.predicate, inverse=edge.inverse != backwards, is_transitive=edge.plus
        )

    def is_foreign_key(self, number: int, link: Link) -> bool:
        """Return whether a predicate is a foreign key to a thing that the words name."""
        return self.schema.get_sort(number) is ValueKind.NUMBER and self.search.is_class_name(link)

    def find_entity(self, link: Link) -> int | None:
        """Return the single node that a link names, directly or by the text of its name."""
        if link.kind is ItemKind.ENTITY:
            return self.schema.find_node(link.target)
        text = self.graph.terms.find(link.target)
        if text is None:
            return None
        node = np.array([text], dtype=np.int32)
        bearers = [
            self.graph.step(node, number, inverse=True) for number in self.schema.naming_predicates
        ]
        entities = np.unique(np.concatenate(bearers)) if bearers else node[:0]
        return int(entities[0]) if len(entities) == 1 else None

    def find_distant(
        self, ids: Ids, slot: Slot, sorts: Sequence[ValueKind]
    ) -> Iterator[_DistantPredicate]:
        """Return the predicates that a slot names, one or two unnamed steps from some nodes."""
        classes = self.schema.get_classes(int(ids[0])) if len(ids) else ()
        group: object = classes[0] if classes else ids.tobytes()
        key = group, slot.links[0].positions, tuple(sorts)
        if key not in self._distant_by_key:
            self._distant_by_key[key] = list(self._search_distant(ids, slot, sorts))
        return (
            distant
            for distant in self._distant_by_key[key]
            if self._can_reach(ids, distant[2], distant[3])
        )

    def _can_reach(self, ids: Ids, path: Sequence[Edge], number: int) -> bool:
        """Return whether a path from exactly these nodes leads to a predicate."""
        sample = ids[:: len(ids) // _MAX_START_NODES + 1]
        for edge in path:
            sample = self.graph.step(sample, edge.predicate, inverse=edge.inverse)
        return len(sample) > 0 and len(self.graph.get_edges(sample, number)[0]) > 0

    def _search_distant(
        self, ids: Ids, slot: Slot, sorts: Sequence[ValueKind]
    ) -> Iterator[_DistantPredicate]:
        named_predicates = [
            (order, link, number)
            for order, link in enumerate(slot.links[:_MAX_DISTANT_LINKS])
            if (number := self.schema.get_predicate_number(link.target)) is not None
            and not (sorts and self.schema.get_sort(number) not in sorts)
            and not (sorts and self.is_identifier(number, link))
        ]
        for steps, predicates in self.schema.find_surroundings(ids) if named_predicates else ():
            for order, link, number in named_predicates:
                if number in predicates:
                    path = tuple(Edge(predicate, inverse) for predicate, inverse in steps)
                    cost = (
                        2 * DEPTH_PENALTY * len(path) - NAME_FIT_WEIGHT * link.score * link.quality
                    )
                    yield cost, order, path, number, link


def _score_link(link: Link) -> float:
    """Return how well words fit the name of a predicate."""
    return link.score * link.quality


_REVERSED_PENALTY = 0.35  # a predicate read against the direction of its name
_OTHER_OWNER_PENALTY = 0.5  # a predicate of another thing than the one in the words
_PENALTY_WEIGHT = 0.3  # weight of a penalty for a place, below that for the whole query

_MAX_PREDICATE_NODES, _MAX_NAME_NODES, _MAX_NARY_NODES = 300, 200, 50
"""Number of nodes to sample: for the predicates of a vertex, for names, for kinds of nodes."""
_LASTING_KINDS = frozenset(("persons", "bodies", "places"))
"""Kinds of things whose own dates are not the dates of events around them."""
# Minimum score of words to name a predicate and not only the class of its objects.
_MIN_KEY_SCORE = 0.9
_COMPARATORS = {
    ">": np.greater,
    "<": np.less,
    ">=": np.greater_equal,
    "<=": np.less_equal,
    "=": np.equal,
    "!=": np.not_equal,
}

PAIRED_NOTE = "paired"  # the note that two things are compared or reckoned with
NONE_NOTE = "none"  # the note that the graph surely has no answer
TOP_NOTE = "top_of_each"  # the note that each group has its first rows
LISTED_NOTE = "listed"
"""Note of one row for each value that words list, or of a count beside an aggregate."""

_UNNAMED_LINK = Link(ItemKind.PREDICATE, "", "", 1.0, (), ())
"""Link of a predicate that the question does not name."""


@dataclass(eq=False)
class QueryCandidate:
    """A complete query with its evidence; immutable by convention, but not frozen, as `Node`.

    Attributes:
        names: Thing that each variable for a name names; in `query` the names are optional.
        values: Patterns of the values of each shown blank node, which `query` shows beside it.
        identities: Patterns from blank nodes to their names, which stand for them in `query`.
        window: Query that compares the rows of each group of `tree`, with the same columns; it is
            asked in its place.
        terms: Virtual terms of `tree` that `query` expands, by IRI.
    """

    tree: Query  # query with numbered variables
    shown: tuple[Value, ...]  # contents of the columns that answer; the other columns are context
    hints: Mapping[Variable, str]  # words to name each variable from
    state: PartialMatch  # partial match that was completed
    root: Term  # term that the pattern starts at
    ids: Ids  # nodes that the root can be
    used: int  # bit mask of the words that the query uses
    gain: float  # weight of the used words and operators
    unknown: float  # sum of the penalties
    patterns: int  # number of triple patterns
    notes: tuple[str, ...] = ()  # names of the operators and of other features of the query
    shown_words: int = 0  # bit mask of the words that name the shown columns
    links: tuple[Link, ...] = ()  # links that operators and columns use, beside those of `state`
    names: Mapping[Variable, Variable] = field(default_factory=dict)
    values: Mapping[Variable, tuple[Pattern, ...]] = field(default_factory=dict)
    identities: tuple[Pattern, ...] = ()
    score: float = 0.0  # score of the ranking
    features: dict[str, float] = field(default_factory=dict)  # features of the ranking by name
    window: Query | None = None
    terms: Mapping[str, DefinedTerm] = field(default_factory=dict)

    @property
    def is_ask(self) -> bool:
        """Whether the answer is yes or no."""
        return self.tree.form == "ASK"

    def iterate_links(self) -> Iterator[Link]:
        """Yield the links that the candidate is based on."""
        for node in self.state.node.walk():
            for link in (node.link, node.cls_link, *(edge.link for edge, _ in node.edges)):
                if link is not None:
                    yield link
            for negated in node.negated:
                yield from (edge.link for edge, _ in negated.edges if edge.link is not None)
        yield from self.links

    @cached_property
    def tree_with_things(self) -> Query:
        """The tree with optional names beside things, and optional values beside blank nodes."""
        if self.window is not None:
            return self.window
        tree = make_names_optional(self.tree, self.names) if self.names else self.tree
        tree = identify_by_name(tree, self.identities) if self.identities else tree
        return add_node_values(tree, self.values) if self.values else tree

    @cached_property
    def query(self) -> Query:
        """The query with readable variable names, and with things beside their names."""
        tree, hints = self.tree_with_things, self.hints
        if self.terms:
            tree, further_hints = expand_terms(sum_by_owner(tree, self.terms), self.terms)
            hints = {**hints, **further_hints}
        return name_variables(tree, build_variable_names(hints))

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that answer the question; empty for yes or no."""
        if self.is_ask:
            return ()
        columns = self.tree.columns if self.window is not None else self.tree_with_things.columns
        pairs = zip(columns, self.query.columns, strict=True)
        names = {alias: name.value for (alias, _), (name, _) in pairs}
        values: dict[Value, list[Value]] = {
            node: [p.object for p in patterns if isinstance(p.object, Variable)]
            for node, patterns in self.values.items()
        }
        answers = (part for value in self.shown for part in values.get(value, (value,)))
        return tuple(names[get_alias(answer)] for answer in answers)


@dataclass(slots=True, eq=False)
class Attachment:
    """A predicate at a vertex of a draft, after the steps of `path` if it is distant.

    Treat it as immutable; like `Node` it is not frozen, for speed.
    """

    vertex: Vertex  # vertex to attach the predicate to
    predicate: int  # number of the predicate
    inverse: bool  # whether the vertex is the object
    link: Link  # link that names the predicate
    path: tuple[Edge, ...] = ()  # unnamed steps between the vertex and the predicate
    penalty: float = 0.0  # penalty for this position
    slot: Slot | None = None  # words that name the predicate; None without such words


class QueryBuilder:
    """Builder of one candidate.

    Attributes:
        projections: Pairs of token position and variable to show.
        allow_distant: Whether predicates one or two steps from the pattern are allowed.
        has_skipped_distant: Whether a distant predicate was not considered.
        narrowed_ids: Nodes at a vertex that have the attached predicates.
        cached_ids: Computed nodes of each vertex.
        filters_by_operator: Conditions that each operator added.
    """

    def __init__(
        self,
        lookups: GraphLookup,
        state: PartialMatch,
        slots: list[Slot],
        *,
        allow_distant: bool = True,
    ) -> None:
        self.lookups = lookups
        self.state = state
        self.slots = slots
        self.allow_distant = allow_distant
        self.search, self.operators, self.zones = lookups.search, lookups.operators, lookups.zones
        self.graph, self.schema, self.linked = lookups.graph, lookups.schema, lookups.linked
        self.question, self.weights = lookups.question, lookups.weights
        self.draft = QueryDraft(lookups.schema)
        self.root = self.draft.add_match(state.node)
        self.used, self.gain, self.unknown = state.used, state.gain, state.unknown
        self.has_skipped_distant = self.is_grouped = False
        self.used_slots: set[Slot] = set()
        self.links: list[Link] = []
        self.projections: list[tuple[int, Variable]] = []
        self.shown_words = 0
        self.notes: list[str] = []
        self.filters_by_operator: dict[Operator, tuple[Filter, ...]] = {}
        self.narrowed_ids: dict[Vertex, Ids] = {}
        self.cached_ids: dict[Vertex, Ids] = {}

    def consume_words(self, mask: int, gain: float) -> None:
        """Mark words as used and add their gain, unless they are used already."""
        if mask & ~self.used:
            self.used |= mask
            self.gain += gain

    def is_unused(self, slot: Slot) -> bool:
        """Return whether no operator has used a slot."""
        return slot not in self.used_slots

    def consume_quantity(self, quantity: Quantity) -> None:
        """Mark the words of a quantity as used."""
        self.consume_tokens(quantity.positions)

    def consume_tokens(self, positions: Iterable[int]) -> None:
        """Mark tokens as used."""
        mask = sum(1 << position for position in positions)
        self.consume_words(mask, self.search.sum_weights(mask))

    def find_attachment(
        self,
        slot: Slot | None,
        *,
        sorts: Sequence[ValueKind] = (),
        prefer: bool = False,
        owner: Vertex | None = None,
    ) -> Attachment | None:
        """Find where to attach a slot's predicate: at the root, in the pattern, or a step away.

        Args:
            slot: Words that name the predicate.
            sorts: Accepted sorts of its values; empty for all.
            prefer: Whether predicates of the sort that the question asks for come first.
            owner: Vertex whose property the words name.

        Returns:
            The best attachment, or None.
        """
        if slot is None:
            return None
        links = list(self.lookups.iterate_slot_predicates(slot, sorts))
        options = [
            (cost - (_OTHER_OWNER_PENALTY if vertex is owner else 0.0), order, attachment)
            for vertex in (self.draft.vertices if links else ())
            if self.lookups.is_resource(vertex.node.ids)
            for cost, order, attachment in self._find_at_vertex(
                vertex, links, slot, bool(sorts), prefer
            )
        ]
        if not options and not self.allow_distant:
            self.has_skipped_distant = True
        elif not options:
            # Attachments one or two unnamed steps from the root.
            options = [
                (cost, order, Attachment(self.root, number, False, link, path, slot=slot))
                for cost, order, path, number, link in self.lookups.find_distant(
                    self.get_vertex_ids(self.root), slot, sorts
                )
            ]
        return min(options, key=lambda option: option[:2])[2] if options else None

    def get_vertex_ids(self, vertex: Vertex) -> Ids:
        """Return the nodes of a vertex, given the whole pattern and its attachments."""
        if vertex not in self.cached_ids:
            ids = vertex.node.ids
            if vertex.parent is not None and vertex.edge is not None:
                reached_ids = self.lookups.follow_edge(
                    self.get_vertex_ids(vertex.parent), vertex.edge
                )
                ids = intersect(reached_ids, ids)
            if vertex in self.narrowed_ids:
                ids = intersect(ids, self.narrowed_ids[vertex])
            self.cached_ids[vertex] = ids
        return self.cached_ids[vertex]

    def _narrow_to_predicate(self, vertex: Vertex, predicate: int, inverse: bool) -> None:
        ids = self.get_vertex_ids(vertex)
        self.narrow_vertex(vertex, filter_by_edge(self.schema, ids, predicate, inverse=inverse))

    def narrow_by_comparison(self, attachment: Attachment, sign: str, bound: float) -> None:
        """Narrow a vertex to the nodes whose value compares to a bound, if there are any."""
        if attachment.path:
            return
        ids = self.get_vertex_ids(attachment.vertex)
        bearers, objects = self.graph.get_edges(ids, attachment.predicate)
        is_literal = objects < self.graph.terms.first_iri
        values = self.graph.values[objects[is_literal]]
        matching_ids = np.unique(bearers[is_literal][_COMPARATORS[sign](values, bound)])
        if len(matching_ids):
            self.narrow_vertex(attachment.vertex, matching_ids)

    def narrow_vertex(self, vertex: Vertex, bearers: Ids) -> None:
        """Narrow a vertex to some nodes, and its ancestors to the nodes that lead there."""
        if len(bearers) == len(self.get_vertex_ids(vertex)):
            return
        while True:
            self.cached_ids.clear()
            self.narrowed_ids[vertex] = bearers
            if vertex.parent is None or vertex.edge is None:
                return
            parent_ids = self.get_vertex_ids(vertex.parent)
            leading_ids = self.lookups.follow_edge(bearers, vertex.edge, backwards=True)
            bearers = intersect(parent_ids, leading_ids)
            vertex = vertex.parent

    def _find_at_vertex(
        self,
        vertex: Vertex,
        links: Sequence[tuple[int, Link, int]],
        slot: Slot,
        needs_value: bool,
        prefer: bool,
    ) -> Iterator[tuple[float, int, Attachment]]:
        """Yield the attachments of links at one vertex, forwards and, if allowed, backwards."""
        ids = self.get_vertex_ids(vertex)
        for inverse in (False,) if needs_value or vertex.depth else (False, True):
            present_predicates = self.lookups.find_predicates(ids, inverse=inverse)
            present_links = [entry for entry in links if entry[2] in present_predicates]
            if not present_links:
                continue
            used_predicates = {
                edge.predicate for edge, _ in vertex.node.edges if edge.inverse == inverse
            }
            for order, link, number in present_links:
                if number in used_predicates or (
                    inverse and self._is_useless_backwards(ids, number)
                ):
                    continue
                is_reversed = inverse != self.schema.is_subject_name(number)
                cost = DEPTH_PENALTY * vertex.depth + (_REVERSED_PENALTY if is_reversed else 0.0)
                cost += SORT_WEIGHT if self.lookups.is_foreign_key(number, link) else 0.0
                penalty = (
                    Penalty.WRONG_CLASS
                    if is_reversed and not self.search.is_of_named_class(link, ids)
                    else 0.0
                )
                cost += (
                    _PENALTY_WEIGHT * penalty
                    - NAME_FIT_WEIGHT * link.score * link.quality
                    - self.lookups.score_sort(number, prefer)
                )
                yield (
                    cost,
                    order,
                    Attachment(vertex, number, inverse, link, penalty=penalty, slot=slot),
                )

    def _is_useless_backwards(self, ids: Ids, number: int) -> bool:
        """Return whether a predicate is the same backwards, or only leads to n-ary relations."""
        if is_mirrored(self.schema, number) and self.lookups.has_predicate(ids, number, False):
            return True
        if self.schema.is_subject_name(number):
            return False
        return self.schema.is_nary(self.graph.step(ids[:_MAX_NARY_NODES], number, inverse=True))

    def attach(self, attachment: Attachment) -> Variable:
        """Attach a predicate and the steps to it to the draft, and return its variable."""
        vertex = attachment.vertex
        self.unknown += attachment.penalty
        for edge in attachment.path:
            variable = self.draft.attach_predicate(vertex, edge.predicate, inverse=edge.inverse)
            existing_vertex = self.draft.find_vertex(variable)
            self._narrow_to_predicate(vertex, edge.predicate, edge.inverse)
            ids = self.lookups.follow_edge(self.get_vertex_ids(vertex), edge)
            vertex = existing_vertex or Vertex(
                variable, Node(ids), vertex.depth + 1, parent=vertex, edge=edge
            )
            if existing_vertex is None:
                self.draft.vertices.append(vertex)
                self.unknown += Penalty.STEP
        predicate, united = attachment.predicate, self._find_numbered_alike(vertex, attachment)
        if united:
            predicate = united[0]
        else:
            self._narrow_to_predicate(vertex, predicate, attachment.inverse)
        return self.draft.attach_predicate(
            vertex, predicate, inverse=attachment.inverse, united=united
        )

    def _find_numbered_alike(self, vertex: Vertex, attachment: Attachment) -> tuple[int, ...]:
        """Return all of "type 1" and "type 2" if a question asks for the type of a named thing."""
        tokens, link = self.question.tokens, attachment.link
        alike = self.schema.numbered_alike.get(attachment.predicate, frozenset())
        if attachment.inverse or attachment.path or not vertex.node.terms or link is None:
            return ()
        if any(tokens[at].text[0].isdigit() for at in link.positions):
            return ()
        united = alike & self.lookups.find_predicates(self.get_vertex_ids(vertex))
        return tuple(sorted(united)) if len(united) > 1 else ()

    def attach_and_consume(self, attachment: Attachment) -> Variable:
        """Attach a predicate, mark its words as used, and return its variable."""
        variable = self.attach(attachment)
        self.consume_attachment(attachment)
        return variable

    def consume_attachment(self, attachment: Attachment) -> None:
        """Mark the words that name an attachment as used."""
        if attachment.slot is not None:
            self.consume_slot(attachment.slot, attachment.link)

    def consume_slot(self, slot: Slot, link: Link) -> None:
        """Mark a slot as used by a link."""
        number = self.schema.get_predicate_number(link.target)
        if number is not None and self.lookups.is_foreign_key(number, link):
            self.unknown += Penalty.KEY_FOR_CLASS
        elif self.search.is_class_name(link):
            self.unknown += Penalty.CLASS_AS_PREDICATE
        self.used_slots.add(slot)
        self.links.append(link)
        self.consume_words(slot.mask, self.search.compute_gain(link, self.used))

    def consume_link(self, link: Link) -> None:
        """Mark the words of a link, and the slots within them, as used."""
        self.links.append(link)
        self.consume_words(link.mask, self.search.compute_gain(link, self.used))
        self.used_slots |= {slot for slot in self.slots if not slot.mask & ~link.mask}

    def find_next_slot(self, after: int, within: int = MAX_TOKENS_BESIDE) -> Slot | None:
        """Return the first unused slot that starts within some words after a position."""
        slots_in_range = [
            slot for slot in self.slots if self.is_unused(slot) and 0 < slot.first - after <= within
        ]
        return min(slots_in_range, key=lambda slot: slot.first) if slots_in_range else None

    def find_previous_slot(self, before: int, within: int = MAX_TOKENS_NEAR) -> Slot | None:
        """Return the last unused slot that ends within some words before a position."""
        slots_in_range = [
            slot for slot in self.slots if self.is_unused(slot) and 0 < before - slot.last <= within
        ]
        return max(slots_in_range, key=lambda slot: slot.last) if slots_in_range else None

    def find_vertices_before(self, operator: Operator) -> list[Vertex]:
        """Return the vertices that words before an operator name."""
        return [
            vertex
            for vertex in self.draft.vertices
            if any(position < operator.first for position in vertex.name_positions)
        ]

    def find_next_vertex(self, after: int, within: int = MAX_TOKENS_NEAR) -> Vertex | None:
        """Return the vertex whose words start soonest after a position."""
        best: tuple[int, int, Vertex] | None = None
        for vertex in self.draft.vertices:
            for first in (*vertex.name_positions, *self.iterate_repeated_mentions(vertex)):
                is_near = 0 < first - after <= within
                if is_near and (best is None or (first, vertex.depth) < best[:2]):
                    best = first, vertex.depth, vertex
        return self._resolve_compound_head(best[2]) if best is not None else None

    def _resolve_compound_head(self, vertex: Vertex) -> Vertex:
        """Return the vertex that the next noun names: that of "owners" for "pet owners"."""
        link = vertex.node.cls_link
        last_token = self.question.tokens[link.positions[-1]] if link is not None else None
        if link is None or last_token is None or last_token.stem != last_token.folded:
            return vertex  # "instructors teach"
        following = link.positions[-1] + 1
        heads = (head for head in self.draft.vertices if head.node.cls_link is not None)
        return next((head for head in heads if head.name_positions[0] == following), vertex)

    def iterate_repeated_mentions(self, vertex: Vertex) -> Iterator[int]:
        """Yield the tokens that repeat the class of a vertex: "moons of … the most moons"."""
        link, tokens = vertex.node.cls_link, self.question.tokens
        if link is None or vertex is self.root:
            return
        last = link.positions[-1]
        for position in range(last + 1, len(tokens)):
            if tokens[position].stem == tokens[last].stem:
                yield position

    def build_renamer(
        self, kept_variables: Collection[Variable], hint: str = "other {0}"
    ) -> Callable[[object], object]:
        """Return a function that consistently replaces all variables but the kept ones.

        New variables are named by the hint; that of an aggregate, by the variable at its end.
        """
        fresh_variables: dict[str, Variable] = {}

        def rename(node: object) -> object:
            if not isinstance(node, Variable) or node in kept_variables:
                return node
            prefix, mark, number = node.value.rpartition("v")
            name = mark + number
            if name not in fresh_variables:
                words = hint.format(self.draft.hints[Variable(name)])
                fresh_variables[name] = self.draft.create_variable(words)
            return Variable(prefix + fresh_variables[name].value)

        return rename

    def group_by(self, vertex: Vertex) -> None:
        """Group the rows by the things at a vertex."""
        if isinstance(vertex.term, Variable):
            self.draft.group_keys.append(vertex.term)
            self.is_grouped = True
            if vertex is not self.root:
                position = min(vertex.name_positions, default=0)
                self.projections.append((position, self.choose_name_variable(vertex)))

    def group_by_value(self, variable: Variable, token: int, *, is_shown_word: bool = True) -> None:
        """Group the rows by a shown value.

        Args:
            token: Position of the word that names it.
            is_shown_word: Whether that word asks for the column itself.
        """
        self.draft.group_keys.append(variable)
        self.is_grouped = True
        self.projections.append((token, variable))
        self.shown_words |= is_shown_word << token

    def choose_object_variable(self, variable: Variable, attachment: Attachment) -> Variable:
        """Return the variable to show for an object: its name if the graph has one."""
        ids = self.graph.step(
            attachment.vertex.node.ids[:_MAX_NAME_NODES],
            attachment.predicate,
            inverse=attachment.inverse,
        )
        if not self.lookups.is_resource(ids):
            return variable
        if not attachment.inverse and self.schema.is_own_key(ids, attachment.predicate):
            return self.draft.attach_predicate(Vertex(variable, Node(ids), 1), attachment.predicate)
        name = self.schema.find_custom_name_predicate(ids)
        if name is not None:
            return self.draft.attach_name(Vertex(variable, Node(ids), 1), name)
        if not attachment.inverse:
            name = self.schema.find_value_predicate(ids, attachment.predicate)
        if name is None:
            return variable
        return self.draft.attach_predicate(Vertex(variable, Node(ids), 1), name)

    def find_by_kind(self, after: int) -> Attachment | None:
        """Find the only relation of the root to several things of the kind that a noun names.

        "People" says of what kind the members of a band are, although no name holds the word.

        Args:
            after: the last position before the noun.
        """
        noun = after + 1
        while noun < len(self.question.tokens) and self.question.is_stop(noun):
            noun += 1
        if noun == len(self.question.tokens) or self.used >> noun & 1:
            return None
        kinds = get_word_kinds(self.question.tokens[noun].stem)
        if not kinds or not self.lookups.is_resource(self.get_vertex_ids(self.root)):
            return None
        numbers = [
            number
            for number in self.list_predicates(self.root)
            if number in self.schema.resource_predicates & self.schema.open_predicates
            and kinds & get_object_kinds(self.schema, number)
            and not self.schema.is_functional(number)
        ]
        if len(numbers) != 1:
            return None
        self.consume_tokens((noun,))
        return build_unnamed_attachment(self.root, numbers[0])

    def list_predicates(self, vertex: Vertex) -> list[int]:
        """Return the predicates of the first nodes at a vertex."""
        return sorted(self.search.get_predicates(vertex.node.ids[:_MAX_PREDICATE_NODES]))

    def find_by_words(
        self,
        words: Sequence[str],
        sorts: Sequence[ValueKind],
        *,
        require_name: bool = False,
        require_variable: bool = False,
        preferred: Vertex | None = None,
        allow_lives: bool = True,
    ) -> Attachment | None:
        """Find a predicate of the root, or of another vertex, whose name holds one of the words.

        Args:
            words: Words, the most important first.
            sorts: Accepted sorts of the values.
            require_name: Whether things without a name are skipped.
            require_variable: Whether single things are skipped.
            preferred: Vertex to try before the root.
            allow_lives: Whether births and deaths count, and the dates of persons, bodies and
                places beside the root. The first member of a club need not be the oldest.
        """
        life_predicates = {
            end
            for *ends, life_predicates in self.schema.spans
            if life_predicates and not allow_lives
            for end in ends
        }
        for vertex in sorted(self.draft.vertices, key=lambda end: end is not preferred):
            if require_variable and not isinstance(vertex.term, Variable):
                continue
            if require_name and self.schema.is_nameless(vertex.node.ids):
                continue
            is_lasting = not (allow_lives or vertex is self.root) and bool(
                _LASTING_KINDS & get_node_kinds(self.schema, vertex.node.ids)
            )
            # "The latest" began last, and "the best" has no number of ratings.
            ends = {end for _, end, _ in self.schema.spans}
            counts = get_shared_words().names["counts"]
            present_predicates = sorted(
                self.list_predicates(vertex),
                key=lambda p: (p in ends, not counts.isdisjoint(self.schema.get_name_stems(p))),
            )
            for word in words:
                for number in present_predicates:
                    sort = self.schema.get_sort(number)
                    is_fitting = sort in sorts and number not in life_predicates
                    is_fitting &= not (is_lasting and sort in TEMPORAL_SORTS)
                    if is_fitting and word in self.schema.get_name_stems(number):
                        return build_unnamed_attachment(vertex, number)
        return self._find_beyond_nameless(words) if tuple(sorts) == MEASURED_SORTS else None

    def _find_beyond_nameless(self, words: Sequence[str]) -> Attachment | None:
        """Find a measure of the nameless nodes that the root leads to: a rating, an offer."""
        sample = self.root.node.ids[:_MAX_PREDICATE_NODES]
        for number in self.list_predicates(self.root):
            nodes = self.graph.step(sample, number)
            if not (self.lookups.is_resource(nodes) and self.schema.is_nameless(nodes)):
                continue
            inner = sorted(self.search.get_predicates(nodes))
            measures = (p for p in inner if self.schema.get_sort(p) in MEASURED_SORTS)
            matching = {w: p for p in measures for w in words if w in self.schema.get_name_stems(p)}
            if matching:
                way = self.attach(build_unnamed_attachment(self.root, number))
                vertex = Vertex(way, Node(self.graph.step(self.root.node.ids, number)), 1)
                return build_unnamed_attachment(vertex, matching[min(matching, key=words.index)])
        return None

    def find_only_predicate(self, sorts: Sequence[ValueKind]) -> Attachment | None:
        """Find the only predicate of some sorts: at an event of the pattern, the root or elsewhere.

        Of a start and an end, prefer the end if a word says that something ended, or "until when".
        """
        times, question_word = self.question.word_list.time_phrases, self.operators.question_word
        ending_words = {phrase[0] for phrase in times["ending"]}
        until_words = {phrase[0] for phrase in times["until"]}
        start_words = get_shared_words().names["begins"] | get_shared_words().names["dates"]
        asks_end = not ending_words.isdisjoint(self.question.folded_words) or (
            question_word is not None
            and self.question.folded_words[question_word[1]] in until_words
        )
        for vertex in sorted(self.draft.vertices, key=lambda one: not self.is_event(one)):
            if not self.lookups.is_resource(vertex.node.ids):
                continue
            numbers = [
                number
                for number in self.list_predicates(vertex)
                if self.schema.get_sort(number) in sorts
            ]
            spans = [(start, end) for start, end, _ in self.schema.spans if start in numbers]
            span_ends = {end if asks_end else start for start, end in spans}
            numbers = [
                number
                for number in numbers
                if number in span_ends or not any(number in span for span in spans)
            ]
            if numbers:
                starts = (n for n in numbers if start_words & self.schema.get_name_stems(n))
                ends = (n for n in numbers if n in span_ends)
                self.unknown += Penalty.OTHER_PREDICATE * (len(numbers) - 1)
                return build_unnamed_attachment(vertex, [*ends, *starts, *numbers][0])
        return None

    def find_only_number(self) -> Attachment | None:
        """Return the only number of what words name, but for codes: "the total of all payments"."""
        keys, schema = get_shared_words().names["keys"], self.schema
        numbers = [
            number
            for number in self.list_predicates(self.root)
            if schema.get_sort(number) in NUMERIC_SORTS
            if keys.isdisjoint(schema.get_name_stems(number))
        ]
        if len(numbers) != 1 or not self.root.name_positions:
            return None
        self.unknown += Penalty.STEP
        return build_unnamed_attachment(self.root, numbers[0])

    def find_event_date(self) -> Attachment | None:
        """Return the start of the root's only nameless event, or of the event's time span.

        "Paintings from before 1850" are those whose production has a time span before it.
        """
        ids, begins = self.get_vertex_ids(self.root), get_shared_words().names["begins"]
        if not self.lookups.is_resource(ids):
            return None
        dates_by_path = {}
        for steps, predicates in self.schema.find_surroundings(ids):
            first = Edge(*steps[0])
            dates = [n for n in sorted(predicates) if self.schema.get_sort(n) in DATE_SORTS]
            if dates and self.schema.is_nameless(self.lookups.follow_edge(ids, first)):
                dates.sort(key=lambda n: begins.isdisjoint(self.schema.get_name_stems(n)))
                dates_by_path[tuple(Edge(*step) for step in steps)] = dates[0]
        if len(dates_by_path) != 1:
            return None
        ((path, number),) = dates_by_path.items()
        return replace(build_unnamed_attachment(self.root, number), path=path)

    def is_event(self, vertex: Vertex) -> bool:
        """Return whether the nodes at a vertex only relate other nodes."""
        is_resource = self.lookups.is_resource(vertex.node.ids)
        return is_resource and (self.is_statement(vertex) or self.schema.is_nary(vertex.node.ids))

    def is_statement(self, vertex: Vertex) -> bool:
        """Return whether the nodes at a vertex are statements, whose value answers the question."""
        return self.schema.is_statement(vertex.node.ids)

    def choose_name_variable(self, vertex: Vertex) -> Variable:
        """Return the variable to show for a thing: its name if the graph has one."""
        ids = vertex.node.ids
        leading_edges = [edge for edge, _ in vertex.node.edges if edge.inverse]
        leading_edges += [vertex.edge] if vertex.edge and not vertex.edge.inverse else []
        named_keys = (  # "customer id"
            edge.predicate
            for edge in leading_edges
            if edge.link is not None and edge.link.score * edge.link.quality >= _MIN_KEY_SCORE
            if self.schema.is_own_key(ids, edge.predicate)
        )
        name = next(named_keys, None)
        if name is None:
            name = self.schema.find_custom_name_predicate(ids)
            if name is not None:
                return self.draft.attach_name(vertex, name)
        if name is None:
            values = (
                self.schema.find_value_predicate(ids, edge.predicate) for edge in leading_edges
            )
            name = next((number for number in values if number is not None), None)
        if name is None and isinstance(vertex.term, Variable):
            return vertex.term
        return self.draft.attach_predicate(vertex, name or 0)


def build_unnamed_attachment(vertex: Vertex, predicate: int) -> Attachment:
    """Build the attachment of a predicate that no word of the question names."""
    return Attachment(vertex, predicate, False, _UNNAMED_LINK)
