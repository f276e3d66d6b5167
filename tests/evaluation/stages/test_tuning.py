"""The search for k1 and b never makes a training recall worse, and asks for no pair twice."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askgraph.agent.ranked_names import Bm25
from askgraph.evaluation.stages.retrieval import Recall
from askgraph.evaluation.stages.tuning import EVALUATIONS, K1, tuned

START = Bm25()


@given(st.floats(0.1, 10), st.floats(0, 1))
def test_the_best_of_a_smooth_hill_is_found_nearby(k1: float, b: float) -> None:
    asked: list[Bm25] = []

    def measure(one: Bm25) -> Recall:
        asked.append(one)
        height = 1 - abs(one.k1 - k1) / 20 - abs(one.b - b) / 2
        return Recall("entities", 1, ((10, height), (100, 1.0)))

    found = tuned(measure, start=START)

    assert found.recall_after.at >= found.recall_before.at
    nearest = min(abs(value - k1) for value in (*K1, START.k1))
    assert abs(found.after.k1 - k1) == pytest.approx(nearest)
    assert len(asked) == len(set(asked)) <= EVALUATIONS + 1


def test_numbers_that_change_nothing_stay() -> None:
    told: list[int] = []
    found = tuned(
        lambda one: Recall("entities", 1, ((10, 0.5),)), start=START, progress=told.append
    )

    assert found.after == found.before == START
    assert told == list(range(1, len(told) + 1))
