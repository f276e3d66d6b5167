"""`askgraph add`, `graphs`, `describe`, `remove`: the graphs of the workspace."""

import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import typer
from rich.console import RenderableType
from rich.text import Text

from askgraph.answers.console import build_table
from askgraph.answers.example_questions import Examples, make_examples
from askgraph.cli.output import CommonOptions, print_blocks, print_json, show_progress
from askgraph.errors import SetupError
from askgraph.graph.profile import ClassProfile, Profile
from askgraph.sparql.prefixes import PrefixMap
from askgraph.workspace import GraphSettings, Workspace
from askgraph.workspace.settings import read_endpoint_file

_COUNT_COLUMNS = ("triples", "classes", "predicates")


def graphs(common: CommonOptions, json: bool = False) -> None:
    """List the graphs of the workspace."""
    workspace = common.workspace
    entries = [
        _describe_graph(workspace, name, settings) for name, settings in workspace.graphs().items()
    ]
    if json:
        print_json(entries)
        return
    if not entries:
        typer.echo(
            f"the workspace {workspace.folder} has no graph yet; add one with: askgraph add "
            "NAME FILE",
            err=True,
        )
        return
    headers = ("graph", *_COUNT_COLUMNS, "source")
    rows = [
        (
            str(entry["name"]),
            *(f"{n:,}" if isinstance(n := entry[name], int) else "?" for name in _COUNT_COLUMNS),
            str(entry["source"]),
        )
        for entry in entries
    ]
    print_blocks([build_table(headers, rows, right=_COUNT_COLUMNS)])


def _describe_graph(workspace: Workspace, name: str, settings: GraphSettings) -> dict[str, object]:
    entry: dict[str, object] = {
        "name": name, "source": settings.url or ", ".join(settings.sources), "triples": None,
        "classes": None, "predicates": None, "created": None, "problem": None,
    }  # fmt: skip
    try:
        profile = workspace.load_profile(name)
    except SetupError as error:
        return entry | {"problem": str(error)}
    return entry | {
        "triples": profile.triples,
        "classes": len(profile.classes),
        "predicates": len(profile.predicates),
        "created": profile.created,
    }


def add(
    common: CommonOptions,
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
    ca_file: str | None = None,
    timeout: float | None = None,
    examples: str | None = None,
    profile: str | None = None,
    grow: bool = False,
    strict: bool = False,
    contexts: str | None = None,
    json: bool = False,
) -> None:
    """Add a graph to the workspace."""
    workspace = common.workspace
    values: dict[str, object] = {
        "graphs": tuple(named_graph) if named_graph else None, "dialect": dialect,
        "name_search": name_search, "auth": auth, "user_env": user_env,
        "password_env": password_env, "token_env": token_env, "header": header,
        "header_env": header_env,
        "ca_file": str(Path(ca_file).expanduser().absolute()) if ca_file else None,
        "timeout": timeout,
        "examples": str(Path(examples).expanduser().absolute()) if examples else None,
        "profile": str(Path(profile).expanduser().absolute()) if profile else None,
        "strict": strict or None,
        "contexts": str(Path(contexts).expanduser().absolute()) if contexts else None,
    }  # fmt: skip
    is_alone = sources is not None and len(sources) == 1
    described = read_endpoint_file(Path(sources[0]), name) if sources and is_alone else {}
    sources = [str(described.pop("url"))] if described else sources
    changes = described | {key: value for key, value in values.items() if value is not None}
    with show_progress() as progress:
        if not grow or sources or replace:
            workspace.add(name, sources or [], settings=changes, replace=replace, progress=progress)
        new_profile = (
            workspace.complete_survey(name, progress=progress)
            if grow
            else workspace.load_profile(name)
        )
    if workspace.has_pending_survey(name):
        command = [
            sys.executable, "-m", "askgraph", "--workspace", str(workspace.folder), "add", name,
            "--grow",
        ]  # fmt: skip
        devnull = subprocess.DEVNULL
        subprocess.Popen(
            command, stdin=devnull, stdout=devnull, stderr=devnull, start_new_session=True
        )
    if json:
        print_json(
            {
                "name": name,
                "triples": new_profile.triples,
                "classes": len(new_profile.classes),
                "predicates": len(new_profile.predicates),
                "cuts": new_profile.cuts,
            }
        )
        return
    typer.echo(
        f"added {name}: {new_profile.triples:,} triples, {len(new_profile.classes):,} classes, "
        f"{len(new_profile.predicates):,} predicates",
        err=True,
    )
    for cut in new_profile.cuts:
        typer.echo(f"  {cut}" if "were mended" in cut else f"  left out: {cut}", err=True)
    if workspace.has_pending_survey(name):
        typer.echo("  profiling continues in the background for at most two minutes", err=True)


def remove(common: CommonOptions, name: str) -> None:
    """Remove a graph and its data from the workspace; the source files stay."""
    common.workspace.remove(name)
    typer.echo(f"removed {name}", err=True)


_DEFAULT_ROW_LIMIT = 20
_MAX_END_CLASSES = 2


def describe(
    common: CommonOptions,
    name: str | None = None,
    json: bool = False,
    limit: int | None = _DEFAULT_ROW_LIMIT,
    lang: str | None = None,
) -> None:
    """Show the classes and predicates of a graph, with examples, and questions to start with."""
    with show_progress() as progress:
        profile, arrays = common.workspace.load_content(name, progress=progress)
    prefixes = PrefixMap(dict(profile.prefixes))
    examples = make_examples(profile, arrays, prefixes, [lang] if lang else [])
    if json:
        content = asdict(profile)
        for predicate in content["predicates"]:
            predicate["example"] = examples.values.get(predicate["iri"])
        print_json(content | {"questions": examples.questions})
        return
    print_blocks(_format_profile(profile, prefixes, examples, limit or _DEFAULT_ROW_LIMIT))


def _format_profile(
    profile: Profile, prefixes: PrefixMap, examples: Examples, limit: int
) -> Iterator[RenderableType]:
    yield Text(f"{profile.triples:,} triples from {profile.source}, read {profile.created}")
    if profile.languages:
        yield Text(
            "Languages: "
            + ", ".join(f"{name} ({count:,})" for name, count in profile.languages[:10])
        )
    if profile.name_search:
        exact_note = " (no text search was found: exact labels only)"
        search_note = exact_note if profile.name_search == "plain" else ""
        yield Text(
            f"Names that were not read are looked up with the search {profile.name_search!r}"
            f"{search_note}"
        )
    yield ""
    yield _format_class_table(profile.classes[:limit], prefixes, examples)
    yield from _format_remaining(len(profile.classes) - limit, "classes")
    yield ""
    predicates = profile.predicates[:limit]

    def format_classes(pairs: Sequence[tuple[str, int]]) -> str:
        names = [examples.labels.get(iri) or prefixes.shorten(iri) for iri, _ in pairs]
        hidden = len(names) - _MAX_END_CLASSES
        return ", ".join(names[:_MAX_END_CLASSES]) + (f" +{hidden}" if hidden > 0 else "")

    headers = ("predicate", "triples", "subject", "object", "example", "IRI")
    rows = [
        (
            examples.labels[predicate.iri],
            f"{predicate.triples:,}",
            format_classes(predicate.subject_classes),
            format_classes([*predicate.object_classes, *predicate.datatypes]),
            examples.values.get(predicate.iri, ""),
            prefixes.shorten(predicate.iri),
        )
        for predicate in predicates
    ]
    yield build_table(headers, rows, right=("triples",), dim=("IRI",))
    yield from _format_remaining(len(profile.predicates) - limit, "predicates")
    if profile.cuts:
        yield ""
        yield Text("Left out:", style="bold")
        yield from (Text(f"  {cut}") for cut in profile.cuts)
    if examples.questions:
        yield ""
        yield Text("Try:", style="bold")
        yield from (Text(f"  {question}") for question in examples.questions)


def _format_class_table(
    classes: Sequence[ClassProfile], prefixes: PrefixMap, examples: Examples
) -> RenderableType:
    rows = [
        (
            examples.labels[cls.iri] + (" (n-ary)" if cls.nary else ""),
            f"{cls.instances:,}",
            prefixes.shorten(cls.iri),
        )
        for cls in classes
    ]
    return build_table(("class", "instances", "IRI"), rows, right=("instances",), dim=("IRI",))


def _format_remaining(remaining_count: int, noun: str) -> Iterator[RenderableType]:
    if remaining_count > 0:
        yield Text(f"… and {remaining_count:,} more {noun} (--limit)", style="dim")
