"""Output as people and programs read it: tables, CSV, JSON, the steps of a run, progress."""

import contextlib
import csv
import io
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

import typer
from rich.console import Console, RenderableType
from rich.text import Text

from askgraph.answers.console import counted, plain, plain_text
from askgraph.llm import ToolCall
from askgraph.sparql.results import Term, value_of
from askgraph.trace import (
    Draft,
    Findings,
    Heard,
    ModelTurn,
    Outcome,
    Prompt,
    Step,
    Thought,
    ToolUse,
    Usage,
)
from askgraph.workspace import Progress

WIDE = 200


def on_terminal() -> bool:
    """Whether a person looks at standard output."""
    return sys.stdout.isatty()


def room() -> int:
    """How many characters a line may have: as many as the terminal shows, else 200."""
    return Console().width if on_terminal() else WIDE


def show(blocks: Iterable[RenderableType]) -> None:
    """Print blocks: with colours on a terminal, else as plain text in lines of 200 at most."""
    if not on_terminal():
        typer.echo(plain_text(blocks, width=WIDE))
        return
    screen = Console(highlight=False)
    for block in blocks:
        screen.print(block)


def print_json(content: object) -> None:
    """Print one JSON value: over several lines for people, on one line for programs."""
    indent = 2 if on_terminal() else None
    typer.echo(json.dumps(content, ensure_ascii=False, indent=indent))


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[Term | None]]) -> str:
    """Return rows as CSV (RFC 4180) with a header; unbound is empty."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(columns)
    writer.writerows([value_of(term) for term in row] for row in rows)
    return text.getvalue()


@contextlib.contextmanager
def progress_bar() -> Iterator[Progress]:
    """Give a function to tell progress to: a bar that comes with the first thing there is to tell.

    It shows nothing if standard error is no terminal.
    """
    if not sys.stderr.isatty():
        yield lambda what, done, total: None
        return
    from rich import progress  # only where a person looks

    text = progress.TextColumn("{task.description}", markup=False)
    columns = (text, progress.BarColumn(), progress.TimeElapsedColumn())
    bars = progress.Progress(*columns, console=Console(stderr=True), transient=True)

    def tell(what: str, done: int, total: int | None) -> None:
        if not bars.tasks:
            bars.start()
            bars.add_task("", total=None)
        bars.update(bars.tasks[0].id, description=what, completed=done, total=total)

    try:
        yield tell
    finally:
        if bars.tasks:
            bars.stop()


def step_title(step: Step) -> str:
    """Return what kind of step it is, in a word or a call."""
    match step:
        case ModelTurn():
            return "model"
        case ToolUse():
            return _call(step.tool, step.arguments)
        case Prompt():
            return f"prompt ({step.purpose})"
        case Heard():
            return "what the graphs said, for a replay"
        case _:
            return type(step).__name__.lower()


def step_lines(step: Step, *, most: int | None) -> Iterator[Text]:
    """Yield what a step holds, line by line: at most so many of each text, or all."""
    match step:
        case ModelTurn(choice=choice):
            yield from _lines(choice.reasoning, most, style="dim italic")
            yield from _lines(choice.text or choice.refusal, most)
            yield from (Text(f"→ {_written(call)}", style="cyan") for call in choice.calls)
        case ToolUse(observation=seen):
            yield from _lines(seen.text, most, style="red" if seen.failed else "dim")
        case Prompt():
            if step.tools:
                yield Text(f"tools: {', '.join(tool.name for tool in step.tools)}", style="dim")
            for message in step.messages:
                yield Text(f"{type(message).__name__.lower()}:", style="bold dim")
                yield from _lines(message.text, most, style="dim")
        case Thought(text=text):
            yield from _lines(text, most)
        case Draft(query=query, score=score, words=words):
            yield from _lines(f"{score:.3f}  {words or query}", most)
        case Findings(mentions=mentions):
            read = (f"{one.words!r}: {one.kind} {one.label or one.target}" for one in mentions)
            yield from _lines("\n".join(map(plain, read)), most)
        case _:  # an outcome is shown as such
            return


def costs(usage: Usage) -> str:
    """Return the tokens of a cost, and its money if it has some."""
    said = f"{usage.input_tokens:,} tokens in"
    if usage.cached_tokens:
        said += f" ({usage.cached_tokens:,} cached)"
    said += f", {usage.output_tokens:,} out"
    return said + (f", cost {usage.money:.4f}" if usage.money else "")


def called(usage: Usage) -> str:
    """Return how often a model was called, and what that cost."""
    return f"{usage.llm_calls} call{'s' if usage.llm_calls > 1 else ''} of a model, {costs(usage)}"


def _lines(text: str, most: int | None, *, style: str = "") -> Iterable[Text]:
    lines = text.strip().splitlines()
    shown = [Text(plain(line), style=style) for line in lines[:most]]
    if most is not None and len(lines) > most and shown:
        shown[-1].append(f" … {counted(len(lines) - most, 'more line')}", style="dim")
    return shown


def _call(tool: str, arguments: dict[str, object]) -> str:
    given = [f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in arguments.items()]
    return plain(f"{tool}({', '.join(given)})")


def _written(call: ToolCall) -> str:
    """A call as the model wrote it, read if it can be."""
    try:
        arguments = json.loads(call.arguments or "{}")
    except ValueError:
        arguments = None
    if isinstance(arguments, dict):
        return _call(call.name, arguments)
    return plain(f"{call.name}({call.arguments})")


@contextlib.contextmanager
def live_view(*, quiet: bool = False) -> Iterator[Callable[[Step], None]]:
    """Give a function to tell each step to.

    It shows nothing if nobody looks, nor of a method that asks no model and answers at once.
    """
    if quiet or not sys.stderr.isatty():
        yield lambda step: None
        return
    view = _View()
    try:
        yield view.told
    finally:
        view.close()


class _View:
    def __init__(self) -> None:
        self._console = Console(stderr=True)
        self._status = self._console.status("")
        self._open = False
        self._usage = Usage()
        self._prompts = 0

    def told(self, step: Step) -> None:
        """Show a step, if a model is at work."""
        if not self._open and isinstance(step, Prompt | ModelTurn | ToolUse):
            self._open = True
            self._status.start()
        self._prompts += isinstance(step, Prompt)
        if not self._open or isinstance(step, Outcome | Prompt):
            return
        for line in _short(step, named=self._prompts > 1):
            self._console.print(line, no_wrap=True, overflow="ellipsis", highlight=False)
        if isinstance(step, ModelTurn):
            self._usage += step.usage
        self._status.update(f"[dim]{costs(self._usage)}[/dim]" if self._usage.llm_calls else "")

    def close(self) -> None:
        """Leave the terminal as it was, with what all of it has used."""
        if self._open:
            self._status.stop()
        if self._usage.llm_calls:
            self._console.print(called(self._usage), style="dim", highlight=False)


def _short(step: Step, *, named: bool) -> Iterator[Text]:
    """A step in a line or a few: what the model thinks, its calls, the first line of a result.

    `named` says which model it was, for there may be several at work.
    """
    match step:
        case ToolUse():
            first = next(iter(step_lines(step, most=1)), Text(""))
            yield Text.assemble((f"  {step.tool}: ", "dim"), first)
        case ModelTurn():
            if named and step.model:
                yield Text(f"model {plain(step.model)}", style="dim")
            yield from step_lines(_readable(step), most=1)
        case _:
            yield Text(step_title(step), style="dim")
            yield from step_lines(step, most=1)


def _readable(turn: ModelTurn) -> ModelTurn:
    """A turn whose text, if it is a JSON object, has only what that says, without its signs."""
    try:
        said = json.loads(turn.choice.text)
    except (ValueError, RecursionError):
        return turn
    if not isinstance(said, dict):
        return turn
    parts = (f"{name}: {_value(value)}" for name, value in said.items() if value not in ("", [], 0))
    return replace(turn, choice=replace(turn.choice, text=" · ".join(parts)))


def _value(value: object) -> str:
    return " ".join(value.split()) if isinstance(value, str) else json.dumps(value)
