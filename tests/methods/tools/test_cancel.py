"""A run that gives up says why, and keeps its best attempt where that runs."""

from tests.graphs import MOONS
from tests.tool_graphs import called, served, toolbox

PREFIXES = {"": "http://example.org/", "onto": "http://example.org/onto#"}


def test_the_reason_is_kept_and_the_run_ends() -> None:
    with served(MOONS, PREFIXES) as (_, graph):
        found = called(toolbox(graph), "cancel", reason="Nothing on comets.")
    assert (found.text, found.ends, found.answer) == ("Nothing on comets.", "cancel", None)


def test_the_best_attempt_is_run() -> None:
    with served(MOONS, PREFIXES) as (_, graph):
        query = "SELECT ?m { ?m onto:orbits :Jupiter }"
        found = called(toolbox(graph), "cancel", reason="Only moons.", query=query)
    assert found.ends == "cancel" and found.rows == 2
    assert found.answer is not None and found.answer.confidence == 0.1


def test_a_best_attempt_that_fails_is_told() -> None:
    with served(MOONS, PREFIXES) as (_, graph):
        found = called(toolbox(graph), "cancel", reason="No.", query="SELECT ?m { ?m }")
    assert found.ends == "cancel" and found.answer is None
    assert "The best attempt failed" in found.text
