"""How what is known of a graph is shown: completeness as a table, descriptions, shapes as JSON."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from askgraph.metadata import Profile
from askgraph.metadata.descriptions import Description
from askgraph.metadata.shapes import Shape
from askgraph.workspace.shapes import Shapes

__all__ = ["completeness_table", "described_lines", "figures", "plain_shape"]


def described_lines(descriptions: Sequence[Description]) -> Iterator[str]:
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
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("part")
    for column in ("known", "of", "share"):
        table.add_column(column, justify="right")
    table.add_column("why not all", overflow="fold")
    for part in found.completeness:
        total = "?" if part.total is None else f"{part.total:,}"
        share = "?" if part.share is None else f"{_percent(part.share)}"
        table.add_row(part.name, f"{part.seen:,}", total, share, Text(part.note))
    yield table


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
                "share": shape.share(line),
                "kinds": line.kinds,
                "least": line.least,
                "most": line.most,
                "example": None if line.example is None else str(line.example),
            }
            for line in shape.lines
        ],
    }


def _percent(share: float) -> str:
    """A share as a percentage that says 100 only where it is all."""
    return "100%" if share == 1 else f"{min(99.9, 100 * share):.1f}%"
