"""Each stage of a run of the multi-stage method, read from its trace and compared with gold.

Alekseev et al. (NLDB 2025) measure entity linking (table 2), predicate matching (table 3), the
end-to-end result (table 4) and rejection (table 6). Our own: the predicates that the restriction
keeps, the value of each stage after perfect earlier stages, and right answers lost to rejection.
"""

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from statistics import fmean
from typing import Literal, cast

from askgraph.evaluation import Score
from askgraph.evaluation.metrics import QueryLinks, compare_links
from askgraph.evaluation.reports.confidence import MAX_LOST_SHARE, find_threshold
from askgraph.evaluation.reports.failures import RejectionCounts, count_rejections, is_right
from askgraph.evaluation.reports.sheet import Cell, Sheet, SheetColumn, build_columns, parse_columns
from askgraph.evaluation.runs import QuestionDetail, Record
from askgraph.index import Resource, SearchIndex
from askgraph.methods.shared.cooccurrence import REACH_TEXTS, is_refused
from askgraph.methods.shared.index_cache import Bm25Parameters

ALL_STAGES = "together"
"""The configuration of the rejection study: all stages, and no filter."""

CONFIGURATIONS: Mapping[str, Mapping[str, object]] = tomllib.loads(
    Path(__file__).with_name("stages.toml").read_text("utf-8")
)
"""Settings of the method for each line of the tables; the filter is off in all of them."""


@dataclass(frozen=True)
class StageCase:
    """One question in one configuration: its record, the output of each stage, and gold.

    `found` are the entities of the first stage and the predicates of the second; `listed` are both
    as passed to the writer. `reach` is one of `cooccurrence.REACH_TEXTS`, `written` the number of
    queries.
    """

    record: Record
    gold: QueryLinks
    linked: QueryLinks
    writer_links: QueryLinks
    reach: str
    query_count: int

    @property
    def has_all_gold(self) -> bool:
        """Whether all of gold's terms were passed to the writer."""
        return (
            self.gold.entities <= self.writer_links.entities
            and self.gold.predicates <= self.writer_links.predicates
        )


def build_stage_case(record: Record, detail: QuestionDetail, gold: QueryLinks) -> StageCase:
    """Build a case from a trace of the method `multi-stage`."""
    stages = [list(_iterate_mentions(step)) for step in detail.steps if step["step"] == "findings"]
    none: list[tuple[str, str]] = []
    linked, matched, *_ = *stages, none, none
    entities = frozenset(target for kind, target in linked if kind in ("entity", "class"))
    predicates = frozenset(target for _, target in matched)
    writer_predicates = (
        frozenset(target for _, target in stages[2]) if len(stages) > 2 else predicates
    )
    thoughts = [step.get("text") for step in detail.steps if step["step"] == "thought"]
    return StageCase(
        record,
        gold,
        QueryLinks(entities, predicates),
        QueryLinks(entities, writer_predicates),
        next((str(text) for text in thoughts if text in REACH_TEXTS), REACH_TEXTS[0]),
        sum(step["step"] == "draft" for step in detail.steps),
    )


def _iterate_mentions(step: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    for mention in cast("list[dict[str, object]]", step["mentions"]):
        yield str(mention["kind"]), str(mention["target"])


_FOLD_COUNT = 5

Policy = Callable[[StageCase], bool]


def compare_policies(cases: Sequence[StageCase], metric: str) -> Mapping[str, RejectionCounts]:
    """Return the effect of each policy on answers that were written without the filter.

    The first three are those of Alekseev et al. (section 7, table 6): the writer refuses; failed or
    empty queries; both and the filter. Confidence thresholds are ours: the threshold of each fold
    is the highest that loses a fixed share of the right answers of all other folds.

    Right is a score of 1, even if the answer was rejected. Errors are excluded.
    """
    valid_cases = [case for case in cases if case.record.status != "error"]
    rejections: dict[str, RejectionCounts] = {}
    for name, policy in _POLICIES.items():
        verdicts = [policy(case) for case in valid_cases]
        rejections[name] = _count_rejected(valid_cases, verdicts, metric)
    for name, policy in _POLICIES.items():
        if name != "writer says no":
            graphs = [case.record.graph for case in valid_cases]
            if len(set(graphs)) > 1:
                folds = graphs
            else:
                folds = [
                    str(sha256(case.record.id.encode()).digest()[0] % _FOLD_COUNT)
                    for case in valid_cases
                ]
            thresholds = {
                fold: _find_policy_threshold(
                    [case for case, other in zip(valid_cases, folds, strict=True) if other != fold],
                    metric, policy,
                )
                for fold in set(folds)
            }  # fmt: skip
            verdicts = [
                policy(case) or case.record.confidence < thresholds[fold]
                for case, fold in zip(valid_cases, folds, strict=True)
            ]
            rejections[f"{name}, confidence"] = _count_rejected(valid_cases, verdicts, metric)
    return rejections


def _is_refused(case: StageCase) -> bool:
    """Return whether the method refuses without its filter: no query, an error or no rows."""
    return case.record.status == "refusal"


_POLICIES: Mapping[str, Policy] = {
    "writer says no": lambda case: not case.query_count,
    "execution": _is_refused,
    "filter (direct) and execution": lambda case: (
        _is_refused(case) or is_refused("direct", case.reach)
    ),
    "filter (reach) and execution": lambda case: (
        _is_refused(case) or is_refused("reach", case.reach)
    ),
}


def _count_rejected(
    cases: Sequence[StageCase], verdicts: Sequence[bool], metric: str
) -> RejectionCounts:
    return count_rejections(zip(verdicts, (_is_right(case, metric) for case in cases), strict=True))


def _is_right(case: StageCase, metric: str) -> bool:
    return not case.record.unanswerable and is_right(case.record, metric)


def _find_policy_threshold(cases: Sequence[StageCase], metric: str, policy: Policy) -> float:
    right_cases = [case for case in cases if _is_right(case, metric)]
    accepted = [(case.record.confidence, True) for case in right_cases if not policy(case)]
    return find_threshold(accepted, lost_count=len(right_cases) - len(accepted))


HIT_LIMITS = (10, 100)


@dataclass(frozen=True)
class RecallQuery:
    """A question as a search text, and the IRIs that the search should return."""

    text: str
    expected_iris: frozenset[str]


@dataclass(frozen=True)
class RecallResult:
    """The mean share of expected IRIs among the first hits, at several limits.

    `what` was searched, with `questions` questions that expect any IRI.
    """

    target: str
    questions: int
    shares_by_limit: tuple[tuple[int, float], ...]


def measure_recall(
    target: str,
    queries: Sequence[tuple[SearchIndex[Resource], RecallQuery]],
    limits: Sequence[int] = HIT_LIMITS,
) -> RecallResult:
    """Search each question in its index and return the recall; 0 without expected IRIs."""
    shares = [
        [
            len(query.expected_iris.intersection(ranked[:limit])) / len(query.expected_iris)
            for limit in limits
        ]
        for index, query in queries
        if query.expected_iris
        for ranked in [[hit.item.iri for hit in index.search(query.text, limit=max(limits))]]
    ]
    means = [fmean(column) for column in zip(*shares, strict=True)] or [0.0] * len(limits)
    return RecallResult(target, len(shares), tuple(zip(limits, means, strict=True)))


K1_WEIGHTS = (0.1, 0.3, 0.6, 0.9, 1.2, 1.6, 2.0, 2.5, 3.0, 4.0, 5.0, 7.0, 10.0)
B_WEIGHTS = (0.01, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.75, 0.9, 1.0)
"""The candidate values."""

_MAX_ROUNDS = 3

MAX_EVALUATION_COUNT = _MAX_ROUNDS * (len(K1_WEIGHTS) + len(B_WEIGHTS))
"""Maximum number of evaluations."""


@dataclass(frozen=True)
class TuningResult:
    """The best parameters of an index, and its recall with the original and with these."""

    before: Bm25Parameters
    after: Bm25Parameters
    recall_before: RecallResult
    recall_after: RecallResult


def tune_parameters(
    measure: Callable[[Bm25Parameters], RecallResult],
    *,
    start: Bm25Parameters,
    progress: Callable[[int], None] = lambda done: None,
) -> TuningResult:
    """Search the parameters with the highest recall at the smallest limit, then at larger ones.

    Alekseev et al. tune both for each benchmark. Here one parameter is varied at a time until
    neither improves: a few dozen evaluations. Of equal parameters the first wins, so that a change
    without effect is not made.

    Args:
        measure: Returns the recall of parameters; called once for each pair.
        start: The original parameters.
        progress: Called with the number of evaluations so far.
    """
    recalls: dict[Bm25Parameters, RecallResult] = {}

    def get_shares(parameters: Bm25Parameters) -> tuple[float, ...]:
        if parameters not in recalls:
            recalls[parameters] = measure(parameters)
            progress(len(recalls))
        return tuple(share for _, share in recalls[parameters].shares_by_limit)

    best = start
    get_shares(best)
    for _ in range(_MAX_ROUNDS):
        previous = best
        variants = [Bm25Parameters(k1, best.b) for k1 in K1_WEIGHTS]
        variants += [Bm25Parameters(best.k1, b) for b in B_WEIGHTS]
        for candidate in variants:
            if get_shares(candidate) > get_shares(best):
                best = candidate
        if best == previous:
            break
    return TuningResult(start, best, recalls[start], recalls[best])


_BENCHMARK_COLUMN = SheetColumn("benchmark", context=True)


def build_stage_sheets(cases: Sequence[StageCase], metric: str) -> list[Sheet]:
    """Build a table for each stage of some runs, each benchmark by itself."""
    ordered = sorted(cases, key=lambda case: case.record.benchmark)
    grouped = {
        name: list(group) for name, group in groupby(ordered, lambda case: case.record.benchmark)
    }
    return [
        _build_linking_sheet(grouped, "Entity linking", "entities"),
        _build_linking_sheet(grouped, "Predicate matching", "predicates"),
        _build_writer_sheet(grouped),
        _build_end_to_end_sheet(grouped, metric),
        _build_rejection_sheet(grouped, metric),
    ]


def build_recall_sheet(recalls: Mapping[str, Sequence[RecallResult]]) -> Sheet:
    """Build the table of an index's recall with the full question, by benchmark."""
    limits = (
        [limit for limit, _ in next(iter(recalls.values()))[0].shares_by_limit] if recalls else []
    )
    columns = (
        _BENCHMARK_COLUMN,
        SheetColumn("index"),
        SheetColumn("questions", "count"),
        *(SheetColumn(f"recall@{limit}", "share") for limit in limits),
    )
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (name, recall.target, recall.questions, *(share for _, share in recall.shares_by_limit))
        for name, results in recalls.items()
        for recall in results
    )
    notes = ("The share of gold's terms among the first hits of the whole question, by question.",)
    return Sheet("Retrieval", columns, rows, notes)


def _build_linking_sheet(
    grouped: Mapping[str, Sequence[StageCase]], title: str, kind: Literal["entities", "predicates"]
) -> Sheet:
    columns = (
        _BENCHMARK_COLUMN,
        *parse_columns("configuration; questions: count; precision, recall, F1: share"),
    )
    rows: list[tuple[Cell, ...]] = []
    for name, cases in _group_by_configuration(grouped):
        relevant = [case for case in cases if getattr(case.gold, kind)]
        scores = [getattr(compare_links(case.linked, case.gold), kind) for case in relevant]
        rows.append((*name, len(relevant), *_compute_mean_cells(scores)))
    return Sheet(title, columns, tuple(rows), (f"Over the questions whose gold has {kind}.",))


def _build_writer_sheet(grouped: Mapping[str, Sequence[StageCase]]) -> Sheet:
    columns = (
        _BENCHMARK_COLUMN,
        SheetColumn("configuration"),
        SheetColumn("predicates", "number"),
        *build_columns("share", "precision", "recall", "F1", "all of gold listed"),
    )
    rows: list[tuple[Cell, ...]] = []
    for name, cases in _group_by_configuration(grouped):
        relevant = [case for case in cases if case.gold.predicates]
        scores = [compare_links(case.writer_links, case.gold).predicates for case in relevant]
        size = fmean(len(case.writer_links.predicates) for case in cases)
        complete_share = fmean(case.has_all_gold for case in cases)
        rows.append((*name, size, *_compute_mean_cells(scores), complete_share))
    note = "All of gold listed: its entities too, over all questions; the rest as above."
    return Sheet("Predicates that go on to the writer", columns, tuple(rows), (note,))


def _build_end_to_end_sheet(grouped: Mapping[str, Sequence[StageCase]], metric: str) -> Sheet:
    columns = (
        _BENCHMARK_COLUMN,
        *parse_columns("configuration; questions: count; answered: share"),
        *build_columns("share", f"F1 ({metric})", "exact match"),
    )
    rows = tuple(
        (
            *name,
            len(cases),
            fmean(case.record.status == "answer" for case in cases),
            fmean(case.record.get_score(metric).f1 for case in cases),
            fmean(case.record.em for case in cases),
        )
        for name, cases in _group_by_configuration(grouped)
    )
    return Sheet("End to end", columns, rows, ("What is refused counts by its best attempt.",))


def _build_rejection_sheet(grouped: Mapping[str, Sequence[StageCase]], metric: str) -> Sheet:
    columns = (
        _BENCHMARK_COLUMN,
        *parse_columns(
            "policy; wrong: count; wrong caught: share; right: count; right lost: share"
        ),
    )
    rows = tuple(
        (benchmark, policy, counts.wrong, counts.caught_share, counts.right, counts.lost_share)
        for benchmark, cases in grouped.items()
        for policy, counts in compare_policies(
            [case for case in cases if case.record.method == ALL_STAGES], metric
        ).items()
    )
    note = (
        f"confidence: also below a threshold that loses at most {MAX_LOST_SHARE:.0%} of the right "
        "answers, chosen on the other graphs, or on the other folds where there is one graph"
    )
    return Sheet("Rejection", columns, rows, (note,))


def _group_by_configuration(
    grouped: Mapping[str, Sequence[StageCase]],
) -> list[tuple[tuple[str, str], list[StageCase]]]:
    lines = [
        ((benchmark, name), [case for case in cases if case.record.method == name])
        for benchmark, cases in grouped.items()
        for name in CONFIGURATIONS
    ]
    return [line for line in lines if line[1]]


def _compute_mean_cells(
    scores: Sequence[Score],
) -> tuple[float, float, float] | tuple[None, None, None]:
    return astuple(Score.compute_mean(scores)) if scores else (None, None, None)


@dataclass(frozen=True)
class TransferRow:
    """A model trained on some data sets, with its F1 on each.

    `trained` are their names, `questions` the training questions per data set, None for all. `f1`
    is keyed by the data set of the test questions.
    """

    trained: tuple[str, ...]
    f1: Mapping[str, float]
    questions: int | None = None


_IN_DOMAIN_SCORES = {"qald": 27.6, "lcquad2": 30.3, "rubq": 43.2, "pat_questions": 38.9}
_LEFT_OUT_SCORES = {"qald": 29.4, "lcquad2": 20.8, "rubq": 22.5, "pat_questions": 12.5}


def build_transfer_sheet(rows: Sequence[TransferRow], formats: Mapping[str, str]) -> Sheet:
    """Build the table of models by training and test data sets.

    `formats` are the data sets by name. Beside a model are the figures of Alekseev et al. (NLDB
    2025) for Qwen2.5-1.5B with ReFinED: trained on the test data set (table 4), or on all others
    (table 5).
    """
    published = [_get_published_figures(row, formats) for row in rows]
    published_names = [name for name in formats if any(name in figures for figures in published)]
    columns = (
        SheetColumn("trained on"), SheetColumn("questions"), *build_columns("share", *formats),
        *build_columns("share", *(f"{name}, published" for name in published_names)),
    )  # fmt: skip
    lines = tuple(
        (
            " + ".join(row.trained), "all" if row.questions is None else str(row.questions),
            *(row.f1.get(name) for name in formats),
            *(figures.get(name) for name in published_names),
        )
        for row, figures in zip(rows, published, strict=True)
    )  # fmt: skip
    return Sheet("Trained on and asked, F1", columns, lines)


def _get_published_figures(row: TransferRow, formats: Mapping[str, str]) -> dict[str, float]:
    if row.questions is not None:
        return {}
    untrained = [name for name in formats if name not in row.trained]
    if len(row.trained) == 1:
        figures, test_sets = _IN_DOMAIN_SCORES, list(row.trained)
    else:
        figures, test_sets = _LEFT_OUT_SCORES, untrained if len(untrained) == 1 else []
    return {name: figures[formats[name]] / 100 for name in test_sets if formats[name] in figures}
