"""Alternatives: "longer than 5 or older than 3" holds of what fits one of two conditions."""

from collections.abc import Sequence
from functools import reduce

from askgraph.search import condition, term_of
from askgraph.search.grow import WORTH_OPERATOR
from askgraph.search.linking.operators import Operator
from askgraph.search.operators.query_builder import QueryBuilder
from askgraph.sparql import Call, Expression, Filter, Group, Pattern, Union, variables_of

_BEFORE, _AFTER = 8, 8
"""So many tokens before "or", and after it, the conditions that it joins end and begin."""


def joined_by_or(work: QueryBuilder) -> None:
    """Make one condition of two that "or" stands between."""
    for operator in work.frame.of("or"):
        left, right = _beside(work, operator)
        if not right:
            left, right = _value(work, operator, after=True), left
        elif not left:
            left = _value(work, operator, after=False)
        if not left or not right or operator.mask & work.used:
            continue
        work.draft.filters = [one for one in work.draft.filters if one not in (*left, *right)]
        mine, other = _patterns_of(work, left), _patterns_of(work, right)
        if mine and other and not {*mine} & {*other}:
            _unite(work, (*mine, *left), (*other, *right))
        else:
            work.draft.filters.append(Filter(Call("||", (_all(left), _all(right)))))
        work.narrowed.clear()
        work.standing.clear()
        work.take(operator.mask, work.grower.weight_of(operator.mask))
        work.gain += WORTH_OPERATOR
        work.notes.append("either")


def _patterns_of(work: QueryBuilder, filters: Sequence[Filter]) -> list[Pattern]:
    """The patterns that only lead to the values that some conditions are about."""
    values = {value for one in filters for value in variables_of(one.condition)}
    found = [one for one in work.draft.patterns if values & {*variables_of(one)}]
    alone = all(one.object in values and one.subject not in values for one in found)
    shown = {variable for _, variable in work.projected} | {*work.draft.group}
    rest = variables_of((*work.draft.computed, *work.draft.columns, *work.draft.filters))
    return found if alone and len(found) == len(values) and not values & {*shown, *rest} else []


def _unite(work: QueryBuilder, *sides: Sequence[Pattern | Filter]) -> None:
    """Ask for what fits one of two groups; it need not have what the other one is about."""
    draft = work.draft
    draft.either.append(Union(tuple(Group(tuple(one)) for one in sides)))
    moved = {one for side in sides for one in side}
    draft.patterns = [one for one in draft.patterns if one not in moved]
    ends = {one.object for one in moved if isinstance(one, Pattern)}
    draft.attached = {key: value for key, value in draft.attached.items() if value not in ends}


def _beside(work: QueryBuilder, operator: Operator) -> tuple[Sequence[Filter], Sequence[Filter]]:
    """The conditions nearest before and after a word, if they are near enough."""
    before = [one for one in work.made if 0 < operator.first - one.last <= _BEFORE]
    after = [one for one in work.made if 0 < one.first - operator.last <= _AFTER]
    left = max(before, key=lambda one: one.last, default=None)
    right = min(after, key=lambda one: one.first, default=None)
    return work.made[left] if left else (), work.made[right] if right else ()


def _value(work: QueryBuilder, operator: Operator, *, after: bool) -> Sequence[Filter]:
    """The condition that something has the value that stands on a side of a word.

    Its pattern has a variable in the value's place from then on.
    """
    for part in work.state.node.walk():
        for edge, child in part.edges:
            if len(child.terms) != 1 or child.link is None or child.edges or edge.inverse:
                continue
            first, last = child.link.positions[0], child.link.positions[-1]
            gap = first - operator.last if after else operator.first - last
            if not 0 < gap <= _AFTER:
                continue
            value = term_of(work.graph.terms.text(child.terms[0]))
            for index, one in enumerate(work.draft.patterns):
                if one.object == value:
                    found = work.draft.variable(
                        work.draft.hint_of(work.graph.iri_of(edge.predicate))
                    )
                    work.draft.patterns[index] = Pattern(one.subject, one.predicate, found)
                    return (condition(found, "=", value),)
    return ()


def _all(filters: Sequence[Filter]) -> Expression:
    """Return what holds if all of some conditions do."""
    return reduce(lambda one, other: Call("&&", (one, other)), (one.condition for one in filters))
