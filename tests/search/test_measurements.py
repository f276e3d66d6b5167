"""A number without its unit is half an answer: the node that tells the unit answers with it."""

from collections.abc import Iterator

import pytest

from askgraph.graph import KnowledgeGraph
from askgraph.methods.graph_search import GraphSearch
from askgraph.search.pipeline import link_text
from askgraph.search.rank.expected_answer_type import choose_answer_columns, derive_expected_answer
from askgraph.sparql.results import SelectResult
from askgraph.trace import Answer, Question
from askgraph.workspace import Workspace
from askgraph.workspace.run_sync import run_coroutine

QUERY = """\
PREFIX : <http://shops.example/>
SELECT ?report ?turnover WHERE { ?report :about :North ; :turnover ?turnover . }"""


def shops(*, unit: bool) -> str:
    lines = [
        "@prefix : <http://shops.example/> .",
        "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .",
        ':North a :Shop ; rdfs:label "North Shop" . :South a :Shop ; rdfs:label "South Shop" .',
    ]
    for at in range(60):
        money = f' ; :currency "{("euro", "pound")[at % 2]}"' if unit else ""
        shop = ("North", "South")[at % 2]
        lines.append(f":r{at} a :Report ; :about :{shop} ; :turnover {100 + at}{money} .")
    return "\n".join(lines)


@pytest.fixture(scope="module", params=[True, False], ids=["unit", "no unit"])
def asked(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[KnowledgeGraph, bool]]:
    folder = tmp_path_factory.mktemp("shops")
    (folder / "shops.ttl").write_text(shops(unit=request.param))
    graph = Workspace(folder / "workspace").open(folder / "shops.ttl")
    yield graph, request.param
    run_coroutine(graph.endpoint.close())


async def test_graph_search_answers_a_node_with_unit(asked: tuple[KnowledgeGraph, bool]) -> None:
    graph, unit = asked
    steps = [s async for s in GraphSearch().answer(Question("Turnover of North Shop"), [graph])]

    answer = steps[-1]
    assert isinstance(answer, Answer) and len(answer.result.variables) == 2
    assert len(answer.answer_columns) == (2 if unit else 1)
    assert "turnover" in answer.answer_columns


async def test_of_several_things_it_is_beside_its_own(asked: tuple[KnowledgeGraph, bool]) -> None:
    graph, unit = asked
    steps = [s async for s in GraphSearch().answer(Question("Turnover of the shops"), [graph])]

    answer = steps[-1]
    assert isinstance(answer, Answer)
    assert answer.result.variables == ("shop", "report", "turnover")
    assert answer.answer_columns == (("report", "turnover") if unit else ("turnover",))


def test_so_does_the_query_of_a_model(asked: tuple[KnowledgeGraph, bool]) -> None:
    graph, unit = asked
    expected = derive_expected_answer(link_text("Turnover of North Shop", None, graph.names))
    result = SelectResult(("report", "turnover"), ())

    columns = choose_answer_columns(expected, QUERY, result, graph.profile)
    assert columns == (("report", "turnover") if unit else ("turnover",))
