"""What a model says about a place of a triple pattern, as terms: IRIs, or a literal as object."""

import re

from pyoxigraph import Literal, NamedNode

from askgraph.errors import QueryError
from askgraph.rdf import vocabulary as v
from askgraph.tools import Context
from askgraph.tools._terms import named_node

__all__ = ["object_term"]

_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"(?:@([A-Za-z]+(?:-[A-Za-z0-9]+)*)|\^\^(\S+))?', re.DOTALL)
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


async def object_term(context: Context, text: str) -> NamedNode | Literal:
    """Return the object that a text means: an IRI, a literal in quotes, a plain number or boolean.

    Raises `QueryError` for anything else, and for an IRI that the graph does not hold.
    """
    plain = text.strip()
    if number := _NUMBER.fullmatch(plain):
        kind = v.XSD_DECIMAL if number[1] else v.XSD_INTEGER
        return Literal(plain, datatype=NamedNode(kind))
    if plain in ("true", "false"):
        return Literal(plain, datatype=NamedNode(v.XSD_BOOLEAN))
    if not plain.startswith('"'):
        return NamedNode(await named_node(context, plain))
    quoted = _QUOTED.fullmatch(plain)
    if quoted is None:
        raise QueryError(f"{plain[:80]!r} is no literal: write it as in SPARQL, quotes escaped")
    value = _ESCAPED.sub(lambda match: _MEANT.get(match[1], match[1]), quoted[1])
    if quoted[2]:
        return Literal(value, language=quoted[2])
    if not quoted[3]:
        return Literal(value)
    try:
        datatype = context.graph.prefixes.expand(quoted[3])
        return Literal(value, datatype=NamedNode(datatype))
    except (KeyError, ValueError) as problem:
        raise QueryError(f"{quoted[3]!r} is no datatype: write prefix:name or <http://…>") from (
            problem
        )


_MEANT = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
