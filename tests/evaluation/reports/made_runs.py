"""Runs made by hand, on the disk as a real one."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from askgraph.evaluation import Score
from askgraph.evaluation.runs import Detail, Record, Run, read_run
from askgraph.trace import Usage

GOLD = """PREFIX ex: <http://example.org/>
SELECT DISTINCT ?moon WHERE {
  ?moon a ex:Moon ;
      ex:orbits ex:Mars .
  FILTER(?radius > 5)
}"""
PREDICTED = """PREFIX ex: <http://example.org/>
SELECT DISTINCT ?x WHERE {
  ?x a ex:Moon ;
      ex:partOf ex:Mars .
  FILTER(?radius > 5)
}"""

RIGHT, HALF, WRONG = Score(1, 1, 1), Score(0.5, 1, 2 / 3), Score(0, 0, 0)

RECORD = Record(
    id="q1",
    question="Which moons orbit Mars?",
    status="answer",
    confidence=0.8,
    scores={"best_column": HALF, "flattened": HALF, "exact_match": WRONG},
    seconds=0.25,
    sparql=PREDICTED,
    gold_sparql=GOLD,
    benchmark="moons",
    graph="space",
    method="search",
    language="en",
    tags=("count",),
    form="SELECT",
    patterns=2,
    executed=True,
    drafts=(2 / 3, 1.0),
    usage=Usage(seconds=0.25, requests=7),
    failure="wrong predicate",
)

STEPS: tuple[dict[str, object], ...] = (
    {
        "step": "findings",
        "mentions": [
            {
                "words": "moons",
                "kind": "class",
                "target": "http://example.org/Moon",
                "label": "moon",
                "score": 0.97,
            }
        ],
        "unused_words": ["which"],
    },
    {"step": "draft", "query": PREDICTED, "score": 0.9, "words": "moons that are part of Mars"},
    {"step": "draft", "query": GOLD, "score": 0.4, "words": "moons that orbit Mars"},
    {
        "step": "prompt",
        "purpose": "question",
        "messages": [{"role": "user", "text": "Which moons orbit Mars?"}],
        "tools": ["execute", "answer"],
    },
    {
        "step": "model_turn",
        "text": "I try it.",
        "reasoning": "Two drafts.",
        "calls": [{"tool": "execute", "arguments": '{"sparql": "SELECT"}'}],
        "finish": "calls",
        "model": "m",
        "usage": {"llm_calls": 1, "input_tokens": 1200, "cached_tokens": 800, "output_tokens": 40},
    },
    {"step": "thought", "text": "The second one reads better.", "usage": {"seconds": 1.25}},
    {
        "step": "tool_use",
        "tool": "execute",
        "arguments": {"sparql": "SELECT ?x { ?x ?y ?z }"},
        "output": "Phobos\nDeimos",
        "seconds": 0.125,
    },
    {"step": "answer", "words": "moons that are part of Mars", "seconds": 0.25},
)


def detail(record: Record, steps: Sequence[Mapping[str, object]] = STEPS) -> Detail:
    """The trace of a record, and two results that differ in a row."""
    moon, other = "http://example.org/Phobos", "http://example.org/Io"
    gold = {"columns": ["moon"], "rows": [[moon]], "n": 1}
    predicted = {"columns": ["x"], "rows": [[moon], [other]], "n": 2}
    known = tuple(dict(step) for step in steps)
    return Detail(record.key, known, predicted, gold, (), ((other,),))


def written_run(
    folder: Path,
    records: Sequence[Record],
    *,
    details: Sequence[Detail] | None = None,
    planned: int | None = None,
    created: str = "2026-01-02T03:04:05Z",
) -> Run:
    """Write a run and read it; each record has a trace unless `details` says otherwise."""
    settings = {
        "askgraph": "0.1.0",
        "created": created,
        "planned": len(records) if planned is None else planned,
        "benchmarks": [{"name": "moons", "questions": len(records)}],
        "methods": [{"name": name} for name in sorted({record.method for record in records})],
    }
    folder.mkdir(parents=True)
    (folder / "run.json").write_text(json.dumps(settings), encoding="utf-8")
    traces = [detail(record) for record in records] if details is None else details
    _write(folder / "records.jsonl", [record.json() for record in records])
    _write(folder / "traces.jsonl", [trace.json() for trace in traces])
    return read_run(folder)


def graded(number: int, *, method: str = "search") -> Record:
    """A record of question `number`: right, in part and wrong in turn."""
    score = (RIGHT, HALF, WRONG)[(number + len(method)) % 3]
    return replace(
        RECORD,
        id=f"q{number}",
        question=f"Question number {number} about moons?",
        method=method,
        scores={"best_column": score, "flattened": score, "exact_match": score},
        confidence=(number * 37 % 100) / 100,
        seconds=0.01 * (1 + number % 50),
        tags=("count",) if number % 2 else ("filter",),
        patterns=1 + number % 4,
        sparql=GOLD if score is RIGHT else PREDICTED,
        failure=None if score is RIGHT else ("wrong entity", "wrong predicate")[number % 2],
    )


def _write(path: Path, lines: Sequence[Mapping[str, object]]) -> None:
    text = "".join(json.dumps(line) + "\n" for line in lines)
    path.write_text(text, encoding="utf-8")
