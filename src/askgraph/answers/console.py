"""Outcomes and results as text for people: tables, sentences and evidence for a console."""

import io
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from pyoxigraph import Literal, NamedNode
from rich import box
from rich.console import Console, RenderableType
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from askgraph.answers.verbalize import confidence_in_words
from askgraph.sparql.prefixes import PrefixMap
from askgraph.sparql.results import SelectResult, Term, value_of
from askgraph.sparql.vocabulary import NUMERIC_DATATYPES
from askgraph.trace import Answer, Clarification, Confirmed, Evidence, Outcome, Refusal

_EVIDENCE_ROWS = 3
_EVIDENCE_TRIPLES = 6


def shown(
    outcome: Outcome, prefixes: PrefixMap, *, limit: int | None = None, colour: bool = False
) -> Iterator[RenderableType]:
    """Yield what to print for an outcome: the answer first, then what it takes to trust it."""
    match outcome:
        case Answer():
            yield from _answer(outcome, prefixes, limit, colour)
        case Clarification():
            yield Text(outcome.question, style="bold")
            yield ""
            grid = Table.grid(padding=(0, 2))
            grid.add_column(justify="right")
            grid.add_column(overflow="fold")
            for number, option in enumerate(outcome.options, 1):
                rows = f"  ({counted(option.count, 'row')})"
                grid.add_row(f"  {number}", Text.assemble(option.words, (rows, "dim")))
            yield grid
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
    answer: Answer, prefixes: PrefixMap, limit: int | None, colour: bool
) -> Iterator[RenderableType]:
    result = answer.result
    if answer.sentence:
        yield Text(plain(answer.sentence), style="bold")
    yield from _rows(answer, prefixes, limit)
    if answer.why_empty:
        yield Text(answer.why_empty)
    if result.truncated:
        by = "askgraph" if result.truncated.by == "askgraph" else "the server"
        yield Text(f"Cut off by {by}: {result.truncated.reason}", style="yellow")
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


def _rows(answer: Answer, prefixes: PrefixMap, limit: int | None) -> Iterator[RenderableType]:
    """What the sentence leaves to say: all if there is none, else a table, or a thing's IRI."""
    result, is_said = answer.result, bool(answer.sentence)
    if answer.boolean is not None:
        yield from () if is_said else [Text("Yes" if answer.boolean else "No", style="bold")]
    elif not result.rows:
        yield from () if is_said else [Text("Nothing found.", style="bold")]
    elif len(result.rows) == 1 and len(answer.answer_columns) == 1:
        if not is_said or isinstance(result.rows[0][0], NamedNode):
            row = dict(zip(answer.result.variables, answer.result.rows[0], strict=True))
            value = row.pop(answer.answer_columns[0])
            yield Text.from_markup(f"[bold]{cell(value, prefixes, answer.labels)}[/bold]")
            for variable, term in row.items():
                text = cell(term, prefixes, answer.labels)
                yield Text.from_markup(f"[dim]{escape(variable.replace('_', ' '))}:[/dim] {text}")
    else:
        context = [v for v in result.variables if v not in answer.answer_columns]
        yield result_table(result, prefixes, answer.labels, context=context, limit=limit)
        if limit is not None and len(result.rows) > limit:
            yield Text(f"… and {len(result.rows) - limit:,} more rows (--limit)", style="dim")


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


def plain(text: str) -> str:
    """Return a text on one line, without anything that a terminal would obey."""
    return "".join(sign if sign.isprintable() else " " for sign in text)


def plain_text(blocks: Iterable[RenderableType], *, width: int) -> str:
    """Return blocks as text without colours or spaces at the ends of lines."""
    text = io.StringIO()
    screen = Console(file=text, width=width, highlight=False, color_system=None)
    for block in blocks:
        screen.print(block)
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines())


def counted(number: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def listing(
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    right: Collection[str] = (),
    dim: Collection[str] = (),
) -> Table:
    """Return a table of texts, those under the heads in `right` aligned to the right."""
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


def result_table(
    result: SelectResult,
    prefixes: PrefixMap,
    labels: Mapping[str, str],
    *,
    context: Sequence[str] = (),
    limit: int | None = None,
) -> Table:
    """Return a table of a result; the columns in `context` are dimmed."""
    heads = {name: name.replace("_", " ") for name in result.variables}
    right = [head for name, head in heads.items() if _numeric(result.column(name))]
    shown = listing(tuple(heads.values()), (), right=right, dim=[heads[name] for name in context])
    for row in result.rows[:limit]:
        shown.add_row(*(Text.from_markup(cell(term, prefixes, labels)) for term in row))
    return shown


def cell(term: Term | None, prefixes: PrefixMap, labels: Mapping[str, str]) -> str:
    """Return a term as rich markup: its label with a dimmed short IRI, or its value."""
    if not isinstance(term, NamedNode):
        return escape(value_of(term) or "")
    short = prefixes.shorten(term.value)
    label = labels.get(term.value)
    return f"{escape(label)} [dim]{escape(short)}[/dim]" if label else escape(short)


def _numeric(terms: Iterable[Term | None]) -> bool:
    return all(
        term is None or (isinstance(term, Literal) and term.datatype.value in NUMERIC_DATATYPES)
        for term in terms
    )
