"""Curves and trees of confidence: fitted curves rise, and what is written is read again."""

from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tools.calibration import Scored, curve_text, fit_isotonic, trees_text

from askgraph.search import decide

leaves = st.floats(-3, 3).map(lambda number: round(number, 5) + 0.0)
grown = st.recursive(
    leaves,
    lambda below: st.tuples(st.integers(0, len(decide.EVIDENCE) - 1), leaves, below, below),
    max_leaves=8,
)


@given(leaves, st.lists(grown, max_size=5))
def test_what_is_written_is_read_again(start: float, given_: list[decide.Tree]) -> None:
    trees = decide.BoostedTrees(tuple(sorted(decide.EVIDENCE)), start, tuple(given_))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "confidence.json"
        path.write_text(trees_text(trees, ["Made by a test."]), "utf-8")

        assert decide.read_trees(path) == trees


share = st.floats(0, 1)
answers = st.lists(
    st.builds(Scored, share, st.sampled_from([0.0, 0.5, 1.0]), st.floats(0.1, 3)),
    min_size=1,
    max_size=120,
)


@given(answers, share, share)
def test_a_fitted_curve_rises(found: list[Scored], some: float, other: float) -> None:
    curve = fit_isotonic(found, smallest=8)
    less, more = sorted((some, other))

    assert 0 < curve(less) <= curve(more) < 1
    for lower, upper in pairwise(curve.knots):
        assert lower.confidence < upper.confidence and lower.probability <= upper.probability


def test_answers_that_are_too_sure_are_taken_at_what_they_are_worth() -> None:
    chance = np.random.default_rng(7)
    given_ = chance.random(4_000)
    found = [Scored(g, float(chance.random() < g**2)) for g in given_.tolist()]

    curve = fit_isotonic(found)

    for value in (0.2, 0.5, 0.8, 0.95):
        assert curve(value) == pytest.approx(value**2, abs=0.06)
    assert fit_isotonic([Scored(0.9, 1.0)] * 10)(0.9) == pytest.approx(11 / 12)


def test_adjacent_violators_are_pooled_and_heavier_answers_count_for_more() -> None:
    found = [Scored(given, score) for given, score in ((0.1, 0.2), (0.5, 0.8), (0.7, 0.4))]

    low, high = fit_isotonic(found, smallest=1).knots

    assert [low.confidence, high.confidence] == pytest.approx([0.1, 0.6])
    assert high.probability == pytest.approx(
        0.6, abs=0.07
    )  # of single answers none counts as certain
    light, heavy = ([Scored(0.5, 1.0, weight), *[Scored(0.5, 0.0)] * 9] for weight in (1.0, 5.0))
    assert fit_isotonic(light)(0.5) < fit_isotonic(heavy)(0.5)


near = st.builds(Scored, st.integers(0, 20).map(lambda at: 0.5 + at * 1e-6), share)


@given(answers | st.lists(near, min_size=1, max_size=20))
def test_any_fitted_curve_is_read_as_it_was_written(found: list[Scored]) -> None:
    curve = fit_isotonic(found, smallest=1)

    with TemporaryDirectory() as folder:
        path = Path(folder, "curve.toml")
        path.write_text(curve_text(curve, ["how it was made"]), "utf-8")
        assert decide.read_curve(path) == curve
        assert path.read_text("utf-8").startswith("# how it was made\n")
