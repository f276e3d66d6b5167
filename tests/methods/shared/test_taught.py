"""Models are told what a graph was taught of the words of a question, and its instructions."""

from collections.abc import Iterator
from contextlib import aclosing
from dataclasses import replace

import pytest
from tests.fleet import FLEET, ONTO
from tests.methods.guiding import reply

from askgraph import plugins
from askgraph.graph import KnowledgeGraph
from askgraph.graph.glossary import Glossary, GlossaryEntry
from askgraph.llm.scripted import ScriptedModel
from askgraph.methods import Method
from askgraph.methods.dfsl import Dfsl
from askgraph.methods.graf_von_data import GrafVonData
from askgraph.methods.grasp import Grasp
from askgraph.methods.guided import Guided
from askgraph.methods.multi_stage import MultiStage
from askgraph.methods.sparql_llm import SparqlLlm
from askgraph.trace import Prompt, Question
from askgraph.workspace import Workspace
from askgraph.workspace.run_sync import run_coroutine

WORDS = (
    GlossaryEntry("vehicles", (f"{ONTO}Car", f"{ONTO}Lorry")),
    GlossaryEntry("boats", same_as="ship"),
    GlossaryEntry("top yard", ("http://fleet.example/north",)),
    GlossaryEntry("light fleet", query="SELECT ?v { ?v o:weight 900 }"),
)
GLOSSARY = Glossary(WORDS, "Weights are in kilograms.")
ASKED = "Which vehicles are at the top yard?"


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeGraph]:
    folder = tmp_path_factory.mktemp("fleet")
    (folder / "fleet.ttl").write_text(FLEET)
    place = Workspace(folder / "workspace")
    place.add("fleet", [folder / "fleet.ttl"])
    graph = place.graph("fleet")
    yield replace(graph, glossary=GLOSSARY)
    run_coroutine(graph.endpoint.close())


async def told(method: Method, graph: KnowledgeGraph, text: str = ASKED) -> str:
    """All that a method tells its model at first."""
    question = Question(text, given=())
    async with aclosing(method.answer(question, [graph])) as steps:  # type: ignore[type-var]
        found = [step async for step in steps if isinstance(step, Prompt)]
    return "\n".join(getattr(one, "text", "") for prompt in found for one in prompt.messages)


METHODS: dict[str, Method] = {
    "guided": Guided(ScriptedModel([reply(choose=1)] * 9)),
    "brief": Guided(ScriptedModel(['{"choose": 1}'] * 9), detail="brief"),
    "grasp": Grasp(ScriptedModel([""] * 9)),
    "graf-von-data": GrafVonData(ScriptedModel([""] * 9)),
    "sparql-llm": SparqlLlm(ScriptedModel([""] * 9), decompose=False),
    "dfsl": Dfsl(ScriptedModel([""] * 9), variant="zero"),
    "multi-stage": MultiStage(
        ScriptedModel(["PICK: none"] * 9), entities="reason", predicates="given"
    ),
}


@pytest.mark.parametrize("name", METHODS)
async def test_methods_tell_their_model_what_was_taught(fleet: KnowledgeGraph, name: str) -> None:
    said = await told(METHODS[name], fleet)
    assert '- "vehicles" means o:Car or o:Lorry' in said
    assert '- "top yard" means :north' in said
    assert "Weights are in kilograms." in said
    assert "boats" not in said and "light fleet" not in said


async def test_the_writer_of_multi_stage_is_told_by_its_names(fleet: KnowledgeGraph) -> None:
    method = MultiStage(ScriptedModel([""] * 9), writer="model", n=1)
    asked = "Which vehicles are at the top yard by their depot?"
    said = await told(method, fleet, asked)
    assert '- "top yard" means <North_Yard>\n- "vehicles" means <Car> or <Lorry>\n' in said
    assert "\n<North_Yard>\nClasses\n<Car>\n<Lorry>\n" in said
    assert "Weights are in kilograms." in said


def test_every_method_is_told_or_links_by_what_was_taught() -> None:
    with_model = {type(one).__module__.split(".")[2] for one in METHODS.values()}
    without = {"nearest_example", "direct"}  # a file of pairs alone, a model without the graph
    assert with_model | {"auto", "graph_search"} | without == {*plugins.list_names("method")}


async def test_a_synonym_comes_with_what_it_stands_for(fleet: KnowledgeGraph) -> None:
    words = (
        *WORDS,
        GlossaryEntry("tubs", same_as="boats"),
        GlossaryEntry("quick ones", same_as="light fleet"),
    )
    taught = replace(fleet, glossary=Glossary(words))
    said = await told(Guided(ScriptedModel([reply(choose=1)] * 9)), taught, "How many tubs?")
    assert '- "tubs" is the same as "boats"\n- "boats" is the same as "ship"' in said
    said = await told(
        Guided(ScriptedModel([reply(choose=1)] * 9)), taught, "Which quick ones are blue?"
    )
    assert "is what this query gives: SELECT ?v { ?v o:weight 900 }" in said


async def test_under_a_veil_no_thing_is_told(fleet: KnowledgeGraph) -> None:
    taught = replace(fleet, glossary=Glossary(WORDS, "Albatross is our ship."))
    said = await told(Guided(ScriptedModel([reply(choose=1)] * 9), sees="masked"), taught)
    assert '- "vehicles" means o:Car or o:Lorry' in said
    assert "north" not in said.lower() and "top yard" not in said and "Albatross" not in said


async def test_of_several_graphs_each_is_told_with_its_name(fleet: KnowledgeGraph) -> None:
    other = replace(fleet, name="other", glossary=Glossary(instructions="Old."))
    method = Guided(ScriptedModel([reply(choose=1)] * 9))
    async with aclosing(method.answer(Question(ASKED), [fleet, other])) as steps:  # type: ignore[type-var]
        prompt = next(iter([step async for step in steps if isinstance(step, Prompt)]))
    said = prompt.messages[1].text
    assert "(fleet):\n- " in said and "What is to be known of the graph (other):\nOld." in said
