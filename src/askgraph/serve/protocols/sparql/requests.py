"""A request of the SPARQL 1.1 protocol: its query, its dataset, and the format that it accepts."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import parse_qs

from starlette.requests import Request

from askgraph.errors import ForbiddenQuery, QueryError
from askgraph.serve.problems import TooLarge
from askgraph.sparql.judge import MAX_LENGTH
from askgraph.sparql.result_formats import ResultFormat

_FORM, _QUERY = "application/x-www-form-urlencoded", "application/sparql-query"
_MOST_BYTES = 4 * MAX_LENGTH
_MOST_FIELDS = 200
_RANGE = re.compile(r"\s*([\w!#$&^.+*-]+)/([\w!#$&^.+*-]+)\s*((?:;[^;,]*)*)\s*$")
_QUALITY = re.compile(r";\s*q\s*=\s*(0(?:\.\d*)?|1(?:\.0*)?)\s*(?:;|$)", re.IGNORECASE)
_MOST_RANGES = 100  # ranges that are looked at


class WrongKind(QueryError):
    """The body is of a kind that the protocol does not know."""


@dataclass(frozen=True)
class ProtocolRequest:
    """A query with its dataset, None if there is no query; `format` is one asked for by name."""

    query: str | None
    default_graphs: tuple[str, ...] = ()
    named_graphs: tuple[str, ...] = ()
    format: str = ""


async def protocol_request(request: Request) -> ProtocolRequest:
    """Read a request by GET, as a form, or with the query as its body.

    Raises `ForbiddenQuery` for an update, `TooLarge`, `WrongKind`, and `QueryError` for anything
    else that the protocol does not have.
    """
    given = _fields(request.url.query)
    if request.method != "POST":
        return _read(given)
    kind, _, _ = request.headers.get("content-type", "").partition(";")
    match kind.strip().lower():
        case "application/x-www-form-urlencoded":
            return _read(_joined(given, _fields(await _body(request))))
        case "application/sparql-query":
            if "query" in given:
                raise QueryError("the query is given twice, in the body and in the address")
            return _read({**given, "query": [await _body(request)]})
        case "application/sparql-update":
            return _read({"update": [""]})
        case _:
            raise WrongKind(
                f"a query is posted as {_FORM} with the field 'query', or as {_QUERY}; "
                f"not as {kind.strip() or 'a body without a Content-Type'!r}"
            )


def _read(given: dict[str, list[str]]) -> ProtocolRequest:
    if "update" in given:
        raise ForbiddenQuery("this endpoint is read-only: updates are not taken")
    queries = given.get("query", [])
    if len(queries) > 1:
        raise QueryError("there are several fields 'query': send one query at a time")
    return ProtocolRequest(
        queries[0] if queries else None,
        tuple(given.get("default-graph-uri", ())),
        tuple(given.get("named-graph-uri", ())),
        given.get("format", [""])[0],
    )


def _fields(text: str) -> dict[str, list[str]]:
    try:
        return parse_qs(text, keep_blank_values=True, max_num_fields=_MOST_FIELDS, errors="strict")
    except UnicodeDecodeError as problem:
        raise QueryError("the fields are not UTF-8, percent-encoded") from problem
    except ValueError as problem:
        raise QueryError(f"there are more than {_MOST_FIELDS} fields") from problem


def _joined(first: dict[str, list[str]], second: dict[str, list[str]]) -> dict[str, list[str]]:
    return {name: [*first.get(name, []), *second.get(name, [])] for name in first | second}


async def _body(request: Request) -> str:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > _MOST_BYTES:
            raise TooLarge(f"the query is larger than {_MOST_BYTES:,} bytes")
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError as problem:
        raise QueryError("the query is not UTF-8 text") from problem


def accepted(header: str, formats: Sequence[ResultFormat]) -> ResultFormat | None:
    """Return the format that a client likes best, of equals the first; None if none will do.

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
    for part in header.split(",")[:_MOST_RANGES]:
        found = _RANGE.match(part)
        if found:
            quality = _QUALITY.search(found[3])
            yield found[1].lower(), found[2].lower(), float(quality[1]) if quality else 1.0


def _quality(form: ResultFormat, ranges: Sequence[tuple[str, str, float]]) -> float:
    """The quality of a format: by its names, else by the most exact range that holds its own."""
    named = [q for one, two, q in ranges if f"{one}/{two}" in form.accepted]
    if named:
        return max(named)
    kind, _, _ = form.accepted[0].partition("/")
    held = [(one != "*", q) for one, two, q in ranges if two == "*" and one in (kind, "*")]
    return max(held)[1] if held else 0.0
