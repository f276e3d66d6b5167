"""What went wrong, told from two queries and what came of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.each import for_each
from tests.evaluation.reports.records import record, same

from askgraph.evaluation.reports.failures import (
    ExecutableCounts,
    Failure,
    RejectionCounts,
    classify_failure,
    compute_drafts_oracle,
    compute_record_calibration,
    count_executable,
    count_failures,
    count_record_rejections,
    count_rejections,
    get_failure_class,
    group_errors,
)

HEAD = (
    "PREFIX : <http://example.org/> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> "
    "PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> "
)
MOONS = "SELECT ?moon { ?moon :orbits :Mars }"


def failure(
    predicted: str | None,
    gold: str | None = MOONS,
    *,
    f1: float = 0.0,
    status: str = "answer",
    error: str | None = None,
    rows: int | None = 1,
    executed: bool = True,
    metric: str = "best_column",
    unanswerable: bool = False,
    gold_error: str | None = None,
    gold_rows: int | None = 2,
) -> str | None:
    made = record(
        scores=same(f1, flattened=0.5), status=status, error=error, rows=rows,
        sparql=predicted and HEAD + predicted, gold_sparql=gold and HEAD + gold,
        executed=executed, unanswerable=unanswerable, gold_error=gold_error,
    )  # fmt: skip
    return classify_failure(made, gold_rows=gold_rows, metric=metric)


def test_classes_of_failures() -> None:
    # A right answer has no class.
    assert failure(MOONS, f1=1) is None
    # An order that cuts nothing off comes last.
    ordered = "SELECT ?x ?r { ?x :orbits :Mars ; :radius ?r } ORDER BY ?r"
    assert failure("SELECT ?x { ?x :orbits :Mars ; :radius ?r }", ordered) == Failure.SHAPE
    assert failure(ordered.removesuffix(" ORDER BY ?r"), ordered) == Failure.OPERATOR
    # A path is the same as its patterns.
    path = "SELECT ?x { ?x :orbits/^:home :Ann }"
    assert failure(path, "SELECT ?x { ?x :orbits ?p . :Ann :home ?p }") == Failure.RESULT
    # No rows count only where nothing else tells more.
    assert failure("SELECT ?x { ?x a :Moon ; :orbits :Mars }", rows=0) == Failure.EMPTY
    assert failure("SELECT ?x { ?x :orbits :Venus }", rows=0) == Failure.ENTITY
    assert failure(MOONS, None, rows=0) == Failure.EMPTY and failure(MOONS, None) == Failure.RESULT
    # A query that did not run is unreadable or an error.
    assert failure("SELECT ?x {", rows=None, executed=False) == Failure.UNREADABLE
    assert failure(MOONS, rows=None, executed=False) == Failure.ERROR
    assert failure(None, rows=None, executed=False) == Failure.ERROR
    # Questions without an answer and gold that fails.
    assert failure(MOONS, None, unanswerable=True, gold_rows=None) == Failure.ANSWERED
    assert failure(MOONS, gold_error="TimedOut: gold", gold_rows=None) == Failure.GOLD
    # By a stricter metric a right column is a wrong shape.
    one = "SELECT ?moon { ?moon :orbits :Mars ; :radius ?r }"
    two = "SELECT ?moon ?r { ?moon :orbits :Mars ; :radius ?r }"
    assert failure(two, one, f1=1, metric="flattened") == Failure.SHAPE
    assert failure(two, one, f1=1) is None
    # Prefixes that a query does not declare are known.
    predicted = "SELECT ?x { ?x <http://space/orbits> <http://space/Mars> }"
    made = record(f1=0.0, sparql=predicted, gold_sparql="SELECT ?x { ?x s:orbits s:Venus }", rows=1)
    assert classify_failure(made, gold_rows=1, prefixes={"s": "http://space/"}) == Failure.ENTITY
    # The class that a run wrote down counts.
    assert get_failure_class(record("a", 0, failure="empty"), MAIN) == "empty"
    assert get_failure_class(record("a", 1, failure=None), MAIN) is None
    # A class that is not written down is found.
    assert get_failure_class(record("a", 0, status="refusal"), MAIN) == "refused"
    assert get_failure_class(record("a", 0, gold_error="slow"), MAIN) == "gold failed"


@pytest.mark.parametrize(
    ("status", "expected"), [("refusal", Failure.REFUSED), ("clarification", Failure.ASKED_BACK)]
)
def test_what_was_held_back_is_named_first(status: str, expected: Failure) -> None:
    assert failure("SELECT ?x { ?x :orbits :Venus }", status=status) == expected


@for_each(
    ("error", "expected"),
    ("no answer within 30.0 s", Failure.TIMEOUT),
    ("TimedOut: no complete answer within 60 s", Failure.TIMEOUT),
    ("Overloaded: 503", Failure.ENDPOINT),
    ("Unreachable: no connection", Failure.ENDPOINT),
    ("QuerySyntaxError: line 1", Failure.UNREADABLE),
    ("QueryError: the result was cut off", Failure.ERROR),
    ("the method failed: KeyError('x')", Failure.ERROR),
    ("annotations: not one of our errors", Failure.ERROR),
)
def test_errors_are_sorted_by_their_names(error: str, expected: Failure) -> None:
    assert failure(None, status="error", error=error, executed=False, rows=None) == expected


@for_each(
    ("predicted", "gold", "expected"),
    ("SELECT ?x { ?x :near :Venus }", MOONS, Failure.LINKING),
    ("SELECT ?x { ?x :orbits :Venus }", MOONS, Failure.ENTITY),
    ("SELECT ?x { ?x :near :Mars }", MOONS, Failure.PREDICATE),
    ("SELECT ?x { :Mars :orbits ?x }", MOONS, Failure.DIRECTION),
    ("SELECT ?x { ?x ^:orbits :Mars }", MOONS, Failure.DIRECTION),
    ("SELECT ?y { ?x :orbits ?y }", "SELECT ?x { ?x :orbits ?y }", Failure.DIRECTION),
    ("SELECT (COUNT(?x) AS ?n) { ?x :orbits :Mars }", MOONS, Failure.OPERATOR),
    ("SELECT ?x { ?x :orbits :Mars } ORDER BY ?x LIMIT 1", MOONS, Failure.OPERATOR),
    ("SELECT ?x { ?x :orbits+ :Mars }", MOONS, Failure.OPERATOR),
    ("ASK { ?x :orbits :Mars }", MOONS, Failure.SHAPE),
    ("SELECT ?x { ?x a :Moon ; :orbits :Mars }", MOONS, Failure.PATTERN),
    ("SELECT ?m { ?m :orbits :Mars }", MOONS, Failure.RESULT),
    (
        "SELECT ?x { ?x a :Planet ; :orbits :Mars }",
        "SELECT ?x { ?x a :Moon ; :orbits :Mars }",
        Failure.CLASS,
    ),
    (
        "SELECT ?m { ?m :orbits ?p . ?p :near :Mars }",
        "SELECT ?p { ?m :orbits ?p . ?p :near :Mars }",
        Failure.SHAPE,
    ),
    (
        "SELECT ?m { ?m :orbits ?p ; :radius ?r } ORDER BY ?r LIMIT 1",
        "SELECT ?m { ?m :orbits ?p ; :radius ?r } ORDER BY DESC(?r) LIMIT 1",
        Failure.OPERATOR,
    ),
    (
        "SELECT ?m { ?m :radius ?r FILTER(?r > 10) }",
        "SELECT ?m { ?m :radius ?r FILTER(?r > 100) }",
        Failure.ENTITY,
    ),
    (
        "SELECT ?m { ?m :radius ?r }",
        "SELECT ?m { ?m :radius ?r FILTER(?r > 100) }",
        Failure.OPERATOR,
    ),
    (
        "SELECT ?m { ?m a :Moon ; :orbits :Mars }",
        "SELECT ?m { ?m a :Moon FILTER NOT EXISTS { ?m :orbits :Mars } }",
        Failure.OPERATOR,
    ),
    (
        "SELECT ?a { ?a :knows ?b . ?b :likes ?a }",
        "SELECT ?a { ?a :knows ?b . ?c :likes ?a }",
        Failure.PATTERN,
    ),
    # A class that the predicate implies, and gold that names nothing but predicates.
    ("SELECT ?x { ?x :near ?p }", "SELECT ?x { ?x :orbits ?p }", Failure.PREDICATE),
    ("SELECT ?x { ?x a :Moon ; :near ?p }", "SELECT ?x { ?x :orbits ?p }", Failure.PREDICATE),
    ("SELECT ?x { ?x a :Moon }", "SELECT ?x { ?x a :Planet }", Failure.CLASS),
    ("SELECT ?x { ?x ?p ?o }", "SELECT ?x { ?x :orbits ?p }", Failure.LINKING),
    (
        "SELECT ?x { ?x :orbits/:near ?s ; :radius ?r }",
        "SELECT ?x { ?x a :Moon ; :orbits ?p ; :radius ?s . ?p :near ?s }",
        Failure.PATTERN,
    ),
    # What only a missing operator needs is no wrong predicate of its own.
    ("SELECT ?m { ?m a :Moon }", "SELECT (COUNT(?m) AS ?n) { ?m a :Moon }", Failure.OPERATOR),
    (
        "SELECT ?m { ?m :orbits :Mars }",
        "SELECT ?m { ?m :orbits :Mars ; :radius ?r } ORDER BY ?r LIMIT 1",
        Failure.OPERATOR,
    ),
    (
        "SELECT ?m { ?m :orbits :Mars ; :near ?x }",
        "SELECT (AVG(?r) AS ?a) { ?m :orbits :Mars ; :radius ?r }",
        Failure.OPERATOR,
    ),
    (
        "SELECT (MAX(?d) AS ?a) { ?m :orbits :Mars ; :mass ?d }",
        "SELECT ?r { ?m :orbits :Mars ; :radius ?r } ORDER BY DESC(?r) LIMIT 1",
        Failure.PREDICATE,
    ),
    # A column that is not there, with the pattern that fetches it.
    (
        "SELECT ?m { ?m :orbits :Mars }",
        "SELECT ?m ?r { ?m :orbits :Mars ; :radius ?r }",
        Failure.SHAPE,
    ),
    ("SELECT ?m { ?m :orbits ?p }", "SELECT ?m { ?m :orbits/:near ?p }", Failure.PREDICATE),
    # The same patterns, and operators that are given something else.
    (
        "SELECT ?m { ?m :orbits :Mars ; :radius ?r ; :mass ?d } ORDER BY ?d LIMIT 1",
        "SELECT ?m { ?m :orbits :Mars ; :radius ?r ; :mass ?d } ORDER BY ?r LIMIT 1",
        Failure.OPERATOR,
    ),
    (
        "SELECT (AVG(?r) AS ?a) ?p { ?m :orbits ?p ; :radius ?r } GROUP BY ?m ?p",
        "SELECT (AVG(?r) AS ?a) ?p { ?m :orbits ?p ; :radius ?r } GROUP BY ?p",
        Failure.OPERATOR,
    ),
    (
        "SELECT (COUNT(?p) AS ?n) { ?m :orbits ?p }",
        "SELECT (COUNT(DISTINCT ?p) AS ?n) { ?m :orbits ?p }",
        Failure.OPERATOR,
    ),
)
def test_two_queries_differ_first_in(predicted: str, gold: str, expected: Failure) -> None:
    assert failure(predicted, gold) == expected


@for_each(
    "alike",
    "SELECT DISTINCT ?x { ?x :orbits :Mars }",
    "SELECT ?x { ?x :orbits :Mars OPTIONAL { ?x rdfs:label ?l FILTER(LANG(?l) = 'en') } }",
    "SELECT ?x { :Mars ^:orbits ?x }",
    "SELECT ?x { { ?x :orbits :Mars } }",
    'SELECT ?x { ?x :orbits :Mars SERVICE :labels { :labels :language "en" } }',
)
def test_what_only_serves_to_show_a_result_makes_no_difference(alike: str) -> None:
    assert failure(alike) == Failure.RESULT


@for_each(
    ("one", "other"),
    ("?x :orbits :Mars", "?x :orbits ?p FILTER(?p = :Mars)"),
    ("?x :orbits :Mars", "?x :orbits ?p FILTER(?p IN (:Mars))"),
    ("?x :orbits :Mars", "VALUES ?p { :Mars } ?x :orbits ?p"),
    ("?x :orbits :Mars", "?x :orbits :Mars . ?x :orbits :Mars"),
    ("?x :radius ?r ; :mass ?m FILTER(?r > 1 && ?m = 2)", "?x :radius ?r ; :mass 2 FILTER(?r > 1)"),
    (
        "?x :radius ?r FILTER NOT EXISTS { ?x :orbits :Mars }",
        "?x :radius ?r MINUS { ?x :orbits :Mars }",
    ),
)
def test_two_ways_to_say_the_same_make_no_difference(one: str, other: str) -> None:
    assert failure(f"SELECT ?x {{ {one} }}", f"SELECT ?x {{ {other} }}") == Failure.RESULT
    assert failure(f"SELECT ?x {{ {other} }}", f"SELECT ?x {{ {one} }}") == Failure.RESULT


names = st.sampled_from(["?a", "?b", "?c", ":Mars", ":Venus"])
patterns = st.lists(
    st.tuples(names, st.sampled_from([":orbits", ":near", "a"]), names), min_size=1, max_size=4
)


@given(patterns.flatmap(lambda p: st.tuples(st.just(p), st.permutations(p))), st.data())
def test_neither_names_of_variables_nor_the_order_of_patterns_matter(
    drawn: tuple[list[tuple[str, str, str]], list[tuple[str, str, str]]], data: st.DataObject
) -> None:
    first, second = drawn
    names = dict(
        zip(["?a", "?b", "?c"], data.draw(st.permutations(["?x", "?y", "?z"])), strict=True)
    )
    renamed = [tuple(names.get(term, term) for term in pattern) for pattern in second]
    gold = "SELECT ?a { " + " . ".join(" ".join(pattern) for pattern in first) + " }"
    predicted = f"SELECT {names['?a']} {{ " + " . ".join(map(" ".join, renamed)) + " }"

    assert failure(predicted, gold) == Failure.RESULT


MAIN = "best_column"


def test_counts_of_failures() -> None:
    # The most frequent class comes first.
    records = [record(i, 0, failure=kind) for i, kind in zip("abc", ["x", "y", "y"], strict=True)]
    assert list(count_failures([*records, record("d")], MAIN).items()) == [("y", 2), ("x", 1)]
    # Errors are told with all their questions.
    records = [
        record("b", 0, error="down"),
        record("a", 0, error="down"),
        record("c", gold_error="slow"),
    ]
    assert group_errors(records) == {"down": ("a", "b"), "gold: slow": ("c",)}
    # Rejecting catches wrong answers and loses right ones.
    found = count_record_rejections(
        [
            record("a", 1.0),
            record("b", 1.0, status="clarification"),
            record("c", 0.5, status="refusal"),
            record("d", 0.0),
            record("e", 0.0, status="error"),
            record("f", 1.0, status="refusal", unanswerable=True),
            record("g", 0.0, unanswerable=True),
        ],
        MAIN,
    )
    assert (found.wrong, found.wrong_rejected, found.caught_share) == (4, 2, 0.5)
    assert (found.right, found.right_rejected, found.lost_share) == (2, 1, 0.5)
    # Calibration is over records with a query.
    calibration = compute_record_calibration(
        [
            record("a", 1.0, confidence=0.8),
            record("b", 1.0, confidence=0.4, status="refusal", unanswerable=True),
            record("c", 0.0, confidence=0.0, sparql=None, status="error"),
        ],
        MAIN,
    )
    assert calibration.n == 2 and calibration.brier == pytest.approx((0.2**2 + 0.4**2) / 2)


def test_shares_of_failures() -> None:
    # The executable share is of all answerable questions.
    found = count_executable(
        [
            record("a"),
            record("b", sparql=None, executed=False),
            record("c", executed=False),
            record("d", unanswerable=True),
        ]
    )
    assert found == ExecutableCounts(questions=3, queries=2, ran=1)
    assert found.executed_share == pytest.approx(1 / 3)
    # The oracle over candidates counts those without any.
    records = [
        record("a", drafts=(0.0, 0.5, 1.0, 0.25)),
        record("b", drafts=(0.5,)),
        record("c"),
        record("d", drafts=(1.0,), unanswerable=True),
    ]
    assert compute_drafts_oracle(records) == pytest.approx({1: 0.5 / 3, 3: 1.5 / 3, 5: 1.5 / 3})
    assert compute_drafts_oracle([record("a")]) == {}
    # Another metric decides what is right.
    one = record("a", scores=same(1, flattened=0.5))
    assert (
        count_record_rejections([one], MAIN).right == 1
        and count_record_rejections([one], "flattened").wrong == 1
    )
    # Both sides are counted.
    told = count_rejections([(True, False), (False, False), (True, True), *[(False, True)] * 3])
    assert told == RejectionCounts(wrong=2, wrong_rejected=1, right=4, right_rejected=1)
    assert (told.caught_share, told.lost_share) == (0.5, 0.25)
    # Who rejects everything catches all and loses all.
    told = count_rejections([(True, False), (True, True)])
    assert (told.caught_share, told.lost_share) == (1.0, 1.0)
    # A share of nothing is none.
    assert (
        count_rejections([(False, True)]).caught_share is None
        and count_rejections([(False, False)]).lost_share is None
    )
    # The share of no questions is none.
    assert count_executable([]).executed_share is None
