"""The trees over evidence: those in use fit it and its signs, and a file is read again."""

import json
import math
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.search.asking import Known

from askgraph.errors import SetupError
from askgraph.search.decide.confidence import (
    CURVE,
    EVIDENCE,
    FOR,
    SHAPE,
    Curve,
    Knot,
    Scored,
    Tree,
    Trees,
    calibrated,
    curve_text,
    fitted,
    own_trees,
    read_curve,
    read_trees,
    sign_of,
    trees_text,
    weighed,
)
from askgraph.search.decide.evidence import evidence_for
from askgraph.search.rank import clusters

numbers = st.floats(0, 5)


def _text(**changed: object) -> str:
    """A file of one tree over all evidence, with some of it changed."""
    trees = Trees(tuple(sorted(EVIDENCE)), 0.5, ((0, 1.0, -0.2, 0.2),))
    return json.dumps(json.loads(trees_text(trees, ["Made by a test."])) | changed)


def test_each_evidence_is_known_to_the_trees(space: Known) -> None:
    proposal = space.proposal("Which moons orbit Jupiter?")

    evidence = evidence_for(proposal, clusters(proposal.candidates))

    assert evidence.keys() == EVIDENCE == set(own_trees().evidence)
    assert EVIDENCE >= FOR | SHAPE


@given(
    st.sampled_from(sorted(EVIDENCE - SHAPE)),
    st.dictionaries(st.sampled_from(sorted(EVIDENCE)), numbers),
    numbers,
    numbers,
)
def test_more_of_an_evidence_only_ever_moves_the_confidence_its_way(
    name: str, others: dict[str, float], some: float, other: float
) -> None:
    less, more = sorted((some, other))
    low, high = weighed({**others, name: less}), weighed({**others, name: more})

    assert sign_of(name) * (high - low) >= -1e-9


@pytest.mark.parametrize(("start", "chance"), [(-1e4, 0.0), (1e4, 1.0), (0.0, 0.5)])
def test_leaves_of_any_size_give_a_chance(start: float, chance: float) -> None:
    assert Trees((), start)({}) == pytest.approx(chance)


def test_trees_add_up_what_their_leaves_say() -> None:
    trees = Trees(("a", "b"), 0.0, ((0, 1.0, -1.0, (1, 2.0, 0.5, 1.5)), 0.25))

    assert trees({"a": 1.0, "b": 9.0}) == pytest.approx(1 / (1 + math.exp(0.75)))
    assert trees({"a": 1.5, "b": 2.0}) == pytest.approx(1 / (1 + math.exp(-0.75)))
    assert trees({"a": 1.5, "b": 3.0, "c": 7.0}) == pytest.approx(1 / (1 + math.exp(-1.75)))
    assert trees({}) == trees({"a": 0.0, "b": 0.0})


leaves = st.floats(-3, 3).map(lambda number: round(number, 5) + 0.0)
grown = st.recursive(
    leaves,
    lambda below: st.tuples(st.integers(0, len(EVIDENCE) - 1), leaves, below, below),
    max_leaves=8,
)


@given(leaves, st.lists(grown, max_size=5))
def test_what_is_written_is_read_again(start: float, given_: list[Tree]) -> None:
    trees = Trees(tuple(sorted(EVIDENCE)), start, tuple(given_))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "confidence.json"
        path.write_text(trees_text(trees, ["Made by a test."]), "utf-8")

        assert read_trees(path) == trees


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (_text(evidence=sorted(EVIDENCE - {"margin"})), "see margin"),
        (_text(evidence=sorted(EVIDENCE | {"unheard_of"})), "see unheard_of"),
        (_text(start="1"), "no number"),
        (_text(start=True), "no number"),
        (_text(trees=[[0, 1.0, 2.0]]), "not enough values"),
        (_text(trees=[[999, 1.0, 2.0, 3.0]]), "no evidence 999"),
        (_text(trees=[["a", 1.0, 2.0, 3.0]]), "no evidence 'a'"),
        (_text(trees=[None]), "None is no number"),
        (_text(trees=3), "not iterable"),
        ("[]", "indices"),
        ("{", "Expecting"),
    ],
)
def test_a_file_that_holds_no_trees_says_so(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "confidence.json"
    path.write_text(text, "utf-8")

    with pytest.raises(SetupError, match=said):
        read_trees(path)


def test_a_missing_file_says_how_to_make_it(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"make it anew with tools/calibrate\.py --write"):
        read_trees(tmp_path / "none.json")


share = st.floats(0, 1)
answers = st.lists(
    st.builds(Scored, share, st.sampled_from([0.0, 0.5, 1.0]), st.floats(0.1, 3)),
    min_size=1,
    max_size=120,
)


@given(answers, share, share)
def test_a_fitted_curve_never_gives_less_for_more(
    found: list[Scored], some: float, other: float
) -> None:
    curve = fitted(found, smallest=8)
    less, more = sorted((some, other))

    assert 0 < curve(less) <= curve(more) < 1


@given(answers)
def test_knots_rise(found: list[Scored]) -> None:
    for lower, upper in pairwise(fitted(found, smallest=8).knots):
        assert lower.given < upper.given and lower.chance <= upper.chance


def test_answers_that_are_too_sure_are_taken_at_what_they_are_worth() -> None:
    chance = np.random.default_rng(7)
    given_ = chance.random(4_000)
    found = [Scored(g, float(chance.random() < g**2)) for g in given_.tolist()]

    curve = fitted(found)

    for value in (0.2, 0.5, 0.8, 0.95):
        assert curve(value) == pytest.approx(value**2, abs=0.06)


def test_adjacent_violators_are_pooled() -> None:
    found = [Scored(given, score) for given, score in ((0.1, 0.2), (0.5, 0.8), (0.7, 0.4))]

    low, high = fitted(found, smallest=1).knots

    assert [low.given, high.given] == pytest.approx([0.1, 0.6])
    assert high.chance == pytest.approx(0.6, abs=0.07)  # of single answers none counts as certain


def test_ten_right_answers_of_ten_are_not_certain() -> None:
    assert fitted([Scored(0.9, 1.0)] * 10)(0.9) == pytest.approx(11 / 12)


def test_a_heavier_answer_counts_for_more() -> None:
    light, heavy = ([Scored(0.5, 1.0, weight), *[Scored(0.5, 0.0)] * 9] for weight in (1.0, 5.0))

    assert fitted(light)(0.5) < fitted(heavy)(0.5)


def test_a_written_curve_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "curve.toml"
    curve = Curve((Knot(0.25, 0.125, 30.0), Knot(0.75, np.float64(0.5), 40)))

    path.write_text(curve_text(curve, ["how it was made"]), "utf-8")

    assert read_curve(path) == curve
    assert path.read_text("utf-8").startswith("# how it was made\n")


near = st.builds(Scored, st.integers(0, 20).map(lambda at: 0.5 + at * 1e-6), share)


@given(answers | st.lists(near, min_size=1, max_size=20))
def test_any_fitted_curve_is_read_as_it_was_written(found: list[Scored]) -> None:
    curve = fitted(found, smallest=1)

    with TemporaryDirectory() as folder:
        path = Path(folder, "curve.toml")
        path.write_text(curve_text(curve, []), "utf-8")
        assert read_curve(path) == curve


@pytest.mark.parametrize(
    "text",
    ["", "knots = []", "knots = [[0.9, 0.5, 1], [0.1, 0.6, 1]]", "knots = [[0.5, 1.5, 3]]",
     "knots = [[0.5, 0.5]]", "knots = [1]", "knots = [['a', 0.5, 3]]", "knots = ["],
)  # fmt: skip
def test_what_is_no_curve_is_an_error_that_names_the_file(text: str, tmp_path: Path) -> None:
    path = tmp_path / "curve.toml"
    path.write_text(text, "utf-8")

    with pytest.raises(SetupError, match=r"curve\.toml"):
        read_curve(path)


def test_the_package_has_a_curve_and_uses_it() -> None:
    own = read_curve(CURVE)

    assert [calibrated(knot.given) for knot in own.knots] == [knot.chance for knot in own.knots]
    assert calibrated(0.0) < 0.1 and calibrated(1.0) > 0.9
