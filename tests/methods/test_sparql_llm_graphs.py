"""SPARQL-LLM over two graphs: which one a query is for, and what it may join."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from pyoxigraph import RdfFormat, Store
from tests.graphs import MOONS
from tests.methods.moons_asked import fenced, names, run_method, told
from tests.servers.sparql import SparqlServer

from askgraph.graph import KnowledgeGraph
from askgraph.graph.examples import QueryExample
from askgraph.methods.sparql_llm import SparqlLlm
from askgraph.trace import Answer, Refusal
from askgraph.workspace import Workspace
from askgraph.workspace.run_sync import run_coroutine

VISITS = """
@prefix : <http://example.org/> .
@prefix onto: <http://other.example/terms#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Voyager a onto:Probe ; rdfs:label "Voyager"@en ; onto:visited :Io, :Europa .
:Viking a onto:Probe ; rdfs:label "Viking"@en ; onto:visited :Mars .
onto:Probe rdfs:label "probe"@en .
onto:visited rdfs:label "visited"@en .
"""
ASKED = "Which moons of Jupiter did Voyager visit?"
JOIN = """\
# graph: visits
SELECT DISTINCT ?m WHERE {{
  :Voyager onto2:visited ?m SERVICE <{}> {{ ?m onto:orbits :Jupiter }}
}}"""

DECLARED = """\
PREFIX : <http://example.org/>
PREFIX onto: <http://example.org/onto#>
PREFIX onto2: <http://other.example/terms#>
"""


@pytest.fixture(scope="module")
def graphs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[KnowledgeGraph]]:
    folder = tmp_path_factory.mktemp("two-graphs")
    workspace = Workspace(folder / "workspace")
    opened = []
    for name, text in (("moons", MOONS), ("visits", VISITS)):
        (folder / f"{name}.ttl").write_text(text)
        workspace.add(name, [folder / f"{name}.ttl"])
        opened.append(workspace.graph(name))
    yield opened
    for graph in opened:
        run_coroutine(graph.endpoint.close())


run = partial(run_method, SparqlLlm, question=ASKED)


def test_a_query_joins_two_graphs(graphs: list[KnowledgeGraph]) -> None:
    trace, model = run([fenced(JOIN.format("askgraph:moons"))], *graphs)
    answer = trace.outcome
    assert isinstance(answer, Answer) and names(answer) == {"Io", "Europa"}
    assert answer.graph == "visits" and "SERVICE" in answer.query
    assert len(model.requests) == 1 and answer.usage.requests >= 2
    assert answer.labels["http://example.org/Io"] == "Io"  # which only the other graph tells


@pytest.mark.parametrize("line", ["# graph: moons\n", "#+ endpoint: askgraph:moons\n", ""])
def test_the_graph_is_the_one_named_or_that_fits(graphs: list[KnowledgeGraph], line: str) -> None:
    trace, _ = run([fenced(f"{line}SELECT ?m WHERE {{ ?m onto:orbits :Jupiter }}")], *graphs[::-1])
    assert isinstance(trace.outcome, Answer) and trace.outcome.graph == "moons"
    assert names(trace.outcome) == {"Io", "Europa"}


def test_a_graph_that_is_not_there_is_told(graphs: list[KnowledgeGraph]) -> None:
    wrong = fenced("# graph: stars\nSELECT ?m WHERE { ?m onto:orbits :Jupiter }")
    trace, model = run([wrong, fenced(JOIN.format("askgraph:moons"))], *graphs)
    assert "no graph 'stars'" in told(model, 1) and "moons, visits" in told(model, 1)
    assert isinstance(trace.outcome, Answer)


def test_a_fault_in_a_service_is_told_before_anything_runs(graphs: list[KnowledgeGraph]) -> None:
    wrong = fenced(JOIN.format("askgraph:moons").replace("onto:orbits", "onto:revolvesAround"))
    trace, model = run([wrong, fenced(JOIN.format("askgraph:moons"))], *graphs)
    assert "onto:revolvesAround" in told(model, 1) and "onto:orbits" in told(model, 1)
    assert isinstance(trace.outcome, Answer) and names(trace.outcome) == {"Io", "Europa"}


def test_an_example_that_joins_the_graphs_comes_before_others(graphs: list[KnowledgeGraph]) -> None:
    alone = QueryExample("Which moons of Jupiter are there?", "SELECT ?m { ?m ?p ?o }")
    joining = QueryExample(
        "Which moons of Mars are there?",
        "SELECT ?m { ?m a ?o SERVICE <askgraph:visits> { ?p ?q ?m } }",
        federates_with=("askgraph:visits",),
    )
    first = replace(graphs[0], examples=(alone, joining))
    good = fenced(JOIN.format("askgraph:moons"))

    _, both = run([good], first, graphs[1], shots=1)
    _, single = run([good, good], first, shots=1, revisions=0)

    assert joining.question in told(both) and joining.question not in told(single)


class TestServers:
    """Both graphs behind endpoints; a third server must hear nothing."""

    @pytest.fixture
    def servers(self) -> Iterator[list[SparqlServer]]:
        stores = [Store(), Store(), Store()]
        for store, text in zip(stores, (MOONS, VISITS, MOONS), strict=True):
            store.load(text.encode(), RdfFormat.TURTLE)
        with (
            SparqlServer(stores[0]) as moons,
            SparqlServer(stores[1]) as visits,
            SparqlServer(stores[2]) as stranger,
        ):
            yield [moons, visits, stranger]

    @pytest.fixture
    def remote(self, servers: list[SparqlServer], tmp_path: Path) -> Iterator[list[KnowledgeGraph]]:
        workspace = Workspace(tmp_path / "workspace")
        opened = []
        for name, server in zip(("moons", "visits"), servers, strict=False):
            workspace.add(name, [server.url])
            opened.append(workspace.graph(name))
        yield opened
        for graph in opened:
            run_coroutine(graph.endpoint.close())

    def test_a_question_that_needs_both_is_joined_and_nothing_else_is_asked(
        self, remote: list[KnowledgeGraph], servers: list[SparqlServer]
    ) -> None:
        trace, model = run([fenced(DECLARED + JOIN.format(servers[0].url))], *remote)
        assert f"SERVICE <{servers[0].url}>" in told(model)
        assert isinstance(trace.outcome, Answer) and names(trace.outcome) == {"Io", "Europa"}
        assert servers[2].requests == []

    def test_a_service_elsewhere_is_refused_and_the_model_told(
        self, remote: list[KnowledgeGraph], servers: list[SparqlServer]
    ) -> None:
        elsewhere = fenced(DECLARED + JOIN.format(servers[2].url))
        trace, model = run([elsewhere] * 4, *remote)
        assert servers[2].requests == []
        assert isinstance(trace.outcome, Refusal)
        assert servers[2].url in told(model, 1)
