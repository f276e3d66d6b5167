"""Parse literals to comparable values: numbers, times, durations, booleans, text."""

import re
from datetime import date
from enum import IntEnum

from pyoxigraph import BlankNode, Literal, NamedNode, Quad, Store

from askgraph.sparql import vocabulary as v
from askgraph.sparql.lexer import unescape_string

_DATE = re.compile(r"(-?\d{4,})(?:-(\d\d)(?:-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d))?)?)?)?")
_LAST_GROUPS = {v.XSD_G_YEAR: 1, v.XSD_G_YEAR_MONTH: 2, v.XSD_DATE: 3, v.XSD_DATE_TIME: 6}
_ZONE = re.compile(r"(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)?")  # fractions of a second and a time zone
_TIME = re.compile(r"(\d\d):(\d\d):(\d\d(?:\.\d+)?)(Z|([+-])(\d\d):(\d\d))?")
_DURATION = re.compile(
    r"(-?)P(?=.)(?:(\d{1,9})Y)?(?:(\d{1,9})M)?(?:(\d{1,9})D)?"
    r"(?:T(?=.)(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,9}(?:\.\d*)?)S)?)?"
)
_SECONDS_PER_MONTH = 2_629_800.0  # mean length
_MONTH_TOLERANCE_SECONDS = 2.5 * 86_400  # months last so much more or less than their mean length
DAY_PATTERN = r"^(\d\d)[/.-](\d\d)[/.-](\d{4})$"
"""A date written as 31/12/1999 or 12/31/1999, as SPARQL's REPLACE reads it, too."""
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")


class ValueKind(IntEnum):
    """The kind of a term's value; only values of the same kind are comparable."""

    NONE = 0
    NUMBER = 1
    DATE = 2
    YEAR = 3
    BOOLEAN = 4
    TEXT_NUMBER = 5
    TEXT_DATE = 6
    TEXT = 7
    DURATION = 8
    TIME = 9
    DAY_TEXT = 10  # of a property whose texts are dates such as 31/12/1999; of no single text


def split_literal(text: str) -> tuple[str, str, str | None]:
    """Split an N-Triples literal into its lexical form, datatype IRI and language tag."""
    end = text.rindex('"')
    body, suffix = text[1:end], text[end + 1 :]
    if "\\" in body:
        body = unescape_string(body)
    if suffix.startswith("@"):
        return body, v.RDF_LANG_STRING, suffix[1:]
    return body, suffix[3:-1] if suffix else v.XSD_STRING, None


def parse_term(text: str) -> NamedNode | BlankNode | Literal:
    """Parse the N-Triples text of a term."""
    if text[0] == "<":
        return NamedNode(text[1:-1])
    if text[0] == "_":
        return BlankNode(text[2:])
    value, datatype, language = split_literal(text)
    if language:
        return Literal(value, language=language)
    return Literal(value, datatype=NamedNode(datatype))


def parse_resource_term(text: str) -> NamedNode | BlankNode | Literal:
    """Parse a resource's `iri`: a plain IRI, or a literal as N-Triples text."""
    return parse_term(text) if text.startswith('"') else NamedNode(text)


def parse_value(text: str) -> tuple[ValueKind, float]:
    """Parse an N-Triples literal to the kind and the number of its value.

    Dates and years become days since 1970-01-01, durations seconds, with months of mean length,
    times of day seconds, in UTC if they have a zone. Text that looks like a number or an ISO date,
    or a date that its datatype does not allow, keeps that value under a kind of its own.
    """
    value, datatype, language = split_literal(text)
    if datatype in v.NUMERIC_DATATYPES:
        return _parse_number(value, ValueKind.NUMBER)
    if datatype in v.DATE_DATATYPES:
        sort = ValueKind.YEAR if datatype == v.XSD_G_YEAR else ValueKind.DATE
        return _parse_date(value, sort, datatype)
    if datatype in v.DURATION_DATATYPES and (parts := parse_duration(value)):
        months, seconds = parts
        return ValueKind.DURATION, months * _SECONDS_PER_MONTH + seconds
    if datatype == v.XSD_TIME and (match := _TIME.fullmatch(value)):
        east = int(f"{match[5]}1") * (int(match[6]) * 60 + int(match[7])) if match[5] else 0
        return ValueKind.TIME, (int(match[1]) * 60 + int(match[2]) - east) * 60 + float(match[3])
    if datatype == v.XSD_BOOLEAN:
        return ValueKind.BOOLEAN, float(value in ("true", "1"))
    if len(value) <= 25:
        if language is None and _NUMBER.fullmatch(value):
            return _parse_number(value, ValueKind.TEXT_NUMBER)
        date_match = _DATE.match(value) if len(value) >= 8 else None
        if date_match and _ZONE.fullmatch(value, date_match.end()):
            return _parse_date(value, ValueKind.TEXT_DATE)
    return ValueKind.TEXT, float("nan")


def parse_duration(value: str) -> tuple[int, float] | None:
    """Parse a duration to its months and its seconds; None for any other text.

    >>> parse_duration("P1Y2MT90S")
    (14, 90.0)
    """
    match = _DURATION.fullmatch(value)
    if match is None:
        return None
    sign = -1 if match[1] else 1
    years, months, days, hours, minutes = (int(part or 0) for part in match.groups()[1:6])
    seconds = days * 86_400 + hours * 3600 + minutes * 60 + float(match[7] or 0)
    return sign * (years * 12 + months), sign * seconds


def can_compare_durations(first: str, second: str) -> bool:
    """Return whether one of two durations is longer in any calendar: not of P1M and P30D."""
    parts = parse_duration(first), parse_duration(second)
    if parts[0] is None or parts[1] is None:
        return False
    months, seconds = parts[0][0] - parts[1][0], parts[0][1] - parts[1][1]
    difference = months * _SECONDS_PER_MONTH + seconds
    return months * seconds >= 0 or abs(difference) > _MONTH_TOLERANCE_SECONDS


def to_day_number(year: int, month: int = 1, day: int = 1) -> float:
    """Return days since 1970-01-01; approximate for years outside of 1 to 9999."""
    if 1 <= year <= 9999:
        return float(date(year, month, day).toordinal() - 719163)
    return (year - 1970) * 365.2425 + (month - 1) * 30.44 + day


def _parse_number(value: str, sort: ValueKind) -> tuple[ValueKind, float]:
    try:
        return sort, float(value)
    except ValueError:
        return ValueKind.TEXT, float("nan")


def _parse_date(value: str, sort: ValueKind, datatype: str = "") -> tuple[ValueKind, float]:
    match = _DATE.match(value)
    if match is None:
        return ValueKind.TEXT, float("nan")
    has_form = match.lastindex == _LAST_GROUPS.get(datatype, match.lastindex)
    if not (has_form and _ZONE.fullmatch(value, match.end())):
        sort = ValueKind.TEXT_DATE
    year, month, day, hour, minute, second = (int(part or 0) for part in match.groups())
    try:
        days = to_day_number(year, month or 1, day or 1)
    except ValueError:
        return ValueKind.TEXT, float("nan")
    return sort, days + (hour * 3600 + minute * 60 + second) / 86400


_STORE_BATCH_SIZE = 250_000  # literals per batch of a store
_CANONICAL_LITERAL = re.compile(
    rf'"(?:(0|-?[1-9]\d{{0,17}})"\^\^<{v.XSD}integer|[1-9]\d{{3}}-\d\d-\d\d"\^\^<{v.XSD}date)>'
)


def normalize_literals(texts: list[str]) -> None:
    """Replace N-Triples literals, in place, by the form in which a store returns them.

    A store normalizes numbers and times: "01" becomes "1".
    """
    positions = [
        position
        for position, text in enumerate(texts)
        if text[-1] == ">" and text[0] == '"' and not _CANONICAL_LITERAL.fullmatch(text)
    ]
    predicate = NamedNode("urn:said")
    for first in range(0, len(positions), _STORE_BATCH_SIZE):
        store = Store()
        quads = (
            Quad(NamedNode(f"urn:{position}"), predicate, parse_term(texts[position]))
            for position in positions[first : first + _STORE_BATCH_SIZE]
        )
        store.extend(quads)
        for quad in store:
            texts[int(quad.subject.value[4:])] = str(quad.object)
