"""Days as literals of the datatype that they are compared with."""

import math
from datetime import date, timedelta

from askgraph.rdf.vocabulary import XSD_DATE_TIME, XSD_DATE_TIME_STAMP, XSD_G_YEAR, XSD_G_YEAR_MONTH
from askgraph.traversal.literals import day_number

__all__ = ["FIRST_DAY", "day_literal", "year_of"]

FIRST_DAY = day_number(1)
"""The first day of year 1, the earliest that the calendar of this module knows."""

_LAST_DAY = day_number(9999, 12, 31)


def day_literal(day: float, datatype: str, *, end: bool = False) -> str:
    """Return a day (days from 1970-01-01) as an N-Triples literal of a date's or year's datatype.

    Of a date with a time it is the first second, or the last one with `end`. Years before 1 are
    written with their sign (ISO 8601); before 1 and after 9999 only the year is right.
    """
    if not FIRST_DAY <= day < _LAST_DAY + 1:
        year, month, of_month = year_of(day), 1, 1
    else:
        at = date(1970, 1, 1) + timedelta(days=int(day))
        year, month, of_month = at.year, at.month, at.day
    text = f"{year:05}" if year < 0 else f"{year:04}"
    if datatype == XSD_G_YEAR:
        return f'"{text}"^^<{datatype}>'
    if datatype == XSD_G_YEAR_MONTH:
        return f'"{text}-{month:02}"^^<{datatype}>'
    text = f"{text}-{month:02}-{of_month:02}"
    if datatype in (XSD_DATE_TIME, XSD_DATE_TIME_STAMP):
        return f'"{text}T{"23:59:59" if end else "00:00:00"}"^^<{XSD_DATE_TIME}>'
    return f'"{text}"^^<{datatype}>'


def year_of(day: float) -> int:
    """Return the year that a day lies in; outside of 1 to 9999 by the mean length of years."""
    if FIRST_DAY <= day < _LAST_DAY + 1:
        return (date(1970, 1, 1) + timedelta(days=int(day))).year
    return 1970 + math.floor(day / 365.2425 + 0.5)
