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
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path

from askgraph.endpoint import Endpoint
from askgraph.errors import SetupError
from askgraph.evaluation import Table
from askgraph.evaluation.benchmarks.formats import Unfit, table_of_result, text_of
from askgraph.evaluation.questions import query_table
from askgraph.evaluation.runs import Done, Task
from askgraph.evaluation.runs.scores import done_task, judged, link_scores
from askgraph.trace import Usage

Line = Mapping[str, object]

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
    found: dict[tuple[str | None, int, str], str] = {}
    predictions: list[Prediction] = []
    for place, record, read in _records(path):
        try:
            prediction = read(record)
        except Unfit as reason:
            raise SetupError(f"{place}: {reason}") from reason
        if prediction.key in found:
            raise SetupError(
                f"{place}: there is a prediction for {prediction.id!r} already, "
                f"{found[prediction.key]}; give them different 'method' or 'repeat'"
            )
        found[prediction.key] = place
        predictions.append(prediction)
    if not predictions:
        raise SetupError(f"{path} holds no predictions")
    return tuple(predictions)


def _records(path: Path) -> Iterator[tuple[str, object, Callable[[object], Prediction]]]:
    """Yield each record with its place and with what reads it."""
    text = text_of(path)
    match _whole(text):
        case {"questions": list(items)}:
            yield from _numbered(path, "item", items, _of_qald)
        case dict(content) if "id" not in content:
            for pair in content.items():
                yield f"{path}, {pair[0]!r}", pair, _of_values
        case list(items):
            yield from _numbered(path, "item", items, _of_line)
        case _:
            yield from _numbered(path, "line", text.split("\n"), _of_text)


def _numbered(
    path: Path, word: str, items: Sequence[object], read: Callable[[object], Prediction]
) -> Iterator[tuple[str, object, Callable[[object], Prediction]]]:
    for number, item in enumerate(items, start=1):
        if not isinstance(item, str) or item.strip():
            yield f"{path}, {word} {number}", item, read


def _whole(text: str) -> object:
    """Return the content of a file that is one JSON value; None if it is lines."""
    try:
        content: object = json.loads(text)
    except ValueError:
        return None
    return content


def _of_text(line: object) -> Prediction:
    try:
        record = json.loads(str(line))
    except ValueError as error:
        raise Unfit(f"not JSON: {error}") from error
    return _of_line(record)


def _of_line(item: object) -> Prediction:
    record = _object(item)
    if not any(key in record for key in ("sparql", "query", "answers", "columns", "error")):
        raise Unfit("it has none of 'sparql', 'query' and 'answers'")
    sparql = _text(record, "sparql") or _text(record, "query")
    answers = _answers(record)
    error = _text(record, "error")
    status = record.get("status", "answer" if sparql or answers else "refusal")
    if status not in STATUSES:
        raise Unfit(f"'status' is one of {', '.join(STATUSES)}, not {status!r}")
    confidence = _number(record, "confidence")
    if confidence is not None and not 0 <= confidence <= 1:
        raise Unfit(f"'confidence' is between 0 and 1, not {confidence}")
    return Prediction(
        _identity(record),
        sparql,
        answers,
        "error" if error else str(status),
        confidence,
        _usage(record),
        _text(record, "method"),
        int(_number(record, "repeat") or 0),
        error,
    )


def _of_qald(item: object) -> Prediction:
    record = _object(item)
    query, answers = record.get("query"), record.get("answers")
    sparql = _text(_object(query), "sparql") if query else None
    if not isinstance(answers, list | None):
        raise Unfit("'answers' must be a list")
    table = table_of_result(answers[0]) if answers else None
    status = "answer" if sparql or table else "refusal"
    return Prediction(_identity(record), sparql, table, status)


def _of_values(item: object) -> Prediction:
    identity, values = item if isinstance(item, tuple) else ("", None)
    match values:
        case None:
            return Prediction(identity, status="refusal")
        case {"true": int(truth)} if len(values) == 1:
            return Prediction(identity, answers=Table.of_boolean(bool(truth)))
        case dict():
            return Prediction(identity, answers=Table.of_json(["value"], [[v] for v in values]))
        case _:
            raise Unfit("expected an object whose keys are the values")


def _object(item: object) -> Line:
    if not isinstance(item, dict):
        raise Unfit("expected an object")
    return item


def _identity(record: Line) -> str:
    value = record.get("id")
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        raise Unfit("no 'id'")
    return str(value)


def _text(record: Line, key: str) -> str | None:
    value = record.get(key)
    if isinstance(value, dict):
        value = value.get("sparql")
    if not isinstance(value, str | None):
        raise Unfit(f"{key!r} must be text or null")
    return value.strip() or None if value else None


def _number(record: Line, key: str) -> float | None:
    value = record.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float | None):
        raise Unfit(f"{key!r} must be a number")
    if value is not None and not 0 <= value < math.inf:
        raise Unfit(f"{key!r} must be 0 or more, not {value}")
    return value


def _answers(record: Line) -> Table | None:
    if "columns" in record:
        return _of_batch(record)
    answers = record.get("answers")
    match answers:
        case None:
            return None
        case {"vars": list(names), "rows": list(rows)} if all(
            isinstance(row, list) and len(row) == len(names) for row in rows
        ):
            return Table.of_json([str(name) for name in names], rows)
        case {"vars": _} | {"rows": _}:
            raise Unfit("'answers' needs 'vars' and 'rows', each row as long as 'vars'")
        case _:
            return table_of_result(answers)


def _of_batch(record: Line) -> Table | None:
    """Return the rows of a line of `askgraph batch`, if they are all there."""
    match record:
        case {"truncated": dict()} | {"sparql": None}:
            return None
        case {"boolean": bool(truth)}:
            return Table.of_boolean(truth)
        case {"columns": list(names), "rows": list(rows)}:
            table = Table.of_json([str(name) for name in names], rows)
            named = record.get("answer_columns")
            given = named if isinstance(named, list) else []
            return replace(
                table, answering=tuple(name for name in table.variables if name in given)
            )
        case _:
            raise Unfit("'columns' and 'rows' must be lists")


def _usage(record: Line) -> Usage:
    given = record.get("usage") or {}
    seconds = _number(record, "seconds") or 0.0
    if not isinstance(given, dict) or not given.keys() <= set(USAGE):
        raise Unfit(f"'usage' is an object with some of {', '.join(USAGE)}")
    counts = {key: _number(given, key) or 0 for key in USAGE}
    return Usage(seconds=seconds, **counts)  # type: ignore[arg-type]


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
    return done_task(
        task,
        found,
        status=said.status,
        confidence=_confidence(said),
        sparql=said.sparql,
        usage=said.usage,
        seconds=said.usage.seconds,
        graph=graph,
        prefixes=known,
        error=said.error,
    )


def _confidence(said: Prediction) -> float:
    if said.confidence is not None:
        return said.confidence
    return 1.0 if said.status == "answer" else 0.0
