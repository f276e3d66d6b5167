"""Fit what is behind an answer's confidence, and print how well such confidences hold.

    python tools/calibrate.py                      # on all sets that are there
    python tools/calibrate.py --set sample         # on one
    python tools/calibrate.py --unseen unseen      # and on a finished run of tools/unseen.py
    python tools/calibrate.py --write              # make confidence.json and calibration.toml anew

A confidence is right where, of the answers given with 0.8, eight in ten are right. Two things are
fitted, to people's questions and, at a lower weight, to questions generated from each graph's
profile: the trees of `askgraph.search.decide`, to whether first answers are fully right
(here generated questions with a word masked count, too); and the curve from what these give to a
chance. An answer to a question that the graph cannot answer is wrong. All that is printed of a
graph comes from trees and a curve that were fitted without it; `--write` puts those that were
fitted to all into the package.

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
from tools.calibration_trees import fitted, splits, trees_text, without
from tools.unseen_cases import Attempt, kept_in
from tools.unseen_fit import answered

from askgraph.evaluation.files import replaced
from askgraph.search.decide import CURVE, TREES_FILE, own_trees
from askgraph.workspace import Workspace

__all__ = ["report", "written"]


def report(found: Sequence[Case], given: Sequence[float]) -> str:
    """The trees, the curve, and what confidences catch, each graph by what others `given`."""
    own, new = splits(own_trees()), splits(fitted([case for case in found if case.left == 1]))
    lines = ["evidence           in use   fitted (splits of the trees)"]
    lines += [f"{name:<18} {own[name]:>6}   {new[name]:>6}" for name in own_trees().evidence]
    if len({case.graph for case in found}) == 1:
        lines.append("(only one graph: it was fitted on itself)")
    lines += ["", curve_report(found, given), "", rejection_report(found, held_out(found, given))]
    return "\n".join(lines)


def written(found: Sequence[Case], given: Sequence[float], command: str) -> tuple[str, str]:
    """The two files of the package: the trees, and the curve.

    The curve is fitted to what each graph gets from trees fitted without it, as new graphs will.
    """
    trees = fitted([case for case in found if case.left == 1])
    first = "Trees over the evidence for and against an answer; see askgraph.search.decide."
    return trees_text(trees, [first, *about(found, command)]), curve_file(found, given, command)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    files = f"{TREES_FILE.name} and {CURVE.name}"
    add("--set", action="append", choices=FLOORS, help="a set of accuracy_floors.py; all if none")
    add("--unseen", type=Path, metavar="CACHE", help="a finished run of tools/unseen.py, too")
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
    if chosen.unseen is not None:
        others = [one for one in kept_in(chosen.unseen / "attempts", Attempt) if one.evidence]
        people += [answered(one) for one in others]
        asked += len(others)
    print(f"{len(people)} answers to {asked} questions, {len(made)} to generated and masked ones\n")
    found = people + made
    given = given_without(found, without(found))
    print(report(found, given))
    if chosen.write:
        command = f"python tools/calibrate.py --write --generated {number}"
        command += " --unseen CACHE" if chosen.unseen is not None else ""
        texts = written(found, given, command)
        for path, text in zip((TREES_FILE, CURVE), texts, strict=True):
            with replaced(path) as file:
                file.write(text.encode())
            print(f"\nwrote {path.name}")


if __name__ == "__main__":
    main()
