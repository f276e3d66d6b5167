"""Several graphs under one question: their prefixes, their names for SERVICE, what is known."""

from collections.abc import Iterator

import pytest
from tests.graphs import MOONS, PETS

from askgraph.errors import ForbiddenQuery
from askgraph.graph import KnowledgeGraph
from askgraph.methods.shared.several_graphs import QuestionGraphs
from askgraph.methods.tools import ToolLimits
from askgraph.trace import Question
from askgraph.workspace import Workspace
from askgraph.workspace.run_sync import run_coroutine

OTHER = "http://other.example/"


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[KnowledgeGraph]]:
    folder = tmp_path_factory.mktemp("several")
    opened = []
    for name, text in (("moons", MOONS), ("pets", PETS.replace("http://example.org/", OTHER))):
        (folder / f"{name}.ttl").write_text(text)
        opened.append(Workspace(folder / "workspace").open(folder / f"{name}.ttl"))
    yield opened
    for graph in opened:
        run_coroutine(graph.endpoint.close())


def asked(graphs: list[KnowledgeGraph], *, fraction: float = 1.0) -> QuestionGraphs:
    return QuestionGraphs.from_graphs(Question("?"), graphs, ToolLimits(), fraction=fraction)


def test_a_prefix_means_one_thing_in_graphs_found_by_names(given: list[KnowledgeGraph]) -> None:
    both = asked(given)
    first, second = (one.context.graph.prefixes for one in both.graphs)

    assert first == second
    assert first.shorten("http://example.org/Io") == ":Io"
    assert first.shorten(f"{OTHER}Rex") == "ns2:Rex"
    assert asked(given[1:]).graphs[0].context.graph.prefixes is given[1].prefixes
    assert both.find_graph("pets") is both.find_graph("askgraph:pets") is both.graphs[1]
    assert both.find_graph("cats") is None


async def test_a_query_may_call_the_other_graph_and_no_third(given: list[KnowledgeGraph]) -> None:
    both = asked(given)
    endpoint = both.graphs[0].context.graph.endpoint
    there = await endpoint.ask("ASK { SERVICE <askgraph:pets> { ?dog a ns2:Dog } }")
    assert there and both.requests >= 1
    with pytest.raises(ForbiddenQuery):
        await endpoint.ask("ASK { SERVICE <askgraph:cats> { ?cat ?p ?o } }")


def test_what_is_known_of_the_others_goes_with_a_graph(given: list[KnowledgeGraph]) -> None:
    both = asked(given)

    services = both.get_knowledge(both.graphs[0])

    assert f"{OTHER}Dog" in services.services["askgraph:pets"].classes
    assert f"{OTHER}Dog" not in services.queried_graph.classes
    assert services.queried_graph.prefixes.namespaces["ns2"] == OTHER
    alone = asked(given[:1])
    assert alone.get_knowledge(alone.graphs[0]).services == {}


def test_a_fraction_of_the_schema_is_shown_and_all_of_it_known(given: list[KnowledgeGraph]) -> None:
    part = asked(given[:1], fraction=0.5)
    assert len(part.graphs[0].context.graph.profile.classes) == 1
    assert len(part.get_knowledge(part.graphs[0]).queried_graph.classes) == 2
