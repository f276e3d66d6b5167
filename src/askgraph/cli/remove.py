"""`askgraph remove`: forget a graph."""

from typing import Annotated

import typer

from askgraph.cli.options import Common, graph_names


def remove(
    common: Common,
    name: Annotated[
        str,
        typer.Argument(metavar="NAME", autocompletion=graph_names, help="The graph to take away."),
    ],
) -> None:
    """Take a graph and its data out of the workspace; its sources stay where they are."""
    common.workspace.remove(name)
    typer.echo(f"removed {name}", err=True)
