"""What models are told, word for word: a changed prompt is a readable diff.

After a change that is meant: `ASKGRAPH_PROMPTS=write python -m pytest tests/prompts`.
"""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import pytest
from tests.each import for_each
from tests.graphs import MOONS, PETS
from tests.methods.guiding import reply
from tests.methods.tools.exploring import served

from askgraph.graph import KnowledgeGraph
from askgraph.graph.examples import QueryExample
from askgraph.graph.glossary import add_note
from askgraph.llm import (
    Choice,
    Message,
    Request,
    System,
    ToolCall,
    ToolSchema,
    estimate_input_tokens,
)
from askgraph.llm.scripted import ScriptedModel, ScriptedReply
from askgraph.methods import Method
from askgraph.methods.dfsl import Dfsl
from askgraph.methods.graf_von_data import GrafVonData
from askgraph.methods.grasp import Grasp
from askgraph.methods.guided import Guided
from askgraph.methods.multi_stage import MultiStage
from askgraph.methods.tools import TOOL_SETS
from askgraph.methods.tools.toolbox import build_schemas
from askgraph.trace import Prompt, Question
from askgraph.workspace import Workspace
from askgraph.workspace.run_sync import run_coroutine

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
        run_coroutine(graph.endpoint.close())


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
    request = Request.from_options(messages or [System("")], {"tools": tools})
    return "\n\n".join([*parts, f"== about {estimate_input_tokens(request):,} tokens\n"])


def check(name: str, text: str) -> None:
    path = HERE / f"{name}.txt"
    if os.environ.get("ASKGRAPH_PROMPTS") == "write":
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text


def calling(tool: str, **arguments: str) -> ToolCall:
    """A call as published, which names the graph, though there is one alone."""
    return ToolCall(tool, tool, json.dumps({"graph": "moons", **arguments}))


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
IDLE = ("", "", "")
PLAINLY = "```sparql\nSELECT ?moon WHERE { ?moon a onto:Moon }\n```"
DONE = '{"status": "done", "feedback": ""}'
AGAIN = '{"status": "retry", "feedback": "Too many."}'
SAID = calling("answer", query="SELECT ?moon WHERE { ?moon a onto:Moon }", text="Three moons.")
GIVES_UP = calling("cancel", reason="No orbits here.", query="SELECT ?m { ?m onto:near :Jupiter }")
PAPER = {"preset": "paper"}
ALWAYS = {"feedback": "always"}
SEVERAL = {"k": 1, "hypotheses": "prompt"}
PICKS = ("PICK: none",)
PICKING = {"entities": "given", "predicates": "given"}


@for_each(
    ("name", "plugin", "replies", "settings", "number", "learnt"),
        ("grasp-1-graphs", Grasp, IDLE, {}, 1, False),
        ("grasp-2-graphs", Grasp, IDLE, {}, 2, False),
        ("grasp-1-graphs-as-published", Grasp, IDLE, PAPER, 1, False),
        ("grasp-2-graphs-as-published", Grasp, IDLE, PAPER, 2, False),
        ("grasp-feedback", Grasp, (PLAINLY, DONE), ALWAYS, 1, False),
        ("grasp-feedback-answer-as-published", Grasp, (SAID, DONE), PAPER | ALWAYS, 1, False),
        ("grasp-feedback-cancel-as-published", Grasp, (GIVES_UP, DONE), PAPER | ALWAYS, 1, False),
        ("graf-von-data", GrafVonData, IDLE, {}, 1, False),
        ("graf-von-data-as-published", GrafVonData, IDLE, PAPER, 1, False),
        ("guided-1-graph", Guided, (CHOSEN,), {}, 1, True),
        ("guided-2-graphs", Guided, (CHOSEN,), {}, 2, True),
        ("guided-list", Guided, (CHOSEN,), {"detail": "no-rows"}, 1, False),
        ("guided-brief", Guided, ('{"choose": 1}',), {"detail": "brief"}, 1, False),
        ("dfsl-plain", Dfsl, IDLE, {"variant": "plain"}, 1, True),
        ("dfsl-zero", Dfsl, IDLE, {"variant": "zero"}, 1, True),
        ("dfsl-dynamic", Dfsl, IDLE, {"k": 2}, 1, True),
        ("dfsl-several", Dfsl, IDLE, {"k": 1, "hypotheses": "prompt", "n": 3}, 1, True),
        ("dfsl-as-published", Dfsl, IDLE, PAPER | {"k": 2}, 1, True),
        ("dfsl-fixed-as-published", Dfsl, IDLE, PAPER | {"k": 1, "variant": "fixed"}, 1, True),
        ("dfsl-plain-as-published", Dfsl, IDLE, PAPER | {"variant": "plain"}, 1, True),
        ("dfsl-zero-as-published", Dfsl, IDLE, PAPER | {"variant": "zero"}, 1, True),
        ("dfsl-several-as-published", Dfsl, IDLE, PAPER | SEVERAL, 1, True),
        ("multi-stage-entities", MultiStage, PICKS, PICKING | {"entities": "reason"}, 1, False),
        ("multi-stage-predicates", MultiStage, PICKS, PICKING | {"predicates": "reason"}, 1, False),
)  # fmt: skip
async def test_the_last_prompt_of_a_run(
    graphs: list[KnowledgeGraph],
    name: str,
    plugin: Callable[..., Method],
    replies: Sequence[ScriptedReply],
    settings: dict[str, object],
    number: int,
    learnt: bool,
) -> None:
    examples = tuple(QueryExample(text, PREFIXES + query) for text, query in OWN)
    asked = [replace(graphs[0], examples=examples if learnt else ()), graphs[1]][:number]
    given: tuple[str, ...] | None = () if plugin is MultiStage else None
    if plugin is Dfsl and "preset" in settings:
        given = GIVEN

    *_, prompt = await prompts(
        plugin(ScriptedModel(replies), **settings), asked, replace(ASKED, given=given)
    )

    check(name, written(prompt.messages, prompt.tools))


@pytest.mark.parametrize("plugin", [Grasp, GrafVonData])
async def test_the_first_prompt_of_an_agent_that_keeps_notes(
    graphs: list[KnowledgeGraph], plugin: type, tmp_path: Path
) -> None:
    noted = replace(graphs[0], notes=tmp_path / "moons.jsonl", snapshot="now")
    for text, snapshot in (("Radii are in kilometres.", "before"), ('"Moon" is a class.', "now")):
        add_note(tmp_path / "moons.jsonl", text, snapshot)
    method = plugin(ScriptedModel(["", "", ""]), propose=False, notes="keep")

    [prompt] = await prompts(method, [noted])

    tools = [tool for tool in prompt.tools if tool.name == "note"]
    check(f"notes-{plugin.__name__.lower()}", written(prompt.messages, tools))


@for_each("name", TOOL_SETS)
def test_the_tools_of_each_set(name: str) -> None:
    check(f"tools-{name}", written((), build_schemas(TOOL_SETS[name])))


async def test_instruction_and_tools_of_the_best_set_take_at_most_2_500_tokens(
    graphs: list[KnowledgeGraph],
) -> None:
    [prompt] = await prompts(Grasp(ScriptedModel(["", "", ""]), tools="best"), graphs[:1])

    instruction = [message for message in prompt.messages if isinstance(message, System)]
    assert (
        estimate_input_tokens(Request.from_options(instruction, {"tools": prompt.tools})) <= 2_500
    )


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


async def test_the_prompts_of_multi_stage_as_published(graphs: list[KnowledgeGraph]) -> None:
    said = ["PICK: :Jupiter", "PICK: onto:orbits", ""]
    method = MultiStage(ScriptedModel(said), preset="paper", least_predicates=0)  # of a small graph

    found = await prompts(method, graphs[:1])

    text = "\n\n".join(written(prompt.messages) for prompt in found)
    check("multi-stage-as-published", text)


async def test_what_is_observed_as_published(tmp_path: Path) -> None:
    names = {"": "http://example.org/", "onto": "http://example.org/onto#"}
    wrong, right = "SELECT ?m { ?m onto:orbits :Jupiter FILTER(?m > }", "SELECT ?m { ?m ?p ?o }"
    wide = right.replace("?m {", f"?m {' '.join(f'({n} AS ?c{n})' for n in range(10))} {{")
    calls = (
        calling("search_entity", query="moon Jupiter"),
        calling("search_property", query="orbits"),
        calling("search_object_of_property", property="onto:code", query=""),
        calling("list", predicate="onto:radius"),
        calling("execute", query=wrong),
        calling("execute", query=wide),
    )
    turns = (Choice(calls=calls), calling("answer", query=right, text="Two."), AGAIN, GIVES_UP)
    searches = "search('planet orbits') | search('moon')"
    acts = (f"{searches} | query('{wrong}')", f"query('{right}')", "fail('')")
    more = (f':m{n} rdfs:label "moon {n}" ; onto:radius {n} .' for n in range(12))
    with served("\n".join((MOONS, *more)), tmp_path, prefixes=names) as (graph, _):
        model = ScriptedModel(turns)
        method = Grasp(model, preset="paper", feedback="always", feedbacks=1)
        await prompts(method, [replace(graph, name="moons")])
        check("grasp-observed-as-published", written(model.requests[-1].messages[2:]))
        model = ScriptedModel([f"Act: {act}" for act in acts])
        await prompts(GrafVonData(model, preset="paper"), [graph])
        check("graf-von-data-observed-as-published", written(model.requests[-1].messages[2:]))
