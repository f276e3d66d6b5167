"""Operators on two things: same or different values, "other", and conditions joined by "or"."""

from collections.abc import Iterator, Sequence
from functools import reduce
from typing import TypeVar

import numpy as np
from pyoxigraph import BlankNode, Literal, NamedNode, Variable

from askgraph import sparql as ast
from askgraph.graph.arrays import intersect
from askgraph.index.names import ItemKind
from askgraph.search import expand
from askgraph.search.link import Link
from askgraph.search.operators.conditions import find_value_owner
from askgraph.search.operators.query_builder import QueryBuilder, Vertex
from askgraph.search.query_pieces import (
    build_filter,
    build_not_exists,
    build_pattern,
    get_predicate,
    get_value_variable,
    list_negated_groups,
    parse_term,
)
from askgraph.search.tokenize.question_operators import Operator

_MAX_WORDS_BEFORE, _MAX_WORDS_AFTER = 8, 8
"""Maximum number of words between "or" and the conditions that it joins."""


def join_by_or(query: QueryBuilder) -> None:
    """Join the two conditions around "or" to one."""
    for operator in query.operators.get_operators("or"):
        filters = query.filters_by_operator
        before = [item for item in filters if 0 < operator.first - item.last <= _MAX_WORDS_BEFORE]
        after = [item for item in filters if 0 < item.first - operator.last <= _MAX_WORDS_AFTER]
        nearest = (
            max(before, key=lambda item: item.last, default=operator),
            min(after, key=lambda item: item.first, default=operator),
        )
        left, right = (list(filters.get(item, ())) for item in nearest)
        if not right:
            left, right = [*_extract_value_condition(query, operator, after=True)], left
        elif not left:
            left = [*_extract_value_condition(query, operator, after=False)]
        if not left or not right or operator.mask & query.used:
            continue
        joined = (*left, *right)
        query.draft.filters = [item for item in query.draft.filters if item not in joined]
        left_patterns, right_patterns = _find_patterns(query, left), _find_patterns(query, right)
        if left_patterns and right_patterns and not {*left_patterns} & {*right_patterns}:
            draft, moved = query.draft, {*left_patterns, *right_patterns}
            sides = ast.Group((*left_patterns, *left)), ast.Group((*right_patterns, *right))
            draft.unions.append(ast.Union(sides))
            draft.patterns = [element for element in draft.patterns if element not in moved]
            objects = {element.object for element in moved}
            draft.edge_variables = {
                key: value for key, value in draft.edge_variables.items() if value not in objects
            }
        else:
            query.draft.filters.append(
                ast.Filter(ast.Call("||", (_build_conjunction(left), _build_conjunction(right))))
            )
        query.narrowed_ids.clear()
        query.cached_ids.clear()
        query.consume_words(operator.mask, query.search.sum_weights(operator.mask))
        query.gain += expand.GainWeight.OPERATOR
        query.notes.append("either")


def _find_patterns(query: QueryBuilder, filters: Sequence[ast.Filter]) -> list[ast.Pattern]:
    """Return the patterns that only lead to the values of some conditions; [] if used otherwise."""
    values = {value for element in filters for value in ast.find_variables(element.condition)}
    patterns = [
        element for element in query.draft.patterns if values & {*ast.find_variables(element)}
    ]
    is_exclusive = all(
        element.object in values and element.subject not in values for element in patterns
    )
    shown_variables = {variable for _, variable in query.projections} | {*query.draft.group_keys}
    other_uses = ast.find_variables(
        (*query.draft.bindings, *query.draft.columns, *query.draft.filters)
    )
    return (
        patterns
        if is_exclusive
        and len(patterns) == len(values)
        and not values & {*shown_variables, *other_uses}
        else []
    )


def _extract_value_condition(
    query: QueryBuilder, operator: Operator, *, after: bool
) -> Sequence[ast.Filter]:
    """Turn the value beside a word into a condition, with a variable in its pattern."""
    for match_node in query.state.node.walk():
        for edge, child in match_node.edges:
            if len(child.terms) != 1 or child.link is None or child.edges or edge.inverse:
                continue
            first, last = child.link.positions[0], child.link.positions[-1]
            gap = first - operator.last if after else operator.first - last
            if not 0 < gap <= _MAX_WORDS_AFTER:
                continue
            value = parse_term(query.graph.terms.get_text(child.terms[0]))
            for index, triple in enumerate(query.draft.patterns):
                if triple.object == value:
                    variable = query.draft.create_variable(
                        query.draft.get_hint(query.graph.get_predicate_iri(edge.predicate))
                    )
                    query.draft.patterns[index] = ast.Pattern(
                        triple.subject, triple.predicate, variable
                    )
                    return (build_filter(variable, "=", value),)
    return ()


def _build_conjunction(filters: Sequence[ast.Filter]) -> ast.Expression:
    """Return the conjunction of some conditions."""
    return reduce(
        lambda operand, next_operand: ast.Call("&&", (operand, next_operand)),
        (operand.condition for operand in filters),
    )


_ElementT = TypeVar("_ElementT", ast.Pattern, ast.Filter)
_LOWER_BOUND_SIGNS, _UPPER_BOUND_SIGNS = (">", ">="), ("<", "<=")


def apply_same_value(query: QueryBuilder, operator: Operator, *, same: bool) -> bool:
    """Require the value of another thing, or a different one: "the same X as Y"."""
    return any(
        _compare_with_entity(query, operator, link, same=same)
        for link in query.linked.get_links(ItemKind.ENTITY, ItemKind.VALUE)
        if 0 < link.positions[0] - operator.last <= expand.MAX_TOKENS_FAR
        and query.search.compute_gain(link, query.used)
    )


def _compare_with_entity(
    query: QueryBuilder, operator: Operator, link: Link, *, same: bool
) -> bool:
    entity = query.schema.find_link_node(link)
    slot = query.find_next_slot(operator.last, expand.MAX_TOKENS_BESIDE)
    vertex = query.find_next_vertex(operator.last, expand.MAX_TOKENS_BESIDE)
    if entity is not None and slot is None and vertex is not None and same:
        return _link_entity_to_vertex(query, link, entity, vertex)
    slot = slot or query.find_previous_slot(operator.first, expand.MAX_TOKENS_APART)
    if entity is None or slot is None or slot.mask & link.mask:
        return False
    attachment = query.find_attachment(slot)
    if attachment is None or attachment.path or not isinstance(attachment.vertex.term, Variable):
        return False
    if same and not _is_value_shared(
        query, link, entity, attachment.predicate, inverse=attachment.inverse
    ):
        return False
    subject = find_value_owner(query, link, entity, attachment)
    if subject is None:
        return False
    value = query.attach_and_consume(attachment)
    iri = query.graph.get_predicate_iri(attachment.predicate)
    entity_value = (
        value if same else query.draft.create_variable("their " + query.draft.hints[value])
    )
    ends = (entity_value, subject) if attachment.inverse else (subject, entity_value)
    query.draft.patterns.append(build_pattern(ends[0], iri, ends[1]))
    if not same:
        query.draft.filters.append(build_filter(value, "!=", entity_value))
    query.draft.filters.append(build_filter(attachment.vertex.term, "!=", subject))
    query.consume_link(link)
    return True


def _link_entity_to_vertex(query: QueryBuilder, link: Link, entity: int, vertex: Vertex) -> bool:
    """Link an entity, too, to a shared thing: "in the same X as Y"."""
    # A node without a name on the way to it stands for a separate relation of each.
    edges, ancestor = [vertex.edge], vertex.parent
    while ancestor is not None and ancestor.parent is not None and query.is_event(ancestor):
        edges, ancestor = [*edges, ancestor.edge], ancestor.parent
    steps = [edge for edge in edges if edge is not None and not edge.plus]
    if link.kind is not ItemKind.ENTITY or ancestor is None or len(steps) < len(edges):
        return False
    if not (isinstance(vertex.term, Variable) and isinstance(ancestor.term, Variable)):
        return False
    shared = np.array([entity], dtype=np.int32)
    for edge in reversed(steps):
        shared = query.lookups.follow_edge(shared, edge)
    matching_ids = intersect(shared, query.get_vertex_ids(vertex))
    for edge in steps:
        matching_ids = query.lookups.follow_edge(matching_ids, edge, backwards=True)
    matching_ids = intersect(matching_ids[matching_ids != entity], query.get_vertex_ids(ancestor))
    if not len(matching_ids):
        return False
    subject: ast.Term = query.graph.terms.get_term(entity)
    query.draft.filters.append(build_filter(ancestor.term, "!=", subject))
    for remaining, edge in reversed([*enumerate(steps)]):
        term = query.draft.create_variable("their relation") if remaining else vertex.term
        ends = (term, subject) if edge.inverse else (subject, term)
        query.draft.patterns.append(
            build_pattern(ends[0], query.graph.get_predicate_iri(edge.predicate), ends[1])
        )
        subject = term
    query.narrow_vertex(ancestor, matching_ids)
    query.consume_link(link)
    return True


def _is_value_shared(
    query: QueryBuilder, link: Link, entity: int, predicate: int, *, inverse: bool
) -> bool:
    """Return whether other nodes share a value with an entity; True if only a name is known."""
    if link.kind is not ItemKind.ENTITY:
        return True
    values = query.graph.step(np.array([entity], dtype=np.int32), predicate, inverse=inverse)
    return len(query.graph.step(values, predicate, inverse=not inverse)) > 1


def exclude_named_things(query: QueryBuilder, operator: Operator) -> bool:
    """Exclude the things that lead to the root: "other X"."""
    root = query.root
    if not isinstance(root.term, Variable):
        return False
    # The terms of the pattern that the root could be as well.
    terms: list[ast.Term] = []
    ids = query.get_vertex_ids(query.root)
    for match_node in query.state.node.walk():
        entity = match_node.terms[0] if len(match_node.terms) == 1 else None
        if entity is not None and len(ids) > 1 and entity in ids:
            query.narrow_vertex(query.root, ids[ids != entity])
            terms.append(query.graph.terms.get_term(entity))
    for vertex in query.draft.vertices:
        is_other_variable = vertex is not query.root and isinstance(vertex.term, Variable)
        if is_other_variable and len(ids) > 1 and len(intersect(ids, query.get_vertex_ids(vertex))):
            terms.append(vertex.term)
    query.draft.filters += [build_filter(root.term, "!=", term) for term in terms]
    return bool(terms)


def split_between_two(query: QueryBuilder) -> bool:
    """Split conditions that no single thing can meet between two things that share the answer.

    Returns whether all conditions can hold together then.
    """
    opposed_bounds = _find_opposed_bounds(query)
    if opposed_bounds is not None:
        return _split_condition(query, *opposed_bounds)
    for link, beside in _iterate_second_links(query):
        if _add_copy(query, link, beside):
            break
    return True


def negate_values(query: QueryBuilder) -> None:
    """Negate a property for all things with the shown value, not only for one of them.

    "Countries that have never had a host over 45" have no such host at all; but "the ages of hosts
    without a party" are those of each single host.
    """
    root = query.root.term
    columns = [column for column in query.draft.columns if column not in query.draft.context]
    shown_variables = set(map(get_value_variable, columns))
    if len(shown_variables) != 1 or not isinstance(root, Variable) or query.draft.group_keys:
        return
    [value] = shown_variables
    value_patterns = [x for x in query.draft.patterns if (x.subject, x.object) == (root, value)]
    if (
        not value_patterns
        or _has_unique_values(query, value_patterns[0])
        or not _is_asked_alone(query)
    ):
        return
    for index, triple in enumerate(query.draft.negations):
        for group in list_negated_groups(ast.Group((triple,))):
            if root in set(ast.find_variables(group.elements)):
                copier = _VariableCopier(query, {value})
                value_copy = copier.copy(value_patterns[0])
                copier.replacements |= {
                    variable: variable
                    for variable in set(ast.find_variables(group.elements)) - {root}
                }
                copies = [ast.transform(element, copier.replace_term) for element in group.elements]
                query.draft.negations[index] = build_not_exists(value_copy, *copies)
                query.draft.columns, query.draft.context = columns, []


def negate_conditions(query: QueryBuilder) -> None:
    """Negate what follows "no" with the condition on it: "no moon larger than 1000 km"."""
    operator = query.operators.get_operators("not")[0]
    later_operators = [x for x in query.filters_by_operator if x.first > operator.last + 1]
    later = later_operators[0] if later_operators else None
    if later is None or _is_new_clause(query, range(operator.last + 1, later.first)):
        return
    if query.draft.negations:
        query.unknown += expand.Penalty.WRONG_CLASS  # the condition is on the denied part
    elif not operator.mask & query.used and _negate_component(
        query, operator, query.filters_by_operator[later]
    ):
        query.consume_words(operator.mask, query.search.sum_weights(operator.mask))
        query.gain += expand.GainWeight.OPERATOR
        query.notes.append(operator.name)


def _is_new_clause(query: QueryBuilder, gap_positions: range) -> bool:
    """Return whether a new sentence, a conjunction or a main verb stands between two words."""
    question, being_verbs = query.question, query.question.word_list.yes_or_no["being"]
    relative_words = question.word_list.clauses["restrict"]
    return (
        question.has_sentence_break(gap_positions.start - 1, gap_positions.stop)
        or any(
            conjunction.first in gap_positions
            for conjunction in query.operators.get_operators("and", "or")
        )
        or any(
            question.folded_words[position] in being_verbs
            and question.folded_words[position - 1] not in relative_words
            for position in gap_positions
        )
    )


def _negate_component(
    query: QueryBuilder, operator: Operator, filters: Sequence[ast.Filter]
) -> bool:
    """Negate the patterns that are connected to conditions, except things named before."""
    draft, root = query.draft, query.root.term
    earlier_vertices = query.find_vertices_before(operator)
    kept_variables = {
        element.term for element in earlier_vertices if isinstance(element.term, Variable)
    }
    [bound_variable, *_] = ast.find_variables(filters[0])
    patterns = _find_component(draft.patterns, bound_variable, kept_variables)
    inner_variables = set(ast.find_variables(tuple(patterns)))
    outputs = (*draft.columns, *draft.group_keys, *draft.having, *(key for key, _ in draft.order))
    outer_variables = {root, *ast.find_variables(outputs)}
    ends = {endpoint for element in patterns for endpoint in (element.subject, element.object)}
    named_terms = [
        element.term
        for element in draft.vertices
        if element.name_positions and element not in earlier_vertices
    ]
    for node in query.state.node.walk():
        if node.link is not None and node.link.positions[0] > operator.last:
            named_terms += filter(None, (draft.get_constant(node),))
    is_complete = ends.issuperset(named_terms)
    if (
        not is_complete
        or not inner_variables & kept_variables
        or (inner_variables - kept_variables) & outer_variables
    ):
        return False
    draft.patterns = [element for element in draft.patterns if element not in patterns]
    draft.filters = [element for element in draft.filters if element not in filters]
    draft.negations.append(build_not_exists(*patterns, *filters))
    return True


def _is_asked_alone(query: QueryBuilder) -> bool:
    """Return whether the thing is not named between the asked value and the negation."""
    # "Years in which the type of the race is not a sprint" are the years of the other races.
    operators = query.operators.get_operators("not")
    if len(query.projections) != 1 or not operators:
        return False
    value_position, negation_position = query.projections[0][0], operators[0].first
    return value_position < negation_position and not any(
        value_position < position < negation_position for position in query.root.name_positions
    )


def _find_opposed_bounds(query: QueryBuilder) -> tuple[ast.Filter, ast.Filter] | None:
    """Return two bounds with no value between them, in the order of the question."""
    bounds: dict[tuple[ast.Expression, bool], tuple[float, ast.Filter]] = {}
    for condition_filter in query.draft.filters:
        match condition_filter.condition:
            case ast.Call(sign, (operand, Literal() as value)) if sign in (
                *_LOWER_BOUND_SIGNS,
                *_UPPER_BOUND_SIGNS,
            ):
                try:
                    number = float(value.value)
                except ValueError:
                    continue
                is_lower = sign in _LOWER_BOUND_SIGNS
                bounds[operand, is_lower] = number, condition_filter
                opposite = bounds.get((operand, not is_lower))
                if opposite is None:
                    continue
                distance = number - opposite[0] if is_lower else opposite[0] - number
                own = opposite[1].condition
                has_both_bounds = "=" in sign and isinstance(own, ast.Call) and "=" in own.name
                if distance > 0 or (distance == 0 and not has_both_bounds):
                    return opposite[1], condition_filter
    return None


def _split_condition(query: QueryBuilder, first: ast.Filter, second: ast.Filter) -> bool:
    """Move the second of two conditions to a copied thing; False if nothing could be shared."""
    [variable] = set(ast.find_variables(first)) & set(ast.find_variables(second))
    shared_variables = _find_shared_variables(query, variable)
    if not shared_variables:
        return False
    query.draft.filters.remove(second)
    copier = _VariableCopier(query, shared_variables)
    _copy_component(query, copier, variable, shared_variables, without=first)
    query.draft.filters.append(copier.copy(second))
    return True


def _copy_component(
    query: QueryBuilder,
    copier: "_VariableCopier",
    start: Variable,
    shared: set[Variable],
    *,
    without: ast.Filter | None = None,
) -> None:
    """Copy what is connected to a variable without the shared variables, except one filter."""
    draft, component = query.draft, _find_component(query.draft.patterns, start, shared)
    terms = {end for triple in component for end in (triple.subject, triple.object)} - shared
    filters = [item for item in draft.filters if not terms.isdisjoint(ast.find_variables(item))]
    draft.patterns += [copier.copy(item) for item in component]
    draft.filters += [copier.copy(item) for item in filters if item != without]
    query.notes.append("twin")


def _iterate_second_links(query: QueryBuilder) -> Iterator[tuple[Link, range]]:
    """Yield the unused things and values on one side of "both … and …", "… as well as …"."""
    # Each comes with the tokens on the other side, where the thing that it is the second to stands.
    both = query.operators.get_operators("both")
    for conjunction in query.operators.get_operators("and"):
        start = conjunction.first - 2 * expand.MAX_TOKENS_ACROSS
        opening = next((item for item in both if start <= item.last < conjunction.first), None)
        if opening is not None:
            start = opening.last + 1
        elif conjunction.first == conjunction.last:  # a plain "and" may join anything
            continue
        for link in query.linked.get_links(ItemKind.ENTITY, ItemKind.VALUE):
            first, last = link.positions[0], link.positions[-1]
            if link.mask & query.used or first < start:
                continue
            if last > conjunction.last:
                yield link, range(max(0, start), first)
            elif last < conjunction.first:
                yield link, range(conjunction.last + 1, len(query.question.tokens))


def _add_copy(query: QueryBuilder, link: Link, beside: range) -> bool:
    """Add a copy of a component with the second thing in place of the first."""
    text = f"<{link.target}>" if link.kind is ItemKind.ENTITY else link.target
    node_id = query.graph.terms.find(text)
    if node_id is None:
        return False
    second = parse_term(text)
    first_terms = {
        parse_term(query.graph.terms.get_text(node.terms[0]))
        for node in query.state.node.walk()
        if len(node.terms) == 1 and node.link is not None and node.link.positions[-1] in beside
    }
    for triple in query.draft.patterns:
        first = next((end for end in (triple.subject, triple.object) if end in first_terms), None)
        number = query.schema.get_predicate_number(get_predicate(triple))
        if first is None or number is None:
            continue
        if node_id not in query.graph.get_ends(number, inverse=triple.subject != first):
            continue
        owner = triple.object if triple.subject == first else triple.subject
        if not isinstance(owner, Variable):
            continue
        shared_variables = _find_shared_variables(query, owner)
        if not shared_variables:
            continue
        copier = _VariableCopier(query, shared_variables, {first: second})
        _copy_component(query, copier, owner, shared_variables)
        query.consume_link(link)
        query.unknown += query.state.unknown  # the twin guesses the same steps again
        return True
    return False


def _find_shared_variables(query: QueryBuilder, variable: Variable) -> set[Variable]:
    """Return the shown variables, except the thing that a condition is about and its name."""
    shown_variables = {x for x in query.draft.columns if isinstance(x, Variable)}
    if (
        len(shown_variables) != len(query.draft.columns)
        or query.draft.group_keys
        or variable in shown_variables
    ):
        return set()
    subjects = {element.subject for element in query.draft.patterns if element.object == variable}
    if shown_variables & subjects:
        return set()
    name_variables = {
        element.object
        for element in query.draft.patterns
        if element.subject in {variable, *subjects} and _has_unique_values(query, element)
    }
    return set() if shown_variables <= name_variables else shown_variables - name_variables


def _has_unique_values(query: QueryBuilder, triple: ast.Pattern) -> bool:
    """Return whether each value of a predicate belongs to a single thing: a name, a number."""
    number = query.schema.get_predicate_number(get_predicate(triple))
    profile = query.schema.predicates.get(number) if number is not None else None
    is_unique = profile is not None and profile.objects == profile.triples
    return is_unique or number in query.schema.mixed_predicates


def _find_component(
    patterns: Sequence[ast.Pattern], start: Variable, shared: set[Variable]
) -> list[ast.Pattern]:
    """Return the patterns that are connected to a variable without the shared variables."""
    reached_terms: set[ast.Term] = {start}
    component: dict[ast.Pattern, None] = {}
    while True:
        connected = [
            triple
            for triple in patterns
            if triple not in component
            and reached_terms & ({triple.subject, triple.object} - shared)
        ]
        if not connected:
            return list(component)
        for triple in connected:
            component[triple] = None
            ends = (triple.subject, triple.object)
            reached_terms |= {end for end in ends if isinstance(end, Variable)}
        reached_terms -= shared


class _VariableCopier:
    """Copies parts of a query with new variables, except for the shared ones."""

    def __init__(
        self,
        query: QueryBuilder,
        shared_variables: set[Variable],
        replacements: dict[ast.Term, ast.Term] | None = None,
    ) -> None:
        self.query, self.replacements = query, dict(replacements or {})
        self.replacements |= {variable: variable for variable in shared_variables}

    def copy(self, element: _ElementT) -> _ElementT:
        """Return an element with each variable replaced by its own new one."""
        element_copy: _ElementT = ast.transform(element, self.replace_term)
        return element_copy

    def replace_term(self, node: object) -> object:
        """Return the replacement of a term."""
        if not isinstance(node, Variable | NamedNode | BlankNode | Literal):
            return node
        if isinstance(node, Variable) and node not in self.replacements:
            self.replacements[node] = self.query.draft.create_variable(self.query.draft.hints[node])
        return self.replacements.get(node, node)
