"""Detect faults of a query: it contradicts itself, aggregates nothing, or ignores the question.

Faults are visible without a gold query. Few correct queries have one, and many wrong ones have
none.
The name of each check without its underscore is the name of the fault; see `FAULT_CHECKS`.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from pyoxigraph import Literal, NamedNode, Variable

from askgraph.index.names import ItemKind, stem_name
from askgraph.search.expand import FULL_NAME_SHARE, MAX_TOKENS_BESIDE
from askgraph.search.expand.schema import Schema
from askgraph.search.link import Link, LinkedQuestion
from askgraph.search.operators.query_builder import PAIRED_NOTE, TOP_NOTE, QueryCandidate
from askgraph.search.query_pieces import (
    Value,
    ValueCondition,
    connect_variables,
    find_aggregates,
    format_term,
    get_function,
    get_predicate,
    get_value_variable,
    list_alternatives,
    list_conditions,
    list_group_variables,
    list_having,
    list_negated_groups,
    list_operands,
    list_optional_patterns,
    list_patterns,
    list_sort_keys,
    list_subqueries,
    list_union_groups,
)
from askgraph.search.rank import RankedCandidates
from askgraph.search.rank.expected_answer_type import (
    ExpectedAnswer,
    find_question_word,
    find_requested_nouns,
    is_in_name,
)
from askgraph.search.tokenize import Quantity
from askgraph.search.tokenize.question_operators import Operator, QuestionOperators
from askgraph.sparql import Bind, Call, Group, Pattern, Query, Values, find_variables, walk
from askgraph.sparql.serializer import to_text as written
from askgraph.sparql.vocabulary import RDF_TYPE

_FIRST_NUMBER_PATTERN = re.compile(r"-?\d+(?:\.\d+)?")
_LOWER_BOUND_SIGNS, _UPPER_BOUND_SIGNS = (">", ">=", "="), ("<", "<=", "=")


def _contradicts(context: "FaultContext") -> bool:
    """Return whether the query negates what it requires, or its bounds exclude each other."""
    triples = {_to_key(element) for element in context.patterns}
    for negated_group in context.negated_groups:
        patterns = list_patterns(negated_group)
        if len(patterns) == len(negated_group.elements) and all(
            _to_key(element) in triples for element in patterns
        ):
            return True
    conditions = context.conditions
    return any(
        max(_iterate_bounds(conditions, variable, _LOWER_BOUND_SIGNS), default=float("-inf"))
        > min(_iterate_bounds(conditions, variable, _UPPER_BOUND_SIGNS), default=float("inf"))
        for variable in {element.variable for element in conditions}
    )


def _to_key(pattern: Pattern) -> tuple[object, str, object]:
    return pattern.subject, get_predicate(pattern), pattern.object


def _iterate_bounds(
    conditions: Sequence[ValueCondition], variable: Variable, operators: Sequence[str]
) -> Iterator[float]:
    for condition in conditions:
        if (
            condition.variable == variable
            and condition.operator in operators
            and len(condition.values) == 1
        ):
            [value] = condition.values
            match = _FIRST_NUMBER_PATTERN.match(value.value) if isinstance(value, Literal) else None
            if match is not None:
                yield float(match.group())


def _counts_group(context: "FaultContext") -> bool:
    """Return whether the query aggregates the variable that it groups by: one value per group."""
    group_variables = list_group_variables(context.tree)
    return any(
        get_value_variable(aggregate) in group_variables
        for aggregate in find_aggregates(context.tree)
    )


def _single_values(context: "FaultContext") -> bool:
    """Return whether the query averages or sums a functional predicate of each group: one value."""
    group_variables = list_group_variables(context.tree)
    values = [
        get_value_variable(element)
        for element in find_aggregates(context.tree)
        if get_function(element) != "COUNT"
    ]
    return any(
        element.subject in group_variables
        and element.object in values
        and (profile := context.proposal.schema.predicates_by_iri.get(get_predicate(element)))
        is not None
        and profile.functional
        for element in context.patterns
    )


def _idle_condition(context: "FaultContext") -> bool:
    """Return whether a condition does not affect the shown columns."""
    if context.candidate.is_ask:
        return False
    where = context.tree.where
    triples = (*context.patterns, *list_optional_patterns(where))
    bindings = (element for element in where.elements if isinstance(element, Values | Bind))
    variable_sets = [set(find_variables(element)) for element in (*triples, *bindings)]
    reached_variables = connect_variables(
        set(map(get_value_variable, context.shown_values)), variable_sets
    )
    return any(element.variable not in reached_variables for element in context.conditions)


def _crossed(context: "FaultContext") -> bool:
    """Return whether two columns are only connected by a thing of the question: a cross product."""
    # Properties of that thing itself, and columns that "and" joins, are no fault.
    if context.operators.get_operators("and") or list_group_variables(context.tree):
        return False
    variable_sets = [set(find_variables(element)) for element in context.tree.where.elements]
    shown_variables = [get_value_variable(element) for element in context.shown_values]
    owners = {element.subject for element in context.patterns}
    return any(
        not set(shown_variables) <= connect_variables({variable}, variable_sets)
        for variable in shown_variables
        if variable in owners
    )


_MIN_SURE_SCORE = 0.845  # links from this score on surely name a thing: 0.85 is a people's name
_MIN_COLUMN_NAME_SCORE = 0.4  # below this score, no word names the shown column
_UNKNOWN_CLASS_SCORE = 0.5  # score of a thing of unknown class
_MIN_CLASS_SCORE = 0.7  # minimum score of a link for a noun to be a class
_EXTREME_OPERATORS = ("minimum", "maximum", "most", "fewest", "superlative")
_NUMBER_PATTERN = re.compile(r"(?:(?<![\w.])-)?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")


def find_faults(context: "FaultContext") -> tuple[str, ...]:
    """Return the names of the faults of a candidate, out of `FAULT_CHECKS`."""
    return tuple(name for name, has_fault in FAULT_CHECKS.items() if has_fault(context))


_MAX_CHECKED_CANDIDATES, _MAX_SCORE_GAP = 12, 0.4
"""How many candidates, and how far behind the best, are ranked again by their faults."""


def demote_faulty(proposal: RankedCandidates, weight: float) -> RankedCandidates:
    """Rank the best candidates again by their faults, if the first one has any."""
    proposal = _prefer_noun_class(proposal)
    candidates = proposal.candidates
    if not candidates or not find_faults(FaultContext(proposal, candidates[0])):
        return proposal
    close_candidates = [
        candidate
        for candidate in candidates[:_MAX_CHECKED_CANDIDATES]
        if candidate.score > candidates[0].score - _MAX_SCORE_GAP
    ]
    demoted = []
    for candidate in close_candidates:
        count = len(find_faults(FaultContext(proposal, candidate)))
        features = {**candidate.features, "faulty": float(count)}
        score = candidate.score + weight * count
        demoted.append(replace(candidate, score=score, features=features))
    ranked = sorted(
        (*demoted, *candidates[len(close_candidates) :]), key=lambda candidate: -candidate.score
    )
    return replace(proposal, candidates=tuple(ranked))


def _prefer_noun_class(proposal: RankedCandidates) -> RankedCandidates:
    """Rank a query that also requires the class that the noun names before one that does not."""
    # "Moons of X" are not all things that a predicate "moon of" leads to if some are no moons.
    links = [
        link
        for noun in find_requested_nouns(proposal.linked, proposal.operators)[:1]
        for link in proposal.linked.get_links(ItemKind.CLASS)
        if link.is_exact and link.target in noun.classes and {*link.positions} <= {*noun.positions}
    ]
    for link in links if proposal.candidates else ():
        best, *lower_ranked = proposal.candidates
        best_terms = FaultContext(proposal, best).terms
        terms = best_terms | {RDF_TYPE, f"<{link.target}>"}
        for candidate in lower_ranked[:_MAX_CHECKED_CANDIDATES] if terms != best_terms else ():
            context = FaultContext(proposal, candidate)
            variables = [get_value_variable(value) for value in context.shown_values]
            if (
                candidate.score > best.score - _MAX_SCORE_GAP
                and candidate.patterns == best.patterns + 1
                and (candidate.tree.form, candidate.notes) == (best.tree.form, best.notes)
                and context.terms == terms
                and any(
                    element.object == NamedNode(link.target) and element.subject in variables
                    for element in context.patterns
                )
            ):
                remaining = (item for item in proposal.candidates if item is not candidate)
                first = replace(candidate, score=best.score)
                return replace(proposal, candidates=(first, *remaining))
    return proposal


@dataclass(frozen=True, eq=False)
class FaultContext:
    """A candidate with the question that it should answer."""

    proposal: RankedCandidates
    candidate: QueryCandidate

    @property
    def tree(self) -> Query:
        """The query."""
        return self.candidate.tree

    @property
    def shown_values(self) -> tuple[Value, ...]:
        """Contents of the answer columns."""
        return self.candidate.shown

    @property
    def linked(self) -> LinkedQuestion:
        """The linked question."""
        return self.proposal.linked

    @property
    def operators(self) -> QuestionOperators:
        """Operators of the question."""
        return self.proposal.operators

    @property
    def expected(self) -> ExpectedAnswer:
        """Expected shape of the answer."""
        return self.proposal.expected

    @cached_property
    def link_scores(self) -> Mapping[str, float]:
        """Best link score of each term."""
        best: dict[str, float] = {}
        for link in self.linked.links:
            best[link.target] = max(link.score, best.get(link.target, 0.0))
        return best

    @cached_property
    def patterns(self) -> list[Pattern]:
        """Required patterns, without those of alternatives."""
        return list_patterns(self.tree.where)

    @cached_property
    def conditions(self) -> list[ValueCondition]:
        """Required comparisons, without those between the numbers of sub-queries."""
        numbers = self._subquery_numbers
        return [
            condition
            for condition in list_conditions(self.tree.where)
            if condition.variable not in numbers and not _is_extreme(condition, numbers)
        ]

    @cached_property
    def extreme_variables(self) -> list[Variable]:
        """Variables whose highest or lowest value a sub-query selects."""
        conditions, numbers = list_conditions(self.tree.where), self._subquery_numbers
        return [condition.variable for condition in conditions if _is_extreme(condition, numbers)]

    @cached_property
    def _subquery_numbers(self) -> set[Variable]:
        columns = (column for part in list_subqueries(self.tree.where) for column in part.columns)
        return {name for name, value in columns if value is not None}

    @cached_property
    def negated_groups(self) -> list[Group]:
        """Negated groups."""
        return list_negated_groups(self.tree.where)

    @cached_property
    def groups(self) -> list[Group]:
        """Groups of the query: required, negated and alternative ones."""
        inner = [subquery.where for subquery in list_subqueries(self.tree.where)]
        return [self.tree.where, *inner, *self.negated_groups, *list_union_groups(self.tree.where)]

    @cached_property
    def terms(self) -> frozenset[str]:
        """All IRIs and literals of the query as N-Triples text; predicates as plain IRIs."""
        where, parts = self.tree.where, self.groups
        patterns = [
            *list_optional_patterns(where),
            *(element for group in parts for element in list_patterns(group)),
        ]
        query_terms = [term for element in patterns for term in (element.subject, element.object)]
        query_terms += [
            term
            for group in parts
            for element in _get_comparisons(group)
            for term in element.values
        ]
        for element in where.elements:
            if isinstance(element, Values):
                query_terms += [term for row in element.rows for term in row if term is not None]
            elif isinstance(element, Bind):
                query_terms += list_operands(element.value)
        constants = [str(term) for term in query_terms if not isinstance(term, Variable)]
        return frozenset([*constants, *map(get_predicate, patterns)])

    def has_link_target(self, link: Link) -> bool:
        """Return whether the query contains the target of a link."""
        return link.target in self.terms or f"<{link.target}>" in self.terms

    def score_column_name(self, value: Value) -> float:
        """Return how well words name a column's content; a medium score if it is unknown."""
        variable = get_value_variable(value)
        incoming = [] if variable == self.candidate.root else self._list_incoming(variable)
        if incoming:
            return max(self.link_scores.get(iri, 0.0) for iri in incoming)
        return max(
            (self.link_scores.get(iri, 0.0) for iri in self.list_classes(variable)),
            default=_UNKNOWN_CLASS_SCORE,
        )

    def list_classes(self, variable: Variable) -> list[str]:
        """Return the classes that the query requires of a variable."""
        return [
            triple.object.value
            for triple in self.patterns
            if triple.subject == variable
            and get_predicate(triple) == RDF_TYPE
            and isinstance(triple.object, NamedNode)
        ]

    def _list_incoming(self, variable: Variable) -> list[str]:
        """Return the predicates that lead to a variable."""
        # If it is the value of nameless nodes, also return those that lead to the nodes: words name
        # the birth and not its date.
        predicates, ends, schema = list[str](), [variable], self.proposal.schema
        for end in ends:
            for triple in self.patterns:
                predicate = get_predicate(triple)
                if triple.object == end:
                    predicates.append(predicate)
                    is_value = schema.get_predicate_number(predicate) in schema.value_predicates
                    subject = triple.subject if is_value or end != variable else None
                    if isinstance(subject, Variable) and subject not in ends:
                        ends.append(subject)
        return predicates


def _is_extreme(condition: ValueCondition, numbers: Collection[Variable]) -> bool:
    """Return whether a condition requires the number of a sub-query."""
    return (
        condition.operator == "="
        and numbers.__contains__(condition.values[0])
        and condition.variable not in numbers
    )


def _get_comparisons(group: Group) -> list[ValueCondition]:
    return [*list_conditions(group), *list_alternatives(group)]


def _number_missing(context: FaultContext) -> bool:
    """Return whether the query leaves a number or time unused, or does not contain a number."""
    # A number that is not in the question (as after the conversion of a unit) makes up for a
    # missing one.
    averages = context.operators.get_operators("average")
    question, has_limit = context.proposal.question, context.tree.limit is not None
    quantities = [
        quantity
        for quantity in question.quantities
        if quantity.value is not None and quantity.value != 1
        if not any(item.percent and quantity.first in item.positions for item in averages)
        if not (has_limit and question.is_percent(quantity))  # that is a number of rows
    ]
    dates = [quantity for quantity in question.quantities if quantity.value is None]
    if any(not context.candidate.used >> quantity.first & 1 for quantity in (*quantities, *dates)):
        return True
    query_numbers = list(_iterate_numbers(context))
    missing = [
        quantity
        for quantity in quantities
        if quantity.value not in query_numbers and not _is_in_name(quantity, context)
    ]
    expected_numbers = {
        sign * quantity.value
        for quantity in quantities
        if quantity.value is not None
        for sign in (1, -1)
    }
    extra_numbers = set(query_numbers) - expected_numbers - set(_iterate_row_numbers(context.tree))
    return len(missing) > len(extra_numbers)


def _iterate_numbers(context: FaultContext) -> Iterator[float]:
    literals = [term for term in context.terms if not term.startswith(("<", "http", "urn:"))]
    texts = [literal.split('"^^')[0] for literal in literals]
    parts = (context.tree, *list_subqueries(context.tree.where))
    texts += [number.value for query in parts for _, _, number in list_having(query)]
    for text in texts:
        yield from map(float, _NUMBER_PATTERN.findall(text))
    yield from _iterate_row_numbers(context.tree)


def _iterate_row_numbers(query: Query) -> Iterator[float]:
    """Yield the number of rows to keep, and the position of the first one."""
    yield from () if query.limit is None else (float(query.limit),)
    yield float((query.offset or 0) + 1)


def _is_in_name(quantity: Quantity, context: FaultContext) -> bool:
    return any(
        quantity.first in link.positions and context.has_link_target(link)
        for link in context.linked.links
    )


def _thing_missing(context: FaultContext) -> bool:
    """Return whether words surely name a thing or value and the query uses none of their links."""
    comparisons = (one for group in context.groups for one in _get_comparisons(group))
    compared = [format_term(term) for one in comparisons for term in one.values]
    texts = " ".join([*compared, *map(written, list_subqueries(context.tree.where))]).lower()
    tokens = context.proposal.question.tokens
    covered_positions = {span.last + 1 for span in context.proposal.question.quantities}
    covered_positions |= {span.last for span in context.operators.get_operators("in_unit")}
    used = context.candidate.used
    covered_positions |= {
        position
        for span in context.operators.operators
        if span.mask & used
        for position in span.positions
    }
    return any(
        weight
        and position not in covered_positions
        and tokens[position].folded not in texts
        and _is_missing(position, context)
        for position, weight in enumerate(context.linked.weights)
    )


def _is_missing(position: int, context: FaultContext) -> bool:
    links = [link for link in context.linked.links if position in link.positions]
    sure = [link for link in links if link.score >= _MIN_SURE_SCORE]
    are_entities = all(link.kind in (ItemKind.ENTITY, ItemKind.VALUE) for link in sure)
    return bool(sure) and are_entities and not any(context.has_link_target(link) for link in links)


def _counted_noun(context: FaultContext) -> bool:
    """Return whether the query compares a value where a count is meant: "4 or more moons"."""
    query = context.tree
    if query.having or query.limit is not None:
        return False
    signs = {element.operator for element in context.conditions}
    return not signs.isdisjoint((*_LOWER_BOUND_SIGNS, *_UPPER_BOUND_SIGNS)) and any(
        _is_noun_counted(element, context) for element in context.proposal.question.quantities
    )


def _is_noun_counted(quantity: Quantity, context: FaultContext) -> bool:
    question = context.proposal.question
    after = range(
        quantity.last + 1, min(quantity.last + 1 + MAX_TOKENS_BESIDE, len(question.tokens))
    )
    content = (
        position
        for position in after
        if not question.is_stop(position) and not context.operators.mask >> position & 1
    )
    position = next(content, None)
    if position is None or question.tokens[position].stem == question.tokens[position].folded:
        return False
    nouns = context.linked.get_links(ItemKind.CLASS, ItemKind.PREDICATE)
    links = [
        link for link in nouns if position in link.positions and link.score >= _MIN_CLASS_SCORE
    ]
    return bool(links) and links[0].kind is ItemKind.CLASS


def _extreme_missing(context: FaultContext) -> bool:
    """Return whether the query has fewer extremes than the question."""
    if PAIRED_NOTE in context.candidate.notes:
        return False  # its superlative may compare: "más grande"
    requested = {
        (operator.name, operator.measure is None or operator.measure.is_upward)
        for operator in _iterate_extremes(context)
    }
    query = context.tree
    extreme_count = _count_extremes(context) + bool(query.having)
    if query.limit is not None:
        extreme_count += len({key for key, _ in list_sort_keys(query)} - {context.candidate.root})
    return len(requested) > extreme_count


def _count_extremes(context: FaultContext) -> int:
    """Return the number of highest and lowest values that are shown or computed in sub-queries."""
    inner = [
        value for subquery in list_subqueries(context.tree.where) for _, value in subquery.columns
    ]
    calls = (value for value in (*context.shown_values, *inner) if isinstance(value, Call))
    extremes = sum(call.name in ("MIN", "MAX") for call in calls)
    return extremes + (TOP_NOTE in context.candidate.notes)


def _iterate_extremes(context: FaultContext) -> Iterator[Operator]:
    return (
        operator
        for operator in context.operators.get_operators(*_EXTREME_OPERATORS)
        if not is_in_name(operator, context.linked)
    )


def _limit_missing(context: FaultContext) -> bool:
    """Return whether the question asks for the first rows of an order, and the query keeps all."""
    if context.expected.limit is None or context.tree.limit is not None:
        return False
    has_limit = context.operators.get_operators("top") or any(_iterate_extremes(context))
    is_paired = PAIRED_NOTE in context.candidate.notes
    return bool(has_limit) and not is_paired and not _count_extremes(context)


def _columns_missing(context: FaultContext) -> bool:
    """Return whether the query has fewer columns than the question lists."""
    expected = context.expected
    calculations = {PAIRED_NOTE, "difference", "ratio"} & {*context.candidate.notes}
    column_count = 0 if calculations else max(expected.columns or 0, expected.noun_count)
    if context.operators.further_question_words:
        column_count = max(column_count, 1 + len(context.operators.further_question_words))
    question = context.linked.reading
    for conjunction in context.operators.get_operators("and"):  # "… and what are the companies"
        after = range(conjunction.last + 1, min(conjunction.last + 3, len(question.tokens)))
        column_count = max(
            column_count, 2 * (find_question_word(question, within=after) is not None)
        )
    return not context.candidate.is_ask and column_count > len(context.shown_values)


def _columns_extra(context: FaultContext) -> bool:
    """Return whether a question for a person, place or time gets more columns than it asks for."""
    operators = context.operators
    return (
        context.expected.kind in ("who", "where", "when")
        and not operators.further_question_words
        and not operators.get_operators("and", "each", "both")
        and len(context.shown_values) > max(1, context.expected.columns or 0)
    )


def _denied_apart(context: FaultContext) -> bool:
    """Return whether a negation is about another thing than the shown columns."""
    patterns = context.patterns
    main_variables = set(find_variables(tuple(patterns)))
    shown_variables = {get_value_variable(element) for element in context.shown_values}
    values = shown_variables - {element.subject for element in patterns}
    owners = {element.subject for element in patterns if element.object in values}
    return (
        bool(context.operators.get_operators("not"))
        and not context.candidate.is_ask
        and any(
            not set(find_variables(tuple(list_patterns(element))))
            & main_variables
            & (shown_variables | owners)
            for element in context.negated_groups
        )
    )


def _unasked(context: FaultContext) -> bool:
    """Return whether the question asks for a property, and no word names the only shown column."""
    if (
        len(context.shown_values) != 1
        or context.expected.classes
        or not context.expected.predicates
    ):
        return False
    [value] = context.shown_values
    if not isinstance(value, Variable):
        return False
    variables = (value, context.candidate.names.get(value, value))  # a name, and the thing with it
    return max(map(context.score_column_name, variables)) < _MIN_COLUMN_NAME_SCORE


_MIN_FAME_RATIO = 100  # ratio of edges from which a thing is clearly the one that its name means


def _namesake(context: FaultContext) -> bool:
    """Return whether another thing of the same classes has the same name as a used one."""
    links = context.linked.get_links(ItemKind.ENTITY)
    used_links = [
        link
        for link in links
        if link.similarity > FULL_NAME_SHARE and context.has_link_target(link)
    ]
    return any(
        namesake.target != link.target
        and namesake.positions == link.positions
        and stem_name(namesake.name) == stem_name(link.name)
        and not context.has_link_target(namesake)
        and _is_plausible_namesake(namesake.target, link.target, context.proposal.schema)
        for link in used_links
        for namesake in links
    )


def _is_plausible_namesake(namesake_iri: str, iri: str, schema: Schema) -> bool:
    """Return whether a namesake has the same classes and is about as well known."""
    namesake, node = schema.graph.terms.find_iri(namesake_iri), schema.graph.terms.find_iri(iri)
    if namesake is None or node is None or schema.get_classes(namesake) != schema.get_classes(node):
        return False
    return schema.graph.get_degree(node) < _MIN_FAME_RATIO * schema.graph.get_degree(namesake)


def _measured_apart(context: FaultContext) -> bool:
    """Return whether "how heavy is X?" gets a number that is not one of X."""
    linked, question = context.linked, context.linked.reading
    shown_variables = {get_value_variable(element) for element in context.shown_values}
    owners = {element.subject for element in context.patterns if element.object in shown_variables}
    has_owner_column = any(name in owners for name, _ in context.tree.columns)
    for element in context.operators.get_operators("measure"):
        first = element.last + 1
        while first < len(question.tokens) and question.is_stop(first):
            first += 1
        for link in linked.get_links(ItemKind.ENTITY):
            if (
                link.positions[0] == first
                and link.score >= FULL_NAME_SHARE
                and context.has_link_target(link)
            ):
                last = max(x.positions[-1] for x in linked.links if x.target == link.target)
                is_elsewhere = owners and NamedNode(link.target) not in owners
                return has_owner_column or bool(
                    is_elsewhere and not any(linked.weights[last + 1 :])
                )
    return False


def _borrowed_value(context: FaultContext) -> bool:
    """Return whether a value is not of the named thing, which lacks it, but of one beside it."""
    # "When was X born?" is not answered by the birth dates of those in the agency of X.
    schema, graph = context.proposal.schema, context.proposal.schema.graph
    named_classes = {link.target for link in context.linked.get_links(ItemKind.CLASS)}
    nodes = [
        node
        for link in context.linked.get_links(ItemKind.ENTITY)
        if link.score >= FULL_NAME_SHARE and context.has_link_target(link)
        if (node := schema.find_link_node(link)) is not None
    ]
    shown = {get_value_variable(value) for value in context.shown_values}
    for pattern in context.patterns:
        inverse = pattern.subject in shown
        owner = pattern.object if inverse else pattern.subject
        number = schema.get_predicate_number(get_predicate(pattern))
        if (
            number is None
            or number == schema.type_predicate
            or not (inverse or pattern.object in shown)
            or not isinstance(owner, Variable)
            or context.link_scores.get(get_predicate(pattern), 0.0) < _MIN_COLUMN_NAME_SCORE
            or not named_classes.isdisjoint(context.list_classes(owner))
        ):
            continue
        for node in nodes:
            classes = schema.get_classes(node)[:1]
            own = graph.get_predicates(np.array([node], dtype=np.int32), inverse=inverse)
            if number not in own and any(
                number in graph.get_predicates(schema.get_instances(cls), inverse=inverse)
                for cls in classes
            ):
                return True
    return False


def _indefinite(context: FaultContext) -> bool:
    """Return whether the query uses a thing that is only partly named, as by "a spacecraft"."""
    question = context.linked.reading
    return any(
        link.score < _MIN_SURE_SCORE
        and link.positions[0] > 0
        and (question.folded_words[link.positions[0] - 1],)
        in question.word_list.time_phrases["one"]
        and context.has_link_target(link)
        for link in context.linked.get_links(ItemKind.ENTITY)
    )


def _wrong_sort(context: FaultContext) -> bool:
    """Return whether a number or date is requested, and no shown column holds one."""
    expects_value = context.operators.asks in ("number", "date", "year")
    return expects_value and not context.candidate.features["asks"]


_COMPARISONS = {"<", ">", "<=", ">=", "-", "/"}


def _uncompared(context: FaultContext) -> bool:
    """Return whether the question compares things or numbers, and the query compares nothing."""
    reading = context.linked.reading
    clauses, words = reading.word_list.clauses, reading.folded_words
    starts = [at for at, word in enumerate(words) if word in clauses["more"] | clauses["fewer"]]
    ends = [at for at, word in enumerate(words) if word in clauses["than"]]
    content = [at for at, weight in enumerate(context.linked.weights) if weight]
    is_comparison = any(
        any(start < at < end for at in content) and content[-1] > end
        for start in starts
        for end in ends
    )
    has_choice = bool(context.operators.get_operators("or")) and bool(
        context.operators.get_operators("comparative", "superlative", "most", "fewest")
        or any(start < at for start in starts for at in content)
    )
    calls = {part.name for part in walk(context.tree) if isinstance(part, Call)}
    return (is_comparison or has_choice) and not (calls & _COMPARISONS or context.tree.order)


def _wrong_kind(context: FaultContext) -> bool:
    """Return whether a person, place or time is requested, and no shown column holds one."""
    return bool(context.candidate.features["misfit"])


_CHECKS: tuple[Callable[[FaultContext], bool], ...] = (
    _number_missing, _thing_missing, _counted_noun, _extreme_missing, _limit_missing,
    _columns_missing, _columns_extra, _denied_apart, _wrong_sort, _wrong_kind, _unasked,
    _namesake, _measured_apart, _borrowed_value, _indefinite, _contradicts, _counts_group,
    _single_values, _idle_condition, _crossed, _uncompared,
)  # fmt: skip

FAULT_CHECKS: Mapping[str, Callable[[FaultContext], bool]] = {
    one.__name__[1:]: one for one in _CHECKS
}
"""Check of each fault by its name."""
