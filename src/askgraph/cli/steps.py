"""The steps of a run as lines for people: while they come, and from a trace."""

import json
from collections.abc import Iterable, Iterator

from rich.text import Text

from askgraph.llm import Choice, ToolCall
from askgraph.trace import (
    Draft,
    Findings,
    ModelTurn,
    Prompt,
    Step,
    Thought,
    ToolUse,
    Usage,
)

__all__ = ["called", "costs", "plain", "step_lines", "step_title"]


def step_title(step: Step) -> str:
    """Return what kind of step it is, in a word or a call."""
    match step:
        case ModelTurn():
            return "model"
        case ToolUse():
            return _call(step.tool, step.arguments)
        case Prompt():
            return f"prompt ({step.purpose})"
        case _:
            return type(step).__name__.lower()


def step_lines(step: Step, *, most: int | None) -> Iterator[Text]:
    """Yield what a step holds, line by line: at most so many of each text, or all."""
    match step:
        case ModelTurn():
            yield from _turn(step.choice, most)
        case ToolUse(observation=seen):
            yield from _lines(seen.text, most, style="red" if seen.failed else "dim")
        case Prompt():
            yield from _prompt(step, most)
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
    """Return the tokens of a cost, and its money where it has some."""
    said = f"{usage.input_tokens:,} tokens in"
    if usage.cached_tokens:
        said += f" ({usage.cached_tokens:,} cached)"
    said += f", {usage.output_tokens:,} out"
    return said + (f", cost {usage.money:.4f}" if usage.money else "")


def called(usage: Usage) -> str:
    """Return how often a model was called, and what that cost."""
    return f"{usage.llm_calls} call{'s' if usage.llm_calls > 1 else ''} of a model, {costs(usage)}"


def plain(text: str) -> str:
    """Return a text on one line, without anything that a terminal would obey."""
    return "".join(sign if sign.isprintable() else " " for sign in text)


def _turn(choice: Choice, most: int | None) -> Iterator[Text]:
    yield from _lines(choice.reasoning, most, style="dim italic")
    yield from _lines(choice.text or choice.refusal, most)
    yield from (Text(f"→ {_written(call)}", style="cyan") for call in choice.calls)


def _prompt(prompt: Prompt, most: int | None) -> Iterator[Text]:
    if prompt.tools:
        yield Text(f"tools: {', '.join(tool.name for tool in prompt.tools)}", style="dim")
    for message in prompt.messages:
        yield Text(f"{type(message).__name__.lower()}:", style="bold dim")
        yield from _lines(message.text, most, style="dim")


def _lines(text: str, most: int | None, *, style: str = "") -> Iterable[Text]:
    lines = text.strip().splitlines()
    shown = [Text(plain(line), style=style) for line in lines[:most]]
    if most is not None and len(lines) > most and shown:
        more = len(lines) - most
        shown[-1].append(f" … {more} more line{'s' if more > 1 else ''}", style="dim")
    return shown


def _call(tool: str, arguments: dict[str, object]) -> str:
    given = [f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in arguments.items()]
    return plain(f"{tool}({', '.join(given)})")


def _written(call: ToolCall) -> str:
    """A call as the model wrote it, read where it can be."""
    try:
        arguments = json.loads(call.arguments or "{}")
    except ValueError:
        arguments = None
    if isinstance(arguments, dict):
        return _call(call.name, arguments)
    return plain(f"{call.name}({call.arguments})")
