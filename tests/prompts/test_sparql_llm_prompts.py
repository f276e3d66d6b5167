"""What `sparql-llm` tells a model, word for word; see `test_prompts.py`."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest
from tests.each import for_each
from tests.graphs import MOONS
from tests.prompts.test_prompts import check, written

from askgraph.evaluation.runs.one_question import trace_of
from askgraph.graph import KnowledgeGraph
from askgraph.graph.descriptions import DatasetDescription
from askgraph.graph.examples import QueryExample
from askgraph.llm.scripted import ScriptedModel
from askgraph.methods.sparql_llm import SparqlLlm
from askgraph.trace import PreviousQuestion, Question
from askgraph.workspace import Workspace
from askgraph.workspace.run_sync import run_coroutine

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
DESCRIBED = DatasetDescription(
    "Dataset", "Moons", "Moons and planets.", license="https://l.example/by"
)
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
        run_coroutine(graph.endpoint.close())


SPLIT = '{"steps": [], "classes": ["moon"], "entities": %s, "intent": "content"}'
PUBLISHED = ('{"steps": [], "classes": ["moon"]}', GOOD, "Io and Europa.")
LEAST = {"shots": 0, "without": "properties", "names": False}
TALKING = {"decompose": True, "interpret": True}
BEFORE = (PreviousQuestion("Which moons are there?", "SELECT ?m WHERE { ?m a onto:Moon }"),)
JOINING = "Which moons of Jupiter did Voyager visit?"
LICENCE = "And under which licence are they published?"


@for_each(
    ("name", "replies", "settings", "at", "question"),
    ("1-graph", (GOOD,), {}, 0, ""),
    ("as-published", PUBLISHED, {"preset": "paper"}, 1, ""),
    ("decomposition-as-published", PUBLISHED, {"preset": "paper"}, 0, ""),
    ("interpretation-as-published", PUBLISHED, {"preset": "paper"}, 2, ""),
    ("2-graphs-as-published", PUBLISHED, {"preset": "paper"}, 1, JOINING),
    ("2-graphs", (GOOD,), {}, 0, JOINING),
    ("revision", (WRONG, GOOD), {}, 1, ""),
    ("decomposition", (SPLIT % '["Jupiter"]', GOOD, "Two."), TALKING, 0, ""),
    ("interpretation", (SPLIT % '["Jupiter"]', GOOD, "Two."), TALKING, 2, ""),
    ("least", (GOOD,), LEAST, 0, ""),
    ("described", (GOOD,), {}, 0, LICENCE),
)
def test_a_prompt(
    graphs: list[KnowledgeGraph],
    name: str,
    replies: Sequence[str],
    settings: dict[str, object],
    at: int,
    question: str,
) -> None:
    first = replace(graphs[0], descriptions=(DESCRIBED,)) if name == "described" else graphs[0]
    asked = Question(question or "Which moons orbit Jupiter?")
    if name == "described":
        asked = replace(asked, before=BEFORE)
    model = ScriptedModel(replies)
    method = SparqlLlm(model, **settings)  # type: ignore[arg-type]
    opened = [first, graphs[1]][: 2 if name.startswith("2-graphs") else 1]

    run_coroutine(trace_of(asked, method=method, name="sparql-llm", graphs=opened))

    assert len(model.requests) == len(replies)
    messages = model.requests[at].messages
    check(f"sparql-llm-{name}", written(messages[2:] if name == "revision" else messages))
