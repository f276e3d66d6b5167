"""Leave out of the words of an answer the names that stand beside their things.

A thing is already called by its name, as by any label.
"""

from dataclasses import replace

from pyoxigraph import BlankNode, Variable

from askgraph.graph import KnowledgeGraph
from askgraph.sparql import Element, Group, Nested, Pattern, Query, walk
from askgraph.sparql.results import SelectResult


def drop_shown_names(
    query: Query, graph: KnowledgeGraph, result: SelectResult | None = None
) -> Query:
    """Return a query without the optional names of things that it shows; blank nodes keep them."""
    blank = {
        name
        for name in (result.variables if result else ())
        if result and isinstance(next(iter(result.get_column(name)), None), BlankNode)
    }
    naming = {p.iri for p in graph.profile.predicates if p.naming == "name"}
    shown = {name for name, value in query.columns if value is None}
    for element in query.where.elements:
        pattern = _get_optional_pattern(element)
        if pattern is None or str(pattern.predicate)[1:-1] not in naming:
            continue
        thing, name = pattern.subject, pattern.object
        if isinstance(thing, Variable) and thing.value in blank:
            continue
        rest = [part for part in query.where.elements if part is not element]
        is_compared = name in walk((*rest, query.having, query.order[:1]))
        if isinstance(name, Variable) and {thing, name} <= shown and not is_compared:
            query = replace(
                query,
                where=Group(tuple(rest)),
                columns=tuple(column for column in query.columns if column[0] != name),
                group_by=tuple(key for key in query.group_by if key[0] != name),
                order=tuple(key for key in query.order if key[0] != name),
            )
    return query


def _get_optional_pattern(element: Element) -> Pattern | None:
    match element:
        case Nested("OPTIONAL", Group((Pattern() as pattern,))):
            return pattern
        case _:
            return None
