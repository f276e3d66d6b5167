"""Shared by the commands: options; output for people and programs, such as tables and progress."""

import contextlib
import csv
import io
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import typer
from rich.console import Console, RenderableType
from rich.text import Text

from askgraph import cli, plugins, trace
from askgraph.answers.console import format_count, render_plain_text, strip_control_characters
from askgraph.answers.verbalize import describe_calls, describe_cost
from askgraph.errors import SetupError
from askgraph.llm import ToolCall
from askgraph.methods import Method
from askgraph.sparql.results import Term, to_plain_value
from askgraph.workspace import DEFAULT_METHOD, Progress, Workspace
from askgraph.workspace.settings import parse_method_spec

if TYPE_CHECKING:
    from askgraph.llm.budget import ModelBudget


@dataclass(frozen=True)
class CommonOptions(cli.OptionBundle):
    """The options of nearly every command."""

    is_last = True

    folder: cli.WorkspaceOption = None
    debug: cli.DebugOption = False

    @classmethod
    def from_options(cls, common: cli.GlobalOptions, values: Mapping[str, Any]) -> Self:
        """Return the options; the workspace may also be named before the command."""
        return cls(common.workspace, common.debug)

    @property
    def workspace(self) -> Workspace:
        """The workspace of this call."""
        return Workspace(self.folder)


def complete_graph_names(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the graph names that start with the typed text."""
    return [
        name
        for name in Workspace(cli.get_global_options(ctx).workspace).graphs()
        if name.startswith(incomplete)
    ]


def check_graphs(workspace: Workspace, names: Sequence[str]) -> None:
    """Raise `SetupError` if the workspace lacks one of the graphs."""
    graphs = workspace.graphs()
    for name in names:
        if name not in graphs:
            listed_names = ", ".join(graphs) or "none yet"
            raise SetupError(
                f"there is no graph {name!r} in {workspace.folder}; available: {listed_names}"
            )


def complete_method_names(incomplete: str) -> list[str]:
    """Return the method names that start with the typed text."""
    names = [name.replace("_", "-") for name in plugins.list_names("method")]
    return [name for name in names if name.startswith(incomplete)]


@dataclass(frozen=True)
class AskOptions(cli.OptionBundle):
    """The options of commands that ask questions with one method."""

    graph: list[str] | None = None
    method: str | None = None
    model: str | None = None
    base_url: str | None = None
    sent: Path | None = None
    lang: str | None = None
    limit: int | None = None
    seconds: float | None = None
    timeout: float | None = None
    anew: bool = False

    def create_method(self, workspace: Workspace) -> tuple[str, Method]:
        """Return the name of the chosen method, and the method with its settings."""
        name, settings_of_spec = parse_method_spec(self.method or DEFAULT_METHOD)
        values = (
            ("model", self.model),
            ("base_url", self.base_url),
            ("sent", None if self.sent is None else str(self.sent.absolute())),
            ("seconds", self.seconds),
        )
        settings = settings_of_spec | {name: value for name, value in values if value is not None}
        name, settings = workspace.resolve_method(name, settings)
        return name, workspace.method(name, settings, confirmed=not self.anew)


@dataclass(frozen=True)
class DraftOptions(cli.OptionBundle):
    """The options of commands for which a language model may write texts."""

    is_last = True

    model: str | None = None
    base_url: str | None = None
    budget: list[str] | None = None

    @property
    def limits(self) -> "ModelBudget":
        """The budget of the model."""
        from askgraph.evaluation.runs.run import RunBudget as Bounds  # not for a question

        return Bounds.from_texts(self.budget or []).to_model_budget()


PLAIN_WIDTH_CHARACTERS = 200


def is_terminal() -> bool:
    """Return whether standard output is a terminal."""
    return sys.stdout.isatty()


def get_line_width() -> int:
    """Return the width of a line in characters: that of the terminal, or else 200."""
    return Console().width if is_terminal() else PLAIN_WIDTH_CHARACTERS


def print_blocks(blocks: Iterable[RenderableType]) -> None:
    """Print blocks: with colours on a terminal, or else as plain text in lines of up to 200."""
    if not is_terminal():
        typer.echo(render_plain_text(blocks, width=PLAIN_WIDTH_CHARACTERS))
        return
    console = Console(highlight=False)
    for block in blocks:
        console.print(block)


def print_json(content: object) -> None:
    """Print one JSON value: indented on a terminal, or else on one line."""
    typer.echo(json.dumps(content, ensure_ascii=False, indent=2 if is_terminal() else None))


def format_csv(columns: Sequence[str], rows: Iterable[Sequence[Term | None]]) -> str:
    """Return rows as CSV (RFC 4180) with a header; unbound values are empty."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(columns)
    writer.writerows([to_plain_value(term) for term in row] for row in rows)
    return text.getvalue()


@contextlib.contextmanager
def show_progress() -> Iterator[Progress]:
    """Provide a function that reports progress; a bar appears with the first report.

    Nothing is shown if standard error is not a terminal.
    """
    if not sys.stderr.isatty():
        yield lambda what, done, total: None
        return
    from rich import progress  # only where a person looks

    text = progress.TextColumn("{task.description}", markup=False)
    columns = (text, progress.BarColumn(), progress.TimeElapsedColumn())
    display = progress.Progress(*columns, console=Console(stderr=True), transient=True)

    def report(description: str, done: int, total: int | None) -> None:
        if not display.tasks:
            display.start()
            display.add_task("", total=None)
        display.update(display.tasks[0].id, description=description, completed=done, total=total)

    try:
        yield report
    finally:
        if display.tasks:
            display.stop()


def format_step_title(step: trace.Step) -> str:
    """Return the kind of a step, as a word or a call."""
    match step:
        case trace.ModelTurn():
            return "model"
        case trace.ToolUse():
            return _format_call(step.tool, step.arguments)
        case trace.Prompt():
            return f"prompt ({step.purpose})"
        case trace.Heard():
            return "replies of the graphs, for a replay"
        case _:
            return type(step).__name__.lower()


def format_step(step: trace.Step, *, line_limit: int | None) -> Iterator[Text]:
    """Yield the content of a step line by line, at most `line_limit` lines of each text."""
    match step:
        case trace.ModelTurn(choice=choice):
            yield from _format_lines(choice.reasoning, line_limit, style="dim italic")
            yield from _format_lines(choice.text or choice.refusal, line_limit)
            yield from (
                Text(f"→ {_format_model_call(call)}", style="cyan") for call in choice.calls
            )
        case trace.ToolUse(observation=observation):
            yield from _format_lines(
                observation.text, line_limit, style="red" if observation.failed else "dim"
            )
        case trace.Prompt():
            if step.tools:
                yield Text(f"tools: {', '.join(tool.name for tool in step.tools)}", style="dim")
            for message in step.messages:
                yield Text(f"{type(message).__name__.lower()}:", style="bold dim")
                yield from _format_lines(message.text, line_limit, style="dim")
        case trace.Thought(text=text, sent=sent):
            yield from _format_lines(text, line_limit)
            if sent:
                yield Text("sent to the model:", style="bold dim")
                yield from _format_lines(sent, line_limit, style="dim")
        case trace.Draft(query=query, score=score, words=words):
            yield from _format_lines(f"{score:.3f}  {words or query}", line_limit)
        case trace.Findings(mentions=mentions):
            texts = (
                f"{mention.words!r}: {mention.kind} {mention.label or mention.target}"
                for mention in mentions
            )
            yield from _format_lines("\n".join(map(strip_control_characters, texts)), line_limit)
        case _:  # the outcome is printed separately
            return


def _format_lines(text: str, line_limit: int | None, *, style: str = "") -> Iterable[Text]:
    lines = text.strip().splitlines()
    formatted = [Text(strip_control_characters(line), style=style) for line in lines[:line_limit]]
    if line_limit is not None and len(lines) > line_limit and formatted:
        formatted[-1].append(
            f" … {format_count(len(lines) - line_limit, 'more line')}", style="dim"
        )
    return formatted


def _format_call(tool: str, arguments: dict[str, object]) -> str:
    pairs = [f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in arguments.items()]
    return strip_control_characters(f"{tool}({', '.join(pairs)})")


def _format_model_call(call: ToolCall) -> str:
    try:
        arguments = json.loads(call.arguments or "{}")
    except ValueError:
        arguments = None
    if isinstance(arguments, dict):
        return _format_call(call.name, arguments)
    return strip_control_characters(f"{call.name}({call.arguments})")


@contextlib.contextmanager
def show_steps(*, quiet: bool = False) -> Iterator[Callable[[trace.Step], None]]:
    """Provide a function that shows each step.

    Nothing is shown without a terminal, or for a method that calls no model and answers at once.
    """
    if quiet or not sys.stderr.isatty():
        yield lambda step: None
        return
    view = _StepDisplay()
    try:
        yield view.show
    finally:
        view.close()


class _StepDisplay:
    def __init__(self) -> None:
        self._console = Console(stderr=True)
        self._status = self._console.status("")
        self._is_open = False
        self._usage = trace.Usage()
        self._prompt_count = 0

    def show(self, step: trace.Step) -> None:
        if not self._is_open and isinstance(step, trace.Prompt | trace.ModelTurn | trace.ToolUse):
            self._is_open = True
            self._status.start()
        self._prompt_count += isinstance(step, trace.Prompt)
        if not self._is_open or isinstance(step, trace.Outcome | trace.Prompt):
            return
        for line in _format_brief(step, show_model=self._prompt_count > 1):
            self._console.print(line, no_wrap=True, overflow="ellipsis", highlight=False)
        if isinstance(step, trace.ModelTurn):
            self._usage += step.usage
        self._status.update(
            f"[dim]{describe_cost(self._usage)}[/dim]" if self._usage.llm_calls else ""
        )

    def close(self) -> None:
        if self._is_open:
            self._status.stop()
        if self._usage.llm_calls:
            self._console.print(describe_calls(self._usage), style="dim", highlight=False)


def _format_brief(step: trace.Step, *, show_model: bool) -> Iterator[Text]:
    """Return a step in a few lines: the model's thoughts, its calls, the first line of a result."""
    match step:
        case trace.ToolUse():
            first_line = next(iter(format_step(step, line_limit=1)), Text(""))
            failure = " failed; the model is shown" if step.observation.failed else ""
            yield Text.assemble((f"  {step.tool}{failure}: ", "dim"), first_line)
        case trace.ModelTurn():
            if show_model and step.model:
                yield Text(f"model {strip_control_characters(step.model)}", style="dim")
            yield from format_step(_simplify_turn(step), line_limit=1)
        case _:
            yield Text(format_step_title(step), style="dim")
            brief_step = replace(step, sent="") if isinstance(step, trace.Thought) else step
            yield from format_step(brief_step, line_limit=1)


def _simplify_turn(turn: trace.ModelTurn) -> trace.ModelTurn:
    """Return a turn whose text, if it is a JSON object, lists its values without JSON syntax."""
    try:
        content = json.loads(turn.choice.text)
    except (ValueError, RecursionError):
        return turn
    if not isinstance(content, dict):
        return turn
    parts = (
        f"{name}: {' '.join(value.split()) if isinstance(value, str) else json.dumps(value)}"
        for name, value in content.items()
        if value not in ("", [], 0)
    )
    return replace(turn, choice=replace(turn.choice, text=" · ".join(parts)))
