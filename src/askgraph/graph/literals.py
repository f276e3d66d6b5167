"""Literals as values that can be compared: numbers, points in time, booleans, text."""

import re
from datetime import date
from enum import IntEnum

from pyoxigraph import BlankNode, Literal, NamedNode, Quad, Store

from askgraph.sparql import vocabulary as v

_DATE = re.compile(r"(-?\d{4,})(?:-(\d\d)(?:-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d))?)?)?)?")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")


class Sort(IntEnum):
    """The sort of a term's value; only equal sorts are compared."""

    NONE = 0
    NUMBER = 1
    DATE = 2
    YEAR = 3
    BOOLEAN = 4
    TEXT_NUMBER = 5
    TEXT_DATE = 6
    TEXT = 7


def split_literal(text: str) -> tuple[str, str, str | None]:
    """Split an N-Triples literal into its lexical form, datatype IRI and language tag."""
    end = text.rindex('"')
    body, rest = text[1:end], text[end + 1 :]
    if "\\" in body:
        body = _ESCAPE.sub(_character, body)
    if rest.startswith("@"):
        return body, v.RDF_LANG_STRING, rest[1:]
    return body, rest[3:-1] if rest else v.XSD_STRING, None


def term_of(text: str) -> NamedNode | BlankNode | Literal:
    """Return the term that an N-Triples text is."""
    if text[0] == "<":
        return NamedNode(text[1:-1])
    if text[0] == "_":
        return BlankNode(text[2:])
    value, datatype, language = split_literal(text)
    if language:
        return Literal(value, language=language)
    return Literal(value, datatype=NamedNode(datatype))


def resource_term(text: str) -> NamedNode | BlankNode | Literal:
    """Return the term of a resource's `iri`: an IRI as it is, or a literal as N-Triples text."""
    return term_of(text) if text.startswith('"') else NamedNode(text)


def measured(text: str) -> tuple[Sort, float]:
    """Return the sort of an N-Triples literal and its value as one number.

    Dates and years count days from 1970-01-01; text that reads as a number or an ISO date keeps
    that value under a sort of its own.
    """
    value, datatype, language = split_literal(text)
    if datatype in v.NUMERIC_DATATYPES:
        return _number(value, Sort.NUMBER)
    if datatype in v.DATE_DATATYPES:
        return _date(value, Sort.YEAR if datatype == v.XSD_G_YEAR else Sort.DATE)
    if datatype == v.XSD_BOOLEAN:
        return Sort.BOOLEAN, float(value in ("true", "1"))
    if language is None and len(value) <= 25:
        if _NUMBER.fullmatch(value):
            return _number(value, Sort.TEXT_NUMBER)
        if len(value) >= 8 and _DATE.fullmatch(value):
            return _date(value, Sort.TEXT_DATE)
    return Sort.TEXT, float("nan")


def day_number(year: int, month: int = 1, day: int = 1) -> float:
    """Return days from 1970-01-01; years outside of 1..9999 are counted by their mean length."""
    if 1 <= year <= 9999:
        return float(date(year, month, day).toordinal() - 719163)
    return (year - 1970) * 365.2425 + (month - 1) * 30.44 + day


def _number(value: str, sort: Sort) -> tuple[Sort, float]:
    try:
        return sort, float(value)
    except ValueError:
        return Sort.TEXT, float("nan")


def _date(value: str, sort: Sort) -> tuple[Sort, float]:
    match = _DATE.match(value)
    if match is None:
        return Sort.TEXT, float("nan")
    year, month, day, hour, minute, second = (int(part or 0) for part in match.groups())
    try:
        days = day_number(year, month or 1, day or 1)
    except ValueError:
        return Sort.TEXT, float("nan")
    return sort, days + (hour * 3600 + minute * 60 + second) / 86400


_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)", re.DOTALL)
_SIMPLE = {"t": "\t", "n": "\n", "r": "\r", "b": "\b", "f": "\f"}


def _character(match: re.Match[str]) -> str:
    code = match.group(1)
    if code[0] in "uU" and len(code) > 1:
        return chr(int(code[1:], 16))
    return _SIMPLE.get(code, code)


_TOGETHER = 250_000  # literals that are put into a store at once
_AS_STORED = re.compile(
    rf'"(?:(0|-?[1-9]\d{{0,17}})"\^\^<{v.XSD}integer|[1-9]\d{{3}}-\d\d-\d\d"\^\^<{v.XSD}date)>'
)


def put_as_stored(texts: list[str]) -> None:
    """Put N-Triples terms into the form in which a store gives them back.

    A store knows numbers and times by their values: of "01" it makes "1".
    """
    typed = [
        at
        for at, text in enumerate(texts)
        if text[-1] == ">" and text[0] == '"' and not _AS_STORED.fullmatch(text)
    ]
    said = NamedNode("urn:said")
    for first in range(0, len(typed), _TOGETHER):
        store = Store()
        quads = (
            Quad(NamedNode(f"urn:{at}"), said, term_of(texts[at]))
            for at in typed[first : first + _TOGETHER]
        )
        store.extend(quads)
        for quad in store:
            texts[int(quad.subject.value[4:])] = str(quad.object)
