"""Numbers that a group's conditions ask to be both above and below one another."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from pyoxigraph import Literal, Variable

from askgraph.rdf.vocabulary import NUMERIC_DATATYPES
from askgraph.sparql.tree import Call, Expression, Filter
from askgraph.sparql.write import text_of

__all__ = ["COMPARISONS", "TURNED", "contradictions", "together"]

COMPARISONS = frozenset(["=", "<", ">", "<=", ">="])
TURNED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "=": "="}
_ANEW = re.compile(r"\b(?:RAND|UUID|STRUUID|BNODE)\(")  # give another value at each call


@dataclass(frozen=True)
class _Bound:
    """A condition `value operator number`."""

    value: str
    operator: str
    number: Decimal
    shown: str

    @property
    def text(self) -> str:
        return f"{self.operator} {self.shown}"


def contradictions(filters: Iterable[Filter]) -> Iterator[tuple[Filter, str]]:
    """Yield the filters that leave no number to a value which others bound, and why.

    All filters are of one group, where they hold together. Of a value only the first contradiction
    is told.
    """
    tightest: dict[tuple[str, bool], _Bound] = {}
    told: set[str] = set()
    for one in filters:
        for bound in _bounds(one.condition):
            for below in _sides(bound):
                other = tightest.get((bound.value, not below))
                if other and bound.value not in told and _exclude(bound, other, below=below):
                    told.add(bound.value)
                    yield one, f"{bound.value} cannot be {other.text} and {bound.text}"
                known = tightest.get((bound.value, below))
                if known is None or _is_tighter(bound, known, below=below):
                    tightest[bound.value, below] = bound


def together(condition: Expression) -> Iterator[Expression]:
    """Yield the conditions that `&&` puts together, in order."""
    waiting = [condition]
    while waiting:
        match waiting.pop():
            case Call(name="&&", arguments=arguments):
                waiting += reversed(arguments)
            case one:
                yield one


def _bounds(condition: Expression) -> Iterator[_Bound]:
    for one in together(condition):
        match one:
            case Call(name=name, arguments=(left, Literal() as right)) if name in COMPARISONS:
                pass
            case Call(name=name, arguments=(Literal() as right, left)) if name in COMPARISONS:
                name = TURNED[name]
            case _:
                continue
        number = _number(right)
        if number is not None and isinstance(left, Variable | Call):
            text = text_of(left)
            if not _ANEW.search(text):
                yield _Bound(text, name, number, text_of(right))


def _number(literal: Literal) -> Decimal | None:
    if literal.datatype.value not in NUMERIC_DATATYPES:
        return None
    try:
        number = Decimal(literal.value)
    except InvalidOperation:
        return None
    return None if number.is_nan() else number


def _sides(bound: _Bound) -> tuple[bool, ...]:
    """True where it bounds from above (`<`), False from below; `=` does both."""
    if bound.operator == "=":
        return (True, False)
    return (bound.operator.startswith("<"),)


def _exclude(bound: _Bound, other: _Bound, *, below: bool) -> bool:
    low, high = (other, bound) if below else (bound, other)
    strict = high.operator == "<" or low.operator == ">"
    return low.number > high.number or (strict and low.number == high.number)


def _is_tighter(bound: _Bound, known: _Bound, *, below: bool) -> bool:
    if bound.number == known.number:
        return bound.operator in ("<", ">")
    return (bound.number < known.number) == below
