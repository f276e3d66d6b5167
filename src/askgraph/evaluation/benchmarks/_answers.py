"""Stored answers in SPARQL 1.1 Query Results JSON, as benchmarks keep them, as tables."""

from collections.abc import Mapping, Sequence

from pyoxigraph import BlankNode, Literal, NamedNode

from askgraph.evaluation import Table
from askgraph.evaluation.benchmarks._records import Unfit
from askgraph.sparql.comparison import cell_of_json, cell_of_term
from askgraph.sparql.results import SelectResult, Term


def table_of_result(result: object) -> Table:
    """Return one result, solutions or a boolean; `Unfit` if it is neither."""
    match result:
        case {"boolean": bool(truth)}:
            return Table.of_boolean(truth)
        case {"boolean": "true" | "True" | "false" | "False" as word}:
            return Table.of_boolean(word.lower() == "true")
        case {"results": {"bindings": list(bindings)}, **rest}:
            return table_of_bindings(bindings, _variables(rest.get("head")))
        case {"results": {}, **rest}:
            return table_of_bindings([], _variables(rest.get("head")))
        case _:
            raise Unfit("its stored answers are neither solutions nor a boolean")


def table_of_bindings(bindings: Sequence[object], variables: Sequence[str] = ()) -> Table:
    """Return solutions, each an object from variable to term; unbound variables may be absent.

    The raw terms are kept if all of them are valid RDF, and else the plain values alone.
    """
    names = dict.fromkeys(variables)
    for solution in bindings:
        if not isinstance(solution, dict):
            raise Unfit("a solution among its stored answers is no object")
        names.update(dict.fromkeys(map(str, solution)))
    rows = [[_valued(solution.get(name)) for name in names] for solution in _objects(bindings)]
    if all(isinstance(value, Term | None) for row in rows for value in row):
        terms = tuple(tuple(v if isinstance(v, Term) else None for v in row) for row in rows)
        return Table.of_result(SelectResult(tuple(names), terms))
    cells = [[cell_of_json(v) if isinstance(v, str) else cell_of_term(v) for v in r] for r in rows]
    return Table(tuple(names), tuple(map(tuple, cells)))


def _variables(head: object) -> list[str]:
    match head:
        case {"vars": list(variables)}:
            return [str(variable) for variable in variables]
        case _:
            return []


def _objects(bindings: Sequence[object]) -> list[dict[str, object]]:
    return [solution for solution in bindings if isinstance(solution, dict)]


def _valued(value: object) -> Term | str | None:
    """Return a term, its plain text if it is no valid RDF, or None for unbound."""
    if value is None:
        return None
    if not isinstance(value, dict) or not isinstance(value.get("value"), str | int | float):
        raise Unfit("a value among its stored answers has no 'value'")
    text = value["value"]
    plain = str(text).lower() if isinstance(text, bool) else str(text)
    try:
        return _term(value, plain)
    except ValueError:
        return plain


def _term(value: Mapping[str, object], text: str) -> Term:
    language, datatype = value.get("xml:lang") or value.get("lang"), value.get("datatype")
    match value.get("type"):
        case "uri" | "iri":
            return NamedNode(text)
        case "bnode":
            return BlankNode(text)
        case _ if isinstance(language, str):
            return Literal(text, language=language)
        case _ if isinstance(datatype, str):
            return Literal(text, datatype=NamedNode(datatype))
        case _:
            return Literal(text)
