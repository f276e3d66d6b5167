"""What is asked for against what is shown: a thing of another kind, one or several."""

import pytest
from tests.search.asking import Known
from tests.search.question_files import graph_named

from askgraph.search.rank.faults import FaultContext, find_faults


@pytest.fixture(scope="module")
def town() -> Known:
    return graph_named("concerts")


def test_a_thing_of_another_kind_is_a_fault(town: Known) -> None:
    proposal = town.proposal("Who performed the May Gala?", "en")
    for candidate in proposal.candidates:
        wrong = "wrong_kind" in find_faults(FaultContext(proposal, candidate))
        assert wrong == bool(candidate.features["misfit"])
    assert any(candidate.features["misfit"] for candidate in proposal.candidates)


def test_one_row_disagrees_with_a_plural_and_several_with_a_singular(town: Known) -> None:
    assert not town.proposal("What are the halls?", "en").candidates[0].features["disagrees"]
    assert town.proposal("What is the hall?", "en").candidates[0].features["disagrees"]
