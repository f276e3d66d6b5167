"""Findings on gold, as people and programs read them."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from askgraph.cli.tables import show
from askgraph.evaluation.benchmarks import Contents
from askgraph.evaluation.gold.finding import KINDS, Finding

__all__ = ["findings_json", "show_findings"]

SHOWN = 20  # of a kind; --json has all


def findings_json(read: Mapping[Path, Contents], found: Sequence[Finding]) -> dict[str, object]:
    """Return findings as one JSON object: what was read, how many of each kind, each of them."""
    return {
        "benchmarks": [
            {
                "path": str(path),
                "questions": len(contents.questions),
                "unreadable": len(contents.unreadable),
            }
            for path, contents in read.items()
        ],
        "counts": _counts(found),
        "findings": [finding.json() for finding in found],
    }


def show_findings(read: Mapping[Path, Contents], found: Sequence[Finding]) -> None:
    """Print how many findings there are of each kind, then the first of each."""

    asked = sum(len(contents.questions) for contents in read.values())
    if not found:
        typer.echo(f"questions: {asked}, nothing found")
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("kind")
    table.add_column("")
    table.add_column("n", justify="right")
    table.add_column("what it means", overflow="fold")
    for kind, count in _counts(found).items():
        known = KINDS[kind]
        table.add_row(kind, known.severity, str(count), Text(known.means))
    show([table])
    errors = sum(finding.severity == "error" for finding in found)
    typer.echo(f"\nquestions: {asked}, errors: {errors}, warnings: {len(found) - errors}")
    typer.echo("\n".join(_listed(found, several=len(read) > 1)))


def _counts(found: Sequence[Finding]) -> dict[str, int]:
    """How many there are of each kind, the gravest first."""
    counts = Counter(finding.kind for finding in found)
    return {kind: counts[kind] for kind in KINDS if counts[kind]}


def _listed(found: Sequence[Finding], *, several: bool) -> Iterator[str]:
    for kind in _counts(found):
        some = [finding for finding in found if finding.kind == kind]
        yield f"\n{kind}: {KINDS[kind].advice}"
        for finding in some[:SHOWN]:
            where = f"{finding.benchmark}, " if several else ""
            yield f"  {where}{finding.id}: {' '.join(finding.seen.split())}"
        if len(some) > SHOWN:
            yield f"  … and {len(some) - SHOWN} more (--json has all)"
