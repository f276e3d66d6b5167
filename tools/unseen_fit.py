"""Weights of ranking and confidence for each style, fitted to the graphs of all other styles."""

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

from tools.calibration_cases import Case as Answered
from tools.calibration_curve import curve_of
from tools.calibration_trees import confidences as weighed
from tools.calibration_trees import fitted as fitted_evidence
from tools.ranking_cases import Case as Ranked
from tools.ranking_cases import Found as Scored
from tools.ranking_fit import fitted as fitted_ranking
from tools.unseen_cases import Attempt, Case

__all__ = ["Model", "answered", "confidence_without", "confidences", "ranked", "ranking_without"]

Model = Callable[[Mapping[str, float]], float]
"""From evidence to a chance."""


def ranking_without(cases: Sequence[Case]) -> dict[str, dict[str, float]]:
    """Return for each style the weights of the ranking that are fitted without it."""
    every = [ranked(case) for case in cases]
    return {
        style: fitted_ranking([case for case in every if case.set != style])
        for style in sorted({case.set for case in every})
    }


def ranked(case: Case) -> Ranked:
    """Return a case as one of the ranking; its style counts as its set."""
    graph = Path(case.graph).stem
    found = tuple(Scored("", one.members, one.by_name, one.empty) for one in case.found)
    return Ranked(case.id, "", case.style, graph, graph, found)


def confidence_without(attempts: Sequence[Attempt], only: Collection[str] = ()) -> dict[str, Model]:
    """Return for each style the model of confidence that is fitted without it.

    It weighs all evidence, or `only` some.
    """
    every = [answered(one, only) for one in attempts if one.evidence]
    styles = sorted({case.set for case in every})
    return {style: _model([case for case in every if case.set != style]) for style in styles}


def confidences(attempts: Sequence[Attempt], models: Mapping[str, Model]) -> list[float]:
    """Return the chance of each attempt by the model that was fitted without its style."""
    return [models[one.style](one.evidence) if one.evidence else 0.0 for one in attempts]


def answered(one: Attempt, only: Collection[str] = ()) -> Answered:
    """Return an attempt as a case of calibration; its style counts as its set."""
    graph = Path(one.graph).stem
    evidence = {name: one.evidence[name] for name in only} if only else one.evidence
    return Answered(
        one.style, evidence, one.by_name, graph, left=one.left, asked=one.style, fold=one.style
    )


def _model(cases: Sequence[Answered]) -> Model:
    """Trees over all cases, and a curve over what those give that saw nothing of the style."""
    firsts = [case for case in cases if case.left == 1]
    trees = fitted_evidence(firsts)
    given = dict.fromkeys(range(len(firsts)), 0.0)
    for style in {case.set for case in firsts}:
        others = fitted_evidence([case for case in firsts if case.set != style] or firsts)
        own = [at for at, case in enumerate(firsts) if case.set == style]
        chances = weighed(others, [firsts[at].evidence for at in own])
        given.update(zip(own, chances.tolist(), strict=True))
    curve = curve_of(firsts, list(given.values()))
    return lambda evidence: curve(trees(evidence))
