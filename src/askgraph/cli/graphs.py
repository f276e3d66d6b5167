"""`askgraph add`, `graphs`, `describe`, `remove`: what is in the workspace, and in a graph."""

import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import typer
from rich.console import RenderableType
from rich.text import Text

from askgraph.answers.console import listing
from askgraph.answers.example_questions import Examples, examples_of
from askgraph.cli.options import Common
from askgraph.cli.output import print_json, progress_bar, show
from askgraph.errors import SetupError
from askgraph.graph.profile import ClassProfile, Profile
from askgraph.sparql.prefixes import PrefixMap
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


def remove(common: Common, name: str) -> None:
    """Take a graph and its data out of the workspace; its sources stay where they are."""
    common.workspace.remove(name)
    typer.echo(f"removed {name}", err=True)


_SHOWN = 20
_ENDS = 2


def describe(
    common: Common,
    name: str | None = None,
    json: bool = False,
    limit: int | None = _SHOWN,
    lang: str | None = None,
) -> None:
    """Show the classes and predicates of a graph, with examples, and questions to start with."""
    with progress_bar() as progress:
        profile, arrays = common.workspace.known(name, progress=progress)
    prefixes = PrefixMap(dict(profile.prefixes))
    examples = examples_of(profile, arrays, prefixes, [lang] if lang else [])
    if json:
        content = asdict(profile)
        for predicate in content["predicates"]:
            predicate["example"] = examples.values.get(predicate["iri"])
        print_json(content | {"questions": examples.questions})
        return
    show(_blocks(profile, prefixes, examples, limit or _SHOWN))


def _blocks(
    profile: Profile, prefixes: PrefixMap, examples: Examples, limit: int
) -> Iterator[RenderableType]:
    yield Text(f"{profile.triples:,} triples from {profile.source}, read {profile.created}")
    if profile.languages:
        yield Text(
            "Languages: "
            + ", ".join(f"{name} ({count:,})" for name, count in profile.languages[:10])
        )
    if profile.name_search:
        exact = " (no text search was found: exact labels only)"
        plain = exact if profile.name_search == "plain" else ""
        yield Text(
            f"Names that were not read are looked for by the search {profile.name_search!r}{plain}"
        )
    yield ""
    yield _classes(profile.classes[:limit], prefixes, examples)
    yield from _more(len(profile.classes) - limit, "classes")
    yield ""
    predicates = profile.predicates[:limit]

    def listed(pairs: Sequence[tuple[str, int]]) -> str:
        names = [examples.labels.get(iri) or prefixes.shorten(iri) for iri, _ in pairs]
        rest = len(names) - _ENDS
        return ", ".join(names[:_ENDS]) + (f" +{rest}" if rest > 0 else "")

    heads = ("predicate", "triples", "of", "gives", "example", "IRI")
    rows = [
        (
            examples.labels[one.iri],
            f"{one.triples:,}",
            listed(one.subject_classes),
            listed([*one.object_classes, *one.datatypes]),
            examples.values.get(one.iri, ""),
            prefixes.shorten(one.iri),
        )
        for one in predicates
    ]
    yield listing(heads, rows, right=("triples",), dim=("IRI",))
    yield from _more(len(profile.predicates) - limit, "predicates")
    if profile.cuts:
        yield ""
        yield Text("Left out:", style="bold")
        yield from (Text(f"  {cut}") for cut in profile.cuts)
    if examples.questions:
        yield ""
        yield Text("Try:", style="bold")
        yield from (Text(f"  {question}") for question in examples.questions)


def _classes(
    classes: Sequence[ClassProfile], prefixes: PrefixMap, examples: Examples
) -> RenderableType:
    rows = [
        (
            examples.labels[one.iri] + (" (n-ary)" if one.nary else ""),
            f"{one.instances:,}",
            prefixes.shorten(one.iri),
        )
        for one in classes
    ]
    return listing(("class", "instances", "IRI"), rows, right=("instances",), dim=("IRI",))


def _more(rest: int, what: str) -> Iterator[RenderableType]:
    if rest > 0:
        yield Text(f"… and {rest:,} more {what} (--limit)", style="dim")
