"""`askgraph validate`: find problems in a query without running it."""

from collections.abc import Iterator

import typer

from askgraph.answers.validation import MIN_WRONG_CERTAINTY, Finding, Knowledge, ServiceKnowledge
from askgraph.answers.validation.graph_knowledge import load_graph_knowledge
from askgraph.answers.validation.validate import validate_query
from askgraph.cli.output import CommonOptions, print_json, show_progress
from askgraph.cli.query import read_query_argument
from askgraph.sparql.federation.service import list_services
from askgraph.workspace import Progress, Workspace, ignore_progress
from askgraph.workspace.run_sync import run_coroutine

WRONG_QUERY_EXIT_CODE = 3


def validate(
    common: CommonOptions,
    sparql: str,
    graph: str | None = None,
    json: bool = False,
    repair: bool = False,
    lang: str | None = None,
) -> None:
    """Check a query against the profile of a graph, without running it."""
    text = read_query_argument(sparql if sparql == "-" else f"@{sparql}")
    with show_progress() as progress:
        services = run_coroutine(load_services(common.workspace, graph, text, progress=progress))
    validation = validate_query(text, services, language=lang or "en")
    if json:
        print_json(validation.to_json())
    elif repair:
        typer.echo(validation.repaired)
        for step in validation.repairs:
            change = f"{step.before} → {step.after}" if step.before else step.after
            typer.echo(f"repaired: {step.note}{change and f': {change}'}", err=True)
        for finding in validation.remaining:
            typer.echo("\n".join(_format_finding(finding, validation.repaired)), err=True)
    else:
        if not validation.findings:
            typer.echo("nothing found")
        for finding in validation.findings:
            typer.echo("\n".join(_format_finding(finding, validation.query)))
        if validation.repairs:
            typer.echo(f"\n{len(validation.repairs)} can be repaired with --repair")
    open_findings = validation.remaining if repair else validation.findings
    if any(finding.certainty >= MIN_WRONG_CERTAINTY for finding in open_findings):
        raise typer.Exit(WRONG_QUERY_EXIT_CODE)


def _format_finding(finding: Finding, query: str) -> Iterator[str]:
    """Yield the position and message, the line with a mark below it, and the proposals."""
    span = finding.place
    position = f"{span.line}:{span.column} " if span else ""
    certainty = "" if finding.certainty == 1 else f" ({finding.certainty:.0%} sure)"
    yield f"{position}{finding.kind.value}: {finding.message}{certainty}"
    lines = query.split("\n")
    if span and query[span.start : span.end] and span.line <= len(lines):
        width = max(1, min(span.end - span.start, len(lines[span.line - 1]) - span.column + 1))
        yield f"    {lines[span.line - 1]}"
        yield "    " + " " * (span.column - 1) + "^" * width
    if finding.proposals:
        proposals = [
            f"{proposal.text} ({proposal.label})" if proposal.label else proposal.text
            for proposal in finding.proposals
        ]
        yield f"    instead: {', '.join(proposals)}"


async def load_services(
    workspace: Workspace, name: str | None, query: str, *, progress: Progress | None = None
) -> ServiceKnowledge:
    """Load the metadata of a graph, and of the workspace's graphs that the query calls.

    A SERVICE outside the workspace is unknown.

    Raises:
        SetupError: a graph cannot be opened.
    """

    async def load_knowledge(graph_name: str | None) -> Knowledge:
        graph = workspace.graph(graph_name, progress=progress or ignore_progress)
        try:
            return load_graph_knowledge(graph)
        finally:
            await graph.endpoint.close()

    main_knowledge = await load_knowledge(name)
    graphs = workspace.graphs()
    by_target = {f"askgraph:{graph}": graph for graph in graphs}
    by_target |= {settings.url: graph for graph, settings in graphs.items() if settings.url}
    knowledge_by_target = {
        target: await load_knowledge(by_target[target])
        for target in list_services(query)
        if target in by_target
    }
    return ServiceKnowledge(main_knowledge, knowledge_by_target)
