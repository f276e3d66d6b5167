"""Learning a ranking: weights come back from data made with them, and no graph is its own judge."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from tools.accuracy_floors import FLOORS, HELD_OUT, sets
from tools.judging import Case, Found
from tools.ranking import (
    PRIOR,
    ask_people,
    f1_of_answer,
    fit_weights,
    fit_without,
    report,
    total_score,
)

from askgraph.search.rank import DEFAULT_RANKING_PATH, FEATURES, read_ranking
from askgraph.workspace import Workspace

NEVER = dict.fromkeys(FEATURES, 0.0)


def _found(f1: float, *, empty: bool = False, **features: float) -> Found:
    return Found((NEVER | features,), f1, empty)


def _case(graph: str, *found: Found, number: int = 0) -> Case:
    return Case(f"{graph} {number}", "set", graph, graph, found)


def _drawn(graph: str, weights: dict[str, float], number: int = 60) -> list[Case]:
    """Questions whose right candidate is the one that the weights put first."""
    chance = np.random.default_rng(len(graph))
    cases = []
    for at in range(number):
        tables = [
            dict(zip(FEATURES, row, strict=True)) for row in chance.random((6, len(FEATURES)))
        ]
        best = max(tables, key=lambda table: sum(weights[n] * table[n] for n in FEATURES))
        found = [Found((table,), float(table is best), False) for table in tables]
        cases.append(_case(graph, *found, number=at))
    return cases


def test_weights_that_made_the_data_are_found_up_to_their_scale() -> None:
    true = {name: (-1.0) ** at * (1 + at) / 4 for at, name in enumerate(FEATURES)}

    found = fit_weights(_drawn("one", true, 2_500), l2=1e-6)

    scale = found["covered"] / true["covered"]
    assert found["covered"] == PRIOR["covered"]
    assert all(found[n] == pytest.approx(scale * true[n], rel=0.3, abs=0.6) for n in FEATURES)


def test_the_more_it_is_held_the_nearer_it_stays_to_the_prior() -> None:
    cases = _drawn("one", {name: float(name == "trivial") for name in FEATURES})
    prior = {name: PRIOR.get(name, 0.0) for name in FEATURES}

    loose, tight = fit_weights(cases), fit_weights(cases, l2=1e6)

    assert tight == pytest.approx(prior, abs=1e-3)
    assert loose["trivial"] > tight["trivial"] + 0.1


def test_what_never_differs_keeps_its_weight_and_no_questions_give_the_prior() -> None:
    cases = [_case("one", _found(1.0, asks=1.0), _found(0.0))]

    assert fit_weights(cases)["trivial"] == fit_weights([])["trivial"] == PRIOR["trivial"]


def test_a_graph_is_held_out_from_its_own_weights() -> None:
    right, wrong = _found(1.0, obscure=1.0), _found(0.0)
    likes = [_case("likes", right, wrong, number=at) for at in range(9)]
    other = [_case("other", _found(0.0, obscure=1.0), _found(1.0), number=at) for at in range(9)]

    found = fit_without(likes + other)

    assert found["likes"]["obscure"] < 0 < found["other"]["obscure"]


def test_an_empty_result_gives_way_to_a_near_one_and_candidates_that_agree_count() -> None:
    empty = _found(0.0, empty=True, covered=1.0)

    assert f1_of_answer(_case("one", empty, _found(0.7, covered=0.9)), PRIOR) == 0.7
    assert f1_of_answer(_case("one", empty, _found(0.7, covered=0.1)), PRIOR) == 0.0
    assert f1_of_answer(_case("one"), PRIOR) == 0.0
    alone, three = (Found((NEVER,) * n, 1.0, False) for n in (1, 3))
    assert total_score(three, PRIOR) > total_score(alone, PRIOR)


def test_the_sample_graph_is_scored_once_and_told(tmp_path: Path) -> None:
    workspace, scores = Workspace(tmp_path), tmp_path / "scores"
    [asked] = sets(tmp_path, workspace, ["sample"])

    cases = list(ask_people(asked, workspace, most=3, scores=scores))
    [kept] = scores.iterdir()
    known = json.loads(gzip.decompress(kept.read_bytes()))
    kept.write_bytes(gzip.compress(json.dumps(dict.fromkeys(known, (0, 0, True))).encode()))
    again = list(ask_people(asked, workspace, most=3, scores=scores))

    assert len(cases) > 80
    weights = read_ranking(DEFAULT_RANKING_PATH).weights
    assert np.mean([f1_of_answer(case, weights) for case in cases]) > 0.9
    assert not any(f1_of_answer(case, weights) for case in again)
    told = report(cases)
    assert all(f"{name:<10}" in told for name in FEATURES)
    assert any(line.startswith("sample ") for line in told.splitlines())


def test_every_graph_that_is_measured_has_weights_fitted_without_it() -> None:
    held, own = read_ranking(HELD_OUT), read_ranking(DEFAULT_RANKING_PATH)

    assert {"default", "inverse-and-shortcut", "space"} <= held.graphs.keys()
    assert len(held.graphs) > len(FLOORS)
    assert held.graphs["default"] == held.graphs["inverse-and-shortcut"]
    assert held.weights == own.weights
    assert all(weights != own.weights for weights in held.graphs.values())
