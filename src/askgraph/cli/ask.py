"""`askgraph ask`: a question in, the answer out."""

import asyncio
import os
import sys
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import typer

from askgraph.answers import chosen_answer
from askgraph.answers.console import next_ones, shown
from askgraph.cli import NO_ANSWER
from askgraph.cli.options import Asking, Common
from askgraph.cli.output import csv_text, live_view, on_terminal, print_json, progress_bar, show
from askgraph.errors import AskgraphError, SetupError
from askgraph.graph import KnowledgeGraph
from askgraph.methods import Method, can_follow_up, closed
from askgraph.trace import Answer, Clarification, Option, Outcome, Question, Trace, follow_up
from askgraph.workspace import Workspace
from askgraph.workspace.graphs import ready_graphs
from askgraph.workspace.run_sync import head_of, result_of, steps_of

_ROWS = 50
_FOLLOWING = 3.0  # seconds for the questions that may follow


def ask(
    common: Common,
    asking: Asking,
    question: list[str],
    json: bool = False,
    csv: bool = False,
    context: bool = False,
    trace: Path | None = None,
    after: Path | None = None,
    quiet: bool = False,
) -> None:
    """Answer a question over a graph, or over several.

    For people: the answer, how the question was read, how sure that is, the query, the evidence.
    With --json one object, whose keys are stable; with --csv the columns that answer alone.
    """
    place = common.workspace
    if trace is not None:
        if not trace.absolute().parent.is_dir():
            raise SetupError(f"there is no folder {str(trace.parent)!r} to keep the trace in")
        if trace.is_dir():
            raise SetupError(f"{str(trace)!r} is a folder: name a file to keep the trace in")
        if not os.access(trace.absolute().parent, os.W_OK):
            raise SetupError(f"the folder {str(trace.parent)!r} for the trace cannot be written")
    text = " ".join(question)
    if not text.strip():
        raise SetupError('the question is empty: askgraph ask "Which moons are there?"')
    asks, names = _conversation(text, asking.lang, after)
    name, chosen = asking.chosen(place)
    _warn(name, chosen, after)
    with progress_bar() as tell:
        ready = ready_graphs(
            asking.graph or names,
            lambda one: place.graph(one, progress=tell),
            chosen,
            progress=tell,
        )

    async def answered() -> bool:
        try:
            outcome = await _outcome(
                Trace(asks, name, ()), chosen, ready.graphs, asking.timeout, kept=trace, quiet=quiet
            )
            if csv:
                return _print_csv(outcome, asking.limit, context=context)
            graph = ready.of(outcome)
            if not json:
                outcome = await _show(outcome, graph, asking)
            if json or on_terminal():
                following = await _following(asks, outcome, place, graph)
                _tell(outcome, following, asking.limit, json=json)
            return isinstance(outcome, Answer)
        finally:
            await closed(chosen)
            await ready.close()

    if not result_of(answered()):
        raise typer.Exit(NO_ANSWER)


async def _outcome(
    run: Trace,
    method: Method,
    graphs: tuple[KnowledgeGraph, ...],
    timeout: float | None,
    *,
    kept: Path | None,
    quiet: bool,
) -> Outcome:
    """Read the steps to the end and show each; the trace is kept however it ends."""
    stream = steps_of(run.question, method, graphs, timeout=timeout)
    if kept is not None:
        from askgraph.methods.tools.replay import record_graph_responses  # most runs are not kept

        stream = record_graph_responses(stream, graphs)
    try:
        with live_view(quiet=quiet) as tell:
            async with aclosing(stream):
                async for step in stream:
                    run = replace(run, steps=(*run.steps, step))
                    tell(step)
    finally:
        if kept is not None:
            from askgraph.trace.codec import write_trace

            write_trace(kept, run, head_of(method, graphs))
    return run.outcome


def _warn(name: str, method: Method, after: Path | None) -> None:
    if after is not None and not can_follow_up(method):
        said = "does not look at earlier questions: --after changes nothing for it"
        typer.echo(f"method {name!r} {said}", err=True)


def _conversation(
    text: str, lang: str | None, after: Path | None
) -> tuple[Question, Sequence[str | None]]:
    """The question with what was asked before it, and the graphs that this was asked of."""
    if after is None:
        return Question(text, lang), [None]
    from askgraph.trace.codec import read_trace

    run, head = read_trace(after)
    try:
        outcome = run.outcome
    except ValueError as error:
        raise SetupError(f"nothing can be asked after {str(after)!r}: {error}") from error
    asked = follow_up(text, run.question, outcome, language=lang)
    return asked, [one.name for one in head.graphs] or [None]


def _print_csv(outcome: Outcome, limit: int | None, *, context: bool) -> bool:
    """Print the rows of an answer; what else is said, as by a refusal, goes to stderr."""
    if not isinstance(outcome, Answer):
        said = outcome.question if isinstance(outcome, Clarification) else outcome.reason
        typer.echo(said, err=True)
        return False
    if outcome.cut_short:
        typer.echo(f"cut short: {outcome.cut_short}; this is the best so far", err=True)
    if outcome.boolean is not None:
        typer.echo(f"answer\n{str(outcome.boolean).lower()}")
    else:
        from askgraph.sparql.comparison import of_columns

        whole = outcome.result
        result = whole if context else of_columns(whole, outcome.answer_columns)
        typer.echo(csv_text(result.variables, result.rows[:limit]), nl=False)
    return True


def _tell(outcome: Outcome, following: Sequence[str], limit: int | None, *, json: bool) -> None:
    """Print what may be asked next; as JSON with the whole outcome."""
    if json:
        from askgraph.answers.codec import answer_object

        print_json({**answer_object(outcome, limit=limit), "next": list(following)})
    elif following:
        show(next_ones(following))


async def _following(
    asked: Question, outcome: Outcome, place: Workspace, graph: KnowledgeGraph
) -> tuple[str, ...]:
    """The questions that may follow; none if those that are tried fail."""
    from askgraph.workspace.next_questions import following

    try:
        method = await asyncio.to_thread(place.method)
        return await following(asked, outcome, method, graph, seconds=_FOLLOWING)
    except AskgraphError:  # the answer is there: nothing is to be said of these
        return ()


async def _show(outcome: Outcome, graph: KnowledgeGraph, asking: Asking) -> Outcome:
    """Print an outcome for people, who may choose one of several readings, and return it."""
    colour, most = on_terminal(), asking.limit or _ROWS
    show(shown(outcome, graph.prefixes, limit=most, colour=colour))
    if isinstance(outcome, Clarification) and colour and sys.stdin.isatty():
        option = _choice(outcome)
        if option is not None:
            languages = [asking.lang] if asking.lang else []
            chosen = await chosen_answer(option, outcome, graph, languages=languages)
            show(shown(chosen, graph.prefixes, limit=most, colour=colour))
            return chosen
    return outcome


def _choice(clarification: Clarification) -> Option | None:
    """Let the person choose a reading; None if they choose none."""
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
