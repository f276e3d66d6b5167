"""The REST API, `/api/v1`: one router per file, with its request and response models.

This module has the parameters that routes share, and a caller's query with prefixes and labels.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Path, Query
from pydantic import Field

from askgraph.answers.verbalize import (
    detect_label_language,
    fetch_term_labels,
    list_query_iris,
    verbalize_query,
)
from askgraph.answers.verbalize.labels import SchemaFacts, collect_facts
from askgraph.graph import KnowledgeGraph
from askgraph.graph.profile import ClassProfile, PredicateProfile
from askgraph.server.auth import Principal, Scope
from askgraph.server.hub import HubDep, require_scope
from askgraph.server.runs import Language, RequestBody
from askgraph.sparql.judge import check_size
from askgraph.sparql.lexer import declare_prefixes, unescape_codepoints
from askgraph.sparql.prefixes import choose_label, split_local_name

Content = TypeVar("Content")
GraphName = Annotated[str, Path(max_length=200, description="The name of a graph.")]
Offset = Annotated[int, Query(ge=0, le=100_000_000)]
LanguageQueryParameter = Annotated[Language, Query()]
Sparql = Annotated[str, Field(min_length=1, max_length=100_000, description="A SPARQL query.")]


def lease_graph(
    scope: Scope, *, with_indices: bool = False
) -> Callable[..., AsyncGenerator[KnowledgeGraph, None]]:
    """Return a dependency that leases the graph in the address to callers with a scope.

    With `with_indices`, its search indices are in place.
    """

    async def lease(
        graph: GraphName, hub: HubDep, caller: Annotated[Principal, Depends(require_scope(scope))]
    ) -> AsyncGenerator[KnowledgeGraph, None]:
        async with hub.graphs.lease(graph, caller, with_indices=with_indices) as opened:
            yield opened

    return lease


OpenGraph = Annotated[KnowledgeGraph, Depends(lease_graph("ask"), scope="function")]
IndexedGraph = Annotated[
    KnowledgeGraph, Depends(lease_graph("ask", with_indices=True), scope="function")
]
QueryableGraph = Annotated[KnowledgeGraph, Depends(lease_graph("query"), scope="function")]


class QueryTextBody(RequestBody):
    """A query, and the language in which to describe it."""

    query: Sparql
    language: Language = "en"


@dataclass(frozen=True)
class LabeledQuery:
    """A query with labels for its IRIs."""

    text: str  # the query with all prefixes declared and without escapes
    labels: dict[str, str]
    language: str
    nouns: str | None = None  # the language of the labels if it differs; "" if unknown
    facts: SchemaFacts | None = None

    async def verbalize(self) -> str:
        """Return the query in words."""
        return await self.write(verbalize_query)

    async def write(self, writer: Callable[..., Content]) -> Content:
        """Return the result of a function with the arguments of `verbalize_query`."""
        options: dict[str, Any]
        options = {"language": self.language, "nouns": self.nouns, "facts": self.facts}
        return await asyncio.to_thread(writer, self.text, self.labels, **options)


async def label_query(query: str, graph: KnowledgeGraph, language: str) -> LabeledQuery:
    """Declare the prefixes of a graph in a query, and look up labels for its IRIs.

    Raises:
        QuerySyntaxError: an escape is not a character.
        QueryError: the query is too long or too deeply nested.
    """

    def complete_query() -> tuple[str, list[str]]:
        text = unescape_codepoints(query)
        check_size(text)
        text = declare_prefixes(text, graph.prefixes.namespaces)
        return text, list(list_query_iris(text))

    text, iris = await asyncio.to_thread(complete_query)
    labels = await fetch_term_labels(iris, graph, [language])
    facts = collect_facts(iris, graph, language)
    return LabeledQuery(text, labels, language, detect_label_language(graph, language), facts)


def get_label(item: ClassProfile | PredicateProfile, language: str) -> str:
    """Return the label of a class or predicate in a language, else words from its IRI."""
    return choose_label(item.names, [language]) or split_local_name(item.iri)
