"""One agent over three MCP servers: its right answers, calls, tokens and seconds.

    ASKGRAPH_MODEL=qwen3:8b ASKGRAPH_BASE_URL=http://localhost:11434/v1 \\
        python benchmarks/agents_over_mcp.py --data ../shared/data/natural

The servers are `askgraph mcp` (without a model of its own), one with a tool that runs a query, and
one that also has a tool for the schema. The agent sees the server's instructions, its tools and the
text of their results, and ends with a query, which is compared with gold. Tokens are those that the
model's server reports. The questions are spread over the sample graph and the graphs of `--data`: a
folder with `questions.jsonl` and `kg/`. Each answer is kept in the run folder, so a run that was
stopped goes on where it was. Without a model it prints what it would ask.
"""

import argparse
import asyncio
import json
import os
import re
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from itertools import zip_longest
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from mcp import Client, StdioServerParameters
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import TextContent
from pyoxigraph import QueryBoolean, QueryResultsFormat, QuerySolutions, RdfFormat, Store
from tools.judging import Judge
from tools.natural_cases import NaturalQuestion, QueryScorer, build_question, prepare_workspace

from _measure import BUILD, listed_sets, print_table
from askgraph.errors import AskgraphError
from askgraph.graph.shape_texts import format_document
from askgraph.graph.shapes import build_shape
from askgraph.llm import (
    LanguageModel,
    Message,
    System,
    TokenUsage,
    ToolCall,
    ToolResult,
    ToolSchema,
    User,
    estimate_tokens,
    read_completion,
)
from askgraph.sparql.judge import admit_query
from askgraph.workspace import Workspace

SERVERS = ("askgraph", "sparql", "schema")
MAX_TURNS, MAX_ROWS, QUERY_SECONDS = 12, 50, 60.0
MIN_RIGHT_F1 = 0.99
PROMPT = """Answer the user's question from a knowledge graph, which you reach with the tools only.
When you are done, reply with one JSON object and nothing else: {"query": "SELECT ..."}, the SPARQL
query whose result is the answer, with nothing superfluous; or {"query": null} if the graph cannot
answer the question."""


@dataclass(frozen=True)
class AgentRun:
    """What one question cost over one server, and the query that the agent ended with.

    `input`, `output` and `tools` are tokens; `tools` are those of the list of tools alone, which is
    an estimate. `seconds` are of the conversation, `tool_seconds` of them in the server.
    """

    id: str
    server: str
    model: str
    query: str | None
    error: str = ""  # why there is no query, if the agent did not say that there is none
    calls: dict[str, int] = field(default_factory=dict)
    turns: int = 0
    input: int = 0
    output: int = 0
    tools: int = 0
    seconds: float = 0.0
    tool_seconds: float = 0.0
    is_estimated: bool = False


def read_questions(data: Path | None, number: int, seed: int) -> list[NaturalQuestion]:
    """Return so many questions, spread over the sample graph and the graphs of a folder."""
    [listed] = listed_sets(["sample"])
    kg = str(listed.files[0])
    questions = [
        NaturalQuestion(f"sample-{gold.id}", kg, gold.text, (gold.sparql,), ())
        for gold in listed.questions
        if gold.sparql
    ]
    for line in (data / "questions.jsonl").read_text("utf-8").splitlines() if data else ():
        item = json.loads(line)
        questions.append(build_question({**item, "kg": str(data / "kg" / item["kg"])}))  # type: ignore[operator]
    by_graph: dict[str, list[NaturalQuestion]] = {}
    for question in questions:
        by_graph.setdefault(question.kg, []).append(question)
    draws = [Random(seed).sample(group, len(group)) for group in by_graph.values()]
    mixed = [question for row in zip_longest(*draws) for question in row if question]
    return sorted(mixed[:number], key=lambda question: question.kg)


def create_plain_server(store: Store, schema: str) -> MCPServer:
    """Return a server with a tool that runs a query and, if there is a schema, one for that."""
    server = MCPServer("graph", log_level="WARNING")

    def run_sparql(query: str) -> str:
        """Run a SPARQL query over the graph and return its result as TSV, at most 50 rows."""
        try:
            result = store.query(admit_query(query).text)
        except (AskgraphError, SyntaxError, ValueError) as problem:
            raise ToolError(str(problem)) from problem
        is_table = isinstance(result, QuerySolutions | QueryBoolean)
        format = QueryResultsFormat.TSV if is_table else RdfFormat.N_TRIPLES
        lines = (result.serialize(format=format) or b"").decode().splitlines()  # type: ignore[arg-type]
        more = len(lines) - MAX_ROWS - 1
        return "\n".join([*lines[: MAX_ROWS + 1], *([f"… {more} more rows"] if more > 0 else [])])

    def get_schema() -> str:
        """Return the schema of the graph as ShEx: its classes with their properties."""
        return schema

    for tool in (run_sparql, get_schema) if schema else (run_sparql,):
        server.tool(structured_output=False)(tool)
    return server


def create_client(server: str, question: NaturalQuestion, workspace: Workspace) -> Client:
    """Return a client of one of the servers over the graph of a question."""
    if server == "askgraph":
        own = ("ASKGRAPH_MODEL", "ASKGRAPH_BASE_URL")
        environment = {name: value for name, value in os.environ.items() if name not in own}
        environment["ASKGRAPH_WORKSPACE"] = str(workspace.folder)
        arguments = ["-m", "askgraph", "mcp", "--graph", question.graph]
        return Client(
            StdioServerParameters(command=sys.executable, args=arguments, env=environment)
        )
    store, schema = Store(), ""
    store.bulk_load(path=question.kg)
    if server == "schema":
        graph = workspace.graph(question.graph)
        shapes = [build_shape(graph.profile, item.iri) for item in graph.profile.classes]
        schema = format_document((shape for shape in shapes if shape.lines), graph.prefixes)
        asyncio.run(graph.endpoint.close())
    return Client(create_plain_server(store, schema))


async def call_tool(client: Client, call: ToolCall) -> str:
    """Return the text of a tool's result, or why there is none."""
    try:
        arguments = json.loads(call.arguments or "{}")
    except ValueError as problem:
        return f"the arguments are not JSON: {problem}"
    result = await client.call_tool(call.name, arguments)
    return "\n".join(part.text for part in result.content if isinstance(part, TextContent))


def parse_reply(text: str) -> tuple[str | None, str]:
    """Return the query of the agent's last message, and why it has none."""
    with suppress(ValueError, KeyError, TypeError):
        query = json.loads(text[text.index("{") : text.rindex("}") + 1], strict=False)["query"]
        return (query, "") if isinstance(query, str | None) else (None, "the query is no text")
    fenced = re.search(r"```(?:sparql)?\n(.*?)```", text, re.DOTALL)
    return (fenced[1], "") if fenced else (None, "the last message is no JSON object")


async def run_agent(
    model: LanguageModel, client: Client, question: NaturalQuestion, server: str
) -> AgentRun:
    """Let the agent work until it replies without a call, or its turns are over."""
    started, tool_seconds = time.perf_counter(), 0.0
    listed = (await client.list_tools()).tools
    tools = [ToolSchema(tool.name, tool.description or "", tool.input_schema) for tool in listed]
    instructions = f"\n\n{client.instructions}" if client.instructions else ""
    messages: list[Message] = [System(PROMPT + instructions), User(question.text)]
    usage, calls, turns = TokenUsage(), dict[str, int](), 0
    query, error = None, f"no answer within {MAX_TURNS} turns"
    for turn in range(1, MAX_TURNS + 1):
        turns = turn
        completion = await read_completion(model.complete(messages, tools=tools))
        usage += completion.usage
        messages.append(completion.first.message)
        if not completion.first.calls:
            query, error = parse_reply(completion.first.text)
            break
        for call in completion.first.calls:
            began = time.perf_counter()
            text = await call_tool(client, call)
            tool_seconds += time.perf_counter() - began
            calls[call.name] = calls.get(call.name, 0) + 1
            messages.append(ToolResult(call.id, call.name, text))
    described = json.dumps([asdict(tool) for tool in tools])
    return AgentRun(
        question.id, server, model.identity.model, query, error, calls, turns,
        usage.input, usage.output, estimate_tokens(described),
        round(time.perf_counter() - started, 2), round(tool_seconds, 2), usage.estimated,
    )  # fmt: skip


def read_runs(path: Path, model: str) -> dict[tuple[str, str], AgentRun]:
    """Return what a run folder has of a model; a line that was cut off counts as missing."""
    runs = {}
    for line in path.read_text("utf-8").splitlines() if path.is_file() else ():
        with suppress(ValueError):
            run = AgentRun(**json.loads(line))
            if run.model == model:
                runs[run.server, run.id] = run
    return runs


async def run_missing(
    pairs: Sequence[tuple[str, NaturalQuestion]],
    model: LanguageModel,
    workspace: Workspace,
    path: Path,
    jobs: int,
) -> None:
    """Ask each question over its server, several at once; append each run to a file."""
    turns, done = asyncio.Semaphore(jobs), 0

    async def run_pair(server: str, question: NaturalQuestion) -> None:
        nonlocal done
        async with turns:
            client = await asyncio.to_thread(create_client, server, question, workspace)
            async with client:
                run = await run_agent(model, client, question, server)
        with path.open("a", encoding="utf-8") as file:
            print(json.dumps(asdict(run), ensure_ascii=False), file=file)
        done += 1
        figures = f"{sum(run.calls.values())} calls, {run.input + run.output:,} tokens"
        print(f"{done}/{len(pairs)} {server} {question.id}: {figures}", file=sys.stderr, flush=True)

    async with asyncio.TaskGroup() as group:
        for pair in pairs:
            group.create_task(run_pair(*pair))
    await model.close()


def judge_runs(
    questions: Sequence[NaturalQuestion],
    runs: Mapping[tuple[str, str], AgentRun],
    workspace: Workspace,
) -> Iterator[dict[str, Any]]:
    """Yield each run with whether its answer is right; no query is right without gold."""
    for name in dict.fromkeys(question.graph for question in questions):
        with Judge(workspace.graph(name)) as judge:
            for question in (item for item in questions if item.graph == name):
                scorer = QueryScorer(judge, question.gold)
                pairs = ((server, question.id) for server in SERVERS)
                for run in (runs[pair] for pair in pairs if pair in runs):
                    f1 = scorer.score(complete_query(run.query, judge), QUERY_SECONDS)
                    right = f1 > MIN_RIGHT_F1 if question.gold else not (run.query or run.error)
                    yield {**asdict(run), "question": question.text, "f1": f1, "right": right}


def complete_query(query: str | None, judge: Judge) -> str:
    """Return a query with the graph's prefixes, where it leaves them out."""
    try:
        return admit_query(query or "", prefixes=judge.graph.prefixes.namespaces).text
    except AskgraphError:
        return query or ""


def build_rows(judged: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, ...]]:
    """Yield a line of the table for each server, with means of a question."""
    for server in dict.fromkeys(run["server"] for run in judged):
        own = [run for run in judged if run["server"] == server]
        right = f"{sum(run['right'] for run in own)} of {len(own)}"
        calls = fmean(sum(run["calls"].values()) for run in own)
        tokens = [
            f"{fmean(run[name] for run in own):,.0f}" for name in ("tools", "input", "output")
        ]
        seconds = [f"{fmean(run[name] for run in own):.1f}" for name in ("tool_seconds", "seconds")]
        yield server, right, f"{calls:.1f}", *tokens, *seconds


def main() -> None:
    """Ask what is missing, then print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("--data", type=Path, help="a folder with questions.jsonl and kg/, beside the sample")
    add("--questions", type=int, default=30, help="questions (30)")
    add("--servers", nargs="+", choices=SERVERS, default=SERVERS, help="which servers (all)")
    add("--seed", type=int, default=0, help="which questions (0)")
    add("--jobs", type=int, default=1, help="conversations at once (1)")
    add("--run", type=Path, default=BUILD / "agents", help="the run folder")
    add("--json", type=Path, help="also write each judged run to this file")
    chosen = parser.parse_args()
    questions = read_questions(chosen.data, chosen.questions, chosen.seed)
    workspace, path = Workspace(prepare_workspace(chosen.run)), chosen.run / "runs.jsonl"
    if not os.environ.get("ASKGRAPH_MODEL"):
        print(
            f"set ASKGRAPH_MODEL to ask {len(questions)} questions over {', '.join(chosen.servers)}"
        )
        return
    for question in questions:
        if question.graph not in workspace.graphs():
            workspace.add(question.graph, [Path(question.kg)])
    model = workspace.model(timeout=3600, first_timeout=3600)
    name = model.identity.model
    runs = read_runs(path, name)
    pairs = [(server, item) for item in questions for server in chosen.servers]
    missing = [pair for pair in pairs if (pair[0], pair[1].id) not in runs]
    asyncio.run(run_missing(missing, model, workspace, path, chosen.jobs))
    judged = list(judge_runs(questions, read_runs(path, name), workspace))
    heads = ("server", "right", "calls", "tools", "tokens in", "tokens out", "in server", "seconds")
    print_table(heads, *build_rows(judged))
    if any(run["is_estimated"] for run in judged):
        print("the model's server did not count tokens: they are estimates")
    if chosen.json:
        chosen.json.write_text(json.dumps(judged, indent=1, ensure_ascii=False), encoding="utf-8")


if __name__ == "__main__":
    main()
