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
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
from tools.accuracy_floors import FLOORS, data_folder, sets
from tools.calibration import (
    Case,
    about,
    cases,
    curve_file,
    curve_report,
    fitted_trees,
    generated_cases,
    given_without,
    held_out,
    splits,
    trees_text,
    without,
)
from tools.unseen_cases import Attempt, answered, kept_in

from askgraph.evaluation.files import replaced
from askgraph.evaluation.reports.confidence import LOST, RIGHT_FROM, auc_interval, limit_for
from askgraph.evaluation.reports.statistics import bootstrap_interval
from askgraph.search.decide import CURVE, TREES_FILE, own_trees
from askgraph.workspace import Workspace

_LOST = (0.02, 0.05, 0.1, 0.15, 0.2, 0.3)


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
    lines += ["set                   " + "".join(f"{lost:>7.0%}" for lost in _LOST)]
    for name in _names(found, people):
        at = [place for place in people if found[place].asked == name]
        judged = [(confidence[place], found[place].right) for place in at]
        shares = (_caught(judged, limit_for(judged, lost=lost)) for lost in _LOST)
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


def report(found: Sequence[Case], given: Sequence[float]) -> str:
    """The trees, the curve, and what confidences catch, each graph by what others `given`."""
    own, new = splits(own_trees()), splits(fitted_trees([case for case in found if case.left == 1]))
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
    trees = fitted_trees([case for case in found if case.left == 1])
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
