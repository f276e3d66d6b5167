"""Runs made by hand, on the disk as a real one."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from tests.evaluation.reports import records

from askgraph.evaluation import Score
from askgraph.evaluation.runs import EvaluationRun, QuestionDetail, Record, read_run
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

RECORD = replace(
    records.RIGHT,
    question="Which moons orbit Mars?",
    confidence=0.8,
    scores={"best_column": HALF, "flattened": HALF, "exact_match": WRONG},
    sparql=PREDICTED,
    gold_sparql=GOLD,
    benchmark="moons",
    method="search",
    language="en",
    tags=("count",),
    patterns=2,
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


def detail(record: Record, steps: Sequence[Mapping[str, object]] = STEPS) -> QuestionDetail:
    """The trace of a record, and two results that differ in a row."""
    moon, other = "http://example.org/Phobos", "http://example.org/Io"
    gold = {"columns": ["moon"], "rows": [[moon]], "n": 1}
    predicted = {"columns": ["x"], "rows": [[moon], [other]], "n": 2}
    known = tuple(dict(step) for step in steps)
    return QuestionDetail(record.key, known, predicted, gold, (), ((other,),))


def written_run(
    folder: Path,
    recorded: Sequence[Record],
    *,
    details: Sequence[QuestionDetail] | None = None,
    planned: int | None = None,
    created: str = "2026-01-02T03:04:05Z",
) -> EvaluationRun:
    """Write a run and read it; each record has a trace unless `details` says otherwise."""
    run = records.run_of(
        *recorded,
        planned=planned,
        created=created,
        benchmarks=[{"name": "moons", "questions": len(recorded)}],
        methods=[{"name": name} for name in sorted({record.method for record in recorded})],
    )
    traces = [detail(record) for record in recorded] if details is None else details
    return read_run(records.written(folder, run, traces))


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
