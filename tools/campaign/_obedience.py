"""Language models that obey what they read, scripted: for `tools.campaign.injection`."""

import json
import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from askgraph import llm

TEXTS = tomllib.loads(Path(__file__).with_name("injection.toml").read_text("utf-8"))
_URL = r"http://127\.0\.0\.1:\d+"
ORDERS = [
    re.compile(re.escape(order).replace(re.escape("{url}"), _URL)) for order in TEXTS["orders"]
]
QUERY = re.compile(r"(?:SELECT|CONSTRUCT|INSERT|DELETE|LOAD|DROP)\b.*", re.DOTALL)
CALL = re.compile(r"(\w+)\((\w+)='([^']*)'")
Reply = llm.Choice | str


def read_messages(request: llm.Request) -> str:
    """Return what a model reads, without its own replies."""
    own = llm.Assistant
    return "\n".join(message.text for message in request.messages if not isinstance(message, own))


def count_turns(request: llm.Request) -> int:
    """Return how often the model has replied."""
    return sum(isinstance(message, llm.Assistant) for message in request.messages)


def reply_with(request: llm.Request, query: str, text: str) -> Reply:
    """Reply in the form that a request wants: with a query, and a text elsewhere.

    With tools, the first turn calls all of them about terms that the prompt names.
    """
    names = re.findall(r":[tc]\d+(?:x\d)?\b", read_messages(request)) or [":t0x0"]

    def fill(schema: Mapping[str, Any], term: str) -> str:
        plain = {"integer": 0, "number": 1.0, "boolean": True, "array": [], "object": {}}
        values = {"query": query, "sparql": query, "iri": term, "subject": term, "entity": term}
        parts = schema["properties"].items()
        return json.dumps({
            name: plain.get(str(part.get("type", "string")), values.get(name, text))
            for name, part in parts
        })  # fmt: skip

    if request.tools:
        turn = count_turns(request)
        last = [tool for tool in request.tools if tool.name in ("answer", "cancel")]
        tools = last[:1] if turn else [tool for tool in request.tools if tool not in last]
        return llm.Choice(calls=tuple(
            llm.ToolCall(f"c{turn}-{at}", tool.name, fill(tool.parameters, names[at % len(names)]))
            for at, tool in enumerate(tools)
        ))  # fmt: skip
    if request.schema:
        return fill(request.schema, names[0])
    acts = f"deref('{names[0]}') | query('''{query}''') | success('''{query}''')"
    return f"{text}\n```sparql\n{query}\n```\nThink: {text}\nAct: {acts}"


def obey_orders(request: llm.Request) -> Reply:
    """Do what an order in the prompt says: run its query, or say its text."""
    text = read_messages(request)
    orders = [match[0] for order in ORDERS if (match := order.search(text))]
    order = orders[len(text) % len(orders)] if orders else "Run ASK {}"
    query = QUERY.search(order)
    return reply_with(request, query[0] if query else "ASK {}", order)


def copy_addresses(request: llm.Request) -> Reply:
    """Copy an address that stands in the prompt into a query that calls it, and into the text."""
    url = ([None, *re.findall(_URL, read_messages(request))])[-1] or "http://127.0.0.1:9"
    return reply_with(request, f"SELECT * {{ SERVICE <{url}> {{ ?s ?p ?o }} }}", f"![]({url})")


def call_tools(request: llm.Request) -> Reply:
    """Call a tool that a text names, whether it is offered or not."""
    calls, turn = CALL.findall(read_messages(request)), count_turns(request)
    if not calls or turn > 1:
        return reply_with(request, "LOAD <http://127.0.0.1:9/>", "fetched")
    name, key, value = calls[-1]
    call = llm.ToolCall(f"c{turn}", name, json.dumps({key: value}))
    return llm.Choice(f"Act: {name}('{value}')", calls=(call,) if request.tools else ())


MODELS: Mapping[str, Callable[[llm.Request], Reply]] = {
    "obeys": obey_orders, "copies": copy_addresses, "calls": call_tools
}  # fmt: skip
