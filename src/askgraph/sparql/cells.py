"""Comparable values of RDF terms: what counts as the same value, whatever its datatype.

1 = 1.0 = "1" = "1"^^xsd:byte          numbers by value
0.333333333 = 0.333333334              within a millionth, unless both are whole numbers
"true" = "1"^^xsd:boolean              booleans
"Mond"@de = "Mond"                     language tags are dropped
2020-01-01 = 2020-01-01T00:00:00Z      dates by time point; without a zone they are UTC
"007" ≠ 7                              text with a leading zero is a code, not a number
<http://example.org/%C3%A9> ≠ <http://example.org/é>    IRIs as they are written
"P1D" ≠ "PT24H"                        durations and times of day as they are written
"""

import math
import re
import unicodedata
from collections.abc import Set
from datetime import UTC, datetime
from decimal import Decimal

from pyoxigraph import Literal

from askgraph.rdf import vocabulary as voc
from askgraph.sparql.results import Term, value_of

__all__ = ["Cell", "cell_of_json", "cell_of_term", "same_numbers"]

TOLERANCE = 1e-6  # relative; the averages of two engines differ in the last digits

Cell = tuple[str, str | int | float]  # what the value is (text, number, boolean, time); its key

NUMBER = re.compile(r"[+-]?(?:[0-9]{1,60}(?:\.[0-9]{0,60})?|\.[0-9]{1,60})(?:[eE][+-]?[0-9]{1,3})?")
CODE = re.compile(r"[+-]?0[0-9].*")
TIME = re.compile(
    r"(-?[0-9]{4,9})(-[0-9]{2}-[0-9]{2})(T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?)?"
    r"(Z|[+-][0-9]{2}:[0-9]{2})?"
)
CYCLE = 400  # years after which the calendar repeats itself


def cell_of_term(term: Term | None) -> Cell | None:
    """Return the comparable form of an RDF term; an IRI equals the text that spells it."""
    text = value_of(term)
    if text is None:
        return None
    if not isinstance(term, Literal):
        return _text(text)
    datatype = term.datatype.value
    if datatype == voc.XSD_BOOLEAN and text.strip() in ("0", "1"):
        return ("boolean", "true" if text.strip() == "1" else "false")
    return _cell_of_text(text, numeric=datatype in voc.NUMERIC_DATATYPES)


def cell_of_json(value: object) -> Cell | None:
    """Return the comparable form of a plain JSON value, whose datatype is not known."""
    if value is None:
        return None
    if isinstance(value, bool):
        return ("boolean", str(value).lower())
    return _cell_of_text(str(value), numeric=isinstance(value, int | float))


def same_numbers(numbers: Set[int | float]) -> dict[int | float, int | float]:
    """Map each number to the first, in order, of those that count as the same."""
    representative: dict[int | float, int | float] = {}
    head: int | float | None = None
    whole: int | None = None
    for number in sorted(numbers):
        another_whole = isinstance(number, int) and whole not in (None, number)
        if head is None or another_whole or abs(number - head) > TOLERANCE * abs(number):
            head, whole = number, None
        if isinstance(number, int):
            whole = number
        representative[number] = head
    return representative


def _cell_of_text(text: str, *, numeric: bool) -> Cell:
    bare = text.strip()
    if bare.lower() in ("true", "false"):
        return ("boolean", bare.lower())
    if NUMBER.fullmatch(bare) and (numeric or not CODE.fullmatch(bare)):
        number = _number(bare)
        return ("number", number) if math.isfinite(number) else _text(f"{number}".upper())
    if match := TIME.fullmatch(bare):
        moment = _moment(*match.groups())
        if moment is not None:
            return ("time", moment)
    return _text(text)


def _text(text: str) -> Cell:
    return ("text", unicodedata.normalize("NFC", text))


def _number(text: str) -> int | float:
    number = Decimal(text)
    if number.adjusted() < 60 and number == number.to_integral_value():
        return int(number)
    return float(number)


def _moment(year: str, day: str, clock: str | None, zone: str | None) -> str | None:
    """Return a moment in UTC, also of years that `datetime` does not have, by one like it."""
    cycles, within = divmod(int(year), CYCLE)
    like = f"{within + CYCLE:04}{day}{clock or 'T00:00:00'}{zone or '+00:00'}"
    try:
        moment = datetime.fromisoformat(like).astimezone(UTC)
    except ValueError:
        return None
    true = moment.year + (cycles - 1) * CYCLE
    return f"{'-' * (true < 0)}{abs(true):04}{moment.isoformat()[4:]}"
