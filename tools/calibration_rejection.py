"""What confidences catch of the wrong answers and lose of the right ones, each graph held out."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from tools.calibration_cases import Case

from askgraph.evaluation.reports.confidence import LOST, RIGHT_FROM, auc_interval, limit_for
from askgraph.evaluation.reports.statistics import bootstrap_interval

__all__ = ["rejection_report"]

CURVE = (0.02, 0.05, 0.1, 0.15, 0.2, 0.3)


def rejection_report(found: Sequence[Case], confidence: Sequence[float]) -> str:
    """Tell for each set of people's questions what a limit of confidence catches and loses.

    `confidence` is that of each case by a model fitted without its graph. The limit of a graph is
    the one that loses a tenth of the right answers over all other graphs; "in hindsight" it is
    chosen on the set itself. In brackets are 95 % bootstrap intervals over answers.
    """
    people = [at for at, case in enumerate(found) if case.source == "people"]
    lines: list[str] = []
    for least in RIGHT_FROM:
        lines += [f"right from F1 {least:g}", HEAD, *_sets(found, confidence, people, least), ""]
    lines += ["caught of the wrong, where so many of the right are lost (in hindsight)"]
    lines += ["set                   " + "".join(f"{lost:>7.0%}" for lost in CURVE)]
    for name in _names(found, people):
        at = [place for place in people if found[place].asked == name]
        judged = [(confidence[place], found[place].right) for place in at]
        shares = (_caught(judged, limit_for(judged, lost=lost)) for lost in CURVE)
        lines.append(f"{name:<22}" + "".join(f"{share:>7.1%}" for share in shares))
    return "\n".join(lines)


HEAD = (
    "set                    n    wrong  AUC                   Brier  "
    "caught in hindsight   caught, limit of others  lost"
)


def _sets(
    found: Sequence[Case], confidence: Sequence[float], people: Sequence[int], least: float
) -> Iterator[str]:
    right = [case.f1 >= least - 1e-9 for case in found]
    limits = {
        held: limit_for([(confidence[at], right[at]) for at in people if found[at].held != held])
        for held in {case.held for case in found}
    }
    for name in _names(found, people):
        at = [place for place in people if found[place].asked == name]
        judged = [(confidence[place], right[place]) for place in at]
        hindsight = limit_for(judged, lost=LOST)
        area = auc_interval(judged)
        brier = float(np.mean([(confidence[n] - found[n].f1) ** 2 for n in at]))
        wrong = [place for place in at if not right[place]]
        told = f"{area.mean:.3f} [{area.low:.3f}, {area.high:.3f}]" if area else "-"
        chosen = _told(confidence[place] < hindsight for place in wrong)
        caught = _told(confidence[place] < limits[found[place].held] for place in wrong)
        lost = _told(confidence[n] < limits[found[n].held] for n in at if right[n])
        yield (
            f"{name:<22} {len(at):<4} {len(wrong):<6} {told:<21} {brier:.3f}  "
            f"{chosen:<21} {caught:<24} {lost}"
        )


def _names(found: Sequence[Case], people: Sequence[int]) -> list[str]:
    return list(dict.fromkeys(found[place].asked for place in people))


def _told(rejected: Iterable[bool]) -> str:
    values = [float(one) for one in rejected]
    if not values:
        return "-"
    share = bootstrap_interval(values)
    return f"{share.mean:.1%} [{share.low:.1%}, {share.high:.1%}]"


def _caught(judged: Sequence[tuple[float, bool]], limit: float) -> float:
    wrong = [confidence < limit for confidence, right in judged if not right]
    return sum(wrong) / len(wrong) if wrong else 0.0
