"""IRIs, dates, times, numbers and codes that a question writes out, each in one piece."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date

from pyoxigraph import Literal, NamedNode

from askgraph.rdf import vocabulary as v
from askgraph.search.linking.quantities import Quantity
from askgraph.search.linking.text import Reading

__all__ = ["NAMED", "Stretch", "codes", "compounds", "iri_in", "written_out"]

NAMED = re.compile(
    r"<[^<>\s\"{}|^`\\]+>|(?<!\w)(?:https?://|urn:)[^\s<>\"{}|^`\\]*[\w/#]"
    r"|(?<![\w:])[\w.-]*:[^\W_](?:(?:[\w:%.-]|\\[^\w\s])*(?:\w|\\[^\w\s]))?"
)
"""What may be an IRI: within angle brackets, in full or with a prefix."""

_CODE = re.compile(
    r"(?<!\w)(?:[+\-−](?=\d))?[^\W_]*\d[^\W_]*(?:[-–./:,_][^\W_]*\d[^\W_]*)*", re.UNICODE
)
_SIGNED = re.compile(r"(?<![\w.,])[+\-−]\d+(?:\.\d+)?(?![\w.,:/-]*\d)")
_MOMENT = re.compile(
    r"(?<!\w)(?P<date>\d{4}-\d\d-\d\d)[T ](?P<time>\d\d:\d\d(?::\d\d(?:\.\d+)?)?)"
    r"(?P<zone>Z|[+-]\d\d:\d\d)?(?!\w)"
)
_DAY_FIRST = re.compile(r"(?<!\w)(\d{1,2})\.(\d{1,2})\.(\d{4})(?!\w)")
_WITHIN = re.compile(r"\d+(?:st|nd|rd|th|er|e|ème|s)", re.IGNORECASE)


@dataclass(frozen=True)
class Stretch:
    """The tokens from `first` to `last` of a question, and what they name; `kind` says it of a
    literal in words. `span` is where it begins and ends in the text, if not with its tokens.
    """

    first: int
    last: int
    term: NamedNode | Literal
    kind: str = ""
    score: float = 1.0
    span: tuple[int, int] | None = None


def iri_in(written: str, expand: Callable[[str], str | None]) -> str | None:
    """Return the IRI that a match of `NAMED` means; None if its prefix is not known."""
    if written[0] == "<":
        inside = written[1:-1]
        return inside if ":" in inside else None
    return written if written.startswith(("http", "urn:")) else expand(written)


def written_out(reading: Reading, expand: Callable[[str], str | None]) -> list[Stretch]:
    """Return what can be nothing but an IRI, a moment, a day or a signed number, in order."""
    found: list[Stretch] = []
    taken: set[int] = set()
    for span, term, kind in _terms(reading.text, expand):
        at = _tokens_in(reading, *span)
        if at and not taken & set(at):
            taken |= set(at)
            found.append(Stretch(at[0], at[-1], term, kind, span=span))
    return sorted(found, key=lambda one: one.first)


def codes(reading: Reading) -> Iterator[Stretch]:
    """Yield the runs of letters and digits with a digit in them ("B747", "12/2004").

    Ordinals ("3rd") are none.
    """
    for found in _CODE.finditer(reading.text):
        at = _tokens_in(reading, *found.span())
        if at and not _WITHIN.fullmatch(found[0]):
            yield Stretch(at[0], at[-1], Literal(found[0]), "a text", _CODE_SCORE)


_CODE_SCORE = 0.95  # less than a whole name or a quantity of the same words


def compounds(reading: Reading) -> tuple[Quantity, ...]:
    """Return the quantities of a question; tens and units in words are one ("thirty-four")."""
    kept: list[Quantity] = []
    for one in reading.quantities:
        whole = _compound(kept[-1], one) if kept else None
        if whole is not None:
            kept.pop()
        kept.append(whole or one)
    return tuple(kept)


def _compound(tens: Quantity, units: Quantity) -> Quantity | None:
    """Two number words next to each other as one number; None if they are none."""
    together = tens.spelled and units.spelled and tens.last + 1 == units.first
    if not together or tens.value not in _TENS or units.value not in _UNITS:
        return None
    text = f"{tens.text} {units.text}"
    return Quantity(tens.first, units.last, text, tens.value + units.value, spelled=True)


_TENS = frozenset(range(20, 100, 10))
_UNITS = frozenset(range(1, 10))


def _terms(
    text: str, expand: Callable[[str], str | None]
) -> Iterator[tuple[tuple[int, int], NamedNode | Literal, str]]:
    for found in NAMED.finditer(text):
        if iri := iri_in(found[0], expand):
            yield found.span(), NamedNode(iri), ""
    for found in _MOMENT.finditer(text):
        zone = found["zone"] or ""
        time = found["time"] if found["time"].count(":") == 2 else f"{found['time']}:00"
        moment = f"{found['date']}T{time}{zone}"
        yield found.span(), Literal(moment, datatype=NamedNode(v.XSD_DATE_TIME)), "a date and time"
    for found in _DAY_FIRST.finditer(text):
        day, month, year = map(int, found.groups())
        try:
            term = Literal(date(year, month, day).isoformat(), datatype=NamedNode(v.XSD_DATE))
        except ValueError:
            continue  # no day, but a code of its form
        yield found.span(), term, "a date"
    for found in _SIGNED.finditer(text):
        number = found[0].replace("−", "-")
        kind = v.XSD_DECIMAL if "." in number else v.XSD_INTEGER
        yield found.span(), Literal(number, datatype=NamedNode(kind)), "a number"


def _tokens_in(reading: Reading, start: int, end: int) -> list[int]:
    """The tokens that a stretch of the text touches."""
    return [
        at for at, token in enumerate(reading.tokens) if token.start < end and token.end > start
    ]
