"""The answer as one JSON object: the stable form for scripts, servers, records and evaluation.

    {"status": "answer", "sparql": "SELECT …", "columns": ["moon"], "rows": [["http://…/Io"]],
     "answer_columns": ["moon"], "confidence": 0.9, "words": "…", "seconds": 0.02, "usage": {…}, …}

All keys are always there. Keys may be added, none is renamed or taken away.
"""

import math
from dataclasses import asdict, replace

from pyoxigraph import Literal

from askgraph.sparql import vocabulary as voc
from askgraph.sparql.results import SelectResult, Term, Truncation, value_of
from askgraph.trace import Answer, Clarification, Outcome, Refusal, Usage, attempt_of

Json = dict[str, object]


def answer_object(outcome: Outcome, *, limit: int | None = None) -> Json:
    """Return an outcome as a JSON object; for a question back or a refusal, the best attempt's.

    With `limit`, rows beyond it are left out, and `truncated` says so.

    - `status`: `answer`, `clarification` or `refusal`;
    - `sparql`: the query, or null if there was no attempt;
    - `columns`, `rows`: plain values (IRIs and texts as strings, numeric literals as numbers,
      booleans as true and false, unbound as null); an ASK query gives one column `answer`;
    - `boolean`: the answer of an ASK query, else null;
    - `answer_columns`: the columns that answer; the others are context;
    - `ordered`: whether the order of the rows is part of the answer;
    - `confidence`: 0 to 1, null if a person has `chosen` or written the query;
    - `words`: the query read back; `graph`: the graph it ran on;
    - `sentence`: the result in a sentence, with the values that decided; empty if it has none;
    - `unused_words`: words of the question that the query leaves out, if the method knows;
    - `interpretation`: null, or a language model's words about the result;
    - `labels`: IRI to label; `evidence`: the triples behind rows; `why_empty`: text or null;
    - `truncated`: null, or by whom and why the rows were cut off;
    - `cut_short`: null, or why the run ended before the method was done;
    - `confirmed`: null, or for a query that was confirmed before: the `question` as it was asked
      then, `when`, `by`, `example` (its IRI) and how the result differs now (`change`);
    - `clarification`: the question back, with `options`; `reason`: why it was refused;
    - `missing`: `words` that the graph knows nothing by, each with `names` to put there instead;
    - `seconds`; `usage`: SPARQL requests, language-model calls, tokens and money.
    """
    best = attempt_of(outcome)
    return {
        "status": status_of(outcome),
        **(_attempt(_cut(best, limit)) if best else _no_attempt()),
        "clarification": outcome.question if isinstance(outcome, Clarification) else None,
        "options": _options(outcome),
        "reason": outcome.reason if isinstance(outcome, Refusal) else None,
        "missing": [
            {"words": one.words, "names": list(one.names)}
            for one in (() if isinstance(outcome, Answer) else outcome.missing)
        ],
        "seconds": round(outcome.usage.seconds, 6),
        "usage": _usage(outcome.usage),
    }


def status_of(outcome: Outcome) -> str:
    """Return `answer`, `clarification` or `refusal`."""
    match outcome:
        case Answer():
            return "answer"
        case Clarification():
            return "clarification"
        case Refusal():
            return "refusal"


def plain_value(term: Term | None) -> str | int | float | bool | None:
    """Return a term as a JSON value; a literal that JSON or its datatype cannot hold stays text."""
    text = value_of(term)
    if text is None or not isinstance(term, Literal):
        return text
    datatype = term.datatype.value
    try:
        if datatype in voc.INTEGER_DATATYPES:
            return int(text)
        if datatype in voc.NUMERIC_DATATYPES:
            number = float(text)
            return number if math.isfinite(number) else text
    except ValueError:
        return text
    if datatype == voc.XSD_BOOLEAN and text in ("true", "1", "false", "0"):
        return text in ("true", "1")
    return text


def _cut(answer: Answer, limit: int | None) -> Answer:
    rows = answer.result.rows
    if limit is None or len(rows) <= limit:
        return answer
    before = f", and these are not all: {was.reason}" if (was := answer.result.truncated) else ""
    cut = Truncation("askgraph", f"the first {limit:,} of {len(rows):,} rows{before}")
    kept = replace(answer.result, rows=rows[:limit], truncated=cut)
    evidence = tuple(piece for piece in answer.evidence if piece.row < limit)
    return replace(answer, result=kept, evidence=evidence)


def _attempt(answer: Answer) -> Json:
    cut = answer.result.truncated
    columns: list[str] = list(answer.result.variables)
    rows = [[plain_value(term) for term in row] for row in answer.result.rows]
    answer_columns = list(answer.answer_columns)
    if answer.boolean is not None:
        columns, rows, answer_columns = ["answer"], [[answer.boolean]], ["answer"]
    return {
        "sparql": answer.query,
        "graph": answer.graph,
        "columns": columns,
        "rows": rows,
        "boolean": answer.boolean,
        "answer_columns": answer_columns,
        "ordered": answer.ordered,
        "confidence": None if answer.chosen else answer.confidence,
        "chosen": answer.chosen,
        "words": answer.words,
        "sentence": answer.sentence,
        "unused_words": list(answer.unused_words),
        "interpretation": answer.interpretation or None,
        "labels": dict(answer.labels),
        "evidence": [
            {
                "row": evidence.row,
                "triples": [list(triple) for triple in evidence.triples],
                "words": list(evidence.words),
            }
            for evidence in answer.evidence
        ],
        "why_empty": answer.why_empty,
        "truncated": {"by": cut.by, "reason": cut.reason} if cut else None,
        "cut_short": answer.cut_short,
        "confirmed": asdict(answer.confirmed) if answer.confirmed else None,
    }


def _no_attempt() -> Json:
    nothing = Answer("", "", SelectResult((), ()), (), "", 0.0)
    return {**_attempt(nothing), "sparql": None, "graph": None}


def _options(outcome: Outcome) -> list[Json]:
    return list(map(asdict, outcome.options)) if isinstance(outcome, Clarification) else []


def _usage(usage: Usage) -> Json:
    return {name: cost for name, cost in asdict(usage).items() if name != "seconds"}
