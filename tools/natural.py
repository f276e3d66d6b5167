"""What users get for natural questions over real graphs: right, wrong, sure, refused, how fast.

    python tools/natural.py                                   # natural questions over nine graphs
    python tools/natural.py --json > before.json              # then change something, and
    python tools/natural.py --compare before.json
    python tools/natural.py --bad bad.jsonl --graph music     # read what went wrong
    python tools/natural.py --set paraphrases --as-it-is      # known questions, reworded
    python tools/natural.py --set paraphrases --as-it-is --confirmed
    python tools/natural.py --as-it-is --confirmed half       # each half learns from the other
    python tools/natural.py --without vectors                 # what a part is worth

Candidates over a graph are ranked by weights that were fitted without it where there are some
(`tools/held_out.toml`), with `--as-it-is` always by the package's. Confidence is the package's.
The last lines of the table name the data that both were fitted to.

An answer is *right* if its best column has an F1 above 0.99 with gold or another fair reading; a
thing counts as any literal of its own that gold has. An outcome that is no answer counts 0, but is
right if the graph cannot answer. *Sure* and *fairly sure* are the words that the user reads.
Intervals are bootstrapped over graphs and over the questions of each. The data lies in
ASKGRAPH_DATA, else ../shared/data; built graphs stay in build/natural.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from multiprocessing import get_context
from pathlib import Path
from zlib import crc32

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
from rich.console import Console
from rich.progress import Progress
from tools import natural_cases as cases
from tools.accuracy_floors import HELD_OUT, align, data_folder, explained

from askgraph.evaluation.files import write_lines
from askgraph.evaluation.reports import Interval, compare_paired
from askgraph.evaluation.reports.report import compute_percentile
from askgraph.graph.examples import QueryExample
from askgraph.search.decide import TREES_FILE
from askgraph.search.rank import DEFAULT_RANKING_PATH, read_ranking
from askgraph.workspace import SEARCH_METHOD

BUILD_FOLDER = Path(__file__).parents[1] / "build" / "natural"
SAMPLE_COUNT = 1_000
HEADS = (
    *("", "n", "right, 95 %", "F1", "sure", "right", "fairly", "right"),
    *("refused", "kept", "crash", "p50 s", "p95 s"),
)
Outcomes = Sequence[cases.JudgedOutcome]


def compute_grouped_interval(outcomes: Outcomes) -> Interval:
    """Return the share of right outcomes; draw graphs, then the questions of each."""
    rng = np.random.default_rng(0)
    groups = [np.array([one.is_right for one in own], float) for _, own in group_by_graph(outcomes)]
    means = [
        np.concatenate([rng.choice(groups[at], len(groups[at])) for at in chosen]).mean()
        for chosen in rng.integers(0, len(groups), (SAMPLE_COUNT, len(groups)))
    ]
    low, high = np.quantile(means, (0.025, 0.975))
    return Interval(_mean([float(one.is_right) for one in outcomes]), float(low), float(high))


def group_by_graph(outcomes: Outcomes) -> Iterator[tuple[str, list[cases.JudgedOutcome]]]:
    """Yield each graph with its outcomes."""
    for graph in sorted({outcome.graph for outcome in outcomes}):
        yield graph, [outcome for outcome in outcomes if outcome.graph == graph]


def group_outcomes(outcomes: Outcomes) -> Iterator[tuple[str, list[cases.JudgedOutcome]]]:
    """Yield the outcomes of each graph, of each kind of question, and all."""
    yield from group_by_graph(outcomes)
    for tag in sorted({tag for outcome in outcomes for tag in outcome.tags}):
        yield f"[{tag}]", [outcome for outcome in outcomes if tag in outcome.tags]
    yield "all", list(outcomes)


def format_table(outcomes: Outcomes) -> str:
    """Return the figures of each graph and kind, and of all, one line each."""
    lines = [HEADS, *((name, *_list_figures(own)) for name, own in group_outcomes(outcomes))]
    return align(lines, gap="  ", side=">")


def _list_figures(outcomes: Outcomes) -> list[str]:
    share, answerable = compute_grouped_interval(outcomes), [one for one in outcomes if one.gold]
    refused = [one for one in answerable if one.status in ("clarification", "refusal")]
    others = [one for one in outcomes if not one.gold]
    seconds = [one.seconds for one in outcomes]
    return [
        str(len(outcomes)),
        f"{share.mean:.3f} [{share.low:.2f}, {share.high:.2f}]",
        f"{_mean([one.f1 for one in answerable]):.3f}" if answerable else "-",
        *_list_shares(outcomes, "sure"),
        *_list_shares(outcomes, "fairly sure"),
        f"{len(refused)}/{len(answerable)}",
        f"{sum(one.is_right for one in others)}/{len(others)}",
        str(sum(one.status == "crash" for one in outcomes)),
        *(f"{compute_percentile(seconds, share):.2f}" for share in (0.5, 0.95)),
    ]


def _list_shares(outcomes: Outcomes, word: str) -> list[str]:
    chosen = [one for one in outcomes if one.confidence_word == word]
    right = _mean([float(one.is_right) for one in chosen])
    return [f"{len(chosen) / len(outcomes):.2f}", f"{right:.2f}" if chosen else "-"]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def format_comparison(before: Outcomes, after: Outcomes) -> str:
    """Return the figures of two runs on the same questions, and what got better or worse."""
    common = {one.id for one in before} & {one.id for one in after}
    runs = [[one for one in run if one.id in common] for run in (before, after)]
    heads = ("", "n", "right", "difference, 95 %", "better", "worse", "F1")
    lines = [(*heads, "sure", "sure: right", "refused", "p95 s")]
    for (name, first), (_, second) in zip(*map(group_outcomes, runs), strict=True):
        paired = compare_paired(
            *({one.id: float(one.is_right) for one in own} for own in (first, second))
        )
        gain = paired.difference
        figures = [_list_figures(own) for own in (first, second)]
        lines.append(
            (
                name,
                str(paired.n),
                f"{paired.a:.3f} → {paired.b:.3f}",
                f"{100 * gain.mean:+.1f} [{100 * gain.low:+.1f}, {100 * gain.high:+.1f}]",
                str(paired.better),
                str(paired.worse),
                *(f"{figures[0][at]} → {figures[1][at]}" for at in (2, 3, 4, 7, 11)),
            )
        )
    return align(lines, gap="  ", side=">")


def describe_fits(graphs: Sequence[str], *, as_it_is: bool) -> list[str]:
    """Return which data the ranking and the confidence were fitted to."""
    own = set() if as_it_is else read_ranking(HELD_OUT).graphs.keys() & set(graphs)
    comments = filter(None, DEFAULT_RANKING_PATH.read_text("utf-8").splitlines()[1:])
    ranking = " ".join(line.strip("# ") for line in comments if line.startswith("#"))
    confidence = " ".join(json.loads(TREES_FILE.read_text("utf-8"))["about"][1:])
    return [
        f"ranking, without the graph for {len(own)} of {len(graphs)} graphs: {ranking}",
        f"confidence, fitted without no graph: {confidence}",
    ]


def ask_questions(chosen: argparse.Namespace, name: cases.SetName) -> list[cases.JudgedOutcome]:
    """Ask the questions of a set in several processes, the largest graph first."""
    data = chosen.data or data_folder()
    is_plain = chosen.as_it_is or chosen.method != SEARCH_METHOD
    settings = {} if is_plain else {"ranking": str(HELD_OUT)}
    by_file: dict[str, list[cases.NaturalQuestion]] = {}
    for question in cases.read_questions(data, name):
        if not chosen.graph or question.graph in chosen.graph:
            by_file.setdefault(question.kg, []).append(question)
    if not by_file:
        raise SystemExit(f"natural: {name!r} has no question over such a graph")
    workspace = cases.prepare_workspace(chosen.build / chosen.without / cases.FOLDERS[name])
    tasks = [
        cases.GraphTask(data / cases.FOLDERS[name] / "kg" / kg, asked, workspace, chosen.method,
                  settings, chosen.bad is not None, chosen.without, examples)
        for kg, questions in by_file.items()
        for asked, examples in _list_folds(questions, data, chosen.confirmed)
    ]  # fmt: skip
    tasks.sort(key=lambda task: -task.path.stat().st_size)
    outcomes: list[cases.JudgedOutcome] = []
    progress = Progress(*Progress.get_default_columns(), console=Console(stderr=True))
    with get_context("spawn").Pool(chosen.jobs) as pool, progress:
        bar = progress.add_task(name, total=sum(map(len, by_file.values())))
        for group in pool.imap_unordered(cases.GraphTask.run, tasks):
            outcomes += group
            progress.advance(bar, len(group))
    return sorted(outcomes, key=lambda outcome: (outcome.graph, outcome.id))


def _list_folds(
    questions: Sequence[cases.NaturalQuestion], data: Path, confirmed: str
) -> Iterator[tuple[tuple[cases.NaturalQuestion, ...], tuple[QueryExample, ...]]]:
    """Yield the questions of a graph that are asked together, and those that are confirmed."""
    if not confirmed:
        yield tuple(questions), ()
        return
    sources = cases.read_originals(data, questions[0].kg) or questions
    ids = sorted({source.id for source in sources}, key=lambda item: crc32(item.encode()))
    for half in (set(ids[::2]), set(ids[1::2])) if confirmed == "half" else (set(ids),):
        confirmed_ones = [q for q in sources if q.id in half and q.gold]
        examples = tuple(
            QueryExample(q.text, q.gold[0], origin="confirmed") for q in confirmed_ones
        )
        if asked := tuple(q for q in questions if confirmed == "known" or q.id not in half):
            yield asked, examples


def _arguments() -> argparse.Namespace:
    parser = explained(__doc__)
    add, sets = parser.add_argument, (*cases.FOLDERS, "all")
    add("--data", type=Path, metavar="DIR", help="the folder with natural/ and spider-graphs/")
    add("--set", choices=sets, default="natural", help="which questions; natural if none")
    add("--graph", nargs="+", default=[], metavar="G", help="only questions over these graphs")
    add("--method", default=SEARCH_METHOD, help=f"{SEARCH_METHOD} if none")
    add("--as-it-is", action="store_true", help="weights of the package for every graph")
    add(
        "--confirmed",
        nargs="?",
        const="known",
        choices=("known", "half"),
        default="",
        help="the known questions of spider-graphs are confirmed, or each half for the other half",
    )
    add("--without", choices=cases.PARTS, default="", help="leave one part of graph search out")
    add("--jobs", type=int, default=2, help="processes")
    add("--json", action="store_true", help="print every outcome as JSON in place of the table")
    add("--bad", type=Path, metavar="FILE", help="write wrong and refused ones as JSON lines")
    add("--compare", type=Path, metavar="FILE", help="an earlier output of --json to compare with")
    add("--build", type=Path, default=BUILD_FOLDER, metavar="DIR", help="folder of built graphs")
    return parser.parse_args()


def main() -> None:
    """Ask, judge and print."""
    chosen = _arguments()
    names: list[cases.SetName] = list(cases.FOLDERS) if chosen.set == "all" else [chosen.set]
    earlier = json.loads(chosen.compare.read_text("utf-8")) if chosen.compare else {}
    runs = {name: ask_questions(chosen, name) for name in names}
    if chosen.bad is not None:
        bad = [asdict(one) for run in runs.values() for one in run if not one.is_right]
        write_lines(chosen.bad, bad)
    if chosen.json:
        print(json.dumps({name: list(map(asdict, run)) for name, run in runs.items()}, indent=1))
        return
    for name, run in runs.items():
        before = [cases.JudgedOutcome.from_json(item) for item in earlier.get(name, ())]
        text = format_comparison(before, run) if before else format_table(run)
        crashes = [f"crash: {one.id}: {one.error}" for one in run if one.status == "crash"]
        fits = describe_fits([graph for graph, _ in group_by_graph(run)], as_it_is=chosen.as_it_is)
        print("\n".join([name, text, *crashes, *fits, ""]))


if __name__ == "__main__":
    main()
