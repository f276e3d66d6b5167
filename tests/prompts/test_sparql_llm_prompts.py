"""What `sparql-llm` tells a model, word for word; see `test_prompts.py`."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest
from tests.graphs import MOONS
from tests.prompts.test_prompts import check, written

from askgraph.evaluation.runs.one_question import trace_of
from askgraph.graph import KnowledgeGraph
from askgraph.graph.descriptions import Description
from askgraph.graph.examples import QueryExample
from askgraph.llm import Message
from askgraph.llm.scripted import ScriptedModel
from askgraph.methods.sparql_llm import SparqlLlm
from askgraph.trace import Earlier, Question
from askgraph.workspace import Workspace
from askgraph.workspace.run_sync import result_of

VISITS = """
@prefix : <http://example.org/> .
@prefix onto: <http://other.example/terms#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Voyager a onto:Probe ; rdfs:label "Voyager"@en ; onto:visited :Io, :Europa .
onto:Probe rdfs:label "probe"@en .
onto:visited rdfs:label "visited"@en .
"""
PREFIXES = "PREFIX : <http://example.org/> PREFIX onto: <http://example.org/onto#> "
EXAMPLES = (
    QueryExample("Which moons orbit Mars?", PREFIXES + "SELECT ?m { ?m onto:orbits :Mars }"),
    QueryExample("What is the code of Mars?", PREFIXES + "SELECT ?c { :Mars onto:code ?c }"),
)
DESCRIBED = Description("Dataset", "Moons", "Moons and planets.", license="https://l.example/by")
GOOD = "```sparql\nSELECT DISTINCT ?m WHERE { ?m a onto:Moon ; onto:orbits :Jupiter }\n```"
WRONG = "```sparql\nSELECT DISTINCT ?m WHERE { ?m onto:revolvesAround :Jupiter }\n```"


@pytest.fixture(scope="module")
def graphs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[KnowledgeGraph]]:
    folder = tmp_path_factory.mktemp("sparql-llm-prompts")
    opened = []
    for name, source in (("moons", MOONS), ("visits", VISITS)):
        (folder / f"{name}.ttl").write_text(source)
        opened.append(Workspace(folder / "workspace").open(folder / f"{name}.ttl"))
    yield [replace(opened[0], examples=EXAMPLES), opened[1]]
    for graph in opened:
        result_of(graph.endpoint.close())


def requests(
    graphs: Sequence[KnowledgeGraph],
    *replies: str,
    question: str = "Which moons orbit Jupiter?",
    before: tuple[Earlier, ...] = (),
    **settings: object,
) -> list[tuple[Message, ...]]:
    model = ScriptedModel(replies)
    method = SparqlLlm(model, **settings)  # type: ignore[arg-type]
    asked = Question(question, before=before)
    result_of(trace_of(asked, method=method, name="sparql-llm", graphs=graphs))
    return [request.messages for request in model.requests]


def test_the_prompt_for_one_graph(graphs: list[KnowledgeGraph]) -> None:
    [messages] = requests(graphs[:1], GOOD)

    check("sparql-llm-1-graph", written(messages))


def test_the_prompt_as_published(graphs: list[KnowledgeGraph]) -> None:
    parts = '{"steps": [], "classes": ["moon"], "entities": [], "intent": "content"}'

    _, messages, _ = requests(graphs[:1], parts, GOOD, "Io and Europa.", preset="paper")

    check("sparql-llm-as-published", written(messages))


def test_the_prompt_for_two_graphs(graphs: list[KnowledgeGraph]) -> None:
    question = "Which moons of Jupiter did Voyager visit?"
    [messages] = requests(graphs, GOOD, question=question)

    check("sparql-llm-2-graphs", written(messages))


def test_what_a_revision_is_told(graphs: list[KnowledgeGraph]) -> None:
    _, messages = requests(graphs[:1], WRONG, GOOD)

    check("sparql-llm-revision", written(messages[2:]))


def test_how_a_question_is_split_and_its_answer_said(graphs: list[KnowledgeGraph]) -> None:
    parts = '{"steps": [], "classes": ["moon"], "entities": ["Jupiter"], "intent": "content"}'
    split, _, said = requests(graphs[:1], parts, GOOD, "Two.", decompose=True, interpret=True)

    check("sparql-llm-decomposition", written(split))
    check("sparql-llm-interpretation", written(said))


def test_the_least_that_the_ablations_leave(graphs: list[KnowledgeGraph]) -> None:
    [messages] = requests(graphs[:1], GOOD, shots=0, without="properties", names=False)

    check("sparql-llm-least", written(messages))


def test_a_description_and_what_was_asked_before(graphs: list[KnowledgeGraph]) -> None:
    described = replace(graphs[0], described=(DESCRIBED,))
    before = (Earlier("Which moons are there?", "SELECT ?m WHERE { ?m a onto:Moon }"),)
    question = "And under which licence are they published?"
    [messages] = requests([described], GOOD, question=question, before=before)

    check("sparql-llm-described", written(messages))
