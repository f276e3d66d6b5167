"""Runs: written, read, stopped and gone on with."""

import asyncio
import json
import resource
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyoxigraph import Literal, NamedNode
from tests.each import for_each

from askgraph.errors import SetupError
from askgraph.evaluation import ResultTable, Score
from askgraph.evaluation.questions import GoldQuestion
from askgraph.evaluation.runs import Done, Record, Task, Worker, read_run
from askgraph.evaluation.runs.one_question import Asker, asked
from askgraph.evaluation.runs.run import RunBudget, evaluate
from askgraph.evaluation.runs.scores import build_detail
from askgraph.sparql.results import SelectResult
from askgraph.trace import Usage

AskerMaker = Callable[[Mapping[str, object]], Asker]

PREFIX = "PREFIX : <http://example.org/> "
MARS = PREFIX + "SELECT ?m { ?m :orbits :Mars }"
ALL = PREFIX + "SELECT ?m { ?m :orbits ?p }"
KNOWN: Mapping[str, object] = {str(n): MARS if n % 2 else ALL for n in range(5)}


def tasks(count: int = 5, *, fingerprint: str = "a") -> list[Task]:
    questions = [GoldQuestion(str(n), str(n), sparql=MARS) for n in range(count)]
    return [Task(q, "moons", "moons.ttl", "lookup", fingerprint=fingerprint) for q in questions]


def worker(ask: Asker, endpoint: Any) -> Worker:
    async def work(task: Task) -> Done:
        return await asked(task, ask, endpoint)

    return work


@pytest.fixture
def work(endpoint: Any, ask_with: AskerMaker) -> Worker:
    return worker(ask_with(KNOWN), endpoint)


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """As if the disk were full at this size of a file."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def timeless(record: Record) -> Record:
    return replace(record, seconds=0)


async def test_going_on_with_a_run(endpoint: Any, ask_with: AskerMaker, tmp_path: Path) -> None:
    # A failure stays in the run.
    known = {**KNOWN, "1": KeyError("bug")}
    run = await evaluate(tasks(), worker(ask_with(known), endpoint))
    assert [record.status for record in run.records] == ["answer", "error", *["answer"] * 3]
    assert run.is_complete

    # A run goes on where it stopped.
    def stop(record: Record, done: int, planned: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    known = dict(KNOWN)
    work = worker(ask_with(known), endpoint)
    with pytest.raises(KeyboardInterrupt):
        await evaluate(tasks(), work, folder=tmp_path / "run", progress=stop)
    half = read_run(tmp_path / "run")
    known["0"] = known["1"] = RuntimeError("asked again")
    again = await evaluate(tasks(), work, folder=tmp_path / "run")
    fresh = await evaluate(tasks(), worker(ask_with(KNOWN), endpoint))
    assert (len(half.records), half.planned_count, half.is_complete) == (2, 5, False)
    assert list(map(timeless, again.records)) == list(map(timeless, fresh.records))
    kept = read_run(tmp_path / "run")
    assert kept.records == again.records
    assert [detail.key for detail in kept.iterate_details()] == [
        record.key for record in kept.records
    ]


async def test_a_smaller_run_keeps_what_a_larger_one_did(work: Worker, tmp_path: Path) -> None:
    await evaluate(tasks(), work, folder=tmp_path)
    small = await evaluate(tasks(2), work, folder=tmp_path)
    kept = read_run(tmp_path)
    assert (len(small.records), len(kept.records), kept.planned_count) == (2, 5, 5)
    assert len(list(kept.iterate_details())) == 5


async def test_a_folder_with_something_else_is_left_alone_and_parts_of_a_killed_run_go(
    work: Worker, tmp_path: Path
) -> None:
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(SetupError, match="is not a run"):
        await evaluate(tasks(), work, folder=tmp_path)
    assert names_in(tmp_path) == ["thesis.tex"]

    (tmp_path / "thesis.tex").rename(tmp_path / ".records.jsonl.x1")
    await evaluate(tasks(), work, folder=tmp_path)
    assert names_in(tmp_path) == [".lock", "records.jsonl", "run.json", "traces.jsonl"]


@pytest.mark.parametrize("name", ["records.jsonl", "traces.jsonl"])
async def test_a_half_written_line_is_made_again(work: Worker, tmp_path: Path, name: str) -> None:
    whole = await evaluate(tasks(), work, folder=tmp_path)
    (tmp_path / name).write_bytes((tmp_path / name).read_bytes()[:-40])
    (tmp_path / "records.jsonl").write_bytes((tmp_path / "records.jsonl").read_bytes()[:-40])

    again = await evaluate(tasks(), work, folder=tmp_path)

    assert list(map(timeless, again.records)) == list(map(timeless, whole.records))
    lines = (tmp_path / name).read_text().splitlines()
    assert [json.loads(line)["key"] for line in lines] == [task.key for task in tasks()]


async def test_runs_of_other_settings_are_not_mixed(work: Worker, tmp_path: Path) -> None:
    await evaluate(tasks(), work, folder=tmp_path)
    before = (tmp_path / "records.jsonl").read_bytes()
    with pytest.raises(SetupError, match="other settings"):
        await evaluate(tasks(fingerprint="b"), work, folder=tmp_path)
    assert (tmp_path / "records.jsonl").read_bytes() == before


async def test_two_processes_do_not_write_the_same_run(work: Worker, tmp_path: Path) -> None:
    async def nested(task: Task) -> Done:
        with pytest.raises(SetupError, match="another process is writing"):
            await evaluate(tasks(), nested, folder=tmp_path)
        return await work(task)

    await evaluate(tasks(1), nested, folder=tmp_path)


async def test_concurrent_runs_give_the_same_records(work: Worker) -> None:
    async def late(task: Task) -> Done:
        await asyncio.sleep(0.01 * (4 - int(task.question.id)))
        return await work(task)

    one = await evaluate(tasks(), late)
    many = await evaluate(tasks(), late, concurrency=4)
    assert list(map(timeless, one.records)) == list(map(timeless, many.records))


async def test_a_budget_ends_a_run_and_a_larger_one_goes_on(work: Worker, tmp_path: Path) -> None:
    async def costly(task: Task) -> Done:
        done = await work(task)
        usage = replace(done.record.usage, llm_calls=2)
        return replace(done, record=replace(done.record, usage=usage))

    first = await evaluate(tasks(), costly, folder=tmp_path, budget=RunBudget(calls=4))
    same = await evaluate(tasks(), costly, folder=tmp_path, budget=RunBudget(calls=4))
    rest = await evaluate(tasks(), costly, folder=tmp_path, budget=RunBudget(calls=40))

    assert [len(run.records) for run in (first, same, rest)] == [2, 2, 5]
    assert (first.is_complete, rest.is_complete) == (False, True)


async def test_what_is_under_way_at_the_budget_s_end_is_kept(work: Worker, tmp_path: Path) -> None:
    begun: list[str] = []

    async def slow(task: Task) -> Done:
        begun.append(task.key)
        await asyncio.sleep(0.01 * int(task.question.id))
        done = await work(task)
        usage = replace(done.record.usage, llm_calls=1)
        return replace(done, record=replace(done.record, usage=usage))

    run = await evaluate(tasks(), slow, folder=tmp_path, concurrency=3, budget=RunBudget(calls=1))

    assert [record.key for record in run.records] == begun and len(begun) == 3


async def test_a_full_disk_is_told_and_the_run_goes_on_later(work: Worker, tmp_path: Path) -> None:
    whole = await evaluate(tasks(), work)
    with (
        files_of_at_most(3_000),
        pytest.raises(SetupError, match=r"cannot write .*\.jsonl: the disk is full"),
    ):
        await evaluate(tasks(), work, folder=tmp_path)
    begun = len(read_run(tmp_path).records)

    again = await evaluate(tasks(), work, folder=tmp_path)

    assert 0 < begun < 5
    assert list(map(timeless, again.records)) == list(map(timeless, whole.records))
    assert list(map(timeless, read_run(tmp_path).records)) == list(map(timeless, whole.records))


async def test_questions_alike_are_refused(work: Worker) -> None:
    with pytest.raises(SetupError, match="same benchmark, id and method"):
        await evaluate([*tasks(1), *tasks(1)], work)


@for_each("text", ["money", "money=lots", "beer=3", "calls=-1", "calls=nan"])
def test_a_budget_that_is_not_understood_is_refused(text: str) -> None:
    with pytest.raises(SetupError, match="cannot be read"):
        RunBudget.from_texts([text])


RECORD = Record(
    "1",
    "moons?",
    "answer",
    0.5,
    {"rows": Score(1, 1, 1)},
    0.1,
    "ASK {}",
    None,
    usage=Usage(money=2),
)
DETAIL: dict[str, Any] = {"key": RECORD.key, "steps": [{"step": "thought"}], "missing": [["Io"]]}


def written(folder: Path, *, run: str = "{}", record: str = "", trace: str = "") -> Path:
    (folder / "run.json").write_text(run)
    (folder / "records.jsonl").write_text((record or json.dumps(RECORD.to_json())) + "\n")
    (folder / "traces.jsonl").write_text((trace or json.dumps(DETAIL)) + "\n")
    return folder


def test_reading_runs(tmp_path: Path) -> None:
    # A run is read as it was written.
    run = read_run(written(tmp_path))
    assert run.records == (RECORD,) and [detail.missing for detail in run.iterate_details()] == [
        (("Io",),)
    ]
    # What a later version adds is passed over.
    newer = {**RECORD.to_json(), "mood": "good", "usage": {**dict(vars(RECORD.usage)), "joules": 3}}
    assert read_run(written(tmp_path, record=json.dumps(newer))).records == (RECORD,)


@for_each(
    "change",
    {"status": None},
    {"scores": {"rows": [1, 2]}},
    {"scores": {"rows": ["a", "b", "c"]}},
    {"scores": {"rows": 7}},
    {"scores": []},
    {"confidence": "high"},
    {"confidence": float("nan")},
    {"usage": {"money": "much"}},
    {"tags": "easy"},
)
def test_a_line_that_is_no_record_is_told(tmp_path: Path, change: dict[str, object]) -> None:
    folder = written(tmp_path, record=json.dumps({**RECORD.to_json(), **change}))
    with pytest.raises(SetupError, match=r"records\.jsonl contains no records of a run"):
        read_run(folder)


@for_each("text", ["oops", '{"key": "a", "steps": 3}', '{"missing": [3]}'])
def test_a_line_that_is_no_trace_or_an_odd_description_is_told(tmp_path: Path, text: str) -> None:
    run = read_run(written(tmp_path, trace=text))
    with pytest.raises(SetupError, match=r"traces\.jsonl"):
        list(run.iterate_details())
    for description in ("oops", "[1]"):
        with pytest.raises(SetupError, match=r"run\.json: not"):
            read_run(written(tmp_path, run=description))


GOLD = ResultTable.from_result(
    SelectResult(("m", "r"), ((NamedNode("urn:Io"), Literal(1.5)), (NamedNode("urn:Europa"), None)))
)


def test_heads_and_differences() -> None:
    # Both heads and the difference are plain values.
    predicted = ResultTable.from_json(["x", "y"], [["urn:Io", 1.5], ["urn:Mars", 3]])
    detail = build_detail("key", predicted, GOLD, steps=[{"step": "draft"}])
    assert detail.gold == {
        "columns": ["m", "r"],
        "rows": [["urn:Io", 1.5], ["urn:Europa", None]],
        "n": 2,
    }
    assert (detail.missing, detail.extra) == ((("urn:Europa", None),), (("urn:Mars", 3),))
    assert detail.steps == ({"step": "draft"},)
    # Long results are cut to twenty rows.
    many = ResultTable.from_json(["n"], [[number] for number in range(50)])
    detail = build_detail("key", many, ResultTable.from_json(["n"], []))
    assert detail.predicted is not None
    assert (len(detail.predicted["rows"]), detail.predicted["n"]) == (20, 50)  # type: ignore[arg-type]
    assert len(detail.extra) == 20
    # A result that there is not differs from nothing.
    detail = build_detail("key", None, GOLD)
    assert (detail.predicted, detail.missing, detail.extra) == (None, (), ())
