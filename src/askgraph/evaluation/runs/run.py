"""A run over many questions, within a budget: nothing dropped or repeated, whatever ends it."""

import contextlib
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import takewhile
from pathlib import Path

from askgraph.atomic_files import refused
from askgraph.errors import SetupError
from askgraph.evaluation.executors import completed
from askgraph.evaluation.files import LineFile, replaced
from askgraph.evaluation.runs import (
    EXAMPLES,
    RECORDS,
    SETTINGS,
    TRACES,
    Done,
    Record,
    Run,
    Task,
    Worker,
    read_settings,
)
from askgraph.llm.budget import Budget as Models


@dataclass(frozen=True)
class Budget:
    """Bounds over a whole run: model calls, tokens (in and out), money, SPARQL requests, seconds.

    Seconds are those of answering, summed over questions. A run stops asking when one is reached.
    """

    calls: float = math.inf
    tokens: float = math.inf
    money: float = math.inf
    requests: float = math.inf
    seconds: float = math.inf

    @classmethod
    def of(cls, texts: Sequence[str]) -> "Budget":
        """Read `["money=2.5", "tokens=100000"]`; `SetupError` if one says something else."""
        known = {field.name for field in fields(cls)}
        bounds: dict[str, float] = {}
        for text in texts:
            name, _, value = text.partition("=")
            try:
                number = float(value)
            except ValueError:
                number = math.nan
            if name not in known or not number >= 0:
                raise SetupError(
                    f"the budget {text!r} is not understood; write one of "
                    f"{', '.join(sorted(known))}, '=' and a number, as in money=2.50"
                )
            bounds[name] = number
        return cls(**bounds)

    def of_models(self) -> Models:
        """Return what language models may use of it: calls, tokens and money.

        Raises `SetupError` if anything else is bounded.
        """
        if math.inf > min(self.requests, self.seconds):
            raise SetupError("the budget of a language model is in calls, tokens or money")
        calls, tokens = (
            None if bound == math.inf else int(bound) for bound in (self.calls, self.tokens)
        )
        return Models(calls, tokens, None if self.money == math.inf else self.money)


class Spent:
    """What the records of a run have cost so far, against its budget."""

    def __init__(self, budget: Budget, records: Iterable[Record] = ()) -> None:
        self._bounds = asdict(budget)
        self._spent = dict.fromkeys(self._bounds, 0.0)
        for record in records:
            self.add(record)

    def add(self, record: Record) -> None:
        """Count one more record."""
        usage = record.usage
        self._spent["calls"] += usage.llm_calls
        self._spent["tokens"] += usage.input_tokens + usage.output_tokens
        self._spent["money"] += usage.money
        self._spent["requests"] += usage.requests
        self._spent["seconds"] += record.seconds

    @property
    def used_up(self) -> str | None:
        """Which bound is reached, as text, or None."""
        for name, bound in self._bounds.items():
            if self._spent[name] >= bound:
                return f"the budget of {bound:g} {name} is used up ({self._spent[name]:g} spent)"
        return None


class Lock:
    """Held from the moment it is made; `SetupError` if another process holds it.

    If the system has no file locks, it holds nothing.
    """

    def __init__(self, path: Path) -> None:
        try:
            self._file = path.open("w")
        except OSError as error:
            raise refused(f"cannot write to {path.parent}", error) from error
        try:
            import fcntl  # which Windows does not have
        except ImportError:
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            self._file.close()
            raise SetupError(f"another process is writing to {path.parent}") from error
        except OSError:  # a file system without locks
            return

    def release(self) -> None:
        """Let others have it; a second call does nothing."""
        self._file.close()


Progress = Callable[[Record, int, int], None]
"""Told after each question: its record, how many are done, and how many there will be."""


async def evaluate(
    tasks: Sequence[Task],
    work: Worker,
    *,
    folder: Path | None = None,
    settings: Mapping[str, object] | None = None,
    concurrency: int = 1,
    budget: Budget | None = None,
    progress: Progress | None = None,
) -> Run:
    """Do all tasks, and return the run with its records in the order of the tasks.

    With `folder`, what is done is on the disk at once, and a later call with the same tasks goes on
    where the last one stopped, however it ended; `SetupError` if the folder holds another run.
    A run whose `budget` is used up asks no more, and ends with what is under way; a later call with
    a larger one goes on.
    """
    by_key = {task.key: task for task in tasks}
    if len(by_key) < len(tasks):
        raise SetupError("two questions of this run have the same benchmark, id and method")
    described = {**(settings or {}), "planned": len(tasks)}
    store = _Folder.opened(folder) if folder else None
    try:
        done: dict[str, Record] = {}
        if store:
            done = _resumed(store.records(), by_key)
            store.describe(described, by_key)
        missing = [task for key, task in by_key.items() if key not in done]
        spent = Spent(budget or Budget(), done.values())
        paid = takewhile(lambda _: spent.used_up is None, missing)
        async with contextlib.aclosing(completed(paid, work, concurrency=concurrency)) as stream:
            async for result in stream:
                if store:
                    store.add(result)
                done[result.record.key] = result.record
                spent.add(result.record)
                if progress:
                    progress(result.record, len(done), len(tasks))
        records = {key: done[key] for key in by_key if key in done}
        if store:
            store.finish(records)
    finally:
        if store:
            store.close()
    name = folder.name if folder else "run"
    return Run(name, tuple(records.values()), described, folder)


def _resumed(there: Iterable[Record], tasks: Mapping[str, Task]) -> dict[str, Record]:
    done: dict[str, Record] = {}
    for record in there:
        task = tasks.get(record.key)
        if task is None:
            continue
        if record.fingerprint != task.fingerprint:
            raise SetupError(
                f"this folder holds a run with other settings, another graph or other questions "
                f"({record.id!r} differs); name another folder, or delete this one"
            )
        done[record.key] = record
    return done


@dataclass
class _Folder:
    """A run on the disk; a trace is there before its record, so that no record is without one."""

    path: Path
    lock: Lock
    lines: LineFile
    traces: LineFile

    @classmethod
    def opened(cls, folder: Path) -> "_Folder":
        if folder.exists() and not folder.is_dir():
            raise SetupError(f"{folder} is a file; a run is a folder: name another one")
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise refused(f"cannot make the folder {folder}", error) from error
        others = {path.name for path in folder.iterdir() if not path.name.startswith(".")}
        if others - {SETTINGS, RECORDS, TRACES, EXAMPLES} and SETTINGS not in others:
            raise SetupError(f"{folder} is not empty and holds no run; name another folder")
        with contextlib.ExitStack() as undo:
            lock = Lock(folder / ".lock")
            undo.callback(lock.release)
            for name in (SETTINGS, RECORDS, TRACES):
                for left in folder.glob(f".{name}.*"):
                    left.unlink()
            lines = LineFile(folder / RECORDS, name="key")
            undo.callback(lines.close)
            traces = LineFile(folder / TRACES, name="key", keep=False)
            undo.pop_all()
        return cls(folder, lock, lines, traces)

    def describe(self, settings: Mapping[str, object], keys: Iterable[str]) -> None:
        """Write what this run is; that it was begun earlier, and holds more, stays."""
        planned = len({*keys, *self.lines.lines})
        path = self.path / SETTINGS
        before = read_settings(self.path) if path.exists() else {}
        first = {"created": before["created"]} if "created" in before else {}
        text = json.dumps({**settings, **first, "planned": planned}, ensure_ascii=False, indent=1)
        with replaced(path) as file:
            file.write(f"{text}\n".encode("utf-8", "backslashreplace"))

    def records(self) -> Iterable[Record]:
        for line in self.lines.lines.values():
            try:
                yield Record.of_json(line)
            except TypeError as error:
                raise SetupError(f"{self.lines.path} holds no records of a run: {error}") from error

    def add(self, result: Done) -> None:
        self.traces.append(result.detail.json())
        self.lines.append(result.record.json())

    def finish(self, records: Mapping[str, Record]) -> None:
        self.lines.reorder(records)
        self.traces.reorder(records)

    def close(self) -> None:
        self.lines.close()
        self.traces.close()
        self.lock.release()
