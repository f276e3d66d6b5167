"""`askgraph mcp` speaks the protocol on its standard input and output."""

import os
import subprocess
import sys
from pathlib import Path

from mcp import Client, StdioServerParameters

from askgraph.workspace import Workspace


async def test_an_agent_starts_the_command_and_asks(place: Workspace) -> None:
    command = StdioServerParameters(
        command=sys.executable,
        args=["-m", "askgraph", "mcp", "--graph", "space"],
        env={**os.environ, "ASKGRAPH_WORKSPACE": str(place.folder)},
    )
    async with Client(command) as client:
        found = await client.call_tool("ask", {"question": "Who discovered Titan?"})
    assert found.structured_content is not None
    assert found.structured_content["message"] == "The discoverer of Titan is Christiaan Huygens."
    assert not (place.folder / "serve.db").exists()


def test_a_graph_that_is_not_there_is_told_before_anything_starts(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "askgraph", "mcp", "-g", "nope", "--workspace", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 2
    assert "there is no graph 'nope'" in done.stderr and "none yet" in done.stderr
    assert done.stdout == ""
