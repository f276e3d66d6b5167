"""Tokens that the MCP tools cost an agent: the tool list, and results.

    python benchmarks/mcp_tokens.py --tokenizer build/models/smollm2.gguf

`text` is what a model reads, `all` the result as JSON. Without a tokenizer, tokens are estimated.
"""

import argparse
import asyncio
import tempfile
from collections.abc import Callable
from pathlib import Path

from mcp import Client

from _measure import print_table
from askgraph.llm import estimate_tokens
from askgraph.sample import graph_path
from askgraph.server.mcp import create_server
from askgraph.server.mcp.access import LocalAccess
from askgraph.workspace import Workspace

CALLS = {
    "answer": ("ask", {"question": "Which moons are larger than Mercury?"}),
    "long answer": ("ask", {"question": "Which moons does Jupiter have?"}),
    "question back": ("ask", {"question": "What is the population of Mars?"}),
    "reading": ("ask", {"question": "What is the population of Mars?", "reading": "1"}),
    "refusal": ("ask", {"question": "What is the capital of Mongolia?"}),
    "search": ("search", {"query": "Titan"}),
    "class": ("describe", {"iri": "ont:Moon"}),
    "suggestions": ("suggest_queries", {"question": "Which moons does Jupiter have?"}),
    "query": ("query", {"query": "SELECT ?m ?d { ?m a ont:Moon ; ont:diameter ?d }"}),
    "detail": ("ask", {"question": "Which moons are larger than Mercury?", "detail": True}),
    "graphs": ("list_graphs", {}),
}


async def measure_tokens(count_tokens: Callable[[str], int]) -> list[list[object]]:
    """Return a row for each list and result: its tokens as text, and in all."""
    with tempfile.TemporaryDirectory() as folder:
        access = LocalAccess(workspace := Workspace(Path(folder)))
        workspace.add("space", [graph_path()])

        async def get_access(_: object) -> LocalAccess:
            return access

        async with Client(create_server(get_access)) as client:
            tools = (await client.list_tools()).tools
            texts = [tool.model_dump_json(by_alias=True, exclude_none=True) for tool in tools]
            total = count_tokens("\n".join(texts))
            rows: list[list[object]] = [[f"{len(tools)} tools", total, total]]
            for name, (tool, arguments) in CALLS.items():
                result = await client.call_tool(tool, arguments)
                text = "\n".join(getattr(part, "text", "") for part in result.content)
                content = result.model_dump_json(by_alias=True, exclude_none=True)
                rows.append([name, count_tokens(text), count_tokens(content)])
        await access.aclose()
    return rows


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokenizer", type=Path, help="a .gguf with a tokenizer")
    count, path = estimate_tokens, parser.parse_args().tokenizer
    if path:
        from transformers import AutoTokenizer  # takes seconds

        encode = AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name).encode
        count = lambda text: len(encode(text))  # noqa: E731
    print_table(["what", "text", "all"], *asyncio.run(measure_tokens(count)))
