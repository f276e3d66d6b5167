"""A belief is a chance, and no better sign lowers it."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askgraph.methods.guided.confidence import Signs, believed

share = st.floats(0, 1)
signs = st.builds(
    Signs,
    searched=share,
    against=share,
    agreeing=st.integers(0, 4),
    votes=st.integers(4, 6),
    said=st.none() | share | st.sampled_from(["low", "medium", "high"]),
    findings=st.integers(0, 5),
    empty=st.booleans(),
    truncated=st.booleans(),
    misfit=st.booleans(),
    revised=st.booleans(),
)


@given(signs)
def test_a_belief_lies_between_nothing_and_certainty(known: Signs) -> None:
    assert 0 < believed(known) < 1


@given(signs, share, share)
def test_more_agreement_never_lowers_a_belief(known: Signs, some: float, other: float) -> None:
    less, more = sorted((some, other))
    assert believed(replace(known, searched=less)) <= believed(replace(known, searched=more))
    assert believed(replace(known, against=more)) <= believed(replace(known, against=less))
    assert believed(replace(known, said=less)) <= believed(replace(known, said=more))
    one_more = replace(known, agreeing=known.agreeing + 1, votes=known.votes + 1)
    assert believed(replace(known, votes=known.votes + 1)) < believed(known) < believed(one_more)


@given(signs)
def test_nothing_that_speaks_against_an_answer_raises_its_belief(known: Signs) -> None:
    fine = replace(known, empty=False, truncated=False, misfit=False, revised=False, findings=0)
    for flaw in ("empty", "truncated", "misfit", "revised"):
        assert believed(replace(fine, **{flaw: True})) < believed(fine)
    assert believed(replace(fine, findings=1)) < believed(fine)
    assert believed(replace(known, findings=known.findings + 1)) <= believed(known)


def test_a_word_for_how_sure_a_model_is_counts_like_a_number() -> None:
    low, medium, high = (believed(Signs(said=word)) for word in ("low", "medium", "high"))

    assert low < medium < high
    assert low < believed(Signs(said=0.5)) < medium


def test_what_graph_search_is_sure_of_and_the_model_gives_too_is_believed() -> None:
    agreed, alone = believed(Signs(searched=0.93)), believed(Signs())
    contested = believed(Signs(against=0.93))

    assert agreed > 0.9
    assert contested < alone < agreed
    assert contested == pytest.approx(0.5, abs=0.1)


def test_equal_votes_for_and_against_change_nothing() -> None:
    assert believed(Signs(agreeing=2, votes=4)) == believed(Signs())
