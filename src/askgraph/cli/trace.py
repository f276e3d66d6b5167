"""`askgraph trace`: show and replay runs that `ask --trace` stored."""

from json import loads
from pathlib import Path

import typer
from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from askgraph.answers.console import render_outcome, strip_control_characters
from askgraph.answers.verbalize import describe_calls, describe_cost
from askgraph.cli import CommandGroup
from askgraph.cli.output import (
    CommonOptions,
    format_step,
    format_step_title,
    print_blocks,
    print_json,
)
from askgraph.sparql.lexer import tokenize
from askgraph.sparql.prefixes import PrefixMap
from askgraph.trace import Answer, ModelTurn, Outcome, Question, Step, ToolUse, Trace
from askgraph.trace.codec import TraceHead, read_trace, serialize_step, to_json_value
from askgraph.workspace.replay import Replay, replayed
from askgraph.workspace.run_sync import run_coroutine

DIFFERENT_ANSWER_EXIT_CODE = 1
_MAX_STEP_LINES = 6

trace = CommandGroup()


@trace.command("show")
def show_run(common: CommonOptions, file: Path, json: bool = False, full: bool = False) -> None:
    """Print a run: the model's turns and calls, their results, the cost, the outcome."""
    run, head = read_trace(file)
    if json:
        print_json(_to_object(run, head))
    else:
        print_blocks(_format_run(run, head, line_limit=None if full else _MAX_STEP_LINES))


@trace.command("replay")
def replay(common: CommonOptions, file: Path, json: bool = False) -> None:
    """Replay a run from its trace alone, and compare the answers (exit code 1: different)."""
    replayed_run = run_coroutine(replayed(*read_trace(file)))
    if json:
        print_json(
            {
                "same_answer": replayed_run.same_answer,
                "steps": len(replayed_run.now.steps),
                "differs_at": None if replayed_run.differs is None else replayed_run.differs + 1,
            }
        )
    else:
        typer.echo(_format_verdict(replayed_run))
    if not replayed_run.same_answer:
        raise typer.Exit(DIFFERENT_ANSWER_EXIT_CODE)


def _format_verdict(run: Replay) -> str:
    summary = "The same answer" if run.same_answer else "A different answer"
    step_count = len(run.now.steps)
    if run.differs is None:
        return f"{summary}, after the same {step_count} steps."
    return f"{summary}; the runs differ from step {run.differs + 1} on (of {len(run.then.steps)})."


def _to_object(run: Trace, head: TraceHead) -> dict[str, object]:
    return {
        "question": to_json_value(run.question, Question),
        "method": run.method,
        **to_json_value(head, TraceHead),
        "steps": [loads(serialize_step(step)) for step in run.steps],
    }


def _format_run(run: Trace, head: TraceHead, *, line_limit: int | None) -> list[RenderableType]:
    names = ", ".join(graph.name for graph in head.graphs)
    facts = [run.method, _get_model_name(head), f"on {names}" if names else "", head.created]
    blocks: list[RenderableType] = [
        Text(strip_control_characters(run.question.text), style="bold"),
        Text(", ".join(part for part in facts if part), style="dim"),
    ]
    for number, step in enumerate(run.steps, 1):
        blocks.append("")
        if not isinstance(step, Outcome):
            assert isinstance(step, Step)
            title = Text(f"{number}  ", style="bold").append(format_step_title(step))
            if isinstance(step, ModelTurn):
                title.append(f"  {describe_cost(step.usage)}", style="dim")
            if isinstance(step, ToolUse):
                title.append(f"  {step.seconds:.2f} s", style="dim")
            blocks += [
                title,
                *(Padding(line, (0, 0, 0, 3)) for line in format_step(step, line_limit=line_limit)),
            ]
            continue
        best = step if isinstance(step, Answer) else step.best
        blocks += render_outcome(
            step, PrefixMap(tokenize(best.query).declared_prefixes if best else {})
        )
        usage = step.usage
        calls = f"{describe_calls(usage)}, " if usage.llm_calls else ""
        blocks += ["", Text(f"{calls}{usage.requests} SPARQL requests, {usage.seconds:.1f} s")]
    if not run.steps or not isinstance(run.steps[-1], Outcome):
        blocks += ["", Text("The run ended here without an outcome.", style="bold")]
    return blocks


def _get_model_name(head: TraceHead) -> str:
    match head.settings.get("model"):
        case {"provider": str(provider), "model": str(model)}:
            return f"{provider} {model}"
        case _:
            return ""
