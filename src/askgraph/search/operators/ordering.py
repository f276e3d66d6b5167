"""Order and number of rows: sorted by, descending, the first ten."""

from askgraph.search.form import Key
from askgraph.search.linking.operators import Operator
from askgraph.search.operators.attachment import Places
from askgraph.search.operators.query_builder import Slot, Work

__all__ = ["ascending", "descending", "order", "top"]


def top(places: Places, work: Work, operator: Operator) -> bool:
    """ "The first 10": so many rows."""
    quantity = places.frame.quantity_after(operator, 1)
    if quantity is None or quantity.value is None:
        return False
    work.draft.limit = int(quantity.value)
    places.take_quantity(work, quantity)
    return True


def order(places: Places, work: Work, operator: Operator) -> bool:
    """ "Sorted by X": by what X names, else by what is shown."""
    slot = places.next_slot(work, operator.last, 5)
    if slot is None:
        return _ordered_by_shown(places, work, operator)
    return _ordered(places, work, slot, _descends(places, operator))


def _ordered_by_shown(places: Places, work: Work, operator: Operator) -> bool:
    work.notes.append("order_shown_desc" if _descends(places, operator) else "order_shown")
    return True


def _descends(places: Places, operator: Operator) -> bool:
    after = [op for op in places.frame.of("descending") if abs(op.first - operator.last) <= 8]
    return bool(after)


def _ordered(places: Places, work: Work, slot: Slot, descending: bool) -> bool:
    spot = places.spot(work, slot)
    if spot is None:
        return False
    variable = places.hang(work, spot)
    places.use(work, slot, spot.link)
    work.draft.order.append(Key(places.shown(work, variable, spot), descending))
    return True


def ascending(places: Places, work: Work, operator: Operator) -> bool:
    """ "In ascending order"."""
    return _directed(places, work, operator, descending=False)


def descending(places: Places, work: Work, operator: Operator) -> bool:
    """ "In descending order"."""
    return _directed(places, work, operator, descending=True)


def _directed(places: Places, work: Work, operator: Operator, *, descending: bool) -> bool:
    if work.draft.order:
        return True
    slot = places.next_slot(work, operator.last, 3)
    if slot is not None and _ordered(places, work, slot, descending):
        return True
    work.notes.append("order_shown_desc" if descending else "order_shown")
    return True
