"""A graph that a call names, lent to our own tools, and what they all say of its classes."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Annotated

from pydantic import Field

from askgraph.graph import KnowledgeGraph
from askgraph.metadata import ClassProfile
from askgraph.rdf.labels import best_label, words_of_local_name
from askgraph.rdf.prefixes import PrefixMap
from askgraph.serve.identity.principal import Scope
from askgraph.serve.protocols.mcp.access import Known, chosen, current
from askgraph.serve.protocols.mcp.failing import telling
from askgraph.tools import Context, Limits
from askgraph.trace import Question

__all__ = ["GraphName", "Language", "classes_told", "looking", "named"]

GraphName = Annotated[
    str | None, Field(description="The graph's name; may be left out where there is only one.")
]
Language = Annotated[
    str | None,
    Field(
        description="Of labels and questions, as 'de' (BCP 47); default: English.",
        pattern=r"^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$",
    ),
]

_CLASSES = 100
_LIMITS = Limits(rows=30, triples=20, clip=200)


@asynccontextmanager
async def looking(
    graph: str | None, *, text: str = "", language: str | None = None, scope: Scope = "ask"
) -> AsyncIterator[Context]:
    """Lend the graph that a call names, its indices in place; what goes wrong is told."""
    access = current()
    with telling():
        access.check(scope)
        async with access.graph(chosen(access, graph)) as opened:
            limits = replace(_LIMITS, timeout=access.query_timeout)
            yield Context(opened, Question(text, language), limits, guarded=False)


def classes_told(
    graph: Known | KnowledgeGraph, language: str, *, most: int = _CLASSES
) -> list[str]:
    """Return the most frequent classes as lines: `ont:Moon "moon": 55 instances`."""
    return [_line(one, graph.prefixes, language) for one in graph.profile.classes[:most]]


def named(names: tuple[tuple[str, str], ...], iri: str, language: str) -> str:
    """Return the label of a class or predicate, else the words of its IRI."""
    pairs = [(text, tag or None) for text, tag in names]
    return best_label(pairs, [language, "en"]) or words_of_local_name(iri)


def _line(one: ClassProfile, prefixes: PrefixMap, language: str) -> str:
    label = named(one.names, one.iri, language)
    return f'{prefixes.shorten(one.iri)} "{label}": {one.instances:,} instances'
