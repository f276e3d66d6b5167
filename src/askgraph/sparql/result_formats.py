"""Results in the formats of SPARQL 1.1 and RDF: as text, whole, for protocols and downloads.

Solutions and booleans come as JSON, XML, CSV or TSV, triples as Turtle, N-Triples, RDF/XML or
JSON-LD. Solutions are no triples, so they have no RDF format.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

import pyoxigraph
from pyoxigraph import BlankNode, Literal, NamedNode, QueryResultsFormat, RdfFormat, Triple

from askgraph.rdf.vocabulary import XSD_STRING
from askgraph.sparql.results import GraphResult, SelectResult, Term
from askgraph.sparql.stored import Result

__all__ = ["GRAPH_FORMATS", "ROW_FORMATS", "ResultFormat", "format_named", "serialised"]


@dataclass(frozen=True)
class ResultFormat:
    """A format by its short name (also the file's extension); `accepted` are its media types.

    The first media type is the one that a reply is marked with.
    """

    name: str
    accepted: tuple[str, ...]

    @property
    def media_type(self) -> str:
        """The media type of a reply, with the character set where the type is text."""
        first = self.accepted[0]
        return f"{first}; charset=utf-8" if first.startswith("text/") else first


ROW_FORMATS = (
    ResultFormat("json", ("application/sparql-results+json", "application/json", "text/json")),
    ResultFormat("xml", ("application/sparql-results+xml", "application/xml", "text/xml")),
    ResultFormat("csv", ("text/csv",)),
    ResultFormat("tsv", ("text/tab-separated-values",)),
)
"""Formats of solutions and booleans; the first is for those who accept anything."""

GRAPH_FORMATS = (
    ResultFormat("ttl", ("text/turtle", "application/x-turtle")),
    ResultFormat("nt", ("application/n-triples", "text/plain")),
    ResultFormat("rdf", ("application/rdf+xml", "application/xml", "text/xml")),
    ResultFormat("jsonld", ("application/ld+json", "application/json")),
)
"""Formats of triples; the first is for those who accept anything."""

_ROWS = {
    "json": QueryResultsFormat.JSON,
    "xml": QueryResultsFormat.XML,
    "csv": QueryResultsFormat.CSV,
    "tsv": QueryResultsFormat.TSV,
}
_TRIPLES = {
    "ttl": RdfFormat.TURTLE,
    "nt": RdfFormat.N_TRIPLES,
    "rdf": RdfFormat.RDF_XML,
    "jsonld": RdfFormat.JSON_LD,
}
_DIRECTION = "its:dir"
_ELEMENT = re.compile(r"[^\W\d][\w.-]*$")


def format_named(name: str, result: Result) -> ResultFormat:
    """Return the format of a name (`json`, `xml`, `csv`, `tsv`, `ttl`, `nt`, `rdf`, `jsonld`).

    Raises `ValueError`, whose text names those that fit, where such a result has no such format.
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
    return read.serialize(format=_ROWS[form.name]) or b""


def _triples(result: GraphResult, form: ResultFormat, prefixes: Mapping[str, str]) -> bytes:
    iris = {
        part.value
        for triple in result.triples
        for part in (triple.subject, triple.predicate, triple.object)
        if isinstance(part, NamedNode)
    }
    used = {
        prefix: namespace
        for prefix, namespace in prefixes.items()
        if any(iri.startswith(namespace) for iri in iris)
    }
    if form.name == "rdf":
        _refuse_nameless({triple.predicate.value for triple in result.triples})
    given = used if form.name in ("ttl", "rdf") else None
    try:
        kind = _TRIPLES[form.name]
        return pyoxigraph.serialize(result.triples, format=kind, prefixes=given) or b""
    except OSError as problem:  # as JSON-LD has no triples within triples
        raise ValueError(f"these triples have no such form: {problem}; take ttl or nt") from problem


def _refuse_nameless(predicates: set[str]) -> None:
    """Refuse predicates that cannot be the name of an XML element."""
    for iri in sorted(predicates):
        if not _ELEMENT.search(iri):
            raise ValueError(f"RDF/XML has no way to write the predicate <{iri}>; take ttl or nt")


def _as_json(result: SelectResult | bool) -> dict[str, object]:
    if isinstance(result, bool):
        return {"head": {}, "boolean": result}
    known: dict[Term, object] = {}
    bindings = []
    for row in result.rows:
        binding = {}
        for name, term in zip(result.variables, row, strict=True):
            if term is None:
                continue
            if term not in known:
                known[term] = _term(term)
            binding[name] = known[term]
        bindings.append(binding)
    return {"head": {"vars": list(result.variables)}, "results": {"bindings": bindings}}


def _term(term: Term) -> dict[str, object]:
    match term:
        case NamedNode():
            return {"type": "uri", "value": term.value}
        case BlankNode():
            return {"type": "bnode", "value": term.value}
        case Triple():
            parts = {
                "subject": _term(term.subject),
                "predicate": _term(term.predicate),
                "object": _term(term.object),
            }
            return {"type": "triple", "value": parts}
        case Literal():
            return _literal(term)


def _literal(literal: Literal) -> dict[str, object]:
    told: dict[str, object] = {"type": "literal", "value": literal.value}
    if literal.language:
        told["xml:lang"] = literal.language
        if literal.direction:
            told[_DIRECTION] = str(literal.direction)
    elif literal.datatype.value != XSD_STRING:
        told["datatype"] = literal.datatype.value
    return told
