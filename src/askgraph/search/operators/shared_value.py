"""Operators on two things: the same or different values, another one, conditions joined by "or"."""

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from typing import TypeVar

import numpy as np
from pyoxigraph import BlankNode, Literal, NamedNode, Variable

from askgraph.graph.arrays import in_both
from askgraph.index.names import Kind
from askgraph.search.expand import ACROSS, APART, BESIDE, FAR, Doubt, Worth
from askgraph.search.link import Link
from askgraph.search.operators.conditions import bearer
from askgraph.search.operators.query_builder import Place, QueryBuilder
from askgraph.search.query_pieces import (
    condition,
    denied,
    denied_in,
    pattern,
    predicate_of,
    term_of,
    variable_of,
)
from askgraph.search.tokenize.question_operators import Operator
from askgraph.sparql import (
    Call,
    Expression,
    Filter,
    Group,
    Pattern,
    Term,
    Union,
    transform,
    variables_of,
)

_BEFORE, _AFTER = 8, 8
"""So many tokens before "or", and after it, the conditions that it joins end and begin."""


def join_by_or(query: QueryBuilder) -> None:
    """Make one condition of two that "or" stands between."""
    for operator in query.frame.of("or"):
        left, right = _beside(query, operator)
        if not right:
            left, right = _value(query, operator, after=True), left
        elif not left:
            left = _value(query, operator, after=False)
        if not left or not right or operator.mask & query.used:
            continue
        query.draft.filters = [one for one in query.draft.filters if one not in (*left, *right)]
        mine, other = _patterns_of(query, left), _patterns_of(query, right)
        if mine and other and not {*mine} & {*other}:
            _unite(query, (*mine, *left), (*other, *right))
        else:
            query.draft.filters.append(Filter(Call("||", (_all(left), _all(right)))))
        query.narrowed.clear()
        query.standing.clear()
        query.take(operator.mask, query.search.weight_of(operator.mask))
        query.gain += Worth.OPERATOR
        query.notes.append("either")


def _patterns_of(query: QueryBuilder, filters: Sequence[Filter]) -> list[Pattern]:
    """The patterns that only lead to the values that some conditions are about."""
    values = {value for one in filters for value in variables_of(one.condition)}
    found = [one for one in query.draft.patterns if values & {*variables_of(one)}]
    alone = all(one.object in values and one.subject not in values for one in found)
    shown = {variable for _, variable in query.projected} | {*query.draft.group}
    rest = variables_of((*query.draft.computed, *query.draft.columns, *query.draft.filters))
    return found if alone and len(found) == len(values) and not values & {*shown, *rest} else []


def _unite(query: QueryBuilder, *sides: Sequence[Pattern | Filter]) -> None:
    """Ask for what fits one of two groups; it need not have what the other one is about."""
    draft = query.draft
    draft.either.append(Union(tuple(Group(tuple(one)) for one in sides)))
    moved = {one for side in sides for one in side}
    draft.patterns = [one for one in draft.patterns if one not in moved]
    ends = {one.object for one in moved if isinstance(one, Pattern)}
    draft.attached = {key: value for key, value in draft.attached.items() if value not in ends}


def _beside(query: QueryBuilder, operator: Operator) -> tuple[Sequence[Filter], Sequence[Filter]]:
    """The conditions nearest before and after a word, if they are near enough."""
    before = [one for one in query.made if 0 < operator.first - one.last <= _BEFORE]
    after = [one for one in query.made if 0 < one.first - operator.last <= _AFTER]
    left = max(before, key=lambda one: one.last, default=None)
    right = min(after, key=lambda one: one.first, default=None)
    return query.made[left] if left else (), query.made[right] if right else ()


def _value(query: QueryBuilder, operator: Operator, *, after: bool) -> Sequence[Filter]:
    """The condition that something has the value that stands on a side of a word.

    Its pattern has a variable in the value's place from then on.
    """
    for part in query.state.node.walk():
        for edge, child in part.edges:
            if len(child.terms) != 1 or child.link is None or child.edges or edge.inverse:
                continue
            first, last = child.link.positions[0], child.link.positions[-1]
            gap = first - operator.last if after else operator.first - last
            if not 0 < gap <= _AFTER:
                continue
            value = term_of(query.graph.terms.text(child.terms[0]))
            for index, one in enumerate(query.draft.patterns):
                if one.object == value:
                    found = query.draft.variable(
                        query.draft.hint_of(query.graph.iri_of(edge.predicate))
                    )
                    query.draft.patterns[index] = Pattern(one.subject, one.predicate, found)
                    return (condition(found, "=", value),)
    return ()


def _all(filters: Sequence[Filter]) -> Expression:
    """Return what holds if all of some conditions do."""
    return reduce(lambda one, other: Call("&&", (one, other)), (one.condition for one in filters))


_Part = TypeVar("_Part", Pattern, Filter)
_LOWER, _UPPER = (">", ">="), ("<", "<=")


def likened(query: QueryBuilder, operator: Operator, *, same: bool) -> bool:
    """ "The same X as Y", "another X than Y": what X names is Y's, or is not."""
    return any(
        _like(query, operator, link, same=same)
        for link in query.linked.of(Kind.ENTITY, Kind.VALUE)
        if 0 < link.positions[0] - operator.last <= FAR and query.search.gain(link, query.used)
    )


def _like(query: QueryBuilder, operator: Operator, link: Link, *, same: bool) -> bool:
    thing, slot = query.schema.node_of(link), query.next_slot(operator.last, BESIDE)
    place = query.next_place(operator.last, BESIDE)
    if thing is not None and slot is None and place is not None and same:
        return _at_place(query, link, thing, place)
    slot = slot or query.last_slot(operator.first, APART)
    if thing is None or slot is None or slot.mask & link.mask:
        return False
    spot = query.spot(slot)
    if spot is None or spot.path or not isinstance(spot.place.end, Variable):
        return False
    if same and not _shares(query, link, thing, spot.predicate, inverse=spot.inverse):
        return False
    subject = bearer(query, link, thing, spot)
    if subject is None:
        return False
    mine, iri = query.take_spot(spot), query.graph.iri_of(spot.predicate)
    theirs = mine if same else query.draft.variable("their " + query.draft.hints[mine])
    ends = (theirs, subject) if spot.inverse else (subject, theirs)
    query.draft.patterns.append(pattern(ends[0], iri, ends[1]))
    if not same:
        query.draft.filters.append(condition(mine, "!=", theirs))
    query.draft.filters.append(condition(spot.place.end, "!=", subject))
    query.take_link(link)
    return True


def _at_place(query: QueryBuilder, link: Link, thing: int, place: Place) -> bool:
    """Let a thing of the graph, too, be linked to what is shared: "in the same X as Y".

    A node without a name on the way to it stands for a relation of each.
    """
    edges, above = [place.edge], place.parent
    while above is not None and above.parent is not None and query.is_event(above):
        edges, above = [*edges, above.edge], above.parent
    steps = [edge for edge in edges if edge is not None and not edge.plus]
    if link.kind is not Kind.ENTITY or above is None or len(steps) < len(edges):
        return False
    if not (isinstance(place.end, Variable) and isinstance(above.end, Variable)):
        return False
    shared = np.array([thing], dtype=np.int32)
    for edge in reversed(steps):
        shared = query.lookups.along(shared, edge)
    others = in_both(shared, query.ids_at(place))
    for edge in steps:
        others = query.lookups.along(others, edge, back=True)
    others = in_both(others[others != thing], query.ids_at(above))
    if not len(others):
        return False
    subject: Term = query.graph.terms.term(thing)
    query.draft.filters.append(condition(above.end, "!=", subject))
    for left, edge in reversed([*enumerate(steps)]):
        end = query.draft.variable("their relation") if left else place.end
        ends = (end, subject) if edge.inverse else (subject, end)
        query.draft.patterns.append(pattern(ends[0], query.graph.iri_of(edge.predicate), ends[1]))
        subject = end
    query.keep(above, others)
    query.take_link(link)
    return True


def _shares(query: QueryBuilder, link: Link, thing: int, predicate: int, *, inverse: bool) -> bool:
    """Whether others have a value of a predicate in common with a thing; of a name nobody knows."""
    if link.kind is not Kind.ENTITY:
        return True
    values = query.graph.step(np.array([thing], dtype=np.int32), predicate, inverse=inverse)
    return len(query.graph.step(values, predicate, inverse=not inverse)) > 1


def other(query: QueryBuilder, operator: Operator) -> bool:
    """ "Other X": not the thing by which one came to them."""
    root = query.root
    if not isinstance(root.end, Variable):
        return False
    found = list(_passed(query))
    if not found:
        return False
    query.draft.filters += [condition(root.end, "!=", one) for one in found]
    return True


def _passed(query: QueryBuilder) -> list[Term]:
    """The things of the pattern that the root could be as well."""
    found: list[Term] = []
    ids = query.ids_at(query.root)
    for part in query.state.node.walk():
        thing = part.terms[0] if len(part.terms) == 1 else None
        if thing is not None and len(ids) > 1 and thing in ids:
            query.keep(query.root, ids[ids != thing])
            found.append(query.graph.terms.term(thing))
    for place in query.draft.places:
        alike = place is not query.root and isinstance(place.end, Variable)
        if alike and len(ids) > 1 and len(in_both(ids, query.ids_at(place))):
            found.append(place.end)
    return found


def twinned(query: QueryBuilder) -> bool:
    """Split what no single thing fits between two that share what is shown.

    Return whether all conditions can hold together then.
    """
    opposed = _opposed(query)
    if opposed is not None:
        return _split(query, *opposed)
    for operator in query.frame.of("both"):
        for one in _second_links(query, operator):
            if _doubled(query, operator, one):
                break
    return True


def deny_values(query: QueryBuilder) -> None:
    """Deny of a value that is asked for what is denied of one thing that has it.

    "Countries that have never had a host over 45" are those without such a host, and not those of
    other hosts; but "the ages of hosts without a party" are asked of each host.
    """
    root, columns = query.root.end, [c for c in query.draft.columns if c not in query.draft.context]
    shown = set(map(variable_of, columns))
    if len(shown) != 1 or not isinstance(root, Variable) or query.draft.group:
        return
    [value] = shown
    led = [one for one in query.draft.patterns if (one.subject, one.object) == (root, value)]
    if not led or _tells_apart(query, led[0]) or not _is_asked_alone(query):
        return
    for at, one in enumerate(query.draft.denied):
        for group in denied_in(Group((one,))):
            if root in set(variables_of(group.elements)):
                fresh = _Fresh(query, {value})
                own = fresh.copy(led[0])
                fresh.known |= {v: v for v in set(variables_of(group.elements)) - {root}}
                copied = [transform(part, fresh.change) for part in group.elements]
                query.draft.denied[at] = denied(own, *copied)
                query.draft.columns, query.draft.context = columns, []


def deny_conditions(query: QueryBuilder) -> None:
    """Deny what follows on "no" with the condition on it: "no moon larger than 1000 km"."""
    operator = query.frame.of("not")[0]
    bounds = [one for one in query.made if one.first > operator.last + 1]
    if not bounds or _is_new_clause(query, range(operator.last + 1, bounds[0].first)):
        return
    if query.draft.denied:
        query.unknown += Doubt.MISTAKEN  # the condition is on what is denied
    elif not operator.mask & query.used and _denied_whole(query, operator, query.made[bounds[0]]):
        query.take(operator.mask, query.search.weight_of(operator.mask))
        query.gain += Worth.OPERATOR
        query.notes.append(operator.name)


def _is_new_clause(query: QueryBuilder, between: range) -> bool:
    """Whether a sentence, a conjunction or a verb of the main clause stands between two words."""
    reading, being = query.reading, query.reading.words.yes_or_no["being"]
    restrict = reading.words.clauses["restrict"]
    return (
        reading.parted(between.start - 1, between.stop)
        or any(one.first in between for one in query.frame.of("and", "or"))
        or any(
            reading.folded[at] in being and reading.folded[at - 1] not in restrict for at in between
        )
    )


def _denied_whole(query: QueryBuilder, operator: Operator, filters: Sequence[Filter]) -> bool:
    """Deny the patterns that hang together with conditions, but for what was named before."""
    draft, root = query.draft, query.root.end
    before = query.named_before(operator)
    kept = {one.end for one in before if isinstance(one.end, Variable)}
    [bounded, *_] = variables_of(filters[0])
    patterns = _component(draft.patterns, bounded, kept)
    inner = set(variables_of(tuple(patterns)))
    rest = (*draft.columns, *draft.group, *draft.having, *(key for key, _ in draft.order))
    outer = {root, *variables_of(rest)}
    ends = {end for one in patterns for end in (one.subject, one.object)}
    named = [one.end for one in draft.places if one.words and one not in before]
    for node in query.state.node.walk():
        if node.link is not None and node.link.positions[0] > operator.last:
            named += filter(None, (draft.constant(node),))
    whole = ends.issuperset(named)
    if not whole or not inner & kept or (inner - kept) & outer:
        return False
    draft.patterns = [one for one in draft.patterns if one not in patterns]
    draft.filters = [one for one in draft.filters if one not in filters]
    draft.denied.append(denied(*patterns, *filters))
    return True


def _is_asked_alone(query: QueryBuilder) -> bool:
    """Whether the thing is not named between the value that is asked for and the denial.

    "Years in which the type of the race is not a sprint" are those of the other races.
    """
    operators = query.frame.of("not")
    if len(query.projected) != 1 or not operators:
        return False
    asked, last = query.projected[0][0], operators[0].first
    return asked < last and not any(asked < at < last for at in query.root.words)


def _opposed(query: QueryBuilder) -> tuple[Filter, Filter] | None:
    """Two bounds that leave nothing between them, in the order of the question."""
    bounds: dict[tuple[Expression, bool], tuple[float, Filter]] = {}
    for one in query.draft.filters:
        match one.condition:
            case Call(sign, (left, Literal() as value)) if sign in (*_LOWER, *_UPPER):
                try:
                    number = float(value.value)
                except ValueError:
                    continue
                lower = sign in _LOWER
                bounds[left, lower] = number, one
                other = bounds.get((left, not lower))
                if other is None:
                    continue
                apart = number - other[0] if lower else other[0] - number
                if apart > 0 or (apart == 0 and not ("=" in sign and _includes(other[1]))):
                    return other[1], one
    return None


def _includes(bound: Filter) -> bool:
    """Whether a bound is itself within what it bounds."""
    return isinstance(bound.condition, Call) and "=" in bound.condition.name


def _split(query: QueryBuilder, first: Filter, second: Filter) -> bool:
    """Move the second of two conditions to a twin; False if nothing could be shared with it."""
    [variable] = set(variables_of(first)) & set(variables_of(second))
    shared = _shared(query, variable)
    if not shared:
        return False
    query.draft.filters.remove(second)
    fresh = _Fresh(query, shared)
    copied = _component(query.draft.patterns, variable, shared)
    also = [one for one in query.draft.filters if one != first and _is_of(one, copied, shared)]
    query.draft.patterns += [fresh.copy(one) for one in copied]
    query.draft.filters += [fresh.copy(one) for one in (*also, second)]
    query.notes.append("twin")
    return True


def _second_links(query: QueryBuilder, operator: Operator) -> Iterator[Link]:
    """The things and values after the "and" of "both … and …" that nothing has taken."""
    joins = [one for one in query.frame.of("and") if 0 < one.first - operator.last <= 2 * ACROSS]
    for link in query.linked.of(Kind.ENTITY, Kind.VALUE):
        if joins and not link.mask & query.used and link.positions[0] > joins[0].last:
            yield link


def _doubled(query: QueryBuilder, operator: Operator, link: Link) -> bool:
    """Add a twin with the second thing where the pattern has the first."""
    text = f"<{link.target}>" if link.kind is Kind.ENTITY else link.target
    at = query.graph.terms.find(text)
    if at is None:
        return False
    second = term_of(text)
    firsts = {
        term_of(query.graph.terms.text(node.terms[0]))
        for node in query.state.node.walk()
        if len(node.terms) == 1
        and node.link is not None
        and operator.last < node.link.positions[0] < link.positions[0]
    }
    for one in query.draft.patterns:
        first = next((end for end in (one.subject, one.object) if end in firsts), None)
        if first is None or not _has(query, one, at, inverse=one.subject == first):
            continue
        owner = one.object if one.subject == first else one.subject
        shared = _shared(query, owner) if isinstance(owner, Variable) else set()
        if not shared or not isinstance(owner, Variable):
            continue
        fresh = _Fresh(query, shared, {first: second})
        copied = _component(query.draft.patterns, owner, shared)
        also = [f for f in query.draft.filters if _is_of(f, copied, shared)]
        query.draft.patterns += [fresh.copy(part) for part in copied]
        query.draft.filters += [fresh.copy(part) for part in also]
        query.take_link(link)
        query.unknown += query.state.unknown  # the twin guesses the same steps again
        query.notes.append("twin")
        return True
    return False


def _has(query: QueryBuilder, one: Pattern, at: int, *, inverse: bool) -> bool:
    """Whether a node stands at the same end of a pattern's predicate as the one in it."""
    number = query.schema.number(predicate_of(one))
    return number is not None and at in query.graph.ends(number, inverse=not inverse)


def _shared(query: QueryBuilder, variable: Variable) -> set[Variable]:
    """What is shown and is not the thing that a condition is about, nor its own name."""
    shown = {variable_of(one) for one in query.draft.columns if isinstance(one, Variable)}
    if len(shown) != len(query.draft.columns) or query.draft.group or variable in shown:
        return set()
    owners = {one.subject for one in query.draft.patterns if one.object == variable}
    if shown & owners:
        return set()
    named = {
        one.object
        for one in query.draft.patterns
        if one.subject in {variable, *owners} and _tells_apart(query, one)
    }
    return set() if shown <= named else shown - named


def _tells_apart(query: QueryBuilder, one: Pattern) -> bool:
    """Whether no two things share a value of a pattern's predicate: a name, a number."""
    number = query.schema.number(predicate_of(one))
    profile = query.schema.predicates.get(number) if number is not None else None
    unique = profile is not None and profile.objects == profile.triples
    return unique or number in query.schema.mixed


def _component(
    patterns: Sequence[Pattern], start: Variable, shared: set[Variable]
) -> list[Pattern]:
    """The patterns that hang together with a variable without what is shared."""
    reached: set[Term] = {start}
    found: dict[Pattern, None] = {}
    while True:
        more = [
            one
            for one in patterns
            if one not in found and reached & ({one.subject, one.object} - shared)
        ]
        if not more:
            return list(found)
        for one in more:
            found[one] = None
            reached |= {end for end in (one.subject, one.object) if isinstance(end, Variable)}
        reached -= shared


def _is_of(one: Filter, patterns: Iterable[Pattern], shared: set[Variable]) -> bool:
    """Whether a filter is about a variable of some patterns that is not shared."""
    held = {end for part in patterns for end in (part.subject, part.object)}
    return bool((set(variables_of(one)) - shared) & held)


class _Fresh:
    """Copies of parts of a query with new variables, but for those that are shared."""

    def __init__(
        self, query: QueryBuilder, shared: set[Variable], instead: dict[Term, Term] | None = None
    ) -> None:
        self.query, self.known = query, dict(instead or {})
        self.known |= {one: one for one in shared}

    def copy(self, part: _Part) -> _Part:
        """Return a part with each variable changed for its own new one."""
        changed: _Part = transform(part, self.change)
        return changed

    def change(self, node: object) -> object:
        """Return what takes a term's place."""
        if not isinstance(node, Variable | NamedNode | BlankNode | Literal):
            return node
        if isinstance(node, Variable) and node not in self.known:
            self.known[node] = self.query.draft.variable(self.query.draft.hints[node])
        return self.known.get(node, node)
