"""`askgraph serve`, `mcp`: the web page, and interfaces for programs and agents."""

import asyncio
import os
import webbrowser
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from askgraph.cli.output import CommonOptions, check_graphs, show_progress
from askgraph.errors import SetupError
from askgraph.sample import graph_path, questions_path
from askgraph.workspace import Workspace

if TYPE_CHECKING:
    from askgraph.server.settings import ServeSettings

_SAMPLE_NAME = "space"


def serve(
    common: CommonOptions,
    sources: list[Path] | None = None,
    host: str | None = None,
    port: int | None = None,
    database: str | None = None,
    sample: bool = False,
    anonymous: list[str] | None = None,
    browser: bool = False,
    processes: int | None = None,
) -> None:
    """Serve the page, REST, MCP and OpenAI-compatible interfaces."""
    from askgraph.server.app import run
    from askgraph.server.settings import ServeSettings

    workspace = common.workspace
    settings = ServeSettings.from_folder(
        workspace.folder,
        {
            "host": host,
            "port": port,
            "database": database,
            "anonymous": tuple(anonymous) if anonymous else None,
            "processes": processes,
            "first_graphs": _add_missing_graphs(workspace, sources or (), sample=sample) or None,
        },
        processes=os.cpu_count() or 1,
    )
    run(settings, workspace, on_open=webbrowser.open if browser else None, report=_print_start)


def _print_start(address: str, settings: "ServeSettings", graphs: Sequence[str]) -> None:
    from askgraph.server.page import get_start_note

    typer.echo(f"askgraph is at {address}", err=True)
    graph_list = ", ".join(graphs) or "none yet; add one in the page or with askgraph add"
    typer.echo(f"graphs: {graph_list}", err=True)
    if (note := get_start_note()) is not None:
        typer.echo(note, err=True)
    if not settings.anonymous_scopes:
        typer.echo(
            "A key is required: create one with askgraph keys add NAME, or allow questions without "
            "a key with --anonymous ask",
            err=True,
        )
    elif not settings.is_on_loopback:
        scope_list = ", ".join(settings.anonymous_scopes)
        typer.echo(f"Anyone who can reach this address may {scope_list} without a key.", err=True)


def _add_missing_graphs(
    workspace: Workspace, sources: Sequence[Path], *, sample: bool
) -> tuple[str, ...]:
    """Add the graphs that do not exist yet; return the names of all given graphs."""
    source_by_name = {source.resolve().stem.partition(".")[0]: source for source in sources}
    examples: dict[str, dict[str, object]] = {}
    if len(source_by_name) < len(sources):
        raise SetupError(
            "two of the files have the same name: add them with askgraph add NAME FILE"
        )
    if sample:
        source_by_name[_SAMPLE_NAME] = graph_path()
        examples = {_SAMPLE_NAME: {"examples": str(questions_path().with_suffix(".jsonl"))}}
    existing = workspace.graphs()
    with show_progress() as report:
        for name, source in source_by_name.items():
            if name not in existing:
                workspace.add(name, [source], settings=examples.get(name), progress=report)
            elif existing[name].sources != (str(source.absolute()),):
                raise SetupError(
                    f"graph {name!r} exists already with other files: add this file under "
                    "another name with askgraph add NAME FILE"
                )
    return tuple(source_by_name)


def mcp(
    common: CommonOptions,
    graph: list[str] | None = None,
    timeout: float = 120.0,
    query_timeout: float = 30.0,
) -> None:
    """Run an MCP server on standard input and output, for an agent to start."""
    from askgraph.server.mcp import run_stdio

    workspace = common.workspace
    check_graphs(workspace, graph or ())
    asyncio.run(run_stdio(workspace, graph or (), timeout=timeout, query_timeout=query_timeout))
