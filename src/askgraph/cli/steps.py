"""The steps of a run for people, while they come and from a trace, and its outcome."""

import contextlib
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from pyoxigraph import NamedNode
from rich.console import Console, RenderableType
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from askgraph.answers.verbalize import confidence_in_words
from askgraph.cli.output import cell, counted, plain_text, result_table
from askgraph.llm import ToolCall
from askgraph.sparql.prefixes import PrefixMap
from askgraph.trace import (
    Answer,
    Clarification,
    Confirmed,
    Draft,
    Evidence,
    Findings,
    Heard,
    ModelTurn,
    Outcome,
    Prompt,
    Refusal,
    Step,
    Thought,
    ToolUse,
    Usage,
)

_EVIDENCE_ROWS = 3
_EVIDENCE_TRIPLES = 6


def shown(
    outcome: Outcome,
    prefixes: PrefixMap,
    *,
    limit: int | None = None,
    colour: bool = False,
) -> Iterator[RenderableType]:
    """Yield what to print for an outcome: the answer first, then what it takes to trust it."""
    match outcome:
        case Answer():
            yield from _answer(outcome, prefixes, limit, colour)
        case Clarification():
            yield Text(outcome.question, style="bold")
            yield ""
            yield _options(outcome)
            yield from _instead(outcome)
        case Refusal():
            yield Text("No answer. " + outcome.reason, style="bold")
            yield from _instead(outcome)
            if outcome.best:
                yield ""
                yield Text("The best attempt:", style="bold")
                yield from _answer(outcome.best, prefixes, limit, colour)


def next_ones(questions: Sequence[str]) -> Iterator[RenderableType]:
    """Yield what to print of the questions that may follow an answer."""
    yield Text("Ask next", style="bold")
    for one in questions:
        yield Text(f"  {plain(one)}")


def _instead(outcome: Clarification | Refusal) -> Iterator[Text]:
    """The names to put in the place of words that the graph knows nothing by."""
    for one in outcome.missing:
        if one.names:
            yield Text(f"Instead of {one.words!r}: {', '.join(map(plain, one.names))}", style="dim")


def as_text(outcome: Outcome, prefixes: PrefixMap, *, width: int = 100) -> str:
    """Return what is shown of an outcome as plain text."""
    return plain_text(shown(outcome, prefixes), width=width)


def _answer(
    answer: Answer,
    prefixes: PrefixMap,
    limit: int | None,
    colour: bool,
) -> Iterator[RenderableType]:
    yield from _result(answer, prefixes, limit)
    yield ""
    sure = "you chose this" if answer.chosen else confidence_in_words(answer.confidence)
    cut = f"{answer.cut_short}; this is the best so far" if answer.cut_short else ""
    fields = (
        ("Cut short", cut),
        ("In words", answer.interpretation),
        ("Read as", answer.words),
        ("Not used", plain(", ".join(answer.unused_words))),
        ("Confirmed", _confirmation(answer.confirmed) if answer.confirmed else ""),
        ("Confidence", sure),
    )
    yield from (Text.assemble((f"{name}  ", "bold"), value) for name, value in fields if value)
    yield Text("Query", style="bold")
    yield Padding(_query(answer.query.rstrip(), colour), (0, 0, 0, 2))
    if answer.evidence:
        yield Text("Evidence", style="bold")
        for evidence in answer.evidence[:_EVIDENCE_ROWS]:
            yield from _evidence(evidence, prefixes, answer)


def _confirmation(confirmed: Confirmed) -> str:
    """When and by whom, as which question, and whether the result is still the same."""
    on = f"on {confirmed.when[:10]} " if confirmed.when else ""
    by = f"by {confirmed.by} " if confirmed.by else ""
    since = f"; since then the result changed ({confirmed.change})" if confirmed.change else ""
    return f"{on}{by}as the answer to {confirmed.question!r}{since}"


def _result(answer: Answer, prefixes: PrefixMap, limit: int | None) -> Iterator[RenderableType]:
    result = answer.result
    if answer.sentence:
        yield Text(plain(answer.sentence), style="bold")
    yield from _rows(answer, prefixes, limit)
    if answer.why_empty:
        yield Text(answer.why_empty)
    if result.truncated:
        by = "askgraph" if result.truncated.by == "askgraph" else "the server"
        yield Text(f"Cut off by {by}: {result.truncated.reason}", style="yellow")


def _rows(answer: Answer, prefixes: PrefixMap, limit: int | None) -> Iterator[RenderableType]:
    """What the sentence leaves to say: all if there is none, else a table, or a thing's IRI."""
    result, is_said = answer.result, bool(answer.sentence)
    if answer.boolean is not None:
        yield from () if is_said else [Text("Yes" if answer.boolean else "No", style="bold")]
    elif not result.rows:
        yield from () if is_said else [Text("Nothing found.", style="bold")]
    elif len(result.rows) == 1 and len(answer.answer_columns) == 1:
        if not is_said or isinstance(result.rows[0][0], NamedNode):
            yield from _single(answer, prefixes)
    else:
        context = [v for v in result.variables if v not in answer.answer_columns]
        yield result_table(result, prefixes, answer.labels, context=context, limit=limit)
        if limit is not None and len(result.rows) > limit:
            yield Text(f"… and {len(result.rows) - limit:,} more rows (--limit)", style="dim")


def _single(answer: Answer, prefixes: PrefixMap) -> Iterator[RenderableType]:
    """One value, large, and beside it what it hangs on."""
    row = dict(zip(answer.result.variables, answer.result.rows[0], strict=True))
    value = row.pop(answer.answer_columns[0])
    yield Text.from_markup(f"[bold]{cell(value, prefixes, answer.labels)}[/bold]")
    for variable, term in row.items():
        text = cell(term, prefixes, answer.labels)
        yield Text.from_markup(f"[dim]{escape(variable.replace('_', ' '))}:[/dim] {text}")


def _options(clarification: Clarification) -> RenderableType:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(justify="right")
    grid.add_column(overflow="fold")
    for number, option in enumerate(clarification.options, 1):
        rows = f"  ({counted(option.count, 'row')})"
        grid.add_row(f"  {number}", Text.assemble(option.words, (rows, "dim")))
    return grid


def _query(query: str, colour: bool) -> RenderableType:
    if not colour:
        return Text(query)
    from rich.syntax import Syntax  # for a terminal only

    return Syntax(query, "sparql", theme="ansi_dark", background_color="default")


def _evidence(evidence: Evidence, prefixes: PrefixMap, answer: Answer) -> Iterator[RenderableType]:
    lines: Sequence[str] = evidence.words or [
        " ".join(_term(text, prefixes, answer) for text in triple) for triple in evidence.triples
    ]
    for line in lines[:_EVIDENCE_TRIPLES]:
        yield Text(f"  row {evidence.row + 1}: {line}" if answer.result.rows else f"  {line}")


def _term(text: str, prefixes: PrefixMap, answer: Answer) -> str:
    if not text.startswith("<"):
        return text
    return answer.labels.get(text[1:-1]) or prefixes.shorten(text[1:-1])


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


def _prompt(prompt: Prompt, most: int | None) -> Iterator[Text]:
    if prompt.tools:
        yield Text(f"tools: {', '.join(tool.name for tool in prompt.tools)}", style="dim")
    for message in prompt.messages:
        yield Text(f"{type(message).__name__.lower()}:", style="bold dim")
        yield from _lines(message.text, most, style="dim")


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


def plain(text: str) -> str:
    """Return a text on one line, without anything that a terminal would obey."""
    return "".join(sign if sign.isprintable() else " " for sign in text)


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
