"""`askgraph graphs`: what is in the workspace."""

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from askgraph.cli.options import Common, JsonOption
from askgraph.cli.tables import print_json, show
from askgraph.errors import SetupError
from askgraph.workspace import GraphSettings, Workspace


def graphs(
    common: Common,
    json: JsonOption = False,
) -> None:
    """List the graphs of the workspace."""
    place = common.workspace
    listed = [_entry(place, name, settings) for name, settings in place.graphs().items()]
    if json:
        print_json(listed)
        return
    if not listed:
        typer.echo(
            f"the workspace {place.folder} has no graph yet; add one with: askgraph add NAME FILE",
            err=True,
        )
        return

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("graph")
    for column in ("triples", "classes", "predicates"):
        table.add_column(column, justify="right")
    table.add_column("source", overflow="fold")
    for entry in listed:
        counts = (_count(entry[key]) for key in ("triples", "classes", "predicates"))
        table.add_row(Text(str(entry["name"])), *counts, Text(str(entry["source"])))
    show([table])


def _entry(place: Workspace, name: str, settings: GraphSettings) -> dict[str, object]:
    entry: dict[str, object] = {
        "name": name,
        "source": settings.url or ", ".join(settings.sources),
        "triples": None,
        "classes": None,
        "predicates": None,
        "created": None,
        "problem": None,
    }
    try:
        profile = place.profile(name)
    except SetupError as error:
        return entry | {"problem": str(error)}
    return entry | {
        "triples": profile.triples,
        "classes": len(profile.classes),
        "predicates": len(profile.predicates),
        "created": profile.created,
    }


def _count(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else "?"
