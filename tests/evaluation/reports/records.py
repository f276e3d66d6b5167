"""Records of a run, made by hand: what is said of one is all that differs from a right answer."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from askgraph.evaluation import Score, runs

SPACE = "http://example.org/space/"
GOLD = f"SELECT ?moon {{ ?moon <{SPACE}orbits> <{SPACE}Mars> }}"

RIGHT = runs.Record(
    id="q1",
    question="Which moons does Mars have?",
    status="answer",
    confidence=0.9,
    scores={},
    seconds=0.25,
    sparql=GOLD,
    gold_sparql=GOLD,
    benchmark="space",
    graph="space",
    method="graph-search",
    form="SELECT",
    patterns=1,
    executed=True,
)


def same(f1: float, **others: float) -> dict[str, Score]:
    """Scores with this F1, and others by name, each with equal precision and recall."""
    values = {"best_column": f1, "flattened": f1, "exact_match": float(f1 == 1), **others}
    return {name: Score(value, value, value) for name, value in values.items()}


def record(identity: str = "q1", f1: float = 1.0, **different: object) -> runs.Record:
    """A record with this F1 (best column), right in all else that is not said."""
    values: dict[str, object] = {"id": identity, "scores": same(f1), **different}
    return replace(RIGHT, **values)  # type: ignore[arg-type]


def run_of(
    *records: runs.Record, name: str = "run", planned: int | None = None, **settings: object
) -> runs.EvaluationRun:
    """A run in memory that holds these records."""
    known = {"askgraph": "0.1.0", "created": "2025-01-01T00:00:00Z", "options": {}}
    count = len(records) if planned is None else planned
    return runs.EvaluationRun(name, records, {**known, "planned": count, **settings})


def written(
    folder: Path, run: runs.EvaluationRun, details: Sequence[runs.QuestionDetail] = ()
) -> Path:
    """Write a run to a folder as `askgraph evaluate` does; return the folder."""
    folder.mkdir(parents=True)
    (folder / runs.SETTINGS_FILE).write_text(json.dumps(dict(run.settings)))
    (folder / runs.RECORDS_FILE).write_text(_lines([record.to_json() for record in run.records]))
    (folder / runs.TRACES_FILE).write_text(_lines([detail.to_json() for detail in details]))
    return folder


def _lines(objects: Sequence[Mapping[str, object]]) -> str:
    return "".join(json.dumps(line) + "\n" for line in objects)
