"""A run on the disk: what was asked and how, a line for each question, its full trace beside it.

RUN/run.json         benchmarks, methods, graphs, options: written first
RUN/records.jsonl    a `Record` a line, as soon as the question is done
RUN/traces.jsonl     a `Detail` a line, written before the record with the same key
RUN/examples/        what a method could learn from, if questions were divided for that
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from askgraph.errors import SetupError
from askgraph.evaluation.runs.record import Detail, Record

Json = dict[str, object]

SETTINGS, RECORDS, TRACES = "run.json", "records.jsonl", "traces.jsonl"
EXAMPLES = "examples"


@dataclass(frozen=True)
class Run:
    """A run that was read. `settings` is `run.json`; `records` are in the order of the questions.

    `settings` has `askgraph` (version), `created`, `planned` (how many records there will be),
    `benchmarks` (each with `name`, `format`, `path`, `sha256`, `questions`, `unreadable`),
    `methods` (`name`, `settings`), `graphs` (`name`, `snapshot`) and `options`.
    """

    name: str
    records: tuple[Record, ...]
    settings: Mapping[str, object] = field(default_factory=dict)
    folder: Path | None = None

    @property
    def planned(self) -> int:
        """How many records the run has when it is complete."""
        planned = self.settings.get("planned")
        return planned if isinstance(planned, int) else len(self.records)

    @property
    def complete(self) -> bool:
        """Whether every question was asked."""
        return len(self.records) >= self.planned

    def details(self) -> Iterator[Detail]:
        """Read the traces, in file order; of two with one key the later counts. None is kept."""
        if self.folder is not None and (self.folder / TRACES).is_file():
            for line in _lines(self.folder / TRACES):
                try:
                    yield Detail.of_json(line)
                except TypeError as error:
                    raise SetupError(
                        f"{self.folder / TRACES} holds no traces of a run: {error}"
                    ) from error


def read_run(folder: Path) -> Run:
    """Read a run from its folder, however far it came; `SetupError` if it is none."""
    settings = read_settings(folder)
    records: dict[str, Record] = {}
    for line in _lines(folder / RECORDS) if (folder / RECORDS).is_file() else ():
        try:
            record = Record.of_json(line)
        except TypeError as error:
            raise SetupError(f"{folder / RECORDS} holds no records of a run: {error}") from error
        records[record.key] = record
    return Run(folder.name, tuple(records.values()), settings, folder)


def read_settings(folder: Path) -> Mapping[str, object]:
    """Read what a run is, from its folder; `SetupError` if it is none."""
    try:
        settings = json.loads((folder / SETTINGS).read_text(encoding="utf-8"))
    except OSError as error:
        raise SetupError(
            f"{folder} is no run of askgraph evaluate: cannot read {SETTINGS}: {error.strerror}. "
            f"Make one with: askgraph evaluate BENCHMARK --out {folder}"
        ) from error
    except ValueError as error:
        raise SetupError(f"{folder / SETTINGS}: not JSON: {error}") from error
    if not isinstance(settings, dict):
        raise SetupError(f"{folder / SETTINGS}: not an object")
    return settings


def _lines(path: Path) -> Iterator[Mapping[str, object]]:
    """Yield the whole lines of a file; a last one without its end is still being written."""
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if not line.endswith(b"\n"):
                return
            try:
                record = json.loads(line)
            except ValueError as error:
                raise SetupError(f"{path}, line {number}: not JSON: {error}") from error
            if not isinstance(record, dict):
                raise SetupError(f"{path}, line {number}: not an object")
            yield record
