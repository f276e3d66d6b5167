"""`search_autocomplete`: what a query may say at the place where it says `?search`."""

from typing import Annotated

from pyoxigraph import Variable

from askgraph.errors import QueryError, QuerySyntaxError
from askgraph.methods.tools import Context
from askgraph.methods.tools._search import searched_within
from askgraph.methods.tools.hits import Sort
from askgraph.methods.tools.query_run import ready
from askgraph.sparql import Pattern, variables_of, walk
from askgraph.sparql.judge import checked
from askgraph.sparql.parser import read
from askgraph.trace import Observation

__all__ = ["search_autocomplete"]

_SEARCH = Variable("search")


async def search_autocomplete(
    context: Context,
    sparql: Annotated[str, "SELECT query with ?search at any place"],
    query: Annotated[str, "keywords; empty: most frequent"] = "",
) -> Observation:
    """Search among what ?search may be in a query.

    Only its patterns count; columns, order and limits are passed over (GRASP, arXiv 2507.08107,
    section 3.3, S_A). Raises `QueryError` if it is no SELECT or does not use ?search.
    """
    try:
        tree = read(checked(ready(context, sparql).query).text)
    except QuerySyntaxError as problem:
        raise QueryError(f"{problem}; write it as SELECT ?search WHERE {{ … }}") from problem
    if tree.form != "SELECT":
        raise QueryError(f"a SELECT query is wanted, not {tree.form}")
    if _SEARCH not in set(variables_of(tree.where)):
        raise QueryError("no pattern uses ?search: write it where the thing looked for would stand")
    sort: Sort = "properties" if _is_predicate(tree.where) else "entities"
    return await searched_within(
        context, tree.where, _SEARCH, query, sort, what="candidates for ?search"
    )


def _is_predicate(part: object) -> bool:
    """Whether ?search stands at the place of a predicate anywhere within a part of a query."""
    return any(isinstance(node, Pattern) and node.predicate == _SEARCH for node in walk(part))
