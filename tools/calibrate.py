"""Fit what is behind an answer's confidence, and print how well such confidences hold.

    python tools/calibrate.py                      # on all sets that are there
    python tools/calibrate.py --set sample --l2 1  # on one, held closer to zero
    python tools/calibrate.py --write              # make candidates/calibration.toml anew

A confidence is right where, of the answers given with 0.8, eight in ten are right. Two things are
fitted to the F1 (best column) of each question's first answer; of a question that the graph cannot
answer that is 0. First the weights of the logistic model of `askgraph.candidates.decide`: every set
counts alike, whatever its size, and what is printed of a set comes from weights that were fitted on
the others; they are copied by hand, if they are better. Then the curve from what that model gives
to a chance (`askgraph.candidates.calibration`), to people's questions and, at a lower weight, to
questions generated from each graph's profile; what is printed of a graph comes from a curve fitted
without it. `--write` puts the curve into the package.

Questions, graphs and scores are those of `tools/accuracy_floors.py`.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).parents[1]))

from tools.accuracy_floors import FLOORS, data_folder, sets
from tools.calibration_cases import Case, cases, generated_cases
from tools.calibration_curve import curve_file, curve_report

from askgraph.candidates.calibration import CURVE
from askgraph.candidates.decide import CONFIDENCE
from askgraph.evaluation.whole_file import replaced
from askgraph.workspace import Workspace

__all__ = ["FEATURES", "Case", "brier", "cases", "confidences", "fitted", "report"]

Floats = npt.NDArray[np.float64]
Weights = Mapping[str, float]

FEATURES = tuple(name for name in CONFIDENCE if name != "bias")
BINS = 10
STEPS, RATE = 4_000, 0.5
L2 = 0.01


def confidences(weights: Weights, evidence: Sequence[Mapping[str, float]]) -> Floats:
    """What the model gives for each evidence under some weights."""
    table = np.array([[facts[name] for name in FEATURES] for facts in evidence], dtype=float)
    linear = weights["bias"] + table @ np.array([weights[name] for name in FEATURES])
    return _logistic(linear)


def fitted(train: Sequence[Case], *, l2: float = L2) -> dict[str, float]:
    """Fit the weights by gradient descent on the cross-entropy; each set has the same weight.

    Features are scaled to unit variance meanwhile, so that `l2` holds all of them alike.
    """
    table = np.array([[case.evidence[name] for name in FEATURES] for case in train], dtype=float)
    target = np.array([case.f1 for case in train])
    share = _shares(train)
    mean = share @ table
    deviation = np.sqrt(share @ (table - mean) ** 2)
    deviation[deviation < 1e-9] = np.inf  # a feature that never changes tells nothing
    scaled = (table - mean) / deviation
    bias, weights = 0.0, np.zeros(len(FEATURES))
    for _ in range(STEPS):
        error = share * (_logistic(bias + scaled @ weights) - target)
        bias -= RATE * float(error.sum())
        weights -= RATE * (error @ scaled + l2 * weights)
    plain = weights / deviation
    return {"bias": bias - float(plain @ mean), **dict(zip(FEATURES, plain.tolist(), strict=True))}


def _shares(train: Sequence[Case]) -> Floats:
    """The weight of each case: all sets the same, all cases of a set the same; they sum to 1."""
    names = [case.set for case in train]
    return np.array([1.0 / (names.count(name) * len(set(names))) for name in names])


def _logistic(linear: Floats) -> Floats:
    return np.asarray(1.0 / (1.0 + np.exp(-linear)), dtype=np.float64)


def brier(confidence: Floats, f1: Floats) -> float:
    """The mean squared distance of confidences from F1: 0 is perfect."""
    return float(np.mean((confidence - f1) ** 2))


def report(found: Sequence[Case], *, l2: float = L2) -> str:
    """The weights, and how well they hold on each set, and on all cases in ten bins."""
    names = list(dict.fromkeys(case.set for case in found))
    new = fitted(found, l2=l2)
    lines = ["weight        current   fitted"]
    lines += [f"{name:<12} {CONFIDENCE[name]:>8.2f} {new[name]:>8.2f}" for name in CONFIDENCE]
    f1 = np.array([case.f1 for case in found])
    current = confidences(CONFIDENCE, [case.evidence for case in found])
    held_out = np.zeros(len(found))
    for name in names:
        at = np.array([case.set == name for case in found])
        others = [case for case in found if case.set != name] or list(found)
        evidence = [case.evidence for case in found if case.set == name]
        held_out[at] = confidences(fitted(others, l2=l2), evidence)
    lines += ["", *_by_set(found, names, {"current": current, "fitted": held_out})]
    if len(names) == 1:
        lines.append("(only one set: it was fitted on itself)")
    for title, confidence in (("current", current), ("fitted on the other sets", held_out)):
        lines += ["", f"confidence, {title}", *_reliability(confidence, f1)]
    return "\n".join(lines)


def _by_set(
    found: Sequence[Case], names: Sequence[str], given: Mapping[str, Floats]
) -> Iterator[str]:
    yield "set           n    mean F1   weights  mean confidence  Brier"
    for name in names:
        at = np.array([case.set == name for case in found])
        f1 = np.array([case.f1 for case in found])[at]
        for which, confidence in given.items():
            mean = confidence[at].mean()
            yield (
                f"{name:<13} {len(f1):<4} {f1.mean():>7.3f}   {which:<8} {mean:>15.3f}"
                f"  {brier(confidence[at], f1):.3f}"
            )


def _reliability(confidence: Floats, f1: Floats) -> Iterator[str]:
    yield "from  to    n    mean confidence  mean F1"
    place = np.minimum((confidence * BINS).astype(int), BINS - 1)
    for number in range(BINS):
        at = place == number
        low, high = number / BINS, (number + 1) / BINS
        told = f"{confidence[at].mean():>15.3f}  {f1[at].mean():>7.3f}" if at.any() else ""
        yield f"{low:.1f}   {high:.1f}   {int(at.sum()):<4} {told}".rstrip()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--set", action="append", choices=FLOORS, help="a set of accuracy_floors.py; all if none")
    add("--l2", type=float, default=L2, help="how much the weights are held to zero")
    add("--generated", type=int, default=60, metavar="N", help="generated questions a graph")
    add("--write", action="store_true", help=f"write {CURVE.name}; needs all sets")
    add("--workspace", type=Path, help="keep the built graphs here")
    return parser.parse_args()


def main() -> None:
    """Fit and print; write the curve where that is wanted."""
    chosen = _arguments()
    with tempfile.TemporaryDirectory() as temporary:
        workspace = Workspace(chosen.workspace or temporary)
        wanted = list(sets(data_folder(), workspace, chosen.set or ()))
        names = {asked.name for asked in wanted}
        if not wanted:
            raise SystemExit(f"calibrate: no such set; the data lies in {data_folder()}")
        if chosen.write and names != set(FLOORS):
            missing = ", ".join(sorted(set(FLOORS) - names))
            raise SystemExit(f"calibrate: --write needs all sets, and {missing} is not there")
        found = [case for asked in wanted for case in cases(asked, workspace)]
        made = [
            case
            for asked in wanted
            for case in generated_cases(asked, workspace, number=chosen.generated)
        ]
    number = sum(len(asked.questions) for asked in wanted)
    print(f"{len(found)} first answers to {number} questions\n\n{report(found, l2=chosen.l2)}")
    print(f"\nthe curve, with {len(made)} generated questions\n\n{curve_report(found + made)}")
    if chosen.write:
        command = f"python tools/calibrate.py --write --generated {chosen.generated}"
        with replaced(CURVE) as file:
            file.write(curve_file(found + made, command).encode())
        print(f"\nwrote {CURVE.name}")


if __name__ == "__main__":
    main()
