"""`askgraph trace`: runs that were kept with `ask --trace`, read and run again."""

from json import loads
from pathlib import Path

import typer
from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from askgraph.answers.console import plain, shown
from askgraph.cli import Commands
from askgraph.cli.options import Common
from askgraph.cli.output import called, costs, print_json, show, step_lines, step_title
from askgraph.sparql.lexer import lexed
from askgraph.sparql.prefixes import PrefixMap
from askgraph.trace import Answer, ModelTurn, Outcome, Question, Step, ToolUse, Trace
from askgraph.trace.codec import Head, line_of, read_trace, told
from askgraph.workspace.replay import Replay, replayed
from askgraph.workspace.run_sync import result_of

DIFFERS = 1
_LINES = 6

trace = Commands()


@trace.command("show")
def show_run(common: Common, file: Path, json: bool = False, full: bool = False) -> None:
    """Print a run: what the model said and called, what came of it, what it cost, the outcome."""

    run, head = read_trace(file)
    if json:
        print_json(_object(run, head))
    else:
        show(_blocks(run, head, most=None if full else _LINES))


@trace.command("replay")
def replay(common: Common, file: Path, json: bool = False) -> None:
    """Run it again from the trace alone, and say whether the answer is the same (exit code 1: no).

    No model and no graph is asked: what they said then is in the trace.
    """
    run = result_of(replayed(*read_trace(file)))
    if json:
        print_json(
            {
                "same_answer": run.same_answer,
                "steps": len(run.now.steps),
                "differs_at": None if run.differs is None else run.differs + 1,
            }
        )
    else:
        typer.echo(_verdict(run))
    if not run.same_answer:
        raise typer.Exit(DIFFERS)


def _verdict(run: Replay) -> str:
    said = "The same answer" if run.same_answer else "Another answer"
    steps = len(run.now.steps)
    if run.differs is None:
        return f"{said}, after the same {steps} steps."
    return f"{said}; the runs differ from step {run.differs + 1} on ({len(run.then.steps)} then)."


def _object(run: Trace, head: Head) -> dict[str, object]:
    question = {"question": told(run.question, Question), "method": run.method}
    return {**question, **told(head, Head), "steps": [loads(line_of(step)) for step in run.steps]}


def _blocks(run: Trace, head: Head, *, most: int | None) -> list[RenderableType]:
    names = ", ".join(graph.name for graph in head.graphs)
    about = [run.method, _model(head), f"on {names}" if names else "", head.created]
    blocks: list[RenderableType] = [
        Text(plain(run.question.text), style="bold"),
        Text(", ".join(part for part in about if part), style="dim"),
    ]
    for number, step in enumerate(run.steps, 1):
        blocks.append("")
        if not isinstance(step, Outcome):
            blocks += _step(number, step, most)
            continue
        best = step if isinstance(step, Answer) else step.best
        blocks += shown(step, PrefixMap(lexed(best.query).declared if best else {}))
        used = step.usage
        calls = f"{called(used)}, " if used.llm_calls else ""
        blocks += ["", Text(f"{calls}{used.requests} SPARQL requests, {used.seconds:.1f} s")]
    if not run.steps or not isinstance(run.steps[-1], Outcome):
        blocks += ["", Text("It ended here, without an outcome.", style="bold")]
    return blocks


def _step(number: int, step: object, most: int | None) -> list[RenderableType]:
    assert isinstance(step, Step)
    title = Text(f"{number}  ", style="bold").append(step_title(step))
    if isinstance(step, ModelTurn):
        title.append(f"  {costs(step.usage)}", style="dim")
    if isinstance(step, ToolUse):
        title.append(f"  {step.seconds:.2f} s", style="dim")
    return [title, *(Padding(line, (0, 0, 0, 3)) for line in step_lines(step, most=most))]


def _model(head: Head) -> str:
    match head.settings.get("model"):
        case {"provider": str(provider), "model": str(model)}:
            return f"{provider} {model}"
        case _:
            return ""
