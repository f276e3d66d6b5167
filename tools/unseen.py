"""How right graph search is on graphs and styles that no confidence was fitted to.

    python tools/unseen.py --cache unseen                  # everything; goes on after a stop
    python tools/unseen.py --cache unseen --jobs 8
    python tools/unseen.py --cache quick --sample 6 --as-it-is

The questions are those of a folder of graphs in several styles (`spider-graphs` in the data): each
names its graph and, in its tags, the style that the graph is written in. Candidates are ranked as
the package ranks them. For each style the weights and the curve of confidence are fitted to the
answers over the graphs of all other styles. With `--as-it-is` confidence is the package's, too,
which tells something only as long as the package was fitted to other graphs.

An answer that gives a thing where gold has its name counts (`by_name`). *Sure* are confidences
from 0.9 on; *right* is an answer with an F1 of 1. A cache has a file for each graph that is done;
it holds for the code that made it: take another folder after a change.
"""

import gzip
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parents[1]))

from tools.accuracy_floors import align, data_folder, explained
from tools.calibration import Case, chances_of, fit_curve, fit_trees, fit_without
from tools.judging import Judge, group_others

from askgraph.answers.search_run import MAX_EMPTY_SCORE_GAP, SKIPPED_CANDIDATE_FACTOR, SearchLimits
from askgraph.evaluation.benchmarks.formats import read_questions
from askgraph.evaluation.files import replace_file
from askgraph.evaluation.questions import GoldQuestion, collect_names
from askgraph.evaluation.reports import compute_bootstrap_interval
from askgraph.evaluation.reports.confidence import compute_calibration, compute_mean_at_coverage
from askgraph.search import decide
from askgraph.search.rank import cluster_candidates
from askgraph.workspace import Workspace

SURE, RIGHT = 0.9, 1 - 1e-9
QUERY_SECONDS, GOLD_SECONDS = 2.0, 60.0


@dataclass(frozen=True)
class Attempt:
    """The answer to a question: its query, its F1 plain and by name, and the evidence for it.

    `left` is what is left of the confidence if better candidates were passed over or the result
    is empty. Without any candidate there is no evidence.
    """

    id: str
    graph: str
    style: str
    query: str = ""
    f1: float = 0.0
    by_name: float = 0.0
    left: float = 1.0
    evidence: Mapping[str, float] = field(default_factory=dict)
    confidence: float = 0.0

    @property
    def sure(self) -> bool:
        """Whether the answer is called sure."""
        return self.confidence >= SURE

    @property
    def right(self) -> bool:
        """Whether nothing of the answer is wrong or missing."""
        return self.by_name >= RIGHT

    @property
    def case(self) -> Case:
        """The attempt as a case of calibration; its style counts as its set."""
        graph, style = Path(self.graph).stem, self.style
        return Case(style, self.evidence, self.by_name, graph, left=self.left, fold=style)


def read_attempts(path: Path) -> list[Attempt]:
    """Return the attempts of a file, or of all files of a folder."""
    paths = [path] if path.is_file() else sorted(path.glob("*.json.gz"))
    rows = [row for each in paths for row in json.loads(gzip.decompress(each.read_bytes()))]
    if not rows:
        raise SystemExit(f"unseen: {path} holds no finished run")
    return [Attempt(**row) for row in rows]


def write_attempts(path: Path, attempts: Sequence[Attempt]) -> None:
    """Write a file that `read_attempts` reads."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replace_file(path) as file:
        file.write(gzip.compress(json.dumps([asdict(one) for one in attempts]).encode(), 1))


def table(attempts: Sequence[Attempt]) -> str:
    """Return the figures by style and in total, one line each."""
    heads = "style|n|F1 by name, 95 %|F1 strict|surest half|sure|sure: right|wrong|ECE".split("|")
    lines = [heads, *(_line(style, chosen) for style, chosen in _by_style(attempts))]
    return align(lines, gap="  ", side=">")


def _by_style(attempts: Sequence[Attempt]) -> Iterator[tuple[str, list[Attempt]]]:
    for style in sorted({one.style for one in attempts}):
        yield style, [one for one in attempts if one.style == style]
    yield "all", list(attempts)


def _line(style: str, attempts: Sequence[Attempt]) -> tuple[str, ...]:
    sure = [one for one in attempts if one.sure]
    rights = [(one.confidence, float(one.right)) for one in attempts]
    half = compute_mean_at_coverage([(one.confidence, one.by_name) for one in attempts], 0.5)
    return (
        style,
        str(len(attempts)),
        _interval([one.by_name for one in attempts]),
        f"{sum(one.f1 for one in attempts) / len(attempts):.3f}",
        f"{half:.3f}",
        f"{len(sure) / len(attempts):.3f}",
        _interval([float(one.right) for one in sure]) if sure else "-",
        str(sum(not one.right for one in sure)),
        f"{compute_calibration(rights).ece:.3f}",
    )


def _interval(values: Sequence[float]) -> str:
    of = compute_bootstrap_interval(values, sample_count=2_000)
    return f"{of.mean:.3f} [{of.low:.3f}, {of.high:.3f}]"


@dataclass(frozen=True)
class Work:
    """The questions of a folder, or a sample of so many of each graph, and how they are asked."""

    data: Path
    cache: Path
    sample: int | None = None
    jobs: int = 2

    def attempts(self) -> list[Attempt]:
        """Ask graph by graph, the largest first, each kept when it is done; in their order."""
        graphs: dict[str, list[GoldQuestion]] = {}
        for question in read_questions(self.data / "questions.jsonl"):
            graphs.setdefault(str(question.graph), []).append(question)
        found: dict[str, list[Attempt]] = {}
        with ProcessPoolExecutor(self.jobs, get_context("spawn")) as pool:
            waiting = {
                pool.submit(self.attempts_over, graph, draw(graphs[graph], self.sample)): graph
                for graph in sorted(graphs, key=lambda g: -(self.data / "kg" / g).stat().st_size)
            }
            for done, job in enumerate(as_completed(waiting), 1):
                found[waiting[job]] = job.result()
                is_last = done == len(graphs)
                if is_last or sys.stderr.isatty():
                    end = "\n" if is_last else ""
                    print(f"\r{done} of {len(graphs)} graphs", end=end, file=sys.stderr, flush=True)
        return [one for graph in sorted(found) for one in found[graph]]

    def attempts_over(self, graph: str, questions: Sequence[GoldQuestion]) -> list[Attempt]:
        """Return what was kept of a graph; otherwise ask, over a graph that is built if need be."""
        path = self.cache / "attempts" / f"{Path(graph).stem}.json.gz"
        if path.is_file():
            return read_attempts(path)
        workspace, name = Workspace(self.cache / "workspace"), Path(graph).stem
        if name not in workspace.graphs():
            workspace.add(name, [self.data / "kg" / graph])
        opened = workspace.find(name)
        with Judge(opened, self.cache / "scores", collect_names(opened), QUERY_SECONDS) as judge:
            attempts = [_attempt(judge, question) for question in questions]
        write_attempts(path, attempts)
        return attempts


def draw(questions: Sequence[GoldQuestion], number: int | None) -> list[GoldQuestion]:
    """Return so many questions, always the same, in their order; all if None."""
    if number is None:
        return list(questions)
    return sorted(Random(0).sample(questions, min(number, len(questions))), key=questions.index)


def _attempt(judge: Judge, question: GoldQuestion) -> Attempt:
    """Return what graph search would answer, as `SearchRun.find_first_answer` has it."""
    styles = (tag.removeprefix("style:") for tag in question.tags if tag.startswith("style:"))
    proposal = judge.propose(question.text, question.language)
    ranked = cluster_candidates(proposal.candidates)
    attempt = Attempt(question.id, str(question.graph), next(styles, "-"))
    if not ranked:
        return attempt
    gold = cache(lambda: [judge.table(question.sparql or "", GOLD_SECONDS)])
    tried = ranked[: SearchLimits().tried]
    near = [
        one for one in tried if one is tried[0] or one.score >= tried[0].score - MAX_EMPTY_SCORE_GAP
    ]
    scored = ((place, *judge.score(question.id, one, gold)) for place, one in enumerate(near))
    first = next(scored)
    others = scored if first[2][2] else ()
    place, query, (f1, named, empty) = next((one for one in others if not one[2][2]), first)
    left = SKIPPED_CANDIDATE_FACTOR**place * (decide.EMPTY_RESULT_FACTOR if empty else 1.0)
    every = decide.collect_evidence(proposal, ranked).items()
    evidence = {name: round(value, 4) for name, value in every}
    return replace(attempt, query=query, f1=f1, by_name=named, left=left, evidence=evidence)


def measured(work: Work, *, as_it_is: bool = False) -> list[Attempt]:
    """Ask all questions; return each attempt with its confidence."""
    attempts = work.attempts()
    others = group_others([one.case for one in attempts if one.evidence], lambda case: case.held)
    models = {} if as_it_is else {style: fit_model(rest) for style, rest in others.items()}

    def judge(evidence: Mapping[str, float]) -> float:
        return decide.calibrate(decide.score_evidence(evidence))

    def weigh(one: Attempt) -> float:
        model = models.get(one.style, judge)
        return model(one.evidence) * one.left if one.evidence else 0.0

    return [replace(one, confidence=weigh(one)) for one in attempts]


def fit_model(cases: Sequence[Case]) -> Callable[[Mapping[str, float]], float]:
    """Fit trees to all cases, and a curve to what trees give that saw nothing of the style."""
    firsts = [case for case in cases if case.left == 1]
    trees = fit_trees(firsts)
    curve = fit_curve(firsts, chances_of(firsts, fit_without(firsts)))
    return lambda evidence: curve(trees(evidence))


def main() -> None:
    """Measure and print."""
    parser = explained(__doc__)
    add = parser.add_argument
    add("--cache", type=Path, required=True, help="what was found is kept here")
    add("--data", type=Path, help="the folder of questions; spider-graphs of the data if none")
    add("--jobs", type=int, default=2, help="processes")
    add("--sample", type=int, metavar="N", help="so many questions of each graph")
    add("--as-it-is", action="store_true", help="the package's own weights; nothing is fitted")
    chosen = parser.parse_args()
    data, outcomes = chosen.data or data_folder() / "spider-graphs", "outcomes.json.gz"
    if not (data / "questions.jsonl").is_file():
        raise SystemExit(
            f"unseen: {data} holds no questions.jsonl; name the folder of the questions with --data"
        )
    work = Work(data, chosen.cache, chosen.sample, chosen.jobs)
    attempts = measured(work, as_it_is=chosen.as_it_is)
    write_attempts(chosen.cache / outcomes, attempts)
    print(table(attempts))


if __name__ == "__main__":
    main()
