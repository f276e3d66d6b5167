"""Each stage of a run of the multi-stage method, read from its trace and held against gold.

Alekseev et al. (NLDB 2025) measure entity linking (table 2), predicate matching (table 3), the
whole (table 4) and rejection (table 6). Ours are what the restriction keeps, what each stage is
worth when those before it are perfect, and the right answers that rejection loses.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from hashlib import sha256
from itertools import groupby
from statistics import fmean
from typing import Literal, cast

from askgraph.evaluation import Score
from askgraph.evaluation.metrics.linking import Links, compared
from askgraph.evaluation.reports.confidence import LOST, limit_for
from askgraph.evaluation.reports.failures import Rejection, is_right, rejection
from askgraph.evaluation.reports.sheet import Cell, Column, Sheet, columns_of
from askgraph.evaluation.runs import Detail, Record
from askgraph.index import Resource, SearchIndex
from askgraph.methods.shared.cooccurrence import REACHES, refuses
from askgraph.methods.shared.index_cache import Bm25

TOGETHER = "together"
"""The configuration that the rejection study reads: all stages, and nothing filtered."""

CONFIGURATIONS: Mapping[str, Mapping[str, object]] = {
    TOGETHER: {},
    "without restriction": {"restrict": False},
    "matched predicates only": {"near": 0},
    "matched only, without restriction": {"near": 0, "restrict": False},
    "one reading": {"readings": 1},
    "gold entities": {"entities": "given"},
    "gold predicates": {"predicates": "given", "near": 0},
    "gold entities and predicates": {"entities": "given", "predicates": "given", "near": 0},
}
"""How the method is set for each line of the tables; the filter is off in all, and only read."""


@dataclass(frozen=True)
class StageCase:
    """One question in one configuration: its record, what each stage found, what gold has.

    `found` are the entities of the first stage and the predicates of the second; `listed` are both
    as they went on to the writer. `reach` is one of `cooccurrence.REACHES`, `written` the
    number of queries.
    """

    record: Record
    gold: Links
    found: Links
    listed: Links
    reach: str
    written: int

    @property
    def everything_listed(self) -> bool:
        """Whether all that gold names went on to the writer."""
        return (
            self.gold.entities <= self.listed.entities
            and self.gold.predicates <= self.listed.predicates
        )


def stage_case(record: Record, detail: Detail, gold: Links) -> StageCase:
    """Read a trace of the method `multi-stage`."""
    stages = [list(_mentions(step)) for step in detail.steps if step["step"] == "findings"]
    things = frozenset(target for kind, target in _nth(stages, 0) if kind in ("entity", "class"))
    matched = frozenset(target for _, target in _nth(stages, 1))
    listed = frozenset(target for _, target in _nth(stages, 2)) if len(stages) > 2 else matched
    said = [step.get("text") for step in detail.steps if step["step"] == "thought"]
    reach = next((str(text) for text in said if text in REACHES), REACHES[0])
    written = sum(step["step"] == "draft" for step in detail.steps)
    return StageCase(record, gold, Links(things, matched), Links(things, listed), reach, written)


def _nth(stages: list[list[tuple[str, str]]], at: int) -> list[tuple[str, str]]:
    """Return what a stage found; nothing if a run ended before it."""
    return stages[at] if at < len(stages) else []


def _mentions(step: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Yield the kind and the target of each thing that a stage found."""
    for mention in cast("list[dict[str, object]]", step["mentions"]):
        yield str(mention["kind"]), str(mention["target"])


_PARTS = 5

Policy = Callable[[StageCase], bool]


def policies(cases: Sequence[StageCase], metric: str) -> Mapping[str, Rejection]:
    """Return what each policy rejects of answers that were written with the filter off.

    The first three are those of Alekseev et al. (section 7, table 6): the writer says no; what
    fails or is empty; that and the filter. A threshold on the confidence is ours: for each part it
    is chosen on all others, as the highest that loses so many of the right answers there.

    Right is a score of 1, whatever was done with the answer. Errors are left out.
    """
    judged = [case for case in cases if case.record.status != "error"]
    found: dict[str, Rejection] = {}
    for name, policy in _POLICIES.items():
        verdicts = [policy(case) for case in judged]
        found[name] = _counted(judged, verdicts, metric)
    for name, policy in _POLICIES.items():
        if name != "writer says no":
            graphs = [case.record.graph for case in judged]
            if len(set(graphs)) > 1:
                parts = graphs
            else:
                parts = [
                    str(sha256(case.record.id.encode()).digest()[0] % _PARTS) for case in judged
                ]
            limits = {
                part: _threshold(
                    [case for case, own in zip(judged, parts, strict=True) if own != part],
                    metric, policy,
                )
                for part in set(parts)
            }  # fmt: skip
            unsure = [
                case.record.confidence < limits[part]
                for case, part in zip(judged, parts, strict=True)
            ]
            verdicts = [policy(case) or low for case, low in zip(judged, unsure, strict=True)]
            found[f"{name}, confidence"] = _counted(judged, verdicts, metric)
    return found


def _says_no(case: StageCase) -> bool:
    return not case.written


def _fails(case: StageCase) -> bool:
    """Nothing written, an error, or an empty result: what the method refuses without its filter."""
    return case.record.status == "refusal"


_POLICIES: Mapping[str, Policy] = {
    "writer says no": _says_no,
    "execution": _fails,
    "filter (direct) and execution": lambda case: _fails(case) or refuses("direct", case.reach),
    "filter (reach) and execution": lambda case: _fails(case) or refuses("reach", case.reach),
}


def _counted(cases: Sequence[StageCase], verdicts: Sequence[bool], metric: str) -> Rejection:
    right = (_right(case, metric) for case in cases)
    return rejection(zip(verdicts, right, strict=True))


def _right(case: StageCase, metric: str) -> bool:
    return not case.record.unanswerable and is_right(case.record, metric)


def _threshold(cases: Sequence[StageCase], metric: str, policy: Policy) -> float:
    """Return the limit of confidence for what a policy keeps of the right answers."""
    right = [case for case in cases if _right(case, metric)]
    kept = [(case.record.confidence, True) for case in right if not policy(case)]
    return limit_for(kept, gone=len(right) - len(kept))


LIMITS = (10, 100)


@dataclass(frozen=True)
class Sought:
    """A question as it is searched for, and the IRIs that should be found."""

    text: str
    wanted: frozenset[str]


@dataclass(frozen=True)
class Recall:
    """The mean share of what is wanted among the first hits, for some numbers of hits.

    `what` was searched, for so many `questions` that want anything of it.
    """

    what: str
    questions: int
    at: tuple[tuple[int, float], ...]


def recall_at(
    what: str,
    sought: Sequence[tuple[SearchIndex[Resource], Sought]],
    limits: Sequence[int] = LIMITS,
) -> Recall:
    """Search each question in its index; what no question wants anything of has a recall of 0."""
    found = [
        [len(one.wanted.intersection(ranked[:limit])) / len(one.wanted) for limit in limits]
        for index, one in sought
        if one.wanted
        for ranked in [[hit.item.iri for hit in index.search(one.text, limit=max(limits))]]
    ]
    means = [fmean(column) for column in zip(*found, strict=True)] or [0.0] * len(limits)
    return Recall(what, len(found), tuple(zip(limits, means, strict=True)))


K1 = (0.1, 0.3, 0.6, 0.9, 1.2, 1.6, 2.0, 2.5, 3.0, 4.0, 5.0, 7.0, 10.0)
B = (0.01, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.75, 0.9, 1.0)
"""The values that are tried."""

_ROUNDS = 3

EVALUATIONS = _ROUNDS * (len(K1) + len(B))
"""How many evaluations there are at most."""


@dataclass(frozen=True)
class Tuned:
    """The best numbers for an index, and what it finds with those that it had and with these."""

    before: Bm25
    after: Bm25
    recall_before: Recall
    recall_after: Recall


def tuned(
    measure: Callable[[Bm25], Recall],
    *,
    start: Bm25,
    progress: Callable[[int], None] = lambda done: None,
) -> Tuned:
    """Search the numbers with the highest recall at the fewest hits, then at more.

    Alekseev et al. tune both for each benchmark. Here one number is varied at a time, until neither
    gets better: a few dozen evaluations.

    `measure` is asked once for each pair. Of equal ones the first found stays, so that what changes
    nothing is not changed. `progress` is told the number of evaluations so far.
    """
    known: dict[Bm25, Recall] = {}

    def value(one: Bm25) -> tuple[float, ...]:
        if one not in known:
            known[one] = measure(one)
            progress(len(known))
        return tuple(share for _, share in known[one].at)

    best = start
    value(best)
    for _ in range(_ROUNDS):
        before = best
        for other in _varied(best):
            if value(other) > value(best):
                best = other
        if best == before:
            break
    return Tuned(start, best, known[start], known[best])


def _varied(one: Bm25) -> Iterator[Bm25]:
    yield from (Bm25(k1, one.b) for k1 in K1)
    yield from (Bm25(one.k1, b) for b in B)


_CONTEXT = Column("benchmark", context=True)


def stage_sheets(cases: Sequence[StageCase], metric: str) -> list[Sheet]:
    """Return a table for each stage of some runs, each benchmark by itself."""
    ordered = sorted(cases, key=lambda case: case.record.benchmark)
    grouped = {name: list(own) for name, own in groupby(ordered, lambda c: c.record.benchmark)}
    return [
        _found(grouped, "Entity linking", "entities"),
        _found(grouped, "Predicate matching", "predicates"),
        _listed(grouped),
        _end_to_end(grouped, metric),
        _rejection(grouped, metric),
    ]


def recall_sheet(recalls: Mapping[str, Sequence[Recall]]) -> Sheet:
    """Return the table of what an index finds with the whole question, by benchmark."""
    limits = [limit for limit, _ in next(iter(recalls.values()))[0].at] if recalls else []
    columns = (
        _CONTEXT,
        Column("index"),
        Column("questions", "count"),
        *(Column(f"recall@{limit}", "share") for limit in limits),
    )
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (name, found.what, found.questions, *(share for _, share in found.at))
        for name, several in recalls.items()
        for found in several
    )
    notes = ("The share of gold's terms among the first hits of the whole question, by question.",)
    return Sheet("Retrieval", columns, rows, notes)


def _found(
    grouped: Mapping[str, Sequence[StageCase]], title: str, what: Literal["entities", "predicates"]
) -> Sheet:
    columns = (
        _CONTEXT,
        Column("configuration"),
        Column("questions", "count"),
        *columns_of("share", "precision", "recall", "F1"),
    )
    rows: list[tuple[Cell, ...]] = []
    for name, own in _lines(grouped):
        wanting = [case for case in own if getattr(case.gold, what)]
        scores = [getattr(compared(case.found, case.gold), what) for case in wanting]
        rows.append((*name, len(wanting), *_means(scores)))
    return Sheet(title, columns, tuple(rows), (f"Over the questions whose gold has {what}.",))


def _listed(grouped: Mapping[str, Sequence[StageCase]]) -> Sheet:
    columns = (
        _CONTEXT,
        Column("configuration"),
        Column("predicates", "number"),
        *columns_of("share", "precision", "recall", "F1", "all of gold listed"),
    )
    rows: list[tuple[Cell, ...]] = []
    for name, own in _lines(grouped):
        wanting = [case for case in own if case.gold.predicates]
        scores = [compared(case.listed, case.gold).predicates for case in wanting]
        size = fmean(len(case.listed.predicates) for case in own)
        whole = fmean(case.everything_listed for case in own)
        rows.append((*name, size, *_means(scores), whole))
    note = "All of gold listed: its entities too, over all questions; the rest as above."
    return Sheet("Predicates that go on to the writer", columns, tuple(rows), (note,))


def _end_to_end(grouped: Mapping[str, Sequence[StageCase]], metric: str) -> Sheet:
    columns = (
        _CONTEXT,
        Column("configuration"),
        Column("questions", "count"),
        Column("answered", "share"),
        *columns_of("share", f"F1 ({metric})", "exact match"),
    )
    rows = tuple(
        (
            *name,
            len(own),
            fmean(case.record.status == "answer" for case in own),
            fmean(case.record.score(metric).f1 for case in own),
            fmean(case.record.em for case in own),
        )
        for name, own in _lines(grouped)
    )
    return Sheet("End to end", columns, rows, ("What is refused counts by its best attempt.",))


def _rejection(grouped: Mapping[str, Sequence[StageCase]], metric: str) -> Sheet:
    columns = (
        _CONTEXT,
        Column("policy"),
        Column("wrong", "count"),
        Column("wrong caught", "share"),
        Column("right", "count"),
        Column("right lost", "share"),
    )
    rows = tuple(
        (benchmark, policy, found.wrong, found.caught, found.right, found.lost)
        for benchmark, cases in grouped.items()
        for policy, found in policies(
            [case for case in cases if case.record.method == TOGETHER], metric
        ).items()
    )
    note = (
        f"confidence: also below a threshold that loses at most {LOST:.0%} of the right "
        "answers, chosen on the other graphs, or on the other folds where there is one graph"
    )
    return Sheet("Rejection", columns, rows, (note,))


def _lines(
    grouped: Mapping[str, Sequence[StageCase]],
) -> list[tuple[tuple[str, str], list[StageCase]]]:
    """Return the cases of each benchmark and configuration, of which there are some."""
    lines = [
        ((benchmark, name), [case for case in cases if case.record.method == name])
        for benchmark, cases in grouped.items()
        for name in CONFIGURATIONS
    ]
    return [line for line in lines if line[1]]


def _means(scores: Sequence[Score]) -> tuple[float, float, float] | tuple[None, None, None]:
    return astuple(Score.mean(scores)) if scores else (None, None, None)


@dataclass(frozen=True)
class CrossRow:
    """A model that was trained on some of the data sets: what it is worth on each, as F1.

    `trained` are their names, `questions` how many of each it saw, None if all. `f1` is by the
    names of the data sets that it was asked.
    """

    trained: tuple[str, ...]
    f1: Mapping[str, float]
    questions: int | None = None


_AT_HOME = {"qald": 27.6, "lcquad2": 30.3, "rubq": 43.2, "pat_questions": 38.9}
_ELSEWHERE = {"qald": 29.4, "lcquad2": 20.8, "rubq": 22.5, "pat_questions": 12.5}


def cross_sheet(rows: Sequence[CrossRow], formats: Mapping[str, str]) -> Sheet:
    """Return the table of models by what they were trained on and what they were asked.

    `formats` are the data sets by name. Beside a model are the figures of Alekseev et al. (NLDB
    2025) for Qwen2.5-1.5B with ReFinED: trained on what is asked (table 4), or on all but that
    (table 5).
    """
    published = [_published(row, formats) for row in rows]
    beside = [name for name in formats if any(name in one for one in published)]
    columns = (
        Column("trained on"), Column("questions"), *columns_of("share", *formats),
        *columns_of("share", *(f"{name}, published" for name in beside)),
    )  # fmt: skip
    lines = tuple(
        (
            " + ".join(row.trained), "all" if row.questions is None else str(row.questions),
            *(row.f1.get(name) for name in formats), *(known.get(name) for name in beside),
        )
        for row, known in zip(rows, published, strict=True)
    )  # fmt: skip
    return Sheet("Trained on and asked, F1", columns, lines)


def _published(row: CrossRow, formats: Mapping[str, str]) -> dict[str, float]:
    """The published figures of a model that is like this one, as shares."""
    if row.questions is not None:
        return {}
    left = [name for name in formats if name not in row.trained]
    if len(row.trained) == 1:
        figures, asked = _AT_HOME, list(row.trained)
    else:
        figures, asked = _ELSEWHERE, left if len(left) == 1 else []
    return {name: figures[formats[name]] / 100 for name in asked if formats[name] in figures}
