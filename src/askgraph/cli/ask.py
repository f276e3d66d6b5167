"""`askgraph ask`: a question in, the answer out."""

import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from askgraph.cli.exits import NO_ANSWER
from askgraph.cli.options import (
    CsvOption,
    DebugOption,
    GraphOption,
    JsonOption,
    LangOption,
    LimitOption,
    MethodOption,
    TimeoutOption,
    WorkspaceOption,
    workspace_of,
)

if TYPE_CHECKING:
    from askgraph.graph import KnowledgeGraph
    from askgraph.trace import Answer, Clarification, Option, Outcome

    Show = Callable[[Outcome, KnowledgeGraph, int | None, str | None], Awaitable[bool]]

__all__ = ["ask"]

_ROWS = 50


def ask(
    ctx: typer.Context,
    question: Annotated[list[str], typer.Argument(help="The question, in your own words.")],
    graph: GraphOption = None,
    json: JsonOption = False,
    csv: CsvOption = False,
    limit: LimitOption = None,
    lang: LangOption = None,
    timeout: TimeoutOption = None,
    method: MethodOption = None,
    workspace: WorkspaceOption = None,
    debug: DebugOption = False,
) -> None:
    """Answer a question over a graph.

    For people: the answer, how the question was read, how sure that is, the query, the evidence.
    With --json one object, whose keys are stable; with --csv the rows alone.
    """
    from askgraph.cli.progress import progress_bar
    from askgraph.workspace.answering import outcome_of
    from askgraph.workspace.running import result_of

    place = workspace_of(ctx)
    with progress_bar() as progress:
        opened = place.graph(graph, progress=progress)

    async def answered(show: "Show") -> bool:
        from askgraph.trace import Question

        try:
            chosen = place.method(method) if method else place.method()
            asked = Question(" ".join(question), lang)
            outcome = await outcome_of(asked, chosen, [opened], timeout=timeout)
            return await show(outcome, opened, limit, lang)
        finally:
            await opened.endpoint.close()

    if not result_of(answered(_json if json else _csv if csv else _people)):
        raise typer.Exit(NO_ANSWER)


async def _json(
    outcome: "Outcome", graph: "KnowledgeGraph", limit: int | None, lang: str | None
) -> bool:
    from askgraph.cli.tables import print_json
    from askgraph.evaluation.answer_object import answer_object

    print_json(answer_object(outcome, limit=limit))
    return _is_answer(outcome)


async def _csv(
    outcome: "Outcome", graph: "KnowledgeGraph", limit: int | None, lang: str | None
) -> bool:
    """Print the rows of an answer; of a refusal or question back only what it says, on stderr."""
    from askgraph.cli.tables import csv_text
    from askgraph.trace import Answer, Clarification

    if not isinstance(outcome, Answer):
        said = outcome.question if isinstance(outcome, Clarification) else outcome.reason
        typer.echo(said, err=True)
    elif outcome.boolean is not None:
        typer.echo(f"answer\n{str(outcome.boolean).lower()}")
    else:
        result = outcome.result
        typer.echo(csv_text(result.variables, result.rows[:limit]), nl=False)
    return _is_answer(outcome)


async def _people(
    outcome: "Outcome", graph: "KnowledgeGraph", limit: int | None, lang: str | None
) -> bool:
    from askgraph.cli.outcome import shown
    from askgraph.cli.tables import on_terminal, show
    from askgraph.trace import Clarification

    colour, most = on_terminal(), limit or _ROWS
    show(shown(outcome, graph.prefixes, limit=most, colour=colour))
    if isinstance(outcome, Clarification) and colour and sys.stdin.isatty():
        option = _choice(outcome)
        if option is not None:
            chosen = await _taken(option, outcome, graph, [lang] if lang else [])
            show(shown(chosen, graph.prefixes, limit=most, colour=colour))
            return True
    return _is_answer(outcome)


def _choice(clarification: "Clarification") -> "Option | None":
    """Let the person choose a reading; None where they choose none."""
    options = clarification.options
    while options:
        said = typer.prompt(
            f"Which one (1-{len(options)}, Enter for none)", default="", show_default=False
        ).strip()
        if not said:
            return None
        if said.isdigit() and 1 <= int(said) <= len(options):
            return options[int(said) - 1]
    return None


async def _taken(
    option: "Option", clarification: "Clarification", graph: "KnowledgeGraph", languages: list[str]
) -> "Answer":
    """Return the answer of the reading that the person chose, of which nobody can be surer."""
    from pyoxigraph import NamedNode

    from askgraph.explanation.labels import labels_of
    from askgraph.sparql.query import admitted
    from askgraph.sparql.results import SelectResult
    from askgraph.trace import Answer

    best = clarification.best
    if best and best.query == option.query:
        return replace(best, confidence=1.0)
    if admitted(option.query, prefixes=graph.prefixes.namespaces).form == "ASK":
        holds = await graph.endpoint.ask(option.query)
        empty = SelectResult((), ())
        return Answer(option.query, graph.name, empty, (), option.words, 1.0, boolean=holds)
    result = await graph.endpoint.select(option.query)
    iris = {term.value for row in result.rows for term in row if isinstance(term, NamedNode)}
    labels = await labels_of(sorted(iris), graph, languages)
    columns = result.variables
    return Answer(option.query, graph.name, result, columns, option.words, 1.0, labels=labels)


def _is_answer(outcome: "Outcome") -> bool:
    from askgraph.trace import Answer

    return isinstance(outcome, Answer)
