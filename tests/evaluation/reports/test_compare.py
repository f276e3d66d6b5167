"""Two systems on the same questions."""

import json
import random
from dataclasses import replace

import pytest
from tests.evaluation.reports.records import GOLD, record, run_of, same

from askgraph.errors import SetupError
from askgraph.evaluation.reports.compare import (
    build_comparison_sheets,
    compare_sides,
    select_side,
    to_comparison_object,
)
from askgraph.evaluation.reports.sheet import Sheet
from askgraph.evaluation.runs import Record

A = run_of(
    record("q1", 0.0, tags=("count",)),
    record("q2", 0.5, sparql="SELECT ?a { ?a ?b ?c }"),
    record("q3", 1.0),
    record("q4", 1.0, tags=("count",)),
    record("old", 1.0),
    record("none", 0.0, unanswerable=True, gold_sparql=None),
    name="before",
)
B = run_of(
    record("q1", 1.0, tags=("count",)),
    record("q2", 1.0),
    record("q3", 1.0),
    record("q4", 0.5, tags=("count",), sparql=None, status="error", error="down"),
    record("new", 0.0),
    record("none", 1.0, unanswerable=True, gold_sparql=None, status="refusal"),
    name="after",
)


def rows(sheet: Sheet) -> list[dict[str, object]]:
    heads = [column.head for column in sheet.columns]
    return [dict(zip(heads, row, strict=True)) for row in sheet.rows]


def test_what_is_compared() -> None:
    # Only questions of both are compared and the others are counted.
    found = compare_sides(select_side(A), select_side(B))
    assert (found.all.n, found.all.a, found.all.b) == (4, 0.625, 0.875)
    assert found.all.difference.mean == pytest.approx(0.25)
    assert (found.all.better, found.all.worse, found.all.equal) == (2, 1, 1)
    assert found.all.p == pytest.approx(0.75)
    assert (found.only_a, found.only_b) == (("space\told",), ("space\tnew",))
    # A side that was told gold links is named as such.
    told = run_of(replace(record("q1", 1.0), gold_links=True), name="told")
    assert "told was told the entities and relations of gold" in " ".join(
        compare_sides(select_side(A), select_side(told)).warnings
    )
    assert compare_sides(select_side(told), select_side(told)).warnings == ()
    # Refusals of what has no answer are compared apart.
    found = compare_sides(select_side(A), select_side(B))
    assert (found.unanswerable.n, found.unanswerable.difference.mean) == (1, 1.0)
    # The largest change comes first with both records.
    found = compare_sides(select_side(A), select_side(B))
    assert [(c.a.id, c.score_a, c.score_b) for c in found.better] == [
        ("q1", 0.0, 1.0),
        ("q2", 0.5, 1.0),
    ]
    assert [(c.b.id, c.b.error) for c in found.worse] == [("q4", "down")]
    # Each tag is compared and its p corrected.
    (part,) = compare_sides(select_side(A), select_side(B)).parts["tag"]
    assert (part.name, part.difference.n, part.difference.difference.mean) == ("count", 2, 0.25)
    assert part.p_corrected == part.difference.p
    # Repetitions are averaged first.
    twice = run_of(
        record("q1", 0.0, repeat=0),
        record("q1", 1.0, repeat=1),
        record("q2", 0.5, repeat=0),
        name="twice",
    )
    found = compare_sides(select_side(A), select_side(twice))
    assert (found.all.n, found.all.b, found.all.better) == (2, 0.5, 1)
    # Different gold is refused and named.
    other = run_of(record("q1", gold_sparql="SELECT ?x { ?x ?y ?z }"), record("q2"), name="other")
    with pytest.raises(SetupError, match=r"different gold, on 'q1': run one of them again"):
        compare_sides(select_side(A), select_side(other))


def test_what_is_refused_and_said() -> None:
    # Nothing in common is refused.
    other = run_of(record("q1", benchmark="other"), name="other")
    with pytest.raises(SetupError, match="no question in common"):
        compare_sides(select_side(A), select_side(other))
    # A metric that was not computed is refused.
    with pytest.raises(SetupError, match=r"no score of the metric 'rows'.*best_column"):
        compare_sides(select_side(A), select_side(B), metric="rows")
    # Of several methods one must be named.
    both = run_of(record("q1", method="guided"), record("q1", 0.0, method="grasp"), name="both")
    with pytest.raises(SetupError, match="name one, as in both:grasp; available: grasp, guided"):
        select_side(both)
    with pytest.raises(SetupError, match="no method 'x'; available: grasp, guided"):
        select_side(both, method="x")
    with pytest.raises(SetupError, match="has no records yet"):
        select_side(run_of(name="empty"))
    found = compare_sides(select_side(both, method="grasp"), select_side(both, method="guided"))
    assert (found.a.name, found.all.difference.mean) == ("both:grasp", 1.0)
    # A graph that changed and a run that was not finished are said.
    old = run_of(record("q1"), name="old", graphs=[{"name": "space", "snapshot": "monday"}])
    new = run_of(
        record("q1"), name="new", planned=9, graphs=[{"name": "space", "snapshot": "friday"}]
    )
    assert compare_sides(select_side(old), select_side(new)).warnings == (
        "INCOMPLETE: new holds 1 of 9",
        "the graph 'space' changed between the runs (monday in old, friday in new)",
    )
    # The tables show both queries and say what is left out.
    everything, better, worse = build_comparison_sheets(
        compare_sides(select_side(A), select_side(B)), max_questions=1
    )
    assert "Only in A: 1 question; only in B: 1; left out here." in everything.notes
    assert [row["query"] for row in rows(better)] == [GOLD, GOLD, GOLD]
    assert better.notes == ("1 more are not shown.",)
    assert [row["query"] for row in rows(worse)] == [GOLD, "down", GOLD]
    # The order of records does not matter.
    shuffled = [*B.records]
    random.Random(1).shuffle(shuffled)
    one = compare_sides(select_side(A), select_side(B))
    again = compare_sides(select_side(A), select_side(run_of(*shuffled, name="after")))
    assert json.dumps(to_comparison_object(one)) == json.dumps(to_comparison_object(again))


def test_a_difference_that_is_real_is_found() -> None:
    def scored(name: str, share: int) -> tuple[Record, ...]:
        return tuple(
            record(f"q{at}", scores=same(float(at % 10 < share)), method=name) for at in range(100)
        )

    found = compare_sides(
        select_side(run_of(*scored("a", 5), name="a")),
        select_side(run_of(*scored("b", 7), name="b")),
    )
    assert found.all.difference.low > 0 and found.all.p < 0.001
