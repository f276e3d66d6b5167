"""Encode an answer as one JSON object: the stable form for scripts, servers and evaluation.

    {"status": "answer", "sparql": "SELECT …", "columns": ["moon"], "rows": [["http://…/Io"]],
     "answer_columns": ["moon"], "confidence": 0.9, "words": "…", "seconds": 0.02, "usage": {…}, …}

All keys are always present. Keys may be added, but are never renamed or removed.
"""

import math
from dataclasses import asdict, replace
from decimal import Decimal

from pyoxigraph import Literal

from askgraph.sparql import vocabulary as voc
from askgraph.sparql.results import SelectResult, Term, Truncation, to_plain_value
from askgraph.trace import Answer, Clarification, Outcome, Refusal, get_attempt

Json = dict[str, object]

_MAX_SAFE_INTEGER = 2**53 - 1  # larger integers lose digits where all numbers are floats
_MAX_FRACTION_DIGITS = 12  # with more, a decimal is taken as a quotient


def to_json_object(outcome: Outcome, *, limit: int | None = None) -> Json:
    """Return an outcome as a JSON object; for a clarification or refusal, of the best attempt.

    With `limit`, further rows are omitted with their labels, and `truncated` reports that.

    docs/command-line.md explains all keys. Numbers with more digits than a float holds are strings,
    unbound cells are null, and an ASK query gives one column `answer`.
    """
    best = get_attempt(outcome)
    return {
        "status": get_status(outcome),
        **(_encode_answer(_limit_rows(best, limit)) if best else _encode_no_attempt()),
        "clarification": outcome.question if isinstance(outcome, Clarification) else None,
        "options": list(map(asdict, outcome.options)) if isinstance(outcome, Clarification) else [],
        "reason": outcome.reason if isinstance(outcome, Refusal) else None,
        "missing": [
            {"words": unknown.words, "names": list(unknown.names)}
            for unknown in (() if isinstance(outcome, Answer) else outcome.missing)
        ],
        "other_graphs": list(outcome.other_graphs),
        "answered_by": asdict(outcome.answered_by) if outcome.answered_by else None,
        "seconds": round(outcome.usage.seconds, 6),
        "usage": {name: cost for name, cost in asdict(outcome.usage).items() if name != "seconds"},
    }


def get_status(outcome: Outcome) -> str:
    """Return `answer`, `clarification` or `refusal`."""
    match outcome:
        case Answer():
            return "answer"
        case Clarification():
            return "clarification"
        case Refusal():
            return "refusal"


def to_json_value(term: Term | None) -> str | int | float | bool | None:
    """Return a term as a JSON value; a literal that JSON or its datatype cannot hold stays text."""
    text = to_plain_value(term)
    if text is None or not isinstance(term, Literal):
        return text
    datatype = term.datatype.value
    try:
        if datatype in voc.INTEGER_DATATYPES:
            return int(text) if abs(int(text)) <= _MAX_SAFE_INTEGER else text
        if datatype in voc.NUMERIC_DATATYPES:
            number = float(text)
            is_exact = datatype != voc.XSD_DECIMAL or _is_exact(text, number)
            return number if math.isfinite(number) and is_exact else text
    except ValueError:
        return text
    if datatype == voc.XSD_BOOLEAN and text in ("true", "1", "false", "0"):
        return text in ("true", "1")
    return text


def _is_exact(text: str, number: float) -> bool:
    """Return whether a float keeps all digits of a decimal; a quotient may lose the last ones."""
    fraction = text.partition(".")[2]
    return len(fraction) > _MAX_FRACTION_DIGITS or Decimal(repr(number)) == Decimal(text)


def _limit_rows(answer: Answer, limit: int | None) -> Answer:
    rows = answer.result.rows
    if limit is None or len(rows) <= limit:
        return answer
    earlier_cut = (
        f", and these are not all: {truncation.reason}"
        if (truncation := answer.result.truncated)
        else ""
    )
    new_truncation = Truncation(
        "askgraph", f"the first {limit:,} of {len(rows):,} rows{earlier_cut}"
    )
    limited = replace(answer.result, rows=rows[:limit], truncated=new_truncation)
    context = replace(answer.context, rows=answer.context.rows[:limit])
    evidence = tuple(piece for piece in answer.evidence if piece.row < limit)
    visible = {str(term) for row in rows[:limit] for term in row}
    visible.update(term for piece in evidence for triple in piece.triples for term in triple)
    omitted = {str(term) for row in rows[limit:] for term in row} - visible
    labels = {iri: label for iri, label in answer.labels.items() if f"<{iri}>" not in omitted}
    return replace(answer, result=limited, context=context, evidence=evidence, labels=labels)


def _encode_answer(answer: Answer) -> Json:
    truncation = answer.result.truncated
    columns: list[str] = list(answer.result.variables)
    rows = [[to_json_value(term) for term in row] for row in answer.result.rows]
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
        "context": {
            "columns": list(answer.context.variables),
            "rows": [[to_json_value(term) for term in row] for row in answer.context.rows],
        },
        "ordered": answer.ordered,
        "confidence": None if answer.chosen else answer.confidence,
        "chosen": answer.chosen,
        "words": answer.words,
        "sentence": answer.sentence,
        "unused_words": list(answer.unused_words),
        "interpretation": answer.interpretation or None,
        "labels": dict(answer.labels),
        "units": dict(answer.units),
        "evidence": [
            {
                "row": evidence.row,
                "triples": [list(triple) for triple in evidence.triples],
                "words": list(evidence.words),
            }
            for evidence in answer.evidence
        ],
        "why_empty": answer.why_empty,
        "truncated": {"by": truncation.by, "reason": truncation.reason} if truncation else None,
        "cut_short": answer.cut_short,
        "confirmed": asdict(answer.confirmed) if answer.confirmed else None,
    }


def _encode_no_attempt() -> Json:
    empty_answer = Answer("", "", SelectResult((), ()), (), "", 0.0)
    return {**_encode_answer(empty_answer), "sparql": None, "graph": None}
