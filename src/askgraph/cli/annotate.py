"""`askgraph annotate`: the cells of a table as things of a graph, its columns as classes."""

import csv
import json as json_text
from collections.abc import Sequence
from dataclasses import asdict
from io import StringIO
from pathlib import Path

import typer

from askgraph.answers.console import counted, listing
from askgraph.atomic_files import write_text_atomically
from askgraph.cli.options import Common
from askgraph.cli.output import print_json, progress_bar, show
from askgraph.errors import SetupError
from askgraph.workspace.annotation import Annotated, Candidate, annotated, read_table
from askgraph.workspace.graphs import build_missing
from askgraph.workspace.run_sync import result_of


def annotate(
    common: Common,
    table: Path,
    graph: str | None = None,
    out: Path | None = None,
    candidates: int = 5,
    lang: str | None = None,
    no_heads: bool = False,
    json: bool = False,
) -> None:
    """Link the cells of a table to things, its columns to classes, pairs of them to predicates.

    No language model is asked. The first line are the heads, unless --no-heads says that it is a
    row. --out FILE.csv is the table with an IRI, its score and the other candidates for each cell;
    FILE.json has the columns and pairs, too.
    """
    if out is not None:
        _refuse(out, table)
    heads, rows = read_table(table, headless=no_heads)
    opened = common.workspace.graph(graph)
    with progress_bar() as tell:
        build_missing(opened, progress=tell, opens=False)

        async def work() -> Annotated:
            try:
                return await annotated(
                    opened, heads, rows, candidates=candidates, language=lang, progress=tell
                )
            finally:
                await opened.endpoint.close()

        found = result_of(work())
    if out is not None:
        write_text_atomically(out, _csv(found) if out.suffix == ".csv" else f"{_json(found)}\n")
    if json:
        print_json(asdict(found))
    else:
        columns = (
            (one.name, "things" if one.things else "values", *_best(one.classes))
            for one in found.columns
        )
        blocks = [listing(("column", "holds", "class", "IRI", "score"), columns, right=["score"])]
        pairs = [
            (found.heads[one.subject], found.heads[one.object], *_best(one.predicates))
            for one in found.pairs
        ]
        if pairs:
            blocks.append(
                listing(("from", "to", "predicate", "IRI", "score"), pairs, right=["score"])
            )
        show(blocks)
        cells = counted(len(found.cells), "cell")
        typer.echo(f"{found.linked:,} of {cells} linked to things", err=True)
    if found.headless and not no_heads:
        typer.echo("the first line looks like a row: --no-heads takes it as one", err=True)


def _refuse(out: Path, table: Path) -> None:
    """Say what is wrong with where to write, before any work is done."""
    if out.suffix not in (".csv", ".json"):
        raise SetupError(f"{str(out)!r} ends neither in .csv nor in .json: that says what to write")
    if not out.parent.is_dir():
        raise SetupError(f"there is no folder {str(out.parent)!r} to write {out.name!r} into")
    if out.exists() and table.exists() and out.samefile(table):
        raise SetupError(f"{str(out)!r} is the table itself, which stays as it is: name another")


def _json(found: Annotated) -> str:
    return json_text.dumps(asdict(found), ensure_ascii=False)


def _csv(found: Annotated) -> str:
    text = StringIO()
    csv.writer(text).writerows(found.csv_rows())
    return text.getvalue()


def _best(candidates: Sequence[Candidate]) -> tuple[str, str, str]:
    if not candidates:
        return "", "", ""
    best = candidates[0]
    return best.label, best.iri, f"{best.score:.2f}"
