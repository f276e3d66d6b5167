"""The same and the other: what has a value in common with a thing, and what is not that thing."""

from functools import partial

import numpy as np
from pyoxigraph import Variable

from askgraph.index.names import Kind
from askgraph.search.grow.weights import APART, BESIDE, FAR
from askgraph.search.linking.link import Link
from askgraph.search.linking.operators import Operator
from askgraph.search.operators.conditions import bearer
from askgraph.search.operators.draft import Place
from askgraph.search.operators.query_builder import Handlers, QueryBuilder
from askgraph.search.query import condition, pattern
from askgraph.sparql.tree import Term
from askgraph.traversal.arrays import in_both


def likened(work: QueryBuilder, operator: Operator, *, same: bool) -> bool:
    """ "The same X as Y", "another X than Y": what X names is Y's, or is not."""
    return any(
        _like(work, operator, link, same=same)
        for link in work.linked.of(Kind.ENTITY, Kind.VALUE)
        if 0 < link.positions[0] - operator.last <= FAR and work.grower.gain(link, work.used)
    )


def _like(work: QueryBuilder, operator: Operator, link: Link, *, same: bool) -> bool:
    text = f"<{link.target}>" if link.kind is Kind.ENTITY else link.target
    thing, slot = work.graph.terms.find(text), work.next_slot(operator.last, BESIDE)
    place = work.next_place(operator.last, BESIDE)
    if thing is not None and slot is None and place is not None and same:
        return _at_place(work, link, thing, place)
    slot = slot or work.last_slot(operator.first, APART)
    if thing is None or slot is None or slot.mask & link.mask:
        return False
    spot = work.spot(slot)
    if spot is None or spot.path or not isinstance(spot.place.end, Variable):
        return False
    if same and not _shares(work, link, thing, spot.predicate, inverse=spot.inverse):
        return False
    subject = bearer(work, link, thing, spot)
    if subject is None:
        return False
    mine, iri = work.take_spot(spot), work.graph.iri_of(spot.predicate)
    theirs = mine if same else work.draft.variable("their " + work.draft.hints[mine])
    ends = (theirs, subject) if spot.inverse else (subject, theirs)
    work.draft.patterns.append(pattern(ends[0], iri, ends[1]))
    if not same:
        work.draft.filters.append(condition(mine, "!=", theirs))
    work.draft.filters.append(condition(spot.place.end, "!=", subject))
    work.take_link(link)
    return True


def _at_place(work: QueryBuilder, link: Link, thing: int, place: Place) -> bool:
    """Let a thing of the graph, too, be linked to what is shared: "in the same X as Y"."""
    edge, above = place.edge, place.parent
    if link.kind is not Kind.ENTITY or edge is None or above is None or edge.plus:
        return False
    if not (isinstance(place.end, Variable) and isinstance(above.end, Variable)):
        return False
    node = np.array([thing], dtype=np.int32)
    shared = in_both(work.lookups.along(node, edge), work.ids_at(place))
    others = work.lookups.along(shared, edge, back=True)
    others = in_both(others[others != thing], work.ids_at(above))
    if not len(others):
        return False
    subject = work.graph.terms.term(thing)
    ends = (place.end, subject) if edge.inverse else (subject, place.end)
    iri = work.graph.iri_of(edge.predicate)
    work.draft.patterns.append(pattern(ends[0], iri, ends[1]))
    work.draft.filters.append(condition(above.end, "!=", subject))
    work.keep(above, others)
    work.take_link(link)
    return True


def _shares(work: QueryBuilder, link: Link, thing: int, predicate: int, *, inverse: bool) -> bool:
    """Whether others have a value of a predicate in common with a thing; of a name nobody knows."""
    if link.kind is not Kind.ENTITY:
        return True
    values = work.graph.step(np.array([thing], dtype=np.int32), predicate, inverse=inverse)
    return len(work.graph.step(values, predicate, inverse=not inverse)) > 1


def other(work: QueryBuilder, operator: Operator) -> bool:
    """ "Other X": not the thing by which one came to them."""
    root = work.root
    if not isinstance(root.end, Variable):
        return False
    found = list(_passed(work))
    if not found:
        return False
    work.draft.filters += [condition(root.end, "!=", one) for one in found]
    return True


def _passed(work: QueryBuilder) -> list[Term]:
    """The things of the pattern that the root could be as well."""
    found: list[Term] = []
    ids = work.ids_at(work.root)
    for part in work.state.node.walk():
        thing = part.terms[0] if len(part.terms) == 1 else None
        if thing is not None and len(ids) > 1 and thing in ids:
            work.keep(work.root, ids[ids != thing])
            found.append(work.graph.terms.term(thing))
    for place in work.draft.places:
        alike = place is not work.root and isinstance(place.end, Variable)
        if alike and len(ids) > 1 and len(in_both(ids, work.ids_at(place))):
            found.append(place.end)
    return found


HANDLERS: Handlers = {
    "same": partial(likened, same=True),
    "different": partial(likened, same=False),
    "other": other,
}
