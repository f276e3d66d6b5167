"""`askgraph add`: files, a folder or an endpoint become a graph of the workspace."""

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
    json: bool = False,
) -> None:
    """Add a graph to the workspace.

    Files are Turtle, N-Triples, N-Quads, TriG, RDF/XML or JSON-LD, packed (.gz, .bz2, .xz) or not.
    An endpoint is profiled within a bound of queries and seconds; stopped, the same command goes
    on where it was. Secrets stay in environment variables: only their names are stored.
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
    }
    changes = {key: value for key, value in given.items() if value is not None}
    with progress_bar() as progress:
        profile = place.add(
            name, sources or [], settings=changes, replace=replace, progress=progress
        )
    if json:
        print_json(
            {
                "name": name,
                "triples": profile.triples,
                "classes": len(profile.classes),
                "predicates": len(profile.predicates),
                "cuts": profile.cuts,
            }
        )
        return
    typer.echo(
        f"added {name}: {profile.triples:,} triples, {len(profile.classes):,} classes, "
        f"{len(profile.predicates):,} predicates",
        err=True,
    )
    for cut in profile.cuts:
        typer.echo(f"  left out: {cut}", err=True)
