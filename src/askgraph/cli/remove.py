"""`askgraph remove`: forget a graph."""

import typer

from askgraph.cli.options import Common


def remove(common: Common, name: str) -> None:
    """Take a graph and its data out of the workspace; its sources stay where they are."""
    common.workspace.remove(name)
    typer.echo(f"removed {name}", err=True)
