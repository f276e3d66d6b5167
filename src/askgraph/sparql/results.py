"""Results of a SPARQL query: solutions or triples, whether they were truncated, and their formats.

Solutions and booleans are written as JSON, XML, CSV or TSV, triples as Turtle, N-Triples, RDF/XML
or JSON-LD. Solutions are not triples, so they have no RDF format.
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
    """Who truncated a result, and why we think so."""

    by: Choice["askgraph", "server"]
    reason: str


@dataclass(frozen=True)
class SelectResult:
    """Solutions of a SELECT query, in the order received.

    Each of `rows` has the length of `variables`; an unbound variable is `None`. `truncated` is
    `None` if the result is complete.
    """

    variables: tuple[str, ...]
    rows: tuple[Row, ...]
    truncated: Truncation | None = None
    seconds: float = 0.0

    def get_column(self, variable: str) -> tuple[Term | None, ...]:
        """Return the values of a variable, row by row; raise `KeyError` if the result lacks it."""
        if variable not in self.variables:
            raise KeyError(variable)
        index = self.variables.index(variable)
        return tuple(row[index] for row in self.rows)

    def sort_rows(self) -> "SelectResult":
        """Return the same solutions in the order of their terms, independent of the engine.

        Unbound comes first, then blank nodes, IRIs, numbers by value, and other literals by text.
        """
        rows = sorted(self.rows, key=lambda row: tuple(map(get_term_sort_key, row)))
        return replace(self, rows=tuple(rows))


@dataclass(frozen=True)
class GraphResult:
    """Triples of a CONSTRUCT or DESCRIBE query."""

    triples: tuple[Triple, ...]
    truncated: Truncation | None = None
    seconds: float = 0.0

    @property
    def table(self) -> SelectResult:
        """The triples as rows of subject, predicate and object."""
        rows = tuple((triple.subject, triple.predicate, triple.object) for triple in self.triples)
        return SelectResult(("subject", "predicate", "object"), rows, self.truncated, self.seconds)


def get_term_sort_key(term: Term | None) -> tuple[int, float, str]:
    """Return the sort key of a term: unbound, blank nodes, IRIs, numbers, other literals."""
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


def to_plain_value(term: Term | None) -> str | None:
    """Return a term as plain text: an IRI, a literal's text, or `_:` and a blank node's label."""
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
    """Return a result as a JSON object; an IRI is a string, other terms are objects."""
    match result:
        case bool():
            return {"boolean": result}
        case SelectResult():
            return {
                "variables": list(result.variables),
                "rows": [[_encode_term(term) for term in row] for row in result.rows],
                **_encode_truncation(result.truncated),
            }
        case GraphResult():
            return {
                "triples": [_encode_term(t) for t in result.triples],
                **_encode_truncation(result.truncated),
            }


def from_json(data: dict[str, Any]) -> Result:
    """Return the result of a `to_json` object; raise ValueError, KeyError, TypeError if bad."""
    if "boolean" in data:
        return bool(data["boolean"])
    truncated = Truncation(*data["truncated"]) if "truncated" in data else None
    terms_by_iri: dict[str, Term] = {}
    if "rows" in data:
        rows: list[Row] = [
            tuple([_decode_term(t, terms_by_iri) for t in row]) for row in data["rows"]
        ]
        variables = tuple(map(str, data["variables"]))
        if any(len(row) != len(variables) for row in rows):
            raise ValueError("a row is too short or too long")
        return SelectResult(variables, tuple(rows), truncated)
    triples = [_decode_term(triple, terms_by_iri) for triple in data["triples"]]
    return GraphResult(tuple([t for t in triples if isinstance(t, Triple)]), truncated)


def _encode_truncation(truncated: Truncation | None) -> dict[str, list[str]]:
    return {"truncated": [truncated.by, truncated.reason]} if truncated else {}


def _encode_term(term: Term | None) -> object:
    match term:
        case None:
            return None
        case NamedNode():
            return term.value
        case BlankNode():
            return {"b": term.value}
        case Triple():
            return {"t": [*map(_encode_term, (term.subject, term.predicate, term.object))]}
        case _:
            return _encode_literal(term, "v", "l", "d", "t")


def _encode_literal(
    term: Literal, value: str, language: str, direction: str, datatype: str
) -> dict[str, object]:
    parts: dict[str, object] = {value: term.value}
    if term.language:
        parts[language] = term.language
        if term.direction:
            parts[direction] = str(term.direction)
    elif term.datatype.value != XSD_STRING:
        parts[datatype] = term.datatype.value
    return parts


def _decode_term(data: Any, terms_by_iri: dict[str, Term]) -> Any:
    match data:
        case None:
            return None
        case str():
            if data not in terms_by_iri:
                terms_by_iri[data] = NamedNode(data)
            return terms_by_iri[data]
        case {"b": str(label)}:
            return BlankNode(label)
        case {"t": [_, _, _] as parts}:
            return Triple(*(_decode_term(part, terms_by_iri) for part in parts))
        case {"v": str(value)}:
            if language := data.get("l"):
                return Literal(
                    value, language=language, direction=_DIRECTIONS.get(data.get("d", ""))
                )
            return Literal(value, datatype=NamedNode(data["t"])) if "t" in data else Literal(value)
        case _:
            raise ValueError("no term")


@dataclass(frozen=True)
class ResultFormat:
    """A format by its short name (also the file extension); `accepted` are its media types.

    The first media type is the one that a response uses. `kind` is its name in pyoxigraph.
    """

    name: str
    accepted: tuple[str, ...]
    kind: QueryResultsFormat | RdfFormat | None = None

    @property
    def media_type(self) -> str:
        """The media type of a response, with the character set for text types."""
        default_type = self.accepted[0]
        return (
            f"{default_type}; charset=utf-8" if default_type.startswith("text/") else default_type
        )


_SPARQL_RESULTS_TYPE, _XML_TYPES = "application/sparql-results", ("application/xml", "text/xml")
ROW_FORMATS = (
    ResultFormat(
        "json",
        (f"{_SPARQL_RESULTS_TYPE}+json", "application/json", "text/json"),
        QueryResultsFormat.JSON,
    ),
    ResultFormat("xml", (f"{_SPARQL_RESULTS_TYPE}+xml", *_XML_TYPES), QueryResultsFormat.XML),
    ResultFormat("csv", ("text/csv",), QueryResultsFormat.CSV),
    ResultFormat("tsv", ("text/tab-separated-values",), QueryResultsFormat.TSV),
)
"""Formats of solutions and booleans; the first is the default."""

GRAPH_FORMATS = (
    ResultFormat("ttl", ("text/turtle", "application/x-turtle"), RdfFormat.TURTLE),
    ResultFormat("nt", ("application/n-triples", "text/plain"), RdfFormat.N_TRIPLES),
    ResultFormat("rdf", ("application/rdf+xml", *_XML_TYPES), RdfFormat.RDF_XML),
    ResultFormat("jsonld", ("application/ld+json", "application/json"), RdfFormat.JSON_LD),
)
"""Formats of triples; the first is the default."""

_XML_ELEMENT_NAME = re.compile(r"[^\W\d][\w.-]*$")


def get_result_format(name: str, result: Result) -> ResultFormat:
    """Return a format by name (`json`, `xml`, `csv`, `tsv`, `ttl`, `nt`, `rdf`, `jsonld`).

    Raises:
        ValueError: such a result has no such format; the message names those that fit.
    """
    formats = GRAPH_FORMATS if isinstance(result, GraphResult) else ROW_FORMATS
    result_format = next((candidate for candidate in formats if candidate.name == name), None)
    if result_format is None:
        content = "triples" if isinstance(result, GraphResult) else "a table"
        names = ", ".join(candidate.name for candidate in formats)
        raise ValueError(f"{content} cannot be written as {name!r}: choose one of {names}")
    return result_format


def serialize_result(
    result: Result, result_format: ResultFormat, *, prefixes: Mapping[str, str] | None = None
) -> bytes:
    """Return a result in a format, as UTF-8.

    It takes about a millisecond for a hundred rows: in a server, call it in a thread.

    Args:
        prefixes: prefixes for Turtle and RDF/XML.

    Raises:
        ValueError: such a result does not have the format, or cannot be written in it.
    """
    result_format = get_result_format(result_format.name, result)
    if isinstance(result, GraphResult):
        terms = {term for row in result.table.rows for term in row if isinstance(term, NamedNode)}
        used_prefixes = {
            prefix: namespace
            for prefix, namespace in (prefixes or {}).items()
            if any(term.value.startswith(namespace) for term in terms)
        }
        predicates = {triple.predicate.value for triple in result.triples}
        for iri in sorted(predicates) if result_format.name == "rdf" else ():
            if not _XML_ELEMENT_NAME.search(iri):  # it cannot be the name of an XML element
                raise ValueError(f"RDF/XML cannot express the predicate <{iri}>; choose ttl or nt")
        format_prefixes = used_prefixes if result_format.name in ("ttl", "rdf") else None
        assert isinstance(result_format.kind, RdfFormat)
        try:
            return (
                pyoxigraph.serialize(
                    result.triples, format=result_format.kind, prefixes=format_prefixes
                )
                or b""
            )
        except OSError as problem:  # as JSON-LD has no triples within triples
            raise ValueError(
                f"these triples cannot be written in this format: {problem}; choose ttl or nt"
            ) from problem
    document = json.dumps(
        _to_sparql_json(result), ensure_ascii=False, separators=(",", ":")
    ).encode()
    if result_format.name == "json":
        return document
    solutions = pyoxigraph.parse_query_results(document, format=QueryResultsFormat.JSON)
    assert isinstance(result_format.kind, QueryResultsFormat)
    return solutions.serialize(format=result_format.kind) or b""


def _to_sparql_json(result: SelectResult | bool) -> dict[str, object]:
    if isinstance(result, bool):
        return {"head": {}, "boolean": result}
    json_by_term: dict[Term, object] = {}
    bindings = []
    for row in result.rows:
        bindings_of_row = [
            (n, t) for n, t in zip(result.variables, row, strict=True) if t is not None
        ]
        json_by_term |= {
            term: _encode_sparql_term(term)
            for _, term in bindings_of_row
            if term not in json_by_term
        }
        bindings.append({name: json_by_term[term] for name, term in bindings_of_row})
    return {"head": {"vars": list(result.variables)}, "results": {"bindings": bindings}}


def _encode_sparql_term(term: Term) -> dict[str, object]:
    match term:
        case NamedNode():
            return {"type": "uri", "value": term.value}
        case BlankNode():
            return {"type": "bnode", "value": term.value}
        case Triple():
            names = ("subject", "predicate", "object")
            parts = map(_encode_sparql_term, (term.subject, term.predicate, term.object))
            return {"type": "triple", "value": dict(zip(names, parts, strict=True))}
        case Literal():
            return {
                "type": "literal",
                **_encode_literal(term, "value", "xml:lang", "its:dir", "datatype"),
            }
