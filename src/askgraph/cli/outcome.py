"""An outcome for people: the answer first, then what it takes to trust it."""

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.markup import escape
from rich.padding import Padding
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from askgraph.cli.tables import cell, plain_text, table
from askgraph.explanation.verbalise import confidence_in_words
from askgraph.rdf.prefixes import PrefixMap
from askgraph.sparql.results import Term
from askgraph.trace import Answer, Clarification, Confirmed, Evidence, Outcome, Refusal

_EVIDENCE_ROWS = 3
_EVIDENCE_TRIPLES = 6


def shown(
    outcome: Outcome, prefixes: PrefixMap, *, limit: int | None = None, colour: bool = False
) -> Iterator[RenderableType]:
    """Yield what to print for an outcome, one block after the other."""
    match outcome:
        case Answer():
            yield from _answer(outcome, prefixes, limit, colour)
        case Clarification():
            yield Text(outcome.question, style="bold")
            yield ""
            yield _options(outcome)
        case Refusal():
            yield Text("No answer. " + outcome.reason, style="bold")
            if outcome.best:
                yield ""
                yield Text("The best attempt:", style="bold")
                yield from _answer(outcome.best, prefixes, limit, colour)


def as_text(outcome: Outcome, prefixes: PrefixMap, *, width: int = 100) -> str:
    """Return what is shown of an outcome as plain text."""
    return plain_text(shown(outcome, prefixes), width=width)


def _answer(
    answer: Answer, prefixes: PrefixMap, limit: int | None, colour: bool
) -> Iterator[RenderableType]:
    yield from _result(answer, prefixes, limit)
    yield ""
    if answer.cut_short:
        yield _field("Cut short", f"{answer.cut_short}; this is the best so far")
    if answer.interpretation:
        yield _field("In words", answer.interpretation)
    if answer.words:
        yield _field("Read as", answer.words)
    if answer.confirmed:
        yield _field("Confirmed", _confirmation(answer.confirmed))
    yield _field("Confidence", confidence_in_words(answer.confidence))
    yield Text("Query", style="bold")
    yield Padding(_query(answer.query, colour), (0, 0, 0, 2))
    if answer.evidence:
        yield Text("Evidence", style="bold")
        for evidence in answer.evidence[:_EVIDENCE_ROWS]:
            yield from _evidence(evidence, prefixes, answer)


def _confirmation(confirmed: Confirmed) -> str:
    """When and by whom, as which question, and whether the result is still the same."""
    said = " ".join(
        [
            *([f"on {confirmed.when[:10]}"] if confirmed.when else []),
            *([f"by {confirmed.by}"] if confirmed.by else []),
            f"as the answer to {confirmed.question!r}",
        ]
    )
    return (
        f"{said}; since then the result changed ({confirmed.change})" if confirmed.change else said
    )


def _result(answer: Answer, prefixes: PrefixMap, limit: int | None) -> Iterator[RenderableType]:
    result = answer.result
    if answer.boolean is not None:
        yield Text("Yes" if answer.boolean else "No", style="bold")
    elif not result.rows:
        yield Text("Nothing found.", style="bold")
    elif len(result.rows) == 1 and len(answer.answer_columns) == 1:
        yield from _single(answer, prefixes)
    else:
        context = [v for v in result.variables if v not in answer.answer_columns]
        yield table(result, prefixes, answer.labels, context=context, limit=limit)
        if limit is not None and len(result.rows) > limit:
            yield Text(f"… and {len(result.rows) - limit:,} more rows (--limit)", style="dim")
    if answer.why_empty:
        yield Text(answer.why_empty)
    if result.truncated:
        by = "askgraph" if result.truncated.by == "askgraph" else "the server"
        yield Text(f"Cut off by {by}: {result.truncated.reason}", style="yellow")


def _single(answer: Answer, prefixes: PrefixMap) -> Iterator[RenderableType]:
    """One value, large, and beside it what it hangs on."""
    row = dict(zip(answer.result.variables, answer.result.rows[0], strict=True))
    [column] = answer.answer_columns
    value: Term | None = row.pop(column)
    yield Text.from_markup(f"[bold]{cell(value, prefixes, answer.labels)}[/bold]")
    for variable, term in row.items():
        text = cell(term, prefixes, answer.labels)
        yield Text.from_markup(f"[dim]{escape(variable.replace('_', ' '))}:[/dim] {text}")


def _options(clarification: Clarification) -> RenderableType:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(justify="right")
    grid.add_column(overflow="fold")
    for number, option in enumerate(clarification.options, 1):
        rows = "1 row" if option.count == 1 else f"{option.count:,} rows"
        grid.add_row(f"  {number}", Text.assemble(option.words, (f"  ({rows})", "dim")))
    return grid


def _query(query: str, colour: bool) -> RenderableType:
    if not colour:
        return Text(query.rstrip())

    return Syntax(query.rstrip(), "sparql", theme="ansi_dark", background_color="default")


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


def _field(name: str, value: str) -> Text:
    return Text.assemble((f"{name}  ", "bold"), value)
