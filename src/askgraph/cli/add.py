"""`askgraph add`: files, a folder or an endpoint become a graph of the workspace."""

import subprocess
import sys
from pathlib import Path

import typer

from askgraph.cli.options import Common
from askgraph.cli.output import print_json, progress_bar


def add(
    common: Common,
    name: str,
    sources: list[str] | None = None,
    replace: bool = False,
    named_graph: list[str] | None = None,
    dialect: str | None = None,
    name_search: str | None = None,
    auth: str | None = None,
    user_env: str | None = None,
    password_env: str | None = None,
    token_env: str | None = None,
    header: str | None = None,
    header_env: str | None = None,
    timeout: float | None = None,
    examples: str | None = None,
    profile: str | None = None,
    grow: bool = False,
    json: bool = False,
) -> None:
    """Add a graph to the workspace.

    Files are Turtle, N-Triples, N-Quads, TriG, RDF/XML or JSON-LD, packed (.gz, .bz2, .xz) or not.
    An endpoint is asked for half a minute at most, and for what that left out for two minutes in
    the background, while the graph is in use; with --grow, now, also of a graph that is there.
    Stopped, the same command goes on where it was. Secrets stay in environment variables: only
    their names are stored.
    """
    place = common.workspace
    given: dict[str, object] = {
        "graphs": tuple(named_graph) if named_graph else None,
        "dialect": dialect,
        "name_search": name_search,
        "auth": auth,
        "user_env": user_env,
        "password_env": password_env,
        "token_env": token_env,
        "header": header,
        "header_env": header_env,
        "timeout": timeout,
        "examples": str(Path(examples).expanduser().absolute()) if examples else None,
        "profile": str(Path(profile).expanduser().absolute()) if profile else None,
    }
    changes = {key: value for key, value in given.items() if value is not None}
    with progress_bar() as progress:
        if not grow or sources or replace:
            place.add(name, sources or [], settings=changes, replace=replace, progress=progress)
        found = place.grow(name, progress=progress) if grow else place.profile(name)
    if place.unasked(name):
        command = [
            sys.executable,
            "-m",
            "askgraph",
            "--workspace",
            str(place.folder),
            "add",
            name,
            "--grow",
        ]
        quiet = subprocess.DEVNULL
        subprocess.Popen(command, stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True)
    if json:
        print_json(
            {
                "name": name,
                "triples": found.triples,
                "classes": len(found.classes),
                "predicates": len(found.predicates),
                "cuts": found.cuts,
            }
        )
        return
    typer.echo(
        f"added {name}: {found.triples:,} triples, {len(found.classes):,} classes, "
        f"{len(found.predicates):,} predicates",
        err=True,
    )
    for cut in found.cuts:
        typer.echo(f"  left out: {cut}", err=True)
    if place.unasked(name):
        typer.echo("  it is asked for more in the background, for two minutes at most", err=True)
