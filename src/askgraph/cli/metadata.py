"""`askgraph metadata`: what is known of a graph, how completely, and what is published of it."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import typer
from rich.console import RenderableType
from rich.text import Text

from askgraph.answers.console import listing
from askgraph.atomic_files import write_text_atomically
from askgraph.cli import Commands
from askgraph.cli.options import Common
from askgraph.cli.output import print_json, progress_bar, show
from askgraph.graph.descriptions import DatasetDescription
from askgraph.graph.profile import Profile
from askgraph.graph.shape_texts import format_shex
from askgraph.graph.shapes import Shape
from askgraph.graph.void_text import serialize_void
from askgraph.workspace.metadata import (
    Bound,
    Choice,
    Shapes,
    kept_notes,
    known_profile,
    profiled,
    shapes,
)
from askgraph.workspace.metadata import fetch as fetched

INCOMPLETE = 1
_SHOWN = 20

metadata = Commands()


@metadata.command("fetch")
def fetch(
    common: Common,
    source: str,
    page: str | None = None,
    out: Path | None = None,
    seconds: float = 30.0,
    json: bool = False,
) -> None:
    """Read the VoID that an endpoint publishes: in its store, its description, on its host.

    The page is searched for a description in the words of schema.org (JSON-LD); if none is
    named, the endpoint's own page and its host's are. What a graph of the workspace gains by all
    of this is kept. Exit code 1 if nothing was published.
    """
    with progress_bar() as progress:
        progress(f"looking at {source}", 0, None)
        published = fetched(common.workspace, source, page=page, seconds=seconds)
    if out and published.profile:
        _write(published.profile, out)
    if json:
        print_json(
            {
                "places": [asdict(place) for place in published.places],
                "profile": figures(published.profile) if published.profile else None,
                "descriptions": [asdict(one) for one in published.descriptions],
            }
        )
    else:
        for place in published.places:
            typer.echo(f"{place.name}: {place.found}", err=not place.told)
        for line in described_lines(published.descriptions):
            typer.echo(line)
        if published.profile:
            show(completeness_table(published.profile))
    if published.profile is None and not published.descriptions:
        raise typer.Exit(INCOMPLETE)


@metadata.command("profile")
def profile(
    common: Common,
    source: str,
    out: Path | None = None,
    queries: int = 200,
    seconds: float = 120.0,
    named_graph: list[str] | None = None,
    one_by_one: bool = False,
    json: bool = False,
) -> None:
    """Ask an endpoint what it holds, within a bound; say how complete the answer is.

    Stopped, the same command goes on where it was. What is learnt of an endpoint that is a graph
    of the workspace is kept as its profile. Files, and graphs made of them, are counted in full.
    """
    bound = Bound(queries, seconds, one_by_one)
    with progress_bar() as progress:
        graphs = tuple(named_graph or ())
        found = profiled(common.workspace, source, bound=bound, graphs=graphs, progress=progress)
    if out:
        _write(found, out)
    if json:
        print_json(asdict(found))
        return
    show(completeness_table(found))
    for cut in found.cuts:
        typer.echo(f"  left out: {cut}", err=True)


@metadata.command("show")
def show_shapes(
    common: Common,
    source: str | None = None,
    classes: list[str] | None = None,
    fraction: float = 1.0,
    limit: int = _SHOWN,
    lines: int | None = None,
    lang: str | None = None,
    json: bool = False,
) -> None:
    """Show the shapes of classes as ShEx: predicates by frequency, kinds, examples, counts.

    The shapes of a file are those that its SHACL declares, or its VoID tells. What the publisher of
    a graph says of it (see `fetch`) stands above them.
    """
    languages = (*([lang] if lang else []), "en")
    choice = Choice(tuple(classes or ()), fraction, limit, languages)
    with progress_bar() as progress:
        found = shapes(common.workspace, source, choice, progress=progress)
    if json:
        print_json([plain_shape(shape, found) for shape in found.shapes])
        return
    texts = [
        format_shex(x, found.prefixes, labels=found.labels, max_lines=lines) for x in found.shapes
    ]
    body = "\n\n".join(texts)
    for line in described_lines(found.described):
        typer.echo(f"# {line}")
    typer.echo(f"{found.prefixes.header(body)}\n{body}")
    if found.left_out:
        typer.echo(f"{found.left_out:,} more classes (--limit, or name them)", err=True)


@metadata.command("completeness")
def completeness(common: Common, source: str | None = None, json: bool = False) -> None:
    """Say how much is known of each part of a graph's schema, and what was left out.

    Exit code 1 if a part is not known in full.
    """
    with progress_bar() as progress:
        found = known_profile(common.workspace, source, progress=progress)
    if json:
        print_json(figures(found))
    else:
        show(completeness_table(found))
        for cut in found.cuts:
            typer.echo(f"  left out: {cut}", err=True)
    if any(part.share != 1.0 for part in found.completeness) or not found.completeness:
        raise typer.Exit(INCOMPLETE)


@metadata.command("notes")
def notes(
    common: Common,
    name: str,
    remove: list[int] | None = None,
    clear: bool = False,
    json: bool = False,
) -> None:
    """List what agents noted about a graph for later runs (see their setting `notes`).

    What a note says is a model's, and may be wrong: remove what is.
    """
    found = kept_notes(common.workspace, name, remove=remove or (), clear=clear)
    if json:
        print_json([{**asdict(note), "older": older} for note, older in found])
        return
    if not found:
        typer.echo(f"{name}: no notes", err=True)
        return
    rows = [
        (str(at), note.text, note.kept, "changed since" if older else "")
        for at, (note, older) in enumerate(found, 1)
    ]
    show([listing(("number", "note", "kept", "graph"), rows, right=("number",))])


def _write(found: Profile, path: Path) -> None:
    write_text_atomically(path.absolute(), serialize_void(found))
    typer.echo(f"written: {path}", err=True)


def described_lines(descriptions: Sequence[DatasetDescription]) -> Iterator[str]:
    """Yield what descriptions say, in lines."""
    for one in descriptions:
        yield f"{one.kind} {one.name}: {one.description or 'no description'}"
        told = (
            ("keywords", ", ".join(one.keywords)),
            ("publisher", one.publisher),
            ("licence", one.license),
            ("version", one.version),
            ("modified", one.modified),
            ("page", one.url),
            ("endpoint", one.endpoint),
        )
        yield from (f"  {name}: {text}" for name, text in told if text)


def figures(found: Profile) -> dict[str, object]:
    """Return the numbers of a profile, and how complete each part is, as JSON has them."""
    return {
        "source": found.source,
        "created": found.created,
        "triples": found.triples,
        "graphs": [{"iri": iri, "triples": number} for iri, number in found.graphs],
        "classes": len(found.classes),
        "predicates": len(found.predicates),
        "partitions": len(found.partitions),
        "completeness": [asdict(part) | {"share": part.share} for part in found.completeness],
        "cuts": found.cuts,
    }


def completeness_table(found: Profile) -> Iterator[RenderableType]:
    """Yield the size of a graph, and a table of how much of each part is known."""
    yield Text(
        f"{found.triples:,} triples, {len(found.classes):,} classes, "
        f"{len(found.predicates):,} predicates, {len(found.partitions):,} partitions"
    )
    rows = [
        (
            part.name,
            f"{part.seen:,}",
            "?" if part.total is None else f"{part.total:,}",
            "?" if part.share is None else _percent(part.share),
            part.note,
        )
        for part in found.completeness
    ]
    heads = ("part", "known", "of", "share", "why not all")
    yield listing(heads, rows, right=("known", "of", "share"))


def plain_shape(shape: Shape, found: Shapes) -> dict[str, object]:
    """Return a shape as JSON has it."""
    return {
        "class": shape.cls,
        "label": found.labels.get(shape.cls),
        "instances": shape.instances,
        "sampled": shape.sampled,
        "lines": [
            {
                "predicate": line.predicate,
                "label": found.labels.get(line.predicate),
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


def _percent(share: float) -> str:
    """A share as a percentage that says 100 only if it is all."""
    return "100%" if share == 1 else f"{min(99.9, 100 * share):.1f}%"
