"""The REST interface, `/api/v1`: one router a file, with the models that it takes and gives.

Here are the parameters that routes share, and a caller's query with its prefixes and labels.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Path, Query
from pydantic import Field

from askgraph.answers.verbalize import in_words, iris_of, labels_of, language_of_labels
from askgraph.answers.verbalize.schema_facts import SchemaFacts, collect_facts
from askgraph.graph import KnowledgeGraph
from askgraph.graph.profile import ClassProfile, PredicateProfile
from askgraph.server.auth import Principal, Scope
from askgraph.server.hub import HubDep, needs
from askgraph.server.runs import Body, Language
from askgraph.sparql.judge import refuse_size
from askgraph.sparql.lexer import unescaped, with_declared
from askgraph.sparql.prefixes import best_label, words_of_local_name

GraphName = Annotated[str, Path(max_length=200, description="The name of a graph.")]
Offset = Annotated[int, Query(ge=0, le=100_000_000)]
Tongue = Annotated[Language, Query()]
Sparql = Annotated[str, Field(min_length=1, max_length=100_000, description="A SPARQL query.")]


def lend_graph(
    scope: Scope, *, searched: bool = False
) -> Callable[..., AsyncGenerator[KnowledgeGraph, None]]:
    """Return a dependency that lends the graph of an address to callers who have a scope.

    With `searched`, its indices are in place.
    """

    async def lend(
        graph: GraphName, hub: HubDep, caller: Annotated[Principal, Depends(needs(scope))]
    ) -> AsyncGenerator[KnowledgeGraph, None]:
        async with hub.graphs.lease(graph, caller, searched=searched) as opened:
            yield opened

    return lend


OpenGraph = Annotated[KnowledgeGraph, Depends(lend_graph("ask"), scope="function")]
SearchedGraph = Annotated[
    KnowledgeGraph, Depends(lend_graph("ask", searched=True), scope="function")
]
QueriedGraph = Annotated[KnowledgeGraph, Depends(lend_graph("query"), scope="function")]


class QueryText(Body):
    """A query, and the language to speak of it in."""

    query: Sparql
    language: Language = "en"


@dataclass(frozen=True)
class NamedQuery:
    """A query that declares all its prefixes and has no escapes; `labels` name its IRIs.

    `nouns` is the language of the labels if it is another one, empty if nobody knows; `facts` are
    what the graph shows of the terms.
    """

    text: str
    labels: dict[str, str]
    language: str
    nouns: str | None = None
    facts: SchemaFacts | None = None

    async def words(self) -> str:
        """Return the query read back."""
        return await asyncio.to_thread(
            in_words,
            self.text,
            self.labels,
            language=self.language,
            nouns=self.nouns,
            facts=self.facts,
        )


async def name_terms(query: str, graph: KnowledgeGraph, language: str) -> NamedQuery:
    """Return a query with the prefixes of a graph declared, and labels in a language.

    Raises `QuerySyntaxError` for an escape that is no character, and `QueryError` for one too long
    or too deep.
    """

    def completed() -> tuple[str, list[str]]:
        text = unescaped(query)
        refuse_size(text)
        text = with_declared(text, graph.prefixes.namespaces)
        return text, list(iris_of(text))

    text, iris = await asyncio.to_thread(completed)
    labels = await labels_of(iris, graph, [language])
    facts = collect_facts(iris, graph, language)
    return NamedQuery(text, labels, language, language_of_labels(graph, language), facts)


def label_of(item: ClassProfile | PredicateProfile, language: str) -> str:
    """Return the label of a class or predicate in a language, else the words of its IRI."""
    return best_label(item.names, [language]) or words_of_local_name(item.iri)
