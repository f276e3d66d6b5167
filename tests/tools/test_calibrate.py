"""Calibration: weights come back from data made with them; the sample graph can be fitted."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tools.accuracy_floors import sets
from tools.calibrate import report, written
from tools.calibration_cases import Case, Source, cases, generated_cases, shares
from tools.calibration_curve import curve_file, curve_of, curve_report, held_out
from tools.calibration_rejection import rejection_report
from tools.calibration_weights import confidences, fitted, without

from askgraph.search.decide.confidence import own_weights, read_curve, read_weights, sign_of
from askgraph.workspace import Workspace

NAMES = tuple(name for name in own_weights() if name != "bias")
TRUE = dict.fromkeys(own_weights(), 0.0) | {"bias": -1.0, "score": 2.0, "unused_names": -1.5}


def _drawn(graph: str, number: int, bias: float = 0.0) -> list[Case]:
    chance = np.random.default_rng(number)
    rows = (chance.random((number, len(NAMES))) - 0.5) * 3
    evidence = [dict(zip(NAMES, row.tolist(), strict=True)) for row in rows]
    sure = confidences(TRUE | {"bias": TRUE["bias"] + bias}, evidence)
    right = (chance.random(number) < sure).astype(float)
    return [Case("one", e, f1, graph) for e, f1 in zip(evidence, right.tolist(), strict=True)]


def test_the_weights_that_made_the_data_are_found() -> None:
    found = fitted(_drawn("one", 6000), l2=0.0)

    assert found == pytest.approx(TRUE, abs=0.25)


def test_no_weight_has_the_wrong_sign() -> None:
    against = [replace(case, f1=1 - case.f1) for case in _drawn("one", 500)]

    found = fitted(against)

    assert all(value * sign_of(name) >= 0 for name, value in found.items() if name != "bias")
    assert found["score"] == 0.0 == found["unused_names"]


def test_weights_that_are_held_closer_to_zero_are_smaller() -> None:
    cases = _drawn("one", 300)

    assert 0 < fitted(cases, l2=50.0)["score"] < fitted(cases, l2=1.0)["score"]


def test_a_feature_that_never_changes_gets_no_weight() -> None:
    constant = [replace(c, evidence={**c.evidence, "faults": 0.0}) for c in _drawn("one", 50)]

    assert fitted(constant)["faults"] == 0.0


def test_the_weights_of_a_graph_are_fitted_without_it() -> None:
    usual, odd = _drawn("usual", 400), _drawn("odd", 300, bias=4.0)

    found = without(usual + odd)

    assert found["odd"] == fitted(usual) and found["usual"] == fitted(odd)


def _scored(graph: str, number: int, f1: float, source: Source = "people") -> list[Case]:
    facts = dict.fromkeys(NAMES, 0.0) | {"score": 2.0}
    return [Case("one", facts, f1, graph, source, asked="one")] * number


def test_people_s_questions_outweigh_generated_ones_whatever_their_number() -> None:
    people = _scored("a", 60, 0.3)
    both = people + _scored("a", 600, 1.0, "generated")

    alone, [together] = (
        curve_of(people, [0.5] * 60).knots[0].chance,
        curve_of(both, [0.5] * 660).knots,
    )

    assert alone == pytest.approx(0.3)
    assert together.chance == pytest.approx((0.3 + 0.25) / 1.25)


def test_questions_with_a_word_masked_are_no_part_of_the_curve() -> None:
    masked = _scored("a", 600, 0.0, "masked")

    [knot] = curve_of(_scored("a", 60, 0.3) + masked, [0.5] * 660).knots

    assert knot.chance == pytest.approx(0.3)
    assert shares(masked + _scored("b", 10, 1.0)).mean() == pytest.approx(1)


def test_a_graph_is_tried_by_a_curve_that_was_fitted_without_it() -> None:
    found = _scored("right", 90, 0.9) + _scored("wrong", 90, 0.1)

    chances = held_out(found, [0.5] * 180)

    assert chances[0] == pytest.approx(0.1) and chances[-1] == pytest.approx(0.9)
    assert curve_of(found, [0.5] * 180)(0.5) == pytest.approx(0.5)


def test_what_is_left_of_a_confidence_is_told_and_not_fitted() -> None:
    found = [*_scored("a", 90, 0.9), *_scored("b", 90, 0.9)]
    passed = replace(found[0], left=0.5, f1=0.0)

    chances = held_out([*found, passed], [0.5] * 181)

    assert chances[-1] == pytest.approx(0.45) and chances[0] == pytest.approx(0.9)


def test_the_report_on_rejection_tells_each_set_by_limits_of_other_graphs() -> None:
    sure, unsure = [0.9] * 20, [0.1] * 20
    found = _scored("a", 20, 1.0) + _scored("b", 20, 0.0) + _scored("b", 20, 1.0)

    told = rejection_report(found, sure + unsure + sure)

    assert "one                    60   20     1.000 [1.000, 1.000]" in told
    assert told.count("100.0% [100.0%, 100.0%]") >= 2


def test_the_files_say_what_they_were_fitted_to_and_are_read_again(tmp_path: Path) -> None:
    found = _drawn("a", 60) + [replace(case, source="generated") for case in _drawn("b", 40)]

    texts = written(found, "made so")
    for name, text in zip(("weights", "curve"), texts, strict=True):
        (tmp_path / name).write_text(text, "utf-8")

    weights = read_weights(tmp_path / "weights")
    assert weights == pytest.approx(fitted(found), abs=1e-3)
    assert read_curve(tmp_path / "curve").knots
    assert all("# Made by: made so\n# Fitted to 60 answers to people's" in text for text in texts)


def test_a_curve_s_file_is_read_as_the_same(tmp_path: Path) -> None:
    found = _scored("a", 50, 0.5) + _scored("b", 30, 1.0, "generated")
    path = tmp_path / "curve.toml"

    path.write_text(curve_file(found, [0.6] * 80, "made so"), "utf-8")

    knots, expected = read_curve(path).knots, curve_of(found, [0.6] * 80).knots
    assert [k.chance for k in knots] == pytest.approx([k.chance for k in expected], abs=1e-4)


def test_the_sample_graph_is_fitted_and_told(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    [asked] = sets(tmp_path, workspace, ["sample"])

    people = list(cases(asked, workspace))
    made = list(generated_cases(asked, workspace, number=12))
    told = report(people + made)

    assert len(people) > 80 and {case.asked for case in people} == {"sample"}
    sources = [case.source for case in made]
    assert sources.count("generated") == 12 and 6 < sources.count("masked") <= 12
    assert sum(case.f1 for case in made if case.source == "generated") > 6
    assert sum(case.f1 for case in made if case.source == "masked") < 6
    assert all(f"\n{name:<12}" in told for name in own_weights())
    assert "(only one graph: it was fitted on itself)" in told
    assert "generated  curve        12" in curve_report(made, [0.5] * len(made))
