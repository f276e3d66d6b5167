"""How right graph search is on graphs and styles that nothing was fitted to.

    python tools/unseen.py --cache unseen                  # everything; goes on after a stop
    python tools/unseen.py --cache unseen --jobs 8
    python tools/unseen.py --cache quick --sample 6 --as-it-is
    python tools/unseen.py --cache after --against before  # two states side by side

The questions are those of a folder of graphs in several styles (`spider-graphs` in the data; see
`tools/unseen_cases.py`). For each style the weights of the ranking are fitted to the graphs of all
other styles, candidates are ranked by these, and the weights and the curve of confidence are
fitted to the answers over the other styles' graphs. So no figure of a style comes from weights
that saw a graph of it. With `--own-ranking` candidates are ranked as the package ranks them, and
only confidence is fitted, in a third of the time. With `--as-it-is` everything is weighed as the
package weighs it, which tells something only as long as the package was fitted to other graphs.

An answer that gives a thing where gold has its name counts (`by_name`). *Sure* are confidences
from 0.9 on; *right* is an answer with an F1 of 1; the oracle is the best F1 among the first
clusters. A cache holds for the code that made it: take another folder after a change.
"""

import argparse
import gzip
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from tools.accuracy_floors import align, data_folder
from tools.judging import Case, read_or_make
from tools.unseen_cases import (
    Attempt,
    Item,
    attempted,
    cases_of,
    confidence_without,
    confidences,
    items_of,
    ranking_without,
    sampled,
)

from askgraph.evaluation.files import replace_file
from askgraph.evaluation.reports import compare_paired, compute_bootstrap_interval
from askgraph.evaluation.reports.confidence import compute_calibration, compute_mean_at_coverage
from askgraph.search.decide import calibrate, score_evidence

__all__ = ["Outcome", "Work", "compared", "measured", "table"]

SURE = 0.9
RIGHT = 1 - 1e-9
MOST = 40
DEPTHS = (5, 20, 40)


@dataclass(frozen=True)
class Outcome:
    """A question's answer: its style, F1 plain and by name, confidence, best F1 at each depth."""

    id: str
    graph: str
    style: str
    f1: float
    by_name: float
    confidence: float
    query: str = ""
    oracle: tuple[float, ...] = ()

    @property
    def sure(self) -> bool:
        """Whether the answer is called sure."""
        return self.confidence >= SURE

    @property
    def right(self) -> bool:
        """Whether nothing of the answer is wrong or missing."""
        return self.by_name >= RIGHT


def table(found: Sequence[Outcome]) -> str:
    """Return the figures by style and in total, one line each."""
    heads = ("style", "n", "F1 by name, 95 %", "F1 strict", "surest half", "sure", "sure: right",
             "wrong", "ECE", *(f"oracle {depth}" for depth in DEPTHS))  # fmt: skip
    lines = [heads, *(_line(style, chosen) for style, chosen in _by_style(found))]
    return align(lines, gap="  ", side=">")


def _by_style(found: Sequence[Outcome]) -> Iterator[tuple[str, list[Outcome]]]:
    for style in sorted({one.style for one in found}):
        yield style, [one for one in found if one.style == style]
    yield "all", list(found)


def _line(style: str, found: Sequence[Outcome]) -> tuple[str, ...]:
    sure = [one for one in found if one.sure]
    rights = [(one.confidence, float(one.right)) for one in found]
    half = compute_mean_at_coverage([(one.confidence, one.by_name) for one in found], 0.5)
    oracles = [one.oracle for one in found if one.oracle]
    depths = [f"{sum(best) / len(best):.3f}" for best in zip(*oracles, strict=True)]
    return (
        style,
        str(len(found)),
        _interval([one.by_name for one in found]),
        f"{sum(one.f1 for one in found) / len(found):.3f}",
        f"{half:.3f}",
        f"{len(sure) / len(found):.3f}",
        _interval([float(one.right) for one in sure]) if sure else "-",
        str(sum(not one.right for one in sure)),
        f"{compute_calibration(rights).ece:.3f}",
        *(depths or "-" * len(DEPTHS)),
    )


def _interval(values: Sequence[float]) -> str:
    of = compute_bootstrap_interval(values, sample_count=2_000)
    return f"{of.mean:.3f} [{of.low:.3f}, {of.high:.3f}]"


def compared(before: Sequence[Outcome], after: Sequence[Outcome]) -> str:
    """Return both tables, and the difference in F1 by style."""
    lines = ["before", table(before), "", "after", table(after), "", "difference in F1 by name"]
    for (style, one), (_, other) in zip(_by_style(before), _by_style(after), strict=True):
        told = compare_paired({o.id: o.by_name for o in one}, {o.id: o.by_name for o in other})
        gain = told.difference
        lines.append(
            f"{style:>5}  {100 * gain.mean:+.1f} [{100 * gain.low:+.1f}, {100 * gain.high:+.1f}]"
            f"  better {told.better}, worse {told.worse}"
        )
    return "\n".join(lines)


@dataclass(frozen=True)
class Work:
    """What is done graph by graph: by several processes, each graph kept when it is done."""

    data: Path
    cache: Path
    items: Sequence[Item]
    jobs: int = 2

    def over_graphs(
        self,
        folder: str,
        of: type,
        make: Callable[..., Any],
        by_style: Mapping[str, Any],
        *more: Any,
    ) -> list[Any]:
        """Do some work over all graphs, the largest first; return all of it in their order."""
        graphs = list(dict.fromkeys(item.graph for item in self.items))
        graphs.sort(key=lambda graph: -(self.data / "kg" / graph).stat().st_size)
        found: dict[str, list[Any]] = {}
        with ProcessPoolExecutor(self.jobs, get_context("spawn")) as pool:
            waiting = {}
            for graph in graphs:
                own = [item for item in self.items if item.graph == graph]
                path = self.cache / folder / f"{Path(graph).stem}.json.gz"
                weights = by_style.get(own[0].style)
                work = partial(make, self.data, graph, own, self.cache, weights, *more)
                waiting[pool.submit(read_or_make, path, of, work)] = graph
            for done, job in enumerate(as_completed(waiting), 1):
                found[waiting[job]] = job.result()
                is_last = done == len(graphs)
                if is_last or sys.stderr.isatty():
                    text = f"{folder}: {done} of {len(graphs)} graphs"
                    print(f"\r{text}", end="\n" if is_last else "", file=sys.stderr, flush=True)
        return [one for graph in sorted(found) for one in found[graph]]


def measured(work: Work, *, as_it_is: bool = False, own_ranking: bool = False) -> list[Outcome]:
    """Ask all questions; return how each went.

    Their best candidates are scored, for the ranking and the oracle; not with `own_ranking`.
    """
    cases, rankings, folder = list[Case](), dict[str, dict[str, float]](), "attempts"
    if as_it_is:
        folder = "as-it-is"
    elif not own_ranking:
        cases = work.over_graphs("clusters", Case, cases_of, {}, MOST)
        rankings = ranking_without(cases)
    attempts = work.over_graphs(folder, Attempt, attempted, rankings)
    if as_it_is:
        given = [
            calibrate(score_evidence(one.evidence)) if one.evidence else 0.0 for one in attempts
        ]
    else:
        given = confidences(attempts, confidence_without(attempts))
    best = {
        case.id: tuple(max((f.f1 for f in case.found[:depth]), default=0.0) for depth in DEPTHS)
        for case in cases
    }
    return [
        Outcome(one.id, one.graph, one.style, one.f1, one.by_name, chance * one.left, one.query,
                best.get(one.id, ()))
        for one, chance in zip(attempts, given, strict=True)
    ]  # fmt: skip


def _read(cache: Path) -> list[Outcome]:
    path = cache / "outcomes.json.gz"
    if not path.is_file():
        raise SystemExit(f"unseen: {cache} holds no finished run; make one with --cache {cache}")
    return [
        Outcome(**{**one, "oracle": tuple(one["oracle"])})
        for one in json.loads(gzip.decompress(path.read_bytes()))
    ]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--cache", type=Path, required=True, help="what was found is kept here")
    add("--data", type=Path, help="the folder of questions; spider-graphs of the data if none")
    add("--jobs", type=int, default=2, help="processes")
    add("--sample", type=int, metavar="N", help="so many questions of each graph")
    add("--own-ranking", action="store_true", help="candidates as the package ranks them")
    add("--as-it-is", action="store_true", help="the package's own weights; nothing is fitted")
    add("--against", type=Path, metavar="CACHE", help="a finished run to set beside this one")
    return parser.parse_args()


def main() -> None:
    """Measure and print."""
    chosen = _arguments()
    data = chosen.data or data_folder() / "spider-graphs"
    if not (data / "questions.jsonl").is_file():
        raise SystemExit(
            f"unseen: {data} holds no questions.jsonl; name the folder of the questions with --data"
        )
    before = _read(chosen.against) if chosen.against is not None else None
    chosen.cache.mkdir(parents=True, exist_ok=True)
    work = Work(data, chosen.cache, sampled(items_of(data), chosen.sample), chosen.jobs)
    found = measured(work, as_it_is=chosen.as_it_is, own_ranking=chosen.own_ranking)
    with replace_file(chosen.cache / "outcomes.json.gz") as file:
        file.write(gzip.compress(json.dumps([asdict(one) for one in found]).encode()))
    print(table(found) if before is None else compared(before, found))


if __name__ == "__main__":
    main()
