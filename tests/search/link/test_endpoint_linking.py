"""Names that are not known here are found by the graph's endpoint, in one request a question."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

import pytest
from pyoxigraph import RdfFormat, Store
from tests.each import for_each
from tests.graphs import store_of
from tests.servers import faults
from tests.servers.sparql import SparqlServer

from askgraph.endpoint import CountingEndpoint, Endpoint
from askgraph.endpoint.http import HttpEndpoint
from askgraph.graph import KnowledgeGraph
from askgraph.graph.arrays import build_arrays
from askgraph.graph.local_profile import build_profile
from askgraph.graph.names import iterate_schema_names
from askgraph.graph.nodes import get_naming
from askgraph.index.name_search import NamedItem, SelectEndpoint, create_name_search
from askgraph.index.name_search.dialects import PlainNames
from askgraph.index.names import ItemKind, NameIndex
from askgraph.sample import graph_path
from askgraph.search.link import LinkedQuestion
from askgraph.search.link.endpoint_linking import find_spans
from askgraph.search.pipeline import link_text, link_to_graph, propose
from askgraph.search.tokenize import tokenize
from askgraph.sparql.prefixes import PrefixMap
from askgraph.sparql.serializer import render_query
from askgraph.trace import Question

SPACE = "https://example.org/space/"


@pytest.fixture(scope="module")
def store() -> Store:
    store = Store()
    store.bulk_load(graph_path().read_bytes(), RdfFormat.TURTLE)
    return store


@pytest.fixture(scope="module")
def known(store: Store) -> KnowledgeGraph:
    """The sample graph as one of which only the classes' and predicates' names are known."""
    return graph_over(store)


@pytest.fixture
async def server(store: Store) -> AsyncIterator[SparqlServer]:
    with SparqlServer(store) as server:
        yield server


def graph_over(store: Store, endpoint: Endpoint | None = None) -> KnowledgeGraph:
    """A graph of which only the names of classes and predicates are known."""
    profile = build_profile(build_arrays(store))
    return KnowledgeGraph(
        name="known",
        endpoint=endpoint or HttpEndpoint("http://127.0.0.1:9/sparql"),
        profile=profile,
        names=NameIndex.from_names(iterate_schema_names(profile)),
        prefixes=PrefixMap({}),
        name_search=create_name_search("plain", get_naming(profile)),
    )


async def asked(question: str, graph: KnowledgeGraph, server: SparqlServer) -> LinkedQuestion:
    endpoint = HttpEndpoint(server.url, retries=0)
    try:
        return await link_to_graph(tokenize(question, None), replace(graph, endpoint=endpoint))
    finally:
        await endpoint.close()


def fresh(graph: KnowledgeGraph, search: str = "plain") -> KnowledgeGraph:
    """The graph with a search that remembers nothing."""
    return replace(graph, name_search=create_name_search(search, get_naming(graph.profile)))


@for_each(
    ("question", "expected"),
    ("Which moons does Jupiter have?", ["Jupiter"]),
    ("which moons does jupiter have", ["jupiter"]),
    ("Who commanded Apollo 11?", ["Apollo 11", "Apollo"]),
    ('Who wrote "The Lord of the Rings"?', ["The Lord of the Rings"]),
    ("How many moons are there?", []),
)
def test_what_may_be_a_name_is_looked_for_the_likeliest_first(
    known: KnowledgeGraph, question: str, expected: Sequence[str]
) -> None:
    linked = link_text(question, None, known.names)
    found = [span.get_text(linked.reading) for span in find_spans(linked)]
    assert found[: len(expected)] == list(expected)
    assert len(found) <= 12
    assert bool(found) == bool(expected)


@pytest.mark.parametrize(
    ("question", "target"),
    [
        ("Which moons does Jupiter have?", "Jupiter"),
        ("which moons does jupiter have", "Jupiter"),
        ("Welche Monde hat Jupiter?", "Jupiter"),
        ("Who commanded Apollo 11?", "Apollo_11"),
    ],
)
async def test_a_thing_is_linked_by_a_name_that_only_the_endpoint_knows(
    known: KnowledgeGraph, server: SparqlServer, question: str, target: str
) -> None:
    linked = await asked(question, fresh(known), server)
    assert SPACE + target in [link.target for link in linked.get_links(ItemKind.ENTITY)]
    assert linked.notes == ()
    assert len(server.requests) == 1


async def test_finds_are_not_asked_for_again(known: KnowledgeGraph, server: SparqlServer) -> None:
    graph = fresh(known)
    first = await asked("Which moons does Jupiter have?", graph, server)
    again = await asked("How many moons does Jupiter have?", graph, server)
    assert len(server.requests) == 1
    assert {link.target for link in first.get_links(ItemKind.ENTITY)} == {
        link.target for link in again.get_links(ItemKind.ENTITY)
    }


async def test_without_names_nothing_is_asked(known: KnowledgeGraph, server: SparqlServer) -> None:
    linked = await asked("How many moons are there?", fresh(known), server)
    assert linked.get_links(ItemKind.CLASS)
    assert server.requests == []


async def test_a_search_that_the_server_does_not_have_gives_way_to_exact_labels(
    known: KnowledgeGraph, server: SparqlServer
) -> None:
    server.acts.append(faults.status(400, "the predicate bif:contains is not known"))
    linked = await asked("Which moons does Jupiter have?", fresh(known, "virtuoso"), server)
    assert SPACE + "Jupiter" in [link.target for link in linked.get_links(ItemKind.ENTITY)]
    assert len(linked.notes) == 1
    assert "search for names failed" in linked.notes[0]


class Lying(PlainNames):
    """Finds one and the same thing for whatever it is asked."""

    async def search(
        self,
        endpoint: SelectEndpoint,
        texts: Sequence[str],
        *,
        languages: Sequence[str] = (),
        within: Sequence[str] = (),
        limit: int = 20,
    ) -> Sequence[Sequence[NamedItem]]:
        return [[NamedItem(SPACE + "Mars", (("Mars", ""),))] for _ in texts]


async def test_lying_searches_yield_to_labels(known: KnowledgeGraph, server: SparqlServer) -> None:
    graph = replace(known, name_search=Lying(get_naming(known.profile)))
    linked = await asked("Which moons does Jupiter have?", graph, server)
    assert [link.target for link in linked.get_links(ItemKind.ENTITY)] == [SPACE + "Jupiter"]
    assert linked.notes == (
        "The endpoint's search for names gave things that are called otherwise.",
    )


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("¿Quién fundó Nestlé?", ("The names that the endpoint found are in en only.",)),
        ("Who founded Nestlé?", ()),
    ],
)
async def test_foreign_names_are_linked_and_told(question: str, said: tuple[str, ...]) -> None:
    label = '<urn:n> <http://www.w3.org/2000/01/rdf-schema#label> "Nestlé"@en .'
    store = store_of(f"{label} <urn:n> <urn:founder> <urn:h> .")
    with SparqlServer(store) as server:
        linked = await asked(question, graph_over(store), server)
    assert [link.target for link in linked.get_links(ItemKind.ENTITY)] == ["urn:n"]
    assert linked.notes == said


async def test_a_graph_whose_names_are_iris_says_so() -> None:
    store = store_of("<urn:berlin> <urn:in> <urn:germany> . <urn:bonn> <urn:in> <urn:germany> .")
    with SparqlServer(store) as server:
        linked = await asked("What is Berlin in?", graph_over(store), server)
    assert any("nothing but their IRIs" in note for note in linked.notes)


PREFIXES = """@prefix : <http://example.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
:mayor rdfs:label 'mayor' . :area rdfs:label 'area' . :population rdfs:label 'population' .
"""
TOWNS = "\n".join(f':t{n} a :Town ; rdfs:label "Orlen" ; :area {n} .' for n in range(20))
PEOPLE = "\n".join(f":p{n} :livesIn :t17 ; :bornIn :t{n} ." for n in range(20))


@for_each(
    ("question", "more", "meant"),
    # those that fit the question, and those to which most leads
    ("Who is the mayor of Orlen?", ":ada rdfs:label 'Ada' . :t11 :mayor :ada .", "t11"),
    ("What is the area of Orlen?", f"{PEOPLE} :x :livesIn :t23 . :y :livesIn :t23 .", "t17"),
)
async def test_of_many_namesakes_the_likeliest_link(question: str, more: str, meant: str) -> None:
    store = store_of(f"{PREFIXES}{TOWNS}\n{more}\n")
    with SparqlServer(store) as server:
        linked = await asked(question, graph_over(store), server)
    found = [link.target.rsplit("/", 1)[-1] for link in linked.get_links(ItemKind.ENTITY)]
    assert meant in found and 1 < len(found) <= 6


async def test_what_has_only_a_name_left_is_what_it_was_merged_into_at_an_endpoint() -> None:
    store = store_of(
        f"{PREFIXES}:bern rdfs:label 'Bern' ; :population 134000 .\n"
        ":old rdfs:label 'Mutzopolis' ; owl:sameAs :bern .\n"
    )
    with SparqlServer(store) as server:
        endpoint = CountingEndpoint(HttpEndpoint(server.url, retries=0))
        graph = graph_over(store, endpoint)
        proposal = await propose(Question("What is the population of Mutzopolis?", "en"), graph)
        await endpoint.close()

    assert "<http://example.org/bern>" in render_query(proposal.candidates[0].query, graph.prefixes)
    assert proposal.linked.merged == {"http://example.org/bern": "Mutzopolis"}
    assert endpoint.requests <= 12
