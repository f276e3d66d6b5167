"""The command `askgraph`: one file per command, nothing heavy imported before one runs."""

import sys
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from askgraph.cli.exits import EXITS, exit_code
from askgraph.cli.options import DebugOption, Shared, WorkspaceOption, shared

__all__ = ["app", "main"]

COMMANDS = (
    "add",
    "graphs",
    "describe",
    "ask",
    "batch",
    "query",
    "validate",
    "advise",
    "enrich",
    "remove",
    "evaluate",
    "score",
    "report",
    "compare",
    "study",
    "metrics",
    "tools",
    "serve",
    "mcp",
)
GROUPS = ("benchmark", "examples", "finetune", "index", "keys", "metadata", "trace", "tune")


class _Commands(TyperGroup):
    """Turns our errors into one line on stderr and an exit code."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except (KeyboardInterrupt, Exception) as error:
            code = exit_code(error, debug=shared(ctx).debug)
            if code is None:
                raise
            raise typer.Exit(code) from error

    def list_commands(self, ctx: Any) -> list[str]:
        return list(self.commands)


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
        from importlib.metadata import version

        typer.echo(f"askgraph {version('askgraph')}")
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


for _name in COMMANDS:
    app.command(_name)(getattr(import_module(f"askgraph.cli.{_name}"), _name))
for _name in GROUPS:
    app.add_typer(getattr(import_module(f"askgraph.cli.{_name}"), _name), name=_name)


def main() -> None:
    """Run the command line and exit."""
    try:
        app()
    except KeyboardInterrupt:
        sys.exit(130)
