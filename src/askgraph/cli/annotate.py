"""`askgraph annotate`: link the cells of a table to entities, its columns to classes."""

import csv
import json as json_text
from collections.abc import Sequence
from dataclasses import asdict
from io import StringIO
from pathlib import Path

import typer

from askgraph.answers.console import build_table, format_count
from askgraph.atomic_files import write_text_atomically
from askgraph.cli.output import CommonOptions, print_blocks, print_json, show_progress
from askgraph.errors import SetupError
from askgraph.workspace.annotation import (
    AnnotatedTable,
    AnnotationCandidate,
    annotate_table,
    read_table,
)
from askgraph.workspace.graphs import build_missing_indices, run_and_close


def annotate(
    common: CommonOptions,
    table: Path,
    graph: str | None = None,
    out: Path | None = None,
    candidates: int = 5,
    lang: str | None = None,
    no_heads: bool = False,
    json: bool = False,
) -> None:
    """Link a table to a graph: cells to entities, columns to classes, column pairs to predicates.

    No language model is used. The first line contains the headers; --no-heads reads it as a row.
    --out FILE.csv is the table with an IRI, its score and the other candidates for each cell;
    FILE.json also has the columns and pairs.
    """
    if out is not None:
        _check_output(out, table)
    headers, rows = read_table(table, headless=no_heads)
    open_graph = common.workspace.graph(graph)
    with show_progress() as report:
        build_missing_indices(open_graph, progress=report, open_others=False)
        work = annotate_table(
            open_graph, headers, rows, candidates=candidates, language=lang, progress=report
        )
        annotation = run_and_close(open_graph, work)
    if out is not None:
        write_text_atomically(
            out,
            _to_csv(annotation)
            if out.suffix == ".csv"
            else f"{json_text.dumps(asdict(annotation), ensure_ascii=False)}\n",
        )
    if json:
        print_json(asdict(annotation))
    else:
        columns = (
            (item.name, "things" if item.things else "values", *_get_best_cells(item.classes))
            for item in annotation.columns
        )
        blocks = [
            build_table(("column", "holds", "class", "IRI", "score"), columns, right=["score"])
        ]
        pairs = [
            (
                annotation.heads[item.subject],
                annotation.heads[item.object],
                *_get_best_cells(item.predicates),
            )
            for item in annotation.pairs
        ]
        if pairs:
            blocks.append(
                build_table(("from", "to", "predicate", "IRI", "score"), pairs, right=["score"])
            )
        print_blocks(blocks)
        cells = format_count(len(annotation.cells), "cell")
        typer.echo(f"{annotation.linked_count:,} of {cells} linked to things", err=True)
    if annotation.headless and not no_heads:
        typer.echo("the first line looks like data; read it as a row with --no-heads", err=True)


def _check_output(out: Path, table: Path) -> None:
    if out.suffix not in (".csv", ".json"):
        raise SetupError(
            f"{str(out)!r} does not end in .csv or .json: name the file with one of these endings"
        )
    if not out.parent.is_dir():
        raise SetupError(
            f"there is no folder {str(out.parent)!r} for {out.name!r}: create it, or name another"
        )
    if out.exists() and table.exists() and out.samefile(table):
        raise SetupError(f"{str(out)!r} is the table itself: name another file")


def _to_csv(annotation: AnnotatedTable) -> str:
    text = StringIO()
    csv.writer(text).writerows(annotation.iterate_csv_rows())
    return text.getvalue()


def _get_best_cells(candidates: Sequence[AnnotationCandidate]) -> tuple[str, str, str]:
    if not candidates:
        return "", "", ""
    best = candidates[0]
    return best.label, best.iri, f"{best.score:.2f}"
