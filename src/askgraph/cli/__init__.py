"""The command `askgraph`: one file per command, imported when the command is called."""

import sys
from importlib import import_module, metadata
from importlib.util import find_spec
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from askgraph.cli.context import (
    EXITS,
    DebugOption,
    Shared,
    WorkspaceOption,
    exit_code,
    expanded,
    shared,
)
from askgraph.errors import SetupError

COMMANDS = {
    "add": "Add a graph to the workspace.",
    "graphs": "List the graphs of the workspace.",
    "describe": "Show the classes and predicates of a graph, with examples, and questions to start "
    "with.",
    "ask": "Answer a question over a graph, or over several.",
    "batch": "Answer a file of questions.",
    "query": "Run a SPARQL query on a graph.",
    "validate": "Check a query against what a graph is known to hold; nothing is run.",
    "advise": "Say what to add to a graph so that questions find their way: shortcuts, inverses, "
    "words.",
    "enrich": "Add what a graph only implies: inverses, shortcuts for paths, comments, names of "
    "relations.",
    "remove": "Take a graph and its data out of the workspace; its sources stay where they are.",
    "evaluate": "Score the answers to questions whose right answers are known.",
    "score": "Score predictions of any system against a benchmark.",
    "report": "Report the figures of one or several runs, a row for each benchmark and method.",
    "compare": "Compare two runs, or two methods of one, on the questions that both were asked.",
    "study": "Ask the same questions over variants of a graph, and print one table.",
    "metrics": "List the metrics that compare an answer with gold; with --examples, how they "
    "disagree.",
    "tools": "List the tools that explore a graph, or the schemas of a set as a model gets them.",
    "serve": "Serve the page, REST, WebSocket, MCP and OpenAI-compatible interfaces.",
    "mcp": "Speak the Model Context Protocol on standard input and output, for an agent that "
    "starts it.",
}
GROUPS = {
    "benchmark": "Check, freeze, split and convert files of questions; list the formats that are "
    "read.",
    "examples": "Keep questions with their queries: confirmed, checked again, generated, "
    "converted.",
    "finetune": "Train models to write queries: a language model on pairs, or our own small "
    "writer.",
    "index": "Build, look over and search the indices of a graph: entities, properties, literals.",
    "keys": "Make API keys for 'askgraph serve', list them, revoke them.",
    "metadata": "Read, ask for and show what is known of a graph: VoID, shapes, completeness.",
    "trace": "Read a run that was kept with 'ask --trace', or run it again without model and "
    "graph.",
    "tune": "Search the numbers of a ranking on training questions.",
}
_OF_THE_SERVER = ("keys", "mcp", "serve")
_SERVER_LIBRARIES = ("fastapi", "uvicorn", "sqlalchemy", "alembic", "mcp", "structlog")


class _Commands(TyperGroup):
    """Knows its commands by name and summary, and imports the one that is called.

    Our errors become one line on standard error and an exit code.
    """

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        for name, summary in (COMMANDS | GROUPS).items():
            self.commands[name] = TyperCommand(name, help=summary)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that the arguments name, imported, with the rest of them."""
        name, found, rest = super().resolve_command(ctx, args)
        return name, found and _imported(str(name)), rest

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except (KeyboardInterrupt, Exception) as error:
            code = exit_code(error, debug=shared(ctx).debug)
            if code is None:
                raise
            raise typer.Exit(code) from error


def _imported(name: str) -> Any:
    if name in _OF_THE_SERVER:
        missing = [library for library in _SERVER_LIBRARIES if find_spec(library) is None]
        if missing:
            needed = ", ".join(missing)
            raise SetupError(f"the server needs {needed}: pip install 'askgraph[serve]'")
    found = getattr(import_module(f"askgraph.cli.{name}"), name)
    alone = typer.Typer(rich_markup_mode=None)
    if isinstance(found, typer.Typer):
        alone.add_typer(found, name=name, help=GROUPS[name])
    else:
        alone.command(name)(expanded(found, name))
    return typer.main.get_group(alone).commands[name]


app = typer.Typer(
    name="askgraph",
    cls=_Commands,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=EXITS,
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"askgraph {metadata.version('askgraph')}")
        raise typer.Exit


@app.callback()
def options(
    ctx: typer.Context,
    workspace: WorkspaceOption = None,
    debug: DebugOption = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Ask a knowledge graph a question in your own words.

    Add a graph (RDF files, a folder of them, or the URL of a SPARQL endpoint), then ask:

    \b
      askgraph add space space.ttl
      askgraph ask "Which moons does Jupiter have?"

    Data goes to standard output, progress and errors to standard error.
    """
    ctx.obj = Shared(workspace, debug)


def main() -> None:
    """Run the command line and exit."""
    try:
        app()
    except KeyboardInterrupt:
        sys.exit(130)
