"""Each stage of a run of the multi-stage method, read from its trace and held against gold.

Alekseev et al. (NLDB 2025) measure entity linking (table 2), predicate matching (table 3), the
whole (table 4) and rejection (table 6). Ours are what the restriction keeps, what each stage is
worth when those before it are perfect, and the right answers that rejection loses.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import cast

from askgraph.agent.meeting import REACHES
from askgraph.evaluation.metrics.linking import Links
from askgraph.evaluation.runs.record import Record
from askgraph.evaluation.runs.run_folder import Detail

__all__ = ["CONFIGURATIONS", "TOGETHER", "StageCase", "stage_case"]

TOGETHER = "together"
"""The configuration that the rejection study reads: all stages, and nothing filtered."""

CONFIGURATIONS: Mapping[str, Mapping[str, object]] = {
    TOGETHER: {},
    "without restriction": {"restrict": False},
    "matched predicates only": {"near": 0},
    "matched only, without restriction": {"near": 0, "restrict": False},
    "one reading": {"readings": 1},
    "gold entities": {"entities": "given"},
    "gold predicates": {"predicates": "given", "near": 0},
    "gold entities and predicates": {"entities": "given", "predicates": "given", "near": 0},
}
"""How the method is set for each line of the tables; the filter is off in all, and only read."""


@dataclass(frozen=True)
class StageCase:
    """One question in one configuration: its record, what each stage found, what gold has.

    `found` are the entities of the first stage and the predicates of the second; `listed` are both
    as they went on to the writer. `reach` is one of `askgraph.agent.meeting.REACHES`, `written` the
    number of queries.
    """

    record: Record
    gold: Links
    found: Links
    listed: Links
    reach: str
    written: int

    @property
    def everything_listed(self) -> bool:
        """Whether all that gold names went on to the writer."""
        return (
            self.gold.entities <= self.listed.entities
            and self.gold.predicates <= self.listed.predicates
        )


def stage_case(record: Record, detail: Detail, gold: Links) -> StageCase:
    """Read a trace of the method `multi-stage`."""
    stages = [list(_mentions(step)) for step in detail.steps if step["step"] == "findings"]
    things = frozenset(target for kind, target in _nth(stages, 0) if kind in ("entity", "class"))
    matched = frozenset(target for _, target in _nth(stages, 1))
    listed = frozenset(target for _, target in _nth(stages, 2)) if len(stages) > 2 else matched
    said = [step.get("text") for step in detail.steps if step["step"] == "thought"]
    reach = next((str(text) for text in said if text in REACHES), REACHES[0])
    written = sum(step["step"] == "draft" for step in detail.steps)
    return StageCase(record, gold, Links(things, matched), Links(things, listed), reach, written)


def _nth(stages: list[list[tuple[str, str]]], at: int) -> list[tuple[str, str]]:
    """What a stage found; nothing where a run ended before it."""
    return stages[at] if at < len(stages) else []


def _mentions(step: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """The kind and the target of each thing that a stage found."""
    for mention in cast("list[dict[str, object]]", step["mentions"]):
        yield str(mention["kind"]), str(mention["target"])
