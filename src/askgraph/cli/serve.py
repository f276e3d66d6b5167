"""`askgraph serve`, `mcp`: the page, and interfaces for programs and agents."""

import asyncio
import os
import webbrowser
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from askgraph.cli.options import Common, check_graphs
from askgraph.cli.output import progress_bar
from askgraph.errors import SetupError
from askgraph.sample import graph_path, questions_path
from askgraph.workspace import Workspace

if TYPE_CHECKING:
    from askgraph.server.settings import ServeSettings

_SAMPLE = "space"


def serve(
    common: Common,
    sources: list[Path] | None = None,
    host: str | None = None,
    port: int | None = None,
    database: str | None = None,
    sample: bool = False,
    anonymous: list[str] | None = None,
    browser: bool = False,
    processes: int | None = None,
) -> None:
    """Serve the page, REST, MCP and OpenAI-compatible interfaces.

    It listens on this machine only, if anybody may ask, query, confirm and add graphs. Its
    settings are in the table [serve] of askgraph.toml and in variables ASKGRAPH_SERVE_…:
    see docs/server.md. Stop it with Ctrl-C: questions under way are finished first.
    """
    from askgraph.server.app import run
    from askgraph.server.settings import ServeSettings

    place = common.workspace
    given = _add(place, sources or (), sample=sample)
    settings = ServeSettings.of(
        place.folder,
        {
            "host": host,
            "port": port,
            "database": database,
            "anonymous": tuple(anonymous) if anonymous else None,
            "processes": processes,
            "first_graphs": given or None,
        },
        processes=os.cpu_count() or 1,
    )
    run(settings, place, opened=_open if browser else None, report=_tell)


def _tell(address: str, settings: "ServeSettings", graphs: Sequence[str]) -> None:
    """Say where the page is, and who may use it."""
    from askgraph.server.page import start_note

    typer.echo(f"askgraph is at {address}", err=True)
    there = ", ".join(graphs) or "none yet: add one in the page, or with askgraph add"
    typer.echo(f"graphs: {there}", err=True)
    if (note := start_note()) is not None:
        typer.echo(note, err=True)
    if not settings.anonymous_scopes:
        typer.echo(
            "Nobody may use it without a key: make one with askgraph keys add NAME, or let callers "
            "ask without one with --anonymous ask",
            err=True,
        )
    elif not settings.on_loopback:
        may = ", ".join(settings.anonymous_scopes)
        typer.echo(f"Whoever reaches this address may {may}, without a key.", err=True)


def _open(address: str) -> None:
    webbrowser.open(address)


def _add(place: Workspace, sources: Sequence[Path], *, sample: bool) -> tuple[str, ...]:
    """Add graphs that are not there yet, so that starting again with the same command works.

    Returns the names of all that were given.
    """
    wanted = {source.resolve().stem.partition(".")[0]: source for source in sources}
    examples: dict[str, dict[str, object]] = {}
    if len(wanted) < len(sources):
        raise SetupError("two of the files have one name: add them with askgraph add NAME FILE")
    if sample:
        wanted[_SAMPLE] = graph_path()
        examples = {_SAMPLE: {"examples": str(questions_path().with_suffix(".jsonl"))}}
    known = place.graphs()
    with progress_bar() as tell:
        for name, source in wanted.items():
            if name not in known:
                place.add(name, [source], settings=examples.get(name), progress=tell)
            elif known[name].sources != (str(source.absolute()),):
                raise SetupError(
                    f"there is a graph {name!r} of other files already: add this one under another "
                    "name with askgraph add NAME FILE"
                )
    return tuple(wanted)


def mcp(
    common: Common,
    graph: list[str] | None = None,
    timeout: float = 120.0,
    query_timeout: float = 30.0,
) -> None:
    """Speak the Model Context Protocol on standard input and output, for an agent that starts it.

    It offers tools (ask, search, describe, shapes, validate, execute and others), the graphs as
    resources, and prompts; nothing can change a graph. With --graph (repeatable) only these graphs.
    Over HTTP the same is at /mcp of 'askgraph serve'.
    """
    from askgraph.server.mcp import run_stdio

    place = common.workspace
    check_graphs(place, graph or ())
    asyncio.run(run_stdio(place, graph or (), timeout=timeout, query_timeout=query_timeout))
