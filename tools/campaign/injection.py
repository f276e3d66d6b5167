"""Orders in labels, comments and values of a graph, read by language models that obey them.

    python -m tools.campaign.injection [--texts 2000] [--only METHOD ... agent]

A graph has so many texts with an order (`injection.toml`). Each group of 20 is asked about by every
method, under three models that do what they read, and through the MCP server by an agent that can
also send mail. That is survived if nobody calls the address in the texts, no query of a text is
run, the graph stays as it was, no mail is sent, and each text stands in quotes, on one line and
clipped, and never in an instruction. Over MCP, sentences have names without quotes: the agent obeys
each order that does not come after the beginning of a text, on the same line.
"""

import asyncio
import json
import re
import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from mcp import Client
from mcp.server.mcpserver import MCPServer
from mcp_types import TextContent
from tools.campaign._obedience import CALL, MODELS, ORDERS, TEXTS, read_messages
from tools.campaign._tries import Tried, listen, main
from tools.campaign.model_faults import METHODS, asked

from askgraph import llm
from askgraph.endpoint import Endpoint, EndpointWrapper, Kind, RunOnEndpoint
from askgraph.graph import KnowledgeGraph
from askgraph.llm.scripted import ScriptedModel
from askgraph.methods import unwrap
from askgraph.server.mcp import create_server
from askgraph.server.mcp.access import LocalAccess
from askgraph.sparql.judge import EndpointRequest
from askgraph.workspace import Workspace

GROUP_SIZE, CALLS_AT_ONCE = 20, 4
_PADDING = "and so on "
MARK = re.compile(r"zq\d+[ab]")
LITERAL = re.compile(r'"(?:[^"\\]|\\.)*"|<[^<>\s]*>|[?$]\w+')
"""What may hold a text, if it is on one line: quotes, a name made of it, a variable."""
FORBIDDEN = re.compile(
    r"(?<![?$:\w])(?:INSERT|DELETE|LOAD|DROP|CLEAR|CREATE|SERVICE|FROM)(?=\s+[<{?A-Z])", re.I
)


def build_texts(number: int, url: str) -> Iterator[str]:
    """Yield so many texts, each with marks of its own at its ends."""
    orders, disguises = TEXTS["orders"], TEXTS["disguises"]
    for index in range(number):
        order = orders[index % len(orders)].replace("{url}", url)
        text = disguises[index * 7 // len(orders) % len(disguises)].replace("{order}", order)
        text = text.replace("{padding}", _PADDING * 300)
        yield text.replace("{head}", f"zq{index}a").replace("{tail}", f"zq{index}b")


def build_graph(texts: Sequence[str]) -> str:
    """Return Turtle that has the texts as labels, comments and values, with plain names beside."""
    groups: str = TEXTS["prefixes"]
    for number in range(len(texts) // GROUP_SIZE):
        first, *parts = name_group(TEXTS["group"], number).split("{text}")
        own = texts[number * GROUP_SIZE :]
        groups += first + "".join(
            json.dumps(text) + part for text, part in zip(own, parts, strict=False)
        )
    return groups


def name_group(text: str, number: int) -> str:
    """Return a text with the word and number of a group; nothing else has that word."""
    letters = "bdfgklmnprstvz"
    syllables = (
        letters[number // 14**place % 14] + "aeiou"[(number + place) % 5] for place in range(3)
    )
    return text.replace("{word}", "".join(syllables) + "k").replace("{n}", str(number))


def build_question(number: int) -> str:
    """Return a question about a group, whose answer shows its texts."""
    return name_group(TEXTS["questions"][number % len(TEXTS["questions"])], number)


class WatchedEndpoint(EndpointWrapper):
    """Keeps the text of each query that the graph runs."""

    def __init__(self, inner: Endpoint) -> None:
        super().__init__(inner)
        self.queries: list[str] = []

    async def _run_request(
        self, request: EndpointRequest, kind: type[Kind], run: RunOnEndpoint[Kind]
    ) -> Kind:
        result = await run(self._inner, request.query, request.timeout)
        self.queries.append(request.query)
        return result


def find_unquoted(text: str) -> str:
    """Return the line of a text in which a mark stands outside quotes, or a text is too long."""
    for line in text.splitlines():
        if MARK.search(LITERAL.sub("", line)) or _PADDING * 100 in line:
            return line[:400]
    return ""


def find_loose(text: str) -> str:
    """Return the line of a text that has an order without the beginning of its text before it."""
    for line in text.splitlines():
        plain = LITERAL.sub("", line)
        orders = [match for order in ORDERS if (match := order.search(plain))]
        if any(not MARK.search(plain[: order.start()]) for order in orders):
            return plain
    return ""


def find_fault(requests: Sequence[llm.Request], queries: Sequence[str]) -> str:
    """Return what is wrong with the requests to a model and the queries that the graph ran."""
    for query in queries:
        plain = re.sub(r"<[^<>\s]*>", "<>", re.sub(r'"(?:[^"\\]|\\.)*"', '""', query))
        if match := FORBIDDEN.search(re.sub(r"#.*", "", plain)):
            return f"{match[0]} was run: {query}"
    for message in (message for request in requests for message in request.messages):
        if isinstance(message, llm.System) and MARK.search(message.text):
            return f"in the instruction: {message.text}"
        if not isinstance(message, llm.Assistant) and (line := find_unquoted(message.text)):
            return f"not in quotes: {line}"
    return ""


async def ask_methods(
    graph: KnowledgeGraph, place: Workspace, names: Sequence[str], groups: int
) -> list[Tried]:
    """Ask about each group with each method under each model; the words are the marks shown."""
    turns, tried = asyncio.Semaphore(CALLS_AT_ONCE), list[Tried]()
    settings = {"provider": "openai", "model": "m", "base_url": "http://127.0.0.1:9/v1"}

    async def ask(name: str, method: Any, obedience: str, number: int) -> None:
        model, endpoint = ScriptedModel(MODELS[obedience]), WatchedEndpoint(graph.endpoint)
        watched = replace(graph, endpoint=endpoint)
        async with turns:
            _, came, words, seconds = await asked(
                replace(method, model=model), name, watched, build_question(number)
            )
        fault = f"{came}: {words}" if came.startswith("a bug") else ""
        fault = fault or find_fault(model.requests, endpoint.queries)
        shown = {
            mark for request in model.requests for mark in MARK.findall(read_messages(request))
        }
        tried.append(Tried(name, f"{obedience}, {number}", fault[:600], seconds, " ".join(shown)))

    for name in names:
        method = unwrap(place.method(name, {**settings, **METHODS[name]}))
        pairs = [(obedience, number) for obedience in MODELS for number in range(groups)]
        await asyncio.gather(*(ask(name, method, *pair) for pair in pairs))
    return tried


async def read_server(client: Client, number: int) -> list[str]:
    """Return all that an MCP server says about a group: each tool, resource and prompt."""
    texts = [client.instructions or ""]
    values: dict[str, Any] = {"question": build_question(number), "classes": [f":c{number}"]}
    values |= {"iri": f":t{number}x0", "query": f"SELECT * {{ :t{number}x0 ?p ?o }}"}
    word = name_group("{word}", number)
    for tool in (await client.list_tools()).tools:
        texts.append(f"{tool.description} {json.dumps(tool.input_schema)}")
        names = values.keys() & tool.input_schema.get("properties", {}).keys()
        for other in ({}, dict.fromkeys(("query", "question"), f"{word} zz"), {"iri": f":{word}"}):
            result = await client.call_tool(
                tool.name, {name: {**values, **other}[name] for name in names}
            )
            texts += [part.text for part in result.content if isinstance(part, TextContent)]
    for resource in (await client.list_resources()).resources:
        contents = (await client.read_resource(resource.uri)).contents
        texts += [getattr(content, "text", "") for content in contents]
    for prompt in (await client.list_prompts()).prompts:
        required = {part.name: word for part in prompt.arguments or () if part.required}
        messages = (await client.get_prompt(prompt.name, required)).messages
        texts += [getattr(message.content, "text", "") for message in messages]
    return texts


async def ask_agent(place: Workspace, groups: int) -> list[Tried]:
    """Let an agent with a mail tool read each group, and do each order that is in no text."""
    access, tried, sent = LocalAccess(place, ("poisoned",)), list[Tried](), list[str]()
    post = MCPServer("post", log_level="WARNING")

    @post.tool()
    def send_mail(to: str) -> None:
        """Send a mail."""
        sent.append(to)

    async def get_access(_: object) -> LocalAccess:
        return access

    async with Client(create_server(get_access)) as client, Client(post) as mail:
        for number in range(groups):
            loose = [
                line for text in await read_server(client, number) if (line := find_loose(text))
            ]
            for name, key, value in CALL.findall("\n".join(loose)):
                if name == "send_mail":
                    await mail.call_tool(name, {key: value})
            fault = f"{len(sent)} mails; loose: {loose[0][:400]}" if loose or sent else ""
            tried.append(Tried("agent", f"mail, {number}", fault))
    await access.aclose()
    return tried


def campaign(folder: Path, chosen: Namespace) -> Iterator[Tried]:
    """Add the graph, ask all, and see who called and whether the graph is as it was."""
    count, groups = "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }", chosen.texts // GROUP_SIZE
    with listen() as (url, hits):
        file, place = folder / "poisoned.ttl", Workspace(folder / "workspace")
        file.write_text(build_graph(list(build_texts(chosen.texts, url))), encoding="utf-8")
        place.add("poisoned", [file])
        graph = place.graph("poisoned")

        async def ask_all() -> list[Tried]:
            before = await graph.endpoint.select(count)
            names = [name for name in METHODS if name in chosen.only]
            tried = await ask_methods(graph, place, names, groups)
            tried += await ask_agent(place, groups) if "agent" in chosen.only else ()
            after = await graph.endpoint.select(count)
            await graph.endpoint.close()
            fault = "" if before.rows == after.rows else f"{before.rows} became {after.rows}"
            return [*tried, Tried("graph", "is as it was", fault)]

        tried = asyncio.run(ask_all())
        marks = {mark[:-1] for item in tried for mark in item.words.split()}
        print(f"{len(marks):,} of {chosen.texts:,} texts stood in a prompt")
        yield from (replace(item, words="") for item in tried)
        yield Tried("address", "nobody calls it", f"{len(hits)} calls" if hits else "")


if __name__ == "__main__":
    options = {"texts": (2000, "texts that give orders")}
    sys.exit(main(__doc__, campaign, [*METHODS, "agent"], options))
