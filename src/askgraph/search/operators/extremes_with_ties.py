"""Keep ties of an extreme: everything with the extreme value, and the extreme of each group.

An order with a limit of 1 keeps only one of several ties. Therefore the extreme is computed in a
sub-query and compared with each value. If the graph has no ties, the order stays.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray
from pyoxigraph import Variable

from askgraph.graph.arrays import Ids, deduplicate, intersect
from askgraph.search.expand import Edge, Penalty
from askgraph.search.expand.schema import is_mirrored
from askgraph.search.operators.aggregates import BY_SHOWN_NOTE, get_cast, has_many_between
from askgraph.search.operators.query_builder import TOP_NOTE, QueryBuilder, Vertex
from askgraph.search.query_pieces import (
    build_aggregate,
    build_aggregate_query,
    build_filter,
    get_alias,
    get_function,
    get_value_variable,
    is_aggregate,
    to_number_term,
)
from askgraph.search.tokenize import to_bit_mask
from askgraph.sparql import Call, Element, Expression, Filter, Group, Query, Term, transform
from askgraph.sparql.windows import build_ranks

_MAX_VALUES = 20_000  # with more values, ties for the highest are not checked


_GROUP_NOTES = frozenset(
    ("each", "monthly", "yearly", "decadal")
)  # of operators that ask for groups
_MIN_TIED_GROUPS = 2  # minimum number of groups in a tie


def keep_ties(query: QueryBuilder) -> None:
    """Keep everything with the highest or lowest value, in each group if there are groups."""
    draft = query.draft
    if draft.offset or not draft.order or draft.is_ask or draft.subqueries:
        return
    (key, descending), *further_keys = draft.order
    if draft.having or further_keys not in ([], [(key, not descending)]):
        return
    each = (_GROUP_NOTES if is_aggregate(key) else {"each"}) & {*query.notes}
    if draft.limit != 1 and (not each or further_keys or not query.is_grouped):
        return
    if isinstance(key, Call) and key.is_aggregate:
        if not further_keys and draft.limit is not None:
            keep = _keep_first_of_counts if each else _keep_largest_groups
            keep(query, key, descending=descending)
    elif not any(map(is_aggregate, draft.columns)):
        # "the largest and the smallest".
        directions = (descending, not descending)[: len(draft.order)]
        # Keep everything with the highest or lowest value, or both.
        draft, value = query.draft, get_value_variable(key)
        if query.is_grouped:
            owner_terms = [
                term
                for (term, _, _), variable in query.draft.edge_variables.items()
                if variable == value
            ]
            owner = next(
                (vertex for vertex in query.draft.vertices if vertex.term in owner_terms), None
            )
            is_group_key = value in draft.group_keys  # one value in each group
            if "each" in query.notes and owner is not None and owner.term in draft.group_keys:
                query.unknown += Penalty.WRONG_CLASS  # nothing in a group is the first of it
            if (
                "each" in query.notes
                and owner is not None
                and not (is_group_key or owner.term in draft.group_keys)
            ):
                groups = list(dict.fromkeys(draft.group_keys))
                if draft.limit == 1:
                    _compare_with_extremes(query, value, key, directions, groups)
                else:
                    _keep_first_of_groups(query, key, owner, groups, descending=descending)
                _show_owner(query, owner)
                group_vertices = [vertex for vertex in draft.vertices if vertex.term in groups]
                query.shown_words |= to_bit_mask(
                    {position for vertex in group_vertices for position in vertex.name_positions}
                )
                draft.group_keys, query.is_grouped = [], False
        elif len(directions) > 1 or _has_ties(query, value, directions[0]):
            _compare_with_extremes(query, value, key, directions, [])


def _compare_with_extremes(
    query: QueryBuilder,
    value: Variable,
    key: object,
    directions: Sequence[bool],
    groups: list[Variable],
) -> None:
    """Compute the extremes in sub-queries, and require that the value equals one of them."""
    draft = query.draft
    elements = _collect_elements(query)
    cast = get_cast(query, value)
    conditions: list[Expression] = []
    for descending in directions:
        rename = query.build_renamer(groups)
        inner, inner_value = transform(elements, rename), rename(value)
        assert isinstance(inner_value, Variable)
        function = "MAX" if descending else "MIN"
        subquery = build_aggregate_query(inner_value, inner, function, groups, cast=cast)
        draft.subqueries.append(subquery)
        conditions.append(build_filter(value, "=", get_alias(subquery), cast=cast).condition)
    draft.filters.append(
        Filter(reduce(lambda left, inner_value: Call("||", (left, inner_value)), conditions))
    )
    draft.order, draft.limit = [], None


def _keep_first_of_groups(
    query: QueryBuilder, key: Expression, owner: Vertex, groups: list[Variable], *, descending: bool
) -> None:
    """Require that fewer things of the group than the limit have a higher, or a lower, value."""
    draft, term = query.draft, owner.term if isinstance(owner.term, Variable) else None
    rows, rename = Group(_collect_elements(query)), query.build_renamer(groups)
    ranks, lower, higher, _ = build_ranks(rows, tuple(groups), key, term, rename)
    bound = Call("<", (higher if descending else lower, to_number_term(draft.limit or 1)))
    draft.subqueries.append(replace(ranks, having=(bound,)))
    columns = [column for column in draft.columns if isinstance(column, Variable)]
    draft.order = [*((column, False) for column in columns), (key, descending)]
    draft.limit = None
    query.notes.append(TOP_NOTE)


def _keep_first_of_counts(query: QueryBuilder, key: Call, *, descending: bool) -> None:
    """Keep the first things of each group by their counts, and all that tie with the last."""
    draft, periods = query.draft, {binding.variable for binding in query.draft.bindings}
    starts = [operator.last for operator in query.operators.get_operators("each")]
    variables = list(dict.fromkeys(draft.group_keys))
    mentions: list[tuple[int, Term]] = [*query.projections]
    mentions += [(at, vertex.term) for vertex in draft.vertices for at in vertex.name_positions]
    places = [(at, term) for at, term in mentions if starts and at > starts[0]]
    places = sorted((place for place in places if place[1] in variables), key=itemgetter(0))
    terms = [term for _, term in places[:1]] or periods
    group = next((variable for variable in variables if variable in terms), None)
    if get_function(key) != "COUNT" or group is None or len(variables) != 2:
        query.unknown += Penalty.WRONG_CLASS  # the first of all groups, not of each
        return
    [owner] = [variable for variable in variables if variable != group]
    number, columns = get_alias(key), ((group, None), (owner, None))
    elements = Group(_collect_elements(query))
    counts = Query("SELECT", elements, columns=(*columns, (number, key)), group_by=columns)
    rename = query.build_renamer([group])
    ranks, lower, higher, _ = build_ranks(Group((counts,)), (group,), number, owner, rename)
    bound = Call("<", (higher if descending else lower, to_number_term(draft.limit or 1)))
    draft.subqueries += [counts, replace(ranks, having=(bound,))]
    draft.columns = [number if column == key else column for column in draft.columns]
    draft.order = [(group, False), (number, descending)]
    draft.limit, draft.group_keys, query.is_grouped = None, [], False
    query.notes.append(TOP_NOTE)


def _collect_elements(query: QueryBuilder) -> tuple[Element, ...]:
    draft = query.draft
    return (
        *dict.fromkeys(draft.patterns),
        *dict.fromkeys(draft.value_blocks),
        *draft.unions,
        *draft.bindings,
        *dict.fromkeys(draft.filters),
        *draft.negations,
    )


def _show_owner(query: QueryBuilder, owner: Vertex) -> None:
    """Show the thing with the extreme beside its group, if no property of it is shown."""
    draft = query.draft
    property_variables = {
        value for (term, _, _), value in draft.edge_variables.items() if term == owner.term
    }
    if not any(
        column in property_variables and column not in draft.group_keys for column in draft.columns
    ):
        draft.columns.append(query.choose_name_variable(owner))


def _has_ties(query: QueryBuilder, value: Variable, descending: bool) -> bool:
    """Return whether several rows have the highest or lowest value."""
    edge_entry = next(
        (entry for entry in query.draft.edge_variables.items() if entry[1] == value), None
    )
    if edge_entry is None:
        return False
    (term, predicate, inverse), _ = edge_entry
    vertex = query.draft.find_vertex(term)
    if vertex is None or inverse:
        return False
    ids = query.get_vertex_ids(vertex)
    if not query.lookups.is_resource(ids) or len(ids) > _MAX_VALUES:
        return False
    bearers, objects = query.graph.get_edges(ids, predicate)
    is_literal = objects < query.graph.terms.first_iri
    bearers, objects = bearers[is_literal], objects[is_literal]
    days = query.schema.get_days(predicate)
    values = np.array([days.get(item, np.nan) for item in objects.tolist()])
    values = values if days else query.graph.values[objects]
    bearers, values = bearers[~np.isnan(values)], values[~np.isnan(values)]
    if not len(values):
        return False
    extreme_ids: Ids = bearers[values == (values.max() if descending else values.min())]
    current = vertex  # of the things that the pattern starts at, those that lead to the extreme
    while current.parent is not None and current.edge is not None:
        parent_ids = query.lookups.follow_edge(extreme_ids, current.edge, backwards=True)
        extreme_ids = intersect(query.get_vertex_ids(current.parent), parent_ids)
        current = current.parent
    if len(dict.fromkeys(extreme_ids.tolist())) > 1:
        return True
    # One thing with the extreme may lead to several shown things.
    shown_variables = set(map(get_value_variable, query.draft.columns))
    owner_terms = {
        term
        for (term, _, _), value in query.draft.edge_variables.items()
        if value in shown_variables
    }
    return any(
        has_many_between(query, query.root, candidate)
        for candidate in query.draft.vertices
        if candidate is not vertex
        and (candidate.term in owner_terms or candidate.term in shown_variables)
    )


def _keep_largest_groups(query: QueryBuilder, key: Call, *, descending: bool) -> None:
    """Keep all groups with the highest count, and everything that is asked about them."""
    # The count of each group is compared with the highest count, both from sub-queries. The order
    # stays if only one group has the highest count and only one row.
    draft = query.draft
    if get_function(key) != "COUNT" or not draft.group_keys or "each" in query.notes:
        return
    if any(is_aggregate(column) and column != key for column in draft.columns):
        return
    if BY_SHOWN_NOTE in query.notes and len(draft.group_keys) > 1:
        return
    group, counted_variable = draft.group_keys[0], get_value_variable(key)
    counts = _count_groups(query, group, counted_variable)
    if len(counts) and counts.max() == 1:
        query.unknown += Penalty.WRONG_CLASS  # each group has exactly one, so none has the most
        return
    other_columns = [
        column for column in draft.columns if isinstance(column, Variable) and column != group
    ]
    group_columns = [
        column for column in other_columns if _is_functional_of_group(query, group, column)
    ]
    vertex, value = _locate_variable(query, group)
    is_asked = (
        any(
            operator.last <= token
            for operator in query.operators.get_operators("most", "fewest")
            for token, variable in query.projections
            if variable == group
        )
        if value is not None
        else bool(vertex and vertex.name_positions)
    )
    has_more_rows = is_asked and len(group_columns) < len(other_columns)
    extreme_count = counts.max() if descending and len(counts) else counts.min(initial=1)
    if not has_more_rows and int((counts == extreme_count).sum()) < _MIN_TIED_GROUPS:
        return
    if has_more_rows and value is not None:
        draft.columns = [column for column in draft.columns if column != group]
        draft.context = [column for column in draft.context if column != group]
    elements = _collect_elements(query)
    group_counts = _build_counts(
        query, elements, (group, counted_variable), kept_variables=(group,)
    )
    all_counts = _build_counts(query, elements, (group, counted_variable))
    number, inner_number = get_alias(group_counts), get_alias(all_counts)
    extreme_variable = Variable(("highest_" if descending else "lowest_") + inner_number.value)
    extreme_call = Call("MAX" if descending else "MIN", (inner_number,))
    draft.subqueries += [
        group_counts,
        Query("SELECT", Group((all_counts,)), columns=((extreme_variable, extreme_call),)),
    ]
    draft.filters.append(build_filter(number, "=", extreme_variable))
    draft.columns = [number if column == key else column for column in draft.columns]
    draft.order, draft.limit, draft.group_keys, query.is_grouped = [], None, [], False


def _build_counts(
    query: QueryBuilder,
    elements: tuple[Element, ...],
    group_and_counted: tuple[Variable, Variable],
    *,
    kept_variables: tuple[Variable, ...] = (),
) -> Query:
    rename = query.build_renamer(kept_variables)
    group, counted_variable = rename(group_and_counted[0]), rename(group_and_counted[1])
    assert isinstance(group, Variable) and isinstance(counted_variable, Variable)
    call = build_aggregate("COUNT", counted_variable, distinct=True)
    columns = ((get_alias(call), call), *((variable, None) for variable in kept_variables))
    inner = Group(transform(elements, rename))
    return Query("SELECT", inner, columns=columns, group_by=((group, None),))


_VariableLocation = tuple[Vertex | None, tuple[int, bool] | None]
"""A vertex of the pattern, and its predicate (with direction) that leads to a value."""


def _locate_variable(query: QueryBuilder, variable: Variable) -> _VariableLocation:
    """Return the location of a variable: at a vertex, or at the end of a predicate of one."""
    if (vertex := query.draft.find_vertex(variable)) is not None:
        return vertex, None
    for (term, predicate, inverse), value in query.draft.edge_variables.items():
        if value == variable:
            return query.draft.find_vertex(term), (predicate, inverse)
    return None, None


def _is_functional_of_group(query: QueryBuilder, group: Variable, value: Variable) -> bool:
    """Return whether each group has only one of a value."""
    (vertex, group_step), (owner, step) = (
        _locate_variable(query, group),
        _locate_variable(query, value),
    )
    if vertex is None or owner is None or group_step is not None:
        return False
    is_single = step is None or query.schema.is_functional(step[0], inverse=step[1])
    return is_single and (owner is vertex or not has_many_between(query, vertex, owner))


def _count_groups(
    query: QueryBuilder, group: Variable, counted_variable: Variable
) -> NDArray[np.int64]:
    """Return the distinct count of each group, shape (groups,); empty if it is hard to compute."""
    # The pairs at two ends of the pattern; None if there are too many, or they are unclear.
    start = _locate_variable(query, counted_variable)
    (vertex, value), (target, key) = start, _locate_variable(query, group)
    if vertex is None or target is None:
        pairs = None
    else:
        ids = query.get_vertex_ids(vertex)
        joined: tuple[Ids, Ids] | None = (ids, ids)
        if value is not None:
            joined = query.graph.get_edges(ids, value[0], inverse=value[1])[::-1]
        for edge, next_vertex, backwards in _iterate_route(vertex, target):
            joined = (
                None
                if joined is None
                else _follow_step(query, joined, edge, next_vertex, backwards=backwards)
            )
        if joined is None or key is None:
            pairs = joined
        else:
            pairs = _join_pairs(
                joined, query.graph.get_edges(deduplicate(joined[1]), key[0], inverse=key[1])
            )
    if pairs is None:
        return np.zeros(0, dtype=np.int64)
    keys = pairs[0].astype(np.int64) << 32 | pairs[1]
    keys.sort(kind="stable")  # most arrive sorted
    is_first = np.diff(keys, prepend=-1) != 0
    counts = np.bincount(keys[is_first] & 0xFFFFFFFF)
    return counts[counts > 0]


def _iterate_route(start: Vertex, end: Vertex) -> Iterator[tuple[Edge, Vertex, bool]]:
    """Yield the steps between two vertices: the edge, where it leads, and whether it leads up."""
    ancestors = [end]
    while ancestors[-1].parent is not None:
        ancestors.append(ancestors[-1].parent)
    while start not in ancestors and start.parent is not None and start.edge is not None:
        yield start.edge, start.parent, True
        start = start.parent
    for ancestor in reversed(ancestors[: ancestors.index(start)]):
        if ancestor.edge is not None:
            yield ancestor.edge, ancestor, False


def _follow_step(
    query: QueryBuilder, pairs: tuple[Ids, Ids], edge: Edge, vertex: Vertex, *, backwards: bool
) -> tuple[Ids, Ids] | None:
    """Extend the second ends of pairs by a step to a vertex; None if it is too large or complex."""
    if edge.plus or is_mirrored(query.schema, edge.predicate) or len(pairs[1]) > _MAX_VALUES:
        return None
    inverse = edge.inverse != backwards
    steps = query.graph.get_edges(deduplicate(pairs[1]), edge.predicate, inverse=inverse)
    is_kept = np.isin(steps[1], query.get_vertex_ids(vertex))
    return _join_pairs(pairs, (steps[0][is_kept], steps[1][is_kept]))


def _join_pairs(left: tuple[Ids, Ids], right: tuple[Ids, Ids]) -> tuple[Ids, Ids]:
    """Join pairs: the second ends of the left ones with the first ends of the right ones."""
    order = np.argsort(right[0], kind="stable")
    starts, ends = right[0][order], right[1][order]
    low = np.searchsorted(starts, left[1], "left")
    counts = np.searchsorted(starts, left[1], "right") - low
    shift = np.concatenate([[0], np.cumsum(counts)[:-1]]) if len(counts) else counts
    indices = np.repeat(low - shift, counts) + np.arange(int(counts.sum()))
    return np.repeat(left[0], counts), ends[indices]
