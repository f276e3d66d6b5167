"""The steps of a language model on standard error while it works, where that is a terminal.

They stay above the answer; the line below them says what has been used so far.
"""

import contextlib
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace

from rich.console import Console
from rich.status import Status
from rich.text import Text

from askgraph.cli.steps import called, costs, plain, step_lines, step_title
from askgraph.trace import ModelTurn, Outcome, Prompt, Step, ToolUse, Usage

__all__ = ["live_view"]


@contextlib.contextmanager
def live_view(*, quiet: bool = False) -> Iterator[Callable[[Step], None]]:
    """Give a function to tell each step to.

    It shows nothing where nobody looks, nor of a method that asks no model and answers at once.
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
        self._console: Console | None = None
        self._status: Status | None = None
        self._usage = Usage()
        self._prompts = 0

    def told(self, step: Step) -> None:
        """Show a step, if a model is at work."""
        if self._console is None and isinstance(step, Prompt | ModelTurn | ToolUse):
            self._open()
        self._prompts += isinstance(step, Prompt)
        if self._console is None or isinstance(step, Outcome | Prompt):
            return
        for line in _short(step, named=self._prompts > 1):
            self._console.print(line, no_wrap=True, overflow="ellipsis", highlight=False)
        if isinstance(step, ModelTurn):
            self._usage += step.usage
        self._say()

    def close(self) -> None:
        """Leave the terminal as it was, with what all of it has used."""

        if self._status is not None:
            self._status.stop()
        if self._console is not None and self._usage.llm_calls:
            self._console.print(called(self._usage), style="dim", highlight=False)

    def _open(self) -> None:

        self._console = Console(stderr=True)
        self._status = self._console.status("")
        self._status.start()
        self._say()

    def _say(self) -> None:

        if self._status is not None:
            self._status.update(f"[dim]{costs(self._usage)}[/dim]" if self._usage.llm_calls else "")


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
