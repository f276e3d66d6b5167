"""`askgraph validate`: what is wrong with a query, before it is run."""

from collections.abc import Iterator

import typer

from askgraph.answers.validation import WRONG, Finding, Knowledge, Services
from askgraph.answers.validation.graph_knowledge import graph_knowledge
from askgraph.answers.validation.validate import validated
from askgraph.cli.options import Common
from askgraph.cli.output import print_json, progress_bar
from askgraph.cli.query import text_of_argument
from askgraph.sparql.federation.service import called_services
from askgraph.workspace import Progress, Workspace, silent
from askgraph.workspace.run_sync import result_of

WRONG_QUERY = 3


def validate(
    common: Common,
    sparql: str,
    graph: str | None = None,
    json: bool = False,
    repair: bool = False,
    lang: str | None = None,
) -> None:
    """Check a query against what a graph is known to hold; nothing is run.

    Each finding has its place, what could be meant, and how sure it is. Other graphs of the
    workspace that the query calls by SERVICE <askgraph:NAME> are checked by what is known of them.
    The exit code is 0 if nothing is wrong, else 3.
    """
    text = text_of_argument(sparql if sparql == "-" else f"@{sparql}")
    with progress_bar() as progress:
        services = result_of(known_services(common.workspace, graph, text, progress=progress))
    found = validated(text, services, language=lang or "en")
    if json:
        print_json(found.json())
    elif repair:
        typer.echo(found.repaired)
        for done in found.repairs:
            typer.echo(f"repaired: {done.note}{_change(done.before, done.after)}", err=True)
        for finding in found.remaining:
            typer.echo("\n".join(_lines(finding, found.repaired)), err=True)
    else:
        if not found.findings:
            typer.echo("nothing found")
        for finding in found.findings:
            typer.echo("\n".join(_lines(finding, found.query)))
        if found.repairs:
            typer.echo(f"\n{len(found.repairs)} can be repaired: --repair")
    wrong = found.remaining if repair else found.findings
    if any(finding.certainty >= WRONG for finding in wrong):
        raise typer.Exit(WRONG_QUERY)


def _lines(finding: Finding, query: str) -> Iterator[str]:
    """The place, what is wrong, the line with a mark below, and what could be meant."""
    place = finding.place
    where = f"{place.line}:{place.column} " if place else ""
    sure = "" if finding.certainty == 1 else f" ({finding.certainty:.0%} sure)"
    yield f"{where}{finding.kind.value}: {finding.message}{sure}"
    lines = query.split("\n")
    if place and query[place.start : place.end] and place.line <= len(lines):
        width = max(1, min(place.end - place.start, len(lines[place.line - 1]) - place.column + 1))
        yield f"    {lines[place.line - 1]}"
        yield "    " + " " * (place.column - 1) + "^" * width
    if finding.proposals:
        shown = [f"{p.text} ({p.label})" if p.label else p.text for p in finding.proposals]
        yield f"    instead: {', '.join(shown)}"


def _change(before: str, after: str) -> str:
    return f": {before} → {after}" if before else f": {after}" if after else ""


async def known_services(
    workspace: Workspace, name: str | None, query: str, *, progress: Progress | None = None
) -> Services:
    """Return what is known of a graph, and of the workspace's graphs that the query calls.

    What a SERVICE outside the workspace holds is not known. Raises `SetupError` as opening does.
    """

    async def known(one: str | None) -> Knowledge:
        graph = workspace.graph(one, progress=progress or silent)
        try:
            return graph_knowledge(graph)
        finally:
            await graph.endpoint.close()

    own = await known(name)
    graphs = workspace.graphs()
    by_target = {f"askgraph:{one}": one for one in graphs}
    by_target |= {settings.url: one for one, settings in graphs.items() if settings.url}
    others = {
        target: await known(by_target[target])
        for target in called_services(query)
        if target in by_target
    }
    return Services(own, others)
