"""Calibration: trees find what data was made with; the sample graph can be fitted."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from tools.accuracy_floors import sets
from tools.calibrate import rejection_report, report, written
from tools.calibration import (
    Case,
    bound_sure,
    cases,
    chances_of,
    count_splits,
    curve_report,
    fit_curve,
    fit_trees,
    fit_without,
    generated_cases,
    hold_out,
    shares,
)
from tools.judging import Source

from askgraph.search.decide import EVIDENCE, get_evidence_sign, read_curve, read_trees
from askgraph.workspace import Workspace

NAMES = tuple(sorted(EVIDENCE))


def _drawn(graph: str, number: int, bias: float = 0.0) -> list[Case]:
    """Answers that are right by their score and wrong by the names that they leave."""
    chance = np.random.default_rng(number)
    rows = (chance.random((number, len(NAMES))) - 0.5) * 3
    evidence = [dict(zip(NAMES, row.tolist(), strict=True)) for row in rows]
    linear = [bias - 1 + 2 * one["score"] - 1.5 * one["unused_names"] for one in evidence]
    right = chance.random(number) < 1 / (1 + np.exp(-np.array(linear)))
    return [Case("one", e, float(f1), graph) for e, f1 in zip(evidence, right, strict=True)]


def test_trees_ask_for_what_the_data_hangs_on_and_give_its_chances() -> None:
    cases = _drawn("one", 3000)

    trees = fit_trees(cases)
    given = np.array([trees(case.evidence) for case in cases])
    right = np.array([case.right for case in cases])

    assert {name for name, _ in count_splits(trees).most_common(2)} == {"score", "unused_names"}
    assert given.mean() == pytest.approx(right.mean(), abs=0.02)
    assert right[given > 0.9].mean() > 0.9


def test_what_is_taken_out_of_the_library_gives_what_the_library_gives() -> None:
    from sklearn.ensemble import HistGradientBoostingClassifier  # seconds

    cases = _drawn("one", 400)
    names, table = tuple(cases[0].evidence), [list(case.evidence.values()) for case in cases]
    model = HistGradientBoostingClassifier(
        max_iter=150, learning_rate=0.06, max_leaf_nodes=8, min_samples_leaf=20,
        l2_regularization=3.0, monotonic_cst=[get_evidence_sign(name) for name in names],
        early_stopping=False, random_state=0,
    )  # fmt: skip
    model.fit(np.array(table), [case.right for case in cases])

    trees = fit_trees(cases)
    given = [trees(case.evidence) for case in cases]

    assert given == pytest.approx(model.predict_proba(np.array(table))[:, 1], abs=1e-6)


def test_no_evidence_counts_the_wrong_way_and_where_all_are_right_there_is_no_tree() -> None:
    cases = _drawn("one", 200)
    trees = fit_trees([replace(case, f1=1 - case.f1) for case in cases])
    for name in ("score", "unused_names"):
        given = [trees({name: value}) for value in np.linspace(-2, 2, 20).tolist()]
        assert all(get_evidence_sign(name) * (b - a) >= -1e-9 for a, b in pairwise(given))

    certain = fit_trees([replace(case, f1=1.0) for case in cases[:50]])
    assert not certain.trees and 0.95 < certain({}) < 1


def test_the_trees_and_the_curve_of_a_graph_are_fitted_without_it() -> None:
    usual, odd = _drawn("usual", 200), _drawn("odd", 150, bias=4.0)
    trees = fit_without(usual + odd)
    assert trees["odd"] == fit_trees(usual) and trees["usual"] == fit_trees(odd)

    found = _half("right", 90, 81) + _half("wrong", 90, 9)
    chances = hold_out(found, [0.5] * 180)
    assert chances[0] == pytest.approx(0.1) and chances[-1] == pytest.approx(0.9)
    assert fit_curve(found, [0.5] * 180)(0.5) == pytest.approx(0.5)


def _scored(graph: str, number: int, f1: float, source: Source = "people") -> list[Case]:
    facts = dict.fromkeys(NAMES, 0.0) | {"score": 2.0}
    return [Case("one", facts, f1, graph, source)] * number


def _half(graph: str, number: int, right: int) -> list[Case]:
    """So many answers, of which some are right."""
    return _scored(graph, right, 1.0) + _scored(graph, number - right, 0.0)


def test_people_s_questions_outweigh_generated_ones_and_masked_ones_do_not_count() -> None:
    people, masked = _half("a", 60, 18), _scored("a", 600, 0.0, "masked")
    chances = [
        fit_curve(people + others, [0.5] * (60 + len(others))).knots[0].probability
        for others in ([], _scored("a", 600, 1.0, "generated"), masked)
    ]

    assert chances == pytest.approx([0.3, (0.3 + 0.25) / 1.25, 0.3])
    assert shares(masked + _scored("b", 10, 1.0)).mean() == pytest.approx(1)


def test_an_answer_that_is_partly_right_is_not_right() -> None:
    found = _scored("a", 30, 0.9) + _scored("a", 30, 1.0)

    assert fit_curve(found, [0.5] * 60)(0.5) == pytest.approx(0.5)


def test_what_is_called_sure_holds_in_every_group_and_not_on_average() -> None:
    good, bad = _half("a", 600, 590), _half("b", 500, 425)
    given = [0.97] * 600 + [0.93] * 500

    curve = fit_curve(good + bad, given)
    free = fit_curve(good + _half("b", 400, 340), [0.97] * 600 + [0.93] * 400)

    assert curve(0.93) < 0.9 < curve(0.97)
    assert bound_sure(curve, good + bad, given) == curve
    assert all(a.probability <= b.probability for a, b in pairwise(curve.knots))
    assert free(0.97) > 0.9  # a group that is too small bounds nothing


def test_what_is_left_of_a_confidence_is_told_and_not_fitted() -> None:
    found = [*_half("a", 90, 81), *_half("b", 90, 81)]
    passed = replace(found[0], left=0.5, f1=0.0)

    chances = hold_out([*found, passed], [0.5] * 181)

    assert chances[-1] == pytest.approx(0.45) and chances[0] == pytest.approx(0.9)


def test_the_report_on_rejection_tells_each_set_by_limits_of_other_graphs() -> None:
    sure, unsure = [0.9] * 20, [0.1] * 20
    found = _scored("a", 20, 1.0) + _scored("b", 20, 0.0) + _scored("b", 20, 1.0)

    told = rejection_report(found, sure + unsure + sure)

    assert "one                    60   20     1.000 [1.000, 1.000]" in told
    assert told.count("100.0% [100.0%, 100.0%]") >= 2


def test_the_files_say_what_they_were_fitted_to_and_are_read_again(tmp_path: Path) -> None:
    found = _drawn("a", 60) + [replace(case, source="generated") for case in _drawn("b", 40)]

    texts = written(found, chances_of(found, fit_without(found)), "made so")
    for name, text in zip(("trees", "curve"), texts, strict=True):
        (tmp_path / name).write_text(text, "utf-8")

    trees, facts = read_trees(tmp_path / "trees"), found[0].evidence
    assert trees(facts) == pytest.approx(fit_trees(found)(facts), abs=1e-3)
    assert read_curve(tmp_path / "curve").knots
    assert all("Made by: made so" in text for text in texts)
    assert all("Fitted to 60 answers to people's" in text for text in texts)


def test_the_sample_graph_is_fitted_and_told(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    [asked] = sets(tmp_path, workspace, ["sample"])

    people = list(cases(asked, workspace))
    made = list(generated_cases(asked, workspace, number=12))
    found = people + made
    told = report(found, chances_of(found, fit_without(found)))

    assert len(people) > 80 and {case.set for case in people} == {"sample"}
    sources = [case.source for case in made]
    assert sources.count("generated") == 12 and 6 < sources.count("masked") <= 12
    assert sum(case.f1 for case in made if case.source == "generated") > 6
    assert sum(case.f1 for case in made if case.source == "masked") < 6
    assert all(f"\n{name:<18}" in told for name in EVIDENCE)
    assert "(only one graph: it was fitted on itself)" in told
    assert "generated  curve        12" in curve_report(made, [0.5] * len(made))
