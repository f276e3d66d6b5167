"""`askgraph query`: a SPARQL query in, its result out."""

import sys
from pathlib import Path

import typer

from askgraph.answers.codec import plain_value
from askgraph.answers.console import counted, result_table
from askgraph.cli.options import Common
from askgraph.cli.output import csv_text, print_json, progress_bar, show
from askgraph.endpoint import run
from askgraph.errors import SetupError
from askgraph.graph import KnowledgeGraph
from askgraph.sparql.judge import admitted
from askgraph.sparql.results import GraphResult, SelectResult, Truncation
from askgraph.workspace.run_sync import result_of


def query(
    common: Common,
    sparql: str,
    graph: str | None = None,
    json: bool = False,
    csv: bool = False,
    limit: int | None = None,
    lang: str | None = None,
    timeout: float | None = None,
) -> None:
    """Run a SPARQL query on a graph.

    SELECT, ASK, CONSTRUCT and DESCRIBE; nothing that writes. Prefixes of the graph need not be
    declared. CONSTRUCT and DESCRIBE print N-Triples. SERVICE <askgraph:NAME> calls another graph.
    """
    text = text_of_argument(sparql)
    with progress_bar() as progress:
        opened = common.workspace.graph(graph, progress=progress)
    form = "json" if json else "csv" if csv else "text"
    result_of(_run(text, opened, form=form, limit=limit, timeout=timeout))


def text_of_argument(sparql: str) -> str:
    """Return the query that is given: as it is, from `@FILE`, or for `-` from standard input."""
    if sparql == "-":
        return _decoded(sys.stdin.buffer.read(), "standard input")
    if not sparql.startswith("@"):
        return sparql
    path = Path(sparql[1:])
    try:
        return _decoded(path.read_bytes(), repr(str(path)))
    except FileNotFoundError as error:
        raise SetupError(
            f"there is no file {str(path)!r}: give one that holds the query, or - to read the query"
            " from standard input"
        ) from error
    except IsADirectoryError as error:
        raise SetupError(f"{str(path)!r} is a folder: give a file that holds one query") from error
    except OSError as error:
        raise SetupError(f"{str(path)!r} cannot be read: {error.strerror}") from error


def _decoded(content: bytes, source: str) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise SetupError(
            f"{source} is not UTF-8 text (line {line} has the byte 0x{content[error.start]:02x}):"
            " save the query as UTF-8"
        ) from error


async def _run(
    text: str, graph: KnowledgeGraph, *, form: str, limit: int | None, timeout: float | None
) -> None:
    endpoint = graph.endpoint
    try:
        allowed = getattr(endpoint, "services", ())
        ready = admitted(text, allowed_services=allowed, prefixes=graph.prefixes.namespaces)
        match await run(endpoint, ready.form, ready.text, timeout=timeout, limit=limit):
            case bool() as truth:
                match form:
                    case "json":
                        print_json({"boolean": truth})
                    case "csv":
                        typer.echo(f"answer\n{str(truth).lower()}")
                    case _:
                        typer.echo("Yes" if truth else "No")
            case SelectResult() as result:
                _print_rows(result, graph, form)
            case triples:
                _print_triples(triples, form)
    finally:
        await endpoint.close()


def _print_rows(result: SelectResult, graph: KnowledgeGraph, form: str) -> None:
    if form == "json":
        rows = [[plain_value(term) for term in row] for row in result.rows]
        print_json({"columns": result.variables, "rows": rows, "truncated": _cut(result.truncated)})
        return
    if form == "csv":
        typer.echo(csv_text(result.variables, result.rows), nl=False)
    else:
        count = f"[dim]{counted(len(result.rows), 'row')}[/dim]"
        show([result_table(result, graph.prefixes, {}), count])
    _say_cut(result.truncated)


def _print_triples(result: GraphResult, form: str) -> None:
    triples = [(t.subject, t.predicate, t.object) for t in result.triples]
    match form:
        case "json":
            texts = [[str(term) for term in triple] for triple in triples]
            print_json({"triples": texts, "truncated": _cut(result.truncated)})
            return
        case "csv":
            typer.echo(csv_text(("subject", "predicate", "object"), triples), nl=False)
        case _:
            for triple in triples:
                typer.echo(" ".join(map(str, triple)) + " .")
    _say_cut(result.truncated)


def _cut(truncated: Truncation | None) -> dict[str, str] | None:
    return {"by": truncated.by, "reason": truncated.reason} if truncated else None


def _say_cut(truncated: Truncation | None) -> None:
    if truncated:
        by = "askgraph" if truncated.by == "askgraph" else "the server"
        typer.echo(f"cut off by {by}: {truncated.reason}", err=True)
