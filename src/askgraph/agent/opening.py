"""What a model is shown of the graphs before its first turn: the method's own calls of tools."""

import asyncio
import json
import re
from collections.abc import Sequence

from askgraph.llm import ToolCall
from askgraph.tools import Toolbox
from askgraph.trace import Question, ToolUse

__all__ = ["asked", "looked_up", "own_call", "written_answer"]

_FENCED = re.compile(r"```(?:sparql)?\s*\n(.*?)```", re.DOTALL | re.IGNORECASE)


def own_call(tool: str, toolbox: Toolbox, graph: str, **arguments: object) -> ToolCall:
    """Return a call that the method makes itself; `graph` goes in where there are several."""
    named = {"graph": graph} if len(toolbox.graph_names) > 1 else {}
    return ToolCall("", tool, json.dumps({**named, **arguments}, ensure_ascii=False))


async def looked_up(
    toolbox: Toolbox, question: Question, tools: Sequence[str]
) -> tuple[ToolUse, ...]:
    """Call some tools with the question on each graph, all at once; graph by graph in order."""
    calls = [
        own_call(tool, toolbox, graph, question=question.text)
        for graph in toolbox.graph_names
        for tool in tools
    ]
    return tuple(await asyncio.gather(*map(toolbox.call, calls)))


def asked(question: Question, uses: Sequence[ToolUse], headings: dict[str, str]) -> str:
    """Return the first message: what was said before, the question, what was looked up for it.

    Lookups that failed or found nothing are left out.
    """
    parts = [_before(question), f"Question: {question.text}"]
    for use in uses:
        if not use.observation.failed and use.observation.rows != 0:
            parts.append(f"{headings.get(use.tool, use.tool)}\n{use.observation.text}")
    return "\n\n".join(part for part in parts if part)


def written_answer(text: str, toolbox: Toolbox, graph: str) -> tuple[ToolCall, ...]:
    """Return the call of `answer` that a model meant which wrote a query instead of calling it.

    None where there are several graphs, and `graph` is empty: then nobody knows which it meant.
    """
    names = toolbox.graph_names
    fenced = _FENCED.findall(text)
    if len(names) > 1 and not graph:
        return ()
    if not fenced or not re.search(r"\b(SELECT|ASK)\b", fenced[-1], re.IGNORECASE):
        return ()
    chosen = graph or names[0]
    return (own_call("answer", toolbox, chosen, query=fenced[-1].strip(), columns=["*"]),)


def _before(question: Question) -> str:
    """The earlier questions of the conversation with their queries; empty for none."""
    if not question.before:
        return ""
    lines = [f"- {earlier.question}\n{earlier.query}" for earlier in question.before]
    return "\n".join(["Asked before in this conversation, which may be referred to:", *lines])
