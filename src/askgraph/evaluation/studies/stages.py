"""Each stage of a run of the multi-stage method, read from its trace and held against gold.

Alekseev et al. (NLDB 2025) measure entity linking (table 2), predicate matching (table 3), the
whole (table 4) and rejection (table 6). Ours are what the restriction keeps, what each stage is
worth when those before it are perfect, and the right answers that rejection loses.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import cast

from askgraph.agent.meeting import REACHES, refuses
from askgraph.evaluation.metrics.linking import Links
from askgraph.evaluation.reports.confidence import LOST, limit_for
from askgraph.evaluation.reports.outcomes import Rejection, is_right, rejection
from askgraph.evaluation.runs.record import Detail, Record

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
    """Return what a stage found; nothing if a run ended before it."""
    return stages[at] if at < len(stages) else []


def _mentions(step: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Yield the kind and the target of each thing that a stage found."""
    for mention in cast("list[dict[str, object]]", step["mentions"]):
        yield str(mention["kind"]), str(mention["target"])


_PARTS = 5

Policy = Callable[[StageCase], bool]


def policies(
    cases: Sequence[StageCase], metric: str, *, bearable: float = LOST
) -> Mapping[str, Rejection]:
    """Return what each policy rejects of answers that were written with the filter off.

    The first three are those of Alekseev et al. (section 7, table 6): the writer says no; what
    fails or is empty; that and the filter. A threshold on the confidence is ours: for each part it
    is chosen on all others, as the highest that loses so many of the right answers there.

    Right is a score of 1, whatever was done with the answer. Errors are left out.
    """
    judged = [case for case in cases if case.record.status != "error"]
    found: dict[str, Rejection] = {}
    for name, policy in _POLICIES.items():
        verdicts = [policy(case) for case in judged]
        found[name] = _counted(judged, verdicts, metric)
    for name, policy in _POLICIES.items():
        if name != "writer says no":
            unsure = _below(judged, metric, policy, bearable)
            verdicts = [policy(case) or low for case, low in zip(judged, unsure, strict=True)]
            found[f"{name}, confidence"] = _counted(judged, verdicts, metric)
    return found


def _says_no(case: StageCase) -> bool:
    return not case.written


def _fails(case: StageCase) -> bool:
    """Nothing written, an error, or an empty result: what the method refuses without its filter."""
    return case.record.status == "refusal"


_POLICIES: Mapping[str, Policy] = {
    "writer says no": _says_no,
    "execution": _fails,
    "filter (direct) and execution": lambda case: _fails(case) or refuses("direct", case.reach),
    "filter (reach) and execution": lambda case: _fails(case) or refuses("reach", case.reach),
}


def _counted(cases: Sequence[StageCase], verdicts: Sequence[bool], metric: str) -> Rejection:
    right = (_right(case, metric) for case in cases)
    return rejection(zip(verdicts, right, strict=True))


def _right(case: StageCase, metric: str) -> bool:
    return not case.record.unanswerable and is_right(case.record, metric)


def _below(cases: Sequence[StageCase], metric: str, policy: Policy, bearable: float) -> list[bool]:
    """Return whether each case is below the threshold that was chosen on all parts but its own."""
    parts = _parts(cases)
    limits = {
        part: _threshold(
            [case for case, own in zip(cases, parts, strict=True) if own != part],
            metric, policy, bearable,
        )
        for part in set(parts)
    }  # fmt: skip
    return [case.record.confidence < limits[part] for case, part in zip(cases, parts, strict=True)]


def _parts(cases: Sequence[StageCase]) -> list[str]:
    """Return the graph of each case; if all are of one graph, a fold by its id."""
    graphs = [case.record.graph for case in cases]
    if len(set(graphs)) > 1:
        return graphs
    return [str(sha256(case.record.id.encode()).digest()[0] % _PARTS) for case in cases]


def _threshold(cases: Sequence[StageCase], metric: str, policy: Policy, bearable: float) -> float:
    """Return the limit of confidence for what a policy keeps of the right answers."""
    right = [case for case in cases if _right(case, metric)]
    kept = [(case.record.confidence, True) for case in right if not policy(case)]
    return limit_for(kept, lost=bearable, gone=len(right) - len(kept))
