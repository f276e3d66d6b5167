"""Questions as lines of our own `questions.jsonl`: what is read back is the same question."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from askgraph.evaluation.questions import GoldQuestion
from askgraph.evaluation.values import Table
from askgraph.evaluation.whole_file import write_lines
from askgraph.sparql.comparison import Cell
from askgraph.sparql.lexer import with_declared

__all__ = ["question_object", "write_questions"]

Json = dict[str, object]

UNANSWERABLE = "unanswerable"


def question_object(question: GoldQuestion, *, prefixes: Mapping[str, str] | None = None) -> Json:
    """Return a question as a line holds it; `prefixes` that its query leaves open are declared.

    What the format has no place for is left out: entities, predicates and paraphrases.
    """
    tags = list(question.tags)
    if question.unanswerable and UNANSWERABLE not in tags and question.sparql is not None:
        tags.append(UNANSWERABLE)
    query = question.sparql and with_declared(question.sparql, prefixes or {})
    line: Json = {
        "id": question.id,
        "question": question.text,
        "lang": question.language,
        "sparql": query,
        "answers": question.answers and _answers(question.answers),
        "tags": tags,
        "kg": question.graph,
        "split": question.split,
    }
    kept = {key: value for key, value in line.items() if value not in (None, [])}
    return {**kept, "sparql": None} if question.unanswerable and query is None else kept


def write_questions(
    path: Path, questions: Sequence[GoldQuestion], *, prefixes: Mapping[str, str] | None = None
) -> None:
    """Write a file of questions, all or nothing; `SetupError` where it cannot be written."""
    write_lines(path, [question_object(question, prefixes=prefixes) for question in questions])


def _answers(table: Table) -> Json:
    if table.boolean is not None:
        return {"boolean": table.boolean}
    rows = [[_value(cell) for cell in row] for row in table.rows]
    return {"vars": list(table.variables), "rows": rows}


def _value(cell: Cell | None) -> str | int | float | bool | None:
    if cell is None:
        return None
    kind, value = cell
    return value == "true" if kind == "boolean" else value
