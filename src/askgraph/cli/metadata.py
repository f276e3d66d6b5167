"""`askgraph metadata`: the metadata of a graph, its completeness, and published descriptions."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import typer
from rich.console import RenderableType
from rich.text import Text

from askgraph.answers.console import build_table
from askgraph.atomic_files import write_text_atomically
from askgraph.cli import CommandGroup
from askgraph.cli.output import CommonOptions, print_blocks, print_json, show_progress
from askgraph.graph.descriptions import DatasetDescription
from askgraph.graph.profile import Profile
from askgraph.graph.shape_texts import format_shex
from askgraph.graph.shapes import Shape
from askgraph.graph.void_text import serialize_void
from askgraph.workspace.metadata import (
    ClassShapes,
    ProfilingLimits,
    ShapeSelection,
    load_shapes,
    load_source_profile,
    manage_notes,
    profile_source,
)
from askgraph.workspace.metadata import fetch_metadata as fetched

INCOMPLETE_EXIT_CODE = 1
_DEFAULT_CLASS_LIMIT = 20

metadata = CommandGroup()


@metadata.command("fetch")
def fetch(
    common: CommonOptions,
    source: str,
    page: str | None = None,
    out: Path | None = None,
    seconds: float = 30.0,
    json: bool = False,
) -> None:
    """Read the VoID that an endpoint publishes: in its store, its description, on its host."""
    with show_progress() as progress:
        progress(f"looking at {source}", 0, None)
        published = fetched(common.workspace, source, page=page, seconds=seconds)
    if out and published.profile:
        _write_void(published.profile, out)
    if json:
        print_json(
            {
                "places": [asdict(entry) for entry in published.places],
                "profile": to_profile_object(published.profile) if published.profile else None,
                "descriptions": [asdict(description) for description in published.descriptions],
            }
        )
    else:
        for entry in published.places:
            typer.echo(f"{entry.name}: {entry.found}", err=not entry.told)
        for line in format_descriptions(published.descriptions):
            typer.echo(line)
        if published.profile:
            print_blocks(format_completeness(published.profile))
    if published.profile is None and not published.descriptions:
        raise typer.Exit(INCOMPLETE_EXIT_CODE)


@metadata.command("profile")
def run_profile(
    common: CommonOptions,
    source: str,
    out: Path | None = None,
    queries: int = 200,
    seconds: float = 120.0,
    named_graph: list[str] | None = None,
    one_by_one: bool = False,
    json: bool = False,
) -> None:
    """Profile an endpoint with a limited number of queries, and report the completeness."""
    bound = ProfilingLimits(queries, seconds, one_by_one)
    with show_progress() as progress:
        graphs = tuple(named_graph or ())
        new_profile = profile_source(
            common.workspace, source, limits=bound, graphs=graphs, progress=progress
        )
    if out:
        _write_void(new_profile, out)
    if json:
        print_json(asdict(new_profile))
        return
    print_blocks(format_completeness(new_profile))
    for cut in new_profile.cuts:
        typer.echo(f"  left out: {cut}", err=True)


@metadata.command("show")
def show_shapes(
    common: CommonOptions,
    source: str | None = None,
    classes: list[str] | None = None,
    fraction: float = 1.0,
    limit: int = _DEFAULT_CLASS_LIMIT,
    lines: int | None = None,
    lang: str | None = None,
    json: bool = False,
) -> None:
    """Show the shapes of classes as ShEx: predicates by frequency, kinds, examples, counts."""
    languages = (*([lang] if lang else []), "en")
    choice = ShapeSelection(tuple(classes or ()), fraction, limit, languages)
    with show_progress() as progress:
        shape_list = load_shapes(common.workspace, source, choice, progress=progress)
    if json:
        print_json([to_shape_object(shape, shape_list) for shape in shape_list.shapes])
        return
    texts = [
        format_shex(shape, shape_list.prefixes, labels=shape_list.labels, max_lines=lines)
        for shape in shape_list.shapes
    ]
    body = "\n\n".join(texts)
    for line in format_descriptions(shape_list.described):
        typer.echo(f"# {line}")
    typer.echo(f"{shape_list.prefixes.build_header(body)}\n{body}")
    if shape_list.left_out:
        typer.echo(f"{shape_list.left_out:,} more classes (--limit, or name them)", err=True)


@metadata.command("completeness")
def show_completeness(common: CommonOptions, source: str | None = None, json: bool = False) -> None:
    """Show the completeness of each part of a graph's schema, and the parts left out."""
    with show_progress() as progress:
        profile = load_source_profile(common.workspace, source, progress=progress)
    if json:
        print_json(to_profile_object(profile))
    else:
        print_blocks(format_completeness(profile))
        for cut in profile.cuts:
            typer.echo(f"  left out: {cut}", err=True)
    if any(part.share != 1.0 for part in profile.completeness) or not profile.completeness:
        raise typer.Exit(INCOMPLETE_EXIT_CODE)


@metadata.command("notes")
def list_notes(
    common: CommonOptions,
    name: str,
    remove: list[int] | None = None,
    clear: bool = False,
    json: bool = False,
) -> None:
    """List the notes that agents wrote about a graph for later runs (see their setting `notes`)."""
    stored_notes = manage_notes(common.workspace, name, remove=remove or (), clear=clear)
    if json:
        print_json([{**asdict(note), "older": is_outdated} for note, is_outdated in stored_notes])
        return
    if not stored_notes:
        typer.echo(f"{name}: no notes", err=True)
        return
    rows = [
        (str(number), note.text, note.kept, "changed since" if is_outdated else "")
        for number, (note, is_outdated) in enumerate(stored_notes, 1)
    ]
    print_blocks([build_table(("number", "note", "kept", "graph"), rows, right=("number",))])


def _write_void(profile: Profile, path: Path) -> None:
    write_text_atomically(path.absolute(), serialize_void(profile))
    typer.echo(f"written: {path}", err=True)


def format_descriptions(descriptions: Sequence[DatasetDescription]) -> Iterator[str]:
    """Yield descriptions as lines of text."""
    for description in descriptions:
        yield (
            f"{description.kind} {description.name}: {description.description or 'no description'}"
        )
        facts = (
            ("keywords", ", ".join(description.keywords)),
            ("publisher", description.publisher),
            ("licence", description.license),
            ("version", description.version),
            ("modified", description.modified),
            ("page", description.url),
            ("endpoint", description.endpoint),
        )
        yield from (f"  {name}: {text}" for name, text in facts if text)


def to_profile_object(profile: Profile) -> dict[str, object]:
    """Return the numbers of a profile and the completeness of each part, for JSON."""
    return {
        "source": profile.source,
        "created": profile.created,
        "triples": profile.triples,
        "graphs": [{"iri": iri, "triples": number} for iri, number in profile.graphs],
        "classes": len(profile.classes),
        "predicates": len(profile.predicates),
        "partitions": len(profile.partitions),
        "completeness": [asdict(part) | {"share": part.share} for part in profile.completeness],
        "cuts": profile.cuts,
    }


def format_completeness(profile: Profile) -> Iterator[RenderableType]:
    """Yield the size of a graph, and a table of the completeness of each part."""
    yield Text(
        f"{profile.triples:,} triples, {len(profile.classes):,} classes, "
        f"{len(profile.predicates):,} predicates, {len(profile.partitions):,} "
        "partitions"
    )
    rows = [
        (
            part.name,
            f"{part.seen:,}",
            "?" if part.total is None else f"{part.total:,}",
            "?"
            if part.share is None
            else ("100%" if part.share == 1 else f"{min(99.9, 100 * part.share):.1f}%"),
            part.note,
        )
        for part in profile.completeness
    ]
    headers = ("part", "known", "of", "share", "reason")
    yield build_table(headers, rows, right=("known", "of", "share"))


def to_shape_object(shape: Shape, shape_list: ClassShapes) -> dict[str, object]:
    """Return a shape for JSON."""
    return {
        "class": shape.cls,
        "label": shape_list.labels.get(shape.cls),
        "instances": shape.instances,
        "sampled": shape.sampled,
        "lines": [
            {
                "predicate": line.predicate,
                "label": shape_list.labels.get(line.predicate),
                "inverse": line.inverse,
                "having": line.having,
                "triples": line.triples,
                "share": shape.get_share(line),
                "kinds": line.kinds,
                "least": line.min_count,
                "most": line.max_count,
                "example": None if line.example is None else str(line.example),
            }
            for line in shape.lines
        ],
    }
