"""Render outcomes and results as text for a console, or as HTML for a notebook."""

import io
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from html import escape as escape_html

from pyoxigraph import Literal, NamedNode
from rich import box
from rich.console import Console, RenderableType
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from askgraph.answers.verbalize import describe_answerer, describe_confidence
from askgraph.sparql.prefixes import PrefixMap
from askgraph.sparql.results import SelectResult, Term, to_plain_value
from askgraph.sparql.vocabulary import NUMERIC_DATATYPES
from askgraph.trace import Answer, Clarification, ConfirmedQuestion, Outcome, Refusal

_MAX_EVIDENCE_ROWS = 3
_MAX_EVIDENCE_TRIPLES = 6
_MAX_HTML_ROWS = 20


def render_outcome(
    outcome: Outcome, prefixes: PrefixMap, *, limit: int | None = None, colour: bool = False
) -> Iterator[RenderableType]:
    """Yield the blocks to print for an outcome: the answer first, then how far to trust it."""
    match outcome:
        case Answer():
            yield from _render_answer(outcome, prefixes, limit, colour)
        case Clarification():
            yield Text(outcome.question, style="bold")
            yield ""
            grid = Table.grid(padding=(0, 2))
            grid.add_column(justify="right")
            grid.add_column(overflow="fold")
            for number, option in enumerate(outcome.options, 1):
                rows = f"  ({format_count(option.count, 'row')})"
                grid.add_row(f"  {number}", Text.assemble(option.words, (rows, "dim")))
            yield grid
            yield from _render_replacements(outcome)
        case Refusal():
            yield Text("No answer. " + outcome.reason, style="bold")
            yield from _render_replacements(outcome)
    for name in outcome.other_graphs:
        yield Text(f"Graph {name!r} knows these words: ask it with --graph {name}")
    if isinstance(outcome, Refusal) and (best := outcome.best):
        confidence = describe_confidence(best.confidence)
        texts = (f"The nearest reading, {confidence}: {best.words}", best.sentence)
        yield from (Text(strip_control_characters(text), style="dim") for text in texts if text)
    if answerer := strip_control_characters(describe_answerer(outcome)):
        yield Text.assemble(("Answered by  ", "bold"), answerer)


def render_next_questions(questions: Sequence[str]) -> Iterator[RenderableType]:
    """Yield the blocks to print for follow-up questions."""
    yield Text("Ask next", style="bold")
    for question in questions:
        yield Text(f"  {strip_control_characters(question)}")


def _render_replacements(outcome: Clarification | Refusal) -> Iterator[Text]:
    for unknown in outcome.missing:
        if unknown.names:
            yield Text(
                f"Instead of {unknown.words!r}: "
                f"{', '.join(map(strip_control_characters, unknown.names))}",
                style="dim",
            )


def to_text(outcome: Outcome, prefixes: PrefixMap, *, width: int = 100) -> str:
    """Render an outcome as plain text."""
    return render_plain_text(render_outcome(outcome, prefixes), width=width)


def to_html(outcome: Outcome, prefixes: PrefixMap) -> str:
    """Render an outcome as a small piece of HTML; all of its texts are escaped.

    Only the first rows are shown. For other outcomes than answers it is what `to_text` returns.
    """
    if not isinstance(outcome, Answer):
        return f"<pre>{escape_html(to_text(outcome, prefixes))}</pre>"
    result, boolean = outcome.result, outcome.boolean
    row_count = len(result.rows)
    texts = [outcome.sentence or ("" if boolean is None else "Yes" if boolean else "No")]
    if boolean is None and not row_count:
        texts.append(outcome.why_empty or "Nothing found.")
    parts = [f"<p><b>{escape_html(text)}</b></p>" for text in texts if text]
    if row_count:
        heads = "".join(
            f"<th>{escape_html(_format_head(name, outcome.units))}</th>"
            for name in result.variables
        )
        rows = "".join(
            f"<tr>{''.join(_render_html_cell(term, prefixes, outcome.labels) for term in row)}</tr>"
            for row in result.rows[:_MAX_HTML_ROWS]
        )
        parts.append(f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>")
    notes = [*_list_notes(outcome)]
    if row_count > _MAX_HTML_ROWS:
        notes.insert(0, ("Rows", f"{_MAX_HTML_ROWS} of {row_count:,}"))
    if result.truncated:
        notes.insert(0, ("Cut off", result.truncated.reason))
    parts += [f"<div><b>{name}</b> {escape_html(text)}</div>" for name, text in notes]
    query = escape_html(outcome.query.rstrip())
    parts.append(f"<details><summary>Query</summary><pre>{query}</pre></details>")
    return f"<div>{''.join(parts)}</div>"


def _render_html_cell(term: Term | None, prefixes: PrefixMap, labels: Mapping[str, str]) -> str:
    text = escape_html(to_plain_value(term) or "")
    if not isinstance(term, NamedNode):
        return f"<td>{text}</td>"
    label = labels.get(term.value) or prefixes.shorten(term.value)
    return f'<td title="{text}">{escape_html(label)}</td>'


def _render_answer(
    answer: Answer, prefixes: PrefixMap, limit: int | None, colour: bool
) -> Iterator[RenderableType]:
    result = answer.result
    if answer.sentence:
        yield Text(strip_control_characters(answer.sentence), style="bold")
    yield from _render_rows(answer, prefixes, limit)
    if answer.why_empty:
        yield Text(answer.why_empty)
    if result.truncated:
        by = "askgraph" if result.truncated.by == "askgraph" else "the server"
        yield Text(f"Cut off by {by}: {result.truncated.reason}", style="yellow")
    yield ""
    yield from (Text.assemble((f"{name}  ", "bold"), value) for name, value in _list_notes(answer))
    yield Text("Query", style="bold")
    yield Padding(_render_query(answer.query.rstrip(), colour), (0, 0, 0, 2))
    if answer.evidence:
        yield Text("Evidence", style="bold")
        for evidence in answer.evidence[:_MAX_EVIDENCE_ROWS]:
            lines: Sequence[str] = evidence.words or [
                " ".join(_format_term(text, prefixes, answer) for text in triple)
                for triple in evidence.triples
            ]
            for line in lines[:_MAX_EVIDENCE_TRIPLES]:
                yield Text(
                    f"  row {evidence.row + 1}: {line}" if answer.result.rows else f"  {line}"
                )


def _list_notes(answer: Answer) -> Iterator[tuple[str, str]]:
    """Yield how an answer came about and how far to trust it, as names and texts."""
    stop_reason = f"{answer.cut_short}; this is the best answer so far" if answer.cut_short else ""
    notes = (
        ("Cut short", stop_reason),
        ("In words", answer.interpretation),
        ("Read as", answer.words),
        ("Not used", strip_control_characters(", ".join(answer.unused_words))),
        ("Confirmed", _format_confirmation(answer.confirmed) if answer.confirmed else ""),
        (
            "Confidence",
            "chosen by you" if answer.chosen else describe_confidence(answer.confidence),
        ),
    )
    return ((name, text) for name, text in notes if text)


def _format_confirmation(confirmed: ConfirmedQuestion) -> str:
    on = f"on {confirmed.when[:10]} " if confirmed.when else ""
    by = f"by {confirmed.by} " if confirmed.by else ""
    since = f"; since then the result changed ({confirmed.change})" if confirmed.change else ""
    return f"{on}{by}as the answer to {confirmed.question!r}{since}"


def _render_rows(
    answer: Answer, prefixes: PrefixMap, limit: int | None
) -> Iterator[RenderableType]:
    """Yield the parts that the sentence omits: a table, a single value, or an IRI."""
    result, has_sentence = answer.result, bool(answer.sentence)
    if answer.boolean is not None:
        yield from () if has_sentence else [Text("Yes" if answer.boolean else "No", style="bold")]
    elif not result.rows:
        yield from () if has_sentence else [Text("Nothing found.", style="bold")]
    elif len(result.rows) == 1 and len(answer.answer_columns) == 1:
        if not has_sentence or isinstance(result.rows[0][0], NamedNode):
            row = dict(zip(answer.result.variables, answer.result.rows[0], strict=True))
            value = row.pop(answer.answer_columns[0])
            yield Text.from_markup(f"[bold]{format_cell(value, prefixes, answer.labels)}[/bold]")
            for variable, term in row.items():
                text = format_cell(term, prefixes, answer.labels)
                yield Text.from_markup(f"[dim]{escape(variable.replace('_', ' '))}:[/dim] {text}")
    else:
        table = answer.table
        context = [v for v in table.variables if v not in answer.answer_columns]
        yield build_result_table(
            table, prefixes, answer.labels, units=answer.units, context=context, limit=limit
        )
        if limit is not None and len(result.rows) > limit:
            yield Text(f"… and {len(result.rows) - limit:,} more rows (--limit)", style="dim")


def _render_query(query: str, colour: bool) -> RenderableType:
    if not colour:
        return Text(query)
    from rich.syntax import Syntax  # for a terminal only

    return Syntax(query, "sparql", theme="ansi_dark", background_color="default")


def _format_term(text: str, prefixes: PrefixMap, answer: Answer) -> str:
    if not text.startswith("<"):
        return text
    return answer.labels.get(text[1:-1]) or prefixes.shorten(text[1:-1])


def strip_control_characters(text: str) -> str:
    """Return a text on one line, without terminal control characters."""
    return "".join(character if character.isprintable() else " " for character in text)


def render_plain_text(blocks: Iterable[RenderableType], *, width: int) -> str:
    """Render blocks without colours and without trailing spaces."""
    text = io.StringIO()
    screen = Console(file=text, width=width, highlight=False, color_system=None)
    for block in blocks:
        screen.print(block)
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines())


def format_count(number: int, noun: str) -> str:
    """Return a number with its noun, in the plural if needed."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def build_table(
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    right: Collection[str] = (),
    dim: Collection[str] = (),
) -> Table:
    """Build a table of texts; columns in `right` are right-aligned, those in `dim` dimmed."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for head in heads:
        table.add_column(
            Text(head),
            justify="right" if head in right else "left",
            style="dim" if head in dim else "",
            overflow="fold",
        )
    for row in rows:
        table.add_row(*map(Text, row))
    return table


def build_result_table(
    result: SelectResult,
    prefixes: PrefixMap,
    labels: Mapping[str, str],
    *,
    units: Mapping[str, str] | None = None,
    context: Sequence[str] = (),
    limit: int | None = None,
) -> Table:
    """Build a table of a result; the columns in `context` are dimmed."""
    heads = {name: _format_head(name, units or {}) for name in result.variables}
    right = [
        head
        for name, head in heads.items()
        if all(
            term is None or (isinstance(term, Literal) and term.datatype.value in NUMERIC_DATATYPES)
            for term in result.get_column(name)
        )
    ]
    table = build_table(
        tuple(heads.values()), (), right=right, dim=[heads[name] for name in context]
    )
    for row in result.rows[:limit]:
        table.add_row(*(Text.from_markup(format_cell(term, prefixes, labels)) for term in row))
    return table


def _format_head(name: str, units: Mapping[str, str]) -> str:
    unit = units.get(name)
    return name.replace("_", " ") + (f" ({strip_control_characters(unit)})" if unit else "")


def format_cell(term: Term | None, prefixes: PrefixMap, labels: Mapping[str, str]) -> str:
    """Return a term as rich markup: its label with a dimmed short IRI, or its value."""
    if not isinstance(term, NamedNode):
        return escape(to_plain_value(term) or "")
    short = prefixes.shorten(term.value)
    label = labels.get(term.value)
    return f"{escape(label)} [dim]{escape(short)}[/dim]" if label else escape(short)
