"""Whether two queries mean the same to rdflib: their algebra, triple patterns as sets."""

import re
from collections.abc import Iterable
from typing import cast

from rdflib import XSD, BNode, Literal
from rdflib.plugins.sparql import prepareQuery
from rdflib.plugins.sparql.parserutils import CompValue

from askgraph.sparql.lexer import apply_edits, tokenize


def meaning(query: str) -> object:
    """Return the algebra of a query as tuples that compare equal for equal meaning."""
    return _canonical(prepareQuery(_without_escaped_names(query)).algebra)


def _without_escaped_names(query: str) -> str:
    """Return the query with full IRIs for names like `ex:a\\#b`, of which rdflib keeps the `\\`."""
    edits = []
    for token in tokenize(query).all_tokens:
        prefix, _, local = token.text.partition(":")
        if token.kind == "pname" and "\\" in local and prefix in tokenize(query).declared_prefixes:
            iri = tokenize(query).declared_prefixes[prefix] + re.sub(r"\\(.)", r"\1", local)
            edits.append((token.start, token.end, f"<{iri}>"))
    return apply_edits(query, edits)


def _canonical(node: object) -> object:
    if isinstance(node, CompValue):
        if node.name == "OrderCondition" and node.get("order") is None:
            node["order"] = "ASC"  # what no word says
        if (inner := _only_subselect(node)) is not None:
            return _canonical(inner)  # { { SELECT … } } joins nothing to it: { SELECT … }
        parts = [
            (key, _triples(value) if key == "triples" else _canonical(value))
            for key, value in sorted(node.items())
            if key not in ("_vars", "service_string")
        ]
        return node.name, tuple(parts)
    if isinstance(node, BNode):
        return "_:"
    if isinstance(node, set | frozenset):
        return tuple(sorted(repr(_canonical(part)) for part in node))
    if isinstance(node, list | tuple) or hasattr(node, "as_list"):
        return tuple(_canonical(part) for part in cast(Iterable[object], node))
    if isinstance(node, Literal) and node.datatype == XSD.string:
        return repr(Literal(str(node)))
    return repr(node)


def _only_subselect(node: CompValue) -> CompValue | None:
    parts = list(node.get("part") or ()) if node.name == "GroupGraphPatternSub" else []
    graphs = list(parts[0].get("graph") or ()) if len(parts) == 1 else []
    is_subselect = len(graphs) == 1 and graphs[0].name == "SubSelect"
    return cast(CompValue, graphs[0]) if is_subselect else None


def _triples(blocks: Iterable[Iterable[object]]) -> object:
    found = set()
    for block in blocks:
        terms = list(block)
        found |= {repr(_canonical(terms[at : at + 3])) for at in range(0, len(terms), 3)}
    return tuple(sorted(found))
