"""Runs over many questions within a budget, which can be interrupted and resumed without loss."""

import contextlib
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import takewhile
from pathlib import Path

from askgraph.atomic_files import to_setup_error
from askgraph.errors import SetupError
from askgraph.evaluation import runs
from askgraph.evaluation.executors import run_concurrently
from askgraph.evaluation.files import LineFile, hold_file, replace_file
from askgraph.llm.budget import ModelBudget as Models


@dataclass(frozen=True)
class RunBudget:
    """Limits of a run; it stops asking when one is reached."""

    calls: float = math.inf  # model calls
    tokens: float = math.inf  # input and output tokens
    money: float = math.inf
    requests: float = math.inf  # SPARQL requests
    seconds: float = math.inf  # seconds of answering, summed over questions

    @classmethod
    def from_texts(cls, texts: Sequence[str]) -> "RunBudget":
        """Parse limits such as `["money=2.5", "tokens=100000"]`; raise `SetupError` for others."""
        names = {field.name for field in fields(cls)}
        bounds: dict[str, float] = {}
        for text in texts:
            name, _, value = text.partition("=")
            try:
                number = float(value)
            except ValueError:
                number = math.nan
            if name not in names or not number >= 0:
                raise SetupError(
                    f"the budget {text!r} cannot be read; write one of "
                    f"{', '.join(sorted(names))}, '=' and a number, as in money=2.50"
                )
            bounds[name] = number
        return cls(**bounds)

    def to_model_budget(self) -> Models:
        """Return calls, tokens and money; raise `SetupError` if requests or seconds are limited."""
        if math.inf > min(self.requests, self.seconds):
            raise SetupError("the budget of a language model must be in calls, tokens or money")
        calls, tokens = (
            None if bound == math.inf else int(bound) for bound in (self.calls, self.tokens)
        )
        return Models(calls, tokens, None if self.money == math.inf else self.money)


class BudgetTracker:
    """The cost of the records of a run so far, against its budget."""

    def __init__(self, budget: RunBudget, records: Iterable[runs.Record] = ()) -> None:
        self._limits = asdict(budget)
        self._totals = dict.fromkeys(self._limits, 0.0)
        for record in records:
            self.add(record)

    def add(self, record: runs.Record) -> None:
        """Add the cost of a record."""
        usage = record.usage
        self._totals["calls"] += usage.llm_calls
        self._totals["tokens"] += usage.input_tokens + usage.output_tokens
        self._totals["money"] += usage.money
        self._totals["requests"] += usage.requests
        self._totals["seconds"] += record.seconds

    @property
    def exhausted_limit(self) -> str | None:
        """The limit that is reached, as text, or None."""
        for name, bound in self._limits.items():
            if self._totals[name] >= bound:
                return f"the budget of {bound:g} {name} is used up ({self._totals[name]:g} spent)"
        return None


class FolderLock:
    """An exclusive lock on a folder, from construction; `SetupError` if another process has it."""

    def __init__(self, path: Path) -> None:
        try:
            self._file = path.open("w")
        except OSError as error:
            raise to_setup_error(f"cannot write to {path.parent}", error) from error
        hold_file(self._file, f"{path.parent}: wait for it, or name another folder")

    def release(self) -> None:
        """Release the lock; a second call has no effect."""
        self._file.close()


Progress = Callable[[runs.Record, int, int], None]
"""Called after each question with its record, the number of finished and of all questions."""


async def evaluate(
    tasks: Sequence[runs.Task],
    work: runs.Worker,
    *,
    folder: Path | None = None,
    settings: Mapping[str, object] | None = None,
    concurrency: int = 1,
    budget: RunBudget | None = None,
    progress: Progress | None = None,
) -> runs.EvaluationRun:
    """Do all tasks; return the run with its records in the order of the tasks.

    With `folder`, each result is on disk at once, and a later call with the same tasks resumes,
    however the last one ended. When the `budget` is used up, no more questions are asked and
    running ones finish; a later call with a larger budget resumes.

    Raises:
        SetupError: The folder holds another run, or two tasks have the same key.
    """
    by_key = {task.key: task for task in tasks}
    if len(by_key) < len(tasks):
        raise SetupError(
            "two questions of this run have the same benchmark, id and method: give them "
            "different ids"
        )
    run_settings = {**(settings or {}), "planned": len(tasks)}
    store = _RunFolder.open(folder) if folder else None
    try:
        finished: dict[str, runs.Record] = {}
        if store:
            finished = _match_records(store.iterate_records(), by_key)
            store.write_settings(run_settings, by_key)
        pending = [task for key, task in by_key.items() if key not in finished]
        tracker = BudgetTracker(budget or RunBudget(), finished.values())
        affordable = takewhile(lambda _: tracker.exhausted_limit is None, pending)
        async with contextlib.aclosing(
            run_concurrently(affordable, work, concurrency=concurrency)
        ) as stream:
            async for result in stream:
                if store:
                    store.add(result)
                finished[result.record.key] = result.record
                tracker.add(result.record)
                if progress:
                    progress(result.record, len(finished), len(tasks))
        records = {key: finished[key] for key in by_key if key in finished}
        if store:
            store.finish(records)
    finally:
        if store:
            store.close()
    name = folder.name if folder else "run"
    return runs.EvaluationRun(name, tuple(records.values()), run_settings, folder)


def _match_records(
    records: Iterable[runs.Record], tasks: Mapping[str, runs.Task]
) -> dict[str, runs.Record]:
    finished: dict[str, runs.Record] = {}
    for record in records:
        task = tasks.get(record.key)
        if task is None:
            continue
        if record.fingerprint != task.fingerprint:
            raise SetupError(
                "this folder contains a run with other settings, another graph or other "
                f"questions ({record.id!r} differs); name another folder, or delete this "
                "one"
            )
        finished[record.key] = record
    return finished


@dataclass
class _RunFolder:
    """A run on disk; a trace is written before its record, so every record has one."""

    path: Path
    lock: FolderLock
    lines: LineFile
    traces: LineFile

    @classmethod
    def open(cls, folder: Path) -> "_RunFolder":
        if folder.exists() and not folder.is_dir():
            raise SetupError(f"{folder} is a file, but a run is a folder: name another")
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise to_setup_error(f"cannot create the folder {folder}", error) from error
        names = {path.name for path in folder.iterdir() if not path.name.startswith(".")}
        if (
            names - {runs.SETTINGS_FILE, runs.RECORDS_FILE, runs.TRACES_FILE, runs.EXAMPLES_FOLDER}
            and runs.SETTINGS_FILE not in names
        ):
            raise SetupError(f"{folder} is not empty and is not a run; name another folder")
        with contextlib.ExitStack() as cleanup:
            lock = FolderLock(folder / ".lock")
            cleanup.callback(lock.release)
            for name in (runs.SETTINGS_FILE, runs.RECORDS_FILE, runs.TRACES_FILE):
                for stale_file in folder.glob(f".{name}.*"):
                    stale_file.unlink()
            lines = LineFile(folder / runs.RECORDS_FILE, id_key="key")
            cleanup.callback(lines.close)
            traces = LineFile(folder / runs.TRACES_FILE, id_key="key", keep_lines=False)
            cleanup.pop_all()
        return cls(folder, lock, lines, traces)

    def write_settings(self, settings: Mapping[str, object], keys: Iterable[str]) -> None:
        """Write the settings of this run; keep the creation time of an earlier call."""
        planned_count = len({*keys, *self.lines.lines})
        path = self.path / runs.SETTINGS_FILE
        previous = runs.read_settings(self.path) if path.exists() else {}
        creation_fields = {"created": previous["created"]} if "created" in previous else {}
        text = json.dumps(
            {**settings, **creation_fields, "planned": planned_count}, ensure_ascii=False, indent=1
        )
        with replace_file(path) as file:
            file.write(f"{text}\n".encode("utf-8", "backslashreplace"))

    def iterate_records(self) -> Iterable[runs.Record]:
        for line in self.lines.lines.values():
            try:
                yield runs.Record.from_json(line)
            except TypeError as error:
                raise SetupError(
                    f"{self.lines.path} contains no records of a run: {error}"
                ) from error

    def add(self, result: runs.Done) -> None:
        self.traces.append(result.detail.to_json())
        self.lines.append(result.record.to_json())

    def finish(self, records: Mapping[str, runs.Record]) -> None:
        self.lines.reorder(records)
        self.traces.reorder(records)

    def close(self) -> None:
        self.lines.close()
        self.traces.close()
        self.lock.release()
