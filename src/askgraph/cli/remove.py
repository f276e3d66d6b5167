"""`askgraph remove`: forget a graph."""

from typing import Annotated

import typer

from askgraph.cli.options import DebugOption, WorkspaceOption, graph_names, workspace_of

__all__ = ["remove"]


def remove(
    ctx: typer.Context,
    name: Annotated[
        str,
        typer.Argument(metavar="NAME", autocompletion=graph_names, help="The graph to take away."),
    ],
    workspace: WorkspaceOption = None,
    debug: DebugOption = False,
) -> None:
    """Take a graph and its data out of the workspace; its sources stay where they are."""
    workspace_of(ctx).remove(name)
    typer.echo(f"removed {name}", err=True)
