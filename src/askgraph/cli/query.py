"""`askgraph query`: run a SPARQL query and print its result."""

import sys
from dataclasses import asdict
from pathlib import Path

import typer

from askgraph.answers.codec import to_json_value
from askgraph.answers.console import build_result_table, format_count
from askgraph.cli.output import CommonOptions, format_csv, print_blocks, print_json, show_progress
from askgraph.endpoint import execute_sparql
from askgraph.errors import SetupError
from askgraph.graph import KnowledgeGraph
from askgraph.sparql.judge import admit_query
from askgraph.sparql.results import GraphResult, SelectResult, Truncation
from askgraph.workspace.graphs import run_and_close


def query(
    common: CommonOptions,
    sparql: str,
    graph: str | None = None,
    json: bool = False,
    csv: bool = False,
    limit: int | None = None,
    lang: str | None = None,
    timeout: float | None = None,
) -> None:
    """Run a SPARQL query on a graph."""
    text = read_query_argument(sparql)
    with show_progress() as progress:
        open_graph = common.workspace.graph(graph, progress=progress)
    form = "json" if json else "csv" if csv else "text"
    match run_and_close(open_graph, _run_query(text, open_graph, limit, timeout)):
        case bool() as boolean:
            match form:
                case "json":
                    print_json({"boolean": boolean})
                case "csv":
                    typer.echo(f"answer\n{str(boolean).lower()}")
                case _:
                    typer.echo("Yes" if boolean else "No")
        case SelectResult() as result:
            _print_rows(result, open_graph, form)
        case triples:
            _print_triples(triples, form)


def read_query_argument(sparql: str) -> str:
    """Return the given query: the text itself, from `@FILE`, or for `-` from standard input."""
    if sparql == "-":
        return _decode(sys.stdin.buffer.read(), "standard input")
    if not sparql.startswith("@"):
        return sparql
    path = Path(sparql[1:])
    try:
        return _decode(path.read_bytes(), repr(str(path)))
    except FileNotFoundError as error:
        raise SetupError(
            f"there is no file {str(path)!r}: name one that contains the query, or - to "
            "read the query from standard input"
        ) from error
    except IsADirectoryError as error:
        raise SetupError(
            f"{str(path)!r} is a folder: name a file that contains one query"
        ) from error
    except OSError as error:
        raise SetupError(f"{str(path)!r} cannot be read: {error.strerror}") from error


def _decode(content: bytes, source: str) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise SetupError(
            f"{source} is not UTF-8 text (line {line} has the byte 0x{content[error.start]:02x}):"
            " save the query as UTF-8"
        ) from error


async def _run_query(
    text: str, graph: KnowledgeGraph, limit: int | None, timeout: float | None
) -> bool | SelectResult | GraphResult:
    endpoint = graph.endpoint
    allowed_services = getattr(endpoint, "services", ())
    query = admit_query(text, allowed_services=allowed_services, prefixes=graph.prefixes.namespaces)
    return await execute_sparql(endpoint, query.form, query.text, timeout=timeout, limit=limit)


def _print_rows(result: SelectResult, graph: KnowledgeGraph, output_format: str) -> None:
    if output_format == "json":
        print_json(
            {
                "columns": result.variables,
                "rows": [[to_json_value(term) for term in row] for row in result.rows],
                "truncated": result.truncated and asdict(result.truncated),
            }
        )
        return
    if output_format == "csv":
        typer.echo(format_csv(result.variables, result.rows), nl=False)
    else:
        count = f"[dim]{format_count(len(result.rows), 'row')}[/dim]"
        print_blocks([build_result_table(result, graph.prefixes, {}), count])
    _print_truncation(result.truncated)


def _print_triples(result: GraphResult, output_format: str) -> None:
    triples = [(triple.subject, triple.predicate, triple.object) for triple in result.triples]
    match output_format:
        case "json":
            texts = [[str(term) for term in triple] for triple in triples]
            truncated = result.truncated and asdict(result.truncated)
            print_json({"triples": texts, "truncated": truncated})
            return
        case "csv":
            typer.echo(format_csv(("subject", "predicate", "object"), triples), nl=False)
        case _:
            for triple in triples:
                typer.echo(" ".join(map(str, triple)) + " .")
    _print_truncation(result.truncated)


def _print_truncation(truncated: Truncation | None) -> None:
    if truncated:
        source = "askgraph" if truncated.by == "askgraph" else "the server"
        typer.echo(f"cut off by {source}: {truncated.reason}", err=True)
