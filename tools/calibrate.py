"""Fit what is behind an answer's confidence, and print how well such confidences hold.

    python tools/calibrate.py                      # on all sets that are there
    python tools/calibrate.py --set sample --l2 1  # on one, held closer to zero
    python tools/calibrate.py --write              # make confidence.toml and calibration.toml anew

A confidence is right where, of the answers given with 0.8, eight in ten are right. Two things are
fitted, to people's questions and, at a lower weight, to questions generated from each graph's
profile: the weights of the logistic model of `askgraph.search.decide.confidence`, to whether first
answers are fully right (here generated questions with a word masked count, too); and the curve from
what that model gives to a chance (`askgraph.search.decide.confidence`), to their F1
(best column). An
answer to a question that the graph cannot answer is wrong. All that is printed of a graph comes
from weights and a curve that were fitted without it; `--write` puts those that were fitted to all
into the package.

Questions, graphs and scores are those of `tools/accuracy_floors.py`.
"""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tools.accuracy_floors import FLOORS, data_folder, sets
from tools.calibration_cases import Case, cases, generated_cases
from tools.calibration_curve import about, curve_file, curve_report, given_without, held_out
from tools.calibration_rejection import rejection_report
from tools.calibration_weights import L2, fitted, weights_file, without

from askgraph.evaluation.files import replaced
from askgraph.search.decide.confidence import CURVE, WEIGHTS_FILE, own_weights
from askgraph.workspace import Workspace

__all__ = ["report", "written"]


def report(found: Sequence[Case], *, l2: float = L2) -> str:
    """The weights, the curve, and what confidences catch, each graph by what others gave."""
    firsts = [case for case in found if case.left == 1]
    own, new = own_weights(), fitted(firsts, l2=l2)
    lines = ["weight        in use   fitted"]
    lines += [f"{name:<12} {own.get(name, 0.0):>7.2f}  {new[name]:>7.2f}" for name in new]
    if len({case.graph for case in found}) == 1:
        lines.append("(only one graph: it was fitted on itself)")
    given = given_without(found, without(found, l2=l2))
    lines += ["", curve_report(found, given), "", rejection_report(found, held_out(found, given))]
    return "\n".join(lines)


def written(found: Sequence[Case], command: str, *, l2: float = L2) -> tuple[str, str]:
    """The two files of the package: the weights, and the curve.

    The curve is fitted to what each graph gets from weights fitted without it, as new graphs will.
    """
    weights = fitted([case for case in found if case.left == 1], l2=l2)
    first = "Weights of the evidence for and against an answer; see confidence.py."
    given = given_without(found, without(found, l2=l2))
    return (
        weights_file(weights, [first, *about(found, command)]),
        curve_file(found, given, command),
    )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    files = f"{WEIGHTS_FILE.name} and {CURVE.name}"
    add("--set", action="append", choices=FLOORS, help="a set of accuracy_floors.py; all if none")
    add("--l2", type=float, default=L2, help="how much the weights are held to zero")
    add("--generated", type=int, default=60, metavar="N", help="generated questions a graph")
    add("--write", action="store_true", help=f"write {files}; needs all sets")
    add("--jobs", type=int, default=1, help="processes that answer people's questions")
    add("--workspace", type=Path, help="keep the built graphs here")
    return parser.parse_args()


def main() -> None:
    """Fit and print; write the files where that is wanted."""
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
        people = [case for one in wanted for case in cases(one, workspace, jobs=chosen.jobs)]
        number = chosen.generated
        made = [case for one in wanted for case in generated_cases(one, workspace, number=number)]
    asked = sum(len(one.questions) for one in wanted)
    print(f"{len(people)} answers to {asked} questions, {len(made)} to generated and masked ones\n")
    print(report(people + made, l2=chosen.l2))
    if chosen.write:
        command = f"python tools/calibrate.py --write --generated {number}"
        texts = written(people + made, command, l2=chosen.l2)
        for path, text in zip((WEIGHTS_FILE, CURVE), texts, strict=True):
            with replaced(path) as file:
                file.write(text.encode())
            print(f"\nwrote {path.name}")


if __name__ == "__main__":
    main()
