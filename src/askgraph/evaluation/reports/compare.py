"""Two systems on the same questions: how much better one is, how sure that is, and on which."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from askgraph.errors import SetupError
from askgraph.evaluation.reports.report import MAIN, SLICES, bare_query, slice_place
from askgraph.evaluation.reports.sheet import Cell, Column, Sheet, columns_of
from askgraph.evaluation.reports.statistics import Difference, holm, paired_difference
from askgraph.evaluation.runs import Record, Run

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
    """Return the records of a method of a run; it must be named if there are several.

    Raises `SetupError` if it is not, and if the run holds nothing of it.
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

    Raises `SetupError` if there is no such question, if gold differs on one, and if a
    record has no score of the metric.
    """
    found_a, found_b = _by_question(a, metric), _by_question(b, metric)
    common = sorted(found_a.keys() & found_b.keys())
    if not common:
        raise SetupError(
            f"{a.name} and {b.name} have no question in common "
            f"({len(found_a)} and {len(found_b)}, by benchmark and id)"
        )
    differ = [
        one.id
        for one, other in [(found_a[key][0], found_b[key][0]) for key in common]
        if (one.gold_sparql, one.unanswerable) != (other.gold_sparql, other.unanswerable)
    ]
    if differ:
        more = f" and {len(differ) - NAMED} more" if len(differ) > NAMED else ""
        raise SetupError(
            f"{a.name} and {b.name} were scored against different gold, on "
            f"{', '.join(map(repr, differ[:NAMED]))}{more}; run one of them again"
        )
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
    """Return the records of each question by round, under benchmark and id."""
    found: dict[str, list[Record]] = {}
    for record in sorted(side.records, key=lambda record: record.repeat):
        if metric not in record.scores:
            raise SetupError(
                f"{side.name} has no score of the metric {metric!r} on {record.id!r}; "
                f"there are {', '.join(sorted(record.scores)) or 'none'}"
            )
        found.setdefault(f"{record.benchmark}\t{record.id}", []).append(record)
    return found


def _score(records: Sequence[Record], metric: str) -> float:
    return fmean(record.score(metric).f1 for record in records)


def _difference(a: Found, b: Found, keys: Sequence[str], metric: str) -> Difference:
    return paired_difference(
        {key: _score(a[key], metric) for key in keys}, {key: _score(b[key], metric) for key in keys}
    )


def _change(a: Sequence[Record], b: Sequence[Record], metric: str) -> Change:
    return Change(a[0], b[0], _score(a, metric), _score(b, metric))


def _sorted(changes: Iterable[Change]) -> tuple[Change, ...]:
    def place(change: Change) -> tuple[float, str, str]:
        return -abs(change.score_b - change.score_a), change.a.benchmark, change.a.id

    return tuple(sorted(changes, key=place))


def _parts(a: Found, b: Found, keys: Sequence[str], metric: str, slicing: str) -> tuple[Part, ...]:
    """Return the comparison on each slice, by what the records of `a` say of the question."""
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


Json = dict[str, object]

COUNTS = tuple(Column(head, "count") for head in ("better", "worse", "equal"))


def compare_sheets(found: Comparison, *, limit: int = 10) -> tuple[Sheet, ...]:
    """Return the tables of a comparison; `limit` is how many questions of each list are shown."""
    parts = (_part_sheet(found, slicing) for slicing, of in found.parts.items() if len(of) > 1)
    changes = (
        _change_sheet(found, "Better", found.better, limit),
        _change_sheet(found, "Worse", found.worse, limit),
    )
    return (_all_sheet(found), *parts, *(sheet for sheet in changes if sheet.rows))


def compare_json(found: Comparison) -> Json:
    """Return a comparison as a JSON object; scores and differences are shares of 1."""
    return {
        "a": found.a.name,
        "b": found.b.name,
        "metric": found.metric,
        "all": _figures(found.all),
        "unanswerable": _figures(found.unanswerable),
        "only_a": [_question(key) for key in found.only_a],
        "only_b": [_question(key) for key in found.only_b],
        **{
            f"by_{slicing}": {
                part.name: {**_figures(part.difference), "p_corrected": round(part.p_corrected, 6)}
                for part in parts
            }
            for slicing, parts in found.parts.items()
        },
        "better": [_change_json(change) for change in found.better],
        "worse": [_change_json(change) for change in found.worse],
        "warnings": list(found.warnings),
    }


def _all_sheet(found: Comparison) -> Sheet:
    rows = [("all", *_cells(found.all), found.all.p)]
    if found.unanswerable.n:
        rows.append(("unanswerable", *_cells(found.unanswerable), found.unanswerable.p))
    notes = (
        *found.warnings,
        f"A is {found.a.name}, B is {found.b.name}; difference: B - A, with its 95 % interval.",
        "p: permutation test on the paired differences, two-sided.",
        f"Only in A: {_questions(found.only_a)}; only in B: {len(found.only_b)}; left out here.",
    )
    columns = (Column("questions of"), *_columns(), Column("p", "p"))
    return Sheet(f"B against A, {found.metric}", columns, tuple(rows), notes)


def _questions(listed: Sequence[object]) -> str:
    return f"{len(listed)} question{'' if len(listed) == 1 else 's'}"


def _part_sheet(found: Comparison, slicing: str) -> Sheet:
    rows = [
        (part.name, *_cells(part.difference), part.difference.p, part.p_corrected)
        for part in found.parts[slicing]
    ]
    columns = (Column(slicing), *_columns(), Column("p", "p"), Column("p (Holm)", "p"))
    return Sheet(f"B against A by {slicing}, {found.metric}", columns, tuple(rows))


def _columns() -> tuple[Column, ...]:
    shares = ("A", "B", "difference", "low", "high")
    return (Column("n", "count"), *columns_of("share", *shares), *COUNTS)


def _cells(found: Difference) -> tuple[Cell, ...]:
    gap = found.difference
    means = (found.n, found.a, found.b, gap.mean, gap.low, gap.high)
    return (*means, found.better, found.worse, found.equal)


def _change_sheet(found: Comparison, title: str, changes: Sequence[Change], limit: int) -> Sheet:
    """Two rows a question, one for each side."""
    rows: list[tuple[Cell, ...]] = []
    for change in changes[:limit]:
        gold = change.a.gold_sparql
        sides = (("A", change.score_a, change.a), ("B", change.score_b, change.b))
        for name, score, record in sides:
            query = bare_query(record.sparql) if record.sparql else record.error
            rows.append((record.id, record.question, name, score, record.status, query))
        if gold is not None:
            rows.append((change.a.id, change.a.question, "gold", None, None, bare_query(gold)))
    hidden = len(changes) - limit
    notes = (f"{hidden} more are not shown.",) if hidden > 0 else ()
    columns = (
        *columns_of("text", "id", "question", "of"),
        Column(found.metric, "share"),
        *columns_of("text", "status", "query"),
    )
    return Sheet(f"{title} in B: {_questions(changes)}", columns, tuple(rows), notes)


def _figures(found: Difference) -> Json:
    shares = {
        "a": found.a,
        "b": found.b,
        "difference": found.difference.mean,
        "low": found.difference.low,
        "high": found.difference.high,
        "p": found.p,
    }
    counts = {"better": found.better, "worse": found.worse, "equal": found.equal}
    return {"n": found.n, **{name: round(value, 6) for name, value in shares.items()}, **counts}


def _question(key: str) -> Json:
    benchmark, _, identity = key.partition("\t")
    return {"benchmark": benchmark, "id": identity}


def _change_json(change: Change) -> Json:
    return {
        "benchmark": change.a.benchmark,
        "id": change.a.id,
        "question": change.a.question,
        "a": round(change.score_a, 6),
        "b": round(change.score_b, 6),
        "sparql_a": change.a.sparql,
        "sparql_b": change.b.sparql,
        "gold_sparql": change.a.gold_sparql,
    }
