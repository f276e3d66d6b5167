"""The query in what a model wrote, the graph that it is for, and which columns answer."""

import re
from dataclasses import dataclass

from askgraph.sparql.rewrite.repair import form_of, repaired

__all__ = ["ANSWER", "GRAPH", "Written", "written_query"]

GRAPH = "# graph: "
"""What a line of a query begins with that names the graph which the query is put to."""

ANSWER = "# answer: "
"""What a line of a query begins with that names the columns asked for, others being context."""

_FENCED = re.compile(r"```[\w-]*[^\S\n]*\n(.*?)(?:```|\Z)", re.DOTALL)
_NAMED = re.compile(
    r"^[^\S\n]*#\+?[^\S\n]*(?:graph|endpoint)[^\S\n]*:[^\S\n]*[<`]?([^\s>`]+)[>`]?[^\S\n]*\n?",
    re.IGNORECASE | re.MULTILINE,
)
_COLUMNS = re.compile(
    r"^[^\S\n]*#\+?[^\S\n]*answers?[^\S\n]*:((?:[\s,]*[?$]\w+)+)[^\S\n]*\n?",
    re.IGNORECASE | re.MULTILINE,
)


@dataclass(frozen=True)
class Written:
    """A query without the lines that name its graph and its answer; these are empty if not there.

    `columns` are variables by name, without a question mark.
    """

    query: str
    graph: str = ""
    columns: tuple[str, ...] = ()


def written_query(text: str) -> Written | None:
    """Return the last query of a reply, in a block of code or bare; None where there is none.

    An update is none. The line `# graph: NAME` names the graph; `#+ endpoint: URL`, which the
    published SPARQL-LLM writes, is read as well. `# answer: ?a ?b` names the columns asked for.
    """
    blocks = _FENCED.findall(text)
    for block in [*reversed(blocks), text]:
        named, told = _NAMED.search(block), _COLUMNS.search(block)
        query = repaired(_COLUMNS.sub("", _NAMED.sub("", block))).query.strip().rstrip("`")
        if form_of(query):
            columns = re.findall(r"[?$](\w+)", told[1]) if told else ()
            return Written(query, named[1] if named else "", tuple(dict.fromkeys(columns)))
    return None
