"""Results of a SPARQL query: solutions or triples, if they were cut off, and their formats.

Solutions and booleans come as JSON, XML, CSV or TSV, triples as Turtle, N-Triples, RDF/XML or
JSON-LD. Solutions are no triples, so they have no RDF format.
"""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from typing import Literal as Choice

import pyoxigraph
from pyoxigraph import (
    BaseDirection,
    BlankNode,
    Literal,
    NamedNode,
    QueryResultsFormat,
    RdfFormat,
    Triple,
)

from askgraph.sparql.vocabulary import NUMERIC_DATATYPES, XSD_STRING

Term = NamedNode | BlankNode | Literal | Triple
Row = tuple[Term | None, ...]


@dataclass(frozen=True)
class Truncation:
    """Who cut a result off, and how we know."""

    by: Choice["askgraph", "server"]
    reason: str


@dataclass(frozen=True)
class SelectResult:
    """Solutions of a SELECT query, in the order received.

    `rows` are as long as `variables`; an unbound variable is `None`. `truncated` is `None` if
    the result is complete.
    """

    variables: tuple[str, ...]
    rows: tuple[Row, ...]
    truncated: Truncation | None = None
    seconds: float = 0.0

    def column(self, variable: str) -> tuple[Term | None, ...]:
        """Return the values of one variable, row by row; KeyError if it has none."""
        if variable not in self.variables:
            raise KeyError(variable)
        at = self.variables.index(variable)
        return tuple(row[at] for row in self.rows)

    def sorted(self) -> "SelectResult":
        """Return the same solutions in the order of their terms, whatever the engine gave first.

        Unbound comes first, then blank nodes, IRIs, numbers by value, and other literals by text.
        """
        return replace(self, rows=tuple(sorted(self.rows, key=_order_of_row)))


@dataclass(frozen=True)
class GraphResult:
    """Triples of a CONSTRUCT or DESCRIBE query."""

    triples: tuple[Triple, ...]
    truncated: Truncation | None = None
    seconds: float = 0.0

    @property
    def table(self) -> SelectResult:
        """The triples as rows of subject, predicate and object."""
        rows = tuple((one.subject, one.predicate, one.object) for one in self.triples)
        return SelectResult(("subject", "predicate", "object"), rows, self.truncated, self.seconds)


def _order_of_row(row: Row) -> tuple[tuple[int, float, str], ...]:
    return tuple(order_of_term(term) for term in row)


def order_of_term(term: Term | None) -> tuple[int, float, str]:
    """Return the place of a term among all: nothing, nodes, IRIs, numbers, other values."""
    match term:
        case None:
            return 0, 0.0, ""
        case BlankNode():
            return 1, 0.0, term.value
        case NamedNode():
            return 2, 0.0, term.value
        case Literal() if term.datatype.value in NUMERIC_DATATYPES:
            try:
                number = float(term.value)
            except ValueError:
                number = math.inf
            return 3, number if math.isfinite(number) else math.inf, str(term)
        case _:
            return 4, 0.0, str(term)


def value_of(term: Term | None) -> str | None:
    """Return a term as a plain value: the IRI, the literal's text, `_:` and a blank node's name."""
    match term:
        case None:
            return None
        case Triple():
            return str(term)
        case BlankNode():
            return f"_:{term.value}"
        case _:
            return term.value


Result = SelectResult | GraphResult | bool
_DIRECTIONS = {"ltr": BaseDirection.LTR, "rtl": BaseDirection.RTL}


def to_json(result: Result) -> dict[str, Any]:
    """Return a result as JSON has it; an IRI is a string, other terms are objects."""
    match result:
        case bool():
            return {"boolean": result}
        case SelectResult():
            rows = [[_told(term) for term in row] for row in result.rows]
            return {"variables": list(result.variables), "rows": rows, **_cut(result.truncated)}
        case GraphResult():
            return {"triples": [_told(t) for t in result.triples], **_cut(result.truncated)}


def from_json(given: dict[str, Any]) -> Result:
    """Return the result; ValueError, KeyError or TypeError if it is damaged."""
    if "boolean" in given:
        return bool(given["boolean"])
    truncated = Truncation(*given["truncated"]) if "truncated" in given else None
    known: dict[str, Term] = {}
    if "rows" in given:
        rows: list[Row] = [tuple([_read_term(t, known) for t in row]) for row in given["rows"]]
        variables = tuple(map(str, given["variables"]))
        if any(len(row) != len(variables) for row in rows):
            raise ValueError("a row is too short or too long")
        return SelectResult(variables, tuple(rows), truncated)
    triples = [_read_term(triple, known) for triple in given["triples"]]
    return GraphResult(tuple([t for t in triples if isinstance(t, Triple)]), truncated)


def _cut(truncated: Truncation | None) -> dict[str, list[str]]:
    return {"truncated": [truncated.by, truncated.reason]} if truncated else {}


def _told(term: Term | None) -> object:
    match term:
        case None:
            return None
        case NamedNode():
            return term.value
        case BlankNode():
            return {"b": term.value}
        case Triple():
            return {"t": [*map(_told, (term.subject, term.predicate, term.object))]}
        case _:
            return _literal(term, "v", "l", "d", "t")


def _literal(
    term: Literal, value: str, language: str, direction: str, datatype: str
) -> dict[str, object]:
    """Return a literal as JSON, its parts by these names."""
    parts: dict[str, object] = {value: term.value}
    if term.language:
        parts[language] = term.language
        if term.direction:
            parts[direction] = str(term.direction)
    elif term.datatype.value != XSD_STRING:
        parts[datatype] = term.datatype.value
    return parts


def _read_term(given: Any, known: dict[str, Term]) -> Any:
    match given:
        case None:
            return None
        case str():
            if given not in known:
                known[given] = NamedNode(given)
            return known[given]
        case {"b": str(label)}:
            return BlankNode(label)
        case {"t": [_, _, _] as parts}:
            return Triple(*(_read_term(part, known) for part in parts))
        case {"v": str(value)}:
            return _literal_of(value, given)
        case _:
            raise ValueError("no term")


def _literal_of(value: str, given: dict[str, str]) -> Literal:
    if language := given.get("l"):
        return Literal(value, language=language, direction=_DIRECTIONS.get(given.get("d", "")))
    return Literal(value, datatype=NamedNode(given["t"])) if "t" in given else Literal(value)


@dataclass(frozen=True)
class ResultFormat:
    """A format by its short name (also the file's extension); `accepted` are its media types.

    The first media type is the one that a reply is marked with. `kind` is its name in pyoxigraph.
    """

    name: str
    accepted: tuple[str, ...]
    kind: QueryResultsFormat | RdfFormat | None = None

    @property
    def media_type(self) -> str:
        """The media type of a reply, with the character set if the type is text."""
        first = self.accepted[0]
        return f"{first}; charset=utf-8" if first.startswith("text/") else first


_RESULTS, _XML = "application/sparql-results", ("application/xml", "text/xml")
ROW_FORMATS = (
    ResultFormat(
        "json", (f"{_RESULTS}+json", "application/json", "text/json"), QueryResultsFormat.JSON
    ),
    ResultFormat("xml", (f"{_RESULTS}+xml", *_XML), QueryResultsFormat.XML),
    ResultFormat("csv", ("text/csv",), QueryResultsFormat.CSV),
    ResultFormat("tsv", ("text/tab-separated-values",), QueryResultsFormat.TSV),
)
"""Formats of solutions and booleans; the first is for those who accept anything."""

GRAPH_FORMATS = (
    ResultFormat("ttl", ("text/turtle", "application/x-turtle"), RdfFormat.TURTLE),
    ResultFormat("nt", ("application/n-triples", "text/plain"), RdfFormat.N_TRIPLES),
    ResultFormat("rdf", ("application/rdf+xml", *_XML), RdfFormat.RDF_XML),
    ResultFormat("jsonld", ("application/ld+json", "application/json"), RdfFormat.JSON_LD),
)
"""Formats of triples; the first is for those who accept anything."""

_ELEMENT = re.compile(r"[^\W\d][\w.-]*$")


def format_named(name: str, result: Result) -> ResultFormat:
    """Return the format of a name (`json`, `xml`, `csv`, `tsv`, `ttl`, `nt`, `rdf`, `jsonld`).

    Raises `ValueError`, whose text names those that fit, if such a result has no such format.
    """
    fitting = GRAPH_FORMATS if isinstance(result, GraphResult) else ROW_FORMATS
    found = next((one for one in fitting if one.name == name), None)
    if found is None:
        what = "triples" if isinstance(result, GraphResult) else "a table"
        known = ", ".join(one.name for one in fitting)
        raise ValueError(f"{what} cannot be had as {name!r}: take one of {known}")
    return found


def serialised(
    result: Result, form: ResultFormat, *, prefixes: Mapping[str, str] | None = None
) -> bytes:
    """Return a result in a format, in UTF-8; Turtle and RDF/XML with these prefixes.

    Raises `ValueError` for a format that such a result does not have, or cannot be written in. It
    takes about a millisecond for a hundred rows: in a server, call it in a thread.
    """
    form = format_named(form.name, result)
    if isinstance(result, GraphResult):
        return _triples(result, form, prefixes or {})
    document = json.dumps(_as_json(result), ensure_ascii=False, separators=(",", ":")).encode()
    if form.name == "json":
        return document
    read = pyoxigraph.parse_query_results(document, format=QueryResultsFormat.JSON)
    assert isinstance(form.kind, QueryResultsFormat)
    return read.serialize(format=form.kind) or b""


def _triples(result: GraphResult, form: ResultFormat, prefixes: Mapping[str, str]) -> bytes:
    terms = {term for row in result.table.rows for term in row if isinstance(term, NamedNode)}
    used = {
        prefix: namespace
        for prefix, namespace in prefixes.items()
        if any(term.value.startswith(namespace) for term in terms)
    }
    predicates = {one.predicate.value for one in result.triples}
    for iri in sorted(predicates) if form.name == "rdf" else ():
        if not _ELEMENT.search(iri):  # it cannot be the name of an XML element
            raise ValueError(f"RDF/XML has no way to write the predicate <{iri}>; take ttl or nt")
    given = used if form.name in ("ttl", "rdf") else None
    assert isinstance(form.kind, RdfFormat)
    try:
        return pyoxigraph.serialize(result.triples, format=form.kind, prefixes=given) or b""
    except OSError as problem:  # as JSON-LD has no triples within triples
        raise ValueError(f"these triples have no such form: {problem}; take ttl or nt") from problem


def _as_json(result: SelectResult | bool) -> dict[str, object]:
    if isinstance(result, bool):
        return {"head": {}, "boolean": result}
    known: dict[Term, object] = {}
    bindings = []
    for row in result.rows:
        bound = [(n, t) for n, t in zip(result.variables, row, strict=True) if t is not None]
        known |= {term: _term(term) for _, term in bound if term not in known}
        bindings.append({name: known[term] for name, term in bound})
    return {"head": {"vars": list(result.variables)}, "results": {"bindings": bindings}}


def _term(term: Term) -> dict[str, object]:
    match term:
        case NamedNode():
            return {"type": "uri", "value": term.value}
        case BlankNode():
            return {"type": "bnode", "value": term.value}
        case Triple():
            names = ("subject", "predicate", "object")
            parts = map(_term, (term.subject, term.predicate, term.object))
            return {"type": "triple", "value": dict(zip(names, parts, strict=True))}
        case Literal():
            return {"type": "literal", **_literal(term, "value", "xml:lang", "its:dir", "datatype")}
