"""Answers of other systems, read from JSON lines, QALD or TEXT2SPARQL files and scored like ours.

A line has `id` and at least one of `sparql` (or `query`) and `answers`:

    {"id": "q1", "sparql": "SELECT …", "confidence": 0.8, "seconds": 1.5, "method": "ours",
     "usage": {"llm_calls": 2, "input_tokens": 900, "output_tokens": 60}}
    {"id": "q2", "answers": {"vars": ["moon"], "rows": [["http://example.org/Io"]]}}
    {"id": "q3", "answers": {"head": {"vars": ["n"]}, "results": {"bindings": [
     {"n": {"type": "literal", "value": "2"}}]}}}
    {"id": "q4", "sparql": null, "error": "no answer within 60 s"}

`sparql` null without answers is a refusal, with `error` a failure. `method` and `repeat`
distinguish several answers to one question. `published` is the F1 that the authors give it.
`askgraph batch` writes such lines; the outputs of GRASP have `output`, `elapsed` and `messages`,
which are the trace.
A QALD file has `questions` with `id`, `answers` and `query`; a TEXT2SPARQL result set is one
object `{id: {value: 1, …}}`, where `{"true": 0}` means "no"; an evaluation of GRASP is one object
`{id: {"target": …, "prediction": …}}`. Published scores also come from the file that its authors
put beside a file: `NAME.evaluation.json` or `eval.json`. A folder has a file of GRASP, or a folder
with a result set, for each system; a pattern, such as `results/*/ck25_answers.json`, names others.
"""

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from pathlib import Path

from askgraph.endpoint import Endpoint
from askgraph.errors import SetupError
from askgraph.evaluation import ResultTable
from askgraph.evaluation.benchmarks import formats
from askgraph.evaluation.questions import run_query
from askgraph.evaluation.runs import Done, Json, Task
from askgraph.evaluation.runs.one_question import to_step_object
from askgraph.evaluation.runs.scores import build_result, score_answer, score_links
from askgraph.trace import Observation, Thought, ToolUse, Usage

STATUSES = ("answer", "clarification", "refusal", "error")
USAGE_FIELDS = tuple(part.name for part in fields(Usage) if part.name != "seconds")
_ID_KEYS = ("id", "qname", "uid", "_id")  # ours, TEXT2SPARQL's, those of LC-QuAD
_QUERY_KEYS = ("sparql", "query", "sparql_query", "sparql_wikidata")


@dataclass(frozen=True)
class Prediction:
    """A system's answer to one question: a query, a result, both, or neither.

    The query runs only if `answers` is None. `status` is as in a `Record`.
    """

    id: str
    sparql: str | None = None
    answers: ResultTable | None = None
    status: str = "answer"
    confidence: float | None = None
    usage: Usage = field(default_factory=Usage)
    method: str | None = None
    repeat: int = 0
    error: str | None = None
    published: float | None = field(default=None, repr=False)  # the F1 that its authors give
    steps: tuple[Json, ...] = field(default=(), repr=False)  # its trace, as in a `QuestionDetail`

    @property
    def key(self) -> tuple[str | None, int, str]:
        """Unique among the predictions of a file."""
        return self.method, self.repeat, self.id


def read_predictions(path: Path) -> tuple[Prediction, ...]:
    """Read predictions of any format in file order; raise `SetupError` with the line if invalid."""
    if not path.exists() and "*" not in str(path):
        raise SetupError(
            f"there is no file {str(path)!r}: name a file in the format that 'askgraph batch' "
            "writes"
        )
    locations: dict[tuple[str | None, int, str], str] = {}
    predictions: list[Prediction] = []
    for file, method in _find_files(path):
        published = _read_published(file)
        for location, record in _iterate_records(file):
            try:
                if isinstance(record, str):
                    raise formats.UnusableItemError(record)
                prediction = _read_line({"method": method, **record})
            except formats.UnusableItemError as error:
                raise SetupError(f"{location}: {error}") from error
            if prediction.key in locations:
                raise SetupError(
                    f"{location}: {prediction.id!r} has a prediction already, at "
                    f"{locations[prediction.key]}; give them different 'method' or 'repeat'"
                )
            locations[prediction.key] = location
            figure = published.get(prediction.id, prediction.published)
            predictions.append(replace(prediction, published=figure))
    if not predictions:
        raise SetupError(f"{path} contains no predictions")
    return tuple(predictions)


def _find_files(path: Path) -> Iterator[tuple[Path, str | None]]:
    """Yield the files of a folder or a pattern, each with the name of its system, or one file."""
    if path.is_file():
        yield path, None
        return
    folder = next(part for part in (path, *path.parents) if "*" not in str(part))
    pattern = str(path.relative_to(folder))
    for name in ("*.jsonl*", "*/*result_set.json*") if folder == path else (pattern,):
        for file in sorted(folder.glob(name)):
            system = file.parent if "*" in str(Path(name).parent) else file
            yield file, system.name.partition(".json")[0]


def _iterate_records(path: Path) -> Iterable[tuple[str, formats.Record | str]]:
    match _load_json(path):
        case {"questions": list(items)}:
            lines = [
                {"answers": None, **item} if isinstance(item, dict) else item for item in items
            ]
            return formats.number_records(path, lines)
        case dict(content) if content.keys().isdisjoint(_ID_KEYS):
            return ((f"{path}, {name!r}", _to_line(name, item)) for name, item in content.items())
        case list(items):
            return formats.number_records(path, items)
        case _:
            return formats.iterate_json_lines(path)


def _load_json(path: Path) -> object:
    try:
        return json.loads(formats.read_text(path))
    except ValueError:
        return None


def _to_line(name: str, item: object) -> formats.Record | str:
    """Return an item of a TEXT2SPARQL result set or of an evaluation of GRASP as a line."""
    match item:
        case {"target": _, "prediction": dict(prediction)}:
            return {"id": name, "elapsed": None, **prediction}
        case {"target": _}:
            return {"id": name, "sparql": None}
        case None | dict():
            return {"id": name, "sparql": None, "answers": formats.to_stored_answers(item)}
        case _:
            return "expected an object whose keys are the values"


def _read_published(path: Path) -> dict[str, float]:
    """Return the published F1 of questions from a file, or from the scores beside it."""
    stem = re.sub(
        r"((system_|pred_)?result_set|answers)\.json(\.gz)?$|jsonl(\.gz)?$", "", path.name
    )
    endings = ("evaluation.json", "eval.json", "results.json")
    files = (path.with_name(stem + ending) for ending in endings)
    content = _load_json(next(filter(Path.is_file, files), path))
    figures = {}
    for name, scores in content.items() if isinstance(content, dict) else ():
        match scores:
            case {"set_F": float(f1) | int(f1)}:
                figures[name] = f1
            case {"target": {"size": int(size)}, "prediction": {"score": float(f1) | int(f1)}} if (
                size
            ):
                figures[name] = f1  # GRASP leaves out questions with an empty gold answer
    return figures


def _read_line(record: formats.Record) -> Prediction:
    if "elapsed" in record:
        record = _read_grasp_line(record)
    if not any(key in record for key in (*_QUERY_KEYS, "answers", "columns", "error")):
        raise formats.UnusableItemError("it has none of 'sparql', 'query' and 'answers'")
    sparql = next(filter(None, (formats.get_query(record, key) for key in _QUERY_KEYS)), None)
    stored = record.get("answers")
    answers = (
        _parse_batch_table(record)
        if "columns" in record
        else formats.parse_stored_answers(next(iter(stored), None))
        if isinstance(stored, list)
        else formats.parse_stored_answers(stored)
    )
    error = formats.get_text(record, "error")
    status = record.get("status", "answer" if sparql or answers else "refusal")
    if status not in STATUSES:
        raise formats.UnusableItemError(
            f"'status' must be one of {', '.join(STATUSES)}, not {status!r}"
        )
    confidence, published = (_get_number(record, key) for key in ("confidence", "published"))
    if max(confidence or 0, published or 0) > 1:
        raise formats.UnusableItemError(
            f"'confidence' and 'published' must be between 0 and 1, not {confidence}, {published}"
        )
    usage = record.get("usage") or {}
    if not isinstance(usage, dict) or not usage.keys() <= set(USAGE_FIELDS):
        raise formats.UnusableItemError(
            f"'usage' must be an object with some of {', '.join(USAGE_FIELDS)}"
        )
    counts = {key: _get_number(usage, key) or 0 for key in USAGE_FIELDS}
    return Prediction(
        _get_id(record),
        sparql,
        answers,
        "error" if error else str(status),
        confidence,
        Usage(seconds=_get_number(record, "seconds") or 0.0, **counts),  # type: ignore[arg-type]
        formats.get_text(record, "method"),
        int(_get_number(record, "repeat") or 0),
        error,
        published,
        _read_grasp_steps(formats.get_objects(record, "messages")) if "elapsed" in record else (),
    )


def _read_grasp_line(record: formats.Record) -> formats.Record:
    """Return a line of GRASP's outputs as ours; older ones have the query beside the error."""
    output, failure = record.get("output") or {"sparql": record.get("sparql")}, record.get("error")
    turns = [turn.get("role") for turn in formats.get_objects(record, "messages")]
    return {
        **record,
        "sparql": formats.get_query({"output": output}, "output"),
        "error": failure.get("content") if isinstance(failure, dict) else failure,
        "seconds": record["elapsed"],
        "usage": {"llm_calls": turns.count("assistant")},
    }


def _read_grasp_steps(messages: Sequence[formats.Record]) -> tuple[Json, ...]:
    """Return the texts and calls of GRASP's messages; older outputs have the results apart."""
    results = {item.get("tool_call_id"): item.get("content") for item in messages}
    steps: list[Thought | ToolUse] = []
    for message in (item for item in messages if item.get("role") == "assistant"):
        content = message.get("content")
        turn = content if isinstance(content, dict) else {**message, "message": content}
        reply = turn.get("message")
        if text := reply.get("content") if isinstance(reply, dict) else reply:
            steps.append(Thought(str(text)))
        for call in formats.get_objects(turn, "tool_calls"):
            nested = call.get("function")
            function = nested if isinstance(nested, dict) else call
            arguments = function.get("args", function.get("arguments"))
            if isinstance(arguments, str):
                with suppress(ValueError):
                    arguments = json.loads(arguments)
            arguments = arguments if isinstance(arguments, dict) else {"arguments": arguments}
            result = str(call.get("result", results.get(call.get("id"))))
            observation = Observation(result, (), bool(call.get("error")), arguments.get("sparql"))
            seconds = _get_number(call, "elapsed") or 0.0
            steps.append(ToolUse(str(function.get("name")), arguments, observation, seconds))
    return tuple(map(to_step_object, steps))


def _get_id(record: formats.Record) -> str:
    value = next((record[key] for key in _ID_KEYS if key in record), None)
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        raise formats.UnusableItemError("no 'id'")
    return str(value)


def _get_number(record: formats.Record, key: str) -> float | None:
    value = record.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float | None):
        raise formats.UnusableItemError(f"{key!r} must be a number")
    if value is not None and not 0 <= value < math.inf:
        raise formats.UnusableItemError(f"{key!r} must be 0 or more, not {value}")
    return value


def _parse_batch_table(record: formats.Record) -> ResultTable | None:
    """Return the rows of a line of `askgraph batch`; None if they are incomplete."""
    match record:
        case {"truncated": dict()} | {"sparql": None}:
            return None
        case {"boolean": bool(value)}:
            return ResultTable.from_boolean(value)
        case {"columns": list(names), "rows": list(rows)}:
            table = ResultTable.from_json([str(name) for name in names], rows)
            listed = record.get("answer_columns")
            columns = listed if isinstance(listed, list) else []
            return replace(table, answer_columns=tuple(x for x in table.variables if x in columns))
        case _:
            raise formats.UnusableItemError("'columns' and 'rows' must be lists")


NO_PREDICTION_MESSAGE = "no prediction"


async def score_prediction(
    task: Task,
    prediction: Prediction | None,
    endpoint: Endpoint | None,
    *,
    graph: str = "",
    prefixes: Mapping[str, str] | None = None,
) -> Done:
    """Score the prediction for the question of a task; None scores 0, as "no prediction".

    Without an endpoint, gold and prediction must both be stored answers. The default confidence of
    an answer is 1.

    Raises:
        SetupError: The operator must fix something.
        Unreachable: Gold cannot be loaded.
        Unauthorised: Gold cannot be loaded.
    """
    effective = prediction or Prediction(
        task.question.id, status="error", error=NO_PREDICTION_MESSAGE
    )
    all_prefixes = {**dict(task.prefixes), **(prefixes or {})}
    query = effective.sparql if effective.answers is None else None
    if query is not None and endpoint is None:
        raise SetupError(
            f"the prediction for {effective.id!r} is a query without an answer: name the "
            "graph to run it on with -g"
        )

    async def load_prediction() -> ResultTable | None:
        if query is None or endpoint is None:
            return effective.answers
        timeout = task.options.gold_timeout
        return await run_query(query, endpoint, prefixes=all_prefixes, timeout=timeout)

    scored = await score_answer(task, effective.status, load_prediction, endpoint, all_prefixes)
    if effective.sparql is not None or effective.answers is None:
        is_counted = effective.status == "answer" or not task.options.abstain
        linking_scores = score_links(
            effective.sparql if is_counted else None, task.question.sparql, prefixes=all_prefixes
        )
        scored = replace(scored, scores={**scored.scores, **linking_scores})
    default_confidence = float(effective.status == "answer")
    return build_result(
        task,
        scored,
        status=effective.status,
        confidence=default_confidence if effective.confidence is None else effective.confidence,
        sparql=effective.sparql,
        usage=effective.usage,
        seconds=effective.usage.seconds,
        graph=graph,
        prefixes=all_prefixes,
        error=effective.error,
        steps=effective.steps,
    )
