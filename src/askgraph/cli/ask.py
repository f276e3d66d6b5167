"""`askgraph ask`: answer a question."""

import asyncio
import os
import sys
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import typer

from askgraph.answers import answer_option
from askgraph.answers.console import render_next_questions, render_outcome
from askgraph.cli import NO_ANSWER_EXIT_CODE, output
from askgraph.errors import AskgraphError, SetupError
from askgraph.graph import KnowledgeGraph
from askgraph.methods import Method, can_follow_up, closed
from askgraph.trace import Answer, Clarification, Option, Outcome, Question, Trace, build_follow_up
from askgraph.workspace import Workspace
from askgraph.workspace.graph_data import is_rdf
from askgraph.workspace.graphs import prepare_graphs
from askgraph.workspace.run_sync import OfferGraphs, head_of, run_coroutine, stream_steps

_DEFAULT_ROWS = 50
_FOLLOWING_SECONDS = 3.0  # seconds for the follow-up questions


def ask(
    common: output.CommonOptions,
    asking: output.AskOptions,
    question: list[str],
    json: bool = False,
    csv: bool = False,
    context: bool = False,
    trace: Path | None = None,
    after: Path | None = None,
    quiet: bool = False,
) -> None:
    """Answer a question over a graph, or over several."""
    workspace = common.workspace
    if trace is not None:
        if not trace.absolute().parent.is_dir():
            raise SetupError(
                f"there is no folder {str(trace.parent)!r} for the trace: create it, or name "
                "another"
            )
        if trace.is_dir():
            raise SetupError(f"{str(trace)!r} is a folder: name a file for the trace")
        if not os.access(trace.absolute().parent, os.W_OK):
            raise SetupError(
                f"the folder {str(trace.parent)!r} for the trace is not writable: name another"
            )
    files = _find_files(question)
    text = " ".join(question[: len(question) - len(files)])
    if not text.strip():
        raise SetupError(
            'the question is empty; ask, for example: askgraph ask "Which moons are there?"'
        )
    full_question, graph_names = _build_question(text, asking.lang, after)
    name, chosen_method = asking.create_method(workspace)
    if after is not None and not can_follow_up(chosen_method):
        message = "does not use earlier questions: --after has no effect"
        typer.echo(f"method {name!r} {message}", err=True)
    with output.show_progress() as report:
        open_graphs = prepare_graphs(
            [*(asking.graph or ()), *files] or graph_names,
            lambda source: (
                workspace.find(source, progress=report)
                if isinstance(source, Path)
                else workspace.graph(source, progress=report)
            ),
            chosen_method,
            progress=report,
        )

    async def answer_question() -> bool:
        try:
            run = await _run_method(
                Trace(full_question, name, ()),
                chosen_method,
                open_graphs.graphs,
                asking.timeout,
                workspace.offer_graphs,
                trace_path=trace,
                quiet=quiet,
            )
            outcome = run.outcome
            if csv:
                return _print_csv(outcome, asking.limit, context=context)
            graph = open_graphs.get_graph(outcome)
            if not json:
                outcome = await _print_outcome(run, graph, asking, workspace)
            if json or output.is_terminal():
                following = await _suggest_following(full_question, outcome, workspace, graph)
                _print_following(outcome, following, asking.limit, json=json)
            return isinstance(outcome, Answer)
        finally:
            await closed(chosen_method)
            await open_graphs.close()

    if not run_coroutine(answer_question()):
        raise typer.Exit(NO_ANSWER_EXIT_CODE)


def _find_files(question: Sequence[str]) -> list[Path]:
    """Return the RDF files after the question; a missing one counts if the question was quoted."""
    files: list[Path] = []
    for path in map(Path, reversed(question[1:])):
        if not is_rdf(path) or not (path.exists() or " " in question[0]):
            break
        files.append(path)
    return files[::-1]


async def _run_method(
    run: Trace,
    method: Method,
    graphs: tuple[KnowledgeGraph, ...],
    timeout: float | None,
    offer: OfferGraphs,
    *,
    trace_path: Path | None,
    quiet: bool,
) -> Trace:
    """Read all steps and show each; the trace is written however the run ends."""
    stream = stream_steps(run.question, method, graphs, timeout=timeout, offer=offer)
    if trace_path is not None:
        from askgraph.methods.tools.replay import record_graph_responses  # most runs are not saved

        stream = record_graph_responses(stream, graphs)
    try:
        with output.show_steps(quiet=quiet) as show_step:
            async with aclosing(stream):
                async for step in stream:
                    run = replace(run, steps=(*run.steps, step))
                    show_step(step)
    finally:
        if trace_path is not None:
            from askgraph.trace.codec import write_trace

            write_trace(trace_path, run, head_of(method, graphs))
    return run


def _build_question(
    text: str, lang: str | None, after: Path | None
) -> tuple[Question, Sequence[str | None]]:
    if after is None:
        return Question(text, lang), [None]
    from askgraph.trace.codec import read_trace

    run, head = read_trace(after)
    try:
        outcome = run.outcome
    except ValueError as error:
        raise SetupError(f"cannot ask a follow-up to {str(after)!r}: {error}") from error
    follow_up_question = build_follow_up(text, run.question, outcome, language=lang)
    return follow_up_question, [head_graph.name for head_graph in head.graphs] or [None]


def _print_csv(outcome: Outcome, limit: int | None, *, context: bool) -> bool:
    """Print the rows of an answer; other messages go to standard error."""
    if not isinstance(outcome, Answer):
        message = outcome.question if isinstance(outcome, Clarification) else outcome.reason
        typer.echo(message, err=True)
        return False
    if outcome.cut_short:
        typer.echo(f"cut short: {outcome.cut_short}; this is the best answer so far", err=True)
    if outcome.boolean is not None:
        typer.echo(f"answer\n{str(outcome.boolean).lower()}")
    else:
        from askgraph.sparql.comparison import select_columns

        columns = outcome.answer_columns
        result = outcome.table if context else select_columns(outcome.result, columns)
        typer.echo(output.format_csv(result.variables, result.rows[:limit]), nl=False)
    return True


def _print_following(
    outcome: Outcome, following: Sequence[str], limit: int | None, *, json: bool
) -> None:
    if json:
        from askgraph.answers.codec import to_json_object

        output.print_json({**to_json_object(outcome, limit=limit), "next": list(following)})
    elif following:
        output.print_blocks(render_next_questions(following))


async def _suggest_following(
    question: Question, outcome: Outcome, workspace: Workspace, graph: KnowledgeGraph
) -> tuple[str, ...]:
    from askgraph.workspace.run_sync import suggest_next_questions

    try:
        method = await asyncio.to_thread(workspace.method)
        return await suggest_next_questions(
            question, outcome, method, graph, seconds=_FOLLOWING_SECONDS
        )
    except AskgraphError:  # the answer is complete without follow-up questions
        return ()


async def _print_outcome(
    run: Trace, graph: KnowledgeGraph, asking: output.AskOptions, workspace: Workspace
) -> Outcome:
    """Print an outcome, let the user choose one of several readings, and return the result."""
    outcome = run.outcome
    with_colour, limit = output.is_terminal(), asking.limit or _DEFAULT_ROWS
    output.print_blocks(render_outcome(outcome, graph.prefixes, limit=limit, colour=with_colour))
    if isinstance(outcome, Clarification) and with_colour and sys.stdin.isatty():
        option = _prompt_choice(outcome)
        if option is not None:
            languages = [asking.lang] if asking.lang else []
            chosen_reading = await answer_option(option, outcome, graph, languages=languages)
            output.print_blocks(
                render_outcome(chosen_reading, graph.prefixes, limit=limit, colour=with_colour)
            )
            if graph.notes and not run.question.before:  # one of the workspace
                from askgraph.cli.examples import offer_lessons  # few answers are corrected

                await offer_lessons(workspace, graph, run, option.query)
            return chosen_reading
    return outcome


def _prompt_choice(clarification: Clarification) -> Option | None:
    options = clarification.options
    while options:
        reply = typer.prompt(
            f"Which one (1-{len(options)}, Enter for none)", default="", show_default=False
        ).strip()
        if not reply:
            return None
        if reply.isdigit() and 1 <= int(reply) <= len(options):
            return options[int(reply) - 1]
    return None
