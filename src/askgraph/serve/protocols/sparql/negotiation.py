"""Which format a client gets: its Accept header against the formats that there are (RFC 9110)."""

import re
from collections.abc import Iterator, Sequence

from askgraph.sparql.result_formats import ResultFormat

__all__ = ["accepted"]

_RANGE = re.compile(r"\s*([\w!#$&^.+*-]+)/([\w!#$&^.+*-]+)\s*((?:;[^;,]*)*)\s*$")
_QUALITY = re.compile(r";\s*q\s*=\s*(0(?:\.\d*)?|1(?:\.0*)?)\s*(?:;|$)", re.IGNORECASE)
_MOST = 100  # ranges that are looked at


def accepted(header: str, formats: Sequence[ResultFormat]) -> ResultFormat | None:
    """Return the format that a client likes best, of equals the first; None where none will do.

    Without a header, or with one in which nothing can be read, anything will do.
    """
    ranges = list(_ranges(header))
    if not ranges:
        return formats[0]
    best, liked = None, 0.0
    for form in formats:
        quality = _quality(form, ranges)
        if quality > liked:
            best, liked = form, quality
    return best


def _ranges(header: str) -> Iterator[tuple[str, str, float]]:
    for part in header.split(",")[:_MOST]:
        found = _RANGE.match(part)
        if found:
            quality = _QUALITY.search(found[3])
            yield found[1].lower(), found[2].lower(), float(quality[1]) if quality else 1.0


def _quality(form: ResultFormat, ranges: Sequence[tuple[str, str, float]]) -> float:
    """How much a format is liked: by its names, else by the most exact range that holds its own."""
    named = [q for one, two, q in ranges if f"{one}/{two}" in form.accepted]
    if named:
        return max(named)
    kind, _, _ = form.accepted[0].partition("/")
    held = [(one != "*", q) for one, two, q in ranges if two == "*" and one in (kind, "*")]
    return max(held)[1] if held else 0.0
