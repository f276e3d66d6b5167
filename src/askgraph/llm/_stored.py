"""Requests and completions as JSON, for the disk."""

from dataclasses import asdict
from typing import Any

from askgraph.llm import (
    Choice,
    Completion,
    Finish,
    Identity,
    Request,
    TokenLogprob,
    TokenUsage,
    ToolCall,
)

__all__ = ["completion_from_json", "completion_to_json", "request_to_json"]


def request_to_json(identity: Identity, request: Request) -> dict[str, Any]:
    """Return everything that decides what a model may reply."""
    messages = [[type(message).__name__, asdict(message)] for message in request.messages]
    tools = [[tool.name, tool.description, dict(tool.parameters)] for tool in request.tools]
    options = {
        name: value
        for name, value in vars(request).items()
        if name not in ("messages", "tools", "schema", "grammar")
    }
    if request.grammar is not None:
        options["grammar"] = request.grammar
    schema = None if request.schema is None else dict(request.schema)
    return {
        "identity": asdict(identity),
        "messages": messages,
        "tools": tools,
        "schema": schema,
        "options": options,
    }


def completion_to_json(completion: Completion) -> dict[str, Any]:
    """Return a completion as JSON."""
    return asdict(completion)


def completion_from_json(value: dict[str, Any]) -> Completion:
    """Read it again, as stored; `KeyError`, `TypeError` or `ValueError` where it is none."""
    return Completion(
        choices=tuple(_choice(choice) for choice in value["choices"]),
        usage=TokenUsage(**value["usage"]),
        model=value["model"],
        id=value["id"],
        stored=True,
    )


def _choice(value: dict[str, Any]) -> Choice:
    return Choice(
        text=value["text"],
        calls=tuple(ToolCall(**call) for call in value["calls"]),
        finish=Finish(value["finish"]),
        reasoning=value["reasoning"],
        refusal=value["refusal"],
        logprobs=tuple(TokenLogprob(**token) for token in value["logprobs"]),
        opaque=value["opaque"],
    )
