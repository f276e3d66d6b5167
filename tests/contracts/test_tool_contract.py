"""What every tool keeps, whatever a model writes into it and whatever the endpoint does."""

import asyncio
import json
from collections.abc import Iterator, Mapping

import pytest
from tests.each import for_each
from tests.servers import faults
from tests.tool_graphs import behind, opened_sample, served

from askgraph import plugins
from askgraph.errors import QueryError, ServiceError
from askgraph.graph import KnowledgeGraph
from askgraph.llm import ToolCall, ToolSchema, estimate_tokens
from askgraph.methods.tools import TOOL_SETS, Context
from askgraph.methods.tools.term_text import STANDARD_NAMESPACES
from askgraph.methods.tools.toolbox import GraphToolbox, build_schemas
from askgraph.sample import graph_path
from askgraph.sparql.lexer import split_tokens
from askgraph.trace import Observation, Question
from askgraph.workspace.run_sync import run_coroutine

TOOLS = plugins.list_names("tool")
ASKING = ("answer", "execute", "list")  # nothing without an endpoint
QUESTION = Question("Which moons orbit Jupiter?")
PREFIXES = {
    "space": "https://example.org/space/",
    "ont": "https://example.org/space/ontology#",
    "crew": "https://example.org/space/crew/",
}
TURTLE = graph_path().read_text(encoding="utf-8")
SILLY = {
    "nothing": "",
    "white space": " \n\t ",
    "much": "moon " * 2000,
    "one long word": "x" * 10_000,
    "another script": "土星の衛星",
    "quotes": "\"'\"\"\"'''\\",
    "an update": "} INSERT DATA { <a:a> <b:b> <c:c> }",
    "an unknown IRI": "<https://example.org/space/NoSuchThing>",
    "an unknown prefix": "nowhere:Titan",
    "a blank node": "_:b0",
    "control characters": "moon\x00\x07\u202e\ud7ff",
    "a service": "SELECT * { SERVICE <http://127.0.0.1:9/sparql> { ?search ?p ?o } }",
    "a huge result": "SELECT * { ?search ?p ?o . ?a ?b ?c }",
}
SENSIBLE: Mapping[str, object] = {
    "columns": ["search"], "cls": "ont:Moon", "entity": "space:Titan", "iri": "space:Titan",
    "object": "space:Saturn", "sentence": "ont:orbits leads from a moon to what it orbits.",
    "position": "object", "predicate": "ont:orbits", "property": "ont:orbits", "query": "moon",
    "question": QUESTION.text, "reason": "No moon is meant.",
    "sparql": "SELECT ?search { ?search a ont:Moon }", "subject": "space:Titan",
}  # fmt: skip
QUERYING = ("answer", "cancel", "execute")


@pytest.fixture(scope="module")
def near(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeGraph]:
    graph = opened_sample(tmp_path_factory.mktemp("near"))
    yield graph
    run_coroutine(graph.endpoint.close())


def schema(tool: str) -> ToolSchema:
    return build_schemas([tool])[0]


def properties(tool: str) -> Mapping[str, Mapping[str, object]]:
    found = schema(tool).parameters["properties"]
    assert isinstance(found, dict)
    return found


def sensible(tool: str) -> dict[str, object]:
    """Arguments that a model would write; a parameter by its name, or the start of its enum."""
    given: dict[str, object] = {}
    for name, kind in properties(tool).items():
        if name in SENSIBLE:
            given[name] = SENSIBLE[name]
        elif isinstance(choices := kind.get("enum"), list):
            given[name] = choices[0]
    if tool in QUERYING:
        given["query"] = "SELECT ?search { ?search ont:orbits space:Saturn ; ont:diameter ?d }"
    return {"subject": given["subject"]} if tool == "list" else given


def silly(tool: str, text: str) -> dict[str, object]:
    """The same text for every parameter that takes one; numbers that make no sense."""
    given: dict[str, object] = {}
    for name, kind in properties(tool).items():
        match kind:
            case {"enum": [*_, last]}:
                given[name] = last
            case {"type": "string"}:
                given[name] = text
            case {"type": "array"}:
                given[name] = [text, text]
            case {"type": "number" | "integer"}:
                given[name] = -1_000_000
    return given


async def told(graph: KnowledgeGraph, tool: str, arguments: Mapping[str, object]) -> Observation:
    box = GraphToolbox(TOOLS, [graph], QUESTION)
    use = await box.call(ToolCall("1", tool, json.dumps(arguments)))
    return use.observation


@for_each("tool", TOOLS)
def test_the_schema_is_valid_and_short(tool: str) -> None:
    found = schema(tool)
    required = found.parameters["required"]
    assert isinstance(required, list) and set(required) <= set(properties(tool))
    assert found.description.endswith(".")
    text = f"{found.name} {found.description} {json.dumps(found.parameters)}"
    assert estimate_tokens(text) <= 120


@for_each("tool", TOOLS)
async def test_whatever_is_written_is_observed_in_few_words(
    near: KnowledgeGraph, tool: str
) -> None:
    calls = {"sensible": sensible(tool)}
    calls |= {name: silly(tool, written) for name, written in SILLY.items()}
    for name, arguments in calls.items():
        found = await told(near, tool, arguments)
        assert found.text.strip() and len(found.text) <= 6000, name
        assert (found.ends == "cancel") == (tool == "cancel"), name
        assert not (found.failed and found.ends), name


@for_each("tool", [tool for tool in TOOLS if tool != "answer"])
async def test_every_iri_of_the_graph_that_is_shown_counts_as_seen(
    near: KnowledgeGraph, tool: str
) -> None:
    for given in (sensible(tool), *(silly(tool, written) for written in SILLY.values())):
        context = Context(near, QUESTION)
        try:
            found = await plugins.load("tool", tool)(context, **given)
        except (QueryError, ServiceError) as problem:
            found = Observation(str(problem), failed=True)
        known = context.shown_iris | set(found.seen) | set(iris_in(json.dumps(given), near))
        assert set(iris_in(found.text, near)) <= known, given


def iris_in(text: str, graph: KnowledgeGraph) -> Iterator[str]:
    """The IRIs that a text shows outside of quotation marks, and that only the graph can tell."""
    assert graph.arrays is not None
    namespaces = graph.prefixes.namespaces
    for token in split_tokens(text):
        prefix, colon, local = token.text.partition(":")
        iri = token.text[1:-1] if token.kind == "iri" else namespaces.get(prefix, "") + local
        is_name = token.kind in ("iri", "pname") and colon and local
        if (
            is_name
            and not iri.startswith(STANDARD_NAMESPACES)
            and graph.arrays.terms.find_iri(iri) is not None
        ):
            yield iri


@for_each("tool", TOOLS)
def test_a_dead_endpoint_is_told_in_words(tool: str) -> None:
    graph = behind("http://127.0.0.1:9/sparql", TURTLE, PREFIXES)

    async def run() -> Observation:
        try:
            return await told(graph, tool, sensible(tool))
        finally:
            await graph.endpoint.close()

    found = asyncio.run(run())
    assert found.text.strip()
    if tool in ASKING:
        assert found.failed and ("endpoint" in found.text or "127.0.0.1" in found.text)


@for_each("tool", TOOLS)
def test_a_call_that_is_cancelled_in_the_middle_leaves_no_task_behind(tool: str) -> None:
    async def run(graph: KnowledgeGraph) -> set[asyncio.Task[object]]:
        call = asyncio.create_task(told(graph, tool, sensible(tool)))
        await asyncio.wait([call], timeout=0.2)
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        await graph.endpoint.close()
        current = asyncio.current_task()
        return {task for task in asyncio.all_tasks() if task is not current}

    with served(TURTLE, PREFIXES) as (server, graph):
        server.always = faults.silence()
        assert asyncio.run(run(graph)) == set()


def test_the_sets_of_tools_are_there() -> None:
    assert {tool for some in TOOL_SETS.values() for tool in some} <= set(TOOLS)
