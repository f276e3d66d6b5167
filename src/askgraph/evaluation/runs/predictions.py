"""Answers of other systems: read from JSON lines, QALD or TEXT2SPARQL files, and scored like ours.

A line has `id` and at least one of `sparql` (or `query`) and `answers`:

    {"id": "q1", "sparql": "SELECT …", "confidence": 0.8, "seconds": 1.5, "method": "ours",
     "usage": {"llm_calls": 2, "input_tokens": 900, "output_tokens": 60}}
    {"id": "q2", "answers": {"vars": ["moon"], "rows": [["http://example.org/Io"]]}}
    {"id": "q3", "answers": {"head": {"vars": ["n"]}, "results": {"bindings": [
     {"n": {"type": "literal", "value": "2"}}]}}}
    {"id": "q4", "sparql": null, "error": "no answer within 60 s"}

`sparql` null and no answers is a refusal, with `error` a failure. `method` and `repeat` tell apart
several answers to one question. Lines of `askgraph batch` are such lines. A QALD file has
`questions` with `id`, `answers` and `query`; a TEXT2SPARQL result set is one object
`{id: {value: 1, …}}`, if `{"true": 0}` is "no".
"""

import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path

from askgraph.endpoint import Endpoint
from askgraph.errors import SetupError
from askgraph.evaluation import Table
from askgraph.evaluation.benchmarks.formats import (
    Record,
    Unfit,
    lines,
    numbered,
    objects_in,
    query_in,
    stored_table,
    table_of_result,
    text_in,
    text_of,
)
from askgraph.evaluation.questions import query_table
from askgraph.evaluation.runs import Done, Task
from askgraph.evaluation.runs.scores import done_task, judged, link_scores
from askgraph.trace import Usage

STATUSES = ("answer", "clarification", "refusal", "error")
USAGE = tuple(part.name for part in fields(Usage) if part.name != "seconds")


@dataclass(frozen=True)
class Prediction:
    """What a system said to one question: a query, an answer, both, or neither.

    `answers` counts if it is there; else the query is run. `status` is as in a `Record`.
    """

    id: str
    sparql: str | None = None
    answers: Table | None = None
    status: str = "answer"
    confidence: float | None = None
    usage: Usage = field(default_factory=Usage)
    method: str | None = None
    repeat: int = 0
    error: str | None = None

    @property
    def key(self) -> tuple[str | None, int, str]:
        """What no two predictions of a file share."""
        return self.method, self.repeat, self.id


def read_predictions(path: Path) -> tuple[Prediction, ...]:
    """Read a file of predictions, in file order, whichever of the formats it has.

    Raises `SetupError`, with the line or item, for what is no prediction and for one that is there
    twice.
    """
    if not path.exists():
        raise SetupError(f"there is no file {str(path)!r}: name one as 'askgraph batch' writes it")
    places: dict[tuple[str | None, int, str], str] = {}
    predictions: list[Prediction] = []
    records, read = _records(path)
    for place, record in records:
        try:
            if isinstance(record, str):
                raise Unfit(record)
            prediction = read(record)
        except Unfit as reason:
            raise SetupError(f"{place}: {reason}") from reason
        if prediction.key in places:
            raise SetupError(
                f"{place}: there is a prediction for {prediction.id!r} already, "
                f"{places[prediction.key]}; give them different 'method' or 'repeat'"
            )
        places[prediction.key] = place
        predictions.append(prediction)
    if not predictions:
        raise SetupError(f"{path} holds no predictions")
    return tuple(predictions)


def _records(
    path: Path,
) -> tuple[Iterable[tuple[str, Record | str]], Callable[[Record], Prediction]]:
    """Return each record with its place, and the function that reads it."""
    try:
        content = json.loads(text_of(path))
    except ValueError:
        content = None
    match content:
        case {"questions": list(items)}:
            return numbered(path, items), _read_qald
        case dict() if "id" not in content:
            pairs = ({"id": name, "values": values} for name, values in content.items())
            return ((f"{path}, {pair['id']!r}", pair) for pair in pairs), _read_values
        case list(items):
            return numbered(path, items), _read_line
        case _:
            return lines(path), _read_line


def _read_line(record: Record) -> Prediction:
    if not any(key in record for key in ("sparql", "query", "answers", "columns", "error")):
        raise Unfit("it has none of 'sparql', 'query' and 'answers'")
    sparql = query_in(record, "sparql") or query_in(record, "query")
    answers = _batch_table(record) if "columns" in record else stored_table(record.get("answers"))
    error = text_in(record, "error")
    status = record.get("status", "answer" if sparql or answers else "refusal")
    if status not in STATUSES:
        raise Unfit(f"'status' is one of {', '.join(STATUSES)}, not {status!r}")
    confidence = _number(record, "confidence")
    if confidence is not None and confidence > 1:
        raise Unfit(f"'confidence' is between 0 and 1, not {confidence}")
    usage = record.get("usage") or {}
    if not isinstance(usage, dict) or not usage.keys() <= set(USAGE):
        raise Unfit(f"'usage' is an object with some of {', '.join(USAGE)}")
    counts = {key: _number(usage, key) or 0 for key in USAGE}
    return Prediction(
        _identity(record),
        sparql,
        answers,
        "error" if error else str(status),
        confidence,
        Usage(seconds=_number(record, "seconds") or 0.0, **counts),  # type: ignore[arg-type]
        text_in(record, "method"),
        int(_number(record, "repeat") or 0),
        error,
    )


def _read_qald(record: Record) -> Prediction:
    sparql, answers = query_in(record, "query"), objects_in(record, "answers")
    table = table_of_result(answers[0]) if answers else None
    status = "answer" if sparql or table else "refusal"
    return Prediction(_identity(record), sparql, table, status)


def _read_values(record: Record) -> Prediction:
    identity = str(record["id"])
    match record["values"]:
        case None:
            return Prediction(identity, status="refusal")
        case {"true": int(truth), **others} if not others:
            return Prediction(identity, answers=Table.of_boolean(bool(truth)))
        case dict(values):
            return Prediction(identity, answers=Table.of_json(["value"], [[v] for v in values]))
        case _:
            raise Unfit("expected an object whose keys are the values")


def _identity(record: Record) -> str:
    value = record.get("id")
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        raise Unfit("no 'id'")
    return str(value)


def _number(record: Record, key: str) -> float | None:
    value = record.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float | None):
        raise Unfit(f"{key!r} must be a number")
    if value is not None and not 0 <= value < math.inf:
        raise Unfit(f"{key!r} must be 0 or more, not {value}")
    return value


def _batch_table(record: Record) -> Table | None:
    """Return the rows of a line of `askgraph batch`, if they are all there."""
    match record:
        case {"truncated": dict()} | {"sparql": None}:
            return None
        case {"boolean": bool(truth)}:
            return Table.of_boolean(truth)
        case {"columns": list(names), "rows": list(rows)}:
            table = Table.of_json([str(name) for name in names], rows)
            given = record.get("answer_columns")
            kept = [name for name in table.variables if isinstance(given, list) and name in given]
            return replace(table, answering=tuple(kept))
        case _:
            raise Unfit("'columns' and 'rows' must be lists")


NO_PREDICTION = "no prediction"


async def scored(
    task: Task,
    prediction: Prediction | None,
    endpoint: Endpoint | None,
    *,
    graph: str = "",
    prefixes: Mapping[str, str] | None = None,
) -> Done:
    """Score what was predicted for the question of a task; None scores 0, as "no prediction".

    Without an endpoint, gold and prediction must both be stored answers. An answer without a
    confidence counts as sure. Raises `SetupError`, and `Unreachable` and `Unauthorised` if gold
    cannot be had.
    """
    said = prediction or Prediction(task.question.id, status="error", error=NO_PREDICTION)
    known = {**dict(task.prefixes), **(prefixes or {})}
    asks = said.sparql if said.answers is None else None
    if asks is not None and endpoint is None:
        raise SetupError(
            f"the prediction for {said.id!r} is a query and no answer: name the graph to run "
            "it on with -g"
        )

    async def predicted() -> Table | None:
        if asks is None or endpoint is None:
            return said.answers
        timeout = task.options.gold_timeout
        return await query_table(asks, endpoint, prefixes=known, timeout=timeout)

    found = await judged(task, said.status, predicted, endpoint, known)
    if said.sparql is not None or said.answers is None:
        counts = said.status == "answer" or not task.options.abstain
        linked = link_scores(said.sparql if counts else None, task.question.sparql, prefixes=known)
        found = replace(found, scores={**found.scores, **linked})
    sure = float(said.status == "answer")
    return done_task(
        task,
        found,
        status=said.status,
        confidence=sure if said.confidence is None else said.confidence,
        sparql=said.sparql,
        usage=said.usage,
        seconds=said.usage.seconds,
        graph=graph,
        prefixes=known,
        error=said.error,
    )
