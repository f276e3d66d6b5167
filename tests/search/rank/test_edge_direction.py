"""Relations go the way that grammar says, no step is one too many, and none goes too far."""

import pytest
from tests.search.asking import Known
from tests.search.question_files import graph_named

from askgraph.search.query_pieces import find_aggregates, get_predicate, list_patterns
from askgraph.search.rank import cluster_candidates
from askgraph.search.rank.faults import FaultContext, find_faults


@pytest.fixture(scope="module")
def port() -> Known:
    """Captains from towns, some of them with voyages; permits in a chain."""
    return graph_named("harbour")


def test_a_step_that_no_word_asks_for_is_needless(port: Known) -> None:
    found = port.proposal("Show the captains in Kiel.").candidates
    detours = [
        one
        for one in found
        if any(get_predicate(step).endswith("#captain") for step in list_patterns(one.query.where))
    ]
    assert not found[0].features["needless"]
    assert detours
    assert any(one.features["needless"] for one in detours)


def test_no_candidate_counts_what_it_groups_by(port: Known) -> None:
    for question in ("How many captains are there for each home town?", "voyages per captain"):
        for one in port.proposal(question).candidates:
            counted = {call.arguments[0] for call in find_aggregates(one.tree)}
            assert counted.isdisjoint(value for value, _ in one.tree.group_by)


def test_the_better_known_of_two_leaves_a_doubt(port: Known) -> None:
    def faults(question: str) -> tuple[str, ...]:
        proposal = port.proposal(question)
        return find_faults(FaultContext(proposal, cluster_candidates(proposal.candidates)[0].best))

    assert "namesake" in faults("Which ships does Kim Roe guide?")
    assert "namesake" not in faults("Which captain has the voyages of Heron?")


def test_a_second_question_asks_for_a_second_column(port: Known) -> None:
    proposal = port.proposal("What are the owners of the ships and what are the captains?")
    one = next(one for one in proposal.candidates if len(one.shown) == 1)
    assert "columns_missing" in find_faults(FaultContext(proposal, one))
