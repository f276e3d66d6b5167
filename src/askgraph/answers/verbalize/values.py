"""Numbers, dates, units and texts as people of a language write them."""

import math
import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from pyoxigraph import Literal

from askgraph.answers.verbalize.phrases import Phrases
from askgraph.graph.measures import Unit, parse_unit
from askgraph.sparql import vocabulary as v
from askgraph.sparql.prefixes import split_local_name

MAX_CHARACTERS = 120
_MAX_DECIMALS = 4
_MAX_EXACT_DECIMALS = 9
"""More decimals are those of a computed number: two of an average are enough."""
_SCIENTIFIC_LIMITS = (1e15, 1e-6)
"""From the first size on, and below the second, a number is a power of ten."""
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_SHORT_NUMBER = re.compile(r"[-+]?\d{1,4}")
_DATE = re.compile(r"(-?\d{4,})(?:-(\d\d)(?:-(\d\d)(?:T(\d\d:\d\d)(?::\d\d(?:\.\d+)?)?)?)?)?")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@dataclass(frozen=True)
class ValueWriter:
    """Writes values in the language of its phrases."""

    phrases: Phrases

    def write_bound(self, literal: Literal, *, is_measure: bool = False) -> str:
        """Return a value that things are compared with; four digits may be a year."""
        if _SHORT_NUMBER.fullmatch(literal.value) and not is_measure:
            return literal.value
        return self.write_literal(literal)

    def write_literal(self, literal: Literal, unit: Unit | None = None, variable: str = "") -> str:
        """Return a number with its unit, a date in words, a text on one line."""
        datatype = literal.datatype.value
        if datatype == v.XSD_BOOLEAN:
            return self.phrases.say("yes" if literal.value in ("true", "1") else "no")
        if datatype in v.DATE_DATATYPES:
            return self.write_date(literal.value)
        own = "" if datatype.startswith(v.XSD) or literal.language else datatype
        unit = parse_unit(split_local_name(own)) if own else unit
        if datatype in v.NUMERIC_DATATYPES or unit is not None:
            number = _parse_number(literal.value)
            is_year = datatype in v.INTEGER_DATATYPES and "year" in variable.lower()
            if number is not None and is_year:
                return str(number)
            if number is not None:
                return self.add_unit(self.write_number(number), unit)
        return shorten_line(literal.value)

    def write_number(self, value: float | Decimal) -> str:
        """Return a number with the separators of the language; a huge or a tiny one as a power."""
        size = abs(float(value))
        if size and not _SCIENTIFIC_LIMITS[1] <= size < _SCIENTIFIC_LIMITS[0]:
            digits, _, exponent = f"{float(value):.6e}".partition("e")
            power = str(int(exponent)).translate(_SUPERSCRIPTS)
            return f"{self._write_plain(Decimal(digits))} × 10{power}"
        return self._write_plain(Decimal(value))

    def _write_plain(self, value: Decimal) -> str:
        decimals = _MAX_DECIMALS if abs(value) >= 1 else 9
        if abs(value) >= 1 and value != round(value, _MAX_EXACT_DECIMALS):
            decimals = 2
        integer, _, fraction = f"{round(value, decimals):,f}".partition(".")
        written = self.phrases.written
        if len(integer.lstrip("-").replace(",", "")) <= int(written["ungrouped"]):
            integer = integer.replace(",", "")
        fraction = fraction.rstrip("0")
        text = integer.replace(",", written["group"])
        return text + (written["point"] + fraction if fraction else "")

    def write_date(self, text: str) -> str:
        """Return a date, a month or a year in words; the text itself if it is none."""
        match = _DATE.match(text)
        if match is None or match[1].startswith("-"):
            return text
        year, month, day, time = match.groups()
        written = self.phrases.written
        months = written["months"].split()
        if month is None or not 1 <= int(month) <= len(months):
            return year.lstrip("0") or year
        if day is None:
            return written["month"].format(months[int(month) - 1], int(year))
        first = written.get("first day", "{0}") if int(day) == 1 else "{0}"
        date = written["day"].format(first.format(int(day)), months[int(month) - 1], int(year))
        return f"{date}, {time}" if time and time != "00:00" else date

    def add_unit(self, number: str, unit: Unit | None) -> str:
        """Return a number with its unit, as far as that has a sign or a name in the language."""
        sign = self.name_unit(unit) if unit is not None else ""
        return f"{number} {sign}" if sign else number

    def name_unit(self, unit: Unit) -> str:
        """Return the sign or the name of a unit, with its multiple; empty if it has none."""
        written = self.phrases.written
        sign = unit.sign or written.get(f"unit {unit.name}", "")
        if unit.scale != 1.0 and sign:
            multiple = written.get(f"times {unit.scale:.0f}", "")
            return multiple.format(sign) if multiple else ""
        return sign


def _parse_number(text: str) -> Decimal | None:
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() and math.isfinite(float(number)) else None


def remove_controls(text: str) -> str:
    """Return a text on one line, without characters that would hide or turn around others."""
    return " ".join(_CONTROLS.sub(" ", text).split())


def shorten_line(text: str) -> str:
    """Return the start of a text, on one line."""
    line = remove_controls(text)
    return line if len(line) <= MAX_CHARACTERS else f"{line[: MAX_CHARACTERS - 1].rstrip()}…"
