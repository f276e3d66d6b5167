"""Fit the weights that graph search ranks its candidates by, and print how well they hold.

    python tools/ranking.py                 # on all sets that are there
    python tools/ranking.py --set sample    # on one
    python tools/ranking.py --write         # make search/rank/ranking.toml and tools/held_out.toml

The candidates of each question are scored by what they give against gold; weights are fitted so
that better ones come first. What is printed of a graph comes from weights
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
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
from tools.accuracy_floors import FLOORS, HELD_OUT, explained
from tools.judging import (
    Case,
    Floats,
    Found,
    Judge,
    Weights,
    find_sets,
    group_others,
    open_graphs,
    share_weights,
)

from askgraph.answers.search_run import MAX_EMPTY_SCORE_GAP, SearchLimits
from askgraph.evaluation import ResultTable
from askgraph.evaluation.files import replace_file
from askgraph.evaluation.questions import try_load_gold
from askgraph.evaluation.reports import compare_paired
from askgraph.search import rank
from askgraph.workspace import Workspace
from askgraph.workspace.plans import BenchmarkQuestions

MOST = 40  # so many clusters of a question are scored

PRIOR: Weights = tomllib.loads(Path(__file__).with_name("ranking_prior.toml").read_text("utf-8"))
"""Set by hand, before anything was fitted; the other features were 0."""

TAU = 0.2  # by how much a score must be ahead for odds of e

L2 = 0.01
NEAREST = 25  # so many clusters of a question, best first by the prior, are set against each other

_STEPS, _ENOUGH = 30, 1e-6


def report(cases: Sequence[Case]) -> str:
    """Return the weights, and their worth on people's questions, each graph held out."""
    every, without = fit_weights(cases), fit_without(cases)
    lines = ["feature       prior   fitted   without one graph"]
    for name in rank.FEATURES:
        others = [weights[name] for weights in without.values()]
        lines.append(
            f"{name:<10} {PRIOR.get(name, 0.0):>8.3f} {every[name]:>8.3f}"
            f"   {min(others):.3f} to {max(others):.3f}"
        )
    lines += ["", "set                        n    prior  held out  difference, 95 % interval  p"]
    for title, chosen in _groups(cases):
        before = {case.id: f1_of_answer(case, PRIOR) for case in chosen}
        after = {case.id: f1_of_answer(case, without[case.graph]) for case in chosen}
        best = [max((found.f1 for found in case.found), default=0.0) for case in chosen]
        pair = compare_paired(before, after)
        gain = pair.difference
        lines.append(
            f"{title:<26} {pair.n:<4} {100 * pair.a:>5.1f}  {100 * pair.b:>8.1f}"
            f"  {100 * gain.mean:>+5.1f} [{100 * gain.low:+.1f}, {100 * gain.high:+.1f}]"
            f"  {pair.p:.3f}  (best of {MOST}: {100 * sum(best) / len(best):.1f})"
        )
    return "\n".join(lines)


def write(cases: Sequence[Case], command: str) -> None:
    """Write the weights of the package, and those of each graph that were fitted without it."""
    every, without = fit_weights(cases), fit_without(cases)
    about = [
        f"Made by: {command}",
        f"Fitted to {len(cases)} people's questions over {len(without)} graphs.",
    ]
    own = "What each feature of a candidate weighs; see askgraph.search.rank."
    held = "Weights to measure by: those of a graph were fitted without it and its variants."
    names = {case.name: without[case.graph] for case in cases}
    for path, first, ranking in (
        (rank.DEFAULT_RANKING_PATH, own, rank.FeatureWeights(every)),
        (HELD_OUT, held, rank.FeatureWeights(every, names)),
    ):
        with replace_file(path) as file:
            file.write(format_ranking(ranking, [first, *about]).encode())


def format_ranking(ranking: rank.FeatureWeights, comment_lines: Sequence[str]) -> str:
    """Format feature weights as a file for `read_ranking`, with comment lines on top.

    Weights are rounded to four decimal places.
    """
    lines = [f"# {line}".rstrip() for line in comment_lines]
    lines += ["", "[weights]", *_format_rows(ranking.weights)]
    for name, weights in sorted(ranking.graphs.items()):
        lines += ["", f"[graphs.{_quote_key(name)}]", *_format_rows(weights)]
    return "\n".join([*lines, ""])


def _format_rows(weights: Weights) -> list[str]:
    return [f"{name} = {round(float(weights[name]), 4)!r}" for name in rank.FEATURES]


def _quote_key(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    characters = (c if c.isprintable() else f"\\U{ord(c):08x}" for c in escaped)
    return f'"{"".join(characters)}"'


def _groups(people: Sequence[Case]) -> Iterator[tuple[str, list[Case]]]:
    for name in dict.fromkeys(case.set for case in people):
        yield name, [case for case in people if case.set == name]
    for graph in dict.fromkeys(case.graph for case in people):
        chosen = [case for case in people if case.graph == graph]
        if len({case.name for case in chosen}) == 1:  # variants are asked the same questions
            yield f"  {graph}", chosen


def _cases(chosen: argparse.Namespace, folder: Path) -> list[Case]:
    """Return all cases."""
    workspace, scores = Workspace(folder / "workspace"), folder / "scores"
    wanted = find_sets(workspace, chosen.set, every=chosen.write)
    return [
        case for asked in wanted for case in ask_people(asked, workspace, most=MOST, scores=scores)
    ]


def ask_people(
    asked: BenchmarkQuestions, workspace: Workspace, *, most: int, scores: Path | None = None
) -> Iterator[Case]:
    """Yield people's questions of a set that have an answer, each with its `most` best clusters."""
    for judge, title, questions in open_graphs(asked, workspace, scores):
        about = (asked.name, judge.graph.name, title)
        for one in questions:
            if one.unanswerable:
                continue
            asking = try_load_gold(one, judge.graph.endpoint, timeout=10.0)
            if (gold := judge.runner.run(asking)[0]) is not None:
                key = f"{asked.name} {one.id}"
                found = _judge_clusters(judge, key, one.text, one.language, [gold], most)
                yield Case(key, *about, found)


def _judge_clusters(
    judge: Judge, key: str, text: str, language: str | None, golds: Sequence[ResultTable], most: int
) -> tuple[Found, ...]:
    found = []
    for cluster in rank.cluster_candidates(judge.propose(text, language).candidates)[:most]:
        _, (f1, _, empty) = judge.score(key, cluster, lambda: golds)
        found.append(Found(tuple(dict(one.features) for one in cluster.members), f1, empty))
    return tuple(found)


def fit_weights(cases: Sequence[Case], *, l2: float = L2) -> dict[str, float]:
    """Fit one weight for each feature, by Newton's method.

    A pair counts by the difference in F1, all pairs of a question together count 1; graphs count as
    `share_weights` has it. `l2` holds each weight to the prior, in units of the feature's own
    spread; a feature that never differs keeps it. As only the ratios of the weights tell, they are
    given so that `covered` weighs what it does in the prior, where that can be: limits in units of
    the score stay what they are.
    """
    prior = np.array([PRIOR.get(name, 0.0) for name in rank.FEATURES])
    shares = share_weights([(case.graph, case.source) for case in cases]).tolist()
    pairs = [
        pair for case, share in zip(cases, shares, strict=True) for pair in _pairs(case, share)
    ]
    if not pairs:
        return dict(zip(rank.FEATURES, prior.tolist(), strict=True))
    gaps, counts = map(np.array, zip(*pairs, strict=True))
    weights = dict(
        zip(rank.FEATURES, _minimize_loss(gaps, counts, prior, l2).tolist(), strict=True)
    )
    scale = PRIOR["covered"] / weights["covered"] if weights["covered"] > 0 else 1.0
    return {name: round(weight * scale, 4) for name, weight in weights.items()}


def fit_without(cases: Sequence[Case], *, l2: float = L2) -> dict[str, dict[str, float]]:
    """Fit the weights for each graph without it and its variants."""
    others = group_others(cases, lambda case: case.graph)
    return {graph: fit_weights(rest, l2=l2) for graph, rest in others.items()}


def f1_of_answer(case: Case, weights: Weights) -> float:
    """Return the F1 of graph search's answer by some weights, were it never to ask or refuse."""
    ranked = sorted(case.found, key=lambda found: -total_score(found, weights))
    if not ranked:
        return 0.0
    least = total_score(ranked[0], weights) - MAX_EMPTY_SCORE_GAP
    tried = ranked[: SearchLimits().tried]
    near = (found for found in tried if found is ranked[0] or total_score(found, weights) >= least)
    return next((found for found in near if not found.empty), ranked[0]).f1


def total_score(found: Found, weights: Weights) -> float:
    """Return the score of a cluster."""
    return rank.score_cluster([_score(member, weights) for member in found.members])


def _score(features: Weights, weights: Weights) -> float:
    return sum(weights.get(name, 0.0) * value for name, value in features.items())


def _pairs(case: Case, share: float) -> Iterator[tuple[Floats, float]]:
    """Yield the features of the better of two clusters less the other's, and the pair's weight."""
    sides = []
    for found in case.found:
        best = max(found.members, key=lambda member: _score(member, PRIOR))
        row = np.array([best.get(name, 0.0) for name in rank.FEATURES])
        sides.append((_score(best, PRIOR), row, found.f1))
    near = sorted(sides, key=lambda side: -side[0])[:NEAREST]
    pairs = [
        (row - other, f1 - lower) for _, row, f1 in near for _, other, lower in near if f1 > lower
    ]
    total = sum(gain for _, gain in pairs)
    for gap, gain in pairs:
        yield gap, share * gain / total


def _minimize_loss(gaps: Floats, counts: Floats, prior: Floats, l2: float) -> Floats:
    """Return the weights where the loss is least: it is convex, so there is one such place."""
    counts = counts / counts.sum()
    spread = np.sqrt(counts @ gaps**2)
    free = spread > 0
    rows, held = gaps[:, free] / TAU, l2 * (spread[free] / TAU) ** 2
    ahead, change = gaps @ prior / TAU, np.zeros(int(free.sum()))
    for _ in range(_STEPS):
        wrong = 1 / (1 + np.exp(np.clip(ahead + rows @ change, -60, 60)))
        slope = held * change - (counts * wrong) @ rows
        bend = (rows * (counts * wrong * (1 - wrong))[:, None]).T @ rows + np.diag(held)
        step = np.linalg.solve(bend, slope)
        change = change - step / max(1.0, float(np.abs(step).max()))
        if float(np.abs(step).max()) < _ENOUGH:
            break
    weights = prior.copy()
    weights[free] += change
    return weights


def main() -> None:
    """Fit and print; write the weights where that is wanted."""
    parser = explained(__doc__)
    add = parser.add_argument
    add("--set", action="append", choices=FLOORS, help="a set of accuracy_floors.py; all if none")
    add("--write", action="store_true", help="write the weights; needs all sets")
    add("--cache", type=Path, metavar="FOLDER", help="keep graphs and scores here")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = chosen.cache or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        cases = _cases(chosen, folder)
    print(report(cases))
    if chosen.write:
        write(cases, "python tools/ranking.py --write")
        print(f"\nwrote {rank.DEFAULT_RANKING_PATH.name} and {HELD_OUT.name}")


if __name__ == "__main__":
    main()
