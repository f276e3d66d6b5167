"""An outcome as a message in Markdown: answer, reading, confidence, query and evidence.

Whatever the texts of a graph say, they stay text: no label can make a link, an image, an emphasis,
a formula, HTML, or another row of a table.
"""

import re
from collections.abc import Iterator, Sequence

from pyoxigraph import NamedNode

from askgraph.explanation.verbalise import confidence_in_words
from askgraph.rdf.labels import words_of_local_name
from askgraph.serve.protocols.openai.conversation import marker
from askgraph.sparql.results import Term, value_of
from askgraph.trace import Answer, Clarification, Outcome, Refusal

_ROWS, _COLUMNS = 20, 8
_EVIDENCE, _LINES = 3, 4
_WORDS = 1_000
_SIGNS = re.compile(r"([\\`*_\[\]<>|~&$#^{}])")
_ADDRESS = re.compile(r"(?<=\w)@(?=\w)|:(?=//)|(?<=www)\.", re.IGNORECASE)
_START = re.compile(r"^(\d{1,9})([.)])|^([-+=!:])")
_LONGEST = 200


def message_parts(outcome: Outcome, run: str) -> list[str]:
    """Return the paragraphs of a message, in Markdown; the last one marks the run."""
    match outcome:
        case Answer():
            parts = list(_answer(outcome))
        case Clarification(question=question, options=options):
            readings = [
                f"{number}. {plain(one.words, _WORDS)} ({_counted(one.count)})"
                for number, one in enumerate(options, 1)
            ]
            parts = [plain(question, _WORDS), "\n".join(readings)]
            parts.append("Answer with a number, or ask in other words.")
        case Refusal(reason=reason, best=best):
            parts = [f"No answer. {plain(reason, _WORDS)}"]
            if best is not None:
                parts += ["The best attempt:", *_answer(best)]
    return [*parts, marker(run)]


def _answer(answer: Answer) -> Iterator[str]:
    yield from _result(answer)
    if answer.interpretation:
        yield plain(answer.interpretation, _WORDS)
    if answer.cut_short:
        yield f"**Cut short:** {plain(answer.cut_short, _WORDS)}; this is the best so far."
    if answer.words:
        yield f"**Read as:** {plain(answer.words, _WORDS)}"
    if answer.confirmed:
        yield f"**Confirmed** as the answer to: {plain(answer.confirmed.question, _WORDS)}"
    yield f"**Confidence:** {confidence_in_words(answer.confidence)}"
    yield f"**Query** on {plain(answer.graph)}:\n\n{code_block(answer.query, 'sparql')}"
    evidence = [
        f"- row {piece.row + 1}: {plain(line)}"
        for piece in answer.evidence[:_EVIDENCE]
        for line in piece.words[:_LINES]
    ]
    if evidence:
        yield "**Evidence:**\n\n" + "\n".join(evidence)


def _result(answer: Answer) -> Iterator[str]:
    rows, variables = answer.result.rows, answer.result.variables
    if answer.boolean is not None:
        yield "**Yes**" if answer.boolean else "**No**"
    elif not rows:
        yield "Nothing was found."
    elif len(rows) == 1 and len(variables) == 1:
        yield f"**{_cell(rows[0][0], answer)}**"
    else:
        columns = [plain(name.replace("_", " ")) for name in variables[:_COLUMNS]]
        cells = [[_cell(term, answer) for term in row[:_COLUMNS]] for row in rows[:_ROWS]]
        yield table(columns, cells)
        if len(rows) > _ROWS:
            yield f"… and {len(rows) - _ROWS:,} more rows."
        if len(variables) > _COLUMNS:
            yield f"… and {len(variables) - _COLUMNS} more columns."
    if answer.why_empty:
        yield plain(answer.why_empty, _WORDS)
    if answer.result.truncated:
        yield f"Cut off: {plain(answer.result.truncated.reason, _WORDS)}"


def _cell(term: Term | None, answer: Answer) -> str:
    if isinstance(term, NamedNode):
        label = answer.labels.get(term.value) or words_of_local_name(term.value) or term.value
        return link(label, term.value)
    return plain(value_of(term) or "")


def _counted(rows: int) -> str:
    return "1 row" if rows == 1 else f"{rows:,} rows"


def plain(text: str, most: int = _LONGEST) -> str:
    """Return a text on one line that Markdown shows as it is, of at most `most` characters."""
    line = "".join(sign if sign.isprintable() else " " for sign in text)
    line = " ".join(line.split())
    if len(line) > most:
        line = f"{line[: most - 1]}…"
    line = _SIGNS.sub(r"\\\1", line)
    line = _ADDRESS.sub(lambda sign: f"\\{sign[0]}", line)
    return _START.sub(_kept_at_start, line)


def link(text: str, iri: str) -> str:
    """Return a link, for an address of the web; else the text alone."""
    if not re.fullmatch(r"https?://[^\s<>\\|`]+", iri, re.IGNORECASE):
        return plain(text)
    return f"[{plain(text)}](<{iri}>)"


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table of cells that are Markdown already."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def code_block(text: str, language: str) -> str:
    """Return a block of code that nothing within it can end."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def _kept_at_start(found: "re.Match[str]") -> str:
    return f"{found[1]}\\{found[2]}" if found[1] else f"\\{found[3]}"
