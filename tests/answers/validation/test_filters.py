"""Conditions that no value meets are found, and none other."""

import pytest
from tests.answers.validation.conftest import HEAD, only

from askgraph.answers.validation import Kind, Services
from askgraph.answers.validation.validate import findings_on

COMPARED = [
    ("?n > 5 && ?n < 3", "?n cannot be > 5 and < 3"),
    ("?n = 5 && 6 <= ?n", "?n cannot be = 5 and >= 6"),
    ("?n > 5) FILTER(?n <= 5", "?n cannot be > 5 and <= 5"),
    ("?n > 5 && ?n <= 6", ""),
    ("?n < 3 || ?n > 5", ""),
    ("RAND() > 0.9 && RAND() < 0.1", ""),
    ('?n IN ("a", "b")', 'no value of ?n can be compared with "a"'),
    ('?n IN ("a", 5)', ""),
]


@pytest.mark.parametrize(("condition", "reason"), COMPARED)
def test_conditions_that_exclude_each_other_are_found(
    condition: str, reason: str, cups: Services
) -> None:
    found = findings_on(HEAD + f"SELECT * {{ ?x :size ?n FILTER({condition}) }}", cups)
    assert [finding.message for finding in found] == ([reason] if reason else [])


def test_bounds_exclude_each_other_in_a_graph_of_which_nothing_is_known(cups: Services) -> None:
    query = "SELECT * { SERVICE <http://elsewhere.example/> { ?x ?p ?n FILTER(?n > 5 && ?n < 3) } }"
    assert only(query, cups).kind is Kind.FILTER
