"""The weights of evidence: a logistic regression whose signs are given, held close to zero."""

from collections.abc import Mapping, Sequence

import numpy as np
from tools.calibration_cases import Case, Floats, shares

from askgraph.search.decide.confidence import sign_of, weights_text

__all__ = ["L2", "confidences", "features_of", "fitted", "weights_file", "without"]

L2 = 1.0
_SWEEPS = 3_000
_STILL = 1e-7


def features_of(found: Sequence[Case]) -> tuple[str, ...]:
    """The names of the evidence that cases have."""
    return tuple(found[0].evidence)


def fitted(train: Sequence[Case], *, l2: float = L2) -> dict[str, float]:
    """Fit weights to whether answers are right, by coordinate descent on the cross-entropy.

    Cases weigh as `shares` has it; `l2` holds each weight to zero, in the units of its evidence, as
    so many answers would. What speaks for an answer gets no weight below 0, what speaks
    against it none above (`sign_of`). Each step minimises a bound of the loss (Böhning and
    Lindsay, 1988), so it never rises.
    """
    names = features_of(train)
    table = np.array([[case.evidence[name] for name in names] for case in train], dtype=float)
    right = np.array([case.right for case in train], dtype=float)
    share = shares(train)
    mean = share @ table / share.sum()
    columns = (table - mean).T
    steep = 0.25 * (share * columns**2).sum(axis=1) + l2
    signs = np.array([sign_of(name) for name in names])
    bias, weights, linear = 0.0, np.zeros(len(names)), np.zeros(len(train))
    for _ in range(_SWEEPS):
        before = weights.copy()
        step = float(share @ (right - _logistic(linear))) / (0.25 * float(share.sum()))
        bias, linear = bias + step, linear + step
        for at, column in enumerate(columns):
            slope = float((share * (right - _logistic(linear))) @ column) - l2 * weights[at]
            new = weights[at] + slope / steep[at]
            new = new if new * signs[at] >= 0 else 0.0
            linear = linear + (new - weights[at]) * column
            weights[at] = new
        if np.abs(weights - before).max() + abs(step) < _STILL:
            break
    found = dict(zip(names, weights.tolist(), strict=True))
    return {"bias": bias - float(weights @ mean), **found}


def confidences(weights: Mapping[str, float], evidence: Sequence[Mapping[str, float]]) -> Floats:
    """What the model gives for each evidence under some weights."""
    names = [name for name in weights if name != "bias"]
    table = np.array([[facts[name] for name in names] for facts in evidence], dtype=float)
    return _logistic(weights["bias"] + table @ np.array([weights[name] for name in names]))


def without(found: Sequence[Case], *, l2: float = L2) -> dict[str, dict[str, float]]:
    """The weights for each graph, fitted to the answers over all other graphs."""
    firsts = [case for case in found if case.left == 1]
    return {
        graph: fitted([case for case in firsts if case.graph != graph] or firsts, l2=l2)
        for graph in sorted({case.graph for case in found})
    }


def weights_file(weights: Mapping[str, float], about: Sequence[str]) -> str:
    """The weights as the file of the package."""
    rounded = {name: round(value, 3) + 0.0 for name, value in weights.items()}
    return weights_text(rounded, about)


def _logistic(linear: Floats) -> Floats:
    return np.asarray(1.0 / (1.0 + np.exp(-linear)), dtype=np.float64)
