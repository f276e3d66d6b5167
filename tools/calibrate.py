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

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
from tools.accuracy_floors import FLOORS, explained
from tools.calibration import (
    Case,
    about,
    cases,
    chances_of,
    count_splits,
    curve_file,
    curve_report,
    fit_trees,
    fit_without,
    generated_cases,
    hold_out,
    trees_text,
)
from tools.judging import find_sets
from tools.unseen import read_attempts

from askgraph.evaluation.files import replace_file
from askgraph.evaluation.reports import compute_bootstrap_interval
from askgraph.evaluation.reports.confidence import (
    MAX_LOST_SHARE,
    RIGHT_SCORE_THRESHOLDS,
    compute_auc_interval,
    find_threshold,
)
from askgraph.search.decide import CURVE_FILE, TREES_FILE, load_trees
from askgraph.workspace import Workspace

_LOST = (0.02, 0.05, 0.1, 0.15, 0.2, 0.3)
_HEAD = (
    "set                    n    wrong  AUC                   Brier  "
    "caught in hindsight   caught, limit of others  lost"
)
Judged = tuple[Case, float]  # A case and its confidence by a model fitted without its graph


def rejection_report(found: Sequence[Case], confidence: Sequence[float]) -> str:
    """Tell for each set of people's questions what a limit of confidence catches and loses.

    `confidence` is that of each case by a model fitted without its graph. The limit of a graph is
    the one that loses a tenth of the right answers over all other graphs; "in hindsight" it is
    chosen on the set itself. In brackets are 95 % bootstrap intervals over answers.
    """
    people = [pair for pair in zip(found, confidence, strict=True) if pair[0].source == "people"]
    by_set: dict[str, list[Judged]] = {}
    for pair in people:
        by_set.setdefault(pair[0].set, []).append(pair)
    lines: list[str] = []
    for least in RIGHT_SCORE_THRESHOLDS:
        limits = {
            held: find_threshold(_judge([pair for pair in people if pair[0].held != held], least))
            for held in {case.held for case in found}
        }
        rows = (_line(name, own, least, limits) for name, own in by_set.items())
        lines += [f"right from F1 {least:g}", _HEAD, *rows, ""]
    lines += ["caught of the wrong, where so many of the right are lost (in hindsight)"]
    lines += ["set                   " + "".join(f"{lost:>7.0%}" for lost in _LOST)]
    for name, own in by_set.items():
        judged = [(chance, case.right) for case, chance in own]
        wrong = [chance for chance, right in judged if not right]
        limits_of_set = [find_threshold(judged, max_lost_share=lost) for lost in _LOST]
        caught = (sum(one < limit for one in wrong) / max(1, len(wrong)) for limit in limits_of_set)
        lines.append(f"{name:<22}" + "".join(f"{share:>7.1%}" for share in caught))
    return "\n".join(lines)


def _judge(pairs: Sequence[Judged], least: float) -> list[tuple[float, bool]]:
    return [(chance, case.f1 >= least - 1e-9) for case, chance in pairs]


def _line(name: str, own: Sequence[Judged], least: float, limits: dict[str, float]) -> str:
    judged = _judge(own, least)
    hindsight, area = (
        find_threshold(judged, max_lost_share=MAX_LOST_SHARE),
        compute_auc_interval(judged),
    )
    brier = float(np.mean([(chance - case.f1) ** 2 for case, chance in own]))
    wrong = [chance for chance, right in judged if not right]
    below = [chance < limits[case.held] for case, chance in own]
    auc = f"{area.mean:.3f} [{area.low:.3f}, {area.high:.3f}]" if area else "-"
    chosen = _share([chance < hindsight for chance in wrong])
    caught = _share([one for one, (_, right) in zip(below, judged, strict=True) if not right])
    lost = _share([one for one, (_, right) in zip(below, judged, strict=True) if right])
    return (
        f"{name:<22} {len(own):<4} {len(wrong):<6} {auc:<21} {brier:.3f}  "
        f"{chosen:<21} {caught:<24} {lost}"
    )


def _share(rejected: Sequence[bool]) -> str:
    if not rejected:
        return "-"
    share = compute_bootstrap_interval(list(map(float, rejected)))
    return f"{share.mean:.1%} [{share.low:.1%}, {share.high:.1%}]"


def report(found: Sequence[Case], given: Sequence[float]) -> str:
    """Return the trees, the curve, and what confidences catch, by what other graphs `given`."""
    firsts = [case for case in found if case.left == 1]
    own, new = count_splits(load_trees()), count_splits(fit_trees(firsts))
    lines = ["evidence           in use   fitted (splits of the trees)"]
    lines += [f"{name:<18} {own[name]:>6}   {new[name]:>6}" for name in load_trees().evidence]
    if len({case.graph for case in found}) == 1:
        lines.append("(only one graph: it was fitted on itself)")
    lines += ["", curve_report(found, given), "", rejection_report(found, hold_out(found, given))]
    return "\n".join(lines)


def written(found: Sequence[Case], given: Sequence[float], command: str) -> tuple[str, str]:
    """Return the two files of the package: the trees, and the curve.

    The curve is fitted to what each graph gets from trees fitted without it, as new graphs will.
    """
    trees = fit_trees([case for case in found if case.left == 1])
    first = "Trees over the evidence for and against an answer; see askgraph.search.decide."
    return trees_text(trees, [first, *about(found, command)]), curve_file(found, given, command)


def main() -> None:
    """Fit and print; write the files where that is wanted."""
    parser = explained(__doc__)
    add = parser.add_argument
    files = f"{TREES_FILE.name} and {CURVE_FILE.name}"
    add("--set", action="append", choices=FLOORS, help="a set of accuracy_floors.py; all if none")
    add("--unseen", type=Path, metavar="CACHE", help="a finished run of tools/unseen.py, too")
    add("--generated", type=int, default=60, metavar="N", help="generated questions a graph")
    add("--write", action="store_true", help=f"write {files}; needs all sets")
    add("--jobs", type=int, default=1, help="processes that answer people's questions")
    add("--workspace", type=Path, help="keep the built graphs here")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        workspace = Workspace(chosen.workspace or temporary)
        wanted = find_sets(workspace, chosen.set, every=chosen.write)
        people = [case for one in wanted for case in cases(one, workspace, jobs=chosen.jobs)]
        number = chosen.generated
        made = [case for one in wanted for case in generated_cases(one, workspace, number=number)]
    asked = sum(len(one.questions) for one in wanted)
    if chosen.unseen is not None:
        others = [one.case for one in read_attempts(chosen.unseen / "attempts") if one.evidence]
        people += others
        asked += len(others)
    print(f"{len(people)} answers to {asked} questions, {len(made)} to generated and masked ones\n")
    found = people + made
    given = chances_of(found, fit_without(found))
    print(report(found, given))
    if chosen.write:
        command = f"python tools/calibrate.py --write --generated {number}"
        command += " --unseen CACHE" if chosen.unseen is not None else ""
        texts = written(found, given, command)
        for path, text in zip((TREES_FILE, CURVE_FILE), texts, strict=True):
            with replace_file(path) as file:
                file.write(text.encode())
            print(f"\nwrote {path.name}")


if __name__ == "__main__":
    main()
