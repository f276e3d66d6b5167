"""Weights of ranking and confidence for each style, fitted to the graphs of all other styles."""

from collections.abc import Callable, Mapping, Sequence

from tools.calibration_cases import Case as Answered
from tools.calibration_curve import curve_of
from tools.calibration_weights import confidences as weighed
from tools.calibration_weights import fitted as fitted_evidence
from tools.ranking_cases import Case as Ranked
from tools.ranking_cases import Found as Scored
from tools.ranking_fit import fitted as fitted_ranking
from tools.unseen_cases import Attempt, Case

__all__ = ["Model", "confidence_without", "confidences", "ranking_without"]

Model = Callable[[Mapping[str, float]], float]
"""From evidence to a chance."""


def ranking_without(cases: Sequence[Case]) -> dict[str, dict[str, float]]:
    """Return for each style the weights of the ranking that are fitted without it."""
    every = [
        Ranked(
            case.id,
            "",
            case.style,
            case.graph,
            case.graph,
            tuple(Scored("", f.members, f.by_name, f.empty) for f in case.found),
        )
        for case in cases
    ]
    return {
        style: fitted_ranking([case for case in every if case.set != style])
        for style in sorted({case.set for case in every})
    }


def confidence_without(attempts: Sequence[Attempt]) -> dict[str, Model]:
    """Return for each style the model of confidence that is fitted without it."""
    every = [_case(one) for one in attempts if one.evidence]
    styles = sorted({case.set for case in every})
    return {style: _model([case for case in every if case.set != style]) for style in styles}


def confidences(attempts: Sequence[Attempt], models: Mapping[str, Model]) -> list[float]:
    """Return the chance of each attempt by the model that was fitted without its style."""
    return [models[one.style](one.evidence) if one.evidence else 0.0 for one in attempts]


def _case(one: Attempt) -> Answered:
    return Answered(one.style, one.evidence, one.by_name, one.graph, left=one.left)


def _model(cases: Sequence[Answered]) -> Model:
    weights = fitted_evidence([case for case in cases if case.left == 1])
    curve = curve_of(cases, weighed(weights, [case.evidence for case in cases]).tolist())
    return lambda evidence: curve(float(weighed(weights, [evidence])[0]))
