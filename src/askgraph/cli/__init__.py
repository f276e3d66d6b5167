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
    descriptions,
    exit_code,
    expanded,
    shared,
)
from askgraph.errors import SetupError

COMMANDS = descriptions()["commands"]
GROUPS = descriptions()["groups"]
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
