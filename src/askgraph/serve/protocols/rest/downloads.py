"""The whole result of a question as a file: its rows, or the triples behind them."""

import asyncio
import re
from collections.abc import Sequence

from pyoxigraph import RdfFormat, Triple, parse

from askgraph.errors import SetupError
from askgraph.explanation.evidence import evidence
from askgraph.serve.hub import Hub
from askgraph.serve.identity.principal import Principal
from askgraph.sparql.result_formats import (
    GRAPH_FORMATS,
    Result,
    ResultFormat,
    format_named,
    serialised,
)
from askgraph.sparql.results import GraphResult
from askgraph.trace import Evidence, attempt_of

__all__ = ["download"]

_ROWS = 500  # rows whose triples are fetched for a file of triples
_IRI = re.compile(r"<[^<>]*>")
_TRIPLES = {one.name for one in GRAPH_FORMATS}


async def download(hub: Hub, id: str, name: str, caller: Principal) -> tuple[bytes, ResultFormat]:
    """Return the result of a run in the format of this name, and the format.

    In a format of RDF it is the triples behind its rows, the first 500. Raises `SetupError` where
    there is no result, or none in such a format.
    """
    _, _, outcome = await hub.kept.outcome(id, caller)
    answer = attempt_of(outcome)
    if answer is None:
        raise SetupError(f"question {id!r} came to no query: there is no result to download")
    result: Result = answer.result if answer.boolean is None else answer.boolean
    async with hub.graphs.lease(answer.graph, caller) as graph:
        prefixes = graph.prefixes.namespaces
        if name in _TRIPLES:
            async with hub.queries.turn(answer.graph):
                behind = await evidence(answer.query, answer.result, graph.endpoint, rows=_ROWS)
            result = GraphResult(_triples(behind.told({})))
    try:
        form = format_named(name, result)
        return await asyncio.to_thread(serialised, result, form, prefixes=prefixes), form
    except ValueError as error:
        raise SetupError(str(error)) from error


def _triples(evidence: Sequence[Evidence]) -> tuple[Triple, ...]:
    """The triples of some evidence, each once; a path between two nodes is none."""
    lines = [
        f"{subject} {predicate} {object_} ."
        for row in evidence
        for subject, predicate, object_ in row.triples
        if _IRI.fullmatch(predicate)
    ]
    text = "\n".join(dict.fromkeys(lines))
    return tuple(quad.triple for quad in parse(text, RdfFormat.N_TRIPLES))
