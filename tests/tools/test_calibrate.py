"""Calibration: weights come back from data made with them; the sample graph can be fitted."""

from pathlib import Path

import numpy as np
import pytest
from tools.accuracy_floors import sets
from tools.calibrate import FEATURES, brier, confidences, fitted, report
from tools.calibration_cases import Case, cases, generated_cases
from tools.calibration_curve import curve_file, curve_of, curve_report, held_out

from askgraph.candidates.calibration import read_curve
from askgraph.candidates.decide import CONFIDENCE
from askgraph.workspace import Workspace

TRUE = dict.fromkeys(CONFIDENCE, 0.0) | {"bias": -1.0, "score": 2.0, "unused": -0.5}


def _drawn(name: str, number: int, bias: float = 0.0) -> list[Case]:
    chance = np.random.default_rng(number)
    evidence = [
        dict(zip(FEATURES, row, strict=True)) for row in chance.random((number, len(FEATURES))) * 3
    ]
    right = confidences(TRUE | {"bias": TRUE["bias"] + bias}, evidence)
    return [Case(name, facts, f1) for facts, f1 in zip(evidence, right.tolist(), strict=True)]


def test_the_weights_that_made_the_data_are_found() -> None:
    found = fitted(_drawn("one", 400) + _drawn("two", 100), l2=0.0)

    assert found == pytest.approx(TRUE, abs=0.05)


def test_every_set_counts_alike() -> None:
    alike = fitted(_drawn("big", 2000, bias=1.0) + _drawn("small", 50, bias=-1.0))
    only_big = fitted(_drawn("big", 2000, bias=1.0))

    assert alike["bias"] < only_big["bias"] - 0.5


def test_a_feature_that_never_changes_gets_no_weight() -> None:
    constant = [Case(c.set, {**c.evidence, "mismatch": 0.0}, c.f1) for c in _drawn("one", 50)]

    assert fitted(constant)["mismatch"] == 0.0


def test_the_brier_score_is_a_squared_distance() -> None:
    assert brier(np.array([1.0, 0.5]), np.array([1.0, 0.0])) == pytest.approx(0.125)


def test_the_sample_graph_is_fitted_and_told(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    [asked] = sets(tmp_path, workspace, ["sample"])

    found = list(cases(asked, workspace))
    told = report(found)

    assert len(found) > 80
    assert fitted(found).keys() == CONFIDENCE.keys()
    assert all(f"{name:<12}" in told for name in CONFIDENCE)
    assert "(only one set: it was fitted on itself)" in told
    assert told.count("from  to") == 2 and told.count("0.9   1.0") == 2


def _scored(graph: str, number: int, f1: float, *, generated: bool = False) -> list[Case]:
    facts = dict.fromkeys(FEATURES, 0.0) | {"score": 2.0}
    return [Case("one", facts, f1, graph, generated)] * number


def test_people_s_questions_outweigh_generated_ones_whatever_their_number() -> None:
    people = _scored("a", 60, 0.3)
    both = people + _scored("a", 600, 1.0, generated=True)

    alone, [together] = curve_of(people).knots[0].chance, curve_of(both).knots

    assert alone == pytest.approx(0.3)
    assert together.chance == pytest.approx((0.3 + 0.25) / 1.25)


def test_a_graph_is_tried_by_a_curve_that_was_fitted_without_it() -> None:
    found = _scored("right", 90, 0.9) + _scored("wrong", 90, 0.1)

    chances = held_out(found)

    assert chances[0] == pytest.approx(0.1) and chances[-1] == pytest.approx(0.9)
    assert curve_of(found)(found[0].given) == pytest.approx(0.5)


def test_the_file_says_what_it_was_fitted_to_and_is_read_again(tmp_path: Path) -> None:
    found = _scored("a", 50, 0.5) + _scored("b", 30, 1.0, generated=True)
    path = tmp_path / "curve.toml"

    path.write_text(curve_file(found, "made so"), "utf-8")

    knots, expected = read_curve(path).knots, curve_of(found).knots
    assert [k.chance for k in knots] == pytest.approx([k.chance for k in expected], abs=1e-4)
    assert "# Made by: made so\n# Fitted to 50 answers to people's questions and 30" in (
        path.read_text("utf-8")
    )


def test_questions_generated_from_the_sample_are_answered_and_told(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    [asked] = sets(tmp_path, workspace, ["sample"])

    found = list(generated_cases(asked, workspace, number=12))
    told = curve_report(found)

    assert len(found) == 12 and all(case.generated for case in found)
    assert sum(case.f1 for case in found) > 6
    assert "generated  logistic     12" in told and "people's   " not in told
