"""The query of an example as a prompt shows it."""

from askgraph.errors import QueryError
from askgraph.rdf.prefixes import PrefixMap
from askgraph.sparql.layout import formatted

__all__ = ["shown_query"]


def shown_query(query: str, prefixes: PrefixMap) -> str:
    """Return a query laid out with the graph's prefixes, without the lines that declare these.

    Prefixes that the graph does not have stay declared: their names are another graph's. Comments
    and empty lines go. One that cannot be read stays as it is.
    """
    try:
        laid_out = formatted(query, prefixes, {})
    except QueryError:
        return query
    own = {f"PREFIX {prefix}:" for prefix in prefixes.namespaces}
    return "\n".join(
        line
        for line in laid_out.splitlines()
        if line
        and not line.startswith("#")
        and not (line.startswith("PREFIX ") and line.partition(" <")[0] in own)
    )
