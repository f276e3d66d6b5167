"""How good the vote over the answers of several methods is, against the best of them alone.

    python benchmarks/voting.py --benchmark QUESTIONS[@GRAPH] [--workspace DIR] NAME=FILE ...

A FILE holds what a method answered: predictions as `askgraph score` reads them, or the folder of a
run of `askgraph evaluate`. `--ask METHOD` asks a method that needs no model now; without any FILE,
graph search, the same without operators, and the nearest example are asked. `--benchmark` may come
several times. All queries run again on the graph, best attempts of refusals too, and are scored
without columns that only hold labels of another column.

A method's weight for an answer is its mean F1 on the answers that it gave with the most similar
confidence to other questions: of all other graphs where there are several, else of all other
questions. So nothing is fitted on what it is measured on. Where a method answered in several
rounds, its score is the mean over them, and its rounds are one source in the vote; so are methods
whose names are the same up to `/` or `:`. `best single` is chosen with hindsight, for each measure;
`oracle` takes the best answer there is. Intervals are of the paired difference between the vote
and the best single method (bootstrap, 95 %).
"""

import argparse
import asyncio
import re
import tempfile
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean

from _measure import print_table
from _recorded import Ran, Recorded, recorded_in, recorded_of, run_again
from askgraph import plugins, sample
from askgraph.evaluation import Metric, Table
from askgraph.evaluation.reports.statistics import paired_difference
from askgraph.methods.guided.voting import Opinion, Vote, voted
from askgraph.sparql.comparison import of_columns
from askgraph.trace import Answer
from askgraph.workspace import Workspace
from askgraph.workspace.evaluation import Crew, evaluated
from askgraph.workspace.plans import Wishes, method_choices
from askgraph.workspace.selection import Selection, selected

METRICS = ("best_column", "rows", "flattened")
OWN = ("graph-search", "graph-search:operators=false", "nearest-example")
EQUAL = 0.6  # the weight of each where weights are equal
FOLDS = 5  # of the questions, where examples are learnt from

Scores = Mapping[str, float]


@dataclass(frozen=True)
class Scored:
    """An answer and its F1 by each metric; an answer that fails has 0."""

    recorded: Recorded
    answer: Answer | None
    f1: Scores


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("recorded", nargs="*", metavar="NAME=FILE")
    own = f"{sample.questions_path().with_suffix('.jsonl')}@{sample.graph_path()}"
    parser.add_argument("--benchmark", action="append", metavar="QUESTIONS[@GRAPH]")
    parser.add_argument("--workspace", type=Path)
    parser.add_argument("--ask", action="append", metavar="METHOD", default=[])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = Workspace(options.workspace or folder)
        sources = options.benchmark or [own]
        specs = options.ask or ([] if options.recorded else OWN)
        asyncio.run(measured(place, sources, options.recorded, specs))


async def measured(
    place: Workspace, sources: Sequence[str], files: Sequence[str], specs: Sequence[str]
) -> None:
    """Ask, read, run again, score, vote and print."""
    asked = selected(place, sources, Selection())
    said = [one for spec in specs for one in await asked_now(place, sources, spec)]
    for text in files:
        name, _, path = text.partition("=")
        said += recorded_in(name, Path(path))
    ran, gold, graphs = await run_again(place, asked, said)
    scored = {key: [scored_one(one, gold[key]) for one in found] for key, found in ran.items()}
    print_table(*lines(scored, gold, graphs))


async def asked_now(place: Workspace, sources: Sequence[str], spec: str) -> list[Recorded]:
    """What a method answers that needs no model; one that learns, from questions of other folds."""
    learns = spec.startswith("nearest")
    wishes = Wishes(method_choices([spec]))
    choice = Selection(folds=FOLDS if learns else None)
    run = await evaluated(place, selected(place, sources, choice), wishes, choice, Crew())
    return recorded_of(spec, run.records)


def scored_one(ran: Ran, gold: Table) -> Scored:
    """Score an answer with its answer columns."""
    if ran.answer is None:
        return Scored(ran.recorded, None, dict.fromkeys(METRICS, 0.0))
    return Scored(ran.recorded, ran.answer, f1_of(ran.answer, gold))


def f1_of(answer: Answer, gold: Table) -> Scores:
    """F1 by each metric."""
    if answer.boolean is not None:
        table = Table.of_boolean(answer.boolean)
    else:
        table = Table.of_result(of_columns(answer.result, answer.answer_columns))
    metrics: dict[str, Metric] = {name: plugins.load("metric", name) for name in METRICS}
    return {name: metric(table, gold).f1 for name, metric in metrics.items()}


def lines(
    scored: Mapping[str, Sequence[Scored]], gold: Mapping[str, Table], graphs: Mapping[str, str]
) -> list[Sequence[str]]:
    """The lines of the table: each method, the votes, the best method, the oracle, the gain."""
    methods = list(dict.fromkeys(one.recorded.method for said in scored.values() for one in said))
    told = {(one.recorded.method, one.recorded.repeat) for s in scored.values() for one in s}
    rounds = {method: sum(name == method for name, _ in told) for method in methods}
    singles = {
        method: {key: alone(said, method, rounds[method]) for key, said in scored.items()}
        for method in methods
    }
    votes = voted_scores(scored, gold, learnt(scored, graphs))
    equal = voted_scores(scored, gold, alike)
    oracle = {
        key: {name: max((one.f1[name] for one in said), default=0.0) for name in METRICS}
        for key, said in scored.items()
    }
    best = {name: max(singles.values(), key=partial(mean, metric=name)) for name in METRICS}
    table: list[Sequence[str]] = [("method", "rounds", "questions", *METRICS)]
    table += [line(method, str(rounds[method]), singles[method]) for method in methods]
    table += [
        line("vote", "", {key: scores for key, (_, scores) in votes.items()}),
        line("vote, all weights equal", "", {key: scores for key, (_, scores) in equal.items()}),
        ("best single", "", "", *(f"{mean(best[n], n):.3f}" for n in METRICS)),
        line("oracle", "", oracle),
        ("vote - best single", "", "", *(gain(best[n], votes, n) for n in METRICS)),
    ]
    sure = fmean(vote.confidence if vote else 0.0 for vote, _ in votes.values())
    return [*table, ("the vote's own confidence", "", "", f"{sure:.3f}", "", "")]


def alone(said: Sequence[Scored], method: str, rounds: int) -> Scores:
    """The mean F1 of a method's rounds on one question; a round without an answer has 0."""
    own = [one for one in said if one.recorded.method == method]
    return {name: sum(one.f1[name] for one in own) / rounds for name in METRICS}


def alike(key: str, one: Scored) -> float:
    """Every method as good as every other."""
    return EQUAL


def learnt(
    scored: Mapping[str, Sequence[Scored]], graphs: Mapping[str, str]
) -> Callable[[str, Scored], float]:
    """How good a method's answers of like confidence are, elsewhere."""
    several = len(set(graphs.values())) > 1
    known: dict[str, list[tuple[str, float, float]]] = defaultdict(list)
    for key, said in scored.items():
        for one in said:
            if one.answer is not None:
                where = graphs[key] if several else key
                sure = one.recorded.confidence or 0.0
                known[one.recorded.method].append((where, sure, one.f1[METRICS[0]]))

    def weight(key: str, one: Scored) -> float:
        here = graphs[key] if several else key
        own = one.recorded.confidence or 0.0
        others = [
            (abs(sure - own), f1) for where, sure, f1 in known[one.recorded.method] if where != here
        ]
        near = sorted(gap for gap, _ in others)[: max(5, len(others) // 3)]
        like = [f1 for gap, f1 in others if near and gap <= near[-1]]
        return (sum(like) + 1.0) / (len(like) + 2.0)

    return weight


def voted_scores(
    scored: Mapping[str, Sequence[Scored]],
    gold: Mapping[str, Table],
    weight: Callable[[str, Scored], float],
) -> dict[str, tuple[Vote | None, Scores]]:
    """The vote on each question and its F1; no opinion has 0."""
    found: dict[str, tuple[Vote | None, Scores]] = {}
    for key, said in scored.items():
        vote = voted(
            [
                Opinion(source_of(one), one.answer, weight(key, one))
                for one in said
                if one.answer is not None
            ]
        )
        scores = f1_of(vote.answer, gold[key]) if vote else dict.fromkeys(METRICS, 0.0)
        found[key] = vote, scores
    return found


def source_of(one: Scored) -> str:
    """What errs together: `graph-search:operators=false` is graph search, too."""
    return re.split("[:/]", one.recorded.method)[0]


def line(name: str, rounds: str, scores: Mapping[str, Scores]) -> Sequence[str]:
    """A line of means."""
    return (name, rounds, str(len(scores)), *(f"{mean(scores, metric):.3f}" for metric in METRICS))


def mean(scores: Mapping[str, Scores], metric: str) -> float:
    """The mean over questions."""
    return fmean(one[metric] for one in scores.values())


def gain(
    single: Mapping[str, Scores], votes: Mapping[str, tuple[Vote | None, Scores]], metric: str
) -> str:
    """What the vote has over a method, with the ends of its interval."""
    one = {key: scores[metric] for key, scores in single.items()}
    other = {key: scores[metric] for key, (_, scores) in votes.items()}
    found = paired_difference(one, other).difference
    return f"{found.mean:+.3f} [{found.low:+.3f}, {found.high:+.3f}]"


if __name__ == "__main__":
    main()
