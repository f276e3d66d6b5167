"""Policies of rejection: what each catches of the wrong answers, and loses of the right ones.

The first three are those of Alekseev et al. (NLDB 2025, section 7, table 6): the writer says no;
what fails or is empty; that and the filter. A threshold on the confidence is ours: for each part it
is chosen on all others, as the highest that loses so many of the right answers there.
"""

from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256

from askgraph.agent.meeting import refuses
from askgraph.evaluation.metrics.rejection import Rejection, rejection
from askgraph.evaluation.reports.confidence import LOST, limit_for
from askgraph.evaluation.reports.outcomes import is_right
from askgraph.evaluation.studies.stages import StageCase

__all__ = ["policies"]

_PARTS = 5

Policy = Callable[[StageCase], bool]


def policies(
    cases: Sequence[StageCase], metric: str, *, bearable: float = LOST
) -> Mapping[str, Rejection]:
    """Return what each policy rejects of answers that were written with the filter off.

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
    """Whether each case is below the threshold that was chosen on all parts but its own."""
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
    """The graph of each case; where all are of one graph, a fold by its id."""
    graphs = [case.record.graph for case in cases]
    if len(set(graphs)) > 1:
        return graphs
    return [str(sha256(case.record.id.encode()).digest()[0] % _PARTS) for case in cases]


def _threshold(cases: Sequence[StageCase], metric: str, policy: Policy, bearable: float) -> float:
    """The limit of confidence for what a policy keeps of the right answers."""
    right = [case for case in cases if _right(case, metric)]
    kept = [(case.record.confidence, True) for case in right if not policy(case)]
    return limit_for(kept, lost=bearable, gone=len(right) - len(kept))
