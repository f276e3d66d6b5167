"""What models are told, word for word: a changed prompt is a readable diff.

After a change that is meant: `ASKGRAPH_PROMPTS=write python -m pytest tests/prompts`.
"""

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import pytest
from tests.each import for_each
from tests.graphs import MOONS, PETS
from tests.methods.guiding import reply

from askgraph.graph import KnowledgeGraph
from askgraph.graph.examples import QueryExample
from askgraph.graph.notes import keep
from askgraph.llm import Message, Request, System, ToolCall, ToolSchema
from askgraph.llm.budget import estimated_input
from askgraph.llm.scripted import ScriptedModel
from askgraph.methods import Method
from askgraph.methods.dfsl import Dfsl
from askgraph.methods.graf_von_data import GrafVonData
from askgraph.methods.grasp import Grasp
from askgraph.methods.guided import DETAILS, Detail, Guided
from askgraph.methods.multi_stage import MultiStage
from askgraph.methods.tools import SETS
from askgraph.methods.tools.toolbox import set_schemas
from askgraph.trace import Prompt, Question
from askgraph.workspace import Workspace
from askgraph.workspace.run_sync import result_of

HERE = Path(__file__).parent
ASKED = Question("Which moons orbit Jupiter?")
CHOSEN = reply(choose=1)


@pytest.fixture(scope="module")
def graphs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[KnowledgeGraph]]:
    folder = tmp_path_factory.mktemp("prompts")
    opened = []
    for name, source in (("moons", MOONS), ("pets", PETS)):
        (folder / f"{name}.ttl").write_text(source)
        opened.append(Workspace(folder / "workspace").open(folder / f"{name}.ttl"))
    yield opened
    for graph in opened:
        result_of(graph.endpoint.close())


async def prompts(
    method: Method, graphs: Sequence[KnowledgeGraph], asked: Question = ASKED
) -> list[Prompt]:
    async with aclosing(method.answer(asked, graphs)) as steps:  # type: ignore[type-var]
        return [step async for step in steps if isinstance(step, Prompt)]


def written(messages: Sequence[Message], tools: Sequence[ToolSchema] = ()) -> str:
    """Messages and tools as a person reads them, with their estimated tokens."""
    parts = [
        f"== {type(message).__name__.lower()}\n{getattr(message, 'text', '')}"
        for message in messages
    ]
    parts += [
        f"== tool {tool.name}\n{tool.description}\n{json.dumps(tool.parameters, indent=1)}"
        for tool in tools
    ]
    request = Request.of(messages or [System("")], {"tools": tools})
    return "\n\n".join([*parts, f"== about {estimated_input(request):,} tokens\n"])


def check(name: str, text: str) -> None:
    path = HERE / f"{name}.txt"
    if os.environ.get("ASKGRAPH_PROMPTS") == "write":
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("number", [1, 2])
async def test_the_first_prompt_of_grasp(graphs: list[KnowledgeGraph], number: int) -> None:
    [prompt] = await prompts(Grasp(ScriptedModel(["", "", ""])), graphs[:number])

    check(f"grasp-{number}-graphs", written(prompt.messages, prompt.tools))


async def test_the_prompt_of_feedback(graphs: list[KnowledgeGraph]) -> None:
    answer = "```sparql\nSELECT ?moon WHERE { ?moon a onto:Moon }\n```"
    done = '{"status": "done", "feedback": ""}'
    method = Grasp(ScriptedModel([answer, done]), feedback="always")

    _, prompt = await prompts(method, graphs[:1])

    check("grasp-feedback", written(prompt.messages))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("answer", {"query": "SELECT ?moon WHERE { ?moon a onto:Moon }", "text": "Three moons."}),
        ("cancel", {"reason": "No orbits here.", "query": "SELECT ?m { ?m onto:near :Jupiter }"}),
    ],
)
async def test_the_prompt_of_feedback_as_published(
    graphs: list[KnowledgeGraph], name: str, said: dict[str, str]
) -> None:
    done = '{"status": "done", "feedback": ""}'
    call = ToolCall("1", name, json.dumps(said))
    method = Grasp(ScriptedModel([call, done]), preset="paper", feedback="always")

    _, prompt = await prompts(method, graphs[:1])

    check(f"grasp-feedback-{name}-as-published", written(prompt.messages))


@pytest.mark.parametrize("number", [1, 2])
async def test_the_first_prompt_of_grasp_as_published(
    graphs: list[KnowledgeGraph], number: int
) -> None:
    method = Grasp(ScriptedModel(["", "", ""]), preset="paper")

    [prompt] = await prompts(method, graphs[:number])

    check(f"grasp-{number}-graphs-as-published", written(prompt.messages, prompt.tools))


@pytest.mark.parametrize("preset", ["best", "paper"])
async def test_the_first_prompt_of_graf_von_data(graphs: list[KnowledgeGraph], preset: str) -> None:
    method = GrafVonData(ScriptedModel(["", "", ""]), preset=preset)

    [prompt] = await prompts(method, graphs[:1])

    check(f"graf-von-data{'' if preset == 'best' else '-as-published'}", written(prompt.messages))


@pytest.mark.parametrize("plugin", [Grasp, GrafVonData])
async def test_the_first_prompt_of_an_agent_that_keeps_notes(
    graphs: list[KnowledgeGraph], plugin: type, tmp_path: Path
) -> None:
    noted = replace(graphs[0], notes=tmp_path / "moons.jsonl", snapshot="now")
    for text, snapshot in (("Radii are in kilometres.", "before"), ('"Moon" is a class.', "now")):
        keep(tmp_path / "moons.jsonl", text, snapshot)
    method = plugin(ScriptedModel(["", "", ""]), propose=False, notes="keep")

    [prompt] = await prompts(method, [noted])

    tools = [tool for tool in prompt.tools if tool.name == "note"]
    check(f"notes-{plugin.__name__.lower()}", written(prompt.messages, tools))


@pytest.mark.parametrize("number", [1, 2])
async def test_the_prompt_of_guided(graphs: list[KnowledgeGraph], number: int) -> None:
    examples = tuple(QueryExample(text, PREFIXES + query) for text, query in OWN)
    asked = [replace(graphs[0], examples=examples), graphs[1]]

    [prompt] = await prompts(Guided(ScriptedModel([CHOSEN])), asked[:number])

    check(f"guided-{number}-graph{'s' * (number > 1)}", written(prompt.messages))


async def test_the_prompt_of_guided_with_a_list_of_the_schema(
    graphs: list[KnowledgeGraph], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(DETAILS, "list", Detail(schema=("list",), values=False))
    method = Guided(ScriptedModel([CHOSEN]), detail="list")

    [prompt] = await prompts(method, graphs[:1])

    check("guided-list", written(prompt.messages))


async def test_the_brief_prompt_of_guided(graphs: list[KnowledgeGraph]) -> None:
    [prompt] = await prompts(Guided(ScriptedModel(['{"choose": 1}']), detail="brief"), graphs[:1])

    check("guided-brief", written(prompt.messages))


@for_each("name", SETS)
def test_the_tools_of_each_set(name: str) -> None:
    check(f"tools-{name}", written((), set_schemas(SETS[name])))


async def test_instruction_and_tools_of_the_best_set_take_at_most_2_500_tokens(
    graphs: list[KnowledgeGraph],
) -> None:
    [prompt] = await prompts(Grasp(ScriptedModel(["", "", ""]), tools="best"), graphs[:1])

    instruction = [message for message in prompt.messages if isinstance(message, System)]
    assert estimated_input(Request.of(instruction, {"tools": prompt.tools})) <= 2_500


ELSEWHERE = (
    ("How many dogs has Ann?", "SELECT (COUNT(?d) AS ?dogs) WHERE { ?d pet:owner pet:Ann }"),
    ("Which cats live in Rome?", "SELECT ?cat WHERE { ?cat a pet:Cat ; pet:livesIn pet:Rome }"),
    ("What is the age of Rex?", "SELECT ?age WHERE { pet:Rex pet:age ?age }"),
)
OWN = (
    ("Which moons orbit Mars?", "SELECT ?m WHERE { ?m onto:orbits :Mars }"),
    ("Which moons orbit Jupiter?", "SELECT ?m WHERE { ?m onto:orbits :Jupiter }"),
    ("What is the code of Mars?", "SELECT ?c WHERE { :Mars onto:code ?c }"),
    ("How large is Europa?", "SELECT ?r WHERE { :Europa onto:radius ?r }"),
)
GIVEN = ("http://example.org/Jupiter", "http://example.org/onto#orbits")
PREFIXES = (
    "PREFIX : <http://example.org/> PREFIX onto: <http://example.org/onto#> "
    "PREFIX pet: <http://pets.org/> "
)


@for_each(
    ("name", "settings"),
    [
        ("dfsl-plain", {"variant": "plain"}),
        ("dfsl-zero", {"variant": "zero"}),
        ("dfsl-dynamic", {"k": 2}),
        ("dfsl-several", {"k": 1, "hypotheses": "prompt", "n": 3}),
        ("dfsl-as-published", {"preset": "paper", "k": 2}),
        ("dfsl-plain-as-published", {"preset": "paper", "variant": "plain"}),
        ("dfsl-zero-as-published", {"preset": "paper", "variant": "zero"}),
        ("dfsl-several-as-published", {"preset": "paper", "k": 1, "hypotheses": "prompt"}),
    ],
)
async def test_the_prompts_of_few_shot_learning(
    graphs: list[KnowledgeGraph], name: str, settings: dict[str, object]
) -> None:
    examples = tuple(QueryExample(text, PREFIXES + query) for text, query in OWN)
    method = Dfsl(ScriptedModel([""]), **settings)  # type: ignore[arg-type]
    asked = replace(ASKED, given=GIVEN) if "preset" in settings else ASKED

    [prompt] = await prompts(method, [replace(graphs[0], examples=examples)], asked)

    check(name, written(prompt.messages))


async def test_the_prompt_of_few_shot_learning_with_examples_about_another_graph(
    graphs: list[KnowledgeGraph], tmp_path: Path
) -> None:
    lines = [
        json.dumps({"question": text, "sparql": PREFIXES + query}) for text, query in ELSEWHERE
    ]
    (tmp_path / "elsewhere.jsonl").write_text("\n".join(lines))
    method = Dfsl(ScriptedModel([""]), k=2, examples=str(tmp_path / "elsewhere.jsonl"))

    [prompt] = await prompts(method, graphs)

    check("dfsl-elsewhere", written(prompt.messages))


@pytest.mark.parametrize("what", ["entities", "predicates"])
async def test_the_prompt_by_which_multi_stage_picks(
    graphs: list[KnowledgeGraph], what: str
) -> None:
    settings = {"entities": "given", "predicates": "given", what: "reason"}
    method = MultiStage(ScriptedModel(["PICK: none"]), **settings)  # type: ignore[arg-type]
    question = replace(ASKED, given=())
    async with aclosing(method.answer(question, graphs[:1])) as steps:  # type: ignore[type-var]
        [prompt] = [step async for step in steps if isinstance(step, Prompt)]

    check(f"multi-stage-{what}", written(prompt.messages))


async def test_the_prompts_of_multi_stage_as_published(graphs: list[KnowledgeGraph]) -> None:
    said = ["PICK: 1", "PICK: 1", ""]
    method = MultiStage(ScriptedModel(said), preset="paper", least_predicates=0)  # of a small graph

    found = await prompts(method, graphs[:1])

    text = "\n\n".join(written(prompt.messages) for prompt in found)
    check("multi-stage-as-published", text)
