"""The model of confidence: the trees in use fit the evidence and its signs; odd files are told."""

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.each import for_each
from tests.search.asking import Known
from tools.calibration import trees_text

from askgraph.errors import SetupError
from askgraph.search import decide
from askgraph.search.rank import cluster_candidates

numbers = st.floats(0, 5)


def _text(**changed: object) -> str:
    """A file of one tree over all evidence, with some of it changed."""
    trees = decide.BoostedTrees(tuple(sorted(decide.EVIDENCE)), 0.5, ((0, 1.0, -0.2, 0.2),))
    return json.dumps(json.loads(trees_text(trees, ["Made by a test."])) | changed)


def test_each_evidence_is_known_to_the_trees(space: Known) -> None:
    proposal = space.proposal("Which moons orbit Jupiter?")

    evidence = decide.collect_evidence(proposal, cluster_candidates(proposal.candidates))

    assert evidence.keys() == decide.EVIDENCE == set(decide.load_trees().evidence)
    assert decide.EVIDENCE >= decide.EVIDENCE_FOR | decide.SHAPE_EVIDENCE


@given(
    st.sampled_from(sorted(decide.EVIDENCE - decide.SHAPE_EVIDENCE)),
    st.dictionaries(st.sampled_from(sorted(decide.EVIDENCE)), numbers),
    numbers,
    numbers,
)
def test_more_of_an_evidence_only_ever_moves_the_confidence_its_way(
    name: str, others: dict[str, float], some: float, other: float
) -> None:
    less, more = sorted((some, other))
    low, high = (
        decide.score_evidence({**others, name: less}),
        decide.score_evidence({**others, name: more}),
    )

    assert decide.get_evidence_sign(name) * (high - low) >= -1e-9


@pytest.mark.parametrize(("start", "chance"), [(-1e4, 0.0), (1e4, 1.0), (0.0, 0.5)])
def test_leaves_of_any_size_give_a_chance(start: float, chance: float) -> None:
    assert decide.BoostedTrees((), start)({}) == pytest.approx(chance)


def test_trees_add_up_what_their_leaves_say() -> None:
    trees = decide.BoostedTrees(("a", "b"), 0.0, ((0, 1.0, -1.0, (1, 2.0, 0.5, 1.5)), 0.25))

    assert trees({"a": 1.0, "b": 9.0}) == pytest.approx(1 / (1 + math.exp(0.75)))
    assert trees({"a": 1.5, "b": 2.0}) == pytest.approx(1 / (1 + math.exp(-0.75)))
    assert trees({"a": 1.5, "b": 3.0, "c": 7.0}) == pytest.approx(1 / (1 + math.exp(-1.75)))
    assert trees({}) == trees({"a": 0.0, "b": 0.0})


@for_each(
    ("text", "said"),
    (_text(evidence=sorted(decide.EVIDENCE - {"margin"})), "check margin"),
    (_text(evidence=sorted(decide.EVIDENCE | {"unheard_of"})), "check unheard_of"),
    (_text(start="1"), "not a number"),
    (_text(start=True), "not a number"),
    (_text(trees=[[0, 1.0, 2.0]]), "not enough values"),
    (_text(trees=[[999, 1.0, 2.0, 3.0]]), "unknown evidence 999"),
    (_text(trees=[["a", 1.0, 2.0, 3.0]]), "unknown evidence 'a'"),
    (_text(trees=[None]), "None is not a number"),
    (_text(trees=3), "not iterable"),
    ("[]", "indices"),
    ("{", "Expecting"),
)
def test_a_file_that_holds_no_trees_says_so(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "confidence.json"
    path.write_text(text, "utf-8")

    with pytest.raises(SetupError, match=said):
        decide.read_trees(path)


def test_a_missing_file_says_how_to_make_it(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"create it again with tools/calibrate\.py --write"):
        decide.read_trees(tmp_path / "none.json")


@for_each(
    "text",
    ["", "knots = []", "knots = [[0.9, 0.5, 1], [0.1, 0.6, 1]]", "knots = [[0.5, 1.5, 3]]",
     "knots = [[0.5, 0.5]]", "knots = [1]", "knots = [['a', 0.5, 3]]", "knots = ["],
)  # fmt: skip
def test_what_is_no_curve_is_an_error_that_names_the_file(text: str, tmp_path: Path) -> None:
    path = tmp_path / "curve.toml"
    path.write_text(text, "utf-8")

    with pytest.raises(SetupError, match=r"curve\.toml"):
        decide.read_curve(path)


def test_the_package_has_a_curve_and_uses_it() -> None:
    own = decide.read_curve(decide.CURVE_FILE)

    assert [decide.calibrate(knot.confidence) for knot in own.knots] == [
        knot.probability for knot in own.knots
    ]
    assert decide.calibrate(0.0) < 0.1 and decide.calibrate(1.0) > 0.9
