"""A task of a run: one question for one method, and how it is asked and scored."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

from askgraph.evaluation.questions import GoldQuestion
from askgraph.evaluation.runs.record import Record, record_key
from askgraph.evaluation.runs.run_folder import Detail

__all__ = ["Done", "Options", "Task", "Worker"]


@dataclass(frozen=True)
class Options:
    """How questions are asked and scored; part of what a record stands for.

    `timeout` is in seconds an attempt, `gold_timeout` in seconds a gold query. `retries` is how
    often a question is asked again after its method or endpoint failed. With `abstain` only what
    was given as an answer counts, else the best attempt does. With `stored_gold` gold is what the
    question holds, and no gold query is run. `drafts` is how many of the method's candidates are
    scored too. `language` is that of questions that do not say theirs.
    """

    timeout: float | None = None
    gold_timeout: float = 60.0
    retries: int = 0
    abstain: bool = False
    stored_gold: bool = False
    drafts: int = 0
    language: str | None = None


@dataclass(frozen=True)
class Task:
    """One question for one method.

    `graph` is what a workspace finds the graph by; `method` the label of the method in this run;
    `examples` a file of questions with queries that the method may learn from; `repeat` counts
    from 0. With `gold_links` the method is told which entities and relations the gold query has.
    `snapshot` is the state of the graph that the run was planned with. `fingerprint` stands
    for question, gold, method, graph and options.
    """

    question: GoldQuestion
    benchmark: str
    graph: str | Path
    method: str
    repeat: int = 0
    examples: Path | None = None
    gold_links: bool = False
    prefixes: tuple[tuple[str, str], ...] = ()
    options: Options = field(default_factory=Options)
    snapshot: str = ""
    fingerprint: str = ""

    @property
    def key(self) -> str:
        """The key of the record that this task gives."""
        return record_key(self.benchmark, self.question.id, self.method, self.repeat)


@dataclass(frozen=True)
class Done:
    """What came of a task."""

    record: Record
    detail: Detail


Worker = Callable[[Task], Awaitable[Done]]
"""Does one task; raises only what the operator has to mend."""
