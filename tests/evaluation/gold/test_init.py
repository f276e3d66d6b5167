"""Findings and results in words."""

from tests.each import each

from askgraph.evaluation import Table
from askgraph.evaluation.gold import KINDS, Finding, table_in_words
from askgraph.evaluation.questions import GoldQuestion


def test_a_finding_says_how_bad_it_is_and_what_to_do() -> None:
    found = Finding.of(GoldQuestion("q", "?"), "tie", "two rows").json()
    assert found == {
        "id": "q",
        "kind": "tie",
        "seen": "two rows",
        "benchmark": "",
        "severity": "warning",
        "advice": KINDS["tie"].advice,
    }


def test_errors_come_before_warnings() -> None:
    severities = [kind.severity for kind in KINDS.values()]
    assert severities == sorted(severities)


@each(
    ("table", "words"),
    [
        (Table.of_boolean(False), "false"),
        (Table.of_json(["a"], []), "no rows"),
        (Table.of_json(["a", "b"], [["x", None]]), "1 row (x | unbound)"),
        (Table.of_json(["a"], [[n] for n in range(1200)]), "1,200 rows (0; 1; 2; …)"),
        (Table.of_json(["a"], [["x" * 100]]), f"1 row ({'x' * 59}…)"),
    ],
)
def test_a_result_in_one_line(table: Table, words: str) -> None:
    assert table_in_words(table) == words
