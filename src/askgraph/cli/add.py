"""`askgraph add`: files, a folder or an endpoint become a graph of the workspace."""

from pathlib import Path
from typing import Annotated

import typer

from askgraph.cli.options import Common, JsonOption, NamedGraphsOption
from askgraph.cli.output import print_json, progress_bar


def add(
    common: Common,
    name: Annotated[str, typer.Argument(metavar="NAME", help="What to call the graph.")],
    sources: Annotated[
        list[str] | None,
        typer.Argument(metavar="SOURCE...", help="RDF files, folders, or one endpoint's URL."),
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Build the graph anew if it is there already.")
    ] = False,
    named_graph: NamedGraphsOption = None,
    dialect: Annotated[
        str | None,
        typer.Option(
            metavar="SERVER",
            help="qlever, virtuoso, graphdb, blazegraph, fuseki or oxigraph; detected if left out.",
        ),
    ] = None,
    auth: Annotated[
        str | None, typer.Option(metavar="KIND", help="none, basic, bearer or header.")
    ] = None,
    user_env: Annotated[
        str | None, typer.Option(metavar="VARIABLE", help="Holds the user name, for basic.")
    ] = None,
    password_env: Annotated[
        str | None, typer.Option(metavar="VARIABLE", help="Holds the password, for basic.")
    ] = None,
    token_env: Annotated[
        str | None, typer.Option(metavar="VARIABLE", help="Holds the token, for bearer.")
    ] = None,
    header: Annotated[
        str | None, typer.Option(metavar="NAME", help="The header to send, for header.")
    ] = None,
    header_env: Annotated[
        str | None, typer.Option(metavar="VARIABLE", help="Holds that header's value.")
    ] = None,
    timeout: Annotated[
        float | None,
        typer.Option(min=0.001, metavar="SECONDS", help="For each query, now and later."),
    ] = None,
    examples: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Questions with queries, to learn from: JSON lines."),
    ] = None,
    json: JsonOption = False,
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
