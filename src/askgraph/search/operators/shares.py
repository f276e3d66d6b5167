"""Shares: how much a part is of a whole, in percent: of all of a class, or of the sum of a number.

The whole is what the question says up to its verb: of "what share of the sales of X comes from Y"
it is the sales of X. It is built as the query of these words alone.
"""

from collections.abc import Callable
from dataclasses import replace

from pyoxigraph import Variable

from askgraph.graph.arrays import Ids
from askgraph.index.names import Kind
from askgraph.search import Value, aggregate, alias_of, number_term, variable_of
from askgraph.search.grow import (
    ACROSS,
    BESIDE,
    WORTH_OPERATOR,
    Node,
    PartialMatch,
    named_words,
)
from askgraph.search.linking import bits
from askgraph.search.linking.link import Link
from askgraph.search.linking.operators import Operator
from askgraph.search.operators import NUMERIC
from askgraph.search.operators.draft import Place
from askgraph.search.operators.group_values import aggregated_value, spreads
from askgraph.search.operators.query_builder import Candidate, Handlers, QueryBuilder, Spot
from askgraph.sparql import Bind, Call, Group, Query, transform

_NAMED = 0.6
"""Words name a class so well."""

Operate = Callable[[QueryBuilder, tuple[Operator, ...]], None]
"""Lets some operators take their words."""


def share(work: QueryBuilder, operator: Operator) -> bool:
    """ "What percentage of X are Y", "what share of the N comes from Y"; see `as_share`."""
    spot, verb = _summed(work, operator), _verb(work, operator)
    if verb is not None:
        work.take_tokens([verb])
    if spot is not None:
        work.draft.columns.append(aggregated_value(work, "SUM", work.take_spot(spot)))
        for one in work.frame.of("sum"):
            work.take(one.mask, work.grower.weight_of(one.mask))
            work.gain += WORTH_OPERATOR
        return True
    whole = _whole(work, operator)
    if whole is None or not (work.root.node.edges or work.root.node.cls != whole.target):
        return False
    work.take_link(whole)
    return True


def _summed(work: QueryBuilder, operator: Operator) -> Spot | None:
    """The number that is summed up: it is named in what the share is of."""
    slot = work.next_slot(operator.last, ACROSS)
    if slot is None:
        return None
    between = range(operator.last + 1, slot.first)
    totals = {at for one in work.frame.of("sum") for at in one.positions}
    beside = all(at in totals or work.reading.is_stop(at) for at in between)
    if not (beside or slot.first - 1 in totals or work.zones.is_head(slot.first)):
        return None
    verb = _verb(work, operator)
    return None if verb is not None and verb < slot.first else work.spot(slot, sorts=NUMERIC)


def _whole(work: QueryBuilder, operator: Operator) -> Link | None:
    """The class named after "what percentage of", if all that the pattern starts at are of it."""
    ids = work.ids_at(work.root)
    near = [
        one
        for one in work.linked.of(Kind.CLASS)
        if 0 < one.positions[0] - operator.last <= BESIDE and one.score >= _NAMED
    ]
    best = [one for one in near if one.score >= near[0].score]
    return next((one for one in best if work.schema.all_are(ids, one.target)), None)


def _verb(work: QueryBuilder, operator: Operator) -> int | None:
    """Where the part that has the share begins: at a verb, if need be of a relative clause."""
    reading, parting = work.reading, work.reading.words.clauses["parting"]
    found = [
        at for at in range(operator.last + 2, len(reading.tokens)) if reading.folded[at] in parting
    ]
    clauses = reading.words.clauses
    opens = clauses["restrict"] - clauses["weak"]
    main = (at for at in found if reading.folded[at - 1] not in opens)
    return next(main, found[0] if found else None)


def _part(work: QueryBuilder, operator: Operator) -> int:
    """The words for what has the share, as bits.

    They stand after the verb; without one, before the operator, or they name the last thing.
    """
    verb, count = _verb(work, operator), len(work.reading.tokens)
    if verb is not None:
        return bits((*range(operator.first), *range(verb, count)))
    links = [one for node in work.state.node.walk() for one in (node.link,) if one is not None]
    last = max(links, key=lambda one: one.positions, default=None)
    before = bits(range(operator.first))
    if last is None or any(one.mask & before for one in links):
        return before
    return last.mask


def as_share(work: QueryBuilder, candidate: Candidate, operate: Operate) -> Candidate | None:
    """Return the share that what a candidate counts or sums up has of the whole, in percent."""
    tree, root, draft = candidate.tree, candidate.root, work.draft
    operator = work.frame.of("share")[0]
    sums = [one for one in candidate.shown if isinstance(one, Call)]
    keys: tuple[Value, ...] = tuple(one for one in candidate.shown if one not in sums)
    if tree.having or tree.limit is not None or len(sums) > 1 or candidate.asks:
        return None
    if not sums and (keys != (root,) or _whole(work, operator) is None):
        return None
    if sums and (set(keys) != set(draft.group) or _repeats(work, variable_of(sums[0]))):
        return None
    counted = sums[0] if sums else aggregate("COUNT", variable_of(root), distinct=True)
    every = _of_all(work, operator, counted, operate)
    if every is None or (_shape(tree.where) <= _shape(every.where) and not (sums and keys)):
        return None
    columns = ((alias_of(counted), counted), *((alias_of(one), None) for one in keys * bool(sums)))
    part = replace(tree, columns=columns, distinct=False, order=())
    value = draft.variable("percentage of " + draft.hints[variable_of(counted)])
    ends = alias_of(counted), every.columns[0][0]
    percent = Call("/", (Call("*", (number_term(100), ends[0])), ends[1]))
    shown = (*(keys if sums else ()), value)
    inner = Group((part, every, Bind(percent, value)))
    return replace(
        candidate,
        tree=Query("SELECT", inner, columns=tuple((alias_of(one), None) for one in shown)),
        shown=shown,
        hints=draft.hints,
    )


def _owner(work: QueryBuilder, value: Variable) -> Place:
    """What a number is of."""
    owners = [one.subject for one in work.draft.patterns if one.object == value]
    return next((one for one in work.draft.places if one.end in owners), work.root)


def _repeats(work: QueryBuilder, value: Variable) -> bool:
    """Whether a number would be added up several times: it stands in several rows."""
    owner = _owner(work, value)
    return any(spreads(work, owner, one) for one in work.draft.places if one is not owner)


def _shape(group: Group) -> frozenset[object]:
    """What a group says, whatever its variables are called."""
    one = Variable("any")
    alike: Group = transform(group, lambda node: one if isinstance(node, Variable) else node)
    return frozenset(alike.elements)


def _of_all(
    work: QueryBuilder, operator: Operator, counted: Call, operate: Operate
) -> Query | None:
    """The sub-query of the count or the sum over the whole."""
    whole = _restricted(work, operator, counted, operate)
    end, summed = whole.root.end, counted.name != "COUNT DISTINCT"
    if summed:
        spot = whole.spot(whole.next_slot(operator.last, ACROSS), sorts=NUMERIC)
        end = end if spot is None else whole.take_spot(spot)
    for slot in whole.slots:
        known = slot in work.done and whole.is_left(slot)
        spot = whole.spot(slot) if known else None
        if spot is not None:
            whole.take_spot(spot)
    if not isinstance(end, Variable) or summed == (end == whole.root.end):
        return None
    call = aggregated_value(whole, "SUM", end) if summed else aggregate("COUNT", end, distinct=True)
    others: dict[Variable, Variable] = {}

    def renamed(one: object) -> object:
        if not isinstance(one, Variable) or one not in whole.draft.hints:
            return one
        if one not in others:
            others[one] = work.draft.variable("all " + whole.draft.hints[one])
        return others[one]

    where = transform(whole.draft.query().where, renamed)
    made: Call = transform(call, renamed)
    return Query("SELECT", where, columns=((alias_of(made), made),))


def _restricted(
    work: QueryBuilder, operator: Operator, counted: Call, operate: Operate
) -> QueryBuilder:
    """The query of the words for the whole alone, without what is counted or summed up."""
    part, link = _part(work, operator), _whole(work, operator)
    node, known, ids = _without(work.state.node, part), work.state.node.cls, work.ids_at(work.root)
    owner = _owner(work, variable_of(counted))
    if not (node.edges or node.terms) and owner is not work.root:
        node, known, ids = Node(work.ids_at(owner)), None, work.ids_at(owner)
        link = None
    if work.root.end in work.draft.group:
        node = replace(node, cls=known)
    cls = link.target if link is not None else node.cls or _kind(work, ids, known)
    node = replace(node, ids=node.ids if cls is None else work.schema.instances(cls), cls=cls)
    state = PartialMatch(node, work.state.used & ~part, 0.0, anchored=True)
    left = [slot for slot in work.slots if not slot.mask & part]
    whole = QueryBuilder(work.lookups, state, left)
    if link is not None:
        whole.take_link(link)
    operate(whole, tuple(one for one in work.made if not one.mask & part))
    return whole


def _kind(work: QueryBuilder, ids: Ids, known: str | None) -> str | None:
    """The smallest class that all of some nodes are of, larger than one that is known."""
    schema = work.schema
    own = schema.classes_of(int(ids[0])) if len(ids) else ()
    above = [up for one in own for up in schema.classes[one].parents if up in schema.classes]
    size = len(schema.instances(known)) if known is not None else 0
    fits = [one for one in (*own, *above) if schema.all_are(ids, one)]
    larger = [one for one in fits if len(schema.instances(one)) > size]
    return min(larger, key=lambda one: len(schema.instances(one)), default=None)


def _without(node: Node, part: int) -> Node:
    """A pattern without what some words say."""
    said = node.link is not None and not node.link.mask & ~part
    if node.quantity is not None:
        said = not bits(node.quantity.positions) & ~part
    typed = node.cls_link is not None and bool(node.cls_link.mask & part)
    edges = tuple(
        (edge, _without(child, part))
        for edge, child in node.edges
        if (named_words(child) or (edge.link.mask if edge.link is not None else 0)) & ~part
    )
    return replace(
        node,
        edges=edges,
        terms=() if said else node.terms,
        link=None if said else node.link,
        quantity=None if said else node.quantity,
        cls=None if typed else node.cls,
        cls_link=None if typed else node.cls_link,
        without=tuple(one for one in node.without if named_words(one) & ~part),
    )


HANDLERS: Handlers = {"share": share}
