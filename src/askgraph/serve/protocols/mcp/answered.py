"""An outcome as what an agent is told of it."""

from askgraph.answers.codec import status_of
from askgraph.serve.protocols.mcp.bounded import cells, cut_words, labels_shown
from askgraph.serve.protocols.mcp.results import Answered, Reading
from askgraph.serve.protocols.step_words import one_line
from askgraph.trace import Answer, Clarification, Outcome, Refusal, attempt_of

__all__ = ["answered"]

_EVIDENCE, _LINES, _LINE = 5, 6, 300
_LISTED = 5


def answered(outcome: Outcome, *, limit: int) -> Answered:
    """Return an outcome with at most `limit` rows."""
    best = attempt_of(outcome)
    rows = cells(best.result.rows, limit) if best else []
    readings = outcome.options if isinstance(outcome, Clarification) else ()
    labels = labels_shown(rows, best.labels) if best else {}
    return Answered.model_validate(
        {
            "status": status_of(outcome),
            "message": _message(outcome),
            "words": best.words if best else "",
            "confidence": best.confidence if best else 0.0,
            "query": best.query if best else None,
            "graph": best.graph if best else None,
            "columns": list(best.result.variables) if best else [],
            "answer_columns": list(best.answer_columns) if best else [],
            "rows": rows,
            "total": len(best.result.rows) if best else 0,
            "boolean": best.boolean if best else None,
            "labels": labels,
            "evidence": _evidence(best) if best else [],
            "why_empty": best.why_empty if best else None,
            "cut": _cut(best) if best else None,
            "readings": [
                Reading(words=one.words, rows=one.count, query=one.query) for one in readings
            ],
            "confirmed": best.confirmed.question if best and best.confirmed else None,
            "interpretation": (best.interpretation or None) if best else None,
            "seconds": round(outcome.usage.seconds, 3),
        }
    )


def _message(outcome: Outcome) -> str:
    match outcome:
        case Refusal(reason=reason):
            return reason
        case Clarification(question=question):
            return question
        case Answer(boolean=bool() as holds):
            return "yes" if holds else "no"
        case _:
            return _listed(outcome)


def _listed(answer: Answer) -> str:
    """The first values of the columns that answer, by label."""
    rows, variables = answer.result.rows, answer.result.variables
    if not rows:
        return answer.why_empty or "nothing was found"
    at = [variables.index(name) for name in answer.answer_columns if name in variables]
    told = [
        ", ".join(_value(value, answer) for value in cells([tuple(row[n] for n in at)], 1)[0])
        for row in rows[:_LISTED]
    ]
    more = f" and {len(rows) - _LISTED:,} more" if len(rows) > _LISTED else ""
    return "; ".join(told) + more


def _value(value: object, answer: Answer) -> str:
    return one_line(answer.labels.get(value, value) if isinstance(value, str) else str(value))


def _evidence(answer: Answer) -> list[str]:
    return [
        one_line(f"row {piece.row + 1}: {line}", _LINE)
        for piece in answer.evidence[:_EVIDENCE]
        for line in piece.words[:_LINES]
    ]


def _cut(answer: Answer) -> str | None:
    if answer.cut_short:
        return f"{answer.cut_short}; this is the best so far"
    return cut_words(answer.result.truncated)
