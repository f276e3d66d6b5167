"""Whether the queries of examples can be read at all."""

from askgraph.errors import QueryError, QuerySyntaxError
from askgraph.sparql.query import algebra
from askgraph.sparql.reader import read

__all__ = ["syntax_fault"]


def syntax_fault(query: str) -> str | None:
    """Return what is wrong with a query's syntax, None where there is nothing.

    A query that is nested too deeply for the strict parser is judged by the lenient one. This takes
    milliseconds: many queries are best told about as they go.
    """
    try:
        algebra(query)
    except QuerySyntaxError as fault:
        return str(fault)
    except QueryError:
        try:
            read(query)
        except QueryError as fault:
            return str(fault)
    return None
