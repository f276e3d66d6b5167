"""Results as JSON, for whoever keeps them: short, and exactly the same when read."""

from typing import Any

from pyoxigraph import BaseDirection, BlankNode, Literal, NamedNode, Triple

from askgraph.sparql.results import GraphResult, Row, SelectResult, Term, Truncation

__all__ = ["Result", "from_json", "to_json"]

Result = SelectResult | GraphResult | bool

_STRING = "http://www.w3.org/2001/XMLSchema#string"
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
    """Return the result; ValueError, KeyError or TypeError where it is damaged."""
    if "boolean" in given:
        return bool(given["boolean"])
    truncated = Truncation(*given["truncated"]) if "truncated" in given else None
    known: dict[str, Term] = {}
    if "rows" in given:
        rows: list[Row] = [tuple([_term(t, known) for t in row]) for row in given["rows"]]
        variables = tuple(map(str, given["variables"]))
        if any(len(row) != len(variables) for row in rows):
            raise ValueError("a row is too short or too long")
        return SelectResult(variables, tuple(rows), truncated)
    triples = [_term(triple, known) for triple in given["triples"]]
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
            return {"t": [_told(part) for part in (term.subject, term.predicate, term.object)]}
        case _:
            return _literal(term)


def _literal(term: Literal) -> dict[str, str]:
    told = {"v": term.value}
    if term.language:
        told["l"] = term.language
        if term.direction:
            told["d"] = str(term.direction)
    elif term.datatype.value != _STRING:
        told["t"] = term.datatype.value
    return told


def _term(given: Any, known: dict[str, Term]) -> Any:
    match given:
        case None:
            return None
        case str():
            if given not in known:
                known[given] = NamedNode(given)
            return known[given]
        case {"b": str(label)}:
            return BlankNode(label)
        case {"t": [subject, predicate, object_]}:
            return Triple(_term(subject, known), _term(predicate, known), _term(object_, known))
        case {"v": str(value)}:
            return _literal_of(value, given)
        case _:
            raise ValueError("no term")


def _literal_of(value: str, given: dict[str, str]) -> Literal:
    if language := given.get("l"):
        return Literal(value, language=language, direction=_DIRECTIONS.get(given.get("d", "")))
    return Literal(value, datatype=NamedNode(given["t"])) if "t" in given else Literal(value)
