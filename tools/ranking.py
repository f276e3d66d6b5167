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
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tools.accuracy_floors import FLOORS, HELD_OUT, data_folder, sets
from tools.ranking_cases import Case, Scores, cases_of, generated_of
from tools.ranking_fit import L2, PRIOR, answered, fitted, held_out
from tools.unseen_cases import Case as Unseen
from tools.unseen_cases import kept_in
from tools.unseen_fit import ranked

from askgraph.evaluation.files import replaced
from askgraph.evaluation.reports.statistics import Difference, paired_difference
from askgraph.search.rank import FEATURES, RANKING, Ranking, ranking_text
from askgraph.workspace import Workspace

__all__ = ["report", "write"]

Weights = Mapping[str, float]

MOST, MOST_GENERATED = 40, 25
"""So many clusters of a question are scored."""


def report(cases: Sequence[Case], *, l2: float = L2) -> str:
    """The weights, and what they are worth on people's questions, each graph held out."""
    people = [case for case in cases if not case.generated]
    every, without = fitted(cases, l2=l2), held_out(cases, l2=l2)
    lines = ["feature       prior   fitted   without one graph"]
    for name in FEATURES:
        found = [weights[name] for weights in without.values()]
        lines.append(
            f"{name:<10} {PRIOR.get(name, 0.0):>8.3f} {every[name]:>8.3f}"
            f"   {min(found):.3f} to {max(found):.3f}"
        )
    before = {case.id: answered(case, PRIOR) for case in people}
    after = {case.id: answered(case, without[case.graph]) for case in people}
    best = {case.id: max((f.f1 for f in case.found), default=0.0) for case in people}
    lines += ["", "set                        n    prior  held out  difference, 95 % interval  p"]
    for title, chosen in _groups(people):
        ids = {case.id for case in chosen}
        told = paired_difference(_of(before, ids), _of(after, ids))
        oracle = 100 * sum(best[key] for key in ids) / len(ids)
        lines.append(f"{title:<26} {_told(told)}  (best of {MOST}: {oracle:.1f})")
    return "\n".join(lines)


def write(cases: Sequence[Case], command: str, *, l2: float = L2) -> None:
    """Write the weights of the package, and those of each graph that were fitted without it."""
    every, without = fitted(cases, l2=l2), held_out(cases, l2=l2)
    people = sum(not case.generated for case in cases)
    about = [
        "What each feature of a candidate weighs; see askgraph.search.rank.",
        f"Made by: {command}",
        f"Fitted to {people} people's questions and {len(cases) - people} generated ones over",
        f"{len(without)} graphs.",
    ]
    names = {case.name: without[case.graph] for case in cases}
    held = [
        "Weights to measure by: those of a graph were fitted without it and its variants.",
        *about[1:],
    ]
    for path, text in (
        (RANKING, ranking_text(Ranking(every), about)),
        (HELD_OUT, ranking_text(Ranking(every, names), held)),
    ):
        with replaced(path) as file:
            file.write(text.encode())


def _groups(people: Sequence[Case]) -> Iterator[tuple[str, list[Case]]]:
    for name in dict.fromkeys(case.set for case in people):
        yield name, [case for case in people if case.set == name]
    for graph in dict.fromkeys(case.graph for case in people):
        chosen = [case for case in people if case.graph == graph]
        if len({case.name for case in chosen}) == 1:  # variants are asked the same questions
            yield f"  {graph}", chosen


def _of(values: Mapping[str, float], ids: set[str]) -> dict[str, float]:
    return {key: values[key] for key in ids}


def _told(told: Difference) -> str:
    gain = told.difference
    return (
        f"{told.n:<4} {100 * told.a:>5.1f}  {100 * told.b:>8.1f}  {100 * gain.mean:>+5.1f} "
        f"[{100 * gain.low:+.1f}, {100 * gain.high:+.1f}]  {told.p:.3f}"
    )


def _cases(chosen: argparse.Namespace, folder: Path) -> tuple[list[Case], set[str]]:
    """All cases, and the names of the sets that they are of."""
    workspace = Workspace(folder / "workspace")
    scores = Scores(folder / "scores.jsonl")
    wanted = list(sets(data_folder(), workspace, chosen.set or ()))
    found = [case for asked in wanted for case in cases_of(asked, workspace, scores, most=MOST)]
    if chosen.generated:
        for asked in wanted:
            found += generated_of(
                asked, workspace, scores, most=MOST_GENERATED, number=chosen.generated
            )
    if chosen.unseen is not None:
        found += [ranked(one) for one in kept_in(chosen.unseen / "clusters", Unseen)]
    return found, {asked.name for asked in wanted}


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
