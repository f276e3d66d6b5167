"""Numbers with a unit: the constant is converted into the unit of the data, not the data.

Only if one predicate's numbers have several units are they converted, each by its unit's size.
"""

from collections.abc import Iterator

from pyoxigraph import Variable

from askgraph.metadata.units import Unit
from askgraph.search.grow.partial_match import Node
from askgraph.search.grow.weights import WORTH_OPERATOR
from askgraph.search.linking.quantities import Quantity
from askgraph.search.operators.draft import Place
from askgraph.search.operators.lookups import NUMERIC, Slot
from askgraph.search.operators.query_builder import QueryBuilder, Spot, unnamed_spot
from askgraph.search.query import Value, aggregate, condition, function_of, number_term, variable_of
from askgraph.sparql.tree import Call, Values
from askgraph.traversal.arrays import Ids

_NEAR = 5
"""A step named so few words before a number is what the number is of."""


def number_of(work: QueryBuilder, predicate: int, quantity: Quantity) -> float:
    """The number of a quantity in the unit of a predicate; as it is if either says none."""
    own, value = work.schema.unit(predicate), quantity.value or 0.0
    if quantity.unit is None or own is None or own.dimension != quantity.unit.dimension:
        return value
    work.take_tokens(quantity.measured)
    return quantity.unit.converted(value, own)


def by_dimension(work: QueryBuilder, quantity: Quantity) -> Spot | None:
    """The only predicate in the pattern whose numbers are of the dimension of a quantity.

    None if the words just before name something else in the pattern.
    """
    unit = None if _is_named(work, quantity) else quantity.unit
    for place in work.draft.places if unit is not None else ():
        present = work.predicates_at(place) if work.lookups.is_resource(place.node.ids) else []
        units = {n: work.schema.unit(n) for n in present if work.schema.sort(n) in NUMERIC}
        fits = [n for n, own in units.items() if own and unit and own.dimension == unit.dimension]
        if len(fits) == 1:
            return unnamed_spot(place, fits[0])
    return None


def _is_named(work: QueryBuilder, quantity: Quantity) -> bool:
    """Whether a step of the pattern is named by words shortly before a quantity."""
    lasts = [
        edge.link.positions[-1]
        for node in work.state.node.walk()
        for edge, _ in node.edges
        if edge.link is not None
    ]
    return any(0 < quantity.first - last <= _NEAR for last in lasts)


def compared_nodes(work: QueryBuilder, slots: list[Slot], quantity: Quantity, sign: str) -> bool:
    """Compare a number that stands with its unit at a node of its own; False if none does."""
    unit = quantity.unit
    for slot in slots if unit is not None and quantity.value is not None else ():
        spot = work.spot(slot)
        if spot is None or spot.inverse:
            continue
        nodes = work.graph.step(work.ids_at(spot.place), spot.predicate)
        for value, said, units in work.schema.quantities:
            known = _units_at(work, nodes, said, units)
            if unit is None or not known or not work.lookups.applies(nodes, value, False):
                continue
            if {one.dimension for one in known.values()} != {unit.dimension}:
                continue
            node = Place(work.hang(spot), Node(nodes), 1)
            number = work.draft.attach(node, value)
            _bounded(work, (node, number, said), known, quantity, sign)
            work.use_spot(spot)
            return True
    return False


def _units_at(work: QueryBuilder, nodes: Ids, said: int, units: dict[int, Unit]) -> dict[int, Unit]:
    """The units of some nodes; none if they are not resources or a unit is not known."""
    if not work.lookups.is_resource(nodes):
        return {}
    found = work.graph.step(nodes, said).tolist()
    return {at: units[at] for at in found} if all(at in units for at in found) else {}


def _bounded(
    work: QueryBuilder,
    at: tuple[Place, Variable, int],
    known: dict[int, Unit],
    quantity: Quantity,
    sign: str,
) -> None:
    """Bound a number: in its one unit, else times the size of its unit in that of the quantity."""
    place, number, said = at
    unit, value = quantity.unit, quantity.value
    assert unit is not None and value is not None
    work.take_tokens(quantity.measured)
    if len(known) == 1:
        bound = number_term(unit.converted(value, next(iter(known.values()))))
        work.draft.filters.append(condition(number, sign, bound))
        return
    named = work.draft.attach(place, said)
    factor = work.draft.variable("factor")
    rows = tuple(
        (work.graph.terms.term(term), number_term(one.converted(1.0, unit)))
        for term, one in sorted(known.items())
    )
    work.draft.given.append(Values((named, factor), rows))
    scaled = work.draft.compute(f"in {unit.name}", Call("*", (number, factor)))
    work.draft.filters.append(condition(scaled, sign, number_term(value)))


def converted(work: QueryBuilder) -> None:
    """ "In miles": numbers that are shown, of that dimension, are shown in this unit."""
    for operator in work.frame.of("in_unit"):
        unit, draft = work.frame.unit_of(operator), work.draft
        shown = [(token, _in(work, variable, unit)) for token, variable in work.projected]
        columns = [_column_in(work, column, unit) for column in draft.columns]
        if unit is None or (shown, columns) == (work.projected, draft.columns):
            continue
        work.projected, draft.columns = shown, columns
        work.take_tokens(operator.positions)
        work.gain += WORTH_OPERATOR
        work.notes.append("in_unit")


def _column_in(work: QueryBuilder, column: Value, unit: Unit | None) -> Value:
    """The highest, mean … number of a column in another unit; counts have none."""
    if isinstance(column, Variable) or function_of(column) == "COUNT":
        return column
    return aggregate(function_of(column), _in(work, variable_of(column), unit))


def _in(work: QueryBuilder, variable: Variable, unit: Unit | None) -> Variable:
    """A shown number in another unit; itself if that is not known to be possible."""
    for predicate in _shown_by(work, variable):
        own = work.schema.unit(predicate)
        if unit is None or own is None or own.dimension != unit.dimension or own == unit:
            continue
        factor = float(f"{own.factor / unit.factor:.12g}")
        offset = float(f"{(own.offset - unit.offset) / unit.factor:.12g}")
        scaled = Call("*", (variable, number_term(factor)))
        hint = f"{work.draft.hints[variable]} in {unit.name}"
        moved = Call("+", (scaled, number_term(offset))) if offset else scaled
        return work.draft.compute(hint, moved)
    return variable


def _shown_by(work: QueryBuilder, variable: Variable) -> Iterator[int]:
    for (_, predicate, inverse), shown in work.draft.attached.items():
        if shown == variable and not inverse:
            yield predicate
