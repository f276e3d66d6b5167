"""`askgraph graphs`: what is in the workspace."""

import typer

from askgraph.answers.console import listing
from askgraph.cli.options import Common
from askgraph.cli.output import print_json, show
from askgraph.errors import SetupError
from askgraph.workspace import GraphSettings, Workspace

_COUNTS = ("triples", "classes", "predicates")


def graphs(common: Common, json: bool = False) -> None:
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

    heads = ("graph", *_COUNTS, "source")
    rows = [
        (str(one["name"]), *(_count(one[name]) for name in _COUNTS), str(one["source"]))
        for one in listed
    ]
    show([listing(heads, rows, right=_COUNTS)])


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
