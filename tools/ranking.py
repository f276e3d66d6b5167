"""Fit the weights that graph search ranks its candidates by, and print how well they hold.

    python tools/ranking.py                 # on all sets that are there
    python tools/ranking.py --set sample    # on one
    python tools/ranking.py --unseen unseen # and on a finished run of tools/unseen.py
    python tools/ranking.py --write         # make search/rank/ranking.toml and tools/held_out.toml

The candidates of each question are scored by what they give against gold; weights are fitted so
that better ones come first (`tools/ranking_fit.py`). What is printed of a graph comes from weights
that were fitted without it; variants of one graph are one. `--write` makes two files: the weights
of the package, fitted to all graphs, and for each graph those that were fitted without it. Who
measures on these graphs takes the latter (`--set ranking=tools/held_out.toml` of
`askgraph evaluate`), as `tools/accuracy_floors.py` does. `--cache FOLDER` keeps the graphs and the
scores for the next time.

Questions, graphs and scores are those of `tools/accuracy_floors.py`.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tools.accuracy_floors import FLOORS, HELD_OUT, data_folder, sets
from tools.ranking_fit import (
    L2,
    PRIOR,
    Case,
    ask_generated,
    ask_people,
    f1_of_answer,
    fit_weights,
    fit_without,
)
from tools.unseen_cases import read_folder

from askgraph.evaluation.files import replaced
from askgraph.evaluation.reports.statistics import paired_difference
from askgraph.search.rank import FEATURES, RANKING, Ranking, ranking_text
from askgraph.workspace import Workspace

__all__ = ["report", "write"]

MOST, MOST_GENERATED = 40, 25
"""So many clusters of a question are scored."""


def report(cases: Sequence[Case], *, l2: float = L2) -> str:
    """Return the weights, and their worth on people's questions, each graph held out."""
    people = [case for case in cases if case.source == "people"]
    every, without = fit_weights(cases, l2=l2), fit_without(cases, l2=l2)
    lines = ["feature       prior   fitted   without one graph"]
    for name in FEATURES:
        others = [weights[name] for weights in without.values()]
        lines.append(
            f"{name:<10} {PRIOR.get(name, 0.0):>8.3f} {every[name]:>8.3f}"
            f"   {min(others):.3f} to {max(others):.3f}"
        )
    lines += ["", "set                        n    prior  held out  difference, 95 % interval  p"]
    for title, chosen in _groups(people):
        before = {case.id: f1_of_answer(case, PRIOR) for case in chosen}
        after = {case.id: f1_of_answer(case, without[case.graph]) for case in chosen}
        best = [max((found.f1 for found in case.found), default=0.0) for case in chosen]
        pair = paired_difference(before, after)
        gain = pair.difference
        lines.append(
            f"{title:<26} {pair.n:<4} {100 * pair.a:>5.1f}  {100 * pair.b:>8.1f}"
            f"  {100 * gain.mean:>+5.1f} [{100 * gain.low:+.1f}, {100 * gain.high:+.1f}]"
            f"  {pair.p:.3f}  (best of {MOST}: {100 * sum(best) / len(best):.1f})"
        )
    return "\n".join(lines)


def write(cases: Sequence[Case], command: str, *, l2: float = L2) -> None:
    """Write the weights of the package, and those of each graph that were fitted without it."""
    every, without = fit_weights(cases, l2=l2), fit_without(cases, l2=l2)
    people = sum(case.source == "people" for case in cases)
    about = [
        f"Made by: {command}",
        f"Fitted to {people} people's questions and {len(cases) - people} generated ones over",
        f"{len(without)} graphs.",
    ]
    own = "What each feature of a candidate weighs; see askgraph.search.rank."
    held = "Weights to measure by: those of a graph were fitted without it and its variants."
    names = {case.name: without[case.graph] for case in cases}
    for path, first, ranking in (
        (RANKING, own, Ranking(every)),
        (HELD_OUT, held, Ranking(every, names)),
    ):
        with replaced(path) as file:
            file.write(ranking_text(ranking, [first, *about]).encode())


def _groups(people: Sequence[Case]) -> Iterator[tuple[str, list[Case]]]:
    for name in dict.fromkeys(case.set for case in people):
        yield name, [case for case in people if case.set == name]
    for graph in dict.fromkeys(case.graph for case in people):
        chosen = [case for case in people if case.graph == graph]
        if len({case.name for case in chosen}) == 1:  # variants are asked the same questions
            yield f"  {graph}", chosen


def _cases(chosen: argparse.Namespace, folder: Path) -> tuple[list[Case], set[str]]:
    """Return all cases, and the names of the sets that they are of."""
    workspace, scores = Workspace(folder / "workspace"), folder / "scores"
    wanted = list(sets(data_folder(), workspace, chosen.set or ()))
    cases = [
        case for asked in wanted for case in ask_people(asked, workspace, most=MOST, scores=scores)
    ]
    for asked in wanted if chosen.generated else ():
        number = chosen.generated
        cases += ask_generated(asked, workspace, most=MOST_GENERATED, number=number, scores=scores)
    if chosen.unseen is not None:
        cases += read_folder(chosen.unseen / "clusters", Case)
    return cases, {asked.name for asked in wanted}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--set", action="append", choices=FLOORS, help="a set of accuracy_floors.py; all if none")
    add("--l2", type=float, default=L2, help="how much the weights are held to the prior")
    add("--generated", type=int, default=0, metavar="N", help="generated questions a graph, too")
    add("--unseen", type=Path, metavar="CACHE", help="a finished run of tools/unseen.py, too")
    add("--write", action="store_true", help="write the weights; needs all sets")
    add("--cache", type=Path, metavar="FOLDER", help="keep graphs and scores here")
    return parser.parse_args()


def main() -> None:
    """Fit and print; write the weights where that is wanted."""
    chosen = _arguments()
    with tempfile.TemporaryDirectory() as temporary:
        folder = chosen.cache or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        cases, names = _cases(chosen, folder)
    if not cases:
        raise SystemExit(f"ranking: no such set; the data lies in {data_folder()}")
    if chosen.write and names != set(FLOORS):
        missing = ", ".join(sorted(set(FLOORS) - names))
        raise SystemExit(f"ranking: --write needs all sets, and {missing} is not there")
    print(report(cases, l2=chosen.l2))
    if chosen.write:
        made = "python tools/ranking.py --write"
        made += f" --generated {chosen.generated}" if chosen.generated else ""
        write(cases, made, l2=chosen.l2)
        print(f"\nwrote {RANKING.name} and {HELD_OUT.name}")


if __name__ == "__main__":
    main()
