"""Values as the people of a language write them: numbers with their units, dates, short texts."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from pyoxigraph import Literal, NamedNode

from askgraph.explanation._names import Names
from askgraph.metadata.measures import Unit, unit_of_text
from askgraph.rdf import words_of_local_name
from askgraph.rdf.vocabulary import (
    DATE_DATATYPES,
    INTEGER_DATATYPES,
    NUMERIC_DATATYPES,
    XSD,
    XSD_BOOLEAN,
)
from askgraph.sparql.results import Term

_LONGEST = 120  # characters of a text
_DECIMALS = 4
_SCIENTIFIC = (1e15, 1e-6)  # from such a size on, and below, a number is a power of ten
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_DATE = re.compile(r"(-?\d{4,})(?:-(\d\d)(?:-(\d\d)(?:T(\d\d:\d\d)(?::\d\d(?:\.\d+)?)?)?)?)?")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@dataclass(frozen=True)
class Values:
    """Writes terms in the language of the names; `units` are those of variables, by their names."""

    names: Names
    units: Mapping[str, Unit]

    def text(self, term: Term | None, variable: str = "") -> str:
        """Return a term in words: a resource by its label, a value as people write it.

        Empty for what has no words: a blank node, a triple, nothing.
        """
        match term:
            case NamedNode():
                return _short(self.names.iri(term.value))
            case Literal():
                return self._literal(term, variable)
            case _:
                return ""

    def number(self, value: float | Decimal) -> str:
        """Return a number with the separators of the language; a huge or a tiny one as a power."""
        size = abs(float(value))
        if size and not _SCIENTIFIC[1] <= size < _SCIENTIFIC[0]:
            digits, _, exponent = f"{float(value):.6e}".partition("e")
            return f"{self._plain(Decimal(digits))} × 10{str(int(exponent)).translate(_RAISED)}"
        return self._plain(Decimal(value))

    def _plain(self, value: Decimal) -> str:
        least = _DECIMALS if abs(value) >= 1 else 9
        text = f"{round(value, least):,f}"
        whole, _, rest = text.partition(".")
        if len(whole.lstrip("-").replace(",", "")) <= int(self._said("ungrouped")):
            whole = whole.replace(",", "")
        rest = rest.rstrip("0")
        return whole.replace(",", self._said("group")) + (
            self._said("point") + rest if rest else ""
        )

    def _said(self, key: str) -> str:
        return self.names.phrases.written[key]

    def _literal(self, term: Literal, variable: str) -> str:
        datatype = term.datatype.value
        if datatype == XSD_BOOLEAN:
            return self.names.literal(term)
        if datatype in DATE_DATATYPES:
            return self._date(term.value)
        own = "" if datatype.startswith(XSD) or term.language else datatype
        unit = unit_of_text(words_of_local_name(own)) if own else self.units.get(variable)
        if datatype in NUMERIC_DATATYPES or unit is not None:
            found = _number(term.value)
            if found is not None and datatype in INTEGER_DATATYPES and _is_year(variable):
                return str(found)
            if found is not None:
                return self.with_unit(self.number(found), unit)
        return _short(term.value)

    def with_unit(self, number: str, unit: Unit | None) -> str:
        """Return a number with its unit, as far as that has a sign or a name in the language."""
        if unit is None:
            return number
        sign = unit.sign or self.names.phrases.written.get(f"unit {unit.name}", "")
        if unit.scale != 1.0 and sign:
            many = self.names.phrases.written.get(f"times {unit.scale:.0f}", "")
            sign = many.format(sign) if many else ""
        return f"{number} {sign}" if sign else number

    def _date(self, text: str) -> str:
        found = _DATE.match(text)
        if found is None or found[1].startswith("-"):
            return text
        year, month, day, time = found.groups()
        named = self._said("months").split()
        if month is None or not 1 <= int(month) <= len(named):
            return year.lstrip("0") or year
        if day is None:
            return self._said("month").format(named[int(month) - 1], int(year))
        said = self._said("day").format(int(day), named[int(month) - 1], int(year))
        return f"{said}, {time}" if time and time != "00:00" else said


def _is_year(variable: str) -> bool:
    return "year" in variable.lower()


def _number(text: str) -> Decimal | None:
    try:
        found = Decimal(text)
    except InvalidOperation:
        return None
    return found if found.is_finite() and math.isfinite(float(found)) else None


def visible(text: str) -> str:
    """Return a text on one line, without characters that would hide or turn around others."""
    return " ".join(_CONTROLS.sub(" ", text).split())


def _short(text: str) -> str:
    line = visible(text)
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1].rstrip()}…"
