"""Two systems on the same questions: how much better one is, how sure that is, and on which."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from askgraph.errors import SetupError
from askgraph.evaluation.reports.report import MAIN, SLICES, slice_place
from askgraph.evaluation.reports.statistics import Difference, holm, paired_difference
from askgraph.evaluation.runs.record import Record
from askgraph.evaluation.runs.run_folder import Run

__all__ = ["Change", "Comparison", "Part", "Side", "compare", "side_of"]

TINY = 1e-9
NAMED = 3  # questions that an error names


@dataclass(frozen=True)
class Side:
    """One of the two: the records of one method of a run, and what to call them."""

    name: str
    run: Run
    records: tuple[Record, ...]


@dataclass(frozen=True)
class Part:
    """The comparison on some of the questions; `p_corrected` is for all parts of a kind (Holm)."""

    name: str
    difference: Difference
    p_corrected: float


@dataclass(frozen=True)
class Change:
    """A question that came out better or worse: both scores and, of the first round, records."""

    a: Record
    b: Record
    score_a: float
    score_b: float


@dataclass(frozen=True)
class Comparison:
    """What `b` has over `a` by a metric, on the answerable questions that both were asked.

    `unanswerable` compares refusals on the questions without an answer. `only_a` and `only_b` are
    the keys of questions that the other lacks. `better` and `worse` start with the largest change.
    """

    a: Side
    b: Side
    metric: str
    all: Difference
    unanswerable: Difference
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]
    better: tuple[Change, ...]
    worse: tuple[Change, ...]
    parts: Mapping[str, tuple[Part, ...]]
    warnings: tuple[str, ...]


def side_of(run: Run, *, method: str | None = None) -> Side:
    """Return the records of a method of a run; it must be named where there are several.

    Raises `SetupError` where it is not, and where the run holds nothing of it.
    """
    methods = sorted({record.method for record in run.records})
    if not methods:
        raise SetupError(f"{run.name} holds no records yet")
    if method is None and len(methods) > 1:
        raise SetupError(
            f"{run.name} holds several methods; name one, as {run.name}:{methods[0]}; "
            f"there are {', '.join(methods)}"
        )
    if method is not None and method not in methods:
        raise SetupError(f"{run.name} holds no method {method!r}; there are {', '.join(methods)}")
    records = tuple(record for record in run.records if method in (None, record.method))
    return Side(f"{run.name}:{method}" if method else run.name, run, records)


def compare(a: Side, b: Side, *, metric: str = MAIN) -> Comparison:
    """Compare two sides on the questions that both were asked, repetitions averaged first.

    Raises `SetupError` where there is no such question, where gold differs on one, and where a
    record has no score of the metric.
    """
    found_a, found_b = _by_question(a, metric), _by_question(b, metric)
    common = sorted(found_a.keys() & found_b.keys())
    if not common:
        raise SetupError(
            f"{a.name} and {b.name} have no question in common "
            f"({len(found_a)} and {len(found_b)}, by benchmark and id)"
        )
    _check_gold(a, b, [(found_a[key][0], found_b[key][0]) for key in common])
    with_answer = [key for key in common if not found_a[key][0].unanswerable]
    without = [key for key in common if found_a[key][0].unanswerable]
    changes = [_change(found_a[key], found_b[key], metric) for key in with_answer]
    return Comparison(
        a=a,
        b=b,
        metric=metric,
        all=_difference(found_a, found_b, with_answer, metric),
        unanswerable=_difference(found_a, found_b, without, metric),
        only_a=tuple(sorted(found_a.keys() - found_b.keys())),
        only_b=tuple(sorted(found_b.keys() - found_a.keys())),
        better=_sorted(c for c in changes if c.score_b > c.score_a + TINY),
        worse=_sorted(c for c in changes if c.score_b < c.score_a - TINY),
        parts={
            slicing: _parts(found_a, found_b, with_answer, metric, slicing)
            for slicing in ("tag", "patterns", "form", "graph")
        },
        warnings=tuple(dict.fromkeys(_warnings(a, b))),
    )


Found = Mapping[str, Sequence[Record]]


def _by_question(side: Side, metric: str) -> dict[str, list[Record]]:
    """The records of each question by round, under benchmark and id."""
    found: dict[str, list[Record]] = {}
    for record in sorted(side.records, key=lambda record: record.repeat):
        if metric not in record.scores:
            raise SetupError(
                f"{side.name} has no score of the metric {metric!r} on {record.id!r}; "
                f"there are {', '.join(sorted(record.scores)) or 'none'}"
            )
        found.setdefault(f"{record.benchmark}\t{record.id}", []).append(record)
    return found


def _check_gold(a: Side, b: Side, pairs: Iterable[tuple[Record, Record]]) -> None:
    differ = [
        one.id
        for one, other in pairs
        if (one.gold_sparql, one.unanswerable) != (other.gold_sparql, other.unanswerable)
    ]
    if differ:
        more = f" and {len(differ) - NAMED} more" if len(differ) > NAMED else ""
        raise SetupError(
            f"{a.name} and {b.name} were scored against different gold, on "
            f"{', '.join(map(repr, differ[:NAMED]))}{more}; run one of them again"
        )


def _score(records: Sequence[Record], metric: str) -> float:
    return fmean(record.score(metric).f1 for record in records)


def _difference(a: Found, b: Found, keys: Sequence[str], metric: str) -> Difference:
    return paired_difference(
        {key: _score(a[key], metric) for key in keys},
        {key: _score(b[key], metric) for key in keys},
    )


def _change(a: Sequence[Record], b: Sequence[Record], metric: str) -> Change:
    return Change(a[0], b[0], _score(a, metric), _score(b, metric))


def _sorted(changes: Iterable[Change]) -> tuple[Change, ...]:
    def place(change: Change) -> tuple[float, str, str]:
        return -abs(change.score_b - change.score_a), change.a.benchmark, change.a.id

    return tuple(sorted(changes, key=place))


def _parts(a: Found, b: Found, keys: Sequence[str], metric: str, slicing: str) -> tuple[Part, ...]:
    """The comparison on each slice, by what the records of `a` say of the question."""
    name_of: Callable[[Record, str], Iterable[str]] = SLICES[slicing]
    named: dict[str, list[str]] = {}
    for key in keys:
        for name in dict.fromkeys(name_of(a[key][0], metric)):
            named.setdefault(name, []).append(key)
    names = sorted(named, key=slice_place)
    found = [_difference(a, b, named[name], metric) for name in names]
    corrected = holm([difference.p for difference in found])
    return tuple(map(Part, names, found, corrected))


def _warnings(a: Side, b: Side) -> Iterable[str]:
    for side in (a, b):
        if not side.run.complete:
            yield f"INCOMPLETE: {side.run.name} holds {len(side.run.records)} of {side.run.planned}"
    told = [side.name for side in (a, b) if any(record.gold_links for record in side.records)]
    if len(told) == 1:
        yield f"{told[0]} was told the entities and relations of gold, and the other was not"
    one, other = _snapshots(a.run), _snapshots(b.run)
    for graph in sorted(one.keys() & other.keys()):
        if one[graph] != other[graph]:
            yield (
                f"the graph {graph!r} changed between the runs "
                f"({one[graph]} in {a.run.name}, {other[graph]} in {b.run.name})"
            )


def _snapshots(run: Run) -> dict[str, str]:
    graphs = run.settings.get("graphs")
    if not isinstance(graphs, list | tuple):
        return {}
    return {str(g.get("name")): str(g.get("snapshot")) for g in graphs if isinstance(g, Mapping)}
